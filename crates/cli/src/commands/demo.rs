//! `pdpp demo`: the whole story on an invented life, in one command.

mod home;
mod hosts;
mod life;
mod memory_tree;
mod tour;

use std::io::Cursor;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;
use pdpp_auth::{DEFAULT_PURPOSE, GrantOrder, Issued, SelectionArgs, local_client_id, parse_selections};
use pdpp_server::{ConfigFile, LogFormat, Personal, ServeError, Server, start_logging};
use pdpp_wire::AccessMode;
use pdpp_wire::manifest::Manifest;

use self::home::Home;
use self::life::{Life, orders};
use self::memory_tree::MemoryTree;
use super::import::{Destination, Found, Receipt, load};
use super::serve::stop_signal;
use crate::terminal;

/// What the demo's grant opens: words and their circumstances, of this year, and nothing else.
const STREAMS: [&str; 2] = ["Phone/messages:author,text,sent_at", "Mail/messages:subject,from,text,sent_at"];
const SINCE: &str = "2026-01-01";
const CLIENT: &str = "demo assistant";

/// See it work on an invented life
///
/// Loads eighteen months of chats, mail, notes, appointments and orders of a person who does not exist, hands out a
/// narrow grant, asks a question through it, reads on, is refused something, and shows the ledger. The server then
/// stays up so that you can try it with an assistant; Ctrl-C ends it and leaves nothing behind.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp demo
  pdpp demo --keep ./sample        and later: pdpp serve --data ./sample")]
pub(crate) struct DemoArgs {
    /// Keep the data in this new directory instead of a temporary one
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Where to listen; a free port if this one is taken
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7663")]
    listen: SocketAddr,
    /// End after the tour instead of serving
    #[arg(long)]
    once: bool,
}

pub(crate) async fn run(args: DemoArgs) -> anyhow::Result<()> {
    start_logging(LogFormat::Text, "warn");
    // Heard before there is anything to leave behind.
    let stop = asked_to_stop();
    let home = Home::choose(args.keep.as_deref())?;
    let told = show(&args, &home, stop).await;
    home.leave();
    told
}

async fn show(
    args: &DemoArgs,
    home: &Home,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    // One and the same from the first moment, so that no Ctrl-C is lost between two steps.
    let mut stop = pin!(stop);
    let server = tokio::select! {
        shown = toured(args, home) => shown?,
        () = &mut stop => return Ok(()),
    };
    if !args.once {
        terminal::line("\nThe server stays up; Ctrl-C ends it.")?;
        server.run(stop).await;
    }
    Ok(())
}

async fn toured(args: &DemoArgs, home: &Home) -> anyhow::Result<Server> {
    let started = Instant::now();
    let personal = Personal::open(home.path())?;
    load_life(&personal).await?;
    let issued = grant(&personal).await?;
    let server = bind(personal.clone(), args.listen).await?;
    tour::show(&personal, &server, &issued, started.elapsed()).await?;
    tour::show_where_next(&server, &issued, home, args.once)?;
    Ok(server)
}

/// Loads the exports of the invented person as the owner of real ones would.
async fn load_life(personal: &Personal) -> anyhow::Result<()> {
    let Life { exports, orders } = Life::write();
    let bar = ProgressBar::hidden();
    for (label, files) in exports {
        let found = Found::in_tree(Box::new(MemoryTree::new(files)), None)?;
        found.load(personal, Some(label), &bar).await?;
    }
    let manifest = Arc::new(Manifest::parse(orders::MANIFEST)?);
    let mut destination = Destination::register(personal, &manifest, Some("Nordin"), true).await?;
    let mut receipt = Receipt::new("jsonl");
    load(personal, &mut destination, Cursor::new(orders), None, &mut receipt, &bar).await?;
    personal.update_index().await;
    Ok(())
}

async fn grant(personal: &Personal) -> anyhow::Result<Issued> {
    let streams = STREAMS.map(str::to_owned);
    let selection = SelectionArgs {
        streams: &streams,
        connection: None,
        since: Some(SINCE),
        until: None,
        purpose_code: DEFAULT_PURPOSE,
        purpose_description: None,
        access_mode: AccessMode::Continuous,
    };
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let order = GrantOrder {
        client_id: local_client_id(CLIENT),
        selections: parse_selections(&catalogue, &selection)?,
        expires_at: Some(personal.clock().now().plus_seconds(24 * 3600)),
    };
    Ok(personal.authority().create_grants(personal.subject(), order).await?)
}

/// Binds where asked, or on any free port of the same address.
async fn bind(personal: Personal, listen: SocketAddr) -> anyhow::Result<Server> {
    let at = |listen| ConfigFile { listen: Some(listen), ..ConfigFile::default() }.resolve();
    match Server::bind(personal.clone(), at(listen)?).await {
        Err(ServeError::Bind { .. }) => {
            Ok(Server::bind(personal, at(SocketAddr::new(listen.ip(), 0))?).await?)
        }
        bound => Ok(bound?),
    }
}

/// Resolves when the process is asked to stop, also by a terminal that goes away.
/// Listening begins with the call, not with the first wait.
fn asked_to_stop() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let heard = {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        kinds.map(|kind| signal(kind).ok())
    };
    async move {
        #[cfg(unix)]
        if let [Some(mut interrupt), Some(mut terminate), Some(mut hangup)] = heard {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
        stop_signal().await;
    }
}
