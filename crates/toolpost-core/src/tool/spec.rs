//! What is known of a tool without running it.

use crate::access::ResourceKind;
use crate::capability::{Capabilities, Capability, Facts, Need};
use crate::policy::{KnownTool, RuleNames};
use serde::Serialize;
use serde_json::Value;
use std::ops::Deref;
use std::time::Duration;

/// Everything about a tool but its schemas. Built by the tool's author.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The canonical name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// A semantic version.
    pub version: String,
    /// A name for people, where the tool brings one along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What clients are told of its effects, where that is known better than from its capabilities.
    #[serde(skip)]
    pub annotations: Option<Annotations>,
    /// What the model reads: what it does, its limits, its defaults.
    pub description: String,
    /// What the model can cause through it.
    pub required: Capabilities,
    /// What it can cause beyond that, where granted.
    pub optional: Capabilities,
    /// What is true of every call.
    pub facts: Facts,
    /// Services it cannot work without.
    pub needs: Vec<Need>,
    /// How the user can provide a service that is missing.
    #[serde(skip)]
    pub missing_advice: Option<&'static str>,
    /// Model providers it is meant for; none means all. See [`Spec::is_for_provider`].
    pub providers: Vec<String>,
    /// Roles that have it; none means that every caller has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Time-out where the caller says nothing, and the most a caller may ask for.
    #[serde(serialize_with = "as_millis")]
    pub timeout: Duration,
    /// The most a caller may ask for.
    #[serde(serialize_with = "as_millis")]
    pub max_timeout: Duration,
    /// How long it may take to end once it is cancelled or out of time, before it is dropped.
    #[serde(serialize_with = "as_millis")]
    pub grace: Duration,
    /// How much text it may return.
    pub budget: OutputBudget,
    /// Whether its dry run is its own work, and not `call` over an overlay of the workspace.
    #[serde(skip)]
    pub has_own_dry_run: bool,
    /// Whether it never blocks its thread; see [`Spec::quick`].
    #[serde(skip)]
    pub is_quick: bool,
    /// Whether it finds tools that are held back from lists, and is itself listed only where there are any.
    #[serde(skip)]
    pub finds_unlisted: bool,
    /// The argument by which it reads what is kept under a handle, if it does.
    #[serde(skip)]
    pub handle_argument: Option<String>,
    /// Whether it calls other tools, each under its own rights, so that through it anything may be caused.
    #[serde(skip)]
    pub calls_tools: bool,
    /// Whether what `init` computes differs by agent, so that each has a definition of its own.
    #[serde(skip)]
    pub is_by_agent: bool,
    /// What rules that name it are about; none: anything.
    #[serde(skip)]
    pub about: Option<ResourceKind>,
    /// Other names by which rules know it, for a tool of a group.
    #[serde(skip)]
    pub rule_names: Option<RuleNames>,
    /// Other spellings of its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argument_aliases: Vec<(String, String)>,
}

impl Spec {
    /// A tool that can cause nothing yet, with the default limits: 30 s, 50 KB or 2,000 lines.
    pub fn new(name: impl Into<String>, version: impl Into<String>, description: impl Into<String>) -> Spec {
        Spec {
            name: name.into(),
            version: version.into(),
            title: None,
            annotations: None,
            description: description.into().trim().to_owned(),
            required: Capabilities::NONE,
            optional: Capabilities::NONE,
            facts: Facts::default(),
            needs: Vec::new(),
            missing_advice: None,
            providers: Vec::new(),
            roles: Vec::new(),
            timeout: Duration::from_secs(30),
            max_timeout: Duration::from_secs(600),
            grace: Duration::from_millis(250),
            budget: OutputBudget::default(),
            has_own_dry_run: false,
            is_quick: false,
            finds_unlisted: false,
            handle_argument: None,
            calls_tools: false,
            is_by_agent: false,
            about: None,
            rule_names: None,
            argument_aliases: Vec::new(),
        }
    }

    /// The model can cause this through the tool; without it the tool is not offered.
    #[must_use]
    pub fn requires(mut self, capability: Capability) -> Spec {
        self.required = self.required.with(capability);
        self
    }

    /// The tool can cause this too where it is granted; see [`Context::granted`](crate::Context::granted).
    #[must_use]
    pub fn may_use(mut self, capability: Capability) -> Spec {
        self.optional = self.optional.with(capability);
        self
    }

    /// Calling twice has the effect of calling once.
    #[must_use]
    pub fn idempotent(mut self) -> Spec {
        self.facts.idempotent = true;
        self
    }

    /// A failed call may be tried again, where the error says so.
    #[must_use]
    pub fn retryable(mut self) -> Spec {
        self.facts.retryable = true;
        self
    }

    /// Calls may run beside each other.
    #[must_use]
    pub fn parallel_safe(mut self) -> Spec {
        self.facts.parallel_safe = true;
        self
    }

    /// The tool cannot work without this service.
    #[must_use]
    pub fn needs(mut self, need: Need) -> Spec {
        self.needs.push(need);
        self
    }

