-- Who is at work in which concurrency group, and by when they have left for sure. One server alone counts by itself.
CREATE TABLE places (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    place bigint NOT NULL,
    replica_id uuid NOT NULL,
    until_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, name, place)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON places TO toolwright_app;
ALTER TABLE places ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON places TO toolwright_app
    USING (tenant_id = ANY ((SELECT tw_tenants())::uuid[]))
    WITH CHECK (tenant_id = ANY ((SELECT tw_tenants())::uuid[]));
