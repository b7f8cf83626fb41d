//! `pdpp serve`: the REST surface over one data directory.

use std::net::SocketAddr;

use clap::Args;
use pdpp_access::Secret;
use pdpp_server::{ConfigFile, LogFormat, Network, Personal, Server, start_logging};

use crate::args::DataArgs;
use crate::terminal;

/// Serve the data directory over HTTP
///
/// Listens on this machine only, unless told otherwise. Listening where other machines can reach it
/// needs --public-url and an owner passphrase (`pdpp owner reset`). Settings may also stand in
/// `pdpp.toml` in the data directory; flags win.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: pdpp serve --listen 127.0.0.1:7663 --metrics-listen 127.0.0.1:9100",
    mut_args(|arg| arg.hide(false))
)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Where to listen [default: 127.0.0.1:7663]
    #[arg(long, value_name = "ADDR", env = "PDPP_LISTEN")]
    listen: Option<SocketAddr>,

    /// The address clients use, when it differs from the listening address
    #[arg(long, value_name = "URL", env = "PDPP_PUBLIC_URL")]
    public_url: Option<String>,

    /// A further host name to answer for; may be repeated
    #[arg(long, value_name = "HOST", env = "PDPP_ALLOW_HOST", value_delimiter = ',')]
    allow_host: Vec<String>,

    /// What you call this server [default: My Data]
    #[arg(long, value_name = "NAME", env = "PDPP_RESOURCE_NAME")]
    resource_name: Option<String>,

    /// Serve Prometheus metrics here; off unless given
    #[arg(long, value_name = "ADDR", env = "PDPP_METRICS_LISTEN")]
    metrics_listen: Option<SocketAddr>,

    /// How log lines look: text or json [default: text]
    #[arg(long, value_name = "FORMAT", env = "PDPP_LOG_FORMAT", value_parser = log_format)]
    log_format: Option<LogFormat>,

    /// What to log: error, warn, info, debug [default: info]
    #[arg(long, value_name = "LEVEL", env = "PDPP_LOG_LEVEL")]
    log_level: Option<String>,

    /// How long a read may take, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", env = "PDPP_READ_DEADLINE")]
    read_deadline: Option<u64>,

    /// How many requests are served at the same time [default: 256]
    #[arg(long, value_name = "COUNT", env = "PDPP_CONCURRENT_REQUESTS")]
    concurrent_requests: Option<usize>,

    /// How many requests one client's token may make in a minute; 0 means any number [default: 6000]
    #[arg(long, value_name = "COUNT", env = "PDPP_REQUESTS_PER_MINUTE")]
    requests_per_minute: Option<u32>,

    /// A proxy whose forwarded headers are believed: an address or a network; may be repeated
    #[arg(long, value_name = "NET", env = "PDPP_TRUSTED_PROXY", value_delimiter = ',')]
    trusted_proxy: Vec<Network>,

    /// How long the disclosure ledger is kept, in days [default: 400]
    #[arg(long, value_name = "DAYS", env = "PDPP_LEDGER_DAYS")]
    ledger_days: Option<u32>,

    /// Let events be sent to receivers on this machine, also without encryption; for development
    #[arg(long, env = "PDPP_ALLOW_LOOPBACK_CALLBACKS")]
    allow_loopback_callbacks: bool,

    /// The name a separate resource server introspects tokens with [default: resource-server]
    #[arg(long, value_name = "NAME", env = "PDPP_INTROSPECTION_ID")]
    introspection_id: Option<String>,

    /// Its secret; without one nobody can introspect
    #[arg(long, value_name = "SECRET", env = "PDPP_INTROSPECTION_SECRET", hide_env_values = true)]
    introspection_secret: Option<String>,
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("write text or json".to_owned()),
    }
}

pub(crate) async fn run(args: ServeArgs) -> anyhow::Result<()> {
    let data = args.data.path()?;
    let settings = ConfigFile {
        listen: args.listen,
        public_url: args.public_url,
        allow_host: args.allow_host,
        resource_name: args.resource_name,
        metrics_listen: args.metrics_listen,
        log_format: args.log_format,
        log_level: args.log_level,
        read_deadline: args.read_deadline,
        concurrent_requests: args.concurrent_requests,
        requests_per_minute: args.requests_per_minute,
        trusted_proxy: args.trusted_proxy,
        ledger_days: args.ledger_days,
        allow_loopback_callbacks: args.allow_loopback_callbacks.then_some(true),
        introspection_id: args.introspection_id,
        introspection_secret: args.introspection_secret.map(Secret::presented),
        ..args.data.kept.settings()
    };
    let settings = settings.over(ConfigFile::read(&data)?);
    start_logging(settings.log_format.unwrap_or_default(), settings.log_level.as_deref().unwrap_or("info"));
    let personal = Personal::open_home(&settings.store(&data)?).await?;
    let place = personal.place();
    let server = Server::bind(personal, settings.resolve()?).await?;
    let stop = stop_signal();
    terminal::note(&format!("pdpp serves {place} on http://{}", server.address()));
    if let Some(link) = server.first_run_link() {
        terminal::note(&format!("nobody is the owner yet; set your passphrase here, once, today: {link}"));
    }
    if let Some(address) = server.metrics_address() {
        terminal::note(&format!("metrics are on http://{address}/metrics"));
    }
    server.run(stop).await;
    Ok(())
}

/// Resolves when the process is asked to stop. Listening begins with the call, not with the first wait, so that whoever was
/// told that it runs can end it in order.
pub(crate) fn stop_signal() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let heard = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok())
    };
    async move {
        #[cfg(unix)]
        if let [Some(mut interrupt), Some(mut terminate)] = heard {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}
