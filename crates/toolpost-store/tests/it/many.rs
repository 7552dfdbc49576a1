//! A server that is killed and comes back in the middle of the work.

use crate::{by, count, server::Server, warning};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use toolpost_core::store::{EventQuery, FileChange};

#[test]
fn guarantee_29_what_was_acknowledged_survives_the_death_of_the_server() {
    let rounds = count(2, 40);
    let server = Server::start();
    let url = server.database();
    let store = toolpost_store::open(&url).unwrap();
    let (stop, acknowledged, files) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|threads| {
        let log = threads.spawn(|| {
            let mut next = 1;
            while !stop.load(Ordering::Relaxed) {
                // A part is added once, however often it must be tried.
                store.append(&[warning("log", next, "x")]).unwrap();
                acknowledged.store(next, Ordering::Relaxed);
                next += 1;
            }
        });
        let writer = threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let change =
                    FileChange { path: "a".into(), content: Some(b"x".to_vec()), expected: None, mode: None };
                // Where nobody knows whether it was made, nothing was acknowledged.
                if let Ok(versions) = store.change_files(&by("files"), vec![change]) {
                    files.store(versions[0], Ordering::Relaxed);
                }
            }
        });
        for _ in 0..rounds {
            let before = acknowledged.load(Ordering::Relaxed);
            while acknowledged.load(Ordering::Relaxed) < before + 20 {
                assert!(!log.is_finished() && !writer.is_finished());
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            server.kill();
            server.run();
        }
        stop.store(true, Ordering::Relaxed);
    });
    let query = |session: &str| EventQuery { session: Some(session.to_owned()), ..EventQuery::default() };
    let log = store.events(&query("log")).unwrap();
    let times: Vec<u64> = log.iter().map(|one| one.event.at_ms).collect();
    assert_eq!(
        times,
        (1..=acknowledged.into_inner()).collect::<Vec<_>>(),
        "every one is there, in order, once"
    );
    let newest = store.file_versions("files", "a").unwrap().last().unwrap().version;
    assert!(newest >= files.into_inner());
    let told = store.events(&query("files")).unwrap();
    assert_eq!(told.len() as u64, newest, "the log tells of every version");
}
