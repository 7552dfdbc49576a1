//! What a command changes is handed to the journal of its call, so that it can be undone.
//!
//! The guard of the sandbox records it before it changes. Without a sandbox, and on systems other than Linux, nobody does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolpost_core::workspace::{CommandBefore, CommandChange};
use toolpost_core::{Context, ToolError};
use toolpost_process::Command;
use toolpost_process::kept::{self, Change, Changed, PutBack, Spool, State};

/// Maximum number of files to name that cannot be restored.
const MOST_NAMES: usize = 5;

/// Records of fewer bytes are those of a command that changes nothing.
const SHORT: u64 = 200;

/// The records of one command.
#[derive(Debug, Default)]
pub(super) struct Records {
    spool: Option<Spool>,
    /// Why there are none, although somebody wants them.
    failed: Option<String>,
    is_impossible: bool,
}

/// What the result of a command says about undo.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    /// Whether something that it has changed cannot be undone.
    pub(super) is_limited: bool,
    /// What the model should know of that.
    pub(super) note: Option<String>,
}

impl Undo {
    /// A sentence without its full stop, with what the model should know of undo.
    pub(super) fn beside(&self, told: &str) -> String {
        match &self.note {
            None => told.to_owned(),
            Some(note) => format!("{told}; {note}"),
        }
    }
}

impl Records {
    /// Before a command starts. A journal that cannot keep anything does not stop it: a full disk is tidied up by commands.
    pub(super) async fn begin(ctx: &Context, sandbox: &str) -> Records {
        if sandbox == "none" || !cfg!(target_os = "linux") {
            return Records { is_impossible: true, ..Records::default() };
        }
        if !ctx.keeps_changes() {
            return Records::default();
        }
        match ctx.blocking(|ctx| ctx.spool()).await {
            Ok(spool) => Records { spool, ..Records::default() },
            Err(error) => Records { failed: Some(error.to_string()), ..Records::default() },
        }
    }

    /// The command with its changes recorded.
    pub(super) fn of(&mut self, command: Command) -> Command {
        match self.spool.as_ref().map(Spool::try_clone) {
            None => command,
            Some(Ok(spool)) => command.keep_in(spool),
            Some(Err(error)) => {
                self.failed = Some(error.to_string());
                command
            }
        }
    }

    /// When the program could not be run, and another is run instead.
    pub(super) fn start_over(&mut self) {
        if let Some(Err(error)) = self.spool.as_ref().map(|spool| spool.set_len(0)) {
            self.failed = Some(error.to_string());
        }
    }

    /// When the command has ended, however it did.
    pub(super) async fn finish(self, ctx: &Context) -> Undo {
        if let Some(why) = self.failed {
            let note = format!("what it changed cannot be undone: {why}");
            return Undo { is_limited: true, note: Some(note) };
        }
        let Some(mut spool) = self.spool else {
            return Undo { is_limited: self.is_impossible, note: None };
        };
        let is_short = spool.metadata().is_ok_and(|metadata| metadata.len() < SHORT);
        let tell = move |ctx: &Context| {
            let roots = ctx.workspace().roots();
            let CommandChanges { changes, missing, left_out, no_text } = read_changes(&mut spool, &roots)?;
            ctx.command_changed(changes)?;
            ctx.leave_out_of_undo(left_out.iter().cloned().chain(no_text).collect());
            Ok((missing, left_out))
        };
        let told = match is_short {
            true => ctx.blocking(tell).await,
            false => ctx.blocking_in_pool(tell).await,
        };
        let (missing, left_out) = match told {
            Ok(told) => told,
            Err(error) => (vec![error.to_string()], Vec::new()),
        };
        let limits = [
            (!missing.is_empty())
                .then(|| format!("undo will not restore all that it changed: {}", missing.join("; "))),
            uncovered(&left_out),
        ];
        let notes: Vec<String> = limits.into_iter().flatten().collect();
        match notes.is_empty() {
            true => Undo::default(),
            false => Undo { is_limited: true, note: Some(notes.join("; ")) },
        }
    }
}

/// The sentence, without its full stop, about dependency folders that an undo does not cover.
fn uncovered(folders: &[String]) -> Option<String> {
    let more = folders.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = folders.iter().take(MOST_NAMES).map(|name| format!("`{}`", crate::one_line(name)));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("undo does not cover what it changed in {}{more}", names.join(", ")))
}

