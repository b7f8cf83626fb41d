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

impl Host {
    /// Where the program keeps its configuration on this platform.
    pub(super) fn find(name: HostName) -> anyhow::Result<Self> {
        let dirs = BaseDirs::new().context("this account has no home directory")?;
        let own = |variable_name: &str, usual: PathBuf| variable(variable_name).map_or(usual, PathBuf::from);
        let (home, config) = (dirs.home_dir().to_owned(), dirs.config_dir().to_owned());
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
        Ok(Self { title, word, file, format })
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
