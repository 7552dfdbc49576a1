//! `toolpost chat`: through a real pseudo-terminal against a model that streams as slowly as the test wants, and in a pipe.

mod screen;
pub(crate) mod seat;

use crate::puppet::{Puppet, vendor};
use crate::{Home, Ran};
use seat::{Seat, with_puppet};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

const ECHO: &str = "---\nname: echo\ndescription: d\ntools: [list]\nscript:\n  - call: list\n  - say: \"you said {{task}}\"\n---\nx\n";

/// Runs the command with this on standard input.
pub(crate) fn piped(home: &Home, args: &[&str], input: &str) -> Ran {
    let mut command = home.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

/// The session of the last conversation.
fn session(home: &Home) -> String {
    let (_, sessions) = home.json(&["sessions"]);
    sessions["sessions"][0]["session"].as_str().unwrap().to_owned()
}

fn pair(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

#[test]
fn in_a_pipe_each_line_is_a_message() {
    let home = Home::new();
    home.write("repo/echo.md", ECHO);
    let ran = piped(&home, &["chat", "echo.md"], "one\n\ntwo\nthree\nfour\nfive\n");
    let said = "you said one\nyou said two\nyou said three\nyou said four\nyou said five\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (0, said), "{}", ran.stderr);
    let session = session(&home);
    let ran = piped(&home, &["chat", "--resume", &session], "six\n/quit\nseven\n");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "you said six\n"), "{}", ran.stderr);
    // It is a run like others: replayed, forked and exported.
    let told = home.run(&["sessions", "replay", &session]);
    assert_eq!(told.status, 0, "{}", told.stderr);
    for word in ["one", "two", "six"] {
        assert!(told.stdout.contains(&format!("## told\n\n{word}\n")), "{}", told.stdout);
        assert!(told.stdout.contains(&format!("## said\n\nyou said {word}\n")), "{}", told.stdout);
    }
    assert_eq!(home.run(&["sessions", "export", &session]).status, 0);
    let forked = home.run(&["sessions", "fork", &session, "--task", "seven"]);
    assert_eq!((forked.status, forked.stdout.as_str()), (0, "you said seven\n"), "{}", forked.stderr);
}

#[test]
fn in_a_pipe_programs_get_json() {
    let home = Home::new();
    home.write("repo/echo.md", ECHO);
    let ran = piped(&home, &["chat", "echo.md", "--output", "json"], "one\ntwo\n");
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    assert_eq!((&lines[1]["text"], &lines[1]["calls"]), (&"you said two".into(), &1.into()));
    assert_eq!(lines[0]["session"], lines[1]["session"]);
    let ran = piped(&home, &["chat", "echo.md", "--output", "stream-json"], "one\n/frobnicate\ntwo\n");
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "init").count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "result").count(), 3, "{kinds:?}");
    assert_eq!(lines.last().unwrap()["text"], "you said two");
}

#[test]
fn what_is_typed_while_it_streams_is_seen_and_sent_next() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 60);
    seat.types("hello there\r");
    assert_eq!(puppet.hears(), [pair("user", "hello there")]);
    puppet.says("A first line.\nHalf of ");
    seat.reads("Half of");
    seat.types("and what");
    seat.sees("what is typed, below the text", |text| text.ends_with("Half of\n\n› and what"));
    assert!(!seat.is_cursor_shown(), "the cursor is where the text comes in");
    // Neither gets in the way of the other, whatever comes and in whatever pieces.
    puppet.says("a second one, which is longer than the screen is wide, so that it takes two rows.");
    seat.types(" about 漢字");
    let whole = "A first line.\nHalf of a second one, which is longer than the screen is\nwide, so that it takes two rows.\n\n› and what about 漢字";
    seat.sees("both, whole", |text| text.ends_with(whole));
    seat.types("?\r");
    seat.reads("next: and what about 漢字?");
    seat.types("a draft");
    puppet.ends();
    let said = "A first line.\nHalf of a second one, which is longer than the screen is wide, so that it takes two rows.";
    let second = puppet.hears();
    let first = [pair("user", "hello there"), pair("assistant", said), pair("user", "and what about 漢字?")];
    assert_eq!(second, first, "what was entered meanwhile is sent when the answer is whole");
    puppet.says("Nothing.");
    puppet.ends();
    seat.sees("the draft, still there", |text| text.contains("Nothing.") && text.ends_with("› a draft"));
    seat.sees("the cursor behind it", |_| seat.cursor() == ("› a draft".to_owned(), 9));
    seat.types("\x15");
    seat.types("\x04");
    assert_eq!(seat.ends(), 0);
    let session = session(&home);
    let words = format!("session {session} · `toolpost chat --resume {session}` goes on with it");
    seat.sees(&words, |text| text.replace("\n  ", " ").contains(&words));
    let text = seat.text();
    for words in ["› hello there", "› and what about 漢字?", "Half of a second one"] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
}

