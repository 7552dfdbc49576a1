//! Check lists: what people write is understood, and what is written is read back.

use super::super::file;
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};
use toolpost_core::store::{By, NewTask};
use toolpost_store::StoreUrl;

fn task(id: &str, title: &str, description: &str, depends_on: &[&str]) -> Task {
    Task {
        id: id.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        status: TaskStatus::Ready,
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
        owner: None,
        claim: 0,
        result: None,
        reason: None,
        created_ms: 0,
        changed_ms: 0,
    }
}

#[test]
fn a_graph_is_a_check_list() {
    let mut tasks = [
        task("t1", "base", "", &[]),
        task("t2", "left", "what to do\n\n    as code", &["t1"]),
        task("t3", "right", "", &["t1"]),
        task("t4", "top", "", &["t2", "t3"]),
        task("t5", "alone", "- [ ] not a task", &[]),
    ];
    tasks[0].status = TaskStatus::Completed;
    let expected = "\
- [ ] top
  - [ ] left
    what to do

        as code
    - [x] base <!-- t1 -->
  - [ ] right <!-- t3 needs t1 -->
- [ ] alone
  &#45; [ ] not a task
";
    assert_eq!(write(&tasks), expected);
}

#[test]
fn a_comment_names_what_is_needed_without_giving_an_id() {
    let (items, _) = read("- [ ] one <!-- needs t99, t3 -->\n- [ ] two <!-- needs a rest -->\n");
    assert_eq!((items[0].title.as_str(), items[0].depends_on.join(" ")), ("one", "t99 t3".to_owned()));
    assert_eq!((items[1].title.as_str(), items[1].depends_on.len()), ("two <!-- needs a rest -->", 0));
}

#[test]
fn what_people_write_is_understood() {
    let text = "# Plan\n\n* [ ] one\n\twith a text\n\t  of two lines\n\t+ [X] two\n\n- plain\n  text\n1. [ ] three <!-- a remark -->\n\
                \u{20}\u{20}\u{20}2) [ ] four <!-- t9 needs t8, t7 -->\n- [y] five\n- [ ]\n- []\n-[ ] six\n";
    let (items, notes) = read(text);
    let shown: Vec<String> = items
        .iter()
        .map(|item| {
            format!("{}|{}|{}|{}", item.title, item.description, item.depends_on.join(" "), item.is_completed)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "one|with a text\n  of two lines|#2|false",
            "two|||true",
            "three <!-- a remark -->||t9|false",
            "four||t8 t7|false",
        ]
    );
    assert_eq!(notes, ["7 lines are not tasks, and were left out; the first is line 1"]);
}

/// Pieces that have a meaning in check lists, and others.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("- [ ] ".to_owned()),
        Just("- [x] done".to_owned()),
        Just("1. [ ] ".to_owned()),
        Just("<!-- t1 -->".to_owned()),
        Just("<!-- t2 needs t1 -->".to_owned()),
        Just("&#10;".to_owned()),
        Just("&#".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n  ".to_owned()),
        Just("\t".to_owned()),
        Just("  ".to_owned()),
        Just("\\".to_owned()),
        "[a-c]{1,3}",
        "\\PC{0,3}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Tasks that depend on such as come before them, each with a title that no other has.
fn graph() -> impl Strategy<Value = Vec<NewTask>> {
    let task = (text(), text(), any::<bool>(), proptest::collection::vec(any::<prop::sample::Index>(), 0..4));
    proptest::collection::vec(task, 1..12).prop_map(|tasks| {
        let new = tasks.into_iter().enumerate().map(|(index, (title, description, is_first, needed))| {
            let needed =
                needed.iter().filter(|_| index > 0).map(|needed| format!("k{}", needed.index(index)));
            NewTask {
                key: Some(format!("k{index}")),
                title: if is_first { format!("{index}{title}") } else { format!("{title}{index}") },
                description,
                depends_on: needed.collect(),
                result: None,
            }
        });
        new.collect()
    })
}

/// What is kept of a graph: by title the description, and the titles that it depends on.
type Kept = BTreeMap<String, (String, BTreeSet<String>)>;

fn kept(tasks: &[Task]) -> Kept {
    let titles: BTreeMap<&str, &str> =
        tasks.iter().map(|task| (task.id.as_str(), task.title.as_str())).collect();
    let one = |task: &Task| {
        let needed = task.depends_on.iter().map(|id| titles[id.as_str()].to_owned()).collect();
        (task.title.clone(), (task.description.clone(), needed))
    };
    tasks.iter().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_exported_is_imported_as_it_was(new in graph(), is_json in any::<bool>(), deepest in 1..3_usize) {
        let by = By { session: "s".to_owned(), ..By::default() };
        let (here, there) = (toolpost_store::open(&StoreUrl::Memory).unwrap(), toolpost_store::open(&StoreUrl::Memory).unwrap());
        // The new store has tasks already, whose ids must not be taken for those of the file.
        for number in 0..deepest {
            let title = format!("other {number}");
            there.create_tasks(&by, vec![NewTask { title, ..NewTask::default() }]).unwrap();
        }
        // Two titles that differ in blanks alone are the same to a store.
        let titles: BTreeSet<&str> = new.iter().map(|task| task.title.trim()).collect();
        prop_assume!(titles.len() == new.len());
        here.create_tasks(&by, new).unwrap();
        let tasks = here.tasks(None).unwrap();
        let items = match is_json {
            true => file::understood("file", &file::json(&tasks), None).unwrap().0,
            false => {
                let (items, notes) = read(&write(&tasks));
                prop_assert_eq!(notes, Vec::<String>::new(), "{}", write(&tasks));
                items
            }
        };
        let created = file::create(&*there, &by, items).unwrap();
        prop_assert_eq!(kept(&created), kept(&tasks), "{}", write(&tasks));
    }
}
