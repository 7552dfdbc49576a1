//! `bash`: a command in the workspace, in a sandbox, within its time.

mod dry_run;
mod foreseen;
mod index;
mod notes;
mod plain;
mod prepare;

use self::notes::Confined;
use super::background::Waited;
use super::kept::{Records, Undo};
use super::live::Live;
use super::output::{Shown, Taken};
use super::{Background, Confinement, Settings, line};
pub(crate) use prepare::view_of;
pub(super) use prepare::{Prepared, explain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::access::{Resource, ResourceKind};
use toolpost_core::policy::Foreseen;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{
    Access, Capability, Code, Context, Output, Policy, Spec, Tool, ToolError, WorkspacePath,
};
use toolpost_process::{Capture, Ended, Error, Exit, Stdin, Why};

/// The most that a caller may ask for, in milliseconds.
const LONGEST: u64 = 600_000;

/// Beyond that the executor itself ends a call.
const BACKSTOP: Duration = Duration::from_millis(LONGEST + 10_000);

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Command line for bash.
    #[schemars(length(min = 1), extend("x-toolpost-command-line" = true))]
    pub(super) command: String,
    /// What it is for, in a few words.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    pub(super) description: Option<String>,
    /// Milliseconds after which it is ended.
    #[serde(default = "usual_timeout")]
    #[schemars(range(min = 1, max = 600_000))]
    pub(super) timeout: u64,
    /// Folder to run in; the workspace root if left out.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    pub(super) workdir: Option<WorkspacePath>,
    /// Return at once; the command goes on, and `bash_output` and `bash_kill` take the id that is returned.
    #[serde(default)]
    pub(super) background: bool,
    /// Milliseconds to wait for its end; then it goes on, and `bash_output` and `bash_kill` take its id. Left out: ended after 120 s.
    #[schemars(range(min = 1, max = 600_000), extend("x-toolpost-hidden" = true))]
    pub(super) yield_after: Option<u64>,
    /// Text for its standard input.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    pub(super) stdin: Option<String>,
    /// Most tokens of output to return.
    #[schemars(range(min = 1))]
    pub(super) max_output_tokens: Option<usize>,
}

impl Args {
    /// Whether the caller has given another time-out than the usual one.
    pub(super) fn has_own_timeout(&self) -> bool {
        self.timeout != usual_timeout()
    }
}

fn usual_timeout() -> u64 {
    120_000
}

/// What a program gets beside the text.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The exit code; none if a signal ended it or it still runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    /// The signal that ended it, by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<i32>,
    /// How long it ran, in milliseconds.
    pub(super) duration_ms: u64,
    /// Bytes it wrote.
    pub(super) bytes: u64,
    /// Lines it wrote.
    pub(super) lines: u64,
    /// Processes that it had left running and that were ended with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) survivors: Vec<SurvivorData>,
    /// How it was confined: strict or none.
    pub(super) sandbox: &'static str,
    /// False if what it changed cannot be undone, or not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undo: Option<bool>,
    /// The id of a background command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// What a dry run would change; the first 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changes: Option<Vec<dry_run::Planned>>,
    /// The rest of it, by folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) more_changes: Vec<dry_run::Rest>,
}

/// A process that outlived its command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SurvivorData {
    /// Its number, as the command saw it.
    pub(super) pid: u32,
    /// Its command line.
    pub(super) name: String,
    /// Whether it could not be ended.
    pub(super) remains: bool,
}

/// The tool.
pub struct Bash {
    settings: Arc<Settings>,
    background: Arc<Background>,
}

impl Bash {
    /// Under these settings, with these commands in the background.
    pub fn new(settings: Arc<Settings>, background: Arc<Background>) -> Bash {
        Bash { settings, background }
    }
}

