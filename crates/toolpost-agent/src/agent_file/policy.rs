//! What an agent file says about rights. It can only narrow: whatever comes of it is met with the policy of the run.

use super::node::{At, Content, Node};
use super::reader::Reader;
use super::yaml::short;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Effect, Layer, Origin, Profile, Remedy, Rule};
use toolpost_core::{Capability, Policy};

/// What would allow something that an agent's file withholds, which may be that of an agent above. The flags of the run cannot.
pub(super) fn advice(remedy: &Remedy<'_>, file: &str) -> String {
    match remedy {
        Remedy::Grant { .. } | Remedy::Capability { .. } | Remedy::Closed { .. } => {
            format!(
                "the agent file `{file}` withholds it, and no flag gives it back; change `policy` in that file"
            )
        }
        Remedy::Consent { .. } | Remedy::Asked { .. } => {
            format!(
                "consent; the agent file `{file}` asks for it, and no flag but `--yes` answers in advance"
            )
        }
        Remedy::Denied { by } => {
            format!("no flag overrides a deny: change or remove what stands at {}", by.origin())
        }
        Remedy::Protected { rule, more } => {
            let more: String = more.iter().map(|rule| format!(" and `{rule}`")).collect();
            format!(
                "consent, or allow `{rule}`{more} twice: with `--allow-rule`, and under `policy.rules` in the agent file `{file}`"
            )
        }
        Remedy::Unconfined => {
            "write the line so that it names all files, or run it in the sandbox".to_owned()
        }
    }
}

/// The policies that a file asks for, one for each key that does.
#[derive(Debug, Default)]
pub(super) struct Narrowing {
    parts: Vec<Policy>,
    /// Conditions of single tools: what each is allowed.
    conditions: Vec<(String, Vec<Rule>)>,
}

impl Narrowing {
    /// The policy of the file; none where it narrows nothing.
    pub(super) fn policy(self) -> Option<Policy> {
        let mut rules = Vec::new();
        for (tool, allowed) in self.conditions {
            let origin = allowed.first().map(|rule| rule.origin().clone());
            rules.extend(allowed);
            let rest = origin.and_then(|origin| Rule::new(Effect::Deny, &tool, "*", origin).ok());
            rules.extend(rest);
        }
        let conditions = (!rules.is_empty()).then(|| everything().with_rules(Layer::User, rules));
        self.parts.into_iter().chain(conditions).reduce(|all, part| all.meet(&part))
    }

    /// Our own key: a profile, or `profile`, `allow`, `ask`, `deny` and `rules`.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, node: &Node) {
        let policy = match &node.content {
            Content::Text(_) => profile(reader, node, "policy").map(Policy::profile),
            Content::Map(_) => mapping(reader, node),
            _ => {
                let message = format!(
                    "`policy` is {}; write a profile, such as `policy: read-only`, or a mapping",
                    node.kind()
                );
                reader.broken(node.at, "policy", message);
                None
            }
        };
        self.parts.extend(policy);
    }

    /// Claude Code's mode.
    pub(super) fn permission_mode(&mut self, reader: &mut Reader<'_>, node: &Node) {
        match node.text() {
            Some("plan") => self.parts.push(Policy::read_only()),
            Some("default" | "acceptEdits" | "dontAsk" | "manual") => {}
            word if !word.is_some_and(|word| MODES.contains(&word)) => {
                reader.one_of(node, "permissionMode", &MODES);
            }
            _ => reader.warn(
                node.at,
                "permissionMode",
                "`permissionMode` grants nothing here; the policy of the run decides, see `--policy` and `--allow`",
            ),
        }
    }

    /// Codex's mode.
    pub(super) fn sandbox_mode(&mut self, reader: &mut Reader<'_>, node: &Node) {
        match node.text() {
            Some("read-only") => self.parts.push(Policy::read_only()),
            Some("workspace-write") => self.parts.push(Policy::standard().allow(Capability::Exec)),
            word if word != Some("danger-full-access") => {
                reader.one_of(node, "sandbox_mode", &["read-only", "workspace-write", "danger-full-access"]);
            }
            _ => reader.warn(
                node.at,
                "sandbox_mode",
                "`sandbox_mode` grants nothing here; the policy of the run decides, see `--policy` and `--sandbox`",
            ),
        }
    }

    /// OpenCode's permissions: the last one that matches decides there, the first one here.
    pub(super) fn permission(&mut self, reader: &mut Reader<'_>, node: &Node) {
        let mut rules = Vec::new();
        match &node.content {
            Content::Text(_) => rules.extend(permission(reader, "*", "*", node)),
            Content::Map(entries) => {
                for (key, value) in entries {
                    match &value.content {
                        Content::Map(patterns) => {
                            for (pattern, effect) in patterns {
                                rules.extend(permission(reader, &key.text, &pattern.text, effect));
                            }
                        }
                        _ => rules.extend(permission(reader, &key.text, "*", value)),
                    }
                }
            }
            _ => reader.broken(
                node.at,
                "permission",
                format!("`permission` is {}; write a mapping", node.kind()),
            ),
        }
        rules.reverse();
        if !rules.is_empty() {
            self.parts.push(everything().with_rules(Layer::User, rules));
        }
    }

    /// A tool that is chosen with a condition, as in `Bash(git *)`. Says whether the condition is understood.
    pub(super) fn only(&mut self, reader: &mut Reader<'_>, tool: &str, condition: &str, at: At) -> bool {
        if is_child(tool) {
            reader.warn(at, "tools", format!("`{}`: children are not limited by name here", short(tool)));
            return true;
        }
        let Some((action, resource)) = limited(tool, condition) else {
            let message = format!(
                "`{}({})`: a condition of this tool is not understood, so that it is left out; name the tool alone, and narrow it with `policy`",
                short(tool),
                short(condition)
            );
            reader.left_out(at, "tools", message);
            return false;
        };
        let origin = Origin::new(Layer::User, reader.file, at.line);
        match Rule::new(Effect::Allow, action, &resource, origin) {
            Ok(rule) => {
                match self.conditions.iter_mut().find(|(known, _)| known == action) {
                    Some((_, rules)) => rules.push(rule),
                    None => self.conditions.push((action.to_owned(), vec![rule])),
                }
                true
            }
            Err(why) => {
                reader.left_out(at, "tools", format!("`{}({})`: {why}", short(tool), short(condition)));
                false
            }
        }
    }

    /// A tool that is taken away under a condition, as in `Bash(rm *)`. Says whether the condition is understood; where it is
    /// not, the caller takes the whole tool away.
    pub(super) fn never(&mut self, reader: &Reader<'_>, tool: &str, condition: &str, at: At) -> bool {
        let Some((action, resource)) = limited(tool, condition) else { return false };
        let origin = Origin::new(Layer::User, reader.file, at.line);
        let Ok(rule) = Rule::new(Effect::Deny, action, &resource, origin) else { return false };
        self.parts.push(everything().with_rules(Layer::User, vec![rule]));
        true
    }
}

