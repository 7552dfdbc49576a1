//! A run as a person sees it: the agent's text as it comes, a line for each call that has ended, and below them one live
//! region with what runs and what is waited for, since when.
//!
//! Nothing is ever drawn anew but the live region, so that all else stays in the scroll-back. Where no person looks, nothing
//! is shown; for programs each thing that happens is a line of JSON.

mod below;
mod call;
mod flow;
mod happened;
mod held;
mod lines;
mod region;

use super::input::Field;
use super::markdown::Markdown;
use super::width::for_terminal;
use super::{RunEvent, VERSION, on_terminal, one_line, prose, write};
use below::Below;
use flow::Flow;
use held::{Held, Kind};
use lines::Lines;
use region::{Region, columns};
use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::{Heard, Listener};
use toolpost_agent::tree::Amount;
use toolpost_core::Event;
use toolpost_core::event::EventSink;
use toolpost_core::host::Redactor;

/// What is printed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// What a person sees, as far as one looks.
    Text,
    /// Nothing before the end.
    Nothing,
    /// A line of JSON for each thing that happens.
    Json,
}

/// A run that is shown from now on.
pub(crate) struct Beginning<'a> {
    pub(crate) agent: &'a str,
    /// The run.
    pub(crate) activation: &'a str,
    /// `vendor/model`.
    pub(crate) model: &'a str,
    pub(crate) session: &'a str,
    /// What the user should know.
    pub(crate) notes: &'a [String],
}

/// Shows a run.
pub(crate) struct Stage {
    shared: Arc<Shared>,
}

/// What the terminal can do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Whether colours are wanted.
    pub(crate) has_color: bool,
    /// Whether it draws lines anew when told to.
    pub(crate) can_move: bool,
}

struct Shared {
    view: Mutex<View>,
    changed: Condvar,
    /// Fires when nothing more can be printed.
    unwritable: CancellationToken,
}

struct View {
    show: Show,
    /// Whether the agent's text is shown as it comes.
    streams: bool,
    /// Whether calls are shown.
    talks: bool,
    has_color: bool,
    region: Region,
    markdown: Markdown,
    /// Whether the cursor stands at the beginning of a line.
    is_at_start: bool,
    /// The rows of the text that has begun.
    flow: Flow,
    /// Whether any of the last answer's text was printed.
    has_text: bool,
    /// What was shown last; nothing at first.
    block: Option<Block>,
    model: String,
    /// The first agent's run; what others say is not streamed.
    root: String,
    /// Its name.
    agent: String,
    lines: Lines,
    /// The agents that the first one has started, by their runs.
    below: HashMap<String, Below>,
    /// What the first agent and all below it have spent.
    spent: Amount,
    calls: u64,
    /// The tools whose calls were denied.
    denials: Vec<String>,
    is_over: bool,
    /// What is not shown.
    redactor: Arc<Redactor>,
    held: Held,
    /// Why standard output could not be written.
    lost: Option<std::io::Error>,
}

/// Things that stand together on the screen, with an empty line to what is around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Entered,
    Note,
    Text,
    Calls,
    Question,
}

/// What was shown of a run.
pub(crate) struct Shown {
    /// Whether the agent's last text was printed.
    pub(crate) is_printed: bool,
    /// How many calls there were.
    pub(crate) calls: u64,
    /// The tools whose calls were denied.
    pub(crate) denials: Vec<String>,
    /// Why not everything could be printed.
    pub(crate) lost: Option<std::io::Error>,
}

impl Stage {
    /// A stage on the terminal of this process, or wherever its output goes.
    pub(crate) fn new(show: Show, Screen { has_color, can_move }: Screen) -> Stage {
        let stdout = std::io::stdout().is_terminal();
        let stderr = std::io::stderr().is_terminal();
        let is_text = show == Show::Text;
        let view = View {
            show,
            streams: is_text && stdout,
            talks: is_text && stderr,
            has_color,
            region: Region::new(is_text && stderr && can_move, has_color),
            markdown: Markdown::default(),
            is_at_start: true,
            flow: Flow::default(),
            has_text: false,
            block: None,
            model: String::new(),
            root: String::new(),
            agent: String::new(),
            lines: Lines::default(),
            below: HashMap::new(),
            spent: Amount::default(),
            calls: 0,
            denials: Vec::new(),
            is_over: false,
            redactor: Arc::default(),
            held: Held::default(),
            lost: None,
        };
        let (view, changed) = (Mutex::new(view), Condvar::new());
        Stage { shared: Arc::new(Shared { view, changed, unwritable: CancellationToken::new() }) }
    }

