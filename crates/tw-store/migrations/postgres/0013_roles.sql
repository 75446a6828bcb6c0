-- The role `toolwright_app` was one for the whole cluster: whoever owned another Toolwright database there was a member
-- of it, and could read this one. From now on every database has a role of its own, which is made, and given its rights,
-- after the migrations; see `roles.rs`. This function says which one it is.
CREATE FUNCTION tw_app_role() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT 'toolwright_app' $$;

-- The fences hold for everybody but the owner, so that they need not know the role.
DO $$
DECLARE
    fence record;
BEGIN
    FOR fence IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'public' LOOP
        EXECUTE format('ALTER POLICY %I ON %I TO PUBLIC', fence.policyname, fence.tablename);
    END LOOP;
END $$;

-- What looks past the fences believes nobody about the time: by a moment far ahead everything would be due.
CREATE FUNCTION tw_no_later(moment_us bigint) RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$ SELECT least(moment_us, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) $$;

CREATE OR REPLACE FUNCTION tw_due_pending(now_us bigint, most bigint, after_tenant uuid, after_id uuid)
    RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH clock AS MATERIALIZED (SELECT tw_no_later(now_us) AS now_us)
      SELECT due.tenant_id, due.id FROM (
          SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.state = 'waiting' AND p.expires_us <= (SELECT c.now_us FROM clock c)
          UNION SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'ready'
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.state = 'waiting' AND p.deadline_us <= (SELECT c.now_us FROM clock c)
                  AND EXISTS (SELECT 1 FROM runs r
                      WHERE r.tenant_id = p.tenant_id AND r.id = p.run_id AND r.status = 'pending')
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.waits_for = 'child' AND p.state = 'waiting' AND NOT EXISTS (
                  SELECT 1 FROM pending_children c JOIN runs r ON r.tenant_id = c.tenant_id AND r.id = c.child_run_id
                  WHERE c.tenant_id = p.tenant_id AND c.run_id = p.run_id
                      AND r.status IN ('running', 'pending', 'needs_approval'))) AS due
      WHERE (due.tenant_id, due.id) > (after_tenant, after_id)
      ORDER BY due.tenant_id, due.id LIMIT most $$;
CREATE OR REPLACE FUNCTION tw_orphaned_runs(dead_before_us bigint, most bigint)
    RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH clock AS MATERIALIZED (SELECT tw_no_later(dead_before_us) AS dead_before_us)
      SELECT r.tenant_id, r.id FROM runs r
      WHERE r.status = 'running' AND NOT EXISTS (SELECT 1 FROM replicas p
          WHERE p.id = r.replica_id AND p.heartbeat_us > (SELECT c.dead_before_us FROM clock c))
      LIMIT most $$;
CREATE OR REPLACE FUNCTION tw_drop_expired_idempotency(now_us bigint) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ WITH clock AS MATERIALIZED (SELECT tw_no_later(now_us) AS now_us),
      gone AS (DELETE FROM idempotency WHERE expires_us <= (SELECT c.now_us FROM clock c) RETURNING 1)
      SELECT count(*) FROM gone $$;

-- Nobody calls these but the server.
DO $$
DECLARE
    own record;
BEGIN
    FOR own IN SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'tw\_%' LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own.name);
    END LOOP;
END $$;
