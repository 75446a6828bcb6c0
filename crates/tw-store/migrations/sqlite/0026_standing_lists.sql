-- Lists of standing approvals by agent and by tool, newest first: an administrator looks at one of them while a tenant may
-- have thousands that have run out.
CREATE INDEX standing_approvals_by_principal ON standing_approvals (tenant_id, principal, id);
CREATE INDEX standing_approvals_by_tool ON standing_approvals (tenant_id, tool, id);
