//! One rule: an effect on the accesses that its action and resource match.

use super::action::Action;
use super::effect::{Effect, Layer, Origin};
use super::names::Names;
use super::pattern::{Pattern, exact_path};
use crate::access::{Access, Resource, ResourceKind};
use crate::capability::Capability;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use toolpost_text::wildcard;

/// A rule of a policy; cheap to clone.
///
/// ```
/// use toolpost_policy::{Effect, Layer, Origin, Rule};
///
/// let origin = Origin::new(Layer::Flags, "--allow-rule", 0);
/// let rule = Rule::parse_short(Effect::Allow, "bash: cargo test *", origin)?;
/// assert_eq!(rule.to_string(), "bash: cargo test *");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct Rule(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    effect: Effect,
    action: Action,
    resource: Arc<Pattern>,
    matching: Vec<String>,
    not_matching: Vec<String>,
    origin: Origin,
}

impl Rule {
    /// A rule from its parts; the error says which part is wrong.
    pub fn new(effect: Effect, action: &str, resource: &str, origin: Origin) -> Result<Rule, String> {
        Ok(Rule::from_parts(effect, Action::parse(action)?, Pattern::parse(resource)?, origin))
    }

    /// A rule from its short form, `action: resource` or `action` alone for any resource.
    pub fn parse_short(effect: Effect, text: &str, origin: Origin) -> Result<Rule, String> {
        let (action, resource) = text.split_once(':').unwrap_or((text, "*"));
        Rule::new(effect, action, resource, origin)
            .map_err(|error| format!("{error}; a rule is `action: resource`, such as `exec: cargo test *`"))
    }

    /// The rule for exactly what this access of the tool is; none where no pattern can say it. `about` is what rules that
    /// name the tool are about, see [`KnownTool::about`](crate::KnownTool::about).
    pub fn exact(
        effect: Effect,
        tool: &str,
        about: Option<ResourceKind>,
        access: &Access,
        origin: Origin,
    ) -> Option<Rule> {
        if wildcard::has_wildcard(tool) || Action::parse(tool).is_err() {
            return None;
        }
        let resource = match &access.resource {
            Resource::Path(path) | Resource::Stored(path) => exact_path(path),
            Resource::Command(text) | Resource::Host(text) => wildcard::escape(text.trim()),
            Resource::Any => "*".to_owned(),
        };
        // Of one path, `write: a.txt` says the same as `=write: a.txt` and reads better.
        let action = match &access.resource {
            // Rules that name a tool for commands are about its commands.
            Resource::Path(_)
                if tool == access.action.as_str()
                    || about.is_some_and(|about| about != ResourceKind::Path) =>
            {
                Action::Capability(access.action)
            }
            _ => Action::Tool(tool.to_owned()),
        };
        Some(Rule::from_parts(effect, action, Pattern::parse(&resource).ok()?, origin))
    }

    /// Asks about a path, and everything inside, as the protected list does: whatever the case, and also under `--yes`.
    pub fn protected(action: Capability, path: &str, origin: Origin) -> Rule {
        let path = wildcard::escape(path.trim_matches('/')).to_lowercase();
        Rule::protected_pattern(action, &path, origin)
    }

    /// The same for a pattern, as in [`Protected::pattern`](super::Protected::pattern).
    pub fn protected_pattern(action: Capability, pattern: &str, origin: Origin) -> Rule {
        Rule::from_parts(Effect::Ask, Action::Capability(action), Pattern::protected(pattern, &[]), origin)
    }

    /// Asks about one path from the workspace root, or an absolute one, and everything inside, as the protected list does.
    pub fn protected_path(action: Capability, path: &str, origin: Origin) -> Rule {
        Rule::from_parts(Effect::Ask, Action::Capability(action), Pattern::protected_path(path), origin)
    }

    /// A rule from its parts.
    pub fn from_parts(effect: Effect, action: Action, resource: Pattern, origin: Origin) -> Rule {
        let resource = Arc::new(resource);
        Rule(Arc::new(Inner { effect, action, resource, matching: vec![], not_matching: vec![], origin }))
    }

