//! Calls under policies: the same decision, by the same rule, from `call`, `validate` and `explain`.

use crate::stage::{Stage, any, code, path_schema, said, spec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolpost_core::host::{Always, Scope};
use toolpost_core::policy::{Effect, Layer, Origin, Policy, Profile, Rule};
use toolpost_core::{
    Access, Answer, Capability, Code, Context, Outcome, Output, Spec, Tool, ToolError, WorkspacePath, dynamic,
};

/// Whatever a tool of every access shape may be asked.
#[derive(Deserialize, JsonSchema)]
struct Line {
    /// A command line, or a host.
    line: String,
}

/// Runs commands, in name only.
struct Runner;

impl Tool for Runner {
    type Args = Line;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("bash").requires(Capability::Exec)
    }

    fn accesses(&self, args: &Line, _: Vec<Access>) -> Vec<Access> {
        args.line.split("&&").map(|command| Access::command(command.trim())).collect()
    }

    async fn call(&self, _: &Context, _: Line) -> Result<Output, ToolError> {
        Ok(Output::text("ran"))
    }
}

/// Reaches hosts, in name only.
struct Fetcher;

impl Tool for Fetcher {
    type Args = Line;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("webfetch").requires(Capability::Network)
    }

    fn accesses(&self, args: &Line, _: Vec<Access>) -> Vec<Access> {
        vec![Access::host(args.line.as_str())]
    }

    async fn call(&self, _: &Context, _: Line) -> Result<Output, ToolError> {
        Ok(Output::text("fetched"))
    }
}

fn stage() -> Stage {
    let opens = |ctx: Context, args: Value| async move {
        let path = WorkspacePath::new(args["path"].as_str().unwrap_or("."));
        ctx.workspace().stat(&path)?;
        said("opened")
    };
    let writes = |ctx: Context, args: Value| async move {
        let paths = args["paths"].as_array().cloned().unwrap_or_default();
        for path in paths.iter().chain(args.get("path")) {
            ctx.workspace().write(&WorkspacePath::new(path.as_str().unwrap()), b"x")?;
        }
        said("wrote")
    };
    Stage::with_files(
        "//- a.txt\na\n//- src/main.rs\nfn\n//- .env\nA=1\n//- docs/secret.md\ns\n//- id_rsa\nk\n",
    )
    .tool(dynamic(spec("read").requires(Capability::Read), path_schema(), opens))
    .tool(dynamic(spec("write").requires(Capability::Write), path_schema(), writes))
    .tool(dynamic(spec("edit").requires(Capability::Read).requires(Capability::Write), path_schema(), writes))
    .tool(Runner)
    .tool(Fetcher)
    .tool(any(spec("todoread").requires(Capability::Read), |_, _| async { said("todo") }))
    .tool(any(spec("sweep").requires(Capability::Write), |_, _| async { said("swept") }))
    .tool(any(spec("log").requires(Capability::Trace), |_, _| async { said("log") }))
    .tool(any(spec("noop"), |_, _| async { said("nothing") }))
}

/// `read-only`, `standard +exec ?network`, then rules, one a line: `user deny read: docs/**`.
fn policy(text: &str) -> Policy {
    let mut lines = text.split('\n').map(str::trim);
    let mut words = lines.next().unwrap().split(' ');
    let mut policy = Policy::profile(words.next().unwrap().parse::<Profile>().unwrap());
    for word in words {
        let capability: Capability = word[1..].parse().unwrap();
        policy = if word.starts_with('+') { policy.allow(capability) } else { policy.ask(capability) };
    }
    for (index, line) in lines.enumerate() {
        let (layer, rest) = line.split_once(' ').unwrap();
        let (effect, short) = rest.split_once(' ').unwrap();
        let layer: Layer = layer.parse().unwrap();
        let origin = Origin::new(layer, "rules.toml", index + 1);
        let rule = Rule::parse_short(effect.parse().unwrap(), short, origin).unwrap();
        policy = policy.with_rules(layer, vec![rule]);
    }
    policy
}

