-- Times are microseconds since 1970, UTC. What is JSON is text: the log keeps the bytes it was given.

CREATE TABLE meta (
    key text NOT NULL PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE tenants (
    id uuid NOT NULL PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
    settings text NOT NULL DEFAULT '{}',
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL
);

-- Bumped in the transaction of every write that changes what a caller may see or do.
CREATE TABLE tenant_epoch (
    tenant_id uuid NOT NULL PRIMARY KEY,
    epoch bigint NOT NULL
);

CREATE TABLE users (
    id uuid NOT NULL PRIMARY KEY,
    email text NOT NULL UNIQUE,
    display_name text NOT NULL,
    password_hash text,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL
);

CREATE TABLE memberships (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id);

CREATE TABLE api_keys (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL UNIQUE,
    hash bytea NOT NULL,
    role text NOT NULL,
    acts_as text NOT NULL CHECK (acts_as IN ('user', 'agent')),
    agent text,
    owner_id uuid NOT NULL,
    expires_us bigint,
    last_used_us bigint,
    revoked_us bigint,
    created_us bigint NOT NULL,
    created_by text NOT NULL
);
CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id, id);

-- A person at a browser, signed in to one tenant.
CREATE TABLE logins (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_hash bytea NOT NULL UNIQUE,
    created_us bigint NOT NULL,
    last_seen_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    ended_us bigint
);
CREATE INDEX logins_by_user ON logins (tenant_id, user_id);

CREATE TABLE sign_in_links (
    token_hash bytea NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    used_us bigint
);

CREATE TABLE sessions (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('chat', 'agent_run', 'collaborative', 'background', 'api')),
    title text,
    status text NOT NULL DEFAULT 'active',
    principal text NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL
);
CREATE INDEX sessions_by_tenant ON sessions (tenant_id, id);

CREATE TABLE session_events (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    run_id uuid NOT NULL,
    tool text NOT NULL,
    actor text NOT NULL,
    payload text NOT NULL,
    at_us bigint NOT NULL
);
CREATE UNIQUE INDEX session_events_order ON session_events (session_id, seq);

-- A projection of session_events, written in the same transaction; input and output stay there, and
-- the row points at the events that hold them.
CREATE TABLE runs (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    own_session boolean NOT NULL,
    parent_run_id uuid,
    root_run_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    tool text NOT NULL,
    version text NOT NULL,
    status text NOT NULL,
    source text NOT NULL,
    channel text NOT NULL,
    mode text NOT NULL,
    principal text NOT NULL,
    actor text NOT NULL,
    effectful boolean NOT NULL,
    repeatable boolean NOT NULL,
    replica_id uuid,
    lease_epoch bigint NOT NULL,
    last_seq bigint NOT NULL,
    input_seq bigint NOT NULL,
    output_seq bigint,
    summary text,
    error text,
    error_code text,
    effect text,
    started_us bigint NOT NULL,
    finished_us bigint,
    duration_us bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX runs_by_tool ON runs (tenant_id, tool, id);
CREATE INDEX runs_by_principal ON runs (tenant_id, principal, id);
CREATE INDEX runs_not_successful ON runs (tenant_id, status, id) WHERE status <> 'success';
CREATE INDEX runs_by_session ON runs (tenant_id, session_id, id) WHERE NOT own_session;
CREATE INDEX runs_by_parent ON runs (tenant_id, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_running ON runs (replica_id) WHERE status = 'running';

-- A run that waits for someone. It belongs to no replica until one claims it.
CREATE TABLE pending_calls (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL UNIQUE,
    waits_for text NOT NULL CHECK (waits_for IN ('approval', 'worker', 'person', 'child')),
    state text NOT NULL CHECK (state IN ('waiting', 'ready', 'claimed', 'resolved', 'expired', 'cancelled')),
    context text NOT NULL,
    lease_owner uuid,
    lease_until_us bigint,
    expires_us bigint NOT NULL,
    result text,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL
);
CREATE INDEX pending_calls_open ON pending_calls (state, expires_us) WHERE state IN ('waiting', 'ready');

CREATE TABLE approvals (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL UNIQUE,
    tool_id uuid NOT NULL,
    tool text NOT NULL,
    version text NOT NULL,
    input text NOT NULL,
    input_digest text NOT NULL,
    definition_hash text NOT NULL,
    seal bytea NOT NULL,
    level text,
    reason text NOT NULL,
    requested_by text NOT NULL,
    owner_id uuid NOT NULL,
    requested_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
    decided_by text,
    decided_us bigint,
    note text,
    changes text
);
CREATE INDEX approvals_by_status ON approvals (tenant_id, status, id);

CREATE TABLE idempotency (
    tenant_id uuid NOT NULL,
    principal text NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    run_id uuid,
    status_code bigint,
    answer text,
    replica_id uuid NOT NULL,
    created_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, principal, route, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_us);

CREATE TABLE replicas (
    id uuid NOT NULL PRIMARY KEY,
    started_us bigint NOT NULL,
    heartbeat_us bigint NOT NULL,
    version text NOT NULL
);

CREATE TABLE audit_log (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    at_us bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    object text NOT NULL,
    before text,
    after text,
    request_id text,
    note text
);
CREATE INDEX audit_log_by_tenant ON audit_log (tenant_id, id);


-- The log and the audit are refused every change by the database itself, whoever asks.
CREATE FUNCTION tw_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER session_events_are_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON session_events
    FOR EACH STATEMENT EXECUTE FUNCTION tw_append_only();
CREATE TRIGGER audit_log_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION tw_append_only();

-- The server works under this role whatever user its URL names. Two databases of one cluster may be
-- migrated at the same moment, and roles belong to the cluster.
DO $$
BEGIN
    CREATE ROLE toolwright_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'toolwright_app', 'MEMBER') THEN
        EXECUTE format('GRANT toolwright_app TO %I', current_user);
    END IF;
EXCEPTION WHEN unique_violation THEN
    NULL;
END $$;
GRANT USAGE ON SCHEMA public TO toolwright_app;

GRANT SELECT, INSERT ON session_events, audit_log TO toolwright_app;
GRANT SELECT, INSERT, UPDATE ON tenants, users, sessions, runs, pending_calls, approvals, api_keys, logins,
    sign_in_links, tenant_epoch, meta TO toolwright_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memberships, idempotency, replicas TO toolwright_app;

-- The second fence: a query that forgets its tenant sees nothing. `tw.tenants` is set per request.
CREATE FUNCTION tw_tenants() RETURNS uuid[] LANGUAGE sql STABLE
AS $$ SELECT coalesce(nullif(current_setting('tw.tenants', true), ''), '{}')::uuid[] $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenant_epoch', 'memberships', 'api_keys', 'logins', 'sign_in_links', 'sessions',
        'session_events', 'runs', 'pending_calls', 'approvals', 'idempotency', 'audit_log'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_fence ON %I TO toolwright_app
            USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
            WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))', name);
    END LOOP;
