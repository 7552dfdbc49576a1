//! What the tests share: a runtime with servers, and what is left of them afterwards.

use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toolpost_core::event::MemoryLog;
use toolpost_core::host::{Always, NobodyThere, Scope};
use toolpost_core::policy::Profile;
use toolpost_core::{Answer, Context, Outcome, Output, Policy, Registry, Spec, dynamic};
use toolpost_plugins::{Hints, Plugins, Reach, Server, Settings};

/// A registry with one built-in tool, servers, and an executor.
pub(crate) struct World {
    pub(crate) registry: Arc<Registry>,
    pub(crate) plugins: Option<Plugins>,
    pub(crate) executor: Executor,
    pub(crate) context: Context,
    pub(crate) log: Arc<MemoryLog>,
    /// In the command line of every server, and of nothing else.
    pub(crate) mark: String,
    pub(crate) folder: TempDir,
}

/// What differs from one test to the next.
pub(crate) struct Setup {
    pub(crate) policy: Policy,
    pub(crate) answer: Option<Answer>,
    pub(crate) most_tools: usize,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { policy: Policy::profile(Profile::Privileged), answer: None, most_tools: 10_000 }
    }
}

impl World {
    /// A world with servers of these modes, each by the name of its mode.
    pub(crate) fn new(modes: &[&str]) -> World {
        World::with(Setup::default(), |world| modes.iter().map(|mode| world.server(mode)).collect())
    }

    pub(crate) fn with(setup: Setup, servers: impl FnOnce(&World) -> Vec<Server>) -> World {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("toolpost-test-server-{}-{number}", std::process::id());
        let registry = Arc::new(Registry::new());
        let ping = dynamic(Spec::new("ping", "1.0.0", "Answers."), json!({"type": "object"}), |_, _| async {
            Ok(Output::new("ping", "pong", json!(null)))
        });
        registry.register(ping).unwrap();
        let log = Arc::new(MemoryLog::default());
        let context = Context::builder(Arc::new(toolpost_core::Memory::new())).events(log.clone());
        let context = match setup.answer {
            Some(answer) => context.confirm(Arc::new(Always(answer))),
            None => context.confirm(Arc::new(NobodyThere)),
        };
        let executor = Executor::new(registry.clone(), setup.policy);
        let folder = tempfile::tempdir().unwrap();
        let mut world =
            World { registry, plugins: None, executor, context: context.build(), log, mark, folder };
        let environment = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
        let mut settings = Settings::new(world.folder.path(), environment);
        settings.most_tools = setup.most_tools;
        settings.most_tokens = usize::MAX;
        world.plugins = Some(Plugins::new(servers(&world), &world.registry, settings));
        world
    }

    /// The test's own server in one of its modes.
    pub(crate) fn server(&self, mode: &str) -> Server {
        let state = match mode {
            "slow-list" => "3".to_owned(),
            _ => self.state().to_string_lossy().into_owned(),
        };
        self.program(mode, &["python3", &script(), mode, &state, &self.mark])
    }

    pub(crate) fn program(&self, name: &str, words: &[&str]) -> Server {
        Server {
            name: name.to_owned(),
            reach: Reach::Stdio {
                command: words[0].to_owned(),
                args: words[1..].iter().map(|word| (*word).to_owned()).collect(),
                env: BTreeMap::from([("GIVEN".to_owned(), "to this server".to_owned())]),
                cwd: None,
            },
            start: Some(Duration::from_secs(20)),
            call: Some(Duration::from_secs(10)),
            only: None,
            without: Vec::new(),
            hints: Hints::Ignored,
            origin: "test.json:1".to_owned(),
            check: Default::default(),
        }
    }

    /// A file that servers of this world may make.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        self.executor.call(&self.context, tool, arguments).await
    }

    /// The text of a call, or its failure.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.to_text()
    }

    pub(crate) async fn echo(&self, server: &str) -> String {
        self.text(&format!("mcp__{server}__echo"), json!({"said": "hello"})).await
    }

    /// Leaves the servers; nothing of them may be there three seconds later.
    pub(crate) async fn end(mut self) {
        drop(self.plugins.take());
        self.nothing_is_left().await;
    }

    pub(crate) async fn nothing_is_left(&self) {
        let began = Instant::now();
        while !self.processes().is_empty() {
            assert!(began.elapsed() < stretched(Duration::from_secs(3)), "left: {:?}", self.processes());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The processes of this world's servers.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes(&self.mark)
    }
}

/// The processes whose command line has this text.
pub(crate) fn processes(mark: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(mark)
        })
        .collect()
}

fn script() -> String {
    format!("{}/tests/data/server.py", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn yes() -> Option<Answer> {
    Some(Answer::Yes(Scope::Once))
}

/// Runs a test on several threads, as the runtime does.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

/// Waits until this holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < stretched(Duration::from_secs(20)), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
