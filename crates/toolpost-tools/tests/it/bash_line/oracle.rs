//! Held against bash itself: lines made at random are run with nothing in the path but programs that say that they ran.
//! Each that did must be among the accesses of the line, unless the line needs the right to any command.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use toolpost_core::{Access, Capability, Resource};
use toolpost_tools::shell::line;

const PROGRAMS: [&str; 8] = ["aa", "bb", "cc", "dd", "git", "ls", "evil", "cat"];

/// Wrappers run what they are given, as the real ones do.
const WRAPPERS: [&str; 5] = ["env", "timeout", "nice", "xargs", "nohup"];

/// A plain generator, so that a seed names a line for good.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Pieces that are strung together without any regard for grammar; most lines are nonsense, and some are traps.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "aa", "bb", "cc", "evil", "ls", "cat", "git", " ", " ", " ", " ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")",
    "{ ", "; }", "{", "}", "$(", ")", "`", "\"", "'", "\\", "\\\n", "#", " #", "$x", "${x}", "${x:-", "}", "$((",
    "))", "1", "+", "<", ">", ">>", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<-EOF\n\t", "<<<", "<(", ">(", "2>&1", "&>",
    ">&2", "if ", "; then ", "; else ", "; fi", "while ", "; do ", "; done", "for x in ", "case x in ", "x) ", ";; ",
    " esac", "x=", "x=1", "x=(", "x+=", "f() ", "function f ", " f", "!", "! ", "time ", "[[ ", " ]]", "[ ", " ]",
    "-eq ", "eval ", "exec ", "command ", "trap ", " EXIT", "env ", "timeout 1 ", "sh -c '", "bash -c \"", "nice ",
    "xargs ", "$'", "\\'", "\\\"", "\\$", "\\`", "*", "?", "{a,b}", "~", "=", "$", "$@", "$0", "EOF", "\t", "in ",
    "do ", "-c ", "--", "-", "/dev/null", "builtin ", "break", "true", "false", "echo ", "printf ", "$?", "@", "%",
    ",", ":", "é", "))", "((", ";;", ";&",
];

#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "aa", "bb x", "cc 'y z'", "dd \"$x\"", "git log", "ls *", "'evil' 1", "e\\vil", "ev\"il\"", "x=aa; $x", "x=evil",
    "echo hi", "true", "false", "cat", "[ -n x ]", "[[ -n x ]]", "read -r y", "x=$((1+2))", "printf '%s' a",
    "CI=1 aa", "PATH=$PATH bb", "env cc", "timeout 1 dd", "nice aa", "nohup bb", "xargs cc", "eval aa",
    "eval 'bb; cc'", "sh -c 'dd'", "bash -c 'aa | bb'", "command evil", "exec aa", "trap 'bb' EXIT", "f",
    "export CI=1", "cat <<EOF\na $(aa) `bb` \\$(cc)\nEOF\n", "cat <<'EOF'\n$(aa)\nEOF\n",
    "cat <<-EOF\n\t$(dd)\n\tEOF\n", "aa <<< \"$(bb)\"", "{evil,aa}", "${y:-evil}", "$(echo evil)", "`echo evil`",
    "aa {a,b}", "aa ~", "aa # evil", "aa \\\n bb", "aa $'x\\'y'", "aa \"a\\\"b\"", "aa >/dev/null", "2>&1 bb",
    "cc 2>/dev/null >&2", "aa &>/dev/null", "cd /", "set -e",
];

#[rustfmt::skip]
const JOINTS: &[&str] = &[
    "@; @", "@ && @", "@ || @", "@ | @", "@ & @", "@\n@", "(@)", "{ @; }", "{ @\n}", "aa $(@)", "bb \"$(@)\"",
    "aa \"x $(@) y\"", "cc `@`", "if @; then @; fi", "if @; then @; else @; fi", "if @; then aa; elif @; then @; fi",
    "for i in a b; do @; done", "for i in $(@); do @; done", "case a in b) @;; a) @;; esac", "f() { @; }; f",
    "f() (@)\nf", "function f { @; }; @; f", "! @", "time @", "x=$(@); @", "aa <(@)", "@ # @", "aa\\\n@",
    "aa 'it' \"@\"", "aa \"$(@)\" '@'", "@ > /dev/null", "{ @; } 2>&1", "(@) | @", "while @; do break; done",
    "until @; do break; done", "[[ -n $(@) ]] && @", "[ -n \"$(@)\" ] || @", "eval '@'", "sh -c '@'", "bash -c '@'",
    "eval \"@\"", "bash -c \"@\"", "echo \"${x:-$(@)}\"", "echo $(( $(@) + 1 ))", "cat <<EOF\n$(@)\nEOF",
    "cat <<EOF\n@\nEOF\n@", "cat <<'EOF'\n@\nEOF\n@", "aa \"$(cat <<'EOF'\n@\nEOF\n)\"", "@ |& @", "aa=@", "@ @",
    "@@", "\"@\"", "'@'", "$(@)", "`@`", "@\\\n@",
];

