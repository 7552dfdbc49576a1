//! Agents that are started from outside of every run, by `toolpost call`: by whom, with which rights and limits, and how they go on.

use crate::Home;
use crate::brain::{Said, serve};
use serde_json::{Value, json};

/// What the model of these tests says: what it was asked so far, or a call that it was asked for (`call TOOL ARGS`) and then what came of it.
fn think(request: &Value) -> Said {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let messages = request["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    if last["role"] == "tool" {
        return Said::text(&format!("came: {}", text(last)));
    }
    let words = text(last);
    if let Some((tool, arguments)) = words.strip_prefix("call ").and_then(|call| call.split_once(' ')) {
        let tool: &'static str = tool.to_owned().leak();
        return Said::calls("", vec![(tool, serde_json::from_str(arguments).unwrap())]);
    }
    let asked = messages.iter().filter(|message| message["role"] == "user").map(text);
    Said::text(&asked.collect::<Vec<_>>().join("|"))
}

/// A home with a model, and these agents of the user's, each with the lines of its head.
pub(crate) fn home(agents: &[(&str, &str)]) -> Home {
    let home = Home::new();
    let (url, _) = serve(think);
    let row = format!(
        "[[vendor]]\nname = \"lab\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\nmodel = \"m\"\n"
    );
    home.write(".config/toolpost/config.toml", format!("model = \"lab\"\n{row}dialect = \"toolpost\"\n"));
    for (name, head) in agents {
        let file = format!("---\nname: {name}\ndescription: About {name}.\n{head}\n---\nDo it.\n");
        home.write(&format!(".config/toolpost/agents/{name}.md"), file);
    }
    home
}

/// A call of `task`, with these flags.
fn task(home: &Home, arguments: Value, flags: &[&str]) -> (i32, Value) {
    let mut all = json!({"description": "a part of the work"});
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    home.json(&[&["call", "task", &all.to_string()], flags].concat())
}

/// The answer of an agent, without its id.
fn said(outcome: &Value) -> &str {
    let output = outcome["output"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    output.split("\n\nsession_id: ").next().unwrap()
}

#[test]
fn a_call_starts_an_agent_and_later_ones_go_on_with_it() {
    let home = home(&[("helper", "tools: []")]);
    let (status, first) = task(&home, json!({"subagent_type": "helper", "prompt": "one"}), &[]);
    assert_eq!((status, said(&first)), (0, "one"), "{first}");
    let id = first["data"]["session_id"].as_str().unwrap();
    assert!(first["output"].as_str().unwrap().ends_with(&format!("session_id: {id}")), "{first}");
    // Each is a process of its own; the last one has a session of another name.
    for (prompt, expected, flags) in
        [("two", "one|two", &[][..]), ("three", "one|two|three", &["--session", "elsewhere"])]
    {
        let more = json!({"subagent_type": "helper", "prompt": prompt, "session_id": id});
        let (status, next) = task(&home, more, flags);
        assert_eq!((status, said(&next), &next["data"]["session_id"]), (0, expected, &json!(id)), "{next}");
    }
    let (_, spawned) = home.json(&["call", "spawn_agent", "{\"agentType\":\"helper\",\"prompt\":\"x\"}"]);
    assert_eq!(spawned["output"], "x", "{spawned}");
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let wanted = json!({"agentType": "helper", "prompt": "{\"n\": 3}", "resultSchema": schema});
    let (status, data) = home.json(&["call", "spawn_agent", &wanted.to_string()]);
    assert_eq!((status, &data["data"]["result"]), (0, &json!({"n": 3})), "{data}");
}

#[test]
fn what_cannot_be_started_or_continued_is_refused_with_a_reason() {
    let home = home(&[("helper", "tools: []"), ("other", "tools: []")]);
    let (_, first) = task(&home, json!({"subagent_type": "helper", "prompt": "one"}), &[]);
    let id = first["data"]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["run", "helper", "hi", "--session", "mine"]).status, 0);
    let run = crate::tree::events(&home).into_iter().rev().find(|event| event["session"] == "mine").unwrap();
    let of_run = format!("mine/{}", run["activation"].as_str().unwrap());
    let (session, run) = id.rsplit_once('/').unwrap();
    for (agent, wanted, words) in [
        ("helpr", None, "did you mean `helper`"),
        ("other", Some(id.as_str()), "is one of the agent `helper`"),
        ("helper", Some("nowhere/nothing"), "no task with the session_id"),
        ("helper", Some(&format!("{session}/{}", &run[4..])), "no task with the session_id"),
        // That one was started by a person.
        ("helper", Some(&of_run), "no task with the session_id"),
    ] {
        let (status, refused) = task(
            &home,
            json!({"subagent_type": agent, "prompt": "x", "session_id": wanted.unwrap_or_default()}),
            &[],
        );
        assert_ne!(status, 0, "{agent} {wanted:?}: {refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{agent} {wanted:?}: {message}");
    }
    let (_, refused) =
        home.json(&["call", "spawn_agent", "{\"agentType\":\"helper\",\"prompt\":\"x\",\"wait\":false}"]);
    assert!(refused["error"]["message"].as_str().unwrap().contains("leave `wait` out"), "{refused}");
    home.write(".config/toolpost/agents/helper.md", "---\nname: helper\ndescription: d\n---\nChanged.\n");
    let (_, changed) = task(&home, json!({"subagent_type": "helper", "prompt": "x", "session_id": id}), &[]);
    assert!(changed["error"]["message"].as_str().unwrap().contains("has changed"), "{changed}");
}

