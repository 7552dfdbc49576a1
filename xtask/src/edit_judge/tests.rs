//! A small run on the history of our own, with the `toolpost` of this build.

use std::path::PathBuf;

use super::*;

const CASES: usize = 1_000;

/// The program that cargo has built beside this test.
fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let binary = folder.join("toolpost");
    assert!(binary.exists(), "{} is missing; `cargo build -p toolpost` makes it", binary.display());
    binary
}

#[test]
fn no_noisy_edit_of_a_small_history_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    corpus::check_out(folder.path()).unwrap();
    let repos = folder.path().display().to_string();
    let (cases, seed) = (CASES.to_string(), "7");
    let found = tempfile::tempdir().unwrap();
    let findings = found.path().display().to_string();
    let words = ["--repos", &repos, "--cases", &cases, "--seed", seed, "--findings", &findings];
    let request = Request::parse(&words).unwrap();
    let changes = history::changes(&request.repos, CHANGES, &mut Choices::new(request.seed)).unwrap();
    let results = judge(&request, &changes, &binary(), None).unwrap();
    let goals = counts::goals(&results);
    let total = results.total(|_, _| true);
    assert_eq!(total.cases(), CASES, "{goals}");
    for finding in std::fs::read_dir(found.path().join("1-wrong")).into_iter().flatten() {
        println!("{}", std::fs::read_to_string(finding.unwrap().path()).unwrap());
    }
    assert_eq!(total.with(Ruling::Wrong), 0, "{goals}\n{}", results.table());
    let (right, decidable) = total.decidable();
    assert!(right * 100 >= decidable * 90, "{goals}\n{}", results.table());
}

#[test]
fn each_kind_of_noise_has_its_own_name() {
    let mut names: Vec<&str> = kinds::all().into_iter().map(|noise| noise.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count > 150, "there are only {count}");
}
