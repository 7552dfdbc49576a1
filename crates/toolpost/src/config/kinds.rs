//! The values that several keys, or long ones, are made of: how each is written, checked, described and shown.

use super::key::{File, Form, Kind, Schema, Tables, Text};
use super::node::Node;
use super::origin::{Layer, problems};
use super::servers::{self, Entry};
use crate::config::duration::parse_duration;
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;
use toml::de::DeValue;
use toolpost_core::policy::{self, Effect, Origin, Profile, Rule};
use toolpost_core::text::kind_of_toml;
use toolpost_core::{Capability, Dialect};
use toolpost_plugins as plugins;
use toolpost_rules::read_rules_in;
use toolpost_tools::shell::Confinement;
use toolpost_tools::tasklist::ROLES;

/// Maximum number of characters of a word.
pub(super) const WORD: Option<usize> = Some(60);
/// Maximum number of characters of a path or a command line.
pub(super) const LINE: Option<usize> = Some(4_096);
/// Maximum number of items of a list.
pub(super) const MANY: usize = 200;
/// What stands between words in a variable.
pub(super) const BETWEEN_WORDS: &[char] = &[',', ' ', '\t'];
/// The pattern of a time in a schema.
const TIME_PATTERN: &str = r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)?$";

/// A risk profile.
pub(super) const PROFILE: Kind<Profile> = Kind {
    form: Form::Text(Text { parse: Profile::from_str, longest: WORD }),
    schema: Schema::Words(|| Profile::ALL.map(Profile::as_str).into()),
    show: |profile| profile.as_str().into(),
};

/// Capabilities; there are five, so a longer list is a mistake.
pub(super) const CAPABILITIES: Kind<Capability> = Kind {
    form: Form::Texts {
        text: Text { parse: Capability::from_str, longest: WORD },
        most: 20,
        between: BETWEEN_WORDS,
    },
    schema: Schema::Words(|| Capability::ALL.iter().map(|one| one.as_str()).chain(["execute"]).collect()),
    show: |capability| capability.as_str().into(),
};

/// A time: `30s`.
pub(super) const TIME: Kind<Duration> = Kind {
    form: Form::Text(Text { parse: parse_duration, longest: WORD }),
    schema: Schema::Is(|| json!({"type": "string", "pattern": TIME_PATTERN})),
    show: |time| format!("{}s", time.as_secs_f64()).into(),
};

/// A dialect.
pub(super) const DIALECT: Kind<Arc<Dialect>> = Kind {
    form: Form::Text(Text { parse: |text| toolpost_tools::dialects().named(text), longest: WORD }),
    schema: Schema::Words(|| toolpost_tools::dialects().all().iter().map(|dialect| dialect.name()).collect()),
    show: |dialect| dialect.name().into(),
};

/// A role among the shared tasks.
pub(super) const ROLE: Kind<String> = Kind {
    form: Form::Text(Text {
        parse: |text| match ROLES.contains(&text) {
            true => Ok(text.to_owned()),
            false => Err(format!("no role `{text}`; there are {}", ROLES.join(" and "))),
        },
        longest: WORD,
    }),
    schema: Schema::Words(|| ROLES.into()),
    show: |role| role.as_str().into(),
};

/// `true` or `false`.
pub(super) const SWITCH: Kind<bool> = Kind {
    form: Form::Switch(|is_on| is_on),
    schema: Schema::Is(|| json!({"type": "boolean"})),
    show: |is_on| (*is_on).into(),
};

/// How commands are confined.
pub(super) const CONFINEMENT: Kind<Confinement> = Kind {
    form: Form::Text(Text {
        parse: |text| match text {
            "strict" => Ok(Confinement::Strict),
            "none" => Ok(Confinement::None),
            other => Err(format!("no sandbox `{other}`; there are strict and none")),
        },
        longest: WORD,
    }),
    schema: Schema::Words(|| vec!["strict", "none"]),
    show: |confinement| match confinement {
        Confinement::Strict => "strict".into(),
        Confinement::None => "none".into(),
    },
};

