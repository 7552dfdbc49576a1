//! Commands that go on while the model does something else. They end with the host at the latest.

use super::bash::{Args, Data, Prepared, explain};
use super::clean::cleaned;
use super::kept::{Records, Undo};
use super::output::Shown;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::{Notify, mpsc};
use toolpost_core::{Code, Context, Output, ToolError};
use toolpost_process::{Capture, Captured, Ended, Error, Exit, Limits, Stdin};

/// Of what nobody has read yet, so much of the beginning and of the end is held.
const HELD: usize = 64 * 1024;

/// The background commands of a host.
pub struct Background {
    most: usize,
    jobs: Mutex<BTreeMap<String, Arc<Job>>>,
}

impl std::fmt::Debug for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background").field("most", &self.most).field("running", &self.running()).finish()
    }
}

/// One of them.
pub(super) struct Job {
    session: String,
    pub(super) command: String,
    started: Instant,
    state: Mutex<State>,
    /// Told when there is more to read, or the end.
    changed: Notify,
    orders: mpsc::UnboundedSender<Order>,
    stdin: tokio::sync::Mutex<Option<pipe::Sender>>,
}

struct State {
    unread: Capture,
    ended: Option<Result<Ended, String>>,
    undo: Undo,
}

enum Order {
    End,
}

/// A look at a background command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Look {
    /// Its id.
    id: String,
    /// Whether it still runs.
    pub(super) running: bool,
    /// Its exit code, if it has ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// How long it has run, in milliseconds.
    duration_ms: u64,
    /// Bytes that came since the last look and were too many to hold.
    missing: u64,
}

impl Background {
    /// At most so many at once.
    pub fn at_most(most: usize) -> Arc<Background> {
        Arc::new(Background { most, jobs: Mutex::default() })
    }

