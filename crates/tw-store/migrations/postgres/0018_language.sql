-- The language that a person chose in a tenant; without one the browser says it.
ALTER TABLE memberships ADD COLUMN language TEXT;
-- What a tenant calls a tool of the program in other languages, as JSON.
ALTER TABLE tools ADD COLUMN i18n TEXT;
