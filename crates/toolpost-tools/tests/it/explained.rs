//! Guarantee 46: what an explanation says of a call is what then happens. What happens is seen by making the call: in the real
//! sandbox, on real files, with a real server; and, for a command, by running the same line without any sandbox.

mod lines;

use crate::bash::{executor, session};
use crate::fixed::Fixed as Executor;
use crate::mutations::Random;
use crate::{count, folder, names, run, seed};
use lines::Line;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use toolpost_core::policy::{
    Effect, Explanation, Layer, NamedPlace, Openness, Origin, Outlook, PlaceUse, Profile, Rule, Standing,
};
use toolpost_core::{Call, Capability, Context, Outcome, Policy};
use toolpost_tools::shell;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Files of the workspace; every one holds a line of its own.
const FILES: &[&str] = &[
    "a.txt",
    "b.txt",
    "secret.txt",
    "key.pem",
    ".env",
    ".mcp.json",
    "src/a.txt",
    "src/.env",
    "src/deep/c.txt",
    "notes/plan.md",
    ".vscode/settings.json",
    "node_modules/p/index.js",
    "node_modules/p/.env",
];

/// The exit code of a line, what it printed, and the files afterwards.
type Unconfined = (Option<i32>, Vec<String>, Vec<(PathBuf, Vec<u8>)>);

/// Names that are not there.
const ABSENT: &[&str] = &[
    "new.txt",
    "src/new.txt",
    ".vscode/tasks.json",
    ".envrc",
    "src/.envrc",
    ".gitmodules",
    ".git/hooks/pre-commit",
    "notes/.env",
    ".github/workflows/ci.yml",
];

const LINKS: &[(&str, &str)] =
    &[("to-env", ".env"), ("to-a", "a.txt"), ("to-src", "src"), ("to-nothing", "gone.txt")];

/// A folder in which one case after the other happens.
struct World {
    _folder: TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> World {
        let folder = folder();
        let base = folder.path().canonicalize().unwrap();
        let world = World { root: base.join("w"), home: base.join("home"), _folder: folder };
        world.fill();
        world
    }

    /// Everything as at the beginning.
    fn fill(&self) {
        // The folder itself stays: the workspace holds it open.
        for path in [&self.root, &self.home] {
            fs::create_dir_all(path).unwrap();
            for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap().is_dir() {
                    true => fs::remove_dir_all(entry.path()).unwrap(),
                    false => fs::remove_file(entry.path()).unwrap(),
                }
            }
        }
        for file in FILES {
            let path = self.root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("x of {file}\n")).unwrap();
        }
        for (link, target) in LINKS {
            symlink(target, self.root.join(link)).unwrap();
        }
        for folder in [".git/hooks", ".git/objects", ".git/refs/heads", ".github/workflows", "empty"] {
            fs::create_dir_all(self.root.join(folder)).unwrap();
        }
        fs::write(self.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(self.root.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n").unwrap();
        fs::write(self.root.join("Makefile"), "all:\n\t@cat .env; touch .envrc\n").unwrap();
        fs::write(self.root.join("script.sh"), "#!/bin/sh\ncat .env src/a.txt\ntouch .envrc\n").unwrap();
        fs::set_permissions(self.root.join("script.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// All files with their contents.
    fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    open.push(path.clone());
                    found.push((path, b"folder".to_vec()));
                } else if kind.is_symlink() {
                    found.push((
                        path.clone(),
                        fs::read_link(path).unwrap().into_os_string().into_encoded_bytes(),
                    ));
                } else {
                    found.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    /// What the line does where nothing confines it.
    fn unconfined(&self, line: &str) -> Unconfined {
        self.fill();
        let mut child = Command::new("bash")
            .args(["--noprofile", "--norc", "-c", line])
            .current_dir(&self.root)
            .env_clear()
            .envs([("PATH", PATH), ("HOME", self.home.to_str().unwrap()), ("TERM", "dumb")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut printed = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut printed).unwrap();
        child.stderr.take().unwrap().read_to_end(&mut printed).unwrap();
        let status = child.wait().unwrap();
        (status.code(), printed_lines(&String::from_utf8_lossy(&printed)), self.tree())
    }
}

/// The lines of an output in some order, without what is said beside it.
fn printed_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().filter(|line| !line.starts_with('[') && !line.is_empty()).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A server on this machine that says the same to everybody.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut connection = connection;
            let _ = connection.set_read_timeout(Some(Duration::from_millis(200)));
            let _ = connection.read(&mut [0; 2048]);
            let _ = connection
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nhi\n");
        }
    });
    port
}

