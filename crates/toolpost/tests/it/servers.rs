//! MCP servers as files describe them: toolpost's own and those of other programs, which may be started, and what is
//! said of the others.

mod odd_files;

use crate::Home;
use std::collections::BTreeMap;
use std::time::Duration;
use toolpost::cli::Flags;
use toolpost::config::env::Environment;
use toolpost::config::{Config, ServerState, Servers};
use toolpost_plugins::Reach;

const USER: &str = ".config/toolpost/config.toml";
const ALL: &str = "mcpFrom = ['claude', 'codex', 'gemini', 'opencode', 'vscode', 'cursor']\n";

/// The environment of the command, for the library.
fn environment(home: &Home, variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Environment {
        cwd: Some(home.path("repo")),
        home: Some(home.path("")),
        config_directory: Some(home.path(".config/toolpost")),
        data_directory: Some(home.path("data/toolpost")),
        variables: variables.collect(),
        ..Environment::default()
    }
}

fn servers(home: &Home, variables: &[(&str, &str)]) -> Servers {
    Config::resolve(&Flags::default(), environment(home, variables)).unwrap().servers()
}

/// Everything about the servers, a line each.
fn shown(home: &Home, servers: &Servers) -> String {
    let mut lines = Vec::new();
    for server in &servers.usable {
        let pairs = |pairs: &BTreeMap<String, String>| -> String {
            pairs.iter().map(|(name, value)| format!(" {name}={value}")).collect()
        };
        let reach = match &server.reach {
            Reach::Stdio { command, args, env, cwd } => {
                let cwd = cwd.as_ref().map(|cwd| format!(" in {}", cwd.display())).unwrap_or_default();
                format!("{command} {args:?}{}{cwd}", pairs(env))
            }
            Reach::Http { url, headers } => format!("{url}{}", pairs(headers)),
        };
        let time = |name: &str, time: Option<Duration>| {
            time.map(|time| format!(" {name} {}ms", time.as_millis())).unwrap_or_default()
        };
        let only = server.only.as_ref().map(|only| format!(" only {only:?}")).unwrap_or_default();
        let without =
            if server.without.is_empty() { String::new() } else { format!(" without {:?}", server.without) };
        let times = time("start", server.start) + &time("call", server.call);
        lines.push(format!("+ {} = {reach}{times}{only}{without}", server.name));
    }
    for report in servers.reports.iter().filter(|report| report.state != ServerState::Trusted) {
        let why = report.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        lines.push(format!("- {} at {} {}{why}", report.name, report.from, report.state.as_str()));
    }
    lines.extend(servers.problems.iter().map(|problem| format!("! {problem}")));
    lines.extend(servers.warnings.iter().map(|warning| format!("? {warning}")));
    lines.join("\n").replace(home.path("").to_str().unwrap(), "~/")
}

/// What becomes of files, written as one string with `//- path` lines between them; the workspace's are trusted.
fn check(files: &str, variables: &[(&str, &str)], expected: &str) {
    let home = Home::new();
    for file in files.split("//- ").filter(|file| !file.is_empty()) {
        let (path, text) = file.split_once('\n').unwrap();
        home.write(path, text);
    }
    home.run(&["trust", "--yes"]);
    assert_eq!(shown(&home, &servers(&home, variables)), expected.trim(), "{files}");
}

