//! The command line as it is typed: flags and commands, nothing of what they mean.

mod quick;

use crate::config::Host;
use crate::config::flags::{Everywhere, KeyFlags, OfCall, OfMcp, OfRun};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toolpost_declaration::Format;

/// The tool runtime for AI agents.
///
/// Runs tools with checked arguments, inside a workspace that cannot be left, under a policy that says what may
/// happen.
#[derive(Debug, Parser)]
#[command(name = "toolpost", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub flags: Flags,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Flags {
    /// Folder that tools act in; the first one given is the root. Otherwise AGENT_WORKSPACE_ROOT, else the enclosing
    /// repository, else the current folder. With vfs:SESSION, file tools act on the virtual files of that session
    /// instead.
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Vec<PathBuf>,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<Everywhere>,
    /// Answer every question with yes, except those about protected and key files.
    #[arg(long, global = true)]
    pub yes: bool,
    /// One more file of configuration, as strong as your own; `toolpost doctor` shows what holds.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Print JSON for programs.
    #[arg(long, global = true)]
    pub json: bool,
}

impl Cli {
    /// Reads a command line, whose first word is the program.
    pub(crate) fn read(words: &[OsString]) -> Result<Cli, clap::Error> {
        quick::parse(words).map_or_else(|| Cli::try_parse_from(words), Ok)
    }

