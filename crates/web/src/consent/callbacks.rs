//! Where the client asks that its events be sent: a tick for each host, none of them set beforehand.

use super::ticks::Ticks;
use crate::artifact::Artifact;
use crate::form::Form;
use crate::stranger;

/// One host.
pub(super) struct CallbackBox {
    pub(super) index: usize,
    pub(super) host: String,
    /// Whether events may be sent there already, whatever is ticked.
    pub(super) allowed: bool,
    pub(super) ticked: bool,
}

impl CallbackBox {
    pub(super) fn all(artifact: &Artifact, ticks: Ticks<'_>) -> Vec<Self> {
        let hosts = artifact.event_callbacks.iter().enumerate();
        hosts
            .map(|(index, one)| Self {
                index,
                host: stranger::name(&one.host),
                allowed: one.allowed,
                ticked: ticks.has("callback", &index.to_string(), false),
            })
            .collect()
    }
}

/// The hosts that were ticked.
pub(super) fn read(form: &Form, artifact: &Artifact) -> Vec<String> {
    let hosts = artifact.event_callbacks.iter().enumerate();
    let ticked = hosts.filter(|(index, one)| !one.allowed && form.is_ticked("callback", &index.to_string()));
    ticked.map(|(_, one)| one.host.clone()).collect()
}
