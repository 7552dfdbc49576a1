//! Language servers, for the errors that a change has brought: programs that the configuration names, confined so that they
//! read the workspace and change nothing.
//!
//! A server is started when a file of its kind is first changed, and kept. One task speaks to it; a call waits for that task
//! no longer than the server's bound, so that a server that hangs, dies, floods or lies costs its own answer and nothing else.

mod connection;
mod difference;
mod frames;
mod protocol;
mod session;

use crate::filesystem::Helper;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use session::Job;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use toolpost_core::Context;
use toolpost_core::code::{Diagnosis, Diagnostics, NewErrors, TextChange};
use toolpost_core::host::BoxFuture;

/// Changes that wait for one server; while there are more, their errors are not waited for.
const MOST_WAITING: usize = 32;

/// Time of a call that is left for its end.
const FOR_THE_END: Duration = Duration::from_millis(300);

/// A language server, as the configuration describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageServer {
    /// Its name, for people.
    pub name: String,
    /// The program.
    pub helper: Helper,
    /// Globs of the names of files that it looks at.
    pub files: Vec<String>,
    /// How long a change waits for it.
    pub time: Duration,
    /// What it gets as `initializationOptions`.
    pub options: serde_json::Value,
}

impl LanguageServer {
    /// How long a change waits where nothing is said.
    pub const TIME: Duration = Duration::from_millis(1_500);

    /// What is wrong with a glob of files, if it is none.
    pub fn check_glob(glob: &str) -> Result<(), String> {
        compiled(glob).map(drop)
    }

    /// The globs for files of a language; none where the language is not known.
    pub fn globs_of(language: &str) -> Option<Vec<String>> {
        let known = protocol::extensions_of(language);
        (!known.is_empty()).then(|| known.iter().map(|extension| format!("*.{extension}")).collect())
    }

    /// The languages whose files are known.
    pub fn languages() -> Vec<&'static str> {
        protocol::languages()
    }
}

fn compiled(glob: &str) -> Result<globset::Glob, String> {
    // A glob without a folder is about names in every folder.
    let whole =
        if glob.contains('/') { glob.trim_start_matches("./").to_owned() } else { format!("**/{glob}") };
    GlobBuilder::new(&whole).literal_separator(true).build().map_err(|error| error.kind().to_string())
}

/// The language servers of a session, for [`DiagnosticsService`](toolpost_core::code::DiagnosticsService).
pub struct LanguageServers {
    servers: Vec<Kept>,
}

/// One server, and the task that speaks to it.
struct Kept {
    server: Arc<LanguageServer>,
    files: GlobSet,
    /// Whether it runs, so that where it would run need not be found out.
    is_running: Arc<AtomicBool>,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
}

impl LanguageServers {
    /// These servers; of several for one file, the first looks at it. None is started. A glob that is none matches nothing.
    pub fn new(servers: Vec<LanguageServer>) -> LanguageServers {
        let kept = servers.into_iter().map(|server| {
            let mut files = GlobSetBuilder::new();
            server.files.iter().filter_map(|glob| compiled(glob).ok()).for_each(|glob| {
                files.add(glob);
            });
            Kept {
                files: files.build().unwrap_or_default(),
                server: Arc::new(server),
                is_running: Arc::default(),
                jobs: Mutex::default(),
            }
        });
        LanguageServers { servers: kept.collect() }
    }

    fn for_file(&self, name: &str) -> Option<&Kept> {
        self.servers.iter().find(|kept| kept.files.is_match(name))
    }
}

impl Diagnostics for LanguageServers {
    fn covers(&self, name: &str) -> bool {
        self.for_file(name).is_some()
    }

    fn diagnose<'a>(&'a self, ctx: &'a Context, change: &'a TextChange) -> BoxFuture<'a, Diagnosis> {
        Box::pin(async move {
            let Some(kept) = self.for_file(&change.name) else {
                let errors = NewErrors::Unknown("no language server looks at such files".to_owned());
                return Diagnosis { server: String::new(), errors };
            };
            Diagnosis { server: kept.server.name.clone(), errors: kept.errors(ctx, change).await }
        })
    }
}

impl Kept {
    /// The new errors, or why there are none, within the bound.
    async fn errors(&self, ctx: &Context, change: &TextChange) -> NewErrors {
        let left = ctx.time_left().map_or(self.server.time, |left| left.saturating_sub(FOR_THE_END));
        let bound = self.server.time.min(left);
        tokio::select! {
            biased;
            () = ctx.cancel().cancelled() => NewErrors::Pending,
            answer = tokio::time::timeout(bound, self.asked(ctx, change)) => match answer {
                Ok(errors) => errors,
                Err(_) => NewErrors::Pending,
            },
        }
    }

    async fn asked(&self, ctx: &Context, change: &TextChange) -> NewErrors {
        let place = match self.is_running.load(Ordering::Acquire) {
            true => None,
            false => Some(crate::filesystem::place(ctx).await),
        };
        let (reply, answer) = oneshot::channel();
        let job = Job { root: ctx.workspace().root().to_owned(), place, change: change.clone(), reply };
        if self.sender().try_send(job).is_err() {
            return NewErrors::Pending;
        }
        match answer.await {
            Ok(Ok(errors)) => NewErrors::Known(errors),
            Ok(Err(why)) => {
                ctx.log().warn(format_args!("the language server {}: {why}", self.server.name));
                NewErrors::Unknown(why)
            }
            Err(_) => NewErrors::Pending,
        }
    }

    /// Where jobs for the server go. The task that takes them ends with the threads it runs on; then another begins.
    fn sender(&self) -> mpsc::Sender<Job> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        match jobs.as_ref().filter(|jobs| !jobs.is_closed()) {
            Some(jobs) => jobs.clone(),
            None => {
                let (sender, receiver) = mpsc::channel(MOST_WAITING);
                tokio::spawn(session::run(Arc::clone(&self.server), Arc::clone(&self.is_running), receiver));
                *jobs = Some(sender.clone());
                sender
            }
        }
    }
}

impl fmt::Debug for LanguageServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.servers.iter().map(|kept| &kept.server.name)).finish()
    }
}
