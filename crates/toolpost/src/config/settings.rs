//! What one layer says: a file or the environment, read key by key from the rows of [`super::keys`].
//!
//! Nothing here decides which layer wins, or whether a file is believed.

use super::key::{File, InFile};
use super::keys::{KEYS, Settings};
use super::origin::{Layer, Place, Problem, problems};
use super::{requires, rights};
use std::borrow::Cow;
use std::collections::BTreeMap;
use toml::Spanned;
use toolpost_core::text::nearest;
use toolpost_core::text::{Source, parse_toml};

/// Maximum number of problems of one file that are reported.
const MOST_PROBLEMS: usize = 20;

impl Settings {
    /// What a file says; every mistake in it is reported with its line and column. A key that means nothing is a mistake, as
    /// the file could narrow with it.
    pub(crate) fn read(file: &str, bytes: &[u8], layer: Layer) -> Result<Settings, Vec<Problem>> {
        let source = Source::new(file, bytes).map_err(|errors| problems(&errors))?;
        let table = parse_toml(&source).map_err(|errors| problems(&errors))?;
        let table = table.get_ref();
        let file = File { source: &source, table, layer, name: file.into() };
        let mut settings = Settings::default();
        // What a newer program understands is not misspelt.
        if let Some(needed) = requires::problem(&file) {
            return Err(vec![needed]);
        }
        let mut wrong = Vec::new();
        for key in KEYS.iter().filter(|key| !matches!(key.file(), InFile::Never)) {
            if let Some(value) = table.get(key.name()) {
                wrong.extend(key.set_value(&mut settings, &file, value));
            }
        }
        let unknown = table.keys().filter(|name| !known().any(|known| known == *name.get_ref()));
        wrong.extend(unknown.take(MOST_PROBLEMS).map(|name| meaningless(&source, name)));
        wrong.extend(rights::contradictions(&settings, &file.name));
        settings.warnings.sort_by_key(|warning| (warning.line, warning.column));
        wrong.sort_by_key(|problem| (problem.line, problem.column));
        wrong.truncate(MOST_PROBLEMS);
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    /// What the variables of the environment say.
    pub(crate) fn of_environment(
        variables: &BTreeMap<&'static str, String>,
    ) -> Result<Settings, Vec<Problem>> {
        let mut settings = Settings::default();
        let mut wrong = Vec::new();
        for key in KEYS {
            if let Some(text) = variables.get(key.variable()) {
                let place = Place::new(Layer::Environment, key.variable(), 0);
                let messages = key.set_variable(&mut settings, text, &place);
                wrong.extend(messages.into_iter().map(|message| Problem::of(key.variable(), message)));
            }
        }
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    /// Whether a variable of this name has a reader that the file tells of.
    pub(super) fn mentions(&self, variable: &str) -> bool {
        self.environment.iter().any(|one| one.value == variable)
            || self.vendors.iter().any(|vendor| vendor.value.mentions(variable))
            || self.servers.iter().any(|server| server.value.mentions(variable))
    }

    /// Adds what another part of the same layer says.
    pub(crate) fn add(&mut self, other: &Settings) {
        KEYS.iter().for_each(|key| key.add(self, other));
    }
}

/// The keys that a file can have.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|key| !matches!(key.file(), InFile::Never)).map(|key| key.name())
}

/// The key or word of ours for what other programs, or people, call otherwise.
pub(super) fn ours(name: &str) -> Option<&'static str> {
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    Some(match bare.to_ascii_lowercase().as_str() {
        "disallowedtools" | "disallowed" | "disallow" | "denied" | "deniedtools" | "block" | "blocked"
        | "forbid" | "exclude" | "excludetools" => "deny",
        "profile" | "mode" | "permissionmode" | "riskprofile" | "readonly" | "sandboxmode" => "policy",
        "rules" | "permissions" | "permission" => "rule",
        "allowed" | "allowedtools" => "allow",
        "confirm" | "approval" | "approvalpolicy" => "ask",
        _ => return None,
    })
}

fn meaningless(source: &Source<'_>, name: &Spanned<Cow<'_, str>>) -> Problem {
    let shown: String = name.get_ref().chars().take(60).collect();
    let elsewhere = KEYS.iter().find(|key| matches!(key.file(), InFile::Never) && key.name() == shown);
    if let Some(key) = elsewhere {
        let flag = key.flag().map(|flag| format!("--{} or ", flag.long)).unwrap_or_default();
        let message = format!("no file sets `{shown}`; set it with {flag}{}", key.variable());
        return source.located(name.span().start, message).into();
    }
    const OF_RULES: [&str; 5] = ["effect", "action", "resource", "match", "not_match"];
    let advice = match nearest(&shown, known(), 1).first() {
        _ if OF_RULES.contains(&shown.as_str()) => "write it below a line `[[rule]]`".to_owned(),
        _ if ours(&shown).is_some() => format!("did you mean `{}`", ours(&shown).unwrap_or_default()),
        Some(near) => format!("did you mean `{near}`"),
        None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("`{shown}` means nothing in the configuration; {advice}");
    source.located(name.span().start, message).into()
}