    /// Says in the error of a missing service how the user can provide it.
    #[must_use]
    pub fn where_missing(mut self, advice: &'static str) -> Spec {
        self.missing_advice = Some(advice);
        self
    }

    /// The tool is meant for this provider's models.
    #[must_use]
    pub fn for_provider(mut self, provider: impl Into<String>) -> Spec {
        self.providers.push(provider.into());
        self
    }

    /// Only callers with this role, or another one that is added, have the tool.
    #[must_use]
    pub fn for_role(mut self, role: impl Into<String>) -> Spec {
        self.roles.push(role.into());
        self
    }

    /// Whether the tool is offered to models of this provider; none where it is not known whose models they are. The names
    /// of providers are compared here and nowhere else: case and spaces around them do not count.
    pub fn is_for_provider(&self, provider: Option<&str>) -> bool {
        let is_same = |known: &String, name: &str| known.trim().eq_ignore_ascii_case(name.trim());
        self.providers.is_empty()
            || provider.is_some_and(|name| self.providers.iter().any(|known| is_same(known, name)))
    }

    /// Whether a caller with this role has the tool.
    pub fn is_for_role(&self, role: Option<&str>) -> bool {
        self.roles.is_empty() || role.is_some_and(|role| self.roles.iter().any(|known| known == role))
    }

    /// Its time-out, and the most a caller may ask for.
    #[must_use]
    pub fn timeout(mut self, usual: Duration, most: Duration) -> Spec {
        self.timeout = usual;
        self.max_timeout = most.max(usual);
        self
    }

    /// How long it may take to end once it is told to.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Spec {
        self.grace = grace;
        self
    }

    /// How much text it may return.
    #[must_use]
    pub fn budget(mut self, budget: OutputBudget) -> Spec {
        self.budget = budget;
        self
    }

    /// `dry_run` is written for this tool. Without it, a tool that can run commands or reach the network has none:
    /// an overlay of the workspace would not hold back what it does elsewhere.
    #[must_use]
    pub fn own_dry_run(mut self) -> Spec {
        self.has_own_dry_run = true;
        self
    }

    /// The tool never blocks its thread: it computes for less than a millisecond, and otherwise only awaits. It does no
    /// file work and calls no code that might.
    ///
    /// It is then polled in the task of its caller, which costs a tenth of a task of its own. A crash is caught all the
    /// same, and a deadline ends it where it awaits; but while it computes, nothing can end it, and its caller waits.
    #[must_use]
    pub fn quick(mut self) -> Spec {
        self.is_quick = true;
        self
    }

    /// The tool finds those that are held back from lists; it is listed only where there are any.
    #[must_use]
    pub fn finds_unlisted(mut self) -> Spec {
        self.finds_unlisted = true;
        self
    }

    /// The tool reads what is kept under a handle, by this argument: texts that were cut name it.
    #[must_use]
    pub fn reads_handles(mut self, argument: &str) -> Spec {
        self.handle_argument = Some(argument.to_owned());
        self
    }

    /// The tool calls other tools. It needs no right for that itself, but nobody is told that it changes nothing.
    #[must_use]
    pub fn calls_tools(mut self) -> Spec {
        self.calls_tools = true;
        self
    }

    /// What `init` computes differs by agent.
    #[must_use]
    pub fn init_by_agent(mut self) -> Spec {
        self.is_by_agent = true;
        self
    }

    /// Rules that name the tool are about resources of this kind: it touches no others.
    #[must_use]
    pub fn about(mut self, kind: ResourceKind) -> Spec {
        self.about = Some(kind);
        self
    }

    /// The tool is one of a group, and rules know it by these names too.
    #[must_use]
    pub fn rule_names(mut self, names: RuleNames) -> Spec {
        self.rule_names = Some(names);
        self
    }

    /// Another spelling of an argument, accepted and reported as a repair.
    #[must_use]
    pub fn argument_alias(mut self, alias: &str, argument: &str) -> Spec {
        self.argument_aliases.push((alias.to_owned(), argument.to_owned()));
        self
    }
}

/// What clients are told of the effects of a tool, in the words of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// A call changes nothing.
    pub read_only: bool,
    /// A call may destroy something.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// A call reaches beyond the machine.
    pub open_world: bool,
}

/// What rules know of it.
impl From<&Spec> for KnownTool {
    fn from(spec: &Spec) -> KnownTool {
        KnownTool { name: spec.name.clone(), about: spec.about, rule_names: spec.rule_names.clone() }
    }
}

/// A tool's spec with the schemas of its arguments and its data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Everything but the schemas.
    #[serde(flatten)]
    pub spec: Spec,
    /// The schema of the arguments.
    #[serde(rename = "inputSchema")]
    pub input: Value,
    /// The schema of the data; none if there is no data.
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

impl Deref for Definition {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

/// How much text a call may return; beyond it the text is cut and the whole kept under a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputBudget {
    /// Bytes.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

impl Default for OutputBudget {
    fn default() -> OutputBudget {
        OutputBudget { bytes: 50_000, lines: 2_000 }
    }
}

fn as_millis<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
