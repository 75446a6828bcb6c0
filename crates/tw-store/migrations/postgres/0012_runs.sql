-- When a run was asked for and when it began are two things: one that waits for an approval has not begun. Lists are in
-- the order of `listed_us`, which is the one moment or else the other.
DROP INDEX runs_by_tool;
DROP INDEX runs_by_principal;
DROP INDEX runs_not_successful;
DROP INDEX runs_by_session;
DROP INDEX runs_by_parent;
ALTER TABLE runs RENAME COLUMN started_us TO listed_us;
ALTER TABLE runs ADD COLUMN requested_us bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN started_us bigint;
-- The first lease of a run that was asked for by an approval is nobody's: it began with the second.
UPDATE runs SET
    requested_us = coalesce((SELECT a.requested_us FROM approvals a WHERE a.run_id = runs.id), listed_us),
    started_us = CASE WHEN lease_epoch = 1 AND EXISTS (SELECT 1 FROM approvals a WHERE a.run_id = runs.id)
        THEN NULL ELSE listed_us END;

-- One index for each filter of the list, in the order of the list, so that a page costs the same however many runs
-- there are. Every call pays for the first three; the others are about a part of the runs. The list without a filter
-- is put together from the sources, which are few, so it needs no index of its own.
CREATE INDEX runs_by_source ON runs (tenant_id, source, listed_us, id);
CREATE INDEX runs_by_tool ON runs (tenant_id, tool, listed_us, id);
CREATE INDEX runs_by_principal ON runs (tenant_id, principal, listed_us, id);
CREATE INDEX runs_not_successful ON runs (tenant_id, status, listed_us, id) WHERE status <> 'success';
CREATE INDEX runs_by_error ON runs (tenant_id, error_code, listed_us, id) WHERE error_code IS NOT NULL;
CREATE INDEX runs_not_production ON runs (tenant_id, mode, listed_us, id) WHERE mode <> 'production';
CREATE INDEX runs_by_session ON runs (tenant_id, session_id, listed_us, id) WHERE session_id <> id;
CREATE INDEX runs_by_parent ON runs (tenant_id, parent_run_id, listed_us, id) WHERE parent_run_id IS NOT NULL;

-- Pages of the audit by what was done, and to what.
CREATE INDEX audit_log_by_action ON audit_log (tenant_id, action, id);
CREATE INDEX audit_log_by_object ON audit_log (tenant_id, object, id);
-- All approvals of a tenant, whatever became of them.
CREATE INDEX approvals_by_tenant ON approvals (tenant_id, id);
