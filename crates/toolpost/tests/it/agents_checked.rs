//! What is said of agent files before and while they are used: names, places, instructions, rights.

use crate::Home;

/// The problems of a file: status of the check, and each message without the file.
fn check(head: &str, status: i32, expected: &[&str]) {
    let home = Home::new();
    home.write("repo/a.md", format!("---\ndescription: d\n{head}\n---\nx\n"));
    let (found, json) = home.json(&["agents", "check", "a.md"]);
    let problems = json["files"][0]["problems"].as_array().unwrap().iter();
    let shown: Vec<String> = problems
        .map(|one| format!("{}:{}: {}", one["line"], one["column"], one["message"].as_str().unwrap()))
        .collect();
    assert_eq!((found, shown), (status, expected.iter().map(|text| (*text).to_owned()).collect()), "{head}");
}

#[test]
fn scripts_are_checked_with_the_tools_there_are() {
    let unknown = "`read` has no argument `filPath`; did you mean `filePath`?";
    check("script:\n  - say: a\n  - call: read\n    args: { filPath: x }", 1, &[&format!("5:5: {unknown}")]);
    check(
        "script:\n  - parallel:\n      - { call: read, args: { filPath: x }, optional: true }",
        0,
        &[&format!("5:11: {unknown}")],
    );
    // Other spellings and references.
    check("script:\n  - call: Read\n    args: { file_path: '{{task}}', limit: '{{task}}' }", 0, &[]);
    check("script:\n  - call: read\n    args: { filepath: x }", 0, &[]);
    check(
        "script:\n  - say: a\n  - call: raed\n    args: { filePath: x }",
        1,
        &["5:5: there is no tool `raed`; did you mean `read`?"],
    );
    check(
        "script:\n  - parallel:\n      - call: read\n        args: { filePath: x }\n      - call: raed",
        1,
        &["7:9: there is no tool `raed`; did you mean `read`?"],
    );
    check(
        "tools: [list]\nscript:\n  - call: write",
        1,
        &["5:5: the script calls `write`, which the agent does not have; add it to `tools`"],
    );
    check(
        "script:\n  - call: raed\n    optional: true",
        0,
        &["4:5: there is no tool `raed`; did you mean `read`?"],
    );
    check(
        "script:\n  - call: read\n    args:\n      filePath: \"{{nobody.output}}\"",
        1,
        &["6:7: `{{nobody.output}}`: no step before this one saves `nobody`; there are task"],
    );
    check(
        "script:\n  - say: a\n  - cal: read",
        1,
        &["5:5: a step has exactly one of `call`, `parallel` and `say`"],
    );
    check("script:\n  - call: read_file\n  - call: Bash\n  - call: mcp__later__tool", 0, &[]);
    // A second word in one step is not dropped.
    check("script:\n  - say: a\n    say: b", 1, &["5:5: the key `say` is there twice; keep one"]);
    check(
        "script:\n  - call: read\n    args: { filePath: x }\n    say: b",
        1,
        &["4:5: a step has exactly one of `call`, `parallel` and `say`"],
    );
}

#[test]
fn a_tool_that_the_files_own_policy_denies_is_told() {
    let message =
        "3:15: the agent never gets `write`: its own policy denies it; allow it there, or leave the tool out";
    check("tools: [read, write]\npolicy: { deny: [write] }", 0, &[message]);
    check("tools: [read, write]\npolicy: { deny: [network] }", 0, &[]);
}

#[test]
fn models_and_agents_that_are_not_there_are_told() {
    let vendor = "there is no vendor `anthropc`; did you mean `anthropic`? then write `anthropic/sonnet`";
    let at = |place: &str| format!("{place}: {vendor}");
    check("model: anthropc/sonnet", 1, &[&at("3:8")]);
    // A run goes by its script.
    check("model: anthropc/sonnet\nscript:\n  - say: a", 0, &[&at("3:8")]);
    check("model: anthropic/sonnet", 0, &[]);
    check("model: gemini-2.0-flash-lite", 0, &[]);
    let of_tool =
        |model: &str| format!("tools:\n  - name: own\n    description: d\n    prompt: p\n    model: {model}");
    check(&of_tool("gemini-2.0-flash-lite"), 0, &[]);
    check(&of_tool("inherit"), 0, &[]);
    check(&of_tool("anthropc/sonnet"), 1, &[&at("7:12")]);
    check(
        &of_tool("deepseek-r1-distill-llama-70b"),
        1,
        &["7:12: `deepseek-r1-distill-llama-70b` may be a model of several vendors; write \
           `deepseek/deepseek-r1-distill-llama-70b` or `groq/deepseek-r1-distill-llama-70b`"],
    );
    check(
        "agents: [ghost]",
        0,
        &["3:10: there is no agent `ghost` that may be used; `toolpost agents` lists the agents there are"],
    );
    let missing =
        "3:10: the agent file `./nope.md` does not exist; `toolpost agents` lists the agents there are";
    check("agents: [./nope.md]", 1, &[missing]);
}