#[test]
fn a_text_that_ends_at_the_edge_stays_whole() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 20);
    seat.types("go\r");
    puppet.hears();
    for piece in ["0123456789", "abcdefghij", "klmnopqrstuvwxyzABCD", "EF"] {
        puppet.says(piece);
        let end = piece.to_owned();
        seat.sees(piece, |text| text.replace('\n', "").contains(&end));
    }
    puppet.ends();
    seat.reads("0123456789abcdefghij\nklmnopqrstuvwxyzABCD\nEF");
}

#[test]
fn ctrl_c_stops_the_answer_and_the_conversation_goes_on() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 80);
    seat.types("tell me all\r");
    puppet.hears();
    puppet.says("It began long ago");
    seat.reads("It began long ago");
    seat.types("shorter\r");
    seat.reads("next: shorter");
    seat.types("\x03");
    seat.reads("stopped · ");
    puppet.gives_up();
    // What waited was not sent: it may not fit any more.
    seat.sees("the text, to be changed", |text| text.ends_with("› shorter"));
    seat.types(" please\r");
    let broken = "It began long ago\n[the user stopped this answer]";
    assert_eq!(
        puppet.hears(),
        [pair("user", "tell me all"), pair("assistant", broken), pair("user", "shorter please")]
    );
    puppet.says("Yes.");
    puppet.ends();
    seat.sees("the end of the answer", |text| {
        text.split_once("Yes.").is_some_and(|(_, rest)| rest.contains(" s\n"))
    });
    seat.types("draft\x03");
    seat.sees("an empty line", |text| text.ends_with('›'));
    seat.types("\x03");
    seat.reads("press Ctrl-C once more to end");
    seat.types("\x03");
    assert_eq!(seat.ends(), 0);
    seat.reads("toolpost chat --resume plain-");
}

#[test]
fn ctrl_c_ends_a_call_and_the_agent_is_told() {
    let home = Home::new();
    let script = "---\nname: slow\ndescription: d\ntools: [bash]\nscript:\n  - call: bash\n    args: { command: \"echo up > up.txt; sleep 60; echo late > late.txt\" }\n  - say: done\n---\nx\n";
    home.write("repo/slow.md", script);
    let mut seat = Seat::new(home.command(["chat", "slow.md", "--allow", "exec"]), 80, 24);
    seat.reads("›");
    seat.types("go\r");
    seat.reads("bash echo up");
    while !home.path("repo/up.txt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    seat.types("\x03");
    seat.reads("stopped · ");
    seat.types("/cost\r");
    seat.reads("nothing spent yet");
    seat.types("/quit\r");
    assert_eq!(seat.ends(), 0);
    assert!(!home.path("repo/late.txt").exists());
    let told = home.run(&["sessions", "replay", &session(&home)]).stdout;
    assert!(told.contains("## failed bash") && told.contains("the command was ended"), "{told}");
}

#[test]
fn a_conversation_ends_with_its_terminal() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let script = "---\nname: slow\ndescription: d\ntools: [bash]\nscript: [ { call: bash, args: { command: \"sleep 600\" } } ]\n---\nx\n";
    home.write("repo/slow.md", script);
    // While a command runs, while a question waits, and while the model is silent.
    for args in [&["chat", "slow.md", "--allow", "exec"][..], &["chat", "slow.md"]] {
        let mut seat = Seat::new(home.command(args), 80, 24);
        seat.reads("›");
        seat.types("go\r");
        seat.reads("bash sleep 600 ·");
        seat.is_torn_down();
        assert_eq!(seat.ends(), 0, "{args:?}");
    }
    let mut seat = with_puppet(&home, &["plain.md"], 80);
    seat.types("hello\r");
    puppet.hears();
    seat.is_torn_down();
    assert_eq!(seat.ends(), 0);
}

