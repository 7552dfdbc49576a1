//! Guarantee 39: after a sandboxed command, git outside of the sandbox starts nothing that the command planted.

use crate::confinement::User;
use crate::{Home, Ran, count};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PLANT: &str = include_str!("git_after/plant.py");

/// What a person types next.
const NEXT: &[&[&str]] = &[
    &["status"],
    &["log", "-p", "-3"],
    &["diff", "HEAD"],
    &["checkout", "-q", "-B", "next"],
    &["commit", "-q", "--allow-empty", "-m", "next"],
];

/// A repository, and the folders in which a person may stand.
struct Repository {
    home: Home,
    folders: Vec<PathBuf>,
}

/// Whoever owns a repository: root and an ordinary user in turns, or whoever runs the tests where that is not root.
fn owner(home: Home, round: usize) -> User {
    let user = User { home, id: User::ids()[round % User::ids().len()] };
    user.settle();
    user
}

fn git(home: &Home, folder: &Path, args: &[&str]) {
    let done = outside(home, folder, Command::new("git")).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A command of the user: outside of the sandbox, with the user's own configuration.
fn outside(home: &Home, folder: &Path, mut command: Command) -> Command {
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home.path(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_EDITOR", "true")
        .current_dir(folder);
    command
}

fn new_home() -> Home {
    let home = Home::new();
    fs::remove_dir_all(home.path("repo")).unwrap();
    home.write(
        ".gitconfig",
        "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n",
    );
    home
}

fn commit_files(home: &Home, name: &str) {
    let folder = home.path(name);
    fs::create_dir_all(&folder).unwrap();
    git(home, &folder, &["init", "-q"]);
    for (path, text) in [("a.txt", "one\n"), ("src/b.txt", "two\n"), ("data.bin", "three\n")] {
        home.write(&format!("{name}/{path}"), text);
    }
    git(home, &folder, &["add", "-A"]);
    git(home, &folder, &["commit", "-q", "-m", "first"]);
    home.write(&format!("{name}/a.txt"), "one\nmore\n");
}

/// A repository with a hook that runs a script of the workspace, and a configuration that names two files of it.
fn plain() -> Repository {
    let home = new_home();
    commit_files(&home, "repo");
    home.write("repo/.git/hooks/pre-commit", "#!/bin/sh\n# runs a check\n./scripts/check.sh\n[ -x scripts/later.sh ] && scripts/later.sh\nexit 0\n");
    home.write("repo/scripts/check.sh", "#!/bin/sh\nexit 0\n");
    home.write("repo/tools/show.sh", "#!/bin/sh\ncat \"$1\"\n");
    home.write("repo/shared/gitconfig", "[core]\n\tabbrev = 12\n");
    for path in ["repo/.git/hooks/pre-commit", "repo/scripts/check.sh", "repo/tools/show.sh"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(home.path(path), mode).unwrap();
    }
    let folder = home.path("repo");
    git(&home, &folder, &["config", "diff.show.textconv", "./tools/show.sh"]);
    git(&home, &folder, &["config", "include.path", "../shared/gitconfig"]);
    home.write("repo/.gitattributes", "*.bin diff=show\n");
    git(&home, &folder, &["add", "-A"]);
    git(&home, &folder, &["commit", "-q", "-m", "second"]);
    home.write("repo/data.bin", "changed\n");
    Repository { folders: vec![folder.clone(), folder.join("src")], home }
}

/// A worktree of a repository that lies beside it.
fn worktree() -> Repository {
    let home = new_home();
    commit_files(&home, "main");
    git(&home, &home.path("main"), &["worktree", "add", "-q", &home.path("repo").display().to_string()]);
    home.write("repo/a.txt", "one\nchanged\n");
    Repository { folders: vec![home.path("repo"), home.path("main")], home }
}

/// A repository with a submodule that has a submodule.
fn submodules() -> Repository {
    let home = new_home();
    commit_files(&home, "inner");
    commit_files(&home, "middle");
    let url = |name: &str| home.path(name).display().to_string();
    for (folder, other, at) in [("middle", "inner", "libs/inner"), ("repo", "middle", "mid dle")] {
        if folder == "repo" {
            commit_files(&home, "repo");
        }
        let allow = ["-c", "protocol.file.allow=always"];
        git(&home, &home.path(folder), &[&allow[..], &["submodule", "add", "-q", &url(other), at]].concat());
        git(&home, &home.path(folder), &["commit", "-q", "-a", "-m", "submodule"]);
    }
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive"];
    git(&home, &home.path("repo"), &update);
    home.write("repo/mid dle/a.txt", "changed\n");
    let folders = ["repo", "repo/mid dle", "repo/mid dle/libs/inner"].map(|name| home.path(name)).into();
    Repository { home, folders }
}

/// A bare repository under another name, with its working trees beside it.
fn bare() -> Repository {
    let home = new_home();
    commit_files(&home, "origin");
    let folder = home.path("repo");
    fs::create_dir_all(&folder).unwrap();
    let origin = home.path("origin").display().to_string();
    git(&home, &folder, &["clone", "-q", "--bare", &origin, ".bare"]);
    home.write("repo/.git", "gitdir: ./.bare\n");
    git(&home, &folder, &["worktree", "add", "-q", "-b", "tree", "tree"]);
    home.write("repo/tree/a.txt", "changed\n");
    Repository { folders: vec![folder.join("tree"), folder.join(".bare")], home }
}

/// The programs that git starts itself: its own, the shell, and scripts that were the user's before the command.
fn is_expected(program: &Path, own: &[PathBuf], before: &BTreeMap<PathBuf, Vec<u8>>) -> bool {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let is_own = own.iter().any(|folder| real.starts_with(folder)) || real.ends_with("git");
    let is_tool = ["sh", "dash", "bash", "cat", "true", "env"]
        .iter()
        .any(|name| (real.starts_with("/usr/bin") || real.starts_with("/bin")) && real.ends_with(name));
    is_own || is_tool || before.get(&real).is_some_and(|text| fs::read(&real).ok().as_ref() == Some(text))
}

fn own_folders() -> Vec<PathBuf> {
    let path = Command::new("git").arg("--exec-path").output().unwrap().stdout;
    vec![PathBuf::from(String::from_utf8(path).unwrap().trim()).canonicalize().unwrap()]
}

fn scripts(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    ["scripts/check.sh", "tools/show.sh", ".git/hooks/pre-commit"]
        .iter()
        .filter_map(|name| Some((folder.join(name), fs::read(folder.join(name)).ok()?)))
        .collect()
}

fn check(kind: &str, make: fn() -> Repository, rounds: usize) {
    let own = own_folders();
    let owners = User::ids().len();
    let mut ran_git = 0;
    for round in 0..rounds {
        let Repository { home, folders } = make();
        let before = scripts(&home.path("repo"));
        home.write("repo/plant.py", PLANT);
        let user = owner(home, round);
        let line = format!("command=python3 plant.py {round} 25");
        let args = ["call", "bash", "--allow", "exec", "timeout=300000", &line];
        let ran = Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        assert!(ran.stdout.contains("done"), "{kind} {round}: {} {}", ran.stdout, ran.stderr);
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            for args in NEXT {
                let trace = user.home.path("trace");
                let mut strace = Command::new("strace");
                strace.args(["-f", "-qq", "-e", "trace=execve,execveat", "-s", "4096", "-o"]);
                strace.arg(&trace).arg("git").args(*args);
                let done = match user.as_user(outside(&user.home, folder, strace)).output() {
                    // The script closed the folder to its owner.
                    Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => continue,
                    done => done.unwrap(),
                };
                ran_git += 1;
                assert!(!String::from_utf8_lossy(&done.stdout).contains("pwned"), "{kind} {round} {args:?}");
                let trace = fs::read_to_string(&trace).unwrap();
                assert!(trace.contains("execve("), "nothing was recorded: {trace}");
                for started in trace.lines().filter(|line| line.contains("execve") && line.ends_with("= 0")) {
                    let program = started.split('"').nth(1).unwrap();
                    // Git goes to the top of its working tree first.
                    let tops = folders.iter().chain([folder]).map(|top| top.join(program));
                    let found: Vec<PathBuf> = tops.filter(|path| path.exists()).collect();
                    assert!(
                        !found.is_empty() && found.iter().all(|path| is_expected(path, &own, &before)),
                        "{kind}, {}, seed {round}, git {args:?} in {}: {started}",
                        user.name(),
                        folder.display()
                    );
                }
            }
        }
    }
    println!(
        "measure: guarantee 39: {kind}: {rounds} scripts by {owners} kinds of users, followed by {ran_git} git commands, 0 planted programs started"
    );
    assert!(ran_git > rounds * NEXT.len() / 2, "only {ran_git} git commands were run");
}

#[test]
fn guarantee_39_git_runs_nothing_planted_in_a_repository() {
    check("repository", plain, count(12, 200));
}

#[test]
fn guarantee_39_git_runs_nothing_planted_in_a_worktree() {
    check("worktree", worktree, count(12, 200));
}

#[test]
fn guarantee_39_git_runs_nothing_planted_in_submodules() {
    check("submodules", submodules, count(12, 200));
}

#[test]
fn guarantee_39_git_runs_nothing_planted_in_a_bare_repository() {
    check("bare repository", bare, count(12, 200));
}