#[test]
fn our_own_files_describe_servers() {
    check(
        r#"//- .config/toolpost/config.toml
[mcpServers.docs]
command = "docs-mcp"
args = ["--port", 8080, true]
env = { TOKEN = "${TOKEN}", MODE = "${MODE:-fast}", N = 5 }
cwd = "tools"
timeout = "90s"
startTimeout = "500ms"
includeTools = ["a", "b"]
excludeTools = ["b"]
[mcpServers.far]
url = "https://example.org/mcp?w=${workspaceFolder}"
headers = { Authorization = "Bearer ${TOKEN}" }
[mcpServers.resting]
command = "x"
enabled = false
//- repo/.toolpost/config.toml
mcpServers.mine = { type = "stdio", command = "./mine" }
//- repo/.mcp.json
{"mcpServers": {"shared": {"type": "http", "url": "http://127.0.0.1:8000/mcp", "timeout": 2500}}}
"#,
        &[("TOKEN", "t0ken")],
        r#"
+ mine = ./mine []
+ shared = http://127.0.0.1:8000/mcp call 2500ms
+ docs = docs-mcp ["--port", "8080", "true"] MODE=fast N=5 TOKEN=t0ken in ~/repo/tools start 500ms call 90000ms only ["a", "b"] without ["b"]
+ far = https://example.org/mcp?w=~/repo Authorization=Bearer t0ken
- resting at ~/.config/toolpost/config.toml:13 off
"#,
    );
    // What means nothing is an error with its line, for it could have been meant to narrow.
    let home = Home::new();
    home.write(USER, "mcpServers.mine = { comand = \"x\", command = \"y\" }\n");
    let ran = home.run(&["doctor"]);
    assert!(
        ran.stdout.contains("config.toml:1:21: `comand` means nothing of a server; did you mean `command`"),
        "{}",
        ran.stdout
    );
    home.write(USER, "mcpServers = [1]\n");
    let ran = home.run(&["doctor"]);
    assert!(
        ran.stdout.contains("config.toml:1:14: `mcpServers` is a list; write a table of servers"),
        "{}",
        ran.stdout
    );
}

/// The lists of wanted and unwanted tools hold in every file that is read, by the words of any program.
#[test]
fn lists_of_tools_hold_in_files_of_other_programs() {
    check(
        r#"//- .config/toolpost/config.toml
mcpFrom = ["codex", "vscode", "cursor"]
//- repo/.mcp.json
{"mcpServers": {
  "a": {"command": "x", "excludeTools": ["pay"]},
  "b": {"command": "x", "disabledTools": ["pay"], "tools": ["*"]},
  "c": {"command": "x", "includeTools": ["p", "q"], "allowedTools": ["q", "r"]},
  "d": {"command": "x", "tools": ["q"]},
  "e": {"command": "x", "disabledTool": ["pay"]},
  "f": {"command": "x", "tools": "q"}}}
//- repo/.vscode/mcp.json
{"servers": {"v": {"type": "stdio", "command": "x", "disabled_tools": ["pay"]}}}
//- repo/.cursor/mcp.json
{"mcpServers": {"u": {"command": "x", "excludeTools": ["pay"]}}}
//- repo/.codex/config.toml
[mcp_servers.o]
command = "x"
excludeTools = ["a"]
[mcp_servers.o.tools.pay]
enabled = false
[mcp_servers.o.tools.sell]
approval_mode = "prompt"
"#,
        &[],
        r#"
+ a = x [] without ["pay"]
+ b = x [] only ["*"] without ["pay"]
+ c = x [] only ["q"]
+ d = x [] only ["q"]
+ o = x [] without ["a", "pay"]
+ v = x [] without ["pay"]
+ u = x [] without ["pay"]
- e at .mcp.json:6 cannot be used: `disabledTool` (line 6) means nothing of a server; did you mean `disabledTools`
- f at .mcp.json:7 cannot be used: `tools` holds a text; write a list of texts
? .codex/config.toml:7:17: `approval_mode` of a tool holds in Codex only; a rule such as `ask = ["mcp__o__sell"]` asks here
"#,
    );
}

