//! Every file below a folder handed to a visitor: by the workspace's quick way, else folder by folder, through its
//! own entries.

use crate::rules::{Rules, Verdict, absolute};
use crate::walk::{chunk, files_of, rules_above};
use std::sync::Arc;
use toolpost_core::workspace::implement::{prefix, refusal};
use toolpost_core::workspace::{
    Candidate, File, Kind, Repository, ScanOptions, Scanned, Stat, Visit, Worker, Workspace, WorkspacePath,
};
use toolpost_core::{Code, ToolError};

/// Hands every file below the folder `from` to the visitor. Blocks like the workspace.
pub fn scan(
    workspace: &dyn Workspace,
    from: &WorkspacePath,
    options: ScanOptions,
    visit: &dyn Visit,
) -> Result<Scanned, ToolError> {
    match workspace.scan(from, options, visit)? {
        Some(scanned) => Ok(scanned),
        None => by_entries(workspace, from, options, visit),
    }
}

fn by_entries(
    workspace: &dyn Workspace,
    from: &WorkspacePath,
    options: ScanOptions,
    visit: &dyn Visit,
) -> Result<Scanned, ToolError> {
    let start = workspace.stat(from)?;
    if start.kind != Kind::Folder {
        return Err(refusal::not_a_folder(&start.name));
    }
    let (rules, mut at_root) = match options.no_ignore {
        true => (Arc::new(Rules::default()), None),
        false => rules_above(workspace, &start.name),
    };
    let mut scan = Scan { workspace, options, visit, worker: visit.worker(), scanned: Scanned::default() };
    let mut open: Vec<(String, Arc<Rules>)> = vec![(start.name.clone(), rules)];
    while let Some((name, rules)) = open.pop() {
        if scan.scanned.stopped || visit.should_stop() {
            scan.scanned.stopped = true;
            break;
        }
        let at_root = at_root.take();
        match scan.folder(&name, &rules, at_root, &mut open) {
            Err(error) if name == start.name => return Err(error),
            Err(error) if is_refusal(&error) => visit.held_back(&error),
            Err(_) => scan.scanned.unreadable(&name),
            Ok(()) => {}
        }
    }
    Ok(scan.scanned)
}

struct Scan<'a> {
    workspace: &'a dyn Workspace,
    options: ScanOptions,
    visit: &'a dyn Visit,
    worker: Box<dyn Worker + 'a>,
    scanned: Scanned,
}

impl Scan<'_> {
    fn folder(
        &mut self,
        name: &str,
        above: &Arc<Rules>,
        at_root: Option<Repository>,
        open: &mut Vec<(String, Arc<Rules>)>,
    ) -> Result<(), ToolError> {
        let mut entries = self.workspace.entries(&WorkspacePath::new(name))?;
        let root = self.workspace.root().to_owned();
        let mut rules: Option<Arc<Rules>> = None;
        let mut at_root = at_root;
        loop {
            let chunk = chunk(&mut entries);
            if rules.is_none() {
                rules = Some(match self.options.no_ignore {
                    true => Arc::clone(above),
                    false => {
                        let known = chunk.ended.then_some(chunk.entries.as_slice());
                        let mut files = files_of(self.workspace, name, known);
                        if let Some(repository) = at_root.take() {
                            files.repository = Some(repository);
                        }
                        above.below(&absolute(&root, name), files)
                    }
                });
            }
            for entry in chunk.entries {
                if entry.name.starts_with('.') && !self.options.hidden
                    || entry.name == ".git" && !self.options.no_ignore
                {
                    continue;
                }
                if !entry.exact {
                    self.scanned.not_utf8 += 1;
                    continue;
                }
                let found = format!("{}{}", prefix(name), entry.name);
                let rules = rules.as_ref().unwrap_or(above);
                let is_folder = entry.kind == Kind::Folder;
                let verdict = rules.judge(&absolute(&root, &found), is_folder);
                match (entry.kind, verdict) {
                    (_, Verdict::LeftOut) | (Kind::Special, _) => {}
                    (Kind::Folder, _) if !self.visit.admits(&found) => {}
                    (Kind::Folder, Verdict::OnlyTracked) => open.push((found, rules.only_tracked())),
                    (Kind::Folder, Verdict::Shown) => open.push((found, Arc::clone(rules))),
                    (kind, _) => self.file(found, kind),
                }
                if self.scanned.stopped {
                    return Ok(());
                }
            }
            if chunk.broken {
                self.scanned.unreadable(name);
            }
            if chunk.ended || self.visit.should_stop() {
                return Ok(());
            }
        }
    }

    fn file(&mut self, name: String, kind: Kind) {
        if !self.visit.wants(&name) || !self.visit.admits(&name) {
            return;
        }
        if self.visit.should_stop() {
            self.scanned.stopped = true;
            return;
        }
        match self.workspace.open(&WorkspacePath::new(name.as_str())) {
            Ok(file) => {
                let mut opened = Opened { name, kind, stat: file.stat.clone(), file: Some(file) };
                self.worker.visit(&mut opened);
            }
            Err(error) if is_refusal(&error) => self.visit.held_back(&error),
            Err(_) => {}
        }
    }
}

/// Whether a workspace that judges by itself has refused.
fn is_refusal(error: &ToolError) -> bool {
    matches!(error.code(), Code::PermissionDenied | Code::ProtectedFile)
}

struct Opened {
    name: String,
    kind: Kind,
    stat: Stat,
    file: Option<File>,
}

impl Candidate for Opened {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn stat(&mut self) -> Result<Stat, ToolError> {
        Ok(self.stat.clone())
    }

    fn open(&mut self) -> Result<File, ToolError> {
        self.file.take().ok_or_else(|| ToolError::execution(format!("`{}` was opened before", self.name)))
    }
}
