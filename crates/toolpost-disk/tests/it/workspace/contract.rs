//! What every workspace must do alike.

use super::{names, read, run};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::workspace::{Kind, Overlay};
use toolpost_core::{Code, Memory, Workspace, WorkspacePath};
use toolpost_disk::{Disk, Locks};
use toolpost_store::{StoreUrl, StoredWorkspace};

fn path(spelling: &str) -> WorkspacePath {
    WorkspacePath::new(spelling)
}

/// Runs on an empty workspace.
async fn contract(workspace: &dyn Workspace) {
    writes_and_reads(workspace);
    refuses_and_explains(workspace);
    moves_and_removes(workspace);
    takes_turns(workspace).await;
}

fn writes_and_reads(workspace: &dyn Workspace) {
    assert_eq!(names(workspace, ".").unwrap(), Vec::<String>::new());
    let written = workspace.write(&path("src/deep/main.rs"), b"fn main() {}\r\n").unwrap();
    assert_eq!((written.name.as_str(), written.created, written.bytes), ("src/deep/main.rs", true, 14));
    let written = workspace.write(&path("./src//deep/../deep/main.rs"), b"\xef\xbb\xbfnew\0\xff").unwrap();
    assert_eq!((written.name.as_str(), written.created, written.bytes), ("src/deep/main.rs", false, 8));
    assert_eq!(read(workspace, "src/deep/main.rs").unwrap(), b"\xef\xbb\xbfnew\0\xff");
    let absolute = format!("{}/src/deep/main.rs", workspace.root());
    assert_eq!(workspace.name(&path(&absolute)).unwrap(), "src/deep/main.rs");
    assert_eq!(read(workspace, &absolute).unwrap().len(), 8);

    let stat = workspace.stat(&path("src/deep/main.rs")).unwrap();
    assert_eq!((stat.name.as_str(), stat.kind, stat.size), ("src/deep/main.rs", Kind::File, 8));
    assert!(stat.modified_ms > 1_500_000_000_000, "{stat:?}");
    assert_eq!(stat.mode & 0o600, 0o600);
    let stat = workspace.stat(&path("src")).unwrap();
    assert_eq!((stat.name.as_str(), stat.kind), ("src", Kind::Folder));
    assert_eq!(workspace.stat(&path("")).unwrap().name, ".");

    workspace.create_folder(&path("empty/one")).unwrap();
    workspace.create_folder(&path("empty/one")).unwrap();
    assert_eq!(names(workspace, ".").unwrap(), ["empty", "src"]);
    assert_eq!(names(workspace, "empty/one").unwrap(), Vec::<String>::new());
    workspace.write(&path("src/empty.txt"), b"").unwrap();
    assert_eq!(read(workspace, "src/empty.txt").unwrap(), b"");
    assert_eq!(names(workspace, "src").unwrap(), ["deep", "empty.txt"]);
}

fn refuses_and_explains(workspace: &dyn Workspace) {
    let error = workspace.open(&path("src/deep/mian.rs")).unwrap_err();
    assert_eq!(error.message(), "no file `src/deep/mian.rs`; nearest: `src/deep/main.rs`");
    assert_eq!(error.code(), Code::FileNotFound);
    assert_eq!(error.details()["nearest"], serde_json::json!(["src/deep/main.rs"]));
    for (spelling, code) in
        [("../x", Code::PathEscape), ("/etc/passwd", Code::PathEscape), ("a\0", Code::ValidationError)]
    {
        assert_eq!(workspace.stat(&path(spelling)).unwrap_err().code(), code, "{spelling}");
    }
    let error = workspace.write(&path("../x"), b"").unwrap_err();
    assert!(
        error.message().contains("add its folder to the workspace")
            && error.message().contains(workspace.root()),
        "{error}"
    );

    assert_eq!(workspace.open(&path("src")).unwrap_err().code(), Code::NotAFile);
    assert_eq!(workspace.write(&path("src"), b"").unwrap_err().code(), Code::NotAFile);
    assert_eq!(workspace.write(&path("."), b"").unwrap_err().code(), Code::NotAFile);
    assert_eq!(workspace.entries(&path("src/empty.txt")).err().unwrap().code(), Code::NotAFile);
    assert_eq!(workspace.create_folder(&path("src/empty.txt")).unwrap_err().code(), Code::NotAFile);
    for below in ["src/empty.txt/x", "src/empty.txt/x/y"] {
        assert_eq!(workspace.open(&path(below)).unwrap_err().code(), Code::NotAFile, "{below}");
        assert_eq!(workspace.write(&path(below), b"").unwrap_err().code(), Code::NotAFile, "{below}");
        assert_eq!(workspace.create_folder(&path(below)).unwrap_err().code(), Code::NotAFile, "{below}");
    }
    assert_eq!(workspace.remove(&path("src")).unwrap_err().code(), Code::WriteError);
    assert_eq!(workspace.remove(&path("none")).unwrap_err().code(), Code::FileNotFound);
    assert_eq!(workspace.remove(&path(".")).unwrap_err().code(), Code::WriteError);
    assert_eq!(workspace.rename(&path("."), &path("x")).unwrap_err().code(), Code::WriteError);
    assert_eq!(workspace.rename(&path("none"), &path("x")).unwrap_err().code(), Code::FileNotFound);
    assert_eq!(workspace.rename(&path("src"), &path("empty")).unwrap_err().code(), Code::NotAFile);
    assert_eq!(workspace.rename(&path("src"), &path("src/deep/x")).unwrap_err().code(), Code::WriteError);
    assert_eq!(
        workspace.rename(&path("empty"), &path("src/empty.txt")).unwrap_err().code(),
        Code::WriteError
    );
    assert_eq!(names(workspace, "src").unwrap(), ["deep", "empty.txt"]);
}

