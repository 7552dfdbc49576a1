//! What becomes of each name, decided before anything is touched.

use super::Undo;
use super::others::{self, Others};
use super::repository::{self, Part, Repositories};
use super::target::Target;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolpost_core::store::{Held, KeptChange, Store};
use toolpost_core::text::{hex, merge};
use toolpost_core::workspace::RunByGit;
use toolpost_core::{Capability, Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::{Disk, Exact};

/// Files of more bytes are not looked at.
pub(super) const LARGEST: u64 = 256 << 20;

/// One name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// What is there.
    pub(crate) now: Exact,
    /// What will be there.
    pub(crate) wanted: Exact,
    pub(crate) by_command: bool,
    pub(crate) verdict: Verdict,
    /// Of an object of git: what the calls have left and what was there before, whether or not it is changed.
    pub(crate) object: Option<(Held, Held)>,
}

/// What is to be done about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as the call left it, and becomes what it was before.
    Restore,
    /// Somebody has changed it since, elsewhere in it; both hold.
    Merge,
    /// It is what it was before already.
    Nothing,
    /// A folder that holds something of somebody else, or an object of git.
    Stays,
    /// It cannot be done, and why.
    Conflict(String),
}

impl Verdict {
    pub(crate) fn is_work(&self) -> bool {
        matches!(self, Verdict::Restore | Verdict::Merge)
    }
}

impl Item {
    /// Lines that come and lines that go.
    pub(crate) fn counts(&self) -> Option<(usize, usize)> {
        let bytes = |side: &Exact| match side {
            Exact::File { content, .. } => Some(Arc::clone(content)),
            Exact::Absent => Some(Arc::from(&b""[..])),
            _ => None,
        };
        let is_file = |side: &Exact| matches!(side, Exact::File { .. });
        if !is_file(&self.now) && !is_file(&self.wanted) {
            return None;
        }
        merge::counts(&bytes(&self.now)?, &bytes(&self.wanted)?)
    }
}

/// What a name holds now.
pub(super) fn now(disk: &Disk, name: &str) -> Result<Exact, ToolError> {
    disk.exact(&WorkspacePath::new(name), LARGEST)
}

/// Whether this is what was kept. Modes of folders, and those that nobody knows, do not count.
pub(super) fn is(now: &Exact, kept: &Held) -> bool {
    match (now, kept) {
        (Exact::Absent, Held::Absent) | (Exact::Folder { .. }, Held::Folder { .. }) => true,
        (Exact::Link(text), Held::Link { text: kept }) => text == kept,
        (Exact::File { content, mode }, Held::File { hash, size, mode: kept }) => {
            content.len() as u64 == *size
                && (kept.is_none() || mode.is_none() || mode == kept)
                && hex(&Sha256::digest(content)) == *hash
        }
        _ => false,
    }
}

/// Judges every name of the target.
pub(super) fn judge(undo: &Undo<'_>, target: &Target) -> Result<Vec<Item>, ToolError> {
    let names = target.names();
    let repositories = Repositories::of(undo.disk, names.iter().map(String::as_str));
    let others = Others::of(undo, target)?;
    let mut items = Vec::with_capacity(names.len());
    let (all, mut explained) = (names.len(), 0);
    for name in names {
        (undo.progress)("looked at", items.len(), all);
        items.push(match repositories.part(&name) {
            Part::Object(_) => repository::object(undo, target, name)?,
            _ => one(
                undo,
                target,
                name,
                &Known { repositories: &repositories, others: &others },
                &mut explained,
            )?,
        });
    }
    keep_moved(target, &mut items);
    folders(undo, &mut items)?;
    protect(undo, &mut items);
    repository::weigh(&repositories, &mut items);
    // What stays keeps the folders above it.
    while repository::together(undo, &repositories, &mut items) {
        folders(undo, &mut items)?;
    }
    implied(undo, &repositories, &mut items)?;
    Ok(items)
}

