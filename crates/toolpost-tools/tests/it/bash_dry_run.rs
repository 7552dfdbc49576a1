//! Dry runs of `bash` on a real repository: nothing changes, and what is reported is what then really happens.

use crate::bash::{executor, session, standard_and_exec};
use crate::{data, folder, run, shown};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use toolpost_core::policy::Profile;
use toolpost_core::{Call, Capability, Code, Outcome, Policy};
use toolpost_tools::shell::{self, Confinement};

/// What `stat` and the bytes say of a file; every byte, mode and time counts.
#[derive(Debug, Clone, PartialEq)]
struct File {
    kind: char,
    mode: u32,
    bytes: Vec<u8>,
    modified: (i64, i64),
}

/// Everything below a folder, `.git` included.
fn everything(root: &Path) -> BTreeMap<String, File> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let stat = path.symlink_metadata().unwrap();
        let (kind, bytes) = if stat.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            ('d', Vec::new())
        } else if stat.is_symlink() {
            ('l', fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else {
            ('f', fs::read(&path).unwrap())
        };
        let slash = if kind == 'd' { "/" } else { "" };
        let name = format!("{}{slash}", path.strip_prefix(root).unwrap().display());
        let modified = (stat.mtime(), stat.mtime_nsec());
        found.insert(name, File { kind, mode: stat.mode() & 0o7777, bytes, modified });
    }
    found
}

/// What became of each name, as the report says it.
fn happened(before: &BTreeMap<String, File>, after: &BTreeMap<String, File>) -> Vec<Value> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let size = |file: Option<&File>| file.filter(|file| file.kind == 'f').map(|file| file.bytes.len());
    let mut changes = Vec::new();
    for name in names {
        let (old, new) = (before.get(name), after.get(name));
        let is_same = |old: &File, new: &File| old.mode == new.mode && old.bytes == new.bytes;
        let kind = match (old, new) {
            (None, Some(_)) => "create",
            (Some(_), None) => "delete",
            (Some(old), Some(new)) if !is_same(old, new) => "change",
            _ => continue,
        };
        changes.push(json!({"path": name, "kind": kind, "bytesBefore": size(old), "bytesAfter": size(new)}));
    }
    changes
}

/// The report, without what the other side cannot say.
fn reported(outcome: &Outcome) -> Vec<Value> {
    let mut changes: Vec<Value> = data(outcome)["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            json!({
                "path": change["path"],
                "kind": change["kind"],
                "bytesBefore": change["bytesBefore"],
                "bytesAfter": change["bytesAfter"],
            })
        })
        .collect();
    changes.sort_by_key(|change| change["path"].as_str().unwrap().to_owned());
    changes
}

fn git(root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args).current_dir(root);
    let done = command.output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with two branches, a program to build and a generator.
fn repository() -> TempDir {
    let folder = folder();
    let root = folder.path();
    for (path, text) in [
        ("src/main.c", "#include \"part.h\"\nint main(void) { return part() - 42; }\n"),
        ("src/part.c", "#include \"part.h\"\nint part(void) { return 42; }\n"),
        ("src/part.h", "int part(void);\n"),
        ("src/deep/er/note.txt", "a note\n"),
        ("README.md", "# one\n\nold word, old word\n"),
        ("run.sh", "#!/bin/sh\necho run\n"),
        (
            "Makefile",
            "all: out/main\nout/main: src/main.c src/part.c\n\tmkdir -p out\n\tcc -c src/main.c -o out/main.o\n\tcc -c src/part.c -o out/part.o\n\tcc out/main.o out/part.o -o out/main\n\tout/main && echo built > out/stamp\n",
        ),
        (
            "generate.py",
            "import os\nos.makedirs('gen/inner', exist_ok=True)\nfor n in range(5):\n    open(f'gen/inner/m{n}.py', 'w').write(f'N = {n}\\n' * n)\nopen('gen/run', 'w').write('#!/bin/sh\\n')\nos.chmod('gen/run', 0o755)\nos.symlink('inner', 'gen/link')\nopen('README.md', 'a').write('generated\\n')\nos.remove('run.sh')\n",
        ),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(root, &["init", "-q", "-b", "main"]);
    // Or git tidies up behind a command's back, once this way and once that.
    git(root, &["config", "maintenance.auto", "false"]);
    git(root, &["config", "gc.auto", "0"]);
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "one"]);
    git(root, &["checkout", "-qb", "other"]);
    fs::write(root.join("README.md"), "# two\n").unwrap();
    fs::remove_file(root.join("src/part.h")).unwrap();
    fs::write(root.join("added.txt"), "added\n").unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "two"]);
    git(root, &["checkout", "-q", "main"]);
    folder
}

