ALTER TABLE sessions ADD COLUMN provider text, ADD COLUMN provider_session_id text;
