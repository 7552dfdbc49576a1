//! Virtual files as a workspace: what is more than the contract that every workspace keeps (see the tests of the disk).

use crate::{Fresh, by, on_every_store, on_shared_stores};
use std::sync::Arc;
use toolpost_core::store::{FileChange, Store};
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_store::StoredWorkspace;

on_every_store!(
    what_tools_write_are_versions,
    a_rename_is_one_change_and_keeps_modes,
    a_change_under_a_lock_is_refused_after_another,
    empty_folders_last_as_long_as_the_process,
);
on_shared_stores!(no_edit_of_several_writers_is_lost);

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

fn path(name: &str) -> WorkspacePath {
    WorkspacePath::new(name)
}

fn text(store: &dyn Store, name: &str) -> Option<String> {
    Some(String::from_utf8(store.file("s", name, None).unwrap()?.content).unwrap())
}

fn read(workspace: &StoredWorkspace, name: &str) -> Result<String, ToolError> {
    let mut file = workspace.open(&path(name))?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut file.reader, &mut text).unwrap();
    Ok(text)
}

fn what_tools_write_are_versions(fresh: &Fresh) {
    let store = fresh.open();
    let workspace = StoredWorkspace::new(Arc::clone(&store), "s");
    run(async {
        workspace.write(&path("notes/a.md"), b"one").unwrap();
        workspace.write(&path("/vfs/notes/a.md"), b"two").unwrap();
        workspace.remove(&path("notes/a.md")).unwrap();
        workspace.write(&path("notes/a.md"), b"three").unwrap();
    });
    let versions = store.file_versions("s", "notes/a.md").unwrap();
    let told: Vec<_> = versions.iter().map(|one| (one.version, one.size, one.hash.is_some())).collect();
    assert_eq!(told, [(1, 3, true), (2, 3, true), (3, 0, false), (4, 5, true)]);
    assert_eq!(store.files("another", "").unwrap(), []);
}

fn a_rename_is_one_change_and_keeps_modes(fresh: &Fresh) {
    let store = fresh.open();
    let file = |name: &str, mode| FileChange {
        path: name.to_owned(),
        content: Some(name.into()),
        expected: None,
        mode: Some(mode),
    };
    let files = vec![file("a/x", 0o755), file("a/deep/y", 0o600), file("ab", 0o644)];
    store.change_files(&by("s"), files).unwrap();
    let before = store.last_position().unwrap();
    let workspace = StoredWorkspace::new(Arc::clone(&store), "s");
    workspace.rename(&path("a"), &path("b/c")).unwrap();
    let files = store.files("s", "").unwrap();
    let told: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.mode)).collect();
    assert_eq!(told, [("ab", 0o644), ("b/c/deep/y", 0o600), ("b/c/x", 0o755)]);
    assert_eq!(text(&*store, "b/c/x").as_deref(), Some("a/x"));
    assert_eq!(store.last_position().unwrap() - before, 4, "two files go and two come");
    // Where one file cannot be placed, none is moved.
    store.change_files(&by("s"), vec![file("new/deep", 0o644)]).unwrap();
    run(async {
        let refused = workspace.rename(&path("b/c"), &path("ab/below")).unwrap_err();
        assert_eq!(refused.code(), Code::NotAFile);
        assert_eq!(workspace.rename(&path("b"), &path("new")).unwrap_err().code(), Code::NotAFile);
    });
    assert_eq!(store.files("s", "b/c/").unwrap().len(), 2);
}

fn a_change_under_a_lock_is_refused_after_another(fresh: &Fresh) {
    let store = fresh.open();
    let workspace = StoredWorkspace::new(Arc::clone(&store), "s");
    let by_others = |content: Option<&str>| {
        let content = content.map(Into::into);
        let change = FileChange { path: "a".to_owned(), content, expected: None, mode: None };
        store.change_files(&by("s"), vec![change]).unwrap();
    };
    run(async {
        workspace.write(&path("a"), b"one").unwrap();
        let lock = workspace.lock(&path("a")).unwrap().wait().await.unwrap();
        assert_eq!(read(&workspace, "a").unwrap(), "one");
        workspace.write(&path("a"), b"own").unwrap();
        workspace.write(&path("a"), b"own again").unwrap();
        by_others(Some("theirs"));
        let refused = workspace.write(&path("a"), b"late").unwrap_err();
        assert_eq!(refused.code(), Code::StaleFile);
        assert!(refused.message().contains("`a` was changed by another call"), "{refused}");
        assert_eq!(workspace.remove(&path("a")).unwrap_err().code(), Code::StaleFile);
        assert_eq!(workspace.rename(&path("a"), &path("b")).unwrap_err().code(), Code::StaleFile);
        assert_eq!(read(&workspace, "a").unwrap(), "theirs");
        drop(lock);
        // Whoever has looked again may change it; whoever never looked as well.
        let lock = workspace.lock(&path("a")).unwrap().wait().await.unwrap();
        workspace.write(&path("a"), b"anew").unwrap();
        by_others(None);
        assert_eq!(workspace.write(&path("a"), b"late").unwrap_err().code(), Code::StaleFile);
        drop(lock);
        workspace.write(&path("a"), b"again").unwrap();
        let lock = workspace.lock(&path("b")).unwrap().wait().await.unwrap();
        let change = FileChange { path: "b".to_owned(), content: Some(vec![]), expected: None, mode: None };
        store.change_files(&by("s"), vec![change]).unwrap();
        assert_eq!(workspace.write(&path("b"), b"new").unwrap_err().code(), Code::StaleFile);
        drop(lock);
    });
}

