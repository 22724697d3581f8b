-- When what became worse with a deployment was back where it was before.
ALTER TABLE deployment_findings ADD COLUMN recovered_at timestamptz(3), ADD COLUMN look_at timestamptz(3);
