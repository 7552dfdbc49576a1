//! What the configuration of formatters and editors says, in the same words as what is measured.

use super::tree::Tree;
use super::values::{of_json, of_toml, of_yaml, text_at};
use serde_json::Value;

/// One thing that a configuration file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// As in [`super::measured::Convention`].
    pub(super) topic: &'static str,
    /// The languages it is for; none for all.
    pub(super) languages: Vec<&'static str>,
    /// As in [`super::measured::Convention`].
    pub(super) value: String,
    /// The file, and where in it.
    pub(super) evidence: String,
}

const SCRIPTS: [&str; 2] = ["TypeScript", "JavaScript"];

/// What the files at the root of a project say; what is said first comes first.
pub(super) fn settings(tree: &Tree) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut read = |names: &[&str], reader: fn(&str, &str) -> Vec<Setting>| {
        let Some(name) = tree.first_of("", names) else { return };
        let path = tree.inside("", name);
        settings.extend(tree.text(&path).map(|text| reader(&path, &text)).unwrap_or_default());
    };
    read(&["rustfmt.toml", ".rustfmt.toml"], rustfmt);
    read(&["biome.json", "biome.jsonc"], biome);
    read(
        &[".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml"],
        prettier,
    );
    read(&["package.json"], prettier_of_package);
    read(&["ruff.toml", ".ruff.toml"], ruff);
    read(&["pyproject.toml"], pyproject);
    read(&[".flake8", "setup.cfg"], flake8);
    read(&[".clang-format"], clang_format);
    read(&["go.mod"], gofmt);
    read(&[".editorconfig"], editorconfig);
    settings
}

