//! Runs other programs, with errors that name the whole command.

use std::ffi::OsStr;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs a command on this terminal and expects success.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs a command quietly, expects success, and returns what it wrote to stdout.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command.output().with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}):\n{}", output.status, complaint.trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` wrote something that is not UTF-8"))
}

/// Runs a command that must not hang: after the limit it is stopped, and that is an error.
///
/// Its arguments may be credentials, so only the program is named.
pub(crate) fn finish_within(command: &mut Command, limit: Duration) -> Result<ExitStatus> {
    let line = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("`{line}` could not be started"))?;
    loop {
        if let Some(status) = child.try_wait().with_context(|| format!("`{line}` cannot be watched"))? {
            return Ok(status);
        }
        if started.elapsed() > limit {
            child
                .kill()
                .and_then(|()| child.wait())
                .with_context(|| format!("`{line}` cannot be stopped"))?;
            bail!("`{line}` was stopped: it ran longer than {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// The command as one would type it, so that an error can be repeated by hand.
pub(crate) fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), quoted(&value?.to_string_lossy())))
    });
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .map(|word| quoted(&word));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["doc", "it's fine"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), r"RUSTDOCFLAGS='-D warnings' cargo doc 'it'\''s fine'");
    }

    #[test]
    fn a_failing_command_is_named_with_its_complaint() {
        let error = capture(Command::new("sh").args(["-c", "echo no such luck >&2; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("exit 3") && text.contains("no such luck"), "{text}");
    }

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let error = finish_within(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    #[test]
    fn a_program_that_ends_in_time_gives_its_status() {
        let ends =
            |program: &str| finish_within(&mut Command::new(program), Duration::from_secs(10)).unwrap();
        assert!(ends("true").success() && !ends("false").success());
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }
}
