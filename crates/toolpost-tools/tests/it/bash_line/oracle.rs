//! The reader held against bash itself: what starts when a line runs is among what the reader told, with the very same
//! arguments, unless the reader could not tell.

use super::lines::{self, Dice};
use super::recorder::{self, Started};
use super::told::{has, told};
use toolpost_tools::shell::line;

/// The lines of which something started that was not told.
fn disagreements(lines: &[String], started: &[Vec<Started>]) -> Vec<String> {
    let pairs = lines.iter().zip(started);
    pairs
        .filter_map(|(line, started)| {
            let told = told(line).unwrap();
            let is_program = |started: &&Started| !started.path.starts_with("/home/");
            let first = started.iter().filter(is_program).find(|started| !has(&told, started))?;
            Some(format!("{line:?}\n  started {first:?}\n  told {:?}", line::accesses(line)))
        })
        .collect()
}

#[test]
fn guarantee_40_bash_runs_what_was_told() {
    let count = crate::count(5_000, 200_000);
    let mut dice = Dice::new(crate::seed("guarantee_40"));
    let mut unclear = 0_usize;
    let mut lines = Vec::new();
    // Lines that the reader cannot tell have nothing to be compared; the seeds go on until there are enough.
    while lines.len() < count {
        let line = lines::line(&mut dice);
        match told(&line).is_some() && !line.contains('\0') {
            true => lines.push(line),
            false => unclear += 1,
        }
    }
    let mut busy = 0;
    let mut programs = 0;
    let mut wrong = Vec::new();
    for lines in lines.chunks(10_000) {
        let started = recorder::run(lines);
        busy += started.iter().filter(|started| !started.is_empty()).count();
        programs += started.iter().map(Vec::len).sum::<usize>();
        wrong.extend(disagreements(lines, &started));
    }
    let shown: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), shown.join("\n"));
    assert!(busy * 2 > lines.len(), "only {busy} of {} lines ran anything", lines.len());
    println!(
        "measure: guarantee 40: {} lines in bash, {busy} of them started {programs} programs, 0 disagreements ({unclear} \
         more lines could not be told)",
        lines.len()
    );
}

/// The recorder sees programs by any path, what wrappers run, and what goes on in the background.
#[test]
fn the_recorder_sees_every_start() {
    let lines = [
        "/bin/aa 'b c'; cd sub && ./run",
        "env nice timeout 5 aa; find . -name run -exec bb {} +",
        "(aa &) ; echo x | xargs bb",
        "cat <(aa) > >(bb)",
        "bash -c 'sh -c \"aa $0\"' ; /usr/../bin/bb",
    ];
    let lines: Vec<String> = lines.map(str::to_owned).to_vec();
    let started = recorder::run(&lines);
    let shown: Vec<Vec<String>> = started
        .iter()
        .map(|started| {
            let mut shown: Vec<String> =
                started.iter().map(|one| format!("{} {}", one.path, one.arguments[1..].join(","))).collect();
            shown.sort();
            shown
        })
        .collect();
    let has = |line: usize, wanted: &str| shown[line].iter().any(|shown| shown.starts_with(wanted));
    for (line, wanted) in [
        (0, "/bin/aa b c"),
        (0, "/work/sub/run"),
        (1, "/usr/bin/env nice,timeout,5,aa"),
        (1, "/usr/bin/aa"),
        (1, "/usr/bin/bb ./"),
        (2, "/usr/bin/aa"),
        (2, "/usr/bin/bb x"),
        (3, "/usr/bin/aa"),
        (3, "/usr/bin/bb"),
        (4, "/usr/bin/aa bash"),
        (4, "/bin/bb"),
    ] {
        assert!(has(line, wanted), "{wanted:?} of {:?}: {:?}", lines[line], shown[line]);
    }
}

#[test]
fn guarantee_40_real_command_lines_can_be_told() {
    let corpus = lines::corpus();
    let unclear: Vec<(&str, Option<&str>)> = corpus
        .iter()
        .filter(|line| told(line).is_none())
        .map(|line| (*line, line::read(line).unclear))
        .collect();
    let share = unclear.len() * 1_000 / corpus.len();
    println!(
        "measure: guarantee 40: of {} real command lines {} could not be told ({}.{} %)",
        corpus.len(),
        unclear.len(),
        share / 10,
        share % 10
    );
    let shown: Vec<String> = unclear.iter().map(|(line, why)| format!("{line:?}: {why:?}")).collect();
    assert!(corpus.len() >= 300, "{}", corpus.len());
    assert!(share < 100, "{} of {}:\n{}", unclear.len(), corpus.len(), shown.join("\n"));
}

/// Lines that were once understood otherwise than bash does.
#[test]
fn lines_that_were_misread_are_not() {
    let lines = [
        "ls a=~/x' b'",
        "ls a:~/x --b=~ c=d:~/e",
        "ls a 2>&-1 | cat",
        "ls 2>&1- b",
        "ls \"$(cat <<'EOF'\nx\nEOF\n(ls; cat) > out)\"",
        "ls \"$(cat <<'EOF'\nx\nEOF\nbash -lc 'ls; cat'; echo a)\"",
        "ls $(cat <<EOF\nx\nEOF\nls; cat)",
        "ls | time cat x",
        "sh -c 'time ls'",
        "echo a | xargs",
        "find . ''{},-exec,evil,x,\\;}",
        "echo -exec evil x ';' | xargs -I X -n 20 find . -maxdepth 0",
    ];
    let lines: Vec<String> =
        lines.into_iter().filter(|line| told(line).is_some()).map(str::to_owned).collect();
    let wrong = disagreements(&lines, &recorder::run(&lines));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.len() >= 5, "{lines:?}");
}