/// Folders that are gone and that must be there for what comes back: they are made with it, and go again with a redo.
fn implied(undo: &Undo<'_>, repositories: &Repositories, items: &mut Vec<Item>) -> Result<(), ToolError> {
    let known: BTreeSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    let comes =
        |item: &&Item| item.verdict.is_work() && item.now == Exact::Absent && item.wanted != Exact::Absent;
    let mut made: BTreeMap<String, bool> = BTreeMap::new();
    for item in items.iter().filter(comes) {
        if repositories.part(&item.name) != Part::Ordinary {
            continue;
        }
        let ends: Vec<usize> = item.name.match_indices('/').map(|(at, _)| at).collect();
        for folder in ends.into_iter().rev().map(|end| &item.name[..end]) {
            if folder.is_empty() || known.contains(folder) || made.contains_key(folder) {
                break;
            }
            if now(undo.disk, folder)? != Exact::Absent {
                break;
            }
            made.insert(folder.to_owned(), item.by_command);
        }
    }
    let folder = |(name, by_command)| Item {
        name,
        now: Exact::Absent,
        wanted: Exact::Folder { mode: None },
        by_command,
        verdict: Verdict::Restore,
        object: None,
    };
    items.extend(made.into_iter().map(folder));
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(())
}

/// Maximum number of conflicts for which a later call is looked for.
const MOST_EXPLAINED: usize = 20;

/// What is known of all names together.
struct Known<'a> {
    repositories: &'a Repositories,
    others: &'a Others,
}

fn one(
    undo: &Undo<'_>,
    target: &Target,
    name: String,
    known: &Known<'_>,
    explained: &mut usize,
) -> Result<Item, ToolError> {
    let by_command = target.of_name(&name).any(|step| step.by_command);
    let now = match now(undo.disk, &name) {
        Ok(now) => now,
        // The call has put something else in place of a folder above, which goes back as well.
        Err(_) if is_below_changed(undo, target, &name) => Exact::Absent,
        // Nothing was there before, and nothing can be there below a file.
        Err(_) if was_absent(target, &name) && is_below_file(undo, &name) => Exact::Absent,
        Err(error) => {
            let verdict = Verdict::Conflict(error.message().to_owned());
            return Ok(Item {
                name,
                now: Exact::Absent,
                wanted: Exact::Absent,
                by_command,
                verdict,
                object: None,
            });
        }
    };
    let mut wanted = now.clone();
    let mut is_merged = false;
    let is_index = repository::is_index(known.repositories.part(&name), &name);
    for step in target.of_name(&name) {
        if let Some(command) = known.others.around(step) {
            let is_taken_back = target.of_name(&name).any(|other| other.set == command.set);
            // The command that was there before and after goes back to what it found, and this with it.
            if is_taken_back || is(&wanted, &command.before) {
                continue;
            }
            let verdict = Verdict::Conflict(others::in_the_middle(undo, command)?);
            return Ok(Item { name, wanted: now.clone(), now, by_command, verdict, object: None });
        }
        if is_index {
            // Nothing is to be taken back that anybody would miss.
            if repository::is_note(undo, step)? && !is(&wanted, &step.after) {
                continue;
            }
            wanted = repository::settled_index(undo, &wanted, &step.after, &step.before)?;
        }
        let later = known.others.later(target, step);
        let goes_back = match back(undo, &wanted, &step.after, &step.before)? {
            // A later call has made it as it was before. It would go back to what this call has left.
            Ok((state, _)) if later.is_some() && state == wanted && !is(&wanted, &step.after) => {
                Err("it is as it was before the call already, but not because that was undone".to_owned())
            }
            other => other,
        };
        match goes_back {
            Ok((state, merged)) => {
                is_merged |= merged;
                wanted = state;
            }
            Err(why) => {
                *explained += 1;
                // One that came in the middle of this one goes back after it.
                let is_inner = |later: &&KeptChange| {
                    known.others.around(later).is_some_and(|around| around.set == step.set)
                };
                let later = later.filter(|later| *explained <= MOST_EXPLAINED && !is_inner(later));
                let why = match (later, &step.before) {
                    (Some(later), _) => format!("{why}; {}", others::undo_first(undo, later)?),
                    (None, Held::TooLarge { .. } | Held::Unknown) => why,
                    (None, before) => format!("{why}; {}", own_advice(&now, &step.after, before)),
                };
                return Ok(Item {
                    name,
                    wanted: now.clone(),
                    now,
                    by_command,
                    verdict: Verdict::Conflict(why),
                    object: None,
                });
            }
        }
    }
    let verdict = match wanted == now {
        true => Verdict::Nothing,
        false if is_merged => Verdict::Merge,
        false => Verdict::Restore,
    };
    Ok(Item { name, now, wanted, by_command, verdict, object: None })
}

