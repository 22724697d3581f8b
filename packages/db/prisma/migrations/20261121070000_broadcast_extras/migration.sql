-- How and where a broadcast message is shown, with the defaults of GitLab's clients. Adding columns with a
-- constant default rewrites nothing.
ALTER TABLE broadcast_messages
    ADD COLUMN broadcast_type text    NOT NULL DEFAULT 'banner',
    ADD COLUMN dismissable    boolean NOT NULL DEFAULT false,
    ADD COLUMN target_path    text,
    ADD COLUMN theme          text    NOT NULL DEFAULT 'indigo';

-- Messages that are not over yet: what every reader of banners and the planner of their jobs ask for.
CREATE INDEX broadcast_messages_ends_at_idx ON broadcast_messages (ends_at);
