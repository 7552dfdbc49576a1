//! One server as its file describes it, before any variable is put in. What cannot be understood costs that server
//! alone.

use super::fields::{flag, names, pairs, present, text, texts};
use super::format::{Format, Unit, Words};
use crate::config::duration::parse_duration;
use crate::config::node::{Member, Node, Value};
use crate::config::origin::{Problem, shortened};
use std::time::Duration;
use toolpost_core::text::Source;
use toolpost_core::text::{misspelling_of, nearest};
use toolpost_plugins::Hints;

/// More servers in one file are a mistake.
const MOST: usize = 200;
/// The longest name; it begins the name of every tool of the server.
const LONGEST_NAME: usize = 64;
const OLD_HTTP: &str =
    "it speaks the old HTTP with SSE, which is not spoken here; give the address of its streamable HTTP";

/// One server as a file describes it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) is_off: bool,
    /// How it is reached, or why that cannot be understood.
    pub(crate) reach: Result<Written, String>,
    pub(super) start: Option<Duration>,
    pub(super) call: Option<Duration>,
    pub(super) only: Option<Vec<String>>,
    pub(super) without: Vec<String>,
    /// Whether the user says that what it says of its tools is believed.
    pub(super) hints: Option<Hints>,
    pub(super) format: Format,
}

/// How a server is reached, as it is written.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    Stdio {
        /// The program and its arguments.
        words: Vec<String>,
        environment: Vec<(String, String)>,
        /// Variables of ours that it gets too.
        handed_on: Vec<String>,
        /// A file of further variables.
        file: Option<String>,
        cwd: Option<String>,
    },
    Http {
        url: String,
        headers: Vec<(String, String)>,
        /// Headers whose value is a variable: name, what stands before, variable.
        from_variables: Vec<(String, &'static str, String)>,
    },
}

/// The servers in a table of a file, and what means nothing there.
pub(crate) fn entries(format: Format, table: &Node, source: &Source<'_>) -> Entries {
    let (mut warnings, mut problems) = (Vec::new(), Vec::new());
    let Value::Table(members) = &table.value else {
        let message = format!("`{}` is {}; write a table of servers", format.words().table, table.kind());
        warnings.push(source.located(table.span.start, message).into());
        return Entries { entries: Vec::new(), warnings, problems };
    };
    let mut entries: Vec<Entry> = Vec::new();
    for member in members.iter().take(MOST) {
        let words = format.words();
        let (warnings, problems) = (&mut warnings, &mut problems);
        let entry = Reader { format, words, source, warnings, problems }.entry(member);
        if let Some(index) = entries.iter().position(|other| other.name == entry.name) {
            let message = format!(
                "`{}` stands twice, the first in line {}; the last one holds",
                entry.name, entries[index].line
            );
            warnings.push(source.located(member.key_span.start, message).into());
            entries.remove(index);
        }
        entries.push(entry);
    }
    if members.len() > MOST {
        let message = format!("there are {} servers; only the first {MOST} are looked at", members.len());
        warnings.push(source.located(table.span.start, message).into());
    }
    Entries { entries, warnings, problems }
}

/// What a table of servers holds.
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// What means nothing there.
    pub(crate) warnings: Vec<Problem>,
    /// The same in a file of our own, where it could have been meant to narrow.
    pub(crate) problems: Vec<Problem>,
}

impl Entry {
    /// Whether the server is given this variable, or a value that is made with it.
    pub(crate) fn mentions(&self, variable: &str) -> bool {
        let is_of = |text: &String| {
            let mut places = text.match_indices(variable);
            places.any(|(at, _)| {
                let rest = &text[at + variable.len()..];
                !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
            })
        };
        match &self.reach {
            Ok(Written::Stdio { words, environment, handed_on, .. }) => {
                let pairs = environment.iter().flat_map(|(name, value)| [name, value]);
                words.iter().chain(handed_on).chain(pairs).any(is_of)
            }
            Ok(Written::Http { url, headers, .. }) => {
                is_of(url) || headers.iter().any(|(_, value)| is_of(value))
            }
            Err(_) => false,
        }
    }

    /// Whether it is the entry by which another program finds toolpost. Our own configuration may name another one.
    pub(crate) fn is_self(&self) -> bool {
        if self.format == Format::Own {
            return false;
        }
        let Ok(Written::Stdio { words, .. }) = &self.reach else { return false };
        let program = words.first().map(|word| word.rsplit('/').next().unwrap_or(word));
        program == Some("toolpost") && words.iter().skip(1).any(|word| word == "mcp")
    }
}

struct Reader<'a, 's> {
    format: Format,
    words: &'static Words,
    source: &'s Source<'a>,
    warnings: &'s mut Vec<Problem>,
    problems: &'s mut Vec<Problem>,
}