fn empty_folders_last_as_long_as_the_process(fresh: &Fresh) {
    let store = fresh.open();
    let workspace = StoredWorkspace::new(Arc::clone(&store), "s");
    run(async {
        workspace.create_folder(&path("empty/deep")).unwrap();
        workspace.write(&path("left/a"), b"a").unwrap();
        workspace.remove(&path("left/a")).unwrap();
        for folder in ["empty", "empty/deep", "left"] {
            assert_eq!(workspace.stat(&path(folder)).unwrap().kind, Kind::Folder, "{folder}");
        }
        workspace.rename(&path("empty"), &path("moved")).unwrap();
        assert_eq!(workspace.stat(&path("moved/deep")).unwrap().kind, Kind::Folder);
        let later = StoredWorkspace::new(Arc::clone(&store), "s");
        for folder in ["moved", "left"] {
            assert_eq!(later.stat(&path(folder)).unwrap_err().code(), Code::FileNotFound, "{folder}");
        }
    });
}

#[test]
fn a_folder_that_is_too_large_is_not_moved() {
    let store = Fresh::memory().open();
    let workspace = StoredWorkspace::new(Arc::clone(&store), "s");
    // Contents are kept once, so that these five cost the store one.
    let content = vec![b'x'; 60 << 20];
    for number in 0..5 {
        let name = format!("large/{number}");
        workspace.write(&path(&name), &content).unwrap();
    }
    let refused = workspace.rename(&path("large"), &path("other")).unwrap_err();
    assert_eq!(refused.code(), Code::TooLarge);
    assert!(refused.message().contains("part by part"), "{refused}");
    assert_eq!(store.files("s", "large/").unwrap().len(), 5);
}

/// Guarantee 8: each line of each writer is there, or its writer was refused.
fn no_edit_of_several_writers_is_lost(fresh: &Fresh) {
    const WRITERS: usize = 4;
    const EDITS: usize = 15;
    let first = fresh.open();
    StoredWorkspace::new(Arc::clone(&first), "s").write(&path("shared"), b"").unwrap();
    let stores: Vec<Arc<dyn Store>> = (0..2).map(|_| fresh.open()).collect();
    // Two in each of two processes, as it were: those in one take turns, those of the other are found by the version.
    let workspaces: Vec<StoredWorkspace> =
        stores.iter().map(|store| StoredWorkspace::new(Arc::clone(store), "s")).collect();
    let edit = |workspace: &StoredWorkspace, line: &str| {
        run(async {
            let _turn = workspace.lock(&path("shared"))?.wait().await?;
            let text = format!("{}{line}\n", read(workspace, "shared")?);
            workspace.write(&path("shared"), text.as_bytes())
        })
    };
    let made: Vec<String> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (workspace, edit) = (&workspaces[writer % 2], &edit);
                threads.spawn(move || {
                    let lines = (0..EDITS).map(|number| format!("{writer}.{number}"));
                    let made = lines.filter(|line| match edit(workspace, line) {
                        Ok(_) => true,
                        Err(error) if error.code() == Code::StaleFile => false,
                        Err(error) => panic!("{error}"),
                    });
                    made.collect::<Vec<String>>()
                })
            })
            .collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let text = text(&*first, "shared").unwrap();
    let mut found: Vec<&str> = text.lines().collect();
    let mut made: Vec<&str> = made.iter().map(String::as_str).collect();
    found.sort_unstable();
    made.sort_unstable();
    assert_eq!(found, made);
    assert!(!made.is_empty());
}
