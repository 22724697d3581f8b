-- A project token stops while the user who made it is blocked.
ALTER TABLE "personal_access_tokens" ADD COLUMN "created_by" INTEGER;
CREATE INDEX "personal_access_tokens_created_by_idx" ON "personal_access_tokens"("created_by");
ALTER TABLE "personal_access_tokens" ADD CONSTRAINT "personal_access_tokens_created_by_fkey"
  FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
