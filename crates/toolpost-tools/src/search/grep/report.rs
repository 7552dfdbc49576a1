//! What was found, as a model and as a program see it.

use super::lines::{Line, MAX_LINE};
use super::search::{InFile, Search};
use super::{Args, Data, FileData, LineData, Mode};
use crate::one_line;
use crate::search::look_further;
use toolpost_core::workspace::{ScanOptions, Scanned};
use toolpost_core::{Context, Output};

/// Bytes of the text that are kept free for what follows the lines.
const ROOM_FOR_NOTE: usize = 6 * 1024;

/// What a search brought together.
pub(super) struct Found {
    /// By display name, newest first.
    pub(super) files: Vec<(String, InFile)>,
    /// Whether older files were left out, or not searched any more.
    pub(super) has_older: bool,
    pub(super) unsearched: Vec<String>,
}

pub(super) fn report(
    ctx: &Context,
    args: &Args,
    found: Found,
    search: &Search,
    scanned: &Scanned,
    options: Option<ScanOptions>,
) -> Output<Data> {
    let scanned = Scanned { stopped: scanned.stopped || search.was_interrupted(), ..scanned.clone() };
    let mut page = Page {
        text: String::new(),
        room: ctx.output_budget().bytes.saturating_sub(ROOM_FOR_NOTE),
        left: args.limit,
        has_numbers: args.line_numbers,
        is_full: false,
        cut: 0,
    };
    let mut files = Vec::new();
    // What was found, as far as the search went.
    let total: u64 = match args.mode {
        Mode::Content => found.files.iter().map(|(_, in_file)| in_file.matches).sum(),
        Mode::Files | Mode::Count => found.files.len() as u64,
    };
    let is_counted = args.mode != Mode::Content
        || (found.files.iter().all(|(_, in_file)| in_file.is_counted) && !scanned.stopped);
    // One file that has more than may be shown.
    let is_cut = args.mode == Mode::Content
        && found.files.iter().any(|(_, in_file)| in_file.matches > args.limit as u64);
    let is_one_file = found.files.len() == 1;
    for (path, in_file) in found.files {
        if page.is_full || page.left == 0 {
            page.is_full = true;
            break;
        }
        let lines = match args.mode {
            Mode::Content => page.lines(&path, in_file.lines),
            Mode::Files => page.name(&one_line(&path)),
            Mode::Count => page.name(&format!("{}: {}", one_line(&path), in_file.matches)),
        };
        let Some(lines) = lines else { break };
        let matches = (args.mode == Mode::Count).then_some(in_file.matches);
        files.push(FileData { path, matches, lines });
    }
    let truncated = found.has_older || page.is_full || is_cut;
    let mut notes = Vec::new();
    if files.is_empty() && !truncated && !scanned.stopped {
        notes.push(nothing(ctx, args, options));
    }
    let around = args.context > 0 || args.before.is_some() || args.after.is_some();
    if around && args.mode != Mode::Content {
        notes.push("no lines around the matches: they stand only beside matching lines".to_owned());
    }
    if truncated {
        let what = if args.mode == Mode::Content { "lines" } else { "files" };
        let shown = args.limit - page.left;
        let least = if found.has_older || !is_counted { "at least " } else { "" };
        let place = if is_one_file && args.mode == Mode::Content { " of this file" } else { "" };
        if (shown as u64) < total {
            // More do not fit into the output, whatever the limit is.
            if page.left > 0 {
                notes.push(format!(
                    "{shown} of {least}{total} {what} shown, which is what fits into the output"
                ));
            } else if is_cut || !found.has_older {
                notes.push(format!("{shown} of {least}{total} {what}{place} shown"));
            }
        }
        let narrower = ["pattern", "path", "include"].into_iter().filter_map(|name| ctx.argument(name));
        let narrower: Vec<String> = narrower.map(|name| format!("`{name}`")).collect();
        let narrower = crate::alternatives(&narrower);
        notes.push(match (found.has_older, ctx.argument("limit").filter(|_| page.left == 0)) {
            (true, _) => format!("there may be more {what} in older files; narrow {narrower}"),
            (false, Some(limit)) => format!("narrow {narrower}, or give a higher `{limit}`"),
            (false, None) => format!("narrow {narrower}"),
        });
    }
    if page.cut > 0 {
        notes.push(format!("{} long lines cut at {MAX_LINE} characters, marked …", page.cut));
    }
    if let Some(first) = found.unsearched.first() {
        let more = if found.unsearched.len() > 1 { " and others" } else { "" };
        notes.push(format!(
            "{}{more} not searched to the end: a NUL byte or too long a line",
            one_line(first)
        ));
    }
    page.text.push_str(&search.watch.note(notes, &scanned));
    let data = Data {
        files,
        truncated,
        partial: scanned.stopped,
        held_back: search.watch.total_held_back(),
        unreadable: search.watch.unreadable() + scanned.unreadable.len() as u64,
        unsearched: found.unsearched,
    };
    Output::new(args.pattern.chars().take(80).collect::<String>(), page.text, data)
}

/// That nothing was found, and where nothing was looked for.
fn nothing(ctx: &Context, args: &Args, options: Option<ScanOptions>) -> String {
    // In one file nothing is left out.
    let options = options.unwrap_or(ScanOptions { hidden: true, no_ignore: true });
    format!("nothing matches{}", look_further(ctx, &[("ignoreCase", args.ignore_case)], options))
}

/// The text as it grows.
struct Page {
    text: String,
    room: usize,
    /// Matching lines or files that may still be shown.
    left: usize,
    is_full: bool,
    /// Whether each line begins with its number.
    has_numbers: bool,
    cut: u64,
}

impl Page {
    /// A file that is one line; nothing if there is no room for it.
    fn name(&mut self, line: &str) -> Option<Vec<LineData>> {
        if self.text.len() + line.len() >= self.room {
            self.is_full = true;
            return None;
        }
        self.left -= 1;
        self.text.push_str(line);
        self.text.push('\n');
        Some(Vec::new())
    }

    /// A file's name and its lines, as many as there is room for.
    fn lines(&mut self, path: &str, lines: Vec<Line>) -> Option<Vec<LineData>> {
        let path = one_line(path);
        let blank = if self.text.is_empty() { "" } else { "\n" };
        let before = self.text.len();
        self.text.push_str(&format!("{blank}{path}\n"));
        let has_context = lines.iter().any(|line| line.column.is_none());
        let mut last: Option<u64> = None;
        let mut shown: Vec<LineData> = Vec::new();
        for line in lines {
            if line.column.is_some() && self.left == 0 {
                self.is_full = true;
                break;
            }
            let gap = has_context && last.is_some_and(|last| last + 1 != line.number);
            let mark = if line.column.is_some() { ':' } else { '-' };
            let gap = if gap { "--\n" } else { "" };
            let text = match self.has_numbers {
                true => format!("{gap}{}{mark} {}\n", line.number, line.text),
                false => format!("{gap}{}\n", line.text),
            };
            if self.text.len() + text.len() >= self.room {
                self.is_full = true;
                break;
            }
            self.text.push_str(&text);
            self.left -= usize::from(line.column.is_some());
            self.cut += u64::from(line.is_cut);
            last = Some(line.number);
            shown.push(LineData { line: line.number, column: line.column, text: line.text });
        }
        if shown.is_empty() {
            self.text.truncate(before);
            return None;
        }
        Some(shown)
    }
}
