//! A command made ready: the folder, the environment and the sandbox that the policy leaves it.

use super::{Args, plain};
use crate::shell::{Confinement, Settings};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolpost_core::host::{Ground, Reach};
use toolpost_core::policy::{Effect, FilePattern, FileRule, FileRules};
use toolpost_core::workspace::{DEPENDENCY_FOLDERS, DependencyFolder, Kind, Mark};
use toolpost_core::{Code, Context, ToolError, WorkspacePath};
use toolpost_process::{Command, Dependencies, Error, FileEffect, HomeFolder, Limits, Sandbox};

/// Between the polite and the hard end of a command.
const GRACE: Duration = Duration::from_millis(500);

/// Processes of an ordinary user at once.
const MOST_PROCESSES: u64 = 8_192;

/// What every command gets: no pager, no questions, no colours, no news.
const ALWAYS: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // An editor would wait for somebody, and runs what it is told on its input.
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("EDITOR", ":"),
    ("VISUAL", ":"),
    ("PYTHONUNBUFFERED", "1"),
    // News about versions of the program itself are no part of its output.
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("NO_UPDATE_NOTIFIER", "1"),
    // Files laid out as a repository in a folder of the workspace must not choose what git runs.
    ("GIT_CONFIG_COUNT", "4"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    // What git would start beside a command would be ended with it.
    ("GIT_CONFIG_KEY_1", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "gc.auto"),
    ("GIT_CONFIG_VALUE_2", "0"),
    // What stands for a hidden file has its size and time, but another number; git must not take it for changed.
    ("GIT_CONFIG_KEY_3", "core.checkStat"),
    ("GIT_CONFIG_VALUE_3", "minimal"),
];

/// A command made ready.
pub(in crate::shell) struct Prepared {
    /// Through the shell.
    pub(in crate::shell) command: Command,
    /// Without one, where the line needs none.
    pub(in crate::shell) direct: Option<Command>,
    /// How it is confined, in a word.
    pub(in crate::shell) sandbox: &'static str,
    /// Files that it can see and not read.
    pub(in crate::shell) hidden: Vec<PathBuf>,
    /// What it can see outside of the workspace, beside the system.
    pub(in crate::shell) visible: Vec<PathBuf>,
}

impl Prepared {
    pub(in crate::shell) async fn new(
        ctx: &Context,
        settings: &Settings,
        args: &Args,
        scratch: Option<&Path>,
    ) -> Result<Prepared, ToolError> {
        let confined = settings.confinement == Confinement::Strict;
        let reach = if confined { Reach::Confined } else { Reach::Free };
        let ground = ctx.ground(reach).await?;
        let folder = folder(ctx, args.workdir.as_ref()).await?;
        let limits = Limits {
            wall: Some(Duration::from_millis(args.timeout)),
            grace: GRACE,
            processes: Some(MOST_PROCESSES),
            ..Limits::default()
        };
        let confined = settings.confinement == Confinement::Strict;
        let sandbox =
            confined.then(|| Sandbox { scratch: scratch.map(Path::to_owned), ..sandbox(settings, &ground) });
        let finish = |command: Command| {
            let command = ALWAYS.iter().fold(command, |command, (name, value)| command.variable(name, value));
            let given = settings.environment.iter();
            let command = given.fold(command, |command, (name, value)| command.variable(name, value));
            let command = command.variable("PWD", &folder).limits(limits);
            match &sandbox {
                Some(sandbox) => command.variable("TMPDIR", "/tmp").sandbox(sandbox.clone()),
                None => command,
            }
        };
        let shell = toolpost_process::Command::new("bash", &folder).args([
            "--noprofile",
            "--norc",
            "-c",
            &args.command,
        ]);
        let direct = plain::words(&args.command).map(|words| {
            finish(toolpost_process::Command::new(words[0], &folder).args(words[1..].iter().copied()))
        });
        let command = finish(shell);
        let (hidden, mut visible) =
            sandbox.map_or_else(Default::default, |sandbox| (sandbox.hidden, sandbox.readable));
        visible.extend(settings.outside.programs.iter().cloned());
        let sandbox = if confined { "strict" } else { "none" };
        Ok(Prepared { command, direct, sandbox, hidden, visible })
    }
}

/// The folder that the command runs in, by its absolute path.
async fn folder(ctx: &Context, wanted: Option<&WorkspacePath>) -> Result<PathBuf, ToolError> {
    let Some(wanted) = wanted.cloned() else { return Ok(asked_folder(ctx, None)) };
    let stat = ctx.blocking(move |ctx| ctx.workspace().stat(&wanted)).await?;
    if stat.kind != Kind::Folder {
        let message = format!("`{}` is a file; a command runs in a folder", stat.name);
        return Err(ToolError::new(Code::NotAFile, message).with("path", stat.name));
    }
    Ok(PathBuf::from(ctx.workspace().root()).join(stat.name))
}

