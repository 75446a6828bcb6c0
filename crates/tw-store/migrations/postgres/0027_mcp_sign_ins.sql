-- What a tenant is known as to the authorization server of an MCP server: JSON, its secret sealed. NULL where it is not
-- registered there.
ALTER TABLE mcp_servers ADD COLUMN oauth text;

-- People on their way to a sign-in page of somebody else, and back. A row is taken once.
CREATE TABLE mcp_sign_ins (
    tenant_id uuid NOT NULL,
    state_hash bytea NOT NULL,
    server_id uuid NOT NULL,
    user_id uuid NOT NULL,
    -- What the code is exchanged with; sealed.
    sealed bytea NOT NULL,
    expires_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, server_id, user_id)
);
CREATE UNIQUE INDEX mcp_sign_ins_by_state ON mcp_sign_ins (tenant_id, state_hash);
CREATE INDEX mcp_sign_ins_by_end ON mcp_sign_ins (tenant_id, expires_us);

-- What MCP servers gave to those who signed in.
CREATE TABLE mcp_grants (
    tenant_id uuid NOT NULL,
    server_id uuid NOT NULL,
    id uuid NOT NULL,
    -- The address that it is for.
    url text NOT NULL,
    issuer text NOT NULL,
    scope text,
    -- The tokens, and how they are renewed; sealed.
    sealed bytea NOT NULL,
    -- Counts the times that it was renewed.
    revision bigint NOT NULL,
    -- When the token was given, and until when it holds.
    given_us bigint NOT NULL,
    expires_us bigint,
    -- Until when one server renews it alone.
    leased_us bigint NOT NULL,
    -- Why it cannot be renewed any more.
    refused text,
    signed_in_us bigint NOT NULL,
    signed_in_by text NOT NULL,
    PRIMARY KEY (tenant_id, server_id)
);

ALTER TABLE mcp_sign_ins ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON mcp_sign_ins
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
ALTER TABLE mcp_grants ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON mcp_grants
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));

-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_sign_ins, mcp_grants TO %I', tw_app_role());
    END IF;
END $$;
