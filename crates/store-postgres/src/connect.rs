//! Connections to the server: pooled, encrypted where the URL says so, each with the same settings.

mod home;

use std::sync::Arc;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use pdpp_store::StoreError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Options;
use crate::config::{DatabaseUrl, Trust};
use crate::fault::{Fault, Outcome};
use home::Home;

/// How statements are planned. One table holds the fields of every stream, so the server's statistics say
/// nothing about any one of them; statements are written so that the right plan is the walk along an index,
/// joined row by row in the order they are written, and these settings leave no other.
const PLANNING: &str = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
    -c enable_bitmapscan=off -c join_collapse_limit=1 -c from_collapse_limit=1 -c jit=off \
    -c plan_cache_mode=force_generic_plan -c max_parallel_workers_per_gather=0";

/// A pool that connects when first asked, from the runtime it is made on.
pub(crate) fn pool(url: &DatabaseUrl, options: &Options) -> Outcome<Pool> {
    let mut config = url.config().clone();
    let timeout = options.statement.as_millis();
    // A transaction nobody goes on with must not hold its locks: its node may be dead or cut off.
    config.options(format!(
        "{PLANNING} -c statement_timeout={timeout} -c idle_in_transaction_session_timeout=30s \
         -c lock_timeout=20s -c timezone=UTC"
    ));
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.wait);
    }
    config.keepalives_idle(std::time::Duration::from_secs(15));
    config.tcp_user_timeout(std::time::Duration::from_secs(15));
    // A recycled connection is looked at only for being closed: a query that fails on a broken one says so.
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if config.get_ssl_mode() == SslMode::Disable
        || (config.get_ssl_mode() == SslMode::Prefer && *url.trust() == Trust::System)
    {
        Manager::from_connect(config, Home::here(NoTls), recycling)
    } else {
        Manager::from_connect(config, Home::here(MakeRustlsConnect::new(tls(url.trust())?)), recycling)
    };
    let wait = Some(options.wait);
    Ok(Pool::builder(manager)
        .max_size(options.connections.max(2))
        .timeouts(Timeouts { wait, create: wait, recycle: wait })
        .runtime(Runtime::Tokio1)
        .build()?)
}

fn tls(trust: &Trust) -> Outcome<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
        Trust::File(path) => {
            let unreadable = |error: rustls::pki_types::pem::Error| {
                Fault::Store(StoreError::Backend(format!("{path}: {error}").into()))
            };
            for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
                let added = roots.add(certificate.map_err(unreadable)?);
                added.map_err(|error| Fault::Store(StoreError::Backend(error.into())))?;
            }
        }
    }
    if roots.is_empty() {
        let said = "no certificate authorities were found to know the database server by";
        return Err(Fault::Store(StoreError::Backend(said.into())));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Store(StoreError::Backend(error.into())))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
