//! What tests share: a fixed clock, seeded bytes, a sample archive, grants and principals over it.
//!
//! Nothing here is shipped, so helpers panic where a test described something impossible.

mod clock;
mod entropy;
mod grant;
mod postgres;
mod principal;
pub mod sample;

pub use clock::FixedClock;
pub use entropy::SeededEntropy;
pub use grant::{GrantBuilder, active, client_id, grant, standing};
pub use postgres::{FreshDatabase, PostgresServer};
pub use principal::{client, owner};
