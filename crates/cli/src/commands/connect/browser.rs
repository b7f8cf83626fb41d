//! The owner's browser: whether there is one here, and how it is opened.

use std::process::{Command, Stdio};

use crate::credential::variable;

/// Whether this session can show a browser.
pub(super) fn is_here() -> bool {
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        return variable("SSH_CONNECTION").is_none();
    }
    variable("DISPLAY").is_some() || variable("WAYLAND_DISPLAY").is_some()
}

/// Opens an address; false when there is nothing to open it with. The address goes as one argument, through no shell.
pub(super) fn open(address: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
