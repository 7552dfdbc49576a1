//! The graph of tasks: one owner at a time, and nothing forgotten.

use crate::{Fresh, by, on_every_store, on_shared_stores};
use std::collections::BTreeMap;
use std::sync::Mutex;
use toolpost_core::store::{NewTask, Store, Task, TaskChange, TaskStatus};
use toolpost_core::{Code, ToolError};

on_every_store!(
    a_task_goes_its_way,
    who_is_late_is_refused,
    what_depends_waits,
    circles_and_unknown_tasks_are_refused,
    the_same_again_changes_nothing,
    what_is_done_is_created_as_done,
    refusals_say_what_is_so,
);
on_shared_stores!(every_task_is_done_once, the_last_of_two_frees_what_waits);

fn new(title: &str, depends_on: &[&str]) -> NewTask {
    NewTask {
        key: None,
        title: title.to_owned(),
        description: String::new(),
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
        result: None,
    }
}

fn create(store: &dyn Store, title: &str, depends_on: &[&str]) -> Task {
    store.create_tasks(&by("boss"), vec![new(title, depends_on)]).unwrap().remove(0)
}

fn submit(store: &dyn Store, who: &str, id: &str, claim: Option<u64>) -> Result<Task, ToolError> {
    store.change_task(&by(who), id, TaskChange::Submit { result: "done".to_owned(), claim })
}

fn claim(store: &dyn Store, who: &str, id: &str) -> Result<Task, ToolError> {
    store.change_task(&by(who), id, TaskChange::Claim)
}

fn a_task_goes_its_way(fresh: &Fresh) {
    let store = fresh.open();
    let task = create(&*store, " build it ", &[]);
    assert_eq!((task.id.as_str(), task.title.as_str(), task.status), ("t1", "build it", TaskStatus::Ready));
    let claimed = claim(&*store, "w", "t1").unwrap();
    assert_eq!(
        (claimed.status, claimed.claim, claimed.owner.as_deref()),
        (TaskStatus::Claimed, 1, Some("w"))
    );
    let submitted = submit(&*store, "w", "t1", Some(1)).unwrap();
    assert_eq!((submitted.status, submitted.result.as_deref()), (TaskStatus::Submitted, Some("done")));
    let rejected =
        store.change_task(&by("boss"), "t1", TaskChange::Reject { reason: "no tests".into() }).unwrap();
    assert_eq!((rejected.status, rejected.owner.as_deref()), (TaskStatus::Deferred, None));
    assert_eq!(rejected.reason.as_deref(), Some("no tests"));
    let again = claim(&*store, "x", "t1").unwrap();
    assert_eq!((again.status, again.claim), (TaskStatus::Claimed, 2));
    let released = store.change_task(&by("boss"), "t1", TaskChange::Release).unwrap();
    assert_eq!(released.status, TaskStatus::Deferred);
    let at_once = submit(&*store, "y", "t1", None).unwrap();
    assert_eq!(
        (at_once.status, at_once.claim, at_once.owner.as_deref()),
        (TaskStatus::Submitted, 3, Some("y"))
    );
    let completed = store.change_task(&by("boss"), "t1", TaskChange::Complete).unwrap();
    assert_eq!(completed.status, TaskStatus::Completed);
    assert_eq!(store.task("t1").unwrap(), completed);
    assert_eq!(store.tasks(Some(TaskStatus::Ready)).unwrap(), []);
    assert_eq!(store.tasks(None).unwrap(), [completed]);
    assert_eq!(store.last_position().unwrap(), 8, "every change is in the log");
}

fn conflict(result: Result<Task, ToolError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::TaskConflict, "{}", error.message());
    error.message().to_owned()
}

fn who_is_late_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    create(&*store, "one", &[]);
    claim(&*store, "slow", "t1").unwrap();
    let held = conflict(claim(&*store, "quick", "t1"));
    assert!(held.contains("is claimed by `slow` (claim 1)"), "{held}");
    conflict(submit(&*store, "quick", "t1", None));
    store.change_task(&by("boss"), "t1", TaskChange::Release).unwrap();
    let released = conflict(submit(&*store, "slow", "t1", Some(1)));
    assert!(released.contains("was released"), "{released}");
    claim(&*store, "quick", "t1").unwrap();
    conflict(submit(&*store, "slow", "t1", Some(1)));
    // The same owner, whose first claim was taken from it: the number tells the two apart.
    store.change_task(&by("boss"), "t1", TaskChange::Release).unwrap();
    claim(&*store, "slow", "t1").unwrap();
    let late = conflict(submit(&*store, "slow", "t1", Some(1)));
    assert!(late.contains("number 1, the last one 3"), "{late}");
    submit(&*store, "slow", "t1", Some(3)).unwrap();
    conflict(claim(&*store, "quick", "t1"));
    conflict(store.change_task(&by("boss"), "t1", TaskChange::Release));
    store.change_task(&by("boss"), "t1", TaskChange::Complete).unwrap();
    conflict(store.change_task(&by("boss"), "t1", TaskChange::Reject { reason: "late".into() }));
}

