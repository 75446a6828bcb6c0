-- Tools that a tenant writes itself, and their history. A row of kind `tenant_custom` holds what was saved
-- last (`definition`) beside what runs (`live`); switches are columns and hold at once.

ALTER TABLE tools
    ADD COLUMN tenant_slugs text,
    ADD COLUMN definition text,
    ADD COLUMN live text,
    ADD COLUMN version text,
    ADD COLUMN live_version text,
    ADD COLUMN published_us bigint,
    -- The tenant's epoch of the last change, so that a server reads what changed and nothing else.
    ADD COLUMN changed_epoch bigint NOT NULL DEFAULT 0,
    -- A removed row keeps its history and frees its slug.
    ADD COLUMN deleted_us bigint;

DROP INDEX tools_by_slug;
CREATE UNIQUE INDEX tools_by_slug ON tools (tenant_id, slug_key, kind) WHERE deleted_us IS NULL;
CREATE INDEX tools_by_change ON tools (tenant_id, changed_epoch);

-- What everybody is told about a tool stands under the tenant of all zeros. Tenants read it; they cannot
-- write it, because nobody but the operator is ever bound to that tenant.
CREATE POLICY for_everybody ON tools FOR SELECT TO toolwright_app
    USING (tenant_id = '00000000-0000-0000-0000-000000000000');

-- A word to everybody changes every tenant.
CREATE FUNCTION tw_bump_every_epoch() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp
AS $$ UPDATE tenant_epoch SET epoch = epoch + 1 $$;

-- What was ever saved, once per content.
CREATE TABLE schema_contents (
    tenant_id uuid NOT NULL,
    content_hash text NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (tenant_id, content_hash)
);

-- Every save, in order. Names its subject by kind, so that other things than tools can have a history.
CREATE TABLE schema_versions (
    tenant_id uuid NOT NULL,
    subject_kind text NOT NULL CHECK (subject_kind IN ('tool', 'entity_type', 'criteria', 'block')),
    subject_id uuid NOT NULL,
    id uuid NOT NULL,
    revision bigint NOT NULL,
    version text NOT NULL,
    content_hash text NOT NULL,
    author text NOT NULL,
    created_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, subject_id, revision)
);

-- Every publication and every new number, each with the revision it stands on.
CREATE TABLE tool_versions (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    reason text NOT NULL CHECK (reason IN ('publish', 'version')),
    version text NOT NULL,
    revision bigint NOT NULL,
    content_hash text NOT NULL,
    author text NOT NULL,
    created_us bigint NOT NULL
);
CREATE INDEX tool_versions_by_tool ON tool_versions (tenant_id, tool_id, id);

-- History is added to and read.
GRANT SELECT, INSERT ON schema_contents, schema_versions, tool_versions TO toolwright_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['schema_contents', 'schema_versions', 'tool_versions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_fence ON %I TO toolwright_app
            USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
            WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))', name);
    END LOOP;
END $$;
