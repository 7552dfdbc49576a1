//! No tool and no step of a call touches a file on a thread of the runtime: all file work crosses the border.

use crate::bash::{executor, standard_and_exec};
use crate::{folder, shown};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use toolpost_core::code::{
    Answer, CodeEngine, Dependencies, Description, Inquiry, Links, Match, References, Resolution, Symbol,
    SymbolQuery, Target,
};
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::host::{Services, Watch};
use toolpost_core::workspace::{
    Entries, File, LockRequest, OuterRules, PendingKind, Replaced, RunByGit, ScanOptions, Scanned, Staged,
    Stat, Surveyed, Surveyor, Visit, Written,
};
use toolpost_core::{Call, Code, Context, Event, Executor, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

/// A disk that notes which methods were called, and which of them on the runtime's own thread.
struct Observed {
    inner: Disk,
    runtime: ThreadId,
    called: Mutex<BTreeSet<&'static str>>,
    misplaced: Mutex<Vec<&'static str>>,
    gate: Gate,
}

impl Observed {
    fn new(inner: Disk) -> Observed {
        Observed {
            inner,
            runtime: std::thread::current().id(),
            called: Mutex::default(),
            misplaced: Mutex::default(),
            gate: Gate::default(),
        }
    }

    fn note(&self, method: &'static str) -> &Disk {
        self.called.lock().unwrap().insert(method);
        if std::thread::current().id() == self.runtime {
            self.misplaced.lock().unwrap().push(method);
        }
        self.gate.pass();
        &self.inner
    }
}

/// Keeps whoever comes while it is closed.
#[derive(Default)]
struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    fn close(&self) {
        *self.state.lock().unwrap() = (true, 0);
    }

    fn open(&self) {
        self.state.lock().unwrap().0 = false;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        drop(self.changed.wait_while(state, |state| state.0).unwrap());
    }

    fn has_somebody(&self) -> bool {
        self.state.lock().unwrap().1 > 0
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
    let observed = Arc::new(Observed::new(Disk::open([folder.path()]).unwrap()));
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

/// An engine that reports progress and then waits for its gate, as one does whose index is not ready.
struct SlowEngine(Arc<Gate>);

impl SlowEngine {
    fn wait<T>(&self, inquiry: &Inquiry<'_>) -> Result<T, ToolError> {
        inquiry.ctx.progress("indexing", json!({}));
        self.0.pass();
        Err(ToolError::new(Code::SearchError, "nothing is known here"))
    }
}

impl CodeEngine for SlowEngine {
    fn symbols(&self, inquiry: &Inquiry<'_>, _: &SymbolQuery) -> Answer<Symbol> {
        self.wait(inquiry)
    }
    fn matches(&self, inquiry: &Inquiry<'_>, _: &SymbolQuery) -> Answer<Match> {
        self.wait(inquiry)
    }
    fn map(&self, inquiry: &Inquiry<'_>, _: &SymbolQuery, _: &[String]) -> Answer<Symbol> {
        self.wait(inquiry)
    }
    fn describe(&self, inquiry: &Inquiry<'_>, _: &Target) -> Answer<Description> {
        self.wait(inquiry)
    }
    fn links(&self, inquiry: &Inquiry<'_>, _: &str) -> Result<Links, ToolError> {
        self.wait(inquiry)
    }
    fn dependencies(&self, inquiry: &Inquiry<'_>, _: &str) -> Result<Dependencies, ToolError> {
        self.wait(inquiry)
    }
    fn resolve(&self, inquiry: &Inquiry<'_>, _: &Target) -> Result<Resolution, ToolError> {
        self.wait(inquiry)
    }
    fn references(&self, inquiry: &Inquiry<'_>, _: &Target) -> Result<References, ToolError> {
        self.wait(inquiry)
    }
}

/// Hands each event to a task of the runtime, as the way to a client does, which hands it on to the test.
struct Told(tokio::sync::mpsc::UnboundedSender<&'static str>);

impl Told {
    fn start(runtime: &tokio::runtime::Runtime) -> (Told, Receiver<&'static str>) {
        let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
        let (hands_on, heard): (Sender<&'static str>, _) = channel();
        runtime.spawn(async move {
            while let Some(kind) = told.recv().await {
                let _ = hands_on.send(kind);
            }
        });
        (Told(sender), heard)
    }
}

impl EventSink for Told {
    fn record(&self, event: &Arc<Event>) {
        match &event.kind {
            EventKind::CallStarted { .. } => drop(self.0.send("started")),
            EventKind::Progress { .. } => drop(self.0.send("progress")),
            _ => {}
        }
    }
}

/// The tools that ask the engine, beside those of [`calls`].
fn of_code() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("search_code", json!({"query": "one"})),
        ("get_symbol_info", json!({"symbol": "one"})),
        ("find_references", json!({"symbol": "one"})),
        ("resolve_symbol", json!({"symbol": "one", "file": "a.txt"})),
        ("get_codebase_map", json!({})),
        ("get_imports_exports", json!({"filePath": "a.txt"})),
        ("build_dependency_graph", json!({})),
        ("detect_project_type", json!({})),
        ("extract_conventions", json!({})),
        ("get_project_overview", json!({})),
    ]
}

/// Opens a gate at the end, also of a test that failed: nobody may wait for ever.
struct OpensAtEnd(Arc<Observed>, Arc<Gate>);

impl Drop for OpensAtEnd {
    fn drop(&mut self) {
        self.0.gate.open();
        self.1.open();
    }
}

/// Waits until something holds, or fails.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(5), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn while_a_tool_waits_others_are_answered_and_its_events_are_heard() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("folder")).unwrap();
    for name in ["a.txt", "c.txt", "d.txt", "e.txt", "folder/inside.txt"] {
        std::fs::write(folder.path().join(name), "one\n").unwrap();
    }
    std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
    let runtime = Watch::runtime().unwrap();
    let slow = Arc::new(Observed::new(Disk::open([folder.path()]).unwrap()));
    let of_engine = Arc::new(Gate::default());
    let _opens = OpensAtEnd(slow.clone(), of_engine.clone());
    let services = Services { code: Some(Arc::new(SlowEngine(of_engine.clone()))), ..Services::default() };
    let registry = Arc::new(toolpost_core::Registry::new());
    let settings = toolpost_tools::Settings::default();
    toolpost_tools::register_default(&registry, &services, &settings).unwrap();
    let executor = Executor::new();
    let quick = Context::builder(Arc::new(Disk::open([folder.path()]).unwrap()))
        .tools(registry.clone())
        .policy(standard_and_exec())
        .build();
    for (tool, arguments) in calls().into_iter().chain(of_code()) {
        let (told, heard) = Told::start(&runtime);
        let ctx = Context::builder(slow.clone())
            .tools(registry.clone())
            .services(services.clone())
            .policy(standard_and_exec())
            .events(Arc::new(told))
            .build();
        // Most tools of the code pack look at files before they ask the engine; here they wait for the engine alone.
        let asks_engine = of_code()[..7].iter().any(|(name, _)| *name == tool);
        let gate = if asks_engine { &*of_engine } else { &slow.gate };
        gate.close();
        let (waiting, call) = (executor.clone(), Call::new(tool, arguments.clone()));
        let work = runtime.spawn(async move { waiting.run(&ctx, call).await });
        until(&format!("{tool} {arguments} waits"), || gate.has_somebody());
        for _ in 0..5 {
            let (executor, quick) = (executor.clone(), quick.clone());
            let call = Call::new("read", json!({"filePath": "folder/inside.txt"}));
            let (answers, answered) = channel();
            runtime.spawn(async move { answers.send(executor.run(&quick, call).await.is_success()) });
            let answer = answered.recv_timeout(Duration::from_secs(5));
            assert_eq!(answer, Ok(true), "while {tool} {arguments} waits");
        }
        if asks_engine {
            assert_eq!(heard.recv_timeout(Duration::from_secs(5)), Ok("started"), "{tool}");
            assert_eq!(heard.recv_timeout(Duration::from_secs(5)), Ok("progress"), "{tool}");
        }
        gate.open();
        let outcome = runtime.block_on(work).unwrap();
        let is_of_code = of_code().iter().any(|(name, _)| *name == tool);
        assert!(outcome.is_success() || is_of_code, "{tool} {arguments}: {}", shown(&outcome));
    }
}
