//! One entry in a TOML file; comments and everything else stay as they are.

use anyhow::Context as _;
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::host::Entry;

const KEY: &str = "mcp_servers";

/// The entry of this name, as JSON would have it.
pub(super) fn read(text: &str, name: &str) -> anyhow::Result<Option<Value>> {
    let document = parse(text)?;
    let Some(entry) = document.get(KEY).and_then(|entries| entries.get(name)) else { return Ok(None) };
    let args = entry.get("args").and_then(Item::as_array);
    let args: Vec<&str> = args.into_iter().flatten().filter_map(toml_edit::Value::as_str).collect();
    Ok(Some(json!({ "command": entry.get("command").and_then(Item::as_str), "args": args })))
}

/// The text with the entry set, or without it.
pub(super) fn edit(text: &str, name: &str, entry: Option<&Entry>) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let Some(entry) = entry else {
        if let Some(entries) = document.get_mut(KEY).and_then(Item::as_table_like_mut) {
            entries.remove(name);
        }
        return Ok(document.to_string());
    };
    let mut fresh = Table::new();
    fresh.insert("command", value(entry.command.as_str()));
    fresh.insert("args", value(entry.args.iter().map(String::as_str).collect::<Array>()));
    let entries = document.entry(KEY).or_insert_with(|| {
        let mut entries = Table::new();
        // Only the entries have headings.
        entries.set_implicit(true);
        Item::Table(entries)
    });
    let entries = entries.as_table_like_mut().with_context(|| format!("`{KEY}` is not a table"))?;
    match entries.get_mut(name).and_then(Item::as_table_like_mut) {
        // What else stands in the entry stays there.
        Some(known) => {
            for (key, item) in fresh {
                known.insert(&key, item);
            }
        }
        None => {
            entries.insert(name, Item::Table(fresh));
        }
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> anyhow::Result<DocumentMut> {
    text.parse().context("it is not valid TOML")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_joins_the_others_and_leaves_again() {
        let entry = Entry { command: "/bin/pdpp".to_owned(), args: vec!["mcp".to_owned()] };
        let before = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.a]\ncommand = \"a\"\n";
        let after = edit(before, "pdpp", Some(&entry)).unwrap();
        assert!(after.starts_with(before) && after.contains("[mcp_servers.pdpp]"), "{after}");
        assert_eq!(read(&after, "pdpp").unwrap(), Some(json!({"command": "/bin/pdpp", "args": ["mcp"]})));
        assert_eq!(edit(&after, "pdpp", Some(&entry)).unwrap(), after, "twice is once");
        assert_eq!(edit(&after, "pdpp", None).unwrap(), before);
        assert!(edit("", "pdpp", Some(&entry)).unwrap().starts_with("[mcp_servers.pdpp]"));
        assert!(edit("[[", "pdpp", Some(&entry)).is_err());
        assert!(edit("mcp_servers = 1", "pdpp", Some(&entry)).is_err());
    }
}
