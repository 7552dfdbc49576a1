//! All ways in name the same tools for the same session, whatever its packs, policy, role, store, model, servers and dialect
//! are; and each tool that is named can be called, or says what it needs.

use crate::brain::{Said, serve};
use crate::mcp::Caller;
use crate::{Home, project};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        all[usize::try_from(self.0 % all.len() as u64).unwrap()]
    }
}

type Names = BTreeSet<String>;

fn names(list: &Value, field: &str) -> Names {
    list.as_array()
        .unwrap_or_else(|| panic!("no list: {list}"))
        .iter()
        .map(|one| one[field].as_str().unwrap().to_owned())
        .collect()
}

/// What a model was offered.
type Offered = Arc<Mutex<Names>>;

fn model() -> (String, Offered) {
    let offered = Offered::default();
    let log = Arc::clone(&offered);
    let (url, _) = serve(move |request: &Value| {
        let tools = request["tools"].as_array().into_iter().flatten();
        let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
        *log.lock().unwrap() = names.collect();
        Said::text("done")
    });
    (url, offered)
}

const OWN: &str = "name: helper\ndescription: d\ntools:\n  - name: own\n    description: d\n    parameters:\n      text: { type: string, required: true }\n    prompt: \"{{text}}\"\n    script: x\nscript: [ { say: x } ]";

/// The flags and files of a session.
struct Config {
    home: Home,
    flags: Vec<&'static str>,
    has_model: bool,
    /// Whether a model can tell which tools it is offered.
    dialect: &'static str,
}

fn generated(random: &mut Random, url: &str) -> Config {
    let home = Home::new();
    let mut flags: Vec<&'static str> = Vec::new();
    let none: &[&str] = &[];
    for choice in [
        &[none, &["--policy", "read-only"], &["--policy", "privileged"]][..],
        &[none, none, &["--allow", "network"], &["--allow", "exec"], &["--allow-rule", "bash: ls *"]],
        &[none, &["--role", "worker"], &["--role", "orchestrator"]],
        &[none, &["--store", "memory"]],
        &[none, none, &["--pack", "mine"], &["--pack", "web"], &["--pack", "vfs", "--pack", "helper"]],
    ] {
        flags.extend(random.one_of(choice));
    }
    let dialect = *random.one_of(&[&"toolpost", &"long", &"claude", &"gemini", &"codex"]);
    flags.extend(["--dialect", dialect]);
    let mut config = String::new();
    if random.one_of(&["", "listed"]) == "listed" {
        config.push_str("packs = 'filesystem, shell, project, meta'\n");
    }
    let has_model = random.one_of(&["", "model"]) == "model";
    if has_model {
        config.push_str("model = 'lab'\n");
    }
    config.push_str(&format!(
        "[[vendor]]\nname = 'lab'\nformat = 'openai-chat'\nmodel = 'm'\naccepts-images = true\nbase-url = '{url}'\n"
    ));
    if random.one_of(&["", "", "server"]) == "server" {
        let server = project().join("crates/toolpost-plugins/tests/data/server.py");
        config.push_str(&format!(
            "[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\n",
            server.display()
        ));
    }
    home.write(".config/toolpost/config.toml", config);
    let is_wanted = flags.contains(&"helper") || random.one_of(&["", "agent"]) == "agent";
    if is_wanted {
        home.write(".config/toolpost/agents/helper.md", format!("---\n{OWN}\n---\nx\n"));
    }
    let mine = json!({"schemaVersion": 1, "name": "mine", "description": "Mine.", "riskProfile": "privileged",
        "tools": ["read", "bash", "vfs_list", "helper__own", "mcp__py__echo", "webfetch", "create_task"]});
    home.write(".config/toolpost/packs/mine.json", mine.to_string());
    Config { home, flags, has_model, dialect }
}

/// What a tool is answered with that the session does not have.
const REFUSALS: [&str; 6] = [
    "PERMISSION_DENIED",
    "ROLE_FORBIDDEN",
    "LLM_ASSIST_REQUIRED",
    "STORE_NOT_AVAILABLE",
    "ENGINE_NOT_AVAILABLE",
    "TOOL_NOT_FOUND",
];

