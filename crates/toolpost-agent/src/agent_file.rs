//! Agent files: markdown with a head that says who the agent is, what it may use and how far it may go.
//!
//! One reader serves toolpost's own files and those of other hosts. It is pure: bytes come in, an agent and everything
//! that is wrong with its file go out, each with line and field. Whether a file may be used at all (trust), and whether
//! the tools that it names exist, is decided where the parts are joined.

mod format;
mod head;
mod limits;
mod node;
mod parameters;
mod policy;
mod problem;
mod reader;
mod table;
mod tools;
mod yaml;

pub use format::Format;
pub use limits::Limits;
pub use node::{At, Content, Key, Node};
pub use problem::{Problem, Severity};
pub use tools::ToolChoice;

use head::Head;
use reader::Reader;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use toolpost_core::Policy;
use toolpost_core::model::Thinking;
use toolpost_core::text::{Source, hex};
use toolpost_core::tool::PromptToolDef;

/// Maximum number of bytes of a head.
pub const LARGEST_HEAD: usize = 64 * 1024;

/// An agent, as its file describes it.
#[derive(Debug, Clone)]
pub struct AgentFile {
    /// Its name; the file's where it has none of its own.
    pub name: String,
    /// When to use it, for whoever chooses among agents; it may be empty.
    pub description: String,
    /// The file, as it was named.
    pub file: String,
    /// Whose file it is.
    pub format: Format,
    /// The models that it wants, the first one first; none for the caller's.
    pub models: Vec<String>,
    /// The packs that its tools come from; none where it names no packs.
    pub tool_packs: Option<Vec<ToolChoice>>,
    /// The tools that it names; none where it names no tools. With neither packs nor tools it has all there are.
    pub tools: Option<Vec<ToolChoice>>,
    /// The tools that it must not have.
    pub without: Vec<ToolChoice>,
    /// The agents that it may start, by name or file; none for all there are.
    pub agents: Option<Vec<ToolChoice>>,
    /// The hash of the file's content.
    pub hash: String,
    /// Its own tools.
    pub prompt_tools: Vec<PromptToolDef>,
    /// What it may do, beside what the run allows; none for whatever the run allows.
    pub policy: Option<Policy>,
    /// How far it may go.
    pub limits: Limits,
    /// Its role among the shared tasks.
    pub role: Option<String>,
    /// The dialect in which tools are offered to it; otherwise its model's.
    pub dialect: Option<String>,
    /// How much chance there is in its answers.
    pub temperature: Option<f64>,
    /// How long it thinks.
    pub thinking: Option<Thinking>,
    /// The files of instructions of the workspace that it reads at its start, by name.
    pub instruction_files: Vec<String>,
    /// Where the file asks for them; none where its host gives them to every agent.
    pub instructions_at: Option<At>,
    /// Where `model` stands, if it does.
    pub model_at: Option<At>,
    /// Where the `model` of each of its own tools stands, by the tool's name.
    pub tool_models_at: BTreeMap<String, At>,
    /// The steps of the script model, as they stand in the file.
    pub script: Option<Node>,
    /// Whether the file says that the agent is not to be used.
    pub is_disabled: bool,
    /// What it is told before everything else.
    pub instruction: String,
}

/// What was read of a file.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The agent; none where the file is broken.
    pub agent: Option<AgentFile>,
    /// Everything wrong with the file, in its order.
    pub problems: Vec<Problem>,
}

/// Reads an agent file. `file` is its name: its ending tells the syntax, and its folder whose file it is.
///
/// ```
/// use toolpost_agent::agent_file::read;
///
/// let loaded = read("greeter.md", b"---\ndescription: Greets.\nlimits: { turns: 3 }\n---\nBe kind.\n");
/// let agent = loaded.agent.unwrap();
/// assert_eq!((agent.name.as_str(), agent.limits.turns), ("greeter", Some(3)));
/// let loaded = read("greeter.md", b"---\ndescription: Greets.\nlimits: { turns: many }\n---\nBe kind.\n");
/// assert_eq!(
///     loaded.problems[0].to_string(),
///     "greeter.md:3:18: `limits.turns` is a text; write a whole number from 1, such as `turns: 20`"
/// );
/// ```
pub fn read(file: &str, bytes: &[u8]) -> Loaded {
    let format = Format::of(file);
    let broken = |problem| Loaded { agent: None, problems: vec![problem] };
    let source = match Source::new(file, bytes) {
        Ok(source) => source,
        Err(errors) => {
            let located = errors.all().first();
            let at =
                located.map_or(At { line: 1, column: 1 }, |one| At { line: one.line, column: one.column });
            let message = located.map_or_else(String::new, |one| one.message.clone());
            return broken(Problem::new(file, at, None, Severity::Broken, message));
        }
    };
    let head = match file.ends_with(".toml") {
        true => table::parse(&source),
        false => head::split(source.text()).and_then(|(text, line, body)| {
            let root = match yaml::parse(text, line) {
                Err(fault) if format != Format::Toolpost => {
                    yaml::parse(&head::with_quotes(text), line).map_err(|_| fault)?
                }
                root => root?,
            };
            Ok(Head { root, body: body.to_owned() })
        }),
    };
    match head {
        Ok(head) => {
            let mut loaded = Reader::new(file, format).agent(head);
            if let Some(agent) = &mut loaded.agent {
                agent.hash = hex(&Sha256::digest(bytes));
            }
            loaded
        }
        Err(fault) => broken(Problem::new(file, fault.at, None, Severity::Broken, fault.message)),
    }
}

impl Loaded {
    /// Whether nothing is broken or left out; warnings do not count.
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }
}

impl AgentFile {
    /// The run's policy narrowed by the agent's own: the meet, which is never wider than the run's.
    pub fn policy_within(&self, run: &Policy) -> Policy {
        match &self.policy {
            Some(own) => run.meet(&own.with_own_advice(policy::advice, &self.file)),
            None => run.clone(),
        }
    }
}
