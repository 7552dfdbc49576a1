//! Tables: of data as rows, of layout as what is in their cells, of code as code.

use super::Form;
use super::code;
use super::render::Renderer;
use crate::html::{Attribute, Document, NodeId, Tag};

/// Maximum number of columns of a table that is written as one.
const WIDEST: usize = 40;
/// Maximum number of letters in a cell of a table that is written as one.
const LONGEST_CELL: usize = 1200;

/// Bytes that a cell takes beside its text.
const CELL: usize = 3;

/// Writes a table.
pub(super) fn write(renderer: &mut Renderer<'_>, table: NodeId) {
    let (document, main) = (renderer.document, renderer.main);
    let rows = rows(document, table);
    let rows: Vec<Vec<NodeId>> = rows
        .into_iter()
        .map(|row| {
            let cells =
                document.children(row).filter(|cell| is_cell(document, *cell) && !main.is_hidden(*cell));
            cells.collect::<Vec<_>>()
        })
        .filter(|cells| !cells.is_empty())
        .collect();
    if let Some(text) = lines_of_code(renderer, table, &rows) {
        let language = code::language(document, table);
        renderer.fenced(&text, &language);
        return;
    }
    if is_layout(renderer, table, &rows) {
        return in_turn(renderer, table);
    }
    for caption in document.children(table).filter(|child| document.tag(*child) == Some(Tag::Caption)) {
        if !main.is_hidden(caption) {
            renderer.blocks(caption);
            renderer.flush();
        }
    }
    let mut grid = Grid { room: renderer.room(), ..Grid::default() };
    for cells in &rows {
        grid.begin_row();
        for cell in cells {
            if grid.room == 0 {
                break;
            }
            let mut writer = renderer.for_cell();
            writer.blocks(*cell);
            let text = writer.finish_cell();
            grid.add(
                text,
                span(document, *cell, Attribute::Colspan),
                span(document, *cell, Attribute::Rowspan),
            );
        }
    }
    let has_head =
        rows.first().is_some_and(|cells| cells.iter().all(|cell| document.tag(*cell) == Some(Tag::Th)))
            || rows.first().and_then(|cells| cells.first()).is_some_and(|cell| is_in_head(document, *cell));
    let text = grid.written(renderer.form, has_head);
    if !text.is_empty() {
        renderer.block(&text);
    }
}

/// Writes the cells one after the other.
fn in_turn(renderer: &mut Renderer<'_>, table: NodeId) {
    let document = renderer.document;
    for row in rows(document, table) {
        if renderer.main.is_hidden(row) {
            continue;
        }
        for cell in document.children(row).filter(|cell| !renderer.main.is_hidden(*cell)).collect::<Vec<_>>()
        {
            renderer.blocks(cell);
            renderer.flush();
        }
    }
}

fn is_cell(document: &Document, node: NodeId) -> bool {
    matches!(document.tag(node), Some(Tag::Td | Tag::Th))
}

fn is_in_head(document: &Document, cell: NodeId) -> bool {
    let row = document.parent(cell);
    row.and_then(|row| document.parent(row)).is_some_and(|group| document.tag(group) == Some(Tag::Thead))
}

/// The rows of a table, not those of tables in it.
fn rows(document: &Document, table: NodeId) -> Vec<NodeId> {
    let mut rows = Vec::new();
    for child in document.children(table) {
        match document.tag(child) {
            Some(Tag::Tr) => rows.push(child),
            Some(Tag::Tbody | Tag::Thead | Tag::Tfoot) => {
                rows.extend(document.children(child).filter(|row| document.tag(*row) == Some(Tag::Tr)));
            }
            _ => {}
        }
    }
    rows
}

/// The lines of a table that a highlighter made: numbers in one column, code in the other.
fn lines_of_code(renderer: &Renderer<'_>, table: NodeId, rows: &[Vec<NodeId>]) -> Option<String> {
    let document = renderer.document;
    let has_class = |node: NodeId, wanted: &[&str]| {
        let classes = document.attribute(node, Attribute::Class).unwrap_or_default();
        classes.split_ascii_whitespace().any(|class| wanted.contains(&class))
    };
    let is_code = |cell: &NodeId| {
        has_class(*cell, &["blob-code", "code", "rouge-code", "crayon-code", "diff-line-code"])
    };
    let is_highlighted = has_class(
        table,
        &["highlighttable", "rouge-table", "highlight", "lntable", "js-file-line-container"],
    );
    let cells: Vec<NodeId> = rows.iter().flatten().copied().filter(is_code).collect();
    if cells.is_empty() && !is_highlighted {
        return None;
    }
    let cells = if cells.is_empty() {
        rows.iter().filter_map(|cells| cells.last().copied()).collect()
    } else {
        cells
    };
    let lines = cells.into_iter().map(|cell| code::text(document, renderer.main, cell));
    Some(lines.map(|line| line.trim_end_matches('\n').to_owned()).collect::<Vec<_>>().join("\n"))
}

