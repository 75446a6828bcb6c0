-- What a tenant is known as to the authorization server of an MCP server: JSON, its secret sealed. NULL where it is not
-- registered there.
ALTER TABLE mcp_servers ADD COLUMN oauth TEXT;

-- People on their way to a sign-in page of somebody else, and back. A row is taken once.
CREATE TABLE mcp_sign_ins (
    tenant_id  BLOB    NOT NULL,
    state_hash BLOB    NOT NULL,
    server_id  BLOB    NOT NULL,
    user_id    BLOB    NOT NULL,
    -- What the code is exchanged with; sealed.
    sealed     BLOB    NOT NULL,
    expires_us INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, server_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mcp_sign_ins_by_state ON mcp_sign_ins (tenant_id, state_hash);
CREATE INDEX mcp_sign_ins_by_end ON mcp_sign_ins (tenant_id, expires_us);

-- What MCP servers gave to those who signed in.
CREATE TABLE mcp_grants (
    tenant_id    BLOB    NOT NULL,
    server_id    BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    -- The address that it is for.
    url          TEXT    NOT NULL,
    issuer       TEXT    NOT NULL,
    scope        TEXT,
    -- The tokens, and how they are renewed; sealed.
    sealed       BLOB    NOT NULL,
    -- Counts the times that it was renewed.
    revision     INTEGER NOT NULL,
    -- When the token was given, and until when it holds.
    given_us     INTEGER NOT NULL,
    expires_us   INTEGER,
    -- Until when one server renews it alone.
    leased_us    INTEGER NOT NULL,
    -- Why it cannot be renewed any more.
    refused      TEXT,
    signed_in_us INTEGER NOT NULL,
    signed_in_by TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, server_id)
) STRICT, WITHOUT ROWID;
