-- What may go on or is out of time, without a look at everything that ever waited.
DROP INDEX pending_calls_open;
DROP INDEX pending_calls_by_deadline;
CREATE INDEX pending_calls_by_expiry ON pending_calls (expires_us) WHERE state = 'waiting';
CREATE INDEX pending_calls_ready ON pending_calls (tenant_id, id) WHERE state = 'ready';
CREATE INDEX pending_calls_by_deadline ON pending_calls (deadline_us) WHERE state = 'waiting' AND deadline_us IS NOT NULL;

-- How many calls the one that holds a place allows, itself among them.
ALTER TABLE places ADD COLUMN size INTEGER NOT NULL DEFAULT 1;
