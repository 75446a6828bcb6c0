-- Secrets that tools show to others. What is in one is encrypted under a data key of its own, and that key
-- under a key that the database does not have; both are bound to tenant, id and revision.

CREATE TABLE credentials (
    id               BLOB    NOT NULL PRIMARY KEY,
    tenant_id        BLOB    NOT NULL,
    label            TEXT    NOT NULL,
    label_key        TEXT    NOT NULL,
    type             TEXT    NOT NULL CHECK (type IN ('api_key', 'bearer', 'basic', 'custom')),
    provider_key     TEXT,
    provider_variant TEXT,
    -- The names of what is set, as JSON.
    fields           TEXT    NOT NULL,
    ciphertext       BLOB    NOT NULL,
    wrapped_key      BLOB    NOT NULL,
    -- Which key the data key is wrapped by.
    key_id           TEXT    NOT NULL,
    -- Goes up with every new payload.
    revision         INTEGER NOT NULL,
    last_used_us     INTEGER,
    created_us       INTEGER NOT NULL,
    updated_us       INTEGER NOT NULL,
    created_by       TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX credentials_by_label ON credentials (tenant_id, label_key);
CREATE INDEX credentials_by_tenant ON credentials (tenant_id, id);

-- The key of a tenant, under which the secrets are that its tools hold themselves. Those lie in histories that
-- are never changed; this row is what a new master key changes.
CREATE TABLE tenant_keys (
    tenant_id   BLOB    NOT NULL PRIMARY KEY,
    wrapped_key BLOB    NOT NULL,
    key_id      TEXT    NOT NULL,
    created_us  INTEGER NOT NULL
) STRICT;