#[test]
fn words_for_the_chat_itself_can_be_stopped() {
    let home = Home::new();
    let key = "key = { command = [\"sleep\", \"600\"] }\nmodel = \"m\"\n[[vendor.models]]\nname = \"m\"\n";
    let row = format!(
        "[[vendor]]\nname = \"locked\"\nformat = \"openai-chat\"\nbase-url = \"http://127.0.0.1:9/v1\"\n{key}"
    );
    home.write(".config/toolpost/config.toml", row);
    home.write("repo/says.md", "---\nname: says\ndescription: d\nscript: [ { say: hello } ]\n---\nx\n");
    let mut seat = Seat::new(home.command(["chat", "says.md"]), 80, 24);
    seat.reads("›");
    seat.types("/model locked\r");
    seat.types("next");
    seat.reads("› next");
    seat.types("\x03");
    seat.reads("stopped");
    seat.types(" one\r");
    seat.reads("hello");
    assert!(seat.text().contains("› next one"), "{}", seat.text());
    seat.types("/model locked\r");
    seat.sees("the second", |text| text.matches("› /model locked").count() == 2 && text.ends_with('›'));
    seat.types("\x04");
    seat.reads("the conversation ends after this");
    seat.types("\x03");
    assert_eq!(seat.ends(), 0);
}

#[test]
fn another_size_of_the_terminal_draws_right() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 80);
    seat.types("hello\r");
    puppet.hears();
    puppet.says("An answer that takes one row of a wide terminal and");
    seat.reads("and");
    seat.types("a draft that is some forty columns wide now");
    seat.reads("wide now");
    for (columns, height) in [(30, 20), (100, 10), (44, 24)] {
        seat.resizes(columns, height);
        seat.sees("the draft, once", |text| {
            let joined = text.replace("\n  ", "").replace('\n', "");
            joined.matches("a draft that is some forty columns wide now").count() == 1
                && joined.matches("An answer that takes one row of a wide terminal and").count() == 1
                && text.matches('›').count() == 2
        });
    }
    puppet.says(" more.");
    puppet.ends();
    seat.sees("the answer, whole", |text| {
        text.replace('\n', "").contains("An answer that takes one row of a wide terminal and more.")
    });
    // The same where nothing runs, and the cursor is in the text.
    seat.types("\x01");
    for columns in [28, 90, 35] {
        seat.resizes(columns, 24);
        seat.sees("the draft, once, below the answer", |text| {
            let joined = text.replace("\n  ", "").replace('\n', "");
            joined.matches("a draft that is some forty columns wide now").count() == 1
                && joined.contains("more.")
                && text.matches('›').count() == 2
        });
        seat.sees("the cursor at its beginning", |_| seat.cursor().1 == 2);
    }
    seat.types("\x05!\r");
    assert_eq!(puppet.hears().last().unwrap().1, "a draft that is some forty columns wide now!");
    puppet.ends();
}