    /// The flags of every command, with those of this command that stand for a key of the configuration.
    pub(crate) fn all_flags(&self) -> Flags {
        let mut flags = self.flags.clone();
        match &self.command {
            Command::Call(call) => flags.keys.settings.add(&call.keys.settings),
            Command::Run(run) => flags.keys.settings.add(&run.keys.settings),
            Command::Chat(chat) => flags.keys.settings.add(&chat.keys.settings),
            Command::Sessions { command: Some(SessionsCommand::Resume { keys, .. }) } => {
                flags.keys.settings.add(&keys.settings);
            }
            Command::Sessions { command: Some(SessionsCommand::Fork(fork)) } => {
                flags.keys.settings.add(&fork.keys.settings);
            }
            Command::Mcp(mcp) => flags.keys.settings.add(&mcp.keys.settings),
            _ => {}
        }
        flags
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an agent: a file, or the name of one that `toolpost agents` lists.
    ///
    /// On a terminal you are asked before it runs commands or reaches the network; otherwise --allow exec and --allow
    /// network grant it. Ctrl-C once ends the run with what there is, twice ends it at once.
    Run(Run),
    /// Talk to an agent: a conversation whose every message and answer is kept.
    ///
    /// On a terminal, `/help` shows what you can type, Ctrl-C stops an answer, and Ctrl-D ends. Otherwise each line of
    /// standard input is a message, and each answer is printed.
    Chat(Chat),
    /// Show the agent files there are, and check them.
    Agents {
        /// What to do with them.
        #[command(subcommand)]
        command: Option<Agents>,
    },
    /// Run one tool.
    Call(Call),
    /// Show the tools there are.
    Tools {
        /// What to show of them.
        #[command(subcommand)]
        command: Option<Tools>,
    },
    /// Say what is decided about a call, and why.
    Policy {
        /// What to say.
        #[command(subcommand)]
        command: Policy,
    },
    /// Serve the tools to an agent, by the Model Context Protocol.
    ///
    /// On standard input and output, as agents start it; with --http, at an address that many can share.
    Mcp(Mcp),
    /// Find every use of a symbol, resolved by the rules of the language.
    ///
    /// Each use is followed by how sure it is, unless it is certain. The code is indexed at the first use, and what has changed
    /// since at the next.
    Refs(Refs),
    /// Show the most important symbols of the code, by file.
    Map(MapFlags),
    /// Show which parts of the code depend on which.
    Graph(Graph),
    /// Show what has happened: the last 100 events, or those that flags ask for.
    ///
    /// What is written down, and for how long, stands in the guide; `toolpost gc` deletes what is old.
    Log(Log),
    /// Show the sessions that the log knows, the last active one first; or do something with the run of one.
    Sessions {
        /// What to do with a session.
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Count the calls of each tool: failures by code, times, bytes and tokens.
    Stats(Stats),
    /// Show the tasks that sessions share, as a tree: below each task those that it depends on.
    Tasks {
        /// What to do instead.
        #[command(subcommand)]
        command: Option<Tasks>,
    },
    /// Delete what is older, or more, than the key `keep` says.
    Gc,
    /// Take back what a tool has changed: the last call in this workspace that is not undone, or what is named.
    ///
    /// What you have changed since stays: where it is elsewhere in a file, both are kept; where it is the same lines,
    /// nothing at all is changed, and you are told. `toolpost redo` takes the undo back.
    Undo(Undo),
    /// Make again what was undone: the last undo in this workspace, or what is named.
    Redo(Undo),
    /// Show the virtual files of a session, and copy them from and to folders.
    ///
    /// Agents write them with `vfs_write`. They are kept in the store with all their versions; --session names the
    /// session.
    Vfs {
        /// What to do.
        #[command(subcommand)]
        command: Vfs,
    },
    /// Show the packs of tools: what each can cause, and whether the policy allows it.
    Packs,
    /// Show what this workspace brings along, and trust it.
    ///
    /// A repository's own configuration can narrow at once. What widens or starts something waits until you have
    /// looked at it here; trust is in the very content, so a file that changes waits again.
    Trust(Trust),
    /// Write an example configuration: for this project, or with --user for you.
    Init {
        /// Write your own file, for every workspace.
        #[arg(long)]
        user: bool,
    },
    /// Show what holds, where it comes from, and how to mend what is broken.
    Doctor,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// For the project's own tooling.
    #[command(hide = true)]
    Internal {
        /// What to do.
        #[command(subcommand)]
        command: Internal,
    },
}

/// Runs an agent.
#[derive(Debug, Args)]
pub struct Run {
    /// The agent's file, or its name.
    #[arg(required_unless_present = "resume")]
    pub agent: Option<String>,
    /// What it has to do; `-` reads it from standard input.
    pub task: Option<String>,
    /// Go on with the run of this session, whose process has ended before the run did.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["agent", "task"])]
    pub resume: Option<String>,
    /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
    /// writes is refused.
    #[arg(long, requires = "resume")]
    pub take_over: bool,
    /// What is printed: the agent's text, one JSON object at the end, or a line of JSON for each thing that happens.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}

/// Talks to an agent.
#[derive(Debug, Args)]
pub struct Chat {
    /// The agent's file, or its name; otherwise one that works in this folder with all tools.
    pub agent: Option<String>,
    /// Go on with the conversation, or with the run, of this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "agent")]
    pub resume: Option<String>,
    /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
    /// writes is refused.
    #[arg(long, requires = "resume")]
    pub take_over: bool,
    /// What is printed of each answer: its text, one JSON object, or a line of JSON for each thing that happens.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}

/// What to do with a session.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Show the agents of a session as a tree: how each stands, and what it cost.
    Show {
        /// The session.
        #[arg(value_name = "SESSION")]
        of: String,
    },
    /// Go on with a run whose process has ended before it did.
    Resume {
        /// The session.
        #[arg(value_name = "SESSION")]
        of: String,
        /// Go on with it although another process holds it: on this machine that process is ended, elsewhere what it still
        /// writes is refused.
        #[arg(long)]
        take_over: bool,
        /// What is printed, as with `toolpost run`.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        output: RunOutput,
        /// Those that stand for a key of the configuration.
        #[command(flatten)]
        keys: KeyFlags<OfRun>,
    },
    /// Begin another run from a step of one, with another model, policy or task.
    Fork(ForkFlags),
    /// Tell a run again from what was recorded. Nothing runs; the first event that differs is named.
    Replay {
        /// The session.
        #[arg(value_name = "SESSION")]
        of: String,
    },
    /// Print a session as one page of HTML, or as JSON.
    Export {
        /// The session.
        #[arg(value_name = "SESSION")]
        of: String,
        /// As what.
        #[arg(long, value_name = "FORMAT", default_value = "html")]
        format: ExportFormat,
    },
    /// Delete a session: its events, virtual files and todos.
    Rm {
        /// The session.
        #[arg(value_name = "SESSION")]
        of: String,
    },
}

/// Begins another run from one.
#[derive(Debug, Args)]
pub struct ForkFlags {
    /// The session.
    #[arg(value_name = "SESSION")]
    pub of: String,
    /// The first step that is done anew; `toolpost log` shows them. Otherwise all that was done stays.
    #[arg(long, value_name = "STEP")]
    pub at: Option<u64>,
    /// What it has to do: instead of its task at step 0, and beside it later.
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// What is printed, as with `toolpost run`.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: RunOutput,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfRun>,
}

/// As what a session is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One page that needs nothing else.
    Html,
    /// One JSON object: the agents, and the events as they are in the log.
    Json,
}

/// What is printed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunOutput {
    /// The agent's text.
    Text,
    /// One JSON object at the end.
    Json,
    /// A line of JSON for each thing that happens.
    StreamJson,
}

/// What to do with agent files.
#[derive(Debug, Subcommand)]
pub enum Agents {
    /// Show the agents there are, as `toolpost agents` alone does.
    List,
    /// Say what is wrong with agent files: each with file, line and field. The exit status is 1 if anything is.
    Check {
        /// Files or names; otherwise all that are found.
        #[arg(value_name = "AGENT")]
        files: Vec<String>,
    },
}

/// Runs one tool.
#[derive(Debug, Args)]
pub struct Call {
    /// The tool's name or alias; `toolpost tools` lists them.
    pub tool: String,
    /// Its arguments: a JSON object, `-` to read one from standard input, or the main one as plain text and key=value
    /// pairs.
    #[arg(value_name = "ARGS")]
    pub arguments: Vec<String>,
    /// Check the name, the arguments and the policy, and run nothing.
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
    /// Tell what the call would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfCall>,
    /// Attempts in all, where the tool and its error allow another.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub attempts: u32,
}

impl Call {
    /// A call of this tool with what standard input holds.
    pub(crate) fn from_stdin(tool: &str) -> Call {
        let arguments = vec!["-".to_owned()];
        Call {
            tool: tool.to_owned(),
            arguments,
            check: false,
            dry_run: false,
            keys: KeyFlags::default(),
            attempts: 1,
        }
    }
}

/// Finds the uses of a symbol.
#[derive(Debug, Args)]
pub struct Refs {
    /// Its name; Type.method or module.name where the name alone is ambiguous.
    pub symbol: String,
    /// A file in which it is defined or used, to tell which one is meant.
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// The line in that file.
    #[arg(long, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub line: Option<u32>,
    /// The column in that line, in characters from 1.
    #[arg(long, value_name = "N", requires = "line", value_parser = clap::value_parser!(u32).range(1..))]
    pub column: Option<u32>,
    /// Only uses in this folder or file.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
}

/// Shows the most important symbols.
#[derive(Debug, Args)]
pub struct MapFlags {
    /// Folder or file to map; the workspace root if left out.
    pub path: Option<String>,
    /// Maximum number of tokens of the map.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    pub tokens: u32,
    /// A file or symbol; what is near it comes first.
    #[arg(long, value_name = "NAME")]
    pub focus: Vec<String>,
}

/// Shows dependencies.
#[derive(Debug, Args)]
pub struct Graph {
    /// Folder to look at; the workspace root if left out.
    pub path: Option<String>,
    /// How the graph is written.
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub format: GraphFormat,
    /// What its nodes are.
    #[arg(long, value_name = "LEVEL", default_value = "folder")]
    pub level: GraphLevel,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// One JSON object.
    Json,
    /// A flow chart of Mermaid.
    Mermaid,
    /// A graph of Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// What the nodes of a graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphLevel {
    /// Files.
    File,
    /// Folders.
    Folder,
    /// Packages: folders with a manifest.
    Package,
}

/// Which events of the log are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Which {
    /// Only of calls of this tool, by its own name.
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only of this agent.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only what is not older than this: 10m, 2h, 3d.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub since: Option<Duration>,
    /// Only what is older than this.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub until: Option<Duration>,
}

