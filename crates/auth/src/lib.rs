//! Issues, recognises and revokes tokens for the owner of a data directory.
//!
//! [`LocalAuthority`] answers "whose token is this?" from the store on every call, so a revocation
//! bites on the next request. Grants are resolved against the declaration the owner has now and
//! frozen. [`AuthorizationServer`] is the protocol around it: clients, consent, codes, refresh tokens,
//! sessions; [`Endpoint`] says it over HTTP values, without a server or a socket. Pages are not here, and
//! records never are.

mod audience;
mod authority;
mod fault;
mod grants;
mod http;
mod ids;
mod oauth;
mod owner;
mod passphrase;
mod selection;

pub use audience::Audience;
pub use authority::LocalAuthority;
pub use fault::AuthFault;
pub use grants::{
    DEFAULT_GRANT_SECONDS, GrantOrder, GrantState, Issued, Revocation, TokenOrder, state_of_grant,
};
pub use http::{Asked, ENDPOINTS, Endpoint, MAX_BODY, SESSION_COOKIE, answer, overdue};
pub use ids::local_client_id;
pub use oauth::{
    AI_TRAINING, AgentOutcome, AgentStarted, Approved, AuthorizationServer, AuthorizeOutcome,
    AuthorizeRequest, Challenge, ClientClaims, ClientMetadata, ConsentHandle, DATA_ACCESS, Detail,
    DetailSource, DeviceStarted, Document, Entry, Handover, Introspection, KnownClient, Limit,
    MetadataDocuments, NOBODY, Narrowing, Necessity, NoDocuments, OAuthFault, OAuthSettings, Pushed,
    Registered, Review, SignedIn, SourceNarrowing, StreamAsk, TokenAnswer,
};
pub use owner::{IssuedOwnerToken, OwnerReset};
pub use selection::{DEFAULT_PURPOSE, SelectionArgs, parse_selections};