fn what_depends_waits(fresh: &Fresh) {
    let store = fresh.open();
    create(&*store, "one", &[]);
    create(&*store, "two", &[]);
    let third = create(&*store, "three", &["t1", "t2", "t1"]);
    assert_eq!(
        (third.status, third.depends_on),
        (TaskStatus::Pending, vec!["t1".to_owned(), "t2".to_owned()])
    );
    let waits = conflict(claim(&*store, "w", "t3"));
    assert!(waits.contains("waits for t1, t2"), "{waits}");
    for id in ["t1", "t2"] {
        assert_eq!(store.task("t3").unwrap().status, TaskStatus::Pending);
        submit(&*store, "w", id, None).unwrap();
        store.change_task(&by("boss"), id, TaskChange::Complete).unwrap();
    }
    assert_eq!(store.task("t3").unwrap().status, TaskStatus::Ready);
    assert_eq!(create(&*store, "four", &["t1"]).status, TaskStatus::Ready);
    let ids: Vec<_> =
        store.tasks(None).unwrap().into_iter().map(|task| (task.id, task.depends_on.len())).collect();
    assert_eq!(ids, [("t1", 0), ("t2", 0), ("t3", 2), ("t4", 1)].map(|(id, count)| (id.to_owned(), count)));
}

fn circles_and_unknown_tasks_are_refused(fresh: &Fresh) {
    let store = fresh.open();
    let keyed = |key: &str, needs: &[&str]| NewTask { key: Some(key.to_owned()), ..new(key, needs) };
    let made = store
        .create_tasks(&by("boss"), vec![keyed("c", &["a", "b"]), keyed("a", &[]), keyed("b", &["a"])])
        .unwrap();
    let told: Vec<_> =
        made.iter().map(|task| (task.id.as_str(), task.depends_on.join(" "), task.status)).collect();
    assert_eq!(told[0], ("t1", "t2 t3".to_owned(), TaskStatus::Pending));
    assert_eq!((told[1].2, told[2].2), (TaskStatus::Ready, TaskStatus::Pending));
    let refuse = |tasks: Vec<NewTask>| {
        let error = store.create_tasks(&by("boss"), tasks).unwrap_err();
        assert_eq!(error.code(), Code::ValidationError);
        error.message().to_owned()
    };
    let circle = refuse(vec![keyed("x", &["y"]), keyed("y", &["x"]), keyed("z", &[])]);
    assert!(circle.contains("`x`, `y`"), "{circle}");
    assert!(refuse(vec![keyed("me", &["me"])]).contains("circle"));
    assert!(refuse(vec![new("n", &["t99"])]).contains("`t99`"));
    assert!(refuse(vec![new("n", &["nonsense"])]).contains("`nonsense`"));
    refuse(vec![new("  ", &[])]);
    refuse(vec![keyed("k", &[]), keyed("k", &[])]);
    for strange in ["t99", "99", "t01", "01", "t+1", "+1", "t", "tt1", ""] {
        assert_eq!(store.task(strange).unwrap_err().code(), Code::ValidationError, "{strange}");
    }
    // The number alone is the id too, but not where new tasks have keys, of which it may be one that is missing.
    assert_eq!(store.task("2").unwrap().id, "t2");
    assert!(refuse(vec![keyed("k", &["2"])]).contains("`2`"));
    assert_eq!(store.tasks(None).unwrap().len(), 3);
    assert_eq!(create(&*store, "next", &["1"]).depends_on, ["t1"]);
    assert_eq!(create(&*store, "last", &[]).id, "t5", "what was refused has taken no number");
}

fn the_same_again_changes_nothing(fresh: &Fresh) {
    let store = fresh.open();
    create(&*store, "one", &[]);
    assert_eq!(claim(&*store, "w", "t1").unwrap(), claim(&*store, "w", "t1").unwrap());
    assert_eq!(submit(&*store, "w", "t1", Some(1)).unwrap(), submit(&*store, "w", "t1", Some(1)).unwrap());
    let complete = || store.change_task(&by("boss"), "t1", TaskChange::Complete).unwrap();
    assert_eq!(complete(), complete());
    assert_eq!(submit(&*store, "w", "t1", None).unwrap().status, TaskStatus::Completed);
    assert_eq!(store.last_position().unwrap(), 4);
}