/// Shows what has happened.
#[derive(Debug, Args)]
pub struct Log {
    /// Which events.
    #[command(flatten)]
    pub which: Which,
    /// Only of this call: its id, or the ending of it that a line of the log shows.
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Only ends of calls with this outcome: ok, failed, or a code such as TIMEOUT.
    #[arg(long, value_name = "OUTCOME")]
    pub outcome: Option<String>,
    /// Only with all of these words, in whatever order: whole words, not parts of them.
    #[arg(long, value_name = "WORDS")]
    pub grep: Option<String>,
    /// Maximum number of events; of more, the last ones are shown.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Go on with what happens from now on, until interrupted.
    #[arg(long, short)]
    pub follow: bool,
}

/// Counts the calls of each tool.
#[derive(Debug, Args)]
pub struct Stats {
    /// Which calls.
    #[command(flatten)]
    pub which: Which,
}

/// What is taken back, or made again.
#[derive(Debug, Args)]
pub struct Undo {
    /// A call, by its id or the ending that `toolpost log` shows, or a session: all its changes, as one.
    #[arg(value_name = "CALL|SESSION")]
    pub what: Option<String>,
    /// Only say what would be done.
    #[arg(long)]
    pub dry_run: bool,
    /// Where some of it cannot be done, do the rest.
    #[arg(long)]
    pub partial: bool,
    /// Also bring back files that were removed since.
    #[arg(long)]
    pub bring_back: bool,
}

