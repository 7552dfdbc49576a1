//! Rules and policies in TOML: each rule knows its line, each error its file, line and column.

use std::sync::Arc;
use toml::de::{DeArray, DeTable};
use toolpost_core::Capability;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Action, Effect, Layer, Names, Origin, Pattern, Policy, Rule};
use toolpost_core::text::{Errors, Source, kind_of_toml, nearest, parse_toml};

/// At most so many rules are taken from a file: as many path patterns are made ready well within two seconds.
pub const MOST_RULES: usize = 1_000;

/// What a file of rules holds.
#[derive(Debug, Clone)]
pub struct RuleFile {
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
}

/// Reads a file that holds nothing but `[[rule]]` tables. A key that means nothing is an error: a rule without it could be
/// wider than was meant.
///
/// ```
/// use toolpost_core::policy::{Layer, Names};
/// use toolpost_core::text::Source;
/// use toolpost_rules::read_rules;
///
/// let text = "[[rule]]\neffect = 'allow'\naction = 'exec'\nresource = 'cargo test *'\nmatch = ['cargo test --all']\n";
/// let file = read_rules(&Source::new("rules.toml", text.as_bytes())?, Layer::User, &Names::default())?;
/// assert_eq!(file.rules[0].origin().to_string(), "rules.toml:1");
/// # Ok::<(), toolpost_core::text::Errors>(())
/// ```
pub fn read_rules(source: &Source<'_>, layer: Layer, names: &Names) -> Result<RuleFile, Errors> {
    let table = parse_toml(source)?;
    let mut reader = Reader::new(source, names);
    reader.refuse_other_keys(table.get_ref(), &["rule"], "a file of rules");
    let rules = reader.rules(table.get_ref(), Layers::All(layer));
    reader.errors.or(RuleFile { rules })
}

