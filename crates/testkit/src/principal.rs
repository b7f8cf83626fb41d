//! Whoever asks, without a token.

use pdpp_access::{ClientPrincipal, OwnerPrincipal, Principal};
use pdpp_wire::{Grant, SubjectId, TokenId};

use crate::grant::active;

/// The owner of a subject's data.
pub fn owner(subject_id: &SubjectId) -> Principal {
    Principal::Owner(OwnerPrincipal { subject_id: subject_id.clone(), token_id: Some(token_id("tok_owner")) })
}

/// A client with these grants, which share a subject and a client.
#[track_caller]
pub fn client(grants: &[Grant]) -> Principal {
    let first = grants.first().expect("a client has a grant");
    let (subject_id, client_id) = (first.subject.id.clone(), first.client.client_id.clone());
    let grants = grants.iter().map(active).collect();
    let principal = ClientPrincipal::try_new(subject_id, client_id, Some(token_id("tok_client")), grants);
    Principal::Client(principal.expect("the test's grants belong together"))
}

fn token_id(text: &str) -> TokenId {
    TokenId::parse(text).expect("a plain id")
}

#[cfg(test)]
mod tests {
    use pdpp_access::{Authorizer, StreamsRequest};

    use super::*;
    use crate::{grant, sample};

    #[test]
    fn the_owner_sees_every_stream_and_a_client_what_was_granted() {
        let catalogue = sample::catalogue();
        let seen = |principal: &Principal| {
            let plans = Authorizer::new(principal, &catalogue).streams(&StreamsRequest::default()).unwrap();
            plans.iter().map(|plan| format!("{}×{}", plan.stream(), plan.parts().len())).collect::<Vec<_>>()
        };
        let everything = ["channels×2", "messages×2", "attachments×2", "pins×2", "notes×1", "days×1"];
        assert_eq!(seen(&owner(&sample::subject())), everything);
        let home = catalogue.sources[0].connections[0].connection_id.clone();
        let narrow = grant(&catalogue.sources[0])
            .stream("messages", &["id", "text"])
            .connections(&[&home])
            .since("2026-01-10")
            .build();
        assert_eq!(seen(&client(&[narrow])), ["messages×1"]);
    }
}
