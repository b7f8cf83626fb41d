//! `pdpp reference DIR`: writes the reference pages from the code that they describe.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use pdpp_api::Caller;
use pdpp_wire::{Code, OAuthCode};
use serde_json::json;

use crate::args::Cli;

/// Write the reference pages (for developers of pdpp)
#[derive(Args, Debug)]
pub(crate) struct ReferenceArgs {
    /// Where to write
    dir: PathBuf,
}

pub(crate) fn run(args: &ReferenceArgs) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.dir)?;
    let openapi = format!("{}\n", serde_json::to_string_pretty(&pdpp_api::openapi())?);
    for (name, text) in [
        ("openapi.json", openapi),
        ("errors.md", errors()),
        ("routes.md", routes()),
        ("settings.md", settings()),
        ("commands.md", commands()),
        ("mcp-tools.md", pdpp_mcp::reference()),
    ] {
        let path = args.dir.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn errors() -> String {
    let mut page = String::from(
        "# Error codes\n\nGenerated from the one table of codes that every surface reads. An error's `type` follows \
         from its status alone. A code without a status stands in the receipt of a single ingest line, or in the result of a tool call.\n\n\
         | Code | Status | Type | When | What to do |\n| --- | --- | --- | --- | --- |\n",
    );
    for code in Code::ALL {
        let status = if code.status() == 0 { "none".to_owned() } else { code.status().to_string() };
        let error_type = if code.status() == 0 { String::new() } else { format!("`{}`", type_name(*code)) };
        let _ =
            writeln!(page, "| `{code}` | {status} | {error_type} | {} | {} |", code.when(), code.advice());
    }
    page.push_str(
        "\n## OAuth codes\n\nWhat `/oauth/*` answers with: `{\"error\", \"error_description\", \"request_id\"}`, or the same \
         members in the query of a redirect.\n\n| Code | Status | When |\n| --- | --- | --- |\n",
    );
    for code in OAuthCode::ALL {
        let _ = writeln!(page, "| `{code}` | {} | {} |", code.status(), code.when());
    }
    page.push_str("\n## Examples\n\nEvery error above 399 has this envelope.\n");
    for code in Code::ALL.iter().filter(|code| code.status() != 0) {
        let example = json!({"error": {
            "type": type_name(*code), "code": code, "message": format!("{} {}", code.when(), code.advice()),
            "request_id": "req_5f1c0a9be2d44e07",
        }});
        let _ = writeln!(page, "\n`{code}`\n\n```json\n{example}\n```");
    }
    page
}

fn type_name(code: Code) -> String {
    json!(code.error_type()).as_str().unwrap_or_default().to_owned()
}

fn routes() -> String {
    let mut page = String::from(
        "# Routes\n\nGenerated from the table the router is made of. Every `GET` also answers `HEAD`. Parameters, \
         bodies and answers are in [openapi.json](openapi.json), which the server serves at `/openapi.json`.\n\n\
         | Method | Path | Caller | What it does | Shown by |\n| --- | --- | --- | --- | --- |\n",
    );
    for route in pdpp_api::routes() {
        let method = route.method.as_str();
        let caller = match route.caller() {
            Caller::Anyone => "anyone",
            Caller::Owner => "owner",
            Caller::OwnerOrClient => "owner or client",
        };
        let _ = writeln!(
            page,
            "| {method} | `{}` | {caller} | {} | `{}` |",
            route.path, route.summary, route.test
        );
    }
    page.push_str(
        "\n## Authorization\n\nWhat stands beside the resource server; [the guide](../guide/authorization.md) shows the \
         flows.\n\n| Method | Path | What it does |\n| --- | --- | --- |\n",
    );
    for endpoint in pdpp_auth::ENDPOINTS {
        let _ = writeln!(page, "| {} | `{}` | {} |", endpoint.method, endpoint.path, endpoint.summary);
    }
    page
}

fn settings() -> String {
    let mut page = String::from(
        "# Settings\n\nGenerated from the flags of `pdpp serve`. Each setting is a flag, a variable, and (all but the \
         data directory) a key of `pdpp.toml` in the data directory. A flag wins over its variable, the variable over \
         the file, the file over the default. An unknown key in the file is an error. Those about whose data is meant and where it is \
         kept (`subject` to `search_cache_bytes`) hold for every local command too.\n\n\
         | Key | Flag | Variable | Meaning |\n| --- | --- | --- | --- |\n",
    );
    let cli = Cli::command();
    let serve = cli.find_subcommand("serve").map(clap::Command::get_arguments);
    for arg in serve.into_iter().flatten() {
        let (Some(long), Some(env)) = (arg.get_long(), arg.get_env()) else { continue };
        let key = if long == "data" { "–".to_owned() } else { format!("`{}`", long.replace('-', "_")) };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "| {key} | `--{long}` | `{}` | {help} |", env.to_string_lossy());
    }
    page
}

fn commands() -> String {
    let mut page = String::from("# Commands\n\nGenerated from the program's own help.\n");
    // Width and environment must not decide what the page says.
    let mut cli = Cli::command().term_width(100).hide_possible_values(false);
    cli.build();
    describe(&mut page, &mut cli, "pdpp");
    page
}

fn describe(page: &mut String, command: &mut clap::Command, name: &str) {
    let help = command.clone().mut_args(|arg| arg.hide_env_values(true)).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for sub in command.get_subcommands_mut() {
        if sub.is_hide_set() || sub.get_name() == "help" {
            continue;
        }
        let name = format!("{name} {}", sub.get_name());
        describe(page, sub, &name);
    }
}
