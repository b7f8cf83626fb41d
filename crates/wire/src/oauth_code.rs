//! The error codes of OAuth, as its own documents spell them, in one table.
//!
//! They stand beside [`Code`](crate::Code) and not in it: an OAuth client branches on these words, in an
//! envelope whose shape and statuses other documents decide.

use std::fmt;

macro_rules! oauth_codes {
    ($( $variant:ident => $code:literal, $status:literal, $when:literal; )+) => {
        /// An error code of OAuth and its extensions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OAuthCode {
            $( #[doc = $when] $variant, )+
        }

        impl OAuthCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The code as it stands on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// The usual HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }

            /// When the code is said, in one sentence.
            pub const fn when(self) -> &'static str {
                match self { $(Self::$variant => $when),+ }
            }
        }
    };
}

oauth_codes! {
    InvalidRequest => "invalid_request", 400, "A parameter is missing, repeated, malformed or not allowed here.";
    InvalidClient => "invalid_client", 400, "The client is not known, or may not do this.";
    InvalidGrant => "invalid_grant", 400, "The code or token is unknown, used, expired, revoked, or was given to another client or address.";
    UnauthorizedClient => "unauthorized_client", 400, "The client did not register for this kind of request.";
    UnsupportedGrantType => "unsupported_grant_type", 400, "The token endpoint does not know this `grant_type`.";
    UnsupportedResponseType => "unsupported_response_type", 400, "Only `response_type=code` is given.";
    UnsupportedTokenType => "unsupported_token_type", 400, "Tokens of this kind cannot be revoked here.";
    AccessDenied => "access_denied", 400, "The owner said no.";
    InvalidTarget => "invalid_target", 400, "The `resource` is not this server.";
    InvalidAuthorizationDetails => "invalid_authorization_details", 400, "The `authorization_details` ask for what no source here offers.";
    InvalidClientMetadata => "invalid_client_metadata", 400, "A member of the client's metadata breaks a rule.";
    InvalidRedirectUri => "invalid_redirect_uri", 400, "A redirect URI breaks a rule.";
    InvalidToken => "invalid_token", 401, "The bearer token is missing or does not serve here.";
    AuthorizationPending => "authorization_pending", 400, "The owner has not decided yet.";
    SlowDown => "slow_down", 400, "The client asks too often.";
    ExpiredToken => "expired_token", 400, "The device code, or the attempt, has expired.";
    TemporarilyUnavailable => "temporarily_unavailable", 503, "The server cannot take more right now.";
    ServerError => "server_error", 500, "Something failed inside the server.";
}

impl fmt::Display for OAuthCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_spelled_once_and_says_when() {
        let spelled: BTreeSet<_> = OAuthCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(spelled.len(), OAuthCode::ALL.len());
        for code in OAuthCode::ALL {
            assert!(code.when().ends_with('.') && (400..600).contains(&code.status()), "{code}");
        }
    }
}