END $$;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON tenants TO toolwright_app
    USING (id = ANY ((SELECT tw_tenants())::uuid[])) WITH CHECK (id = ANY ((SELECT tw_tenants())::uuid[]));
-- A person is seen by the tenants they belong to. A new one belongs to none yet.
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
CREATE POLICY member_fence ON users FOR SELECT TO toolwright_app
    USING (id IN (SELECT user_id FROM memberships));
CREATE POLICY member_change ON users FOR UPDATE TO toolwright_app
    USING (id IN (SELECT user_id FROM memberships));
CREATE POLICY new_person ON users FOR INSERT TO toolwright_app WITH CHECK (true);

-- What has to be found before a tenant is known. These return ids and nothing else. They look for
-- their tables in `public` first: by default a temporary table of the caller's would come before it.
CREATE FUNCTION tw_find_key(wanted text) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT k.tenant_id, k.id FROM api_keys k WHERE k.prefix = wanted $$;
CREATE FUNCTION tw_find_login(wanted bytea) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT l.tenant_id, l.id FROM logins l WHERE l.token_hash = wanted $$;
CREATE FUNCTION tw_find_link(wanted bytea) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT l.tenant_id, l.user_id FROM sign_in_links l WHERE l.token_hash = wanted $$;
CREATE FUNCTION tw_find_tenant(wanted text) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT t.id, t.id FROM tenants t WHERE t.slug = wanted $$;
CREATE FUNCTION tw_find_memberships(wanted text) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT m.tenant_id, u.id FROM users u JOIN memberships m ON m.user_id = u.id WHERE u.email = wanted
      ORDER BY m.created_us, m.tenant_id $$;
CREATE FUNCTION tw_find_user(wanted text) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT '00000000-0000-0000-0000-000000000000'::uuid, u.id FROM users u WHERE u.email = wanted $$;
CREATE FUNCTION tw_memberships_of(wanted uuid) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT m.tenant_id, m.user_id FROM memberships m WHERE m.user_id = wanted
      ORDER BY m.created_us, m.tenant_id $$;
CREATE FUNCTION tw_all_tenants() RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT t.id, t.id FROM tenants t $$;
CREATE FUNCTION tw_all_epochs() RETURNS TABLE (tenant_id uuid, epoch bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT e.tenant_id, e.epoch FROM tenant_epoch e $$;
CREATE FUNCTION tw_due_pending(now_us bigint, most bigint) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT p.tenant_id, p.id FROM pending_calls p
      WHERE (p.state = 'waiting' AND p.expires_us <= now_us) OR p.state = 'ready'
      ORDER BY p.expires_us LIMIT most $$;
CREATE FUNCTION tw_orphaned_runs(dead_before_us bigint, most bigint) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT r.tenant_id, r.id FROM runs r
      WHERE r.status = 'running'
        AND NOT EXISTS (SELECT 1 FROM replicas p WHERE p.id = r.replica_id AND p.heartbeat_us > dead_before_us)
      LIMIT most $$;
CREATE FUNCTION tw_drop_expired_idempotency(now_us bigint) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH gone AS (DELETE FROM idempotency WHERE expires_us <= now_us RETURNING 1) SELECT count(*) FROM gone $$;
