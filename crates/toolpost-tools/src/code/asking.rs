//! How tools ask the engine: where blocking is allowed, for files that the caller may see, with what is missing reported.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_core::code::{CodeEngine, Confidence, Coverage, Inquiry, Symbol, SymbolQuery};
use toolpost_core::host::HeldBack;
use toolpost_core::text::nearest;
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, Context, Output, ToolError, WorkspacePath};

/// One question of a call to the engine.
pub(super) struct Asking {
    pub(super) ctx: Context,
    engine: Arc<dyn CodeEngine>,
    held_back: HeldBack,
    judged: Mutex<HashMap<String, bool>>,
    /// The folder or file that the question is about.
    path: Mutex<Option<String>>,
}

/// Runs work with the engine of the session. Where much of the code is in languages that are not read, the text begins with
/// that.
pub(super) async fn ask<T: Send + 'static>(
    ctx: &Context,
    work: impl FnOnce(&Asking, &dyn CodeEngine, &Inquiry<'_>) -> Result<Output<T>, ToolError> + Send + 'static,
) -> Result<Output<T>, ToolError> {
    ask_in_form(ctx, |asking, engine, inquiry| {
        let answer = work(asking, engine, inquiry);
        let Some(unread) = asking.unread() else { return answer };
        match answer {
            Ok(mut output) => {
                output.text = format!("{unread}\n\n{}", output.text);
                Ok(output)
            }
            Err(error) if error.code() == Code::NoMatch => {
                let begun = ToolError::new(Code::NoMatch, format!("{unread}; {}", error.message()));
                let details = error.details().iter();
                Err(details.fold(begun, |error, (key, value)| error.with(key, value.clone())))
            }
            Err(error) => Err(error),
        }
    })
    .await
}

/// The same for a text in a form of its own, which has a place for notes.
pub(super) async fn ask_in_form<T: Send + 'static>(
    ctx: &Context,
    work: impl FnOnce(&Asking, &dyn CodeEngine, &Inquiry<'_>) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let engine = Arc::clone(ctx.code()?);
    // The engine waits for its index, which can take as long as the call may.
    ctx.blocking_in_pool(move |ctx| {
        let asking = Asking {
            ctx: ctx.clone(),
            engine: Arc::clone(&engine),
            held_back: ctx.held_back(),
            judged: Mutex::default(),
            path: Mutex::default(),
        };
        let shows = |file: &str| asking.shows(file);
        work(&asking, engine.as_ref(), &Inquiry { ctx, shows: &shows })
    })
    .await
}

impl Asking {
    /// Whether anything of this file may be shown. A file that may not is counted once.
    pub(super) fn shows(&self, file: &str) -> bool {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_shown) = judged.get(file) {
            return *is_shown;
        }
        let is_shown = !self.held_back.holds(file);
        judged.insert(file.to_owned(), is_shown);
        is_shown
    }

    /// Files that the policy holds back.
    pub(super) fn total_held_back(&self) -> u64 {
        self.count_hidden();
        self.held_back.total()
    }

    /// Files that the policy holds back; what is in them is missing in an answer.
    pub(super) fn settled(&self, coverage: &mut Coverage) -> u64 {
        let total = self.total_held_back();
        coverage.complete &= total == 0;
        total
    }

    /// Counts what is not in the index because the policy holds it back, each once.
    fn count_hidden(&self) {
        for name in self.engine.held_back() {
            self.shows(&name);
        }
    }

    /// The display name of a path; an error with the nearest names where there is nothing.
    pub(super) fn place(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        let name = self.ctx.workspace().stat(path)?.name;
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        Ok(name)
    }

    /// That much of the code that the question is about is in languages that are not read.
    pub(super) fn unread(&self) -> Option<String> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.engine.unread(path.as_deref().unwrap_or("."))
    }

    /// The display name of a file.
    pub(super) fn file(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        let stat = self.ctx.workspace().stat(path)?;
        match stat.kind {
            Kind::File => Ok(stat.name),
            _ => {
                let message = format!("`{}` is not a file; name one file", stat.name);
                Err(ToolError::new(Code::NotAFile, message).with("path", stat.name))
            }
        }
    }

    /// What a model should know beside the answer, in parentheses, or nothing.
    pub(super) fn note(&self, first: Vec<String>, coverage: &Coverage) -> String {
        let mut notes = first;
        match (&coverage.note, coverage.complete) {
            (Some(note), _) => notes.push(note.clone()),
            (None, false) => notes.push("this may not be all".to_owned()),
            (None, true) => {}
        }
        self.count_hidden();
        notes.extend(self.held_back.note());
        match notes.is_empty() {
            true => String::new(),
            false => format!("({})", notes.join("; ")),
        }
    }

    /// Why nothing is known of a symbol, with the nearest names that there are.
    pub(super) fn unknown(
        &self,
        engine: &dyn CodeEngine,
        inquiry: &Inquiry<'_>,
        symbol: &str,
        place: &str,
    ) -> ToolError {
        let last = last_name(symbol);
        let (start, end) = last.split_at(last.floor_char_boundary(last.len() / 2));
        let first: String = last.chars().take(1).collect();
        // A name that is nearly right may share only some of its letters with what there is.
        let mut lacks = None;
        let shown = [last, start, end, &first].into_iter().find_map(|part| {
            let (near, coverage) = self.near(engine, inquiry, last, part);
            lacks = coverage.filter(|coverage| !coverage.complete).and_then(|coverage| coverage.note);
            (!near.is_empty()).then_some(near)
        });
        let shown = shown.unwrap_or_default();
        let mut advice = match shown.is_empty() {
            true => "search the text for it".to_owned(),
            false => format!("nearest: {}", shown.join(", ")),
        };
        // It may be in what is not indexed.
        for note in lacks.into_iter().chain(self.hidden_note()) {
            advice.push_str(&format!("; {note}"));
        }
        ToolError::new(Code::NoMatch, format!("no symbol `{symbol}`{place}; {advice}")).with("symbol", symbol)
    }
}

