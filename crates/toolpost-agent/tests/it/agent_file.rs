//! Agent files: what is read of them, and what is said of what is wrong.

use std::fmt::Write;
use std::time::{Duration, Instant};
use toolpost_agent::agent_file::{AgentFile, Format, Severity, read};
use toolpost_core::policy::{Effect, Policy, Request};
use toolpost_core::{Access, Capability};

/// The problems of a head, and whether the agent loads.
fn check(head: &str, loads: bool, problems: &[&str]) {
    let loaded = read("a.md", format!("---\n{head}\n---\nDo it.\n").as_bytes());
    let shown: Vec<String> = loaded
        .problems
        .iter()
        .filter(|problem| problem.field.as_deref() != Some("description"))
        .map(|problem| problem.to_string().trim_start_matches("a.md:").to_owned())
        .collect();
    let short: Vec<&str> = shown.iter().map(|text| text.split(';').next().unwrap_or(text)).collect();
    assert_eq!((loaded.agent.is_some(), short), (loads, problems.to_vec()), "{head}\n{shown:#?}");
}

fn agent(file: &str, text: &str) -> AgentFile {
    let loaded = read(file, text.as_bytes());
    loaded.agent.unwrap_or_else(|| panic!("{file}: {:?}", loaded.problems))
}

#[test]
fn every_key_is_read() {
    let agent = agent(
        "x/reviewer.md",
        "---\nname: critic\ndescription: Reviews changes.\nmodel: anthropic/claude-sonnet-4-5\ntoolPacks: [filesystem, search]\n\
         tools:\n  - Bash\n  - name: summarize\n    description: Summarizes.\n    parameters:\n      text: { type: string, required: true }\n    prompt: \"Sum: {{text}}\"\n\
         policy:\n  profile: standard\n  ask: [network]\n  rules:\n    - deny: \"write: /migrations\"\n\
         limits: { depth: 2, fan_out: 4, turns: 20, tokens: 200k, cost: 0.50, time: 10m }\nrole: worker\ndialect: claude\n\
         instructions: true\ntemperature: 0.2\nthinking: low\nscript:\n  - answer: hello\n---\n\nBe strict.\n",
    );
    assert_eq!((agent.name.as_str(), agent.instruction.as_str()), ("critic", "Be strict."));
    assert_eq!(agent.models, ["anthropic/claude-sonnet-4-5"]);
    assert_eq!(agent.tools.as_ref().map(|tools| tools[0].name.as_str()), Some("Bash"));
    assert_eq!(agent.prompt_tools[0].name, "summarize");
    assert!(agent.prompt_tools[0].parameters[0].is_required);
    let limits = &agent.limits;
    assert_eq!((limits.depth, limits.fan_out, limits.turns), (Some(2), Some(4), Some(20)));
    assert_eq!((limits.tokens, limits.cost, limits.time_ms), (Some(200_000), Some(0.5), Some(600_000)));
    assert_eq!(agent.instruction_files, ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]);
    assert_eq!(agent.script.map(|script| script.at.line), Some(25));
}

