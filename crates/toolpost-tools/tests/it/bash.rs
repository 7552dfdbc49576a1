//! `bash` through the executor: real commands in the sandbox that the policy implies.

mod many;

use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use crate::{data, folder, run, shown};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolpost_core::event::{EventKind, EventSink};
use toolpost_core::host::{ContextBuilder, Redactor};
use toolpost_core::policy::Profile;
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::{Call, Capability, Code, Context, Event, Outcome, Policy, Registry};
use toolpost_disk::Disk;
use toolpost_disk::{SpillFolder, SpillLimits};
use toolpost_tools::Settings;
use toolpost_tools::shell::{self, Confinement};

/// A workspace with a repository, a secret and a source file.
pub(crate) fn ground() -> TempDir {
    let folder = folder();
    let root = folder.path();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join(".git/config"), "[core]\n").unwrap();
    fs::write(root.join(".env"), "TOKEN=canary\n").unwrap();
    fs::write(root.join("src/a.txt"), "one\n").unwrap();
    folder
}

pub(crate) fn executor(policy: Policy, shell: shell::Settings) -> Executor {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &Settings { shell, ..Settings::default() }).unwrap();
    Executor::new(registry, policy)
}

pub(crate) fn session(root: &Path) -> ContextBuilder {
    let spill = Arc::new(SpillFolder::new(root.join("../spill-of-test"), SpillLimits::default()));
    Context::builder(Arc::new(Disk::open([root]).unwrap())).session("s").spill(spill)
}

pub(crate) fn standard_and_exec() -> Policy {
    Policy::profile(Profile::Standard).allow(Capability::Exec)
}

fn bash(root: &Path, args: Value) -> Outcome {
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let ctx = session(root).build();
    run(async { executor.run(&ctx, Call::new("bash", args)).await })
}

#[test]
fn the_text_is_the_output_and_says_how_it_ended() {
    let ground = ground();
    for (command, expected) in [
        ("echo hi", "hi\n"),
        ("printf hi", "hi"),
        ("true", "[no output, exit code 0]"),
        ("echo hi; exit 3", "hi\n[exit code 3]"),
        ("kill -9 $$", "[ended by signal 9 (SIGKILL)]"),
        ("no-such-program x", "bash: line 1: no-such-program: command not found\n[exit code 127]"),
        ("printf '\\033[31mred\\033[0m 10%%\\r20%%\\n'", "20%\n"),
        ("cat src/a.txt", "one\n"),
        ("pwd | sed 's|.*/||' | wc -l", "1\n"),
    ] {
        assert_eq!(shown(&bash(ground.path(), json!({ "command": command }))), expected, "{command}");
    }
    let outcome = bash(ground.path(), json!({"command": "cat; exit 4", "stdin": "given", "workdir": "src"}));
    assert_eq!(shown(&outcome), "given\n[exit code 4]");
    assert_eq!((&data(&outcome)["exitCode"], &data(&outcome)["sandbox"]), (&json!(4), &json!("strict")));
    let outcome = bash(ground.path(), json!({"command": "ls", "workdir": "src"}));
    assert_eq!(shown(&outcome), "a.txt\n");
    let outcome = bash(ground.path(), json!({"command": "ls", "workdir": "src/a.txt"}));
    assert!(shown(&outcome).contains("a command runs in a folder"), "{}", shown(&outcome));
}

#[test]
fn guarantee_10_what_came_before_the_time_out_is_kept() {
    let ground = ground();
    let started = Instant::now();
    let outcome = bash(
        ground.path(),
        json!({"command": "echo before; setsid sleep 1000 & sleep 1000", "timeout": 600}),
    );
    assert!(started.elapsed() < stretched(Duration::from_millis(3_600)), "{:?}", started.elapsed());
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert!(error.message().contains("after 600 ms"), "{error}");
    assert!(
        error.message().contains("timeout=2400") && error.message().contains("background=true"),
        "{error}"
    );
    assert!(error.message().ends_with("What it had printed:\nbefore"), "{error}");
}

