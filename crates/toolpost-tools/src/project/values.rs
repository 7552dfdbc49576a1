//! Texts of manifests as values: TOML and JSON become one kind of value, XML and YAML are scanned line by line. Nothing here
//! fails: what cannot be read has no values.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use toolpost_core::text::Source;
use toolpost_core::text::json::{self, Json, Node, Syntax};

/// The values of a TOML text.
pub(super) fn of_toml(text: &str) -> Value {
    match DeTable::parse(text) {
        Ok(table) => Value::Object(of_table(table.get_ref())),
        Err(_) => Value::Null,
    }
}

fn of_table(table: &DeTable<'_>) -> Map<String, Value> {
    table.iter().map(|(key, value)| (key.get_ref().to_string(), of_value(value.get_ref()))).collect()
}

/// The parser bounds how deep values can be nested.
fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => number.as_str().parse::<i64>().map_or(Value::Null, Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(value) => Value::from(*value),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| of_value(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(of_table(table)),
    }
}

/// The values of a JSON text, which may have comments and final commas.
pub(super) fn of_json(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    let Ok(source) = Source::new("", text.as_bytes()) else { return Value::Null };
    json::parse(&source, Syntax::WithComments).map_or(Value::Null, |node| of_node(&node, text))
}

fn of_node(node: &Node, text: &str) -> Value {
    match &node.value {
        Json::Null => Value::Null,
        Json::Bool => Value::from(text.get(node.at..).is_some_and(|rest| rest.starts_with("true"))),
        Json::Number(number) => match number.fract() == 0.0 && number.abs() < 1e15 {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 16 digits")]
            true => Value::from(*number as i64),
            false => Value::from(*number),
        },
        Json::Text(text) => Value::from(text.as_str()),
        Json::List(items) => items.iter().map(|item| of_node(item, text)).collect(),
        Json::Object(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), of_node(value, text))).collect()
        }
    }
}

/// Why a manifest cannot be read, by the ending of its name: nothing if it can, or if nobody knows.
pub(super) fn problem_of(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let first_line = |error: String| error.lines().next().unwrap_or_default().trim().to_owned();
    if name.ends_with(".toml") || name == "Pipfile" {
        let error = DeTable::parse(text).err()?;
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        return Some(format!("invalid TOML in line {line}: {}", first_line(error.message().to_owned())));
    }
    if name.ends_with(".json") || name.ends_with(".jsonc") {
        let error = serde_json::from_str::<Value>(text).err()?;
        return (!of_json(text).is_object())
            .then(|| format!("invalid JSON in line {}: {}", error.line(), first_line(error.to_string())));
    }
    let has_module = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("module") && words.next().is_some_and(|word| !word.starts_with("//"))
    };
    if name == "go.mod" && !text.lines().any(has_module) {
        return Some("no module path".to_owned());
    }
    None
}

/// The text at a pointer such as `/package/name`.
pub(super) fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// The keys of the object at a pointer.
pub(super) fn keys_at<'a>(value: &'a Value, pointer: &str) -> Vec<&'a str> {
    let object = value.pointer(pointer).and_then(Value::as_object);
    object.map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// The texts of the list at a pointer.
pub(super) fn texts_at<'a>(value: &'a Value, pointer: &str) -> Vec<&'a str> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// The contents of every element of this name in an XML text, comments left out. Elements are not understood: an element
/// inside of another of the same name ends both.
pub(super) fn elements<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
            continue;
        }
        let inside = rest.strip_prefix(open.as_str());
        let inside = inside.filter(|inside| inside.starts_with(['>', ' ', '\t', '\n', '\r', '/']));
        let Some(inside) = inside else {
            rest = &rest[1..];
            continue;
        };
        let Some(start) = inside.find('>') else { break };
        if inside[..start].ends_with('/') {
            rest = &inside[start..];
            continue;
        }
        let content = &inside[start + 1..];
        let end = content.find(close.as_str()).unwrap_or(content.len());
        found.push(content[..end].trim());
        rest = &content[end..];
    }
    found
}

/// The values of an attribute of every element of this name.
pub(super) fn attributes<'a>(text: &'a str, element: &str, attribute: &str) -> Vec<&'a str> {
    let open = format!("<{element}");
    let mut found = Vec::new();
    for start in text.match_indices(open.as_str()).map(|(at, _)| &text[at + open.len()..]) {
        let Some(end) = start.find('>') else { continue };
        let head = &start[..end];
        if !head.starts_with([' ', '\t', '\n', '\r']) {
            continue;
        }
        let Some(at) = head.find(&format!("{attribute}=")) else { continue };
        let value = &head[at + attribute.len() + 1..];
        let Some(quote) = value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { continue };
        found.extend(value[1..].split(quote).next());
    }
    found
}

/// The values of a key of a YAML text at the top or, for `a.b`, one level down: the text behind it, or the items of the
/// list below it, or the keys of the map below it.
pub(super) fn of_yaml(text: &str, key: &str) -> Vec<String> {
    let (outer, inner) = key.split_once('.').map_or((key, None), |(outer, inner)| (outer, Some(inner)));
    let mut found = Vec::new();
    let mut lines = text.lines().filter(|line| {
        let content = line.trim();
        !content.is_empty() && !content.starts_with('#')
    });
    let Some(head) = lines.by_ref().find_map(|line| yaml_value(line, outer, 0)) else { return found };
    if inner.is_none() && !head.is_empty() {
        return yaml_items(&head);
    }
    let mut depth: Option<usize> = None;
    let mut is_inside = inner.is_none();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let item = line.trim_start().strip_prefix('-');
        if indent == 0 && !(item.is_some() && inner.is_none()) {
            break;
        }
        let own = *depth.get_or_insert(indent);
        if let Some(inner) = inner {
            if indent == own {
                is_inside = false;
                if let Some(value) = yaml_value(line.trim_start(), inner, 0) {
                    if !value.is_empty() {
                        return yaml_items(&value);
                    }
                    is_inside = true;
                }
                continue;
            }
            if !is_inside {
                continue;
            }
        }
        match item {
            Some(item) if inner.is_some() || indent == own => found.push(unquoted(item)),
            None if inner.is_some() || indent == own => {
                found.extend(line.trim().split_once(':').map(|(name, _)| unquoted(name)));
            }
            _ => {}
        }
    }
    found
}

