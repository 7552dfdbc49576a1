//! Guarantee 45: configuration that could narrow is never ignored. Spellings are made here from sound files, without knowledge of
//! how they are read; a file that is taken must decide every probe at least as strictly as the sound one.

use crate::Home;
use crate::mcp::Connection;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use toolpost::cli::Flags;
use toolpost::config::Config;
use toolpost::config::env::Environment;
use toolpost::{Frontend, Runtime};
use toolpost_core::policy::{Effect, Request};
use toolpost_core::{Access, Capability, Policy};

const USER: &str = ".config/toolpost/config.toml";
const PROJECT: &str = "repo/.toolpost/config.toml";
const NAMED: &str = "repo/named.toml";

/// Sound files that narrow. The words in `‹…›` are misspelt, one at a time.
const FILES: [&str; 10] = [
    "‹policy› = \"‹read-only›\"\n",
    "‹deny› = [\"‹write›\"]\n",
    "‹ask› = [\"‹write›\"]\n",
    "‹deny› = [\"‹read›\", \"‹trace›\"]\nlisted = \"all\"\n",
    "[[‹rule›]]\n‹effect› = \"‹deny›\"\n‹action› = \"‹write›\"\n‹resource› = \"/src/**\"\n",
    "[[‹rule›]]\n‹effect› = \"‹ask›\"\n‹action› = \"‹edit›\"\n",
    "[[‹rule›]]\n‹effect› = \"‹deny›\"\n‹action› = \"‹delete›\"\nresource = \"*\"\nmatch = [\"a\"]\n",
    "allow = [\"exec\"]\n[[‹rule›]]\n‹effect› = \"‹deny›\"\n‹action› = \"‹bash›\"\n‹resource› = \"rm *\"\n",
    "policy = \"privileged\"\n‹deny› = [\"‹network›\", \"‹exec›\"]\n",
    "policy = \"privileged\"\n[[‹rule›]]\n‹effect› = \"‹deny›\"\n‹action› = \"‹webfetch›\"\nresource = \"*.example.com\"\n",
];

/// Variables that narrow.
const VARIABLES: [(&str, &str); 3] =
    [("‹TOOLPOST_POLICY›", "‹read-only›"), ("‹TOOLPOST_DENY›", "‹write›"), ("‹TOOLPOST_ASK›", "‹write›")];

/// A text with its marks taken out, and the place and length of each marked word.
fn marked(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut plain, mut words, mut start) = (String::new(), Vec::new(), 0);
    for letter in text.chars() {
        match letter {
            '‹' => start = plain.len(),
            '›' => words.push((start, plain.len() - start)),
            letter => plain.push(letter),
        }
    }
    (plain, words)
}

/// Misspellings of a word, all of them other than the word.
fn misspellings(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut all = BTreeSet::new();
    for place in 0..letters.len() {
        let with = |change: &dyn Fn(&mut Vec<char>)| {
            let mut changed = letters.clone();
            change(&mut changed);
            changed.into_iter().collect::<String>()
        };
        all.insert(with(&|letters| _ = letters.remove(place)));
        all.insert(with(&|letters| letters.insert(place, letters[place])));
        all.insert(with(&|letters| letters[place] = 'x'));
        if place + 1 < letters.len() {
            all.insert(with(&|letters| letters.swap(place, place + 1)));
        }
    }
    let mut capital = letters.clone();
    capital[0] = capital[0].to_ascii_uppercase();
    all.extend([
        word.to_uppercase(),
        capital.into_iter().collect(),
        format!("{word}s"),
        format!("{word}_"),
        format!("my-{word}"),
        word.replace('-', "_"),
        word.replace('-', ""),
        word.replace('_', "-"),
    ]);
    all.remove(word);
    all.remove("");
    all
}

/// The same file in a shape that is not meant: other types, other nesting.
fn shapes(plain: &str) -> Vec<String> {
    let mut all = vec![
        plain.replace("[[rule]]", "[rule]"),
        plain.replace("[[rule]]", "[[rules]]"),
        plain.replace("[[rule]]", "[[policy.rule]]"),
        plain.replace("[[rule]]", "[[toolpost.rule]]"),
        plain.replace("[\"", "\"").replace("\"]", "\""),
        format!("[toolpost]\n{plain}"),
        format!("[settings]\n{plain}"),
        format!("[[rule]]\n{plain}"),
        format!("[mcpServers.a]\ncommand = \"a\"\n{plain}"),
    ];
    for (key, value) in
        [("effect", "\"\""), ("action", "\"\""), ("resource", "\"\""), ("action", "[\"write\"]")]
    {
        let lines = plain.lines().map(|line| match line.starts_with(&format!("{key} =")) {
            true => format!("{key} = {value}\n"),
            false => format!("{line}\n"),
        });
        all.push(lines.collect());
    }
    for value in ["true", "\"\"", "[\"\"]", "{}", "1", "[[]]"] {
        let lines = plain.lines().map(|line| match line.split_once(" = ") {
            Some((key @ ("policy" | "deny" | "ask"), _)) => format!("{key} = {value}\n"),
            _ => format!("{line}\n"),
        });
        all.push(lines.collect());
    }
    all.retain(|one| one != plain);
    all
}