fn setting(
    topic: &'static str,
    languages: &[&'static str],
    value: impl Into<String>,
    path: &str,
    place: &str,
) -> Setting {
    let evidence = if place.is_empty() { path.to_owned() } else { format!("{path}: {place}") };
    Setting { topic, languages: languages.to_vec(), value: value.into(), evidence }
}

/// Where a file says something, or that the program that reads it does so without being told.
fn said<'a>(value: &Value, key: &'a str, otherwise: &'a str) -> &'a str {
    if value.get(key).is_some() { key } else { otherwise }
}

fn spaces(width: u64) -> String {
    format!("{width} spaces")
}

fn rustfmt(path: &str, text: &str) -> Vec<Setting> {
    let value = of_toml(text);
    let is_tabs = value.get("hard_tabs").and_then(Value::as_bool).unwrap_or_default();
    let width = value.get("tab_spaces").and_then(Value::as_u64).unwrap_or(4);
    let indentation = if is_tabs { "tabs".to_owned() } else { spaces(width) };
    let length = value.get("max_width").and_then(Value::as_u64).unwrap_or(100);
    let usual = "default of rustfmt";
    let place = if is_tabs { "hard_tabs" } else { said(&value, "tab_spaces", usual) };
    vec![
        setting("indentation", &["Rust"], indentation, path, place),
        setting(
            "line length",
            &["Rust"],
            format!("at most {length}"),
            path,
            said(&value, "max_width", usual),
        ),
    ]
}

fn prettier(path: &str, text: &str) -> Vec<Setting> {
    let value = match path {
        path if path.ends_with(".toml") => of_toml(text),
        _ if text.trim_start().starts_with('{') => of_json(text),
        _ => yaml_object(text, &["useTabs", "tabWidth", "singleQuote", "semi", "printWidth"]),
    };
    of_prettier(path, "", &value)
}

fn prettier_of_package(path: &str, text: &str) -> Vec<Setting> {
    match of_json(text).get("prettier") {
        Some(value) if value.is_object() => of_prettier(path, "prettier.", value),
        _ => Vec::new(),
    }
}

/// What is not said is as Prettier has it.
fn of_prettier(path: &str, start: &str, value: &Value) -> Vec<Setting> {
    let flag = |key: &str, usual: bool| value.get(key).and_then(Value::as_bool).unwrap_or(usual);
    let number = |key: &str, usual: u64| value.get(key).and_then(Value::as_u64).unwrap_or(usual);
    let indentation = match flag("useTabs", false) {
        true => "tabs".to_owned(),
        false => spaces(number("tabWidth", 2)),
    };
    let quotes = if flag("singleQuote", false) { "single" } else { "double" };
    let semicolons = if flag("semi", true) { "with" } else { "without" };
    let length = format!("at most {}", number("printWidth", 80));
    let width = if flag("useTabs", false) { "useTabs" } else { "tabWidth" };
    [
        ("indentation", indentation, width),
        ("quotes", quotes.to_owned(), "singleQuote"),
        ("semicolons", semicolons.to_owned(), "semi"),
        ("line length", length, "printWidth"),
    ]
    .into_iter()
    .map(|(topic, of_topic, key)| {
        let place = match value.get(key) {
            Some(_) => format!("{start}{key}"),
            None => "default of Prettier".to_owned(),
        };
        setting(topic, &SCRIPTS, of_topic, path, &place)
    })
    .collect()
}

/// What is not said is as Biome has it.
fn biome(path: &str, text: &str) -> Vec<Setting> {
    let value = of_json(text);
    if value.pointer("/formatter/enabled") == Some(&Value::Bool(false)) {
        return Vec::new();
    }
    let of = |key: &str| {
        value
            .pointer(&format!("/javascript/formatter/{key}"))
            .or_else(|| value.pointer(&format!("/formatter/{key}")))
    };
    let indentation = match of("indentStyle").and_then(Value::as_str) {
        Some("space") => spaces(of("indentWidth").and_then(Value::as_u64).unwrap_or(2)),
        _ => "tabs".to_owned(),
    };
    let quotes = of("quoteStyle").and_then(Value::as_str).unwrap_or("double");
    let semicolons = match of("semicolons").and_then(Value::as_str) {
        Some("asNeeded") => "without",
        _ => "with",
    };
    let length = format!("at most {}", of("lineWidth").and_then(Value::as_u64).unwrap_or(80));
    [
        ("indentation", indentation, "indentStyle", "formatter.indentStyle"),
        ("quotes", quotes.to_owned(), "quoteStyle", "javascript.formatter.quoteStyle"),
        ("semicolons", semicolons.to_owned(), "semicolons", "javascript.formatter.semicolons"),
        ("line length", length, "lineWidth", "formatter.lineWidth"),
    ]
    .into_iter()
    .map(|(topic, value, key, place)| {
        let place = if of(key).is_some() { place } else { "default of Biome" };
        setting(topic, &SCRIPTS, value, path, place)
    })
    .collect()
}

fn pyproject(path: &str, text: &str) -> Vec<Setting> {
    let value = of_toml(text);
    let mut settings = Vec::new();
    if let Some(ruff) = value.pointer("/tool/ruff") {
        settings.extend(of_ruff(path, "[tool.ruff] ", ruff));
    }
    if let Some(black) = value.pointer("/tool/black") {
        let length = black.get("line-length").and_then(Value::as_u64).unwrap_or(88);
        settings.push(setting(
            "line length",
            &["Python"],
            format!("at most {length}"),
            path,
            if black.get("line-length").is_some() { "[tool.black] line-length" } else { "default of Black" },
        ));
        settings.push(setting("indentation", &["Python"], spaces(4), path, "default of Black"));
        let keeps = black.get("skip-string-normalization").and_then(Value::as_bool).unwrap_or_default();
        if !keeps {
            settings.push(setting("quotes", &["Python"], "double", path, "default of Black"));
        }
    }
    settings
}

fn ruff(path: &str, text: &str) -> Vec<Setting> {
    of_ruff(path, "", &of_toml(text))
}

fn of_ruff(path: &str, start: &str, value: &Value) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut add = |topic, value: String, key: &str| {
        settings.push(setting(topic, &["Python"], value, path, &format!("{start}{key}")));
    };
    if let Some(length) = value.get("line-length").and_then(Value::as_u64) {
        add("line length", format!("at most {length}"), "line-length");
    }
    let format = value.get("format");
    let style = format.and_then(|format| text_at(format, "/indent-style"));
    match (style, value.get("indent-width").and_then(Value::as_u64)) {
        (Some("tab"), _) => add("indentation", "tabs".to_owned(), "format.indent-style"),
        (_, Some(width)) => add("indentation", spaces(width), "indent-width"),
        (_, None) if format.is_some() => add("indentation", spaces(4), "default of ruff format"),
        _ => {}
    }
    if let Some(format) = format {
        match text_at(format, "/quote-style") {
            Some("single") => add("quotes", "single".to_owned(), "format.quote-style"),
            Some("preserve") => {}
            Some(_) => add("quotes", "double".to_owned(), "format.quote-style"),
            None => add("quotes", "double".to_owned(), "default of ruff format"),
        }
    }
    let quotes = value
        .pointer("/lint/flake8-quotes/inline-quotes")
        .or_else(|| value.pointer("/flake8-quotes/inline-quotes"));
    if let Some(quotes) = quotes.and_then(Value::as_str) {
        add("quotes", quotes.to_owned(), "flake8-quotes.inline-quotes");
    }
    settings
}

