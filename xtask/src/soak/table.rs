//! The table of measurements in a page, between its two markers. The rest of the page stays as it is.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

const BEGIN: &str = "<!-- soak:begin -->";
const END: &str = "<!-- soak:end -->";
const HEAD: &str = "| # | measured | date | machine |\n| --- | --- | --- | --- |\n";

/// What was measured for one guarantee, when, and on what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) guarantee: u32,
    pub(super) figures: String,
    pub(super) date: String,
    pub(super) machine: String,
}

/// The page with these rows in place of the older ones for the same guarantees.
pub(super) fn rewrite(page: &str, rows: Vec<Row>) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no line `{BEGIN}`"))?;
    let (table, after) =
        rest.split_once(END).with_context(|| format!("no line `{END}` below the first marker"))?;
    let mut all = BTreeMap::new();
    for line in table.lines().filter(|line| line.trim_start().starts_with('|')) {
        if is_head(line) {
            continue;
        }
        let row = parse(line)?;
        all.insert(row.guarantee, row);
    }
    all.extend(rows.into_iter().map(|row| (row.guarantee, row)));
    let table: String = all.values().map(shown).collect();
    Ok(format!("{before}{BEGIN}\n{HEAD}{table}{END}{after}"))
}

fn is_head(line: &str) -> bool {
    HEAD.lines().any(|head| head == line.trim())
}

fn shown(row: &Row) -> String {
    let cells =
        [&row.figures, &row.date, &row.machine].map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} | {} |\n", row.guarantee, cells.join(" | "))
}

fn parse(line: &str) -> Result<Row> {
    let cells = cells(line);
    let [guarantee, figures, date, machine] = cells.as_slice() else {
        bail!("a row of the table has not four cells: {line}");
    };
    let guarantee =
        guarantee.parse().with_context(|| format!("`{guarantee}` is no number of a guarantee"))?;
    Ok(Row { guarantee, figures: figures.clone(), date: date.clone(), machine: machine.clone() })
}

/// The cells of a line, with `\|` for a bar inside a cell.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let inner = line.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, cells.last_mut()) {
            ('\\', Some(cell)) if characters.peek() == Some(&'|') => {
                characters.next();
                cell.push('|');
            }
            ('|', _) => cells.push(String::new()),
            (_, Some(cell)) => cell.push(character),
            (_, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(guarantee: u32, figures: &str) -> Row {
        Row { guarantee, figures: figures.into(), date: "2026-01-02".into(), machine: "2 cores".into() }
    }

    fn check(table: &str, rows: Vec<Row>, expected: &str) {
        let page = format!("# Title\n\n{BEGIN}\n{table}{END}\n\nThe rest.\n");
        let rewritten = rewrite(&page, rows).unwrap();
        assert_eq!(rewritten, format!("# Title\n\n{BEGIN}\n{HEAD}{expected}{END}\n\nThe rest.\n"));
    }

    #[test]
    fn an_empty_table_is_filled_in_order() {
        check(
            "",
            vec![row(10, "b"), row(2, "a")],
            "| 2 | a | 2026-01-02 | 2 cores |\n| 10 | b | 2026-01-02 | 2 cores |\n",
        );
    }

    #[test]
    fn rows_that_were_not_run_are_kept() {
        let table = format!("{HEAD}| 1 | old | 2025-12-31 | 1 core |\n| 2 | old | 2025-12-31 | 1 core |\n");
        check(
            &table,
            vec![row(2, "new")],
            "| 1 | old | 2025-12-31 | 1 core |\n| 2 | new | 2026-01-02 | 2 cores |\n",
        );
    }

    #[test]
    fn bars_in_a_cell_survive_being_rewritten_twice() {
        let expected = "| 1 | a \\| b | 2026-01-02 | 2 cores |\n";
        check("", vec![row(1, "a | b")], expected);
        check(&format!("{HEAD}{expected}"), vec![], expected);
    }

    #[test]
    fn a_page_without_markers_or_with_a_broken_row_is_refused() {
        assert!(rewrite("no markers", vec![]).is_err());
        assert!(rewrite(&format!("{END}{BEGIN}"), vec![]).is_err());
        assert!(rewrite(&format!("{BEGIN}\n| x | y |\n{END}"), vec![]).is_err());
    }

    #[test]
    fn the_page_of_this_repository_can_be_rewritten() {
        let page = include_str!("../../../docs/measurements.md");
        assert!(rewrite(page, vec![row(1, "a")]).unwrap().contains("| 1 | a |"));
    }
}
