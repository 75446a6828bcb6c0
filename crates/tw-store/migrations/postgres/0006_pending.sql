-- Calls that wait for a worker, a person or a call of their own.
ALTER TABLE pending_calls ADD COLUMN tool text NOT NULL DEFAULT '';
-- The run that this one waits for.
ALTER TABLE pending_calls ADD COLUMN child_run_id uuid;
-- When the run's own time is over; the row may stay open for a late result.
ALTER TABLE pending_calls ADD COLUMN deadline_us bigint;
-- When a worker was first told of it.
ALTER TABLE pending_calls ADD COLUMN delivered_us bigint;
ALTER TABLE pending_calls ADD COLUMN answered_by text;
CREATE INDEX pending_calls_by_deadline ON pending_calls (deadline_us) WHERE deadline_us IS NOT NULL;
CREATE INDEX pending_calls_by_child ON pending_calls (child_run_id) WHERE waits_for = 'child' AND state = 'waiting';
CREATE INDEX pending_calls_to_answer ON pending_calls (tenant_id, waits_for, id) WHERE state = 'waiting';

CREATE OR REPLACE FUNCTION tw_due_pending(now_us bigint, most bigint) RETURNS TABLE (tenant_id uuid, id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'waiting' AND p.expires_us <= now_us
      UNION SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.state = 'ready'
      UNION SELECT p.tenant_id, p.id FROM pending_calls p WHERE p.deadline_us <= now_us
      UNION SELECT p.tenant_id, p.id FROM pending_calls p
          WHERE p.waits_for = 'child' AND p.state = 'waiting' AND NOT EXISTS (SELECT 1 FROM runs r
              WHERE r.id = p.child_run_id AND r.status IN ('running', 'pending', 'needs_approval'))
      LIMIT most $$;