impl Tool for Bash {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        let text = match self.settings.confinement {
            Confinement::Strict => include_str!("bash.txt"),
            Confinement::None => include_str!("bash/open.txt"),
        };
        Spec::new("bash", "1.0.0", text)
            .requires(Capability::Exec)
            .about(ResourceKind::Command)
            .may_use(Capability::Write)
            .may_use(Capability::Network)
            // The command's own time is its argument; this is what the executor does if that fails.
            .timeout(BACKSTOP, BACKSTOP)
            .grace(Duration::from_secs(4))
            .budget(OutputBudget { bytes: 30_000, lines: 2_000 })
            .own_dry_run()
            .argument_alias("cmd", "command")
            .argument_alias("cwd", "workdir")
            .argument_alias("run_in_background", "background")
    }

    fn accesses(&self, args: &Args, _: Vec<Access>) -> Vec<Access> {
        let folder = args.workdir.as_ref().map_or("", WorkspacePath::as_str);
        let mut accesses = line::accesses_under(self.settings.confinement, folder, &args.command);
        if self.settings.confinement == Confinement::Strict {
            accesses.extend(line::repositories_in(folder, &args.command));
        }
        accesses
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let prepared = Prepared::new(ctx, &self.settings, &args, None).await?;
        if args.background {
            return self.background.start(ctx, &args, prepared).await;
        }
        if let Some(limit) = args.yield_after.filter(|_| self.background.is_possible()) {
            let limit = Duration::from_millis(limit);
            let confined = Confined::of(&prepared);
            return match self.background.start_and_wait(ctx, &args, prepared, limit).await? {
                Waited::GoesOn(output) => Ok(*output),
                Waited::Ended(ended) => {
                    let (shown, ended, undo) = *ended;
                    report(ctx, &args, Ok((shown, ended)), title(&args), (&confined, undo))
                }
            };
        }
        perform(ctx, &args, prepared, ctx.output_budget()).await
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        dry_run::run(ctx, &self.settings, &args).await
    }

    fn foreseen(&self, ctx: &Context, _: &Policy, args: &Args) -> Result<Foreseen, ToolError> {
        foreseen::of(ctx, &self.settings, args)
    }

    fn facts(&self, ctx: &Context, args: &Args) -> Vec<String> {
        let folder = prepare::asked_folder(ctx, args.workdir.as_ref());
        let background = if args.background { " (in the background)" } else { "" };
        let mut facts = vec![
            format!("command{background}: {}", args.command),
            format!("folder: {}", folder.display()),
            format!("sandbox: {}", self.confinement(ctx)),
        ];
        facts.extend(args.stdin.as_ref().map(|text| format!("input: {} bytes", text.len())));
        facts
    }

    fn rules(&self, access: &Access, usual: Vec<String>) -> Vec<String> {
        match &access.resource {
            Resource::Command(command) => {
                line::proposal(command).into_iter().map(|rule| format!("bash: {rule}")).collect()
            }
            // A line that cannot be read is no ground for allowing every line, nor a place that is computed.
            Resource::Any => Vec::new(),
            Resource::Path(path) if access.action == Capability::Exec && !path.starts_with(['/', '~']) => {
                Vec::new()
            }
            Resource::Path(_) | Resource::Stored(_) | Resource::Host(_) => usual,
        }
    }

    async fn shutdown(&self) {
        self.background.end_all().await;
    }
}

impl Bash {
    /// How a command of this call would be confined, for a person.
    fn confinement(&self, ctx: &Context) -> String {
        if self.settings.confinement == Confinement::None {
            return "none: it can do what you can".to_owned();
        }
        let files = match ctx.granted(Capability::Write) {
            true => "changes files of the workspace only, and no protected ones",
            false => "changes no files",
        };
        let network = match ctx.granted(Capability::Network) {
            true => "reaches the network",
            false => "no network",
        };
        format!("strict: {files}; {network}")
    }
}

pub(super) enum Failure {
    Process(Error),
    /// The call was ended before the command was.
    Cancelled(Box<(Shown, Ended)>),
}

fn title(args: &Args) -> String {
    args.description.clone().unwrap_or_else(|| crate::one_line(&args.command).into_owned())
}

/// Runs a command in the foreground, its output within a budget.
async fn perform(
    ctx: &Context,
    args: &Args,
    mut prepared: Prepared,
    budget: OutputBudget,
) -> Result<Output<Data>, ToolError> {
    let title = title(args);
    let mut records = Records::begin(ctx, prepared.sandbox).await;
    let confined = Confined::of(&prepared);
    if let Some(direct) = prepared.direct.take() {
        match run(ctx, args, records.of(direct), &title, budget).await {
            // Nothing was run; the shell says so in its own words.
            Err(Failure::Process(Error::NotRun { .. })) => records.start_over(),
            done => {
                let undo = records.finish(ctx).await;
                let confined = confined.looked_at(ctx, args, &done).await;
                return report(ctx, args, done, title, (&confined, undo));
            }
        }
    }
    let done = run(ctx, args, records.of(prepared.command), &title, budget).await;
    let undo = records.finish(ctx).await;
    let confined = confined.looked_at(ctx, args, &done).await;
    report(ctx, args, done, title, (&confined, undo))
}

