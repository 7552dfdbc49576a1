//! Every kind of noise on a small history of our own, without the product.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::cases::{Call, Case, Cases};
use super::corpus::Change;
use super::hunks::History;
use super::noise::{self, Class, Make};
use super::random::Random;

const BEFORE: &str = "\
# Notes - how a shop is run, piece by piece...

def open_shop(name, hour):
    # The key \"front\" opens <the door> & the gate.
    if hour < 9:  # early
        return 'closed'

    shelves = [1, 2, 3]
    for shelf in shelves:
        fill(shelf,  'bread')
        label(f`${shelf}`, \"a/b\", 'x--y')

    total = count(shelves)
    print(\"open\\n\", total)
    return total


def close_shop(name):
    count_money()
    lights(off=True)
    lock('back')
    lock('front')
    write_report(name, pages=12)
    return None
\u{e9}nd = close_shop
";

const TABS: &str = "\
func main() {
\tshop := Open(\"corner\")
\tfor day := 0; day < 7; day++ {
\t\tshop.Sell(day)
\t\tif day == 5 {
\t\t\tshop.Clean()
\t\t}
\t\tlog(\"tab:\\tend\", day)
\t}
\tshop.Close()
}
";

const SCRIPT: &str = "\
const size = width - border;
const caf\u{e9} = open(size);
let first = 1;
let second = 2; // note
let third = 3;
let fourth = 4;
let fifth = 5;
let sixth = 6;
let seventh = 7; // last but one
let between = 0; // the one
let eighth = 8;
close(caf\u{e9} - eighth);
";

fn history(name: &str, before: &str, changes: &[(&str, &str)]) -> History {
    let mut after = before.to_owned();
    for (old, new) in changes {
        assert_eq!(after.matches(old).count(), 1, "{old:?}");
        after = after.replacen(old, new, 1);
    }
    let (extension, before) = (name.to_owned(), before.to_owned());
    let change = Change { name: name.to_owned(), extension, before, after };
    History::new(&change, &mut HashSet::new()).unwrap()
}

fn histories() -> Rc<Vec<History>> {
    let python = [
        ("# Notes - how a shop", "# Notes - how a small shop"),
        ("    shelves = [1, 2, 3]\n", "    shelves = [1, 2, 3, 4]\n    check(shelves)\n"),
        ("        label(f`${shelf}`, \"a/b\", 'x--y')\n", "        label(f`${shelf}`, \"a/c\", 'x--y')\n"),
        ("    print(\"open\\n\", total)\n", "    print(\"open now\\n\", total)\n    print('x--z', total)\n"),
        (
            "    lights(off=True)\n    lock('back')\n",
            "    lights(off=True)\n    alarm(on=True)\n    lock('back')\n",
        ),
        ("nd = close_shop\n", "nd = close_all\n"),
    ];
    let calls = [(
        "    lights(off=True)\n    lock('back')\n",
        "    lights(off=False)\n    lock('both')\n    call(1)\n",
    )];
    let go = [
        ("\t\tshop.Sell(day)\n", "\t\tshop.Sell(day + 1)\n\t\tshop.Count()\n"),
        ("\t\tlog(\"tab:\\tend\", day)\n", "\t\tlog(\"tab:\\tend\", day+1)\n"),
    ];
    let text = [("A line with \\\\ in it\n", "A line with \\\\ in them\n"), ("one\n", "one\nhalf\n")];
    let prose = "one\ntwo\nA line with \\\\ in it\nthree and more\nfour\n";
    Rc::new(vec![
        history("py", BEFORE, &python),
        history("pyi", BEFORE, &calls),
        history("go", TABS, &go),
        history("txt", prose, &text),
        history(
            "mjs",
            SCRIPT,
            &[("let first", "let zeroth = 0;\nlet first"), ("let eighth = 8;", "let eighth = 9;")],
        ),
        history(
            "js",
            SCRIPT,
            &[("let first = 1;", "let first = 0;"), ("let eighth = 8;", "let eighth = 9;")],
        ),
    ])
}

fn all(name: &str) -> Vec<Case> {
    let kind = noise::kinds().into_iter().find(|kind| kind.name == name).unwrap();
    (1..=4).flat_map(|seed| Cases::new(kind, histories(), seed)).collect()
}

#[test]
fn there_are_many_kinds_and_each_has_a_name_and_a_reason() {
    let kinds = noise::kinds();
    let names: BTreeSet<&str> = kinds.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), kinds.len());
    assert!(kinds.iter().all(|kind| kind.reason.len() > 10));
    let count = |is_wanted: fn(&Make) -> bool| kinds.iter().filter(|kind| is_wanted(&kind.make)).count();
    assert!(count(|make| matches!(make, Make::Edit(_))) >= 50);
    assert!(count(|make| matches!(make, Make::Patch(_))) >= 25);
}

#[test]
fn every_kind_finds_an_occasion_and_changes_the_file() {
    let mut findings = Vec::new();
    for kind in noise::kinds() {
        let cases = all(kind.name);
        if cases.is_empty() {
            findings.push(format!("{} has no case", kind.name));
        }
        if cases.iter().any(|case| case.before == case.truth) {
            findings.push(format!("{} has a case that changes nothing", kind.name));
        }
        // A case may be lossy although its kind is not, but never the reverse.
        let classes: BTreeSet<Class> = cases.iter().map(|case| case.class).collect();
        if classes.first() != Some(&kind.class) {
            findings.push(format!("{} is {:?}, and its cases are {classes:?}", kind.name, kind.class));
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn without_noise_the_strings_make_the_true_file() {
    for case in all("none") {
        let Call::Edit { old, new } = &case.call else { panic!("an edit") };
        assert_eq!(case.before.matches(old).count(), 1);
        assert_eq!(case.before.replacen(old, new, 1), case.truth);
    }
}

#[test]
fn the_same_seed_gives_the_same_cases() {
    let shown = |seed| -> Vec<String> {
        let kind = noise::kinds()[1];
        Cases::new(kind, histories(), seed).map(|case| format!("{:?}", case.call)).collect()
    };
    assert_eq!(shown(1), shown(1));
    assert_ne!(shown(1), shown(2));
}

#[test]
fn the_context_is_no_larger_than_it_must_be() {
    let twice = "a\nsame\nb\nother\nc\nsame\nd\n";
    let history = history("txt", twice, &[("b\nother", "b\nthing"), ("c\nsame", "c\nnew")]);
    let smallest: Vec<_> = history.hunks.iter().map(|hunk| history.smallest_context(hunk)).collect();
    assert_eq!(smallest, [Some(0), Some(1)], "`same` is there twice, so a line around it is needed");
    let edit = (0..20).find_map(|seed| history.edit(1, &mut Random::new(seed, &[]))).unwrap();
    assert!(edit.old.join("\n").contains("c\nsame\nd"));
}

#[test]
fn a_string_that_fits_twice_is_lossy() {
    let deeper = "if a:\n    call(one)\nelse:\n    if b:\n        call(one)\n";
    let history = history(
        "py",
        deeper,
        &[("else:\n    if b:\n        call(one)", "else:\n    if b:\n        call(two)")],
    );
    let kind = noise::kinds().into_iter().find(|kind| kind.name == "dedent-all").unwrap();
    let cases: Vec<Case> = Cases::new(kind, Rc::new(vec![history]), 1).collect();
    let alone = |case: &&Case| matches!(&case.call, Call::Edit { old, .. } if old == "call(one)");
    assert!(cases.iter().filter(alone).all(|case| case.class == Class::Lossy));
}
