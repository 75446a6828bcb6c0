-- An index for each statement that had none of its own and walked through all that a tenant has, or all that there is.
-- None of them is about what a call writes.
CREATE INDEX sign_in_links_by_user ON sign_in_links (tenant_id, user_id) WHERE used_us IS NULL;
CREATE INDEX api_keys_by_owner ON api_keys (tenant_id, owner_id, id) WHERE revoked_us IS NULL;
CREATE INDEX credentials_by_provider ON credentials (tenant_id, provider_key, id) WHERE provider_key IS NOT NULL;
CREATE INDEX overrides_by_slug ON tools (tenant_id, slug_key) WHERE kind = 'system_override' AND deleted_us IS NULL;
CREATE INDEX removed_overrides ON tools (tenant_id, slug_key) WHERE kind = 'system_override' AND deleted_us IS NOT NULL;
-- The history of a tool in its order, in three parts: what was saved, what was published, what got a number.
CREATE INDEX schema_versions_by_subject ON schema_versions (tenant_id, subject_id, id);
DROP INDEX tool_versions_by_tool;
CREATE INDEX tool_versions_by_reason ON tool_versions (tenant_id, tool_id, reason, id);
CREATE INDEX tool_versions_by_number ON tool_versions (tenant_id, tool_id, version, reason, id DESC);
