//! Guarantee 42: the text that a tool writes for the model reaches the model, in every host of the table.
//!
//! Each host is the real one, installed by name and version, without a terminal and without a network beyond loopback. We
//! play its model, which asks for one `read`, one `bash` and one `edit` that fails, and look at what the host sends it next.

mod model;
mod wire;

use crate::installed::{Wanted, node, npm, pip};
use crate::{Home, project};
use model::{Call, Model, Seen};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wire::Naming;

/// No host needs this long, also on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(240);

/// What the host is asked to do; the model knows better.
const TASK: &str = "Do what there is to do.";

/// The three calls: what the table calls them, and what the model asks for.
fn calls() -> [(&'static str, Call); 3] {
    [
        ("text", ("read", json!({"filePath": "notes.txt"}))),
        // The output is computed, so that the call does not contain it.
        ("output", ("bash", json!({"command": "printf '%s\\tamber \"%s\"\\\\\\n' $((6*7)) $((4+4))"}))),
        (
            "error",
            (
                "edit",
                json!({"filePath": "src/main.rs", "oldString": "fn man() {}", "newString": "fn x() {}"}),
            ),
        ),
    ]
}

/// A host, and how it is started.
struct Host {
    /// The package, as the table names it.
    name: &'static str,
    wanted: Wanted,
    naming: Naming,
    command: fn(&Stage, &Wanted) -> Command,
}

/// Where a host runs: a home of its own with a repository, and the model.
struct Stage {
    home: Home,
    model: SocketAddr,
}

impl Stage {
    /// A program that knows nothing of this machine, and reaches nothing beyond it.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let proxy = format!("http://{}", self.model);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path(""))
            .env("TERM", "dumb")
            .env("TMPDIR", self.home.path("tmp"))
            .env("NODE_USE_ENV_PROXY", "1")
            .current_dir(self.home.path("repo"));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, &proxy);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        command
    }

    /// The arguments after `toolpost` with which the host starts the server.
    fn arguments(&self) -> Vec<String> {
        let root = self.home.path("repo").display().to_string();
        ["mcp", "--policy", "privileged", "--workspace", &root].map(str::to_owned).to_vec()
    }

    /// One of the scripts that lie beside this file, for a host that is a library.
    fn script(&self, wanted: &Wanted, name: &str) -> Command {
        let mut command = self.command(pip(wanted).join("bin/python"));
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hosts").join(name))
            .args([&format!("http://{}/v1", self.model), TASK, TOOLPOST])
            .args(self.arguments());
        command
    }
}

const TOOLPOST: &str = env!("CARGO_BIN_EXE_toolpost");

