//! Which names are closed, held against tables.

use super::*;
use crate::sandbox::{FileEffect, FilePattern, FileRule, FileRules};

fn view(reserved: &[&str], rules: Vec<FileRules>) -> View {
    View {
        writable: vec![b"/w".to_vec(), b"/other".to_vec()],
        home: b"/home/u".to_vec(),
        reserved: reserved.iter().map(|pattern| pattern.as_bytes().to_vec()).collect(),
        rules,
        ..View::default()
    }
}

#[test]
fn reserved_names_are_known_at_any_depth() {
    let patterns =
        [".git/hooks", ".mcp.json", "*.code-workspace", ".vscode/tasks.json", ".git/modules/**/config"];
    let names = Names::new(&view(&patterns, Vec::new()));
    for (path, making, expected) in [
        ("/w/.git/hooks/pre-commit", Making::File, true),
        ("/w/sub/.git/hooks", Making::Folder, true),
        ("/w/.git/index", Making::File, false),
        ("/w/.git", Making::Folder, false),
        ("/w/.git", Making::File, true),
        ("/w/.git", Making::Filled, true),
        ("/w/.git", Making::Link, true),
        ("/w/.MCP.json", Making::File, true),
        ("/w/.mcp.json. ", Making::File, true),
        ("/w/.mcp.json:x", Making::File, true),
        ("/w/.mcp\u{200c}.json", Making::File, true),
        ("/w/a/b.code-workspace", Making::Filled, true),
        ("/w/.vscode", Making::Folder, false),
        ("/w/.vscode", Making::Filled, true),
        ("/w/.vscode/settings.json", Making::File, false),
        ("/w/.git/modules/a/config", Making::File, true),
        ("/w/.git/modules/a/modules/b/config", Making::File, true),
        ("/w/.git/modules/config", Making::File, true),
        ("/w/.git/modules/a", Making::Folder, false),
        ("/w/.git/modules/a", Making::Link, true),
        ("/w/.git/modules/a", Making::Filled, true),
        ("/w/.git/modules/a/refs/heads/topic.lock", Making::File, false),
        ("/w/.git/modules/a/config", Making::Folder, true),
        ("/w/src/main.rs", Making::File, false),
        ("/other/.mcp.json", Making::File, true),
        ("/home/u/.mcp.json", Making::File, true),
        ("/elsewhere/.mcp.json", Making::File, false),
        ("/w-other/.mcp.json", Making::File, false),
        ("/w", Making::Folder, false),
    ] {
        assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{path} {making:?}");
    }
}

#[test]
fn a_root_may_be_a_part_of_a_protected_name_or_lie_below_one() {
    let patterns = [".github/workflows", ".claude", ".git/config"].map(|pattern| pattern.as_bytes().to_vec());
    for (root, path, expected) in [
        ("/w/.github", "/w/.github/workflows/a.yml", true),
        ("/w/.git", "/w/.git/config", true),
        ("/w/.claude/trees/x", "/w/.claude/trees/x/src/a.rs", false),
        ("/w/.claude/trees/x", "/w/.claude/trees/x/.claude/settings.json", true),
    ] {
        let view =
            View { writable: vec![root.as_bytes().to_vec()], reserved: patterns.to_vec(), ..View::default() };
        assert_eq!(Names::new(&view).is_closed(path.as_bytes(), Making::File), expected, "{path}");
    }
}

#[test]
fn a_path_is_judged_in_every_root_that_holds_it() {
    let deny = FileRule { effect: FileEffect::Deny, pattern: FilePattern::Inside("b/locked".into()) };
    let view = View {
        writable: vec![b"/n".to_vec(), b"/n/b".to_vec()],
        rules: vec![FileRules { layers: vec![vec![deny]] }],
        ..View::default()
    };
    assert!(Names::new(&view).is_closed(b"/n/b/locked/new", Making::File));
    assert!(!Names::new(&view).is_closed(b"/n/b/other", Making::File));
}

