//! Guarantees 15, 36 and 38 in dependency folders: the names of packages are open in them, and nothing else is.

use super::{CANARY, Dice, Done, User};
use crate::{Ran, count};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const ATTACK: &str = include_str!("dependencies/attack.py");

/// Two packages, an environment and a build folder, each with what packages bring along.
fn lay_out(user: &User) {
    for folder in ["node_modules/a", "packages/p/node_modules/b", ".venv/lib", "venv", "target/debug"] {
        for name in [
            ".npmrc",
            ".travis.yml",
            ".vscode/tasks.json",
            ".github/workflows/ci.yml",
            ".gitmodules",
            "c.pem",
        ] {
            user.write(&format!("{folder}/{name}"), "of a package\n");
        }
        user.write(&format!("{folder}/.env"), CANARY);
    }
    user.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    user.write("venv/pyvenv.cfg", "home = /usr/bin\n");
    user.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
}

/// Runs lines in a script, so that it is the sandbox that judges and not the reader of the command line.
fn script(user: &User, lines: &str) -> Done {
    user.write("try.sh", lines);
    user.settle();
    let done = user.bash("bash try.sh");
    assert!(done.code.is_some(), "{}: {}", user.name(), done.text);
    done
}

/// Each of these lines succeeds.
fn check_open(user: &User, lines: &[&str]) {
    let lines: Vec<String> =
        lines.iter().enumerate().map(|(at, line)| format!("({line}) || echo failed {at}\n")).collect();
    let done = script(user, &lines.concat());
    assert!(!done.text.contains("failed "), "{}: {}", user.name(), done.text);
}

/// None of these names can be written, and none comes to be.
fn check_closed(user: &User, names: &[&str]) {
    let lines: Vec<String> = names
        .iter()
        .map(|name| {
            format!("mkdir -p $(dirname {name}); (echo EVIL >> {name}) 2>/dev/null && echo wrote {name}\n")
        })
        .collect();
    let done = script(user, &lines.concat());
    assert!(!done.text.contains("wrote "), "{}: {}", user.name(), done.text);
}

