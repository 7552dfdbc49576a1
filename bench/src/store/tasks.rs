//! Tasks from claim to completion, by one process and by many, on both databases.

use super::server::Server;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, params};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use toolpost_core::store::{By, NewTask, TaskChange, TaskStatus};
use toolpost_store::StoreUrl;

/// The flag that starts this program as a worker: `--work=URL NUMBER OF`.
pub(crate) const WORK: &str = "--work";

const TASKS: usize = 480;
const PROCESSES: [usize; 3] = [1, 4, 16];

fn by(session: &str) -> By {
    By { at_ms: 1_800_000_000_000, session: session.to_owned(), ..By::default() }
}

/// Claims, hands in and completes every task whose number is its own.
pub(crate) fn work(url: &str, words: &[String]) -> Result<()> {
    let [number, of] = words else { anyhow::bail!("a worker is told its number, and of how many") };
    let (number, of): (usize, usize) = (number.parse()?, of.parse()?);
    let store = toolpost_store::open(&url.parse()?)?;
    // Whoever starts them waits for this line, and answers when all are there.
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    for index in (number..TASKS).step_by(of) {
        let (me, id) = (by(&format!("worker-{number}")), format!("t{}", index + 1));
        let claim = store.change_task(&me, &id, TaskChange::Claim)?.claim;
        let submit = TaskChange::Submit { result: "done".to_owned(), claim: Some(claim) };
        store.change_task(&me, &id, submit)?;
        store.change_task(&me, &id, TaskChange::Complete)?;
    }
    Ok(())
}

pub(super) fn measure(folder: &Path, hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let mut table = Table::new(
        format!("store: {TASKS} tasks, claimed, handed in and completed, SQLite"),
        Unit::PerSecond,
    );
    table.add("the same statements, plain loop", each(plain(&folder.join("plain-tasks.db"))?), None);
    for count in PROCESSES {
        let path = folder.join(format!("tasks-{count}.db"));
        let url = StoreUrl::Sqlite(path.clone());
        let took = ours(&url, &format!("sqlite:{}", path.display()), count)?;
        table.add(&format!("toolpost, {count} processes"), each(took), None);
    }
    table.note("Each step is durable before the next; SQLite has one writer, so that processes take turns.");
    hand_on(table);
    let server = Server::start();
    let mut table = Table::new(
        format!("store: {TASKS} tasks, claimed, handed in and completed, PostgreSQL"),
        Unit::PerSecond,
    );
    table.add("the same statements, plain loop", each(plain_on_server(&server)?), None);
    for count in PROCESSES {
        let url = server.database();
        let address = match &url {
            StoreUrl::Postgres(address) => address.clone(),
            other => anyhow::bail!("{other} is no server"),
        };
        table.add(&format!("toolpost, {count} processes"), each(ours(&url, &address, count)?), None);
    }
    hand_on(table);
    Ok(())
}

fn each(all: Duration) -> Samples {
    let mut samples = Samples::default();
    samples.add(all / TASKS as u32);
    samples
}

fn ours(url: &StoreUrl, address: &str, count: usize) -> Result<Duration> {
    let store = toolpost_store::open(url)?;
    let tasks = (0..TASKS).map(|number| NewTask { title: format!("task {number}"), ..NewTask::default() });
    store.create_tasks(&by("orchestrator"), tasks.collect())?;
    let program = std::env::current_exe()?;
    let mut workers = Vec::new();
    for number in 0..count {
        let mut command = Command::new(&program);
        command.args([format!("{WORK}={address}"), number.to_string(), count.to_string()]);
        let mut worker = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut said = std::io::BufReader::new(worker.stdout.take().context("a worker speaks")?);
        std::io::BufRead::read_line(&mut said, &mut String::new())?;
        workers.push(worker);
    }
    let started = Instant::now();
    workers.iter_mut().for_each(|worker| drop(worker.stdin.take()));
    for mut worker in workers {
        ensure!(worker.wait()?.success(), "a worker failed");
    }
    let took = started.elapsed();
    ensure!(store.tasks(Some(TaskStatus::Completed))?.len() == TASKS, "a task is not completed");
    Ok(took)
}

/// What a program without a store would do: one row changed and one added to the log, durable, three times a task.
fn plain(path: &Path) -> Result<Duration> {
    let store = toolpost_store::open(&StoreUrl::Sqlite(path.to_owned()))?;
    let tasks = (0..TASKS).map(|number| NewTask { title: format!("task {number}"), ..NewTask::default() });
    store.create_tasks(&by("orchestrator"), tasks.collect())?;
    let mut position = i64::try_from(store.last_position()?)?;
    drop(store);
    let plain = Connection::open(path)?;
    plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    let started = Instant::now();
    for number in 1..=TASKS as i64 {
        for (from, to) in [("ready", "claimed"), ("claimed", "submitted"), ("submitted", "completed")] {
            position += 1;
            plain.execute_batch("BEGIN IMMEDIATE")?;
            plain
                .prepare_cached(
                    "UPDATE tasks SET status = ?2, owner = 'me', claim = 1 WHERE number = ?1 AND status = ?3",
                )?
                .execute(params![number, to, from])?;
            plain
                .prepare_cached("INSERT INTO log (position, session, sequence, at_ms, kind, body) VALUES (?1, 'plain', ?1, 0, 'taskChanged', ?2)")?
                .execute(params![position, format!("{{\"task\":\"t{number}\",\"status\":\"{to}\"}}")])?;
            plain.execute_batch("COMMIT")?;
        }
    }
    Ok(started.elapsed())
}

/// The same on a server, over one connection.
fn plain_on_server(server: &Server) -> Result<Duration> {
    let url = server.database();
    let StoreUrl::Postgres(address) = &url else { anyhow::bail!("{url} is no server") };
    let store = toolpost_store::open(&url)?;
    let tasks = (0..TASKS).map(|number| NewTask { title: format!("task {number}"), ..NewTask::default() });
    store.create_tasks(&by("orchestrator"), tasks.collect())?;
    let mut position = i64::try_from(store.last_position()?)?;
    drop(store);
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    threads.block_on(async {
        let (mut client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let change = client
            .prepare("UPDATE tasks SET status = $2, owner = 'me', claim = 1 WHERE number = $1 AND status = $3")
            .await?;
        let add = client
            .prepare("INSERT INTO log (position, session, sequence, at_ms, kind, body) VALUES ($1, 'plain', $1, 0, 'taskChanged', $2)")
            .await?;
        let started = Instant::now();
        for number in 1..=TASKS as i64 {
            for (from, to) in [("ready", "claimed"), ("claimed", "submitted"), ("submitted", "completed")] {
                position += 1;
                let body = format!("{{\"task\":\"t{number}\",\"status\":\"{to}\"}}");
                let transaction = client.transaction().await?;
                ensure!(transaction.execute(&change, &[&number, &to, &from]).await? == 1, "no task {number}");
                transaction.execute(&add, &[&position, &body]).await?;
                transaction.commit().await?;
            }
        }
        Ok(started.elapsed())
    })
}
