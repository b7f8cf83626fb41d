//! `pdpp extract-text`: the child that reads one document's text, within limits it sets itself.
//!
//! Not for people: `pdpp import` runs it for attached documents.

use std::io::{self, Read as _, Write as _};

use anyhow::Context as _;
use clap::Args;
use pdpp_import::extract_text;

/// Largest document that is read.
const LARGEST: u64 = 64 * 1024 * 1024;

#[derive(Args, Debug)]
pub(crate) struct ExtractTextArgs {
    /// What the document says it is
    #[arg(long)]
    media_type: String,
    /// The name it came under
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(args: &ExtractTextArgs) -> anyhow::Result<()> {
    limit()?;
    let mut bytes = Vec::new();
    io::stdin().take(LARGEST).read_to_end(&mut bytes).context("cannot read the document")?;
    let text = extract_text(&args.media_type, args.name.as_deref(), &bytes).unwrap_or_default();
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// So much memory and time and no more: the system ends a child that wants more.
#[cfg(unix)]
fn limit() -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    /// What it may keep for itself.
    const MEMORY: u64 = 512 << 20;
    /// Its own program and libraries included.
    const ADDRESSES: u64 = 2 << 30;
    const SECONDS: u64 = 10;
    let most = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::As, most(ADDRESSES)).context("cannot limit memory")?;
    setrlimit(Resource::Data, most(MEMORY)).context("cannot limit memory")?;
    setrlimit(Resource::Cpu, most(SECONDS)).context("cannot limit time")?;
    setrlimit(Resource::Core, most(0)).context("cannot limit dumps")
}

#[cfg(not(unix))]
fn limit() -> anyhow::Result<()> {
    Ok(())
}