impl Reader<'_, '_> {
    fn entry(&mut self, member: &Member) -> Entry {
        let node = &member.node;
        let mut entry = Entry {
            name: member.key.clone(),
            line: self.source.line(member.key_span.start),
            is_off: false,
            reach: Err(String::new()),
            start: None,
            call: None,
            only: None,
            without: Vec::new(),
            hints: None,
            format: self.format,
        };
        entry.reach = match &node.value {
            Value::Table(_) => self.fill(node, &mut entry),
            _ => Err(format!("it is {}; write a table with `command` or `url`", node.kind())),
        };
        let name = &member.key;
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
            entry.reach = Err(format!(
                "its name is empty, longer than {LONGEST_NAME} or has control characters; choose another"
            ));
            entry.name = shortened(name, LONGEST_NAME);
        }
        entry
    }

    fn fill(&mut self, node: &Node, entry: &mut Entry) -> Result<Written, String> {
        self.unknown_keys(node)?;
        entry.is_off = flag(node, "enabled")? == Some(false);
        if self.format != Format::Own {
            entry.is_off |= flag(node, "disabled")? == Some(true);
        }
        let named = node.get("tools").filter(|_| self.format != Format::Own);
        let named = named.filter(|tools| !matches!(tools.value, Value::Table(_))).map(|_| &"tools");
        for key in self.words.only.iter().chain(named) {
            let more = texts(node, key)?;
            entry.only = match (entry.only.take(), more) {
                // A tool that one of two lists lacks is not wanted.
                (Some(one), Some(other)) => {
                    Some(one.into_iter().filter(|tool| other.contains(tool)).collect())
                }
                (one, other) => one.or(other),
            };
        }
        for key in self.words.without {
            entry.without.extend(texts(node, key)?.unwrap_or_default());
        }
        if self.format == Format::Codex {
            self.tools_of_codex(node, entry)?;
        }
        entry.start = self.time(node, self.words.start)?;
        entry.call = self.time(node, self.words.call)?;
        if let Some(table) =
            node.get("timeout").filter(|one| self.format == Format::Opencode && !one.members().is_empty())
        {
            entry.start = self.time(table, &[("startup", Unit::Milliseconds)])?;
            entry.call = self.time(table, &[("request", Unit::Milliseconds)])?;
        }
        if self.format == Format::Own {
            entry.hints = match text(node, "hints")?.as_deref() {
                None => None,
                Some("believed") => Some(Hints::Believed),
                Some("ignored") => Some(Hints::Ignored),
                Some(other) => {
                    let other = shortened(other, 60);
                    return Err(format!("its `hints` are `{other}`; write `believed` or `ignored`"));
                }
            };
        }
        self.reach(node)
    }

    /// Codex has a table for each tool, in which it may be turned off.
    fn tools_of_codex(&mut self, node: &Node, entry: &mut Entry) -> Result<(), String> {
        for tool in node.get("tools").map(Node::members).unwrap_or_default() {
            if flag(&tool.node, "enabled")? == Some(false) {
                entry.without.push(tool.key.clone());
            }
            if let Some(mode) =
                tool.node.get("approval_mode").filter(|mode| mode.as_text() != Some("approve"))
            {
                let message = format!(
                    "`approval_mode` of a tool holds in Codex only; a rule such as `ask = [\"mcp__{}__{}\"]` asks here",
                    entry.name, tool.key
                );
                self.warnings.push(self.source.located(mode.span.start, message).into());
            }
        }
        Ok(())
    }

    fn reach(&self, node: &Node) -> Result<Written, String> {
        let kind = text(node, "type")?;
        let address = self.words.address.iter().find(|key| node.get(key).is_some());
        let has_command = node.get("command").is_some();
        match kind.as_deref() {
            Some("sse") => Err(OLD_HTTP.to_owned()),
            Some("stdio" | "local") => self.stdio(node),
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => {
                self.http(node)
            }
            Some(other) => {
                Err(format!("its type `{}` is not known; there are stdio and http", shortened(other, 40)))
            }
            None if has_command && address.is_some() => {
                Err("it has a command and an address; keep one of them".to_owned())
            }
            None if has_command => self.stdio(node),
            None if address.is_some() => self.http(node),
            None => Err(format!("it has neither `command` nor `{}`", self.words.address[0])),
        }
    }

    fn stdio(&self, node: &Node) -> Result<Written, String> {
        let is_list = node.get("command").is_some_and(|command| matches!(command.value, Value::List(_)));
        let mut words = match is_list && self.format == Format::Opencode {
            true => texts(node, "command")?.unwrap_or_default(),
            false => text(node, "command")?.into_iter().collect(),
        };
        if words.first().is_none_or(String::is_empty) {
            return Err("its `command` is empty; name the program to start".to_owned());
        }
        if self.format != Format::Opencode {
            words.extend(texts(node, "args")?.unwrap_or_default());
        }
        Ok(Written::Stdio {
            words,
            environment: pairs(node, self.words.environment)?,
            handed_on: if self.format == Format::Codex { names(node, "env_vars")? } else { Vec::new() },
            file: if self.has_file() { text(node, "envFile")? } else { None },
            cwd: text(node, "cwd")?,
        })
    }

    fn http(&self, node: &Node) -> Result<Written, String> {
        let mut address = None;
        for key in self.words.address {
            address = address.or(text(node, key)?);
        }
        let mut from_variables = Vec::new();
        if self.format == Format::Codex {
            let token = text(node, "bearer_token_env_var")?;
            from_variables.extend(token.map(|variable| ("Authorization".to_owned(), "Bearer ", variable)));
            let headers = pairs(node, "env_http_headers")?;
            from_variables.extend(headers.into_iter().map(|(header, variable)| (header, "", variable)));
        }
        Ok(Written::Http {
            url: address.ok_or_else(|| format!("it has no `{}`", self.words.address[0]))?,
            headers: pairs(node, self.words.headers)?,
            from_variables,
        })
    }

    fn has_file(&self) -> bool {
        matches!(self.format, Format::Vscode | Format::Cursor)
    }

    fn time(&mut self, node: &Node, keys: &[(&str, Unit)]) -> Result<Option<Duration>, String> {
        for (key, unit) in keys {
            let Some(found) = present(node, key) else { continue };
            let given = match (&found.value, unit) {
                (Value::Table(_), _) if self.format == Format::Opencode => return Ok(None),
                (Value::Text(text), Unit::Written) => parse_duration(text),
                (Value::Number(number), Unit::Milliseconds) => parse_duration(&format!("{number}ms")),
                (Value::Number(number), Unit::Seconds) => parse_duration(number),
                (_, Unit::Written) => {
                    Err(format!("it is {}; write it with its unit, as \"30s\"", found.kind()))
                }
                _ => Err(format!("it is {}; write a number", found.kind())),
            };
            match given {
                Ok(time) => return Ok(Some(time)),
                Err(why) if self.format == Format::Own => return Err(format!("`{key}`: {why}")),
                // A time that makes no sense must not cost a server of another program.
                Err(why) => {
                    let message = format!("`{key}` is passed over: {why}");
                    self.warnings.push(self.source.located(found.span.start, message).into());
                }
            }
        }
        Ok(None)
    }

    /// Keys that mean nothing. In a file of our own that is a mistake; in one of another program only where the key is hardly
    /// anything but a misspelling of one that narrows, which costs the server.
    fn unknown_keys(&mut self, node: &Node) -> Result<(), String> {
        let known = self.known();
        let mut misspelt = Ok(());
        for member in node.members().iter().filter(|member| !known.contains(&member.key.as_str())) {
            let shown = shortened(&member.key, 60);
            let advice = match nearest(&shown, known.iter().copied(), 1).first() {
                Some(near) => format!("did you mean `{near}`"),
                None => format!("known are {}", known.join(", ")),
            };
            let message = format!("`{shown}` means nothing of a server; {advice}");
            let lists = self.words.only.iter().chain(self.words.without).copied();
            let narrowing = ["enabled", "disabled"].into_iter().chain(lists);
            let near = misspelling_of(&shown, narrowing.filter(|word| known.contains(word)));
            let problem = self.source.located(member.key_span.start, message).into();
            match (self.format, near) {
                (Format::Own, _) => self.problems.push(problem),
                (_, Some(near)) => {
                    let line = self.source.line(member.key_span.start);
                    misspelt = Err(format!(
                        "`{shown}` (line {line}) means nothing of a server; did you mean `{near}`"
                    ));
                }
                (_, None) => self.warnings.push(problem),
            }
        }
        misspelt
    }

    fn known(&self) -> Vec<&'static str> {
        let words = self.words;
        let mut known = vec!["type", "command", "cwd", "enabled", words.environment, words.headers];
        known.extend(words.address);
        known.extend(words.only.iter().chain(words.without));
        known.extend(words.start.iter().chain(words.call).map(|(key, _)| key));
        if self.format != Format::Own {
            known.extend(["disabled", "tools"]);
        }
        match self.format {
            Format::Opencode => {}
            Format::Codex => known.extend(["args", "env_vars", "bearer_token_env_var", "env_http_headers"]),
            Format::Vscode | Format::Cursor => known.extend(["args", "envFile"]),
            Format::Own => known.extend(["args", "hints"]),
            Format::Claude | Format::Gemini => known.push("args"),
        }
        known.extend(words.passed_over);
        known
    }
}