/// What to do with the shared tasks.
#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// Show the tasks as a tree, as `toolpost tasks` alone does.
    List,
    /// Add a task.
    Add {
        /// A few words.
        title: String,
        /// All that its worker needs to know.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        /// A task that must be completed first.
        #[arg(long, value_name = "ID")]
        depends_on: Vec<String>,
    },
    /// Show one task in full.
    Show {
        /// Its id, such as t1.
        id: String,
    },
    /// Show the tasks and every change as it comes, until interrupted.
    Watch,
    /// Take a task from the session or agent that has claimed it, so that it can be claimed again.
    Release {
        /// Its id, such as t1.
        id: String,
    },
    /// Accept the result that was submitted for a task.
    Complete {
        /// Its id, such as t1.
        id: String,
    },
    /// Refuse the result that was submitted for a task, so that it can be claimed again.
    Reject {
        /// Its id, such as t1.
        id: String,
        /// What is missing, for whoever claims it next.
        reason: String,
    },
    /// Create the tasks of a file: JSON as `export` prints it, or a check list in Markdown.
    ///
    /// All are created, or none. In a check list a task depends on those that are indented below it.
    Import {
        /// The file; `-` for standard input.
        file: PathBuf,
        /// json or markdown; otherwise the content tells.
        #[arg(long, value_name = "FORMAT")]
        format: Option<TaskFormat>,
    },
    /// Print all tasks so that `import` can create them elsewhere.
    Export {
        /// json, with everything; or markdown, a check list of titles, descriptions and dependencies.
        #[arg(long, value_name = "FORMAT", default_value = "json")]
        format: TaskFormat,
    },
}

/// How tasks are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TaskFormat {
    /// An object with the list `tasks`.
    Json,
    /// A check list.
    Markdown,
}

/// What to do with virtual files.
#[derive(Debug, Subcommand)]
pub enum Vfs {
    /// Which files there are: their versions and sizes.
    List {
        /// Only those whose paths begin so.
        prefix: Option<String>,
    },
    /// The content of a file.
    Show {
        /// Its path.
        path: String,
        /// An older version; otherwise the newest.
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Every version of a file: when and by whom it was made.
    History {
        /// Its path.
        path: String,
    },
    /// Write all files below a folder; never through links.
    Export {
        /// The folder; it is made if it is not there.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Overwrite files that have another content.
        #[arg(long)]
        force: bool,
        /// Write protected files too, such as git hooks: other programs run them.
        #[arg(long)]
        protected: bool,
    },
    /// Make virtual files of a file, or of all files below a folder, without links and .git.
    Import {
        /// The file or folder.
        #[arg(value_name = "DIR|FILE")]
        from: PathBuf,
        /// The path of the virtual file; or of the folder that files come into, which ends with `/` for a single file.
        #[arg(long = "as", value_name = "PATH")]
        path: Option<String>,
    },
}

/// Serves the tools to an agent.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Serve over HTTP at this address, such as 127.0.0.1:7300, instead of standard input and output.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub http: Option<SocketAddr>,
    /// Let everybody on this machine in, without the token; for loopback addresses only.
    #[arg(long, requires = "http")]
    pub no_token: bool,
    /// Another name that clients may call the server by, beside its address and localhost.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// Tools on one page of the list.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub page_size: u16,
    /// Those that stand for a key of the configuration.
    #[command(flatten)]
    pub keys: KeyFlags<OfMcp>,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Write the entry for `toolpost mcp` into the configuration of an agent or editor.
    ///
    /// Only that entry changes; every other byte of the file stays. The flags of every command that are given here
    /// (--policy, --allow, --workspace, …) become those of the entry.
    Install(Install),
}

/// Writes the entry for `toolpost mcp` into another program's configuration.
#[derive(Debug, Args)]
pub struct Install {
    /// The program: claude, codex, gemini, opencode, vscode, cursor or zed.
    #[arg(value_name = "CLIENT", hide_possible_values = true)]
    pub client: Host,
    /// Write its file in this project; usual for claude, gemini, opencode, vscode and cursor.
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Write your own file, for all projects; usual for codex and zed.
    #[arg(long)]
    pub user: bool,
    /// Show what would be written and where, and write nothing.
    #[arg(long)]
    pub print: bool,
}

