-- The tenants of sagas that a token is bound to. An empty list: it may name every tenant.
ALTER TABLE personal_access_tokens ADD COLUMN tenants text[] NOT NULL DEFAULT '{}';
