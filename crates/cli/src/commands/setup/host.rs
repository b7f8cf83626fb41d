//! The programs assistants run in: where each keeps its configuration, and how an entry looks there.

use std::path::PathBuf;

use anyhow::Context as _;
use directories::BaseDirs;
use serde_json::{Value, json};

use super::{HostName, json_text, toml_text};
use crate::credential::variable;

/// One program.
#[derive(Debug)]
pub(super) struct Host {
    /// As its makers write it.
    pub(super) title: &'static str,
    /// As it is typed.
    pub(super) word: &'static str,
    /// Its configuration.
    pub(super) file: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// JSON with the entries under this key; whether an entry names its transport.
    Json(&'static str, bool),
    Toml,
}

/// What a host is told to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

impl Entry {
    /// An entry for trying out whether a file can be edited.
    pub(super) fn example() -> Self {
        Self { command: "pdpp".to_owned(), args: Vec::new() }
    }

    /// The grants it reads under.
    pub(super) fn grants(&self) -> Vec<&str> {
        let named = |pair: &[String]| pair[0] == "--grant";
        self.args.windows(2).filter(|pair| named(pair)).map(|pair| pair[1].as_str()).collect()
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let args = value.get("args").and_then(Value::as_array);
        Some(Self {
            command: text(value.get("command")?)?,
            args: args.into_iter().flatten().map(text).collect::<Option<_>>()?,
        })
    }
}

/// Where an account keeps things.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    home: PathBuf,
    config: PathBuf,
}

impl Places {
    /// What the environment says, on each system in its own way.
    fn of(os: &str, said: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let path = |name: &str| said(name).map(PathBuf::from);
        let home = path(if os == "windows" { "USERPROFILE" } else { "HOME" })?;
        let config = match os {
            "windows" => path("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
            "macos" => home.join("Library").join("Application Support"),
            _ => path("XDG_CONFIG_HOME")
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(".config")),
        };
        Some(Self { home, config })
    }

    /// An account whose environment says nothing may still have a home.
    fn said_by_the_system() -> Option<Self> {
        let dirs = BaseDirs::new()?;
        Some(Self { home: dirs.home_dir().to_owned(), config: dirs.config_dir().to_owned() })
    }
}

impl Host {
    /// Where the program keeps its configuration on this platform.
    pub(super) fn find(name: HostName) -> anyhow::Result<Self> {
        let places = Places::of(std::env::consts::OS, variable).or_else(Places::said_by_the_system);
        Ok(Self::at(name, places.context("this account has no home directory")?, variable))
    }

    /// The same for any account: where it keeps things, and what its environment says.
    fn at(name: HostName, places: Places, said: impl Fn(&str) -> Option<String>) -> Self {
        let own = |variable_name: &str, usual: PathBuf| said(variable_name).map_or(usual, PathBuf::from);
        let Places { home, config } = places;
        let (title, word, file, format) = match name {
            HostName::ClaudeCode => {
                let file = own("CLAUDE_CONFIG_DIR", home).join(".claude.json");
                ("Claude Code", "claude-code", file, Format::Json("mcpServers", true))
            }
            HostName::ClaudeDesktop => {
                let file = config.join("Claude").join("claude_desktop_config.json");
                ("Claude Desktop", "claude-desktop", file, Format::Json("mcpServers", false))
            }
            HostName::Codex => {
                let file = own("CODEX_HOME", home.join(".codex")).join("config.toml");
                ("Codex", "codex", file, Format::Toml)
            }
            HostName::Cursor => {
                let file = home.join(".cursor").join("mcp.json");
                ("Cursor", "cursor", file, Format::Json("mcpServers", false))
            }
            HostName::Vscode => {
                let file = config.join("Code").join("User").join("mcp.json");
                ("VS Code", "vscode", file, Format::Json("servers", true))
            }
        };
        Self { title, word, file, format }
    }