/// Whether a table only puts things side by side.
fn is_layout(renderer: &Renderer<'_>, table: NodeId, rows: &[Vec<NodeId>]) -> bool {
    let document = renderer.document;
    let role = document.attribute(table, Attribute::Role).unwrap_or_default();
    if role == "presentation" || role == "none" {
        return true;
    }
    let cells = || rows.iter().flatten();
    if cells().any(|cell| document.tag(*cell) == Some(Tag::Th)) && rows.len() > 1 {
        return false;
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width <= 1 || width > WIDEST || rows.len() == 1 && width <= 3 {
        return true;
    }
    let holds_blocks = |cell: &NodeId| {
        document.below(*cell).skip(1).any(|node| {
            let Some(tag) = document.tag(node) else { return false };
            tag.heading().is_some()
                || matches!(tag, Tag::Table | Tag::Pre | Tag::Article | Tag::Section | Tag::Blockquote)
        })
    };
    let is_long = |cell: &NodeId| {
        let letters = document.below(*cell).map(|node| document.text(node).trim().len());
        letters.sum::<usize>() > LONGEST_CELL
    };
    cells().any(holds_blocks) || cells().any(is_long)
}

fn span(document: &Document, cell: NodeId, attribute: Attribute) -> usize {
    let said = document.attribute(cell, attribute).and_then(|span| span.trim().parse().ok());
    said.unwrap_or(1).clamp(1, WIDEST)
}

/// The cells by row and column; one that spans several rows stands in each.
#[derive(Default)]
struct Grid {
    rows: Vec<Vec<String>>,
    /// By column: the text of a cell above that reaches down, and into how many rows.
    reaching: Vec<(usize, String)>,
    /// How many bytes it may still take.
    room: usize,
}

impl Grid {
    fn begin_row(&mut self) {
        self.fill();
        self.rows.push(Vec::new());
    }

    fn add(&mut self, text: String, columns: usize, down: usize) {
        self.fill();
        let Some(row) = self.rows.last_mut() else { return };
        for at in 0..columns.min(WIDEST) {
            let column = row.len();
            let own = if at == 0 { text.clone() } else { String::new() };
            self.room = self.room.saturating_sub(own.len() + CELL);
            row.push(own);
            if self.reaching.len() <= column {
                self.reaching.resize(column + 1, (0, String::new()));
            }
            if down > 1 {
                let below = if at == 0 { text.clone() } else { String::new() };
                self.reaching[column] = (down - 1, below);
            }
        }
    }

    /// Takes over the cells that reach down into this place of the row.
    fn fill(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some((left, text)) = self.reaching.get_mut(row.len()).filter(|(left, _)| *left > 0) {
            *left -= 1;
            let is_room = self.room > text.len();
            self.room = self.room.saturating_sub(text.len() + CELL);
            row.push(if is_room { text.clone() } else { String::new() });
        }
    }

    fn written(mut self, form: Form, has_head: bool) -> String {
        self.fill();
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let width = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        // A column without a word only makes room.
        let kept: Vec<usize> = (0..width)
            .filter(|column| {
                self.rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()))
            })
            .collect();
        let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
        let joined = |row: &Vec<String>| -> String {
            let cells: Vec<String> = kept.iter().map(|column| cell(row, *column)).collect();
            match form {
                Form::Plain => cells.join("\t").trim_end().to_owned(),
                Form::Markdown => {
                    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
                    format!("| {} |", cells.join(" | "))
                }
            }
        };
        let mut lines: Vec<String> = self.rows.iter().map(joined).collect();
        if form == Form::Markdown && !lines.is_empty() {
            let line = format!("|{}", " --- |".repeat(kept.len()));
            match has_head {
                true => lines.insert(1, line),
                false => {
                    let empty = format!("|{}", "  |".repeat(kept.len()));
                    lines.splice(0..0, [empty, line]);
                }
            }
        }
        lines.join("\n")
    }
}
