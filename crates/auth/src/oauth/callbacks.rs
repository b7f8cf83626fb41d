//! Where a client asks that its events be sent: hosts the owner sees, and ticks or leaves, when consent is given.
//!
//! An assistant cannot choose whom the owner's server calls. A host it registered needs no leave; any other is called
//! only if the owner allowed it, here or on the command line.

use pdpp_egress::{parse_callback_host, registered_host};
use pdpp_wire::SubjectId;
use serde_json::{Value, json};

use super::ask::Ask;
use super::{AuthorizationServer, KnownClient, Narrowing, OAuthFault};

/// Most hosts one request may ask for: each is a tick of its own.
const MOST: usize = 4;

/// A host that is asked for, and whether events may be sent there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedCallback {
    host: String,
    allowed: bool,
}

/// Reads `event_callback_hosts`: hosts, with a port where it is not the usual one, apart by spaces.
pub(super) fn parse_hosts(text: Option<&str>) -> Result<Vec<String>, OAuthFault> {
    let mut hosts = Vec::new();
    for word in text.unwrap_or_default().split_ascii_whitespace() {
        let host = parse_callback_host(word).map_err(|_| {
            let word = super::server::shown(word);
            OAuthFault::invalid(format!("`event_callback_hosts`: '{word}' is no full host name."))
        })?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if hosts.len() > MOST {
        return Err(OAuthFault::invalid(format!("`event_callback_hosts` names more than {MOST} hosts.")));
    }
    Ok(hosts)
}

impl AuthorizationServer {
    pub(super) async fn asked_callbacks(
        &self,
        subject_id: &SubjectId,
        client: &KnownClient,
        ask: &Ask,
    ) -> Result<Vec<AskedCallback>, OAuthFault> {
        let registered = client.metadata.redirect_uris.iter().map(String::as_str);
        let registered = registered.chain([client.client_id.as_str()]).filter_map(registered_host);
        let registered: Vec<String> = registered.collect();
        let mut asked = Vec::with_capacity(ask.event_callback_hosts.len());
        for host in &ask.event_callback_hosts {
            let allowed = registered.contains(host)
                || self.store().is_callback_allowed(subject_id, &client.client_id, host).await?;
            asked.push(AskedCallback { host: host.clone(), allowed });
        }
        Ok(asked)
    }
}

/// An approval cannot allow a host that was not asked for, and so was not shown.
pub(super) fn check(asked: &[AskedCallback], narrowing: &Narrowing) -> Result<(), OAuthFault> {
    let is_asked = |host: &String| asked.iter().any(|one| one.host == *host);
    match narrowing.callback_hosts.iter().find(|host| !is_asked(host)) {
        None => Ok(()),
        Some(more) => Err(OAuthFault::invalid(format!(
            "The request does not ask for events to '{}'.",
            super::server::shown(more)
        ))),
    }
}

/// The hosts as they are shown, and whether events may be sent there once this is approved.
pub(super) fn facts(asked: &[AskedCallback], narrowing: &Narrowing) -> Value {
    let fact = |one: &AskedCallback| {
        let allowed = one.allowed || narrowing.callback_hosts.contains(&one.host);
        json!({ "host": one.host, "allowed": allowed })
    };
    asked.iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_strictly_and_in_their_normal_form() {
        let read = |text: &str| parse_hosts(Some(text)).ok();
        assert_eq!(parse_hosts(None).unwrap(), Vec::<String>::new());
        let hosts = read(" Hooks.Example.org:443  hooks.example.org hooks.example.org:8443 ");
        assert_eq!(hosts.unwrap(), ["hooks.example.org", "hooks.example.org:8443"]);
        for bad in
            ["https://hooks.example.org", "hooks", "10.0.0.1", "u@hooks.example.org", "a.b/c", "*.b.org"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(read("a.b.org b.b.org c.b.org d.b.org").is_some());
        assert_eq!(read("a.b.org b.b.org c.b.org d.b.org e.b.org"), None, "each is a tick of its own");
    }
}
