//! Guarantees 5 and 41 for the file tools: what a caller chooses costs a bounded amount of memory, output and processor
//! time, and a call that timed out stops using the processor.
//!
//! Each test runs in a process of its own, so that what other tests use is not counted. Times are those of the processor,
//! not of the clock: they do not depend on how busy the machine is.

use super::{code, count, disk, executor, folder, peak_memory, run, shown};
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use toolpost_core::{Call, Outcome};

const ALONE: &str = "TOOLPOST_TEST_ALONE";

/// Whether this is the process of its own; the other one starts it and waits.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{test} failed in its own process");
    false
}

/// Processor time of all threads of this process.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 1000 / 100)
}

/// One call, within the bounds of guarantee 5. The build of a test is many times slower than one that is installed.
fn bounded(root: &Path, what: &str, call: Call) -> Outcome {
    let before = processor_time();
    let outcome = run(executor().run(&disk(root), call));
    let took = processor_time() - before;
    let bytes = outcome.to_json().to_string().len();
    let text: String = shown(&outcome).chars().take(160).collect();
    println!("{what}: {} ms, {} MiB, {bytes} bytes: {text}", took.as_millis(), peak_memory());
    assert!(bytes < 1 << 20, "{what} gives {bytes} bytes");
    assert!(took < Duration::from_secs(15), "{what} took {took:?} of the processor");
    outcome
}

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")})
}

/// A file, and a call on it that would cost more than anybody has.
struct Case {
    what: &'static str,
    content: Vec<u8>,
    tool: &'static str,
    args: Value,
    /// How it ends: a code, or `ok`.
    expected: &'static str,
}

fn case(
    what: &'static str,
    content: impl Into<Vec<u8>>,
    tool: &'static str,
    args: Value,
    expected: &'static str,
) -> Case {
    Case { what, content: content.into(), tool, args, expected }
}

fn edit(old: &str, new: &str) -> Value {
    json!({"filePath": "f", "oldString": old, "newString": new})
}

fn all_of(old: &str, new: &str) -> Value {
    json!({"filePath": "f", "oldString": old, "newString": new, "replaceAll": true})
}

