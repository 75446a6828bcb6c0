-- What a tenant's webhooks are told of, as bits: the log reads it with the epoch, so a tenant without webhooks costs nothing.
ALTER TABLE tenant_epoch ADD COLUMN webhook_events INTEGER NOT NULL DEFAULT 0;

-- Addresses that are told when something happens.
CREATE TABLE webhooks (
    id BLOB NOT NULL PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    url TEXT NOT NULL,
    -- As bits.
    events INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    -- Why the program switched it off: gone or failing.
    off_reason TEXT,
    -- What is sent is signed with this; sealed under the tenant's key.
    secret BLOB NOT NULL,
    -- The one before, which signs along until then.
    old_secret BLOB,
    old_secret_until_us INTEGER,
    -- Since when nothing was taken; null after a success.
    failing_since_us INTEGER,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_by TEXT NOT NULL
) STRICT;
CREATE INDEX webhooks_by_tenant ON webhooks (tenant_id, id);

-- What a webhook is told, written in the transaction of what it tells of. The id is the `webhook-id` of every try.
CREATE TABLE webhook_deliveries (
    id BLOB NOT NULL PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    type TEXT NOT NULL,
    -- The run that it is about; null where `data` came with it.
    run_id BLOB,
    -- What is told, as JSON. Of a run it is made at the first try and stays as it is from then on.
    data TEXT,
    at_us INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    -- When it is tried next; while a server is at it, when another one may take it over.
    next_us INTEGER NOT NULL,
    claimed_by BLOB,
    tried_us INTEGER,
    duration_us INTEGER,
    status_code INTEGER,
    answer TEXT,
    error TEXT
) STRICT;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (tenant_id, webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_us) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (at_us);
