//! The server under test: started on a free port, and ended when it is no longer needed.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

#[derive(Debug)]
pub(super) struct Fixture {
    child: Child,
    url: String,
}

impl Fixture {
    /// The first line that it prints is its address.
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the fixture could not be started")?;
        let output = child.stdout.take().context("the fixture has no output")?;
        let mut fixture = Self { child, url: String::new() };
        BufReader::new(output).read_line(&mut fixture.url).context("the fixture's output cannot be read")?;
        fixture.url.truncate(fixture.url.trim_end().len());
        if !fixture.url.starts_with("http://127.0.0.1:") {
            bail!("the fixture gave no address: {:?}", fixture.url);
        }
        Ok(fixture)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_an_address_is_refused() {
        let error = Fixture::start(Path::new("true")).unwrap_err();
        assert!(error.to_string().contains("no address"), "{error}");
    }
}
