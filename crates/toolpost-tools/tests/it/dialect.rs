//! Dialects: every table fits the specification, goes both ways, and counts from where it says.

mod specified;

use crate::fixed::Fixed as Executor;
use serde_json::{Value, json};
use specified::Specified;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_core::dialect::Alias;
use toolpost_core::schema::Schema;
use toolpost_core::{Context, Dialect, Memory, Output, Policy, Registry, Spec, dynamic};

/// A registry with the dialects of the built-in tools and no tools.
fn registry() -> Registry {
    let registry = Registry::new();
    let dialects = Arc::clone(toolpost_tools::dialects());
    registry
        .change(|draft| {
            draft.set_dialects(dialects);
            Ok(())
        })
        .unwrap();
    registry
}

/// An executor over tools that answer with the arguments they got.
fn echoes(tools: &[Specified]) -> Executor {
    let registry = registry();
    for tool in tools {
        let definition = tool.definition();
        let echo =
            dynamic(
                definition.spec,
                definition.input,
                |_, args| async move { Ok(Output::new("echo", "", args)) },
            );
        registry.register(echo).unwrap();
    }
    Executor::new(Arc::new(registry), Policy::default())
}

fn session(dialect: &str) -> Context {
    let dialect = toolpost_tools::dialects().named(dialect).unwrap();
    Context::builder(Arc::new(Memory::new())).dialect(dialect).build()
}

/// A call in a session of a dialect: the canonical name, the arguments as the tool got them, and the repairs.
fn called(dialect: &str, name: &str, arguments: Value) -> (String, Value, Vec<String>) {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let executor = echoes(&specified::all());
    let outcome = threads.block_on(executor.call(&session(dialect), name, arguments));
    let repairs = outcome.metadata.repairs.iter().map(ToString::to_string).collect();
    let got = match outcome.result {
        Ok(output) => output.data,
        Err(error) => error.to_string().into(),
    };
    (outcome.tool, got, repairs)
}

fn check(dialect: &str, name: &str, arguments: Value, tool: &str, expected: Value) {
    let (found, got, _) = called(dialect, name, arguments);
    assert_eq!((found.as_str(), got), (tool, expected), "{name} in {dialect}");
}

#[test]
fn every_tool_of_the_specification_is_offered_or_refused_with_a_reason() {
    let tools = specified::all();
    for dialect in toolpost_tools::dialects().all() {
        for tool in &tools {
            let is_offered = dialect.offer(&tool.definition()).is_some();
            let is_refused = dialect.reason_against(tool.name).is_some_and(|reason| reason.len() > 10);
            assert!(is_offered != is_refused, "{}: `{}`", dialect.name(), tool.name);
        }
        let known = |name: &str| tools.iter().any(|tool| tool.name == name);
        for alias in dialect.entries() {
            assert!(known(&alias.tool), "{} knows `{}`", dialect.name(), alias.tool);
        }
        assert!(dialect.not_offered().all(|(tool, _)| known(tool)), "{}", dialect.name());
    }
}

#[test]
fn tables_speak_only_of_arguments_that_exist_and_offer_every_required_one() {
    let tools: BTreeMap<&str, Specified> =
        specified::all().into_iter().map(|tool| (tool.name, tool)).collect();
    for dialect in toolpost_tools::dialects().all() {
        for alias in dialect.entries() {
            let tool = &tools[alias.tool.as_str()];
            let place = format!("{} of {}", alias.tool, dialect.name());
            for argument in &alias.arguments {
                let path = path(argument.to.list.as_deref(), &argument.to.name);
                assert!(tool.has(&path), "{place}: {path}");
                // A spelling that is a canonical argument of the same place would be lost.
                let theirs = self::path(argument.to.list.as_deref(), &argument.from);
                // An older spelling of the same argument may count from elsewhere.
                let is_other_count = theirs == path || argument.shift != 0;
                assert!(is_other_count || !tool.has(&theirs), "{place}: {theirs} means itself");
            }
            for path in dialect.absent(&alias.tool) {
                assert!(tool.has(path), "{place}: {path}");
            }
            for ignored in &alias.ignored {
                let path = path(ignored.list.as_deref(), &ignored.name);
                assert!(!tool.has(&path), "{place}: {path} exists");
            }
            let filled = alias.filled.iter().map(|(path, _)| path).chain(&alias.numbered);
            for filled in filled {
                assert!(tool.has(&path(filled.list.as_deref(), &filled.name)), "{place}: {filled:?}");
            }
        }
    }
}

