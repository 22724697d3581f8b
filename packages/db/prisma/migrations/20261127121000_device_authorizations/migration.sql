-- Programs that wait for somebody to allow them a token (RFC 8628).
CREATE TABLE device_authorizations (
    id               serial PRIMARY KEY,
    device_code_hash bytea NOT NULL,
    user_code_hash   bytea NOT NULL,
    client_id        text NOT NULL,
    scopes           text[] NOT NULL,
    address          text NOT NULL,
    created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at       timestamptz(3) NOT NULL,
    interval_seconds integer NOT NULL,
    polled_at        timestamptz(3),
    allowed          boolean,
    token_id         integer REFERENCES personal_access_tokens (id) ON DELETE CASCADE ON UPDATE CASCADE,
    last_day         date,
    tenants          text[] NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX device_authorizations_device_code_hash_key ON device_authorizations (device_code_hash);
CREATE UNIQUE INDEX device_authorizations_user_code_hash_key ON device_authorizations (user_code_hash);
CREATE INDEX device_authorizations_expires_at_idx ON device_authorizations (expires_at);
CREATE INDEX device_authorizations_token_id_idx ON device_authorizations (token_id);
