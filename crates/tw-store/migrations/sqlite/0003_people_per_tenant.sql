-- What a tenant says about a person is that tenant's alone: the name it gave, and the password that opens it.
-- See docs/adr/0015-trust-ends-at-the-tenant.md.

ALTER TABLE memberships ADD COLUMN display_name TEXT NOT NULL DEFAULT '';
ALTER TABLE memberships ADD COLUMN password_hash TEXT;

-- The tenants that the password of a sign-in opens, each with a mark of the password as it was then.
ALTER TABLE logins ADD COLUMN opens TEXT NOT NULL DEFAULT '{}';

-- Name and password go to the membership that the person came about with, written in the same transaction as the
-- person. Who joined later joins anew: by a link of that tenant.
UPDATE memberships SET
    display_name = (SELECT u.display_name FROM users u WHERE u.id = memberships.user_id),
    password_hash = (SELECT u.password_hash FROM users u WHERE u.id = memberships.user_id)
WHERE created_us <= (SELECT u.created_us + 10000000 FROM users u WHERE u.id = memberships.user_id)
    AND created_us = (SELECT min(o.created_us) FROM memberships o WHERE o.user_id = memberships.user_id);
UPDATE logins SET ended_us = unixepoch() * 1000000
WHERE ended_us IS NULL AND NOT EXISTS (
    SELECT 1 FROM memberships m
    WHERE m.tenant_id = logins.tenant_id AND m.user_id = logins.user_id AND m.display_name <> '');
UPDATE memberships SET display_name = (SELECT u.email FROM users u WHERE u.id = memberships.user_id)
WHERE display_name = '';

-- No longer read. The columns stay for servers of the version before, which may still be running.
UPDATE users SET password_hash = NULL;
UPDATE tenant_epoch SET epoch = epoch + 1;
