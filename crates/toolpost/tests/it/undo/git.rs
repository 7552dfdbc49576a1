//! Undo in a repository: whatever is taken back, git finds every object, and the user's branches can be read.

use super::World;
use std::path::Path;
use std::process::Command;

fn git_in(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

impl World {
    fn repository() -> World {
        let world = World::new();
        world.git(&["init", "-q", "-b", "main"]);
        world.write("a.txt", "1\n");
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "one"]);
        world
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let (is_fine, said) = git_in(&self.home.path("repo"), args);
        assert!(is_fine, "{args:?}: {said}");
        said.trim().to_owned()
    }

    /// The agent, by a command.
    #[track_caller]
    fn agent(&self, line: &str) {
        let line = format!(
            "command=export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
             GIT_COMMITTER_EMAIL=a@example.org; {line}"
        );
        self.works(&["call", "bash", &line, "--allow", "exec"]);
    }

    /// Git finds everything that a ref, a reflog or an index refers to.
    #[track_caller]
    fn is_sound(&self, when: &str) {
        let (is_fine, said) = git_in(&self.home.path("repo"), &["fsck", "--full", "--strict"]);
        let is_bad = |line: &str| !(line.starts_with("dangling") || line.starts_with("notice"));
        assert!(is_fine && !said.lines().any(is_bad), "{when}: {said}");
        for name in self.git(&["for-each-ref", "--format=%(refname)"]).lines() {
            self.git(&["rev-list", "--objects", name]);
        }
        self.git(&["status", "--porcelain"]);
        self.git(&["diff", "--cached"]);
    }
}

/// The branch, all refs and what differs from the last commit.
fn state(world: &World) -> [String; 4] {
    let head = git_in(&world.home.path("repo"), &["symbolic-ref", "-q", "HEAD"]).1;
    let content = std::fs::read_to_string(world.home.path("repo/a.txt")).unwrap();
    [head, world.git(&["for-each-ref"]), world.git(&["status", "--porcelain"]), content]
}

#[test]
fn guarantee_35_a_change_of_the_branch_goes_back_and_forth() {
    for line in [
        "git checkout -q other",
        "git switch -q other",
        "git switch -q -c topic",
        "git checkout -q -b topic && echo 3 >> a.txt",
        "git checkout -q --detach && echo 3 >> a.txt && git commit -qam three",
        "git switch -q other && git switch -q -",
        "git switch -q --orphan new",
    ] {
        let world = World::repository();
        world.git(&["checkout", "-q", "-b", "other"]);
        world.write("a.txt", "other\n");
        world.git(&["commit", "-qam", "other"]);
        world.git(&["checkout", "-q", "main"]);
        let before = state(&world);
        world.agent(&format!("{line}; echo > new.txt"));
        let there = world.home.path("repo/a.txt").exists().then(|| state(&world));
        let ran = world.run(&["undo"]);
        assert_eq!((ran.status, state(&world)), (0, before), "{line}: {}", ran.stderr);
        world.is_sound(line);
        let ran = world.run(&["redo"]);
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
        if let Some(there) = there {
            assert_eq!(state(&world), there, "{line}");
        }
    }
}

const COMMIT: &str = "echo 2 > a.txt && git add -A && git commit -qm two";

#[test]
fn guarantee_35_a_branch_of_the_users_keeps_its_commits() {
    let world = World::repository();
    let one = world.git(&["rev-parse", "main"]);
    world.agent(COMMIT);
    world.git(&["branch", "keep"]);
    let two = world.git(&["rev-parse", "keep"]);
    world.works(&["undo"]);
    world.is_sound("undo");
    assert_eq!((world.git(&["rev-parse", "main"]), world.git(&["rev-parse", "keep"])), (one, two.clone()));
    assert_eq!(world.git(&["log", "--format=%s", "keep"]), "two\none");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    // What git has collected since comes back with a redo.
    world.git(&["branch", "-D", "keep"]);
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);
    assert!(!git_in(&world.home.path("repo"), &["cat-file", "-e", &two]).0);
    let ran = world.run(&["redo", "--partial"]);
    world.is_sound(&ran.stdout);
}

