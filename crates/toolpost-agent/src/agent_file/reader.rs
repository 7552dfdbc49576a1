//! From the keys of a head to an agent. Keys are those of toolpost and of all other hosts at once.

use super::format::Format;
use super::head::Head;
use super::limits::{self, Limits, shown, whole};
use super::node::{At, Content, Key, Node};
use super::policy::Narrowing;
use super::problem::{Problem, Severity};
use super::yaml::short;
use super::{AgentFile, Loaded, tools};
use std::collections::BTreeMap;
use toolpost_core::model::Thinking;
use toolpost_core::text::{misspelling_of, nearest};

/// The keys that mean something, as they are documented.
const KNOWN: [&str; 30] = [
    "name",
    "description",
    "model",
    "toolPacks",
    "tools",
    "agents",
    "disallowedTools",
    "policy",
    "limits",
    "role",
    "dialect",
    "instructions",
    "script",
    "temperature",
    "thinking",
    "effort",
    "maxTurns",
    "max_turns",
    "steps",
    "maxSteps",
    "timeout_mins",
    "permissionMode",
    "permission",
    "sandbox_mode",
    "developer_instructions",
    "model_reasoning_effort",
    "kind",
    "mode",
    "disable",
    "hidden",
];

/// The keys that can narrow what an agent may do. A file of another host may have keys that are not known here, but hardly
/// one that differs from these by a letter.
const NARROWING: [&str; 20] = [
    "policy",
    "limits",
    "tools",
    "allowedTools",
    "toolPacks",
    "agents",
    "disallowedTools",
    "permission",
    "permissionMode",
    "maxTurns",
    "max_turns",
    "maxSteps",
    "steps",
    "timeout_mins",
    "sandbox_mode",
    "mode",
    "disable",
    "hidden",
    "kind",
    "role",
];

/// Keys of other hosts that concern only how they show an agent.
const OF_NO_CONCERN: [&str; 11] = [
    "color",
    "metadata",
    "argumenthint",
    "nicknamecandidates",
    "target",
    "userinvocable",
    "disablemodelinvocation",
    "infer",
    "license",
    "version",
    "tags",
];

/// Keys of other hosts that would do something there and do nothing here, and what to do instead.
const NOT_TAKEN: [(&str, &str); 10] = [
    ("mcpservers", "put MCP servers into the configuration; `toolpost doctor` shows where"),
    ("hooks", "hooks of agent files are not run"),
    ("skills", "skills are not loaded"),
    ("memory", "nothing is kept between runs but the session"),
    ("background", "it runs in the foreground"),
    ("isolation", "run it with `--workspace DIR` in a worktree of its own"),
    ("handoffs", "it cannot hand over to others"),
    ("topp", "set `temperature` instead"),
    ("prompt", "the instruction is the text below the head"),
    ("extends", "files are not joined"),
];