/// `rule` is the short form of the rule that decides, empty where capabilities do.
#[track_caller]
fn check(policy_text: &str, tool: &str, arguments: Value, effect: &str, rule: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let what = format!("{tool} {arguments} under {policy_text}");
    let stage = stage();
    let executor = stage.builder(policy(policy_text)).build();
    let ctx = stage.ctx().build();
    let explained = executor.explain(&ctx, tool, arguments.clone()).unwrap();
    let decided_by = explained.rule.as_ref().map_or_else(String::new, ToString::to_string);
    assert_eq!(
        (explained.effect.as_str(), decided_by.as_str()),
        (effect, rule),
        "explain: {what}\n{explained}"
    );
    let validated = match executor.validate(&ctx, tool, arguments.clone()) {
        Ok(checked) => checked.effect.as_str(),
        Err(error) => {
            assert_eq!(error.code(), Code::PermissionDenied, "{error}");
            "deny"
        }
    };
    assert_eq!(validated, effect, "validate: {what}");
    // With nobody to ask, an ask is a denial at once; with a yes, the call runs.
    let alone = runtime.block_on(executor.call(&ctx, tool, arguments.clone()));
    assert_eq!(alone.is_success(), effect == "allow", "call: {what}: {}", code(&alone));
    if !alone.is_success() {
        check_denial(&alone, rule, &what);
    }
    let ctx = stage.ctx().confirm(std::sync::Arc::new(Always(Answer::Yes(Scope::Once)))).build();
    let agreed = runtime.block_on(executor.call(&ctx, tool, arguments));
    assert_eq!(agreed.is_success(), effect != "deny", "agreed: {what}: {}", code(&agreed));
}

/// A denial names its rule, and says what would allow the call.
fn check_denial(outcome: &Outcome, rule: &str, what: &str) {
    let error = outcome.result.as_ref().unwrap_err();
    assert!(matches!(error.code(), Code::PermissionDenied | Code::ProtectedFile), "{what}: {error}");
    let says_how = ["policy must allow", "in the policy", "add the allow rule", "change or remove"]
        .iter()
        .any(|way| error.message().contains(way));
    assert!(says_how, "{what}: {error}");
    if let (Some(named), false) = (error.details().get("rule"), rule.is_empty()) {
        let shown = format!("{}: {}", named["action"].as_str().unwrap(), named["resource"].as_str().unwrap());
        assert_eq!(shown, rule, "{what}");
        assert!(named["file"].is_string() && named["line"].is_number(), "{what}");
    }
}

#[test]
fn capabilities_decide_where_no_rule_does() {
    for (policy, tool, arguments, effect) in [
        ("read-only", "read", json!({"path": "a.txt"}), "allow"),
        ("read-only", "todoread", json!({}), "allow"),
        ("read-only", "log", json!({}), "allow"),
        ("read-only", "noop", json!({}), "allow"),
        ("read-only", "write", json!({"path": "a.txt"}), "deny"),
        ("read-only", "edit", json!({"path": "a.txt"}), "deny"),
        ("read-only", "sweep", json!({}), "deny"),
        ("read-only", "bash", json!({"line": "ls"}), "deny"),
        ("read-only", "webfetch", json!({"line": "example.com"}), "deny"),
        ("standard", "read", json!({"path": "src/main.rs"}), "allow"),
        ("standard", "write", json!({"path": "new/file"}), "allow"),
        ("standard", "write", json!({"paths": ["a", "b"]}), "allow"),
        ("standard", "edit", json!({"path": "a.txt"}), "allow"),
        ("standard", "sweep", json!({}), "allow"),
        ("standard", "bash", json!({"line": "ls"}), "deny"),
        ("standard", "webfetch", json!({"line": "example.com"}), "deny"),
        ("standard +exec", "bash", json!({"line": "ls && rm x"}), "allow"),
        ("standard ?exec", "bash", json!({"line": "ls"}), "ask"),
        ("standard ?network", "webfetch", json!({"line": "example.com"}), "ask"),
        ("standard ?write", "write", json!({"path": "a.txt"}), "ask"),
        ("standard ?write", "sweep", json!({}), "ask"),
        ("standard ?write", "edit", json!({"path": "a.txt"}), "ask"),
        ("privileged", "bash", json!({"line": "rm -rf x"}), "allow"),
        ("privileged", "webfetch", json!({"line": "example.com"}), "allow"),
        ("privileged", "noop", json!({}), "allow"),
    ] {
        check(policy, tool, arguments, effect, "");
    }
}

