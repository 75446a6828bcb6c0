-- What is only ever added to cannot be written over either. `INSERT OR REPLACE` takes the row away that is in its
-- place, and SQLite fires no trigger for that, so the new row is refused before.
CREATE TRIGGER session_events_are_not_replaced BEFORE INSERT ON session_events
WHEN EXISTS (SELECT 1 FROM session_events WHERE session_id = NEW.session_id AND seq = NEW.seq)
    OR EXISTS (SELECT 1 FROM session_events WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;

CREATE TRIGGER audit_log_is_not_replaced BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM audit_log WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END;

CREATE TRIGGER schema_versions_are_not_changed BEFORE UPDATE ON schema_versions
BEGIN SELECT RAISE(ABORT, 'schema_versions is append-only'); END;
CREATE TRIGGER schema_versions_are_not_deleted BEFORE DELETE ON schema_versions
BEGIN SELECT RAISE(ABORT, 'schema_versions is append-only'); END;
CREATE TRIGGER schema_versions_are_not_replaced BEFORE INSERT ON schema_versions
WHEN EXISTS (SELECT 1 FROM schema_versions
    WHERE tenant_id = NEW.tenant_id AND subject_id = NEW.subject_id AND revision = NEW.revision)
BEGIN SELECT RAISE(ABORT, 'schema_versions is append-only'); END;

CREATE TRIGGER tool_versions_are_not_changed BEFORE UPDATE ON tool_versions
BEGIN SELECT RAISE(ABORT, 'tool_versions is append-only'); END;
CREATE TRIGGER tool_versions_are_not_deleted BEFORE DELETE ON tool_versions
BEGIN SELECT RAISE(ABORT, 'tool_versions is append-only'); END;
CREATE TRIGGER tool_versions_are_not_replaced BEFORE INSERT ON tool_versions
WHEN EXISTS (SELECT 1 FROM tool_versions WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM tool_versions WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'tool_versions is append-only'); END;

-- A content is named by what it is, so the same again changes nothing.
CREATE TRIGGER schema_contents_are_not_changed BEFORE UPDATE ON schema_contents
BEGIN SELECT RAISE(ABORT, 'schema_contents is append-only'); END;
CREATE TRIGGER schema_contents_are_not_deleted BEFORE DELETE ON schema_contents
BEGIN SELECT RAISE(ABORT, 'schema_contents is append-only'); END;
CREATE TRIGGER schema_contents_are_not_replaced BEFORE INSERT ON schema_contents
WHEN EXISTS (SELECT 1 FROM schema_contents
    WHERE tenant_id = NEW.tenant_id AND content_hash = NEW.content_hash AND content <> NEW.content)
BEGIN SELECT RAISE(ABORT, 'schema_contents is append-only'); END;
