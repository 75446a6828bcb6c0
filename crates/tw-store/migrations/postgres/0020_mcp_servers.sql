-- MCP servers of others, and what they offered when they were asked last.
CREATE TABLE mcp_servers (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    -- The name in lower case.
    name_key text NOT NULL,
    url text NOT NULL,
    -- JSON: headers, their secrets sealed.
    headers text NOT NULL,
    -- JSON: names of remote tools; NULL for all.
    allowed_tools text,
    status text NOT NULL,
    last_error text,
    -- JSON: what the server says about itself.
    about text,
    -- JSON: the tools as listed last; NULL before that.
    listing text,
    tools bigint NOT NULL,
    listed_us bigint,
    -- When it is to be asked next.
    due_us bigint NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX mcp_servers_by_name ON mcp_servers (tenant_id, name_key);
CREATE INDEX mcp_servers_by_due ON mcp_servers (due_us);

-- What was found to be other than what was imported.
CREATE TABLE mcp_drifts (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    server_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    slug text NOT NULL,
    kind text NOT NULL,
    -- What the server calls the tool now; NULL where it has it no more.
    remote_name text,
    pinned_hash text NOT NULL,
    current_hash text,
    -- JSON.
    diff text NOT NULL,
    status text NOT NULL,
    seen_us bigint NOT NULL,
    decided_us bigint,
    decided_by text,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX mcp_drifts_pending ON mcp_drifts (tenant_id, tool_id) WHERE status = 'pending';
CREATE INDEX mcp_drifts_by_tool ON mcp_drifts (tenant_id, tool_id, seen_us);
CREATE INDEX mcp_drifts_by_server ON mcp_drifts (tenant_id, server_id, id);

-- Where an imported tool comes from; NULL for every other. The hash is that of the remote definition, whose text is in
-- `schema_contents`.
ALTER TABLE tools ADD COLUMN mcp_server_id uuid;
ALTER TABLE tools ADD COLUMN mcp_tool text;
ALTER TABLE tools ADD COLUMN mcp_hash text;
-- Nobody may call it until a person has looked at what changed.
ALTER TABLE tools ADD COLUMN mcp_held boolean NOT NULL DEFAULT false;

ALTER TABLE mcp_servers ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON mcp_servers
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
ALTER TABLE mcp_drifts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON mcp_drifts
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));

-- Servers that are to be asked again, whosever they are.
CREATE FUNCTION tw_due_mcp_servers(now_us bigint, most bigint) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH clock AS MATERIALIZED (SELECT tw_no_later(now_us) AS now_us)
      SELECT s.tenant_id, s.id FROM mcp_servers s WHERE s.due_us <= (SELECT c.now_us FROM clock c)
      ORDER BY s.due_us LIMIT most $$;
REVOKE ALL ON FUNCTION tw_due_mcp_servers(bigint, bigint) FROM PUBLIC;

-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_servers TO %I', tw_app_role());
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON mcp_drifts TO %I', tw_app_role());
        EXECUTE format('GRANT EXECUTE ON FUNCTION tw_due_mcp_servers(bigint, bigint) TO %I', tw_app_role());
    END IF;
END $$;