#[test]
fn rules_decide_before_the_list_and_any_deny_closes() {
    let rule = |effect, pattern| FileRule { effect, pattern };
    let glob = |glob: &str| FilePattern::Glob { glob: glob.into(), inside: false };
    let layers = vec![
        vec![
            rule(FileEffect::Open, FilePattern::Exact(".mcp.json".into())),
            rule(FileEffect::Open, FilePattern::Name("open".into())),
        ],
        vec![
            rule(FileEffect::Deny, FilePattern::Inside("migrations".into())),
            rule(FileEffect::Ask, glob("src/**/*.sql")),
            rule(FileEffect::Deny, glob("**/*.key")),
            rule(FileEffect::Deny, FilePattern::Exact("/other/locked".into())),
        ],
    ];
    let names = Names::new(&view(&[".mcp.json", ".envrc"], vec![FileRules { layers }]));
    for (path, making, expected) in [
        ("/w/.mcp.json", Making::File, false),
        ("/w/sub/.mcp.json", Making::File, true),
        ("/w/.envrc", Making::File, true),
        ("/w/migrations", Making::Folder, false),
        ("/w/migrations/002.sql", Making::File, true),
        ("/w/migrations/open/002.sql", Making::File, true),
        ("/w/migrations", Making::Link, true),
        ("/w/src/a.sql", Making::File, true),
        ("/w/src/open/a.sql", Making::File, false),
        ("/w/src", Making::Link, true),
        ("/w/src/deep/down", Making::Link, true),
        ("/w/elsewhere", Making::Link, false),
        ("/w/a/b.key", Making::File, true),
        ("/other/locked/x", Making::File, true),
        ("/other/x", Making::File, false),
        ("/home/u/migrations/1", Making::File, false),
        ("/home/u/.envrc", Making::File, true),
    ] {
        assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{path} {making:?}");
    }
    let everything = vec![vec![rule(FileEffect::Deny, FilePattern::Everything)]];
    let sets = vec![FileRules::default(), FileRules { layers: everything }];
    assert!(Names::new(&view(&[], sets)).is_closed(b"/w/a", Making::File), "every set must agree");
}

#[test]
fn what_is_locked_holds_the_folders_above_it() {
    let view = View {
        locked: vec![b"/w/a/b/c".to_vec(), b"/w/a-b".to_vec()],
        hidden: vec![b"/w/x\xff/.env".to_vec()],
        ..view(&[], Vec::new())
    };
    let names = Names::new(&view);
    for (path, expected) in [
        (&b"/w/a"[..], true),
        (b"/w/a/b", true),
        (b"/w/a/b/c", true),
        (b"/w/a/b/c/d", false),
        (b"/w/a/x", false),
        (b"/w/a-b", true),
        (b"/w/a-", false),
        (b"/w/x\xff", true),
        (b"/w/x", false),
    ] {
        assert_eq!(names.holds_marked(path), expected, "{}", String::from_utf8_lossy(path));
    }
    assert_eq!(names.marked_above(b"/w/a/b/c/d/e"), Some(&b"/w/a/b/c"[..]));
    assert_eq!(names.marked_above(b"/w/a/b"), None);
}

