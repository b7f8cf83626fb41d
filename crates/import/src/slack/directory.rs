//! Who and where: the names behind the ids that messages use.
//!
//! Names are kept for the whole export, because any message may mention anyone: about a hundred bytes a person.

use std::collections::HashMap;

use super::channels::Channel;

/// Most people and conversations whose names are kept; more than any workspace has.
const MOST: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Directory {
    people: HashMap<String, String>,
    folders: HashMap<String, Channel>,
    channels: HashMap<String, String>,
    teams: HashMap<String, u64>,
    /// The workspace's own part of its address.
    pub(super) domain: Option<String>,
}

impl Directory {
    pub(super) fn add_person(&mut self, id: &str, name: &str) {
        if self.people.len() < MOST {
            self.people.insert(id.to_owned(), name.to_owned());
        }
    }

    pub(super) fn add_team(&mut self, team: &str) {
        if self.teams.len() < MOST {
            *self.teams.entry(team.to_owned()).or_default() += 1;
        }
    }

    pub(super) fn add_channel(&mut self, folder: &str, channel: Channel) {
        if self.folders.len() < MOST {
            if let Some(name) = &channel.name {
                self.channels.insert(channel.id.clone(), name.clone());
            }
            self.folders.entry(folder.to_owned()).or_insert(channel);
        }
    }

    pub(super) fn person(&self, id: &str) -> Option<&str> {
        // Slack's own voice is in no list.
        let slackbot = (id == "USLACKBOT").then_some("Slackbot");
        self.people.get(id).map(String::as_str).or(slackbot)
    }

    pub(super) fn channel_name(&self, id: &str) -> Option<&str> {
        self.channels.get(id).map(String::as_str)
    }

    pub(super) fn folder(&self, name: &str) -> Option<&Channel> {
        self.folders.get(name)
    }

    /// The workspace most people belong to; guests from elsewhere are listed too.
    pub(super) fn workspace(&self) -> Option<&str> {
        let larger = |(a, m): &(&String, &u64), (b, n): &(&String, &u64)| m.cmp(n).then_with(|| b.cmp(a));
        self.teams.iter().max_by(larger).map(|(team, _)| team.as_str())
    }

    /// Learns the workspace's address from a link to one of its files.
    pub(super) fn learn_domain(&mut self, permalink: &str, team: Option<&str>) {
        let own = team.is_none() || team == self.workspace();
        let host = permalink.strip_prefix("https://").and_then(|rest| rest.split('/').next());
        let domain = host.and_then(|host| host.strip_suffix(".slack.com"));
        if let (None, true, Some(domain)) = (&self.domain, own, domain)
            && !matches!(domain, "" | "files" | "app")
        {
            self.domain = Some(domain.to_owned());
        }
    }
}
