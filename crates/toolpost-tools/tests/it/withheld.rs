//! Guarantee 37: no tool shows anything of a file that the model may not read, whatever it may do to it.
//!
//! Every call is made in two runs that differ only in the content of the file. In one of them the content is
//! what the call guesses. Whatever comes out (result, error, data, events, questions) must be the same in both: then
//! it holds neither bytes nor hashes, sizes, counts or a yes or no about a guess.

use super::{count, folder, seed};
use crate::fixed::Fixed as Executor;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use toolpost_core::capability::Capabilities;
use toolpost_core::event::EventSink;
use toolpost_core::host::{BoxFuture, Confirm, Scope, Seen};
use toolpost_core::policy::Profile;
use toolpost_core::policy::{Effect, Layer, Origin, Rule, protected};
use toolpost_core::{Answer, Call, Capability, Context, Event, Policy, Question, Registry};
use toolpost_disk::Disk;

/// What the calls guess. It is the whole content in one world.
const GUESSED: &str = "TOKEN=canary-one-4711\nSECOND=canary-line\n";
/// The content in the other world: another length, another count of lines, other line endings.
const OTHER: &str = "TOKEN=canary-two-081542-longer\r\nSECOND=canary-other\r\nTHIRD=canary-three\r\n";

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Everything that leaves: what is told to sinks, and what a person is asked.
#[derive(Default)]
struct Ears(Mutex<Vec<String>>);

impl EventSink for Ears {
    fn record(&self, event: &Arc<Event>) {
        let mut event = serde_json::to_value(&**event).unwrap();
        scrub(&mut event);
        // The first call alone makes a tool ready.
        if event["event"] != "toolInitialized" {
            self.0.lock().unwrap().push(event.to_string());
        }
    }
}

/// Somebody who says yes to everything but protected files, as `--yes` does, and wants to see previews.
struct Yes(Arc<Ears>);

impl Confirm for Yes {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.0.0.lock().unwrap().push(format!("{question:?}"));
        let is_about_reading = question.accesses.iter().any(|access| access.action == Capability::Read);
        let answer = match question.protected || is_about_reading {
            true => Answer::No("it is protected".to_owned()),
            false => Answer::Yes(Scope::Once),
        };
        Box::pin(std::future::ready(answer))
    }

    fn wants_preview(&self) -> bool {
        true
    }
}

/// Takes out what differs between any two calls.
fn scrub(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in ["callId", "executionTimeMs", "call", "sequence", "atMs", "at_ms", "parent"] {
                map.remove(key);
            }
            map.values_mut().for_each(scrub);
        }
        Value::Array(items) => items.iter_mut().for_each(scrub),
        _ => {}
    }
}

/// How the file comes to be one that may not be read.
#[derive(Debug, Clone)]
struct Kind {
    name: String,
    rules: Vec<(Effect, String)>,
}

fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = protected()
        .iter()
        .filter(|row| row.action == Capability::Read)
        .map(|row| Kind { name: row.pattern.replace('*', "x"), rules: Vec::new() })
        .collect();
    // Spellings that a list of names could miss, and the user's own rules.
    for name in [".ENV", ".Env.Local", "ID_RSA", "Server.PEM", ".AWS/Credentials", "deep/er/.env"] {
        kinds.push(Kind { name: name.to_owned(), rules: Vec::new() });
    }
    for (effect, rule) in [
        (Effect::Deny, "read: /private/**"),
        (Effect::Ask, "read: /private/**"),
        (Effect::Deny, "=read: /private/**"),
        (Effect::Deny, "read: **/notes.txt"),
        (Effect::Ask, "read: notes.txt"),
    ] {
        kinds.push(Kind { name: "private/notes.txt".to_owned(), rules: vec![(effect, rule.to_owned())] });
    }
    kinds
}

/// The ways in which writing may be allowed while reading is not.
const GRANTS: [&str; 6] = ["standard", "yes", "write: **", "=write: **", "delete: **", "write only"];

fn policy(kind: &Kind, grant: &str) -> Policy {
    let rule =
        |layer, effect, text: &str| Rule::parse_short(effect, text, Origin::new(layer, "test", 1)).unwrap();
    let base = match grant {
        "write only" => {
            let only: Capabilities = [Capability::Write].into_iter().collect();
            Policy::with_capabilities(only, Capabilities::NONE)
        }
        "yes" => Policy::profile(Profile::Standard).ask(Capability::Write),
        _ => Policy::profile(Profile::Standard),
    };
    let own: Vec<Rule> = kind.rules.iter().map(|(effect, text)| rule(Layer::User, *effect, text)).collect();
    let base = base.with_rules(Layer::User, own);
    match grant.contains(':') {
        true => base.with_rules(Layer::Flags, vec![rule(Layer::Flags, Effect::Allow, grant)]),
        false => base,
    }
}

/// By which name a call reaches the file.
const WAYS: [&str; 6] = ["own", "dotted", "absolute", "link", "chain", "folder link"];

