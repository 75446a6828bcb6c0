-- Tools that a tenant writes itself, and their history. A row of kind `tenant_custom` holds what was saved
-- last (`definition`) beside what runs (`live`); switches are columns and hold at once.

ALTER TABLE tools ADD COLUMN tenant_slugs TEXT;
ALTER TABLE tools ADD COLUMN definition TEXT;
ALTER TABLE tools ADD COLUMN live TEXT;
ALTER TABLE tools ADD COLUMN version TEXT;
ALTER TABLE tools ADD COLUMN live_version TEXT;
ALTER TABLE tools ADD COLUMN published_us INTEGER;
-- The tenant's epoch of the last change, so that a server reads what changed and nothing else.
ALTER TABLE tools ADD COLUMN changed_epoch INTEGER NOT NULL DEFAULT 0;
-- A removed row keeps its history and frees its slug.
ALTER TABLE tools ADD COLUMN deleted_us INTEGER;

DROP INDEX tools_by_slug;
CREATE UNIQUE INDEX tools_by_slug ON tools (tenant_id, slug_key, kind) WHERE deleted_us IS NULL;
CREATE INDEX tools_by_change ON tools (tenant_id, changed_epoch);

-- What was ever saved, once per content.
CREATE TABLE schema_contents (
    tenant_id    BLOB NOT NULL,
    content_hash TEXT NOT NULL,
    content      TEXT NOT NULL,
    PRIMARY KEY (tenant_id, content_hash)
) STRICT, WITHOUT ROWID;

-- Every save, in order. Names its subject by kind, so that other things than tools can have a history.
CREATE TABLE schema_versions (
    tenant_id    BLOB    NOT NULL,
    subject_kind TEXT    NOT NULL CHECK (subject_kind IN ('tool', 'entity_type', 'criteria', 'block')),
    subject_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    revision     INTEGER NOT NULL,
    version      TEXT    NOT NULL,
    content_hash TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    created_us   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, subject_id, revision)
) STRICT, WITHOUT ROWID;

-- Every publication and every new number, each with the revision it stands on.
CREATE TABLE tool_versions (
    id           BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    tool_id      BLOB    NOT NULL,
    reason       TEXT    NOT NULL CHECK (reason IN ('publish', 'version')),
    version      TEXT    NOT NULL,
    revision     INTEGER NOT NULL,
    content_hash TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    created_us   INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_versions_by_tool ON tool_versions (tenant_id, tool_id, id);
