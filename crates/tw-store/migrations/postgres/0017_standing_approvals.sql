-- A yes to one call of an agent that also holds for later ones, until it runs out or somebody takes it back.
CREATE TABLE standing_approvals (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    -- Whose calls it is for, as in `runs`.
    principal text NOT NULL,
    tool_id uuid NOT NULL,
    tool text NOT NULL,
    -- Of all definitions that the call is held against.
    definition_hash text NOT NULL,
    -- JSON: the agent and the approver with their roles, the way the call came.
    context text NOT NULL,
    -- JSON pointers into the input; NULL for all of it.
    fields text,
    -- What has to be the same: JSON, and its digest.
    field_values text NOT NULL,
    values_digest text NOT NULL,
    approved_by text NOT NULL,
    seal bytea NOT NULL,
    created_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    revoked_us bigint,
    uses bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id)
);
-- What a call looks for that has to be asked about.
CREATE INDEX standing_approvals_by_call ON standing_approvals
    (tenant_id, principal, tool_id, definition_hash, expires_us);
CREATE INDEX standing_approvals_by_expiry ON standing_approvals (tenant_id, expires_us);
ALTER TABLE standing_approvals ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON standing_approvals
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
-- When a member got the role that they have; 0 for the one they came with. Somebody who lost a right and got it back has
-- still lost what it was the reason for.
ALTER TABLE memberships ADD COLUMN role_us bigint NOT NULL DEFAULT 0;
-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON standing_approvals TO %I', tw_app_role());
    END IF;
END $$;
