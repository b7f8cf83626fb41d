//! The owner's passphrase on the terminal.
//!
//! Without one the data directory itself is the authority. Once it is set, commands that widen
//! access ask for it first.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::{Context as _, bail};
use clap::Args;
use pdpp_access::Secret;
use pdpp_server::Personal;

use crate::exit::Usage;

/// How the passphrase is given.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct PassphraseArgs {
    /// Read the owner passphrase from standard input instead of the terminal
    #[arg(long)]
    passphrase_stdin: bool,
}

impl PassphraseArgs {
    /// Asks for the passphrase when there is one, and stops when it is wrong.
    pub(crate) async fn require(self, personal: &Personal) -> anyhow::Result<()> {
        if personal.store().find_passphrase(personal.subject()).await?.is_none() {
            return Ok(());
        }
        let given = Secret::presented(self.read("Owner passphrase: ")?);
        if personal.authority().verify_passphrase(personal.subject(), &given).await? {
            return Ok(());
        }
        bail!("that is not the owner passphrase; `pdpp owner reset` on this machine sets a new one")
    }

    /// Reads a new passphrase, twice on a terminal.
    pub(crate) fn read_new(self) -> anyhow::Result<String> {
        let first = self.read("New owner passphrase: ")?;
        if first.chars().count() < 8 {
            return Err(Usage("the passphrase needs at least 8 characters".to_owned()).into());
        }
        if !self.passphrase_stdin && self.read("The same again: ")? != first {
            return Err(Usage("the two passphrases differ".to_owned()).into());
        }
        Ok(first)
    }

    fn read(self, prompt: &str) -> anyhow::Result<String> {
        if self.passphrase_stdin {
            let mut text = String::new();
            io::stdin().lock().read_line(&mut text).context("cannot read the passphrase")?;
            return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
        }
        if !io::stdin().is_terminal() {
            let message = "this needs the owner passphrase: run it on a terminal, or pipe it in with --passphrase-stdin";
            return Err(Usage(message.to_owned()).into());
        }
        rpassword::prompt_password(prompt).context("cannot read the passphrase from the terminal")
    }
}
