//! The live region: a line for each thing that runs or is waited for, drawn anew in its place.

use crate::output::width::{fitted, known_columns, width};
use crate::output::{on_terminal, one_line, write};
use std::time::Instant;

/// What takes less is not shown: a line that flashes by helps nobody.
const SHOWN_AFTER_MS: u128 = 300;
/// Maximum number of lines.
const MOST_LINES: usize = 8;

/// A call that runs.
pub(super) struct Running {
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) what: String,
    detail: String,
    /// The last line that it has written.
    last_line: String,
    since: Instant,
}

/// The region.
pub(super) struct Region {
    is_live: bool,
    has_color: bool,
    /// Lines that are drawn now.
    lines: usize,
    running: Vec<Running>,
    /// What else is waited for, since when.
    pub(super) waiting: Option<(String, Instant)>,
    /// Questions that are being asked: nothing is drawn below them.
    pub(super) pauses: usize,
}

impl Region {
    pub(super) fn new(is_live: bool, has_color: bool) -> Region {
        Region { is_live, has_color, lines: 0, running: Vec::new(), waiting: None, pauses: 0 }
    }

    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    pub(super) fn start(&mut self, call: &str, tool: &str, what: &str) {
        self.running.push(Running {
            call: call.to_owned(),
            tool: tool.to_owned(),
            what: what.to_owned(),
            detail: String::new(),
            last_line: String::new(),
            since: Instant::now(),
        });
    }

    pub(super) fn change(&mut self, call: &str, detail: &str) {
        if let Some(running) = self.running.iter_mut().find(|running| running.call == call) {
            running.detail = detail.to_owned();
        }
    }

    /// The call has written this.
    pub(super) fn wrote(&mut self, call: &str, text: &str) {
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        let running = self.running.iter_mut().find(|running| running.call == call);
        if let (Some(running), Some(line)) = (running, line) {
            running.last_line = one_line(line.trim());
        }
    }

    /// Its tool runs from now on: what a person took to answer a question does not count.
    pub(super) fn started(&mut self, call: &str) {
        if let Some(running) = self.running.iter_mut().find(|running| running.call == call) {
            running.since = Instant::now();
        }
    }

    pub(super) fn end(&mut self, call: &str) -> Option<Running> {
        let place = self.running.iter().position(|running| running.call == call)?;
        Some(self.running.remove(place))
    }

    /// Takes the region off the screen.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.lines) > 0 {
            // The cursor was put back to the region's first line.
            print("\r\x1b[J");
        }
    }

    /// Draws the region where the cursor is, at the beginning of a line, and puts the cursor back there.
    pub(super) fn draw(&mut self) {
        if !self.is_live || self.pauses > 0 {
            return;
        }
        let lines = self.shown(columns());
        if lines.is_empty() {
            return self.clear();
        }
        let mut text = String::from("\r\x1b[J");
        text.push_str(&lines.join("\n"));
        if lines.len() > 1 {
            text.push_str(&format!("\x1b[{}A", lines.len() - 1));
        }
        text.push('\r');
        self.lines = lines.len();
        print(&text);
    }

    fn shown(&self, columns: usize) -> Vec<String> {
        let is_old = |since: &Instant| since.elapsed().as_millis() >= SHOWN_AFTER_MS;
        let mut lines: Vec<String> = Vec::new();
        let running: Vec<&Running> = self.running.iter().filter(|running| is_old(&running.since)).collect();
        for running in running.iter().take(MOST_LINES) {
            let what = if running.detail.is_empty() { &running.what } else { &running.detail };
            lines.push(self.line(&format!("{} {what}", running.tool), running.since, columns));
            if !running.last_line.is_empty() {
                let line = cut(&running.last_line, columns.saturating_sub(3).max(8));
                lines.push(if self.has_color {
                    format!("  \x1b[2m{line}\x1b[0m")
                } else {
                    format!("  {line}")
                });
            }
        }
        if running.len() > MOST_LINES {
            lines.push(cut(&format!("… and {} more calls", running.len() - MOST_LINES), columns));
        }
        if let Some((what, since)) = &self.waiting
            && is_old(since)
        {
            lines.push(self.line(what, *since, columns));
        }
        lines
    }

    /// One line: what, since when, and how to stop it, within the width of the screen.
    fn line(&self, what: &str, since: Instant, columns: usize) -> String {
        let seconds = since.elapsed().as_secs();
        let spinner = ["◐", "◓", "◑", "◒"][(since.elapsed().as_millis() / 250 % 4) as usize];
        let end = match columns >= 60 {
            true => format!(" · {seconds} s · Ctrl-C stops it"),
            false => format!(" · {seconds} s"),
        };
        let room = columns.saturating_sub(width(&end) + 3).max(8);
        let what = cut(&what.replace(['\n', '\t'], " "), room);
        match self.has_color {
            true => format!("\x1b[2m{spinner}\x1b[0m {what}\x1b[2m{end}\x1b[0m"),
            false => format!("{spinner} {what}{end}"),
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    fitted(&on_terminal(text), most)
}

/// Columns of the screen; 80 where nobody knows.
pub(super) fn columns() -> usize {
    known_columns().unwrap_or(80)
}

fn print(text: &str) {
    let _ = write(&mut std::io::stderr().lock(), text);
}