#[test]
fn mistakes_have_a_line_and_cost_what_they_must() {
    check("limits: { turns: 0 }", false, &["2:18: `limits.turns` is 0"]);
    check(
        "name: \"a\\e[31mb\"",
        false,
        &[
            "2:7: `name` must have 1 to 64 characters, none of them `/`, `\\`, `:` or a control character, such as `name: reviewer`",
        ],
    );
    check("limits: { beyondFanOut: never }", false, &["2:25: `limits.beyondFanOut` is `never`"]);
    check("limits: { fanOut: 2, beyondFanOut: refuse }", true, &[]);
    check("limits: 3", false, &["2:9: `limits` is a number"]);
    // What narrows is never dropped: the agent would have more than its author wants.
    check("limits: { turn: 3 }", false, &["2:11: `turn` means nothing in `limits`"]);
    check("policy: { profil: read-only }", false, &["2:11: `profil` means nothing in `policy`"]);
    check("policy: { denny: [exec] }", false, &["2:11: `denny` means nothing in `policy`"]);
    check(
        "policy: { rules: [{ effect: deny, action: bash, resorce: 'rm *' }] }",
        false,
        &["2:49: `resorce` means nothing in a rule"],
    );
    check("polcy: read-only", false, &["2:1: `polcy` means nothing in an agent file"]);
    check("disalowedTools: [Bash]", false, &["2:1: `disalowedTools` means nothing in an agent file"]);
    check("maxTurn: 3", false, &["2:1: `maxTurn` means nothing in an agent file"]);
    check("limits: { time: 30 }", false, &["2:17: `limits.time` is 30"]);
    check("role: boss", false, &["2:7: `boss` is no role"]);
    check("modle: x", false, &["2:1: `modle` means nothing in an agent file"]);
    check("deny: [exec]", false, &["2:1: `deny` means nothing in an agent file"]);
    check("mode: subagnt", false, &["2:7: `subagnt` is no mode"]);
    check("permissionMode: pln", false, &["2:17: `pln` is no permissionMode"]);
    check("sandbox_mode: readonly", false, &["2:15: `readonly` is no sandbox_mode"]);
    check("hidden: yes", false, &["2:9: `hidden` is a text"]);
    check("agents:", false, &["2:7: `agents` is empty"]);
    check("disallowedTools:", false, &["2:16: `disallowedTools` is empty"]);
    check("maxTurns: 3\nmax_turns: 9", false, &["3:1: `max_turns` says the same as `maxTurns` in line 2"]);
    check(
        "tools: [read]\nallowed-tools: [bash]",
        false,
        &["3:1: `allowed-tools` says the same as `tools` in line 2"],
    );
    check("limits: { fanOut: 3, fan_out: 9 }", false, &["2:22: `fan_out` stands twice in `limits`"]);
    check(
        "policy: { deny: [exec], allow: [exec] }",
        false,
        &["2:25: `exec` stands in `deny` and in `allow`"],
    );
    check(
        "policy: { rules: [{ allow: 'bash: ls', deny: 'bash: *' }] }",
        false,
        &["2:19: a rule says one thing"],
    );
    check(
        "tools: [{ name: a, description: d, prompt: p, result_scema: {} }]",
        false,
        &["2:47: `result_scema` means nothing in the definition of a tool"],
    );
    check("policy: wide", false, &["2:9: `wide` is no policy"]);
    check(
        "policy: { rules: [{ deny: 3 }] }",
        false,
        &[
            "2:19: a rule is written `deny: \"bash: git push *\"`, or with `effect`, `action` and `resource`",
            "2:27: `policy.rules[0].deny` is a number",
        ],
    );
    check("disable: yes", false, &["2:10: `disable` is a text"]);
    check(
        "name: a/b",
        false,
        &[
            "2:7: `name` must have 1 to 64 characters, none of them `/`, `\\`, `:` or a control character, such as `name: reviewer`",
        ],
    );
    check("- a\n- b", false, &["2:1: the head is a list"]);
    check("name: a\nname: b", false, &["3:1: the key `name` is there twice"]);
    check("tools: { read: { a: 1, a: 2 } }", false, &["2:24: the key `a` is there twice"]);
    check("name: [", false, &["2:7: invalid YAML: unclosed bracket '['"]);
    check(
        "name: !!python/object x",
        false,
        &["2:23: the tag `tag:yaml.org,2002:python/object` is not read here"],
    );
    check("hooks: {}", true, &["2:1: `hooks` has no effect here"]);
    check("temperature: hot", false, &["2:14: `temperature` is a text"]);
    check("tools: [\"Bash(git *\"]", true, &["2:9: `Bash(git *` lacks its closing `)`"]);
    check(
        "disallowedTools: ['Frobnicate(x *)']",
        true,
        &["2:19: `Frobnicate(x *)`: the condition is not understood, so that the whole tool is taken away"],
    );
    check(
        "disallowedTools: ['Bash(rm *']",
        true,
        &["2:19: `Bash(rm *`: the condition is not understood, so that the whole tool is taken away"],
    );
    check("", true, &[]);
}

#[test]
fn what_is_taken_away_with_a_condition_that_cannot_be_read_is_taken_away_whole() {
    let head = "disallowedTools: ['Bash(*)', 'Write()', 'Grep(x)', 'Read(/secret/**)', gh/delete]";
    let agent = agent("a.md", &format!("---\ndescription: d\n{head}\n---\nDo it.\n"));
    let names: Vec<&str> = agent.without.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Write", "Grep", "mcp__gh__delete"]);
}