#[test]
fn a_name_is_judged_under_each_name_that_links_give_it() {
    let rule = |effect, folder: &str| FileRule { effect, pattern: FilePattern::Inside(folder.into()) };
    let alias = |folder: &str, name: &str| (folder.as_bytes().to_vec(), name.as_bytes().to_vec());
    let aliases = vec![
        alias("/w/vs", "/w/.vscode"),
        alias("/w/d/idea", "/w/.idea"),
        alias("/w/db", "/w/mig"),
        alias("/w/open", "/w/mig2"),
        alias("/w/asked", "/w/asks"),
    ];
    let patterns = [".vscode/tasks.json", ".idea/workspace.xml"];
    let plain = Names::new(&View { aliases: aliases.clone(), ..view(&patterns, Vec::new()) });
    let layer = vec![
        rule(FileEffect::Deny, "mig"),
        rule(FileEffect::Deny, "mig2"),
        rule(FileEffect::Ask, "asks"),
        rule(FileEffect::Open, "open"),
        rule(FileEffect::Open, "asked"),
    ];
    let rules = vec![FileRules { layers: vec![layer] }];
    let ruled = Names::new(&View { aliases, ..view(&patterns, rules) });
    for names in [&plain, &ruled] {
        for (path, making, expected) in [
            ("/w/vs/tasks.json", Making::File, true),
            ("/w/vs/TASKS.json", Making::File, true),
            ("/w/vs/extensions.json", Making::File, false),
            ("/w/vs", Making::Folder, false),
            ("/w/vs", Making::Filled, true),
            ("/w/vs", Making::Link, true),
            ("/w/vs2/tasks.json", Making::File, false),
            ("/w/d/idea/workspace.xml", Making::File, true),
        ] {
            assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{path} {making:?}");
        }
    }
    for (path, expected) in [
        ("/w/db/1.sql", true),
        ("/w/db/deep/1.sql", true),
        ("/w/dbx", false),
        // No rule opens what another denies by another name; what asks, it does.
        ("/w/open/x", true),
        ("/w/asked/x", false),
    ] {
        assert_eq!(ruled.is_closed(path.as_bytes(), Making::File), expected, "{path}");
    }
    // What moves above the place to which a link leads gets another name, too.
    for (target, expected) in [("/w/d", true), ("/w/d-x", false), ("/w", true), ("/w/e", false)] {
        assert_eq!(plain.must_look_inside(b"/w/from", target.as_bytes()), expected, "{target}");
    }
}

#[test]
fn a_home_folder_for_caches_takes_nothing_else() {
    let mut view = View { only_caches: true, ..view(&[".mcp.json"], Vec::new()) };
    view.writable.push(b"/home/u/work".to_vec());
    let names = Names::new(&view);
    for (path, making, expected) in [
        ("/home/u/.cache/x", Making::File, false),
        ("/home/u/.cache", Making::Folder, false),
        ("/home/u/.cache", Making::Filled, false),
        ("/home/u/.cache", Making::Link, true),
        ("/home/u/.npm", Making::Folder, false),
        ("/home/u/.npm", Making::Filled, true),
        ("/home/u/.npm", Making::Link, true),
        ("/home/u/.npm/_logs/1", Making::File, false),
        ("/home/u/.npm/other", Making::File, true),
        ("/home/u/.local/state/a", Making::File, false),
        ("/home/u/.local/bin/a", Making::File, true),
        ("/home/u/.cachex", Making::File, true),
        ("/home/u/.anyrc", Making::File, true),
        ("/home/u/x", Making::Folder, true),
        ("/home/u/work/x", Making::File, false),
        ("/home/u/work/.mcp.json", Making::File, true),
        ("/tmp/x", Making::File, false),
    ] {
        assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{path} {making:?}");
    }
}

#[test]
fn what_a_protected_link_leads_through_does_not_become_a_link() {
    let fixed = ["/w/d1", "/w/d1/x", "/w/A b/c"].map(|path| path.as_bytes().to_vec()).to_vec();
    let open = FileRule { effect: FileEffect::Open, pattern: FilePattern::Everything };
    let rules = vec![FileRules { layers: vec![vec![open]] }];
    for rules in [Vec::new(), rules] {
        let names = Names::new(&View { fixed: fixed.clone(), ..view(&[], rules) });
        for (path, making, expected) in [
            ("/w/d1", Making::Link, true),
            ("/w/D1", Making::Link, true),
            ("/w/d1.", Making::Link, true),
            ("/w/d1/x", Making::Link, true),
            ("/w/a B/c", Making::Link, true),
            ("/w/d1", Making::Folder, false),
            ("/w/d1", Making::Filled, false),
            ("/w/d1/x/y", Making::Link, false),
            ("/w/d", Making::Link, false),
            ("/w/d12", Making::Link, false),
        ] {
            assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{path} {making:?}");
        }
        assert!(names.is_fixed(b"/w/d1/x") && !names.is_fixed(b"/w/d1/y") && !names.is_fixed(b"/w"));
        assert!(
            names.must_look_inside(b"/w/from", b"/w/d1") && names.must_look_inside(b"/w/from", b"/w/a b")
        );
    }
    let names = Names::new(&View { fixed, ..view(&[], Vec::new()) });
    assert!(!names.must_look_inside(b"/w/from", b"/w/d1/x") && !names.must_look_inside(b"/w/from", b"/w/d"));
}