#[test]
fn a_command_that_waits_for_the_network_until_its_time_is_over_is_told_so() {
    let ground = ground();
    let retries =
        "while :; do getent hosts example.invalid || echo 'Could not resolve host'; sleep 0.1; done";
    let outcome = bash(ground.path(), json!({"command": retries, "timeout": 2_000}));
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert!(
        error.message().contains("It seems to have waited for the network, which it does not have"),
        "{error}"
    );
    let outcome = bash(ground.path(), json!({"command": "echo at work; sleep 60", "timeout": 600}));
    assert!(!outcome.to_text().contains("network"), "{}", outcome.to_text());
}

#[test]
fn guarantee_09_a_cancelled_call_ends_its_command() {
    let ground = ground();
    let cancel = CancellationToken::new();
    let ctx = session(ground.path()).cancel(cancel.clone()).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let outcome = run(async {
        let call = executor.run(
            &ctx,
            Call::new("bash", json!({"command": "echo began; touch began; sleep 3; touch late; sleep 60"})),
        );
        let stop = async {
            while !ground.path().join("began").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
        };
        tokio::join!(call, stop).0
    });
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    assert!(error.message().contains("began"), "{error}");
    std::thread::sleep(Duration::from_millis(3_200));
    assert!(!ground.path().join("late").exists(), "the command went on");
}

#[test]
fn guarantee_10_a_flood_is_cut_and_the_whole_can_be_read() {
    let ground = ground();
    let spilled = ground.path().join("keep");
    let spill = Arc::new(SpillFolder::new(&spilled, SpillLimits::default()));
    let ctx =
        Context::builder(Arc::new(Disk::open([ground.path()]).unwrap())).session("s").spill(spill).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let outcome = run(executor.run(&ctx, Call::new("bash", json!({"command": "seq 1 3000000"}))));
    let text = shown(&outcome);
    assert!(text.len() <= 30_000, "{}", text.len());
    assert!(text.starts_with("1\n2\n3\n") && text.trim_end().ends_with("\n3000000"), "{text}");
    assert!(text.contains("of 22888896 bytes (3000000 lines in all)"), "{text}");
    let truncated = outcome.metadata.truncated.as_ref().unwrap();
    let handle = truncated.handle.clone().unwrap();
    assert_eq!((truncated.total_bytes, truncated.kept_bytes), (22_888_896, 22_888_896));
    let read = run(executor.run(&ctx, Call::new("read", json!({"filePath": handle, "offset": 2_999_999}))));
    assert!(shown(&read).contains("2999999: 2999999\n3000000: 3000000"), "{}", shown(&read));
    let few =
        run(executor.run(&ctx, Call::new("bash", json!({"command": "seq 1 3000", "maxOutputTokens": 100}))));
    assert!(shown(&few).len() < 900, "{}", shown(&few));
}

#[test]
fn guarantee_12_no_secret_is_seen_by_a_command() {
    let ground = ground();
    let outside = folder();
    fs::write(outside.path().join("key"), "canary").unwrap();
    let ctx = session(ground.path()).redactor(Redactor::new([("K", "known-secret-value")])).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let line = format!(
        "env; cat .env {}/key /proc/1/environ /proc/*/environ 2>/dev/null; ls /proc/self/fd | wc -l; echo known-secret-''value",
        outside.path().display()
    );
    let outcome = run(executor.run(&ctx, Call::new("bash", json!({ "command": line }))));
    let text = shown(&outcome);
    assert!(text.contains("PATH=") && !text.contains("canary"), "{text}");
    assert!(text.contains("4\n[redacted"), "0, 1, 2 and the folder that is listed: {text}");
    assert!(text.contains("[redacted:K]") && !text.contains("known-secret-value"), "{text}");
}