async fn run(
    ctx: &Context,
    args: &Args,
    command: toolpost_process::Command,
    title: &str,
    budget: OutputBudget,
) -> Result<(Shown, Ended), Failure> {
    let stdin = args.stdin.as_ref().map_or(Stdin::Closed, |text| Stdin::Bytes(text.as_bytes().to_vec()));
    let mut running = command.stdin(stdin).start().map_err(Failure::Process)?;
    let mut capture = Capture::new(0, 0).with_whole(Taken::new(ctx, budget, args.max_output_tokens));
    let live = Live::new(ctx, title);
    let mut is_cancelled = false;
    let ended = {
        let ending = running.ender();
        let mut collecting = std::pin::pin!(running.collect(&mut capture, |bytes| live.saw(bytes)));
        loop {
            tokio::select! {
                biased;
                ended = &mut collecting => break ended,
                () = ctx.cancel().cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    ending.end();
                }
                () = live.keep_telling() => (),
            }
        }
    }
    .map_err(Failure::Process)?;
    let (_, taken, failed) = capture.finish();
    // Beside the output there are notes.
    let lines = budget.lines.saturating_sub(20);
    let shown = match (taken, failed) {
        (Some(taken), _) => taken.finish(lines),
        (None, failed) => Shown {
            text: String::new(),
            bytes: 0,
            lines: 0,
            truncated: None,
            not_kept: failed.map(|error| error.to_string()),
        },
    };
    match is_cancelled {
        true => Err(Failure::Cancelled(Box::new((shown, ended)))),
        false => Ok((shown, ended)),
    }
}

fn report(
    ctx: &Context,
    args: &Args,
    done: Result<(Shown, Ended), Failure>,
    title: String,
    (confined, undo): (&Confined, Undo),
) -> Result<Output<Data>, ToolError> {
    let (shown, ended) = match done {
        Ok(done) => done,
        Err(Failure::Process(error)) => return Err(explain(&error)),
        Err(Failure::Cancelled(ended)) => {
            let (shown, ended) = *ended;
            let told = "the command was ended, with everything it had started";
            let message = notes::with_output(&undo.beside(told), &shown);
            return Err(details(ToolError::new(Code::Cancelled, message), &shown, &ended));
        }
    };
    if ended.why == Why::TimedOut {
        let told = undo.beside(&notes::out_of_time(ctx, args, &shown, confined.sandbox));
        let error = ToolError::new(Code::Timeout, notes::with_output(&told, &shown));
        return Err(details(error, &shown, &ended).with("timeoutMs", args.timeout));
    }
    let text = notes::told(ctx, args, &shown, &ended, confined, undo.note.as_deref());
    let data = Data {
        exit_code: ended.exit.code(),
        signal: ended.exit.signal(),
        duration_ms: u64::try_from(ended.wall.as_millis()).unwrap_or(u64::MAX),
        bytes: shown.bytes,
        lines: shown.lines,
        survivors: survivors(&ended),
        sandbox: confined.sandbox,
        undo: undo.is_limited.then_some(false),
        ..Data::default()
    };
    let mut output = Output::new(title, text, data);
    output.truncated = shown.truncated;
    Ok(output)
}

pub(super) fn survivors(ended: &Ended) -> Vec<SurvivorData> {
    let data = |survivor: &toolpost_process::Survivor| SurvivorData {
        pid: survivor.pid,
        name: survivor.name.clone(),
        remains: survivor.remains,
    };
    ended.survivors.iter().map(data).collect()
}

/// What a program wants to know of a command that was ended.
fn details(error: ToolError, shown: &Shown, ended: &Ended) -> ToolError {
    let error = error
        .with("durationMs", u64::try_from(ended.wall.as_millis()).unwrap_or(u64::MAX))
        .with("bytes", shown.bytes)
        .with("survivors", serde_json::to_value(survivors(ended)).unwrap_or_default());
    let error = match ended.exit {
        Exit::Code(code) => error.with("exitCode", code),
        Exit::Signal(signal) => error.with("signal", signal),
    };
    match shown.truncated.as_ref().and_then(|truncated| truncated.handle.clone()) {
        Some(handle) => error.with("handle", handle),
        None => error,
    }
}
