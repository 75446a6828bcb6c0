-- What a tenant's webhooks are told of, as bits: the log reads it with the epoch, so a tenant without webhooks costs nothing.
ALTER TABLE tenant_epoch ADD COLUMN webhook_events bigint NOT NULL DEFAULT 0;

-- Addresses that are told when something happens.
CREATE TABLE webhooks (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    url text NOT NULL,
    -- As bits.
    events bigint NOT NULL,
    enabled boolean NOT NULL,
    -- Why the program switched it off: gone or failing.
    off_reason text,
    -- What is sent is signed with this; sealed under the tenant's key.
    secret bytea NOT NULL,
    -- The one before, which signs along until then.
    old_secret bytea,
    old_secret_until_us bigint,
    -- Since when nothing was taken; null after a success.
    failing_since_us bigint,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL
);
CREATE INDEX webhooks_by_tenant ON webhooks (tenant_id, id);

-- What a webhook is told, written in the transaction of what it tells of. The id is the `webhook-id` of every try.
CREATE TABLE webhook_deliveries (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    type text NOT NULL,
    -- The run that it is about; null where `data` came with it.
    run_id uuid,
    -- What is told, as JSON. Of a run it is made at the first try and stays as it is from then on.
    data text,
    at_us bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts bigint NOT NULL DEFAULT 0,
    -- When it is tried next; while a server is at it, when another one may take it over.
    next_us bigint NOT NULL,
    claimed_by uuid,
    tried_us bigint,
    duration_us bigint,
    status_code bigint,
    answer text,
    error text
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (tenant_id, webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_us) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (at_us);

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON webhooks
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON webhook_deliveries
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));

-- The webhooks that have something to be sent now: from one to the next by the index, however much waits for each.
CREATE FUNCTION tw_due_webhooks(now_us bigint) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH RECURSIVE waiting (id) AS (
          SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.state = 'pending'
              ORDER BY d.webhook_id LIMIT 1)
          UNION ALL
          SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.state = 'pending' AND d.webhook_id > w.id
              ORDER BY d.webhook_id LIMIT 1)
          FROM waiting w WHERE w.id IS NOT NULL)
      SELECT h.tenant_id, h.id FROM waiting w JOIN webhooks h ON h.id = w.id
      WHERE h.enabled AND EXISTS (SELECT 1 FROM webhook_deliveries d
          WHERE d.webhook_id = h.id AND d.state = 'pending' AND d.next_us <= now_us) $$;
CREATE FUNCTION tw_drop_old_deliveries(before_us bigint, most bigint) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH gone AS (DELETE FROM webhook_deliveries WHERE id IN (
          SELECT d.id FROM webhook_deliveries d WHERE d.at_us < before_us ORDER BY d.at_us LIMIT most) RETURNING 1)
      SELECT count(*) FROM gone $$;

REVOKE ALL ON FUNCTION tw_due_webhooks(bigint), tw_drop_old_deliveries(bigint, bigint) FROM PUBLIC;

-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO %I', tw_app_role());
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO %I', tw_app_role());
        EXECUTE format('GRANT EXECUTE ON FUNCTION tw_due_webhooks(bigint) TO %I', tw_app_role());
        EXECUTE format('GRANT EXECUTE ON FUNCTION tw_drop_old_deliveries(bigint, bigint) TO %I', tw_app_role());
    END IF;
END $$;
