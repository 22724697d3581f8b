-- Tokens that fetch from one project and do nothing else.
CREATE TABLE "deploy_tokens" (
    "project_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "username" TEXT,
    "token_hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deploy_tokens_pkey" PRIMARY KEY ("project_id","id")
);
CREATE UNIQUE INDEX "deploy_tokens_token_hash_key" ON "deploy_tokens"("token_hash");
CREATE INDEX "deploy_tokens_created_by_idx" ON "deploy_tokens"("created_by");
ALTER TABLE "deploy_tokens" ADD CONSTRAINT "deploy_tokens_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "deploy_tokens" ADD CONSTRAINT "deploy_tokens_created_by_fkey"
  FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
