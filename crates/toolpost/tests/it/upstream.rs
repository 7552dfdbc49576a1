//! Other servers' tools through toolpost: a runtime with servers, as the command line makes it.

mod configured;
pub(crate) mod conformance;
mod npm;
mod resources;
mod served;
mod through;

use crate::load::stretched;
use crate::{Home, project};
use clap::Parser;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolpost::cli::Cli;
use toolpost::config::Config;
use toolpost::config::env::Environment;
use toolpost::{Frontend, Runtime, ServerChoice};
use toolpost_core::host::{Always, Confirm, NobodyThere, Scope};
use toolpost_core::{Answer, Outcome};
use toolpost_plugins::{Hints, Reach, Server};

/// The executable that all this is about.
const TOOLPOST: &str = env!("CARGO_BIN_EXE_toolpost");

/// A runtime in a home of its own, with these servers.
fn runtime(home: &Home, flags: &[&str], says_yes: bool, servers: Vec<Server>) -> Runtime {
    // This process cannot be started again as a launcher; the executable can.
    toolpost_process::launcher::set_helper(TOOLPOST);
    let words = ["toolpost"].iter().chain(flags).chain(&["packs"]);
    let environment = Environment {
        cwd: Some(home.path("repo")),
        home: Some(home.path("")),
        data_directory: Some(home.path("data/toolpost")),
        variables: BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]),
        ..Environment::default()
    };
    let config = Config::resolve(&Cli::try_parse_from(words).unwrap().flags, environment).unwrap();
    let confirm: Arc<dyn Confirm> = match says_yes {
        true => Arc::new(Always(Answer::Yes(Scope::Once))),
        false => Arc::new(NobodyThere),
    };
    let servers = ServerChoice::These(servers);
    Runtime::open(config, Frontend { confirm, servers, ..Frontend::default() }).unwrap()
}

/// A program as a server.
fn program(name: &str, words: &[&str]) -> Server {
    server(
        name,
        Reach::Stdio {
            command: words[0].to_owned(),
            args: words[1..].iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::from([("API_TOKEN".to_owned(), "sk-very-secret-1234".to_owned())]),
            cwd: None,
        },
    )
}

fn address(name: &str, url: String, headers: &[(&str, &str)]) -> Server {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    server(name, Reach::Http { url, headers })
}

fn server(name: &str, reach: Reach) -> Server {
    Server {
        name: name.to_owned(),
        reach,
        start: Some(Duration::from_secs(30)),
        call: Some(Duration::from_secs(20)),
        only: None,
        without: Vec::new(),
        hints: Hints::Ignored,
        origin: "test.json:1".to_owned(),
        check: Default::default(),
    }
}

/// The test server of `toolpost-plugins` in one of its modes.
fn python(home: &Home, mode: &str) -> Server {
    let script = project().join("crates/toolpost-plugins/tests/data/server.py");
    let state = home.path("state");
    program(mode, &["python3", &script.to_string_lossy(), mode, &state.to_string_lossy()])
}

async fn call(runtime: &Runtime, tool: &str, arguments: Value) -> Outcome {
    runtime.executor.call(&runtime.context, tool, arguments).await
}

async fn text(runtime: &Runtime, tool: &str, arguments: Value) -> String {
    call(runtime, tool, arguments).await.to_text()
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

/// Leaves the servers; nothing with the home's own path in its command line may be there three seconds later.
/// Boxed, since a runtime is large for a future.
fn end(runtime: Runtime, home: &Home) -> Pin<Box<impl Future<Output = ()>>> {
    Box::pin(async move {
        if let Some(plugins) = &runtime.plugins {
            plugins.shutdown().await;
        }
        drop(runtime);
        let mark = home.path("").to_string_lossy().trim_end_matches('/').to_owned();
        let began = Instant::now();
        while crate::mcp::is_running(&mark) {
            assert!(began.elapsed() < stretched(Duration::from_secs(3)), "a server is left");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < stretched(Duration::from_secs(20)), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
