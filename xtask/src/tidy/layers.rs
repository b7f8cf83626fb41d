//! The dependency rule: arrows point towards meaning, away from machinery.
//!
//! | Layer | May name | Never names |
//! |---|---|---|
//! | meaning | `wire` and pure libraries; `access` also `evidence` | runtimes, servers, clients, databases |
//! | ports | meaning; `client`, `egress` and `objects` also hyper and rustls | each other, databases, axum |
//! | adapters | meaning and ports | one another, except `web` → `auth` |
//! | assembly | everything below | – |
//!
//! Development dependencies are free, because they do not ship; `testkit` may be nothing else.

use crate::tidy::Complaint;
use crate::tidy::graph::Graph;

/// Which floor of the house a crate is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Meaning,
    Port,
    Adapter,
    Assembly,
    Testkit,
}

/// Every crate of the map, whether its first code has arrived or not.
fn layer_of(folder: &str) -> Option<Layer> {
    Some(match folder {
        "wire" | "evidence" | "access" => Layer::Meaning,
        "store" | "client" | "egress" | "objects" => Layer::Port,
        "store-sqlite" | "store-postgres" | "search" | "import" | "mcp" | "auth" | "api" | "web"
        | "events" => Layer::Adapter,
        "server" | "cli" => Layer::Assembly,
        "testkit" => Layer::Testkit,
        _ => return None,
    })
}

/// Families of packages: a name stands for itself and for everything that extends it with a dash.
const DATABASES: [&str; 6] =
    ["rusqlite", "libsqlite3-sys", "sqlx", "tokio-postgres", "postgres", "deadpool-postgres"];
const MACHINERY: [&str; 5] = ["tokio", "axum", "hyper", "reqwest", "rmcp"];

/// Whether the product has, or will have, a crate of this name.
pub(super) fn is_known(package: &str) -> bool {
    package.strip_prefix("pdpp-").is_some_and(|folder| layer_of(folder).is_some())
}

pub(super) fn check(graph: &Graph) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (package, member) in graph.members() {
        let mut complain = |message: String| complaints.push(Complaint::error(&member.manifest, 1, message));
        let Some(folder) = package.strip_prefix("pdpp-") else {
            for name in member.names.iter().filter(|name| name.starts_with("pdpp-")) {
                complain(format!("`{package}` is no part of the product and must not name `{name}`"));
            }
            continue;
        };
        let Some(layer) = layer_of(folder) else {
            complain(format!(
                "`{package}` has no layer: add it to the table in xtask/src/tidy/layers.rs and to ARCHITECTURE.md"
            ));
            continue;
        };
        for name in &member.names {
            let refusal = match name.strip_prefix("pdpp-") {
                Some(other) => refuse_ours(folder, layer, other),
                None => refuse_foreign(folder, layer, name),
            };
            if let Some(reason) = refusal {
                complain(format!("`{package}` names `{name}`: {reason}"));
            }
        }
    }
    complaints
}

/// Why one of our crates may not name another, if it may not.
fn refuse_ours(folder: &str, layer: Layer, other: &str) -> Option<&'static str> {
    match other {
        "testkit" => return Some("testkit may only be a development dependency"),
        "cli" => return Some("nothing depends on `pdpp-cli`"),
        "server" if folder != "cli" => return Some("nothing but `pdpp-cli` depends on `pdpp-server`"),
        _ => {}
    }
    // Left for `check` to report once, where the crate itself is listed.
    let other_layer = layer_of(other)?;
    match layer {
        Layer::Meaning if other == "wire" || (folder == "access" && other == "evidence") => None,
        Layer::Meaning => {
            Some("meaning names `pdpp-wire` and pure libraries; `pdpp-access` also `pdpp-evidence`")
        }
        Layer::Port if other_layer == Layer::Meaning => None,
        Layer::Port => Some("a port names meaning only, never another port or an adapter"),
        Layer::Adapter if folder == "mcp" && !["wire", "evidence", "client"].contains(&other) => Some(
            "the MCP adapter has no authority: it names `pdpp-wire`, `pdpp-evidence` and `pdpp-client` only",
        ),
        Layer::Adapter if folder == "web" && other == "auth" => None,
        Layer::Adapter if matches!(other_layer, Layer::Meaning | Layer::Port) => None,
        Layer::Adapter => Some("an adapter names meaning and ports, never another adapter"),
        Layer::Assembly | Layer::Testkit => None,
    }
}