fn is_child(tool: &str) -> bool {
    matches!(super::reader::folded(tool).as_str(), "agent" | "task")
}

/// Action and resource of a rule for a tool under a condition; none where its conditions are not known here.
fn limited(tool: &str, condition: &str) -> Option<(&'static str, String)> {
    Some(match super::reader::folded(tool).as_str() {
        "bash" | "shell" | "runshellcommand" | "shelltool" | "runcommand" => {
            let command = condition.strip_suffix(":*").map(|head| format!("{head} *"));
            ("bash", command.unwrap_or_else(|| condition.to_owned()))
        }
        "read" | "readfile" => ("=read", condition.to_owned()),
        "edit" | "multiedit" | "replace" => ("edit", condition.to_owned()),
        "write" | "writefile" => ("=write", condition.to_owned()),
        "webfetch" => ("webfetch", condition.trim_start_matches("domain:").trim().to_owned()),
        _ => return None,
    })
}

/// All that there is: what is met with it stays as it is.
fn everything() -> Policy {
    Policy::with_capabilities(Capability::ALL.into_iter().collect(), Capabilities::NONE)
}

fn profile(reader: &mut Reader<'_>, node: &Node, field: &str) -> Option<Profile> {
    let word = reader.one_of(node, field, &["read-only", "standard", "privileged"])?;
    word.parse().map_err(|error: String| reader.broken(node.at, field, error)).ok()
}

const KNOWN: [&str; 5] = ["profile", "allow", "ask", "deny", "rules"];

/// Claude Code's modes.
const MODES: [&str; 8] =
    ["default", "plan", "acceptEdits", "dontAsk", "manual", "auto", "delegate", "bypassPermissions"];

fn mapping(reader: &mut Reader<'_>, node: &Node) -> Option<Policy> {
    let mut policy = match node.get("profile") {
        Some(node) => Policy::profile(profile(reader, node, "policy.profile")?),
        None => everything(),
    };
    // Rules come last.
    let mut all_rules = Vec::new();
    let mut said: Vec<(Capability, &str)> = Vec::new();
    for (key, value) in node.entries() {
        let field = format!("policy.{}", key.text);
        match key.text.as_str() {
            "profile" => {}
            list @ ("allow" | "ask" | "deny") => {
                for one in capabilities(reader, value, &field) {
                    if let Some((_, other)) =
                        said.iter().find(|(known, other)| *known == one && *other != list)
                    {
                        let message =
                            format!("`{one}` stands in `{other}` and in `{list}`; keep one of them");
                        reader.broken(key.at, &field, message);
                    }
                    said.push((one, list));
                    policy = match list {
                        "allow" => policy.allow(one),
                        "ask" => policy.ask(one),
                        _ => policy.withhold(one),
                    };
                }
            }
            "rules" | "rule" => all_rules.extend(rules(reader, value, &field)),
            _ => reader.misspelt_key(key, &field, &KNOWN, "`policy`"),
        }
    }
    Some(policy.with_rules(Layer::User, all_rules))
}