    /// The ids and command lines of those that run.
    pub fn running(&self) -> Vec<(String, String)> {
        let jobs = self.jobs();
        let running = jobs.iter().filter(|(_, job)| !job.has_ended());
        running.map(|(id, job)| (id.clone(), crate::one_line(&job.command).into_owned())).collect()
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn start(
        &self,
        ctx: &Context,
        args: &Args,
        prepared: Prepared,
    ) -> Result<Output<Data>, ToolError> {
        let (id, job) = self.launch(ctx, args, prepared.command, prepared.sandbox).await?;
        let mut output = goes_on(ctx, &id, &job, prepared.sandbox, "");
        if args.has_own_timeout() {
            let timeout = ctx.argument("timeout").unwrap_or("timeout");
            output.text.push_str(&format!(
                " (`{timeout}` is for commands that are waited for, and does not end it)"
            ));
        }
        Ok(output)
    }

    /// Starts a command and waits for its end, not longer than this; then it goes on in the background.
    pub(super) async fn start_and_wait(
        &self,
        ctx: &Context,
        args: &Args,
        prepared: Prepared,
        limit: Duration,
    ) -> Result<Waited, ToolError> {
        let (id, job) = self.launch(ctx, args, prepared.command, prepared.sandbox).await?;
        tokio::select! {
            () = job.wait(limit, |job| job.has_ended()) => (),
            () = ctx.cancel().cancelled() => {
                job.ask_to_end();
                job.wait(Duration::from_secs(3), |job| job.has_ended()).await;
                ctx.checkpoint()?;
            }
        }
        let (text, captured) = job.unread();
        let (ended, undo) = {
            let state = job.state();
            (state.ended.clone(), state.undo.clone())
        };
        match ended {
            Some(ended) => {
                self.jobs().remove(&id);
                let ended = ended.map_err(ToolError::execution)?;
                let lines = captured.lines;
                let shown = Shown { text, bytes: captured.total, lines, truncated: None, not_kept: None };
                Ok(Waited::Ended(Box::new((shown, ended, undo))))
            }
            None => {
                let output = goes_on(ctx, &id, &job, prepared.sandbox, &text);
                Ok(Waited::GoesOn(Box::new(output)))
            }
        }
    }

    /// Whether a command can go on here when the call that has started it is over.
    pub(super) fn is_possible(&self) -> bool {
        self.most > 0
    }

    async fn launch(
        &self,
        ctx: &Context,
        args: &Args,
        command: toolpost_process::Command,
        sandbox: &'static str,
    ) -> Result<(String, Arc<Job>), ToolError> {
        self.check_room(ctx)?;
        let limits = Limits { wall: None, ..Limits::default() };
        let mut records = Records::begin(ctx, sandbox).await;
        let command = records.of(command.limits(limits).stdin(Stdin::Open));
        let mut running = command.start().map_err(|error| explain(&error))?;
        let stdin = running.take_stdin();
        let (orders, mut inbox) = mpsc::unbounded_channel();
        let job = Arc::new(Job {
            session: ctx.session().to_owned(),
            command: args.command.clone(),
            started: Instant::now(),
            state: Mutex::new(State { unread: Capture::new(HELD, HELD), ended: None, undo: Undo::default() }),
            changed: Notify::new(),
            orders,
            stdin: tokio::sync::Mutex::new(stdin),
        });
        let id = self.add(&job);
        let kept = Arc::clone(&job);
        let ctx = ctx.clone();
        tokio::spawn(async move {
            let mut nothing = Capture::new(0, 0);
            let ender = running.ender();
            let seen = Arc::clone(&kept);
            let mut collecting = std::pin::pin!(running.collect(&mut nothing, move |bytes| seen.saw(bytes)));
            let ended = loop {
                tokio::select! {
                    ended = &mut collecting => break ended,
                    Some(Order::End) = inbox.recv() => ender.end(),
                }
            };
            kept.end(ended, records.finish(&ctx).await);
        });
        if let Some(text) = &args.stdin {
            job.write(text).await?;
        }
        Ok((id, job))
    }

    fn check_room(&self, ctx: &Context) -> Result<(), ToolError> {
        if self.most == 0 {
            return Err(ToolError::new(
                Code::ExecutionError,
                "nothing can go on in the background here, as the process ends with this call; run the command \
                 in the foreground, or serve the tools with `toolpost mcp`",
            ));
        }
        let running: Vec<String> =
            self.running().into_iter().map(|(id, command)| format!("{id} (`{command}`)")).collect();
        if running.len() < self.most {
            return Ok(());
        }
        let message = format!(
            "{} background commands are running, and no more are allowed: {}; end one{}",
            running.len(),
            running.join(", "),
            ctx.tool_name("bash_kill").map_or_else(String::new, |tool| format!(" with `{tool}`"))
        );
        Err(ToolError::new(Code::FanoutExceeded, message))
    }

    fn add(&self, job: &Arc<Job>) -> String {
        let mut jobs = self.jobs();
        // Those that have ended and were read are forgotten when there are many.
        if jobs.len() > 100 {
            jobs.retain(|_, job| !job.has_ended());
        }
        let id = (1_u32..).map(of_number).find(|id| !jobs.contains_key(id)).unwrap_or_default();
        jobs.insert(id.clone(), Arc::clone(job));
        id
    }

    /// A command of this session and its id, by that id or by the number in it alone.
    pub(super) fn find(&self, ctx: &Context, id: &str) -> Result<(String, Arc<Job>), ToolError> {
        let jobs = self.jobs();
        let is_own = |(_, job): &(&String, &Arc<Job>)| job.session == ctx.session();
        let by_number = || jobs.get_key_value(&of_number(id.trim()));
        if let Some((id, job)) = jobs.get_key_value(id).or_else(by_number).filter(is_own) {
            return Ok((id.clone(), Arc::clone(job)));
        }
        let known: Vec<String> = jobs
            .iter()
            .filter(|(_, job)| job.session == ctx.session())
            .map(|(id, job)| format!("{id} (`{}`)", crate::one_line(&job.command)))
            .collect();
        let there = match known.as_slice() {
            [] => "none was started in this session".to_owned(),
            known => format!("there are {}", known.join(", ")),
        };
        Err(ToolError::new(Code::FileNotFound, format!("no background command `{id}`; {there}")))
    }

    /// Ends all of them, and waits for it.
    pub(super) async fn end_all(&self) {
        let jobs: Vec<Arc<Job>> = self.jobs().values().cloned().collect();
        for job in &jobs {
            job.ask_to_end();
        }
        for job in &jobs {
            job.wait(Duration::from_secs(3), |job| job.has_ended()).await;
        }
    }
}

impl Job {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, bytes: &[u8]) {
        self.state().unread.push(bytes);
        self.changed.notify_waiters();
    }

