ALTER TABLE project_members ADD COLUMN identity_id integer;