    /// The rule with examples of what it must and must not match; an example that contradicts it is the error.
    pub fn with_examples(
        self,
        matching: Vec<String>,
        not_matching: Vec<String>,
        names: &Names,
    ) -> Result<Rule, String> {
        if let Some(example) = matching.iter().find(|example| !self.matches_example(example, names)) {
            return Err(format!(
                "the rule `{self}` does not match its own example `{example}`; correct the resource or the example"
            ));
        }
        if let Some(example) = not_matching.iter().find(|example| self.matches_example(example, names)) {
            return Err(format!(
                "the rule `{self}` matches `{example}`, which it says it does not; correct the resource or the example"
            ));
        }
        let inner = Arc::unwrap_or_clone(self.0);
        Ok(Rule(Arc::new(Inner { matching, not_matching, ..inner })))
    }

    pub(super) fn in_layer(self, layer: Layer) -> Rule {
        if self.0.origin.layer == layer {
            return self;
        }
        let mut inner = Arc::unwrap_or_clone(self.0);
        inner.origin.layer = layer;
        Rule(Arc::new(inner))
    }

    /// What it decides.
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// What it is about.
    pub fn action(&self) -> &Action {
        &self.0.action
    }

    /// The resources it is about.
    pub fn resource(&self) -> &Pattern {
        &self.0.resource
    }

    /// Examples it matches, checked when it was read.
    pub fn matching(&self) -> &[String] {
        &self.0.matching
    }

    /// Examples it does not match, checked when it was read.
    pub fn not_matching(&self) -> &[String] {
        &self.0.not_matching
    }

    /// Where it stands.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Whether it is one of the protected files' rules.
    pub fn is_protected(&self) -> bool {
        self.0.resource.is_protected()
    }

    /// Whether both say the same, wherever they stand.
    /// Whether it matches everything that the other one could match. Says yes only where that is certain.
    pub fn covers(&self, other: &Rule, names: &Names) -> bool {
        super::cover::covers(self, other, names)
    }

    pub(super) fn says_the_same(&self, other: &Rule) -> bool {
        self.effect() == other.effect()
            && self.action() == other.action()
            && self.resource().as_str() == other.resource().as_str()
            && self.is_protected() == other.is_protected()
    }

    /// Whether the rule applies to the target.
    ///
    /// A target that could be anything is matched by an allow only if the rule's resource is `*`, as the allow must
    /// cover all that it could be. A deny or ask with a narrower resource applies where the target could hit it and
    /// nothing judges it later: to exec and network, and where the rule names the tool. Reading and writing are left
    /// to the workspace, which judges each file by its path when it is opened; otherwise one rule about one file would
    /// stop every tool that cannot name its files beforehand. Where nothing will judge them, it does stop the call.
    pub(super) fn matches(&self, target: &Target<'_>) -> bool {
        // What needs no right can still be denied.
        let action = match target.is_mentioned() && self.effect() != Effect::Allow {
            true => Some(Capability::Exec),
            false => target.action,
        };
        if !self.action().matches(target.tool, action, target.names) {
            return false;
        }
        let resource = self.resource();
        match &target.resource {
            // A rule about commands says nothing about files that they write, wherever it could be read as a path.
            Aim::Path(path) if target.action == Some(Capability::Exec) => {
                let is_outside = resource.as_str().starts_with("//") || resource.as_str().starts_with('~');
                resource.is_everything() || (is_outside && resource.matches_normal_path(path))
            }
            Aim::Path(path) => resource.matches_normal_path(path),
            // A path of a virtual file is none of the workspace: of those, only a rule that names the tool can speak.
            Aim::Stored(path) => {
                let is_named = matches!(self.action(), Action::Tool(_));
                resource.is_everything() || (is_named && resource.matches_path(path))
            }
            Aim::Command(_) if resource.is_everything() => true,
            // One command has one line; whatever handed in more did not read it, so no part of it is allowed.
            Aim::Command(command) if self.effect() == Effect::Allow => {
                !command.contains(['\n', '\r']) && resource.matches_command(command)
            }
            Aim::Command(command) => resource.could_match_command(command),
            Aim::Host(host) => resource.matches_host(host),
            Aim::Anything if resource.is_everything() => true,
            Aim::Anything if self.effect() == Effect::Allow || self.is_protected() => false,
            Aim::Anything => {
                matches!(self.action(), Action::Tool(_))
                    || target.is_unjudged
                    || matches!(target.action, Some(Capability::Exec | Capability::Network))
            }
        }
    }

