//! `pdpp mcp`: the stdio adapter. Standard output belongs to the protocol; everything else is said on standard
//! error, from help to panics.

mod local;
mod streams;

use clap::{Args, CommandFactory as _, ValueEnum};
use pdpp_access::Clock as _;
use pdpp_client::{Client, CredentialError, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, BearerKind, Now, ResultDetail, Settings, ToolSet, serve_lines};
use pdpp_server::{LogFormat, SystemClock, start_logging};

use crate::args::{Cli, DataArgs};
use crate::credential::{CLIENT_TOKEN, CacheArgs, variable};
use crate::exit::{EndCode, Ended, Usage};
use crate::terminal;

/// Offer granted data to an assistant over standard input and output (MCP)
///
/// With --provider-url it reads from any PDPP server, with the scoped credential `pdpp connect` keeps or the token
/// in `PDPP_CLIENT_TOKEN`. With --grant it reads a data directory of this machine under those grants; no server need
/// run. It never acts as the owner.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  pdpp mcp --provider-url https://data.example.org\n  pdpp mcp --grant grt_0123456789abcdef"
)]
pub(crate) struct McpArgs {
    /// The server to read from [env: `PDPP_PROVIDER_URL`]
    #[arg(long, value_name = "URL", conflicts_with = "grant")]
    provider_url: Option<String>,

    #[command(flatten)]
    cache: CacheArgs,

    #[command(flatten)]
    data: DataArgs,

    /// Read the data directory under this grant; may be repeated
    #[arg(long, value_name = "ID")]
    grant: Vec<String>,

    /// The name the assistant's program shows
    #[arg(long, value_name = "NAME", env = "PDPP_MCP_SERVER_NAME", default_value = "pdpp-mcp-server")]
    server_name: String,

    /// Which tools are listed: all, or only the six that read records
    #[arg(long, value_enum, default_value = "all")]
    tools: Tools,

    /// How much of a server's answer a result repeats beside its hits
    #[arg(long, value_enum, default_value = "full")]
    result_detail: Detail,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Tools {
    All,
    Read,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Detail {
    Full,
    Compact,
}

/// Variables that hold the owner's authority, which has no place in a process an assistant talks to.
const OWNER_VARIABLES: [&str; 2] = ["PDPP_OWNER_TOKEN", "PDPP_OWNER_SESSION_COOKIE"];

pub(crate) async fn run(args: McpArgs) -> anyhow::Result<()> {
    log_to_stderr();
    let (client, bearer) = if args.grant.is_empty() {
        remote(&args)?
    } else {
        (local::client(&args).await?, BearerKind::Scoped)
    };
    let settings = Settings {
        server_name: args.server_name,
        tools: match args.tools {
            Tools::All => ToolSet::All,
            Tools::Read => ToolSet::Read,
        },
        detail: match args.result_detail {
            Detail::Full => ResultDetail::Full,
            Detail::Compact => ResultDetail::Compact,
        },
        now: Some(Now::new(|| SystemClock.now())),
        bearer,
    };
    serve_lines(Adapter::new(client, settings), streams::input(), streams::output()).await?;
    Ok(())
}

/// A client of a server, and what is known about its bearer. The order of the checks is a promise: with an owner
/// variable set, no credential file is even opened.
fn remote(args: &McpArgs) -> anyhow::Result<(Client, BearerKind)> {
    let given = args.provider_url.clone().filter(|url| !url.trim().is_empty());
    let Some(given) = given.or_else(|| variable("PDPP_PROVIDER_URL")) else {
        let message = "Missing --provider-url: name the server to read from, or grants of this machine's data \
                       directory with --grant";
        return Err(Usage(format!("{message}\n\n{}", usage())).into());
    };
    let url = ProviderUrl::parse(&given).map_err(|error| Usage(format!("{error}\n\n{}", usage())))?;
    refuse_owner()?;
    let found = args.cache.find(&url).map_err(|error| credential_end(&error))?;
    terminal::note(&format!("pdpp mcp reads from {url} with the credential in {}", found.place));
    // A kept credential says what it is; a token in the environment says nothing.
    let kind = if found.place == CLIENT_TOKEN { BearerKind::Unknown } else { BearerKind::Scoped };
    Ok((Client::http(&url, found.bearer, Limits::default())?, kind))
}

fn refuse_owner() -> Result<(), Ended> {
    match OWNER_VARIABLES
        .into_iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
    {
        None => Ok(()),
        Some(name) => Err(Ended::new(
            EndCode::OwnerRefused,
            format!(
                "Refusing to start: {name} is set, and an assistant must not hold the owner's authority. Unset it"
            ),
        )),
    }
}

fn credential_end(error: &CredentialError) -> Ended {
    let code = match error {
        CredentialError::OwnerRefused { .. } => EndCode::OwnerRefused,
        _ => EndCode::NoCredential,
    };
    Ended::new(code, format!("{}: {error}", error.code()))
}

fn usage() -> String {
    let mut cli = Cli::command();
    cli.build();
    cli.find_subcommand_mut("mcp").map(|mcp| mcp.render_usage().to_string()).unwrap_or_default()
}

/// Logs and panics go to standard error. What the protocol library logs holds whole messages, so that even a
/// talkative level leaves it out; a panic says where, and not what it was about.
fn log_to_stderr() {
    let level = variable("PDPP_LOG").or_else(|| variable("PDPP_LOG_LEVEL"));
    start_logging(LogFormat::Text, level.as_deref().unwrap_or("warn"));
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        terminal::note(&format!("pdpp mcp: a defect at {place}; the call it happened in is lost"));
    }));
}