#[test]
fn switches_that_turn_everything_off_leave_what_others_turn_on() {
    let text = "---\ndescription: d\ntools:\n  \"*\": false\n  read: true\n  bash: false\n---\nx";
    let agent = agent(".opencode/agents/a.md", text);
    let names = |choices: &[toolpost_agent::agent_file::ToolChoice]| {
        choices.iter().map(|choice| choice.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(agent.tools.as_deref().unwrap()), ["read"]);
    assert_eq!(names(&agent.without), ["bash"]);
}

#[test]
fn another_word_for_tools_narrows_too() {
    let agent = agent("a.md", "---\ndescription: d\nallowed-tools: Read, Grep\n---\nx");
    assert_eq!(agent.tools.map(|tools| tools.len()), Some(2));
}

#[test]
fn one_bad_definition_costs_one_tool() {
    let head = "tools:\n  - name: good\n    description: d\n    prompt: p\n  - name: bad name\n    description: d\n    prompt: p\n  - description: none\n  \
                - name: typed\n    description: d\n    prompt: p\n    parameters: { a: { type: list } }\n  - name: schema\n    description: d\n    prompt: p\n    \
                result_schema: { type: 3 }\n  - 7\n  - name: good\n    description: d\n    prompt: again\n  - read";
    let loaded = read("a.md", format!("---\ndescription: d\n{head}\n---\nx").as_bytes());
    let agent = loaded.agent.expect("the agent loads");
    let names: Vec<&str> = agent.prompt_tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(agent.tools.map(|tools| tools.len()), Some(1));
    let places: Vec<(usize, &str)> = loaded
        .problems
        .iter()
        .map(|problem| (problem.line, problem.field.as_deref().unwrap_or_default()))
        .collect();
    let expected = [
        (7, "tools[1].name"),
        (10, "tools[2].name"),
        (10, "tools[2].prompt"),
        (14, "tools[3].parameters.a.type"),
        (18, "tools[4].result_schema"),
        (19, "tools[5]"),
        (20, "tools[6].name"),
    ];
    assert_eq!(places, expected, "{:#?}", loaded.problems);
    assert!(loaded.problems.iter().all(|problem| problem.severity == Severity::LeftOut));
}

#[test]
fn bombs_are_refused_at_once() {
    let mut nested = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let above = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(nested, "a{level}: &a{level} [{above}]");
    }
    let flat = format!("a: &a [{}]\nb: [{}]", "x,".repeat(1_000), "*a,".repeat(5_000));
    let cases = [
        nested,
        flat,
        "[".repeat(20_000),
        format!("a: {}", "{b: ".repeat(20_000)),
        (0..20_000).map(|depth| format!("{}a:\n", " ".repeat(depth.min(300)))).collect(),
        format!("a: {}", "x".repeat(70_000)),
        "- ".repeat(30_000),
        "a: &a [*a]".to_owned(),
        "? [a, b]\n: c".to_owned(),
        (0..30_000).map(|index| format!("k{index}: 1\n")).collect(),
    ];
    for head in cases {
        let start = Instant::now();
        let loaded = read("bomb.md", format!("---\n{head}\n---\n").as_bytes());
        assert!(loaded.agent.is_none(), "{}", &head[..60.min(head.len())]);
        assert!(loaded.problems.len() == 1, "{:?}", loaded.problems);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", loaded.problems);
    }
}

#[test]
fn plain_words_are_not_booleans() {
    let agent = agent("a.md", "---\nname: no\ndescription: on\nmodel: 010\n---\nx");
    assert_eq!(
        (agent.name.as_str(), agent.description.as_str(), agent.models[0].as_str()),
        ("no", "on", "010")
    );
}

#[test]
fn files_without_a_head_say_so() {
    for (text, message) in [
        ("Hello.", "a.md:1:1: the file has no head"),
        ("---\nname: x\n", "a.md:2:1: the head does not end"),
        ("", "a.md:1:1: the file has no head"),
        ("\u{feff}---\nname: \"\n---\n", "a.md:3:1: invalid YAML"),
    ] {
        let loaded = read("a.md", text.as_bytes());
        let shown = loaded.problems[0].to_string();
        assert!(loaded.agent.is_none() && shown.starts_with(message), "{shown}");
    }
    assert!(
        read("a.md", b"---\r\nname: x\r\n---\r\nBody\r\n")
            .agent
            .is_some_and(|agent| agent.instruction == "Body")
    );
    assert!(read("a.md", &[0xff, 0xfe, 0]).agent.is_none());
}

