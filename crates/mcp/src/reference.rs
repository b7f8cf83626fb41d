//! The tools as a page of the reference, from the table that makes them.

use std::fmt::Write as _;

use crate::ToolSet;
use crate::instructions::instructions;
use crate::params::Param;
use crate::tools::{Effect, TABLE};

/// A Markdown page: every tool as an assistant sees it.
pub fn reference() -> String {
    let mut page = String::from(
        "# MCP tools\n\nGenerated from the table that `tools/list` is made of. With `--tools read` only the tools marked \
         *small set* are listed. Every tool is answered in text and, with the same facts, in `structuredContent`; \
         errors too.\n\n| Tool | Effect | Small set |\n| --- | --- | --- |\n",
    );
    for spec in TABLE {
        let small = if spec.in_read_set { "yes" } else { "" };
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} | {small} |", spec.name, effect(spec.effect));
    }
    for spec in TABLE {
        let _ = writeln!(page, "\n## {}\n\n{}\n", spec.name, spec.description);
        if spec.params.is_empty() {
            page.push_str("No arguments.\n");
            continue;
        }
        page.push_str("| Argument | Type | |\n| --- | --- | --- |\n");
        for param in spec.params {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                param.name,
                kind(param),
                param.description.replace('|', "\\|")
            );
        }
    }
    let _ = writeln!(
        page,
        "\n## Instructions\n\nWhat a host shows its model once:\n\n> {}",
        instructions(ToolSet::All)
    );
    page
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "reads",
        Effect::Changes => "changes",
        Effect::Destroys => "destroys",
    }
}

fn kind(param: &Param) -> String {
    let schema = param.schema();
    let mut text = match schema.get("enum") {
        Some(words) => words
            .as_array()
            .into_iter()
            .flatten()
            .map(|word| format!("`{}`", word.as_str().unwrap_or("")))
            .collect::<Vec<_>>()
            .join(", "),
        None => schema.get("type").and_then(serde_json::Value::as_str).unwrap_or("value").to_owned(),
    };
    if let (Some(min), Some(max)) = (schema.get("minimum"), schema.get("maximum")) {
        let _ = write!(text, " {min}–{max}");
    }
    if param.required {
        text.push_str(", required");
    }
    text
}
