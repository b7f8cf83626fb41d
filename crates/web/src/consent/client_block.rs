//! Who asks: what the client claims, and what the server knows.

use pdpp_wire::Instant;

use crate::artifact::Artifact;
use crate::moment::Moment;
use crate::stranger;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct ClientBlock {
    /// The claimed name, or the id where none is claimed.
    pub(crate) name: String,
    /// Whether the name is a claim.
    pub(crate) claimed: bool,
    pub(crate) monogram: String,
    pub(crate) client_id: String,
    /// How it became known, in words.
    pub(crate) registration: &'static str,
    /// Whether it is part of this program.
    pub(crate) own: bool,
    pub(crate) verified_origin: Option<String>,
    pub(crate) redirect_host: Option<String>,
    pub(crate) first_seen: Option<Moment>,
    pub(crate) local_only: bool,
    /// Addresses it claims, as text: nothing on this page leads away unasked.
    pub(crate) claims: Vec<(&'static str, String)>,
    /// How the answer reaches it, in words.
    pub(crate) delivery: &'static str,
}

impl ClientBlock {
    pub(crate) fn of(artifact: &Artifact) -> Self {
        let client = &artifact.client;
        let own = client.registration == "pre_registered";
        let name = stranger::name(client.claimed_name.as_deref().unwrap_or(&client.client_id));
        let claims = [
            ("Home page", &client.client_uri),
            ("Privacy policy", &client.policy_uri),
            ("Terms", &client.tos_uri),
        ];
        Self {
            monogram: stranger::monogram(&name),
            claimed: client.claimed_name.is_some() && !own,
            name,
            client_id: stranger::words(&client.client_id),
            registration: match client.registration.as_str() {
                "metadata_document" => "described at its own web address",
                "pre_registered" => "part of this program",
                "local" => "named by you on the command line",
                _ => "registered itself; nobody has checked who it is",
            },
            own,
            verified_origin: client.verified_origin.as_deref().map(stranger::words),
            redirect_host: artifact.delivery.redirect_host.as_deref().map(stranger::words),
            first_seen: client.first_seen.as_deref().and_then(Instant::parse).map(Moment::of),
            local_only: client.local_only,
            claims: claims
                .into_iter()
                .filter_map(|(what, uri)| Some((what, stranger::words(uri.as_deref()?))))
                .collect(),
            delivery: match artifact.delivery.flow.as_str() {
                "code" => "Your browser goes back to it with the answer.",
                "exchange" => "You get a code to carry to it, or it waits for the answer.",
                _ => "It waits for the answer on the device that showed you the code.",
            },
        }
    }
}