/// Reads the `[[rule]]` tables of a file that holds other things too; `table` is the parsed file, and `outside` are the other
/// keys that it can have.
pub fn read_rules_in(
    source: &Source<'_>,
    table: &DeTable<'_>,
    layer: Layer,
    names: &Names,
    outside: &[&'static str],
) -> Result<RuleFile, Errors> {
    let mut reader = Reader { outside, ..Reader::new(source, names) };
    let rules = reader.rules(table, Layers::All(layer));
    reader.errors.or(RuleFile { rules })
}

/// Reads what [`policy_to_toml`](crate::policy_to_toml) writes: `granted`, `askable` and rules with their `layer`; or
/// `[[policy]]` tables of these, which must all agree.
pub fn policy_from_toml(source: &Source<'_>, names: &Names) -> Result<Policy, Errors> {
    let table = parse_toml(source)?;
    let table = table.get_ref();
    let mut reader = Reader::new(source, names);
    let mut parts = Vec::new();
    match reader.tables(table, "policy") {
        tables if tables.is_empty() => parts.push(reader.part(table)),
        tables => {
            for key in table.keys().filter(|key| key.get_ref() != "policy") {
                reader.error(key.span().start, "this is outside of `[[policy]]`; move it into one of them");
            }
            parts.extend(tables.into_iter().map(|(_, table)| reader.part(table)));
        }
    }
    let policy = parts.into_iter().reduce(|all, policy| all.meet(&policy));
    let none = || Policy::with_capabilities(Capabilities::NONE, Capabilities::NONE);
    reader.errors.or(policy.unwrap_or_else(none))
}

/// Whether the layer is the file's, or each rule says its own.
#[derive(Clone, Copy)]
enum Layers {
    All(Layer),
    Each,
}

struct Reader<'a, 'b> {
    source: &'b Source<'a>,
    names: &'b Names,
    file: Arc<str>,
    errors: Errors,
    /// Keys of the file around the rules: one that stands in a rule has slipped into it.
    outside: &'b [&'static str],
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(source: &'b Source<'a>, names: &'b Names) -> Reader<'a, 'b> {
        Reader { source, names, file: source.file().into(), errors: Errors::none(), outside: &[] }
    }

    fn error(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push(self.source.located(at, message));
    }

    fn refuse_other_keys(&mut self, table: &DeTable<'_>, known: &[&'static str], place: &str) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())).take(20) {
            let name: String = key.get_ref().chars().take(60).collect();
            let advice = match nearest(&name, known.iter().copied(), 1).first() {
                _ if self.outside.contains(&name.as_str()) => {
                    "it is a key of the whole file; write it above the first `[`".to_owned()
                }
                Some(near) => format!("did you mean `{near}`"),
                None => format!("known are {}", known.join(", ")),
            };
            self.error(key.span().start, format!("`{name}` means nothing in {place}; {advice}"));
        }
    }

    /// The tables of an array of tables, each with its place.
    fn tables<'t>(&mut self, table: &'t DeTable<'a>, name: &str) -> Vec<(usize, &'t DeTable<'a>)> {
        let Some(value) = table.get(name) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            let message =
                format!("`{name}` is {}; write each as a table under `[[{name}]]`", kind_of_toml(value));
            self.error(value.span().start, message);
            return Vec::new();
        };
        if items.len() > MOST_RULES {
            let message = format!(
                "there are {} of `{name}`; at most {MOST_RULES} are taken, use wildcards",
                items.len()
            );
            self.error(value.span().start, message);
            return Vec::new();
        }
        let mut tables = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.get_ref().as_table() {
                Some(table) => tables.push((item.span().start, table)),
                None => self.error(
                    item.span().start,
                    format!("a `{name}` is {}; write each as a table under `[[{name}]]`", kind_of_toml(item)),
                ),
            }
        }
        tables
    }

    fn part(&mut self, table: &DeTable<'a>) -> Policy {
        self.refuse_other_keys(table, &["granted", "askable", "rule"], "a policy");
        let granted = self.capabilities(table, "granted");
        let askable = self.capabilities(table, "askable").difference(granted);
        let rules = self.rules(table, Layers::Each);
        let none = Policy::with_capabilities(granted, askable).with_names(self.names);
        Layer::ALL.into_iter().fold(none, |policy, layer| {
            let own = rules.iter().filter(|rule| rule.origin().layer == layer).cloned();
            policy.with_rules(layer, own.collect())
        })
    }

    fn capabilities(&mut self, table: &DeTable<'a>, name: &str) -> Capabilities {
        let mut set = Capabilities::NONE;
        for (at, word) in self.texts(table, name) {
            match word.parse::<Capability>() {
                Ok(capability) => set = set.with(capability),
                Err(error) => self.error(at, error),
            }
        }
        set
    }

    fn rules(&mut self, table: &DeTable<'a>, layers: Layers) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (at, table) in self.tables(table, "rule") {
            if self.errors.is_full() {
                break;
            }
            rules.extend(self.rule(at, table, layers));
        }
        rules
    }

    fn rule(&mut self, at: usize, table: &DeTable<'a>, layers: Layers) -> Option<Rule> {
        let known: &[&'static str] = match layers {
            Layers::All(_) => &["effect", "action", "resource", "match", "not_match"],
            Layers::Each => &["effect", "action", "resource", "match", "not_match", "layer"],
        };
        self.refuse_other_keys(table, known, "a rule");
        let layer = match layers {
            Layers::All(layer) => Some(layer),
            Layers::Each => self.needed(at, table, "layer", "user", |text| text.parse::<Layer>()),
        };
        let effect = self.needed(at, table, "effect", "ask", |text| text.parse::<Effect>());
        let action = self.needed(at, table, "action", "exec", |text| match effect {
            Some(Effect::Ask | Effect::Deny) => Action::parse_narrowing(text),
            Some(Effect::Allow) | None => Action::parse(text),
        });
        let resource = match table.contains_key("resource") {
            true => self.needed(at, table, "resource", "*", Pattern::parse),
            false => Pattern::parse("*").ok(),
        };
        let matching = self.texts(table, "match");
        let not_matching = self.texts(table, "not_match");
        let origin = Origin::new(layer?, self.file.clone(), self.source.line(at));
        let rule = Rule::from_parts(effect?, action?, resource?, origin);
        self.with_examples(rule, matching, not_matching)
    }

    fn with_examples(
        &mut self,
        rule: Rule,
        matching: Vec<(usize, String)>,
        not_matching: Vec<(usize, String)>,
    ) -> Option<Rule> {
        let mut is_good = true;
        for (at, example) in &matching {
            if self.errors.is_full() {
                return None;
            }
            if let Err(error) = rule.clone().with_examples(vec![example.clone()], vec![], self.names) {
                self.error(*at, error);
                is_good = false;
            }
        }
        for (at, example) in &not_matching {
            if self.errors.is_full() {
                return None;
            }
            if let Err(error) = rule.clone().with_examples(vec![], vec![example.clone()], self.names) {
                self.error(*at, error);
                is_good = false;
            }
        }
        let texts = |examples: Vec<(usize, String)>| examples.into_iter().map(|(_, text)| text).collect();
        if is_good { rule.with_examples(texts(matching), texts(not_matching), self.names).ok() } else { None }
    }

    /// A text that must be there, read by `read`.
    fn needed<T>(
        &mut self,
        at: usize,
        table: &DeTable<'a>,
        name: &str,
        example: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let Some(value) = table.get(name) else {
            self.error(at, format!("the rule has no `{name}`; add one, such as `{name} = \"{example}\"`"));
            return None;
        };
        let Some(text) = value.get_ref().as_str() else {
            let message = format!(
                "`{name}` is {}; write a text, such as `{name} = \"{example}\"`",
                kind_of_toml(value)
            );
            self.error(value.span().start, message);
            return None;
        };
        read(text).map_err(|error| self.error(value.span().start, error)).ok()
    }

    /// A list of texts that may be left out.
    fn texts(&mut self, table: &DeTable<'a>, name: &str) -> Vec<(usize, String)> {
        let Some(value) = table.get(name) else { return Vec::new() };
        let empty = DeArray::new();
        let items = value.get_ref().as_array().unwrap_or_else(|| {
            let message = format!(
                "`{name}` is {}; write a list of texts, such as `{name} = [\"…\"]`",
                kind_of_toml(value)
            );
            self.error(value.span().start, message);
            &empty
        });
        let mut texts = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(text) => texts.push((item.span().start, text.to_owned())),
                None => {
                    let message = format!("`{name}` holds {}; write texts only", kind_of_toml(item));
                    self.error(item.span().start, message);
                }
            }
        }
        texts
    }
}
