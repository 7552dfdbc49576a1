//! Guarantee 38: the user's rules about files bind commands, for files that do not exist yet too.

use super::{Dice, User};
use crate::count;

/// Ways that are tried in one command.
const BATCH: usize = 50;

/// Ways to bring a file into place, from `a.txt` or `made/a.txt` to `TO` with the parent `UP` and the last name `LAST`.
const WAYS: &[&str] = &[
    "cp a.txt TO",
    "cat a.txt > TO",
    "mv made/a.txt TO",
    "ln a.txt TO",
    "ln -s ../a.txt TO",
    "cd UP && cp $OLDPWD/a.txt LAST",
    "cp a.txt ./src/../TO",
    "cp a.txt /proc/self/cwd/TO",
    "exec 7<UP; cp a.txt /dev/fd/7/LAST",
    "ln -s $PWD/UP /tmp/in; cp a.txt /tmp/in/LAST",
    "mkdir -p /tmp/x; cp a.txt /tmp/x/LAST; cp -r /tmp/x/. UP/",
    "install -m 644 a.txt TO",
    "dd if=a.txt of=TO",
    "tee TO < a.txt",
    "python3 -c 'import os; os.open(\"TO\", os.O_CREAT | os.O_WRONLY)'",
    "mkfifo TO",
    "mkdir TO",
    "touch TO",
];

/// A rule, what it closes, and what it leaves open.
const RULES: &[(&str, &str, &[&str], &[&str])] = &[
    ("write", "/migrations/**", &["migrations/002.sql", "migrations/deep/1"], &["src/002.sql", "other/1"]),
    ("write", "*.lock", &["x.lock", "src/y.lock"], &["x.loc", "src/lock"]),
    ("write", "src/gen", &["src/gen", "src/gen/a"], &["src/generated", "gen"]),
    ("write", "{a,b}/*.txt", &["a/x.txt", "b/y.txt"], &["c/x.txt", "a/x.md"]),
    ("write", "secret*", &["secret", "src/secret2"], &["notsecret"]),
];

fn prepare(user: &User) {
    for name in
        ["a.txt", "migrations/001.sql", "migrations/deep/0", "src/main.rs", "a/0", "b/0", "c/0", "other/0"]
    {
        user.write(name, "text\n");
    }
    user.settle();
}

#[test]
fn guarantee_38_a_file_rule_binds_commands() {
    for user in User::all() {
        prepare(&user);
        user.deny("write", "/migrations/**");
        user.settle();
        // What exists is locked.
        let done = user.bash("echo x >> migrations/001.sql");
        assert_ne!(done.code, Some(0), "{}: {}", user.name(), done.text);
        assert_eq!(user.read("migrations/001.sql"), "text\n");
        // What does not exist yet is refused.
        let done = user.bash("cp a.txt migrations/002.sql");
        assert_ne!(done.code, Some(0), "{}: {}", user.name(), done.text);
        assert!(!user.has("migrations/002.sql"));
        assert!(done.text.contains("`migrations/002.sql` was refused"), "{}", done.text);
        assert!(done.text.contains("write: /migrations/**"), "{}", done.text);
        // A refusal is reported when the last command succeeds, too.
        let done = user.bash("cp a.txt migrations/002.sql 2> /dev/null; true");
        assert_eq!(done.code, Some(0), "{}", done.text);
        assert!(done.text.contains("`migrations/002.sql` was refused"), "{}", done.text);
        // Renames of folders into place and away.
        for line in
            ["mkdir new; cp a.txt new/002.sql; mv migrations old; mv new migrations", "mv migrations old"]
        {
            let done = user.bash(line);
            assert_ne!(done.code, Some(0), "{}: {line}: {}", user.name(), done.text);
            assert!(user.has("migrations/001.sql") && !user.has("migrations/002.sql"), "{line}");
        }
        // The rest is as before.
        let done = user.bash("cp a.txt src/new.rs && mkdir fresh && mv fresh stale && rmdir stale");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}

#[test]
fn guarantee_38_generated_ways_around_a_file_rule_are_closed() {
    let users = User::all();
    let cases = count(2_000, 100_000) / users.len();
    let mut dice = Dice(38);
    let mut done = 0;
    for user in users {
        prepare(&user);
        for _ in 0..cases.div_ceil(BATCH) {
            let (action, resource, closed, open) = *dice.pick(RULES);
            user.deny(action, resource);
            user.settle();
            // Many in one command: what is tried is the sandbox, not the start of a process.
            let mut tried = Vec::new();
            let mut lines = Vec::new();
            for index in 0..BATCH {
                let way = *dice.pick(WAYS);
                let is_closed = dice.roll(4) > 0;
                let to = *dice.pick(if is_closed { closed } else { open });
                let (up, last) = to.rsplit_once('/').unwrap_or((".", to));
                let line = way.replace("TO", to).replace("UP", up).replace("LAST", last);
                let begin = "rm -rf /tmp/in /tmp/x made; mkdir -p made; cp a.txt made";
                let check = format!("test -e {to} -o -L {to} && echo made {index}");
                lines.push(format!("({begin}; {line}) > /dev/null 2>&1; {check}; rm -rf {to} 2> /dev/null"));
                tried.push((line, is_closed));
            }
            // In a file, so that it is the sandbox that judges, not the reader of the command line.
            user.home.write("repo/try.sh", lines.join("\n"));
            user.settle();
            let ran = user.bash("bash try.sh");
            assert!(ran.code.is_some(), "{}: {}", user.name(), ran.text);
            let made: Vec<usize> =
                ran.text.lines().filter_map(|line| line.strip_prefix("made ")?.parse().ok()).collect();
            for (index, (line, is_closed)) in tried.iter().enumerate() {
                let is_made = made.contains(&index);
                assert!(
                    !(*is_closed && is_made),
                    "{}: the rule `{action}: {resource}` does not stop `{line}`",
                    user.name()
                );
            }
            let open_count = tried.iter().filter(|(_, is_closed)| !is_closed).count();
            assert!(open_count == 0 || !made.is_empty(), "{resource}: everything is refused: {}", ran.text);
            for name in closed {
                assert!(!user.has(name), "{}: `{action}: {resource}`: `{name}` exists", user.name());
            }
            done += lines.len();
        }
    }
    println!("measure: guarantee 38: {done} ways to create files that a rule denies, 0 created");
}