#[test]
fn guarantee_15_in_dependency_folders_the_names_of_packages_are_open() {
    for user in User::all() {
        lay_out(&user);
        user.settle();
        // The line itself tells the name.
        for line in [
            "echo x > node_modules/a/.npmrc",
            "echo x >> .venv/lib/.travis.yml",
            "cat < node_modules/a/c.pem",
        ] {
            let done = user.bash(line);
            assert_eq!(done.code, Some(0), "{}: {line}: {}", user.name(), done.text);
        }
        check_open(
            &user,
            &[
                "echo x > node_modules/a/.vscode/tasks.json",
                "mkdir -p node_modules/new/.github/workflows && echo x > node_modules/new/.github/workflows/a.yml",
                "echo x > packages/p/node_modules/b/.mcp.json",
                "mkdir node_modules/new/.claude && echo x > node_modules/new/.claude/settings.json",
                "cat node_modules/a/c.pem .venv/lib/c.pem target/debug/c.pem venv/c.pem",
                "echo x > .venv/lib/.pylintrc; echo x > venv/.npmrc; echo x > target/debug/.bashrc",
                // As package managers do.
                "mv node_modules/a node_modules/.a-x && mv node_modules/.a-x node_modules/a",
                "mkdir -p node_modules/.bin && ln -s ../a/cli.js node_modules/.bin/a",
                "ln -s ../../src node_modules/own",
                "mkdir -p fresh/node_modules/x && echo x > fresh/node_modules/x/.npmrc",
                "mv packages moved && echo x > moved/p/node_modules/b/.npmrc",
                "mkdir sub && mv .venv sub/.venv && echo x > sub/.venv/lib/.npmrc && mv sub/.venv .venv",
                "cp -r node_modules/new node_modules/copied && rm -r node_modules/new",
                "mkdir other && ln -s ../node_modules other/node_modules && echo x > other/node_modules/a/.npmrc",
                "rm node_modules/a/.npmrc node_modules/a/.travis.yml .venv/lib/c.pem",
            ],
        );
        let done = script(
            &user,
            "cat node_modules/a/.env .venv/lib/.env target/debug/.env; grep -r CANARY . ; true",
        );
        assert!(!done.text.contains(CANARY), "{}: {}", user.name(), done.text);
        let done = script(
            &user,
            "git init node_modules/g; git init -q --bare target/g.git; mkdir -p node_modules/h/.git .venv/i; \
             echo '[core]' > node_modules/h/.git/config; echo 'gitdir: ../../evil' > node_modules/a/.git; \
             ln -s ../../evil .venv/i/.git; mkdir -p evil/hooks; mv -T evil node_modules/h/.git; true",
        );
        for name in
            ["node_modules/h/.git/config", "node_modules/h/.git/hooks", "node_modules/a/.git", ".venv/i/.git"]
        {
            assert!(!user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
        assert!(!user.has("node_modules/g/.git/config"), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn a_dependency_folder_can_be_removed_whole() {
    const ALL: [&str; 5] = ["node_modules", "packages/p/node_modules", ".venv", "venv", "target"];
    for user in User::all() {
        // With what nobody may read in it, too.
        lay_out(&user);
        user.write("node_modules/a/test/fixtures/prod.env", CANARY);
        user.settle();
        // What would have been removed is still there.
        let line = format!("command=rm -rf {}", ALL.join(" "));
        let args = ["call", "bash", "--dry-run", "--allow", "exec", "--workspace", ".", &line];
        Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        assert!(user.has("node_modules/a/.env") && user.has("target/debug/.env"), "{}", user.name());
        let done = user.bash(&format!("rm -rf {}", ALL.join(" ")));
        let text = format!(
            "[no output, exit code 0]\n[undo does not cover what it changed in {}]",
            ALL.map(|name| format!("`{name}`")).join(", ")
        );
        assert_eq!((done.code, done.text), (Some(0), text), "{}", user.name());
        for name in ALL {
            assert!(!user.has(name), "{}: {name}", user.name());
        }
    }
}

#[test]
fn guarantee_36_what_is_hidden_in_a_dependency_folder_is_removed_and_not_seen() {
    for user in User::all() {
        lay_out(&user);
        user.write(".env", CANARY);
        user.write("lib/.env", CANARY);
        user.write("node_modules/b/.git/config", "[core]\n");
        user.write("node_modules/b/.env", CANARY);
        user.write(".git/hooks/pre-commit", "#!/bin/sh\n. node_modules/b/.env\nsh node_modules/c/bin/run\n");
        user.write("node_modules/c/bin/.env", CANARY);
        user.write("node_modules/c/bin/run", "true\n");
        user.home.write(
            ".config/toolpost/config.toml",
            "[[rule]]\neffect = 'deny'\naction = 'write'\nresource = 'target/**'\n\
             [[rule]]\neffect = 'deny'\naction = 'read'\nresource = 'venv/.env'\n",
        );
        let done = script(
            &user,
            "mv node_modules/a node_modules/.a-x && cat node_modules/.a-x/.env; mv node_modules/.a-x/.env node_modules/.a-x/seen; \
             ln node_modules/.a-x/.env seen; mv node_modules/.a-x out; mv node_modules/.a-x/ .venv/lib/a && cat .venv/lib/a/.env; \
             rm .venv/lib/a/.env && echo removed 1; rm .venv/lib/.env && echo removed 2; \
             rm -f .env lib/.env target/debug/.env venv/.env node_modules/b/.env; mv node_modules/b node_modules/b2; \
             mv lib node_modules/lib; cp node_modules/c/bin/.env seen2; grep -r CANARY . ; true",
        );
        assert!(!done.text.contains(CANARY), "{}: {}", user.name(), done.text);
        assert!(
            done.text.contains("removed 1") && done.text.contains("removed 2"),
            "{}: {}",
            user.name(),
            done.text
        );
        assert!(
            !user.has(".venv/lib/a/.env") && !user.has(".venv/lib/.env") && !user.has("out"),
            "{}",
            done.text
        );
        // What is the user's, what a rule is about, and what git runs stays where it is.
        for name in [".env", "lib/.env", "target/debug/.env", "venv/.env", "node_modules/b/.env"] {
            assert!(user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
        let done = script(&user, "grep -r CANARY . ; true");
        assert!(!done.text.contains(CANARY), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn guarantee_36_beside_dependency_folders_nothing_is_open() {
    for user in User::all() {
        lay_out(&user);
        // Folders that look alike: no marker, or one that is no file.
        user.write("no/.venv/lib/keep", "");
        std::fs::create_dir_all(user.home.path("repo/folder/.venv/pyvenv.cfg")).unwrap();
        std::fs::create_dir_all(user.home.path("repo/link/target")).unwrap();
        symlink("../../target/CACHEDIR.TAG", user.home.path("repo/link/target/CACHEDIR.TAG")).unwrap();
        std::fs::remove_file(user.home.path("repo/link/target/CACHEDIR.TAG")).unwrap();
        symlink("../../README.md", user.home.path("repo/link/target/CACHEDIR.TAG")).unwrap();
        let closed = [
            "vendor/a/.npmrc",
            "vendor/.vscode/tasks.json",
            "no/.venv/lib/.npmrc",
            "folder/.venv/.npmrc",
            "link/target/.npmrc",
            "NODE_MODULES/a/.npmrc",
            "node_modules2/.npmrc",
            ".npmrc",
            ".vscode/tasks.json",
            ".claude/node_modules/x",
            ".claude/node_modules/a/.npmrc",
            ".github/workflows/node_modules/x.yml",
            "node_modules/../.npmrc",
            "node_modules/a/../../src/.npmrc",
        ];
        check_closed(&user, &closed);
        // A marker of the same command says nothing.
        let done = script(
            &user,
            "mkdir -p made/.venv made/target; touch made/.venv/pyvenv.cfg made/target/CACHEDIR.TAG; \
             echo x > made/.venv/.npmrc; echo x > made/target/.mcp.json; mkdir t; touch t/CACHEDIR.TAG; mv t no/target; \
             echo x > no/target/.npmrc; true",
        );
        for name in ["made/.venv/.npmrc", "made/target/.mcp.json", "no/target/.npmrc"] {
            assert!(!user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
    }
}

#[test]
fn guarantee_36_no_marker_frees_what_is_protected() {
    for user in User::all() {
        user.write("lib/target/.vscode/tasks.json", "mine\n");
        user.write("lib/target/c.pem", CANARY);
        user.write("app/.venv/.npmrc", CANARY);
        let done = script(
            &user,
            "touch lib/target/CACHEDIR.TAG app/.venv/pyvenv.cfg; echo x > m; mv m lib/target/CACHEDIR.TAG; echo x > m; \
             ln m lib/target/CACHEDIR.TAG; cp m app/.venv/pyvenv.cfg; mv lib/target t2; mkdir -p d; touch d/CACHEDIR.TAG; \
             mv -T d lib/target; mv lib lib2; true",
        );
        assert!(!user.has("lib/target/CACHEDIR.TAG") && !user.has("app/.venv/pyvenv.cfg"), "{}", done.text);
        assert!(done.text.contains("`lib/target/CACHEDIR.TAG`"), "{}", done.text);
        let done = script(
            &user,
            "echo EVIL > lib/target/.vscode/tasks.json; cat lib/target/c.pem app/.venv/.npmrc; true",
        );
        assert_eq!(user.read("lib/target/.vscode/tasks.json"), "mine\n", "{}", done.text);
        assert!(!done.text.contains(CANARY), "{}", done.text);
        // File tools ask.
        for name in ["lib/target/CACHEDIR.TAG", "app/.venv/pyvenv.cfg", "new/venv/pyvenv.cfg"] {
            let path = format!("filePath={name}");
            let args = ["call", "write", "--workspace", ".", &path, "content=x"];
            let ran = Ran::of(user.as_user(user.home.command(args)).output().unwrap());
            assert_eq!(ran.status, 3, "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains("PROTECTED_FILE"), "{}", ran.stderr);
        }
    }
}

#[test]
fn guarantee_36_links_into_and_out_of_dependency_folders() {
    for user in User::all() {
        lay_out(&user);
        let place = |name: &str| user.home.path(&format!("repo/{name}"));
        // Out of them: what is reached is the user's.
        symlink("../src", place("node_modules/out")).unwrap();
        symlink("../../src", place("packages/p/node_modules/.vscode")).unwrap();
        std::fs::create_dir(place("x")).unwrap();
        symlink("../src", place("x/node_modules")).unwrap();
        check_closed(
            &user,
            &[
                "node_modules/out/.npmrc",
                "x/node_modules/.npmrc",
                "node_modules/out/.vscode/tasks.json",
                "src/.mcp.json",
            ],
        );
        check_open(
            &user,
            &["echo x > src/tasks.json && rm src/tasks.json", "echo x > node_modules/a/.npmrc"],
        );
        // Into them, made by a command: a name that does not say so leads in nowhere.
        let done = script(
            &user,
            "R=$PWD; ln -s node_modules/a app1; ln -s $R/node_modules app2; ln -s ./x/../node_modules/a app3; \
             ln -s $R/node_modules/a node_modules/l; mv node_modules/l app4; ln -s $R/node_modules/a node_modules/m; \
             ln -P node_modules/m app5; mkdir node_modules/d; ln -s $R/node_modules/a node_modules/d/l; mv node_modules/d app6; \
             ln -s .venv/lib app7; ln -s target app8; mkdir y; ln -s ../node_modules y/node_modules; mv y/node_modules app9; \
             mv src node_modules/src && ln -s node_modules/src src; mv node_modules/src src; \
             python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"node_modules/m\", -100, b\"README.md\", 2)'; true",
        );
        for name in ["app1", "app2", "app3", "app4", "app5", "app6", "app7", "app8", "app9"] {
            assert!(!user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
        assert!(!place("README.md").is_symlink() && !place("src").is_symlink(), "{}", done.text);
        // Into them, made by the user: then no folder counts as one.
        for (link, target) in
            [("app", "node_modules/a"), (".idea", "node_modules/none"), ("deep", "../repo/.venv/lib")]
        {
            symlink(target, place(link)).unwrap();
            let mut closed = vec!["app/.npmrc", "node_modules/a/.npmrc", "node_modules/b/.vscode/tasks.json"];
            closed.extend([".venv/lib/.npmrc", "deep/.npmrc", "target/debug/.mcp.json"]);
            closed.extend((link == ".idea").then_some("node_modules/none/workspace.xml"));
            check_closed(&user, &closed);
            let done = script(&user, "cat node_modules/a/c.pem app/c.pem; true");
            assert!(!done.text.contains("of a package"), "{}: {link}: {}", user.name(), done.text);
            std::fs::remove_file(place(link)).unwrap();
            let _ = std::fs::remove_dir_all(place("deep"));
            let _ = std::fs::remove_dir_all(place("app"));
        }
        check_open(&user, &["echo x > node_modules/a/.npmrc", "cat node_modules/a/c.pem"]);
    }
}

/// What lies in a folder that was one of dependencies, or that counts as none for a while, is reached by no other name either.
#[test]
fn guarantee_36_what_was_a_dependency_folder_gets_no_other_name() {
    for user in User::all() {
        let place = |name: &str| user.home.path(&format!("repo/{name}"));
        user.settle();
        let check = |steps: &[&str], names: &[&str]| {
            let said: Vec<String> = steps.iter().map(|step| user.bash(step).text).collect();
            for name in names {
                assert!(!place(name).exists(), "{}: {name}: {said:?}", user.name());
            }
        };
        // The marker goes after it has served.
        check(
            &[
                "mkdir venv mine; touch venv/pyvenv.cfg mine/a",
                "mkdir venv/d; echo EVIL > venv/.mcp.json; echo EVIL > venv/d/.mcp.json",
                "rm venv/pyvenv.cfg",
                "ln -s venv app1; ln -s $PWD/venv/d app2; ln -s x/../venv app3; mv venv app4; rm -r mine; ln -s venv mine",
                "mkdir s; ln -s ../venv s/l; mv venv/d app5; ln -s app3 app6; true",
            ],
            &["app1", "app2", "app3", "app4", "app5", "app6", "mine", "s/l"],
        );
        assert!(user.has("venv/.mcp.json"), "{}: the exemption is tested, too", user.name());
        // A link that would switch the exemption off, and what was laid before.
        check(
            &[
                "mkdir -p node_modules/p; echo EVIL > node_modules/p/.mcp.json; mkdir target; \
                 touch target/CACHEDIR.TAG; ln -s target t",
                "ln -s node_modules/p app; mv node_modules/p app2; true",
                "mkdir -p d1/d2; ln -s ../lib/../p d1/d2/l; true",
            ],
            &["t", "app", "app2"],
        );
        // The user's own link switches it off; what was laid before gets no further name.
        std::fs::create_dir_all(place("node_modules/a")).unwrap();
        symlink("node_modules/a", place("lib")).unwrap();
        user.settle();
        check(
            &[
                "ln -s node_modules/p app; ln -s lib/../p app2; ln -s venv app3; mv d1/d2 d2; mv lib lib2; true",
                "ln -s lib app4; ln -s app4/../p app5; true",
            ],
            &["app", "app2/.mcp.json", "app3", "d2/l/.mcp.json", "app4/../p/.mcp.json", "app5/.mcp.json"],
        );
    }
}

/// A link of the user's own that leads out of the workspace and into a dependency folder again.
#[test]
fn guarantee_36_links_out_and_back_into_a_dependency_folder_count() {
    for user in User::all() {
        lay_out(&user);
        let place = |name: &str| user.home.path(&format!("repo/{name}"));
        let outside = user.home.path("o");
        std::fs::create_dir_all(&outside).unwrap();
        symlink(place("node_modules"), outside.join("nm")).unwrap();
        for (link, target) in
            [("lib", "../o/nm/a".to_owned()), ("whole", format!("{}/nm/a", outside.display()))]
        {
            symlink(&target, place(link)).unwrap();
            assert!(place(link).join("c.pem").exists(), "{target}");
            check_closed(&user, &["node_modules/a/.npmrc", "node_modules/a/.mcp.json"]);
            std::fs::remove_file(place(link)).unwrap();
            check_open(&user, &["echo x > node_modules/a/.npmrc"]);
        }
        // It may come to lead in without any change in the workspace.
        symlink("../o/later/a", place("lib")).unwrap();
        check_open(&user, &["echo x > node_modules/a/.npmrc"]);
        symlink(place("node_modules"), outside.join("later")).unwrap();
        check_closed(&user, &["node_modules/a/.npmrc", "node_modules/a/.mcp.json"]);
    }
}

/// A rule for the link is the user's word that it may lead in.
#[test]
fn a_link_into_a_dependency_folder_is_made_where_a_rule_opens_it() {
    for (line, rule, link) in [
        ("ln -s node_modules/.bin bin", "write: /bin", "bin"),
        ("ln -s ../node_modules/x src/x", "write: src/x", "src/x"),
        ("ln -s target/debug/app app", "write: /app", "app"),
    ] {
        let user = User::all().remove(0);
        user.write("node_modules/x/a.js", "x\n");
        user.write("src/a", "x\n");
        user.settle();
        let done = user.bash(line);
        let place = user.home.path(&format!("repo/{link}"));
        assert!(!place.is_symlink(), "{line}: {}", done.text);
        let expected = format!(
            "`{link}` was refused: it would be a link into a dependency folder under another name, and commands may create \
             protected names there; copy the files, or allow it with --allow-rule '{rule}'"
        );
        assert!(done.text.contains(&expected), "{line}: {}", done.text);
        let line = format!("command={line}");
        let args =
            ["call", "bash", "--allow", "exec", "--allow-rule", rule, "--workspace", ".", line.as_str()];
        let ran = Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        assert!(place.is_symlink(), "{line}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn guarantee_36_what_leaves_a_dependency_folder_is_judged_by_all_that_it_carries() {
    for user in User::all() {
        lay_out(&user);
        user.write("plain/b/c", "x\n");
        let exchange = "exchange() { python3 -c 'import ctypes, sys\n\
             ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' \"$1\" \"$2\"; }\n";
        let done = script(
            &user,
            &format!(
                "{exchange}mv node_modules/a a1; mv node_modules n2; mv .venv env2; mv target/debug d2; mv venv/.vscode .vscode; \
                 mv venv/.vscode src/.vscode; mv node_modules/a/.npmrc .npmrc; mv node_modules/a/.vscode/tasks.json .vscode/tasks.json; \
                 exchange plain node_modules/a; exchange node_modules n3; exchange src node_modules; \
                 mkdir node_modules/deep; mv node_modules/a node_modules/deep/a; mv node_modules/deep deep; \
                 mv node_modules/deep/a node_modules/a; mv plain node_modules/plain; mkdir node_modules/plain/.vscode; \
                 echo EVIL > node_modules/plain/.vscode/tasks.json; mv node_modules/plain plain; \
                 mkdir -p node_modules/k; echo EVIL > node_modules/k/.npmrc; cd node_modules/k && exec 3<. && cd ../..; \
                 mv node_modules/k k; echo EVIL > /proc/self/fd/3/.npmrc; cp -r node_modules/a copied; \
                 tar -C node_modules -cf - a | tar -xf - ; rm node_modules/k/.npmrc; mv node_modules/k k; \
                 echo EVIL > k/.npmrc; echo EVIL > /proc/self/fd/3/.npmrc; true"
            ),
        );
        let mut found = Vec::new();
        names(&user.home.path("repo"), "", 0, &mut found);
        let wrong: Vec<&String> = found.iter().filter(|name| is_breach(name)).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}\n{}", user.name(), done.text);
        assert!(user.has("node_modules/plain/.vscode/tasks.json") && user.has("k"), "{}", done.text);
        // Without what is protected it may leave, and come.
        check_open(
            &user,
            &["rm -r node_modules/plain/.vscode && mv node_modules/plain plain", "mv plain node_modules/p2"],
        );
    }
}

#[test]
fn guarantee_36_a_root_below_a_dependency_folder_is_the_users() {
    for user in User::all() {
        lay_out(&user);
        user.write("node_modules/own/src/main.js", "x\n");
        user.write("node_modules/own/c.pem", CANARY);
        user.write("node_modules/own/node_modules/in/index.js", "x\n");
        user.write(
            "node_modules/own/try.sh",
            "echo x > .npmrc; mkdir .vscode; echo x > .vscode/tasks.json; echo x > src/.mcp.json; cat c.pem; \
             echo x > node_modules/in/.npmrc && echo inner; true",
        );
        user.settle();
        for folder in ["node_modules/own", ".venv/lib"] {
            let mut command = user.home.command([
                "call",
                "bash",
                "--allow",
                "exec",
                "--workspace",
                ".",
                "command=bash try.sh",
            ]);
            command.current_dir(user.home.path(&format!("repo/{folder}")));
            let ran = Ran::of(user.as_user(command).output().unwrap());
            assert!(!ran.stdout.contains(CANARY), "{}", ran.stdout);
            if folder == "node_modules/own" {
                assert!(ran.stdout.contains("inner"), "{} {}", ran.stdout, ran.stderr);
            }
        }
        for name in [".npmrc", ".vscode/tasks.json", "src/.mcp.json"] {
            assert!(!user.has(&format!("node_modules/own/{name}")), "{}: {name}", user.name());
        }
    }
}

#[test]
fn guarantee_38_rules_hold_in_dependency_folders() {
    for user in User::all() {
        lay_out(&user);
        user.home.write(
            ".config/toolpost/config.toml",
            "[[rule]]\neffect = 'deny'\naction = 'write'\nresource = '.npmrc'\n\
             [[rule]]\neffect = 'ask'\naction = 'write'\nresource = 'node_modules/a/.vscode/**'\n\
             [[rule]]\neffect = 'deny'\naction = 'read'\nresource = '*.pem'\n",
        );
        check_closed(
            &user,
            &["node_modules/a/.npmrc", "node_modules/new/.npmrc", "node_modules/a/.vscode/tasks.json"],
        );
        let done = script(
            &user,
            "cat node_modules/a/c.pem; echo x > node_modules/a/.travis.yml && echo wrote; true",
        );
        assert!(!done.text.contains("of a package") && done.text.contains("wrote"), "{}", done.text);
    }
}

/// Every name in a folder, through links too, as somebody would type it.
fn names(folder: &Path, name: &str, depth: usize, found: &mut Vec<String>) {
    if depth > 5 || found.len() > 60_000 {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name().to_string_lossy().into_owned();
        if depth == 0 && own == ".git" {
            continue;
        }
        let whole = if name.is_empty() { own } else { format!("{name}/{own}") };
        names(&entry.path(), &whole, depth + 1, found);
        found.push(whole);
    }
}

/// Whether a name has a protected part before any that is called like a dependency folder.
fn is_breach(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let end = parts.iter().position(|part| ["node_modules", ".venv", "venv", "target"].contains(part));
    let own = &parts[..end.unwrap_or(parts.len())];
    own.iter().any(|part| [".npmrc", ".mcp.json", ".claude", ".travis.yml", ".gitmodules"].contains(part))
        || own.windows(2).any(|two| two == [".vscode", "tasks.json"] || two == [".github", "workflows"])
}

/// Programs that make, move, exchange and link names at random. Whatever they do, no protected name can be reached without
/// the name of a dependency folder before it.
#[test]
fn guarantee_36_generated_ways_out_of_dependency_folders_are_closed() {
    let cases = count(3, 200);
    let operations = 600;
    let (mut inside, mut tried) = (0, 0);
    let mut dice = Dice(8_36);
    for user in User::all() {
        for _ in 0..cases {
            let repo = user.home.path("repo");
            for entry in std::fs::read_dir(&repo).unwrap() {
                let path: PathBuf = entry.unwrap().path();
                match path.symlink_metadata().unwrap().is_dir() {
                    true if path.ends_with(".git") => {}
                    true => std::fs::remove_dir_all(path).unwrap(),
                    false => std::fs::remove_file(path).unwrap(),
                }
            }
            user.write(".venv/pyvenv.cfg", "");
            user.write("a/target/CACHEDIR.TAG", "");
            user.write("node_modules/a/index.js", "");
            user.write("b/a/x", "");
            user.write("attack.py", ATTACK);
            // The second command finds what the first has left.
            for _ in 0..2 {
                user.settle();
                let done = user.bash(&format!("python3 attack.py {} {operations}", dice.roll(1 << 30)));
                assert!(done.text.contains("done"), "{}: {}", user.name(), done.text);
                tried += operations;
                let mut found = Vec::new();
                names(&repo, "", 0, &mut found);
                let wrong: Vec<&String> = found.iter().filter(|name| is_breach(name)).collect();
                assert!(wrong.is_empty(), "{}: {wrong:?}", user.name());
                inside += found.iter().filter(|name| name.contains(".npmrc")).count();
            }
        }
    }
    assert!(inside > 0, "no protected name came to be inside of a dependency folder");
    println!("measure: guarantee 36: {tried} changes around dependency folders, 0 protected names outside");
}

/// A hard link to an ordinary name makes an ordinary file; one to a protected name is refused.
#[test]
fn guarantee_36_a_hard_link_out_of_a_dependency_folder_is_judged_by_its_own_name() {
    for user in User::all() {
        lay_out(&user);
        let done = script(&user, "ln node_modules/a/.npmrc plain\nln node_modules/a/.npmrc .npmrc\ntrue\n");
        assert!(user.has("plain") && !user.has(".npmrc"), "{}: {}", user.name(), done.text);
    }
}

/// Every name that `doctor` lists is closed to commands, but for those that it says are not.
#[test]
fn the_short_name_of_a_repository_is_closed_to_commands() {
    for user in User::all() {
        check_closed(&user, &["git~1", "p/git~1", "p/git~1/hooks/pre-commit", "q/GIT~1/config"]);
        assert!(!user.has("p/git~1") && !user.has("git~1"), "{}", user.name());
    }
}

#[test]
fn a_refused_move_out_of_a_dependency_folder_is_one_true_sentence() {
    for user in User::all() {
        lay_out(&user);
        user.settle();
        let done = user.bash("mkdir .github; mv node_modules/a/.github/workflows .github/");
        assert!(done.text.contains("`.github/workflows` was refused: it is protected"), "{}", done.text);
        assert_eq!(done.text.matches("was refused").count(), 1, "{}", done.text);
    }
}
