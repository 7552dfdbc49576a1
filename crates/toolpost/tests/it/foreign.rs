//! What belongs to another user is not taken over in silence.

use crate::Home;
use std::os::unix::fs::chown;

/// Another user's, if this one may give files away; otherwise there is nothing to test.
fn given_away(home: &Home, name: &str) -> bool {
    rustix::process::geteuid().is_root() && chown(home.path(name), Some(65_534), Some(65_534)).is_ok()
}

#[test]
fn a_repository_of_another_user_is_not_taken_for_the_workspace() {
    let home = Home::new();
    home.write("repo/src/deep/a.txt", "a\n");
    home.write("repo/outside.txt", "outside\n");
    if !given_away(&home, "repo/.git") {
        return;
    }
    let run = |args: &[&str]| {
        let output = home.command(args).current_dir(home.path("repo/src/deep")).output().unwrap();
        crate::Ran::of(output)
    };
    let ran = run(&["call", "read", "filePath=../../outside.txt"]);
    assert!(ran.status != 0 && !ran.stdout.contains("outside"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("belongs to another user") && ran.stderr.contains("--workspace"),
        "{}",
        ran.stderr
    );
    let ran = run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("belongs to another user"), "{}", ran.stderr);
    for args in [&["doctor"][..], &["trust"]] {
        let ran = run(args);
        assert!((ran.stdout + &ran.stderr).contains("belongs to another user"), "{args:?}");
    }
    let (_, page) = run(&["doctor", "--json"]).json();
    assert_eq!(page["workspace"]["from"], "the current folder");
    // Whoever names it has chosen.
    let named = home.path("repo").display().to_string();
    let ran = run(&["call", "read", "filePath=outside.txt", "--workspace", &named]);
    assert!(ran.status == 0 && !ran.stderr.contains("another user"), "{}", ran.stderr);
    // One that nobody gave away is taken as ever.
    let ran = crate::Ran::of(Home::new().command(["call", "list"]).output().unwrap());
    assert!(!ran.stderr.contains("another user"), "{}", ran.stderr);
}

#[test]
fn a_repository_of_the_administrator_is_not_taken_by_an_ordinary_user() {
    use crate::confinement::User;
    let Some(id) = User::ids().iter().find_map(|id| *id) else { return };
    let user = User { home: Home::new(), id: Some(id) };
    user.home.write("repo/src/a.txt", "a\n");
    user.settle();
    chown(user.home.path("repo/.git"), Some(0), Some(0)).unwrap();
    let mut command = user.as_user(user.home.command(["doctor"]));
    let ran = crate::Ran::of(command.current_dir(user.home.path("repo/src")).output().unwrap());
    assert!((ran.stdout + &ran.stderr).contains("belongs to another user"));
}
