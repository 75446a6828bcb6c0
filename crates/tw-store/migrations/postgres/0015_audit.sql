-- Nobody looks for a line of the audit without its tenant, and a span of ids alone was read over all tenants. One index
-- does for both, as it does on SQLite, where a span is always read within its tenant.
ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey;
DROP INDEX audit_log_by_tenant;
CREATE UNIQUE INDEX audit_log_by_tenant ON audit_log (tenant_id, id);