#[test]
fn files_of_other_hosts_load_unchanged() {
    let claude = agent(
        "/home/me/.claude/agents/team/reviewer.md",
        "---\nname: code-reviewer\ndescription: Expert code reviewer. Use PROACTIVELY after writing code.\ntools: Read, Grep, Glob, Bash(git diff:*), mcp__gh__*\n\
         model: inherit\npermissionMode: plan\ncolor: blue\nmaxTurns: 12\n---\n\nYou are a reviewer.\n",
    );
    assert_eq!((claude.format, claude.models.len(), claude.limits.turns), (Format::Claude, 0, Some(12)));
    let names: Vec<&str> = claude.tools.iter().flatten().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Read", "Grep", "Glob", "Bash", "mcp__gh__*"]);
    assert_eq!(claude.instruction_files, ["CLAUDE.md"]);

    let opencode = agent(
        ".opencode/agents/docs.md",
        "---\ndescription: Writes documentation\nmode: subagent\nmodel: anthropic/claude-sonnet-4-20250514\ntemperature: 0.1\nsteps: 7\n\
         tools:\n  write: false\n  bash: false\npermission:\n  edit: deny\n  bash:\n    \"*\": ask\n    \"git status*\": allow\n---\nWrite docs.\n",
    );
    assert_eq!((opencode.name.as_str(), opencode.limits.turns, opencode.without.len()), ("docs", Some(7), 2));
    assert!(opencode.tools.is_none(), "it has all the others");

    let gemini = agent(
        ".gemini/agents/auditor.md",
        "---\nname: auditor\ndescription: Audits.\nkind: local\ntools:\n  - read_file\n  - grep_search\nmodel: gemini-3-pro\ntemperature: 0.2\nmax_turns: 10\n---\nAudit.\n",
    );
    assert_eq!((gemini.limits.turns, gemini.limits.time_ms), (Some(10), Some(600_000)));

    let codex = agent(
        ".codex/agents/explorer.toml",
        "name = \"explorer\"\ndescription = \"Explores.\"\nmodel = \"gpt-5.4\"\nmodel_reasoning_effort = \"medium\"\nsandbox_mode = \"read-only\"\n\
         nickname_candidates = [\"Atlas\"]\ndeveloper_instructions = \"\"\"\nStay in exploration mode.\n\"\"\"\n\n[mcp_servers.docs]\nurl = \"https://example.com\"\n",
    );
    assert_eq!((codex.format, codex.instruction.as_str()), (Format::Codex, "Stay in exploration mode."));

    let copilot = agent(
        ".github/agents/planner.agent.md",
        "---\ndescription: Plans.\ntools: ['search', 'edit', 'github/*', 'playwright/click']\nmodel: ['GPT-5', 'Claude Sonnet 4.5']\nhandoffs:\n  - label: Go\n---\nPlan.\n",
    );
    let names: Vec<&str> = copilot.tools.iter().flatten().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "grep",
            "glob",
            "edit",
            "write",
            "apply_patch",
            "delete",
            "mcp__github__*",
            "mcp__playwright__click"
        ]
    );
    assert_eq!((copilot.name.as_str(), copilot.models.len()), ("planner", 2));
}

#[test]
fn unknown_keys_of_other_hosts_are_warned_of_with_their_line() {
    let text = "---\nname: a\ndescription: d\nmcpServers:\n  x: {}\nfuture: 1\n---\nx";
    let loaded = read(".claude/agents/a.md", text.as_bytes());
    let lines: Vec<usize> = loaded.problems.iter().map(|problem| problem.line).collect();
    assert!(loaded.agent.is_some() && loaded.is_sound() && lines == [4, 6], "{:?}", loaded.problems);
}

