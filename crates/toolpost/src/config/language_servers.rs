//! What the configuration says of language servers: `[[languageServer]]`, each a program and the files that it looks at.

use super::duration::parse_duration;
use super::key::{File, Form, Kind, Schema, Tables};
use super::layers::Layers;
use super::origin::{Layer, Origined, Problem};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolpost_core::text::{kind_of_toml, nearest};
use toolpost_process::StartCheck;
use toolpost_tools::filesystem::Helper;
use toolpost_tools::language_server::LanguageServer;
use toolpost_tools::shell;

/// One `[[languageServer]]` of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LanguageServerText {
    pub(crate) name: String,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// Globs of files, those of its languages among them.
    files: Vec<String>,
    time: Duration,
    options: Value,
}

impl LanguageServerText {
    /// What a workspace brings with it, for a person who decides whether to trust that.
    pub(super) fn brings(&self) -> Vec<String> {
        vec![format!(
            "runs the language server `{}` after changes of {}",
            self.words.join(" "),
            self.files.join(", ")
        )]
    }
}

/// Tables of language servers.
pub(super) const LANGUAGE_SERVERS: Kind<LanguageServerText> = Kind {
    form: Form::Tables { read, flag: None },
    schema: Schema::Is(|| {
        json!({"type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["command"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "command": {"type": "string", "minLength": 1},
                "args": {"type": "array", "items": {"type": "string"}},
                "languages": {"type": "array", "items": {"enum": LanguageServer::languages()}},
                "files": {"type": "array", "items": {"type": "string", "minLength": 1}},
                "time": {"type": "string"},
                "options": {"type": "object"},
            },
            "anyOf": [{"required": ["languages"]}, {"required": ["files"]}],
        }})
    }),
    show: |server| {
        format!("{}: {} for {}", server.name, server.words.join(" "), server.files.join(", ")).into()
    },
};

const KEYS: [&str; 7] = ["name", "command", "args", "languages", "files", "time", "options"];

fn read(file: &File<'_, '_>, value: &Spanned<DeValue<'_>>) -> Tables<LanguageServerText> {
    let mut tables = Tables { values: Vec::new(), warnings: Vec::new(), problems: Vec::new() };
    let located = |at: usize, message: String| Problem::from(file.source.located(at, message));
    let Some(items) = value.get_ref().as_array() else {
        let found = kind_of_toml(value);
        let message =
            format!("`languageServer` is {found}; write each as a table under `[[languageServer]]`");
        tables.problems.push(located(value.span().start, message));
        return tables;
    };
    for item in items.iter() {
        let at = item.span().start;
        let Some(table) = item.get_ref().as_table() else {
            tables
                .problems
                .push(located(at, "a language server is a table under `[[languageServer]]`".to_owned()));
            continue;
        };
        match (Reader { table, at }).server() {
            Ok(server) => tables.values.push((server, file.source.line(at))),
            Err((at, message)) => tables.problems.push(located(at, message)),
        }
    }
    tables
}

/// Reads one table. An error says where, and what to write.
struct Reader<'t, 'a> {
    table: &'t DeTable<'a>,
    at: usize,
}

type Wrong = (usize, String);

impl Reader<'_, '_> {
    fn server(&self) -> Result<LanguageServerText, Wrong> {
        if let Some(unknown) = self.table.keys().find(|key| !KEYS.contains(&key.get_ref().as_ref())) {
            let advice = match nearest(unknown.get_ref(), KEYS.iter().copied(), 1).first() {
                Some(near) => format!("did you mean `{near}`"),
                None => format!("known are {}", KEYS.join(", ")),
            };
            let shown: String = unknown.get_ref().chars().take(60).collect();
            let message = format!("`{shown}` means nothing in a language server; {advice}");
            return Err((unknown.span().start, message));
        }
        let command = self.text("command")?.ok_or_else(|| {
            (
                self.at,
                "`command` is missing; write the program, such as `command = \"pyright-langserver\"`"
                    .to_owned(),
            )
        })?;
        let words: Vec<String> = std::iter::once(command.clone()).chain(self.texts("args")?).collect();
        let languages = self.texts("languages")?;
        let mut files = Vec::new();
        for language in &languages {
            let globs = LanguageServer::globs_of(language).ok_or_else(|| {
                let near = nearest(language, LanguageServer::languages().into_iter(), 1);
                let near = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`"));
                (
                    self.place("languages"),
                    format!("`{language}` is no known language{near}; or name its files in `files`"),
                )
            })?;
            files.extend(globs);
        }
        for glob in self.texts("files")? {
            if let Err(why) = LanguageServer::check_glob(&glob) {
                return Err((self.place("files"), format!("`{glob}` is no glob: {why}")));
            }
            files.push(glob);
        }
        if files.is_empty() {
            let message = "the language server looks at no files; write `languages = [\"python\"]` or `files = [\"*.py\"]`";
            return Err((self.at, message.to_owned()));
        }
        let time = match self.text("time")? {
            Some(text) => parse_duration(&text).map_err(|why| (self.place("time"), why))?,
            None => LanguageServer::TIME,
        };
        let name =
            self.text("name")?.unwrap_or_else(|| command.rsplit('/').next().unwrap_or(&command).to_owned());
        let options = self.table.get("options").map_or(Value::Null, |value| json_of(value.get_ref()));
        Ok(LanguageServerText { name, words, files, time, options })
    }

    fn place(&self, key: &str) -> usize {
        self.table.get(key).map_or(self.at, |value| value.span().start)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Wrong> {
        match self.table.get(key) {
            None => Ok(None),
            Some(value) => match value.get_ref().as_str() {
                Some(text) if !text.trim().is_empty() => Ok(Some(text.to_owned())),
                _ => Err((value.span().start, format!("`{key}` is {}; write a text", kind_of_toml(value)))),
            },
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, Wrong> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let wrong =
            || (value.span().start, format!("`{key}` is {}; write a list of texts", kind_of_toml(value)));
        let items = value.get_ref().as_array().ok_or_else(wrong)?;
        items.iter().map(|item| item.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }
}

fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Datetime(moment) => moment.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| json_of(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let pairs =
                table.iter().map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref())));
            Value::Object(pairs.collect::<Map<String, Value>>())
        }
    }
}

/// The language servers that may be used, with what commands get of the environment. Those of a project are held to the files
/// that were trusted with them, at each start.
pub(super) fn language_servers(
    layers: &Layers,
    servers: &[Origined<LanguageServerText>],
    shell: &shell::Settings,
    roots: &[PathBuf],
) -> Vec<LanguageServer> {
    let usable = |server: &Origined<LanguageServerText>| {
        let LanguageServerText { name, words, files, time, options } = server.value.clone();
        let check = match server.place.layer {
            Layer::Project => layers.language_server(server, &shell.environment, roots).at_start(),
            _ => StartCheck::default(),
        };
        let helper = Helper {
            program: words.first().map(Into::into).unwrap_or_default(),
            args: words.into_iter().skip(1).collect(),
            environment: shell.environment.clone(),
            readable: shell.outside.readable.clone(),
            programs: shell.outside.programs.clone(),
            hidden: shell.outside.hidden.clone(),
            check,
        };
        LanguageServer { name, helper, files, time, options }
    };
    servers.iter().map(usable).collect()
}
