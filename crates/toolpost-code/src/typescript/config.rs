//! What tsconfig.json and package.json say about where modules are.

use crate::paths::folder_of;
use serde_json::Value;

/// Files that say where modules are.
pub(super) const NAMES: [&str; 14] = [
    "package.json",
    "tsconfig.json",
    "jsconfig.json",
    "tsconfig.base.json",
    "tsconfig.common.json",
    "tsconfig.shared.json",
    "tsconfig.options.json",
    "tsconfig.build.json",
    "tsconfig.app.json",
    "tsconfig.lib.json",
    "tsconfig.node.json",
    "tsconfig.spec.json",
    "tsconfig.test.json",
    "tsconfig.settings.json",
];

/// What a tsconfig.json says, by itself.
pub(super) struct Config {
    pub(super) path: String,
    pub(super) folder: String,
    pub(super) extends: Vec<String>,
    pub(super) base_url: Option<String>,
    /// Patterns, and what they lead to, relative to `base_url` or the folder.
    pub(super) paths: Vec<(String, Vec<String>)>,
    pub(super) jsx_source: Option<String>,
}

/// A package.json.
pub(super) struct Package {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) content: Value,
}

/// JSON as configuration files have it: with comments, trailing commas and a mark at the beginning.
pub(super) fn relaxed(bytes: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Some(value);
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '"' => {
                clean.push(next);
                while let Some(inside) = rest.next() {
                    clean.push(inside);
                    match inside {
                        '\\' => clean.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|&inside| inside != '\n') {
                    rest.next();
                }
            }
            '/' if rest.peek() == Some(&'*') => {
                let mut before = ' ';
                for inside in rest.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
            }
            '}' | ']' => {
                let kept = clean.trim_end();
                if kept.ends_with(',') {
                    clean.truncate(kept.len() - 1);
                }
                clean.push(next);
            }
            _ => clean.push(next),
        }
    }
    serde_json::from_str(&clean).ok()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

impl Config {
    pub(super) fn read(path: &str, content: &[u8]) -> Option<Config> {
        let value = relaxed(content)?;
        let options = &value["compilerOptions"];
        let paths = options["paths"].as_object().into_iter().flatten();
        Some(Config {
            path: path.to_owned(),
            folder: folder_of(path).to_owned(),
            extends: texts(&value["extends"]),
            base_url: options["baseUrl"].as_str().map(str::to_owned),
            paths: paths.map(|(pattern, targets)| (pattern.clone(), texts(targets))).collect(),
            jsx_source: options["jsxImportSource"].as_str().map(str::to_owned),
        })
    }
}

impl Package {
    pub(super) fn read(path: &str, content: &[u8]) -> Option<Package> {
        let content = relaxed(content)?;
        let name = content["name"].as_str().unwrap_or("").to_owned();
        Some(Package { folder: folder_of(path).to_owned(), name, content })
    }

    /// What a path below the package (`.` or `./…`) or a name of its own (`#…`) leads to, relative to its folder; the
    /// most likely first.
    pub(super) fn targets(&self, below: &str) -> Vec<String> {
        let mut found = Vec::new();
        let table = if below.starts_with('#') { &self.content["imports"] } else { &self.content["exports"] };
        match table {
            Value::Object(entries) if entries.keys().any(|key| key.starts_with(['.', '#'])) => {
                if let Some(target) = entries.get(below) {
                    conditions(target, "", &mut found, 0);
                } else {
                    for (pattern, target) in entries {
                        if let Some(star) = matched(pattern, below) {
                            conditions(target, star, &mut found, 0);
                        }
                    }
                }
            }
            Value::Null => {}
            target if below == "." => conditions(target, "", &mut found, 0),
            _ => {}
        }
        if below == "." {
            for field in ["types", "typings", "source", "module", "main"] {
                found.extend(self.content[field].as_str().map(str::to_owned));
            }
        }
        found
    }
}

/// What `*` stands for if a pattern fits.
pub(super) fn matched<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let (before, after) = pattern.split_once('*')?;
    text.strip_prefix(before)?.strip_suffix(after)
}

fn conditions(value: &Value, star: &str, found: &mut Vec<String>, depth: u32) {
    match value {
        Value::String(text) => found.push(text.replace('*', star)),
        Value::Array(all) if depth < 8 => all.iter().for_each(|one| conditions(one, star, found, depth + 1)),
        Value::Object(all) if depth < 8 => {
            all.values().for_each(|one| conditions(one, star, found, depth + 1));
        }
        _ => {}
    }
}
