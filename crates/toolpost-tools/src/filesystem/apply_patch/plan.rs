//! What every file of a patch becomes, computed in memory from what is there. Nothing is written here.

use super::apply::{self, Applied};
use super::content::Content;
use super::patch::{Change, Existing, FilePatch, Hunk, HunkLine, Patch, Source, Target};
use crate::filesystem::canonical;
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::Step;
use crate::filesystem::versions::{self, Knowledge, Since};
use crate::filesystem::{omission, redacted};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use toolpost_core::text::Redactor;
use toolpost_core::{Code, ToolError};

/// What is there before the patch: every path of it by its spelling, and every file by its name.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) names: HashMap<String, String>,
    /// Spellings that are links to the file.
    pub(super) links: HashSet<String>,
    /// Files that have other names too, as hard links.
    pub(super) linked: HashSet<String>,
    pub(super) files: BTreeMap<String, Existed>,
    /// What the session knows of the files.
    pub(super) known: HashMap<String, Knowledge>,
    /// What is not shown of the files.
    pub(super) redactor: Arc<Redactor>,
}

/// One file as it was found.
#[derive(Debug, Clone)]
pub(super) enum Existed {
    File {
        bytes: Arc<[u8]>,
        mode: u32,
    },
    /// Nothing was there; the refusal names what is near.
    Missing(ToolError),
}

/// One file and what becomes of it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) before: Option<Arc<[u8]>>,
    pub(super) mode: Option<u32>,
    pub(super) after: Option<Arc<[u8]>>,
    /// The file that was moved here.
    pub(super) moved_from: Option<String>,
    /// The most forgiving step that was needed to place a hunk.
    pub(super) step: Option<Step>,
    /// What was changed since the session has read the file, where hunks for that version were merged with it.
    pub(super) since: Option<Since>,
    /// Whether this patch put another file here, so that what the name held before is gone or elsewhere.
    pub(super) is_replaced: bool,
    missing: Option<ToolError>,
}

impl Planned {
    pub(super) fn is_changed(&self) -> bool {
        self.before != self.after
    }
}

/// What hunks have made of a file.
struct Patched {
    content: Arc<[u8]>,
    step: Option<Step>,
    since: Option<Since>,
}

/// Every file of the patch, in the order in which it names them.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) files: Vec<Planned>,
    /// What the patch asks for and the tool leaves.
    pub(super) notes: Vec<String>,
}

impl Plan {
    pub(super) fn get(&self, name: &str) -> Option<&Planned> {
        self.files.iter().find(|file| file.name == name)
    }
}

/// Computes the plan, or says why there is none.
pub(super) fn plan(effort: &Effort, patch: &Patch, world: &World) -> Result<Plan, ToolError> {
    let mut draft = Draft::new(effort, patch, world);
    for file in &patch.files {
        effort.check()?;
        draft.apply(file)?;
        if let Some(mode) = &file.mode {
            draft
                .notes
                .push(format!("the mode {mode} of `{}` was not set; set it with a command", file.path));
        }
    }
    let plan = Plan { files: draft.files, notes: draft.notes };
    if plan.files.iter().any(Planned::is_changed) {
        return Ok(plan);
    }
    let why = plan.notes.first().map_or_else(String::new, |note| format!(" ({note})"));
    Err(ToolError::new(
        Code::NoChange,
        format!("the patch changes nothing{why}; leave it out, or correct it"),
    ))
}

struct Draft<'a> {
    effort: &'a Effort,
    world: &'a World,
    files: Vec<Planned>,
    index: HashMap<String, usize>,
    /// Files that this patch moves away or deletes, so that others may take their names.
    vacated: HashSet<String>,
    notes: Vec<String>,
}