/// What is allowed, asked and denied of some probes.
fn decided(policy: &Policy) -> Vec<Effect> {
    let policy = policy.with_names(toolpost_tools::names());
    let path = |tool, action, path| (tool, Access::path(action, path));
    let probes = [
        path("read", Capability::Read, "README.md"),
        path("write", Capability::Write, "src/a.txt"),
        path("edit", Capability::Write, "src/a.txt"),
        path("edit", Capability::Write, "b.txt"),
        path("delete", Capability::Write, "c.txt"),
        ("bash", Access::command("rm -r src")),
        ("bash", Access::command("ls")),
        ("webfetch", Access::host("www.example.com")),
        ("webfetch", Access::host("other.org")),
        ("stats", Access::any(Capability::Trace)),
    ];
    probes
        .iter()
        .map(|(tool, access)| {
            policy.decide(&Request { tool, accesses: std::slice::from_ref(access) }).effect()
        })
        .collect()
}

/// What the library decides with these variables, or why it does not start.
fn start(home: &Home, variables: &[(&str, &str)], flags: &Flags) -> Result<Vec<Effect>, String> {
    let all: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let known = ["TOOLPOST_POLICY", "TOOLPOST_DENY", "TOOLPOST_ASK"];
    let environment = Environment {
        cwd: Some(home.path("repo")),
        home: Some(home.path("")),
        config_directory: Some(home.path(".config/toolpost")),
        data_directory: Some(home.path("data/toolpost")),
        settings: known.iter().filter_map(|name| Some((*name, all.get(*name)?.clone()))).collect(),
        variables: all,
        ..Environment::default()
    };
    let config = Config::resolve(flags, environment).map_err(|error| error.message().to_owned())?;
    let policy = config.policy.clone();
    Runtime::open(config, Frontend::default()).map_err(|error| error.message().to_owned())?;
    Ok(decided(&policy))
}

#[test]
fn guarantee_45_no_misspelt_configuration_starts_with_wider_rights() {
    let home = Home::new();
    let (mut cases, mut started, mut wider) = (0, 0, Vec::new());
    let mut judge = |what: &str, sound: &[Effect], found: Result<Vec<Effect>, String>, place: &str| {
        cases += 1;
        match found {
            Ok(found) => {
                started += 1;
                if found.iter().zip(sound).any(|(found, sound)| found < sound) {
                    wider.push(format!("{what}: {found:?}, and not {sound:?}"));
                }
            }
            Err(message) => assert!(message.contains(place), "{what}: {message}"),
        }
    };
    // A part of the misspellings in the tests, another in each layer; all in the soak.
    let step = crate::count(5, 1);
    for text in FILES {
        let (plain, words) = marked(text);
        let mut texts: Vec<String> = shapes(&plain);
        for (at, length) in words {
            let all = misspellings(&plain[at..at + length]);
            texts.extend(
                all.into_iter().map(|word| format!("{}{word}{}", &plain[..at], &plain[at + length..])),
            );
        }
        for (layer, file) in [USER, PROJECT, NAMED].into_iter().enumerate() {
            let named = home.path(NAMED);
            let flags = Flags { config: (file == NAMED).then_some(named), ..Flags::default() };
            home.write(file, &plain);
            let sound = start(&home, &[], &flags).unwrap();
            for changed in texts.iter().skip(layer).step_by(step * 3) {
                home.write(file, changed);
                let name = file.rsplit('/').next().unwrap();
                judge(&format!("{file}\n{changed}"), &sound, start(&home, &[], &flags), &format!("{name}:"));
            }
            std::fs::remove_file(home.path(file)).unwrap();
        }
    }
    for (name, value) in VARIABLES {
        let ((name, _), (value, _)) = (marked(name), marked(value));
        let flags = Flags::default();
        let sound = start(&home, &[(&name, &value)], &flags).unwrap();
        for changed in misspellings(&name).iter().step_by(step) {
            judge(changed, &sound, start(&home, &[(changed, &value)], &flags), changed);
        }
        for changed in misspellings(&value).iter().step_by(step) {
            judge(&format!("{name}={changed}"), &sound, start(&home, &[(&name, changed)], &flags), &name);
        }
    }
    println!(
        "measure: guarantee 45: {cases} misspelt configurations, {started} taken, {} with wider rights",
        wider.len()
    );
    assert!(cases > crate::count(150, 900), "{cases}");
    assert!(wider.is_empty(), "{} of {cases}:\n{}", wider.len(), wider.join("\n"));
}

