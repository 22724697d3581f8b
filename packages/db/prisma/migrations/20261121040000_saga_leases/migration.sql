-- What following the log and recovering sagas need.

-- Followers read the log of all tenants in the order of its ids. The primary key serves them without a further index,
-- which every event would pay for; the log of one saga has its own.
--
-- Ids are given before their rows are visible. A follower waits until whoever has drawn an id has ended, and sees that
-- by the lock which drawing takes on the sequence for the rest of the transaction. So an id must be drawn in the
-- transaction that writes its row, and sessions must not keep ids for later: the sequence stays at CACHE 1.
ALTER TABLE saga_events DROP CONSTRAINT saga_events_pkey;
ALTER TABLE saga_events ADD PRIMARY KEY (id, received_at);

-- Who is finishing which saga. A row stays when its lease has ended: it knows the attempts and the pause after them.
CREATE TABLE saga_leases (
    tenant       text COLLATE "C" NOT NULL,
    saga_id      text COLLATE "C" NOT NULL,
    -- Names the lease; only its holder knows it.
    token        uuid NOT NULL UNIQUE,
    -- Who holds it, in its own words.
    worker       text NOT NULL,
    leased_at    timestamptz(3) NOT NULL,
    leased_until timestamptz(3) NOT NULL,
    -- Leases since it was done last.
    attempts     integer NOT NULL,
    -- From when on it may be leased again.
    available_at timestamptz(3) NOT NULL,
    -- What its holder said: done, failed or returned. Null while it is leased, or when its holder said nothing.
    resolution   text,
    resolved_at  timestamptz(3),
    note         text,
    PRIMARY KEY (tenant, saga_id)
);