/// One policy.
fn policy(random: &mut Random, port: u16) -> (Policy, String) {
    let profile = random.pick(&[Profile::Standard, Profile::Standard, Profile::Standard, Profile::ReadOnly]);
    let mut policy = Policy::profile(profile);
    let mut told = format!("{profile:?}");
    for (capability, of_ten) in [(Capability::Exec, 8), (Capability::Network, 3)] {
        if random.below(10) < of_ten {
            policy = policy.allow(capability);
            told += &format!(" +{capability}");
        } else if random.below(4) == 0 {
            policy = policy.ask(capability);
            told += &format!(" ?{capability}");
        }
    }
    let resources: Vec<String> = FILES
        .iter()
        .chain(ABSENT)
        .map(|file| format!("/{file}"))
        .chain(
            ["*.txt", "**", "src/**", "/src/**", ".env", "*.md", "/notes/**", "/src", "new.txt"]
                .map(str::to_owned),
        )
        .collect();
    let names = names();
    for _ in 0..random.below(5) {
        let effect = random.pick(&[Effect::Allow, Effect::Ask, Effect::Deny, Effect::Deny]);
        let layer = random.pick(&[Layer::Flags, Layer::User, Layer::Project]);
        let resource = &resources[random.below(resources.len())];
        let action = random.pick(&["read", "write", "read", "write", "edit", "list"]);
        let text = match random.below(8) {
            0 => format!("bash: {}", random.pick(&["cat *", "*", "touch *", "make", "rm *", "cat .env"])),
            1 => format!("network: {}", random.pick(&["127.0.0.1", "*", "localhost"])),
            2 => format!("webfetch: 127.0.0.1:{port}"),
            _ => format!("{action}: {resource}"),
        };
        // A project's rule that allows needs trust, which is not the policy's matter.
        let rule = Rule::parse_short(effect, &text, Origin::new(layer, "test", 1)).unwrap();
        told += &format!(" {layer}:{effect} `{text}`");
        policy = policy.with_rules(layer, vec![rule]);
    }
    (policy.with_names(&names), told)
}

/// A call of a tool that opens files or hosts itself, or several in one.
fn own_call(random: &mut Random, root: &Path, port: u16) -> (&'static str, Value) {
    if random.below(8) > 0 {
        return single_call(random, root, port);
    }
    let calls: Vec<Value> = (0..1 + random.below(3))
        .map(|_| {
            let (tool, args) = single_call(random, root, port);
            json!({"tool": tool, "args": args})
        })
        .collect();
    ("batch", json!({ "calls": calls }))
}

fn single_call(random: &mut Random, root: &Path, port: u16) -> (&'static str, Value) {
    let all: Vec<&str> =
        FILES.iter().chain(ABSENT).copied().chain(LINKS.iter().map(|(link, _)| *link)).collect();
    let outside = ["/etc/hostname", "../w2/a.txt", "src/../../w2/a.txt"];
    let file = match random.below(10) {
        0 => random.pick(&outside).to_owned(),
        1 => root.join(random.pick(&all)).display().to_string(),
        2 => format!("./src/../{}", random.pick(&all)),
        _ => random.pick(&all).to_owned(),
    };
    let folder = random.pick(&["src", ".", "notes", "to-src", ".git", "node_modules", "..", "empty"]);
    let read = json!({ "filePath": file });
    let write = json!({"filePath": file, "content": "new\n"});
    match random.below(12) {
        0 | 1 => ("read", read),
        2 => ("Read", json!({ "file_path": file })),
        3 | 4 => ("write", write),
        5 => ("edit", json!({"filePath": file, "oldString": "x of", "newString": "y of"})),
        6 => ("delete", json!({ "path": file })),
        7 => ("list", json!({ "path": folder })),
        8 => ("grep", json!({"pattern": "x of", "path": folder})),
        9 => ("glob", json!({"pattern": "**", "path": folder})),
        10 => {
            let host = random.pick(&["127.0.0.1", "localhost", "[::1]"]);
            ("webfetch", json!({ "url": format!("http://{host}:{port}/") }))
        }
        _ => {
            let patch = format!("*** Begin Patch\n*** Add File: {file}.added\n+x\n*** End Patch\n");
            ("apply_patch", json!({ "patch": patch }))
        }
    }
}

