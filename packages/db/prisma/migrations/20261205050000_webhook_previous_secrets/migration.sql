-- The secret before the last change, which signs beside the new one for a day.
ALTER TABLE "webhooks" ADD COLUMN "previous_secret" BYTEA, ADD COLUMN "previous_secret_key_id" TEXT,
  ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3);