/// Names of the argument that everything is written to are `f`.
fn cases() -> Vec<Case> {
    let mega = 1_000_000;
    let scale = count(1, 5);
    let same = "    same(line);\n".repeat(60_000 * scale);
    let unique: String =
        (0..40_000 * scale).map(|number| format!("let value_{number} = {number};\n")).collect();
    let some: String = unique.lines().skip(1_000).take(900).map(|line| format!("  {line} \n")).collect();
    let hunks = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        let hunk = |number: usize| format!("@@\n-{}\n+new {number}\n", line(number));
        format!("*** Update File: f\n{}", (0..count).map(hunk).collect::<String>())
    };
    // Half of the lines of the edit have slipped, and all that come are as deep as they are.
    let slipped: String = (0..900)
        .map(|number| match number {
            _ if number % 20 == 7 => format!("      slipped({number});\n"),
            899 => "      deep(899);\n".to_owned(),
            _ => format!("    stays({number});\n"),
        })
        .collect();
    let come: String = (0..90).map(|number| format!("      comes({number});\n")).collect();
    let quotes = format!("{unique}say(\"x\");\nit’s\n");
    let blank_lines = "\n".repeat(3 * mega);
    vec![
        case(
            "many quotes of a kind that is nowhere",
            quotes,
            "edit",
            edit("say(“x”);", &format!("say({});", "“y”".repeat(30_000))),
            "ok",
        ),
        case(
            "many lines that slipped",
            slipped.replace("      slipped", "    slipped"),
            "edit",
            edit(&slipped, &format!("{slipped}{come}")),
            "ok",
        ),
        case(
            "numbers that no file has",
            "one\ntwo\n",
            "edit",
            edit("18446744073709551615: one\n18446744073709551615: two", "x"),
            "NO_MATCH",
        ),
        case(
            "many blank lines before a hunk",
            "x\n",
            "apply_patch",
            patch(&format!("*** Update File: f\n{blank_lines}@@\n-x\n+y\n")),
            "ok",
        ),
        case(
            "many blank lines between hunks",
            "x\ny\n",
            "apply_patch",
            json!({"patch": format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+z\n{blank_lines}@@ -2 +2 @@\n-y\n+w\n")}),
            "ok",
        ),
        case(
            "many blank lines within a hunk",
            "x\n",
            "apply_patch",
            json!({"patch": format!("--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-x\n+z\n{blank_lines} end\n")}),
            "NO_MATCH",
        ),
        case("replace all, 6 GB", "a".repeat(mega), "edit", all_of("a", &"b".repeat(6_000)), "TOO_LARGE"),
        case("replace all, 1 MB of a to bb", "a".repeat(mega), "edit", all_of("a", "bb"), "ok"),
        case("replace all, 40 MB of a", "a".repeat(40 * mega), "edit", all_of("a", "b"), "TOO_LARGE"),
        case("replace all, newlines", "a\n".repeat(mega), "edit", all_of("\n", "\n\n\n"), "ok"),
        case("one of many", "a".repeat(40 * mega), "edit", edit("a", "b"), "AMBIGUOUS_MATCH"),
        case(
            "a period, half of the file",
            "ab".repeat(5 * mega),
            "edit",
            edit(&"ab".repeat(2 * mega), "x"),
            "AMBIGUOUS_MATCH",
        ),
        case(
            "a period that breaks",
            "ab".repeat(mega),
            "edit",
            edit(&format!("{}c", "ab".repeat(mega / 2)), "x"),
            "NO_MATCH",
        ),
        case("nothing but newlines", "\n".repeat(45 * mega), "edit", edit("x\ny", "z"), "NO_MATCH"),
        case("nothing but CRLF", "\r\n".repeat(20 * mega), "edit", edit("x\ny", "z"), "NO_MATCH"),
        case(
            "near, the same line",
            same.clone(),
            "edit",
            edit(&format!("{}  other\n", "  same(line);\n".repeat(800)), "x\n"),
            "NO_MATCH",
        ),
        case("near, indented otherwise", unique.clone(), "edit", edit(&some, "x\n"), "ok"),
        case(
            "near, one line",
            "word ".repeat(mega / 5 * scale),
            "edit",
            edit(&"word  ".repeat(4_000), "x"),
            "NO_MATCH",
        ),
        case(
            "all of it changes",
            unique.clone(),
            "write",
            json!({"filePath": "f", "content": unique.replace("let", "var")}),
            "ok",
        ),
        case(
            "too much to write",
            "",
            "write",
            json!({"filePath": "f", "content": "x".repeat(60 * mega)}),
            "TOO_LARGE",
        ),
        case(
            "both line endings",
            unique.replace("1;\n", "1;\r\n"),
            "write",
            json!({"filePath": "f", "content": unique.replace("let", "var")}),
            "ok",
        ),
        case(
            "both line endings, many lines",
            "a\n\r\n".repeat(mega),
            "write",
            json!({"filePath": "f", "content": "b\n".repeat(mega)}),
            "TOO_LARGE",
        ),
        case(
            "many edits",
            unique.clone(),
            "edit",
            json!({"filePath": "f", "edits": (0..20_000)
            .map(|number| json!({"oldString": format!("value_{number} "), "newString": "x "})).collect::<Vec<_>>()}),
            "TOO_LARGE",
        ),
        case(
            "many hunks",
            unique.clone(),
            "apply_patch",
            patch(&hunks(3_000, &|number| format!("let value_{number} = {number};"))),
            "ok",
        ),
        case(
            "many hunks that are nowhere",
            unique.clone(),
            "apply_patch",
            patch(&hunks(3_000, &|number| format!("let value_{number} = x;"))),
            "NO_MATCH",
        ),
        case(
            "many hunks of the same line",
            same.clone(),
            "apply_patch",
            patch(&hunks(3_000, &|_| "    same(line);".to_owned())),
            "AMBIGUOUS_MATCH",
        ),
        case(
            "a huge hunk",
            same.clone(),
            "apply_patch",
            patch(&format!(
                "*** Update File: f\n{}-other\n+x\n",
                "-    same(line);\n".repeat(30_000 * scale)
            )),
            "NO_MATCH",
        ),
        case(
            "a patch of nothing but newlines",
            "\n".repeat(30 * mega),
            "apply_patch",
            patch("*** Update File: f\n-x\n+y\n"),
            "TOO_LARGE",
        ),
        case(
            "many files",
            "",
            "apply_patch",
            patch(&(0..20_000).map(|number| format!("*** Add File: d/{number}\n+x\n")).collect::<String>()),
            "TOO_LARGE",
        ),
        case(
            "a huge patch",
            "",
            "apply_patch",
            patch(&format!("*** Add File: g\n{}", "+x\n".repeat(6 * mega))),
            "TOO_LARGE",
        ),
        case(
            "a file and its whole content",
            same.clone(),
            "apply_patch",
            patch("*** Delete File: f\n"),
            "ok",
        ),
    ]
}

#[test]
fn guarantee_05_changes_are_bounded() {
    if !is_alone("bounds::guarantee_05_changes_are_bounded") {
        return;
    }
    let folder = folder();
    let root = folder.path();
    let cases = cases();
    // What the cases themselves hold is not the tools'.
    let held = peak_memory();
    for case in &cases {
        std::fs::write(root.join("f"), &case.content).unwrap();
        let outcome = bounded(root, case.what, Call::new(case.tool, case.args.clone()));
        let ended = if outcome.is_success() { "ok" } else { code(&outcome) };
        assert_eq!(
            ended,
            case.expected,
            "{}: {}",
            case.what,
            shown(&outcome).chars().take(500).collect::<String>()
        );
        if ended == "TOO_LARGE" {
            let message = shown(&outcome);
            assert!(message.chars().any(|letter| letter.is_ascii_digit()), "{message}: no numbers");
            assert!(message.contains(';') || message.contains(':'), "{message}: no advice");
            assert_eq!(std::fs::read(root.join("f")).unwrap().len(), case.content.len(), "{}", case.what);
        }
    }
    // Dry runs keep what is there before them, but not of any size.
    std::fs::File::create(root.join("sparse")).unwrap().set_len(20 << 30).unwrap();
    for (tool, args) in
        [("write", json!({"filePath": "sparse", "content": "x"})), ("delete", json!({"filePath": "sparse"}))]
    {
        let outcome = bounded(root, "a dry run over 20 GiB", Call::new(tool, args).dry_run());
        assert!(outcome.is_success(), "{}", shown(&outcome));
        let planned = &outcome.metadata.dry_run.as_ref().unwrap().changes[0];
        assert_eq!((planned.path.as_str(), planned.bytes_before), ("sparse", Some(20 << 30)));
    }
    std::fs::remove_file(root.join("sparse")).unwrap();
    // Many at once cost no more memory than one after another.
    std::fs::write(root.join("f"), "a".repeat(1_000_000)).unwrap();
    let calls: Vec<Value> = (0..25)
        .map(|number| match number % 3 {
            0 => json!({"tool": "edit", "args": all_of("a", &"b".repeat(6_000))}),
            1 => json!({"tool": "grep", "args": {"pattern": "a{1,100}b", "mode": "count"}}),
            _ => json!({"tool": "edit", "args": edit(&"a".repeat(5_000), "b")}),
        })
        .collect();
    let outcome = bounded(root, "25 at once", Call::new("batch", json!({"calls": calls})));
    assert!(outcome.is_success(), "{}", shown(&outcome));
    let grown = peak_memory() - held;
    assert!(grown < 400, "{grown} MiB more");
    println!("measure: guarantee 5: {} changes of large files, {grown} MiB more", cases.len() + 3);
    assert!(getrlimit(Resource::As).current.is_none(), "memory was not limited from outside");
}

/// Uses the processor until nobody waits for it any more, and says how much it used after that.
fn after_the_end(root: &Path, what: &str, call: Call) -> Duration {
    let ctx = disk(root);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(executor().run(&ctx, call));
    let ended = processor_time();
    let how = if outcome.is_success() { "ok" } else { code(&outcome) };
    // Until it rests: on a busy machine what goes on may have to wait, but it does not rest.
    let (mut last, mut resting) = (ended, 0);
    while resting < 5 {
        std::thread::sleep(Duration::from_millis(100));
        let now = processor_time();
        resting = if now == last { resting + 1 } else { 0 };
        last = now;
        let used = now - ended;
        if used >= Duration::from_secs(1) {
            // To leave by a panic would be to wait for what goes on.
            println!("{what} ({how}) goes on: {used:?}");
            std::process::exit(1);
        }
    }
    println!("{what} ({how}): {} ms of the processor after its end", (last - ended).as_millis());
    // Dropped only now: it would wait for what still runs.
    drop(runtime);
    last - ended
}

#[test]
fn guarantee_41_a_call_that_timed_out_stops_using_the_processor() {
    if !is_alone("bounds::guarantee_41_a_call_that_timed_out_stops_using_the_processor") {
        return;
    }
    let folder = folder();
    let root = folder.path();
    let mut most = Duration::ZERO;
    let mut timed_out = 0;
    for case in cases() {
        std::fs::write(root.join("f"), &case.content).unwrap();
        let call = Call::new(case.tool, case.args.clone()).timeout(Duration::from_millis(100));
        most = most.max(after_the_end(root, case.what, call));
        timed_out += 1;
    }
    let large: String =
        (0..400_000).map(|number| format!("{number} aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")).collect();
    std::fs::write(root.join("f"), &large).unwrap();
    std::fs::write(root.join("line"), "a".repeat(8 << 20)).unwrap();
    // No two places of it look alike, so that nothing that was found out about one helps at the next.
    let mut state = 88_172_645_463_325_252_u64;
    let random: Vec<u8> = (0..8 << 20)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state & 1 == 0 { b'a' } else { b'b' }
        })
        .collect();
    std::fs::write(root.join("random"), &random).unwrap();
    std::fs::write(root.join("lines"), random.chunks(99).collect::<Vec<_>>().join(&b'\n')).unwrap();
    std::fs::File::create(root.join("sparse")).unwrap().set_len(20 << 30).unwrap();
    let grep = |pattern: &str, multiline: bool, path: &str| json!({"pattern": pattern, "multiline": multiline, "path": path});
    for (what, tool, args) in [
        ("grep, a large pattern", "grep", grep(r"(\w{1,40}\s?){1,20}x$", false, "f")),
        ("grep, a large pattern over lines", "grep", grep(r"(\w{1,40}\s?){1,20}x$", true, "f")),
        ("grep, a large pattern in one line", "grep", grep(r"(\w{1,40}\s?){1,20}x$", false, "line")),
        ("grep, many states in one line", "grep", grep("a[ab]{2000}[c-e]", false, "random")),
        ("grep, many states in lines", "grep", grep("a[ab]{60}[c-e]", false, "lines")),
        ("grep, many states over lines", "grep", grep("a[ab\n]{2000}[c-e]", true, "lines")),
        ("grep, many letters in one line", "grep", grep(r"a[\pL]{900}[\pN]", false, "random")),
        (
            "grep, many in count",
            "grep",
            json!({"pattern": "a[ab]{50}[^c-e]", "mode": "count", "path": "random"}),
        ),
        ("grep, backwards", "grep", grep(r"(?:a|b|ab|aab|aaab)*c\z", true, "line")),
        ("read, at the end of much", "read", json!({"filePath": "sparse", "offset": 1_000_000_000_u64})),
        ("list, many patterns", "list", json!({"path": ".", "ignore": vec!["**/a*b*c*d*e*"; 20_000]})),
        ("glob, many choices", "glob", json!({"pattern": "{a,b,c,d}*".repeat(180)})),
    ] {
        let call = Call::new(tool, args).timeout(Duration::from_millis(300));
        most = most.max(after_the_end(root, what, call));
        timed_out += 1;
    }
    println!(
        "measure: guarantee 41: {timed_out} calls that took too long, at most {} ms of the processor after their end",
        most.as_millis()
    );
}
