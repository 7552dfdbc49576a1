//! What the placing of hunks costs, counted in steps, and that it ends.

use super::super::parse;
use super::super::patch::Change;
use super::*;

/// Hunks for a text, by the way in which they are placed.
struct Case {
    what: &'static str,
    text: String,
    hunks: String,
    /// The step that places them; none where they have no place.
    step: Option<Step>,
}

fn cases(lines: usize) -> Vec<Case> {
    let at = lines / 2;
    let line = |number: usize| match number % 40 {
        0 => format!("fn block_{number}() {{\n"),
        39 => "}\n".to_owned(),
        _ => format!("    step_{number}(one, two);\n"),
    };
    let text: String = (0..lines).map(line).collect();
    let same = "same line\n".repeat(lines);
    let body = |from: usize, indent: &str| -> String {
        let shown = |mark: &str, number: usize| format!("{mark}{indent}step_{number}(one, two);\n");
        let (first, gone, last) = (shown(" ", from + 1), shown("-", from + 2), shown(" ", from + 3));
        format!("{first}{gone}+{indent}other();\n{last}")
    };
    let block = at / 40 * 40;
    let deep = "    ";
    let case = |what, text: &str, hunks: String, step| Case { what, text: text.to_owned(), hunks, step };
    vec![
        case("exact", &text, format!("@@\n{}", body(block, deep)), Some(Step::Exact)),
        case(
            "line endings",
            &text.replace('\n', "\r\n"),
            format!("@@\n{}", body(block, deep)),
            Some(Step::LineEndings),
        ),
        case(
            "mixed line endings",
            &text.replace("(one, two);\n", "(one, two);\r\n"),
            format!("@@\n fn block_{block}() {{\n{}", body(block, deep)),
            Some(Step::LineEndings),
        ),
        case(
            "below a header",
            &text,
            format!("@@ fn block_{block}() {{\n{}", body(block, deep)),
            Some(Step::Exact),
        ),
        case("indented otherwise", &text, format!("@@\n{}", body(block, "  ")), Some(Step::Indentation)),
        case(
            "one of many places",
            &same,
            "@@ -150,2 +150,2 @@\n same line\n-same line\n+other line\n".to_owned(),
            Some(Step::Exact),
        ),
        case(
            "new lines alone",
            &text,
            format!("@@ -{},3 +{0},3 @@\n{}@@ -{at},0 +{at},1 @@\n+new\n", block + 2, body(block, deep)),
            Some(Step::Exact),
        ),
        case(
            "nowhere",
            &text,
            format!("@@\n{}", body(block, deep).replace("(one, two)", "(one, three)")),
            None,
        ),
        case("many places", &same, "@@\n same line\n-same line\n+other line\n".to_owned(), None),
        case(
            "many hunks",
            &text,
            (0..lines / 40).map(|number| format!("@@\n{}", body(number * 40, deep))).collect(),
            Some(Step::Exact),
        ),
    ]
}

fn hunks(case: &Case) -> Vec<Hunk> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{}*** End Patch\n", case.hunks);
    let patch = parse::parse(&patch).unwrap();
    let Change::Update { hunks, .. } = &patch.files[0].change else { panic!("no update") };
    hunks.clone()
}

#[test]
fn the_work_grows_with_the_file_and_no_faster() {
    let work = |lines: usize| -> Vec<(&'static str, usize, u64)> {
        let spent = |case: Case| {
            let effort = Effort::limited(u64::MAX);
            let applied = apply(&effort, "f", &case.text, &hunks(&case));
            let step = applied.as_ref().ok().map(|applied| applied.step);
            assert_eq!(step, case.step, "{}, {lines} lines: {applied:?}", case.what);
            (case.what, case.text.len(), effort.spent())
        };
        cases(lines).into_iter().map(spent).collect()
    };
    for ((what, few_bytes, few), (_, many_bytes, many)) in work(400).into_iter().zip(work(8_000)) {
        let times = (many_bytes / few_bytes) as u64;
        assert!(many < few * times * 3, "{what}: {few} steps became {many}");
        assert!(few > few_bytes as u64, "{what}: {few} steps for {few_bytes} bytes are not all");
    }
}

#[test]
fn it_ends_when_its_steps_are_used_up() {
    for case in cases(2_000) {
        let whole = Effort::limited(u64::MAX);
        let _ = apply(&whole, "f", &case.text, &hunks(&case));
        // In the middle, and near the end.
        for most in [whole.spent() / 2, whole.spent() - 1] {
            let ended = apply(&Effort::limited(most), "f", &case.text, &hunks(&case)).unwrap_err();
            assert_eq!(ended.code(), Code::TooLarge, "{}: {ended}", case.what);
        }
    }
}
