//! All printing: data on standard output, talk on standard error, colour and live lines only on a terminal.
//!
//! Whatever comes from a tool loses its control characters before it reaches a terminal.

mod cost;
mod events;
pub(crate) mod followed;
mod input;
mod live;
mod markdown;
mod stage;
mod width;

pub(crate) use cost::{cost_in_words, dollars, grouped};
pub(crate) use events::{
    Fault, Line, RunEvent, RunResult, VERSION, finish, page as events_page, reason, schema as events_schema,
};
pub(crate) use input::{Done, Editor, Field, Key, RawMode, keys_typed, shortened};
pub(crate) use stage::{Beginning, Screen, Show, Shown, Stage};

use crate::config::env::Environment;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Arc;
use toolpost_core::event::{EventSink, NoEvents};
use toolpost_core::text::shown;
use toolpost_core::{Code, ToolError};

/// Prints for a person or, with `--json`, for a program.
pub(crate) struct Printer {
    is_json: bool,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    has_color: bool,
    /// Whether a terminal moves its cursor and clears lines when told to, in colour or not.
    can_move: bool,
    has_lost_data: Cell<bool>,
    has_lost_reader: Cell<bool>,
    /// Notes that are said only if something fails; none where they are said at once.
    held: RefCell<Option<Vec<String>>>,
    /// The agent and the run that what fails belongs to; none before one begins.
    run: RefCell<Option<(String, String)>>,
}

/// What a text on standard error is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    /// Something that is good to know.
    Note,
    /// Something that failed.
    Error,
    /// Something that wants an answer.
    Question,
    /// Nothing in particular.
    Plain,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// As it should be.
    Good,
    /// Good to know, or to do at some time.
    Note,
    /// To be mended.
    Broken,
}

impl Printer {
    pub(crate) fn new(is_json: bool, environment: &Environment) -> Printer {
        Printer {
            is_json,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            has_color: !environment.no_color,
            can_move: !environment.is_dumb,
            has_lost_data: Cell::new(false),
            has_lost_reader: Cell::new(false),
            held: RefCell::default(),
            run: RefCell::default(),
        }
    }

    /// For questions asked while a call waits.
    pub(crate) fn for_talk(has_color: bool) -> Printer {
        Printer {
            is_json: false,
            stdout_is_terminal: false,
            stderr_is_terminal: true,
            has_color,
            can_move: has_color,
            has_lost_data: Default::default(),
            has_lost_reader: Default::default(),
            held: RefCell::default(),
            run: RefCell::default(),
        }
    }

    /// Whether a person sees what is said.
    pub(crate) fn is_on_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    pub(crate) fn has_color(&self) -> bool {
        self.has_color
    }

    /// Whether the terminal can draw something anew.
    pub(crate) fn can_move(&self) -> bool {
        self.can_move
    }

    /// Says something and leaves the cursor behind it.
    pub(crate) fn prompt(&self, text: &str) {
        let _ = write(&mut std::io::stderr().lock(), text);
    }

