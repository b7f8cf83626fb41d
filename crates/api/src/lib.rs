//! The REST resource server: asks `access` for a plan, hands it to the store, and says the answer.
//!
//! One table of routes ([`routes()`]) makes the router, the parameter lists, the 405 answers and the
//! `OpenAPI` document. Each endpoint is one file under `routes/`, read from top to bottom. No access
//! rule lives here: what a token may read is decided by `pdpp-access` alone.

mod authority;
mod blob_link;
mod byte_range;
mod call;
mod cors;
mod describe;
mod disclosure;
mod dispatch;
mod error;
mod frame;
mod freshness;
mod mounted;
mod openapi;
mod query;
mod rates;
mod rendering;
mod request_id;
mod route;
mod routes;
mod search;
mod selector;
mod state;
mod subject_rates;
mod table;
mod write_target;

pub use dispatch::router;
pub use error::ApiError;
pub use mounted::{admit_client, router_with};
pub use openapi::openapi;
pub use rates::Peer;
pub use request_id::RequestId;
pub use route::{
    AnswerDoc, BodyDoc, Caller, Content, Pace, Parameter, Place, Route, SchemaOf, Shape, Unknown, Verb,
};
pub use search::SearchModes;
pub use state::{ApiLimits, ApiSettings, ApiState};
pub use table::routes;