/// Whether the target has put something that is no folder in place of one above this name, and it is still there.
fn is_below_changed(undo: &Undo<'_>, target: &Target, name: &str) -> bool {
    let ends = name.match_indices('/').map(|(at, _)| at);
    let mut above = ends.flat_map(|end| target.of_name(&name[..end]));
    above.any(|step| {
        matches!(step.after, Held::File { .. } | Held::Link { .. })
            && now(undo.disk, &step.name).is_ok_and(|now| is(&now, &step.after))
    })
}

/// Whether nothing had this name before the changes that are to be taken back.
fn was_absent(target: &Target, name: &str) -> bool {
    target.of_name(name).last().is_some_and(|step| step.before == Held::Absent)
}

/// Whether the first name above this one that is no folder is a file.
fn is_below_file(undo: &Undo<'_>, name: &str) -> bool {
    let mut above = name.match_indices('/').map(|(end, _)| now(undo.disk, &name[..end]));
    let first = above.find(|state| !matches!(state, Ok(Exact::Folder { .. })));
    matches!(first, Some(Ok(Exact::File { .. })))
}

/// What to do where somebody has changed a name since, by hand.
fn own_advice(now: &Exact, base: &Held, before: &Held) -> &'static str {
    let is_removed = |held: &Held| matches!(held, Held::Absent | Held::Unknown | Held::TooLarge { .. });
    match (now, is_removed(base) || is_removed(before)) {
        (Exact::Absent, _) => "`toolpost undo --bring-back` restores what was there before",
        (_, true) => "move your version away or change it back, then try again",
        (_, false) => "change it back, or move your version away and use `toolpost undo --bring-back`",
    }
}

/// What a state becomes when a change is taken back, and whether two changes were put together for it; or why not.
type Back = Result<(Exact, bool), String>;

fn back(undo: &Undo<'_>, state: &Exact, base: &Held, theirs: &Held) -> Result<Back, ToolError> {
    let store = undo.store;
    if let (Exact::File { content, mode }, Held::File { .. }, Held::File { .. }) = (state, base, theirs) {
        return files(store, (content, *mode), base, theirs);
    }
    let is_base = match (state, base, theirs) {
        (Exact::File { content, .. }, Held::File { hash, .. }, _) => hex(&Sha256::digest(content)) == *hash,
        _ => is(state, base),
    };
    if is_base && *theirs == Held::Absent && !is(state, base) {
        let why = "the call made it, and its mode was changed since: to undo that would remove it";
        return Ok(Err(why.to_owned()));
    }
    if is_base {
        return Ok(exact(store, theirs)?.map(|wanted| (wanted, false)));
    }
    if is(state, theirs) {
        return Ok(Ok((state.clone(), false)));
    }
    // Nothing is there that could be lost.
    if *state == Exact::Absent && (undo.brings_back || matches!(base, Held::TooLarge { .. } | Held::Unknown))
    {
        return Ok(exact(store, theirs)?.map(|wanted| (wanted, false)));
    }
    Ok(Err(match (state, base, theirs) {
        (_, _, Held::TooLarge { size }) => {
            format!("what was there before was too large to be kept ({size} bytes)")
        }
        (_, Held::TooLarge { .. }, _) => "what the call has left was too large to be kept".to_owned(),
        (_, Held::Unknown, _) => {
            "the state after the call is unknown: another process changed it while a command ran, it came from a folder \
             that is not recorded, or it was not a file"
                .to_owned()
        }
        (Exact::Absent, ..) => "it was removed since".to_owned(),
        (_, Held::Absent, _) => "something new has that name since".to_owned(),
        (Exact::Other(what), ..) => format!("it is {what} now"),
        (_, Held::File { .. }, Held::Absent) => {
            "the call made it, and it was changed since: to undo that would remove those changes".to_owned()
        }
        _ => "it was changed since into something else".to_owned(),
    }))
}

