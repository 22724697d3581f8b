-- Tokens that CI jobs get in exchange for an identity token: they end at a time, and know their job.
ALTER TABLE personal_access_tokens ADD COLUMN ends_at timestamptz(3), ADD COLUMN job jsonb;
