-- MCP servers of others, and what they offered when they were asked last.
CREATE TABLE mcp_servers (
    tenant_id     BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    -- The name in lower case.
    name_key      TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    -- JSON: headers, their secrets sealed.
    headers       TEXT    NOT NULL,
    -- JSON: names of remote tools; NULL for all.
    allowed_tools TEXT,
    status        TEXT    NOT NULL,
    last_error    TEXT,
    -- JSON: what the server says about itself.
    about         TEXT,
    -- JSON: the tools as listed last; NULL before that.
    listing       TEXT,
    tools         INTEGER NOT NULL,
    listed_us     INTEGER,
    -- When it is to be asked next.
    due_us        INTEGER NOT NULL,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mcp_servers_by_name ON mcp_servers (tenant_id, name_key);
CREATE INDEX mcp_servers_by_due ON mcp_servers (due_us);

-- What was found to be other than what was imported.
CREATE TABLE mcp_drifts (
    tenant_id    BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    server_id    BLOB    NOT NULL,
    tool_id      BLOB    NOT NULL,
    slug         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    -- What the server calls the tool now; NULL where it has it no more.
    remote_name  TEXT,
    pinned_hash  TEXT    NOT NULL,
    current_hash TEXT,
    -- JSON.
    diff         TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    seen_us      INTEGER NOT NULL,
    decided_us   INTEGER,
    decided_by   TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mcp_drifts_pending ON mcp_drifts (tenant_id, tool_id) WHERE status = 'pending';
CREATE INDEX mcp_drifts_by_tool ON mcp_drifts (tenant_id, tool_id, seen_us);
CREATE INDEX mcp_drifts_by_server ON mcp_drifts (tenant_id, server_id, id);

-- Where an imported tool comes from; NULL for every other. The hash is that of the remote definition, whose text is in
-- `schema_contents`.
ALTER TABLE tools ADD COLUMN mcp_server_id BLOB;
ALTER TABLE tools ADD COLUMN mcp_tool TEXT;
ALTER TABLE tools ADD COLUMN mcp_hash TEXT;
-- Nobody may call it until a person has looked at what changed.
ALTER TABLE tools ADD COLUMN mcp_held INTEGER NOT NULL DEFAULT 0;
