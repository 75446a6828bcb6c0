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

-- The key of a tenant, under which the secrets are that its tools hold themselves. Those lie in histories that
-- are never changed; this row is what a new master key changes.
CREATE TABLE tenant_keys (
    tenant_id uuid NOT NULL PRIMARY KEY,
    wrapped_key bytea NOT NULL,
    key_id text NOT NULL,
    created_us bigint NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON credentials TO toolwright_app;
GRANT SELECT, INSERT, UPDATE ON tenant_keys TO toolwright_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['credentials', 'tenant_keys'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_fence ON %I TO toolwright_app
            USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
            WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))', name);
    END LOOP;
END $$;
