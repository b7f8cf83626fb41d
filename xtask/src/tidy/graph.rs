//! What depends on what, as `cargo metadata` tells it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;
use crate::workspace::Workspace;

/// The dependencies that ship: development dependencies are left out, except where a member names them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    members: BTreeMap<String, Member>,
    /// Package name to the names of the packages it links, for every package of the tree.
    links: BTreeMap<String, BTreeSet<String>>,
}

/// One crate of this workspace, and the packages its manifest names.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub(super) manifest: String,
    /// Normal and build dependencies.
    pub(super) names: BTreeSet<String>,
}

impl Graph {
    pub(super) fn of(workspace: &Workspace) -> Result<Self> {
        let text = process::capture(&mut workspace.cargo(["metadata", "--format-version", "1", "--locked"]))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let metadata: Metadata =
            serde_json::from_str(text).context("`cargo metadata` has an unknown shape")?;
        let names: BTreeMap<_, _> =
            metadata.packages.iter().map(|p| (p.id.as_str(), p.name.as_str())).collect();
        let mut graph = Self::default();
        for package in &metadata.packages {
            if metadata.workspace_members.contains(&package.id) {
                graph.members.insert(package.name.clone(), member(package, &metadata.workspace_root));
            }
        }
        for node in &metadata.resolve.nodes {
            let ships =
                |dep: &&NodeDependency| dep.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
            let linked = node.deps.iter().filter(ships).filter_map(|dep| names.get(dep.pkg.as_str()));
            if let Some(name) = names.get(node.id.as_str()) {
                let linked = linked.map(|name| (*name).to_owned());
                graph.links.entry((*name).to_owned()).or_default().extend(linked);
            }
        }
        Ok(graph)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Member)> {
        self.members.iter().map(|(name, member)| (name.as_str(), member))
    }

    pub(super) fn member(&self, package: &str) -> Option<&Member> {
        self.members.get(package)
    }

    /// Everything linked into `package`, near or far.
    pub(super) fn reach(&self, package: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![package];
        while let Some(next) = open.pop() {
            for name in self.links.get(next).into_iter().flatten() {
                if reached.insert(name.as_str()) {
                    open.push(name);
                }
            }
        }
        reached
    }

    /// A graph of members only, written as `("pdpp-api", &["pdpp-wire", "axum"])`.
    #[cfg(test)]
    pub(super) fn of_members(members: &[(&str, &[&str])]) -> Self {
        let mut graph = Self::default();
        for (name, dependencies) in members {
            let names: BTreeSet<_> = dependencies.iter().map(|name| (*name).to_owned()).collect();
            graph.links.insert((*name).to_owned(), names.clone());
            let folder = name.strip_prefix("pdpp-").unwrap_or(name);
            let manifest = format!("crates/{folder}/Cargo.toml");
            graph.members.insert((*name).to_owned(), Member { manifest, names });
        }
        graph
    }
}

fn member(package: &Package, root: &str) -> Member {
    let shipped = package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    Member {
        manifest: package.manifest_path.trim_start_matches(root).trim_start_matches('/').to_owned(),
        names: shipped.map(|dependency| dependency.name.clone()).collect(),
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    workspace_root: String,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "workspace_root": "/repo",
        "workspace_members": ["a"],
        "packages": [
            {"id": "a", "name": "pdpp-api", "manifest_path": "/repo/crates/api/Cargo.toml", "dependencies": [
                {"name": "axum", "kind": null}, {"name": "cc", "kind": "build"}, {"name": "pdpp-testkit", "kind": "dev"}]},
            {"id": "b", "name": "axum", "manifest_path": "/registry/axum/Cargo.toml", "dependencies": []},
            {"id": "c", "name": "hyper", "manifest_path": "/registry/hyper/Cargo.toml", "dependencies": []}
        ],
        "resolve": {"nodes": [
            {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": null}]}, {"pkg": "c", "dep_kinds": [{"kind": "dev"}]}]},
            {"id": "b", "deps": [{"pkg": "c", "dep_kinds": [{"kind": null}]}]},
            {"id": "c", "deps": []}
        ]}
    }"#;

    #[test]
    fn development_dependencies_are_not_named() {
        let graph = Graph::parse(METADATA).unwrap();
        let member = graph.member("pdpp-api").unwrap();
        assert_eq!(member.manifest, "crates/api/Cargo.toml");
        assert_eq!(member.names.iter().collect::<Vec<_>>(), ["axum", "cc"]);
    }

    #[test]
    fn reach_goes_through_other_packages() {
        let graph = Graph::parse(METADATA).unwrap();
        assert_eq!(graph.reach("pdpp-api").into_iter().collect::<Vec<_>>(), ["axum", "hyper"]);
    }
}