#[test]
fn every_step_of_a_script_that_is_wrong_is_told() {
    check(
        "script:\n  - cal: read\n  - say: \"{{nobody.output}}\"",
        1,
        &[
            "4:5: a step has exactly one of `call`, `parallel` and `say`",
            "5:5: `{{nobody.output}}`: no step before this one saves `nobody`; there are task",
        ],
    );
    let parts = "`output`, `data`, `lines`, `count`, `error`";
    check(
        "script:\n  - { call: list, sav: a }\n  - { call: list, save: b }\n  - say: \"{{b.outptu}}\"",
        1,
        &[
            "4:19: a step has no key `sav`; did you mean `save`?",
            &format!(
                "6:5: `{{{{b.outptu}}}}`: a result has {parts}, but no `outptu`; did you mean `output`?"
            ),
        ],
    );
}

#[test]
fn a_file_that_is_too_long_is_not_called_missing() {
    let home = Home::new();
    home.write("repo/long.md", "x".repeat(20 << 20));
    let (status, json) = home.json(&["agents", "check", "long.md"]);
    let message = json["error"]["message"].as_str().unwrap_or_default();
    assert_eq!((status, json["error"]["code"].as_str()), (2, Some("VALIDATION_ERROR")), "{json}");
    assert!(message.starts_with("the agent file `long.md` has 20971520 bytes"), "{message}");
}