fn call(root: &Path, policy: Policy, settings: shell::Settings, call: Call) -> Outcome {
    let executor = executor(policy, settings);
    let ctx = session(root).build();
    run(async { executor.run(&ctx, call).await })
}

fn dry(root: &Path, args: Value) -> Outcome {
    call(root, standard_and_exec(), shell::Settings::default(), Call::new("bash", args).dry_run())
}

const LINES: &[&str] = &[
    "sed -i s/old/new/g README.md",
    "rm -rf src",
    "git checkout other",
    "git checkout -q other && git checkout -q main",
    "export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z; git rm -rq src && git -c user.name=a -c user.email=a@b.c commit -qm gone",
    "export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z; git mv README.md READ.md && git stash -q; git status --short",
    "python3 generate.py",
    "make",
    "make && make && rm -rf out src/*.c",
    "chmod +x README.md; touch run.sh; cat README.md > t; cat t > README.md; rm t",
    "mv src source; ln -s source src; rm generate.py; mkdir generate.py",
    "for f in .mcp.json .git/hooks/pre-commit .git/config; do python3 -c 'import sys; open(sys.argv[1], \"a\").write(\"x\")' $f; done; false",
    "mkdir empty; rmdir src/deep/er; find . -name '*.txt' -delete; exit 3",
];

/// The guarantee of issue 5: a dry run leaves the workspace as it was, and equals the run.
#[test]
fn the_report_equals_what_then_really_happens() {
    let mut reports = 0;
    for line in LINES {
        let repository = repository();
        let root = repository.path();
        let before = everything(root);
        let dry = dry(root, json!({ "command": line }));
        assert_eq!(everything(root), before, "{line} changed the workspace");
        let real = call(
            root,
            standard_and_exec(),
            shell::Settings::default(),
            Call::new("bash", json!({ "command": line })),
        );
        let expected = happened(&before, &everything(root));
        assert_eq!(reported(&dry), expected, "{line}: {}", shown(&dry));
        assert_eq!(data(&dry)["exitCode"], data(&real)["exitCode"], "{line}");
        let (told, output) = (shown(&dry), shown(&real));
        let output = output.lines().filter(|line| !line.starts_with("[no output"));
        assert!(output.clone().all(|line| told.contains(line)), "{line}:\n{told}\n---\n{}", shown(&real));
        let planned = &dry.metadata.dry_run.as_ref().unwrap().changes;
        assert_eq!(planned.len(), expected.len(), "{line}");
        reports += expected.len();
    }
    println!(
        "measure: dry runs: {} command lines, {reports} changes reported, all as they then happened",
        LINES.len()
    );
}

#[test]
fn the_text_has_output_summary_names_and_diffs() {
    let repository = repository();
    let line = "echo working; sed -i 's/old/new/' README.md; chmod 755 run.sh; rm src/part.h; mkdir e; \
                head -c 9 /dev/zero > b";
    let text = shown(&dry(repository.path(), json!({ "command": line })));
    let expected = "working\n\
        [dry run: nothing has changed; it would create 1 file and 1 folder, change 2 files, delete 1 file]\n\
        change README.md (26 bytes)\n\
        create b (9 bytes)\n\
        create e/\n\
        change run.sh (19 bytes, mode 644 → 755)\n\
        delete src/part.h (16 bytes)\n\
        --- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n # one\n \n-old word, old word\n+new word, old word\n\
        --- a/src/part.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-int part(void);\n";
    assert_eq!(text, expected);
    let text = shown(&dry(repository.path(), json!({"command": "cat README.md"})));
    assert!(text.ends_with("[dry run: nothing has changed, and it would change nothing]\n"), "{text}");
}