#[test]
fn the_sandbox_follows_the_policy() {
    let ground = ground();
    let root = ground.path();
    let ctx = session(root).build();
    let run_under = |policy: Policy, command: &str| {
        let executor = executor(policy, shell::Settings::default());
        run(executor.run(&ctx, Call::new("bash", json!({ "command": command }))))
    };
    // Without the right to write nothing is written.
    let read_only = Policy::profile(Profile::ReadOnly).allow(Capability::Exec);
    let outcome = run_under(read_only, "touch src/new");
    assert!(shown(&outcome).contains("Read-only file system"), "{}", shown(&outcome));
    assert!(
        shown(&outcome).contains("write is not granted; allow write in the policy"),
        "{}",
        shown(&outcome)
    );
    // A rule on a folder holds for commands too.
    let rule = |effect, action: &str, resource: &str| {
        Rule::new(effect, action, resource, Origin::new(Layer::User, "test", 1)).unwrap()
    };
    let policy = standard_and_exec().with_rules(
        Layer::User,
        vec![rule(Effect::Deny, "write", "/src/**"), rule(Effect::Deny, "write", "/src")],
    );
    let outcome = run_under(policy, "touch src/new && touch free");
    assert_eq!(data(&outcome)["exitCode"], json!(1), "{}", shown(&outcome));
    let policy = standard_and_exec().with_rules(Layer::User, vec![rule(Effect::Deny, "read", "/src/a.txt")]);
    assert!(shown(&run_under(policy, "cat src/*")).contains("Permission denied"));
    // What a rule opens is open.
    let policy = standard_and_exec().with_rules(
        Layer::User,
        vec![rule(Effect::Allow, "read", "/.env"), rule(Effect::Allow, "write", "/.mcp.json")],
    );
    assert_eq!(shown(&run_under(policy, "cp .env .mcp.json; cat .mcp.json")), "TOKEN=canary\n");
    let outcome = run_under(standard_and_exec(), "cp src/a.txt .vimrc");
    assert_eq!(data(&outcome)["exitCode"], json!(1), "{}", shown(&outcome));
    assert!(!root.join(".vimrc").exists() && !root.join("src/new").exists());
}

/// Under a rule for `git commit`, the program that git calls an editor would be any program.
#[test]
fn git_in_a_command_starts_no_editor() {
    let ground = ground();
    let root = ground.path();
    fs::remove_dir_all(root.join(".git")).unwrap();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(root).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    for (key, value) in [
        ("user.name", "A"),
        ("user.email", "a@example.org"),
        ("core.editor", "touch planted; true"),
        ("sequence.editor", "touch planted; true"),
        // It would go on behind the command.
        ("maintenance.auto", "false"),
        ("gc.auto", "0"),
    ] {
        git(&["config", key, value]);
    }
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    let outcome =
        bash(root, json!({"command": "git commit -q --amend --allow-empty; git log -1 --format=%s"}));
    assert_eq!(shown(&outcome), "one\n", "{}", outcome.to_json());
    assert!(!root.join("planted").exists());
}

#[test]
fn rules_judge_every_command_of_the_line() {
    let ground = ground();
    let ctx = session(ground.path()).build();
    let rule = Rule::parse_short(Effect::Allow, "bash: ls *", Origin::new(Layer::Flags, "flag", 0)).unwrap();
    let policy = Policy::profile(Profile::Standard).with_rules(Layer::Flags, vec![rule]);
    let executor = executor(policy, shell::Settings::default());
    let under = |command: &str| run(executor.run(&ctx, Call::new("bash", json!({ "command": command }))));
    assert_eq!(shown(&under("ls src")), "a.txt\n");
    for command in
        ["ls src && rm src/a.txt", "ls $(rm src/a.txt)", "ls > /dev/null; touch x", "sh -c 'touch x'"]
    {
        let outcome = under(command);
        assert_eq!(outcome.result.as_ref().unwrap_err().code(), Code::PermissionDenied, "{command}");
    }
    assert!(ground.path().join("src/a.txt").exists() && !ground.path().join("x").exists());
}

#[test]
fn what_is_left_running_is_ended_and_told() {
    let ground = ground();
    let outcome = bash(ground.path(), json!({"command": "setsid sleep 1000 & sleep 0.2; echo done"}));
    let text = shown(&outcome);
    assert!(
        text.starts_with("done\n[what it left running was ended with the command: `sleep 1000`"),
        "{text}"
    );
    assert_eq!(data(&outcome)["survivors"][0]["name"], json!("sleep 1000"));
}

/// What was streamed, and when.
#[derive(Default)]
struct Seen(Mutex<Vec<(Instant, String)>>);