#[test]
fn guarantee_45_a_misspelt_key_that_narrows_breaks_files_of_other_hosts_too() {
    for (file, line) in [
        (".opencode/agents/a.md", "mode: subagnt"),
        (".opencode/agents/a.md", "permision: { edit: deny }"),
        (".opencode/agents/a.md", "disabled: true"),
        (".claude/agents/a.md", "disallowedTool: [Bash]"),
        (".claude/agents/a.md", "disallowed_tolls: [Bash]"),
        (".claude/agents/a.md", "disallowedTools: ['Write: src/*']"),
        (".toolpost/agents/a.md", "disallowedTools: ['write: src/*']"),
        (".toolpost/agents/a.md", "disallowedTools: ['!src/write']"),
        (".claude/agents/a.md", "permissionMode: paln"),
        (".claude/agents/a.md", "maxTurn: 3"),
        (".gemini/agents/a.md", "max_trns: 3"),
        (".gemini/agents/a.md", "timeout_min: 3"),
        (".github/agents/a.md", "tool: [read]"),
    ] {
        let loaded = read(file, format!("---\nname: a\ndescription: d\n{line}\n---\nx").as_bytes());
        let lines: Vec<usize> = loaded.problems.iter().map(|problem| problem.line).collect();
        assert!(loaded.agent.is_none() && lines == [4], "{file} {line}: {:?}", loaded.problems);
    }
    let codex = read(
        ".codex/agents/a.toml",
        b"name = 'a'\ndescription = 'd'\nsandbox_mod = 'read-only'\ndeveloper_instructions = 'x'\n",
    );
    assert!(codex.agent.is_none(), "{:?}", codex.problems);
    // What is not known here, and near nothing that narrows, is of the host's own.
    for line in [
        "future: 1",
        "category: x",
        "memories: [a]",
        "skills: [a]",
        "model_provider: x",
        "prompts: 1",
        "commands: [a]",
    ] {
        let loaded =
            read(".claude/agents/a.md", format!("---\nname: a\ndescription: d\n{line}\n---\nx").as_bytes());
        assert!(loaded.agent.is_some(), "{line}: {:?}", loaded.problems);
    }
}

#[test]
fn of_two_limits_the_lower_one_holds() {
    for head in
        ["limits: { turns: 5 }\nmaxTurns: 50", "maxTurns: 50\nlimits: { turns: 5 }", "steps: 5\nmaxTurns: 50"]
    {
        assert_eq!(
            agent("a.md", &format!("---\ndescription: d\n{head}\n---\nx")).limits.turns,
            Some(5),
            "{head}"
        );
    }
}

#[test]
fn what_a_file_withholds_is_not_said_to_be_had_by_a_flag() {
    let check = |head: &str, tool: &str, access: Access, part: &str| {
        let agent = agent("a.md", &format!("---\ndescription: d\n{head}\n---\nx"));
        let policy = agent.policy_within(&Policy::privileged());
        let remedy = policy.decide(&Request { tool, accesses: &[access] }).remedy().unwrap();
        assert!(remedy.contains(part), "{head}: {remedy}");
    };
    let write = || Access::path(Capability::Write, "src/a.rs");
    check("policy: read-only", "write", write(), "the agent file `a.md` withholds it");
    check("policy: { ask: [exec] }", "bash", Access::command("ls"), "no flag but `--yes`");
    check("tools: ['Bash(git *)']", "bash", Access::command("ls"), "what stands at a.md:3");
    check("policy: standard", "edit", Access::path(Capability::Write, ".git/config"), "`policy.rules`");
    // Where the run withholds it and the file does not, the words of the run hold.
    let agent = agent("a.md", "---\ndescription: d\npolicy: privileged\n---\nx");
    let decision = agent.policy_within(&Policy::read_only());
    let remedy = decision.decide(&Request { tool: "write", accesses: &[write()] }).remedy().unwrap();
    assert!(remedy.contains("allow write in the policy"), "{remedy}");
}

#[test]
fn fields_of_a_script_have_their_places() {
    let text = "---\ndescription: d\nscript:\n  - call: read\n    args:\n      filePath: a\n  - parallel:\n      - call: x\n      - call: y\n---\nx";
    let script = agent("a.md", text).script.unwrap();
    for (field, line, column) in [
        ("script", 4, 3),
        ("script[0].call", 4, 5),
        ("script[0].args.filePath", 6, 7),
        ("script[1].parallel[1].call", 9, 9),
        ("script[1].parallel[7].call", 7, 5),
        ("script[0].other", 4, 5),
    ] {
        let at = script.place_of(field);
        assert_eq!((at.line, at.column), (line, column), "{field}");
    }
}

