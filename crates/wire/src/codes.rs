//! The one table of error codes: code, status, when it is said, and what the caller can do next.
//!
//! REST, the command line and MCP all read this table and never invent a code. The error `type` is
//! a function of the status alone, so it is computed, not listed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($( $variant:ident => $code:literal, $status:literal, $when:literal, $advice:literal; )+) => {
        /// A public error code. Clients branch on it; people read the message beside it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum Code {
            $( #[doc = $when] #[serde(rename = $code)] $variant, )+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant),+];

            /// The code as it stands on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code),+ }
            }

            /// The HTTP status that goes with the code; 0 for codes that never leave through HTTP
            /// as a status of their own (receipts of single ingest lines, tool results).
            pub const fn status(self) -> u16 {
                match self { $(Code::$variant => $status),+ }
            }

            /// When the code is said, in one sentence.
            pub const fn when(self) -> &'static str {
                match self { $(Code::$variant => $when),+ }
            }

            /// What the caller can do next, in one sentence.
            pub const fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice),+ }
            }
        }
    };
}

codes! {
    InvalidRequest => "invalid_request", 400, "A parameter or body is malformed, missing or not allowed here.", "Correct the parameter the message names and send the request again.";
    InvalidArgument => "invalid_argument", 400, "Two parameters contradict each other, or one has an impossible value.", "Correct the parameter named in `param`.";
    InvalidCursor => "invalid_cursor", 400, "A cursor or `changes_since` token is malformed, altered, or belongs to another query, grant or stream.", "Repeat the query without the cursor and follow the new one.";
    InvalidExpand => "invalid_expand", 400, "An `expand` names no declared relation, or its limit is out of range.", "Read `expand_capabilities` in `/v1/schema` for the relations and their limits.";
    InvalidSort => "invalid_sort", 400, "`sort` names a field the stream cannot be sorted by, or contradicts `order`.", "Sort by the stream's `cursor_field`, which `/v1/schema` names.";
    InvalidFieldPath => "invalid_field_path", 400, "`field` is missing, empty, repeated, too long or too deep.", "Name one top-level field, or a dotted path below one.";
    InvalidWindow => "invalid_window", 400, "The window's offset, limit, context or `q` cannot be served together.", "Give `offset_chars` with `limit_chars`, or `q` with `before_chars` and `after_chars`.";
    UnknownField => "unknown_field", 400, "A parameter names a field the stream does not declare.", "Read `field_capabilities` in `/v1/schema` for the declared names.";
    UnsupportedVersion => "unsupported_version", 400, "The `PDPP-Version` header names a version this server does not speak.", "Send `PDPP-Version: 2026-04-06` or leave the header out.";
    ConnectorInstanceInactive => "connector_instance_inactive", 400, "The named connection is not active.", "Choose an active connection from `/v1/streams`.";
    ConnectorInstanceConnectorMismatch => "connector_instance_connector_mismatch", 400, "The named connection belongs to another connector.", "Drop `connector_id`, or name a connection of that connector.";
    ConnectorInstanceSelectorRequired => "connector_instance_selector_required", 400, "Several connections exist and the request must choose one.", "Add `connection_id`.";
    AmbiguousConnectorInstance => "ambiguous_connector_instance", 400, "A write addresses a connector with several connections without choosing one.", "Add `connector_instance_id`.";
    InvalidRecord => "invalid_record", 400, "A record is not an object of the declared shape.", "Compare the record with the stream's schema.";
    InvalidRecordIdentity => "invalid_record_identity", 400, "A record's key differs from the primary key fields in its data.", "Send the primary key value as `key`.";
    InvalidAuthorizationDetails => "invalid_authorization_details", 400, "A selection request names streams, fields, times or connections the source does not offer.", "Compare the request with the source's declaration in `/v1/schema`.";
    InvalidClient => "invalid_client", 400, "The client is not known to the authorization server.", "Register the client, or correct `client_id`.";
    InvalidClientMetadata => "invalid_client_metadata", 400, "A member of the client's metadata breaks a rule.", "Correct the member the message names.";
    ConnectorInvalid => "connector_invalid", 400, "A connector manifest breaks a rule of the manifest format.", "Correct the member the message names.";
    AuthenticationError => "authentication_error", 401, "The bearer token is missing, unknown, expired or revoked.", "Send `Authorization: Bearer <token>` with a valid token; ask the owner for a new one if it expired.";
    OwnerSessionRequired => "owner_session_required", 401, "Only the owner may decide this, and nobody is signed in.", "Sign in as the owner, or send an owner token.";
    IntrospectionRefused => "context.authentication_failed", 401, "The introspection credential is missing or wrong.", "Send the resource server's credential by HTTP Basic.";
    LegacyShape => "authorization_state.unsupported_legacy_shape", 401, "The stored authorization has a shape this server no longer reads.", "Ask the owner for fresh consent.";
    PermissionError => "permission_error", 403, "The token is valid but of a kind this route does not serve.", "Use an owner token for owner routes and a client token for client routes.";
    CsrfTokenInvalid => "csrf_token_invalid", 403, "A form came without the token of the page it was shown on, or with another one.", "Open the page again and send the form from there.";
    FieldNotGranted => "field_not_granted", 403, "A parameter names a field outside the grant.", "Leave the field out, or ask the owner to grant it.";
    InsufficientScope => "insufficient_scope", 403, "The related stream or its key is outside the grant.", "Leave the relation out, or ask the owner to grant its stream.";
    GrantStreamNotAllowed => "grant_stream_not_allowed", 403, "The stream is outside the grant.", "Read `/v1/streams` for the granted streams, or ask the owner for this one.";
    GrantTimeRangeExceeded => "grant_time_range_exceeded", 403, "Reserved: the requested time lies outside the grant.", "Ask within the grant's time window.";
    GrantExpired => "grant_expired", 403, "The grant has expired.", "Ask the owner for a new grant.";
    GrantRevoked => "grant_revoked", 403, "The owner revoked the grant.", "Stop reading; ask the owner if access is still wanted.";
    GrantInvalid => "grant_invalid", 403, "The stored grant is malformed or no longer valid.", "Ask the owner for a new grant.";
    GrantConsumed => "grant_consumed", 403, "A single-use grant has already issued its token.", "Ask the owner for a new grant.";
    ConnectorInstanceOwnerMismatch => "connector_instance_owner_mismatch", 403, "The named connection belongs to another owner.", "Choose a connection of this owner.";
    CallbackNotAllowed => "callback_not_allowed", 403, "The callback host is not allowed for this client.", "Ask the owner to allow the host.";
    NotFound => "not_found", 404, "No such route, record, stream, connector or grant is visible to this token.", "Check the id; list what is visible with `/v1/streams` or the records route.";
    BlobNotFound => "blob_not_found", 404, "No visible record refers to this blob.", "Read the record first; its `blob_ref.fetch_url` is the address.";
    ConnectionNotFound => "connection_not_found", 404, "The connection is not visible to this token.", "Read `/v1/streams` for the visible connections.";
    ConnectorInstanceNotFound => "connector_instance_not_found", 404, "The owner has no such connection.", "Read `/v1/streams` for the connections.";
    StreamNotDeclared => "stream_not_declared", 404, "The granted stream is no longer declared by its source.", "Ask the owner; the source changed.";
    FieldNotFound => "field_not_found", 404, "The record has no value at this field.", "Read the record to see its fields.";
    QueryNotFound => "query_not_found", 404, "The window's `q` does not occur in the field.", "Read the field by `offset_chars`, or try other words.";
    ModeNotAvailable => "mode_not_available", 404, "This server does not offer the requested search mode.", "Use `/v1/search`.";
    MethodNotAllowed => "method_not_allowed", 405, "The route exists but not for this method.", "Use a method from the `Allow` header.";
    AmbiguousConnection => "ambiguous_connection", 409, "The id or stream is visible under several connections.", "Repeat with `connection_id` from `available_connections`.";
    ApprovalConflict => "approval_conflict", 409, "Someone has decided this request already.", "Look at the grants; ask the client to start again if access is still wanted.";
    AmbiguousSchemaDetail => "ambiguous_schema_detail", 409, "Full detail was asked for a stream that several sources declare.", "Repeat with `connection_id` from `available_connections`.";
    ManifestConflict => "manifest_conflict", 409, "A manifest with this key exists with other content.", "Send it again with `replace=true` if the new one should take its place.";
    InvalidState => "invalid_state", 409, "The subscription's status does not allow this.", "Read the subscription; its `status` and `disabled_reason` say what is possible.";
    InvalidGrant => "invalid_grant", 410, "The exchange code has expired or was used.", "Ask the owner to approve the request again.";
    CursorExpired => "cursor_expired", 410, "The `changes_since` token is older than the history kept.", "Start again with `changes_since=beginning`.";
    ResourceLimit => "resource_limit", 413, "A body, line, parameter or document is larger or deeper than the bound.", "Send less at once; the message names the bound.";
    QuotaExceeded => "quota_exceeded", 413, "The owner keeps as much as the operator of this server allows.", "Delete something, or ask whoever runs the server for a larger quota.";
    UnsupportedMediaType => "unsupported_media_type", 415, "The body's content type is not the one the route takes.", "Send the content type the message names.";
    InvalidRange => "invalid_range", 416, "The requested byte range lies outside the blob.", "Ask within `Content-Range: bytes */SIZE`.";
    MisdirectedRequest => "misdirected_request", 421, "The request's Host is not one this server answers for.", "Use the server's public address.";
    FieldNotText => "field_not_text", 422, "The field holds no text: a number, boolean, null or binary content.", "Read the record for scalars, or the blob route for bytes.";
    RateLimitExceeded => "rate_limit_exceeded", 429, "Too many requests.", "Wait as long as `Retry-After` says.";
    ApiError => "api_error", 500, "Something failed inside the server.", "Try again; the owner can find the cause in the log by the request id.";
    IngestBatchStorageError => "ingest_batch_storage_error", 503, "The store could not take the batch.", "Send the whole batch again; what was already stored is recognised.";
    ConnectorInstanceBusy => "connector_instance_busy", 503, "The connection is being changed.", "Try again shortly.";
    StoreUnavailable => "store_unavailable", 503, "The database behind this server cannot be reached.", "Try again shortly; the operator should check the database.";
    RunTerminal => "run_terminal", 503, "The named run has already ended.", "Start a new run.";
    LedgerUnavailable => "ledger_unavailable", 503, "The disclosure ledger cannot be written, so nothing is read.", "Try again; the owner should check the disk.";
    EventsUnavailable => "events_unavailable", 503, "Event delivery is not running.", "Start the server, then try again.";
    DeadlineExceeded => "deadline_exceeded", 504, "The request took longer than its deadline.", "Ask for less: a smaller `limit`, a narrower filter.";
    InvalidUtf8 => "invalid_utf8", 0, "An ingest line is not UTF-8.", "Encode the line as UTF-8.";
    MalformedNdjson => "malformed_ndjson", 0, "An ingest line is not one JSON object of the record shape.", "Write one JSON object per line with `key` and `data`.";
    SchemaViolation => "schema_violation", 0, "An ingest line's data breaks the stream's schema.", "Compare the data with the stream's schema.";
    AppendOnlyConflict => "append_only_conflict", 0, "An append-only record exists with other content.", "Append-only records cannot be rewritten; use a new key.";
    TooDeep => "too_deep", 0, "An ingest line is nested too deeply or is too large.", "Flatten or split the record.";
    ConnectorInstanceNotWritable => "connector_instance_not_writable", 0, "The connection does not accept records.", "Choose an active connection.";
    ImportDamaged => "import_damaged", 0, "A part of an export is not what its format promises, or cannot be read.", "Everything else was loaded; export the part again if it matters.";
    InvalidArguments => "invalid_arguments", 0, "The arguments of a tool call do not fit its input schema.", "Correct the argument named in `param`.";
    InvalidFilter => "invalid_filter", 0, "A tool's `filter` is empty, or has a key or operator that does not exist.", "Write a typed object of field to value, or field to `gte`, `gt`, `lte`, `lt`.";
    InvalidRecordId => "invalid_record_id", 0, "A record id follows none of the known grammars.", "Pass an id exactly as a result printed it.";
    ConflictingConnectionId => "conflicting_connection_id", 0, "The id names one connection and the `connection_id` argument another.", "Leave the `connection_id` argument out.";
    InvalidFieldWindowSelector => "invalid_field_window_selector", 0, "The arguments of a field read do not go together.", "Give `id` and `field_path`, and either an offset or `q`.";
    ResponseTooLarge => "response_too_large", 0, "The resource server's answer is larger than is taken.", "Ask for less: a smaller `limit`, fewer `fields`, or a `range`.";
    RsUnreachable => "rs_unreachable", 0, "The resource server cannot be reached.", "Check that the server runs and that the address is right, then try again.";
    RsTimeout => "rs_timeout", 0, "The resource server did not answer in time.", "Ask for less, or try again later.";
    RsInvalidResponse => "rs_invalid_response", 0, "The resource server's answer is not what the protocol says.", "Check that the address is that of a PDPP resource server.";
    NotConnected => "not_connected", 0, "There is no scoped credential for this server.", "Run `pdpp connect <provider-url>`.";
    CredentialExpired => "credential_expired", 0, "The kept credential has expired.", "Run `pdpp connect <provider-url>` again.";
    CredentialInvalid => "credential_invalid", 0, "The kept credential cannot be used.", "Run `pdpp connect <provider-url>` again.";
    OwnerTokenRefused => "owner_token_refused", 0, "The kept credential is an owner's, which no assistant is given.", "Run `pdpp connect <provider-url>` for a scoped one.";
    Cancelled => "cancelled", 0, "The caller gave up.", "Call again if the answer is still wanted.";
}

