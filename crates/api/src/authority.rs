//! Whose request this is. Handlers take an [`Owner`] or a [`Reader`]; no handler reads the header.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use pdpp_access::{AuthError, Bearer, OwnerPrincipal, Principal, Secret, TokenAuthority};
use pdpp_store::StoreError;
use pdpp_wire::{Code, SubjectId};

use crate::ApiError;

/// Longest token that is looked at.
const MAX_TOKEN_BYTES: usize = 4096;

/// The data subject, proven by an owner token.
#[derive(Clone, Debug)]
pub(crate) struct Owner(OwnerPrincipal);

impl Owner {
    pub(crate) fn subject_id(&self) -> &SubjectId {
        &self.0.subject_id
    }

    /// Only an owner token opens owner routes.
    pub(crate) fn from_principal(principal: &Principal) -> Result<Self, ApiError> {
        match principal {
            Principal::Owner(owner) => Ok(Self(owner.clone())),
            Principal::Client(_) => Err(ApiError::new(
                Code::PermissionError,
                "This route needs an owner token; this is a client token.",
            )),
        }
    }
}

/// Anyone with a valid token: the owner, or a client inside its grants.
#[derive(Clone, Debug)]
pub(crate) struct Reader(pub(crate) Principal);

/// A request that is not let in, and whose it was, if that is known.
pub(crate) struct Stopped {
    pub(crate) error: ApiError,
    pub(crate) bearer: Option<Box<Bearer>>,
}

/// Finds out whose token the request carries.
pub(crate) async fn authenticate(
    authority: &dyn TokenAuthority,
    headers: &HeaderMap,
) -> Result<Principal, Stopped> {
    let stranger = |error| Stopped { error, bearer: None };
    let token = bearer(headers).map_err(stranger)?;
    authority.introspect(&token).await.map_err(|error| match error {
        AuthError::Denied(denial) => stranger(ApiError::from(denial).token_presented()),
        AuthError::TurnedAway(bearer, denial) => {
            Stopped { error: ApiError::from(denial).token_presented(), bearer: Some(bearer) }
        }
        AuthError::Unavailable(cause) => stranger(match cause.downcast::<StoreError>() {
            // Said as every other part says it: whoever asks again is answered when it is back, or less busy.
            Ok(error) => ApiError::from(*error),
            Err(cause) => ApiError::internal(cause),
        }),
    })
}

fn bearer(headers: &HeaderMap) -> Result<Secret, ApiError> {
    let missing = || ApiError::new(Code::AuthenticationError, "Send `Authorization: Bearer <token>`.");
    let invalid =
        || ApiError::new(Code::AuthenticationError, "The token is invalid or has expired.").token_presented();
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let header = match (given.next(), given.next()) {
        (Some(header), None) => header.to_str().map_err(|_| invalid())?,
        (None, _) => return Err(missing()),
        (Some(_), Some(_)) => {
            let message = "The request carries two `Authorization` headers; send one token.";
            return Err(ApiError::new(Code::AuthenticationError, message).token_presented());
        }
    };
    let token = header.strip_prefix("Bearer ").ok_or_else(missing)?;
    let sane =
        !token.is_empty() && token.len() <= MAX_TOKEN_BYTES && token.bytes().all(|b| b.is_ascii_graphic());
    if sane { Ok(Secret::presented(token)) } else { Err(invalid()) }
}
