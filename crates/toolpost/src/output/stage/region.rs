//! The live region: a line for each thing that runs or is waited for, and where a person writes, drawn anew in their place.
//!
//! While text comes in, the cursor stays behind the text, also in the middle of a line, and the region hangs below it: so
//! a terminal that gets another width keeps both together. Only where nothing runs is the cursor where the person writes.

use crate::output::input::Field;
use crate::output::width::{columns_of, fitted, known_columns, width};
use crate::output::{on_terminal, one_line, write};
use std::time::Instant;

/// What takes less is not shown: a line that flashes by helps nobody.
const SHOWN_AFTER_MS: u128 = 300;
/// On a narrower screen nothing is drawn: its rows would not be those that are counted.
const FEWEST_COLUMNS: usize = 10;
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
    /// What the agents that it has started have spent.
    spent: String,
    since: Instant,
}

/// The region.
pub(super) struct Region {
    is_live: bool,
    has_color: bool,
    drawn: Drawn,
    /// Where a person writes; none where nobody does.
    pub(super) field: Option<Field>,
    /// Whether the person's cursor is a mark in the text, because the terminal's is elsewhere.
    pub(super) is_working: bool,
    running: Vec<Running>,
    /// What else is waited for, since when.
    pub(super) waiting: Option<(String, Instant)>,
    /// What all agents have spent so far.
    pub(super) spent: String,
    /// Questions that are being asked: nothing is drawn below them.
    pub(super) pauses: usize,
}

/// What is on the screen.
#[derive(Default)]
struct Drawn {
    lines: Vec<String>,
    /// Whether it stands below a line of text that has begun.
    is_below_text: bool,
    /// Where in it the terminal's cursor is: the row and the column.
    cursor: (usize, usize),
}