    /// Waits until what is printed cannot be written any more: nobody would see what the agent does.
    pub(crate) async fn unwritable(&self) {
        self.shared.unwritable.cancelled().await;
    }

    /// Shows the run from now on, without these secrets.
    pub(crate) fn begin(&self, run: &Beginning<'_>, redactor: &Arc<Redactor>) {
        let mut view = self.shared.view();
        view.redactor = Arc::clone(redactor);
        run.model.clone_into(&mut view.model);
        run.activation.clone_into(&mut view.root);
        run.agent.clone_into(&mut view.agent);
        view.emit(run.activation, || RunEvent::Init {
            version: VERSION,
            model: run.model.to_owned(),
            session: run.session.to_owned(),
            notes: run.notes.to_vec(),
        });
        if view.region.is_live() {
            let shared = Arc::clone(&self.shared);
            std::thread::spawn(move || shared.tick());
        }
    }

    /// Takes the live region away.
    pub(crate) fn end(&self) -> Shown {
        let mut view = self.shared.view();
        view.is_over = true;
        view.region.clear();
        view.region.field = None;
        view.rest();
        view.fresh_line();
        view.separate(None);
        self.shared.changed.notify_all();
        view.shown()
    }

    /// Shows what a person writes, below everything else; `is_working` says whether an agent is at work meanwhile.
    pub(crate) fn write_into(&self, field: Field, is_working: bool) {
        self.changed(|view| {
            view.region.field = Some(field);
            view.region.is_working = is_working;
        });
    }

    /// The terminal has another size.
    pub(crate) fn resized(&self) {
        self.changed(|view| view.region.resized());
    }

    /// Takes the live region off the screen until the next change.
    pub(crate) fn pause(&self) {
        self.shared.view().region.clear();
    }

    /// Takes everything off the screen, and begins anew.
    pub(crate) fn redraw(&self) {
        self.changed(|view| {
            view.region.clear();
            let _ = write(&mut std::io::stderr().lock(), "\x1b[H\x1b[2J");
        });
    }

    /// Shows what a person has entered, where it stays.
    pub(crate) fn entered(&self, text: &str) {
        self.changed(|view| {
            let text = on_terminal(text).replace('\n', "\n  ");
            let line = view.colored("1", &format!("› {text}"));
            view.line(Block::Entered, &line);
        });
    }

    /// Shows what was said before in a conversation that goes on. Says whether anything was shown.
    pub(crate) fn past(&self, from: &str, text: &str) -> bool {
        let mut view = self.shared.view();
        match view.show {
            Show::Json => view.emit_past(from, text),
            Show::Text if view.talks => {
                let text = prose(text).replace('\n', "\n  ");
                let line = match from {
                    "user" => view.colored("1", &format!("› {text}")),
                    _ => format!("  {text}"),
                };
                view.line(if from == "user" { Block::Entered } else { Block::Text }, &line);
            }
            Show::Text | Show::Nothing => return false,
        }
        true
    }

    /// Shows a text of ours, where it stays.
    pub(crate) fn tell(&self, text: &str) {
        self.changed(|view| view.line(Block::Question, &for_terminal(&on_terminal(text), 2)));
    }

    /// Shows that something failed.
    pub(crate) fn fail(&self, text: &str) {
        self.changed(|view| {
            let text = for_terminal(&on_terminal(text), 2);
            let line = match text.split_once(": ") {
                Some((head, rest)) => format!("{}: {rest}", view.colored("1;31", head)),
                None => text,
            };
            view.line(Block::Note, &line);
        });
    }

    /// The agent has answered, and is told more later.
    pub(crate) fn end_answer(&self) -> Shown {
        let mut view = self.shared.view();
        view.region.clear();
        view.region.waiting = None;
        view.rest();
        view.region.clear();
        view.fresh_line();
        view.draw();
        view.shown()
    }

    /// It is this model from now on.
    pub(crate) fn set_model(&self, model: &str) {
        self.shared.view().model = model.to_owned();
    }