    /// Whether the resource matches an example, read as whatever the action makes likely.
    fn matches_example(&self, example: &str, names: &Names) -> bool {
        let resource = self.resource();
        let kinds = names.kinds(self.action());
        (kinds.path && resource.matches_path(example))
            || (kinds.command && resource.matches_command(example))
            || (kinds.host && resource.matches_host(example))
    }
}

/// What rules are held against: one access of a call, with its path made normal once.
pub(super) struct Target<'a> {
    names: &'a Names,
    tool: &'a str,
    action: Option<Capability>,
    resource: Aim<'a>,
    needs_consent: bool,
    only_where_granted: bool,
    is_unjudged: bool,
}

enum Aim<'a> {
    Path(Cow<'a, str>),
    Stored(&'a str),
    Command(&'a str),
    Host(&'a str),
    Anything,
}

impl<'a> Target<'a> {
    /// The access of a tool; without one, a call that touches nothing.
    pub(super) fn new(tool: &'a str, access: Option<&'a Access>, names: &'a Names) -> Target<'a> {
        let resource = match access.map(|access| &access.resource) {
            Some(Resource::Path(path)) => Aim::Path(super::pattern::normal_path(path)),
            Some(Resource::Stored(path)) => Aim::Stored(path),
            Some(Resource::Command(command)) => Aim::Command(command),
            Some(Resource::Host(host)) => Aim::Host(host),
            Some(Resource::Any) | None => Aim::Anything,
        };
        let needs_consent = access.is_some_and(Access::needs_consent);
        let only_where_granted = access.is_some_and(Access::is_only_where_granted);
        let action = access.map(|access| access.action);
        let is_unjudged = access.is_some_and(Access::is_unjudged);
        Target { names, tool, action, resource, needs_consent, only_where_granted, is_unjudged }
    }

    /// An action on one path.
    pub(super) fn path_of(tool: &'a str, action: Capability, path: &'a str, names: &'a Names) -> Target<'a> {
        let resource = Aim::Path(super::pattern::normal_path(path));
        let action = Some(action);
        let (needs_consent, only_where_granted, is_unjudged) = (false, false, false);
        Target { names, tool, action, resource, needs_consent, only_where_granted, is_unjudged }
    }

    /// What the names of tools in rules mean.
    pub(super) fn names(&self) -> &'a Names {
        self.names
    }

    /// What would be done; none for a call that touches nothing.
    pub(super) fn action(&self) -> Option<Capability> {
        self.action
    }

    /// Whether it is a command that needs no right, such as a built-in of a shell: only rules that deny or ask are held
    /// against it.
    pub(super) fn is_mentioned(&self) -> bool {
        self.action == Some(Capability::Trace) && matches!(self.resource, Aim::Command(_))
    }

    /// Whether a person is asked although the capability is granted, unless a rule allows it.
    pub(super) fn needs_consent(&self) -> bool {
        self.needs_consent
    }

    /// Whether it cannot happen where the capability is not granted.
    pub(super) fn is_only_where_granted(&self) -> bool {
        self.only_where_granted
    }

    /// Whether it could be anything.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self.resource, Aim::Anything)
    }

    /// The path, made normal, if it is about one.
    pub(super) fn path(&self) -> Option<&str> {
        match &self.resource {
            Aim::Path(path) => Some(path),
            Aim::Stored(_) | Aim::Command(_) | Aim::Host(_) | Aim::Anything => None,
        }
    }
}

/// The short form, which `parse_short` reads back.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.action, self.0.resource)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({} {self} at {})", self.0.effect, self.0.origin)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.says_the_same(other) && self.origin() == other.origin()
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut rule = serializer.serialize_struct("Rule", 6)?;
        rule.serialize_field("effect", &self.effect())?;
        rule.serialize_field("action", &self.action().to_string())?;
        rule.serialize_field("resource", self.resource().as_str())?;
        rule.serialize_field("layer", &self.origin().layer)?;
        rule.serialize_field("file", &*self.origin().file)?;
        rule.serialize_field("line", &self.origin().line)?;
        rule.end()
    }
}

/// A text that is not a rule, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotARule {
    /// The text.
    pub rule: String,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for NotARule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule `{}` cannot be read: {}", self.rule, self.why)
    }
}

impl std::error::Error for NotARule {}
