//! A graph as a picture: boxes in columns, what depends on others left of them; circles are drawn in red.

use super::draw::plain;
use super::{Graph, Node};
use std::collections::BTreeMap;

/// The measures of the picture, in units of SVG.
const BOX_HEIGHT: usize = 24;
const ROW: usize = 36;
const GAP: usize = 80;
const LETTER: usize = 7;
const MARGIN: usize = 20;
/// Letters of a name that are shown; of longer ones, the end is.
const MOST_LETTERS: usize = 40;

/// Where a box is.
struct Place {
    left: usize,
    top: usize,
    width: usize,
}

/// The picture.
pub(in crate::code) fn as_svg(graph: &Graph) -> String {
    let columns = columns(graph);
    let labels: Vec<String> = graph.nodes.iter().map(label).collect();
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, column) in columns.iter().enumerate() {
        rows.entry(*column).or_default().push(node);
    }
    let mut places: Vec<Place> = graph.nodes.iter().map(|_| Place { left: 0, top: 0, width: 0 }).collect();
    let (mut left, mut height) = (MARGIN, 0);
    for nodes in rows.values() {
        let width = nodes.iter().map(|node| labels[*node].chars().count()).max().unwrap_or(0) * LETTER + 16;
        for (row, node) in nodes.iter().enumerate() {
            places[*node] = Place { left, top: MARGIN + row * ROW, width };
        }
        height = height.max(MARGIN * 2 + nodes.len() * ROW);
        left += width + GAP;
    }
    let width = left.saturating_sub(GAP) + MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#888\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let components = graph.components();
    for ((from, to), edge) in graph.indexed().into_iter().zip(&graph.edges) {
        let is_cycle = components[from] == components[to] && !edge.tests;
        let color = if is_cycle { "#c33" } else { "#888" };
        text.push_str(&curve(&places[from], &places[to], color));
    }
    for ((node, place), label) in graph.nodes.iter().zip(&places).zip(&labels) {
        let Place { left, top, width } = place;
        let (x, y) = (left + 8, top + 16);
        let (name, label) = (escaped(&node.name), escaped(label));
        text.push_str(&format!(
            "<g><title>{name}: used by {}, uses {}</title><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" \
             height=\"{BOX_HEIGHT}\" rx=\"4\" fill=\"#f4f6fa\" stroke=\"#567\"/><text x=\"{x}\" y=\"{y}\">{label}</text></g>\n",
            node.fan_in, node.fan_out
        ));
    }
    text.push_str("</svg>\n");
    text
}

/// The column of each node: one right of everything that depends on it, circles taken as one.
fn columns(graph: &Graph) -> Vec<usize> {
    let components = graph.components();
    let edges = graph.indexed_without_tests();
    let count = components.iter().max().map_or(0, |last| last + 1);
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in &edges {
        if components[*from] != components[*to] {
            uses[components[*from]].push(components[*to]);
        }
    }
    // A component depends only on lower ones, so that from the highest on every column is final when it is read.
    let mut column = vec![0; count];
    for component in (0..count).rev() {
        for used in &uses[component] {
            column[*used] = column[*used].max(column[component] + 1);
        }
    }
    components.iter().map(|component| column[*component]).collect()
}

fn curve(from: &Place, to: &Place, color: &str) -> String {
    let (x1, y1) = (from.left + from.width, from.top + BOX_HEIGHT / 2);
    let (x2, y2) = (to.left, to.top + BOX_HEIGHT / 2);
    let middle = GAP / 2;
    let (a, b) = (x1 + middle, x2.saturating_sub(middle));
    format!(
        "<path d=\"M{x1} {y1}C{a} {y1} {b} {y2} {x2} {y2}\" fill=\"none\" stroke=\"{color}\" marker-end=\"url(#to)\"/>\n"
    )
}

fn label(node: &Node) -> String {
    let name = plain(&node.name);
    match name.chars().count() {
        count if count > MOST_LETTERS => {
            format!("…{}", name.chars().skip(count - MOST_LETTERS + 1).collect::<String>())
        }
        _ => name,
    }
}

fn escaped(text: &str) -> String {
    let text = plain(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
