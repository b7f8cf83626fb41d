//! Every route of the REST surface, in one table.

use crate::route::Route;
use crate::routes::{
    aggregate, blob, blob_upload, connectors, delete, discovery, event_subscriptions, field_window, health,
    ingest, manifests, record, records, schema, search, state, stream, streams,
};

pub(crate) static ROUTES: &[Route] = &[
    discovery::INDEX,
    discovery::PROTECTED_RESOURCE,
    discovery::PROTECTED_MCP,
    discovery::OPENAPI,
    health::ALIVE,
    health::READY,
    streams::ROUTE,
    stream::ROUTE,
    schema::ROUTE,
    connectors::ROUTE,
    records::ROUTE,
    delete::STREAM_RECORDS,
    record::ROUTE,
    delete::ONE_RECORD,
    field_window::ROUTE,
    aggregate::ROUTE,
    search::ROUTE,
    search::SEMANTIC,
    search::HYBRID,
    blob::ROUTE,
    blob_upload::ROUTE,
    event_subscriptions::LIST,
    event_subscriptions::CREATE,
    event_subscriptions::ONE,
    event_subscriptions::UPDATE,
    event_subscriptions::DELETE,
    event_subscriptions::TEST,
    event_subscriptions::DELIVERIES,
    ingest::ROUTE,
    state::READ,
    state::WRITE,
    manifests::REGISTER,
    manifests::READ,
];

/// Every route, in the order of the table.
pub fn routes() -> &'static [Route] {
    ROUTES
}
