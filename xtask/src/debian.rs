//! Installs Debian packages that a task cannot do without, when whoever runs it may do so.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// Installs packages by name, if this is the root of a Debian system; says what is missing otherwise.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let root = process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let debian = process::capture(Command::new("apt-get").arg("--version")).is_ok();
    if !root || !debian {
        bail!("install {} (the names of the Debian packages), then run this again", packages.join(" and "));
    }
    println!("installing the Debian packages {}", packages.join(" "));
    process::run(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    process::run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}
