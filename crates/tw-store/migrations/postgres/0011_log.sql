-- The log takes events about a session that are about no run of a tool.
ALTER TABLE session_events ALTER COLUMN run_id DROP NOT NULL, ALTER COLUMN tool DROP NOT NULL;

-- The runs that a run waits for. It goes on when all of them have ended.
CREATE TABLE pending_children (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    child_run_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, run_id, child_run_id)
);
INSERT INTO pending_children (tenant_id, run_id, child_run_id)
SELECT tenant_id, run_id, child_run_id FROM pending_calls WHERE child_run_id IS NOT NULL;
DROP INDEX pending_calls_by_child;
ALTER TABLE pending_calls DROP COLUMN child_run_id;
CREATE INDEX pending_calls_of_children ON pending_calls (tenant_id, id) WHERE waits_for = 'child' AND state = 'waiting';

CREATE OR REPLACE FUNCTION tw_due_pending(now_us bigint, most bigint, after_tenant uuid, after_id uuid)
    RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT due.tenant_id, due.id FROM (
          SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'waiting' AND p.expires_us <= now_us
          UNION SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'ready'
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.state = 'waiting' AND p.deadline_us <= now_us AND EXISTS (SELECT 1 FROM runs r
                  WHERE r.tenant_id = p.tenant_id AND r.id = p.run_id AND r.status = 'pending')
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.waits_for = 'child' AND p.state = 'waiting' AND NOT EXISTS (
                  SELECT 1 FROM pending_children c JOIN runs r ON r.tenant_id = c.tenant_id AND r.id = c.child_run_id
                  WHERE c.tenant_id = p.tenant_id AND c.run_id = p.run_id
                      AND r.status IN ('running', 'pending', 'needs_approval'))) AS due
      WHERE (due.tenant_id, due.id) > (after_tenant, after_id)
      ORDER BY due.tenant_id, due.id LIMIT most $$;

-- Numbers of a tool that nobody may call any more. The history itself is only added to.
CREATE TABLE withdrawn_versions (
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    version text NOT NULL,
    author text NOT NULL,
    withdrawn_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, version)
);

GRANT SELECT, INSERT, DELETE ON pending_children TO toolwright_app;
GRANT SELECT, INSERT ON withdrawn_versions TO toolwright_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['pending_children', 'withdrawn_versions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_fence ON %I TO toolwright_app
            USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
            WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))', name);
    END LOOP;
END $$;

-- The hosts that a credential may be sent to, as JSON; null for every host.
ALTER TABLE credentials ADD COLUMN allowed_hosts text;

-- Who else has a role, without a look at every member.
CREATE INDEX memberships_by_role ON memberships (tenant_id, role, user_id);
