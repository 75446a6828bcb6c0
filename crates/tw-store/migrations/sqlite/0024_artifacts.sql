-- Scripts of a tenant, each with all of its versions. A tool keeps the source of the version that it names.
CREATE TABLE artifacts (
    id          BLOB    NOT NULL,
    tenant_id   BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    -- The newest of its versions, what that is written in, and the digest of its source.
    version     INTEGER NOT NULL,
    language    TEXT    NOT NULL,
    checksum    TEXT    NOT NULL,
    created_us  INTEGER NOT NULL,
    updated_us  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- Only added to, and removed with the artifact.
CREATE TABLE artifact_versions (
    tenant_id   BLOB    NOT NULL,
    artifact_id BLOB    NOT NULL,
    version     INTEGER NOT NULL,
    language    TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    checksum    TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    created_us  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, artifact_id, version)
) STRICT, WITHOUT ROWID;