impl Asking {
    /// Refuses a line without its file, and a column without its line: they would mean nothing.
    pub(super) fn check_place(
        &self,
        file: Option<&str>,
        line: Option<u32>,
        column: Option<u32>,
    ) -> Result<(), ToolError> {
        let name = |argument: &'static str| self.ctx.argument(argument).unwrap_or(argument);
        let lacking = match (file, line, column) {
            (None, Some(_), _) => ("line", "file"),
            (_, None, Some(_)) => ("column", "line"),
            _ => return Ok(()),
        };
        let (given, lacking) = (name(lacking.0), name(lacking.1));
        let message = format!("`{given}` means nothing without `{lacking}`; give both, or neither");
        Err(ToolError::new(Code::ValidationError, message).with("argument", given))
    }
}

impl Asking {
    /// Symbols with names like one, of those that have a part of it.
    fn near(
        &self,
        engine: &dyn CodeEngine,
        inquiry: &Inquiry<'_>,
        name: &str,
        part: &str,
    ) -> (Vec<String>, Option<Coverage>) {
        let query =
            SymbolQuery { text: part.to_owned(), path: ".".to_owned(), limit: 200, ..SymbolQuery::default() };
        let (found, coverage) = match engine.symbols(inquiry, &query) {
            Ok((found, coverage)) => (found, Some(coverage)),
            Err(_) => (Vec::new(), None),
        };
        let found: Vec<&Symbol> = found.iter().filter(|symbol| self.shows(&symbol.file)).collect();
        let mut near = nearest(name, found.iter().map(|symbol| symbol.name.as_str()), 6);
        near.dedup();
        let near = near
            .iter()
            .filter_map(|name| found.iter().find(|symbol| symbol.name == *name))
            .take(3)
            .map(|symbol| format!("`{}` ({}:{})", symbol.name, symbol.file, symbol.line))
            .collect();
        (near, coverage)
    }

    fn hidden_note(&self) -> Option<String> {
        self.count_hidden();
        self.held_back.note()
    }
}

/// The last part of a qualified name.
pub(super) fn last_name(symbol: &str) -> &str {
    symbol.rsplit(['.', ':', '#', '/']).next().filter(|last| !last.is_empty()).unwrap_or(symbol)
}

/// How sure something is, where that needs saying.
pub(super) fn doubt(confidence: Confidence) -> Option<&'static str> {
    match confidence {
        Confidence::Exact => None,
        Confidence::Typed => Some("typed"),
        Confidence::Dispatch => Some("dispatch"),
        Confidence::UniqueMember => Some("unique-member"),
        Confidence::Possible => Some("possible"),
    }
}

/// A symbol on one line: `function parse in Reader, src/reader.rs:12`.
pub(super) fn in_words(symbol: &Symbol) -> String {
    let container = symbol.container.as_deref().map(|name| format!(" in {name}")).unwrap_or_default();
    format!("{} {}{container}, {}:{}", symbol.kind, symbol.name, symbol.file, symbol.line)
}
