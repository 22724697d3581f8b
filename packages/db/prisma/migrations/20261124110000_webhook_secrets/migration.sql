-- Secrets of webhooks, encrypted. The worker moves those of the column `secret` here.
ALTER TABLE "webhooks" ADD COLUMN "encrypted_secret" BYTEA, ADD COLUMN "secret_key_id" TEXT;