#[test]
fn every_host_is_read_in_its_own_way() {
    check(
        r#"//- .config/toolpost/config.toml
mcpFrom = ["gemini", "codex", "opencode", "vscode", "cursor", "claude"]
//- repo/.gemini/settings.json
{"mcp": {"excluded": ["shut"]}, "mcpServers": {
  "g": {"command": "g", "args": ["$A", "${A}", "$NOPE"], "env": {"K": "$A"}, "cwd": "/srv", "timeout": 30000,
        "trust": true, "includeTools": ["x"], "excludeTools": ["y"]},
  "g-http": {"httpUrl": "https://g.example/mcp", "headers": {"X-Key": "$A"}},
  "g-url": {"url": "https://g.example/mcp"},
  "g-sse": {"url": "https://g.example/sse", "type": "sse"},
  "shut": {"command": "x"}}}
//- repo/.codex/config.toml
model = "x"
[mcp_servers.c]
command = "c"
args = ["${A}"]
env_vars = ["A", { name = "B" }, "UNSET"]
env = { B = "own" }
startup_timeout_sec = 2.5
tool_timeout_sec = 60
enabled_tools = ["x"]
disabled_tools = ["y"]
default_tools_approval_mode = "prompt"
[mcp_servers.c-http]
url = "https://c.example/mcp"
bearer_token_env_var = "A"
http_headers = { X = "1" }
env_http_headers = { Y = "B" }
[mcp_servers.c-unset]
url = "https://c.example/mcp"
bearer_token_env_var = "UNSET"
//- repo/key.txt
 from the file

//- repo/opencode.json
{"mcp": {"o": {"type": "local", "command": ["weak"]}}}
//- repo/opencode.jsonc
{ // with comments
  "mcp": {
    "o": {"type": "local", "command": ["o", "{env:A}", "{file:key.txt}", "{env:UNSET}"], "environment": {"K": "{env:A}"}, "timeout": 5000},
    "o-far": {"type": "remote", "url": "https://o.example/mcp", "headers": {"K": "{file:./key.txt}"}, "timeout": {"startup": 1, "request": 2},},
    "o-lost": {"type": "local", "command": ["x", "{file:~/nowhere}"]},
    "o-off": {"type": "local", "command": ["x"], "enabled": false},
  },
}
//- repo/.env.mcp
# variables
export FROM_FILE="quoted one"
K=weak
//- repo/.vscode/mcp.json
{"inputs": [{"id": "key", "type": "promptString"}], "servers": {
  "v": {"type": "stdio", "command": "${workspaceFolder}/v", "args": ["${env:A}", "${userHome}"], "envFile": "${workspaceFolder}/.env.mcp", "env": {"K": "strong", "Z": null}},
  "v-http": {"type": "http", "url": "https://v.example/mcp"},
  "v-input": {"type": "stdio", "command": "v", "env": {"K": "${input:key}"}}}}
//- repo/.cursor/mcp.json
{"mcpServers": {"u": {"command": "u", "args": ["${workspaceFolderBasename}"]}, "u-off": {"command": "u", "disabled": true}}}
//- .claude.json
{"numStartups": 5, "mcpServers": {"cl": {"command": "weak"}, "cl-user": {"command": "cu", "args": []}},
 "projects": {"/elsewhere": {"mcpServers": {"no": {"command": "no"}}}}}
//- .cursor/mcp.json
{"mcpServers": {"u": {"command": "weak"}}}
"#,
        &[("A", "1"), ("B", "2")],
        r#"
+ g = g ["1", "1", "$NOPE"] K=1 in /srv call 30000ms only ["x"] without ["y"]
+ g-http = https://g.example/mcp X-Key=1
+ g-url = https://g.example/mcp
+ c = c ["${A}"] A=1 B=own start 2500ms call 60000ms only ["x"] without ["y"]
+ c-http = https://c.example/mcp Authorization=Bearer 1 X=1 Y=2
+ o = o ["1", "from the file", ""] K=1 start 5000ms
+ o-far = https://o.example/mcp K=from the file start 1ms call 2ms
+ v = ~/repo/v ["1", "~/"] FROM_FILE=quoted one K=strong
+ v-http = https://v.example/mcp
+ u = u ["repo"]
+ cl = weak []
+ cl-user = cu []
- g-sse at .gemini/settings.json:6 cannot be used: it speaks the old HTTP with SSE, which is not spoken here; give the address of its streamable HTTP
- shut at .gemini/settings.json:7 off
- c-unset at .codex/config.toml:17 cannot be used: the variable `UNSET` is not set; set it
- o-lost at opencode.jsonc:5 cannot be used: no file `~/nowhere` to insert
- o-off at opencode.jsonc:6 off
- o at opencode.json:1 overruled: the one of the same name at opencode.jsonc:3 is stronger
- v-input at .vscode/mcp.json:4 cannot be used: it asks for the input `key`, and no person can be asked here; use a variable instead
- u-off at .cursor/mcp.json:1 off
- u at ~/.cursor/mcp.json:1 overruled: the one of the same name at .cursor/mcp.json:1 is stronger
? .gemini/settings.json:2:1: the server `g`: the variable `NOPE` is not set, so the text stays as it is
? opencode.jsonc:3:1: the server `o`: the variable `UNSET` is not set, so nothing is put in for it
"#,
    );
}

