-- What a tenant says about tools. A tool defined in code has no row of its own: a row of kind
-- `system_override` lies on top of it, and a column that is null says nothing.

CREATE TABLE tools (
    id                BLOB    NOT NULL PRIMARY KEY,
    tenant_id         BLOB    NOT NULL,
    slug              TEXT    NOT NULL,
    slug_key          TEXT    NOT NULL,
    kind              TEXT    NOT NULL CHECK (kind IN ('system_override', 'tenant_custom')),
    name              TEXT,
    description       TEXT,
    category          TEXT,
    icon              TEXT,
    tags              TEXT,
    enabled           INTEGER,
    is_active         INTEGER,
    status            TEXT    CHECK (status IN ('draft', 'published', 'deprecated', 'disabled')),
    permission_policy TEXT    CHECK (permission_policy IN ('auto', 'always_ask')),
    permission_level  TEXT    CHECK (permission_level IN ('read', 'draft', 'write', 'destructive')),
    visible           INTEGER,
    timeout_ms        INTEGER,
    revision          INTEGER NOT NULL,
    created_us        INTEGER NOT NULL,
    updated_us        INTEGER NOT NULL,
    created_by        TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX tools_by_slug ON tools (tenant_id, slug_key, kind);
