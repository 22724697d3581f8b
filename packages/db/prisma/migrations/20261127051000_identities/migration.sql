-- Accounts at providers of single sign-on.

CREATE TABLE identities (
    id                serial PRIMARY KEY,
    user_id           integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    provider          text NOT NULL,
    issuer            text NOT NULL,
    subject           text NOT NULL,
    token_id          integer REFERENCES personal_access_tokens (id) ON DELETE SET NULL ON UPDATE CASCADE,
    gave_admin        boolean NOT NULL DEFAULT false,
    created_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_signed_in_at timestamptz(3)
);
CREATE UNIQUE INDEX identities_token_id_key ON identities (token_id);
CREATE UNIQUE INDEX identities_issuer_subject_key ON identities (issuer, subject);
CREATE INDEX identities_user_id_idx ON identities (user_id);
