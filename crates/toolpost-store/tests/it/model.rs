//! The graph of tasks against a model that shares no code with it: whatever order many workers come in, it says the same.

use crate::{Fresh, by, count};
use std::collections::{BTreeMap, BTreeSet};
use toolpost_core::store::{NewTask, Store, TaskChange, TaskStatus};

/// Numbers that look random and are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// What a task is, told by its history alone.
#[derive(Default, Clone)]
struct Known {
    needs: BTreeSet<usize>,
    claims: u64,
    holder: Option<String>,
    result: Option<(String, String)>,
    is_done: bool,
    /// Whether it was ever rejected.
    was_rejected: bool,
}

impl Known {
    fn expected(&self, done: &BTreeSet<usize>) -> TaskStatus {
        match self {
            Known { is_done: true, .. } => TaskStatus::Completed,
            Known { result: Some(_), .. } => TaskStatus::Submitted,
            Known { holder: Some(_), .. } => TaskStatus::Claimed,
            Known { was_rejected: true, .. } => TaskStatus::Deferred,
            Known { needs, .. } if needs.is_subset(done) => TaskStatus::Ready,
            _ => TaskStatus::Pending,
        }
    }
}

const WORKERS: usize = 4;

/// What each worker believes: the number of its claim of a task, which may be long gone.
type Beliefs = BTreeMap<(usize, usize), u64>;

fn id(task: usize) -> String {
    format!("t{}", task + 1)
}

fn one_world(store: &dyn Store, seed: u64, steps: usize) -> usize {
    let mut random = Seeded(seed | 1);
    let mut tasks: Vec<Known> = Vec::new();
    let mut beliefs = Beliefs::new();
    let mut lost: BTreeSet<(String, usize)> = BTreeSet::new();
    let mut completions = 0;
    for step in 0..steps {
        let done: BTreeSet<usize> = (0..tasks.len()).filter(|task| tasks[*task].is_done).collect();
        if tasks.is_empty() || random.below(25) == 0 {
            let needs: BTreeSet<usize> = match tasks.len() {
                0 => BTreeSet::new(),
                many => (0..random.below(3)).map(|_| random.below(many)).collect(),
            };
            let new = NewTask {
                title: format!("task {step}"),
                depends_on: needs.iter().map(|task| id(*task)).collect(),
                ..NewTask::default()
            };
            store.create_tasks(&by("boss"), vec![new]).unwrap();
            tasks.push(Known { needs, ..Known::default() });
            continue;
        }
        let (task, worker) = (random.below(tasks.len()), random.below(WORKERS));
        let name = format!("worker-{worker}");
        let known = &mut tasks[task];
        let before = known.expected(&done);
        let is_free = matches!(before, TaskStatus::Ready | TaskStatus::Deferred);
        let is_mine = known.holder.as_deref() == Some(name.as_str()) && before == TaskStatus::Claimed;
        let (who, change, may) = match random.below(5) {
            0 => (name.clone(), TaskChange::Claim, is_free || is_mine),
            1 => {
                let belief = beliefs.get(&(worker, task)).copied().filter(|_| random.below(3) > 0);
                let may = match belief {
                    Some(number) => is_mine && number == known.claims,
                    // Without the number, whoever has lost a claim is known all the same.
                    None => is_mine || (is_free && !lost.contains(&(name.clone(), task))),
                };
                (name.clone(), TaskChange::Submit { result: format!("{name} {step}"), claim: belief }, may)
            }
            2 => (
                "boss".to_owned(),
                TaskChange::Complete,
                matches!(before, TaskStatus::Submitted | TaskStatus::Completed),
            ),
            3 => {
                let reason = format!("no {step}");
                ("boss".to_owned(), TaskChange::Reject { reason }, before == TaskStatus::Submitted)
            }
            _ => ("boss".to_owned(), TaskChange::Release, before == TaskStatus::Claimed),
        };
        let answer = store.change_task(&by(&who), &id(task), change.clone());
        assert_eq!(
            answer.is_ok(),
            may,
            "seed {seed}, step {step}: {change:?} of {before:?} by {who}: {answer:?}"
        );
        let Ok(now) = answer else { continue };
        match change {
            TaskChange::Claim => {
                if is_free {
                    known.claims += 1;
                    known.holder = Some(name);
                }
                beliefs.insert((worker, task), now.claim);
                lost.remove(&(format!("worker-{worker}"), task));
            }
            TaskChange::Submit { result, .. } => {
                if is_free {
                    known.claims += 1;
                }
                known.holder = Some(name.clone());
                lost.remove(&(name.clone(), task));
                known.result = Some((name, result));
            }
            TaskChange::Complete => {
                completions += usize::from(!known.is_done);
                known.is_done = true;
            }
            TaskChange::Reject { .. } => {
                (known.result, known.holder, known.was_rejected) = (None, None, true);
            }
            TaskChange::Release => lost.extend(known.holder.take().map(|holder| (holder, task))),
        }
        let done: BTreeSet<usize> = (0..tasks.len()).filter(|task| tasks[*task].is_done).collect();
        assert_eq!(
            (now.claim, now.status),
            (tasks[task].claims, tasks[task].expected(&done)),
            "seed {seed}, step {step}"
        );
    }
    let done: BTreeSet<usize> = (0..tasks.len()).filter(|task| tasks[*task].is_done).collect();
    for (number, found) in store.tasks(None).unwrap().iter().enumerate() {
        assert_eq!(found.status, tasks[number].expected(&done), "seed {seed}: {found:?}");
        if let (Some((owner, result)), true) = (&tasks[number].result, tasks[number].is_done) {
            assert_eq!((found.owner.as_ref(), found.result.as_ref()), (Some(owner), Some(result)));
        }
    }
    completions
}

#[test]
fn guarantee_30_a_task_has_one_owner_in_every_order() {
    let worlds = count(40, 2_000);
    let mut completions = 0;
    for world in 0..worlds {
        let store = Fresh::memory().open();
        completions += one_world(&*store, 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(world as u64 + 1), 300);
    }
    assert!(completions > worlds * 2, "only {completions} tasks were completed");
    println!(
        "measure: guarantee 30: {worlds} orders of 300 steps by {WORKERS} workers, {completions} tasks completed, each as the model says"
    );
}