/// Why one of our crates may not name a published package, if it may not.
fn refuse_foreign(folder: &str, layer: Layer, name: &str) -> Option<&'static str> {
    if is_one_of(name, &DATABASES) && !["store-sqlite", "store-postgres"].contains(&folder) {
        return Some("only `pdpp-store-sqlite` and `pdpp-store-postgres` know SQL");
    }
    if is_one_of(name, &["rmcp"]) && folder != "mcp" {
        return Some("only `pdpp-mcp` knows rmcp");
    }
    if is_one_of(name, &["object_store"]) && folder != "objects" {
        return Some("only `pdpp-objects` knows object_store");
    }
    match layer {
        Layer::Meaning if is_one_of(name, &MACHINERY) => Some("meaning does no I/O"),
        Layer::Port if is_one_of(name, &["axum"]) => Some("a port knows no web framework"),
        Layer::Port
            if !["client", "egress", "objects"].contains(&folder)
                && is_one_of(name, &["reqwest", "tower", "hyper"]) =>
        {
            Some("only `pdpp-client`, `pdpp-egress` and `pdpp-objects` among the ports speak HTTP")
        }
        _ => None,
    }
}

fn is_one_of(name: &str, families: &[&str]) -> bool {
    families
        .iter()
        .any(|family| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(package: &str, dependency: &str, reason: &str) {
        let complaints = check(&Graph::of_members(&[(package, &[dependency])]));
        let found: Vec<_> = complaints.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].contains(reason), "{package} → {dependency}: {found:?}");
    }

    #[track_caller]
    fn allowed(package: &str, dependencies: &[&str]) {
        assert_eq!(check(&Graph::of_members(&[(package, dependencies)])), []);
    }

    #[test]
    fn meaning_does_no_io() {
        refused("pdpp-wire", "tokio", "no I/O");
        refused("pdpp-evidence", "axum-core", "no I/O");
        refused("pdpp-access", "rusqlite", "know SQL");
        refused("pdpp-evidence", "pdpp-access", "pure libraries");
        refused("pdpp-wire", "pdpp-evidence", "pure libraries");
        allowed("pdpp-access", &["pdpp-wire", "pdpp-evidence", "serde", "jiff"]);
    }

    #[test]
    fn ports_know_meaning_and_not_each_other() {
        refused("pdpp-store", "pdpp-client", "never another port");
        refused("pdpp-store", "reqwest", "among the ports");
        refused("pdpp-client", "axum", "web framework");
        refused("pdpp-store", "pdpp-search", "never another port or an adapter");
        allowed("pdpp-client", &["pdpp-wire", "hyper-util", "hyper-rustls", "rustls", "tower"]);
        refused("pdpp-egress", "pdpp-client", "never another port");
        refused("pdpp-egress", "axum", "web framework");
        allowed("pdpp-egress", &["pdpp-access", "pdpp-wire", "hyper", "hyper-util", "rustls"]);
        allowed("pdpp-store", &["pdpp-access", "async-trait"]);
        refused("pdpp-objects", "pdpp-store", "never another port");
        refused("pdpp-objects", "axum", "web framework");
        allowed("pdpp-objects", &["pdpp-access", "pdpp-wire", "hyper", "hyper-rustls", "object_store"]);
    }

    #[test]
    fn adapters_do_not_know_each_other() {
        refused("pdpp-api", "pdpp-store-sqlite", "never another adapter");
        refused("pdpp-search", "pdpp-api", "never another adapter");
        allowed("pdpp-web", &["pdpp-auth", "pdpp-store"]);
        refused("pdpp-auth", "pdpp-web", "never another adapter");
    }

    #[test]
    fn only_the_stores_know_sql() {
        refused("pdpp-server", "rusqlite", "know SQL");
        refused("pdpp-cli", "tokio-postgres", "know SQL");
        allowed("pdpp-store-sqlite", &["rusqlite", "pdpp-store"]);
    }

    #[test]
    fn only_the_objects_know_their_library() {
        refused("pdpp-store-sqlite", "object_store", "knows object_store");
        allowed("pdpp-store-postgres", &["pdpp-objects"]);
    }

    #[test]
    fn only_the_mcp_adapter_knows_rmcp_and_it_has_no_authority() {
        refused("pdpp-server", "rmcp", "knows rmcp");
        refused("pdpp-mcp", "pdpp-store", "no authority");
        refused("pdpp-mcp", "pdpp-access", "no authority");
        allowed("pdpp-mcp", &["rmcp", "pdpp-client", "pdpp-evidence", "pdpp-wire"]);
    }

    #[test]
    fn nothing_depends_on_the_assembly() {
        refused("pdpp-api", "pdpp-server", "nothing but");
        refused("pdpp-server", "pdpp-cli", "nothing depends on");
        refused("pdpp-testkit", "pdpp-server", "nothing but");
        allowed("pdpp-cli", &["pdpp-server", "pdpp-import"]);
    }

    #[test]
    fn testkit_does_not_ship() {
        refused("pdpp-server", "pdpp-testkit", "development dependency");
        allowed("pdpp-testkit", &["pdpp-store-sqlite", "pdpp-api"]);
    }

    #[test]
    fn a_crate_outside_the_map_is_refused() {
        let complaints = check(&Graph::of_members(&[("pdpp-utils", &[])]));
        assert!(complaints[0].message.contains("has no layer"), "{complaints:?}");
    }

    #[test]
    fn tasks_stay_outside_the_product() {
        refused("xtask", "pdpp-cli", "no part of the product");
        allowed("xtask", &["clap"]);
    }
}