fn spelled(root: &Path, name: &str, way: &str) -> String {
    match way {
        "own" => name.to_owned(),
        "dotted" => format!("./free/.././{name}"),
        "absolute" => root.join(name).to_str().unwrap().to_owned(),
        "link" => "free/link.txt".to_owned(),
        "chain" => "chain.txt".to_owned(),
        _ => match name.rsplit_once('/') {
            Some((_, last)) => format!("free/folder/{last}"),
            None => format!("free/folder/{name}"),
        },
    }
}

fn plant(root: &Path, name: &str, content: &str) {
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => std::fs::remove_dir_all(entry.path()).unwrap(),
            false => std::fs::remove_file(entry.path()).unwrap(),
        }
    }
    let file = root.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::create_dir_all(root.join("free")).unwrap();
    std::fs::write(root.join("free/readme.txt"), "TOKEN=public\n").unwrap();
    std::fs::write(&file, content).unwrap();
    symlink(Path::new("..").join(name), root.join("free/link.txt")).unwrap();
    symlink("free/link.txt", root.join("chain.txt")).unwrap();
    let above = Path::new(name).parent().unwrap();
    symlink(Path::new("..").join(above), root.join("free/folder")).unwrap();
    // The same times in both worlds: they decide the order of what is found.
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    for file in [root.join("free/readme.txt"), file] {
        std::fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
}

fn sha256(text: &str) -> String {
    // An implementation of its own: the oracle shares no code with what it judges.
    let output = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes())?;
            child.wait_with_output()
        })
        .unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// One call: a tool and what it is given. The hash is that of the guessed content.
fn some_call(
    numbers: &mut Numbers,
    path: &str,
    hash: &str,
    among: std::ops::Range<usize>,
) -> (&'static str, Value) {
    let first = "TOKEN=canary-one-4711";
    let patch = |body: String| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")});
    match among.start + numbers.below(among.len()) {
        0 => ("write", json!({"filePath": path, "content": "x"})),
        1 => ("write", json!({"filePath": path, "content": GUESSED})),
        2 => ("write", json!({"filePath": path, "content": GUESSED, "expectedHash": hash})),
        3 => ("write", json!({"filePath": path, "content": "x", "expectedHash": "0".repeat(64)})),
        4 => ("write", json!({"filePath": path, "content": "a\r\nb\nc\r\n"})),
        5 => ("write", json!({"filePath": path, "content": "// ... existing code ...\n"})),
        6 => ("write", json!({"filePath": path, "content": ""})),
        7 => ("delete", json!({"filePath": path})),
        8 => ("edit", json!({"filePath": path, "oldString": first, "newString": "x"})),
        9 => ("edit", json!({"filePath": path, "oldString": "TOKEN=canary", "newString": "x"})),
        10 => ("edit", json!({"filePath": path, "oldString": "SECOND=canary-lin", "newString": "x"})),
        11 => ("edit", json!({"filePath": path, "oldString": "a", "newString": "b", "replaceAll": true})),
        12 => ("edit", json!({"filePath": path, "oldString": "", "newString": "x"})),
        13 => ("edit", json!({"filePath": path, "oldString": first, "newString": "x", "expectedHash": hash})),
        14 => (
            "edit",
            json!({"filePath": path, "edits": [
            {"oldString": "nowhere", "newString": "x"}, {"oldString": first, "newString": "y"}]}),
        ),
        15 => ("apply_patch", patch(format!("*** Update File: {path}\n-{first}\n+x"))),
        16 => ("apply_patch", patch(format!("*** Update File: {path}\n@@\n-TOKEN=wrong\n+x"))),
        17 => ("apply_patch", patch(format!("*** Add File: {path}\n+x"))),
        18 => ("apply_patch", patch(format!("*** Delete File: {path}"))),
        19 => (
            "apply_patch",
            patch(format!("*** Update File: {path}\n*** Move to: free/out.txt\n-{first}\n+x")),
        ),
        20 => (
            "apply_patch",
            patch(format!("*** Update File: free/readme.txt\n*** Move to: {path}\n-TOKEN=public\n+x")),
        ),
        21 => (
            "apply_patch",
            json!({"patch": format!(
            "diff --git a/{path} b/free/out.txt\nsimilarity index 100%\nrename from {path}\nrename to free/out.txt\n")}),
        ),
        22 => (
            "apply_patch",
            json!({"patch": format!(
            "diff --git a/{path} b/free/out.txt\nsimilarity index 100%\ncopy from {path}\ncopy to free/out.txt\n")}),
        ),
        23 => (
            "apply_patch",
            json!({"patch": format!(
            "--- a/{path}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-{first}\n-SECOND=canary-line\n")}),
        ),
        24 => ("read", json!({"filePath": path})),
        25 => ("read", json!({"filePath": "."})),
        26 => {
            let mode = *numbers.pick(&["content", "count", "files"]);
            let place = *numbers.pick(&[".", path, "free"]);
            (
                "grep",
                json!({"pattern": "TOKEN=canary-o|canary", "mode": mode, "path": place, "hidden": true, "noIgnore": true}),
            )
        }
        27 => ("glob", json!({"pattern": "**/*", "hidden": true, "noIgnore": true})),
        28 => ("list", json!({"path": ".", "hidden": true, "noIgnore": true, "depth": 9})),
        29 => (
            "grep",
            json!({"pattern": "T.*\nS", "multiline": true, "context": 3, "hidden": true, "path": path}),
        ),
        _ => {
            // Readers run side by side, so that what they find beside a writer would be left to chance.
            let among = numbers.pick(&[0..24, 24..30]).clone();
            let calls: Vec<Value> = (0..1 + numbers.below(4))
                .map(|_| {
                    let (tool, args) = some_call(numbers, path, hash, among.clone());
                    json!({"tool": tool, "args": args})
                })
                .collect();
            ("batch", json!({"calls": calls}))
        }
    }
}

