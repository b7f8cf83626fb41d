-- Who is told of changes, and what waits to be sent. Webhook secrets are sealed under a key that is not in here.

-- `next_due` is when the first waiting event should be sent, or when the lease ends under which somebody works on
-- it; null when nothing waits.
CREATE TABLE event_subscriptions (
    id INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL UNIQUE,
    subject_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    callback_url TEXT NOT NULL,
    callback_host TEXT NOT NULL,
    scope TEXT NOT NULL,
    streams TEXT NOT NULL,
    connection_id TEXT,
    status TEXT NOT NULL
        CHECK (status IN ('pending_verification', 'active', 'disabled', 'disabled_failure', 'disabled_revoked')),
    disabled_reason TEXT,
    secret BLOB NOT NULL,
    from_sequence INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    next_due INTEGER,
    lease TEXT
) STRICT;
CREATE INDEX event_subscriptions_by_client ON event_subscriptions (subject_id, client_id);
CREATE INDEX event_subscriptions_by_status ON event_subscriptions (status, subject_id);
CREATE INDEX event_subscriptions_by_due ON event_subscriptions (next_due) WHERE next_due IS NOT NULL;

CREATE TABLE event_subscription_grants (
    subscription INTEGER NOT NULL REFERENCES event_subscriptions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    PRIMARY KEY (subscription, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_subscription_grants_by_grant ON event_subscription_grants (subject_id, grant_id);

-- One event waits per (subscription, stream, connection): `since` is where its reader starts, `latest` the position
-- before the last change it stands for, and `again` that of the first change that came while it was being sent.
CREATE TABLE event_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription INTEGER NOT NULL REFERENCES event_subscriptions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('verify', 'test', 'records', 'revoked')),
    event_id TEXT,
    body TEXT,
    challenge TEXT,
    stream TEXT,
    connection_id TEXT,
    since INTEGER,
    latest INTEGER,
    again INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_queue_by_subscription ON event_queue (subscription, id);
CREATE UNIQUE INDEX event_queue_by_place ON event_queue (subscription, stream, connection_id)
    WHERE kind = 'records';

-- The last attempts of each subscription.
CREATE TABLE event_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription INTEGER NOT NULL REFERENCES event_subscriptions (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    http_status INTEGER,
    reason TEXT,
    snippet TEXT,
    next_at INTEGER
) STRICT;
CREATE INDEX event_deliveries_by_subscription ON event_deliveries (subscription, id);

-- Hosts the owner allowed a client's events to be sent to.
CREATE TABLE event_callbacks (
    subject_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    host TEXT NOT NULL,
    allowed_at INTEGER NOT NULL,
    PRIMARY KEY (subject_id, client_id, host)
) STRICT, WITHOUT ROWID;

-- How far each subject's change log was followed.
CREATE TABLE event_positions (
    subject_id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counts what matters to whoever follows: subscriptions that come, go or change, and grants that end.
CREATE TABLE event_generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO event_generation VALUES (1, 1);