/// The tools by which agents start others: what a run has of them depends on its place.
fn without_agents(names: Names) -> Names {
    let of_agents = ["task", "Task", "spawn_agent", "signal_parent"];
    names.into_iter().filter(|name| !of_agents.contains(&name.as_str())).collect()
}

fn check(seed: u64, number: usize) {
    let mut random = Random(seed);
    let (url, offered) = model();
    for _ in 0..number {
        let config = generated(&mut random, &url);
        let (home, flags) = (&config.home, &config.flags);
        let what = format!(
            "{flags:?} in\n{}",
            std::fs::read_to_string(home.path(".config/toolpost/config.toml")).unwrap()
        );
        let run = |words: &[&str]| {
            let ran = home.run(&[words, flags, &["--json"]].concat());
            assert_eq!(ran.status, 0, "{words:?} {what}: {}{}", ran.stdout, ran.stderr);
            serde_json::from_str::<Value>(&ran.stdout).unwrap()
        };
        let listed = run(&["tools"]);
        let shown = names(&listed["tools"], "name");
        let canonical = names(&listed["tools"], "canonicalName");
        assert_eq!(names(&run(&["tools", "export"])["tools"], "name"), shown, "export: {what}");
        assert_eq!(
            names(&run(&["tools", "export", "--format", "anthropic"]), "name"),
            shown,
            "anthropic: {what}"
        );
        assert_eq!(names(&run(&["tools", "discover"]), "name"), shown, "discover: {what}");
        let mut caller = Caller::new(home, flags);
        let over_mcp: Names = caller.tools().into_iter().collect();
        assert_eq!(over_mcp, shown, "MCP: {what}");
        let doctor = run(&["doctor"]);
        let doctor = doctor["tools"]["list"].as_array().unwrap();
        let where_true =
            |field: &str| names(&doctor.iter().filter(|tool| tool[field] == true).cloned().collect(), "name");
        assert_eq!(where_true("listed"), canonical, "doctor: {what}");
        let packs = run(&["packs"]);
        let in_packs: Vec<Value> = packs["packs"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|pack| pack["tools"].as_array().unwrap().clone())
            .collect();
        let by_packs =
            names(&in_packs.iter().filter(|tool| tool["offered"] == true).cloned().collect(), "name");
        assert_eq!(by_packs, where_true("offered"), "packs: {what}");
        // Each is called, or says what it needs.
        // Of the server's tools, one: others wait, or ask something.
        let others = |tool: &&String| !tool.starts_with("mcp__") || tool.ends_with("__echo");
        for tool in by_packs.iter().filter(others) {
            let answer = caller.call(tool, json!({"noSuchArgument": 1}));
            // Whatever became of it, it was not refused before its arguments were looked at.
            let is_refused = REFUSALS.iter().any(|code| answer.contains(code));
            assert!(!is_refused && answer.contains("\"result\":"), "{tool}: {answer} {what}");
        }
        let lacking: Vec<&Value> = in_packs.iter().filter(|tool| tool["offered"] == false).collect();
        for tool in &lacking {
            assert!(tool["why"].as_str().is_some_and(|why| !why.is_empty()), "{tool} {what}");
        }
        for _ in 0..2.min(lacking.len()) {
            let name = random.one_of(&lacking)["name"].as_str().unwrap();
            let tool = run(&["tools", "show", name]);
            let says = |field: &str| tool[field].as_str().is_some_and(|text| !text.is_empty());
            assert!(tool["offered"] == false && says("why") && says("remedy"), "{name}: {tool} {what}");
        }
        if config.has_model {
            home.write("repo/asker.md", "---\nname: asker\ndescription: d\n---\nAnswer.\n");
            let mut words = vec!["run", "asker.md", "go"];
            words.extend(flags);
            let ran = home.run(&words);
            assert_eq!((ran.status, ran.stdout.trim()), (0, "done"), "{what}: {}", ran.stderr);
            let in_run = without_agents(offered.lock().unwrap().clone());
            assert_eq!(in_run, without_agents(shown), "run in {}: {what}", config.dialect);
        }
    }
}

#[test]
fn all_ways_in_name_the_same_tools() {
    check(7, 20);
}

#[test]
fn all_ways_in_name_the_same_tools_of_other_sessions() {
    check(1_000_003, 20);
}

#[test]
fn all_ways_in_name_the_same_tools_of_more_sessions() {
    check(987_654_321, 20);
}
