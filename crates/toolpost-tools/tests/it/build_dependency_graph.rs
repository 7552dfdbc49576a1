//! `build_dependency_graph`: levels, cycles, and texts that other programs read.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::{Value, json};

fn text(args: Value) -> String {
    shown(&call(&session(whole()), "build_dependency_graph", args))
}

#[test]
fn the_graph_has_its_cycles_and_counts() {
    let outcome = call(&session(whole()), "build_dependency_graph", json!({}));
    let graph: Value = serde_json::from_str(&shown(&outcome)).unwrap();
    assert_eq!(graph["cycles"], json!([["src/main.rs", "src/reader.rs"]]));
    assert_eq!(graph["nodes"][1], json!({"name": "src/main.rs", "files": 1, "fanIn": 1, "fanOut": 2}));
    assert_eq!(graph["nodes"], data(&outcome)["nodes"]);
}

#[test]
fn folders_and_packages_gather_files() {
    let graph: Value = serde_json::from_str(&text(json!({"level": "folder"}))).unwrap();
    assert_eq!(graph["edges"], json!([{"from": "src", "to": "secret", "count": 2}]));
    assert_eq!(graph["cycles"], json!([]));
    let packages: Value = serde_json::from_str(&text(json!({"level": "package"}))).unwrap();
    assert_eq!(packages["nodes"], graph["nodes"]);
}

#[test]
fn pictures_are_those_of_their_format() {
    assert_eq!(
        text(json!({"format": "mermaid", "level": "folder"})),
        "graph LR\n  n0[\"secret\"]\n  n1[\"src\"]\n  n1 --> n0\n"
    );
    assert_eq!(
        text(json!({"format": "dot", "level": "folder"})),
        "digraph dependencies {\n  rankdir=LR;\n  node [shape=box];\n  \"secret\";\n  \"src\";\n  \"src\" -> \"secret\" \
         [weight=2];\n}\n"
    );
    let svg = text(json!({"format": "svg"}));
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(svg.matches("<rect").count(), 4);
    assert_eq!(svg.matches("#c33").count(), 2, "the cycle is red: {svg}");
}
