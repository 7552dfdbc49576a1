//! Guarantee 5: huge inputs are bounded.

use super::{count, fast_folder, peak_memory};
use crate::load::stretched;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use std::io::{Read, Seek, SeekFrom};
use std::process::Command;
use std::time::{Duration, Instant};
use toolpost_core::workspace::Kind;
use toolpost_core::{Workspace, WorkspacePath};
use toolpost_disk::Disk;
use toolpost_walk::{WalkOptions, walk};

const BAR: Duration = Duration::from_secs(15);

#[test]
fn guarantee_05_huge_inputs_are_bounded() {
    let sparse = sparse_file();
    let entries = count(20_000, 1_000_000);
    let many = many_entries(entries);
    let deep = deep_tree();
    let loops = loops();
    for took in [sparse, many, deep, loops] {
        assert!(took < stretched(BAR), "{took:?}");
    }
    assert!(peak_memory() <= 400, "{} MiB", peak_memory());
    println!(
        "measure: guarantee 5: 20 GiB file {} ms, {entries} entries {} ms, 2000 levels {} ms, loops {} ms, peak {} MiB",
        sparse.as_millis(),
        many.as_millis(),
        deep.as_millis(),
        loops.as_millis(),
        peak_memory()
    );
}

// Each part gives how long toolpost took, without making and removing its world.

fn sparse_file() -> Duration {
    const SIZE: u64 = 20 << 30;
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("huge")).unwrap();
    file.set_len(SIZE).expect("a sparse file of 20 GiB can be made");
    let start = Instant::now();
    let disk = Disk::open([folder.path()]).unwrap();
    let mut file = disk.open(&WorkspacePath::new("huge")).unwrap();
    assert_eq!(file.stat.size, SIZE);
    let mut head = vec![1; 1 << 20];
    file.reader.read_exact(&mut head).unwrap();
    assert!(head.iter().all(|byte| *byte == 0));
    file.reader.seek(SeekFrom::End(-10)).unwrap();
    assert_eq!(file.reader.read(&mut head).unwrap(), 10);
    start.elapsed()
}

fn many_entries(entries: usize) -> Duration {
    let folder = fast_folder();
    let handle = openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for index in 0..entries {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        openat(&handle, format!("file-{index:07}"), flags, Mode::from_raw_mode(0o644)).unwrap();
    }
    let start = Instant::now();
    let disk = Disk::open([folder.path()]).unwrap();
    let options = WalkOptions { limit: 1000, ..WalkOptions::default() };
    let from = WorkspacePath::root();
    let walked = walk(&disk, &from, &options, &|| false, &|_| false).unwrap();
    assert_eq!(walked.found.len(), 1000);
    assert_eq!(walked.found[999].name, "file-0000999");
    assert_eq!(walked.left_out, entries as u64 - 1000);
    let error = disk.open(&WorkspacePath::new("flie-0000001")).unwrap_err();
    assert!(error.message().contains("nearest"), "{error}");
    let took = start.elapsed();
    assert!(Command::new("rm").arg("-rf").arg(folder.path()).status().unwrap().success());
    took
}

fn deep_tree() -> Duration {
    const LEVELS: usize = 2000;
    let folder = fast_folder();
    let mut handle = openat(CWD, folder.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..LEVELS {
        mkdirat(&handle, "d", Mode::from_raw_mode(0o755)).unwrap();
        handle = openat(&handle, "d", OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let start = Instant::now();
    let disk = Disk::open([folder.path()]).unwrap();
    let options = WalkOptions { limit: 10_000, ..WalkOptions::default() };
    let from = WorkspacePath::root();
    let walked = walk(&disk, &from, &options, &|| false, &|_| false).unwrap();
    assert_eq!((walked.found.len(), walked.unreadable.len()), (LEVELS, 0));
    let deepest = WorkspacePath::new(format!("{}file", "d/".repeat(LEVELS)));
    disk.write(&deepest, b"deep").unwrap();
    assert_eq!(disk.stat(&deepest).unwrap().size, 4);
    let beyond = WorkspacePath::new("d/".repeat(3000));
    assert!(disk.create_folder(&beyond).unwrap_err().message().contains("too long"));
    let took = start.elapsed();
    // The standard library's own removal holds a descriptor for each level.
    assert!(Command::new("rm").arg("-rf").arg(folder.path()).status().unwrap().success());
    took
}

fn loops() -> Duration {
    let folder = fast_folder();
    let root = folder.path();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    for (target, link) in
        [(".", "a/here"), ("..", "a/b/up"), ("../..", "a/b/top"), ("other", "one"), ("one", "other")]
    {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    std::os::unix::fs::symlink(root, root.join("a/absolute")).unwrap();
    let start = Instant::now();
    let disk = Disk::open([root]).unwrap();
    let from = WorkspacePath::root();
    let walked = walk(&disk, &from, &WalkOptions::default(), &|| false, &|_| false).unwrap();
    let links = walked.found.iter().filter(|found| found.kind == Kind::Link).count();
    assert_eq!((walked.found.len(), links), (8, 6), "{walked:?}");
    assert!(disk.open(&WorkspacePath::new("one")).unwrap_err().message().contains("circle"));
    let around = WorkspacePath::new("a/here/b/up/b/top/a/absolute/a");
    assert_eq!(disk.stat(&around).unwrap().name, "a");
    start.elapsed()
}
