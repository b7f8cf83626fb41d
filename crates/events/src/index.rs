//! For whom a change may be news: every followed subscription, by the stream and connection it covers.
//!
//! Kept in memory and made anew when the store says that a subscription or a grant changed. Whether a grant has expired
//! is asked each time.

use std::collections::{HashMap, HashSet};

use pdpp_access::{ActiveGrant, ClientPrincipal, Denial, GrantStanding};
use pdpp_store::{LiveSubscription, LiveSubscriptions};
use pdpp_wire::{ClientId, ConnectionId, Instant, StreamName, SubjectId, SubscriptionId};

/// The followed subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Index {
    generation: Option<u64>,
    followed: Vec<Followed>,
    places: HashMap<Place, Vec<usize>>,
    subjects: HashSet<SubjectId>,
}

type Place = (SubjectId, ConnectionId, StreamName);

/// One followed subscription.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) from: u64,
    subject_id: SubjectId,
    client_id: ClientId,
    /// With its standing, so that its end can be asked anew.
    grants: Vec<(ActiveGrant, GrantStanding)>,
}

impl Index {
    pub(crate) fn of(live: LiveSubscriptions) -> Self {
        let mut index = Self { generation: Some(live.generation), ..Self::default() };
        for subscription in live.subscriptions {
            index.add(subscription);
        }
        index
    }

    fn add(&mut self, live: LiveSubscription) {
        let place = self.followed.len();
        let mut grants = Vec::new();
        for standing in live.grants {
            // A revoked or damaged grant covers nothing; one that expired is found out again, and ended.
            let Ok(grant) = parsed(&standing) else { continue };
            for stream in &grant.document().streams {
                if !live.streams.is_empty() && !live.streams.contains(&stream.name) {
                    continue;
                }
                let wanted = |id: &&ConnectionId| live.connection_id.as_ref().is_none_or(|only| only == *id);
                for connection_id in stream.instance_ids.iter().filter(wanted) {
                    let key = (live.subject_id.clone(), connection_id.clone(), stream.name.clone());
                    self.places.entry(key).or_default().push(place);
                }
            }
            grants.push((grant, standing));
        }
        self.subjects.insert(live.subject_id.clone());
        self.followed.push(Followed {
            subscription_id: live.subscription_id,
            from: live.from,
            subject_id: live.subject_id,
            client_id: live.client_id,
            grants,
        });
    }

    pub(crate) fn generation(&self) -> Option<u64> {
        self.generation
    }

    pub(crate) fn subjects(&self) -> impl Iterator<Item = &SubjectId> {
        self.subjects.iter()
    }

    /// Who covers a place.
    pub(crate) fn covering(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        stream: &StreamName,
    ) -> impl Iterator<Item = &Followed> {
        let key = (subject_id.clone(), connection_id.clone(), stream.clone());
        self.places.get(&key).into_iter().flatten().map(|place| &self.followed[*place])
    }

    /// Those whose grants have all expired.
    pub(crate) fn expired(&self, now: Instant) -> Vec<SubscriptionId> {
        let expired = |followed: &&Followed| followed.principal(now).is_none();
        self.followed.iter().filter(expired).map(|followed| followed.subscription_id.clone()).collect()
    }
}

impl Followed {
    /// Whoever the subscription stands for now.
    pub(crate) fn principal(&self, now: Instant) -> Option<ClientPrincipal> {
        let active = self.grants.iter().filter_map(|(grant, standing)| grant.again(standing, now).ok());
        principal(&self.subject_id, &self.client_id, active.collect())
    }
}

/// Whoever these standings leave something to.
pub(crate) fn principal_of(
    subject_id: &SubjectId,
    client_id: &ClientId,
    standings: &[GrantStanding],
    now: Instant,
) -> Option<ClientPrincipal> {
    let active = standings.iter().filter_map(|standing| ActiveGrant::try_new(standing, now).ok());
    principal(subject_id, client_id, active.collect())
}

fn principal(
    subject_id: &SubjectId,
    client_id: &ClientId,
    grants: Vec<ActiveGrant>,
) -> Option<ClientPrincipal> {
    ClientPrincipal::try_new(subject_id.clone(), client_id.clone(), None, grants).ok()
}

/// The grant as if it had not expired: its end is asked for when it matters.
fn parsed(standing: &GrantStanding) -> Result<ActiveGrant, Denial> {
    ActiveGrant::try_new(standing, Instant::from_micros(i64::MIN))
}
