//! `vfs_write`: versions, compare-and-set, dry runs.

use crate::run;
use crate::vfs::World;
use serde_json::{Value, json};
use toolpost_core::{Call, Code};

#[test]
fn what_is_written_is_read_with_its_version() {
    let world = World::new();
    let written = world.call("vfs_write", json!({"path": "notes/a.md", "content": "one\ntwo\n"}));
    assert_eq!(
        written.result.as_ref().unwrap().data,
        json!({"path": "notes/a.md", "version": 1, "size": 8}),
        "{written:?}"
    );
    assert_eq!(world.text("vfs_read", json!({"path": "notes/a.md"})), "1: one\n2: two\n(version 1)");
    let text = world.text("vfs_write", json!({"path": "notes/a.md", "content": "new", "expectedVersion": 1}));
    assert_eq!(text, "`notes/a.md` is written: version 2, 3 bytes");
    let text = world.text("vfs_read", json!({"path": "notes/a.md"}));
    assert_eq!(text, "1: new\n(no newline at the end of the file)\n(version 2)");
    assert_eq!(
        world.text("vfs_read", json!({"path": "notes/a.md", "version": 1})),
        "1: one\n2: two\n(version 1)"
    );
    let read = world.call("vfs_read", json!({"path": "notes/a.md", "version": 1}));
    let data = &read.result.as_ref().unwrap().data;
    assert_eq!((&data["version"], &data["size"], &data["totalLines"]), (&json!(1), &json!(8), &json!(2)));
    world.text("vfs_write", json!({"path": "b.md", "content": ""}));
    assert_eq!(
        world.text("vfs_list", json!({})),
        "b.md (version 1, 0 bytes)\nnotes/a.md (version 2, 3 bytes)"
    );
    assert_eq!(world.text("vfs_list", json!({"prefix": "notes/"})), "notes/a.md (version 2, 3 bytes)");
    assert!(world.text("vfs_list", json!({"prefix": "x"})).starts_with("No virtual file begins with `x`"));
    let text = world.text("vfs_delete", json!({"path": "notes/a.md", "expectedVersion": 2}));
    assert_eq!(text, "`notes/a.md` is deleted: version 3; older versions can be read");
    assert_eq!(world.text("vfs_list", json!({})), "b.md (version 1, 0 bytes)");
    let versions = world.store.file_versions("s", "notes/a.md").unwrap();
    assert!(versions.iter().all(|version| version.call.is_some()), "the log knows the calls: {versions:?}");
}

#[test]
fn a_version_that_somebody_else_has_replaced_is_refused() {
    let world = World::new();
    world.text("vfs_write", json!({"path": "a", "content": "one", "expectedVersion": 0}));
    world.text("vfs_write", json!({"path": "a", "content": "two"}));
    for (tool, arguments) in [
        ("vfs_write", json!({"path": "a", "content": "late", "expectedVersion": 1})),
        ("vfs_write", json!({"path": "a", "content": "late", "expectedVersion": 0})),
        ("vfs_delete", json!({"path": "a", "expectedVersion": 1})),
    ] {
        let (code, message) = world.refused(tool, arguments);
        assert_eq!(code, Code::StaleFile);
        assert!(message.contains("version 2"), "{message}");
    }
    assert!(world.text("vfs_read", json!({"path": "a"})).starts_with("1: two"));
}

#[test]
fn a_dry_run_changes_nothing_and_tells_what_would_change() {
    let world = World::new();
    world.text("vfs_write", json!({"path": "a", "content": "one"}));
    let dry = |tool: &str, arguments: Value| {
        let call = Call::new(tool, arguments).dry_run();
        run(world.executor.run(&world.context, call))
    };
    let planned = dry("vfs_write", json!({"path": "a", "content": "longer"}));
    let changes = &planned.metadata.dry_run.as_ref().unwrap().changes;
    assert_eq!((changes[0].path.as_str(), changes[0].kind.as_str()), ("vfs:a", "change"));
    assert_eq!((changes[0].bytes_before, changes[0].bytes_after), (Some(3), Some(6)));
    let planned = dry("vfs_delete", json!({"path": "a"}));
    assert_eq!(planned.metadata.dry_run.as_ref().unwrap().changes[0].kind, "delete");
    let stale = dry("vfs_write", json!({"path": "a", "content": "", "expectedVersion": 7}));
    assert_eq!(stale.result.unwrap_err().code(), Code::StaleFile);
    assert_eq!(dry("vfs_delete", json!({"path": "b"})).result.unwrap_err().code(), Code::FileNotFound);
    assert_eq!(world.store.file_versions("s", "a").unwrap().len(), 1);
}