#[test]
fn rules_decide_by_layer_and_order() {
    for (policy, tool, arguments, effect, rule) in [
        (
            "standard\nuser deny read: docs/**",
            "read",
            json!({"path": "docs/secret.md"}),
            "deny",
            "read: docs/**",
        ),
        ("standard\nuser deny read: docs/**", "read", json!({"path": "docs/../a.txt"}), "allow", ""),
        (
            "standard\nuser deny read: docs/**",
            "read",
            json!({"path": "./src/../docs/secret.md"}),
            "deny",
            "read: docs/**",
        ),
        (
            "standard\nuser deny read: docs/**",
            "read",
            json!({"path": "/workspace/docs/secret.md"}),
            "deny",
            "read: docs/**",
        ),
        ("standard\nuser deny read: docs/**", "todoread", json!({}), "allow", ""),
        ("standard\nuser ask write: src/**", "write", json!({"path": "src/main.rs"}), "ask", "write: src/**"),
        (
            "standard\nuser ask write: src/**",
            "write",
            json!({"paths": ["a.txt", "src/x"]}),
            "ask",
            "write: src/**",
        ),
        ("standard\nuser ask write: src/**", "write", json!({"path": "a.txt"}), "allow", ""),
        (
            "standard\nuser ask write: src/**\nflags allow write: src/main.rs",
            "write",
            json!({"path": "src/main.rs"}),
            "allow",
            "write: src/main.rs",
        ),
        (
            "standard\nuser ask write: src/**\nproject allow write: src/**",
            "write",
            json!({"path": "src/main.rs"}),
            "ask",
            "write: src/**",
        ),
        (
            "standard\nproject deny write: src/**\nflags allow write: *",
            "write",
            json!({"path": "src/main.rs"}),
            "deny",
            "write: src/**",
        ),
        (
            "standard\nuser deny write: src/main.rs\nuser allow write: src/**",
            "write",
            json!({"path": "src/main.rs"}),
            "deny",
            "write: src/main.rs",
        ),
        (
            "standard\nuser allow write: src/**\nuser deny write: src/main.rs",
            "write",
            json!({"path": "src/main.rs"}),
            "allow",
            "write: src/**",
        ),
        (
            "standard\nsession allow bash: cargo test *",
            "bash",
            json!({"line": "cargo test -p x"}),
            "allow",
            "bash: cargo test *",
        ),
        (
            "standard\nsession allow bash: cargo test *",
            "bash",
            json!({"line": "cargo test"}),
            "allow",
            "bash: cargo test *",
        ),
        (
            "standard\nsession allow bash: cargo test *",
            "bash",
            json!({"line": "cargo test && rm x"}),
            "deny",
            "",
        ),
        ("standard\nsession allow bash: cargo test *", "bash", json!({"line": "cargo testify"}), "deny", ""),
        ("standard +exec\nuser deny bash: rm *", "bash", json!({"line": "ls && rm x"}), "deny", "bash: rm *"),
        ("standard +exec\nuser deny exec: rm *", "bash", json!({"line": "rm x"}), "deny", "exec: rm *"),
        (
            "standard +exec\nuser ask bash: git push *",
            "bash",
            json!({"line": "git push origin"}),
            "ask",
            "bash: git push *",
        ),
        ("standard +exec\nuser ask bash: git push *", "bash", json!({"line": "git pull"}), "allow", ""),
        ("standard ?exec\nsaved allow bash: ls", "bash", json!({"line": "ls"}), "allow", "bash: ls"),
        ("standard ?exec\nsaved allow bash: ls", "bash", json!({"line": "ls -la"}), "ask", ""),
        (
            "standard\nuser allow webfetch: docs.rs",
            "webfetch",
            json!({"line": "docs.rs"}),
            "allow",
            "webfetch: docs.rs",
        ),
        (
            "standard\nuser allow webfetch: docs.rs",
            "webfetch",
            json!({"line": "docs.rs.evil.com"}),
            "deny",
            "",
        ),
        (
            "privileged\nuser deny network: *.internal",
            "webfetch",
            json!({"line": "db.internal"}),
            "deny",
            "network: *.internal",
        ),
        ("privileged\nuser deny *: *", "read", json!({"path": "a.txt"}), "deny", "*: *"),
        ("privileged\nuser deny *: *", "noop", json!({}), "deny", "*: *"),
        ("privileged\nproject deny sweep", "sweep", json!({}), "deny", "sweep: *"),
        ("privileged\nuser deny swe*", "sweep", json!({}), "deny", "swe*: *"),
        ("read-only\nuser allow write: a.txt", "write", json!({"path": "a.txt"}), "allow", "write: a.txt"),
        ("read-only\nuser allow write: a.txt", "write", json!({"path": "b.txt"}), "deny", ""),
        ("read-only\nuser allow edit: a.txt", "edit", json!({"path": "a.txt"}), "allow", "edit: a.txt"),
        ("read-only\nproject ask write: *", "write", json!({"path": "a.txt"}), "deny", ""),
        ("standard\nuser deny read: *", "log", json!({}), "allow", ""),
    ] {
        check(policy, tool, arguments, effect, rule);
    }
}