impl EventSink for Seen {
    fn record(&self, event: &Arc<Event>) {
        if let EventKind::Progress { metadata, .. } = &event.kind {
            let text = metadata["output"].as_str().unwrap_or_default().to_owned();
            self.0.lock().unwrap().push((Instant::now(), text));
        }
    }
}

#[test]
fn a_secret_that_comes_in_pieces_is_not_streamed() {
    let secret = "canary-0123456789abcdef";
    let flood = format!(
        "yes | head -c 9000; printf {}; sleep 0.4; echo {}; yes | head -c 4085",
        &secret[..9],
        &secret[9..]
    );
    for command in
        ["printf 'a canary-012'; sleep 0.4; printf 3456789abc; sleep 0.4; echo def; echo more", &flood]
    {
        let ground = ground();
        let seen = Arc::new(Seen::default());
        let redactor = Redactor::new([("KEY", secret)]);
        let ctx = session(ground.path()).events(seen.clone()).redactor(redactor).build();
        let executor = executor(standard_and_exec(), shell::Settings::default());
        run(executor.run(&ctx, Call::new("bash", json!({"command": command}))));
        let streamed: String = seen.0.lock().unwrap().iter().map(|(_, text)| text.as_str()).collect();
        assert!(!streamed.contains("canary-0") && !streamed.contains("9abcdef"), "{streamed}");
        assert!(!streamed.is_empty(), "{command}");
    }
}

#[test]
fn output_is_streamed_as_it_comes() {
    let ground = ground();
    let seen = Arc::new(Seen::default());
    let ctx = session(ground.path()).events(seen.clone()).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let outcome =
        run(executor.run(&ctx, Call::new("bash", json!({"command": "echo first; sleep 1; echo second"}))));
    let ended = Instant::now();
    assert_eq!(shown(&outcome), "first\nsecond\n");
    let seen = seen.0.lock().unwrap();
    let texts: Vec<&str> = seen.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["first\n", "second\n"]);
    assert!(ended - seen[0].0 > Duration::from_millis(900), "the first line came with the second");
}

#[test]
fn a_command_that_wants_an_answer_gets_a_hint() {
    let ground = ground();
    let outcome = bash(
        ground.path(),
        json!({"command": "read -p 'Continue? [y/N] ' x || { echo 'Continue? [y/N]'; exit 1; }"}),
    );
    assert!(shown(&outcome).contains("it may have waited for an answer"), "{}", shown(&outcome));
    let outcome = bash(ground.path(), json!({"command": "curl -sS http://example.com"}));
    let told = "[commands have no network here; the policy must allow network]";
    assert!(shown(&outcome).contains(told), "{}", shown(&outcome));
}

#[test]
fn without_a_sandbox_only_by_name() {
    let ground = ground();
    let settings = shell::Settings { confinement: Confinement::None, ..shell::Settings::default() };
    let executor = executor(standard_and_exec(), settings);
    let ctx = session(ground.path()).build();
    let outcome =
        run(executor
            .run(&ctx, Call::new("bash", json!({"command": "cat .env; setsid sleep 1000 & sleep 0.2"}))));
    assert!(shown(&outcome).starts_with("TOKEN=canary\n"), "{}", shown(&outcome));
    assert_eq!(data(&outcome)["sandbox"], json!("none"));
    assert_eq!(data(&outcome)["survivors"][0]["name"].as_str().unwrap().split(' ').next_back(), Some("1000"));
}

#[test]
fn a_workspace_that_is_not_on_disk_has_no_commands() {
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let outcome = run(executor.run(&Context::in_memory(), Call::new("bash", json!({"command": "true"}))));
    assert!(shown(&outcome).contains("commands need a workspace on disk"), "{}", shown(&outcome));
}

#[test]
fn nothing_goes_on_in_the_background_of_a_process_that_ends() {
    let ground = ground();
    let outcome = bash(ground.path(), json!({"command": "sleep 5", "background": true}));
    assert!(shown(&outcome).contains("nothing can go on in the background here"), "{}", shown(&outcome));
}