    /// Says something between the calls.
    pub(crate) fn note(&self, text: &str) {
        let mut view = self.shared.view();
        if view.talks {
            let text = for_terminal(text, 2);
            let line = format!("{}{text}{}", view.dim(), view.plain());
            view.line(Block::Note, &line);
        }
    }
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut view = self.view();
        while !view.is_over {
            view.draw();
            view = match self.changed.wait_timeout(view, Duration::from_millis(250)) {
                Ok((view, _)) => view,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

impl View {
    fn dim(&self) -> &'static str {
        if self.has_color { "\x1b[2m" } else { "" }
    }

    fn plain(&self) -> &'static str {
        if self.has_color { "\x1b[0m" } else { "" }
    }

    fn draw(&mut self) {
        self.region.draw(!self.is_at_start);
    }

    /// What was shown since this was asked last.
    fn shown(&mut self) -> Shown {
        Shown {
            is_printed: self.streams && self.has_text,
            calls: std::mem::take(&mut self.calls),
            denials: std::mem::take(&mut self.denials),
            lost: self.lost.take(),
        }
    }

    fn print(&mut self, text: &str) {
        if self.lost.is_none() {
            self.lost = write(&mut std::io::stdout().lock(), text).err();
        }
    }

    /// An empty line, where something else was shown before.
    fn separate(&mut self, next: Option<Block>) {
        if self.talks && self.block.is_some() && self.block != next {
            let _ = write(&mut std::io::stderr().lock(), "\n");
        }
        self.block = next;
    }

    /// A whole line of talk above the live region.
    fn line(&mut self, block: Block, text: &str) {
        self.region.clear();
        self.fresh_line();
        self.separate(Some(block));
        let _ = write(&mut std::io::stderr().lock(), &format!("{text}\n"));
        self.draw();
    }

    /// Ends a line of text that has begun.
    fn fresh_line(&mut self) {
        let rest = self.markdown.end();
        if !self.is_at_start {
            self.print(&format!("{rest}\n"));
            self.is_at_start = true;
        }
        self.flow = Flow::default();
    }

    /// A piece of what is streamed.
    fn piece(&mut self, kind: Kind, piece: &str) {
        let redactor = Arc::clone(&self.redactor);
        let shown = self.held.push(&redactor, kind, piece);
        shown.iter().for_each(|(kind, text)| self.streamed(*kind, text));
    }

    /// What was held back of it, at its end.
    fn rest(&mut self) {
        let redactor = Arc::clone(&self.redactor);
        if let Some((kind, text)) = self.held.rest(&redactor) {
            self.streamed(kind, &text);
        }
    }

    fn streamed(&mut self, kind: Kind, text: &str) {
        match kind {
            Kind::Text => self.text(text),
            Kind::Thinking => {
                let run = self.root.clone();
                self.emit(&run, || RunEvent::Thinking { text: text.to_owned() });
            }
        }
    }

    /// A text on one line, without secrets.
    fn clean(&self, text: &str) -> String {
        one_line(&self.redactor.redact(text)).to_string()
    }

    fn text(&mut self, text: &str) {
        self.region.waiting = None;
        match self.show {
            Show::Json => {
                let run = self.root.clone();
                self.emit(&run, || RunEvent::Text { text: text.to_owned() });
            }
            Show::Text if self.streams && !text.is_empty() => {
                self.region.clear();
                if self.is_at_start {
                    self.separate(Some(Block::Text));
                }
                let safe = prose(text);
                let shown =
                    if self.has_color { self.markdown.piece(&safe) } else { safe.clone().into_owned() };
                let shown = match self.region.is_live() {
                    true => self.flow.piece(&shown, columns()),
                    false => shown,
                };
                self.print(&shown);
                self.is_at_start = safe.ends_with('\n');
                self.has_text = true;
                if self.region.field.is_some() {
                    self.leave_edge();
                    self.draw();
                }
            }
            _ => {}
        }
    }

    /// Behind the last column a terminal waits for the next letter before it begins a row. Whoever comes back to that place
    /// later finds another one, so that the row begins at once.
    fn leave_edge(&mut self) {
        if self.flow.is_at_edge() {
            self.print("\r\n");
            self.flow.begin_row();
        }
    }

    fn colored(&self, color: &str, text: &str) -> String {
        match self.has_color {
            true => format!("\x1b[{color}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

impl Stage {
    fn changed(&self, change: impl FnOnce(&mut View)) {
        let mut view = self.shared.view();
        change(&mut view);
        if view.region.field.is_some() {
            view.draw();
        }
        if view.lost.is_some() {
            self.shared.unwritable.cancel();
        }
    }
}

impl EventSink for Stage {
    fn record(&self, event: &Arc<Event>) {
        self.changed(|view| view.event(event));
    }
}

impl Listener for Stage {
    fn begins(&self, run: &str, redactor: &Arc<Redactor>) {
        self.changed(|view| view.lines.begin(run, redactor));
    }

    fn heard(&self, run: &str, heard: Heard<'_>) {
        self.changed(|view| view.heard(run, &heard));
    }
}
