-- What an author expects of a tool: an input, and what has to come of it.
CREATE TABLE test_cases (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    name text NOT NULL,
    -- Both as JSON; what is named like a secret is sealed.
    input text NOT NULL,
    expect text NOT NULL,
    -- How it went last against what was saved of the tool: against which content, and whether it passed.
    result_hash text,
    result_passed boolean,
    result_run_id uuid,
    result_us bigint,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, id)
);
ALTER TABLE test_cases ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON test_cases
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON test_cases TO %I', tw_app_role());
    END IF;
END $$;