impl Region {
    pub(super) fn new(is_live: bool, has_color: bool) -> Region {
        Region {
            is_live,
            has_color,
            drawn: Drawn::default(),
            field: None,
            is_working: false,
            running: Vec::new(),
            waiting: None,
            spent: String::new(),
            pauses: 0,
        }
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
            spent: String::new(),
            since: Instant::now(),
        });
    }

    pub(super) fn change(&mut self, call: &str, detail: &str) {
        if let Some(running) = self.running.iter_mut().find(|running| running.call == call) {
            running.detail = detail.to_owned();
        }
    }

    /// The agents that the call has started have spent this.
    pub(super) fn spent_by(&mut self, call: &str, spent: &str) {
        if let Some(running) = self.running.iter_mut().find(|running| running.call == call) {
            running.spent = spent.to_owned();
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
        let drawn = std::mem::take(&mut self.drawn);
        if !drawn.lines.is_empty() {
            print(&drawn.cleared());
        }
    }

    /// The terminal has another width: what is drawn may take other rows now.
    pub(super) fn resized(&mut self) {
        let columns = columns().max(1);
        let rows = |line: &String| width(&plain(line)).max(1).div_ceil(columns);
        let (row, column) = self.drawn.cursor;
        let above: usize = self.drawn.lines.iter().take(row).map(rows).sum();
        self.drawn.cursor = (above + column / columns, 0);
    }

    /// Draws the region where the cursor is, or below the line of text that it is in, and puts the cursor back there.
    pub(super) fn draw(&mut self, is_below_text: bool) {
        let is_possible = !is_below_text || self.field.is_some();
        if !self.is_live || self.pauses > 0 || !is_possible {
            return;
        }
        let columns = columns();
        if columns < FEWEST_COLUMNS {
            return self.clear();
        }
        let mut lines = self.shown(columns);
        let mut cursor = (0, 0);
        if let Some(field) = &self.field {
            let rows = field.rows(columns);
            // An empty one, so that it stands apart.
            lines.push(String::new());
            cursor = (lines.len() + rows.cursor.0, rows.cursor.1);
            lines.extend(rows.rows);
            let over = lines.len().saturating_sub(screen_rows().saturating_sub(2).max(1));
            lines.drain(..over);
            cursor.0 = cursor.0.saturating_sub(over);
        }
        if lines.is_empty() {
            return self.clear();
        }
        let is_written_here = self.field.is_some() && !self.is_working && !is_below_text;
        if self.field.is_some() && !is_written_here {
            lines[cursor.0] = with_cursor(&lines[cursor.0], cursor.1, self.has_color);
            cursor = (0, 0);
        }
        let is_same = self.drawn.lines == lines
            && (self.drawn.is_below_text, self.drawn.cursor) == (is_below_text, cursor);
        if is_same && self.field.is_some() {
            return;
        }
        let mut text = match self.drawn.lines.is_empty() {
            // Nothing is there, and the line of text must stay.
            true if is_below_text => String::new(),
            _ => self.drawn.cleared(),
        };
        let body = lines.join("\n");
        let count = lines.len();
        match is_below_text {
            true => {
                // Room first, so that the place that is returned to does not move.
                text.push_str(&"\x1bD".repeat(count));
                text.push_str(&format!("\x1b[{count}A\x1b7\n{body}\x1b8"));
            }
            false => {
                text.push_str(&body);
                let up = count - 1 - cursor.0;
                if up > 0 {
                    text.push_str(&format!("\x1b[{up}A"));
                }
                text.push('\r');
                if cursor.1 > 0 {
                    text.push_str(&format!("\x1b[{}C", cursor.1));
                }
            }
        }
        if self.field.is_some() {
            text.push_str(if is_written_here { "\x1b[?25h" } else { "\x1b[?25l" });
        }
        self.drawn = Drawn { lines, is_below_text, cursor };
        print(&text);
    }

    fn shown(&self, columns: usize) -> Vec<String> {
        let is_old = |since: &Instant| since.elapsed().as_millis() >= SHOWN_AFTER_MS;
        let mut lines: Vec<String> = Vec::new();
        let running: Vec<&Running> = self.running.iter().filter(|running| is_old(&running.since)).collect();
        for running in running.iter().take(MOST_LINES) {
            let what = if running.detail.is_empty() { &running.what } else { &running.detail };
            let what = format!("{} {what}", running.tool);
            lines.push(self.line(&what, &running.spent, running.since, (columns, lines.is_empty())));
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
            lines.push(self.line(what, &self.spent, *since, (columns, lines.is_empty())));
        }
        lines
    }

    /// One line: what, what it has spent, since when and, in the first, how to stop it, within the width of the screen.
    fn line(&self, what: &str, spent: &str, since: Instant, (columns, is_first): (usize, bool)) -> String {
        let seconds = since.elapsed().as_secs();
        let spinner = ["◐", "◓", "◑", "◒"][(since.elapsed().as_millis() / 250 % 4) as usize];
        let spent = if spent.is_empty() { String::new() } else { format!(" · {spent}") };
        let end = match columns >= 60 && is_first {
            true => format!("{spent} · {seconds} s · Ctrl-C stops it"),
            false => format!("{spent} · {seconds} s"),
        };
        let room = columns.saturating_sub(width(&end) + 3).max(8);
        let what = cut(&what.replace(['\n', '\t'], " "), room);
        match self.has_color {
            true => format!("\x1b[2m{spinner}\x1b[0m {what}\x1b[2m{end}\x1b[0m"),
            false => format!("{spinner} {what}{end}"),
        }
    }
}

impl Drawn {
    /// What takes it off the screen, and brings the cursor to where it began.
    fn cleared(&self) -> String {
        match (self.is_below_text, self.cursor.0) {
            (true, _) => "\x1b[J".to_owned(),
            (false, 0) => "\r\x1b[J".to_owned(),
            (false, rows) => format!("\x1b[{rows}A\r\x1b[J"),
        }
    }
}

/// A row with a mark where the cursor would be.
fn with_cursor(row: &str, column: usize, has_color: bool) -> String {
    let mut used = 0;
    let place = row.char_indices().find(|(_, letter)| {
        let is_there = used >= column;
        used += columns_of(*letter);
        is_there
    });
    let (before, letter, rest) = match place {
        Some((place, letter)) => (&row[..place], letter, &row[place + letter.len_utf8()..]),
        None => (row, ' ', ""),
    };
    match has_color {
        true => format!("{before}\x1b[7m{letter}\x1b[0m{rest}"),
        false => format!("{before}▏{}", &row[before.len()..]),
    }
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    text
}

/// Rows of the screen; 24 where nobody knows.
fn screen_rows() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    size.map(|size| usize::from(size.ws_row)).ok().filter(|rows| *rows > 0).unwrap_or(24)
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
