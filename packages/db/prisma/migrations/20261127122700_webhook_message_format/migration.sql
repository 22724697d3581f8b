-- Messages for people, which a webhook sends instead of the event.
ALTER TABLE webhooks ADD COLUMN message_format text;