fn path(list: Option<&str>, name: &str) -> String {
    list.map_or_else(|| name.to_owned(), |list| format!("{list}[].{name}"))
}

#[test]
fn no_name_means_another_tool_of_ours() {
    let tools = specified::all();
    for dialect in toolpost_tools::dialects().all() {
        for alias in dialect.names() {
            let is_other = alias.name != alias.tool && tools.iter().any(|tool| tool.name == alias.name);
            assert!(!is_other, "{}: `{}` means `{}`", dialect.name(), alias.name, alias.tool);
        }
    }
}

#[tokio::test]
async fn arguments_go_there_and_back_in_every_dialect() {
    let tools = specified::all();
    let executor = echoes(&tools);
    let mut checked = 0;
    for dialect in toolpost_tools::dialects().all() {
        let ctx = session(dialect.name());
        for tool in &tools {
            let Some(offered) = dialect.offer(&tool.definition()) else { continue };
            let same = Arc::new(Alias::new(tool.name, tool.name));
            let alias = dialect.resolve(&offered.name).unwrap_or(&same);
            let schema = Schema::compile(offered.input.clone()).unwrap();
            let is_absent = |path: &str| {
                let is_spelled = alias.arguments.iter().any(|argument| argument.to.name == path);
                dialect.absent(tool.name).iter().any(|absent| absent == path)
                    || tool.is_hidden(path) && !is_spelled
            };
            for round in 0..4 {
                let canonical = tool.sample(round, &is_absent);
                let Some(theirs) = theirs(alias, &canonical) else { continue };
                let place = format!("{} as {}: {theirs}", tool.name, offered.name);
                assert!(schema.accepts(&theirs), "{place} {:#?}", schema.problems(&theirs));
                let outcome = executor.call(&ctx, &offered.name, theirs.clone()).await;
                assert_eq!(outcome.tool, tool.name, "{place}");
                assert_eq!(outcome.metadata.repairs, [], "{place}");
                assert_eq!(outcome.result.unwrap().data, completed(alias, canonical), "{place}");
                checked += 1;
            }
        }
    }
    assert!(checked > 700, "{checked}");
}

/// Canonical arguments as a dialect writes them; none where it has no word for a value. What is filled in is not given.
fn theirs(alias: &Alias, canonical: &Value) -> Option<Value> {
    object(alias, None, canonical)
}

fn object(alias: &Alias, list: Option<&str>, canonical: &Value) -> Option<Value> {
    let is_filled = |name: &str| {
        let mut filled = alias.filled.iter().map(|(path, _)| path).chain(&alias.numbered);
        filled.any(|path| path.list.as_deref() == list && path.name == name)
    };
    let mut map = serde_json::Map::new();
    for (name, value) in canonical.as_object()?.iter().filter(|(name, _)| !is_filled(name)) {
        let value = match (list, value) {
            (None, Value::Array(items)) if items.iter().all(Value::is_object) => {
                items.iter().map(|item| object(alias, Some(name), item)).collect::<Option<Value>>()?
            }
            (_, value) => value.clone(),
        };
        let mut spellings = alias.arguments.iter();
        let spelling =
            spellings.find(|argument| argument.to.list.as_deref() == list && argument.to.name == *name);
        let Some(spelling) = spelling else {
            map.insert(name.clone(), value);
            continue;
        };
        let is_switch = spelling.values.iter().any(|(theirs, _)| theirs.is_boolean());
        let word = spelling
            .values
            .iter()
            .find(|(theirs, ours)| *ours == value && (is_switch || theirs != "blocked"));
        let value = match (word, value.as_i64()) {
            (Some((theirs, _)), _) => theirs.clone(),
            (None, _) if is_switch => return None,
            (None, Some(number)) => json!(number - spelling.shift),
            (None, None) => value,
        };
        map.insert(spelling.from.clone(), value);
    }
    Some(Value::Object(map))
}

/// The arguments with what the table fills in, in place of what the sample had there.
fn completed(alias: &Alias, mut canonical: Value) -> Value {
    for (path, value) in &alias.filled {
        match &path.list {
            None => canonical[&path.name] = value.clone(),
            Some(list) => {
                for item in canonical[list].as_array_mut().unwrap() {
                    item[&path.name] = value.clone();
                }
            }
        }
    }
    for path in &alias.numbered {
        let items = canonical[path.list.as_ref().unwrap()].as_array_mut().unwrap();
        for (index, item) in items.iter_mut().enumerate() {
            item[&path.name] = json!((index + 1).to_string());
        }
    }
    canonical
}

