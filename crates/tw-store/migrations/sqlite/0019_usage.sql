-- What requests to language models took, and before that what was set aside for them.
CREATE TABLE usage_records (
    id                 BLOB    NOT NULL,
    tenant_id          BLOB    NOT NULL,
    run_id             BLOB    NOT NULL,
    -- Days since 1970 in UTC.
    day                INTEGER NOT NULL,
    name               TEXT    NOT NULL,
    provider           TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    -- In billionths; none where the model has no price.
    cost_nanos         INTEGER,
    estimated          INTEGER NOT NULL,
    created_us         INTEGER NOT NULL,
    -- When the real figures replaced what was set aside; none after a crash.
    settled_us         INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
-- The sums that budgets are held against.
CREATE TABLE usage_days (
    tenant_id  BLOB    NOT NULL,
    day        INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, day)
) STRICT, WITHOUT ROWID;