const BY_POLICY: [&str; 6] =
    ["PERMISSION_DENIED", "PROTECTED_FILE", "UNTRUSTED", "ROLE_FORBIDDEN", "NETWORK_BLOCKED", "PATH_ESCAPE"];

/// Whether a call was refused by policy.
fn is_refused(outcome: &Outcome) -> bool {
    outcome.result.as_ref().is_err_and(|error| BY_POLICY.contains(&error.code().as_str()))
}

/// Whether one of the calls in a batch was refused by policy.
fn has_refused_call(outcome: &Outcome) -> bool {
    let Ok(output) = &outcome.result else { return false };
    let results = output.data["results"].as_array().into_iter().flatten();
    let mut codes = results.filter_map(|result| result["error"]["code"].as_str());
    codes.any(|code| BY_POLICY.contains(&code))
}

/// What is wrong with an explanation, if anything.
type Judgement = Result<(), String>;

fn judge_own(explained: &Explanation, outcome: &Outcome) -> Judgement {
    let happened = || crate::shown(outcome);
    let is_limited = || is_refused(outcome) || has_refused_call(outcome);
    match explained.effect {
        Outlook::Allow if is_limited() => Err(format!("allowed, and refused: {}", happened())),
        Outlook::Limited if !is_limited() => Err(format!("limited, and all was done: {}", happened())),
        Outlook::Ask | Outlook::Deny if outcome.result.is_ok() => {
            Err(format!("not allowed, and done: {}", happened()))
        }
        _ => Ok(()),
    }
}

struct Judge<'a> {
    world: &'a World,
    executor: &'a Executor,
    ctx: &'a Context,
    line: &'a Line,
}

