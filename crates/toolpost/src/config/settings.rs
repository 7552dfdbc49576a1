//! What one layer says: a file, the environment or the command line, each value with its place.
//!
//! Nothing here decides which layer wins, or whether a file is believed.

use super::hosts::Host;
use super::key::{KEYS, Key, Kind};
use super::node::Node;
use super::origin::{Layer, Origined, Place, Problem, problems, shortened};
use super::servers::{self, Entry};
use crate::cli::{Flags, parse_duration};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::policy::{self, Profile, Rule, Source, kind_of_toml, parse_toml, read_rules_in};
use toolpost_core::{Capability, Dialect, nearest};
use toolpost_plugins as plugins;
use toolpost_tools::shell::Confinement;

/// More in one list is a mistake; there are five capabilities.
const MOST_ITEMS: usize = 20;
const MOST_PROBLEMS: usize = 20;

/// A formatter as it is written: `rs: rustfmt --edition 2024`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) extensions: Vec<String>,
    pub(crate) words: Vec<String>,
}

impl Format {
    fn parse(text: &str) -> Result<Format, String> {
        let wrong =
            || format!("`{text}` is no formatter; write `extension: program arguments`, as `rs: rustfmt`");
        let (extensions, command) = text.split_once(':').ok_or_else(wrong)?;
        let trimmed = extensions.split(',').map(|one| one.trim().trim_start_matches('.').to_owned());
        let extensions: Vec<String> = trimmed.collect();
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let is_sound = |one: &String| !one.is_empty() && !one.contains(['/', ' ']);
        match !words.is_empty() && extensions.iter().all(is_sound) {
            true => Ok(Format { extensions, words }),
            false => Err(wrong()),
        }
    }
}

/// How many tools of other servers are listed, as it is written: `40 tools, 10000 tokens`, `all`, `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) tools: usize,
    pub(crate) tokens: usize,
}

impl Listed {
    fn parse(text: &str) -> Result<Listed, String> {
        let mut listed =
            Listed { tools: plugins::Settings::MOST_TOOLS, tokens: plugins::Settings::MOST_TOKENS };
        match text.trim() {
            "all" => return Ok(Listed { tools: usize::MAX, tokens: usize::MAX }),
            "none" => return Ok(Listed { tools: 0, tokens: 0 }),
            _ => {}
        }
        for part in text.split(',') {
            let (number, unit) = part.trim().split_once(' ').unwrap_or_default();
            match (number.parse(), unit.trim()) {
                (Ok(number), "tools" | "tool") => listed.tools = number,
                (Ok(number), "tokens" | "token") => listed.tokens = number,
                _ => {
                    let example = "`40 tools, 10000 tokens`";
                    return Err(format!("`{text}` is no length of a list; write {example}, `all` or `none`"));
                }
            }
        }
        Ok(listed)
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listed { tools: usize::MAX, tokens: usize::MAX } => f.write_str("all"),
            Listed { tools: 0, .. } => f.write_str("none"),
            Listed { tools, tokens } => write!(f, "{tools} tools, {tokens} tokens"),
        }
    }
}

/// What one layer says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) policy: Option<Origined<Profile>>,
    pub(crate) allow: Vec<Origined<Capability>>,
    pub(crate) ask: Vec<Origined<Capability>>,
    pub(crate) timeout: Option<Origined<Duration>>,
    pub(crate) dialect: Option<Origined<Arc<Dialect>>>,
    pub(crate) descriptions: Option<Origined<PathBuf>>,
    pub(crate) session: Option<Origined<String>>,
    pub(crate) sandbox: Option<Origined<Confinement>>,
    pub(crate) readable: Vec<Origined<PathBuf>>,
    pub(crate) environment: Vec<Origined<String>>,
    pub(crate) formatters: Vec<Origined<Format>>,
    pub(crate) servers: Vec<Entry>,
    pub(crate) mcp_from: Vec<Origined<Host>>,
    pub(crate) listed: Option<Origined<Listed>>,
    pub(crate) structured: Option<Origined<bool>>,
    pub(crate) rules: Vec<Rule>,
    /// Keys that mean nothing.
    pub(crate) warnings: Vec<Problem>,
}

