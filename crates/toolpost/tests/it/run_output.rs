//! What a run prints, where, and what it says of what it cannot print or does not know.

use crate::run_faults::{END, home, piece, run};
use crate::terminal::on_a_terminal;
use crate::{Home, Ran};
use serde_json::Value;
use std::process::Command;

/// A line of a shell, with the command as `$TOOLPOST`.
fn bash(home: &Home, line: &str) -> Ran {
    let mut bash = Command::new("bash");
    let command = home.command([] as [&str; 0]);
    bash.args(["-c", line]).current_dir(home.path("repo")).env_clear();
    bash.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.env("TOOLPOST", env!("CARGO_BIN_EXE_toolpost"));
    Ran::of(bash.output().unwrap())
}

const TALKS: &str =
    "---\ndescription: d\ntools: [list]\nscript:\n  - say: one\n  - call: list\n  - say: two\n---\nx\n";

#[test]
fn what_was_said_before_a_limit_is_printed_in_a_pipe() {
    for (output, status) in [("text", 4), ("json", 4), ("stream-json", 4)] {
        let home = home(vec![piece("Half of the answer")], "");
        let file = "---\ndescription: d\ntools: []\nlimits: { time: 200ms }\n---\nAnswer.\n";
        home.write("repo/plain.md", file);
        // The model may be silent for longer than the run may take.
        let config = std::fs::read_to_string(home.path("mock.toml")).unwrap();
        home.write("mock.toml", config.replace("300ms", "60s"));
        let (found, stdout, stderr) = run(&home, output);
        assert_eq!(found, status, "{stdout}{stderr}");
        let last = stdout.lines().last().unwrap_or_default();
        let text = match output {
            "text" => last.to_owned(),
            _ => serde_json::from_str::<Value>(last).unwrap()["text"].as_str().unwrap().to_owned(),
        };
        assert_eq!(text, "Half of the answer", "{output}: {stdout}");
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let home = Home::new();
    home.write("repo/talks.md", TALKS);
    for output in ["text", "json", "stream-json"] {
        for (line, reason) in [
            (format!("\"$TOOLPOST\" run talks.md --output {output} >/dev/full"), "No space left"),
            (
                format!("set -o pipefail; (sleep 0.3; \"$TOOLPOST\" run talks.md --output {output}) | true"),
                "ipe",
            ),
        ] {
            let ran = bash(&home, &line);
            let is_told =
                ran.stderr.contains("standard output could not be written") && ran.stderr.contains(reason);
            assert!(ran.status == 1 && is_told, "{line}: {} {}", ran.status, ran.stderr);
        }
    }
    assert_eq!(bash(&home, "\"$TOOLPOST\" run talks.md | cat").stdout, "two\n");
}

#[test]
fn a_stream_that_nobody_reads_any_more_ends_the_run() {
    let home = Home::new();
    let script = "---\ndescription: d\nscript:\n  - say: one\n  - call: bash\n    args: { command: \"sleep 60; touch late\" }\n  - say: two\n---\nx\n";
    home.write("repo/slow.md", script);
    let ran = bash(&home, "\"$TOOLPOST\" run slow.md --allow exec --output stream-json >/dev/full");
    assert_eq!(ran.status, 1, "it is stopped: {}", ran.stderr);
    assert!(!home.path("repo/late").exists());
}

#[test]
fn a_run_whose_reader_has_left_ends_before_its_last_word() {
    let home = Home::new();
    let script = "---\ndescription: d\nscript:\n  - call: bash\n    args: { command: \"sleep 60; touch late\" }\n  - say: two\n---\nx\n";
    home.write("repo/slow.md", script);
    let ran = bash(&home, "set -o pipefail; \"$TOOLPOST\" run slow.md --allow exec | true");
    assert_eq!(ran.status, 1, "it is stopped: {}", ran.stderr);
    assert!(!home.path("repo/late").exists());
}

#[test]
fn what_a_server_does_not_count_is_said_to_be_estimated() {
    let answer = format!("{}{END}", piece("An answer of some words."));
    let price = "[[vendor.models]]\nname = \"m\"\nprice = { input = 100.0, output = 100.0, as-of = \"2026-11-18\" }\n";
    let result = |price: &str| {
        let home = home(vec![answer.clone()], price);
        let (status, stdout, stderr) = run(&home, "json");
        assert_eq!(status, 0, "{stdout}{stderr}");
        serde_json::from_str::<Value>(&stdout).unwrap()
    };
    let priced = result(price);
    assert!(
        priced["usage"]["input"].as_u64() > Some(20) && priced["usage"]["output"].as_u64() > Some(2),
        "{priced}"
    );
    assert!(priced["costUsd"].as_f64() > Some(0.001), "{priced}");
    assert_eq!((&priced["usage"]["estimated"], &priced["costIsEstimated"]), (&true.into(), &true.into()));
    let unpriced = result("");
    assert_eq!(
        (&unpriced["costUsd"], &unpriced["treeCostUsd"], &unpriced["costIsEstimated"]),
        (&Value::Null, &Value::Null, &false.into()),
        "{unpriced}"
    );
    let home = home(vec![answer.clone()], price);
    let config = home.path("mock.toml").display().to_string();
    let (_, seen) =
        on_a_terminal(home.command(["run", "plain.md", "go", "--model", "mock", "--config", &config]));
    assert!(seen.contains("· about ") && seen.contains("· about $0."), "{seen}");
}

#[test]
fn every_line_of_json_has_a_type_also_where_nothing_runs() {
    let home = Home::new();
    home.write("repo/real.md", "---\ndescription: d\n---\nBe brief.");
    home.write("repo/broken.md", "---\nlimits: { turns: x }\n---\nBe brief.");
    for (args, status) in [
        (&["run", "nothing.md"][..], 2),
        (&["run", "broken.md"], 2),
        (&["run", "real.md"], 1),
        (&["run", "real.md", "--model", "nobody/x"], 2),
        (&["run", "real.md", "--frobnicate"], 2),
    ] {
        let ran = home.run(&[args, &["--output", "stream-json"]].concat());
        let line: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", ran.stdout));
        assert_eq!(
            (ran.status, &line["type"], &line["success"]),
            (status, &"result".into(), &false.into()),
            "{line}"
        );
        assert!(line["error"]["code"].is_string() && line["error"]["message"].is_string(), "{line}");
    }
}

#[test]
fn without_colour_the_live_region_stays() {
    let home = Home::new();
    let script = "---\ndescription: d\nscript:\n  - call: bash\n    args: { command: \"sleep 1\" }\n  - say: done\n---\nx\n";
    home.write("repo/slow.md", script);
    let seen = |name: &str, value: &str| {
        let mut command = home.command(["run", "slow.md", "--allow", "exec"]);
        command.env(name, value);
        on_a_terminal(command).1
    };
    let plain = seen("NO_COLOR", "1");
    assert!(plain.contains("Ctrl-C stops it"), "{plain:?}");
    let colours: Vec<&str> = plain
        .split("\x1b[")
        .skip(1)
        .filter(|rest| {
            let end = rest.find(|letter: char| letter.is_ascii_alphabetic());
            end.is_some_and(|end| rest[end..].starts_with('m'))
        })
        .collect();
    assert!(colours.is_empty(), "{colours:?}");
    // A terminal that obeys nothing is told nothing.
    let dumb = seen("TERM", "dumb");
    assert!(!dumb.contains('\x1b') && !dumb.contains("Ctrl-C stops it"), "{dumb:?}");
    assert!(seen("TERM", "xterm").contains("\x1b[2m"));
}
