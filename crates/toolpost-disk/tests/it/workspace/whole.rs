//! Guarantee 7: a write is whole or absent, through kill -9 and a full disk.

use super::{Seeded, child, count, read};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use toolpost_core::{Code, Workspace, WorkspacePath};
use toolpost_disk::Disk;

const CHILD: &str = "TOOLPOST_TEST_WRITER";
const LIMITED: &str = "TOOLPOST_TEST_LIMITED";
const SIZES: [usize; 2] = [256 << 10, 300 << 10];

fn contents() -> [Vec<u8>; 2] {
    [vec![b'a'; SIZES[0]], vec![b'b'; SIZES[1]]]
}

#[test]
fn guarantee_07_a_write_is_whole_or_absent() {
    let kills = count(40, 1000);
    let folder = tempfile::tempdir().unwrap();
    let contents = contents();
    let mut random = Seeded(0x7001_9057);
    let (mut leftovers, mut seen, mut mixes) = (0, [0, 0], 0);
    for _ in 0..kills {
        let mut writer = child("workspace::whole::child_writes_for_ever", CHILD, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let ready = lines.map_while(Result::ok).any(|line| line.contains("writing"));
        assert!(ready, "the writer did not start");
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = std::fs::read(folder.path().join("file")).unwrap();
        match contents.iter().position(|content| *content == found) {
            Some(index) => seen[index] += 1,
            None => mixes += 1,
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "file" {
                assert!(entry.file_name().to_string_lossy().starts_with(".toolpost-"), "{entry:?}");
                std::fs::remove_file(entry.path()).unwrap();
                leftovers += 1;
            }
        }
    }
    assert_eq!(mixes, 0, "a file was neither the old content nor the new one");
    assert!(seen[0] > 0 && seen[1] > 0, "the kills all fell on one side: {seen:?}");
    let how = full_disk();
    println!(
        "measure: guarantee 7: {kills} kills of a writer that never rests, {mixes} mixes, {leftovers} temporary files left; \
         full disk ({how}): old content whole"
    );
}

#[test]
fn child_writes_for_ever() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let disk = Disk::open([folder]).unwrap();
    let path = WorkspacePath::new("file");
    let contents = contents();
    disk.write(&path, &contents[0]).unwrap();
    // Not `println!`, which the test harness holds back.
    writeln!(std::io::stdout(), "\nwriting").unwrap();
    for content in contents.iter().cycle().skip(1) {
        disk.write(&path, content).unwrap();
    }
}

/// Fills a small disk, or else a small limit, and gives which of them.
fn full_disk() -> &'static str {
    let folder = tempfile::tempdir().unwrap();
    let point = folder.path();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(point).output();
    if mounted.is_ok_and(|output| output.status.success()) {
        let _mount = Mounted(point);
        overfill(point);
        return "tmpfs of 256 KiB";
    }
    // Without the right to mount: a limit on the size of files, which is the same refusal in the middle of a write.
    let command = child("workspace::whole::child_overfills", LIMITED, point);
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""]).arg(command.get_program());
    let output = limited.args(command.get_args()).env(LIMITED, point).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    "limit on file size"
}

#[test]
fn child_overfills() {
    if let Some(folder) = std::env::var_os(LIMITED).map(PathBuf::from) {
        overfill(&folder);
    }
}

fn overfill(folder: &Path) {
    let disk = Disk::open([folder]).unwrap();
    let old = vec![b'o'; 64 << 10];
    disk.write(&WorkspacePath::new("file"), &old).unwrap();
    for name in ["file", "new", "made/new"] {
        let error = disk.write(&WorkspacePath::new(name), &vec![b'n'; 1 << 20]).unwrap_err();
        assert_eq!(error.code(), Code::WriteError, "{error}");
        assert!(error.message().contains("full") || error.message().contains("larger"), "{error}");
    }
    assert_eq!(read(&disk, "file").unwrap(), old);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "file" || name == "made"), "{left:?}");
    disk.write(&WorkspacePath::new("small"), b"fits again").unwrap();
}

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
