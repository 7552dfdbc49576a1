//! The end of a run, for whatever reason, ends everything below it; what a limit of cost covers; and runs that are killed while
//! agents work in the background are told again as they were.

use crate::brain::{Said, serve, texts, vendor};
use crate::tree::{agent, events, tasks};
use crate::{Home, Ran, count};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Waits until something holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes that stand in a folder of a home.
fn survivors(home: &Home) -> usize {
    let own = home.path("");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let folders = processes.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    folders.filter(|folder| folder.starts_with(&own)).count()
}

/// Nothing of the session is left: each agent that began has ended, no task is claimed, no process runs, and a replay is equal.
fn check_nothing_left(home: &Home, what: &str) {
    let all = events(home);
    let of = |fact: &str| {
        let found = all.iter().filter(|event| event["fact"]["fact"] == fact);
        let mut runs: Vec<&str> = found.filter_map(|event| event["activation"].as_str()).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    };
    assert_eq!(of("started"), of("ended"), "{what}: whoever began has ended");
    let claimed = tasks(home);
    assert!(claimed.iter().all(|status| status != "claimed"), "{what}: {claimed:?}");
    until("a process of the run is left", || survivors(home) == 0);
    let replayed = home.run(&["sessions", "replay", "s"]);
    assert_eq!(replayed.status, 0, "{what}: {}", replayed.stderr);
}

/// A run that leaves two agents at work, one of them with one more below it, and then ends for this reason.
fn check_end(reason: &str, limits: &str, last: fn() -> Said) {
    let home = Home::new();
    for _ in 0..2 {
        assert_eq!(home.run(&["tasks", "add", "work"]).status, 0);
    }
    let claims = "role: worker\ntools: [get_task, bash]\nscript:\n  - { call: get_task, args: { taskId: \"{{task}}\", claim: true } }\n  - { call: bash, args: { command: \"echo > up-{{task}}.txt; exec sleep 300.625\" } }";
    agent(&home, "claims.md", claims);
    let middle = "role: worker\nagents: [claims.md]\ntools: [spawn_agent]\nscript: [ { call: spawn_agent, args: { agentType: claims, prompt: \"{{task}}\", wait: false } }, { say: waits } ]";
    agent(&home, "middle.md", middle);
    let up = [home.path("repo/up-t1.txt"), home.path("repo/up-t2.txt")];
    let (url, _) = serve(move |request| {
        if !texts(request).contains("you are notified when it has ended") {
            let start = |agent: &str, task: &str| {
                ("spawn_agent", json!({"agentType": agent, "prompt": task, "wait": false}))
            };
            return Said::calls("", vec![start("claims", "t1"), start("middle", "t2")]);
        }
        until("both work", || up.iter().all(|path| path.exists()));
        last()
    });
    let price = "price = { input = 10.0, output = 10.0, as-of = \"2026-11-18\" }";
    home.write("mock.toml", vendor("mock", &url, price));
    let head =
        format!("model: mock\nagents: [claims.md, middle.md]\nlimits: {limits}\ntools: [spawn_agent, list]");
    agent(&home, "boss.md", &head);
    let config = home.path("mock.toml").display().to_string();
    let args =
        ["run", "boss.md", "--session", "s", "--allow", "exec", "--config", &config, "--output", "json"];
    let ran = home.run(&args);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["reason"], reason, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(tasks(&home), ["ready", "ready"], "{reason}");
    check_nothing_left(&home, reason);
}

#[test]
fn guarantee_47_the_end_of_a_run_ends_everything_below_it() {
    let calls = || Said::calls("again", vec![("list", json!({}))]);
    check_end("turns", "{ turns: 2 }", calls);
    check_end("loop", "{ turns: 40 }", calls);
    check_end("refused", "{ turns: 40 }", || Said { finish: "content_filter", ..Said::text("no") });
    let dear = || Said { usage: Some((1_000_000, 10)), ..Said::calls("", vec![("list", json!({}))]) };
    check_end("cost", "{ cost: 1 }", dear);
    check_end("tokens", "{ tokens: 900k }", dear);
    check_end("length", "{ turns: 40 }", || Said { finish: "length", ..Said::text("half of") });
}