impl<'a> Draft<'a> {
    fn new(effort: &'a Effort, patch: &Patch, world: &'a World) -> Draft<'a> {
        let mut draft = Draft {
            effort,
            world,
            files: Vec::new(),
            index: HashMap::new(),
            vacated: HashSet::new(),
            notes: Vec::new(),
        };
        for (_, path) in patch.paths() {
            draft.add(path);
        }
        for file in &patch.files {
            let is_vacated = match &file.change {
                Change::Add { .. } => false,
                Change::Delete { .. } => true,
                Change::Update { to, .. } => to.as_ref().is_some_and(|to| to.source == Source::Moves),
            };
            if is_vacated {
                draft.vacated.insert(draft.name(&file.path));
            }
        }
        draft
    }

    fn name(&self, path: &str) -> String {
        self.world.names.get(path).cloned().unwrap_or_else(|| path.to_owned())
    }

    fn add(&mut self, path: &str) {
        let name = self.name(path);
        if self.index.contains_key(&name) {
            return;
        }
        let (before, mode, missing) = match self.world.files.get(&name) {
            Some(Existed::File { bytes, mode }) => (Some(bytes.clone()), Some(*mode), None),
            Some(Existed::Missing(error)) => (None, None, Some(error.clone())),
            None => (None, None, None),
        };
        self.index.insert(name.clone(), self.files.len());
        self.files.push(Planned {
            name,
            after: before.clone(),
            before,
            mode,
            moved_from: None,
            step: None,
            since: None,
            is_replaced: false,
            missing,
        });
    }

    fn at(&self, path: &str) -> usize {
        // Every path of the patch was added in `new`.
        self.index.get(&self.name(path)).copied().unwrap_or_default()
    }

    fn apply(&mut self, file: &FilePatch) -> Result<(), ToolError> {
        let at = self.at(&file.path);
        match &file.change {
            Change::Add { content, onto } => {
                self.check_free(at, *onto, file, content.as_bytes())?;
                let target = &mut self.files[at];
                let old = target.after.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                let content = &*redacted::restored(&self.world.redactor, &target.name, content, &old)?;
                redacted::check(&self.world.redactor, &target.name, &old, content)?;
                omission::check(self.effort, &target.name, &[&*old], content)?;
                target.after = Some(match (&target.after, onto) {
                    (Some(old), Existing::Replaced) => in_the_form_of(old, content).into(),
                    _ => content.as_bytes().into(),
                });
                target.is_replaced = true;
                target.moved_from = None;
            }
            Change::Delete { hunks } => {
                self.check_no_link(at, file)?;
                let old = self.content(at, file)?;
                if !hunks.is_empty() && !self.hunks(at, &old, hunks)?.content.is_empty() {
                    return Err(more_than_deleted(&self.files[at].name, file));
                }
                self.files[at].after = None;
            }
            Change::Update { to, hunks } => {
                let old = match to {
                    // Renames and copies of git all begin from the old tree, in whatever order they come.
                    Some(Target { onto: Existing::Refused, source, .. }) => {
                        self.original(at, *source, file)?
                    }
                    _ => self.content(at, file)?,
                };
                let new = self.hunks(at, &old, hunks)?;
                match to {
                    None => self.set(at, new),
                    Some(to) => self.place(at, to, file, new)?,
                }
            }
        }
        Ok(())
    }

    /// What a file holds at this point of the patch.
    fn content(&self, at: usize, file: &FilePatch) -> Result<Arc<[u8]>, ToolError> {
        let planned = &self.files[at];
        match (&planned.after, &planned.missing) {
            (Some(content), _) => Ok(content.clone()),
            (None, Some(missing)) => Err(missing.clone().with("patchLine", file.line)),
            (None, None) => Err(ToolError::new(
                Code::FileNotFound,
                format!(
                    "line {} of the patch: `{}` was deleted or moved further up in the patch; name each file once",
                    file.line, planned.name
                ),
            )
            .with("path", planned.name.as_str())
            .with("patchLine", file.line)),
        }
    }

    fn original(&self, at: usize, source: Source, file: &FilePatch) -> Result<Arc<[u8]>, ToolError> {
        let planned = &self.files[at];
        match &planned.before {
            Some(before) if source == Source::Stays || planned.is_replaced || planned.after.is_none() => {
                Ok(before.clone())
            }
            _ => self.content(at, file),
        }
    }

    fn hunks(&self, at: usize, old: &Arc<[u8]>, hunks: &[Hunk]) -> Result<Patched, ToolError> {
        if hunks.is_empty() {
            return Ok(Patched { content: old.clone(), step: None, since: None });
        }
        let name = &self.files[at].name;
        let content = Content::decode(name, old)?;
        let tried = self.applied(name, content.text(), hunks);
        // What this patch has made of a file already was made of what is there now.
        let is_untouched = self.files[at].before.as_ref().is_some_and(|before| Arc::ptr_eq(before, old));
        let base = self.world.known.get(name).and_then(Knowledge::base).filter(|_| is_untouched);
        let (Applied { text, step }, since) = match base {
            Some(base) => self.merged_if_stale(name, base, content.text(), hunks, tried)?,
            None => (tried?, None),
        };
        redacted::check(&self.world.redactor, name, content.text(), &text)?;
        omission::check(self.effort, name, &[content.text()], &text)?;
        Ok(Patched { content: content.encode(name, text)?.into(), step: Some(step), since })
    }

    fn applied(&self, name: &str, text: &str, hunks: &[Hunk]) -> Result<Applied, ToolError> {
        let hunks = self.restored(name, hunks, text)?;
        let tried = apply::apply(self.effort, name, text, &hunks);
        match (&tried, in_form_of(text, &hunks)) {
            (Err(error), Some(hunks)) if error.code() == Code::NoMatch => {
                let applied = apply::apply(self.effort, name, text, &hunks)?;
                Ok(Applied { step: applied.step.max(Step::LookAlikes), ..applied })
            }
            _ => tried,
        }
    }

    /// What comes of hunks that were tried on what is there now. Where they do not fit it exactly, but fit what the session has
    /// read, they were made for that.
    fn merged_if_stale(
        &self,
        name: &str,
        base: &[u8],
        now: &str,
        hunks: &[Hunk],
        tried: Result<Applied, ToolError>,
    ) -> Result<(Applied, Option<Since>), ToolError> {
        let is_open = match &tried {
            Ok(applied) => applied.step > Step::LineEndings,
            Err(error) => matches!(error.code(), Code::NoMatch | Code::AmbiguousMatch),
        };
        let base = if is_open { Content::decode(name, base).ok() } else { None };
        let mine = base.as_ref().and_then(|base| self.applied(name, base.text(), hunks).ok());
        let (Some(base), Some(mine)) = (base, mine.filter(|mine| mine.step <= Step::LineEndings)) else {
            return Ok((tried?, None));
        };
        if mine.text == base.text() {
            return Ok((tried?, None));
        }
        let refusal = |message: String| ToolError::new(Code::NoMatch, message).with("path", name);
        let shown = |text: &str| self.world.redactor.redact_lines(text).into_owned();
        let since = || Since::shown(&shown, name, base.text(), now);
        match versions::merged(base.text(), &mine.text, now) {
            Ok(merged) if merged == now => {
                let is_said = |error: &ToolError| error.details().get("alreadyApplied") == Some(&true.into());
                let message = format!(
                    "`{name}` has the new lines already: somebody has made the same change since this session read it, and nothing \
                     was written; leave these hunks out"
                );
                Err(tried
                    .err()
                    .filter(is_said)
                    .unwrap_or_else(|| refusal(message).with("alreadyApplied", true)))
            }
            Ok(text) => Ok((Applied { text, step: mine.step }, Some(since()))),
            Err(why) => {
                let message =
                    format!("the old lines of `{name}` are only in the version that this session has read");
                let error = tried.err().unwrap_or_else(|| refusal(message));
                Err(versions::unmergeable(error, name, &why, &since()))
            }
        }
    }

    /// The hunks with the values of the file for their marks.
    fn restored<'h>(&self, name: &str, hunks: &'h [Hunk], text: &str) -> Result<Cow<'h, [Hunk]>, ToolError> {
        let mut restored = Cow::Borrowed(hunks);
        for (at, hunk) in hunks.iter().enumerate() {
            let mut lines = Vec::new();
            let mut is_changed = false;
            for line in &hunk.lines {
                match redacted::restored(&self.world.redactor, name, &line.text, text)? {
                    Cow::Borrowed(_) => lines.push(line.clone()),
                    // A value may have several lines.
                    Cow::Owned(value) => {
                        is_changed = true;
                        lines.extend(
                            value.split('\n').map(|text| HunkLine { text: text.to_owned(), ..line.clone() }),
                        );
                    }
                }
            }
            if is_changed {
                restored.to_mut()[at].lines = lines;
            }
        }
        Ok(restored)
    }

    fn set(&mut self, at: usize, new: Patched) {
        let file = &mut self.files[at];
        file.after = Some(new.content);
        file.step = file.step.max(new.step);
        file.since = file.since.take().or(new.since);
    }

    /// Puts the content under another name.
    fn place(&mut self, at: usize, to: &Target, file: &FilePatch, new: Patched) -> Result<(), ToolError> {
        let target = self.at(&to.path);
        if target == at {
            self.set(at, new);
            return Ok(());
        }
        if to.source == Source::Moves {
            self.check_no_link(at, file)?;
        }
        self.check_free(target, to.onto, file, &new.content)?;
        let mut moved_from = None;
        if to.source == Source::Moves {
            let source = &mut self.files[at];
            let origin = source.moved_from.take().unwrap_or_else(|| source.name.clone());
            moved_from = Some(origin);
            if !source.is_replaced || to.onto == Existing::Replaced {
                source.after = None;
            }
        }
        let inherited = self.files[at].step;
        let target = &mut self.files[target];
        target.after = Some(new.content);
        target.step = target.step.max(new.step).max(inherited);
        target.since = new.since;
        target.moved_from = moved_from;
        target.is_replaced = true;
        Ok(())
    }

    /// A link itself cannot be put back, should another file of the patch fail.
    fn check_no_link(&self, at: usize, file: &FilePatch) -> Result<(), ToolError> {
        if !self.world.links.contains(&file.path) {
            return Ok(());
        }
        let name = &self.files[at].name;
        let message = format!(
            "line {} of the patch: `{}` is a link to `{name}`; name `{name}` itself, or remove the link by itself",
            file.line, file.path
        );
        Err(ToolError::new(Code::NotAFile, message)
            .with("path", file.path.as_str())
            .with("patchLine", file.line))
    }

    /// Whether a file may be put here, for a diff that was made where there was none.
    fn check_free(
        &self,
        at: usize,
        onto: Existing,
        file: &FilePatch,
        content: &[u8],
    ) -> Result<(), ToolError> {
        let there = &self.files[at];
        let is_free = there.after.is_none() || (self.vacated.contains(&there.name) && !there.is_replaced);
        if onto == Existing::Replaced || is_free {
            return Ok(());
        }
        let is_same = there.after.as_deref() == Some(content);
        let what = match is_same {
            true => "exists already, with this very content; leave it out",
            false => {
                "exists already, and the diff was made where it did not; change it with a diff of what it holds, \
                 or replace it with `*** Add File` between `*** Begin Patch` and `*** End Patch`"
            }
        };
        Err(ToolError::new(
            Code::NoMatch,
            format!("line {} of the patch: `{}` {what}", file.line, there.name),
        )
        .with("path", there.name.as_str())
        .with("patchLine", file.line)
        .with("alreadyApplied", is_same))
    }
}

