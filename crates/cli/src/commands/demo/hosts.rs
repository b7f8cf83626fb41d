//! What to paste into each assistant's program.

use std::path::Path;

use serde_json::json;

use crate::screen::{bold, quoted};
use crate::terminal::{self, safe};

/// The name the entry gets in the assistant's settings.
const NAME: &str = "pdpp-demo";

/// Prints, host by host, what makes it start the adapter under these grants.
pub(super) fn print(data: &str, grants: &[&str]) -> anyhow::Result<()> {
    let program = whole_program();
    let mut arguments = vec!["mcp", "--data", data];
    for grant in grants {
        arguments.extend(["--grant", grant]);
    }
    let words: Vec<String> =
        std::iter::once(program.as_str()).chain(arguments.iter().copied()).map(quoted).collect();
    let command = words.join(" ");
    let server = json!({"command": program, "args": arguments});
    let settings = json!({"mcpServers": {NAME: server}});
    let named = json!({"name": NAME, "command": program, "args": arguments});
    for (host, place, paste) in [
        ("Claude Code", "in a shell", format!("claude mcp add {NAME} -- {command}")),
        ("Codex", "in a shell", format!("codex mcp add {NAME} -- {command}")),
        ("VS Code", "in a shell", format!("code --add-mcp {}", quoted(&named.to_string()))),
        (
            "Claude Desktop",
            "claude_desktop_config.json, by Settings, Developer, Edit Config",
            settings.to_string(),
        ),
        ("Cursor", "~/.cursor/mcp.json", settings.to_string()),
    ] {
        terminal::verbatim(&format!("   {} ({place})", bold(host)))?;
        terminal::verbatim(&format!("     {}", safe(&paste)))?;
    }
    let named: Vec<String> = grants.iter().map(|grant| format!("--grant {grant}")).collect();
    terminal::verbatim(&format!(
        "   {} writes it for you, and --remove takes it out again:",
        bold("pdpp setup")
    ))?;
    let setup = format!("{} setup claude-code --data {}", quoted(&program_name()), quoted(data));
    terminal::line(&format!("     {setup} {} --name {NAME}", named.join(" ")))?;
    terminal::line("   Then ask: “Who has our spare key?” or “What did the boiler cost?”")?;
    Ok(())
}

/// How this program is called here: by name where the shell would find it, else by its path.
pub(super) fn program_name() -> String {
    let whole = whole_program();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("pdpp")).find(|file| file.is_file());
    match found {
        Some(file) if file == Path::new(&whole) => "pdpp".to_owned(),
        _ => whole,
    }
}

/// The whole path: an assistant started from the desktop knows nothing of the shell's.
fn whole_program() -> String {
    std::env::current_exe().map_or_else(|_| "pdpp".to_owned(), |path| path.display().to_string())
}
