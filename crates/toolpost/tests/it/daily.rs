//! The commands of daily work: a corpus of lines as agents run them, each in a plain shell and in the sandbox, in copies of
//! the same small project. A line works if it ends, prints and leaves behind the same.
//!
//! `cargo xtask daily` runs all of them with and without the network, and writes the table to `docs/daily.md`.

mod corpus;
mod effect;
mod stage;

use corpus::Line;
use effect::{Contents, Effect};
use serde_json::{Value, json};
use stage::Stage;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;

const EXEC: &[&str] = &["--allow", "exec"];
const NETWORK: &[&str] = &["--allow", "exec", "--allow", "network"];

/// How the notes begin that follow the output of a command.
const NOTES: [&str; 15] = [
    "exit code ",
    "no output, exit code ",
    "undo does not cover what it changed in ",
    "ended by ",
    "what it left running",
    "`",
    "the sandbox",
    "commands have no network",
    "commands can make no terminals",
    "it may have waited",
    "the whole output",
    "the processes of the command",
    "refused",
    "1 more name",
    "a dry run",
];

/// What came of a line in the sandbox.
#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    Works,
    /// It did something else, or nothing, and this was said.
    Refused(String),
    /// It did something else, and nothing explains it.
    Differs(String),
}

/// What came of a line.
struct Row {
    line: Line,
    with_exec: Verdict,
    /// None where it was not tried.
    with_network: Option<Verdict>,
    problems: Vec<String>,
}

/// Everything is run, with and without the network; otherwise only what each line needs.
fn is_full() -> bool {
    std::env::var_os("TOOLPOST_DAILY").is_some_and(|value| value == "full")
}

#[test]
fn daily_commands_do_what_they_do_in_a_plain_shell() {
    let lines = corpus::lines();
    let wanted = std::env::var("TOOLPOST_DAILY_LINES").unwrap_or_default();
    let is_wanted = |line: &Line| {
        wanted.is_empty() || line.project == wanted || (wanted.len() > 9 && line.text.contains(&wanted))
    };
    if is_full() {
        let missing: Vec<&&str> = PROGRAMS.iter().filter(|program| !is_installed(program)).collect();
        assert!(missing.is_empty(), "install {missing:?} first: without them the figures say nothing");
    }
    let is_possible = |line: &Line| {
        line.absent.is_none_or(|program| !is_installed(program))
            // Go is too large to be installed for every run of the tests.
            && (line.project != "go" || is_full() || !wanted.is_empty())
    };
    let lines = lines
        .into_iter()
        .enumerate()
        .filter(|(at, line)| is_full() || !wanted.is_empty() || is_told_apart(*at, line));
    let chosen: Vec<Line> =
        lines.map(|(_, line)| line).filter(|line| is_wanted(line) && is_possible(line)).collect();
    let (queue, rows) = (Mutex::new(chosen.into_iter().enumerate()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut stage = Stage::new();
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some((at, line)) = next else { return };
                    let row = judge(&mut stage, line);
                    rows.lock().unwrap().push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(at, _)| *at);
    rows.iter().for_each(|(_, row)| tell(row));
    let problems: Vec<&String> = rows.iter().flat_map(|(_, row)| &row.problems).collect();
    let alone: Vec<&Row> = rows.iter().map(|(_, row)| row).filter(|row| !row.line.needs_network).collect();
    let works = |row: &&&Row| row.with_exec == Verdict::Works;
    let working = alone.iter().filter(works).count();
    println!("measure: daily: {working} of {} lines that need no network work", alone.len());
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n")
    );
    if is_full() {
        let coming = alone.iter().filter(|row| row.line.waits).count();
        // The aim is 97 of 100. Lines that read secrets are in the corpus too, and are rightly refused.
        assert!((working + coming) * 100 >= alone.len() * 95, "{working} and {coming} of {}", alone.len());
    }
}

/// The lines that are run each time: all about which something was decided, and some of the others.
fn is_told_apart(at: usize, line: &Line) -> bool {
    const EACH: usize = 12;
    let is_light = !matches!(line.project, "venv" | "rust" | "go");
    line.is_refused || (line.needs_network && is_light) || (line.waits && is_light) || at.is_multiple_of(EACH)
}

/// Without these the figures of the whole corpus say nothing.
const PROGRAMS: [&str; 12] =
    ["node", "npm", "python3", "go", "git", "make", "cc", "jq", "curl", "wget", "zip", "unzip"];

fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

/// One row for `cargo xtask daily`.
fn tell(row: &Row) {
    let shown = |verdict: &Verdict| match verdict {
        Verdict::Works => json!({"works": true}),
        Verdict::Refused(said) => json!({"refused": without_hash(said)}),
        Verdict::Differs(how) => json!({"differs": how}),
    };
    let told = json!({
        "project": row.line.project,
        "line": row.line.text,
        "needsNetwork": row.line.needs_network,
        "exec": shown(&row.with_exec),
        "network": row.with_network.as_ref().map(shown),
    });
    println!("daily: {told}");
}

/// Cargo names the folder of a registry by a hash of its address and of the machine.
fn without_hash(said: &str) -> String {
    let Some((before, after)) = said.split_once("/registry/index/") else { return said.to_owned() };
    let rest = after.find('/').map_or("", |end| &after[end..]);
    format!("{before}/registry/index/REGISTRY{rest}")
}

#[test]
fn the_folder_of_a_registry_is_told_without_its_hash() {
    let said = "`~/.cargo/registry/index/127.0.0.1-41019625601a6abe/.cache/ti` was refused";
    assert_eq!(without_hash(said), "`~/.cargo/registry/index/REGISTRY/.cache/ti` was refused");
    assert_eq!(without_hash("`a` was refused"), "`a` was refused");
}