struct World {
    root: PathBuf,
    runtime: tokio::runtime::Runtime,
    registry: Arc<Registry>,
}

impl World {
    /// Everything that came out of a call, with this content in the file.
    fn told(&self, case: &Case, content: &str) -> String {
        plant(&self.root, &case.kind.name, content);
        let ears = Arc::new(Ears::default());
        let mut ctx = Context::builder(Arc::new(Disk::open([&self.root]).unwrap()))
            .events(ears.clone())
            .confirm(Arc::new(Yes(ears.clone())));
        if case.is_seen {
            ctx = ctx.extra(Seen::new());
        }
        let executor = Executor::new(Arc::clone(&self.registry), policy(&case.kind, case.grant));
        let mut call = Call::new(case.tool, case.args.clone());
        if case.is_dry {
            call = call.dry_run();
        }
        let outcome = self.runtime.block_on(executor.run(&ctx.build(), call));
        let mut envelope = outcome.to_json();
        scrub(&mut envelope);
        // Calls that run side by side tell in any order.
        let mut heard = std::mem::take(&mut *ears.0.lock().unwrap());
        heard.sort();
        let heard = heard.join("\n");
        format!("{envelope}\n{}\n{heard}", outcome.to_text())
    }
}

#[derive(Debug)]
struct Case {
    kind: Kind,
    grant: &'static str,
    tool: &'static str,
    args: Value,
    is_dry: bool,
    is_seen: bool,
}

#[test]
fn guarantee_37_what_may_not_be_read_is_shown_by_no_tool() {
    let folder = folder();
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let world = World { root: folder.path().to_owned(), runtime, registry };
    let (kinds, hash) = (kinds(), sha256(GUESSED));
    let tries = count(2_000, 100_000);
    let mut numbers = Numbers(seed("withheld"));
    let mut by_tool: std::collections::BTreeMap<&str, (usize, usize)> = Default::default();
    for index in 0..tries {
        // Each kind in turn, so that none is left to chance.
        let kind = kinds[index % kinds.len()].clone();
        let path = spelled(&world.root, &kind.name, numbers.pick::<&str>(&WAYS));
        let (tool, args) = some_call(&mut numbers, &path, &hash, 0..31);
        let grant = *numbers.pick(&GRANTS);
        let (is_dry, is_seen) = (numbers.below(3) == 0, numbers.below(4) == 0);
        let case = Case { kind, grant, tool, args, is_dry, is_seen };
        let guessed = world.told(&case, GUESSED);
        let other = world.told(&case, OTHER);
        if let Some(at) = guessed.bytes().zip(other.bytes()).position(|(one, two)| one != two) {
            let around = |told: &str| {
                told[told.floor_char_boundary(at.saturating_sub(300))..].chars().take(500).collect::<String>()
            };
            panic!(
                "{index}: {case:?} tells the two worlds apart:\n{}\n---\n{}",
                around(&guessed),
                around(&other)
            );
        }
        assert_eq!(guessed.len(), other.len(), "{index}: {case:?} tells the two worlds apart");
        for canary in ["canary-two", "081542", "canary-other", "canary-three", &sha256_of_other()] {
            assert!(!other.contains(canary), "{index}: {case:?} shows {canary}: {other}");
        }
        let counts = by_tool.entry(tool).or_default();
        counts.0 += 1;
        counts.1 +=
            usize::from(guessed.starts_with("{\"success\":true") || guessed.contains("\"success\":true"));
    }
    for tool in ["write", "delete", "edit", "apply_patch", "read", "grep", "glob", "list", "batch"] {
        assert!(by_tool.contains_key(tool), "{tool} was never called");
    }
    // A test in which everything is refused would show nothing.
    for tool in ["write", "delete", "grep", "glob", "list", "batch"] {
        assert!(by_tool[tool].1 > 0, "{tool} never worked: {by_tool:?}");
    }
    println!(
        "measure: guarantee 37: {tries} calls, {} kinds of files, {} grants, 0 told two contents apart: {by_tool:?}",
        kinds.len(),
        GRANTS.len()
    );
}

fn sha256_of_other() -> String {
    static HASH: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    HASH.get_or_init(|| sha256(OTHER)).clone()
}