#[test]
fn guarantee_35_a_commit_of_the_users_on_top_keeps_its_parents() {
    let world = World::repository();
    world.agent(COMMIT);
    world.write("b.txt", "mine\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "three"]);
    let (three, tree) = (world.git(&["rev-parse", "main"]), world.tree());
    let ran = world.run(&["undo"]);
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("go together or not at all"), "{}", ran.stderr);
    assert_eq!(world.tree(), tree);
    // The work tree goes back, the repository stays as it is, whole.
    world.works(&["undo", "--partial"]);
    world.is_sound("partial");
    assert_eq!(world.git(&["rev-parse", "main"]), three);
    assert_eq!(world.git(&["log", "--format=%s"]), "three\ntwo\none");
    assert_eq!(world.git(&["diff", "--name-only"]), "a.txt");
    world.works(&["redo"]);
    world.is_sound("redo");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn guarantee_35_a_content_that_the_user_has_committed_too_stays() {
    for line in ["echo shared > s && git hash-object -w s && rm s", "echo shared > s && git add s"] {
        let world = World::repository();
        world.agent(line);
        let _ = std::fs::remove_file(world.home.path("repo/s"));
        world.write("mine", "shared\n");
        let is_staged = line.contains("add");
        if !is_staged {
            world.git(&["add", "mine"]);
            world.git(&["commit", "-qm", "mine"]);
        }
        let told = world.run(&["undo", "--partial"]);
        world.is_sound(line);
        if !is_staged {
            assert_eq!(world.git(&["show", "main:mine"]), "shared", "{}", told.stderr);
        }
    }
}

#[test]
fn a_look_at_the_status_does_not_stand_in_the_way() {
    let world = World::repository();
    let one = world.git(&["rev-parse", "main"]);
    world.agent(COMMIT);
    let two = world.git(&["rev-parse", "main"]);
    let index = || std::fs::read(world.home.path("repo/.git/index")).unwrap();
    for (command, expected) in [("undo", &one), ("redo", &two), ("undo", &one), ("redo", &two)] {
        let old = index();
        // The file is another one, so that git notes it anew.
        let text = std::fs::read(world.home.path("repo/a.txt")).unwrap();
        world.write("copy", &text);
        std::fs::rename(world.home.path("repo/copy"), world.home.path("repo/a.txt")).unwrap();
        world.git(&["status"]);
        assert_ne!(index(), old, "git has noted something");
        world.works(&[command]);
        world.is_sound(command);
        assert_eq!(
            (&world.git(&["rev-parse", "main"]), world.git(&["status", "--porcelain"])),
            (expected, String::new())
        );
    }
    // What the user has staged is no such note.
    world.write("mine", "m\n");
    world.git(&["add", "mine"]);
    assert_eq!(world.run(&["undo"]).status, 1);
    world.is_sound("staged");
    assert_eq!(world.git(&["rev-parse", "main"]), two);
}

/// What a command has packed or pruned comes back where it is missing; what it has made stays.
#[test]
fn packs_and_what_was_pruned_do_not_matter() {
    let world = World::repository();
    world.git(&["branch", "old"]);
    world.write("x", "x\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-qm", "x"]);
    world.git(&["branch", "other"]);
    let before = world.git(&["for-each-ref"]);
    world.agent("git branch -qD other old; git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now");
    assert_ne!(world.git(&["for-each-ref"]), before);
    world.works(&["undo"]);
    world.is_sound("undo");
    assert_eq!(world.git(&["for-each-ref"]), before);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.works(&["redo"]);
    world.is_sound("redo");
    world.works(&["undo"]);
    world.is_sound("again");
    assert_eq!(world.git(&["for-each-ref"]), before);
}