/// Workers on openings of their own take whatever is ready; nobody coordinates them.
fn every_task_is_done_once(fresh: &Fresh) {
    const TASKS: usize = 60;
    let boss = fresh.open();
    let tasks = (0..TASKS).map(|number| new(&format!("task {number}"), &[])).collect();
    boss.create_tasks(&by("boss"), tasks).unwrap();
    let done: Mutex<BTreeMap<String, Vec<String>>> = Mutex::default();
    std::thread::scope(|threads| {
        for worker in 0..4 {
            let (store, done) = (fresh.open(), &done);
            threads.spawn(move || {
                let me = format!("worker-{worker}");
                loop {
                    let ready = store.tasks(Some(TaskStatus::Ready)).unwrap();
                    let Some(task) = ready.get(worker * ready.len() / 4) else { return };
                    let Ok(mine) = claim(&*store, &me, &task.id) else { continue };
                    done.lock().unwrap().entry(task.id.clone()).or_default().push(me.clone());
                    submit(&*store, &me, &task.id, Some(mine.claim)).unwrap();
                    store.change_task(&by("boss"), &task.id, TaskChange::Complete).unwrap();
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.len(), TASKS);
    assert!(done.values().all(|workers| workers.len() == 1), "{done:?}");
    assert_eq!(boss.tasks(Some(TaskStatus::Completed)).unwrap().len(), TASKS);
}

/// Two tasks that a third waits for are completed at the same moment: neither may think that the other is still open.
fn the_last_of_two_frees_what_waits(fresh: &Fresh) {
    let stores = [fresh.open(), fresh.open()];
    for round in 0..20 {
        let (one, other, third) = (round * 3 + 1, round * 3 + 2, round * 3 + 3);
        let ids = [format!("t{one}"), format!("t{other}")];
        create(&*stores[0], "one", &[]);
        create(&*stores[0], "other", &[]);
        create(&*stores[0], "third", &[&ids[0], &ids[1]]);
        std::thread::scope(|threads| {
            for (store, id) in stores.iter().zip(&ids) {
                threads.spawn(move || {
                    submit(&**store, "w", id, None).unwrap();
                    store.change_task(&by("boss"), id, TaskChange::Complete).unwrap();
                });
            }
        });
        assert_eq!(stores[0].task(&format!("t{third}")).unwrap().status, TaskStatus::Ready);
    }
}

fn what_is_done_is_created_as_done(fresh: &Fresh) {
    let store = fresh.open();
    let done = |key: &str, needs: &[&str]| NewTask {
        key: Some(key.to_owned()),
        result: Some("ok".to_owned()),
        ..new(key, needs)
    };
    let tasks = vec![new("last", &["b"]), done("b", &["a"]), done("a", &[]), new("open", &["last", "a"])];
    let keyed = tasks.into_iter().map(|task| NewTask { key: Some(task.title.clone()), ..task });
    let made = store.create_tasks(&by("boss"), keyed.collect()).unwrap();
    let statuses: Vec<_> = made.iter().map(|task| task.status).collect();
    use TaskStatus::{Completed, Pending, Ready};
    assert_eq!(statuses, [Ready, Completed, Completed, Pending]);
    assert_eq!(store.tasks(None).unwrap(), made);
    assert_eq!((made[1].owner.as_deref(), made[1].result.as_deref()), (Some("boss"), Some("ok")));
    assert_eq!(store.last_position().unwrap(), 4, "nobody has ever seen them otherwise");
    let wrong = store.create_tasks(&by("boss"), vec![new("fine", &[]), done("x", &["t4"])]).unwrap_err();
    assert!(wrong.message().contains("`x` is completed, but depends on `t4`"), "{}", wrong.message());
    assert_eq!(store.tasks(None).unwrap().len(), 4, "all or none");
}

fn refusals_say_what_is_so(fresh: &Fresh) {
    let store = fresh.open();
    create(&*store, "one", &[]);
    create(&*store, "two", &[]);
    create(&*store, "three", &["t1", "t2"]);
    submit(&*store, "w", "t1", None).unwrap();
    let release = |id: &str| conflict(store.change_task(&by("boss"), id, TaskChange::Release));
    let complete = |id: &str| conflict(store.change_task(&by("boss"), id, TaskChange::Complete));
    for (said, part) in [
        (release("t2"), "is ready and not claimed, so it cannot be released; there is no claim to release"),
        (release("t3"), "waits for t1, t2, so it cannot be released; there is no claim to release"),
        (release("t1"), "complete or reject it instead"),
        (complete("t2"), "it must be submitted first"),
        (complete("t3"), "it must be submitted first"),
    ] {
        assert!(said.contains(part), "{said}");
    }
    store.change_task(&by("boss"), "t1", TaskChange::Complete).unwrap();
    // What is completed is not waited for any more.
    let waits = conflict(claim(&*store, "w", "t3"));
    assert!(
        waits.contains("waits for t2, so it cannot be claimed; take another one that is ready"),
        "{waits}"
    );
}