fn yaml_value(line: &str, key: &str, indent: usize) -> Option<String> {
    let line = line.get(indent..)?;
    let rest = line.strip_prefix(key).or_else(|| line.strip_prefix(&format!("\"{key}\"")))?;
    let rest = rest.trim_start().strip_prefix(':')?;
    Some(rest.split(" #").next().unwrap_or(rest).trim().to_owned())
}

/// The items of a list in brackets, or the one value.
fn yaml_items(value: &str) -> Vec<String> {
    match value.strip_prefix('[').map(|rest| rest.trim_end_matches(']')) {
        Some(list) => list.split(',').map(unquoted).filter(|item| !item.is_empty()).collect(),
        None => vec![unquoted(value)],
    }
}

/// A text without the quotes around it.
pub(super) fn unquoted(text: &str) -> String {
    let text = text.split(" #").next().unwrap_or(text).trim();
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
    inner.unwrap_or(text).to_owned()
}

/// The texts in quotes in a piece of code.
pub(super) fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let inside = &rest[at + 1..];
        let Some(end) = inside.find(quote) else { break };
        found.push(&inside[..end]);
        rest = &inside[end + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_are_one_kind_of_value() {
        let toml = of_toml("[package]\nname = \"a\"\nlist = [1, \"b\", true]\n");
        assert_eq!(text_at(&toml, "/package/name"), Some("a"));
        assert_eq!(texts_at(&toml, "/package/list"), ["b"]);
        let json = of_json("{ // a comment\n \"a\": {\"b\": true, \"c\": 4,}, }");
        assert_eq!(json, serde_json::json!({"a": {"b": true, "c": 4}}));
        assert_eq!((of_toml("= ="), of_json("{")), (Value::Null, Value::Null));
    }

    #[test]
    fn broken_manifests_are_told() {
        for (path, text, expected) in [
            ("Cargo.toml", "[package]\nname = \"a\"\n", ""),
            ("a/Cargo.toml", "[package]\nname\n", "invalid TOML in line 2: "),
            ("tsconfig.json", "{ // c\n \"a\": 1, }", ""),
            ("package.json", "{\"name\": \"x\",\n", "invalid JSON in line 2: "),
            ("go.mod", "module // none\n", "no module path"),
            ("go.mod", "// c\nmodule x.y/z // c\n", ""),
            ("Makefile", "\0", ""),
        ] {
            let told = problem_of(path, text).unwrap_or_default();
            assert!(told.starts_with(expected) && told.is_empty() == expected.is_empty(), "{path}: {told}");
        }
    }

    #[test]
    fn yaml_is_read_as_far_as_needed() {
        let text = "# c\npackages:\n  - 'a/*' # all\n  - \"b\"\nother: [x, 'y']\nname: z # n\ntasks:\n  build:\n    cmds:\n      - go\n  test:\n    cmds: []\n";
        assert_eq!(of_yaml(text, "packages"), ["a/*", "b"]);
        assert_eq!(of_yaml(text, "other"), ["x", "y"]);
        assert_eq!(of_yaml(text, "name"), ["z"]);
        assert_eq!(of_yaml(text, "tasks"), ["build", "test"]);
        assert_eq!(
            of_yaml("dependencies:\n  flutter:\n    sdk: flutter\n  http: ^1\n", "dependencies"),
            ["flutter", "http"]
        );
        assert_eq!(of_yaml("packages:\n- a\n- b\nc: d\n", "packages"), ["a", "b"]);
        assert_eq!(of_yaml("a:\n  b: c\n  d:\n    - e\n", "a.d"), ["e"]);
        assert_eq!(of_yaml("a:\n  b: c\n", "a.b"), ["c"]);
        assert!(of_yaml("x: &a [*a]\n", "y").is_empty());
    }

    #[test]
    fn xml_is_scanned() {
        let text = "<a><!-- <m>no</m> --><m>one</m><m x='1'>two</m><mm>no</mm><m/></a><P Sdk=\"S\">";
        assert_eq!(elements(text, "m"), ["one", "two"]);
        assert_eq!(attributes(text, "P", "Sdk"), ["S"]);
        assert_eq!(attributes(text, "m", "x"), ["1"]);
        assert_eq!(quoted("include(':a', \":b\")"), [":a", ":b"]);
    }

    #[test]
    fn hostile_texts_are_bounded() {
        let deep = "[".repeat(200_000);
        assert_eq!(of_json(&deep), Value::Null);
        assert_eq!(of_toml(&format!("a = {deep}")), Value::Null);
        let entities = "<!DOCTYPE x [<!ENTITY a \"&a;&a;\">]><m>&a;</m>".repeat(1_000);
        assert_eq!(elements(&entities, "m").len(), 1_000);
        assert!(elements(&"<m>".repeat(50_000), "m").len() <= 1);
        assert!(of_yaml(&"a: *a\n".repeat(100_000), "a").len() == 1);
    }
}