/// What the agent of a head decides for a command or a file, within a policy.
fn effect(head: &str, run: &Policy, tool: &str, access: Access) -> Effect {
    let agent = agent("a.md", &format!("---\ndescription: d\n{head}\n---\nx"));
    agent.policy_within(run).decide(&Request { tool, accesses: &[access] }).effect()
}

#[test]
fn a_file_narrows_and_never_widens() {
    let (standard, wide) = (Policy::standard(), Policy::privileged());
    let write = || Access::path(Capability::Write, "src/a.rs");
    let run = |line: &str| Access::command(line);
    assert_eq!(effect("policy: read-only", &wide, "write", write()), Effect::Deny);
    assert_eq!(effect("policy: privileged", &standard, "bash", run("ls")), Effect::Deny);
    assert_eq!(effect("policy: { allow: [exec] }", &standard, "bash", run("ls")), Effect::Deny);
    assert_eq!(effect("policy: { deny: [exec] }", &wide, "bash", run("ls")), Effect::Deny);
    assert_eq!(effect("policy: { ask: [exec] }", &wide, "bash", run("ls")), Effect::Ask);
    assert_eq!(effect("policy: { rules: [{ deny: 'write: /src' }] }", &wide, "write", write()), Effect::Deny);
    let both = "policy: { rules: [{ deny: 'write: /src' }], deny: [exec] }";
    assert_eq!(effect(both, &wide, "write", write()), Effect::Deny);
    assert_eq!(effect(both, &wide, "bash", run("ls")), Effect::Deny);
    assert_eq!(effect("tools: ['Bash(git *)']", &wide, "bash", run("git status")), Effect::Allow);
    assert_eq!(effect("tools: ['Bash(git *)']", &wide, "bash", run("rm a")), Effect::Deny);
    assert_eq!(effect("tools: ['Bash(git *)']", &standard, "bash", run("git status")), Effect::Deny);
    for head in ["disallowedTools: 'Bash(rm *), WebFetch'", "disallowedTools: ['Bash(rm:*)']"] {
        assert_eq!(effect(head, &wide, "bash", run("rm a")), Effect::Deny, "{head}");
        assert_eq!(effect(head, &wide, "bash", run("ls")), Effect::Allow, "{head}");
    }
    assert_eq!(
        effect("permission: { bash: { '*': deny, 'ls*': allow } }", &wide, "bash", run("ls")),
        Effect::Allow
    );
    assert_eq!(
        effect("permission: { bash: { '*': deny, 'ls*': allow } }", &wide, "bash", run("rm a")),
        Effect::Deny
    );
    assert_eq!(effect("permission: { edit: ask }", &wide, "edit", write()), Effect::Ask);
    // The words of OpenCode mean the same in other spellings.
    assert_eq!(effect("permission: { Edit: deny }", &wide, "write", write()), Effect::Deny);
    assert_eq!(effect("permission: { EDIT: ask }", &wide, "delete", write()), Effect::Ask);
    assert_eq!(effect("permissionMode: bypassPermissions", &standard, "bash", run("ls")), Effect::Deny);
    assert_eq!(effect("permissionMode: plan", &wide, "write", write()), Effect::Deny);
    assert_eq!(effect("sandbox_mode: danger-full-access", &standard, "bash", run("ls")), Effect::Deny);
}

#[test]
fn values_that_other_hosts_read_as_one_text_are_one() {
    let description = "Use it for tests. Examples: <example>Context: User's done. user: 'Done' #1</example>";
    let text = format!("---\nname: runner\ndescription: {description}\ntools: Read, Bash\n---\nRun them.\n");
    let loaded = read(".claude/agents/runner.md", text.as_bytes());
    let agent = loaded.agent.unwrap_or_else(|| panic!("{:?}", loaded.problems));
    assert_eq!((agent.name.as_str(), agent.description.as_str()), ("runner", description));
    assert_eq!(agent.tools.map(|tools| tools.len()), Some(2));
    // Our own files are YAML, and whatever else is wrong stays wrong.
    assert!(read("runner.md", text.as_bytes()).agent.is_none());
    assert!(read(".claude/agents/a.md", b"---\nname: [a\ndescription: b: c\n---\nx\n").agent.is_none());
}
