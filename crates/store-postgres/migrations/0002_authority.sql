-- Who may read: grants, tokens, what the authorization server works with, and the ledger of what was read.
-- Redeemable values are SHA-256 hashes; `directory` says whose they are.

-- `ordinal` is the order in which they were stored.
CREATE TABLE grants (
    subject_id text COLLATE "C" NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    document text NOT NULL,
    access_mode text NOT NULL,
    consumed boolean NOT NULL DEFAULT false,
    issued_at bigint NOT NULL,
    ordinal bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (subject_id, grant_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX grants_by_age ON grants (subject_id, issued_at, ordinal);
CREATE INDEX grants_by_client ON grants (subject_id, client_id);

CREATE TABLE tokens (
    subject_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    token_id text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('owner', 'client')),
    client_id text COLLATE "C",
    issued_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    resource text,
    family_id text COLLATE "C",
    PRIMARY KEY (subject_id, hash),
    UNIQUE (subject_id, token_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX tokens_of_owner ON tokens (subject_id) WHERE kind = 'owner';
CREATE INDEX tokens_by_family ON tokens (subject_id, family_id) WHERE family_id IS NOT NULL;

CREATE TABLE token_grants (
    subject_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    position integer NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, hash, position)
) PARTITION BY HASH (subject_id);

CREATE TABLE owner_secrets (
    subject_id text COLLATE "C" NOT NULL,
    phc text NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

-- The provider's. `registered_by` is the owner who was signed in.
CREATE TABLE oauth_clients (
    subject_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    source text NOT NULL CHECK (source IN ('dynamic', 'metadata_document', 'pre_registered', 'local')),
    metadata text NOT NULL,
    security_hash text NOT NULL,
    first_seen bigint NOT NULL,
    registered_by text COLLATE "C",
    registration_token bytea,
    PRIMARY KEY (subject_id, client_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX oauth_clients_by_age ON oauth_clients (subject_id, first_seen, client_id);

-- The provider's: which owners a client may have access of, so that all of it can be ended. A row more than there is
-- access does no harm; a row less would leave access behind.
CREATE TABLE client_owners (
    subject_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    owner_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, client_id, owner_id)
) PARTITION BY HASH (subject_id);

-- The provider's. `addressed_to` is the owner it was shown to first, `decided_by` the owner who decided; `lapsed` says that nobody fetched the outcome in time, and
-- that its grants have been taken back.
CREATE TABLE oauth_requests (
    subject_id text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL,
    flow text NOT NULL CHECK (flow IN ('code', 'exchange', 'device', 'owner_device')),
    client_id text COLLATE "C" NOT NULL,
    pushed bytea,
    consent bytea,
    device_code bytea,
    user_code bytea,
    code bytea,
    polling bytea,
    agent_id text,
    document text NOT NULL,
    review text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    poll_interval bigint NOT NULL,
    polled_at bigint,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
    addressed_to text COLLATE "C",
    decided_by text COLLATE "C",
    decided_at bigint,
    redeem_until bigint,
    redeemed_at bigint,
    lapsed boolean NOT NULL DEFAULT false,
    family_id text COLLATE "C",
    token bytea,
    PRIMARY KEY (subject_id, approval_id),
    UNIQUE (subject_id, pushed),
    UNIQUE (subject_id, consent),
    UNIQUE (subject_id, device_code),
    UNIQUE (subject_id, user_code),
    UNIQUE (subject_id, code),
    UNIQUE (subject_id, polling)
) PARTITION BY HASH (subject_id);
CREATE INDEX oauth_requests_by_state ON oauth_requests (subject_id, state, expires_at);
CREATE INDEX oauth_requests_by_client ON oauth_requests (subject_id, client_id);
CREATE INDEX oauth_requests_unfetched ON oauth_requests (subject_id, redeem_until)
    WHERE state = 'approved' AND redeemed_at IS NULL AND NOT lapsed;

CREATE TABLE oauth_request_grants (
    subject_id text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, approval_id, position)
) PARTITION BY HASH (subject_id);

-- The provider's one row, at which those take turns who add a request: so many may wait, and no more.
CREATE TABLE oauth_request_turns (
    subject_id text COLLATE "C" NOT NULL,
    turn bigint NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

CREATE TABLE refresh_families (
    subject_id text COLLATE "C" NOT NULL,
    family_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('owner', 'client')),
    resource text,
    generation bigint NOT NULL DEFAULT 0,
    rotated_at bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (subject_id, family_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX refresh_families_by_client ON refresh_families (subject_id, client_id);

CREATE TABLE refresh_family_grants (
    subject_id text COLLATE "C" NOT NULL,
    family_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, family_id, position)
) PARTITION BY HASH (subject_id);
CREATE INDEX refresh_family_grants_by_grant ON refresh_family_grants (subject_id, grant_id);

-- Every member a family ever had, so that one that comes back is recognised.
CREATE TABLE refresh_tokens (
    subject_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    family_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    PRIMARY KEY (subject_id, hash)
) PARTITION BY HASH (subject_id);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (subject_id, family_id);

CREATE TABLE owner_sessions (
    subject_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    last_used_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (subject_id, hash),
    UNIQUE (subject_id, session_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX owner_sessions_by_age ON owner_sessions (subject_id, created_at);

-- The provider's: whoever tries has not yet proved to be anybody.
CREATE TABLE attempts (
    subject_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    window_ends bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (subject_id, key)
) PARTITION BY HASH (subject_id);
CREATE INDEX attempts_by_end ON attempts (subject_id, window_ends);

CREATE TABLE first_run_links (
    subject_id text COLLATE "C" NOT NULL,
    link bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

CREATE TABLE owner_passkeys (
    subject_id text COLLATE "C" NOT NULL,
    passkey_id text COLLATE "C" NOT NULL,
    label text NOT NULL,
    document text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    PRIMARY KEY (subject_id, passkey_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX owner_passkeys_by_age ON owner_passkeys (subject_id, created_at, passkey_id);

-- Numbers a subject's disclosures. Not in the subject's own row: reads must not wait for whoever writes.
CREATE TABLE disclosure_counters (
    subject_id text COLLATE "C" NOT NULL,
    counter bigint NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

-- Who read what, when, through which door. The columns beside `entry` repeat what the owner filters by.
CREATE TABLE disclosures (
    subject_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    id bigint NOT NULL,
    client_id text COLLATE "C",
    stream text COLLATE "C",
    refused text,
    entry text NOT NULL,
    PRIMARY KEY (subject_id, at, id)
) PARTITION BY HASH (subject_id);
CREATE INDEX disclosures_by_client ON disclosures (subject_id, client_id, at, id);

-- `is_use` repeats that a read was served.
CREATE TABLE disclosure_grants (
    subject_id text COLLATE "C" NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    disclosure_id bigint NOT NULL,
    is_use boolean NOT NULL,
    PRIMARY KEY (subject_id, grant_id, at, disclosure_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX disclosure_grants_by_age ON disclosure_grants (subject_id, at);