/// Policies under which the network, and nothing else, differs.
fn call_with(root: &Path, policy: Policy, confinement: Confinement, command: &str) -> Outcome {
    let executor = executor(policy, shell::Settings { confinement, ..shell::Settings::default() });
    let ctx = session(root).build();
    run(async { executor.run(&ctx, Call::new("bash", json!({ "command": command }))).await })
}

#[test]
fn a_file_with_a_computed_name_is_judged_when_the_line_runs() {
    let ground = ground();
    let root = ground.path();
    for (command, expected) in [
        ("OUT=out.txt; echo hi > \"$OUT\"; cat out.txt", "hi\n"),
        ("f=src/a; cat < $f.txt", "one\n"),
        ("f=src/a.txt; cat < \"$f\"", "one\n"),
        ("echo x > \"$(date +%F).log\" && ls *-*-*.log | wc -l", "1\n"),
        ("for f in a b; do echo $f > $f.txt; done; cat a.txt b.txt", "a\nb\n"),
        ("tmp=$(mktemp); echo x > \"$tmp\"; wc -l < \"$tmp\"", "1\n"),
        ("exec 3<> ${x:-both}; echo y >&3; cat both", "y\n"),
        ("echo hi > /tmp/x && cat < /tmp/x", "hi\n"),
        ("mkdir -p /tmp/d && echo hi > /tmp/d/x && cd /tmp && echo y > y && cat d/x y", "hi\ny\n"),
    ] {
        assert_eq!(shown(&bash(root, json!({ "command": command }))), expected, "{command}");
    }
    // The kernel holds it to what the policy leaves.
    for (command, file) in [
        ("f=.env; cat < \"$f\"", None),
        ("f=../outside; echo x > \"$f\"", Some("../outside")),
        ("f=.mcp.json; echo x > \"$f\"", Some(".mcp.json")),
        ("f=.git/hooks/pre-commit; echo x > $f", Some(".git/hooks/pre-commit")),
    ] {
        let outcome = bash(root, json!({ "command": command }));
        // Beside the workspace it may have written to a temporary folder of its own.
        let is_private = command.contains("..");
        assert!(is_private || data(&outcome)["exitCode"] != json!(0), "{command}");
        assert!(!shown(&outcome).contains("canary"), "{command}");
        assert!(file.is_none_or(|file| !root.join(file).exists()), "{command}");
    }
    // A rule that asks counts as one that denies, since nobody can be asked any more.
    let with = |effect| {
        let rule = Rule::new(effect, "write", "*.lock", Origin::new(Layer::User, "rules.toml", 1)).unwrap();
        standard_and_exec().with_rules(Layer::User, vec![rule])
    };
    for effect in [Effect::Ask, Effect::Deny] {
        let outcome = call_with(root, with(effect), Confinement::Strict, "f=a; echo x > $f.lock");
        assert_eq!(data(&outcome)["exitCode"], json!(1), "{}", shown(&outcome));
        assert!(
            shown(&outcome).contains("write: *.lock") && !root.join("a.lock").exists(),
            "{}",
            shown(&outcome)
        );
    }
}

