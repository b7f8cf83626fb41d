//! Runs other programs, with errors that name the whole command.

use std::ffi::OsStr;
use std::process::Command;

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
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }
}