fn flake8(path: &str, text: &str) -> Vec<Setting> {
    let section = text.split_once("[flake8]").map(|(_, rest)| rest.split("\n[").next().unwrap_or(rest));
    let length = section.and_then(|section| {
        section.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            matches!(key.trim(), "max-line-length" | "max_line_length")
                .then(|| value.trim().parse::<u64>().ok())?
        })
    });
    length
        .map(|length| {
            setting("line length", &["Python"], format!("at most {length}"), path, "[flake8] max-line-length")
        })
        .into_iter()
        .collect()
}

fn clang_format(path: &str, text: &str) -> Vec<Setting> {
    let first = |key: &str| of_yaml(text, key).into_iter().next();
    let mut settings = Vec::new();
    let is_tabs = first("UseTab").is_some_and(|value| !matches!(value.as_str(), "Never" | "false"));
    let base = match first("BasedOnStyle").as_deref() {
        Some("WebKit" | "Microsoft") => 4,
        _ => 2,
    };
    let width = first("IndentWidth").and_then(|width| width.parse().ok()).unwrap_or(base);
    let indentation = if is_tabs { "tabs".to_owned() } else { spaces(width) };
    let usual = "default of clang-format";
    let place = match (is_tabs, first("IndentWidth").is_some()) {
        (true, _) => "UseTab",
        (false, true) => "IndentWidth",
        (false, false) => usual,
    };
    settings.push(setting("indentation", &["C", "C++"], indentation, path, place));
    let length = first("ColumnLimit").and_then(|limit| limit.parse::<u64>().ok()).unwrap_or(80);
    if length > 0 {
        settings.push(setting(
            "line length",
            &["C", "C++"],
            format!("at most {length}"),
            path,
            if first("ColumnLimit").is_some() { "ColumnLimit" } else { usual },
        ));
    }
    settings
}

/// Every Go project is formatted by gofmt.
fn gofmt(path: &str, _: &str) -> Vec<Setting> {
    vec![setting("indentation", &["Go"], "tabs", path, "gofmt")]
}

fn editorconfig(path: &str, text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut section: Option<(String, Vec<&'static str>)> = None;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut flush = |section: &Option<(String, Vec<&'static str>)>, pairs: &mut Vec<(String, String)>| {
        let of = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        if let Some((glob, languages)) = section.as_ref() {
            let width = of("indent_size").filter(|size| size != "tab").or_else(|| of("tab_width"));
            let indentation = match (of("indent_style").as_deref(), width) {
                (Some("tab"), _) => Some("tabs".to_owned()),
                (Some("space") | None, Some(width)) => Some(format!("{width} spaces")),
                _ => None,
            };
            if let Some(indentation) = indentation {
                settings.push(setting(
                    "indentation",
                    languages,
                    indentation,
                    path,
                    &format!("[{glob}] indent_style"),
                ));
            }
            if let Some(length) = of("max_line_length").filter(|length| length.parse::<u64>().is_ok()) {
                let value = format!("at most {length}");
                settings.push(setting(
                    "line length",
                    languages,
                    value,
                    path,
                    &format!("[{glob}] max_line_length"),
                ));
            }
            if let Some(ends) = of("end_of_line").filter(|ends| matches!(ends.as_str(), "lf" | "crlf")) {
                settings.push(setting(
                    "line ends",
                    languages,
                    ends.to_uppercase(),
                    path,
                    &format!("[{glob}] end_of_line"),
                ));
            }
        }
        pairs.clear();
    };
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(glob) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            flush(&section, &mut pairs);
            section = languages_of(glob).map(|languages| (glob.to_owned(), languages));
        } else if let Some((key, value)) = line.split_once('=') {
            pairs.push((key.trim().to_lowercase(), value.trim().to_lowercase()));
        }
    }
    flush(&section, &mut pairs);
    // A section for some files is stronger than one for all.
    settings.sort_by_key(|one| one.languages.is_empty());
    settings
}

/// The languages whose files a section is for: none listed for all files, no answer for files of no language.
fn languages_of(glob: &str) -> Option<Vec<&'static str>> {
    if glob == "*" || glob == "**" {
        return Some(Vec::new());
    }
    let glob = glob.trim_start_matches("**/").trim_start_matches('*');
    let endings = glob.strip_prefix('.')?;
    let list = endings.trim_start_matches('{').trim_end_matches('}');
    let mut languages: Vec<&'static str> = list
        .split(',')
        .filter_map(|ending| super::languages::language_of(&format!("x.{}", ending.trim())))
        .collect();
    languages.dedup();
    (!languages.is_empty()).then_some(languages)
}

/// Values of a YAML text at its top.
fn yaml_object(text: &str, keys: &[&str]) -> Value {
    let values = keys.iter().filter_map(|key| {
        let value = of_yaml(text, key).into_iter().next()?;
        let parsed = serde_json::from_str(&value).unwrap_or(Value::String(value));
        Some(((*key).to_owned(), parsed))
    });
    Value::Object(values.collect())
}
