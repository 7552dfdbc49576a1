//! Which part of the code depends on which: files gathered into nodes, their edges counted, cycles found. Pure.

pub(super) mod draw;
pub(super) mod svg;

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Graph {
    /// The nodes by name.
    pub(super) nodes: Vec<Node>,
    /// The edges, by the names of their ends.
    pub(super) edges: Vec<Edge>,
    /// Nodes that depend on each other in a circle, the largest circle first.
    pub(super) cycles: Vec<Vec<String>>,
}

/// A file, folder or package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    /// Its path.
    pub(super) name: String,
    /// Files in it.
    pub(super) files: usize,
    /// Nodes that depend on it.
    pub(super) fan_in: usize,
    /// Nodes that it depends on.
    pub(super) fan_out: usize,
}

/// A dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Edge {
    /// What depends.
    pub(super) from: String,
    /// What it depends on.
    pub(super) to: String,
    /// How often.
    pub(super) count: u64,
    /// Whether only tests, examples and the like depend on it. Such an edge makes no cycle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) tests: bool,
}

impl Graph {
    /// The graph of files, each gathered into the node that `node_of` names.
    pub(super) fn of(
        files: &[String],
        edges: &[(String, String, u64)],
        node_of: impl Fn(&str) -> String,
        is_for_tests: impl Fn(&str, &str) -> bool,
    ) -> Graph {
        let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
        for file in files {
            *nodes.entry(node_of(file)).or_default() += 1;
        }
        let mut counted: BTreeMap<(String, String), (u64, bool)> = BTreeMap::new();
        for (from, to, count) in edges {
            let is_for_tests = is_for_tests(from, to);
            let (from, to) = (node_of(from), node_of(to));
            if from != to && nodes.contains_key(&from) && nodes.contains_key(&to) {
                let known = counted.entry((from, to)).or_insert((0, true));
                *known = (known.0 + count, known.1 && is_for_tests);
            }
        }
        let edges: Vec<Edge> =
            counted.into_iter().map(|((from, to), (count, tests))| Edge { from, to, count, tests }).collect();
        let (mut fan_in, mut fan_out): (HashMap<&str, usize>, HashMap<&str, usize>) = Default::default();
        for edge in &edges {
            *fan_out.entry(&edge.from).or_default() += 1;
            *fan_in.entry(&edge.to).or_default() += 1;
        }
        let fan = |fan: &HashMap<&str, usize>, name: &str| fan.get(name).copied().unwrap_or_default();
        let nodes: Vec<Node> = nodes
            .iter()
            .map(|(name, files)| Node {
                name: name.clone(),
                files: *files,
                fan_in: fan(&fan_in, name),
                fan_out: fan(&fan_out, name),
            })
            .collect();
        let cycles = cycles(&nodes, &edges);
        Graph { nodes, edges, cycles }
    }

    /// The part of the graph with its most connected nodes. Returns how many nodes were left out.
    pub(super) fn keep(&mut self, most: usize) -> usize {
        if self.nodes.len() <= most {
            return 0;
        }
        let mut order: Vec<&Node> = self.nodes.iter().collect();
        order.sort_by(|a, b| {
            (b.fan_in + b.fan_out).cmp(&(a.fan_in + a.fan_out)).then_with(|| a.name.cmp(&b.name))
        });
        let kept: BTreeSet<String> = order.iter().take(most).map(|node| node.name.clone()).collect();
        let left_out = self.nodes.len() - kept.len();
        self.nodes.retain(|node| kept.contains(&node.name));
        self.edges.retain(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
        left_out
    }

    /// The edges by the places of their ends among the nodes.
    pub(super) fn indexed(&self) -> Vec<(usize, usize)> {
        let places: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(place, node)| (node.name.as_str(), place)).collect();
        let ends = |edge: &Edge| Some((*places.get(edge.from.as_str())?, *places.get(edge.to.as_str())?));
        self.edges.iter().filter_map(ends).collect()
    }

