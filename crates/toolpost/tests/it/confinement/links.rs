//! Guarantees 15, 36 and 38 where links give folders other names: a file is judged under its real name and under every
//! name that a link of the workspace gives it.

use super::{CANARY, Dice, User};
use crate::count;
use std::os::unix::fs::symlink;
use std::path::Path;

fn link(user: &User, name: &str, target: &str) {
    let place = user.home.path(&format!("repo/{name}"));
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(target, place).unwrap();
}

/// Runs lines in a script, so that it is the sandbox that judges and not the reader of the command line.
fn script(user: &User, lines: &str) -> super::Done {
    user.write("try.sh", lines);
    user.settle();
    let done = user.bash("bash try.sh");
    assert!(done.code.is_some(), "{}: {}", user.name(), done.text);
    done
}

/// Tries to write each name, existing or not; none may succeed.
fn check_closed(user: &User, names: &[&str]) {
    let lines: Vec<String> =
        names.iter().map(|name| format!("(echo EVIL >> {name}) 2>/dev/null && echo wrote {name}")).collect();
    let done = script(user, &lines.join("\n"));
    assert!(!done.text.contains("wrote "), "{}: {}", user.name(), done.text);
}

#[test]
fn guarantee_15_a_link_to_a_folder_unprotects_nothing() {
    for user in User::all() {
        user.write("vs/settings.json", "{}");
        user.write("gh/workflows/ci.yml", "on: push\n");
        user.write("cg/keep", "");
        user.write("conf/keep", "");
        user.write("g/keep", "");
        user.write("deep/a/idea/keep", "");
        link(&user, ".vscode", "vs");
        link(&user, ".github", "gh");
        link(&user, ".cargo", "cg");
        // A link in a folder that has another name, a chain, one that leads to nothing, and a circle.
        link(&user, ".config", "conf");
        link(&user, "conf/git", "../g");
        link(&user, "packages/a/.idea", "../../second");
        link(&user, "second", "deep/a/idea");
        link(&user, ".zed", "not/there");
        link(&user, "circle/.vscode", "..");
        link(&user, "circle/.zed", ".");
        check_closed(
            &user,
            &[
                ".vscode/tasks.json",
                "vs/tasks.json",
                "vs/settings.json",
                "vs/TASKS.json",
                "gh/workflows/ci.yml",
                "gh/workflows/new.yml",
                "gh/workflows",
                "cg/config",
                "cg/config.toml",
                "g/config",
                "conf/git/x",
                ".config/git/x",
                "conf/fish",
                "deep/a/idea/workspace.xml",
                "second/workspace.xml",
                "tasks.json",
                "circle/tasks.json",
                "circle/settings.json",
            ],
        );
        let done = script(
            &user,
            "mkdir -p not/there && (echo x > not/there/tasks.json); echo x > .zed/tasks.json; rm .vscode; mv gh gh2; \
             mkdir -p new/there; echo x > new/there/tasks.json; rm -r not; mv new not; ln -s /tmp not; \
             mkdir d; echo x > d/tasks.json; mv vs old && mv d vs; ln d/tasks.json vs/tasks.json; true",
        );
        for name in ["not/there/tasks.json", "vs/tasks.json"] {
            assert!(!user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
        assert!(user.has(".vscode") && user.has("gh/workflows/ci.yml"), "{}", done.text);
        // The rest is open, under each of its names.
        let done =
            script(&user, "echo x > vs/extensions.json && echo x > .github/dependabot.yml && echo x > cg/y");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn guarantee_36_a_link_to_a_folder_shows_no_secret() {
    for user in User::all() {
        for name in ["awsreal/credentials", "kube/config", "gc/any/deep", "store/a", "store/in/b", "out/in/c"]
        {
            user.write(name, CANARY);
        }
        link(&user, ".aws", "awsreal");
        link(&user, "sub/.kube", "../kube");
        link(&user, ".config/gcloud", "../gc");
        link(&user, "private", "hop");
        link(&user, "hop", "store");
        // Out of the workspace and back.
        user.home.write("outside/y", "");
        symlink(user.home.path("repo/out"), user.home.path("outside/back")).unwrap();
        let outside = user.home.path("outside").display().to_string();
        link(&user, "secret", &outside);
        user.home.write(
            ".config/toolpost/config.toml",
            "[[rule]]\neffect = 'deny'\naction = 'read'\nresource = '/private/**'\n\
             [[rule]]\neffect = 'deny'\naction = 'read'\nresource = '/secret/back/in/c'\n",
        );
        let done = script(
            &user,
            "mv store s2; mv private p2; rm hop private .aws; mv awsreal a2; cat .aws/credentials; grep -r CANARY . ; \
             find . -type f -exec cat {} + ; true",
        );
        assert!(!done.text.contains(CANARY), "{}: {}", user.name(), done.text);
        let done = script(&user, "grep -rh CANARY- . ; true");
        assert!(!done.text.contains(CANARY), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn guarantee_38_a_rule_means_what_a_link_leads_to() {
    for user in User::all() {
        for name in ["db/mig/001.sql", "x/gen/old.rs", "pkg/one/dist/a", "loop/in/lib/a"] {
            user.write(name, "text\n");
        }
        link(&user, "migrations", "db/mig");
        link(&user, "src/gen", "../x/gen");
        link(&user, "packages/one", "../pkg/one");
        link(&user, "top/a", "../loop");
        link(&user, "loop/again", ".");
        link(&user, "loop/in/more", "..");
        link(&user, "later", "not/yet");
        let rule = |effect: &str, resource: &str| {
            format!("[[rule]]\neffect = '{effect}'\naction = 'write'\nresource = '{resource}'\n")
        };
        let rules = ["/migrations/**", "/src/gen", "packages/*/dist/**", "/top/**/lib", "/later/a/b"];
        let mut text: String = rules.iter().map(|resource| rule("deny", resource)).collect();
        user.home.write(".config/toolpost/config.toml", &text);
        let closed = [
            "migrations/002.sql",
            "db/mig/002.sql",
            "db/mig/001.sql",
            "src/gen/new.rs",
            "x/gen/new.rs",
            "x/gen/old.rs",
            "pkg/one/dist/a",
            "pkg/one/dist/b",
            "loop/in/lib/a",
            "loop/lib",
            "loop/in/lib/b",
            "loop/new/lib",
        ];
        check_closed(&user, &closed);
        let done = script(
            &user,
            "mkdir -p not/yet/a && echo x > not/yet/a/b; rm -r not; mkdir -p n/yet/a && echo x > n/yet/a/b && mv n not; \
             mkdir -p new && echo x > new/002.sql; mv db db2; mv -T new db/mig; mv db/mig away; echo x > new/lib; \
             mv new/lib loop/; true",
        );
        for name in ["not/yet/a/b", "db/mig/002.sql", "loop/lib"] {
            assert!(!user.has(name), "{}: {name}: {}", user.name(), done.text);
        }
        assert!(user.has("db/mig/001.sql"), "{}: {}", user.name(), done.text);
        let done =
            script(&user, "echo x > db/other && echo x > x/other && echo x > pkg/one/src && echo x > loop/x");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        // A rule that opens everything does not open what another denies; one that asks can be opened by the real name.
        text.push_str(&rule("allow", "**"));
        user.home.write(".config/toolpost/config.toml", &text);
        check_closed(&user, &closed);
        user.home.write(
            ".config/toolpost/config.toml",
            rule("ask", "/migrations/**") + &rule("allow", "/db/mig/**"),
        );
        let done = script(&user, "echo x > db/mig/002.sql && echo x >> db/mig/001.sql");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}

/// Trees of folders and links, with a secret or a protected name somewhere. Whether a name means the file is asked of the
/// kernel: it resolves the name.
#[test]
fn guarantee_36_generated_links_unprotect_nothing() {
    const NAMES: [&str; 8] = ["a", "b", ".aws", ".vscode", ".config", "c", "d", ".kube"];
    let cases = count(12, 600);
    let mut dice = Dice(36_38);
    let mut tried = 0;
    for user in User::all() {
        for _ in 0..cases {
            let repo = user.home.path("repo");
            for entry in std::fs::read_dir(&repo).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".git") {
                    continue;
                }
                match path.symlink_metadata().unwrap().is_dir() {
                    true => std::fs::remove_dir_all(path).unwrap(),
                    false => std::fs::remove_file(path).unwrap(),
                }
            }
            let mut folders = vec![repo.clone()];
            for _ in 0..12 {
                let parent = dice.pick(&folders).clone();
                let place = parent.join(dice.pick(&NAMES));
                if place.symlink_metadata().is_ok() {
                    continue;
                }
                if dice.roll(2) == 0 {
                    std::fs::create_dir(&place).unwrap();
                    folders.push(place);
                } else {
                    symlink(dice.pick(&folders), &place).unwrap();
                }
            }
            // The same file name in every folder: secret where some name of the folder says so.
            for folder in &folders {
                for name in ["credentials", "config", "tasks.json"] {
                    std::fs::write(folder.join(name), format!("at {}\n", folder.join(name).display()))
                        .unwrap();
                }
            }
            let mut reached = Vec::new();
            names(&repo, 0, &mut reached);
            let done = script(
                &user,
                "find . -type f \\( -name credentials -o -name config \\) -not -path './.git/*' -exec cat {} + ; \
                 for f in $(find . -type f -name tasks.json); do (echo EVIL >> $f) && echo wrote $PWD/${f#./}; done; true",
            );
            for (name, real) in reached {
                let secret = [".aws/credentials", ".kube/config"].iter().any(|end| name.ends_with(end));
                let locked = name.ends_with(".vscode/tasks.json");
                let (reads, writes) = (format!("at {real}\n"), format!("wrote {real}\n"));
                let text = format!("{}\n", done.text);
                assert!(!secret || !text.contains(&reads), "{}: {name} is shown as {real}", user.name());
                assert!(!locked || !text.contains(&writes), "{}: {name} is written as {real}", user.name());
                tried += usize::from(secret || locked);
            }
        }
    }
    assert!(tried > 0);
    println!("measure: guarantee 36: {tried} names through links of generated trees, 0 shown or written");
}

/// Every name through folders and links, with the real path that the kernel finds, through at most five folders.
fn names(at: &Path, depth: usize, into: &mut Vec<(String, String)>) {
    if depth == 5 {
        return;
    }
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let Ok(found) = std::fs::metadata(&path) else { continue };
        if path.ends_with(".git") {
            continue;
        }
        match found.is_dir() {
            true => names(&path, depth + 1, into),
            false => {
                let real = path.canonicalize().unwrap();
                into.push((path.display().to_string(), real.display().to_string()));
            }
        }
    }
}