/// The same by what was asked for, whether it is there or not. File tools count from the root, and so do commands.
pub(super) fn asked_folder(ctx: &Context, wanted: Option<&WorkspacePath>) -> PathBuf {
    let root = PathBuf::from(ctx.workspace().root());
    match wanted {
        Some(wanted) => root.join(wanted.as_str()),
        None => root,
    }
}

/// What the policy leaves of the machine.
pub(crate) fn view_of(ground: &Ground) -> Sandbox {
    let roots = ground.roots.iter().map(PathBuf::from);
    let marked = |mark: Mark| {
        let wanted = ground.marked.iter().filter(move |marked| marked.mark == mark);
        wanted.map(|marked| marked.path.clone())
    };
    let mut sandbox = Sandbox {
        locked: marked(Mark::Locked).collect(),
        hidden: marked(Mark::Hidden).collect(),
        reserved: ground.reserved.clone(),
        rules: ground.rules.iter().map(rules_of).collect(),
        aliases: ground.aliases.iter().map(|alias| (alias.folder.clone(), alias.name.clone())).collect(),
        fixed: ground.fixed.clone(),
        dependencies: dependencies_of(ground),
        network: ground.has_network,
        ..Sandbox::default()
    };
    match ground.is_writable {
        true => sandbox.writable.extend(roots),
        false => sandbox.readable.extend(roots),
    }
    sandbox
}

/// The dependency folders in the sandbox's own words.
fn dependencies_of(ground: &Ground) -> Dependencies {
    let marker = |row: &DependencyFolder| Some((row.name.to_owned(), row.marker?.to_owned()));
    Dependencies {
        names: ground.dependencies.names.iter().map(|&name| name.to_owned()).collect(),
        folders: ground.dependencies.folders.clone(),
        reserved: ground.reserved_in_dependencies.clone(),
        removable: ground.dependencies.unreadable.clone(),
        markers: DEPENDENCY_FOLDERS.iter().filter_map(marker).collect(),
        called: DEPENDENCY_FOLDERS.iter().map(|row| row.name.to_owned()).collect(),
    }
}

/// The user's rules in the sandbox's own words.
fn rules_of(set: &FileRules) -> toolpost_process::FileRules {
    let rule = |rule: &FileRule| toolpost_process::FileRule {
        effect: match rule.effect {
            Effect::Allow => FileEffect::Open,
            Effect::Ask => FileEffect::Ask,
            Effect::Deny => FileEffect::Deny,
        },
        pattern: match rule.pattern.clone() {
            FilePattern::Everything => toolpost_process::FilePattern::Everything,
            FilePattern::Name(name) => toolpost_process::FilePattern::Name(name),
            FilePattern::Exact(path) => toolpost_process::FilePattern::Exact(path),
            FilePattern::Inside(folder) => toolpost_process::FilePattern::Inside(folder),
            FilePattern::Glob { glob, inside } => toolpost_process::FilePattern::Glob { glob, inside },
        },
    };
    let layers = set.layers.iter().map(|layer| layer.iter().map(rule).collect());
    toolpost_process::FileRules { layers: layers.collect() }
}

/// The sandbox that the policy implies, with the host's toolchains.
pub(in crate::shell) fn sandbox(settings: &Settings, ground: &Ground) -> Sandbox {
    let mut sandbox = view_of(ground);
    sandbox.home = if ground.allows_any_command { HomeFolder::Open } else { HomeFolder::Caches };
    sandbox.readable.extend(settings.outside.readable.iter().cloned());
    sandbox.programs.extend(settings.outside.programs.iter().cloned());
    sandbox.hidden.extend(settings.outside.hidden.iter().cloned());
    sandbox
}

/// Why a command could not be run, for the model.
pub(in crate::shell) fn explain(error: &Error) -> ToolError {
    match error {
        Error::SandboxUnavailable { layer, why } => ToolError::new(
            Code::SandboxUnavailable,
            format!(
                "commands cannot be confined here, so none is run: {layer}: {why}. `toolpost doctor` shows what is \
                 missing; `--sandbox none` runs commands without a sandbox"
            ),
        )
        .with("layer", layer.as_str()),
        Error::NotRun { .. } | Error::Launcher { .. } => ToolError::execution(error.to_string()),
    }
}
