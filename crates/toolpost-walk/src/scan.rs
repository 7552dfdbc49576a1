//! Every file below a folder handed to a visitor: by the workspace's quick way, else folder by folder, through its
//! own entries.

use crate::rules::{Rules, Verdict, absolute};
use crate::walk::{chunk, files_of, rules_above};
use std::sync::Arc;
use toolpost_core::workspace::implement::{prefix, refusal};
use toolpost_core::workspace::{
    Candidate, File, Kind, Repository, ScanOptions, Scanned, Stat, Visit, Workspace, WorkspacePath,
};
use toolpost_core::{Code, ToolError};

/// How many files are opened at a time.
const BATCH: usize = 64;

/// Hands every file below the folder `from` to the visitor.
pub async fn scan(
    workspace: &dyn Workspace,
    from: &WorkspacePath,
    options: ScanOptions,
    visit: Arc<dyn Visit>,
) -> Result<Scanned, ToolError> {
    match workspace.scan(from, options, &visit) {
        Some(scanned) => scanned.await,
        None => by_entries(workspace, from, options, visit).await,
    }
}

async fn by_entries(
    workspace: &dyn Workspace,
    from: &WorkspacePath,
    options: ScanOptions,
    visit: Arc<dyn Visit>,
) -> Result<Scanned, ToolError> {
    let start = workspace.stat(from).await?;
    if start.kind != Kind::Folder {
        return Err(refusal::not_a_folder(&start.name));
    }
    let (rules, mut at_root) = match options.no_ignore {
        true => (Arc::new(Rules::default()), None),
        false => rules_above(workspace, &start.name).await,
    };
    let mut scan = Scan { workspace, options, visit, scanned: Scanned::default(), batch: Vec::new() };
    let mut open: Vec<(String, Arc<Rules>)> = vec![(start.name.clone(), rules)];
    while let Some((name, rules)) = open.pop() {
        if scan.visit.should_stop() {
            scan.scanned.stopped = true;
            break;
        }
        let at_root = at_root.take();
        match scan.folder(&name, &rules, at_root, &mut open).await {
            Err(error) if name == start.name => return Err(error),
            Err(error) if is_refusal(&error) => scan.visit.held_back(&error),
            Err(_) => scan.scanned.unreadable(&name),
            Ok(()) => {}
        }
    }
    scan.hand_over().await?;
    Ok(scan.scanned)
}

struct Scan<'a> {
    workspace: &'a dyn Workspace,
    options: ScanOptions,
    visit: Arc<dyn Visit>,
    scanned: Scanned,
    batch: Vec<Opened>,
}

impl Scan<'_> {
    async fn folder(
        &mut self,
        name: &str,
        above: &Arc<Rules>,
        at_root: Option<Repository>,
        open: &mut Vec<(String, Arc<Rules>)>,
    ) -> Result<(), ToolError> {
        let mut entries = self.workspace.entries(&WorkspacePath::new(name)).await?;
        let root = self.workspace.root().to_owned();
        let mut rules: Option<Arc<Rules>> = None;
        let mut at_root = at_root;
        loop {
            let chunk = chunk(entries).await?;
            entries = chunk.rest;
            if rules.is_none() {
                rules = Some(match self.options.no_ignore {
                    true => Arc::clone(above),
                    false => {
                        let known = chunk.ended.then_some(chunk.entries.as_slice());
                        let mut files = files_of(self.workspace, name, known).await;
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
                    (kind, _) => self.file(found, kind).await?,
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

    async fn file(&mut self, name: String, kind: Kind) -> Result<(), ToolError> {
        if !self.visit.wants(&name) || !self.visit.admits(&name) {
            return Ok(());
        }
        match self.workspace.open(&WorkspacePath::new(name.as_str())).await {
            Ok(file) => self.batch.push(Opened { name, kind, stat: file.stat.clone(), file: Some(file) }),
            Err(error) if is_refusal(&error) => self.visit.held_back(&error),
            Err(_) => {}
        }
        match self.batch.len() >= BATCH {
            true => self.hand_over().await,
            false => Ok(()),
        }
    }

    async fn hand_over(&mut self) -> Result<(), ToolError> {
        let (batch, visit) = (std::mem::take(&mut self.batch), Arc::clone(&self.visit));
        let visited = tokio::task::spawn_blocking(move || {
            let mut worker = visit.worker();
            for mut opened in batch {
                if visit.should_stop() {
                    return true;
                }
                worker.visit(&mut opened);
            }
            false
        });
        let stopped = visited
            .await
            .map_err(|error| ToolError::execution(format!("the search was given up: {error}")))?;
        self.scanned.stopped |= stopped;
        Ok(())
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