/// Paths outside of the workspace; they may have spaces in them.
pub(super) const OUTSIDE_PATHS: Kind<PathBuf> = Kind {
    form: Form::Texts {
        text: Text {
            parse: |text| match text.starts_with('/') || text.starts_with("~/") {
                true => Ok(PathBuf::from(text)),
                false => Err(format!("`{text}` must be absolute, or begin with `~/`")),
            },
            longest: LINE,
        },
        most: MANY,
        between: &[':'],
    },
    schema: Schema::Is(|| json!({"type": "string", "pattern": "^(/|~/)"})),
    show: |path| path.display().to_string().into(),
};

/// A formatter as it is written: `rs: rustfmt --edition 2024`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) extensions: Vec<String>,
    pub(crate) words: Vec<String>,
}

impl Format {
    fn parse(text: &str) -> Result<Format, String> {
        let wrong = || {
            format!(
                "`{text}` is not a formatter; write `extension: program arguments`, such as `rs: rustfmt`"
            )
        };
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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.extensions.join(","), self.words.join(" "))
    }
}

/// Programs that format files.
pub(super) const FORMATTERS: Kind<Format> = Kind {
    form: Form::Texts { text: Text { parse: Format::parse, longest: LINE }, most: MANY, between: &[';'] },
    schema: Schema::Is(|| json!({"type": "string", "pattern": "^[^:]+:.*[^ ]"})),
    show: |format| format.to_string().into(),
};

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
                    return Err(format!("`{text}` is not a list length; write {example}, `all` or `none`"));
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

/// How many tools of other servers a list has.
pub(super) const LISTED: Kind<Listed> = Kind {
    form: Form::Text(Text { parse: Listed::parse, longest: WORD }),
    schema: Schema::Is(|| {
        let part = "[0-9]+ (tools?|tokens?)";
        json!({"type": "string", "pattern": format!("^(all|none|{part}(, *{part})?)$")})
    }),
    show: |listed| listed.to_string().into(),
};

/// The built-in packs that are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packs(pub(crate) Vec<String>);

/// Packs by their names, with commas between them.
pub(super) const PACKS: Kind<Packs> = Kind {
    form: Form::Text(Text {
        parse: |text| {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            let check = |name: &str| match toolpost_tools::check_pack(name.strip_prefix('+').unwrap_or(name))
            {
                Ok(()) => Ok(name.to_owned()),
                Err(error) => Err(error.message().to_owned()),
            };
            match names.map(check).collect::<Result<Vec<String>, String>>()? {
                names if names.is_empty() => {
                    Err("no pack is named; write `filesystem, search, vfs`".to_owned())
                }
                names => Ok(Packs(names)),
            }
        },
        longest: LINE,
    }),
    schema: Schema::Is(|| json!({"type": "string", "minLength": 1})),
    show: |packs| packs.0.join(", ").into(),
};

/// The name of a pack, or the path of its file.
pub(super) const PACK: Kind<String> = Kind {
    form: Form::Texts {
        text: Text {
            parse: |text| match text.trim() {
                "" => Err("no pack is named; `toolpost packs` shows their names".to_owned()),
                name => Ok(name.to_owned()),
            },
            longest: LINE,
        },
        most: MANY,
        between: &[','],
    },
    schema: Schema::Is(|| json!({"type": "string", "minLength": 1})),
    show: |pack| pack.as_str().into(),
};

/// MCP servers.
pub(super) const SERVERS: Kind<Entry> = Kind {
    form: Form::Tables { read: read_servers, flag: None },
    schema: Schema::Is(
        || json!({"type": "object", "maxProperties": 200, "additionalProperties": server_schema()}),
    ),
    show: |entry| entry.name.as_str().into(),
};