#[test]
fn what_a_project_of_the_users_has_in_claude_comes_before_what_all_have() {
    let home = Home::new();
    home.write(USER, "mcpFrom = ['claude']\n");
    let root = home.path("repo").display().to_string();
    home.write(
        ".claude.json",
        format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"weak\"}}}}, \"projects\": {{\"{root}\": {{\"mcpServers\": {{\"a\": {{\"command\": \"strong\"}}}}}}}}}}"),
    );
    let found = servers(&home, &[]);
    let expected = "+ a = strong []\n- a at ~/.claude.json:1 overruled: the one of the same name at ~/.claude.json:1 is stronger";
    assert_eq!(shown(&home, &found), expected);
    // Elsewhere, where the variable says.
    home.write("other/.claude.json", "{\"mcpServers\": {\"b\": {\"command\": \"b\"}}}");
    let other = home.path("other").display().to_string();
    assert_eq!(shown(&home, &servers(&home, &[("CLAUDE_CONFIG_DIR", &other)])), "+ b = b []");
}

#[test]
fn other_programs_are_asked_only_where_a_key_names_them() {
    let files = r#"//- .claude.json
{"mcpServers": {"a": {"command": "a"}}}
//- repo/.cursor/mcp.json
{"mcpServers": {"b": {"command": "b"}}}
//- .gemini/settings.json
{"mcpServers": {"c": {"command": "c"}}}
"#;
    check(files, &[], "");
    check(&format!("//- {USER}\nmcpFrom = ['gemini']\n{files}"), &[], "+ c = c []");
    let home = Home::new();
    for (text, part) in [
        (
            "mcpFrom = ['zed']\n",
            "config.toml:1:12: no servers can be taken over from `zed`; there are claude, codex",
        ),
        ("mcpFrom = 'claude'\n", "write a list of texts"),
        ("listed = 'many'\n", "is not a list length"),
    ] {
        home.write(USER, text);
        let ran = home.run(&["doctor"]);
        assert!(ran.status == 1 && ran.stdout.contains(part), "{text}: {}", ran.stdout);
    }
    // Variables stand for the keys.
    home.write(USER, "listed = '7 tools'\n");
    let mut command = home.command(["doctor", "--json"]);
    command.env("TOOLPOST_MCP_FROM", "claude,vscode").env("TOOLPOST_LISTED", "12 tools");
    let report = crate::Ran::of(command.output().unwrap()).json().1;
    assert_eq!(report["configuration"]["mcpFrom"][1]["value"], "vscode");
    assert_eq!(report["configuration"]["listed"]["value"], "12 tools, 10000 tokens");
    let config = Config::resolve(&Flags::default(), environment(&home, &[])).unwrap();
    assert_eq!(config.plugins.most_tools, 7);
}

