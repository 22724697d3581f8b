-- Within the look-up of users, a bare `name` is their own: a user whose name is their username kept every username of others.
CREATE OR REPLACE FUNCTION erase_user_from_audit_log(erased_id integer, last_username text, OUT changed bigint, OUT usernames text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    label text := 'deleted user ' || erased_id;
    part bigint;
BEGIN
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
