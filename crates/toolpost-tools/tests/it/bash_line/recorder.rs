//! Runs lines in a real bash in namespaces of its own, where every program is one that records how it was started.
//!
//! `env`, `find`, `xargs` and the like are the machine's own, so that what they run is seen as well.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that run what they are given, as the real ones do.
const REAL: [&str; 11] =
    ["bash", "sh", "dash", "env", "xargs", "find", "timeout", "nice", "nohup", "setsid", "stdbuf"];

/// A program that started, or a file that was written to the home folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Started {
    /// Its absolute path, without `.` and `..`.
    pub(super) path: String,
    pub(super) arguments: Vec<String>,
}

/// What each line started. Nothing that a line does is seen outside.
pub(super) fn run(lines: &[String]) -> Vec<Vec<Started>> {
    let folder = crate::folder();
    let recorder = build(folder.path());
    let names = names(lines);
    let parts: Vec<&[String]> = lines.chunks(lines.len().div_ceil(2).max(1)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(number, lines)| {
                let root = folder.path().join(number.to_string());
                prepare(&root, &recorder, &names);
                let recorder = &recorder;
                scope.spawn(move || run_in(&root, recorder, lines))
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn build(folder: &Path) -> PathBuf {
    let source = folder.join("recorder.c");
    fs::write(&source, include_str!("recorder.c")).unwrap();
    let program = folder.join("recorder");
    let compile = |options: &[&str]| {
        let command =
            Command::new("cc").args(options).arg("-O2").arg("-o").arg(&program).arg(&source).output();
        command.unwrap()
    };
    // Without its libraries it starts in a quarter of the time.
    if !compile(&["-static"]).status.success() {
        let output = compile(&[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    program
}

/// Every word of the lines that could be the name of a program.
fn names(lines: &[String]) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-.+".contains(letter);
    let is_name = |word: &&str| {
        word.len() < 40
            && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && word.chars().any(is_part)
    };
    let words = lines.iter().flat_map(|line| line.split(move |letter| !is_part(letter))).filter(is_name);
    words.chain(REAL).chain(["[", "true", "false", "test", "echo", "printf", "x", "y", "b"]).collect()
}

fn prepare(root: &Path, recorder: &Path, names: &BTreeSet<&str>) {
    for folder in ["real", "log", "work", "home", "proc", "dev", "usr/bin"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for library in ["usr/lib", "usr/lib64", "lib", "lib64", "bin"] {
        match fs::read_link(Path::new("/").join(library)) {
            Ok(target) => symlink(target, root.join(library)).unwrap(),
            Err(_) if library != "bin" && Path::new("/").join(library).is_dir() => {
                fs::create_dir(root.join(library)).unwrap();
            }
            Err(_) if library == "bin" => symlink("usr/bin", root.join("bin")).unwrap(),
            Err(_) => {}
        }
    }
    fs::write(root.join("dev/null"), "").unwrap();
    symlink("/proc/self/fd", root.join("dev/fd")).unwrap();
    symlink("/proc/self/fd/0", root.join("dev/stdin")).unwrap();
    fs::copy(recorder, root.join("stub")).unwrap();
    for name in REAL {
        let mut from = ["/usr/bin", "/bin"].into_iter().map(|folder| Path::new(folder).join(name));
        let from = from.find(|path| path.exists()).unwrap_or_else(|| panic!("there is no `{name}`"));
        fs::copy(from, root.join("real").join(name)).unwrap();
    }
    for name in names {
        symlink("/stub", root.join("usr/bin").join(name)).unwrap();
    }
}

fn run_in(root: &Path, recorder: &Path, lines: &[String]) -> Vec<Vec<Started>> {
    let input: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\0"].concat()).collect();
    let file = root.with_extension("lines");
    fs::write(&file, input).unwrap();
    let output =
        Command::new(recorder).arg("run").arg(root).arg(&file).arg(lines.len().to_string()).output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    (0..lines.len())
        .map(|number| read(&fs::read(root.join(format!("log/{number}"))).unwrap_or_default()))
        .collect()
}

fn read(mut log: &[u8]) -> Vec<Started> {
    let mut started = Vec::new();
    while let Some((length, rest)) = log.split_first_chunk::<4>() {
        let (record, rest) = rest.split_at(usize::try_from(u32::from_le_bytes(*length)).unwrap());
        log = rest;
        let parts = record.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0);
        let mut parts = parts.map(|part| String::from_utf8_lossy(part).into_owned());
        let (path, folder) = (parts.next().unwrap(), parts.next().unwrap());
        started.push(Started { path: absolute(&folder, &path), arguments: parts.collect() });
    }
    started
}

fn absolute(folder: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