impl Settings {
    /// What a file says; every mistake in it is reported with its line and column.
    pub(crate) fn read(file: &str, bytes: &[u8], layer: Layer) -> Result<Settings, Vec<Problem>> {
        let source = Source::new(file, bytes).map_err(|errors| problems(&errors))?;
        let table = parse_toml(&source).map_err(|errors| problems(&errors))?;
        let mut reader = Reader { source: &source, layer, file: file.into(), problems: Vec::new() };
        let mut settings = reader.settings(table.get_ref());
        let rules_layer = match layer {
            Layer::Project => policy::Layer::Project,
            Layer::BuiltIn | Layer::User | Layer::Environment | Layer::Flags => policy::Layer::User,
        };
        match read_rules_in(&source, table.get_ref(), rules_layer) {
            Ok(rules) => {
                settings.rules = rules.rules;
                settings.warnings.extend(rules.warnings.into_iter().map(Problem::from));
            }
            Err(errors) => reader.problems.extend(problems(&errors)),
        }
        settings.warnings.sort_by_key(|warning| (warning.line, warning.column));
        reader.problems.sort_by_key(|problem| (problem.line, problem.column));
        reader.problems.truncate(MOST_PROBLEMS);
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    /// What the variables of the environment say.
    pub(crate) fn of_environment(
        variables: &BTreeMap<&'static str, String>,
    ) -> Result<Settings, Vec<Problem>> {
        let mut settings = Settings::default();
        let mut wrong = Vec::new();
        for (variable, text) in variables {
            let place = Place::new(Layer::Environment, *variable, 0);
            let Some(key) = KEYS.iter().find(|key| key.variable == *variable) else {
                settings.session = Some(Origined::new(text.clone(), place));
                continue;
            };
            let words: Vec<&str> = match key.kind {
                Kind::Formatters => text.split(';').map(str::trim).filter(|one| !one.is_empty()).collect(),
                // Paths may have blanks in them.
                Kind::Paths => text.split(':').filter(|path| !path.is_empty()).collect(),
                kind if kind.is_list() => {
                    text.split([',', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty()).collect()
                }
                _ => vec![text],
            };
            for word in words {
                if let Err(message) = settings.set(key, word, place.clone()) {
                    wrong.push(Problem::of(*variable, message));
                }
            }
        }
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    /// What the command line says.
    pub(crate) fn of_flags(flags: &Flags) -> Settings {
        let at = |flag: &'static str| Place::new(Layer::Flags, flag, 0);
        Settings {
            policy: flags.policy.map(|profile| Origined::new(profile, at("--policy"))),
            allow: flags.allow.iter().map(|one| Origined::new(*one, at("--allow"))).collect(),
            dialect: flags.dialect.as_ref().map(|one| Origined::new(one.clone(), at("--dialect"))),
            descriptions: flags
                .descriptions
                .as_ref()
                .map(|folder| Origined::new(folder.clone(), at("--descriptions"))),
            session: flags.session.as_ref().map(|id| Origined::new(id.clone(), at("--session"))),
            sandbox: flags.sandbox.map(|one| Origined::new(one.into(), at("--sandbox"))),
            rules: flags.allow_rule.clone(),
            ..Settings::default()
        }
    }

    /// Sets a key from its text; the error says what is wrong with it and what to write.
    fn set(&mut self, key: &Key, text: &str, place: Place) -> Result<(), String> {
        let longest =
            if matches!(key.kind, Kind::Folder | Kind::Paths | Kind::Formatters) { 4_096 } else { 60 };
        let text = &shortened(text, longest);
        match key.kind {
            Kind::Profile => self.policy = Some(Origined::new(Profile::from_str(text)?, place)),
            Kind::Capabilities => {
                let capability = Origined::new(Capability::from_str(text)?, place);
                let list = if key.name == "ask" { &mut self.ask } else { &mut self.allow };
                list.push(capability);
            }
            Kind::Time => self.timeout = Some(Origined::new(parse_duration(text)?, place)),
            Kind::Dialect => self.dialect = Some(Origined::new(Dialect::named(text)?, place)),
            Kind::Sandbox => {
                let confinement = match text.as_str() {
                    "strict" => Confinement::Strict,
                    "none" => Confinement::None,
                    other => return Err(format!("no sandbox `{other}`; there are strict and none")),
                };
                self.sandbox = Some(Origined::new(confinement, place));
            }
            Kind::Paths if !(text.starts_with('/') || text.starts_with("~/")) => {
                return Err(format!("`{text}` must be absolute, or begin with `~/`"));
            }
            Kind::Paths => self.readable.push(Origined::new(PathBuf::from(text), place)),
            Kind::Names if text.is_empty() || text.contains('=') => {
                return Err(format!("`{text}` is no name of a variable; write the name alone"));
            }
            Kind::Names => self.environment.push(Origined::new(text.to_string(), place)),
            Kind::Listed => self.listed = Some(Origined::new(Listed::parse(text)?, place)),
            Kind::Switch => {
                let is_on = text.parse().map_err(|_| {
                    format!("`{text}` is neither true nor false; write `{} = {}`", key.name, key.example)
                })?;
                self.structured = Some(Origined::new(is_on, place));
            }
            Kind::Formatters => self.formatters.push(Origined::new(Format::parse(text)?, place)),
            Kind::Folder if text.is_empty() => {
                return Err(format!("`{}` names no folder; write its path", key.name));
            }
            Kind::Folder => self.descriptions = Some(Origined::new(PathBuf::from(text), place)),
            Kind::Hosts => self.mcp_from.push(Origined::new(Host::read_from(text)?, place)),
            Kind::Servers => return Err("servers are described in a file only".to_owned()),
        }
        Ok(())
    }
}

/// How many items a list may have.
fn most(kind: Kind) -> usize {
    if kind == Kind::Capabilities { MOST_ITEMS } else { 200 }
}

struct Reader<'a, 's> {
    source: &'s Source<'a>,
    layer: Layer,
    file: Arc<str>,
    problems: Vec<Problem>,
}

impl Reader<'_, '_> {
    fn settings(&mut self, table: &DeTable<'_>) -> Settings {
        let mut settings = Settings::default();
        for key in &KEYS {
            if let Some(value) = table.get(key.name) {
                self.value(&mut settings, key, value);
            }
        }
        let is_known = |name: &str| name == "rule" || KEYS.iter().any(|key| key.name == name);
        let unknown = table.keys().filter(|name| !is_known(name.get_ref()));
        settings.warnings.extend(unknown.take(MOST_PROBLEMS).map(|name| self.unknown(name)));
        for capability in &settings.ask {
            if let Some(both) = settings.allow.iter().find(|other| other.value == capability.value) {
                let message = format!(
                    "`{}` stands in `allow` (line {}) and in `ask`; keep one of them",
                    both.value, both.place.line
                );
                let line = capability.place.line;
                let problem = Problem { file: self.file.to_string(), line, column: 1, message };
                self.problems.push(problem);
            }
        }
        settings
    }

    fn unknown(&self, name: &Spanned<std::borrow::Cow<'_, str>>) -> Problem {
        let shown: String = name.get_ref().chars().take(60).collect();
        let known = || KEYS.iter().map(|key| key.name).chain(["rule"]);
        let advice = match nearest(&shown, known(), 1).first() {
            Some(near) => format!("did you mean `{near}`"),
            None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("`{shown}` means nothing in the configuration; {advice}");
        self.source.located(name.span().start, message).into()
    }

    fn value(&mut self, settings: &mut Settings, key: &Key, value: &Spanned<DeValue<'_>>) {
        match (key.kind, value.get_ref()) {
            (kind, DeValue::Array(items)) if kind.is_list() && items.len() > most(kind) => {
                let message = format!("`{}` has {} items; name each once", key.name, items.len());
                self.wrong(value, message);
            }
            (kind, DeValue::Array(items)) if kind.is_list() => {
                for item in items.iter() {
                    match item.get_ref().as_str() {
                        Some(text) => self.text(settings, key, item, text),
                        None => self.wrong(item, self.expected(key, item)),
                    }
                }
            }
            (Kind::Servers, DeValue::Table(_)) => {
                let table = Node::of_toml(value);
                let (servers, warnings) = servers::entries(servers::Format::Own, &table, self.source);
                settings.servers = servers;
                settings.warnings.extend(warnings);
            }
            (Kind::Servers, _) => self.wrong(value, self.expected(key, value)),
            (Kind::Switch, DeValue::Boolean(is_on)) => {
                self.text(settings, key, value, &is_on.to_string());
            }
            (Kind::Switch, _) => self.wrong(value, self.expected(key, value)),
            (kind, DeValue::String(text)) if !kind.is_list() => {
                self.text(settings, key, value, text);
            }
            _ => self.wrong(value, self.expected(key, value)),
        }
    }

    fn text(&mut self, settings: &mut Settings, key: &Key, at: &Spanned<DeValue<'_>>, text: &str) {
        let place = Place::new(self.layer, self.file.clone(), self.source.line(at.span().start));
        if let Err(message) = settings.set(key, text, place) {
            self.wrong(at, message);
        }
    }

    fn expected(&self, key: &Key, found: &Spanned<DeValue<'_>>) -> String {
        let wanted = match key.kind {
            kind if kind.is_list() => "a list of texts",
            Kind::Servers => "a table of servers",
            Kind::Switch => "true or false",
            _ => "a text",
        };
        format!(
            "`{}` is {}; write {wanted}, such as `{} = {}`",
            key.name,
            kind_of_toml(found),
            key.name,
            key.example
        )
    }

    fn wrong(&mut self, at: &Spanned<DeValue<'_>>, message: String) {
        self.problems.push(self.source.located(at.span().start, message).into());
    }
}

#[cfg(test)]
mod tests {
    use super::Listed;

    #[test]
    fn the_length_of_a_list_is_read_back() {
        for (text, expected) in [
            ("20 tools", "20 tools, 10000 tokens"),
            ("500 tokens,1 tool", "1 tools, 500 tokens"),
            (" all ", "all"),
            ("none", "none"),
        ] {
            assert_eq!(Listed::parse(text).unwrap().to_string(), expected, "{text}");
        }
        for wrong in ["", "20", "many tools", "-1 tools", "3 apples", "1 tools 2 tokens"] {
            assert!(Listed::parse(wrong).unwrap_err().contains("write `40 tools"), "{wrong}");
        }
    }
}