fn read_servers(file: &File<'_, '_>, value: &Spanned<DeValue<'_>>) -> Tables<Entry> {
    if !value.get_ref().is_table() {
        let found = kind_of_toml(value);
        let message = format!(
            "`mcpServers` is {found}; write a table of servers, such as `mcpServers = {}`",
            super::keys::SERVER_EXAMPLE
        );
        let problem = file.source.located(value.span().start, message).into();
        return Tables { values: Vec::new(), warnings: Vec::new(), problems: vec![problem] };
    }
    let read = servers::entries(servers::Format::Own, &Node::of_toml(value), file.source);
    let values = read.entries.into_iter().map(|entry| (entry.line, entry)).map(|(line, entry)| (entry, line));
    Tables { values: values.collect(), warnings: read.warnings, problems: read.problems }
}

fn server_schema() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let pairs = |about: &str| json!({"type": "object", "additionalProperties": {"type": "string"}, "description": about});
    let time = |about: &str| json!({"type": "string", "pattern": TIME_PATTERN, "description": about});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "type": {
                "type": "string",
                "enum": ["stdio", "http"],
                "description": "How it is reached; otherwise follows from `command` or `url`.",
            },
            "command": text("The program to start."),
            "args": texts("Its arguments."),
            "env": pairs("Variables that it gets in addition to the few that every child gets."),
            "cwd": text("Its folder, from the root of the workspace; otherwise the root itself."),
            "url": text("The address of a server that is reached by streamable HTTP."),
            "headers": pairs("Headers of every request."),
            "timeout": time("How long one call may take."),
            "startTimeout": time("How long it may take from its start to its first list of tools."),
            "includeTools": texts("The tools that are wanted; otherwise all."),
            "excludeTools": texts("Tools that are not wanted; they win over those that are."),
            "enabled": {"type": "boolean", "description": "Whether it is used."},
            "hints": {
                "type": "string",
                "enum": ["believed", "ignored"],
                "description": "Whether what it says of its tools decides what they need; usual in your own file: believed. In a workspace's file they never are.",
            },
        },
    })
}

/// Rules of the policy.
pub(super) const RULES: Kind<Rule> = Kind {
    form: Form::Tables {
        read: read_rules,
        flag: Some(|text| {
            let origin = Origin::new(policy::Layer::Flags, "--allow-rule", 0);
            Rule::parse_short(Effect::Allow, text, origin)
        }),
    },
    schema: Schema::Is(rule_schema),
    show: |rule| rule.to_string().into(),
};

fn read_rules(file: &File<'_, '_>, _: &Spanned<DeValue<'_>>) -> Tables<Rule> {
    let layer = match file.layer {
        Layer::Project => policy::Layer::Project,
        Layer::BuiltIn | Layer::User | Layer::Environment | Layer::Flags => policy::Layer::User,
    };
    let outside: Vec<&'static str> = super::settings::known().collect();
    match read_rules_in(file.source, file.table, layer, toolpost_tools::names(), &outside) {
        Ok(read) => Tables {
            values: read
                .rules
                .into_iter()
                .map(|rule| (rule.origin().line, rule))
                .map(|(line, rule)| (rule, line))
                .collect(),
            warnings: Vec::new(),
            problems: Vec::new(),
        },
        Err(errors) => Tables { values: Vec::new(), warnings: Vec::new(), problems: problems(&errors) },
    }
}

fn rule_schema() -> Value {
    let examples = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    json!({
        "type": "array",
        "maxItems": 1000,
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["effect", "action"],
            "properties": {
                "effect": {
                    "type": "string",
                    "enum": ["allow", "ask", "deny"],
                    "description": "What is decided about what the rule matches.",
                },
                "action": {
                    "type": "string",
                    "minLength": 1,
                    "description": "A tool (`bash`, `mcp__*`), a capability (`read`, `write`, `exec`, `network`, `trace`) or `*`.",
                },
                "resource": {
                    "type": "string",
                    "description": "Paths (`/src/**`), commands (`cargo test *`) or hosts (`*.example.com`); `*`, or leaving it out, is everything.",
                },
                "match": examples("Examples that the rule must match, checked whenever the file is read."),
                "not_match": examples("Examples that the rule must not match, checked whenever the file is read."),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
