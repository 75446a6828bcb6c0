-- Nobody looks for a line of the audit without its tenant, and a span of ids alone would be read over all tenants.
ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey, ADD PRIMARY KEY (tenant_id, id);
DROP INDEX audit_log_by_tenant;