/// Reads one head, and collects what is wrong with it.
pub(super) struct Reader<'a> {
    pub(super) file: &'a str,
    pub(super) format: Format,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, format: Format) -> Reader<'a> {
        Reader { file, format, problems: Vec::new() }
    }

    pub(super) fn agent(mut self, head: Head) -> Loaded {
        let Head { root, body } = head;
        let mut agent = AgentFile {
            name: stem(self.file),
            description: String::new(),
            file: self.file.to_owned(),
            format: self.format,
            models: Vec::new(),
            tool_packs: None,
            tools: None,
            without: Vec::new(),
            agents: None,
            hash: String::new(),
            prompt_tools: Vec::new(),
            policy: None,
            limits: Limits::default(),
            role: None,
            dialect: None,
            temperature: None,
            thinking: None,
            instruction_files: self
                .format
                .instruction_files()
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            instructions_at: None,
            model_at: None,
            tool_models_at: BTreeMap::new(),
            script: None,
            is_disabled: false,
            instruction: body,
        };
        let mut narrowing = Narrowing::default();
        match &root.content {
            Content::Map(entries) => {
                for (index, (key, node)) in entries.iter().enumerate() {
                    self.twice(&entries[..index], key);
                    self.entry(&mut agent, &mut narrowing, key, node);
                }
            }
            _ => self.broken(
                root.at,
                "",
                format!("the head is {}; write keys, such as `description: …`", root.kind()),
            ),
        }
        self.whole(&root, &mut agent);
        agent.policy = narrowing.policy();
        let is_broken = self.problems.iter().any(|problem| problem.severity == Severity::Broken);
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        Loaded { agent: (!is_broken).then_some(agent), problems: self.problems }
    }

    /// What only the whole head shows.
    fn whole(&mut self, root: &Node, agent: &mut AgentFile) {
        if self.format == Format::Gemini {
            let usual = Limits { turns: Some(30), time_ms: Some(10 * 60 * 1000), ..Limits::default() };
            agent.limits = agent.limits.or(&usual);
        }
        if agent.description.is_empty() {
            let message = "there is no `description`; say in a sentence when the agent is to be used";
            self.warn(root.at, "description", message);
        }
        if agent.instruction.is_empty() && agent.script.is_none() {
            self.warn(root.at, "", "there is no instruction; write below the head what the agent has to do");
        }
    }

    fn entry(&mut self, agent: &mut AgentFile, narrowing: &mut Narrowing, key: &Key, node: &Node) {
        let field = key.text.as_str();
        match folded(field).as_str() {
            "name" => {
                if let Some(name) = self.name(node, field) {
                    agent.name = name;
                }
            }
            "description" => agent.description = self.text(node, field).unwrap_or_default(),
            "model" => {
                agent.models = self.models(node, field);
                agent.model_at = Some(node.at);
            }
            "toolpacks" => {
                self.refuse_nothing(node, field, "all packs");
                agent.tool_packs = tools::names(self, node, field);
            }
            "agents" => {
                self.refuse_nothing(node, field, "all agents");
                agent.agents = tools::names(self, node, field);
            }
            "tools" | "allowedtools" => tools::read(self, node, agent, narrowing),
            "disallowedtools" => {
                self.refuse_nothing(node, field, "all tools");
                tools::take_away(self, node, field, agent, narrowing);
            }
            "policy" => narrowing.read(self, node),
            "permissionmode" => narrowing.permission_mode(self, node),
            "permission" => narrowing.permission(self, node),
            "sandboxmode" => narrowing.sandbox_mode(self, node),
            "limits" => limits::read(self, node, &mut agent.limits),
            "maxturns" | "steps" | "maxsteps" => {
                let example = format!("{field}: 20");
                limits::lower(&mut agent.limits.turns, whole(self, node, field, 1, &example));
            }
            "timeoutmins" => {
                let minutes = whole(self, node, field, 1, "timeout_mins: 10");
                limits::lower(
                    &mut agent.limits.time_ms,
                    minutes.map(|minutes| minutes.saturating_mul(60_000)),
                );
            }
            "role" => agent.role = self.one_of(node, field, &["worker", "orchestrator"]),
            "dialect" => {
                agent.dialect = self.one_of(node, field, &["toolpost", "long", "claude", "gemini", "codex"]);
            }
            "instructions" => {
                agent.instruction_files = self.instruction_files(node, field);
                agent.instructions_at = Some(node.at);
            }
            "script" => agent.script = Some(node.clone()),
            "temperature" => agent.temperature = self.temperature(node, field),
            "thinking" | "effort" | "modelreasoningeffort" => agent.thinking = self.thinking(node, field),
            "developerinstructions" => agent.instruction = self.text(node, field).unwrap_or_default(),
            "kind" => {
                if self.one_of(node, field, &["local", "remote"]).as_deref() == Some("remote") {
                    self.broken(
                        node.at,
                        field,
                        "agents of kind `remote` run on another machine and cannot be run here",
                    );
                }
            }
            "disable" => agent.is_disabled = self.boolean(node, field),
            "mode" => {
                self.one_of(node, field, &["primary", "subagent", "all"]);
            }
            "hidden" => {
                self.boolean(node, field);
            }
            folded if OF_NO_CONCERN.contains(&folded) => {}
            folded => match NOT_TAKEN.iter().find(|(name, _)| *name == folded) {
                Some((_, advice)) => {
                    self.warn(key.at, field, format!("`{field}` has no effect here; {advice}"))
                }
                // Its author could have meant to take away a right, or to set a limit.
                None if self.format == Format::Toolpost => {
                    self.misspelt_key(key, field, &KNOWN, "an agent file");
                }
                None if let Some(near) = misspelling_of(field, NARROWING) => {
                    let message =
                        format!("`{}` means nothing in an agent file; did you mean `{near}`?", short(field));
                    self.broken(key.at, field, message);
                }
                None => self.unknown_key(key, field, &KNOWN, "an agent file"),
            },
        }
    }

    /// A key that stands there already in another spelling: only one of the two would hold. Limits hold both.
    fn twice(&mut self, before: &[(Key, Node)], key: &Key) {
        let meaning = |text: &str| match folded(text).as_str() {
            "allowedtools" => "tools".to_owned(),
            "effort" | "modelreasoningeffort" => "thinking".to_owned(),
            other => other.to_owned(),
        };
        let own = meaning(&key.text);
        if let Some((first, _)) = before.iter().find(|(first, _)| meaning(&first.text) == own) {
            let message = format!(
                "`{}` says the same as `{}` in line {}; keep one of them",
                short(&key.text),
                short(&first.text),
                first.at.line
            );
            self.broken(key.at, &key.text, message);
        }
    }

    /// Whether a list is empty where our own files would mean something by that; those of other hosts mean nothing.
    pub(super) fn refuse_nothing(&mut self, node: &Node, field: &str, all: &str) {
        if self.format == Format::Toolpost && node.content == Content::Null {
            let message =
                format!("`{field}` is empty; write names, `[]` for none, or leave the key out for {all}");
            self.broken(node.at, field, message);
        }
    }

    fn name(&mut self, node: &Node, field: &str) -> Option<String> {
        let name = self.text(node, field)?.trim().to_owned();
        let is_fine = !name.is_empty()
            && name.chars().count() <= 64
            && !name.contains(['/', '\\', ':'])
            && !name.contains(char::is_control);
        if !is_fine {
            let message = "`name` must have 1 to 64 characters, none of them `/`, `\\`, `:` or a control character, such as `name: reviewer`";
            self.broken(node.at, field, message);
        }
        is_fine.then_some(name)
    }

    /// The models that a file asks for. `inherit` means the caller's.
    fn models(&mut self, node: &Node, field: &str) -> Vec<String> {
        let named = match &node.content {
            Content::List(items) => items.iter().filter_map(|item| self.text(item, field)).collect(),
            Content::Null => Vec::new(),
            _ => self.text(node, field).into_iter().collect::<Vec<_>>(),
        };
        named
            .into_iter()
            .map(|name| name.trim().to_owned())
            .filter(|name| !matches!(name.as_str(), "" | "inherit"))
            .collect()
    }

    fn instruction_files(&mut self, node: &Node, field: &str) -> Vec<String> {
        let all = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
        match &node.content {
            Content::Boolean(true) => all.map(str::to_owned).to_vec(),
            Content::Boolean(false) | Content::Null => Vec::new(),
            Content::List(items) => items
                .iter()
                .filter_map(|item| {
                    let name = self.text(item, field)?;
                    let is_name = name.ends_with(".md") && !name.contains(['/', '\\']);
                    if !is_name {
                        self.broken(item.at, field, format!("`{}` is not the name of a markdown file; write names such as `AGENTS.md`, without folders", short(&name)));
                    }
                    is_name.then_some(name)
                })
                .collect(),
            _ => {
                let message = format!("`{field}` is {}; write `true`, or a list of names such as `[AGENTS.md]`", node.kind());
                self.broken(node.at, field, message);
                Vec::new()
            }
        }
    }

    fn temperature(&mut self, node: &Node, field: &str) -> Option<f64> {
        let read = match &node.content {
            Content::Number(number) => number.as_f64().filter(|number| (0.0..=2.0).contains(number)),
            _ => None,
        };
        if read.is_none() {
            let is = shown(node);
            self.broken(
                node.at,
                field,
                format!("`{field}` is {is}; write a number from 0 to 2, such as `temperature: 0.2`"),
            );
        }
        read
    }

    fn thinking(&mut self, node: &Node, field: &str) -> Option<Thinking> {
        if let Content::Number(number) = &node.content
            && let Some(tokens) = number.as_u64()
        {
            return Some(Thinking::Tokens(tokens));
        }
        let known = ["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"];
        Some(match self.one_of(node, field, &known)?.as_str() {
            "off" | "none" | "minimal" => Thinking::Off,
            "low" => Thinking::Low,
            "medium" => Thinking::Medium,
            _ => Thinking::High,
        })
    }

    fn boolean(&mut self, node: &Node, field: &str) -> bool {
        match &node.content {
            Content::Boolean(is) => *is,
            _ => {
                self.broken(node.at, field, format!("`{field}` is {}; write `true` or `false`", node.kind()));
                false
            }
        }
    }

    /// A text; a number is one too.
    pub(super) fn text(&mut self, node: &Node, field: &str) -> Option<String> {
        match &node.content {
            Content::Text(text) => Some(text.trim_end().to_owned()),
            Content::Number(number) => Some(number.to_string()),
            _ => {
                self.broken(node.at, field, format!("`{field}` is {}; write a text", node.kind()));
                None
            }
        }
    }

    pub(super) fn one_of(&mut self, node: &Node, field: &str, known: &[&str]) -> Option<String> {
        let text = self.text(node, field)?;
        if known.contains(&text.as_str()) {
            return Some(text);
        }
        let near = nearest(&text, known.iter().copied(), 1);
        let hint = near.first().map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let message = format!("`{}` is no {field}; {hint}there are {}", short(&text), known.join(", "));
        self.broken(node.at, field, message);
        None
    }

    pub(super) fn unknown_key(&mut self, key: &Key, field: &str, known: &[&str], place: &str) {
        let name = short(&key.text);
        let advice = match nearest(&name, known.iter().copied(), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "it is ignored".to_owned(),
        };
        self.warn(key.at, field, format!("`{name}` means nothing in {place}; {advice}"));
    }

    /// A key that means nothing where every key narrows what the agent may do: to leave it out would widen that.
    pub(super) fn misspelt_key(&mut self, key: &Key, field: &str, known: &[&str], place: &str) {
        let name = short(&key.text);
        let advice = match nearest(&name, known.iter().copied(), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.broken(key.at, field, format!("`{name}` means nothing in {place}; {advice}"));
    }

    pub(super) fn broken(&mut self, at: At, field: &str, message: impl Into<String>) {
        self.push(at, field, Severity::Broken, message);
    }

    pub(super) fn left_out(&mut self, at: At, field: &str, message: impl Into<String>) {
        self.push(at, field, Severity::LeftOut, message);
    }

    pub(super) fn warn(&mut self, at: At, field: &str, message: impl Into<String>) {
        self.push(at, field, Severity::Warning, message);
    }

    fn push(&mut self, at: At, field: &str, severity: Severity, message: impl Into<String>) {
        /// More would not be read.
        const MOST: usize = 100;
        if self.problems.len() < MOST || severity == Severity::Broken {
            let field = (!field.is_empty()).then_some(field);
            self.problems.push(Problem::new(self.file, at, field, severity, message));
        }
    }

    /// How many problems there are so far.
    pub(super) fn count(&self) -> usize {
        self.problems.len()
    }

    /// Whether only warnings came since a count.
    pub(super) fn is_sound_since(&self, count: usize) -> bool {
        self.problems.iter().skip(count).all(|problem| problem.severity == Severity::Warning)
    }

    /// Makes the problems since a count cost one part, and not the agent.
    pub(super) fn soften_since(&mut self, count: usize) {
        for problem in self.problems.iter_mut().skip(count) {
            problem.severity = problem.severity.min(Severity::LeftOut);
        }
    }
}

/// A key without the marks in which spellings differ.
pub(super) fn folded(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The name of an agent whose file says none.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = name.strip_suffix(".md").or_else(|| name.strip_suffix(".toml")).unwrap_or(name);
    name.strip_suffix(".agent").unwrap_or(name).to_owned()
}
