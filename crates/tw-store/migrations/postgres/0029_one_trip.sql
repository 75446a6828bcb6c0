-- What a lane of the log needs for a group that it writes in one trip. Nobody can commit such a group once its fence is
-- gone, so a lane whose connection broke takes its fence away and then sees for good whether the group was written.
CREATE TABLE log_fences (
    id uuid NOT NULL PRIMARY KEY,
    created_us bigint NOT NULL
);

-- Writes the rows of a group, by whole columns. Runs are looked up one by one and changed by their place, which does not
-- move while they are locked: a plan that joins with all runs of a tenant would grow with them.
CREATE FUNCTION tw_write_group(
    o_status text[], o_replica uuid[], o_lease bigint[], o_last bigint[], o_input bigint[], o_output bigint[],
    o_summary text[], o_error text[], o_code text[], o_effect text[], o_started bigint[], o_finished bigint[],
    o_duration bigint[], o_listed bigint[], o_id uuid[], o_tenant uuid[], o_session uuid[], o_own boolean[],
    o_parent uuid[], o_root uuid[], o_tool_id uuid[], o_tool text[], o_version text[], o_source text[],
    o_channel text[], o_mode text[], o_principal text[], o_actor text[], o_effectful boolean[],
    o_repeatable boolean[], o_requested bigint[],
    c_status text[], c_replica uuid[], c_lease bigint[], c_last bigint[], c_input bigint[], c_output bigint[],
    c_summary text[], c_error text[], c_code text[], c_effect text[], c_started bigint[], c_finished bigint[],
    c_duration bigint[], c_listed bigint[], c_id uuid[], c_tenant uuid[],
    s_id uuid[], s_tenant uuid[], s_seq bigint[],
    e_tenant uuid[], e_session uuid[], e_seq bigint[], e_id uuid[], e_type text[], e_run uuid[], e_tool text[],
    e_actor text[], e_payload text[], e_at bigint[])
    RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(o_id) > 0 THEN
        INSERT INTO runs (status, replica_id, lease_epoch, last_seq, input_seq, output_seq, summary, error,
            error_code, effect, started_us, finished_us, duration_us, listed_us, id, tenant_id, session_id, own_session,
            parent_run_id, root_run_id, tool_id, tool, version, source, channel, mode, principal, actor, effectful,
            repeatable, requested_us)
        SELECT * FROM unnest(o_status, o_replica, o_lease, o_last, o_input, o_output, o_summary, o_error, o_code,
            o_effect, o_started, o_finished, o_duration, o_listed, o_id, o_tenant, o_session, o_own, o_parent, o_root,
            o_tool_id, o_tool, o_version, o_source, o_channel, o_mode, o_principal, o_actor, o_effectful, o_repeatable,
            o_requested);
    END IF;
    IF cardinality(c_id) > 0 THEN
        UPDATE runs r SET status = w.status, replica_id = w.replica_id, lease_epoch = w.lease_epoch,
            last_seq = w.last_seq, input_seq = w.input_seq, output_seq = w.output_seq, summary = w.summary,
            error = w.error, error_code = w.error_code, effect = w.effect, started_us = w.started_us,
            finished_us = w.finished_us, duration_us = w.duration_us, listed_us = w.listed_us
        FROM unnest(c_status, c_replica, c_lease, c_last, c_input, c_output, c_summary, c_error, c_code, c_effect,
            c_started, c_finished, c_duration, c_listed, c_id, c_tenant) AS w (status, replica_id, lease_epoch,
            last_seq, input_seq, output_seq, summary, error, error_code, effect, started_us, finished_us, duration_us,
            listed_us, id, tenant_id)
        CROSS JOIN LATERAL (SELECT k.ctid AS place FROM runs k
            WHERE k.tenant_id = w.tenant_id AND k.id = w.id OFFSET 0) AS kept
        WHERE r.ctid = kept.place;
    END IF;
    IF cardinality(s_id) > 0 THEN
        UPDATE sessions s SET last_seq = w.seq FROM unnest(s_id, s_tenant, s_seq) AS w (id, tenant_id, seq)
        WHERE s.id = w.id AND s.tenant_id = w.tenant_id;
    END IF;
    INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
    SELECT * FROM unnest(e_tenant, e_session, e_seq, e_id, e_type, e_run, e_tool, e_actor, e_payload, e_at);
END $$;

-- Takes the locks under which a group is written, for tenants whose rows are as the lane knows them: `f_` is the fence,
-- `t_` are tenants, `r_` runs, `s_` sessions, each in the order in which everybody locks. Says `fence` where the fence is
-- gone, `changed` where something is other than the lane knows, and `held` otherwise.
CREATE FUNCTION tw_hold_group(
    f_id uuid, setting text,
    t_id uuid[], t_epoch bigint[], t_told bigint[],
    r_tenant uuid[], r_id uuid[], r_status text[], r_replica uuid[], r_lease bigint[], r_last bigint[],
    s_tenant uuid[], s_id uuid[], s_seq bigint[])
    RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    locked bigint;
BEGIN
    PERFORM set_config('tw.tenants', setting, true), set_config('enable_sort', 'on', true);
    PERFORM 1 FROM log_fences f WHERE f.id = f_id FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN 'fence';
    END IF;
    -- The share lock makes a revocation wait for this group, or this group see the revocation.
    SELECT count(*) INTO locked FROM (
        SELECT 1 FROM unnest(t_id, t_epoch, t_told) AS w (id, epoch, told)
        CROSS JOIN LATERAL (SELECT 1 FROM tenant_epoch t
            WHERE t.tenant_id = w.id AND t.epoch = w.epoch AND t.webhook_events = w.told FOR SHARE) AS kept) AS rows_held;
    IF locked <> cardinality(t_id) THEN
        RETURN 'changed';
    END IF;
    IF cardinality(r_id) > 0 THEN
        SELECT count(*) INTO locked FROM (
            SELECT 1 FROM unnest(r_tenant, r_id, r_status, r_replica, r_lease, r_last)
                AS w (tenant_id, id, status, replica_id, lease_epoch, last_seq)
            CROSS JOIN LATERAL (SELECT 1 FROM runs r
                WHERE r.tenant_id = w.tenant_id AND r.id = w.id AND r.status = w.status
                    AND r.replica_id IS NOT DISTINCT FROM w.replica_id AND r.lease_epoch = w.lease_epoch
                    AND r.last_seq = w.last_seq FOR UPDATE) AS kept) AS rows_held;
        IF locked <> cardinality(r_id) THEN
            RETURN 'changed';
        END IF;
    END IF;
    IF cardinality(s_id) > 0 THEN
        SELECT count(*) INTO locked FROM (
            SELECT 1 FROM unnest(s_tenant, s_id, s_seq) AS w (tenant_id, id, seq)
            CROSS JOIN LATERAL (SELECT 1 FROM sessions s
                WHERE s.id = w.id AND s.tenant_id = w.tenant_id AND s.last_seq = w.seq FOR UPDATE) AS kept) AS rows_held;
        IF locked <> cardinality(s_id) THEN
            RETURN 'changed';
        END IF;
    END IF;
    RETURN 'held';
END $$;

-- Nobody calls these but the server.
DO $$
DECLARE
    own record;
BEGIN
    FOR own IN SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ('tw_write_group', 'tw_hold_group') LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own.name);
        -- A database that has its role already gets no rights anew; see `roles.rs`.
        IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', own.name, tw_app_role());
        END IF;
    END LOOP;
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = tw_app_role()) THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON log_fences TO %I', tw_app_role());
    END IF;
END $$;