/// An agent whose tool `shout` has a model of its own, without a price, and what a run of it gives.
fn shouts(limits: &str) -> (Home, Ran, usize) {
    let home = Home::new();
    let (one, _) = serve(|request| {
        let mut said = match texts(request) {
            texts if texts.contains("limits.cost` cannot be kept") => Said::text("it cannot"),
            texts if texts.contains("HI!") => Said::text("it did"),
            _ => Said::calls("", vec![("shout", json!({"text": "hi"}))]),
        };
        said.usage = Some((100, 10));
        said
    });
    let (two, asked) = serve(|_| Said { usage: Some((5_000_000, 10)), ..Said::text("HI!") });
    let price = "price = { input = 5.0, output = 10.0, as-of = \"2026-11-18\" }";
    home.write("two.toml", format!("{}{}", vendor("one", &one, price), vendor("two", &two, "")));
    let head = format!(
        "model: one\n{limits}tools:\n  - name: shout\n    description: Shouts.\n    model: two/m\n    parameters: {{ text: {{ type: string, required: true }} }}\n    prompt: \"Shout {{{{text}}}}\""
    );
    agent(&home, "loud.md", &head);
    let config = home.path("two.toml").display().to_string();
    let ran = home.run(&["run", "loud.md", "--session", "s", "--config", &config, "--output", "json"]);
    let asked = asked.load(Ordering::SeqCst);
    (home, ran, asked)
}