/// While git has the repository locked, nothing in it is changed.
#[test]
fn a_repository_that_git_is_changing_is_left_alone() {
    let world = World::repository();
    world.agent(COMMIT);
    let two = world.git(&["rev-parse", "main"]);
    world.write(".git/index.lock", "");
    let ran = world.run(&["undo"]);
    assert!(ran.status == 1 && ran.stderr.contains(".git/index.lock"), "{}", ran.stderr);
    std::fs::remove_file(world.home.path("repo/.git/index.lock")).unwrap();
    assert_eq!(world.git(&["rev-parse", "main"]), two);
    world.works(&["undo"]);
    world.is_sound("undo");
}

#[test]
fn guarantee_35_generated_histories_stay_whole() {
    const AGENT: [&str; 9] = [
        "echo $RANDOM > a.txt && git commit -qam a",
        "mkdir -p d && echo $RANDOM > d/$RANDOM && git add -A && git commit -qm d --allow-empty",
        "git checkout -q -b agent$RANDOM",
        "git branch agent$RANDOM",
        "echo $RANDOM > staged && git add staged",
        "git stash -q || true",
        "git commit -q --amend -m amended || true",
        "git reset -q --hard HEAD~1 || true",
        "git pack-refs --all; git repack -adq",
    ];
    for seed in 1..=crate::count(6, 300) as u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |end: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % end as u64) as usize
        };
        let world = World::repository();
        // Branches of the user's, each with the commit that it has.
        let mut own: Vec<(String, String)> = Vec::new();
        let mut did = Vec::new();
        for step in 0..8 {
            match below(10) {
                0..4 => {
                    let line = AGENT[below(AGENT.len())];
                    did.push(format!("agent: {line}"));
                    world.agent(line);
                }
                4 => {
                    let name = format!("mine{step}");
                    did.push(format!("user: branch {name}"));
                    world.git(&["branch", &name]);
                    let commit = world.git(&["rev-parse", &name]);
                    own.push((name, commit));
                }
                5 => {
                    did.push("user: commit".to_owned());
                    world.write(&format!("u{step}"), format!("{step}\n"));
                    world.git(&["add", &format!("u{step}")]);
                    world.git(&["commit", "-qm", "mine"]);
                    let name = format!("at{step}");
                    world.git(&["branch", &name]);
                    let commit = world.git(&["rev-parse", &name]);
                    own.push((name, commit));
                }
                6 => {
                    did.push("user: status".to_owned());
                    world.git(&["status"]);
                }
                other => {
                    let args = [&["undo"][..], &["redo"], &["undo", "--partial"]][other - 7];
                    let ran = world.run(args);
                    did.push(format!("{args:?}: {}", ran.status));
                }
            }
            let when = format!("seed {seed}: {}", did.join("\n"));
            world.is_sound(&when);
            for (name, commit) in &own {
                assert_eq!(&world.git(&["rev-parse", name]), commit, "{when}");
            }
        }
    }
}

/// A command that only looked at the repository is not what an undo takes back, and is in nobody's way.
#[test]
fn a_command_after_which_git_has_only_noted_times_is_passed_over() {
    let world = World::repository();
    world.agent("echo 2 > a.txt");
    // The file is another one, so that git notes it anew.
    std::fs::write(world.home.path("repo/copy"), "2\n").unwrap();
    std::fs::rename(world.home.path("repo/copy"), world.home.path("repo/a.txt")).unwrap();
    world.git(&["add", "a.txt"]);
    world.git(&["commit", "-qm", "two"]);
    std::fs::write(world.home.path("repo/copy"), "2\n").unwrap();
    std::fs::rename(world.home.path("repo/copy"), world.home.path("repo/a.txt")).unwrap();
    world.agent("git status; echo 3 > b.txt");
    world.agent("touch a.txt; git status");
    let undone = world.works(&["undo"]);
    assert!(!world.home.path("repo/b.txt").exists(), "{undone}");
    // What the user has staged since stays, and is no conflict.
    world.works(&["redo"]);
    world.write("mine", "m\n");
    world.git(&["add", "mine"]);
    world.works(&["undo"]);
    world.is_sound("noted");
    assert_eq!(world.git(&["status", "--porcelain"]), "A  mine");
}
