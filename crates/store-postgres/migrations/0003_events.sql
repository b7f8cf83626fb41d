-- Who is told of changes, and what waits to be sent. Webhook secrets are sealed under a key that is not in here.
--
-- Whoever works for everybody asks two questions across subjects: what is due, and for whom changes are followed. Each
-- has an index of its own that holds only what the answer needs. A subscription's subject is found in `directory`.

-- `next_due` is when the first waiting event should be sent, or when the lease ends under which somebody works on it;
-- null when nothing waits. `ordinal` is the order in which a subject's subscriptions were made, `counter` numbers what
-- waits for this one and the attempts that were made.
CREATE TABLE event_subscriptions (
    subject_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    callback_url text NOT NULL,
    callback_host text COLLATE "C" NOT NULL,
    scope text NOT NULL,
    streams text NOT NULL,
    connection_id text COLLATE "C",
    status text COLLATE "C" NOT NULL
        CHECK (status IN ('pending_verification', 'active', 'disabled', 'disabled_failure', 'disabled_revoked')),
    disabled_reason text,
    secret bytea NOT NULL,
    from_sequence bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    counter bigint NOT NULL DEFAULT 0,
    next_due bigint,
    lease text COLLATE "C",
    PRIMARY KEY (subject_id, subscription_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX event_subscriptions_by_client ON event_subscriptions (subject_id, client_id);
CREATE INDEX event_subscriptions_alive ON event_subscriptions (subject_id, subscription_id)
    WHERE status IN ('pending_verification', 'active');
CREATE INDEX event_subscriptions_by_due ON event_subscriptions (next_due, ordinal) WHERE next_due IS NOT NULL;

CREATE TABLE event_subscription_grants (
    subject_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, subscription_id, position)
) PARTITION BY HASH (subject_id);

-- One event waits per (subscription, stream, connection): `since` is where its reader starts, `latest` the position
-- before the last change it stands for, and `again` that of the first change that came while it was being sent.
CREATE TABLE event_queue (
    subject_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('verify', 'test', 'records', 'revoked')),
    event_id text,
    body text,
    challenge text,
    stream text COLLATE "C",
    connection_id text COLLATE "C",
    since bigint,
    latest bigint,
    again bigint,
    attempts integer NOT NULL DEFAULT 0,
    due_at bigint NOT NULL,
    PRIMARY KEY (subject_id, subscription_id, ordinal)
) PARTITION BY HASH (subject_id);
CREATE UNIQUE INDEX event_queue_by_place ON event_queue (subject_id, subscription_id, stream, connection_id)
    WHERE kind = 'records';

-- The last attempts of each subscription.
CREATE TABLE event_deliveries (
    subject_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    attempt integer NOT NULL,
    at bigint NOT NULL,
    outcome text NOT NULL,
    http_status integer,
    reason text,
    snippet text,
    next_at bigint,
    PRIMARY KEY (subject_id, subscription_id, ordinal)
) PARTITION BY HASH (subject_id);

-- Hosts the owner allowed a client's events to be sent to.
CREATE TABLE event_callbacks (
    subject_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    allowed_at bigint NOT NULL,
    PRIMARY KEY (subject_id, client_id, host)
) PARTITION BY HASH (subject_id);

-- How far each subject's change log was followed.
CREATE TABLE event_positions (
    subject_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

-- Counts, for each subject that ever had a subscription, what matters to whoever follows: subscriptions that come, go or
-- change, and grants that end. What follows for everybody looks at the sum, so no owner waits for another to count.
-- Rows stay, or the sum could be one that was seen before.
CREATE TABLE event_generation (
    subject_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);
