//! Issues, recognises and revokes tokens for the owner of a data directory.
//!
//! [`LocalAuthority`] answers "whose token is this?" from the store on every call, so a revocation
//! bites on the next request. Grants are resolved against the declaration the owner has now and
//! frozen. Redirects, consent pages and refresh tokens are not here yet; records never are.

mod authority;
mod fault;
mod grants;
mod ids;
mod owner;
mod passphrase;
mod selection;

pub use authority::LocalAuthority;
pub use fault::AuthFault;
pub use grants::{
    DEFAULT_GRANT_SECONDS, GrantOrder, GrantState, Issued, Revocation, TokenOrder, state_of_grant,
};
pub use ids::local_client_id;
pub use owner::{IssuedOwnerToken, OwnerReset};
pub use selection::{DEFAULT_PURPOSE, SelectionArgs, parse_selections};