fn with_dependencies(roots: &[&str]) -> Names {
    let reserved = [".vscode/tasks.json", ".npmrc", ".claude", ".git/config", ".git/modules/**/config"];
    Names::new(&View {
        writable: roots.iter().map(|root| root.as_bytes().to_vec()).collect(),
        home: b"/home/u".to_vec(),
        reserved: reserved.map(|pattern| pattern.as_bytes().to_vec()).to_vec(),
        locked: [&b"/w/lib/target/.npmrc"[..], b"/w/.git/config", b"/w/node_modules/b/run"]
            .map(<[u8]>::to_vec)
            .to_vec(),
        hidden: [&b"/w/node_modules/a/.env"[..], b"/w/.venv/lib/.env", b"/w/.env"]
            .map(<[u8]>::to_vec)
            .to_vec(),
        dependencies: crate::sandbox::Dependencies {
            names: vec!["node_modules".into()],
            folders: vec!["/w/.venv".into(), "/w/a/target".into()],
            reserved: vec![".git/config".into(), ".git/modules/**/config".into()],
            removable: ["/w/node_modules/a/.env", "/w/.venv/lib/.env"].map(Into::into).to_vec(),
            markers: vec![(".venv".into(), "pyvenv.cfg".into()), ("target".into(), "CACHEDIR.TAG".into())],
            called: Vec::new(),
        },
        ..View::default()
    })
}