#[test]
fn a_workspaces_servers_are_inert_until_they_are_trusted() {
    let home = Home::new();
    home.write(USER, format!("{ALL}[mcpServers.same]\ncommand = 'mine'\n"));
    let server = |name: &str| {
        format!("{{\"mcpServers\": {{\"{name}\": {{\"command\": \"touch\", \"args\": [\"x\"]}}}}}}")
    };
    home.write("repo/.toolpost/config.toml", "mcpFrom = ['claude']\n[mcpServers.own]\ncommand = 'own'\n");
    home.write("repo/.mcp.json", server("same"));
    home.write("repo/.cursor/mcp.json", server("cursor"));
    let names =
        |servers: &Servers| -> Vec<String> { servers.usable.iter().map(|one| one.name.clone()).collect() };
    let before = servers(&home, &[]);
    // What is not trusted does not even take the name of what is.
    assert_eq!(names(&before), ["same"]);
    assert!(matches!(&before.usable[0].reach, Reach::Stdio { command, .. } if command == "mine"));
    assert!(before.notes().iter().any(|note| note.starts_with("3 MCP servers wait until you trust them")));
    let listed = home.run(&["trust", "--list"]).stdout;
    for words in [
        "the server `own`, started with `own` (line 2)",
        "the server `same`, started with `touch x`",
        ".cursor/mcp.json (MCP servers) waits\n",
    ] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert_eq!(names(&servers(&home, &[])), ["own", "same", "cursor"]);
    // One byte, and it waits again.
    home.write("repo/.mcp.json", server("same") + " ");
    let after = servers(&home, &[]);
    assert_eq!(names(&after), ["own", "cursor", "same"]);
    let changed = after.reports.iter().find(|report| report.state == ServerState::Untrusted).unwrap();
    assert_eq!(changed.why.as_deref(), Some("the file has changed since you trusted it"));
    assert_eq!(home.run(&["trust", "--revoke"]).status, 0);
    assert_eq!(names(&servers(&home, &[])), ["same"]);
}