#[test]
fn the_same_name_means_what_the_session_speaks() {
    let read = |offset: u64| json!({"filePath": "a", "offset": offset});
    // `offset` counts from 0 in long and in older versions of gemini, from 1 in codex.
    check("toolpost", "read_file", json!({"path": "a", "offset": 0}), "read", read(1));
    check("gemini", "read_file", json!({"path": "a", "offset": 0}), "read", read(1));
    check("gemini", "read_file", json!({"file_path": "a", "start_line": 5}), "read", read(5));
    check("codex", "read_file", json!({"file_path": "a", "offset": 5}), "read", read(5));
    check("codex", "view_image", json!({"path": "a"}), "read", json!({"filePath": "a"}));
    check("claude", "Read", json!({"file_path": "a", "offset": 5}), "read", read(5));
    // Names and spellings of other dialects are understood all the same.
    check("gemini", "Read", json!({"file_path": "a", "offset": 5}), "read", read(5));
    check("codex", "read", json!({"absolute_path": "a", "offset": 5}), "read", read(5));
    check("long", "view", json!({"path": "a"}), "read", json!({"filePath": "a"}));
    check(
        "toolpost",
        "grep",
        json!({"pattern": "x", "include_pattern": "*.rs"}),
        "grep",
        json!({"pattern": "x", "include": "*.rs"}),
    );
}

#[test]
fn values_lists_and_what_is_missing_are_translated() {
    check(
        "claude",
        "Grep",
        json!({"pattern": "x", "output_mode": "files_with_matches", "-i": true, "-A": 2, "-B": 1, "-n": true}),
        "grep",
        json!({"pattern": "x", "mode": "files", "ignoreCase": true, "after": 2, "before": 1, "lineNumbers": true}),
    );
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "x", "names_only": true, "case_sensitive": true}),
        "grep",
        json!({"pattern": "x", "mode": "files", "ignoreCase": false}),
    );
    check(
        "codex",
        "update_plan",
        json!({"explanation": "why", "plan": [{"step": "a", "status": "pending"}]}),
        "todowrite",
        json!({"todos": [{"content": "a", "status": "pending", "priority": "medium", "id": "1"}]}),
    );
    check(
        "toolpost",
        "MultiEdit",
        json!({"file_path": "a", "edits": [{"old_string": "b", "new_string": "c", "replace_all": true}]}),
        "edit",
        json!({"filePath": "a", "edits": [{"oldString": "b", "newString": "c", "replaceAll": true}]}),
    );
    check(
        "codex",
        "exec_command",
        json!({"cmd": "ls", "max_output_tokens": 10}),
        "bash",
        json!({"command": "ls", "maxOutputTokens": 10}),
    );
}

#[test]
fn two_spellings_that_disagree_are_refused() {
    let (_, got, _) = called("gemini", "write_file", json!({"file_path": "a", "path": "b", "content": ""}));
    assert!(got.as_str().unwrap().contains("`path`"), "{got}");
    let (_, got, _) = called("toolpost", "view", json!({"path": "a", "file": "b"}));
    assert!(got.as_str().is_some_and(|error| error.starts_with("VALIDATION_ERROR")), "{got}");
    check("toolpost", "view", json!({"path": "a", "file": "a"}), "read", json!({"filePath": "a"}));
}

#[test]
fn a_name_of_the_sessions_own_is_no_repair() {
    let repairs = |dialect: &str, name: &str| called(dialect, name, json!({"path": "a"})).2;
    assert_eq!(repairs("toolpost", "read_file"), ["`tool`: `read_file` → `read`"]);
    assert_eq!(repairs("claude", "read_file"), ["`tool`: `read_file` → `Read`"]);
    assert_eq!(repairs("long", "read_file"), [""; 0]);
    assert_eq!(repairs("gemini", "read_file"), [""; 0]);
    // Another name of the same dialect is understood, and it is said which one is offered.
    assert_eq!(repairs("long", "list_files"), ["`tool`: `list_files` → `list_directory`"]);
    let (_, _, repairs) =
        called("claude", "Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}));
    assert_eq!(
        repairs,
        [
            "`dangerouslyDisableSandbox`: `dangerouslyDisableSandbox` → left out, the tool has no such argument"
        ]
    );
}

#[test]
fn a_definition_is_offered_in_the_words_of_the_dialect() {
    let tools = specified::all();
    let offered = |dialect: &str, name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        toolpost_tools::dialects().named(dialect).unwrap().offer(&tool.definition())
    };
    let read = offered("long", "read").unwrap();
    assert_eq!(read.name, "read_file");
    assert_eq!(
        read.input,
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "path": {"type": "string", "description": "Counting from 1, see `path`."},
                "offset": {"type": "integer", "minimum": 0, "default": 0,
                    "description": "First line wanted, counting from 0."},
                "limit": {"type": "integer", "minimum": 0, "default": 1,
                    "description": "Counting from 1, see `path`."},
                "lineNumbers": {"type": "boolean", "default": false,
                    "description": "Counting from 1, see `path`."},
            },
            "required": ["path"],
        })
    );
    let grep = offered("gemini", "grep").unwrap().input;
    assert_eq!(grep["properties"]["names_only"]["type"], "boolean");
    assert_eq!(grep["properties"]["case_sensitive"]["default"], true);
    let grep = offered("claude", "grep").unwrap().input;
    assert_eq!(grep["properties"]["output_mode"]["enum"], json!(["content", "files_with_matches", "count"]));
    let todos = offered("claude", "todowrite").unwrap().input;
    assert_eq!(todos["properties"]["todos"]["items"]["required"], json!(["content", "status"]));
    assert!(offered("claude", "apply_patch").is_none());
}