#[test]
fn inside_dependency_folders_fewer_names_are_closed() {
    for (root, path, making, expected) in [
        ("/w", "/w/node_modules/a/.npmrc", Making::File, false),
        ("/w", "/w/x/node_modules/.vscode/tasks.json", Making::File, false),
        ("/w", "/w/node_modules/a/.vscode", Making::Link, false),
        ("/w", "/w/node_modules/a/.claude", Making::Filled, false),
        ("/w", "/w/.venv/.npmrc", Making::File, false),
        ("/w", "/w/a/target/b/.npmrc", Making::File, false),
        ("/w", "/w/target/b/.npmrc", Making::File, true),
        ("/w", "/w/b/.venv/.npmrc", Making::File, true),
        ("/w", "/w/vendor/a/.npmrc", Making::File, true),
        ("/w", "/w/Node_Modules/a/.npmrc", Making::File, true),
        ("/w", "/w/node_modules", Making::Link, false),
        ("/w", "/w/.npmrc", Making::File, true),
        ("/w", "/w/node_modules.old/.npmrc", Making::File, true),
        // Repositories.
        ("/w", "/w/node_modules/a/.git", Making::Link, true),
        ("/w", "/w/node_modules/a/.git", Making::Filled, true),
        ("/w", "/w/node_modules/a/.git", Making::File, true),
        ("/w", "/w/node_modules/a/.git/config", Making::File, true),
        ("/w", "/w/.venv/a/.git/modules/x/config", Making::File, true),
        // What is protected with all that is in it.
        ("/w", "/w/.claude/node_modules/x", Making::File, true),
        ("/w", "/w/.claude/node_modules/a/.npmrc", Making::File, true),
        ("/w", "/w/.npmrc/node_modules/x", Making::File, true),
        // Names above the root say nothing.
        ("/x/node_modules/w", "/x/node_modules/w/.npmrc", Making::File, true),
        ("/x/node_modules", "/x/node_modules/a/.npmrc", Making::File, true),
        ("/x/node_modules/w", "/x/node_modules/w/node_modules/.npmrc", Making::File, false),
        ("/w/.venv", "/w/.venv/.npmrc", Making::File, true),
        ("/w/.venv/src", "/w/.venv/src/.npmrc", Making::File, true),
        // The home folder is no workspace; but packages in caches bring their names along.
        ("/w", "/home/u/node_modules/a/.npmrc", Making::File, true),
        ("/w", "/home/u/.cargo/registry/src/i/c/.npmrc", Making::File, false),
        ("/w", "/home/u/go/pkg/mod/x/.vscode/tasks.json", Making::File, false),
        ("/w", "/home/u/.cargo/registry/src/i/c/.git/config", Making::File, true),
        ("/w", "/home/u/.cargo/.npmrc", Making::File, true),
        ("/w", "/home/u/.npmrc", Making::File, true),
        ("/w", "/w/.cargo/registry/src/i/c/.npmrc", Making::File, true),
    ] {
        let names = with_dependencies(&[root]);
        assert_eq!(names.is_closed(path.as_bytes(), making), expected, "{root} {path} {making:?}");
    }
    // A root in a dependency folder of another.
    let names = with_dependencies(&["/w", "/w/node_modules/own"]);
    assert!(names.is_closed(b"/w/node_modules/own/.npmrc", Making::File));
    assert!(!names.is_closed(b"/w/node_modules/other/.npmrc", Making::File));
}

#[test]
fn what_leaves_a_dependency_folder_is_looked_through() {
    let names = with_dependencies(&["/w"]);
    for (source, target, expected) in [
        ("/w/node_modules/a", "/w/a", true),
        ("/w/node_modules", "/w/old", true),
        ("/w/node_modules", "/w/x/node_modules", false),
        ("/w/node_modules/a", "/w/node_modules/b", false),
        ("/w/node_modules/a", "/w/x/node_modules/b", false),
        ("/w/node_modules/a", "/w/.venv/b", false),
        ("/w/.venv", "/w/venv", true),
        ("/w/.venv", "/w/x/.venv", false),
        ("/w/.venv/lib", "/w/x/.venv", true),
        ("/w/x", "/w/y", false),
        ("/w/x", "/w/node_modules/x", false),
        ("/w/a", "/w/b", false),
        ("/w/node_modules/a", "/tmp/a", true),
    ] {
        let looks = names.must_look_inside(source.as_bytes(), target.as_bytes());
        assert_eq!(looks, expected, "{source} {target}");
    }
}

#[test]
fn dependency_folders_move_with_their_names() {
    let closed = |names: &Names, path: &str| names.is_closed(path.as_bytes(), Making::File);
    let mut names = with_dependencies(&["/w"]);
    names.moved(b"/w/a", b"/w/b");
    assert!(closed(&names, "/w/a/target/.npmrc") && !closed(&names, "/w/b/target/.npmrc"));
    names.moved(b"/w/.venv", b"/w/old");
    assert!(closed(&names, "/w/.venv/.npmrc") && closed(&names, "/w/old/.npmrc"));
    names.exchanged(b"/w/b", b"/w/c");
    assert!(closed(&names, "/w/b/target/.npmrc") && !closed(&names, "/w/c/target/.npmrc"));
}