#[test]
fn whoever_trusts_sees_what_would_be_started() {
    let home = Home::new();
    let long = "y".repeat(900);
    home.write(
        "repo/.mcp.json",
        format!(
            "{{\"mcpServers\": {{\"a\\u001b[2K\\u202e\": {{\"command\": \"sh\", \"args\": [\"-c\", \"ls; \\u001b[1A\\u0007rm -rf ${{HOME}}\", \"two words\", \"\"], \"env\": {{\"K\": \"${{SECRET_KEY}}\", \"L\": \"visible-value\"}}}},
            \"long\": {{\"command\": \"x\", \"args\": [\"{long}END\"]}},
            \"far\": {{\"url\": \"https://far.example/${{ID}}\", \"headers\": {{\"H\": \"header-value ${{TOKEN}}\"}}}}}}}}"
        ),
    );
    home.write(
        "repo/opencode.json",
        "{\"mcp\": {\"o\": {\"type\": \"local\", \"command\": [\"o\", \"{file:~/.ssh/id}\"]}}}",
    );
    let page = home.run(&["trust"]).stdout;
    for words in [
        "the server `a\u{fffd}[2K\\u{202e}`, which cannot be used",
        "yyyEND`",
        "the server `far` at https://far.example/${ID}\n    with the headers `H`\n    it is handed your `ID`, `TOKEN`",
        "the server `o`, started with `o {file:~/.ssh/id}`\n    it is handed your `file:~/.ssh/id`",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{page:?}");
    assert!(!page.contains("header-value") && !page.contains("visible-value"), "{page}");
    // Nothing hides behind many others.
    let many: Vec<String> =
        (0..90).map(|index| format!("\"s{index}\": {{\"command\": \"run-{index}\"}}")).collect();
    home.write("repo/.mcp.json", format!("{{\"mcpServers\": {{{}}}}}", many.join(",")));
    let page = home.run(&["trust"]).stdout;
    assert!((0..90).all(|index| page.contains(&format!("started with `run-{index}`"))), "{page}");
    home.write("repo/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"sh\", \"args\": [\"-c\", \"ls; \\u001b[1A rm ${HOME}\", \"it's\", \"\"]}}}");
    let page = home.run(&["trust"]).stdout;
    assert!(page.contains(r"started with `sh -c 'ls; \u{1b}[1A rm ${HOME}' 'it'\''s' ''`"), "{page}");
}

#[test]
fn doctor_lists_servers_and_no_value_of_theirs() {
    let home = Home::new();
    home.write(
        USER,
        "mcpServers.a = { command = 'a', env = { K = 'canary-1 ${ENVIRONMENT_CANARY}' } }\n\
         mcpServers.b = { url = 'https://b.example', headers = { Authorization = 'Bearer canary-2' } }\n\
         mcpServers.c = { command = 'c', env = { K = '${UNSET_ONE}' } }\nmcpServers.d = { command = 'd', enabled = false }\n\
         mcpServers.e = { url = 'https://b.example', headers = { X = \"canary-3\\n\" } }\n\
         mcpServers.shared = { command = 'weak' }\n",
    );
    home.write(
        "repo/.mcp.json",
        "{\"mcpServers\": {\"shared\": {\"command\": \"s\", \"env\": {\"K\": \"canary-4\"}}}}",
    );
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("ENVIRONMENT_CANARY", "canary-5");
        crate::Ran::of(command.output().unwrap())
    };
    let page = run(&["doctor", "--all"]).stdout;
    let user = home.path(USER).display().to_string();
    for words in [
        format!("broken a (stdio, {user}:1) trusted, did not start\n"),
        format!("broken b (http, {user}:2) trusted, did not start\n"),
        format!("note   c (stdio, {user}:3) cannot be used: the variable `UNSET_ONE` is not set"),
        format!("note   d (stdio, {user}:4) off\n"),
        format!("note   e (http, {user}:5) cannot be used: the header `X` has a line break"),
        "note   shared (stdio, .mcp.json:1) untrusted\n".to_owned(),
    ] {
        assert!(page.contains(&words), "{words}: {page}");
    }
    run(&["trust", "--yes"]);
    let report = run(&["doctor", "--json"]).stdout;
    let page = run(&["doctor", "--all"]).stdout;
    assert!(
        page.contains("`shared` is not used: the one of the same name at .mcp.json:1 is stronger"),
        "{page}"
    );
    assert!(!report.contains("canary") && !page.contains("canary"), "{page}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let state = |name: &str, index: usize| {
        let all = report["servers"].as_array().unwrap().iter().filter(|server| server["name"] == name);
        all.map(|server| (server["state"].as_str().unwrap().to_owned(), server["transport"].clone()))
            .nth(index)
            .unwrap()
    };
    assert_eq!(state("shared", 0), ("trusted".to_owned(), "stdio".into()));
    assert_eq!(state("shared", 1), ("overruled".to_owned(), "stdio".into()));
    assert_eq!(state("b", 0), ("trusted".to_owned(), "http".into()));
    assert_eq!(state("c", 0).0, "unusable");
    // What is secret by its name is known to be so.
    let found = servers(&home, &[("ENVIRONMENT_CANARY", "x")]);
    let secrets: Vec<_> = found.usable.iter().flat_map(toolpost::config::secrets).collect();
    assert_eq!(secrets, [("Authorization".to_owned(), "canary-2".to_owned())]);
}

#[test]
fn toolpost_does_not_start_itself() {
    let home = Home::new();
    assert_eq!(home.run(&["mcp", "install", "claude"]).status, 0);
    let page = home.run(&["doctor", "--all"]).stdout;
    assert!(page.contains("toolpost (stdio, .mcp.json:3) off: it is toolpost itself"), "{page}");
    assert!(page.contains("nothing that would start or widen anything"), "{page}");
}
