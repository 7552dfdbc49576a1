//! Guarantee 39: after a command in the sandbox, git outside runs nothing that the command planted.

use super::{CANARY, User};
use std::path::Path;

/// What a planted program leaves behind.
const PLANTED: &str = "PLANTED";

/// What people run all day.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["log", "-p", "--oneline"],
    &["diff"],
    &["commit", "--allow-empty", "-m", "x"],
    &["checkout", "-q", "."],
];

fn git(user: &User, folder: &str, args: &[&str]) {
    let done = user.git(folder, args);
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository, a worktree of it, and one with a submodule in a submodule.
fn repositories(user: &User) {
    std::fs::remove_dir_all(user.home.path("repo/.git")).unwrap();
    for name in ["inner", "middle", "outer"] {
        user.home.write(&format!("{name}/file.txt"), "one\n");
    }
    user.settle();
    for (name, below) in [("inner", None), ("middle", Some("inner")), ("outer", Some("middle"))] {
        git(user, name, &["init", "-q", "-b", "main"]);
        git(user, name, &["add", "."]);
        git(user, name, &["commit", "-q", "-m", "one"]);
        if let Some(below) = below {
            git(user, name, &["submodule", "--quiet", "add", &format!("../{below}"), below]);
            git(user, name, &["commit", "-q", "-m", "two"]);
        }
    }
    std::fs::remove_dir_all(user.home.path("repo")).unwrap();
    let from = user.home.path("outer");
    git(user, "", &["clone", "-q", "--recurse-submodules", from.to_str().unwrap(), "repo"]);
    git(user, "repo", &["worktree", "add", "-q", "tree", "-b", "side"]);
}

/// A rule for one new repository opens that one, and nothing else becomes one.
#[test]
fn guarantee_39_a_rule_for_one_repository_makes_no_other() {
    for user in User::all() {
        user.settle();
        let rule = "[[rule]]\neffect = 'allow'\naction = 'write'\nresource = 'pkg/new/.git'\n";
        user.home.write(".config/toolpost/config.toml", rule);
        let done = user.bash("git init -q pkg/new && git -C pkg/new status --short --branch");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        assert!(user.has("pkg/new/.git/config") && user.has("pkg/new/.git/HEAD"), "{}", done.text);
        let told = user.bash("git init -q pkg/other");
        assert_eq!(told.code, None, "{}", told.text);
        assert!(told.text.contains("`pkg/other/.git`") && !user.has("pkg/other"), "{}", told.text);
        // What the line does not tell of git is refused when it is done.
        for (line, refused) in [
            ("cd pkg && git init -q third", "pkg/third/.git/config"),
            ("mkdir -p b/objects b/refs; echo 'ref: refs/heads/x' > b/HEAD", "b/HEAD"),
            ("mkdir -p pkg/new/x/objects pkg/new/x/refs; echo x > pkg/new/x/HEAD", "pkg/new/x/HEAD"),
            ("mkdir -p pkg/new2/.git; echo x > pkg/new2/.git/config", "pkg/new2/.git/config"),
            ("g=init; git $g -q fourth", "fourth/.git/config"),
        ] {
            let done = user.bash(line);
            assert!(!user.has(refused), "{}: {line}: {}", user.name(), done.text);
            assert!(done.code.is_none() || done.text.contains(" refused: "), "{line}: {}", done.text);
            assert!(done.text.contains("--allow-rule 'write: "), "{line}: {}", done.text);
        }
    }
}

#[test]
fn git_itself_works_in_the_sandbox() {
    for user in User::all() {
        repositories(&user);
        let git = "git -c user.name=U -c user.email=u@example.com";
        for line in [
            "git status --short".to_owned(),
            format!("echo two >> file.txt && git add file.txt && {git} commit -q -m three"),
            "git branch topic && git checkout -q topic && git checkout -q main".to_owned(),
            format!(
                "echo three >> file.txt && {git} stash -q && {git} stash pop -q && git checkout -q file.txt"
            ),
            format!("git checkout -q topic && {git} commit -q --allow-empty -m four && {git} rebase -q main"),
            "git log --oneline && git diff HEAD~1".to_owned(),
            "cd middle && git status --short && git log --oneline && git branch topic".to_owned(),
            format!("cd middle/inner && echo x >> file.txt && git add . && {git} commit -q -m five"),
            format!("cd tree && echo x >> file.txt && git add . && {git} commit -q -m six"),
            "git fetch -q ./middle".to_owned(),
            "git branch gone && git branch -D gone".to_owned(),
            "git format-patch -q -o /tmp/patches -1 HEAD && ls /tmp/patches".to_owned(),
            "git log --output=/tmp/log && git diff > /tmp/diff && cat /tmp/log /tmp/diff".to_owned(),
        ] {
            let done = user.bash(&line);
            assert_eq!(done.code, Some(0), "{}: {line}: {}", user.name(), done.text);
            for noise in ["error", "warning", "refused"] {
                assert!(!done.text.contains(noise), "{}: {line}: {}", user.name(), done.text);
            }
        }
    }
}

#[test]
fn guarantee_39_nothing_is_planted_in_gits_own_files() {
    for user in User::all() {
        repositories(&user);
        let mark = user.home.path(PLANTED);
        let mark = mark.to_str().unwrap();
        let config = format!("[core]\\n\\tfsmonitor = touch {mark};false\\n\\tpager = touch {mark}\\n");
        let script = format!("#!/bin/sh\\ntouch {mark}\\n");
        for folder in
            [".git", ".git/modules/middle", ".git/modules/middle/modules/inner", ".git/worktrees/tree"]
        {
            for line in [
                format!("printf '{config}' >> {folder}/config"),
                format!("printf '{config}' > {folder}/config.worktree"),
                format!("printf '{config}' > new; mv -f new {folder}/config"),
                format!(
                    "mkdir -p {folder}/hooks; printf '{script}' > {folder}/hooks/post-checkout; chmod +x {folder}/hooks/*"
                ),
                format!("printf '{script}' > x; chmod +x x; mv x {folder}/hooks/post-commit"),
                format!(
                    "mkdir forged; printf '{config}' > forged/config; echo $PWD/forged > {folder}/commondir"
                ),
                format!("rm -rf {folder}/hooks; ln -s $PWD/forged {folder}/hooks"),
                format!("echo '* filter=x' > {folder}/info/attributes"),
                format!(
                    "mv {folder} {folder}-old; cp -r {folder}-old {folder}; printf '{config}' >> {folder}/config"
                ),
            ] {
                user.bash(&line);
            }
        }
        for pointer in ["middle/.git", "middle/inner/.git", "tree/.git"] {
            for line in [
                format!(
                    "cp -r .git forged2; printf '{config}' >> forged2/config; echo gitdir: $PWD/forged2 > {pointer}"
                ),
                format!("echo gitdir: $PWD/forged2 > p; mv -f p {pointer}"),
                format!("rm -f {pointer}; cp -r forged2 {pointer}"),
                format!("rm -f {pointer}; ln -s $PWD/forged2 {pointer}"),
            ] {
                user.bash(&line);
            }
        }
        for folder in ["repo", "repo/middle", "repo/middle/inner", "repo/tree"] {
            for command in COMMANDS {
                user.git(folder, command);
                assert!(!Path::new(mark).exists(), "{}: git {command:?} in {folder}", user.name());
            }
        }
    }
}

#[test]
fn guarantee_39_what_hooks_and_configuration_name_is_protected() {
    for user in User::all() {
        repositories(&user);
        for (name, text) in [
            ("scripts/lint.sh", "true\n"),
            ("scripts/clean.py", "pass\n"),
            ("hooks/pre-commit", "#!/bin/sh\nsh scripts/more.sh\n"),
            ("scripts/more.sh", "true\n"),
            (".git/hooks/pre-commit", "#!/bin/sh\n./scripts/lint.sh\nsh scripts/later.sh\n"),
        ] {
            user.write(name, text);
        }
        user.settle();
        git(&user, "repo", &["config", "filter.f.clean", "python3 scripts/clean.py"]);
        git(&user, "repo", &["config", "core.hooksPath", "hooks"]);
        git(&user, "repo", &["config", "include.path", "../extra.config"]);
        for (name, exists) in [
            ("scripts/lint.sh", true),
            ("scripts/clean.py", true),
            ("scripts/more.sh", true),
            ("hooks/pre-commit", true),
            ("hooks/post-commit", false),
            ("scripts/later.sh", false),
            ("extra.config", false),
        ] {
            for line in [
                format!("echo touch x >> {name}"),
                format!("echo touch x > new; mv -f new {name}"),
                format!("rm -f {name}; echo touch x > {name}"),
            ] {
                let done = user.bash(&line);
                let is_kept = match exists {
                    true => user.has(name) && !user.read(name).contains("touch x"),
                    false => !user.has(name),
                };
                assert!(is_kept, "{}: `{line}`: {}", user.name(), done.text);
            }
        }
        let done = user.bash("echo free > scripts/free.sh && echo more >> file.txt");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn guarantee_39_a_forged_pointer_opens_no_other_repository() {
    for user in User::all() {
        repositories(&user);
        user.home.write("victim/secret.txt", CANARY);
        user.settle();
        git(&user, "victim", &["init", "-q"]);
        git(&user, "victim", &["add", "."]);
        git(&user, "victim", &["commit", "-q", "-m", CANARY]);
        std::fs::remove_dir_all(user.home.path("repo/.git")).unwrap();
        let victim = user.home.path("victim/.git");
        let top = user.home.path("repo");
        let (victim, top) = (victim.to_str().unwrap(), top.to_str().unwrap());
        user.write("forged/worktrees/w/gitdir", &format!("{top}/.git\n"));
        user.write("forged/worktrees/w/commondir", &format!("{victim}\n"));
        user.write("forged/worktrees/w/HEAD", "ref: refs/heads/master\n");
        for pointer in [format!("{top}/forged/worktrees/w"), victim.to_owned()] {
            user.write(".git", &format!("gitdir: {pointer}\n"));
            user.settle();
            let done = user.bash(&format!("cat {victim}/HEAD && echo SEEN; git log; cat {victim}/logs/HEAD"));
            assert!(
                !done.text.contains("SEEN") && !done.text.contains(CANARY),
                "{}: {}",
                user.name(),
                done.text
            );
        }
    }
}

/// What configurations outside of the repository say, and the file of the workspace that each names. `HOME` and `REPO` stand
/// for the folders.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    (".gitconfig", "[core]\n\thooksPath = hk\n", "hk/pre-commit"),
    (".gitconfig", "[core]\n\tfsmonitor = REPO/tools/f1.sh\n", "tools/f1.sh"),
    (".gitconfig", "[core]\n\tfsmonitor = REPO//./tools/f2.sh\n", "tools/f2.sh"),
    (".gitconfig", "[filter \"a\"]\n\tclean = tools/f3.sh\n", "tools/f3.sh"),
    (".gitconfig", "[core]\n\tpager = ~/repo/tools/f4.sh\n", "tools/f4.sh"),
    (".gitconfig", "[init]\n\ttemplateDir = ~/repo/tmpl\n", "tmpl/hooks/post-checkout"),
    (".gitconfig", "[include]\n\tpath = ~/repo/inc.a\n", "inc.a"),
    (".gitconfig", "[includeIf \"onbranch:none\"]\n\tpath = HOME/one\n", ""),
    ("one", "[core]\n\teditor = REPO/tools/f5.sh\n[include]\n\tpath = sub/two\n", "tools/f5.sh"),
    ("sub/two", "[include]\n\tpath = ../repo/inc.b\n", ""),
    ("sub/two", "[include]\n\tpath = ../../repo/inc.b\n", "inc.b"),
    (".config/git/config", "[core]\n\thooksPath = ~/repo/../repo/hk2\n", "hk2/pre-commit"),
    ("repo/.git/config", "[include]\n\tpath = HOME/out/c\n", ""),
    ("out/c", "[merge \"m\"]\n\tdriver = tools/f6.sh %A\n[include]\n\tpath = d\n", "tools/f6.sh"),
    ("out/d", "[core]\n\tsshCommand = \"sh -c 'cd tools; ./f7.sh'\"\n", "tools/f7.sh"),
    ("repo/.git/config", "[include]\n\tpath = ~/gi\n", ""),
    ("gi", "[core]\n\thooksPath = ~/../NAME/repo/hk3\n", "hk3/pre-commit"),
    ("repo/.git/config", "[diff \"d\"]\n\tcommand = HOME/bin/d.sh\n", ""),
    ("bin/d.sh", "#!/bin/sh\nexec ./tools/f8.sh\n", "tools/f8.sh"),
    ("repo/.git/config", "[diff \"e\"]\n\ttextconv = ~/bin/e.sh -x\n", ""),
    ("bin/e.sh", "#!/bin/sh\nexec HOME/repo/tools/f9.sh\n", "tools/f9.sh"),
    ("repo/.git/config", "[alias]\n\tl = -c core.pager=tools/f10.sh log\n", "tools/f10.sh"),
    (
        "outer-hooks/pre-commit",
        "#!/bin/sh\n~/repo/tools/f11.sh\n\"$HOME/repo/tools/f12.sh\"\n",
        "tools/f11.sh",
    ),
    ("repo/.git/config", "[core]\n\thooksPath = ~/outer-hooks\n", "tools/f12.sh"),
];

#[test]
fn guarantee_39_configuration_from_elsewhere_protects_what_it_names() {
    for user in User::all() {
        repositories(&user);
        let home = user.home.path("").display().to_string();
        let home = home.trim_end_matches('/');
        let name = home.rsplit('/').next().unwrap();
        for (file, text, named) in ELSEWHERE {
            let text = text.replace("$HOME", "$\u{1}").replace("REPO", &format!("{home}/repo"));
            let text = text.replace("HOME/", &format!("{home}/")).replace("NAME/", &format!("{name}/"));
            let text = text.replace("\u{1}", "HOME");
            let before = std::fs::read_to_string(user.home.path(file)).unwrap_or_default();
            user.home.write(file, before + &text);
            if !named.is_empty() {
                user.write(named, "ok\n");
            }
        }
        // A configuration that is itself a file of the workspace, by a link.
        user.write("dot/system", "[core]\n\tabbrev = 9\n");
        std::os::unix::fs::symlink(user.home.path("repo/dot/system"), user.home.path("linked")).unwrap();
        user.home.write(
            "gi",
            format!("{}[include]\n\tpath = linked\n", std::fs::read_to_string(user.home.path("gi")).unwrap()),
        );
        user.settle();
        let named = ELSEWHERE.iter().map(|(_, _, named)| *named).filter(|named| !named.is_empty());
        let named: Vec<&str> = named.chain(["dot/system"]).collect();
        let mut lines = String::new();
        for name in &named {
            let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
            lines.push_str(&format!(
                "echo EVIL >> {name}; echo EVIL > new; mv -f new {name}; rm -f {name}; echo EVIL > {name}; \
                 mv {folder} moved; mkdir -p {folder}; echo EVIL > {name}\n"
            ));
        }
        for name in ["hk/post-commit", "hk2/post-commit", "hk3/post-commit", "tmpl/hooks/pre-commit"] {
            lines.push_str(&format!("echo EVIL > {name}\n"));
        }
        user.write("try.sh", &lines);
        user.settle();
        let done = user.bash("bash try.sh 2>/dev/null; true");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        for name in &named {
            assert_eq!(
                user.read(name),
                if *name == "dot/system" { "[core]\n\tabbrev = 9\n" } else { "ok\n" },
                "{}: {name}",
                user.name()
            );
        }
        assert!(!user.has("hk/post-commit") && !user.has("hk2/post-commit") && !user.has("hk3/post-commit"));
        assert!(!user.has("tmpl/hooks/pre-commit"));
        // File tools ask, and nobody answers.
        for name in ["hk/pre-commit", "tools/f1.sh", "tools/f7.sh", "inc.b", "tools/f9.sh"] {
            let args = ["call", "write", "--workspace", ".", &format!("filePath={name}"), "content=EVIL"];
            let ran = crate::Ran::of(user.as_user(user.home.command(args)).output().unwrap());
            assert!(ran.status != 0 && user.read(name) == "ok\n", "{}: {name}: {}", user.name(), ran.stdout);
        }
        let done = user.bash("echo free > tools/free.sh && echo more >> file.txt");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}
