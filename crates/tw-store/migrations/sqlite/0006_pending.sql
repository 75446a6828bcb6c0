-- Calls that wait for a worker, a person or a call of their own.
ALTER TABLE pending_calls ADD COLUMN tool TEXT NOT NULL DEFAULT '';
-- The run that this one waits for.
ALTER TABLE pending_calls ADD COLUMN child_run_id BLOB;
-- When the run's own time is over; the row may stay open for a late result.
ALTER TABLE pending_calls ADD COLUMN deadline_us INTEGER;
-- When a worker was first told of it.
ALTER TABLE pending_calls ADD COLUMN delivered_us INTEGER;
ALTER TABLE pending_calls ADD COLUMN answered_by TEXT;
CREATE INDEX pending_calls_by_deadline ON pending_calls (deadline_us) WHERE deadline_us IS NOT NULL;
CREATE INDEX pending_calls_by_child ON pending_calls (child_run_id) WHERE waits_for = 'child' AND state = 'waiting';
CREATE INDEX pending_calls_to_answer ON pending_calls (tenant_id, waits_for, id) WHERE state = 'waiting';