#[test]
fn two_hundred_pasted_lines_are_one_message() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 80);
    let lines: Vec<String> = (1..=200).map(|number| format!("line {number} of two hundred")).collect();
    seat.types(&format!("look: \x1b[200~{}\x1b[201~", lines.join("\r")));
    seat.reads("… 200 rows, 193 to 200");
    seat.types("\r");
    assert_eq!(puppet.hears(), [pair("user", &format!("look: {}", lines.join("\n")))]);
    puppet.says("Seen.");
    puppet.ends();
    seat.reads("Seen.");
    seat.reads("… 188 more lines");
    // Without the marks of a paste, lines are entered one by one; with alt-enter or a backslash they are one message.
    seat.types("one\x1b\rtwo\\\rthree\r");
    assert_eq!(puppet.hears().last().unwrap().1, "one\ntwo\nthree");
    puppet.ends();
}

#[test]
fn attachments_come_through_the_workspace() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    home.write("repo/large.txt", vec![b'a'; 10 << 20]);
    home.write("repo/long.txt", "a line\n".repeat(60_000));
    home.write("repo/notes.txt", "remember the milk\n");
    home.write("repo/.env", "SECRET=1\n");
    home.write("outside.txt", "outside\n");
    home.write("repo/pixel.png", PIXEL);
    let mut seat = with_puppet(&home, &["plain.md"], 100);
    for (typed, reason) in [
        ("what is @large.txt", "`large.txt` is not attached: it has 10.0 MB, and an image may have 8.0 MB"),
        ("/attach large.txt", "an image may have 8.0 MB, a text 256 KB"),
        ("/attach long.txt", "`long.txt` is not attached: it has 410 KB, and a text may have 256 KB"),
        ("/attach .env", "`.env` is not attached"),
        ("/attach ../outside.txt", "error[PATH_ESCAPE]"),
        ("/attach nothing.txt", "error[FILE_NOT_FOUND]"),
    ] {
        let reason: String = reason.split_whitespace().collect();
        let count = |text: &str| text.split_whitespace().collect::<String>().matches(&reason).count();
        let before = count(&seat.text());
        seat.types(&format!("\x15{typed}\r"));
        seat.sees(typed, |text| count(text) > before);
    }
    seat.types("\x15/attach pixel.png\r");
    seat.reads("goes with the next message: pixel.png (image/png)");
    seat.types("see @notes.txt, @nobody\r");
    let heard = puppet.hears();
    assert_eq!(heard.len(), 1, "nothing was sent before: {heard:?}");
    let expected =
        "see @notes.txt, @nobody\n\n<file path=\"notes.txt\">\nremember the milk\n</file>\n<image_url>";
    assert_eq!(heard[0].1, expected);
    puppet.says("Milk.");
    puppet.ends();
    seat.reads("Milk.");
    seat.types("again\r");
    assert_eq!(puppet.hears()[0].1, expected, "the image stays in the conversation");
    puppet.ends();
}

#[test]
fn words_with_an_at_that_name_no_file_are_words() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    home.write("repo/notes.txt", "milk\n");
    home.write("repo/src/lib.rs", "");
    let mut seat = with_puppet(&home, &["plain.md"], 100);
    let long = "x".repeat(300);
    // As it stands in code that somebody pastes.
    let pasted =
        format!("why?\n@@ -1,3 +1,4 @@\n@src\n@app.route(\"/\")\n@notes.txt/x\n@{long}\n@nothing.rs");
    seat.types(&format!("\x1b[200~{pasted}\x1b[201~\r"));
    assert_eq!(puppet.hears(), [pair("user", &pasted)]);
    puppet.says("Because.");
    puppet.ends();
    seat.reads("`@src` goes as a word: `src` is a folder");
    seat.reads("and 1 more word");
    // A file that is none of the agent's business is not left out in silence.
    seat.types("see @../x\r");
    seat.reads("error[PATH_ESCAPE]");
}

