//! A graph as text for programs that draw: JSON, Mermaid, DOT.

use super::Graph;
use serde_json::json;

/// One line of JSON.
pub(in crate::code) fn as_json(graph: &Graph) -> String {
    json!(graph).to_string()
}

/// A flow chart of Mermaid. Nodes have short ids: not every path may be one.
pub(in crate::code) fn as_mermaid(graph: &Graph) -> String {
    let mut text = "graph LR\n".to_owned();
    for (place, node) in graph.nodes.iter().enumerate() {
        // In a label everything but quotes stands for itself; `#` begins an entity.
        let name = plain(&node.name).replace('#', "#35;").replace('"', "#quot;");
        text.push_str(&format!("  n{place}[\"{name}\"]\n"));
    }
    for ((from, to), edge) in graph.indexed().into_iter().zip(&graph.edges) {
        let arrow = if edge.tests { "-.->" } else { "-->" };
        text.push_str(&format!("  n{from} {arrow} n{to}\n"));
    }
    text
}

/// A graph of Graphviz.
pub(in crate::code) fn as_dot(graph: &Graph) -> String {
    let mut text = "digraph dependencies {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    let quoted = |name: &str| format!("\"{}\"", plain(name).replace('\\', "\\\\").replace('"', "\\\""));
    for node in &graph.nodes {
        text.push_str(&format!("  {};\n", quoted(&node.name)));
    }
    for edge in &graph.edges {
        text.push_str(&format!(
            "  {} -> {} [weight={}{}];\n",
            quoted(&edge.from),
            quoted(&edge.to),
            edge.count,
            if edge.tests { ", style=dashed" } else { "" }
        ));
    }
    text.push_str("}\n");
    text
}

/// A name without what would end a line.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