    fn end(&self, ended: Result<Ended, Error>, undo: Undo) {
        let mut state = self.state();
        state.ended = Some(ended.map_err(|error| error.to_string()));
        state.undo = undo;
        drop(state);
        self.changed.notify_waiters();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    pub(super) fn has_news(&self) -> bool {
        let state = self.state();
        state.ended.is_some() || state.unread.total() > 0
    }

    pub(super) fn ask_to_end(&self) {
        let _ = self.orders.send(Order::End);
    }

    /// Waits until this holds, not longer than that.
    pub(super) async fn wait(&self, limit: Duration, holds: impl Fn(&Job) -> bool) {
        let _ = tokio::time::timeout(limit, async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if holds(self) {
                    return;
                }
                changed.await;
            }
        })
        .await;
    }

    pub(super) async fn write(&self, text: &str) -> Result<(), ToolError> {
        let mut stdin = self.stdin.lock().await;
        let gone = || ToolError::execution("the command does not read its input any more");
        let pipe = stdin.as_mut().ok_or_else(gone)?;
        let written = tokio::time::timeout(Duration::from_secs(5), pipe.write_all(text.as_bytes())).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                *stdin = None;
                Err(gone())
            }
            Err(_) => {
                Err(ToolError::execution("the command has not read its input for 5 s; part of it is written"))
            }
        }
    }

    /// What it has written and nobody has read.
    fn unread(&self) -> (String, Captured) {
        let unread = std::mem::replace(&mut self.state().unread, Capture::new(HELD, HELD));
        let (captured, _, _) = unread.finish();
        let text = match captured.missing {
            0 => lossy(&[captured.head.as_slice(), &captured.tail].concat()),
            missing => {
                let (head, tail) = (lossy(&captured.head), lossy(&captured.tail));
                format!("{head}\n[… {missing} bytes came too fast to be held]\n{tail}")
            }
        };
        (text, captured)
    }

    /// What is new since the last look.
    pub(super) fn look(&self, id: &str) -> Output<Look> {
        // Asked for first: what is written before the end is then read with it.
        let (ended, undo) = {
            let state = self.state();
            (state.ended.clone(), state.undo.clone())
        };
        let (mut text, captured) = self.unread();
        let mut look = Look {
            id: id.to_owned(),
            running: ended.is_none(),
            exit_code: None,
            signal: None,
            duration_ms: milliseconds(self.started.elapsed()),
            missing: captured.missing,
        };
        let state = match ended {
            None if text.is_empty() => "nothing new; it still runs".to_owned(),
            None => "it still runs".to_owned(),
            Some(Ok(ended)) => {
                look.exit_code = ended.exit.code();
                look.signal = ended.exit.signal();
                look.duration_ms = milliseconds(ended.wall);
                undo.beside(&how_it_ended(&ended))
            }
            Some(Err(why)) => why,
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Output::new(format!("{id}: {}", crate::one_line(&self.command)), format!("{text}[{state}]"), look)
    }
}

/// The id of a command by its number.
fn of_number(number: impl std::fmt::Display) -> String {
    format!("bg_{number}")
}

/// What became of a command that was waited for.
pub(super) enum Waited {
    Ended(Box<(Shown, Ended, Undo)>),
    /// It has not ended yet.
    GoesOn(Box<Output<Data>>),
}

/// What is said of a command that goes on: what it has written so far, and how it is looked at and ended.
fn goes_on(ctx: &Context, id: &str, job: &Job, sandbox: &'static str, written: &str) -> Output<Data> {
    let way = |tool: &str| {
        let argument = ctx.argument_of(tool, "id")?;
        Some(format!("{} {argument}={id}", ctx.tool_name(tool)?))
    };
    let until = way("bash_kill").map_or_else(String::new, |way| format!(", {way}"));
    let look = way("bash_output").map_or_else(String::new, |way| format!(". {way} shows what it writes"));
    let state = match written.is_empty() {
        true => format!("started as {id}; it goes on until it ends{until} or the end of the session{look}"),
        false => {
            format!("[it still runs as {id}, until it ends{until} or the end of the session{look}]")
        }
    };
    let gap = if written.is_empty() || written.ends_with('\n') { "" } else { "\n" };
    let duration_ms = milliseconds(job.started.elapsed());
    let undo = (sandbox == "none").then_some(false);
    let data = Data { sandbox, id: Some(id.to_owned()), duration_ms, undo, ..Data::default() };
    Output::new(id, format!("{written}{gap}{state}"), data)
}

fn how_it_ended(ended: &Ended) -> String {
    match ended.exit {
        Exit::Code(code) => format!("it has ended with exit code {code}"),
        Exit::Signal(signal) => format!("it was ended by signal {signal}"),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cleaned(bytes)).into_owned()
}
