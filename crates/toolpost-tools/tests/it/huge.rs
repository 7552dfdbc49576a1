//! Guarantee 5 for the tools: huge inputs cost little time, little memory, and give little output.

use super::{call, code, count, data, disk, folder, peak_memory, shown};
use crate::load::stretched;
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use toolpost_core::Outcome;

const BAR: Duration = Duration::from_secs(15);

/// One call on a folder: what came, and how long it took. The output is bounded whatever happens.
fn timed(root: &Path, tool: &str, args: Value) -> (Outcome, Duration) {
    let ctx = disk(root);
    let start = Instant::now();
    let outcome = call(&ctx, tool, args);
    let took = start.elapsed();
    assert!(outcome.to_json().to_string().len() < 1 << 20, "{tool} gives too much");
    assert!(took < stretched(BAR), "{tool} took {took:?}");
    (outcome, took)
}

#[test]
fn guarantee_05_huge_inputs_are_bounded() {
    let before = peak_memory();
    let folder = folder();
    let root = folder.path();
    let sparse = sparse(root);
    let endless = endless_line(root);
    let (length, line) = long_line(root);
    let lines = many_lines(root);
    let entries = count(20_000, 1_000_000);
    let listed = many_entries(root, entries);
    let grown = peak_memory() - before;
    assert!(grown < 400, "{grown} MiB");
    println!(
        "measure: guarantee 5: read of 20 GiB {} ms, of 20 GiB in one line {} ms, of a line of {length} MiB {} ms, at the end of 5000000 lines {} ms; list and read of {entries} entries {} ms; {grown} MiB more",
        sparse.as_millis(),
        endless.as_millis(),
        line.as_millis(),
        lines.as_millis(),
        listed.as_millis()
    );
}

fn sparse(root: &Path) -> Duration {
    std::fs::File::create(root.join("sparse")).unwrap().set_len(20 << 30).unwrap();
    let (outcome, took) = timed(root, "read", json!({"filePath": "sparse"}));
    assert_eq!(code(&outcome), "IS_BINARY");
    let (outcome, searched) = timed(root, "grep", json!({"pattern": "x", "path": "."}));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    took.max(searched)
}

/// Text at first, by which it is known, and then nothing but a line that goes on.
fn endless_line(root: &Path) -> Duration {
    let mut file = std::fs::File::create(root.join("endless")).unwrap();
    file.write_all(format!("first\n{}", "x".repeat(100_000)).as_bytes()).unwrap();
    file.set_len(20 << 30).unwrap();
    let (outcome, took) = timed(root, "read", json!({"filePath": "endless"}));
    assert!(shown(&outcome).starts_with("1: first\n2: xxx"), "{}", &shown(&outcome)[..60]);
    took
}

fn long_line(root: &Path) -> (usize, Duration) {
    let length = count(64, 1_024);
    let mut file = std::fs::File::create(root.join("line")).unwrap();
    let part = vec![b'x'; 1 << 20];
    for _ in 0..length {
        file.write_all(&part).unwrap();
    }
    file.write_all(b"\nlast\n").unwrap();
    let (outcome, took) = timed(root, "read", json!({"filePath": "line"}));
    assert!(shown(&outcome).contains("…\n2: last\n"), "{}", shown(&outcome).len());
    for args in [json!({"pattern": "last|x{20}y"}), json!({"pattern": "last", "multiline": true})] {
        let (outcome, searched) = timed(root, "grep", args);
        assert!(
            shown(&outcome).contains("not searched to the end: a NUL byte or too long a line"),
            "{}",
            shown(&outcome)
        );
        println!("measure: guarantee 5: grep over a line of {length} MiB {} ms", searched.as_millis());
    }
    std::fs::remove_file(root.join("line")).unwrap();
    (length, took)
}

fn many_lines(root: &Path) -> Duration {
    const LINES: usize = 5_000_000;
    let mut file = std::io::BufWriter::new(std::fs::File::create(root.join("lines")).unwrap());
    let part = "a line of text\n".repeat(1_000);
    for _ in 0..LINES / 1_000 {
        file.write_all(part.as_bytes()).unwrap();
    }
    drop(file);
    let (outcome, took) = timed(root, "read", json!({"filePath": "lines", "offset": LINES - 1}));
    assert_eq!(shown(&outcome), "4999999: a line of text\n5000000: a line of text\n");
    let (outcome, more) = timed(root, "read", json!({"filePath": "lines", "offset": LINES + 1}));
    assert!(shown(&outcome).contains("has 5000000 lines"), "{}", shown(&outcome));
    std::fs::remove_file(root.join("lines")).unwrap();
    took.max(more)
}

fn many_entries(root: &Path, entries: usize) -> Duration {
    let many = root.join("many");
    std::fs::create_dir(&many).unwrap();
    let handle = openat(CWD, &many, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for index in 0..entries {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        openat(&handle, format!("file-{index:07}"), flags, Mode::from_raw_mode(0o644)).unwrap();
    }
    for (tool, pattern) in [("glob", "file-*"), ("grep", "nothing")] {
        let (outcome, took) = timed(root, tool, json!({"pattern": pattern, "path": "many"}));
        assert_eq!(data(&outcome)["partial"], false, "{tool} took {took:?}");
        println!("measure: guarantee 5: {tool} over {entries} entries {} ms", took.as_millis());
    }
    let (outcome, listed) = timed(root, "list", json!({"path": "many"}));
    assert_eq!(data(&outcome)["leftOut"], entries - 1_000);
    let (outcome, named) = timed(root, "read", json!({"filePath": "many", "offset": entries - 1}));
    assert!(shown(&outcome).ends_with(&format!("file-{:07}\n", entries - 1)), "{}", shown(&outcome));
    let (outcome, _) = timed(root, "read", json!({"filePath": "many/flie-0000001"}));
    assert!(shown(&outcome).contains("nearest"));
    assert!(Command::new("rm").arg("-rf").arg(&many).status().unwrap().success());
    listed.max(named)
}