#[test]
fn many_changes_are_counted_by_folder() {
    let repository = repository();
    let line = "mkdir many few; for i in $(seq 400); do echo $i > many/$i; done; for i in $(seq 9); do echo $i > few/$i; \
                done; seq 100000 > long.txt; seq 300000 > huge.txt";
    let outcome = dry(repository.path(), json!({ "command": line }));
    let text = shown(&outcome);
    assert!(text.contains("create 411 files and 2 folders"), "{text}");
    assert!(text.contains("… and in many: 213 to create, 0 to change, 0 to delete\n"), "{text}");
    assert!(text.len() <= 30_000 && text.contains("more diffs are left out"), "{}", text.len());
    let data = data(&outcome);
    assert_eq!(data["changes"].as_array().unwrap().len(), 200);
    assert_eq!(data["moreChanges"], json!([{"folder": "many", "create": 213, "change": 0, "delete": 0}]));
}

#[test]
fn it_has_no_network_hides_what_is_hidden_and_needs_the_right_and_the_sandbox() {
    let repository = repository();
    let root = repository.path();
    fs::write(root.join(".env"), "TOKEN=canary\n").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let policy = || standard_and_exec().allow(Capability::Network);
    let settings = shell::Settings::default;
    let reach = || Call::new("bash", json!({ "command": line }));
    assert_eq!(
        data(&call(root, policy(), settings(), reach()))["exitCode"],
        json!(0),
        "for real it is there"
    );
    let outcome = call(root, policy(), settings(), reach().dry_run());
    assert_eq!(data(&outcome)["exitCode"], json!(1));
    assert!(shown(&outcome).contains("a dry run has no network"), "{}", shown(&outcome));

    let outcome = dry(root, json!({"command": "cat .env; rm -f .env; mv .env e; cp .env f; ls -A"}));
    assert!(!shown(&outcome).contains("canary"), "{}", shown(&outcome));

    let call_of = |args: Value| Call::new("bash", args).dry_run();
    let refused =
        call(root, Policy::profile(Profile::Standard), settings(), call_of(json!({"command": "ls"})));
    assert_eq!(refused.result.unwrap_err().code(), Code::PermissionDenied);
    let none = shell::Settings { confinement: Confinement::None, ..settings() };
    let refused = call(root, standard_and_exec(), none, call_of(json!({"command": "touch x"})));
    let error = refused.result.unwrap_err();
    assert_eq!(error.code(), Code::SandboxUnavailable);
    assert!(error.message().contains("needs the sandbox"), "{error}");
    let refused = dry(root, json!({"command": "touch x", "background": true}));
    assert!(shown(&refused).contains("without `background`"), "{}", shown(&refused));
    assert!(!root.join("x").exists());
}

#[test]
fn a_read_only_policy_changes_nothing_dry_either() {
    let repository = repository();
    let policy = Policy::profile(Profile::ReadOnly).allow(Capability::Exec);
    let call_of = Call::new("bash", json!({"command": "touch new; rm -f README.md; ls"})).dry_run();
    let outcome = call(repository.path(), policy, shell::Settings::default(), call_of);
    let text = shown(&outcome);
    assert!(text.contains("Read-only file system") && text.contains("README.md\n"), "{text}");
    assert!(text.ends_with("[dry run: nothing has changed, and it would change nothing]\n"), "{text}");
}

#[test]
fn nothing_is_left_of_a_dry_run_however_it_ends() {
    let repository = repository();
    let root = repository.path();
    let base = folder();
    let scratch = base.path().join("scratch");
    let left =
        || fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<PathBuf>>();
    let settings = || shell::Settings { scratch: Some(scratch.clone()), ..shell::Settings::default() };
    for (args, code) in [
        (json!({"command": "mkdir -p a/b; chmod 000 a; rm -rf src; exit 1"}), None),
        (json!({"command": "touch here; sleep 60", "timeout": 500}), Some(Code::Timeout)),
    ] {
        let outcome = call(root, standard_and_exec(), settings(), Call::new("bash", args).dry_run());
        assert_eq!(outcome.result.as_ref().err().map(|error| error.code()), code);
        assert_eq!(left(), Vec::<PathBuf>::new());
    }
    assert!(!root.join("here").exists() && root.join("src").exists());
}