#[test]
fn what_is_said_is_not_broken_inside_of_words() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 30);
    seat.types("hello\r");
    puppet.hears();
    puppet.says("An answer of **several words, each of these words remarkab");
    seat.sees("its beginning", |text| text.contains("\neach of these words remarkab\n"));
    puppet.says("ly** whole\n\n```\ncode that is longer than the screen\n```\n");
    puppet.ends();
    seat.sees("the whole", |text| {
        text.contains("\nAn answer of several words,\neach of these words\nremarkably whole\n")
            && text.contains("code that is longer than the s\ncreen\n")
    });
}

/// An image of one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00,
    0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0x00, 0x05,
    0x00, 0x01, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42,
    0x60, 0x82,
];

#[test]
fn words_for_the_chat_itself() {
    let home = Home::new();
    let script = "---\nname: writes\ndescription: d\ntools: [write, read]\nscript:\n  - call: write\n    args: { filePath: new.txt, content: \"{{task}}\" }\n  - say: stored\n---\nx\n";
    home.write("repo/writes.md", script);
    let mut seat = Seat::new(home.command(["chat", "writes.md"]), 100, 40);
    seat.reads("›");
    for (typed, expected) in [
        ("/help", "/attach PATH   a file that goes with the next message"),
        (
            "/frobnicate",
            "there is no `/frobnicate`; There are /help /tools /policy /undo /model /cost /attach /quit",
        ),
        ("/tools", "write            Creates a file"),
        ("/policy", "policy explain TOOL ARGS"),
        ("/model", "script/writes"),
        ("/cost", "nothing spent yet"),
        ("/undo", "nothing in this conversation is left to be taken back"),
        ("/model nobody/x", "no vendor `nobody`"),
    ] {
        let count = |text: &str| text.replace("\n  ", " ").matches(expected).count();
        let before = count(&seat.text());
        seat.types(&format!("{typed}\r"));
        seat.sees(typed, |text| count(text) > before);
    }
    seat.types("first\r");
    seat.reads("stored");
    assert_eq!(std::fs::read_to_string(home.path("repo/new.txt")).unwrap(), "first");
    seat.types("/undo\r");
    seat.reads("taken back: removed new.txt");
    assert!(!home.path("repo/new.txt").exists());
    seat.types("second\r");
    seat.sees("the second", |text| text.matches("stored").count() == 2);
    let told = "[the user has taken back a change of yours: removed new.txt]\nsecond";
    assert_eq!(std::fs::read_to_string(home.path("repo/new.txt")).unwrap(), told, "the agent hears of it");
    seat.types("\x1b[A\x1b[A\r");
    seat.sees("what was typed before", |text| text.matches("taken back: removed").count() == 2);
    seat.types("/quit\r");
    assert_eq!(seat.ends(), 0);
}