fn moves_and_removes(workspace: &dyn Workspace) {
    workspace.rename(&path("src/deep/main.rs"), &path("other/new/lib.rs")).unwrap();
    assert_eq!(workspace.stat(&path("src/deep/main.rs")).unwrap_err().code(), Code::FileNotFound);
    assert_eq!(read(workspace, "other/new/lib.rs").unwrap().len(), 8);
    assert_eq!(names(workspace, "src/deep").unwrap(), Vec::<String>::new());
    workspace.write(&path("replaced"), b"old").unwrap();
    workspace.rename(&path("other/new/lib.rs"), &path("replaced")).unwrap();
    assert_eq!(read(workspace, "replaced").unwrap().len(), 8);
    workspace.rename(&path("replaced"), &path("replaced")).unwrap();
    workspace.rename(&path("src"), &path("moved/src")).unwrap();
    assert_eq!(names(workspace, "moved/src").unwrap(), ["deep", "empty.txt"]);
    assert_eq!(workspace.stat(&path("src")).unwrap_err().code(), Code::FileNotFound);

    workspace.remove(&path("moved/src/deep")).unwrap();
    workspace.remove(&path("moved/src/empty.txt")).unwrap();
    workspace.remove(&path("moved/src")).unwrap();
    assert_eq!(names(workspace, "moved").unwrap(), Vec::<String>::new());
    workspace.write(&path("moved/src/again"), b"again").unwrap();
    assert_eq!(names(workspace, "moved/src").unwrap(), ["again"]);
    assert_eq!(names(workspace, ".").unwrap(), ["empty", "moved", "other", "replaced"]);
}

async fn takes_turns(workspace: &dyn Workspace) {
    let soon = Duration::from_millis(50);
    let held = workspace.lock(&path("moved/file")).unwrap().wait().await.unwrap();
    let (same, other) = (path("moved/../moved/file"), path("moved/other"));
    assert!(
        tokio::time::timeout(soon, workspace.lock(&same).unwrap().wait()).await.is_err(),
        "the turn was given twice"
    );
    drop(
        tokio::time::timeout(soon * 40, workspace.lock(&other).unwrap().wait())
            .await
            .expect("another file is free")
            .unwrap(),
    );
    drop(held);
    drop(
        tokio::time::timeout(soon * 40, workspace.lock(&same).unwrap().wait())
            .await
            .expect("the turn was given back")
            .unwrap(),
    );
}

