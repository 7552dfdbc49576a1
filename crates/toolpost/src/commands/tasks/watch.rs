//! `toolpost tasks watch`: on a terminal the tree, drawn anew with every change; elsewhere the changes, one on a line.

use super::tree;
use crate::calendar::moment;
use crate::output::{Printer, on_terminal, one_line};
use serde_json::json;
use std::time::Duration;
use toolpost_core::ToolError;
use toolpost_core::event::EventKind;
use toolpost_core::store::{EventQuery, Logged, Store};

/// How long one look for changes waits.
const LOOK: Duration = Duration::from_millis(500);
/// Events that are read at once.
const STEP: usize = 1_000;

pub(super) fn run(printer: &Printer, store: &dyn Store) -> Result<(), ToolError> {
    // What comes after this is a change, also if it comes before the tasks are read.
    let mut seen = store.last_position()?;
    let tasks = store.tasks(None)?;
    match (printer.is_json(), printer.can_redraw()) {
        (true, _) => printer.json(&json!({ "tasks": tasks })),
        (false, true) => printer.redraw(&fitting(printer, &tree::page(&tasks))),
        (false, false) => printer.page(&tree::page(&tasks)),
    }
    while printer.has_reader() && !printer.has_lost_data() {
        let newest = store.wait(seen, LOOK)?;
        if newest <= seen {
            continue;
        }
        let next = EventQuery { after: Some(seen), limit: Some(STEP), ..EventQuery::default() };
        let events = store.events(&next)?;
        // There may be none: what is old is deleted.
        seen = events.last().map_or(newest, |event| event.position);
        let changes: Vec<&Logged> = events.iter().filter(|event| is_change(event)).collect();
        match printer.can_redraw() {
            true if changes.is_empty() => {}
            true => printer.redraw(&fitting(printer, &tree::page(&store.tasks(None)?))),
            false => changes.into_iter().for_each(|change| tell(printer, store, change)),
        }
    }
    Ok(())
}

/// As much of a page as the screen holds, with the counts at its end.
fn fitting(printer: &Printer, page: &str) -> String {
    cut(page, printer.screen_lines())
}

fn cut(page: &str, most: usize) -> String {
    let lines: Vec<&str> = page.lines().collect();
    // The cursor stands on the line after the last.
    let room = most.saturating_sub(1).max(3);
    if lines.len() <= room {
        return page.to_owned();
    }
    let hidden = lines.len() - (room - 1);
    let (first, last) = (&lines[..room - 2], lines[lines.len() - 1]);
    format!("{}\n… {hidden} more lines; `toolpost tasks` shows all\n{last}\n", first.join("\n"))
}

fn is_change(logged: &Logged) -> bool {
    matches!(logged.event.kind, EventKind::TaskChanged { .. })
}

fn tell(printer: &Printer, store: &dyn Store, logged: &Logged) {
    if printer.is_json() {
        printer.json(logged);
        return;
    }
    let EventKind::TaskChanged { task, status, owner, .. } = &logged.event.kind else { return };
    let owner = owner.as_ref().map(|owner| format!(" by {owner}")).unwrap_or_default();
    // A task may have been deleted since; what happened to it is still to be told.
    let title = store.task(task).map(|task| format!(": {}", task.title)).unwrap_or_default();
    let text = one_line(&on_terminal(&format!("{task} {}{owner}{title}", status.as_str())));
    printer.page(&format!("{} {text}\n", moment(logged.event.at_ms)));
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_page_is_cut_to_the_screen_with_its_counts() {
        let page: String =
            (1..=10).map(|number| format!("task {number}\n")).collect::<String>() + "10 tasks\n";
        assert_eq!(cut(&page, 12), page);
        assert_eq!(
            cut(&page, 6),
            "task 1\ntask 2\ntask 3\n… 7 more lines; `toolpost tasks` shows all\n10 tasks\n"
        );
        assert_eq!(cut(&page, 0).lines().count(), 3);
    }
}