#[test]
fn protected_files_ask_unless_a_rule_says_otherwise() {
    for (policy, tool, arguments, effect, rule) in [
        ("privileged", "read", json!({"path": ".env"}), "ask", "read: .env"),
        ("standard", "read", json!({"path": "/workspace/.env"}), "ask", "read: .env"),
        ("standard", "read", json!({"path": "id_rsa"}), "ask", "read: id_rsa*"),
        ("standard", "write", json!({"path": ".git/hooks/pre-commit"}), "ask", "write: .git/hooks"),
        ("standard", "write", json!({"path": "src/../.GIT/config"}), "ask", "write: .git/config"),
        ("standard", "write", json!({"path": ".mcp.json"}), "ask", "write: .mcp.json"),
        ("standard", "edit", json!({"path": ".bashrc"}), "ask", "write: .bashrc"),
        ("standard\nflags allow read: /.env", "read", json!({"path": ".env"}), "allow", "read: /.env"),
        ("standard\nuser deny read: .env", "read", json!({"path": ".env"}), "deny", "read: .env"),
        ("standard", "write", json!({"path": ".env.example"}), "allow", ""),
        ("standard", "read", json!({"path": "src/main.rs"}), "allow", ""),
    ] {
        check(policy, tool, arguments, effect, rule);
    }
}

#[test]
fn an_agents_policy_only_narrows() {
    let parent = policy("standard ?exec\nuser allow bash: ls");
    let child = policy("privileged\nuser deny read: docs/**");
    let met = child.meet(&parent);
    assert_eq!(met.granted(), parent.granted());
    let ls = [Access::command("ls")];
    let request = toolpost_core::policy::Request { tool: "bash", accesses: &ls };
    assert_eq!(met.decide(&request).effect(), Effect::Allow);
    let docs = [Access::path(Capability::Read, "docs/x")];
    let request = toolpost_core::policy::Request { tool: "read", accesses: &docs };
    assert_eq!(met.decide(&request).effect(), Effect::Deny);
}
