-- The service that deletes users may change neither the audit log nor sagas. These functions take one user's names and addresses out
-- of them, and change nothing else.

-- Returns the number of entries that were changed, and the usernames that the user has had and nobody else has now.
CREATE FUNCTION erase_user_from_audit_log(erased_id integer, last_username text, OUT changed bigint, OUT usernames text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    label text := 'deleted user ' || erased_id;
    part bigint;
BEGIN
    -- Within the look-up of users, a bare `name` would be their column.
    usernames := ARRAY(
        SELECT DISTINCT lower(known.name) FROM (
            SELECT last_username AS name
            UNION ALL
            SELECT details ->> 'username' FROM audit_events WHERE entity_type = 'User' AND entity_id = erased_id::text
        ) AS known
        WHERE known.name IS NOT NULL AND known.name <> label
            AND NOT EXISTS (SELECT FROM users WHERE username_key = lower(known.name) AND id <> erased_id)
    );

    UPDATE audit_events SET author_name = label, ip_address = NULL
    WHERE author_id = erased_id AND (author_name <> label OR ip_address IS NOT NULL);
    GET DIAGNOSTICS changed = ROW_COUNT;

    UPDATE audit_events
    SET details = (details - 'subject')
        || CASE WHEN details ? 'username' THEN jsonb_build_object('username', label) ELSE '{}' END
    WHERE entity_type = 'User' AND entity_id = erased_id::text
        AND (details ? 'subject' OR details ->> 'username' <> label);
    GET DIAGNOSTICS part = ROW_COUNT;
    changed := changed + part;

    UPDATE audit_events
    SET details = jsonb_set(details, '{path_with_namespace}', to_jsonb(
        label || substr(details ->> 'path_with_namespace', strpos(details ->> 'path_with_namespace', '/'))))
    WHERE entity_type = 'Project' AND lower(split_part(details ->> 'path_with_namespace', '/', 1)) = ANY (usernames);
    GET DIAGNOSTICS part = ROW_COUNT;
    changed := changed + part;
END
$$;
REVOKE ALL ON FUNCTION erase_user_from_audit_log(integer, text) FROM PUBLIC;

CREATE FUNCTION erase_user_from_sagas(erased_id integer, usernames text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    label text := 'deleted user ' || erased_id;
BEGIN
    UPDATE saga_notes SET author_name = label WHERE author_id = erased_id;
    UPDATE saga_bulk_jobs SET author_name = label WHERE author_id = erased_id;
    UPDATE saga_bulk_jobs SET undo_name = label WHERE lower(undo_name) = ANY (usernames);
    UPDATE saga_bulk_jobs SET audit_author = audit_author || jsonb_build_object('authorName', label, 'ipAddress', NULL)
    WHERE audit_author ->> 'authorId' = erased_id::text;
    UPDATE saga_bulk_items SET previous_resolved_by = label WHERE lower(previous_resolved_by) = ANY (usernames);
    UPDATE sagas SET resolved_by = label WHERE lower(resolved_by) = ANY (usernames);
    UPDATE saga_commands SET author_name = label WHERE author_id = erased_id;
    UPDATE saga_commands SET decided_by = label WHERE lower(decided_by) = ANY (usernames);
END
$$;
REVOKE ALL ON FUNCTION erase_user_from_sagas(integer, text[]) FROM PUBLIC;
