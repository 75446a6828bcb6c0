-- What may go on or is out of time, without a look at everything that ever waited.
DROP INDEX pending_calls_open;
DROP INDEX pending_calls_by_deadline;
CREATE INDEX pending_calls_by_expiry ON pending_calls (expires_us) WHERE state = 'waiting';
CREATE INDEX pending_calls_ready ON pending_calls (tenant_id, id) WHERE state = 'ready';
CREATE INDEX pending_calls_by_deadline ON pending_calls (deadline_us) WHERE state = 'waiting' AND deadline_us IS NOT NULL;

DROP FUNCTION tw_due_pending(bigint, bigint);
CREATE FUNCTION tw_due_pending(now_us bigint, most bigint, after_tenant uuid, after_id uuid)
    RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT due.tenant_id, due.id FROM (
          SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'waiting' AND p.expires_us <= now_us
          UNION SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'ready'
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.state = 'waiting' AND p.deadline_us <= now_us AND EXISTS (SELECT 1 FROM runs r
                  WHERE r.tenant_id = p.tenant_id AND r.id = p.run_id AND r.status = 'pending')
          UNION SELECT p.tenant_id, p.id FROM pending_calls p
              WHERE p.waits_for = 'child' AND p.state = 'waiting' AND NOT EXISTS (SELECT 1 FROM runs r
                  WHERE r.tenant_id = p.tenant_id AND r.id = p.child_run_id
                      AND r.status IN ('running', 'pending', 'needs_approval'))) AS due
      WHERE (due.tenant_id, due.id) > (after_tenant, after_id)
      ORDER BY due.tenant_id, due.id LIMIT most $$;

-- How many calls the one that holds a place allows, itself among them.
ALTER TABLE places ADD COLUMN size bigint NOT NULL DEFAULT 1;
