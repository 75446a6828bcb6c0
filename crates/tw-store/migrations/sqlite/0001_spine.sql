-- Times are microseconds since 1970, UTC. Ids are 16 bytes. What is JSON is text.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE tenants (
    id         BLOB    NOT NULL PRIMARY KEY,
    slug       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    status     TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
    settings   TEXT    NOT NULL DEFAULT '{}',
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL
) STRICT;

-- Bumped in the transaction of every write that changes what a caller may see or do.
CREATE TABLE tenant_epoch (
    tenant_id BLOB    NOT NULL PRIMARY KEY,
    epoch     INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id            BLOB    NOT NULL PRIMARY KEY,
    email         TEXT    NOT NULL UNIQUE,
    display_name  TEXT    NOT NULL,
    password_hash TEXT,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
    tenant_id  BLOB    NOT NULL,
    user_id    BLOB    NOT NULL,
    role       TEXT    NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
) STRICT;
CREATE INDEX memberships_by_user ON memberships (user_id);

CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    prefix       TEXT    NOT NULL UNIQUE,
    hash         BLOB    NOT NULL,
    role         TEXT    NOT NULL,
    acts_as      TEXT    NOT NULL CHECK (acts_as IN ('user', 'agent')),
    agent        TEXT,
    owner_id     BLOB    NOT NULL,
    expires_us   INTEGER,
    last_used_us INTEGER,
    revoked_us   INTEGER,
    created_us   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL
) STRICT;
CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id, id);

-- A person at a browser, signed in to one tenant.
CREATE TABLE logins (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    user_id      BLOB    NOT NULL,
    token_hash   BLOB    NOT NULL UNIQUE,
    created_us   INTEGER NOT NULL,
    last_seen_us INTEGER NOT NULL,
    expires_us   INTEGER NOT NULL,
    ended_us     INTEGER
) STRICT;
CREATE INDEX logins_by_user ON logins (tenant_id, user_id);

CREATE TABLE sign_in_links (
    token_hash BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL,
    user_id    BLOB    NOT NULL,
    created_us INTEGER NOT NULL,
    expires_us INTEGER NOT NULL,
    used_us    INTEGER
) STRICT;

CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('chat', 'agent_run', 'collaborative', 'background', 'api')),
    title      TEXT,
    status     TEXT    NOT NULL DEFAULT 'active',
    principal  TEXT    NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_tenant ON sessions (tenant_id, id);

CREATE TABLE session_events (
    tenant_id  BLOB    NOT NULL,
    session_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    type       TEXT    NOT NULL,
    run_id     BLOB    NOT NULL,
    tool       TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    payload    TEXT    NOT NULL,
    at_us      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_events_order ON session_events (session_id, seq);

CREATE TRIGGER session_events_are_not_changed BEFORE UPDATE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
CREATE TRIGGER session_events_are_not_deleted BEFORE DELETE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;

-- A projection of session_events, written in the same transaction; input and output stay there, and
-- the row points at the events that hold them.
CREATE TABLE runs (
    id            BLOB    NOT NULL,
    tenant_id     BLOB    NOT NULL,
    session_id    BLOB    NOT NULL,
    own_session   INTEGER NOT NULL,
    parent_run_id BLOB,
    root_run_id   BLOB    NOT NULL,
    tool_id       BLOB    NOT NULL,
    tool          TEXT    NOT NULL,
    version       TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    channel       TEXT    NOT NULL,
    mode          TEXT    NOT NULL,
    principal     TEXT    NOT NULL,
    actor         TEXT    NOT NULL,
    effectful     INTEGER NOT NULL,
    repeatable    INTEGER NOT NULL,
    replica_id    BLOB,
    lease_epoch   INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    input_seq     INTEGER NOT NULL,
    output_seq    INTEGER,
    summary       TEXT,
    error         TEXT,
    error_code    TEXT,
    effect        TEXT,
    started_us    INTEGER NOT NULL,
    finished_us   INTEGER,
    duration_us   INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_tool ON runs (tenant_id, tool, id);
CREATE INDEX runs_by_principal ON runs (tenant_id, principal, id);
CREATE INDEX runs_not_successful ON runs (tenant_id, status, id) WHERE status <> 'success';
CREATE INDEX runs_by_session ON runs (tenant_id, session_id, id) WHERE own_session = 0;
CREATE INDEX runs_by_parent ON runs (tenant_id, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_running ON runs (replica_id) WHERE status = 'running';

-- A run that waits for someone. It belongs to no replica until one claims it.
CREATE TABLE pending_calls (
    id             BLOB    NOT NULL PRIMARY KEY,
    tenant_id      BLOB    NOT NULL,
    run_id         BLOB    NOT NULL UNIQUE,
    waits_for      TEXT    NOT NULL CHECK (waits_for IN ('approval', 'worker', 'person', 'child')),
    state          TEXT    NOT NULL CHECK (state IN ('waiting', 'ready', 'claimed', 'resolved', 'expired', 'cancelled')),
    context        TEXT    NOT NULL,
    lease_owner    BLOB,
    lease_until_us INTEGER,
    expires_us     INTEGER NOT NULL,
    result         TEXT,
    created_us     INTEGER NOT NULL,
    updated_us     INTEGER NOT NULL
) STRICT;
CREATE INDEX pending_calls_open ON pending_calls (state, expires_us) WHERE state IN ('waiting', 'ready');

CREATE TABLE approvals (
    id              BLOB    NOT NULL PRIMARY KEY,
    tenant_id       BLOB    NOT NULL,
    run_id          BLOB    NOT NULL UNIQUE,
    tool_id         BLOB    NOT NULL,
    tool            TEXT    NOT NULL,
    version         TEXT    NOT NULL,
    input           TEXT    NOT NULL,
    input_digest    TEXT    NOT NULL,
    definition_hash TEXT    NOT NULL,
    seal            BLOB    NOT NULL,
    level           TEXT,
    reason          TEXT    NOT NULL,
    requested_by    TEXT    NOT NULL,
    owner_id        BLOB    NOT NULL,
    requested_us    INTEGER NOT NULL,
    expires_us      INTEGER NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
    decided_by      TEXT,
    decided_us      INTEGER,
    note            TEXT,
    changes         TEXT
) STRICT;
CREATE INDEX approvals_by_status ON approvals (tenant_id, status, id);

CREATE TABLE idempotency (
    tenant_id   BLOB    NOT NULL,
    principal   TEXT    NOT NULL,
    route       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    body_hash   BLOB    NOT NULL,
    run_id      BLOB,
    status_code INTEGER,
    answer      TEXT,
    replica_id  BLOB    NOT NULL,
    created_us  INTEGER NOT NULL,
    expires_us  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, principal, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_us);

CREATE TABLE replicas (
    id           BLOB    NOT NULL PRIMARY KEY,
    started_us   INTEGER NOT NULL,
    heartbeat_us INTEGER NOT NULL,
    version      TEXT    NOT NULL
) STRICT;

CREATE TABLE audit_log (
    id         BLOB    NOT NULL PRIMARY KEY,
    tenant_id  BLOB    NOT NULL,
    at_us      INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    object     TEXT    NOT NULL,
    before     TEXT,
    after      TEXT,
    request_id TEXT,
    note       TEXT
) STRICT;
CREATE INDEX audit_log_by_tenant ON audit_log (tenant_id, id);

CREATE TRIGGER audit_log_is_not_changed BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END;
CREATE TRIGGER audit_log_is_not_deleted BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END;
