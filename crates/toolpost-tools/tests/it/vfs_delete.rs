//! `vfs_delete`: a file goes, its versions stay.

use crate::vfs::World;
use serde_json::json;
use toolpost_core::Code;

#[test]
fn a_deleted_file_can_come_back_with_the_next_version() {
    let world = World::new();
    world.text("vfs_write", json!({"path": "a", "content": "one"}));
    let deleted = world.call("vfs_delete", json!({"path": "a"})).result.unwrap();
    assert_eq!(deleted.data, json!({"path": "a", "version": 2}));
    assert_eq!(world.refused("vfs_delete", json!({"path": "a"})).0, Code::FileNotFound);
    assert_eq!(world.refused("vfs_read", json!({"path": "a"})).0, Code::FileNotFound);
    assert!(world.text("vfs_read", json!({"path": "a", "version": 1})).starts_with("1: one"));
    let (code, _) = world.refused("vfs_write", json!({"path": "a", "content": "new", "expectedVersion": 2}));
    assert_eq!(code, Code::StaleFile, "a deleted file is expected with version 0");
    let text = world.text("vfs_write", json!({"path": "a", "content": "new", "expectedVersion": 0}));
    assert_eq!(text, "`a` is written: version 3, 3 bytes");
}
