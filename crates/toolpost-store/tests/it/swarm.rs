//! Many processes on one graph of tasks, some killed, some stalled, with clocks that disagree: each task is done once.

use crate::server::Server;
use crate::{Fresh, by, count};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use toolpost_core::Code;
use toolpost_core::event::EventKind;
use toolpost_core::store::{By, EventQuery, NewTask, Store, TaskChange, TaskStatus};
use toolpost_store::StoreUrl;

/// Where a worker finds its store; a process is none without it.
const STORE: &str = "TOOLPOST_TEST_SWARM";
/// Who it is, and how far its clock is from the others'.
const NAME: &str = "TOOLPOST_TEST_NAME";
const CLOCK: &str = "TOOLPOST_TEST_CLOCK";
/// The moment at which all clocks would stand that are right.
const NOON: u64 = 1_800_000_000_000;

/// Started by the tests below as a process of its own: claims what is ready, and hands in results, until it is ended.
#[test]
fn worker_that_takes_what_is_ready() {
    let Some(url) = std::env::var(STORE).ok() else { return };
    let name = std::env::var(NAME).unwrap();
    let clock: i64 = std::env::var(CLOCK).unwrap().parse().unwrap();
    let store = toolpost_store::open(&url.parse().unwrap()).unwrap();
    let me = By { at_ms: NOON.saturating_add_signed(clock), session: name.clone(), ..By::default() };
    let mut turn = clock.unsigned_abs() as usize;
    loop {
        let mut free = patiently(|| store.tasks(Some(TaskStatus::Ready)));
        free.extend(patiently(|| store.tasks(Some(TaskStatus::Deferred))));
        let Some(task) = free.get(turn % free.len().max(1)) else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        turn = turn.wrapping_mul(31).wrapping_add(7);
        let Ok(mine) = store.change_task(&me, &task.id, TaskChange::Claim) else { continue };
        let submit = TaskChange::Submit { result: format!("{name} {}", mine.claim), claim: Some(mine.claim) };
        // Who was late has lost the task to somebody else, and goes on with another one.
        while let Err(error) = store.change_task(&me, &task.id, submit.clone()) {
            if error.code() == Code::TaskConflict {
                break;
            }
        }
    }
}

