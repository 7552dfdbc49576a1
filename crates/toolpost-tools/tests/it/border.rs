//! No tool and no step of a call touches a file on a thread of the runtime: all file work crosses the border.

use crate::bash::{executor, standard_and_exec};
use crate::{folder, shown};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use toolpost_core::workspace::{
    Entries, File, LockRequest, OuterRules, PendingKind, Replaced, RunByGit, ScanOptions, Scanned, Staged,
    Stat, Surveyed, Surveyor, Visit, Written,
};
use toolpost_core::{Call, Context, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

/// A disk that notes which methods were called, and which of them on the runtime's own thread.
struct Observed {
    inner: Disk,
    runtime: ThreadId,
    called: Mutex<BTreeSet<&'static str>>,
    misplaced: Mutex<Vec<&'static str>>,
}

impl Observed {
    fn note(&self, method: &'static str) -> &Disk {
        self.called.lock().unwrap().insert(method);
        if std::thread::current().id() == self.runtime {
            self.misplaced.lock().unwrap().push(method);
        }
        &self.inner
    }
}

impl Workspace for Observed {
    fn root(&self) -> &str {
        self.inner.root()
    }
    fn roots(&self) -> Vec<String> {
        self.inner.roots()
    }
    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.inner.name(path)
    }
    fn has_repositories(&self) -> bool {
        self.inner.has_repositories()
    }
    fn is_on_disk(&self) -> bool {
        self.inner.is_on_disk()
    }
    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.note("stat").stat(path)
    }
    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.note("open").open(path)
    }
    fn replaced(&self, path: &WorkspacePath) -> Result<Replaced, ToolError> {
        self.note("replaced").replaced(path)
    }
    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.note("entries").entries(path)
    }
    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.note("write").write(path, content)
    }
    fn stage(&self, path: &WorkspacePath, content: &[u8]) -> Result<Option<Box<dyn Staged>>, ToolError> {
        self.note("stage").stage(path, content)
    }
    fn announce(
        &self,
        path: &WorkspacePath,
        kind: PendingKind,
        content: Option<&[u8]>,
    ) -> Result<(), ToolError> {
        self.note("announce").announce(path, kind, content)
    }
    fn link(&self, path: &WorkspacePath) -> Option<String> {
        self.note("link").link(path)
    }
    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.note("remove").remove(path)
    }
    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.note("rename").rename(from, to)
    }
    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.note("create_folder").create_folder(path)
    }
    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.note("lock").lock(path)
    }
    fn possible_repositories(&self, path: &str) -> Vec<String> {
        self.note("possible_repositories").possible_repositories(path)
    }
    fn lock_repository(&self, folder: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.note("lock_repository").lock_repository(folder)
    }
    fn scan(
        &self,
        from: &WorkspacePath,
        options: ScanOptions,
        visit: &dyn Visit,
    ) -> Result<Option<Scanned>, ToolError> {
        self.note("scan").scan(from, options, visit)
    }
    fn survey(&self, surveyor: &dyn Surveyor) -> Result<Surveyed, ToolError> {
        self.note("survey").survey(surveyor)
    }
    fn run_by_git(&self, changed: &[String]) -> Vec<RunByGit> {
        self.note("run_by_git").run_by_git(changed)
    }
    fn outer_rules(&self, root: &str) -> OuterRules {
        self.note("outer_rules").outer_rules(root)
    }
}

/// Each of these with its arguments, in this order: what one writes, another changes.
fn calls() -> Vec<(&'static str, serde_json::Value)> {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: new/b.txt\n+b\n\
                 *** Update File: c.txt\n*** Move to: new/c.txt\n*** Delete File: d.txt\n*** End Patch\n";
    vec![
        ("read", json!({"filePath": "a.txt"})),
        ("read", json!({"filePath": "folder"})),
        ("list", json!({"path": "."})),
        ("glob", json!({"pattern": "**/*.txt"})),
        ("grep", json!({"pattern": "one"})),
        ("grep", json!({"pattern": "one", "path": "a.txt"})),
        ("write", json!({"filePath": "written/refs/w.txt", "content": "w\n"})),
        ("write", json!({"filePath": "e.txt", "content": "e\n"})),
        ("edit", json!({"filePath": "e.txt", "oldString": "e\n", "newString": "f\n"})),
        ("edit", json!({"filePath": "made.txt", "oldString": "", "newString": "made\n"})),
        ("apply_patch", json!({"patch": patch})),
        ("delete", json!({"filePath": "link"})),
        ("delete", json!({"filePath": "e.txt"})),
        ("bash", json!({"command": "true", "workdir": "folder"})),
    ]
}

#[test]
fn files_are_touched_behind_the_border_only() {
    let folder = folder();
    for name in ["a.txt", "c.txt", "d.txt", "e.txt", "folder/inside.txt"] {
        std::fs::create_dir_all(folder.path().join("folder")).unwrap();
        std::fs::write(folder.path().join(name), "one\n").unwrap();
    }
    std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
    // A runtime of one thread, and nobody who watches over it: file work that crosses the border leaves this thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let observed = Arc::new(Observed {
        inner: Disk::open([folder.path()]).unwrap(),
        runtime: std::thread::current().id(),
        called: Mutex::default(),
        misplaced: Mutex::default(),
    });
    let ctx = Context::builder(observed.clone()).build();
    let executor = executor(standard_and_exec(), toolpost_tools::shell::Settings::default());
    for (tool, arguments) in calls() {
        let call = Call::new(tool, arguments.clone());
        for call in [call.clone().dry_run(), call] {
            let outcome = runtime.block_on(executor.run(&ctx, call));
            assert!(outcome.is_success(), "{tool} {arguments}: {}", shown(&outcome));
            let misplaced = observed.misplaced.lock().unwrap();
            assert!(misplaced.is_empty(), "{tool} {arguments}: {misplaced:?} on the runtime's thread");
        }
    }
    let called = observed.called.lock().unwrap();
    for method in ["stat", "open", "entries", "write", "stage", "remove", "rename", "lock", "lock_repository"]
    {
        assert!(called.contains(method), "{method}: {called:?}");
    }
    for method in ["scan", "survey", "run_by_git", "outer_rules", "possible_repositories"] {
        assert!(called.contains(method), "{method}: {called:?}");
    }
}
