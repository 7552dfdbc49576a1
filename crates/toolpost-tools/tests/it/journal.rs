//! What the tools hand to the journal before they change a file, and what becomes of a change that it refuses.

use super::{call, code, executor, folder, run, shown};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use toolpost_core::workspace::{After, Before, Changed, Journal, Pending, PendingKind};
use toolpost_core::{Call, Code, Context, Memory, ToolError, Workspace};
use toolpost_disk::Disk;

/// One change as it was announced, and what the disk had at that moment.
#[derive(Debug, Clone, PartialEq)]
struct Noted {
    name: String,
    kind: PendingKind,
    before: String,
    on_disk: Option<String>,
}

/// Notes everything; from the n-th on it refuses.
struct Recorder {
    root: PathBuf,
    noted: Mutex<Vec<Noted>>,
    refuses_from: usize,
    /// What each change made of its name, and the ends of calls.
    after: Mutex<Vec<String>>,
}

impl Journal for Recorder {
    fn before(&self, change: Pending) -> Result<(), ToolError> {
        let before = match change.before {
            Before::Absent => "absent".to_owned(),
            Before::File(mut file) => {
                let mut text = String::new();
                file.reader.read_to_string(&mut text).unwrap();
                format!("{:04o} {text}", file.stat.mode)
            }
            Before::Folder { .. } => "folder".to_owned(),
            Before::Link(text) => format!("link {text:?}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(change.session, "default");
        assert!(!change.call.is_empty());
        let on_disk = std::fs::read_to_string(self.root.join(&change.name)).ok();
        let mut noted = self.noted.lock().unwrap();
        if noted.len() >= self.refuses_from {
            return Err(ToolError::new(Code::WriteError, "the journal is full"));
        }
        noted.push(Noted { name: change.name, kind: change.kind, before, on_disk });
        Ok(())
    }

    fn after(&self, change: Changed) -> Result<(), ToolError> {
        let path = self.root.join(&change.name);
        let told = match change.after {
            After::Absent => {
                assert!(path.symlink_metadata().is_err(), "{}", change.name);
                "absent".to_owned()
            }
            After::File { content: told, .. } => {
                if !self.root.exists() {
                    self.after.lock().unwrap().push(format!("{} file", change.name));
                    return Ok(());
                }
                // What was told is there by then.
                let content = std::fs::read(&path).unwrap();
                assert_eq!(&content[..], &told[..], "{}", change.name);
                "file".to_owned()
            }
            After::Folder => "folder".to_owned(),
            After::Moved { from } => format!("from {from}"),
            other => panic!("{other:?}"),
        };
        self.after.lock().unwrap().push(format!("{} {told}", change.name));
        Ok(())
    }

    fn ended(&self, session: &str, call: &str, is_success: bool) -> Result<(), ToolError> {
        assert!(session == "default" && !call.is_empty());
        self.after.lock().unwrap().push(format!("end {is_success}"));
        Ok(())
    }
}

fn recorded(root: &Path, refuses_from: usize) -> (Context, Arc<Recorder>) {
    let recorder = Arc::new(Recorder {
        root: root.to_owned(),
        noted: Mutex::default(),
        refuses_from,
        after: Mutex::default(),
    });
    let disk = Disk::open([root]).unwrap();
    (Context::builder(Arc::new(disk)).journal(recorder.clone()).build(), recorder)
}

fn world() -> tempfile::TempDir {
    let folder = folder();
    for (name, content) in [("a", "a\n"), ("b", "b\n"), ("c", "c\n"), ("d", "d\n")] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(folder.path().join(name), mode).unwrap();
    }
    symlink("a", folder.path().join("link")).unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Add File: new\n+n\n\
    *** Update File: b\n*** Move to: moved\n@@\n-b\n+B\n*** Update File: c\n*** Move to: d\n\
    *** End Patch\n";

/// What is announced: name, kind, what was there.
type Told = (&'static str, PendingKind, &'static str);

/// Every call that changes something, and what it announces.
fn calls() -> Vec<(&'static str, Value, Vec<Told>)> {
    use PendingKind::{CreateFolder, Remove, Rename, Write};
    vec![
        ("write", json!({"filePath": "a", "content": "x\n"}), vec![("a", Write, "0640 a\n")]),
        ("write", json!({"filePath": "link", "content": "x\n"}), vec![("a", Write, "0640 a\n")]),
        (
            "write",
            json!({"filePath": "deep/er/new", "content": "x\n"}),
            vec![
                ("deep", CreateFolder, "absent"),
                ("deep/er", CreateFolder, "absent"),
                ("deep/er/new", Write, "absent"),
            ],
        ),
        (
            "edit",
            json!({"filePath": "b", "oldString": "b", "newString": "B"}),
            vec![("b", Write, "0640 b\n")],
        ),
        (
            "edit",
            json!({"filePath": "new", "oldString": "", "newString": "n"}),
            vec![("new", Write, "absent")],
        ),
        ("delete", json!({"filePath": "a"}), vec![("a", Remove, "0640 a\n")]),
        ("delete", json!({"filePath": "link"}), vec![("link", Remove, "link Some(\"a\")")]),
        ("delete", json!({"filePath": "empty"}), vec![("empty", Remove, "folder")]),
        (
            "apply_patch",
            json!({"patch": PATCH}),
            vec![
                ("a", Write, "0640 a\n"),
                ("new", Write, "absent"),
                ("b", Rename { to: "moved".into() }, "0640 b\n"),
                ("moved", Write, "absent"),
                ("d", Write, "0640 d\n"),
                ("c", Remove, "0640 c\n"),
            ],
        ),
    ]
}

#[test]
fn the_old_bytes_are_handed_over_before_the_change_shows() {
    for (tool, args, expected) in calls() {
        let folder = world();
        let (ctx, recorder) = recorded(folder.path(), usize::MAX);
        let outcome = call(&ctx, tool, args.clone());
        assert!(outcome.is_success(), "{tool} {args}: {}", shown(&outcome));
        let noted = recorder.noted.lock().unwrap().clone();
        let told: Vec<(&str, PendingKind, &str)> = noted
            .iter()
            .map(|noted| (noted.name.as_str(), noted.kind.clone(), noted.before.as_str()))
            .collect();
        assert_eq!(told, expected, "{tool} {args}");
        for noted in noted.iter().filter(|noted| noted.before.starts_with('0')) {
            let content = noted.before.split_once(' ').unwrap().1;
            assert_eq!(noted.on_disk.as_deref(), Some(content), "{tool} {args}: {noted:?}");
        }
    }
}

#[test]
fn what_the_journal_refuses_does_not_happen() {
    for (tool, args, expected) in calls() {
        for refuses_from in 0..expected.len() {
            let folder = world();
            let before = super::apply_patch::tree(folder.path());
            let (ctx, _) = recorded(folder.path(), refuses_from);
            let outcome = call(&ctx, tool, args.clone());
            assert_eq!(code(&outcome), "WRITE_ERROR", "{tool} {args}: {}", shown(&outcome));
            assert!(shown(&outcome).contains("the journal is full"), "{}", shown(&outcome));
            let after = super::apply_patch::tree(folder.path());
            assert_eq!(after, before, "{tool} {args}, from {refuses_from}: {}", shown(&outcome));
        }
    }
}

/// Keeps nothing, and wants to hear of nothing.
struct Idle;

impl Journal for Idle {
    fn before(&self, change: Pending) -> Result<(), ToolError> {
        panic!("{change:?}")
    }

    fn after(&self, change: Changed) -> Result<(), ToolError> {
        panic!("{change:?}")
    }

    fn ended(&self, _: &str, call: &str, _: bool) -> Result<(), ToolError> {
        panic!("{call}")
    }

    fn is_kept(&self) -> bool {
        false
    }
}

#[test]
fn a_journal_that_keeps_nothing_is_told_nothing() {
    for (tool, args, _) in calls() {
        let folder = world();
        let disk = Disk::open([folder.path()]).unwrap();
        let ctx = Context::builder(Arc::new(disk)).journal(Arc::new(Idle)).build();
        let outcome = call(&ctx, tool, args.clone());
        assert!(outcome.is_success(), "{tool} {args}: {}", shown(&outcome));
        assert_eq!(outcome.metadata.undo, Some(false), "{tool} {args}");
    }
}

#[test]
fn a_dry_run_tells_the_journal_nothing() {
    for (tool, args, _) in calls() {
        let folder = world();
        let (ctx, recorder) = recorded(folder.path(), 0);
        let outcome = run(executor().run(&ctx, Call::new(tool, args).dry_run()));
        assert!(outcome.is_success(), "{}", shown(&outcome));
        assert!(recorder.noted.lock().unwrap().is_empty());
    }
}

#[test]
fn files_in_memory_are_journaled_too() {
    let memory = Memory::from_fixture("//- a\na\n");
    let recorder = Arc::new(Recorder {
        root: PathBuf::from("/nowhere"),
        noted: Mutex::default(),
        refuses_from: 1,
        after: Mutex::default(),
    });
    let memory: Arc<dyn Workspace> = Arc::new(memory);
    let ctx = Context::builder(memory).journal(recorder.clone()).build();
    let write = |content: &str| call(&ctx, "write", json!({"filePath": "a", "content": content}));
    assert!(write("b\n").is_success());
    assert_eq!(code(&write("c\n")), "WRITE_ERROR");
    assert_eq!(recorder.noted.lock().unwrap()[0].before, "0644 a\n");
    assert_eq!(super::edit::content(&ctx, "a"), b"b\n");
}

#[test]
fn the_journal_learns_what_a_change_has_made_and_that_the_call_has_ended() {
    for (tool, args, expected) in [
        ("write", json!({"filePath": "link", "content": "x\n"}), vec!["a file", "end true"]),
        ("edit", json!({"filePath": "b", "oldString": "b", "newString": "B"}), vec!["b file", "end true"]),
        ("delete", json!({"filePath": "empty"}), vec!["empty absent", "end true"]),
        ("read", json!({"filePath": "a"}), vec![]),
        ("edit", json!({"filePath": "a", "oldString": "none", "newString": "B"}), vec![]),
    ] {
        let world = world();
        let (ctx, recorder) = recorded(world.path(), usize::MAX);
        run(executor().run(&ctx, Call::new(tool, args.clone())));
        assert_eq!(*recorder.after.lock().unwrap(), expected, "{tool} {args}");
    }
    let world = world();
    let (ctx, recorder) = recorded(world.path(), usize::MAX);
    let outcome = run(executor().run(&ctx, Call::new("apply_patch", json!({"patch": PATCH}))));
    assert!(outcome.is_success(), "{}", outcome.to_text());
    let told = recorder.after.lock().unwrap().clone();
    for one in ["a file", "new file", "moved from b", "d file", "c absent", "b absent"] {
        assert!(told.iter().any(|told| told == one), "{one}: {told:?}");
    }
    assert_eq!(told.last().map(String::as_str), Some("end true"));
}