fn capabilities(reader: &mut Reader<'_>, node: &Node, field: &str) -> Vec<Capability> {
    let items: Vec<&Node> = match &node.content {
        Content::List(items) => items.iter().collect(),
        _ => vec![node],
    };
    let mut all = Vec::new();
    for item in items {
        let Some(word) = reader.text(item, field) else { continue };
        match word.parse::<Capability>() {
            Ok(capability) => all.push(capability),
            Err(error) => reader.broken(item.at, field, error),
        }
    }
    all
}

/// Rules: `{ deny: "bash: git push *" }`, or `{ effect, action, resource }`.
fn rules(reader: &mut Reader<'_>, node: &Node, field: &str) -> Vec<Rule> {
    let Content::List(items) = &node.content else {
        let message =
            format!("`{field}` is {}; write a list, such as `- deny: \"bash: git push *\"`", node.kind());
        reader.broken(node.at, field, message);
        return Vec::new();
    };
    let mut all = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let field = format!("{field}[{index}]");
        let mut shorts = 0;
        for (key, value) in item.entries() {
            let known = ["allow", "ask", "deny", "effect", "action", "resource"];
            let of = format!("{field}.{}", key.text);
            match known.iter().position(|known| *known == key.text) {
                None => reader.misspelt_key(key, &of, &known, "a rule"),
                Some(_) if value.text().is_none() => {
                    reader.broken(value.at, &of, format!("`{of}` is {}; write a text", value.kind()));
                }
                Some(place) => shorts += usize::from(place < 3),
            }
        }
        if shorts > 1 || (shorts == 1 && item.entries().len() > 1) {
            let message = "a rule says one thing; write `deny: \"bash: git push *\"`, and each other rule as an item of its own";
            reader.broken(item.at, &field, message);
        }
        let origin = Origin::new(Layer::User, reader.file, item.at.line);
        let short_form = [Effect::Allow, Effect::Ask, Effect::Deny]
            .into_iter()
            .find_map(|effect| Some((effect, item.get(effect.as_str())?.text()?)));
        let text = |key: &str| item.get(key).and_then(Node::text);
        let rule = match (short_form, text("effect"), text("action")) {
            (Some((effect, rule)), ..) => Rule::parse_short(effect, rule, origin),
            (None, Some(effect), Some(action)) => effect
                .parse::<Effect>()
                .and_then(|effect| Rule::new(effect, action, text("resource").unwrap_or("*"), origin)),
            _ => Err(
                "a rule is written `deny: \"bash: git push *\"`, or with `effect`, `action` and `resource`"
                    .to_owned(),
            ),
        };
        match rule {
            Ok(rule) => all.push(rule),
            Err(why) => reader.broken(item.at, &field, why),
        }
    }
    all
}

/// OpenCode's words that do not mean the tool of their name. In another spelling they narrow nothing there, but were meant to.
const PERMISSIONS: [&str; 7] =
    ["read", "edit", "external_directory", "doom_loop", "lsp", "skill", "question"];

/// One permission of OpenCode as rules of ours.
fn permission(reader: &mut Reader<'_>, key: &str, pattern: &str, node: &Node) -> Vec<Rule> {
    let field = format!("permission.{key}");
    let Some(effect) = node.text().and_then(|text| text.parse::<Effect>().ok()) else {
        reader.broken(node.at, &field, format!("`{field}` is none of allow, ask and deny"));
        return Vec::new();
    };
    let folded = super::reader::folded(key);
    let word = PERMISSIONS.iter().find(|word| super::reader::folded(word) == folded);
    let actions: &[&str] = match word.copied().unwrap_or(key) {
        "read" => &["=read"],
        "edit" => &["edit", "=write", "apply_patch", "delete"],
        "external_directory" | "doom_loop" | "lsp" | "skill" | "question" => {
            reader.warn(node.at, &field, format!("`{key}` has no counterpart here"));
            return Vec::new();
        }
        other => &[other],
    };
    let mut rules = Vec::new();
    for action in actions {
        let origin = Origin::new(Layer::User, reader.file, node.at.line);
        let pattern = match (key, pattern) {
            (_, "*" | "**") => "*",
            (_, pattern) => pattern,
        };
        match Rule::new(effect, action, pattern, origin) {
            Ok(rule) => rules.push(rule),
            Err(why) => reader.broken(node.at, &field, why),
        }
    }
    rules
}
