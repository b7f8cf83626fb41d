//! What a subscription covers: the client's grants, narrowed as it asked.

use pdpp_access::{ActiveGrant, Catalogue, ClientPrincipal, Denial};
use pdpp_store::EventWish;
use pdpp_wire::{
    Code, ConnectionId, EventFilters, EventScope, EventScopeStream, EventSource, GrantId, GrantStream,
    StreamName,
};

/// A checked wish.
pub(crate) struct Scope {
    pub(crate) grant_ids: Vec<GrantId>,
    pub(crate) streams: Vec<StreamName>,
    pub(crate) connection_id: Option<ConnectionId>,
    pub(crate) shown: EventScope,
}

impl Scope {
    /// Checks what a client asked for against its grants.
    pub(crate) fn of(
        client: &ClientPrincipal,
        catalogue: &Catalogue,
        wish: &EventWish,
    ) -> Result<Self, Denial> {
        let connection_id = match wish.connection_id.as_deref() {
            None => None,
            Some(id) => Some(granted_connection(client, id)?),
        };
        let covers =
            |stream: &GrantStream| connection_id.as_ref().is_none_or(|id| stream.instance_ids.contains(id));
        let mut streams = Vec::new();
        for name in &wish.streams {
            let granted = all(client)
                .map(|(_, stream)| stream)
                .find(|stream| stream.name.as_str() == name && covers(stream));
            let Some(granted) = granted else {
                let message = format!("The stream '{name}' is not part of the grant.");
                return Err(Denial::new(Code::InvalidRequest, message).param("filters.streams"));
            };
            if !streams.contains(&granted.name) {
                streams.push(granted.name.clone());
            }
        }
        let filters = (!streams.is_empty() || connection_id.is_some())
            .then(|| EventFilters { streams: streams.clone(), connection_id: connection_id.clone() });
        let shown = shown(client, catalogue, filters);
        let grant_ids = client.grants().iter().map(|grant| grant.id().clone()).collect();
        Ok(Self { grant_ids, streams, connection_id, shown })
    }
}

fn all(client: &ClientPrincipal) -> impl Iterator<Item = (&ActiveGrant, &GrantStream)> {
    client
        .grants()
        .iter()
        .flat_map(|grant| grant.document().streams.iter().map(move |stream| (grant, stream)))
}

fn granted_connection(client: &ClientPrincipal, id: &str) -> Result<ConnectionId, Denial> {
    let mut granted = all(client).flat_map(|(_, stream)| &stream.instance_ids);
    granted.find(|granted| granted.as_str() == id).cloned().ok_or_else(|| {
        Denial::new(Code::ConnectionNotFound, "No such connection is granted.").param("connection_id")
    })
}

/// The grants' streams as they are now, for whoever looks at the subscription later.
fn shown(client: &ClientPrincipal, catalogue: &Catalogue, filters: Option<EventFilters>) -> EventScope {
    let source = |grant: &ActiveGrant| {
        let source = &grant.document().source;
        let known = catalogue.find_source_by_uri(&source.id);
        EventSource {
            kind: source.kind,
            id: source.id.clone(),
            connector_id: known.map(|known| known.key().to_string()),
        }
    };
    let one = match client.grants() {
        [first, rest @ ..] => {
            let same = |grant: &ActiveGrant| grant.document().source == first.document().source;
            rest.iter().all(same).then(|| source(first))
        }
        [] => None,
    };
    let streams = all(client).map(|(grant, stream)| EventScopeStream {
        name: stream.name.clone(),
        source: one.is_none().then(|| source(grant)),
        instance_ids: stream.instance_ids.clone(),
        resources: stream.resources.clone(),
        time_constraint: stream.time_constraint.clone(),
    });
    EventScope { streams: streams.collect(), source: one, filters }
}
