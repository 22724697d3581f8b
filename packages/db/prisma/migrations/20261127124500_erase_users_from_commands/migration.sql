-- Commands for sagas name people, too: who has asked, and who has decided.
CREATE OR REPLACE FUNCTION erase_user_from_sagas(erased_id integer, usernames text[]) RETURNS void
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
