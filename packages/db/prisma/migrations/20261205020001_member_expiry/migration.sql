-- The day on which a membership ends, at its beginning in UTC.
ALTER TABLE project_members ADD COLUMN expires_at date;