/// New content with the byte order mark and the line endings of what it replaces.
fn in_the_form_of(old: &[u8], content: &str) -> Vec<u8> {
    const BOM: &[u8] = "\u{feff}".as_bytes();
    let newlines = memchr::memchr_iter(b'\n', old).count();
    let is_crlf = newlines > 0 && memchr::memmem::find_iter(old, b"\r\n").count() == newlines;
    let content = match is_crlf && !content.contains('\r') {
        true => content.replace('\n', "\r\n"),
        false => content.to_owned(),
    };
    match old.starts_with(BOM) && !content.as_bytes().starts_with(BOM) {
        true => [BOM, content.as_bytes()].concat(),
        false => content.into_bytes(),
    }
}

fn more_than_deleted(name: &str, file: &FilePatch) -> ToolError {
    ToolError::new(
        Code::NoMatch,
        format!(
            "line {} of the patch: `{name}` has more lines than the diff deletes; read it again, or delete it with \
             `*** Delete File` between `*** Begin Patch` and `*** End Patch`",
            file.line
        ),
    )
    .with("path", name)
    .with("patchLine", file.line)
}

/// The hunks with their accents as the file has them; `None` where they are so.
fn in_form_of(text: &str, hunks: &[Hunk]) -> Option<Vec<Hunk>> {
    if text.is_ascii() {
        return None;
    }
    let mut hunks = hunks.to_vec();
    let mut is_other = false;
    for hunk in &mut hunks {
        let join = |lines: Vec<&str>| lines.join("\n");
        let old = join(hunk.old().map(|line| line.text.as_str()).collect());
        let all = join(hunk.lines.iter().map(|line| line.text.as_str()).collect());
        if let Some((_, all)) = canonical::in_form_of(text, &old, &all) {
            is_other = true;
            hunk.lines
                .iter_mut()
                .zip(all.split('\n'))
                .for_each(|(line, text)| text.clone_into(&mut line.text));
        }
    }
    is_other.then_some(hunks)
}