#[test]
fn errors_name_the_line_the_right_word_and_the_way_on() {
    let home = Home::new();
    let check = |file: &str, text: &str, expected: &str| {
        home.write(file, text);
        let ran = home.run(&["call", "write", "filePath=a.txt", "content=x"]);
        assert_eq!(ran.status, 2, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
        assert!(!home.path("repo/a.txt").exists(), "{text}");
        std::fs::remove_file(home.path(file)).unwrap();
    };
    check(
        USER,
        "polcy = 'read-only'\n",
        "config.toml:1:1: `polcy` means nothing in the configuration; did you mean `policy`",
    );
    check(
        PROJECT,
        "[[rules]]\n",
        ".toolpost/config.toml:1:3: `rules` means nothing in the configuration; did you mean `rule`",
    );
    let rule = |action: &str| format!("[[rule]]\neffect = 'deny'\naction = '{action}'\n");
    check(
        PROJECT,
        &rule("wirte"),
        ".toolpost/config.toml:1: `wirte` is neither a tool nor a capability, so the rule `wirte: *` does nothing; did you mean `write`",
    );
    check(USER, &rule("wirte*"), "did you mean `write`");
    check(USER, &rule("frobnicate"), "for one that comes later, write `frobnicate*`");
    check(
        USER,
        &(rule("write") + "policy = 'read-only'\n"),
        "4:1: `policy` means nothing in a rule; it is a key of the whole file; write it above the first `[`",
    );
    check(
        USER,
        "effect = 'deny'\n",
        "`effect` means nothing in the configuration; write it below a line `[[rule]]`",
    );
    check(
        USER,
        "mcpServers.a = { command = 'a', excludeTool = ['b'] }\n",
        "`excludeTool` means nothing of a server; did you mean `excludeTools`",
    );
    check(USER, "[[rule]]\neffect = 'deny'\naction = 'write'\nresource = '../x'\n", "has a `.` or `..` part");
    check(
        USER,
        "allow = ['write']\ndeny = ['write']\n",
        "2:1: `write` stands in `allow` (line 1) and in `deny`; keep one of them",
    );
    check(
        USER,
        "requires = '99.1'\npolcy = 'read-only'\n",
        "1:12: this file requires toolpost 99.1 or newer, and this is ",
    );
    check(USER, "requires = 'new'\n", "`new` is not a version");
    // The file of a repository stops calls until it is left out by name.
    home.write(PROJECT, "polcy = 'read-only'\n");
    let ran = home.run(&["call", "list"]);
    assert!(
        ran.stderr.contains("to go on without .toolpost/config.toml, add --no-project-config"),
        "{}",
        ran.stderr
    );
    let ran = home.run(&["call", "list", "--no-project-config"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let doctor = home.run(&["doctor", "--no-project-config"]).stdout;
    assert!(doctor.contains("left out by --no-project-config"), "{doctor}");
}

#[test]
fn what_is_denied_by_name_stays_denied() {
    let home = Home::new();
    let write = ["call", "write", "filePath=a.txt", "content=x"];
    home.write(USER, "deny = ['write']\n");
    for more in [
        &[][..],
        &["--allow", "write"],
        &["--policy", "privileged"],
        &["--allow-rule", "write: *"],
        &["--yes"],
    ] {
        let ran = home.run(&[&write, more].concat());
        assert_eq!(ran.status, 3, "{more:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("config.toml:1") && !ran.stderr.contains("--allow write"),
            "{}",
            ran.stderr
        );
    }
    assert!(!home.path("repo/a.txt").exists());
    // A repository may withhold at once, without trust; so may a flag and a variable.
    std::fs::remove_file(home.path(USER)).unwrap();
    home.write(PROJECT, "deny = ['write']\n");
    assert_eq!(home.run(&write).status, 3);
    std::fs::remove_file(home.path(PROJECT)).unwrap();
    assert_eq!(home.run(&[&write[..], &["--deny", "write"]].concat()).status, 3);
    let mut command = home.command(write);
    command.env("TOOLPOST_DENY", "write");
    assert_eq!(crate::Ran::of(command.output().unwrap()).status, 3);
    assert_eq!(home.run(&write).status, 0);
}

#[test]
fn a_server_that_cannot_start_tells_its_client_why() {
    let home = Home::new();
    home.write(PROJECT, "polcy = 'read-only'\n");
    let mut client = Connection::open(&home, &[]);
    for (id, method) in [(1, "initialize"), (2, "tools/list"), (3, "tools/call")] {
        let params = json!({"name": "write", "arguments": {"filePath": "a.txt", "content": "x"}});
        let answer = client.ask(id, method, params);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains(
                ".toolpost/config.toml:1:1: `polcy` means nothing in the configuration; did you mean `policy`"
            ) && message.contains("--no-project-config"),
            "{method}: {answer}"
        );
    }
    let (_, status, stderr) = client.close();
    assert_eq!(status, 2);
    assert!(stderr.contains("`polcy`"), "{stderr}");
    assert!(!home.path("repo/a.txt").exists());
}