/// Three files: contents and modes are judged apart.
fn files(
    store: &dyn Store,
    (content, mode): (&Arc<[u8]>, Option<u32>),
    base: &Held,
    theirs: &Held,
) -> Result<Back, ToolError> {
    let (Held::File { hash: base_hash, mode: base_mode, .. }, Held::File { hash, mode: their_mode, .. }) =
        (base, theirs)
    else {
        return Ok(Err("it is not a file".to_owned()));
    };
    let own = hex(&Sha256::digest(content));
    let (new, is_merged) = if own == *base_hash {
        match bytes(store, hash)? {
            Ok(bytes) => (bytes, false),
            Err(why) => return Ok(Err(why)),
        }
    } else if own == *hash || base_hash == hash {
        (Arc::clone(content), false)
    } else {
        let (base, theirs) = match (bytes(store, base_hash)?, bytes(store, hash)?) {
            (Ok(base), Ok(theirs)) => (base, theirs),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        };
        match merge::merged(&base, content, &theirs) {
            Ok(merged) => (Arc::from(merged), true),
            Err(why) => return Ok(Err(why)),
        }
    };
    let new_mode = if *base_mode == mode || base_mode.is_none() {
        their_mode.or(mode)
    } else if base_mode == their_mode || *their_mode == mode || their_mode.is_none() {
        mode
    } else {
        return Ok(Err("its mode was changed since, and by the call too".to_owned()));
    };
    Ok(Ok((Exact::File { content: new, mode: new_mode }, is_merged)))
}

fn bytes(store: &dyn Store, hash: &str) -> Result<Result<Arc<[u8]>, String>, ToolError> {
    Ok(match store.content(hash)? {
        Some(content) => Ok(content.into()),
        None => Err("what it held is not kept any more (key `keep`)".to_owned()),
    })
}

/// What was kept, with its bytes.
pub(super) fn exact(store: &dyn Store, kept: &Held) -> Result<Result<Exact, String>, ToolError> {
    Ok(match kept {
        Held::Absent => Ok(Exact::Absent),
        Held::Folder { mode } => Ok(Exact::Folder { mode: *mode }),
        Held::Link { text } => Ok(Exact::Link(text.clone())),
        Held::File { hash, mode, .. } => {
            bytes(store, hash)?.map(|content| Exact::File { content, mode: *mode })
        }
        Held::TooLarge { size } => {
            Err(format!("what was there before was too large to be kept ({size} bytes)"))
        }
        Held::Unknown => Err("its previous content is unknown".to_owned()),
    })
}

/// What a name held before that cannot be restored stays where it is now: a call may have moved it there.
fn keep_moved(target: &Target, items: &mut [Item]) {
    let mut lost: BTreeMap<String, String> = BTreeMap::new();
    for item in items.iter().filter(|item| matches!(item.verdict, Verdict::Conflict(_))) {
        let before = target.of_name(&item.name).last().map(|step| &step.before);
        if let Some(Held::File { hash, .. }) = before {
            lost.insert(hash.clone(), item.name.clone());
        }
    }
    if lost.is_empty() {
        return;
    }
    let hash_of = |state: &Exact| match state {
        Exact::File { content, .. } => Some(hex(&Sha256::digest(content))),
        _ => None,
    };
    for item in items.iter_mut().filter(|item| item.verdict.is_work()) {
        let Some(now) = hash_of(&item.now) else { continue };
        if let Some(name) = lost.get(&now).filter(|_| hash_of(&item.wanted).as_ref() != Some(&now)) {
            item.verdict =
                Verdict::Conflict(format!("it holds what `{name}` held before, which is not restored"));
            item.wanted = item.now.clone();
        }
    }
}