fn structured(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.below(4) == 0 {
        return dice.of(COMMANDS).to_owned();
    }
    let mut line = String::new();
    for (place, part) in dice.of(JOINTS).split('@').enumerate() {
        if place > 0 {
            line.push_str(&structured(dice, depth - 1));
        }
        line.push_str(part);
    }
    line
}

fn strung(dice: &mut Dice) -> String {
    let count = 1 + dice.below(12);
    (0..count).map(|_| dice.of(PIECES)).collect()
}

/// A line changed in one place, as a typing mistake would.
fn mutated(dice: &mut Dice) -> String {
    let mut letters: Vec<char> = structured(dice, 3).chars().collect();
    for _ in 0..=dice.below(2) {
        let at = dice.below(letters.len());
        match dice.below(3) {
            0 => {
                letters.remove(at);
            }
            1 => letters.splice(at..at, dice.of(PIECES).chars()).for_each(drop),
            _ => {
                letters[at] = dice
                    .of(&["'", "\"", "\\", "$", "`", "(", ")", "\n", ";", "{", "}", "#", " "])
                    .chars()
                    .next()
                    .unwrap()
            }
        }
        if letters.is_empty() {
            return "aa".to_owned();
        }
    }
    letters.into_iter().collect()
}

/// Programs that write their name, and the wrappers that run what they are given.
fn programs(folder: &Path) {
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    let put = |name: &str, text: String| {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    for name in PROGRAMS {
        put(name, format!("#!/bin/bash\necho {name} >> \"$ORACLE\"\necho {name}\n"));
    }
    for name in WRAPPERS {
        put(name, format!("#!/bin/bash\nPATH=$PATH:/usr/bin:/bin exec -- /usr/bin/{name} \"$@\"\n"));
    }
    for (name, real) in [("sh", "/bin/dash"), ("bash", "/bin/bash")] {
        std::os::unix::fs::symlink(real, bin.join(name)).unwrap();
    }
}

/// The programs that bash ran for the lines, by line.
fn ran(folder: &Path, lines: &[String]) -> Vec<BTreeSet<String>> {
    let work = folder.join("work");
    for (number, line) in lines.iter().enumerate() {
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).unwrap();
        let mut child = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "2", "/bin/bash", "-c", line])
            .env_clear()
            .env("PATH", folder.join("bin"))
            .env("HOME", &work)
            .env("ORACLE", folder.join(format!("log-{number}")))
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.wait().unwrap();
    }
    // What a line left in the background writes to the log of that line, so they are read at the end.
    std::thread::sleep(Duration::from_millis(500));
    let log = |number: usize| fs::read_to_string(folder.join(format!("log-{number}"))).unwrap_or_default();
    (0..lines.len()).map(|number| log(number).lines().map(str::to_owned).collect()).collect()
}

/// The programs that the accesses of a line name; none if it needs the right to any.
fn told(line: &str) -> Option<BTreeSet<String>> {
    let accesses = line::accesses(line);
    if accesses.contains(&Access::any(Capability::Exec)) {
        return None;
    }
    let commands = accesses.into_iter().filter_map(|access| match access.resource {
        Resource::Command(text) => Some(text.split(' ').next().unwrap_or_default().to_owned()),
        _ => None,
    });
    Some(commands.collect())
}

#[test]
fn guarantee_18_bash_runs_nothing_that_was_not_told() {
    let count = crate::count(1_200, 60_000);
    let seed = crate::count(1, 2);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ u64::try_from(seed).unwrap());
    for _ in 0..100 {
        dice.below(2);
    }
    let lines: Vec<String> = (0..)
        .map(|number| match number % 4 {
            0 => strung(&mut dice),
            1 => mutated(&mut dice),
            _ => structured(&mut dice, 3),
        })
        // Lines that need the right to any command have nothing to be compared; the seeds go on until there are enough.
        .filter(|line| told(line).is_some())
        .take(count)
        .collect();
    let folder = crate::folder();
    let halves: Vec<&[String]> = lines.chunks(lines.len().div_ceil(4)).collect();
    let results: Vec<Vec<BTreeSet<String>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = halves
            .iter()
            .enumerate()
            .map(|(number, lines)| {
                let own = folder.path().join(number.to_string());
                fs::create_dir(&own).unwrap();
                programs(&own);
                scope.spawn(move || ran(&own, lines))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let ran: Vec<BTreeSet<String>> = results.into_iter().flatten().collect();
    let missed: Vec<String> = lines
        .iter()
        .zip(&ran)
        .filter(|(line, ran)| !ran.is_subset(&told(line).unwrap()))
        .map(|(line, ran)| format!("{line:?}\n  ran {ran:?}\n  told {:?}", line::accesses(line)))
        .collect();
    let busy = ran.iter().filter(|ran| !ran.is_empty()).count();
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), lines.len(), missed.join("\n"));
    assert!(busy * 2 > lines.len(), "only {busy} of {} lines ran anything", lines.len());
    println!("{} lines in bash, {busy} of them ran programs, 0 ran one that was not told", lines.len());
}
