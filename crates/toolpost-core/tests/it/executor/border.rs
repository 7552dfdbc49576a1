//! Work on files that waits: for a store behind an asynchronous driver, and for the turn to change a file.

use crate::stage::{Stage, any, code, said, spec, writer};
use serde_json::json;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::Barrier;
use toolpost_core::host::Watch;
use toolpost_core::workspace::{Entries, File, LockRequest, Stat, Written};
use toolpost_core::{Call, Capability, Context, Memory, Outcome, ToolError, Workspace, WorkspacePath};

/// Files behind a driver that is asynchronous, as that of a database is: it has a runtime of its own on a thread of its
/// own, and whoever wants something waits for it on a channel.
struct Stored {
    memory: Arc<Memory>,
    questions: tokio::sync::mpsc::UnboundedSender<(WorkspacePath, mpsc::Sender<Result<Stat, ToolError>>)>,
}

impl Stored {
    /// Answers as soon as so many have asked.
    fn answering(fixture: &str, together: usize) -> Stored {
        let memory = Arc::new(Memory::from_fixture(fixture));
        let (questions, mut asked) =
            tokio::sync::mpsc::unbounded_channel::<(WorkspacePath, mpsc::Sender<Result<Stat, ToolError>>)>();
        let files = memory.clone();
        std::thread::spawn(move || {
            let driver = tokio::runtime::Builder::new_current_thread().build().unwrap();
            driver.block_on(tokio::task::LocalSet::new().run_until(async move {
                let barrier = Arc::new(Barrier::new(together));
                while let Some((path, answer)) = asked.recv().await {
                    let (files, barrier) = (files.clone(), barrier.clone());
                    tokio::task::spawn_local(async move {
                        barrier.wait().await;
                        let _ = answer.send(files.stat(&path));
                    });
                }
            }));
        });
        Stored { memory, questions }
    }
}

impl Workspace for Stored {
    fn root(&self) -> &str {
        self.memory.root()
    }
    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.memory.name(path)
    }
    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        let (answer, answered) = mpsc::channel();
        self.questions.send((path.clone(), answer)).unwrap();
        answered.recv().unwrap()
    }
    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.memory.open(path)
    }
    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.memory.entries(path)
    }
    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.memory.write(path, content)
    }
    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.memory.remove(path)
    }
    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.memory.rename(from, to)
    }
    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.memory.create_folder(path)
    }
    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.memory.lock(path)
    }
}

/// A tool that tells the size of the file `a`.
fn sizes() -> Stage {
    Stage::new().tool(any(spec("size").requires(Capability::Read).parallel_safe(), |ctx, _| async move {
        let stat = ctx.blocking(|ctx| ctx.workspace().stat(&WorkspacePath::new("a"))).await?;
        said(stat.size.to_string())
    }))
}

#[test]
fn a_store_with_an_asynchronous_driver_answers_more_calls_than_there_are_threads() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let together = 4 * cores + 3;
    let stage = sizes();
    let runtimes = [Watch::runtime().unwrap(), tokio::runtime::Runtime::new().unwrap()];
    for runtime in runtimes {
        let ctx = Context::builder(Arc::new(Stored::answering("//- a\nfour\n", together))).build();
        let executor = stage.executor();
        let calls = (0..together).map(|_| Call::new("size", json!({}))).collect();
        let outcomes = runtime.block_on(async move { executor.call_all(&ctx, calls).await });
        assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), vec!["5"; together]);
    }
}

#[test]
fn a_time_out_answers_while_the_store_does_not() {
    let stage = sizes();
    for runtime in [Watch::runtime().unwrap(), tokio::runtime::Runtime::new().unwrap()] {
        let stored = Arc::new(Stored::answering("//- a\nfour\n", 2));
        let ctx = Context::builder(stored.clone()).build();
        let executor = stage.executor();
        let late = Call::new("size", json!({})).timeout(Duration::from_millis(20));
        let outcome = runtime.block_on(async { executor.run(&ctx, late).await });
        assert_eq!(code(&outcome), "TIMEOUT");
        // The second question, so that the first is answered and its thread ends.
        assert_eq!(stored.stat(&WorkspacePath::new("a")).unwrap().size, 5);
    }
}

#[test]
fn calls_that_wait_for_their_turn_hold_no_thread() {
    // One thread for blocking work: if a waiting call had it, the call that has the turn could not write.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let stage = Stage::with_files("//- a\n").tool(writer(spec("write").parallel_safe()));
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let calls = (0..50).map(|n| Call::new("write", json!({"path": "a", "content": n.to_string()}))).collect();
    let outcomes = runtime.block_on(async move { executor.call_all(&ctx, calls).await });
    assert!(outcomes.iter().all(Outcome::is_success), "{outcomes:?}");
}