/// Folders go only if nothing of somebody else is in them. What is to take their place cannot, then.
fn folders(undo: &Undo<'_>, items: &mut [Item]) -> Result<(), ToolError> {
    // Names that will be gone, so far as is known; the innermost folders first.
    let mut gone: BTreeSet<String> = items
        .iter()
        .filter(|item| item.wanted == Exact::Absent && !matches!(item.verdict, Verdict::Conflict(_)))
        .filter(|item| !matches!(item.now, Exact::Folder { .. }))
        .map(|item| item.name.clone())
        .collect();
    for item in items.iter_mut().rev() {
        if !item.verdict.is_work() || !matches!(item.now, Exact::Folder { .. }) {
            continue;
        }
        if matches!(item.wanted, Exact::Folder { .. }) {
            continue;
        }
        let below = |name: &str| gone.contains(&format!("{}/{name}", item.name));
        if undo.disk.holds_more(&WorkspacePath::new(item.name.clone()), &below)? {
            item.verdict = match item.wanted {
                Exact::Absent => Verdict::Stays,
                _ => Verdict::Conflict(
                    "a folder has that name, and holds files that the call did not make; move them away, then try again"
                        .to_owned(),
                ),
            };
            item.wanted = item.now.clone();
        } else {
            gone.insert(item.name.clone());
        }
    }
    Ok(())
}

/// What a command has changed is known from what ran beside it. Names that a file tool could not have written without a
/// question are not written from that.
fn protect(undo: &Undo<'_>, items: &mut [Item]) {
    let names: Vec<String> = items
        .iter()
        .filter(|item| item.by_command && item.verdict.is_work())
        .map(|item| item.name.clone())
        .collect();
    let run = if names.is_empty() { Vec::new() } else { undo.disk.run_by_git(&names) };
    for item in items.iter_mut().filter(|item| item.by_command && item.verdict.is_work()) {
        // What a command may write itself, it gains nothing by in a record that it has forged.
        let is_free = |name: &str| undo.policy.is_open_to_commands(Capability::Write, name, &[]);
        let is_run = run.iter().any(|run| {
            // A link by another name matters where that name is protected.
            let is_harmless = match run {
                RunByGit::Linked { name, .. } => is_free(name),
                // Git reads no more from it than the name of a branch.
                RunByGit::Identifies(_) => stays_head(item),
                _ => false,
            };
            !is_harmless && is_about(run, &item.name)
        });
        if !is_free(&item.name) || is_run {
            item.verdict = Verdict::Conflict(
                "a command has changed it, and it is protected: what is kept of it is not put there by itself; change it by \
                 hand, or allow it with a rule"
                    .to_owned(),
            );
            item.wanted = item.now.clone();
        }
    }
}

/// Whether this is the branch of a repository, before and after: its folder stays one.
fn stays_head(item: &Item) -> bool {
    let is_file = |state: &Exact| matches!(state, Exact::File { .. });
    item.name.rsplit('/').next() == Some("HEAD") && is_file(&item.now) && is_file(&item.wanted)
}

/// Whether what git runs is this name, or a folder above it.
fn is_about(run: &RunByGit, name: &str) -> bool {
    let (RunByGit::Named(path)
    | RunByGit::Completes(path)
    | RunByGit::Identifies(path)
    | RunByGit::Linked { path, .. }) = run;
    name.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The content of a file.
type Bytes = Arc<[u8]>;

/// What was judged, as it is kept.
pub(super) fn held(state: &Exact) -> Result<(Held, Option<Bytes>), ToolError> {
    Ok(match state {
        Exact::Absent => (Held::Absent, None),
        Exact::Folder { mode } => (Held::Folder { mode: *mode }, None),
        Exact::Link(text) => (Held::Link { text: text.clone() }, None),
        Exact::File { content, mode } => {
            let hash = hex(&Sha256::digest(content));
            let kept = Held::File { hash, size: content.len() as u64, mode: *mode };
            (kept, Some(Arc::clone(content)))
        }
        Exact::Other(what) => {
            return Err(ToolError::new(Code::NotAFile, format!("what is there is {what}, and stays")));
        }
    })
}
