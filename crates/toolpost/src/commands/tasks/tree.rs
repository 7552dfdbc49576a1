//! Tasks for people: a tree in which a task stands above those that it depends on. Pure.

use crate::output::{on_terminal, one_line};
use std::collections::{HashMap, HashSet};
use toolpost_core::store::{Task, TaskStatus};

/// Levels of one tree. What lies deeper is a tree of its own, so that a long chain does not run out of the page.
const DEEPEST: usize = 12;

/// The tasks as trees, and how many there are of each status.
pub(super) fn page(tasks: &[Task]) -> String {
    let mut page = String::new();
    for (place, branch) in branches(tasks, DEEPEST) {
        let rest = match branch.rest {
            Rest::Below => "",
            Rest::Above => " … see above",
            Rest::Later => " … see below",
        };
        page.push_str(&format!("{place}{}{rest}\n", line(branch.task)));
    }
    page.push_str(&summary(tasks));
    page
}

/// A task on one line.
pub(super) fn line(task: &Task) -> String {
    let mark = match task.status {
        TaskStatus::Pending => '·',
        TaskStatus::Ready => '○',
        TaskStatus::Claimed => '◐',
        TaskStatus::Submitted => '◕',
        TaskStatus::Completed => '✓',
        TaskStatus::Deferred => '↺',
    };
    let owner = match (&task.owner, task.status) {
        (Some(owner), TaskStatus::Claimed | TaskStatus::Submitted) => format!(" by {owner}"),
        _ => String::new(),
    };
    let text = format!("{} {} ({}{owner})", task.id, task.title, task.status.as_str());
    format!("{mark} {}", one_line(&on_terminal(&text)))
}

fn summary(tasks: &[Task]) -> String {
    let counts = TaskStatus::ALL.map(|status| {
        let count = tasks.iter().filter(|task| task.status == status).count();
        (count > 0).then(|| format!("{count} {}", status.as_str()))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    match tasks.len() {
        0 => "no tasks yet\n".to_owned(),
        1 => format!("1 task: {}\n", counts.join(", ")),
        count => format!("{count} tasks: {}\n", counts.join(", ")),
    }
}

/// A task at its place in a tree.
pub(super) struct Branch<'a> {
    pub(super) task: &'a Task,
    pub(super) depth: usize,
    pub(super) rest: Rest,
}

/// Where the tasks are that a task depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Right below it, where there are any.
    Below,
    /// At an earlier place of the same task.
    Above,
    /// At a later place of the same task, too deep for here.
    Later,
}

/// Every task that nobody waits for, then below it what it depends on; each with what is drawn in front of it.
pub(super) fn branches(tasks: &[Task], deepest: usize) -> Vec<(String, Branch<'_>)> {
    let by_id: HashMap<&str, &Task> = tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let needed = |task: &Task| -> Vec<&Task> {
        task.depends_on.iter().filter_map(|id| by_id.get(id.as_str()).copied()).collect()
    };
    let waited_for: HashSet<&str> =
        tasks.iter().flat_map(|task| task.depends_on.iter().map(String::as_str)).collect();
    let mut roots: Vec<&Task> =
        tasks.iter().rev().filter(|task| !waited_for.contains(task.id.as_str())).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut found = Vec::new();
    // Lists that are taken from their ends: the roots of further trees, and what is left of this one.
    while let Some(root) = roots.pop() {
        if seen.contains(root.id.as_str()) {
            continue;
        }
        let mut later = Vec::new();
        let mut open = vec![(root, 0, String::new(), String::new())];
        while let Some((task, depth, place, below)) = open.pop() {
            let needed = needed(task);
            let rest = match needed.is_empty() {
                true => Rest::Below,
                false if seen.contains(task.id.as_str()) => Rest::Above,
                false if depth + 1 >= deepest => {
                    later.push(task);
                    Rest::Later
                }
                false => Rest::Below,
            };
            if rest != Rest::Later {
                seen.insert(&task.id);
            }
            found.push((place, Branch { task, depth, rest }));
            if rest != Rest::Below {
                continue;
            }
            for (index, next) in needed.iter().enumerate().rev() {
                let (branch, line) = match index + 1 == needed.len() {
                    true => ("└─ ", "   "),
                    false => ("├─ ", "│  "),
                };
                open.push((*next, depth + 1, format!("{below}{branch}"), format!("{below}{line}")));
            }
        }
        roots.extend(later.into_iter().rev());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: TaskStatus, depends_on: &[&str]) -> Task {
        Task {
            id: id.to_owned(),
            title: format!("task {id}"),
            description: String::new(),
            status,
            depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
            owner: (status == TaskStatus::Claimed).then(|| "w".to_owned()),
            claim: 0,
            result: None,
            reason: None,
            created_ms: 0,
            changed_ms: 0,
        }
    }

    #[test]
    fn a_task_stands_above_what_it_depends_on() {
        let tasks = [
            task("t1", TaskStatus::Completed, &[]),
            task("t2", TaskStatus::Claimed, &["t1"]),
            task("t3", TaskStatus::Ready, &["t1"]),
            task("t4", TaskStatus::Pending, &["t2", "t3"]),
            task("t5", TaskStatus::Pending, &["t2", "t9"]),
            task("t6", TaskStatus::Deferred, &[]),
        ];
        let expected = "\
· t4 task t4 (pending)
├─ ◐ t2 task t2 (claimed by w)
│  └─ ✓ t1 task t1 (completed)
└─ ○ t3 task t3 (ready)
   └─ ✓ t1 task t1 (completed)
· t5 task t5 (pending)
└─ ◐ t2 task t2 (claimed by w) … see above
↺ t6 task t6 (deferred)
6 tasks: 2 pending, 1 ready, 1 claimed, 1 completed, 1 deferred
";
        assert_eq!(page(&tasks), expected);
    }

    #[test]
    fn a_long_chain_is_cut_into_trees() {
        let chain: Vec<Task> = (0..10_000)
            .map(|number| {
                let needed = format!("t{}", number + 1);
                task(&format!("t{number}"), TaskStatus::Pending, &[&needed])
            })
            .collect();
        let page = page(&chain);
        assert!(page.lines().all(|line| line.chars().count() < 100));
        // Each is there, and twice where a tree ends and the next begins; the last one ends its tree anyhow.
        let expected = 10_000 + (10_000 - 2) / (DEEPEST - 1);
        assert_eq!(page.lines().count(), expected + 1);
        assert!(page.contains("t9999 "));
    }

    #[test]
    fn nothing_in_a_title_is_obeyed() {
        let mut strange = task("t1", TaskStatus::Ready, &[]);
        strange.title = "a\nb\x1b[31m".to_owned();
        assert_eq!(line(&strange), "○ t1 a␊b␛[31m (ready)");
    }
}