/// Shows what a workspace brings along, and trusts it.
#[derive(Debug, Args)]
pub struct Trust {
    /// Only these files, from the root of the workspace; otherwise all that wait.
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Show what is trusted and what waits, and change nothing.
    #[arg(long, conflicts_with_all = ["files", "revoke", "shown"])]
    pub list: bool,
    /// Take trust back: of one file, or of all in this workspace.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["files", "shown"])]
    pub revoke: Option<Option<String>>,
    /// Trust only if exactly that waits which was shown under this word.
    #[arg(long, value_name = "WORD")]
    pub shown: Option<String>,
}

/// What to show of the tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// One line a tool: its name, what it can cause, what it does.
    List,
    /// Everything about one tool: arguments, data, limits.
    Show {
        /// The tool's name or alias.
        name: String,
    },
    /// The declarations of all offered tools, as a provider takes them.
    Export {
        /// mcp, openai-chat, openai-responses, openai-strict, anthropic, gemini, gemini-json-schema or langchain.
        #[arg(long, value_name = "FORMAT", default_value = "mcp")]
        format: Format,
    },
    /// What is odd about each tool, what is changed for each provider, and what each costs in tokens.
    Lint,
    /// The function declarations of all offered tools, one JSON array: for Gemini CLI's `tools.discoveryCommand`.
    Discover,
    /// Run one tool with the JSON object on standard input as its arguments: for Gemini CLI's `tools.callCommand`.
    ///
    /// Its output goes to standard output; standard error stays empty unless the call fails.
    Call {
        /// The tool's name or alias.
        name: String,
    },
}

/// What to say of the policy.
#[derive(Debug, Subcommand)]
pub enum Policy {
    /// Every rule looked at for a call, which one won, where it stands, and what would change it.
    Explain {
        /// The tool's name or alias; or `action: resource`, such as 'bash: git push', without arguments.
        tool: String,
        /// Its arguments, as for `call`.
        #[arg(value_name = "ARGS")]
        arguments: Vec<String>,
    },
    /// The policy in force: what is granted, what is asked about, and all rules with their places.
    Show,
    /// Show another system's permission rules as ours and, with --save, take them over.
    Import(ImportFlags),
}

/// Takes over another system's rules.
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// The file: Claude Code settings, opencode.json, a Gemini policy, Codex rules or configuration.
    pub file: PathBuf,
    /// Whose file it is, where its name does not tell.
    #[arg(long, value_name = "SYSTEM")]
    pub from: Option<ImportFrom>,
    /// Take the rules over for this workspace or for all, in the user's data directory.
    #[arg(long, value_name = "SCOPE")]
    pub save: Option<SaveScope>,
    /// Agree to taking over the rules as they are shown.
    #[arg(long = "agree", requires = "save")]
    pub agrees: bool,
}

/// Whose rules are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// Claude Code.
    Claude,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Codex.
    Codex,
}

/// For what rules are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SaveScope {
    /// This workspace.
    Project,
    /// Every workspace of the user.
    User,
}

/// For the project's own tooling.
#[derive(Debug, Subcommand)]
pub enum Internal {
    /// Print the generated reference pages as one JSON object, file name to text.
    Reference,
    /// Print the JSON Schema of the configuration.
    ConfigSchema,
    /// Print the text of the PDF on standard input.
    #[cfg(feature = "pdf")]
    PdfText,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an address and a port, such as 127.0.0.1:7300".to_owned())
}

pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        unit => return Err(format!("no unit `{unit}`; write 500ms, 30s, 2m or 1h")),
    };
    match digits.parse::<f64>() {
        Ok(number) if number > 0.0 && number * scale <= 86_400.0 => {
            Ok(Duration::from_secs_f64(number * scale))
        }
        Ok(_) => Err("a time-out is more than nothing and at most a day".to_owned()),
        Err(_) => Err(format!("`{digits}` is no number; write 500ms, 30s, 2m or 1h")),
    }
}

/// Reads how long ago something was, where days count too.
fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write 30s, 10m, 2h or 3d");
    let (digits, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let scale = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(scale).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_parse() {
        for (text, seconds) in [("30s", 30), ("10m", 600), ("2h", 7_200), ("3d", 259_200)] {
            assert_eq!(parse_age(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "d", "3", "3w", "-1d", "1.5h", "99999999999999999999d", "3é"] {
            assert!(parse_age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_parse() {
        for (text, millis) in [("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("7", 7_000), ("0.5", 500)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)));
        }
        for text in ["", "0", "-1", "5x", "s", "inf", "1e99", "NaN"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
