-- Secrets that tools show to others. What is in one is encrypted under a data key of its own, and that key
-- under a key that the database does not have; both are bound to tenant, id and revision.

CREATE TABLE credentials (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    label text NOT NULL,
    label_key text NOT NULL,
    type text NOT NULL CHECK (type IN ('api_key', 'bearer', 'basic', 'custom')),
    provider_key text,
    provider_variant text,
    -- The names of what is set, as JSON.
    fields text NOT NULL,
    ciphertext bytea NOT NULL,
    wrapped_key bytea NOT NULL,
    -- Which key the data key is wrapped by.
    key_id text NOT NULL,
    -- Goes up with every new payload.
    revision bigint NOT NULL,
    last_used_us bigint,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL
);
CREATE UNIQUE INDEX credentials_by_label ON credentials (tenant_id, label_key);
CREATE INDEX credentials_by_tenant ON credentials (tenant_id, id);

GRANT SELECT, INSERT, UPDATE, DELETE ON credentials TO toolwright_app;
ALTER TABLE credentials ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON credentials TO toolwright_app
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
