-- The log takes events about a session that are about no run of a tool. SQLite cannot take NOT NULL away from a
-- column, so the table is written anew, with its index and everything that keeps it append-only.
CREATE TABLE session_events_anew (
    tenant_id  BLOB    NOT NULL,
    session_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    type       TEXT    NOT NULL,
    run_id     BLOB,
    tool       TEXT,
    actor      TEXT    NOT NULL,
    payload    TEXT    NOT NULL,
    at_us      INTEGER NOT NULL
) STRICT;
INSERT INTO session_events_anew (rowid, tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
SELECT rowid, tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us FROM session_events
ORDER BY rowid;
DROP TABLE session_events;
ALTER TABLE session_events_anew RENAME TO session_events;
CREATE UNIQUE INDEX session_events_order ON session_events (session_id, seq);

CREATE TRIGGER session_events_are_not_changed BEFORE UPDATE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
CREATE TRIGGER session_events_are_not_deleted BEFORE DELETE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
CREATE TRIGGER session_events_are_not_replaced BEFORE INSERT ON session_events
WHEN EXISTS (SELECT 1 FROM session_events WHERE session_id = NEW.session_id AND seq = NEW.seq)
    OR EXISTS (SELECT 1 FROM session_events WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;

-- The runs that a run waits for. It goes on when all of them have ended.
CREATE TABLE pending_children (
    tenant_id    BLOB NOT NULL,
    run_id       BLOB NOT NULL,
    child_run_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, run_id, child_run_id)
) STRICT, WITHOUT ROWID;
INSERT INTO pending_children (tenant_id, run_id, child_run_id)
SELECT tenant_id, run_id, child_run_id FROM pending_calls WHERE child_run_id IS NOT NULL;
DROP INDEX pending_calls_by_child;
ALTER TABLE pending_calls DROP COLUMN child_run_id;
CREATE INDEX pending_calls_of_children ON pending_calls (tenant_id, id) WHERE waits_for = 'child' AND state = 'waiting';

-- Numbers of a tool that nobody may call any more. The history itself is only added to.
CREATE TABLE withdrawn_versions (
    tenant_id    BLOB    NOT NULL,
    tool_id      BLOB    NOT NULL,
    version      TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    withdrawn_us INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, version)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER withdrawn_versions_are_not_changed BEFORE UPDATE ON withdrawn_versions
BEGIN SELECT RAISE(ABORT, 'withdrawn_versions is append-only'); END;
CREATE TRIGGER withdrawn_versions_are_not_deleted BEFORE DELETE ON withdrawn_versions
BEGIN SELECT RAISE(ABORT, 'withdrawn_versions is append-only'); END;

-- The hosts that a credential may be sent to, as JSON; null for every host.
ALTER TABLE credentials ADD COLUMN allowed_hosts TEXT;

-- Who else has a role, without a look at every member.
CREATE INDEX memberships_by_role ON memberships (tenant_id, role, user_id);
