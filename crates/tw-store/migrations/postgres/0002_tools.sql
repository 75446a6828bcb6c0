-- What a tenant says about tools. A tool defined in code has no row of its own: a row of kind
-- `system_override` lies on top of it, and a column that is null says nothing.

CREATE TABLE tools (
    id uuid NOT NULL PRIMARY KEY,
    tenant_id uuid NOT NULL,
    slug text NOT NULL,
    slug_key text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('system_override', 'tenant_custom')),
    name text,
    description text,
    category text,
    icon text,
    tags text,
    enabled boolean,
    is_active boolean,
    status text CHECK (status IN ('draft', 'published', 'deprecated', 'disabled')),
    permission_policy text CHECK (permission_policy IN ('auto', 'always_ask')),
    permission_level text CHECK (permission_level IN ('read', 'draft', 'write', 'destructive')),
    visible boolean,
    timeout_ms bigint,
    revision bigint NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    created_by text NOT NULL
);
CREATE UNIQUE INDEX tools_by_slug ON tools (tenant_id, slug_key, kind);

GRANT SELECT, INSERT, UPDATE ON tools TO toolwright_app;
ALTER TABLE tools ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON tools TO toolwright_app
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