#[test]
fn guarantee_47_a_limit_of_cost_holds_for_a_tool_without_a_price() {
    let (_home, ran, asked) = shouts("limits: { cost: 0.05 }\n");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((asked, &result["text"]), (0, &json!("it cannot")), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(result["treeUnpricedTokens"], 0);
    assert!(
        ran.stderr.contains("the tool `shout` cannot be used"),
        "it is said at the beginning: {}",
        ran.stderr
    );
    // Without a limit, what is not known is not counted as nothing.
    let (home, ran, asked) = shouts("");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((asked, &result["text"]), (1, &json!("it did")), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(result["treeTokens"], 5_000_230);
    assert_eq!((&result["treeCostUsd"], &result["treeUnpricedTokens"]), (&Value::Null, &json!(5_000_010)));
    assert_eq!(
        (&result["unpricedTokens"], result["costUsd"].is_f64()),
        (&json!(0), true),
        "its own is known"
    );
    let shown = home.run(&["sessions", "show", "s"]).stdout;
    assert!(shown.contains("5000010 tokens, cost not known"), "{shown}");
    let page = home.run(&["sessions", "export", "s"]).stdout;
    assert!(page.contains("and 5,000,010 tokens without a known price"), "{page}");
}

/// Numbers that differ by seed and nothing else.
pub(crate) fn random(seed: u64) -> u64 {
    let value = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 32)
}

/// The last step that a conversation, or a summary of it, has come to.
fn step(texts: &str) -> u64 {
    let steps = texts.split("step ").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    steps.max().unwrap_or(0)
}

/// A model that goes on from whatever step its conversation has come to: it leaves agents at work, reads long files, and ends.
fn thinks(request: &Value, seed: u64) -> Said {
    let texts = texts(request);
    let step = step(&texts);
    if texts.contains("The conversation is about to be shortened") {
        return Said::text(&format!("it has come to step {step}"));
    }
    let (next, dear) = (step + 1, Some((400_000, 10)));
    let text = format!("step {next}");
    match (next, seed % 4) {
        (1, _) => {
            let start =
                |task: &str| ("spawn_agent", json!({"agentType": "claims", "prompt": task, "wait": false}));
            Said::calls(&text, vec![start("t1"), start("t2"), start("t3")])
        }
        (6, 1) => Said { finish: "content_filter", ..Said::text(&text) },
        (6, 2) => Said { usage: dear, ..Said::calls(&text, vec![("list", json!({}))]) },
        (2..=9, _) => {
            let file = json!({"filePath": format!("long-{}.txt", next % 3)});
            Said::calls(&text, vec![("read", file.clone()), ("list", json!({}))])
        }
        _ => Said::text(&format!("{text}: all is done")),
    }
}

/// One run that is killed up to twice and goes on until it has ended. Returns how often its conversation was shortened, how
/// often it was told something, and how often another process went on with it.
fn killed_and_told_again(seed: u64) -> [usize; 3] {
    let home = Home::new();
    for _ in 0..3 {
        assert_eq!(home.run(&["tasks", "add", "work"]).status, 0);
    }
    for number in 0..3 {
        home.write(&format!("repo/long-{number}.txt"), format!("line {number} of a long file\n").repeat(220));
    }
    let claims = "role: worker\ntools: [get_task, signal_parent, bash]\nscript:\n  - { call: get_task, args: { taskId: \"{{task}}\", claim: true }, optional: true }\n  - { call: signal_parent, args: { message: \"begun with {{task}}\" }, optional: true }\n  - { call: bash, args: { command: \"sleep 0.0$(( RANDOM % 9 )); sleep 0.2\" }, optional: true }\n  - { call: signal_parent, args: { message: \"half of {{task}}\" }, optional: true }\n  - { call: bash, args: { command: \"sleep 0.1\" }, optional: true }\n  - say: did";
    agent(&home, "claims.md", claims);
    let (url, _) = serve(move |request| thinks(request, seed));
    let row = "context = 6_000\nprice = { input = 10.0, output = 10.0, as-of = \"2026-11-18\" }";
    home.write("mock.toml", vendor("mock", &url, row));
    let limits = ["{ time: 5m }", "{ time: 5m }", "{ cost: 3 }", "{ turns: 7 }"][(seed % 4) as usize];
    let head =
        format!("model: mock\nagents: [claims.md]\nlimits: {limits}\ntools: [spawn_agent, read, list]");
    agent(&home, "boss.md", &head);
    let config = home.path("mock.toml").display().to_string();
    let flags = ["--allow", "exec", "--config", &config];
    let begin = [&["run", "boss.md", "--session", "s"][..], &flags].concat();
    let resume = [&["run", "--resume", "s"][..], &flags].concat();
    for kill in 0..random(seed + 7_000) % 3 {
        let args = if kill == 0 { &begin } else { &resume };
        let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + random(seed * 10 + kill) % 900));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let ran = home.run(&resume);
    if ran.stderr.contains("there is no session") || ran.stderr.contains("no agent has run") {
        home.run(&begin);
    }
    check_nothing_left(&home, &format!("seed {seed}"));
    let all = events(&home);
    let of = |fact: &str| all.iter().filter(|event| event["fact"]["fact"] == fact).count();
    let ended = all.iter().filter(|event| event["fact"]["fact"] == "ended" && event["agent"] == "boss");
    let reasons: Vec<&Value> = ended.map(|event| &event["fact"]["reason"]).collect();
    let expected = ["done", "refused", "cost", "turns"][(seed % 4) as usize];
    assert_eq!(reasons, [expected], "seed {seed}");
    [of("compacted"), of("signalled"), of("resumed")]
}

#[test]
fn guarantee_47_runs_that_are_killed_leave_nothing_and_are_told_again_equally() {
    let rounds = count(4, 200);
    let mut all = [0; 3];
    for seed in 0..rounds as u64 {
        let counts = killed_and_told_again(seed);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [compacted, signalled, resumed] = all;
    assert!(compacted > 0 && signalled > 0 && resumed > 0, "{all:?}");
    println!(
        "measure: guarantee 47: {rounds} runs with agents in the background, {signalled} signals, {compacted} compactions and {resumed} resumptions after kill -9: every replay equal, nothing left running, nothing claimed"
    );
}
