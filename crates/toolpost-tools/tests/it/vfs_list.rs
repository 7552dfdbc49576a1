//! `vfs_list`: which files there are, as far as they can be shown.

use crate::vfs::World;
use serde_json::json;

#[test]
fn files_come_in_the_order_of_their_paths_and_by_their_beginnings() {
    let world = World::new();
    assert_eq!(world.text("vfs_list", json!({})), "The session has no virtual files yet.");
    for path in ["b", "a/2", "a/1", "ab"] {
        world.text("vfs_write", json!({"path": path, "content": path}));
    }
    let shown = |arguments| world.text("vfs_list", arguments).replace(" bytes)", ")");
    assert_eq!(
        shown(json!({})),
        "a/1 (version 1, 3)\na/2 (version 1, 3)\nab (version 1, 2)\nb (version 1, 1)"
    );
    assert_eq!(shown(json!({"prefix": "a/"})), "a/1 (version 1, 3)\na/2 (version 1, 3)");
    assert_eq!(shown(json!({"prefix": "/a/"})), shown(json!({"prefix": "a/"})));
}

#[test]
fn what_does_not_fit_is_counted() {
    let world = World::new();
    let calls: Vec<_> = (0..1_003).map(|number| format!("many/{number:04}")).collect();
    let change = |path: &String| toolpost_core::store::FileChange {
        path: path.clone(),
        content: Some(Vec::new()),
        expected: None,
        mode: None,
    };
    world.store.change_files(&world.context.by(), calls.iter().map(change).collect()).unwrap();
    let listed = world.call("vfs_list", json!({})).result.unwrap();
    assert!(listed.text.ends_with("[3 more; name a longer prefix to see them]"), "{}", listed.text);
    assert_eq!(listed.text.lines().count(), 1_001);
    assert_eq!(
        (listed.data["files"].as_array().unwrap().len(), &listed.data["total"]),
        (1_000, &json!(1_003))
    );
}
