//! Guarantee 8 between processes: several `toolpost call edit` on one file at once.

use super::{Home, count};
use serde_json::json;

#[test]
fn guarantee_08_edits_by_separate_processes_are_all_there_or_refused() {
    let home = Home::new();
    let (writers, edits) = (count(6, 12), count(10, 100));
    let start: String = (0..writers).map(|writer| format!("writer {writer}: 0\n")).collect();
    home.write("repo/shared.txt", start);
    let done: Vec<usize> = std::thread::scope(|scope| {
        let one = |writer: usize| {
            let home = &home;
            scope.spawn(move || {
                let mut done = 0;
                for _ in 0..edits {
                    let line = |number: usize| format!("writer {writer}: {number}\n");
                    let args = json!({
                        "filePath": "shared.txt", "oldString": line(done), "newString": line(done + 1)
                    });
                    let (status, _) = home.json(&["call", "edit", &args.to_string()]);
                    done += usize::from(status == 0);
                }
                done
            })
        };
        let all: Vec<_> = (0..writers).map(one).collect();
        all.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let expected: String =
        done.iter().enumerate().map(|(writer, done)| format!("writer {writer}: {done}\n")).collect();
    assert_eq!(std::fs::read_to_string(home.path("repo/shared.txt")).unwrap(), expected);
    let all: usize = done.iter().sum();
    println!(
        "measure: guarantee 8: {writers} writers, each {edits} `toolpost call edit`: {all} there, {} refused, 0 lost",
        writers * edits - all
    );
    assert!(all > 0);
}
