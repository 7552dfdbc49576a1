//! What a name holds to the byte, and exchanges that refuse what they did not expect.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use toolpost_disk::{Disk, Exact};

const MOST: u64 = 1_000;

fn file(text: &str, mode: u32) -> Exact {
    Exact::File { content: Arc::from(text.as_bytes()), mode: Some(mode) }
}

/// Every kind of thing that a name can hold.
fn kinds() -> Vec<Exact> {
    vec![
        Exact::Absent,
        file("one\n", 0o644),
        file("one\n", 0o755),
        file("", 0o600),
        Exact::Folder { mode: Some(0o755) },
        Exact::Folder { mode: Some(0o700) },
        Exact::Link("nowhere".to_owned()),
        Exact::Link("/etc/passwd".to_owned()),
    ]
}

fn world() -> (tempfile::TempDir, Disk) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open([folder.path()]).unwrap();
    (folder, disk)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn everything_takes_the_place_of_everything() {
    let (folder, disk) = world();
    let path = "deep/er/x".into();
    let mut now = Exact::Absent;
    for one in kinds() {
        for other in kinds() {
            for new in [&one, &other] {
                disk.exchange(&path, &now, new).unwrap_or_else(|error| panic!("{now:?} {new:?}: {error}"));
                now = disk.exact(&path, MOST).unwrap();
                assert_eq!(now, *new);
            }
        }
    }
    disk.exchange(&path, &now, &Exact::Absent).unwrap();
    assert_eq!(names(&folder.path().join("deep/er")), [""; 0], "nothing is left beside it");
}

#[test]
fn what_is_not_expected_stays_as_it_is() {
    let (folder, disk) = world();
    let path = "x".into();
    for now in kinds() {
        disk.exchange(&path, &Exact::Absent, &now).unwrap();
        for expected in kinds().into_iter().filter(|expected| *expected != now) {
            // The mode of a folder is nothing that an exchange looks at.
            if matches!((&now, &expected), (Exact::Folder { .. }, Exact::Folder { .. })) {
                continue;
            }
            for new in [Exact::Absent, file("new\n", 0o644), Exact::Link("new".to_owned())] {
                let done = disk.exchange(&path, &expected, &new);
                assert!(done.is_err(), "{now:?} {expected:?} {new:?}");
                assert_eq!(disk.exact(&path, MOST).unwrap(), now, "{expected:?} {new:?}");
            }
        }
        assert!(names(folder.path()).iter().all(|name| name == "x"), "{:?}", names(folder.path()));
        disk.exchange(&path, &now, &Exact::Absent).unwrap();
    }
}

#[test]
fn no_link_is_followed_and_no_folder_emptied() {
    let (folder, disk) = world();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x"), "theirs").unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    std::fs::create_dir(folder.path().join("real")).unwrap();
    std::fs::write(folder.path().join("real/x"), "mine").unwrap();
    symlink("real", folder.path().join("in")).unwrap();
    for name in ["out/x", "in/x"] {
        assert!(disk.exact(&name.into(), MOST).is_err(), "{name}");
        assert!(disk.exchange(&name.into(), &Exact::Absent, &file("new", 0o644)).is_err(), "{name}");
        assert!(disk.exchange(&name.into(), &file("theirs", 0o644), &Exact::Absent).is_err(), "{name}");
    }
    for name in ["../x", "/etc/x"] {
        assert!(disk.exchange(&name.into(), &Exact::Absent, &file("new", 0o644)).is_err(), "{name}");
    }
    let full = disk.exchange(&"real".into(), &Exact::Folder { mode: None }, &Exact::Absent).unwrap_err();
    assert!(full.message().contains("not empty"), "{}", full.message());
    assert!(disk.exchange(&".".into(), &Exact::Folder { mode: None }, &Exact::Absent).is_err());
    assert_eq!(std::fs::read_to_string(outside.path().join("x")).unwrap(), "theirs");
    assert_eq!(std::fs::read_to_string(folder.path().join("real/x")).unwrap(), "mine");
    assert!(disk.holds_more(&"real".into(), &|name| name == "y").unwrap());
    assert!(!disk.holds_more(&"real".into(), &|name| name == "x").unwrap());
}

#[test]
fn large_files_and_pipes_are_not_read() {
    let (folder, disk) = world();
    std::fs::write(folder.path().join("large"), vec![b'x'; 2_000]).unwrap();
    assert!(matches!(disk.exact(&"large".into(), MOST), Ok(Exact::Other(_))));
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    assert!(matches!(disk.exact(&"pipe".into(), MOST), Ok(Exact::Other(_))));
    assert!(disk.exchange(&"pipe".into(), &file("", 0o644), &Exact::Absent).is_err());
    assert!(folder.path().join("pipe").exists());
    let mode = std::fs::metadata(folder.path().join("large")).unwrap().permissions().mode() & 0o777;
    disk.exchange(
        &"large".into(),
        &Exact::File { content: vec![b'x'; 2_000].into(), mode: None },
        &Exact::Absent,
    )
    .unwrap();
    assert!(mode != 0 && !folder.path().join("large").exists());
}
