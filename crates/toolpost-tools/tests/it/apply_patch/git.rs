//! Diffs made by git itself: applied to the old tree they give the new tree, byte by byte.

use super::super::{count, disk, folder, shown};
use super::{Seeded, apply, tree};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn git(root: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args([
            "-c",
            "core.autocrlf=false",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "core.safecrlf=false",
        ])
        .args(args)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Whether git itself would apply a diff to the files as they are.
fn takes(root: &Path, diff: &str) -> bool {
    let file = root.join(".git/the.diff");
    std::fs::write(&file, diff).unwrap();
    let status =
        Command::new("git").args(["apply", "--check"]).arg(&file).current_dir(root).output().unwrap();
    status.status.success()
}

const NAMES: [&str; 12] = [
    "a.txt",
    "src/main.rs",
    "src/lib.rs",
    "with blank.txt",
    "dir/sub/deep.c",
    "ümlaut.md",
    "tab\there",
    "quote\"d",
    "b/b.txt",
    "a/a.txt",
    "-dash",
    "back\\slash",
];

/// A line: few different ones, so that many places look alike, and some that look like a diff.
fn line(seeded: &mut Seeded) -> String {
    match seeded.below(14) {
        0 => String::new(),
        1 => "}".to_owned(),
        2 => "    return x;  ".to_owned(),
        3 => "-- signature".to_owned(),
        4 => "++ plus".to_owned(),
        5 => "@@ -1,2 +3,4 @@".to_owned(),
        6 => "*** End Patch".to_owned(),
        7 => "\\ No newline at end of file".to_owned(),
        8 => "diff --git a/x b/x".to_owned(),
        9 => "lone\rreturn".to_owned(),
        10 => "\tünïcode “quotes” \u{feff}".to_owned(),
        _ => format!("line {}", seeded.below(40)),
    }
}

fn text(seeded: &mut Seeded) -> String {
    let ending = *seeded.pick(&["\n", "\n", "\n", "\r\n"]);
    let mut text: String = (0..seeded.below(60)).map(|_| line(seeded) + ending).collect();
    if seeded.below(10) == 0 {
        text.insert(0, '\u{feff}');
    }
    if seeded.below(5) == 0 {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    text
}

fn edited(seeded: &mut Seeded, text: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=seeded.below(4) {
        let at = seeded.below(lines.len() + 1);
        let ending = if seeded.below(12) == 0 { "\r\n" } else { "\n" };
        match seeded.below(3) {
            0 if at < lines.len() => {
                lines.remove(at);
            }
            1 if at < lines.len() => lines[at] = line(seeded) + ending,
            _ => lines.insert(at, line(seeded) + ending),
        }
    }
    let mut text = lines.concat();
    match seeded.below(8) {
        0 => text.truncate(text.trim_end_matches(['\r', '\n']).len()),
        1 if !text.ends_with('\n') => text.push('\n'),
        2 if text.starts_with('\u{feff}') => text = text.trim_start_matches('\u{feff}').to_owned(),
        _ => {}
    }
    text
}

#[test]
fn patches_from_git() {
    let rounds = count(100, 2_000);
    let folder = folder();
    let root = folder.path();
    git(root, &["init", "-q"]);
    let mut seeded = Seeded(0x6170_706c_7921);
    let (mut files, mut bytes, mut empty, mut refused) = (0, 0, 0, 0);
    for round in 0..rounds {
        let write = |files: &BTreeMap<String, String>| {
            for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
                if entry.file_name() != ".git" {
                    match entry.file_type().unwrap().is_dir() {
                        true => std::fs::remove_dir_all(entry.path()).unwrap(),
                        false => std::fs::remove_file(entry.path()).unwrap(),
                    }
                }
            }
            for (name, text) in files {
                let path = root.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
        };
        let mut old: BTreeMap<String, String> = BTreeMap::new();
        for _ in 0..=seeded.below(5) {
            old.insert(seeded.pick(&NAMES).to_string(), text(&mut seeded));
        }
        let mut new = old.clone();
        for name in old.keys() {
            let other = seeded.pick(&NAMES).to_string();
            match seeded.below(8) {
                0 => {
                    new.remove(name);
                }
                1 if !new.contains_key(&other) => {
                    let moved = new.remove(name).unwrap();
                    new.insert(other, moved);
                }
                2 if !new.contains_key(&other) => {
                    let moved = new.remove(name).unwrap();
                    new.insert(other, edited(&mut seeded, &moved));
                }
                3 if !new.contains_key(&other) => {
                    new.insert(other, text(&mut seeded));
                }
                4 => {
                    let copy = new[name].clone();
                    new.entry(other).or_insert(copy);
                }
                5 if new.contains_key(&other) && other != *name => {
                    let (one, two) = (new[name].clone(), new[&other].clone());
                    new.insert(name.clone(), two);
                    new.insert(other, one);
                }
                _ => {
                    let text = edited(&mut seeded, &new[name]);
                    new.insert(name.clone(), text);
                }
            }
        }
        write(&old);
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "--allow-empty", "-m", "old"]);
        write(&new);
        git(root, &["add", "-A"]);
        let mut args = vec!["diff", "--cached", "--text"];
        args.extend(*seeded.pick(&[
            &["-M"][..],
            &["-M", "-C", "--find-copies-harder"],
            &["-M", "-B"],
            &["--no-renames"],
            &["-U1"],
            &["-M", "--src-prefix=i/", "--dst-prefix=w/"],
            &["--patience", "--full-index", "-U8"],
            &["--minimal", "-M", "--inter-hunk-context=5"],
        ]));
        let diff = String::from_utf8(git(root, &args)).unwrap();
        let wanted = tree(root);
        write(&old);
        if diff.is_empty() {
            empty += 1;
            continue;
        }
        let before = tree(root);
        let outcome = apply(&disk(root), &diff);
        if !outcome.is_success() {
            assert_eq!(tree(root), before, "round {round}: a refusal changes nothing\n{diff}");
        }
        // With -B git makes diffs that put a file onto another one, and does not take them itself.
        if !outcome.is_success() && !takes(root, &diff) {
            refused += 1;
            continue;
        }
        assert!(outcome.is_success(), "round {round}: {}\n{diff}", shown(&outcome));
        let contents = |tree: BTreeMap<String, (Vec<u8>, u32)>| -> BTreeMap<String, String> {
            let files = tree.into_iter().filter(|(_, (content, _))| content != b"folder");
            files.map(|(name, (content, _))| (name, String::from_utf8(content).unwrap())).collect()
        };
        assert_eq!(contents(tree(root)), contents(wanted), "round {round}\n{diff}");
        files += diff.lines().filter(|line| line.starts_with("diff --git ")).count();
        bytes += diff.len();
    }
    let made = rounds - empty;
    println!(
        "measure: patches from git: {} of {made} applied byte by byte, {refused} refused as by git, {files} files, {} KiB",
        made - refused,
        bytes / 1024
    );
}

#[test]
fn a_patch_as_mailed_by_git() {
    let folder = folder();
    let root = folder.path();
    git(root, &["init", "-q"]);
    std::fs::write(root.join("f"), "a\nb\nc\n").unwrap();
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "one"]);
    std::fs::write(root.join("f"), "a\nB\nc\n").unwrap();
    std::fs::write(root.join("empty"), "").unwrap();
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "two"]);
    let patch = String::from_utf8(git(root, &["format-patch", "-1", "--stdout"])).unwrap();
    git(root, &["reset", "-q", "--hard", "HEAD~1"]);
    let outcome = apply(&disk(root), &patch);
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!(std::fs::read_to_string(root.join("f")).unwrap(), "a\nB\nc\n");
    assert_eq!(std::fs::read_to_string(root.join("empty")).unwrap(), "");
}