#[test]
fn a_script_that_cannot_end_well_does_not_begin() {
    let home = Home::new();
    let script = "script:\n  - call: write\n    args: { filePath: made.txt, content: x }\n  - call: raed";
    home.write("repo/a.md", format!("---\ndescription: d\n{script}\n---\nx\n"));
    let ran = home.run(&["run", "a.md"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("a.md:6:5: there is no tool `raed`"),
        "{} {}",
        ran.status,
        ran.stderr
    );
    assert!(!home.path("repo/made.txt").exists());
}

#[test]
fn taking_away_what_is_not_there_is_reported() {
    let message = "3:19: there is no tool `Writ`, so this removes nothing; did you mean `write`?";
    check("disallowedTools: [Writ]", 1, &[message]);
    check("disallowedTools: [Write, 'mcp__a__*', mcp__a__b]", 0, &[]);
    let message = "3:14: `!write` takes no tool away here; write `disallowedTools: [write]`";
    check("tools: ['*', '!write']", 1, &[message]);
    // Files of other hosts name tools of theirs; what is nearly one of ours is refused, as by a run.
    for (name, status) in [("Wirte", 1), ("MagicTool", 0), ("Write", 0)] {
        let home = Home::new();
        let text = format!("---\nname: a\ndescription: d\ndisallowedTools: {name}\n---\nx\n");
        home.write("repo/.claude/agents/a.md", text);
        let ran = home.run(&["agents", "check", ".claude/agents/a.md"]);
        assert_eq!(ran.status, status, "{name}: {}{}", ran.stdout, ran.stderr);
    }
    let message = "3:1: `bsh` is neither a tool nor a capability, so the rule `bsh: rm *` does nothing; did you mean `bash`";
    check("policy: { rules: [{ deny: 'bsh: rm *' }] }", 1, &[message]);
    check("policy: { rules: [{ ask: 'bsh: rm *' }] }", 1, &[message]);
    check("policy: { rules: [{ allow: 'bsh: rm *' }] }", 0, &[message]);
    check(
        "policy: { rules: [{ deny: 'Bash: rm *' }, { deny: 'mcp__a__b: *' }, { deny: 'spawn_agent: *' }] }",
        0,
        &[],
    );
    let home = Home::new();
    let script = "policy: { rules: [{ deny: 'bsh: rm *' }] }\nscript:\n  - say: hello";
    home.write("repo/a.md", format!("---\ndescription: d\n{script}\n---\nx\n"));
    let ran = home.run(&["run", "a.md"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("a.md:3:1: `bsh` is neither a tool"),
        "{} {}",
        ran.status,
        ran.stderr
    );
    let home = Home::new();
    let script = "disallowedTools: [Writ]\nscript:\n  - say: hello";
    home.write("repo/a.md", format!("---\ndescription: d\n{script}\n---\nx\n"));
    let ran = home.run(&["run", "a.md", "--output", "stream-json"]);
    assert!(
        ran.status == 2 && ran.stdout.contains("there is no tool `Writ`"),
        "{} {}",
        ran.status,
        ran.stdout
    );
}

#[test]
fn an_agent_of_claude_code_that_may_not_edit_changes_nothing() {
    for taken in ["Edit", "Write, MultiEdit", "NotebookEdit"] {
        for call in ["delete\n    args: { filePath: kept.txt }", "apply_patch\n    args: { patch: x }"] {
            let home = Home::new();
            home.write("repo/kept.txt", "x");
            let script = format!("disallowedTools: {taken}\nscript:\n  - call: {call}");
            home.write(
                "repo/.claude/agents/a.md",
                format!("---\nname: a\ndescription: d\n{script}\n---\nx\n"),
            );
            let ran = home.run(&["run", ".claude/agents/a.md"]);
            assert!(ran.status != 0 && !ran.stderr.contains("NO_MATCH"), "{taken} {call}: {}", ran.stderr);
            assert!(home.path("repo/kept.txt").exists(), "{taken} {call}");
        }
    }
}

#[test]
fn a_key_for_tools_without_any_is_no_key_for_all() {
    check(
        "tools:",
        1,
        &["3:6: `tools` is empty; write names, `[]` for no tool, or leave the key out for all tools"],
    );
}

#[test]
fn instructions_that_are_not_there_are_reported() {
    let notes = |instructions: &str, files: &[&str]| {
        let home = Home::new();
        files.iter().for_each(|file| home.write(&format!("repo/{file}"), "Be kind.\n"));
        let script = "script:\n  - say: hello";
        home.write("repo/a.md", format!("---\ndescription: d\n{instructions}\n{script}\n---\nx\n"));
        let ran = home.run(&["run", "a.md", "--output", "stream-json"]);
        ran.stdout.lines().next().unwrap().to_owned()
    };
    let missing = "a.md:3:15: there is no `RULES.md` in the workspace";
    assert!(notes("instructions: [RULES.md]", &["AGENTS.md"]).contains(missing));
    assert!(
        notes("instructions: true", &[]).contains("there is no `AGENTS.md` or `CLAUDE.md` or `GEMINI.md`")
    );
    let found = notes("instructions: [RULES.md]", &["RULES.md"]);
    assert!(found.contains("instructions from `RULES.md`") && !found.contains("there is no"), "{found}");
    assert!(!notes("instructions: false", &[]).contains("there is no"));
}

#[test]
fn of_two_agents_with_one_name_it_is_said_which_is_used() {
    let home = Home::new();
    let agent = |text: &str| format!("---\nname: twin\ndescription: d\nscript:\n  - say: {text}\n---\nx\n");
    home.write(".config/toolpost/agents/twin.md", agent("mine"));
    home.write(".config/toolpost/agents/other.md", agent("other"));
    home.write("repo/.toolpost/agents/twin.md", agent("theirs"));
    let (_, json) = home.json(&["agents"]);
    let agents = json["agents"].as_array().unwrap();
    let hidden = agents.iter().filter(|agent| agent["hiddenBy"].is_string()).count();
    let usable = agents.iter().filter(|agent| agent["usable"] == true).count();
    assert_eq!((agents.len(), hidden, usable), (3, 2, 1), "{json}");
    let listed = home.run(&["agents"]).stdout;
    assert!(listed.contains("has the same name; run this one by its path"), "{listed}");
    let checked = home.run(&["agents", "check"]).stdout;
    assert!(checked.contains("which is used; rename one of them"), "{checked}");
    let ran = home.run(&["run", "twin"]);
    assert!(ran.stderr.contains("of the same name; name the path"), "{}", ran.stderr);
    // Another file is used once the first is trusted.
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert_eq!(home.run(&["run", "twin"]).stdout, "theirs\n");
}

#[test]
fn what_the_agents_own_policy_denies_is_not_said_to_be_had_by_a_flag() {
    let home = Home::new();
    let denied = |head: &str, call: &str| {
        let script = format!("script:\n  - call: {call}\n  - say: done");
        home.write("repo/a.md", format!("---\ndescription: d\n{head}\n{script}\n---\nx\n"));
        let ran = home.run(&["run", "a.md", "--allow", "exec"]);
        assert_eq!(ran.status, 3, "{head}: {}", ran.stderr);
        ran.stderr
    };
    for (head, call) in [
        ("policy: read-only", "write\n    args: { filePath: a.txt, content: x }"),
        ("policy: standard", "bash\n    args: { command: ls }"),
        ("policy: { deny: [exec] }", "bash\n    args: { command: ls }"),
        ("tools: ['Bash(git *)']", "bash\n    args: { command: ls }"),
        ("toolPacks: [shell]\npolicy: read-only", "bash\n    args: { command: ls }"),
    ] {
        let stderr = denied(head, call);
        assert!(
            !stderr.contains("--allow") && stderr.contains("a.md") || stderr.contains("that file"),
            "{head}: {stderr}"
        );
        assert!(!stderr.contains("--allow "), "{head}: {stderr}");
    }
}

#[test]
fn a_gap_that_no_parameter_fills_is_told() {
    let tool = |parameters: &str, prompt: &str| {
        format!(
            "tools:\n  - name: t\n    description: d\n    parameters: {parameters}\n    prompt: \"{prompt}\""
        )
    };
    let is = "names no parameter, so that it stays as it is in the prompt;";
    check(
        &tool("{ text: { type: string } }", "Sum up {{txt}}: {{text}}"),
        0,
        &[&format!("7:13: `{{{{txt}}}}` {is} did you mean `{{{{text}}}}`?")],
    );
    check(
        &tool("{ a: {}, b: {} }", "{{zzz}} {{zzz}} {{#if a}} {{ a }}"),
        0,
        &[&format!("7:13: `{{{{zzz}}}}` {is} the parameters are a, b")],
    );
    check(
        &tool("{}", "{{x}}"),
        0,
        &[&format!("7:13: `{{{{x}}}}` {is} the tool has no parameters; add `x` under `parameters`")],
    );
}

#[test]
fn parameters_may_be_arrays_and_integers() {
    let home = Home::new();
    let head = "tools:\n  - name: pick\n    description: d\n    parameters:\n      count: { type: integer, required: true }\n      names: { type: array, items: string, required: true }\n      any: { type: array }\n    prompt: \"{{count}} {{names}} {{any}}\"\n    script: \"{{count}} of {{names}}\"\nscript:\n  - { call: pick, args: { count: 2, names: [a, b, c], any: [1, x] }, save: good }\n  - { call: pick, args: { count: 1.5, names: [a] }, save: bad, optional: true }\n  - say: \"{{good.output}}|{{bad.error}}\"";
    home.write("repo/a.md", format!("---\nname: a\ndescription: d\n{head}\n---\nx\n"));
    let (status, json) = home.json(&["agents", "check", "a.md"]);
    assert_eq!((status, json["files"][0]["problems"].as_array().unwrap().len()), (0, 0), "{json}");
    let ran = home.run(&["run", "a.md"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (good, bad) = ran.stdout.split_once('|').unwrap();
    assert_eq!(good, "2 of [\"a\",\"b\",\"c\"]", "{}", ran.stdout);
    assert!(bad.contains("count") && bad.contains("integer"), "{bad}");
    check(
        "tools:\n  - name: t\n    description: d\n    parameters: { a: { type: strng } }\n    prompt: \"{{a}}\"",
        1,
        &[
            "6:30: `strng` is no tools[0].parameters.a.type; did you mean `string`? there are string, number, integer, boolean, object, array",
            "7:13: `{{a}}` names no parameter, so that it stays as it is in the prompt; the tool has no parameters; add `a` under `parameters`",
        ],
    );
}

#[test]
fn of_several_files_one_that_cannot_be_read_does_not_hide_the_others() {
    let home = Home::new();
    for name in ["one.md", "two.md"] {
        home.write(&format!("repo/{name}"), "x".repeat((1 << 20) + 1));
    }
    home.write("repo/good.md", "---\ndescription: d\n---\nx\n");
    home.write("repo/.toolpost/agents/large.md", "x".repeat((1 << 20) + 1));
    home.write("repo/.toolpost/agents/larger.md", "x".repeat(2 << 20));
    let (status, json) = home.json(&["agents", "check", "one.md", "good.md", "two.md"]);
    let sound: Vec<bool> =
        json["files"].as_array().unwrap().iter().map(|file| file["sound"] == true).collect();
    assert_eq!((status, sound), (1, vec![false, true, false]), "{json}");
    assert!(
        json["files"][2]["problems"][0]["message"].as_str().unwrap().contains("has 1048577 bytes"),
        "{json}"
    );
    let (status, json) = home.json(&["agents", "check"]);
    assert_eq!((status, json["files"].as_array().unwrap().len()), (1, 2), "{json}");
}