#[test]
fn an_agent_has_the_rights_of_the_call_at_most() {
    let write = "call write {\"filePath\":\"made.txt\",\"content\":\"x\"}";
    for (head, flags, is_made) in [
        ("tools: [write]", &[][..], true),
        ("tools: [write]", &["--policy", "read-only"], false),
        ("tools: [write]\npolicy: privileged", &["--policy", "read-only"], false),
        ("tools: [write]\npolicy: read-only", &[], false),
        ("tools: [write]", &["--deny", "write"], false),
        ("tools: [read]", &[], false),
    ] {
        let home = home(&[("helper", head)]);
        let (status, outcome) = task(&home, json!({"subagent_type": "helper", "prompt": write}), flags);
        // The model hears of the denial.
        assert_eq!(status, 0, "{head} {flags:?}: {outcome}");
        assert_eq!(home.path("repo/made.txt").exists(), is_made, "{head} {flags:?}: {outcome}");
    }
}

#[test]
fn the_limits_of_its_file_hold_for_an_agent_and_all_below_it() {
    let deep = "tools: [spawn_agent]\nagents: [deep]\nlimits: { depth: 0 }";
    let home = home(&[("short", "tools: [list]\nlimits: { turns: 1 }"), ("deep", deep)]);
    let (status, outcome) = task(&home, json!({"subagent_type": "short", "prompt": "call list {}"}), &[]);
    assert_eq!((status, &outcome["error"]["code"]), (1, &json!("BUDGET_EXCEEDED")), "{outcome}");
    let prompt = "call spawn_agent {\"agentType\":\"deep\",\"prompt\":\"x\"}";
    let (_, outcome) = task(&home, json!({"subagent_type": "deep", "prompt": prompt}), &[]);
    assert!(said(&outcome).contains("0 levels below the first agent"), "{outcome}");
}

/// Whether `task` is a tool of a session, and what a call of it is told where it is not.
fn is_offered(home: &Home, environment: &[(&str, &str)]) -> (bool, String) {
    let with = |args: &[&str]| {
        crate::Ran::of(home.command(args).envs(environment.iter().copied()).output().unwrap())
    };
    let (_, listed) = with(&["tools", "--json"]).json();
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names.contains(&"task"), names.contains(&"spawn_agent"), "{names:?}");
    assert!(!names.contains(&"signal_parent"), "{names:?}");
    let called =
        with(&["call", "task", "{\"subagent_type\":\"helper\",\"prompt\":\"x\",\"description\":\"d\"}"]);
    (names.contains(&"task"), called.stderr)
}

#[test]
fn tools_that_start_agents_are_there_where_agents_and_a_model_are() {
    let file = |head: &str| format!("---\nname: helper\ndescription: d\n{head}\n---\nx\n");
    let scripted = file("script: [ { say: hi } ]");
    let row = "[[vendor]]\nname = \"lab\"\nformat = \"openai-chat\"\nbase-url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
    let (user, here) = (".config/toolpost/agents/helper.md", "repo/.toolpost/agents/helper.md");
    for (path, head, config, environment, expected) in [
        (None, String::new(), "", &[][..], Err("there is no agent file")),
        (Some(here), scripted.clone(), "", &[], Err("toolpost trust")),
        (Some(user), file("model: gpt-5.5"), "", &[], Err("no agent file has a model")),
        (Some(user), file(""), "", &[], Err("no agent file has a model")),
        (
            Some(user),
            file("model: no-such-model"),
            "model = \"lab\"\n",
            &[],
            Err("no agent file has a model"),
        ),
        (Some(user), scripted.clone(), "", &[("TOOLPOST_UPSTREAM", "1")], Err("one of another toolpost")),
        (Some(user), scripted, "", &[], Ok(())),
        (Some(user), file("model: gpt-5.5"), "", &[("OPENAI_API_KEY", "k")], Ok(())),
        (Some(user), file(""), "", &[("GEMINI_API_KEY", "k")], Ok(())),
        (Some(user), file(""), "model = \"lab\"\n", &[], Ok(())),
        (Some(user), file("model: lab/other"), "", &[], Ok(())),
    ] {
        let home = Home::new();
        if let Some(path) = path {
            home.write(path, &head);
        }
        home.write(".config/toolpost/config.toml", format!("{config}{row}"));
        let (is_there, told) = is_offered(&home, environment);
        let place = format!("{path:?} {head} {config} {environment:?}: {told}");
        match expected {
            Ok(()) => assert!(is_there, "{place}"),
            Err(why) => {
                assert!(!is_there && told.contains("TOOL_NOT_FOUND") && told.contains(why), "{place}")
            }
        }
    }
}