/// Without a sandbox nothing judges a file when it is opened, so that each rule counts which could be about it.
#[test]
fn guarantee_38_a_file_that_cannot_be_told_needs_a_sandbox() {
    let ground = ground();
    let root = ground.path();
    std::fs::create_dir_all(root.join("closed/sub")).unwrap();
    std::fs::write(root.join("closed/x"), "SECRET\n").unwrap();
    let rule = |effect, action, resource| {
        Rule::new(effect, action, resource, Origin::new(Layer::User, "rules.toml", 1)).unwrap()
    };
    let closed = ["read", "write"].map(|action| rule(Effect::Deny, action, "/closed/**"));
    let granted = || standard_and_exec().allow(Capability::Network);
    let narrow = ["echo *", "cat *", "sort *"].map(|line| rule(Effect::Allow, "bash", line));
    let narrow = Policy::profile(Profile::Standard).with_rules(Layer::User, narrow.to_vec());
    for line in [
        "eval 'echo E > closed/x'",
        "trap 'echo E > closed/x' EXIT",
        "eval 'cd closed'; echo E > x",
        "pushd closed; echo E > x",
        "cd $PWD/closed; echo E > x",
        "cd clo*; echo E > x",
        "builtin cd closed; echo E > x",
        "f() { cd closed; }; f; echo E > x",
        "cd .; cd closed; echo E > x",
        "cd closed; cd sub; cd ..; cat < x",
        "echo E > clos?d/x",
        "echo E > closed/[x]",
        "cat < clos?d/x",
        "echo E > ~+/closed/x",
        "echo E > /proc/self/cwd/closed/x",
        "cat < /dev/fd/../cwd/closed/x",
        "sort -oclosed/x in",
        "sort --outp closed/x in",
        "uniq in closed/x",
    ] {
        for policy in [granted().with_rules(Layer::User, closed.to_vec()), granted(), narrow.clone()] {
            let outcome = call_with(root, policy, Confinement::None, line);
            let text = shown(&outcome);
            assert!(text.contains("PERMISSION_DENIED"), "{line}: {text}");
            assert_eq!(std::fs::read_to_string(root.join("closed/x")).unwrap(), "SECRET\n", "{line}");
        }
    }
    for line in [
        "git -C closed log --output=x",
        "env -C closed tee x <<< E",
        "cd closed; echo E > x",
        "cd -- closed; echo E > x",
    ] {
        let policy = granted().with_rules(Layer::User, closed.to_vec());
        let outcome = call_with(root, policy, Confinement::None, line);
        assert!(shown(&outcome).contains("PERMISSION_DENIED"), "{line}: {}", shown(&outcome));
    }
    for line in ["cd sub 2>/dev/null; echo x > out", "echo x > out", "cat < /proc/meminfo > /dev/null"] {
        let outcome = call_with(root, granted(), Confinement::None, line);
        assert!(!shown(&outcome).contains("PERMISSION_DENIED"), "{line}: {}", shown(&outcome));
    }
}

#[test]
fn a_computed_name_widens_no_rule_and_needs_a_sandbox() {
    let ground = ground();
    let root = ground.path();
    std::fs::write(root.join("in"), "in\n").unwrap();
    let lines = ["f=out; echo x > \"$f\"", "f=in; cat < \"$f\"", "f=out; echo x > $f.txt"];
    let rule = |effect, action, resource| {
        Rule::new(effect, action, resource, Origin::new(Layer::User, "rules.toml", 1)).unwrap()
    };
    let denied = |policy: Policy, confinement, line: &str, says: &str| {
        let outcome = call_with(root, policy, confinement, line);
        let text = shown(&outcome);
        assert!(text.contains("PERMISSION_DENIED") && text.contains(says), "{line}: {text}");
        assert!(!root.join("out").exists() && !root.join("out.txt").exists(), "{line}");
    };
    let narrow = vec![rule(Effect::Allow, "bash", "echo *"), rule(Effect::Allow, "bash", "cat *")];
    let narrow = Policy::profile(Profile::Standard).with_rules(Layer::User, narrow);
    let granted = || standard_and_exec().allow(Capability::Network);
    let no_host = vec![rule(Effect::Deny, "network", "example.com")];
    for line in lines {
        denied(narrow.clone(), Confinement::Strict, line, "whose name is computed");
        denied(standard_and_exec(), Confinement::None, line, "");
        denied(granted(), Confinement::None, line, "without a sandbox it is not checked later");
        // Bash connects to computed names, so with the network every rule about hosts could be meant.
        denied(granted().with_rules(Layer::User, no_host.clone()), Confinement::Strict, line, "example.com");
    }
    let without = standard_and_exec().with_rules(Layer::User, no_host);
    for policy in [without, granted(), standard_and_exec()] {
        let outcome = call_with(root, policy, Confinement::Strict, "f=in; cat < \"$f\"");
        assert_eq!(shown(&outcome), "in\n");
    }
    // Nothing is reached by a computed name without the network.
    let line = "h=127.0.0.1; exec 3<>/dev/tcp/$h/9 || echo no network";
    let outcome = call_with(root, standard_and_exec(), Confinement::Strict, line);
    assert!(shown(&outcome).contains("no network"), "{}", shown(&outcome));
}
