//! Guarantee 39 for the file tools and for scripts that are hard to read: what git runs is not written unasked.

use super::User;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Runs a script in the sandbox. What a command line itself writes is judged before it runs, and would not show what the
/// sandbox does.
fn run(user: &User, text: &str) -> super::Done {
    user.write("run.sh", text);
    user.bash("bash run.sh")
}

/// A workspace with a new repository of its own.
fn repository(user: &User) {
    std::fs::remove_dir_all(user.home.path("repo/.git")).unwrap();
    user.settle();
    git(user, &["init", "-q", "-b", "main"]);
}

fn git(user: &User, args: &[&str]) {
    let done = user.git("repo", args);
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn program(user: &User, name: &str, text: &str) {
    user.write(name, text);
    let path = user.home.path(&format!("repo/{name}"));
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

fn link(user: &User, to: &str, name: &str) {
    symlink(to, user.home.path(&format!("repo/{name}"))).unwrap();
}

/// Calls a file tool without anybody to ask; the code of its error, or nothing.
fn call(user: &User, args: &[&str]) -> String {
    let all = [&["call", "--json", "--workspace", "."][..], args].concat();
    let ran = crate::Ran::of(user.as_user(user.home.command(all)).output().unwrap());
    let (_, value) = ran.json();
    value["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// That no file tool changes the file unasked.
fn check_asks(user: &User, name: &str) {
    let file = format!("filePath={name}");
    let mut calls = vec![
        vec!["write".to_owned(), file.clone(), "content=EVIL".to_owned()],
        vec![
            "apply_patch".to_owned(),
            format!("patch=*** Begin Patch\n*** Add File: {name}\n+EVIL\n*** End Patch"),
        ],
    ];
    if user.has(name) {
        calls.push(vec![
            "edit".to_owned(),
            file.clone(),
            "oldString=:".to_owned(),
            "newString=EVIL".to_owned(),
        ]);
        calls.push(vec!["delete".to_owned(), file]);
    }
    for args in calls {
        let before = user.has(name).then(|| user.read(name));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert_eq!(call(user, &args), "PROTECTED_FILE", "{}: {args:?}", user.name());
        assert_eq!(user.has(name).then(|| user.read(name)), before, "{}: {args:?}", user.name());
    }
}

fn check_is_free(user: &User, name: &str) {
    let code = call(user, &["write", &format!("filePath={name}"), "content=free"]);
    assert_eq!(code, "", "{}: {name}", user.name());
}

#[test]
fn guarantee_39_file_tools_ask_before_they_write_what_git_runs() {
    for user in User::all() {
        repository(&user);
        for name in ["hk/pre-commit", "tools/a.sh", "scripts/named.sh", "scripts/pc.sh", "hooks2/pre-commit"]
        {
            program(&user, name, "#!/bin/sh\n:\n");
        }
        git(&user, &["init", "-q", "--bare", "foo"]);
        std::fs::remove_dir_all(user.home.path("repo/.git/hooks")).unwrap();
        link(&user, "../hooks2", ".git/hooks");
        program(&user, "hooks2/post-merge", "#!/bin/sh\n: ; sh scripts/named.sh; ./scripts/later.sh\n");
        link(&user, "pc.sh", "scripts/l");
        link(&user, "../scripts/l", "hooks2/post-commit");
        link(&user, "hk", "hl");
        user.settle();
        for (key, value) in
            [("core.hooksPath", "hl"), ("filter.a.clean", "tools/a.sh"), ("include.path", "../extra")]
        {
            git(&user, &["config", key, value]);
        }
        for name in [
            "hk/pre-commit",
            "hk/post-checkout",
            "hl/pre-commit",
            "hooks2/pre-commit",
            "hooks2/new",
            "scripts/named.sh",
            "scripts/later.sh",
            "scripts/pc.sh",
            "tools/a.sh",
            "extra",
            "foo/config",
            "foo/hooks/pre-receive",
            "foo/info/attributes",
            ".git/config",
        ] {
            check_asks(&user, name);
        }
        for name in ["scripts/free.sh", "src/hk/x", "src/hooks2/x", "tools/b", "hk2", "src/HEAD", "config"] {
            check_is_free(&user, name);
        }
        // A rule of the user's opens it, as it opens other protected files.
        let opened = ["write", "filePath=tools/a.sh", "content=x", "--allow-rule", "write: tools/a.sh"];
        assert_eq!(call(&user, &opened), "", "{}", user.name());
        // What is said before a call is what happens.
        let args = ["policy", "explain", "--workspace", ".", "write", "filePath=hk/pre-commit", "content=x"];
        let ran = crate::Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        assert!(ran.stdout.contains("ask"), "{}: {}{}", user.name(), ran.stdout, ran.stderr);
    }
}

#[test]
fn guarantee_39_file_tools_make_no_repository_unasked() {
    for user in User::all() {
        repository(&user);
        let patch = |names: &[&str]| {
            let files: Vec<String> = names.iter().map(|name| format!("*** Add File: {name}\n+1\n")).collect();
            format!("patch=*** Begin Patch\n{}*** End Patch", files.concat())
        };
        for names in [
            &["y/HEAD", "y/objects/a", "y/refs/a", "y/config"][..],
            &["y/config", "y/refs/heads/x/y", "y/objects/a/b", "y/HEAD"],
            &["y/HEAD", "y/commondir"],
            &["HEAD", "objects/a", "refs/a"],
        ] {
            assert_eq!(call(&user, &["apply_patch", &patch(names)]), "PROTECTED_FILE", "{names:?}");
            assert!(!user.has("y") && !user.has("HEAD"), "{names:?}");
        }
        // One after the other: the last one asks.
        for order in [
            ["HEAD", "objects/a", "refs/a"],
            ["refs/a", "HEAD", "objects/a"],
            ["objects/a", "refs/a", "HEAD"],
        ] {
            let [one, two, three] = order.map(|name| format!("z{}/{name}", &order.concat()[..3]));
            check_is_free(&user, &one);
            check_is_free(&user, &two);
            check_asks(&user, &three);
        }
        check_is_free(&user, "w/objects/a");
        check_is_free(&user, "w/refs.txt");
        check_is_free(&user, "w/sub/refs/a");
    }
}

#[test]
fn guarantee_39_scripts_that_are_hard_to_read_are_protected() {
    let hook = "#!/bin/sh\nset -e\nROOT=$(git rev-parse --show-toplevel)\n\"$ROOT/t/s3.sh\"\n\"${ROOT}\"/t/s4.sh\n\
        cd t && ./s5.sh && cd ..\nDIR=t\n$DIR/s7.sh\nfor s in s8 s9; do sh t/$s.sh; done\nsh \"s p/x.sh\"\n\
        PATH=node_modules/.bin:$PATH lint\n(cd sub/deep; ./z.sh)\n$GIT_DIR/../u/p\n\
        \"$(dirname \"$0\")/../../u/q\"\nglobbed/?\nname=$(cat which)\nsh loops/$name.sh\n";
    let unsure = "#!/bin/sh\nname=$(cat which)\n\"$name\" unsure\n";
    let named = [
        "t/s3.sh",
        "t/s4.sh",
        "t/s5.sh",
        "t/s7.sh",
        "t/s8.sh",
        "t/s9.sh",
        "s p/x.sh",
        "node_modules/.bin/lint",
        "sub/deep/z.sh",
        "u/p",
        "u/q",
        "globbed/a",
        "loops/a.sh",
        "unsure/a",
        "my tools/d.sh",
        "v/f.sh",
        "v/k",
    ];
    let free = ["t/free.sh", "src/a", "sub/x", "node_modules/.bin/other", "v/free"];
    for user in User::all() {
        repository(&user);
        for name in named.iter().chain(&free) {
            program(&user, name, "#!/bin/sh\n:\n");
        }
        program(&user, ".git/hooks/pre-commit", hook);
        program(&user, ".git/hooks/post-commit", unsure);
        user.settle();
        for (key, value) in [
            ("filter.d.clean", "\"my tools/d.sh\""),
            ("filter.f.clean", "cd v && ./f.sh"),
            ("filter.k.clean", "bash -c \"cd v; ./k\""),
        ] {
            git(&user, &["config", key, value]);
        }
        for name in named {
            let done = run(&user, &format!("echo EVIL | tee -a '{name}'"));
            assert!(!user.read(name).contains("EVIL"), "{}: {name}: {}", user.name(), done.text);
        }
        for name in ["t/s5.sh", "s p/x.sh", "unsure/new", "loops/new.sh", "my tools/d.sh"] {
            check_asks(&user, name);
        }
        for name in free {
            let done = run(&user, &format!("echo more | tee -a '{name}'"));
            assert_eq!(done.code, Some(0), "{}: {name}: {}", user.name(), done.text);
        }
    }
}

#[test]
fn guarantee_39_commands_make_no_repository_and_take_none_apart() {
    for user in User::all() {
        repository(&user);
        run(&user, "mkdir -p n/.git/objects n/.git/refs; echo 'ref: refs/heads/x' | tee n/.git/HEAD");
        assert!(!user.has("n/.git/HEAD"), "{}", user.name());
        for before in [
            "true",
            "rm foo/HEAD",
            "mv foo/refs foo/r",
            "mv foo/objects foo/o",
            "rm foo/HEAD; mkdir foo/HEAD",
            "rm -r foo/HEAD foo/refs",
            "rm foo/HEAD; mv foo/objects foo/o",
        ] {
            git(&user, &["init", "-q", "--bare", "foo"]);
            let config = user.read("foo/config");
            run(&user, before);
            run(&user, "echo EVIL | tee -a foo/config");
            run(&user, "mkdir -p foo/hooks; echo EVIL | tee foo/hooks/post-checkout");
            assert_eq!(user.read("foo/config"), config, "{}: {before}", user.name());
            assert!(!user.has("foo/hooks/post-checkout"), "{}: {before}", user.name());
            check_asks(&user, "foo/config");
            std::fs::remove_dir_all(user.home.path("repo/foo")).unwrap();
        }
    }
}

/// Each command has a guard of its own, which looks and then creates.
#[test]
fn guarantee_39_commands_at_the_same_time_make_no_repository() {
    let text = "import os, sys\n\
                me, other = sys.argv[1:3]\n\
                for _ in range(1500):\n    \
                    try: os.mkdir('x/' + me)\n    \
                    except OSError: continue\n    \
                    if os.path.isdir('x/' + other): print('BOTH'); break\n    \
                    os.rmdir('x/' + me)\n";
    for user in User::all() {
        repository(&user);
        user.write("loop.py", text);
        user.write("x/HEAD", "ref: refs/heads/m\n");
        let both = std::thread::scope(|scope| {
            let sides = [("refs", "objects"), ("objects", "refs")].map(|(me, other)| {
                let user = &user;
                scope.spawn(move || user.bash(&format!("python3 loop.py {me} {other}")))
            });
            sides.map(|side| side.join().unwrap())
        });
        let told = both.each_ref().map(|done| done.text.as_str());
        assert!(!told.concat().contains("BOTH"), "{}: {told:?}", user.name());
        assert!(!(user.has("x/refs") && user.has("x/objects")), "{}: {told:?}", user.name());
    }
}

#[test]
fn guarantee_39_file_tools_take_no_repository_apart() {
    for user in User::all() {
        repository(&user);
        git(&user, &["init", "-q", "--bare", "--template=", "d/foo"]);
        for part in ["HEAD", "refs", "objects"] {
            let held = call(&user, &["delete", &format!("filePath=d/foo/{part}")]);
            assert!(user.has(&format!("d/foo/{part}")), "{}: {part}", user.name());
            assert_ne!(held, "", "{}: {part}", user.name());
        }
        // All is looked at before anything goes.
        let names = || walked(&user.home.path("repo/d"));
        let before = names();
        assert_ne!(call(&user, &["delete", "--yes", "filePath=d", "recursive=true"]), "", "{}", user.name());
        assert_eq!(names(), before, "{}", user.name());
        check_asks(&user, "d/foo/config");
    }
}

fn walked(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        found.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            found.extend(walked(&entry.path()));
        }
    }
    found.sort();
    found
}

/// A file tool judges a file by the names that links in the folders above give it, too.
#[test]
fn guarantee_15_file_tools_ask_before_they_write_what_a_link_protects() {
    for user in User::all() {
        repository(&user);
        for name in ["vs/settings.json", "deep/hooks/pre-commit", "db/mig/001.sql", "src/a"] {
            user.write(name, ":");
        }
        std::fs::create_dir_all(user.home.path("repo/packages/one")).unwrap();
        link(&user, "vs", ".vscode");
        link(&user, "hop", ".husky");
        link(&user, "deep/hooks", "hop");
        link(&user, "d1/x", "packages/.zed");
        link(&user, "db/mig", "migrations");
        link(&user, "conf/e", ".envrc");
        user.deny("write", "/migrations/**");
        user.settle();
        for name in [
            "vs/settings.json",
            "vs/tasks.json",
            "deep/hooks/pre-commit",
            "packages/d1/x/tasks.json",
            "conf/e",
        ] {
            check_asks(&user, name);
        }
        for name in ["db/mig/001.sql", "db/mig/002.sql"] {
            let before = user.has(name).then(|| user.read(name));
            let file = format!("filePath={name}");
            for flags in [&[][..], &["--yes"], &["--allow-rule", "write: **"]] {
                let code = call(&user, &[&["write", &file, "content=EVIL"], flags].concat());
                assert_eq!(code, "PERMISSION_DENIED", "{}: {name} {flags:?}", user.name());
            }
            assert_eq!(user.has(name).then(|| user.read(name)), before, "{}: {name}", user.name());
        }
        for name in ["vs/extensions.json", "db/other", "src/a", "packages/d1/y", "deep/x"] {
            check_is_free(&user, name);
        }
    }
}
