//! `toolpost graph`: which parts of the code depend on which.

use super::asked;
use crate::cli::{Graph, GraphFormat, GraphLevel};
use crate::output::{Printer, on_terminal};
use crate::runtime::Runtime;
use serde_json::Value;

pub(crate) fn run(runtime: Runtime, printer: &Printer, graph: &Graph) -> u8 {
    let format = match graph.format {
        GraphFormat::Json => "json",
        GraphFormat::Mermaid => "mermaid",
        GraphFormat::Dot => "dot",
        GraphFormat::Svg => "svg",
    };
    let level = match graph.level {
        GraphLevel::File => "file",
        GraphLevel::Folder => "folder",
        GraphLevel::Package => "package",
    };
    let arguments = vec![
        ("path", graph.path.clone().map(Value::from)),
        ("format", Some(Value::from(format))),
        ("level", Some(Value::from(level))),
    ];
    asked::run(runtime, printer, "build_dependency_graph", arguments, |text| on_terminal(text).into_owned())
}