    /// The text with the entry in it, or without it. Everything else stays byte for byte.
    pub(super) fn edit(
        &self,
        text: Option<&str>,
        name: &str,
        entry: Option<&Entry>,
    ) -> anyhow::Result<String> {
        let edited = match self.format {
            Format::Json(key, typed) => {
                let value = entry.map(|entry| {
                    let mut value = json!({ "command": entry.command, "args": entry.args });
                    if typed {
                        value = json!({ "type": "stdio", "command": entry.command, "args": entry.args });
                    }
                    value
                });
                json_text::edit(text.unwrap_or_default(), key, name, value.as_ref())
            }
            Format::Toml => toml_text::edit(text.unwrap_or_default(), name, entry),
        };
        edited
            .with_context(|| format!("{} cannot be changed safely; nothing was written", self.file.display()))
    }

    /// The entry in the text.
    pub(super) fn entry(&self, text: &str, name: &str) -> anyhow::Result<Option<Entry>> {
        let found = match self.format {
            Format::Json(key, _) => json_text::read(text, key, name),
            Format::Toml => toml_text::read(text, name),
        };
        let found = found.with_context(|| format!("{} cannot be read", self.file.display()))?;
        Ok(found.as_ref().and_then(Entry::read))
    }
}

#[cfg(test)]
mod tests {
    use HostName::{ClaudeCode, ClaudeDesktop, Codex, Cursor, Vscode};

    use super::*;

    /// Where each program looks, given a system and its variables.
    fn files(os: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let said =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        let file = |name: HostName| {
            let host = Host::at(name, Places::of(os, said).unwrap(), said);
            host.file.to_string_lossy().replace('\\', "/")
        };
        [ClaudeCode, ClaudeDesktop, Codex, Cursor, Vscode].map(file).to_vec()
    }

    #[test]
    fn each_system_keeps_configuration_in_its_own_place() {
        let linux = [
            "/srv/ana/.claude.json",
            "/srv/ana/.config/Claude/claude_desktop_config.json",
            "/srv/ana/.codex/config.toml",
            "/srv/ana/.cursor/mcp.json",
            "/srv/ana/.config/Code/User/mcp.json",
        ];
        assert_eq!(files("linux", &[("HOME", "/srv/ana")]), linux);
        let macos = [
            "/mac/ana/.claude.json",
            "/mac/ana/Library/Application Support/Claude/claude_desktop_config.json",
            "/mac/ana/.codex/config.toml",
            "/mac/ana/.cursor/mcp.json",
            "/mac/ana/Library/Application Support/Code/User/mcp.json",
        ];
        assert_eq!(files("macos", &[("HOME", "/mac/ana"), ("XDG_CONFIG_HOME", "/elsewhere")]), macos);
        let windows = [
            "C:/People/ana/.claude.json",
            "D:/Roaming/Claude/claude_desktop_config.json",
            "C:/People/ana/.codex/config.toml",
            "C:/People/ana/.cursor/mcp.json",
            "D:/Roaming/Code/User/mcp.json",
        ];
        let variables = [("USERPROFILE", r"C:\People\ana"), ("APPDATA", r"D:\Roaming"), ("HOME", "/c/ana")];
        assert_eq!(files("windows", &variables), windows);
    }

    #[test]
    fn what_the_environment_says_goes_first() {
        let variables = [
            ("HOME", "/srv/ana"),
            ("XDG_CONFIG_HOME", "/srv/ana/settings"),
            ("CLAUDE_CONFIG_DIR", "/srv/claude"),
            ("CODEX_HOME", "/srv/codex"),
        ];
        let found = files("linux", &variables);
        assert_eq!(found[0], "/srv/claude/.claude.json");
        assert_eq!(found[1], "/srv/ana/settings/Claude/claude_desktop_config.json");
        assert_eq!(found[2], "/srv/codex/config.toml");
        assert_eq!(Places::of("linux", |name| (name == "XDG_CONFIG_HOME").then(|| "x".to_owned())), None);
        let relative = [("HOME", "/srv/ana"), ("XDG_CONFIG_HOME", "settings")];
        assert_eq!(files("linux", &relative)[4], "/srv/ana/.config/Code/User/mcp.json");
        let bare = files("windows", &[("USERPROFILE", "C:/People/ana")]);
        assert_eq!(bare[1], "C:/People/ana/AppData/Roaming/Claude/claude_desktop_config.json");
    }
}
