//! `pdpp man DIR`: a manual page for each command.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};

use crate::args::Cli;
use crate::screen::counted;
use crate::terminal;

/// Write manual pages
///
/// One page for each command, `pdpp.1`, `pdpp-grant.1`, `pdpp-grant-create.1` and so on.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Where to write them
    dir: PathBuf,
}

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let cannot = || format!("cannot write in {}; choose a place that can be written", args.dir.display());
    std::fs::create_dir_all(&args.dir).with_context(cannot)?;
    let mut cli = Cli::command().disable_help_subcommand(true);
    // Pages say the same whatever the environment of whoever writes them.
    cli.build();
    let mut pages = 0;
    write(&cli, "pdpp", args, &mut pages).with_context(cannot)?;
    terminal::line(&format!("{} in {}", counted(pages, "page"), args.dir.display()))?;
    Ok(())
}

fn write(command: &clap::Command, name: &str, args: &ManArgs, pages: &mut u64) -> std::io::Result<()> {
    let plain = command.clone().mut_args(|arg| arg.hide_env_values(true));
    let mut page = Vec::new();
    clap_mangen::Man::new(plain).render(&mut page)?;
    std::fs::write(args.dir.join(format!("{name}.1")), page)?;
    *pages += 1;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        write(sub, &format!("{name}-{}", sub.get_name()), args, pages)?;
    }
    Ok(())
}
