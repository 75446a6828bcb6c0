-- What requests to language models took, and before that what was set aside for them.
CREATE TABLE usage_records (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    -- Days since 1970 in UTC.
    day bigint NOT NULL,
    name text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    -- In billionths; none where the model has no price.
    cost_nanos bigint,
    estimated boolean NOT NULL,
    created_us bigint NOT NULL,
    -- When the real figures replaced what was set aside; none after a crash.
    settled_us bigint,
    PRIMARY KEY (tenant_id, id)
);
-- The sums that budgets are held against.
CREATE TABLE usage_days (
    tenant_id uuid NOT NULL,
    day bigint NOT NULL,
    tokens bigint NOT NULL,
    cost_nanos bigint NOT NULL,
    PRIMARY KEY (tenant_id, day)
);
ALTER TABLE usage_records ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON usage_records
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
ALTER TABLE usage_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON usage_days
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON usage_records, usage_days TO %I', tw_app_role());
    END IF;
END $$;