/// The changes of a command.
#[derive(Debug)]
pub struct CommandChanges {
    /// What it has changed. What it has put back is among them, the same before and after.
    pub changes: Vec<CommandChange>,
    /// What cannot be undone, in words.
    pub missing: Vec<String>,
    /// The dependency folders in which it has changed something, which is not recorded, by their display names.
    pub left_out: Vec<String>,
    /// Names that it has changed and that are not recorded because they, or the texts of links, are not UTF-8; as they are shown.
    pub no_text: Vec<String>,
}

/// Reads what the guard of a command has recorded and compares it with what is there now. The roots are those of the
/// workspace, the first one first.
pub fn read_changes(spool: &mut Spool, roots: &[String]) -> Result<CommandChanges, ToolError> {
    let paths: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    let failed = |error: std::io::Error| {
        ToolError::execution(format!("the records of what the command changed could not be read: {error}"))
    };
    let Changed { changes, put_back, is_whole, is_cut, left_out } =
        kept::changes(spool, &paths).map_err(failed)?;
    let mut told = Vec::with_capacity(changes.len());
    let (mut lost, mut unnamed, mut shared, mut large) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut no_text = Vec::new();
    for Change { path, at_us, before, after } in changes {
        let shown = format!("`{}`", crate::one_line(&path.to_string_lossy()));
        let Some(name) = name(&path, &paths).filter(|name| name != ".") else {
            if name(&path, &paths).is_none() {
                no_text.push(lossy(&path, &paths));
            }
            unnamed.push(shown);
            continue;
        };
        match (&before, &after) {
            (State::NotKept { bytes }, _) => lost.push(format!("{shown} ({bytes} bytes)")),
            (State::Other, _) => lost.push(shown),
            (_, State::Unknown) => shared.push(shown),
            (_, State::NotKept { .. } | State::Other) => large.push(shown),
            _ => {}
        }
        match (side(before), side(after)) {
            (Some(CommandBefore::Unknown), _) => {}
            (Some(before), Some(after)) => told.push(CommandChange { name, at_us, before, after }),
            _ => {
                no_text.push(lossy(&path, &paths));
                unnamed.push(format!("`{}`", crate::one_line(&path.to_string_lossy())));
            }
        }
    }
    for PutBack { path, at_us, state } in put_back {
        let name = name(&path, &paths).filter(|name| name != ".");
        if let (Some(name), Some(same)) = (name, side(state)) {
            told.push(CommandChange { name, at_us, before: same.clone(), after: same });
        }
    }
    let mut missing = Vec::new();
    let reasons = [
        (lost, "could not be kept (too large, unreadable or no file)"),
        (unnamed, "is the workspace itself, or its name or link is not UTF-8"),
        (large, "became too large, unreadable or no file: move it away before an undo"),
        (
            shared,
            "was changed by somebody else too, came from a folder that is not recorded, or has no record of the command's end: \
             undo leaves it as it is",
        ),
    ];
    for (mut names, why) in reasons.into_iter().filter(|(names, _)| !names.is_empty()) {
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        names.truncate(MOST_NAMES);
        missing.push(format!("{}{more} {why}", names.join(", ")));
    }
    if is_cut {
        missing.push(format!("it touched more than {} paths", kept::MOST_PATHS));
    }
    if !is_whole {
        missing.push("some changes could not be recorded".to_owned());
    }
    let left_out = left_out.iter().filter_map(|folder| name(folder, &paths)).collect();
    no_text.truncate(MOST_NAMES);
    Ok(CommandChanges { changes: told, missing, left_out, no_text })
}

/// The display name of a path: relative to the first root, absolute in the others. None if it is not text.
fn name(path: &Path, roots: &[PathBuf]) -> Option<String> {
    match roots.first().and_then(|first| path.strip_prefix(first).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => Some(".".to_owned()),
        Some(rest) => rest.to_str().map(str::to_owned),
        None => path.to_str().map(str::to_owned),
    }
}

/// The same of a path that is not text.
fn lossy(path: &Path, roots: &[PathBuf]) -> String {
    let inner = roots.first().and_then(|first| path.strip_prefix(first).ok());
    inner.unwrap_or(path).to_string_lossy().into_owned()
}

/// What was or is there, in the words of the journal. None if it has none for it.
fn side(state: State) -> Option<CommandBefore> {
    Some(match state {
        State::Absent => CommandBefore::Absent,
        State::File { content, mode } => CommandBefore::File { content: Arc::from(content), mode },
        State::NotKept { bytes } => CommandBefore::TooLarge { bytes },
        State::Folder { mode } => CommandBefore::Folder { mode },
        State::Link(text) => CommandBefore::Link(text.to_str()?.to_owned()),
        State::Other | State::Unknown => CommandBefore::Unknown,
    })
}
