//! The messages of one conversation as the tree they form.
//!
//! The export maps ids to nodes that name their parent and their children. Both may be wrong: a parent may be missing
//! and a chain may lead back to itself. Every node is visited exactly once, whatever they say, without recursion.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::members::{list, text};

/// A message with its place in the tree. Nodes that are not kept are left out of every count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed<'a> {
    /// The id of its node.
    pub(super) id: &'a str,
    /// What the node holds.
    pub(super) message: &'a Value,
    /// The node of the message it answers.
    pub(super) parent: Option<&'a str>,
    /// How many messages come before it on its branch.
    pub(super) depth: u64,
    /// Which of the messages at this point it is, and how many there are.
    pub(super) branch: (usize, usize),
    /// Whether the conversation as it is shown leads through it; unknown without a current node.
    pub(super) on_current_path: Option<bool>,
}

/// A conversation's messages, each after its parent.
#[derive(Debug)]
pub(super) struct MessageTree<'a> {
    pub(super) placed: Vec<Placed<'a>>,
    /// Whether some chain of parents led back to itself and was cut.
    pub(super) had_cycle: bool,
}

/// Where a node stands in the walk: itself, the last kept message above it, and its depth.
type Step = (usize, Option<usize>, u64);

/// Arranges the nodes of a mapping. `keep` says which messages count.
pub(super) fn arrange<'a>(
    mapping: &'a Map<String, Value>,
    current: Option<&str>,
    keep: impl Fn(&Value) -> bool,
) -> MessageTree<'a> {
    let ids: Vec<&str> = mapping.keys().map(String::as_str).collect();
    let links = Links::of(mapping);
    let current_path = current.and_then(|current| links.path_to(current));
    let children = links.children();
    let mut seen = vec![false; ids.len()];
    // For each kept message: its node, the kept message above it, its depth.
    let mut kept: Vec<Step> = Vec::new();
    let roots = (0..ids.len()).filter(|node| links.parents[*node].is_none());
    let mut had_cycle = false;
    // Whatever no root leads to lies on a circle, which is entered at its first node.
    for (start, is_root) in roots.map(|node| (node, true)).chain((0..ids.len()).map(|node| (node, false))) {
        if seen[start] {
            continue;
        }
        had_cycle |= !is_root;
        let mut steps: Vec<Step> = vec![(start, None, 0)];
        while let Some((node, above, depth)) = steps.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            let (above, depth) = match mapping[ids[node]].get("message") {
                Some(message) if message.is_object() && keep(message) => {
                    kept.push((node, above, depth));
                    (Some(kept.len() - 1), depth + 1)
                }
                _ => (above, depth),
            };
            steps.extend(children[node].iter().rev().map(|child| (*child, above, depth)));
        }
    }
    let mut siblings: HashMap<Option<usize>, usize> = HashMap::new();
    let positions: Vec<usize> = kept
        .iter()
        .map(|(_, above, _)| {
            let count = siblings.entry(*above).or_default();
            *count += 1;
            *count - 1
        })
        .collect();
    let place = |(&(node, above, depth), position): (&Step, usize)| Placed {
        id: ids[node],
        message: &mapping[ids[node]]["message"],
        parent: above.map(|above| ids[kept[above].0]),
        depth,
        branch: (position, siblings[&above]),
        on_current_path: current_path.as_ref().map(|path| path[node]),
    };
    MessageTree { placed: kept.iter().zip(positions).map(place).collect(), had_cycle }
}

/// Who comes below whom.
struct Links<'a> {
    numbers: HashMap<&'a str, usize>,
    parents: Vec<Option<usize>>,
    /// The place of each node among its parent's children; last if the parent does not list it.
    ranks: Vec<usize>,
}

