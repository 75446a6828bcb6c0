-- Who is at work in which concurrency group, and by when they have left for sure. One server alone counts by itself.
CREATE TABLE places (
    tenant_id  BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    place      INTEGER NOT NULL,
    replica_id BLOB    NOT NULL,
    until_us   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name, place)
) STRICT, WITHOUT ROWID;
