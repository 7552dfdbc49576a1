//! What the user does between the calls: changes without toolpost, each with a mark of its own where it has text.

use super::Random;
use super::agent::Names;
use super::tree::{Name, git, parent};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// One change by the user; what it was. `near` are the names of the last call.
pub(super) fn change(random: &mut Random, root: &Path, names: &Names, near: &[Name], mark: &str) -> String {
    let at = |name: &[u8]| -> PathBuf { root.join(OsStr::from_bytes(name)) };
    let of = |random: &mut Random, from: &[Name]| -> Name {
        let close: Vec<&Name> = near.iter().filter(|name| from.contains(name)).collect();
        match (close.len(), from.len()) {
            (0, 0) => b"none".to_vec(),
            (0, length) => from[random.below(length)].clone(),
            (close_by, length) => match random.below(2) {
                0 => close[random.below(close_by)].clone(),
                _ => from[random.below(length)].clone(),
            },
        }
    };
    let (file, folder, link) =
        (of(random, &names.files), of(random, &names.folders), of(random, &names.links));
    let shown = |what: &str, name: &[u8]| format!("user: {what} `{}`", name.escape_ascii());
    match random.below(20) {
        0..=5 => {
            // A line that the agent leaves alone, or else any line.
            let Ok(text) = std::fs::read(at(&file)) else { return String::new() };
            let mut lines: Vec<Vec<u8>> =
                text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let own = format!("line {:02} ", random.below(3) * 10 + 7);
            let own =
                lines.iter().position(|line| line.windows(own.len()).any(|part| part == own.as_bytes()));
            let is_own = random.below(4) > 0;
            match own.filter(|_| is_own) {
                Some(line) => {
                    let ending = lines[line].ends_with(b"\n");
                    let start = lines[line].windows(5).position(|part| part == b"line ").unwrap() + 8;
                    lines[line].truncate(start);
                    lines[line].extend(mark.as_bytes());
                    lines[line].extend(if ending { &b"\n"[..] } else { b"" });
                }
                None if lines.is_empty() => lines.push(format!("{mark}\n").into_bytes()),
                None => {
                    let line = random.below(lines.len());
                    lines.insert(line, format!("{mark}\n").into_bytes());
                }
            }
            write(random, &at(&file), &lines.concat());
            shown(if is_own { "edits" } else { "edits somewhere in" }, &file)
        }
        6 => {
            let mode = [0o600, 0o640, 0o644, 0o755, 0o700][random.below(5)];
            let _ = std::fs::set_permissions(at(&file), std::fs::Permissions::from_mode(mode));
            shown(&format!("chmod {mode:o}"), &file)
        }
        7..=9 => {
            let mut name = folder.clone();
            name.extend(format!("/user-{mark}").as_bytes());
            let _ = std::fs::write(at(&name), format!("{mark}\n"));
            shown("makes", &name)
        }
        10 => {
            let name = [b"user-", mark.as_bytes()].concat();
            std::fs::write(at(&name), format!("{mark}\n")).unwrap();
            shown("makes", &name)
        }
        11 => {
            let _ = std::fs::remove_file(at(&file));
            shown("removes", &file)
        }
        12 => {
            let to = [parent(&file).unwrap_or(b"."), b"/user-moved-", mark.as_bytes()].concat();
            let _ = std::fs::rename(at(&file), at(&to));
            shown("moves away", &file)
        }
        13 => {
            let path = at(&link);
            if path.is_symlink() {
                std::fs::remove_file(&path).unwrap();
                symlink(mark, &path).unwrap();
            }
            shown("points elsewhere", &link)
        }
        14 => {
            let _ = std::fs::create_dir_all(at(&folder).join(format!("user-{mark}/empty")));
            shown("makes a folder in", &folder)
        }
        15 => {
            git(root, &["status"]);
            run(root, &["update-index", "-q", "--refresh"]);
            "user: git status".to_owned()
        }
        16 => {
            git(root, &["branch", &format!("user-{mark}")]);
            "user: git branch".to_owned()
        }
        17 => {
            let name = format!("user-{mark}");
            std::fs::write(root.join(&name), format!("{mark}\n")).unwrap();
            git(root, &["add", &name]);
            git(root, &["commit", "-qm", mark]);
            git(root, &["branch", &format!("keeps-{mark}")]);
            "user: git commit".to_owned()
        }
        18 => {
            if names.folders.contains(&folder) && random.below(3) == 0 {
                let _ = std::fs::remove_dir_all(at(&folder));
                return shown("removes the folder", &folder);
            }
            // What the agent has taken away comes as something new.
            let gone = near.iter().find(|name| !at(name).exists() && !at(name).is_symlink());
            let Some(gone) = gone.filter(|name| !name.starts_with(b".git/")) else { return String::new() };
            let _ = std::fs::write(at(gone), format!("{mark}\n"));
            shown("makes anew", gone)
        }
        _ => {
            git(root, &["stash", "-q"]);
            "user: git stash".to_owned()
        }
    }
}

/// In the file, or by a new file in its place, as editors do.
fn write(random: &mut Random, path: &Path, content: &[u8]) {
    let Ok(about) = std::fs::metadata(path) else { return };
    if random.below(2) == 0 {
        let _ = std::fs::write(path, content);
        return;
    }
    let beside = path.with_file_name(".user-swap");
    std::fs::write(&beside, content).unwrap();
    std::fs::set_permissions(&beside, about.permissions()).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

/// Git that may note what it sees.
fn run(root: &Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    let _ = command.args(args).current_dir(root).output();
}