impl<'a> Links<'a> {
    fn of(mapping: &'a Map<String, Value>) -> Self {
        let numbers: HashMap<&str, usize> =
            mapping.keys().enumerate().map(|(number, id)| (id.as_str(), number)).collect();
        let mut parents: Vec<Option<usize>> = mapping
            .values()
            .enumerate()
            .map(|(number, node)| {
                numbers.get(text(node, "parent")?).copied().filter(|parent| *parent != number)
            })
            .collect();
        let mut ranks = vec![usize::MAX; parents.len()];
        for (number, node) in mapping.values().enumerate() {
            for (rank, child) in list(node, "children").iter().enumerate() {
                let Some(&child) = child.as_str().and_then(|id| numbers.get(id)) else { continue };
                // A node that names no parent belongs to the one that names it.
                if parents[child].is_none() && child != number {
                    parents[child] = Some(number);
                }
                if parents[child] == Some(number) {
                    ranks[child] = ranks[child].min(rank);
                }
            }
        }
        Self { numbers, parents, ranks }
    }

    fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.parents.len()];
        for (node, parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(node);
            }
        }
        for list in &mut children {
            list.sort_by_key(|node| self.ranks[*node]);
        }
        children
    }

    /// The nodes from the beginning to one of them.
    fn path_to(&self, id: &str) -> Option<Vec<bool>> {
        let mut path = vec![false; self.parents.len()];
        let mut next = Some(*self.numbers.get(id)?);
        while let Some(node) = next {
            if std::mem::replace(&mut path[node], true) {
                break;
            }
            next = self.parents[node];
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mapping: &Value, current: Option<&str>, expected: Expect) {
        let tree = arrange(mapping.as_object().unwrap(), current, |message| message["keep"] != json!(false));
        let mut told = String::new();
        for Placed { id, parent, depth, branch: (nth, of), on_current_path, .. } in &tree.placed {
            let current = if *on_current_path == Some(true) { " current" } else { "" };
            writeln!(told, "{id} after {} depth {depth} {nth}/{of}{current}", parent.unwrap_or("-")).unwrap();
        }
        if tree.had_cycle {
            told.push_str("a cycle\n");
        }
        expected.assert_eq(&told);
    }

    fn node(parent: Option<&str>, children: &[&str]) -> Value {
        json!({"parent": parent, "children": children, "message": {}})
    }

    #[test]
    fn branches_follow_their_parent_in_the_order_it_lists_them() {
        let mapping = json!({
            "root": {"parent": null, "children": ["s"], "message": null},
            "s": {"parent": "root", "children": ["b", "a"], "message": {"keep": false}},
            "a": node(Some("s"), &["c"]),
            "b": node(Some("s"), &[]),
            "c": node(Some("a"), &[]),
        });
        check(
            &mapping,
            Some("c"),
            expect![[r"
                b after - depth 0 0/2
                a after - depth 0 1/2 current
                c after a depth 1 0/1 current
            "]],
        );
    }

    #[test]
    fn a_missing_parent_makes_a_beginning_and_a_listed_child_needs_no_parent() {
        let mapping = json!({
            "x": node(Some("gone"), &["y", "x", "nowhere"]),
            "y": {"children": [], "message": {}},
            "z": {"parent": 7, "message": {}},
            "q": "not a node",
        });
        check(
            &mapping,
            None,
            expect![[r"
                x after - depth 0 0/2
                y after x depth 1 0/1
                z after - depth 0 1/2
            "]],
        );
    }

    #[test]
    fn a_circle_is_cut_and_each_message_comes_once() {
        let mapping = json!({
            "a": node(Some("c"), &["b"]), "b": node(Some("a"), &["c"]), "c": node(Some("b"), &["a"]),
            "self": node(Some("self"), &["self"]),
        });
        check(
            &mapping,
            Some("b"),
            expect![[r"
                self after - depth 0 0/2
                a after - depth 0 1/2 current
                b after a depth 1 0/1 current
                c after b depth 2 0/1 current
                a cycle
            "]],
        );
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_walked_without_recursion() {
        let mut mapping = Map::new();
        for n in 0..100_000_u32 {
            let parent = n.checked_sub(1).map(|above| above.to_string());
            mapping.insert(n.to_string(), json!({"parent": parent, "message": {}}));
        }
        let tree = arrange(&mapping, Some("99999"), |_| true);
        assert_eq!(tree.placed.len(), 100_000);
        assert_eq!(tree.placed.last().map(|last| last.depth), Some(99_999));
    }
}
