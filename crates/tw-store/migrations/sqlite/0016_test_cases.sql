-- What an author expects of a tool: an input, and what has to come of it.
CREATE TABLE test_cases (
    id            BLOB    NOT NULL,
    tenant_id     BLOB    NOT NULL,
    tool_id       BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    -- Both as JSON; what is named like a secret is sealed.
    input         TEXT    NOT NULL,
    expect        TEXT    NOT NULL,
    -- How it went last against what was saved of the tool: against which content, and whether it passed.
    result_hash   TEXT,
    result_passed INTEGER,
    result_run_id BLOB,
    result_us     INTEGER,
    created_us    INTEGER NOT NULL,
    updated_us    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, id)
) STRICT, WITHOUT ROWID;
