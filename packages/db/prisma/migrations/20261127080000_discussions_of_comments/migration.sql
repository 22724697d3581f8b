-- Comments belong to discussions, and can be edited.
ALTER TABLE commit_comments ADD COLUMN discussion_id bigint, ADD COLUMN edited_at timestamptz(3);