impl Judge<'_> {
    async fn command(&self, explained: &Explanation) -> Judgement {
        let foreseen = &explained.foreseen;
        for name in &self.line.files {
            if !foreseen.named.iter().any(|place| place.name == *name) {
                return Err(format!("`{name}` is not explained"));
            }
        }
        for host in &self.line.hosts {
            if !foreseen.named.iter().any(|place| place.name == *host) {
                return Err(format!("the host `{host}` is not explained"));
            }
        }
        for program in &self.line.started {
            let is_told = |clause: &String| clause.contains(&format!("`{program}`"));
            if !foreseen.decided_by_sandbox.iter().any(is_told) {
                return Err(format!("what `{program}` opens is not said to be decided by the sandbox"));
            }
        }
        self.world.fill();
        let outcome =
            self.executor.run(self.ctx, Call::new("bash", json!({ "command": self.line.text }))).await;
        if matches!(explained.effect, Outlook::Ask | Outlook::Deny) {
            return match is_refused(&outcome) {
                true => Ok(()),
                false => Err(format!("not allowed, and done: {}", crate::shown(&outcome))),
            };
        }
        let Ok(output) = &outcome.result else {
            return Err(format!("allowed, and refused: {}", crate::shown(&outcome)));
        };
        let tree = self.world.tree();
        let happened =
            (output.data["exitCode"].as_i64().map(|code| code as i32), printed_lines(&output.text), tree);
        let unconfined = self.world.unconfined(&self.line.text);
        let is_same = happened == unconfined;
        let difference = || {
            format!(
                "in the sandbox {:?} {:?}\nwithout {:?} {:?}",
                happened.0, happened.1, unconfined.0, unconfined.1
            )
        };
        match explained.effect {
            Outlook::Allow if foreseen.decided_by_sandbox.is_empty() && !is_same => {
                let is_open_later = |place: &NamedPlace| match place.standing {
                    Standing::File { read, change } => {
                        read == Openness::Sandbox || change == Openness::Sandbox
                    }
                    Standing::Host { reach } => reach == Openness::Sandbox,
                };
                match foreseen.named.iter().any(is_open_later) {
                    true => Ok(()),
                    false => Err(format!("allowed as a whole, and limited: {}", difference())),
                }
            }
            Outlook::Limited if self.line.is_plain && is_same => {
                let is_sure = |place: &&NamedPlace| place.is_limit() && place.used != PlaceUse::Unknown;
                match foreseen.named.iter().find(is_sure) {
                    Some(place) => Err(format!("said to be limited, and it is not: {place}")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }?;
        self.places(&foreseen.named).await
    }

    /// Each file that was said to be open or closed is tried, by one more command under the same policy.
    async fn places(&self, named: &[NamedPlace]) -> Judgement {
        self.world.fill();
        let mut tries: Vec<(String, Openness, &NamedPlace)> = Vec::new();
        for place in
            named.iter().filter(|place| !place.name.contains(['\'', '~', '*']) && place.name.len() < 200)
        {
            let (name, path) = (&place.name, self.world.root.join(&place.name));
            let Standing::File { read, change } = place.standing else { continue };
            if path.is_file() {
                tries.push((format!("head -c 1 '{name}'"), read, place));
                tries.push((format!("dd if=/dev/null of='{name}' conv=notrunc"), change, place));
            } else if !path.exists() && path.parent().is_some_and(Path::is_dir) && !path.is_symlink() {
                tries.push((format!("touch '{name}'"), change, place));
            }
        }
        tries.retain(|(_, openness, _)| *openness != Openness::Sandbox);
        // One after the other, each by itself: what one creates is removed again.
        let tested = tries.iter().map(|(line, ..)| format!("{line} >/dev/null 2>&1; echo $?"));
        let line = tested.collect::<Vec<_>>().join("\n");
        if tries.is_empty() {
            return Ok(());
        }
        let outcome = self.executor.run(self.ctx, Call::new("bash", json!({ "command": line }))).await;
        // Under rules for single commands the tries are not allowed.
        let Ok(output) = &outcome.result else { return Ok(()) };
        let codes: Vec<&str> = output.text.lines().filter(|line| !line.starts_with('[')).collect();
        for ((line, openness, place), code) in tries.iter().zip(codes) {
            let is_open = *openness == Openness::Open;
            if (code == "0") != is_open {
                return Err(format!("said: {place}; and `{line}` gave {code}"));
            }
        }
        Ok(())
    }
}

/// One case; the words with which it can be found again, if something is wrong.
async fn case(world: &World, number: u64, port: u16) -> Judgement {
    let mut random = Random(number);
    for _ in 0..4 {
        random.below(2);
    }
    let (policy, told) = policy(&mut random, port);
    let environment = vec![
        ("PATH".to_owned(), PATH.to_owned()),
        ("HOME".to_owned(), world.home.to_str().unwrap().to_owned()),
    ];
    let settings = shell::Settings { environment, ..shell::Settings::default() };
    let executor = executor(policy, settings);
    world.fill();
    let ctx = session(&world.root).build();
    let is_command = random.below(3) != 0;
    let (judged, what) = match is_command {
        true => {
            let line = lines::line(&mut random, &world.root, port);
            let explained = executor.explain(&ctx, "bash", json!({ "command": line.text })).unwrap();
            let judged =
                Judge { world, executor: &executor, ctx: &ctx, line: &line }.command(&explained).await;
            (judged.map_err(|why| format!("{why}\n{explained}")), line.text.clone())
        }
        false => {
            let (tool, arguments) = own_call(&mut random, &world.root, port);
            let what = format!("{tool} {arguments}");
            let Ok(explained) = executor.explain(&ctx, tool, arguments.clone()) else { return Ok(()) };
            let outcome = executor.run(&ctx, Call::new(tool, arguments)).await;
            (judge_own(&explained, &outcome).map_err(|why| format!("{why}\n{explained}")), what)
        }
    };
    judged.map_err(|why| format!("case {number}: policy {told}\n{what}\n{why}"))
}

#[test]
fn guarantee_46_what_is_explained_is_what_happens() {
    let (cases, seed, port) = (count(300, 5_000), seed("explained"), server());
    let (next, failed) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let world = World::new();
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && at < cases
                {
                    let number = (seed ^ (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1);
                    let judged = run(case(&world, number, port));
                    failed.lock().unwrap().extend(judged.err());
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!(
        "measure: guarantee 46: {cases} pairs of policy and call, {} explained otherwise than happened",
        failed.len()
    );
    assert!(
        failed.is_empty(),
        "{} of {cases}:\n\n{}",
        failed.len(),
        failed[..failed.len().min(12)].join("\n\n")
    );
}