#[test]
fn names_and_arguments_are_those_written_out() {
    let tools = specified::all();
    for line in include_str!("dialect/offered.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (dialect, name) = (words.next().unwrap(), words.next().unwrap());
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let offered = toolpost_tools::dialects().named(dialect).unwrap().offer(&tool.definition()).unwrap();
        let arguments = offered.input["properties"].as_object().unwrap().keys();
        let found: Vec<&str> =
            std::iter::once(offered.name.as_str()).chain(arguments.map(String::as_str)).collect();
        let expected: Vec<&str> = words.map(|word| word.trim_matches(['(', ')'])).collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_tool_that_no_table_knows_is_offered_and_called_as_it_is() {
    let registry = registry();
    for name in ["read", "Read", "weather"] {
        let echo = dynamic(
            Spec::new(name, "1.0.0", "Does something."),
            json!({"type": "object"}),
            |_, args| async { Ok(Output::new("echo", "", args)) },
        );
        registry.register(echo).unwrap();
    }
    let snapshot = registry.snapshot();
    let claude = toolpost_tools::dialects().named("claude").unwrap();
    let offered: Vec<String> =
        snapshot.all().map(|entry| snapshot.offer(entry, &claude).unwrap().unwrap().spec.name).collect();
    // `Read` is somebody else's here, so ours keeps its own name.
    assert_eq!(offered, ["read", "Read", "weather"]);
    for name in offered {
        assert_eq!(snapshot.find(&name, &claude).unwrap().entry.name(), name);
    }
}

#[test]
fn aliases_of_a_registry_come_before_other_dialects() {
    let registry = registry();
    for name in ["read", "glob"] {
        let echo = dynamic(
            Spec::new(name, "1.0.0", "Does something."),
            json!({"type": "object"}),
            |_, args| async { Ok(Output::new("echo", "", args)) },
        );
        registry.register(echo).unwrap();
    }
    registry.add_alias(Alias::new("view", "glob")).unwrap();
    let snapshot = registry.snapshot();
    let found = snapshot.find("view", &Dialect::canonical()).unwrap();
    // A mere name that was added is the tool's own; one of another dialect is not.
    assert_eq!((found.entry.name(), found.is_own), ("glob", true));
    assert!(!snapshot.find("read_file", &Dialect::canonical()).unwrap().is_own);
    // A name whose tool is not there is not active.
    let error = snapshot.find("Bash", &Dialect::canonical()).err().unwrap();
    assert!(error.message().starts_with("no tool `Bash`"), "{error}");
    let error = snapshot.find("Raed", &toolpost_tools::dialects().named("claude").unwrap()).err().unwrap();
    assert_eq!(error.message(), "no tool `Raed`; nearest: `Read`");
    let error = snapshot.find("read_fiel", &Dialect::canonical()).err().unwrap();
    assert!(error.message().contains("nearest: `read`"), "{error}");
}

#[test]
fn an_unknown_dialect_is_told_the_nearest() {
    assert_eq!(
        toolpost_tools::dialects().named("gemeni").unwrap_err(),
        "no dialect `gemeni`; nearest: `gemini`"
    );
    assert_eq!(
        toolpost_tools::dialects().named("zzz").unwrap_err(),
        "no dialect `zzz`; there are toolpost, long, claude, gemini, codex"
    );
}