#[test]
fn no_link_with_another_name_leads_into_a_dependency_folder() {
    for (link, text, expected) in [
        ("/w/app", "node_modules/app", true),
        ("/w/app", "./node_modules/../x", true),
        ("/w/app", "/w/node_modules", true),
        ("/w/app", "NODE_MODULES/app", true),
        ("/w/a/app", "../.venv/lib", true),
        ("/w/a/app", "x/target/y", true),
        ("/w/app", "src", false),
        ("/w/app", "venv/lib", false),
        ("/w/x/node_modules", "../node_modules", false),
        ("/w/x/.venv", "../.venv", false),
        ("/w/target", "/big/target", false),
        ("/w/target", "node_modules/t", true),
        ("/w/target", ".venv/target", true),
        ("/w/x/.venv", "../.venv/lib", true),
        ("/w/x/node_modules", "../.venv/lib", false),
        ("/w/node_modules/.bin/x", "../x/cli.js", false),
        ("/w/node_modules/x", "../other/node_modules/x", false),
        ("/tmp/app", "/w/node_modules/app", false),
    ] {
        let names = with_dependencies(&["/w"]);
        let leads = names.leads_into_dependencies(link.as_bytes(), text.as_bytes());
        assert_eq!(leads, expected, "{link} -> {text}");
    }
    let below = with_dependencies(&["/x/node_modules/w"]);
    assert!(!below.leads_into_dependencies(b"/x/node_modules/w/a", b"/x/node_modules/w/src"));
    assert!(below.leads_into_dependencies(b"/x/node_modules/w/a", b"/x/node_modules/w/node_modules/a"));
    // Where nothing counts as a dependency folder, links are free.
    let none = Names::new(&view(&[".npmrc"], Vec::new()));
    assert!(!none.leads_into_dependencies(b"/w/app", b"node_modules/app"));
}

#[test]
fn no_marker_is_laid_beside_what_is_protected() {
    let names = with_dependencies(&["/w"]);
    for (folder, name, expected) in [
        ("/w/lib/target", "CACHEDIR.TAG", true),
        ("/w/lib/target", "pyvenv.cfg", false),
        ("/w/other/target", "CACHEDIR.TAG", false),
        ("/w/lib/target/debug", "CACHEDIR.TAG", false),
        ("/tmp/target", "CACHEDIR.TAG", false),
    ] {
        assert_eq!(names.is_forged_marker(folder.as_bytes(), name.as_bytes()), expected, "{folder}/{name}");
    }
}

#[test]
fn hidden_files_of_packages_move_with_their_folders_and_leave_no_dependency_folder() {
    let mut names = with_dependencies(&["/w"]);
    for (source, target, expected) in [
        ("/w/node_modules/a", "/w/node_modules/b2", false),
        ("/w/node_modules/a", "/w/.venv/a", false),
        ("/w/node_modules/a", "/w/a2", true),
        ("/w/node_modules/a", "/tmp/a2", true),
        ("/w/node_modules/a/.env", "/w/node_modules/a/x", true),
        ("/w/node_modules", "/w/x/node_modules", true),
        ("/w/.venv", "/w/x/.venv", false),
        ("/w/.venv", "/w/venv", true),
        ("/w/.venv/lib", "/w/lib2", true),
        ("/w/node_modules/b", "/w/node_modules/c", true),
        ("/w/src", "/w/src2", false),
    ] {
        let held = names.held_by(source.as_bytes(), target.as_bytes()).next();
        assert_eq!(held.is_some(), expected, "{source} {target}");
    }
    let known = b"/w/node_modules/a/.env".to_vec();
    assert_eq!(names.removable_at(&known), Some(known.clone()));
    assert_eq!(names.removable_at(b"/w/.env"), None);
    names.moved(b"/w/node_modules/a", b"/w/node_modules/x");
    assert_eq!(names.removable_at(b"/w/node_modules/x/.env"), Some(known));
    assert!(!names.holds_marked(b"/w/node_modules/a") && names.holds_marked(b"/w/node_modules/x"));
    assert!(names.held_by(b"/w/node_modules/x", b"/w/x").next().is_some());
    names.forget(b"/w/node_modules/x/.env");
    assert!(!names.holds_marked(b"/w/node_modules/x"));
}
