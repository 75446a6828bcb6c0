-- Scripts of a tenant, each with all of its versions. A tool keeps the source of the version that it names.
CREATE TABLE artifacts (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    -- The newest of its versions, what that is written in, and the digest of its source.
    version bigint NOT NULL,
    language text NOT NULL,
    checksum text NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER TABLE artifacts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON artifacts
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));

-- Only added to, and removed with the artifact.
CREATE TABLE artifact_versions (
    tenant_id uuid NOT NULL,
    artifact_id uuid NOT NULL,
    version bigint NOT NULL,
    language text NOT NULL,
    source text NOT NULL,
    checksum text NOT NULL,
    author text NOT NULL,
    created_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, artifact_id, version)
);
ALTER TABLE artifact_versions ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON artifact_versions
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
-- A database that has its role already gets no rights anew; see `roles.rs`.
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON artifacts TO %I', tw_app_role());
        EXECUTE format('GRANT SELECT, INSERT, DELETE ON artifact_versions TO %I', tw_app_role());
    END IF;
END $$;