fn judge(stage: &mut Stage, line: Line) -> Row {
    let plain = in_plain_shell(stage, &line);
    let with_exec = in_sandbox(stage, &line, EXEC, &plain);
    let is_tried = line.needs_network || is_full();
    let with_network = is_tried.then(|| in_sandbox(stage, &line, NETWORK, &plain));
    let mut problems = Vec::new();
    let mut problem = |text: String| problems.push(format!("{}: `{}`: {text}", line.project, line.text));
    match (&with_exec, line.needs_network, line.is_refused) {
        (Verdict::Works, _, _) if line.waits => problem("it works now: remove `@waits`".to_owned()),
        _ if line.waits => {}
        (Verdict::Works, true, _) => problem("it works without the network".to_owned()),
        (Verdict::Refused(said), true, _) if said.contains("--allow network") => {}
        (other, true, _) => problem(format!("the network is not named: {other:?}")),
        (Verdict::Works, false, false) => {}
        (Verdict::Works, false, true) => problem("it is not refused any more: remove `@refused`".to_owned()),
        (Verdict::Refused(said), false, true) => {
            if let Some(text) = flags_do_not_work(stage, &line, said, &plain) {
                problem(text);
            }
        }
        (other, false, _) => problem(format!("{other:?}")),
    }
    match &with_network {
        Some(Verdict::Works) | None => {}
        Some(_) if line.waits => {}
        Some(Verdict::Refused(_)) if line.is_refused => {}
        Some(other) => problem(format!("with the network: {other:?}")),
    }
    Row { line, with_exec, with_network, problems }
}

/// Tries the flags that a refusal names: with them, the line must work.
fn flags_do_not_work(stage: &mut Stage, line: &Line, said: &str, plain: &Effect) -> Option<String> {
    let rules = rules_in(said);
    if rules.is_empty() {
        return Some(format!("no flag is named: {said}"));
    }
    let mut flags: Vec<&str> = EXEC.to_vec();
    rules.iter().for_each(|rule| flags.extend(["--allow-rule", rule.as_str()]));
    match in_sandbox(stage, line, &flags, plain) {
        Verdict::Works => None,
        other => Some(format!("with {rules:?} of {said:?}: {other:?}")),
    }
}

/// The rules behind `--allow-rule` in a text, as a shell would read them.
fn rules_in(text: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for part in text.split("--allow-rule '").skip(1) {
        let quoted = part.replace(r"'\''", "\u{1}");
        let rule = quoted.split('\'').next().unwrap_or_default().replace('\u{1}', "'");
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn contents(line: &Line) -> Contents {
    if line.writes_differently { Contents::Ignored } else { Contents::Compared }
}

fn in_plain_shell(stage: &mut Stage, line: &Line) -> Effect {
    stage.set(line.project);
    // The line may use `/tmp`, which is everybody's here: what is left there by one must not be seen by the other.
    let text = stage.line(&line.text);
    let private = stage.private_temporary();
    let script = format!("exec 2>&1; {text}");
    let mut command = stage.command("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c"]);
    // Where the project itself lies in `/tmp`, its Python is still there.
    let keep = "case $3 in /tmp/*) mkdir -p \"$1${3#/tmp}\" && mount --bind \"$3\" \"$1${3#/tmp}\";; esac";
    let enter = "mount --rbind \"$1\" /tmp && exec bash --noprofile --norc -c \"$2\"";
    command.arg(format!("{keep} && {enter}"));
    command.arg("bash").arg(private).arg(script).arg(stage.python());
    let done = command.stdin(Stdio::null()).output().unwrap();
    let status = done.status.code().map_or(-1, i64::from);
    let output = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    Effect::new(status, &output, &stage.project(), &stage.home(), contents(line))
}

fn in_sandbox(stage: &mut Stage, line: &Line, flags: &[&str], plain: &Effect) -> Verdict {
    stage.set(line.project);
    let arguments = json!({"command": stage.line(&line.text)}).to_string();
    let mut command = stage.command(env!("CARGO_BIN_EXE_toolpost"));
    command.args(["call", "bash", &arguments, "--json"]).args(flags);
    let done = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    let answer: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}: {text}{done:?}", line.text));
    if answer["success"] != true {
        let said = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        return Verdict::Refused(said);
    }
    let data = &answer["data"];
    let status = data["exitCode"].as_i64().unwrap_or_else(|| 128 + data["signal"].as_i64().unwrap_or(0));
    let (output, notes) = parted(answer["output"].as_str().unwrap_or_default());
    let effect = Effect::new(status, &output, &stage.project(), &stage.home(), contents(line));
    let differences = plain.differences(&effect, !line.prints_differently);
    if differences.is_empty() {
        return Verdict::Works;
    }
    let said: Vec<&str> =
        notes.iter().filter(|note| !note.contains("exit code")).map(String::as_str).collect();
    match said.is_empty() {
        true => Verdict::Differs(differences.join("; ")),
        false => Verdict::Refused(said.join(" ")),
    }
}

/// An output and the notes behind it.
fn parted(text: &str) -> (String, Vec<String>) {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut notes = Vec::new();
    while let Some(note) = lines.last().and_then(|line| line.strip_prefix('[')?.strip_suffix(']')) {
        if !NOTES.iter().any(|begin| note.starts_with(begin)) {
            break;
        }
        notes.push(note.to_owned());
        lines.pop();
    }
    notes.reverse();
    (lines.join("\n"), notes)
}