    /// The same without edges of tests.
    pub(super) fn indexed_without_tests(&self) -> Vec<(usize, usize)> {
        let all = self.indexed().into_iter().zip(&self.edges);
        all.filter(|(_, edge)| !edge.tests).map(|(ends, _)| ends).collect()
    }

    /// The component of each node without edges of tests, numbered so that a component depends only on lower ones.
    pub(super) fn components(&self) -> Vec<usize> {
        components(self.nodes.len(), &self.indexed_without_tests())
    }
}

fn cycles(nodes: &[Node], edges: &[Edge]) -> Vec<Vec<String>> {
    let edges = edges.iter().filter(|edge| !edge.tests).cloned().collect();
    let graph = Graph { nodes: nodes.to_vec(), edges, cycles: Vec::new() };
    let mut members: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (node, component) in nodes.iter().zip(graph.components()) {
        members.entry(component).or_default().push(node.name.clone());
    }
    let mut cycles: Vec<Vec<String>> = members.into_values().filter(|names| names.len() > 1).collect();
    cycles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    cycles
}

/// Strongly connected components, by Tarjan's method without recursion: graphs of a hundred thousand files must not
/// exhaust the stack.
fn components(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().for_each(|(from, to)| out[*from].push(*to));
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let (mut component, mut stack, mut is_open) = (vec![UNSEEN; count], Vec::new(), vec![false; count]);
    let (mut next, mut found) = (0, 0);
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, child)) = work.pop() {
            if child == 0 {
                (index[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                is_open[node] = true;
            }
            if let Some(to) = out[node].get(child).copied() {
                work.push((node, child + 1));
                if index[to] == UNSEEN {
                    work.push((to, 0));
                } else if is_open[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    is_open[member] = false;
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let files: BTreeSet<String> =
            edges.iter().flat_map(|(from, to)| [(*from).to_owned(), (*to).to_owned()]).collect();
        let edges: Vec<(String, String, u64)> =
            edges.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned(), 1)).collect();
        Graph::of(&files.into_iter().collect::<Vec<_>>(), &edges, str::to_owned, |from, _| {
            from.starts_with('t')
        })
    }

    #[test]
    fn cycles_are_found_and_counted() {
        let graph =
            graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "f"), ("f", "e"), ("d", "e")]);
        assert_eq!(graph.cycles, [vec!["a", "b", "c"], vec!["e", "f"]]);
        let c = graph.nodes.iter().find(|node| node.name == "c").unwrap();
        assert_eq!((c.fan_in, c.fan_out), (1, 2));
        let components = graph.components();
        for (from, to) in graph.indexed() {
            assert!(components[from] >= components[to]);
        }
    }

    #[test]
    fn what_only_tests_use_makes_no_cycle() {
        let graph = graph(&[("a", "t"), ("t", "a")]);
        assert!(graph.cycles.is_empty());
        assert_eq!(graph.edges.iter().map(|edge| edge.tests).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn files_are_gathered_into_folders() {
        let files = ["a/x".to_owned(), "a/y".to_owned(), "b/z".to_owned()];
        let edges = [
            ("a/x".to_owned(), "a/y".to_owned(), 5),
            ("a/x".to_owned(), "b/z".to_owned(), 2),
            ("a/y".to_owned(), "b/z".to_owned(), 1),
        ];
        let first = |file: &str| file.split('/').next().unwrap().to_owned();
        let graph = Graph::of(&files, &edges, first, |_, _| false);
        assert_eq!(graph.edges, [Edge { from: "a".to_owned(), to: "b".to_owned(), count: 3, tests: false }]);
        assert_eq!(graph.nodes[0].files, 2);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let names: Vec<String> = (0..100_000).map(|number| format!("{number:06}")).collect();
        let edges: Vec<(String, String, u64)> =
            names.windows(2).map(|pair| (pair[0].clone(), pair[1].clone(), 1)).collect();
        let mut graph = Graph::of(&names, &edges, str::to_owned, |_, _| false);
        assert!(graph.cycles.is_empty());
        assert_eq!(graph.keep(100), 99_900);
    }
}