#[test]
fn disk_keeps_the_contract() {
    let (folder, locks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(contract(&Disk::open([folder.path()]).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open([folder.path()]).unwrap().with_locks(Locks::new(locks.path().join("a/b")));
    run(contract(&disk));
    drop(disk);
    let left: Vec<_> = std::fs::read_dir(locks.path().join("a/b")).unwrap().collect();
    assert!(left.is_empty(), "lock files are left: {left:?}");
}

#[test]
fn memory_keeps_the_contract() {
    run(contract(&Memory::new()));
}

#[test]
fn virtual_files_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    for url in [StoreUrl::Memory, StoreUrl::Sqlite(folder.path().join("store.db"))] {
        let store = toolpost_store::open(&url).unwrap();
        run(contract(&StoredWorkspace::new(store.clone(), "s")));
        run(contract(&Overlay::over(Arc::new(StoredWorkspace::new(store.clone(), "over")))));
        assert_eq!(store.files("over", "").unwrap(), []);
    }
}

#[test]
fn an_overlay_over_memory_keeps_the_contract() {
    run(contract(&Overlay::over(Arc::new(Memory::new()))));
}

#[test]
fn an_overlay_over_disk_keeps_the_contract_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    run(contract(&Overlay::over(Arc::new(Disk::open([folder.path()]).unwrap()))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_overlay_shows_what_would_change() {
    let below = Arc::new(Memory::from_fixture("//- a\none\n//- b\ntwo\n//- folder/c\nthree\n//- same\n=\n"));
    assert!(below.set_mode("a", 0o755));
    let overlay = Overlay::over(below.clone());
    overlay.write(&path("a"), b"first").unwrap();
    overlay.write(&path("a"), b"second").unwrap();
    assert_eq!(overlay.stat(&path("a")).unwrap().mode, 0o755);
    overlay.remove(&path("b")).unwrap();
    overlay.rename(&path("folder"), &path("new/folder")).unwrap();
    overlay.write(&path("same"), b"other").unwrap();
    overlay.write(&path("same"), b"=\n").unwrap();
    assert_eq!(names(&overlay, ".").unwrap(), ["a", "new", "same"]);
    assert_eq!(names(below.as_ref(), ".").unwrap(), ["a", "b", "folder", "same"]);
    let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
    let changes: Vec<_> = overlay
        .changes()
        .into_iter()
        .map(|change| (change.path, text(change.before), text(change.after)))
        .collect();
    let row = |path: &str, before: Option<&str>, after: Option<&str>| {
        (path.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
    };
    assert_eq!(
        changes,
        [
            row("a", Some("one\n"), Some("second")),
            row("b", Some("two\n"), None),
            row("folder/c", Some("three\n"), None),
            row("new/folder/c", None, Some("three\n")),
        ]
    );
    assert_eq!(below.text("a").as_deref(), Some("one\n"));
}

#[test]
fn a_workspace_has_several_roots() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir(base.join(name)).unwrap();
        std::fs::write(base.join(name).join("file"), name).unwrap();
    }
    std::os::unix::fs::symlink(base.join("one"), base.join("link")).unwrap();
    std::os::unix::fs::symlink(base.join("two/file"), base.join("one/to-two")).unwrap();
    std::os::unix::fs::symlink("../two/file", base.join("one/to-two-relative")).unwrap();
    let disk = Disk::open([base.join("link"), base.join("two")]).unwrap();
    let two = base.join("two/file").to_str().unwrap().to_owned();
    assert_eq!(disk.roots().len(), 2);
    assert_eq!(disk.root(), base.join("one").to_str().unwrap());
    assert_eq!(read(&disk, "file").unwrap(), b"one");
    assert_eq!(read(&disk, base.join("link/file").to_str().unwrap()).unwrap(), b"one");
    assert_eq!(read(&disk, &two).unwrap(), b"two");
    for link in ["to-two", "to-two-relative"] {
        assert_eq!(disk.stat(&path(link)).unwrap().name, two);
        assert_eq!(disk.write(&path(link), link.as_bytes()).unwrap().name, two);
        assert_eq!(std::fs::read_to_string(&two).unwrap(), link);
    }
    let overlay = Overlay::over(Arc::new(Disk::open([base.join("link"), base.join("two")]).unwrap()));
    overlay.write(&path("to-two"), b"over").unwrap();
    assert_eq!(read(&overlay, &two).unwrap(), b"over");
    assert_eq!(overlay.changes()[0].path, two);
    assert_eq!(disk.remove(&path(base.join("two").to_str().unwrap())).unwrap_err().code(), Code::WriteError);
}

#[test]
fn a_root_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    for (name, says) in [("none", "does not exist"), ("file", "is not a folder")] {
        let error = Disk::open([folder.path().join(name)]).unwrap_err();
        assert!(error.message().contains(says) && error.message().contains(name), "{error}");
    }
    assert!(Disk::open(Vec::<std::path::PathBuf>::new()).is_err());
}
