-- Browsers that are signed in with a token.
CREATE TABLE "sessions" (
    "id" SERIAL NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "token_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "idle_until" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "sessions_secret_hash_key" ON "sessions"("secret_hash");
CREATE INDEX "sessions_token_id_idx" ON "sessions"("token_id");
CREATE INDEX "sessions_idle_until_idx" ON "sessions"("idle_until");
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_token_id_fkey"
  FOREIGN KEY ("token_id") REFERENCES "personal_access_tokens"("id") ON DELETE CASCADE ON UPDATE CASCADE;