#[test]
fn questions_are_answered_where_one_writes() {
    let home = Home::new();
    let script = "---\nname: runs\ndescription: d\ntools: [bash]\nscript:\n  - call: bash\n    args: { command: \"echo x > {{task}}\" }\n    optional: true\n  - say: ran\n---\nx\n";
    home.write("repo/runs.md", script);
    let mut seat = Seat::new(home.command(["chat", "runs.md"]), 100, 40);
    seat.reads("›");
    seat.types("one.txt\r");
    seat.reads("your answer:");
    // A sentence is no answer, whatever letter it begins with.
    for (number, typed) in ["what", "u should look first", "yes please do", "y then stop"].iter().enumerate()
    {
        seat.types(&format!("{typed}\r"));
        seat.sees("that it is none", |text| text.matches("one of these letters, please").count() > number);
    }
    assert!(!home.path("repo/one.txt").exists());
    seat.types("y\r");
    seat.reads("ran");
    assert!(home.path("repo/one.txt").exists());
    seat.types("two.txt\r");
    seat.sees("the second question", |text| text.ends_with("your answer:"));
    seat.types("n not now\r");
    seat.sees("the second answer", |text| text.matches("ran").count() >= 2 && text.contains("not now"));
    assert!(!home.path("repo/two.txt").exists());
    // Whoever stops the answer is not asked any more.
    seat.types("three.txt\r");
    seat.sees("the third question", |text| text.ends_with("your answer:"));
    seat.types("\x03");
    seat.sees("the line for a message", |text| text.ends_with('›') && text.contains("stopped · "));
    assert!(!home.path("repo/three.txt").exists());
    seat.types("\x04");
    assert_eq!(seat.ends(), 0);
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let home = Home::new();
    let puppet = Puppet::at(&home);
    let mut seat = with_puppet(&home, &["plain.md"], 80);
    seat.types("my name is Ada\r");
    puppet.hears();
    puppet.says("Hello Ada.");
    puppet.ends();
    seat.reads("Hello Ada.");
    seat.types("\x04");
    assert_eq!(seat.ends(), 0);
    let session = session(&home);
    let mut seat = with_puppet(&home, &["--resume", &session], 80);
    seat.reads("after 1 message");
    seat.types("\x1b[A");
    seat.reads("› my name is Ada");
    seat.types("\x15who am I?\r");
    let heard = puppet.hears();
    assert_eq!(
        heard,
        [pair("user", "my name is Ada"), pair("assistant", "Hello Ada."), pair("user", "who am I?")]
    );
    puppet.says("Ada");
    seat.reads("Ada\n");
    // One whose process dies in the middle of an answer goes on with that answer.
    drop(seat);
    puppet.gives_up();
    let seat = with_puppet(&home, &["--resume", &session], 80);
    seat.reads("the last answer was not finished; it goes on");
    assert_eq!(puppet.hears(), heard);
    puppet.says("You are Ada.");
    puppet.ends();
    seat.reads("You are Ada.");
    // Only one process has it.
    let config = home.path("puppet.toml").display().to_string();
    let second = home.run(&["chat", "--resume", &session, "--model", "puppet", "--config", &config]);
    assert!(second.status != 0 && second.stderr.contains("held by"), "{} {}", second.status, second.stderr);
}

#[test]
fn another_model_goes_on_with_the_same_conversation() {
    let home = Home::new();
    let (one, first) = Puppet::serve();
    let (two, second) = Puppet::serve();
    home.write("two.toml", format!("{}{}", vendor("one", &first), vendor("two", &second)));
    home.write(
        "repo/plain.md",
        "---\nname: plain\ndescription: d\nmodel: one\ntools: [list]\n---\nAnswer.\n",
    );
    let config = home.path("two.toml").display().to_string();
    let mut seat = Seat::new(home.command(["chat", "plain.md", "--config", &config]), 80, 24);
    seat.reads("›");
    seat.types("hello\r");
    one.hears();
    one.says("I am one.");
    one.ends();
    seat.reads("I am one.");
    seat.types("/model two\r");
    seat.reads("from the next message on: two/m");
    seat.types("and you?\r");
    let heard = two.hears();
    assert_eq!(heard, [pair("user", "hello"), pair("assistant", "I am one."), pair("user", "and you?")]);
    two.calls("list", &serde_json::json!({}));
    assert_eq!(two.hears().len(), 5, "its calls are made");
    two.says("I am two.");
    two.ends();
    seat.reads("I am two.");
    seat.types("\x04");
    assert_eq!(seat.ends(), 0);
    let session = session(&home);
    assert_eq!(home.run(&["sessions", "replay", &session]).status, 0);
    // It is the one that it goes on with.
    let seat = Seat::new(home.command(["chat", "--resume", &session, "--config", &config]), 80, 24);
    seat.reads("plain with two/m, after 2 messages");
}

#[test]
fn a_terminal_that_cannot_move_is_talked_to_line_by_line() {
    let home = Home::new();
    home.write("repo/echo.md", ECHO);
    let mut command = home.command(["chat", "echo.md"]);
    command.env("TERM", "dumb");
    let (status, seen) = crate::terminal::typed_on_a_terminal(command, "hello\n/quit\n");
    assert!(status == 0 && seen.contains("you said hello"), "{seen}");
    assert!(!seen.contains('\x1b'), "{seen:?}");
}