/// Tries again while the server is away.
fn patiently<T>(mut ask: impl FnMut() -> Result<T, toolpost_core::ToolError>) -> T {
    loop {
        if let Ok(answer) = ask() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How long a stalled process is. It may hold a lock meanwhile, and everybody waits for it.
const STALL: Duration = Duration::from_millis(300);

struct Worker {
    name: String,
    process: Child,
    stalled: Option<Instant>,
}

impl Worker {
    fn start(url: &StoreUrl, number: usize) -> Worker {
        let address = match url {
            StoreUrl::Memory => panic!("processes do not share memory"),
            StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            StoreUrl::Postgres(url) => url.clone(),
        };
        let name = format!("worker-{number}");
        // An hour before, right, and an hour after.
        let clock = (number as i64 % 3 - 1) * 3_600_000 + number as i64;
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["swarm::worker_that_takes_what_is_ready", "--exact", "--nocapture"])
            .env(STORE, address)
            .env(NAME, &name)
            .env(CLOCK, clock.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the worker starts");
        Worker { name, process, stalled: None }
    }

    /// Stops the process. It goes on by itself, so that nobody waits for its locks for ever.
    fn stall(&mut self) {
        let id = self.process.id().to_string();
        let signal = |signal: &str, id: &str| drop(Command::new("kill").args([signal, id]).status());
        signal("-STOP", &id);
        self.stalled = Some(Instant::now());
        std::thread::spawn(move || {
            std::thread::sleep(STALL);
            signal("-CONT", &id);
        });
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the swarm went through.
#[derive(Default)]
struct Trouble {
    kills: usize,
    stalls: usize,
    releases: usize,
}

/// The orchestrator: creates the tasks, accepts results, and takes tasks away from those who are gone or stalled.
fn orchestrate(url: &StoreUrl, workers: usize, tasks: usize, server: Option<&Server>) -> Trouble {
    let store = toolpost_store::open(url).unwrap();
    let boss = By { at_ms: NOON, ..by("boss") };
    // Every tenth waits for the two before it.
    let new = (0..tasks).map(|number| NewTask {
        key: Some(format!("k{number}")),
        title: format!("task {number}"),
        depends_on: match number % 10 {
            9 => vec![format!("k{}", number - 1), format!("k{}", number - 2)],
            _ => Vec::new(),
        },
        ..NewTask::default()
    });
    store.create_tasks(&boss, new.collect()).unwrap();
    let mut swarm: Vec<Worker> = (0..workers).map(|number| Worker::start(url, number)).collect();
    let (mut next, mut trouble, mut seed) = (workers, Trouble::default(), 88_172_645_463_325_252_u64);
    let mut gone: BTreeSet<String> = BTreeSet::new();
    let (mut completed, until) = (0, Instant::now() + Duration::from_secs(count(240, 3_600) as u64));
    let mut has_restarted = false;
    while completed < tasks {
        assert!(Instant::now() < until, "{completed} of {tasks} are completed");
        for task in patiently(|| store.tasks(Some(TaskStatus::Submitted))) {
            patiently(|| match store.change_task(&boss, &task.id, TaskChange::Complete) {
                // Where nobody knew whether it was made, the same again is no conflict.
                Err(error) if error.code() == Code::TaskConflict => panic!("{}", error.message()),
                other => other,
            });
            completed += 1;
        }
        for task in patiently(|| store.tasks(Some(TaskStatus::Claimed))) {
            let is_lost = task.owner.as_ref().is_some_and(|owner| gone.contains(owner));
            // One that has just been submitted cannot be released any more, and need not.
            if is_lost && store.change_task(&boss, &task.id, TaskChange::Release).is_ok() {
                trouble.releases += 1;
            }
        }
        for worker in &mut swarm {
            if worker.stalled.is_some_and(|since| since.elapsed() > STALL * 2) {
                worker.stalled = None;
                gone.remove(&worker.name);
            }
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let number = (seed >> 8) as usize % swarm.len();
        match seed % 41 {
            0 | 1 => {
                gone.insert(swarm[number].name.clone());
                swarm[number] = Worker::start(url, next);
                next += 1;
                trouble.kills += 1;
            }
            2 | 3 if swarm[number].stalled.is_none() => {
                swarm[number].stall();
                // Its tasks are given to others; it does not know, and goes on later.
                gone.insert(swarm[number].name.clone());
                trouble.stalls += 1;
            }
            _ => {}
        }
        if let Some(server) = server.filter(|_| !has_restarted && completed > tasks / 2) {
            has_restarted = true;
            server.kill();
            server.run();
        }
    }
    trouble
}

/// Each task is in the log as completed once, after one submission for each completion or rejection.
fn each_once(store: &dyn Store, tasks: usize) {
    let mut completions: BTreeMap<String, usize> = BTreeMap::new();
    let mut claims: BTreeMap<String, u64> = BTreeMap::new();
    for logged in store.events(&EventQuery::default()).unwrap() {
        let EventKind::TaskChanged { task, status, claim, owner } = logged.event.kind else { continue };
        match status {
            TaskStatus::Claimed => {
                let last = claims.insert(task.clone(), claim);
                assert_eq!(last.unwrap_or(0) + 1, claim, "{task}: claims are counted, by {owner:?}");
            }
            TaskStatus::Submitted => assert_eq!(claims.get(&task), Some(&claim), "{task}: of the last claim"),
            TaskStatus::Completed => *completions.entry(task).or_default() += 1,
            _ => {}
        }
    }
    assert_eq!(completions.len(), tasks);
    assert!(completions.values().all(|count| *count == 1), "{completions:?}");
    for task in store.tasks(None).unwrap() {
        assert_eq!(task.status, TaskStatus::Completed, "{task:?}");
        assert_eq!(
            task.result,
            Some(format!("{} {}", task.owner.unwrap(), task.claim)),
            "the owner's own result"
        );
    }
}

#[test]
fn guarantee_30_many_processes_do_each_task_once() {
    let (workers, tasks) = (count(4, 16), count(60, 10_000));
    let fresh = Fresh::sqlite();
    let first = orchestrate(&fresh.url, workers, tasks, None);
    each_once(&*fresh.open(), tasks);
    let server = Server::start();
    let url = server.database();
    let second = orchestrate(&url, workers, tasks, Some(&server));
    each_once(&*toolpost_store::open(&url).unwrap(), tasks);
    println!(
        "measure: guarantee 30: {workers} processes, {tasks} tasks on SQLite and on PostgreSQL, {} killed, {} stalled, {} claims released, the server killed in the middle: each task once",
        first.kills + second.kills,
        first.stalls + second.stalls,
        first.releases + second.releases
    );
}