/// Every host of the table, in its order.
const HOSTS: [Host; 8] = [
    Host {
        name: "@anthropic-ai/claude-code",
        wanted: Wanted { folder: "claude-code", packages: &["@anthropic-ai/claude-code@2.1.325"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let server = json!({"mcpServers": {"toolpost": {"type": "stdio", "command": TOOLPOST, "args": stage.arguments()}}});
            stage.home.write("servers.json", server.to_string());
            let program = npm(wanted).join("node_modules/@anthropic-ai/claude-code-linux-x64/claude");
            let mut command = stage.command(program);
            command
                .args(["-p", TASK, "--strict-mcp-config", "--mcp-config"])
                .arg(stage.home.path("servers.json"))
                .args(["--allowedTools", "mcp__toolpost"])
                .env("ANTHROPIC_BASE_URL", format!("http://{}", stage.model))
                .env("ANTHROPIC_API_KEY", "none")
                .env("ENABLE_TOOL_SEARCH", "false")
                // The first request waits for the server, however long it takes to start.
                .env("MCP_CONNECTION_NONBLOCKING", "false")
                .env("CLAUDE_CODE_MCP_STARTUP_WAIT_MS", "120000")
                .env("MCP_CONNECT_TIMEOUT_MS", "120000")
                .env("MCP_TIMEOUT", "120000")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            command
        },
    },
    Host {
        name: "@openai/codex",
        wanted: Wanted { folder: "codex", packages: &["@openai/codex@0.166.0"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let settings = format!(
                "model = 'played'\nmodel_provider = 'played'\napproval_policy = 'never'\nsandbox_mode = 'danger-full-access'\n\
                 check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
                 [features]\nplugins = false\nremote_plugin = false\napps = false\n\
                 [model_providers.played]\nname = 'played'\nbase_url = 'http://{}/v1'\nwire_api = 'responses'\n\
                 [mcp_servers.toolpost]\ncommand = '{TOOLPOST}'\nargs = {}\ndefault_tools_approval_mode = 'approve'\n\
                 required = true\nstartup_timeout_sec = 120\ntool_timeout_sec = 120\n",
                stage.model,
                json!(stage.arguments()),
            );
            stage.home.write(".codex/config.toml", settings);
            let mut command = stage.command(node());
            command.arg(npm(wanted).join("node_modules/@openai/codex/bin/codex.js")).args([
                "exec",
                "--skip-git-repo-check",
                TASK,
            ]);
            command
        },
    },
    Host {
        name: "@google/gemini-cli",
        wanted: Wanted { folder: "gemini-cli", packages: &["@google/gemini-cli@0.61.0"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let settings = json!({
                "mcpServers": {"toolpost": {"command": TOOLPOST, "args": stage.arguments(), "trust": true, "timeout": 120_000}},
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                "privacy": {"usageStatisticsEnabled": false},
                "telemetry": {"enabled": false},
            });
            stage.home.write(".gemini/settings.json", settings.to_string());
            let mut command = stage.command(node());
            command
                .arg(npm(wanted).join("node_modules/@google/gemini-cli/bundle/gemini.js"))
                .args(["--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", TASK])
                .env("GEMINI_API_KEY", "none")
                .env("GOOGLE_GEMINI_BASE_URL", format!("http://{}", stage.model));
            command
        },
    },
    Host {
        name: "opencode-ai",
        wanted: Wanted { folder: "opencode", packages: &["opencode-ai@1.18.33"] },
        naming: Naming::Prefixed,
        command: |stage, wanted| {
            let command: Vec<String> =
                std::iter::once(TOOLPOST.to_owned()).chain(stage.arguments()).collect();
            let settings = json!({
                "autoupdate": false,
                "share": "disabled",
                "provider": {"played": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": format!("http://{}/v1", stage.model), "apiKey": "none"},
                    "models": {"played": {"tool_call": true}},
                }},
                "mcp": {"toolpost": {"type": "local", "command": command, "enabled": true, "timeout": 120_000}},
            });
            let program = npm(wanted).join("node_modules/opencode-linux-x64-baseline/bin/opencode");
            let mut command = stage.command(program);
            command
                .args(["run", "--model", "played/played", TASK])
                .env("OPENCODE_CONFIG_CONTENT", settings.to_string())
                // It wants a package for plugins, and does without it.
                .env("NPM_CONFIG_REGISTRY", format!("http://{}/npm", stage.model))
                .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
                .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
            command
        },
    },
    Host {
        name: "pydantic-ai",
        wanted: Wanted { folder: "pydantic-ai", packages: &["pydantic-ai==2.62.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "pydantic_ai_host.py"),
    },
    Host {
        name: "openai-agents",
        wanted: Wanted { folder: "openai-agents", packages: &["openai-agents==0.24.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "openai_agents_host.py"),
    },
    Host {
        name: "smolagents",
        wanted: Wanted { folder: "smolagents", packages: &["smolagents[mcp,openai]==1.26.0", "mcp==1.30.0"] },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "smolagents_host.py"),
    },
    Host {
        name: "langchain-mcp-adapters",
        wanted: Wanted {
            folder: "langchain-host",
            packages: &["langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"],
        },
        naming: Naming::Bare,
        command: |stage, wanted| stage.script(wanted, "langchain_host.py"),
    },
];

impl Host {
    fn named(name: &str) -> &'static Host {
        const ALL: &[Host] = &HOSTS;
        ALL.iter().find(|host| host.name == name).unwrap_or_else(|| panic!("no host `{name}`"))
    }

    /// The version of the package that gives the host its name.
    fn version(&self) -> &'static str {
        let package = self.wanted.packages[0];
        package.rsplit(['@', '=']).next().unwrap()
    }
}

/// The texts that the calls give on the command line: what the model has to be sent.
fn expected(home: &Home, calls: &[Call]) -> Vec<String> {
    let text = |(tool, arguments): &Call| {
        let (_, envelope) = home.json(&["call", tool, &arguments.to_string(), "--policy", "privileged"]);
        let text = envelope["output"].as_str().or(envelope["error"]["message"].as_str());
        text.unwrap_or_else(|| panic!("{envelope}")).trim().to_owned()
    };
    calls.iter().map(text).collect()
}

/// Runs a host and says what its model was sent.
fn run(host: &Host) -> (Vec<String>, Seen) {
    let home = Home::new();
    home.write(
        "repo/notes.txt",
        "It says \"hello\".\n\tA tab, a back\\slash and ünïcode: 🔧\nviolet anchor\n",
    );
    home.write("tmp/.keep", "");
    let model = Model::start(calls().map(|(_, call)| call).to_vec(), host.naming);
    let stage = Stage { home, model: model.address };
    let mut command = (host.command)(&stage, &host.wanted);
    let said = stage.home.path("said");
    let file = std::fs::File::create(&said).unwrap();
    command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}", host.name));
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if began.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let seen = model.seen();
    let said = String::from_utf8_lossy(&std::fs::read(said).unwrap()).into_owned();
    let about = || {
        let first: String = seen.requests.first().map(Value::to_string).unwrap_or_default();
        format!(
            "{} {}: {status:?}; other requests: {:?}; it said:\n{said}\n{first}",
            host.name,
            host.version(),
            seen.others
        )
    };
    assert!(status.is_some_and(|status| status.success()), "{}", about());
    assert!(seen.outside.is_empty(), "it looked for {:?}; {}", seen.outside, about());
    // One for each call, and one with the result of the last.
    assert_eq!(seen.requests.len(), calls().len() + 1, "{}", about());
    (expected(&stage.home, &seen.calls), seen)
}

/// How often a request says this to a model, which also reads what stands in JSON within a text.
fn count(request: &Value, text: &str) -> usize {
    match request {
        Value::String(said) => {
            let plain = said.matches(text).count();
            let hidden = embedded(said).into_iter().map(|(raw, value)| {
                // What JSON does not write differently has been counted.
                count(&value, text).saturating_sub(raw.matches(text).count())
            });
            plain + hidden.sum::<usize>()
        }
        Value::Array(list) => list.iter().map(|one| count(one, text)).sum(),
        Value::Object(fields) => fields.values().map(|one| count(one, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The JSON within a text: the whole text, or lists and objects somewhere in it.
fn embedded(text: &str) -> Vec<(&str, Value)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(['[', '{']).map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = start + values.byte_offset();
                found.push((&text[start..at], value));
            }
            _ => at = start + 1,
        }
    }
    found
}

#[test]
fn a_text_is_counted_however_it_is_wrapped() {
    let text = "a \"b\"\n{}";
    let json = json!({"output": text}).to_string();
    for (request, expected) in [
        (json!([text]), 1),
        (json!([json]), 1),
        (json!([format!("failed with {json}, sorry")]), 1),
        (json!([json!([json]).to_string()]), 1),
        (json!([format!("{text} and {json}"), {"again": text}]), 3),
        (json!(["a \"b\"", "{}", "{\"a"]), 0),
    ] {
        assert_eq!(count(&request, text), expected, "{request}");
    }
    assert_eq!(count(&json!([json!({"output": "plain"}).to_string()]), "plain"), 1);
}

/// Runs a host and checks its row of the table: from the request after a call on, its model is sent the text of the
/// call, once.
fn check(name: &str) {
    let host = Host::named(name);
    let (expected, seen) = run(host);
    let mut row = format!("{name} {}", host.version());
    let mut wrong = String::new();
    for (index, ((what, _), text)) in calls().iter().zip(&expected).enumerate() {
        let counts: Vec<usize> = seen.requests.iter().map(|request| count(request, text)).collect();
        let wanted: Vec<usize> = (0..seen.requests.len()).map(|number| usize::from(number > index)).collect();
        row.push_str(if counts == wanted { " yes" } else { " no" });
        if counts != wanted {
            wrong.push_str(&format!("the {what} `{text}` comes {counts:?} times, not {wanted:?}\n"));
        }
    }
    println!("host: {row}");
    let last = seen.requests.last().map(|request| serde_json::to_string_pretty(request).unwrap());
    assert!(wrong.is_empty(), "{row}: {wrong}{}", last.unwrap_or_default());
    println!("measure: guarantee 42: {name} {} sends text, output and error, once each", host.version());
}

#[test]
fn guarantee_42_claude_code_reads_the_text() {
    check("@anthropic-ai/claude-code");
}

#[test]
fn guarantee_42_codex_reads_the_text() {
    check("@openai/codex");
}

#[test]
fn guarantee_42_gemini_cli_reads_the_text() {
    check("@google/gemini-cli");
}

#[test]
fn guarantee_42_opencode_reads_the_text() {
    check("opencode-ai");
}

#[test]
fn guarantee_42_pydantic_ai_reads_the_text() {
    check("pydantic-ai");
}

#[test]
fn guarantee_42_openai_agents_reads_the_text() {
    check("openai-agents");
}

#[test]
fn guarantee_42_smolagents_reads_the_text() {
    check("smolagents");
}

#[test]
fn guarantee_42_langchain_reads_the_text() {
    check("langchain-mcp-adapters");
}

#[test]
fn the_table_of_the_guide_has_these_hosts_and_versions() {
    let page = std::fs::read_to_string(project().join("docs/guide/mcp.md")).unwrap();
    let (_, rest) = page.split_once("<!-- hosts:begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- hosts:end -->").unwrap();
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("| host | version | date | reads text | reads output | reads error |"));
    assert_eq!(rows.next(), Some("| --- | --- | --- | --- | --- | --- |"));
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), HOSTS.len(), "{table}");
    for (row, host) in rows.iter().zip(&HOSTS) {
        let [name, version, date, answers @ ..] = row.as_slice() else { panic!("{row:?}") };
        assert_eq!((*name, *version), (format!("`{}`", host.name).as_str(), host.version()), "{ADVICE}");
        assert!(date.len() == 10 && date.starts_with("20"), "{row:?}");
        assert_eq!(answers, ["yes", "yes", "yes"], "{name}: {ADVICE}");
    }
}

const ADVICE: &str = "the table is out of date; run `cargo xtask hosts`";
