//! `vfs_read`: what is not there, and what is long.

use crate::vfs::World;
use serde_json::json;
use toolpost_core::Code;

#[test]
fn what_is_not_there_is_told_with_the_nearest() {
    let world = World::new();
    let (code, message) = world.refused("vfs_read", json!({"path": "notes/plan.md"}));
    assert_eq!(
        (code, message.as_str()),
        (Code::FileNotFound, "no virtual file `notes/plan.md`; the session has none")
    );
    world.text("vfs_write", json!({"path": "notes/plan.md", "content": "x"}));
    for tool in ["vfs_read", "vfs_delete"] {
        let (code, message) = world.refused(tool, json!({"path": "notes/paln.md"}));
        assert_eq!(code, Code::FileNotFound);
        assert_eq!(message, "no virtual file `notes/paln.md`; nearest: `notes/plan.md`");
    }
    world.text("vfs_delete", json!({"path": "notes/plan.md"}));
    let (_, message) = world.refused("vfs_read", json!({"path": "notes/plan.md", "version": 2}));
    assert_eq!(message, "`notes/plan.md` was deleted in version 2; read the version before it");
    let (_, message) = world.refused("vfs_read", json!({"path": "notes/plan.md", "version": 9}));
    assert_eq!(message, "`notes/plan.md` has no version 9; its newest is 2");
    let (code, message) = world.refused("vfs_write", json!({"path": "../up", "content": ""}));
    assert_eq!(code, Code::ValidationError);
    assert!(message.contains("write it like `notes/plan.md`"), "{message}");
}

#[test]
fn long_files_come_by_pages() {
    let world = World::new();
    let content: String = (1..=3_000).map(|number| format!("{number}\n")).collect();
    world.text("vfs_write", json!({"path": "long", "content": content}));
    let first = world.call("vfs_read", json!({"path": "long"}));
    let output = first.result.as_ref().unwrap();
    assert!(
        output.text.ends_with("2000: 2000\n(lines 1–2000 of 3000; go on with offset=2001)\n(version 1)"),
        "{}",
        &output.text[output.text.len() - 200..]
    );
    assert_eq!(output.data["nextOffset"], 2_001);
    let text = world.text("vfs_read", json!({"path": "long", "offset": 2_999, "limit": 5}));
    assert_eq!(text, "2999: 2999\n3000: 3000\n(version 1)");
}
