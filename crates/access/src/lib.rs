//! Decides who may read what.
//!
//! A [`Principal`] (whoever a token stands for) and a request become a plan, or a [`Denial`]. Plans
//! have no public constructor: a store that asks for one cannot be reached around a grant. Nothing
//! here does I/O; finding tokens and reading records happen elsewhere.
//!
//! A grant is frozen when it is approved, so its streams, fields, connections and times are taken
//! as they stand. The current declaration only describes, routes or refuses.

mod authorize;
mod catalogue;
mod cursor;
mod denial;
mod field_set;
mod filter;
mod grant;
mod outside;
mod plan;
mod principal;
mod request;
mod resolve;
mod scalar;
mod secret;
mod throttle;

pub use authorize::{Authorizer, ExpandState, RecordsRead};
pub use catalogue::{Catalogue, Connection, ConnectionStatus, Source};
pub use cursor::{
    Binding, ChangesPosition, ChangesSince, Epoch, OrderValue, Position, Sealer, SearchPosition,
};
pub use denial::Denial;
pub use field_set::FieldSet;
pub use filter::{Predicate, Test};
pub use grant::{ActiveGrant, GrantStanding};
pub use outside::{Clock, Entropy, random_hex};
pub use plan::{
    AggregatePlan, BlobPlan, ChangesPlan, Direction, ExpandPlan, Granularity, Grouping, Metric, Order,
    OrderBy, PlanPart, ReadPlan, RecordPlan, RecordsPlan, SearchField, SearchOrder, SearchPart, SearchPlan,
    SkipReason, SkippedStream, TimeBound, WindowPlan,
};
pub use principal::{AuthError, Bearer, ClientPrincipal, OwnerPrincipal, Principal, TokenAuthority};
pub use request::{
    AggregateRequest, BlobRequest, FilterTerm, RecordRequest, RecordsRequest, SearchRequest, StreamsRequest,
    Target, WindowRequest,
};
pub use resolve::{GrantTerms, resolve_selection};
pub use scalar::Scalar;
pub use secret::{Secret, SecretHash};
pub use throttle::{Limit, Throttle, TooOften};
