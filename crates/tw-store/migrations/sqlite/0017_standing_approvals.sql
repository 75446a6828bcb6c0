-- A yes to one call of an agent that also holds for later ones, until it runs out or somebody takes it back.
CREATE TABLE standing_approvals (
    id              BLOB    NOT NULL,
    tenant_id       BLOB    NOT NULL,
    -- Whose calls it is for, as in `runs`.
    principal       TEXT    NOT NULL,
    tool_id         BLOB    NOT NULL,
    tool            TEXT    NOT NULL,
    -- Of all definitions that the call is held against.
    definition_hash TEXT    NOT NULL,
    -- JSON: the agent and the approver with their roles, the way the call came.
    context         TEXT    NOT NULL,
    -- JSON pointers into the input; NULL for all of it.
    fields          TEXT,
    -- What has to be the same: JSON, and its digest.
    field_values    TEXT    NOT NULL,
    values_digest   TEXT    NOT NULL,
    approved_by     TEXT    NOT NULL,
    seal            BLOB    NOT NULL,
    created_us      INTEGER NOT NULL,
    expires_us      INTEGER NOT NULL,
    revoked_us      INTEGER,
    uses            INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id)
) STRICT;
-- What a call looks for that has to be asked about.
CREATE INDEX standing_approvals_by_call ON standing_approvals
    (tenant_id, principal, tool_id, definition_hash, expires_us);
CREATE INDEX standing_approvals_by_expiry ON standing_approvals (tenant_id, expires_us);
-- When a member got the role that they have; 0 for the one they came with. Somebody who lost a right and got it back has
-- still lost what it was the reason for.
ALTER TABLE memberships ADD COLUMN role_us INTEGER NOT NULL DEFAULT 0;