/// The coarse class of an error, decided by its status alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// 400.
    InvalidRequestError,
    /// 401.
    AuthenticationError,
    /// 403.
    PermissionError,
    /// 404.
    NotFoundError,
    /// 410.
    GoneError,
    /// 413.
    RequestEntityTooLargeError,
    /// 429.
    RateLimitError,
    /// Everything else.
    ApiError,
}

impl Code {
    /// The coarse class that goes with this code's status.
    pub const fn error_type(self) -> ErrorType {
        ErrorType::of_status(self.status())
    }
}

impl ErrorType {
    /// The class that goes with a status.
    pub const fn of_status(status: u16) -> Self {
        match status {
            400 => ErrorType::InvalidRequestError,
            401 => ErrorType::AuthenticationError,
            403 => ErrorType::PermissionError,
            404 => ErrorType::NotFoundError,
            410 => ErrorType::GoneError,
            413 => ErrorType::RequestEntityTooLargeError,
            429 => ErrorType::RateLimitError,
            _ => ErrorType::ApiError,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_spelled_once() {
        let spelled: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(spelled.len(), Code::ALL.len());
    }

    #[test]
    fn every_code_says_what_to_do_next() {
        for code in Code::ALL {
            assert!(code.advice().ends_with('.'), "{code}");
            assert!(code.when().ends_with('.'), "{code}");
        }
    }

    #[test]
    fn serde_spells_codes_as_the_table_does() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
