//! Guarantee 6: bytes, mode and owner are kept, or the write is refused.

use super::{child, is_root, read};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, Workspace, WorkspacePath};
use toolpost_disk::Disk;

const CHILD: &str = "TOOLPOST_TEST_FOREIGN_OWNER";

const CONTENTS: &[&[u8]] = &[
    b"",
    b"\n",
    b"no newline",
    b"unix\nlines\n",
    b"dos\r\nlines\r\n",
    b"old\rmac\r",
    b"mixed\r\n\n\r",
    b"\xef\xbb\xbfbom\r\n",
    b"\xff\xfeu\0t\0f\0",
    b"\xfe\xff\0u\0t\0f",
    b"latin \xe9\xe8",
    b"nul\0inside\0",
    b"\xed\xa0\x80 surrogate",
    b"tab\t trailing  \n",
];

const MODES: &[u32] =
    &[0o600, 0o644, 0o664, 0o755, 0o777, 0o444, 0o000, 0o4755, 0o2755, 0o6711, 0o1644, 0o7777];

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn guarantee_06_bytes_mode_and_owner_are_kept() {
    assert!(is_root(), "this test gives files to other users and needs to run as root");
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let file = folder.path().join("file");
    let path = WorkspacePath::new("file");
    let mut writes = 0;
    let disk = Disk::open([folder.path()]).unwrap();
    disk.write(&path, b"first").unwrap();
    std::fs::write(folder.path().join("usual"), "").unwrap();
    assert_eq!(mode(&file), mode(&folder.path().join("usual")), "a new file has the usual mode");
    for content in CONTENTS {
        disk.write(&path, content).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), *content);
        assert_eq!(read(&disk, "file").unwrap(), *content);
        writes += 1;
    }
    for (index, bits) in MODES.iter().enumerate() {
        let owner = 12_345 * (index as u32 % 2);
        chown(&file, Some(owner), Some(owner * 2)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(*bits)).unwrap();
        setxattr(&file, "user.toolpost", b"kept", XattrFlags::empty()).expect("the disk keeps attributes");
        disk.write(&path, b"changed").unwrap();
        let meta = std::fs::metadata(&file).unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.uid(), meta.gid()), (*bits, owner, owner * 2), "{bits:04o}");
        let mut value = [0; 16];
        let length = getxattr(&file, "user.toolpost", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
        writes += 1;
    }

    // What cannot be kept: another user's file, written by somebody who may not give files away.
    std::fs::write(&file, "whole").unwrap();
    chown(&file, Some(0), Some(0)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let binary = folder.path().join("test-binary");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = child("workspace::kept::child_writes_a_foreign_file", CHILD, folder.path());
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    command = std::process::Command::new(&binary);
    let output = command.args(arguments).env(CHILD, folder.path()).uid(65_534).gid(65_534).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(std::fs::read(&file).unwrap(), b"whole");
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with(".toolpost-")));
    println!(
        "measure: guarantee 6: {writes} writes ({} contents, {} modes, 2 owners) equal; refused: 1 file of another owner, 1 read-only file",
        CONTENTS.len(),
        MODES.len()
    );
}

#[test]
fn child_writes_a_foreign_file() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let disk = Disk::open([&folder]).unwrap();
    let error = disk.write(&WorkspacePath::new("file"), b"changed").unwrap_err();
    assert_eq!(error.code(), Code::WriteError);
    assert!(error.message().contains("owner 0:0 cannot be kept"), "{error}");
    disk.write(&WorkspacePath::new("own"), b"own").unwrap();
    std::fs::set_permissions(folder.join("own"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = disk.write(&WorkspacePath::new("own"), b"changed").unwrap_err();
    assert!(error.message().contains("read-only (mode 0444)"), "{error}");
}
