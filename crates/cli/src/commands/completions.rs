//! `pdpp completions SHELL`: what makes a shell finish the words of this program.

use std::io;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;

/// Print completions for your shell
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp completions bash > ~/.local/share/bash-completion/completions/pdpp
  pdpp completions zsh > ~/.zfunc/_pdpp
  pdpp completions fish > ~/.config/fish/completions/pdpp.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pdpp", &mut script);
    io::Write::write_all(&mut io::stdout(), &script)
}