    /// Whether the person at the terminal agrees; no, if there is none.
    pub(crate) fn agrees(&self, question: &str) -> bool {
        if !self.stderr_is_terminal || !std::io::stdin().is_terminal() {
            return false;
        }
        self.say(Tone::Question, question);
        loop {
            self.prompt("y or n: ");
            let mut line = String::new();
            if !std::io::stdin().read_line(&mut line).is_ok_and(|count| count > 0) {
                return false;
            }
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return true,
                "n" | "no" | "" => return false,
                _ => {}
            }
        }
    }

    /// Shows, in place of what was shown so before, how far something is; an empty text takes it away.
    pub(crate) fn far(&self, text: &str) {
        if self.stderr_is_terminal && self.can_move && !self.is_json {
            self.prompt(&format!("\r\x1b[2K{text}"));
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Shows progress, where a person is looking.
    pub(crate) fn progress(&self) -> Arc<dyn EventSink> {
        match self.stderr_is_terminal && self.can_move && !self.is_json {
            true => Arc::new(live::LiveLine::default()),
            false => Arc::new(NoEvents),
        }
    }

    /// Data: text as it is, in full.
    pub(crate) fn data(&self, text: &str) {
        let text = if self.stdout_is_terminal { on_terminal(text) } else { Cow::Borrowed(text) };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.write_data(&format!("{text}{end}"));
    }

    /// The content of a file: for a person like other data, otherwise to the byte.
    pub(crate) fn content(&self, text: &str) {
        match self.stdout_is_terminal {
            true => self.data(text),
            false => self.write_data(text),
        }
    }

    /// Data for a program, on one line.
    pub(crate) fn json(&self, value: &impl serde::Serialize) {
        // Values of ours have string keys only, so that writing them as JSON cannot fail.
        let text = serde_json::to_string(value).unwrap_or_default();
        let text = if self.stdout_is_terminal { harmless_json(&text) } else { Cow::Borrowed(text.as_str()) };
        self.write_data(&format!("{text}\n"));
    }

    /// Keeps notes back until something fails: for programs that take any talk for a failure.
    pub(crate) fn hold_notes(&self) {
        self.held.replace(Some(Vec::new()));
    }

    /// Talk.
    pub(crate) fn say(&self, tone: Tone, text: &str) {
        if let (Tone::Note, Some(held)) = (tone, self.held.borrow_mut().as_mut()) {
            held.push(text.to_owned());
            return;
        }
        if let (Tone::Error, Some(held)) = (tone, self.held.take()) {
            held.iter().for_each(|note| self.say(Tone::Note, note));
        }
        let text = if self.stderr_is_terminal { on_terminal(text) } else { harmless(text) };
        let line = match (tone, self.has_color && self.stderr_is_terminal) {
            (Tone::Note, true) => format!("\x1b[2m{text}\x1b[0m\n"),
            (Tone::Error, true) => match text.split_once(": ") {
                Some((head, rest)) => format!("\x1b[1;31m{head}\x1b[0m: {rest}\n"),
                None => format!("{text}\n"),
            },
            (Tone::Question, true) => format!("\x1b[1;33m?\x1b[0m {text}\n"),
            (Tone::Question, false) => format!("? {text}\n"),
            (_, _) => format!("{text}\n"),
        };
        // Where talk cannot be written, nobody can be told.
        let _ = write(&mut std::io::stderr().lock(), &line);
    }

    /// Talk in lines that fit a terminal, broken at spaces, those that go on indented.
    pub(crate) fn say_fitted(&self, tone: Tone, text: &str, indent: usize) {
        if !self.stderr_is_terminal {
            return self.say(tone, text);
        }
        // The mark before a question has a width too.
        let mark = if let Tone::Question = tone { "? " } else { "" };
        self.say(tone, &width::for_terminal(&format!("{mark}{text}"), indent)[mark.len()..]);
    }

    pub(crate) fn error(&self, error: &ToolError) {
        self.say(Tone::Error, &format!("error[{}]: {}", error.code(), error.message()));
    }

    /// A call that could not even be made: the exit status of a bad invocation, unless the code has its own.
    pub(crate) fn invocation_error(&self, error: &ToolError) -> u8 {
        match self.is_json {
            true => self.json(&serde_json::json!({"success": false, "error": error, "metadata": {}})),
            false => self.error(error),
        }
        Printer::invocation_status(error)
    }

    /// A run that could not even be made: whoever reads lines of JSON gets the last one all the same.
    pub(crate) fn refused_stream(&self, error: &ToolError) -> u8 {
        let (agent, activation) = self.run.borrow().clone().unzip();
        let event = RunEvent::Refused { success: false, error: Fault::from(error) };
        self.json(&Line { agent, activation, event });
        Printer::invocation_status(error)
    }

    /// What fails from now on belongs to this run of this agent.
    pub(crate) fn begin_run(&self, agent: &str, activation: &str) {
        self.run.replace(Some((agent.to_owned(), activation.to_owned())));
    }

    /// The exit status of a call that could not even be made.
    fn invocation_status(error: &ToolError) -> u8 {
        match error.code() {
            Code::PathEscape | Code::FileNotFound | Code::NotAFile | Code::ReadError => 2,
            code => code.exit_status(),
        }
    }

    /// Whether there is a person at a terminal to ask, who sees what was printed before the question.
    pub(crate) fn can_ask(&self) -> bool {
        let sees_all = self.stdout_is_terminal && self.stderr_is_terminal;
        !self.is_json && sees_all && std::io::stdin().is_terminal()
    }

    /// A word that says how something stands, coloured where a person looks.
    pub(crate) fn mark(&self, mark: Mark) -> String {
        let (word, color) = match mark {
            Mark::Good => ("ok", "32"),
            Mark::Note => ("note", "33"),
            Mark::Broken => ("broken", "1;31"),
        };
        match self.has_color && self.stdout_is_terminal {
            true => format!("\x1b[{color}m{word:6}\x1b[0m"),
            false => format!("{word:6}"),
        }
    }

    /// A heading in a text for a person.
    pub(crate) fn bold(&self, text: &str) -> String {
        match self.has_color && self.stdout_is_terminal {
            true => format!("\x1b[1m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// The name of a file in a text for a person.
    pub(crate) fn file_name(&self, text: &str) -> String {
        match self.has_color && self.stdout_is_terminal {
            true => format!("\x1b[35m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// What is less important in a text for a person.
    pub(crate) fn dim(&self, text: &str) -> String {
        match self.has_color && self.stdout_is_terminal && !text.is_empty() {
            true => format!("\x1b[2m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// Prints a text of our own making, colours included.
    pub(crate) fn page(&self, text: &str) {
        self.write_data(text);
    }

    /// Data for a person in lines that fit the terminal, broken at spaces, those that go on indented; elsewhere as it is. Has
    /// no colours yet.
    pub(crate) fn fitted_data<'a>(&self, text: &'a str, indent: usize) -> Cow<'a, str> {
        match self.stdout_is_terminal {
            true => Cow::Owned(width::for_terminal(text, indent)),
            false => Cow::Borrowed(text),
        }
    }

    /// Whether a person sees the data on a terminal that obeys, so that a page can be drawn anew.
    pub(crate) fn can_redraw(&self) -> bool {
        self.stdout_is_terminal && self.can_move && !self.is_json
    }

    /// Lines of the screen that data goes to; 24 where nobody knows.
    pub(crate) fn screen_lines(&self) -> usize {
        let size = rustix::termios::tcgetwinsize(std::io::stdout());
        size.map(|size| usize::from(size.ws_row)).ok().filter(|lines| *lines > 0).unwrap_or(24)
    }

    /// Prints a text of our own making in place of everything on the screen.
    pub(crate) fn redraw(&self, text: &str) {
        self.write_data(&format!("\x1b[H\x1b[2J{text}"));
    }

    /// Whether somebody may still read the data. At the other end of a pipe the reader may have left.
    pub(crate) fn has_reader(&self) -> bool {
        let stdout = std::io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        match poll(&mut watched, Some(&at_once)) {
            Ok(_) => !watched[0].revents().intersects(gone),
            Err(_) => true,
        }
    }

    /// Whether some data could not be written, so that the command did not do its work.
    pub(crate) fn has_lost_data(&self) -> bool {
        self.has_lost_data.get()
    }

    /// Whether whoever read the data has left before all was written.
    pub(crate) fn has_lost_reader(&self) -> bool {
        self.has_lost_reader.get()
    }

    /// Looks whether whoever was to read the data has left before any was written.
    pub(crate) fn finds_reader_gone(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdout = std::io::stdout();
        let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_told = poll(&mut asked, Some(&now)).is_ok_and(|count| count > 0);
        let is_gone = is_told && !self.stdout_is_terminal && asked[0].revents().contains(PollFlags::ERR);
        self.has_lost_reader.set(self.has_lost_reader.get() || is_gone);
        is_gone
    }

    fn write_data(&self, text: &str) {
        // A text with a hole in it helps nobody, and one error says it all.
        if self.has_lost_data.get() {
            return;
        }
        match write(&mut std::io::stdout().lock(), text) {
            // A reader that has left (`toolpost … | head`) is no error, unless the command says so.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.has_lost_reader.set(true),
            Err(error) => {
                self.has_lost_data.set(true);
                self.say(Tone::Error, &unwritable(&error));
            }
            Ok(()) => {}
        }
    }
}

/// That data could not be written.
pub(crate) fn unwritable(error: &std::io::Error) -> String {
    format!("error: standard output could not be written: {error}")
}

fn write(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// JSON without what a terminal would obey or hide; it stays the same JSON. Those below 0x20 are escaped in any JSON.
fn harmless_json(text: &str) -> Cow<'_, str> {
    shown(text, |hidden, shown| {
        for unit in hidden.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// The text as a person at a terminal sees it: nothing in it is obeyed, nothing is hidden.
pub(crate) fn on_terminal(text: &str) -> Cow<'_, str> {
    shown(text, |hidden, shown| match hidden {
        '\r' => shown.push('␍'),
        // The symbols for control characters are easier to read than their codes.
        hidden if (hidden as u32) < 0x20 => shown.extend(char::from_u32(0x2400 + hidden as u32)),
        hidden => shown.extend(hidden.escape_unicode()),
    })
}

/// The same for what people and models write to each other: French and Japanese have spaces of their own, which are only
/// hidden where somebody could take them for the space between the words of a command.
pub(crate) fn prose(text: &str) -> Cow<'_, str> {
    let is_space =
        |letter: char| matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}');
    if !text.contains(is_space) {
        return on_terminal(text);
    }
    let parts = text.split_inclusive(is_space).map(|part| {
        match part.chars().next_back().filter(|last| is_space(*last)) {
            Some(space) => {
                on_terminal(part.trim_end_matches(is_space)).into_owned() + space.encode_utf8(&mut [0; 4])
            }
            None => on_terminal(part).into_owned(),
        }
    });
    Cow::Owned(parts.collect())
}

/// The text without what a terminal would obey, for those who look at it later.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| match c {
        '\r' => '␍',
        c if is_harmful(c) => {
            char::from_u32(0x2400 + c as u32).filter(|_| (c as u32) < 0x20).unwrap_or('\u{fffd}')
        }
        c => c,
    });
    Cow::Owned(shown.collect())
}

/// The text on one line of bounded length, without anything that could make a reader see something else: for what a
/// workspace says, inside of what we say.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 500;
    let short: String = text.chars().take(LONGEST).collect();
    let mut line = shown(&short.replace('\n', "␊").replace('\t', " "), |hidden, shown| {
        shown.extend(hidden.escape_unicode());
    })
    .into_owned();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{harmless, harmless_json, on_terminal, one_line, prose};

    #[test]
    fn one_line_hides_nothing() {
        assert_eq!(one_line("a\nb\u{202e}c\u{200b}\x1b[0m"), "a␊b\\u{202e}c\\u{200b}\\u{1b}[0m");
        assert_eq!(one_line(&"x".repeat(900)).chars().count(), 501);
    }

    #[test]
    fn nothing_a_terminal_obeys_is_left() {
        assert_eq!(harmless("a\x1b[31mb\u{9b}c\rd\te\n\x07"), "a␛[31mb\u{fffd}c␍d\te\n␇");
        assert_eq!(harmless("plain ä\n"), "plain ä\n");
        assert_eq!(on_terminal("a\x1b[31mb\u{9b}c\rd\te\n\x07"), "a␛[31mb\\u{9b}c␍d\te\n␇");
        assert_eq!(on_terminal("a\u{202e}b\u{e0041}ä\n"), "a\\u{202e}b\\u{e0041}ä\n");
        assert_eq!(prose("a\u{a0}\u{3000}!\u{202e}\u{a0}\x1b\n"), "a\u{a0}\u{3000}!\\u{202e}\u{a0}␛\n");
        let json = serde_json::to_string("a\u{202e}b\u{e0041}").unwrap();
        assert_eq!(harmless_json(&json), r#""a\u202eb\udb40\udc41""#);
        assert_eq!(serde_json::from_str::<String>(&harmless_json(&json)).unwrap(), "a\u{202e}b\u{e0041}");
        let json = serde_json::to_string("a\u{9b}31m\u{7f}ä").unwrap();
        assert_eq!(harmless_json(&json), r#""a\u009b31m\u007fä""#);
        assert_eq!(serde_json::from_str::<String>(&harmless_json(&json)).unwrap(), "a\u{9b}31m\u{7f}ä");
    }
}
