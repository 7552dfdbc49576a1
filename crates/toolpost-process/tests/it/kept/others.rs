//! What somebody else changes while a command runs, or after it, is not the command's.

use super::Stage;
use crate::guard::as_ordinary_user;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use toolpost_process::kept::{self, Change, State};

/// What somebody else does to a workspace.
type Edit = fn(&Path);

/// Runs a line until it says that it is ready, lets somebody else act, and lets the line go on. The line waits with `$wait`.
async fn changes(stage: &Stage, line: &str, during: Edit, after: Edit) -> Vec<Change> {
    let go = stage.root.join("go");
    let _ = fs::remove_file(&go);
    let wait = format!("wait_here() {{ echo ready; while [ ! -e {} ]; do sleep 0.01; done; }}", go.display());
    let command = stage.command(&format!("{wait}; {line}")).keep_in(stage.new_spool());
    let mut running = command.start().unwrap();
    let mut stdout = running.take_stdout().unwrap();
    let mut said = [0; 6];
    tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut said).await.unwrap();
    during(&stage.root);
    File::create(&go).unwrap();
    running.wait().await.unwrap();
    after(&stage.root);
    let mut spool = File::open(&stage.spool).unwrap();
    kept::changes(&mut spool, std::slice::from_ref(&stage.root)).unwrap().changes
}

fn nothing(_: &Path) {}

fn append(root: &Path) {
    let mut file = File::options().append(true).open(root.join("f")).unwrap();
    file.write_all(b"by the user\n").unwrap();
}

fn replace(root: &Path) {
    fs::write(root.join("f.new"), "all by the user\n").unwrap();
    fs::rename(root.join("f.new"), root.join("f")).unwrap();
}

fn file(content: &str) -> State {
    State::File { content: content.as_bytes().to_vec(), mode: 0o644 }
}

/// What the command has left at `f`, if it has changed it.
async fn check(line: &str, during: Edit, after: Edit, expected: Option<State>) {
    let stage = Stage::new();
    stage.write("f", "one\ntwo\n");
    let found = changes(&stage, line, during, after).await;
    let left = found.into_iter().find(|change| change.path.ends_with("f")).map(|change| change.after);
    assert_eq!(left, expected, "{line}");
}

// With `: >> seen` the guard has seen, before the line goes on, what was closed until then.
const SED: &str = "sed -i s/one/ONE/ f; wait_here";
const IN_PLACE: &str = "echo ONE > f; : >> seen; wait_here";
const HELD: &str = "exec 3>>f; wait_here; : >> seen";
const HELD_AND_WRITTEN: &str = "exec 3>>f; echo more >&3; wait_here; : >> seen";
const REMOVED: &str = "rm f; wait_here";

#[tokio::test]
async fn guarantee_35_an_edit_while_the_command_runs_is_not_the_commands() {
    as_ordinary_user("kept::others::guarantee_35_an_edit_while_the_command_runs_is_not_the_commands");
    // What the command has left is known, since it had closed the file.
    for edit in [append as Edit, replace, |root| fs::remove_file(root.join("f")).unwrap()] {
        check(SED, edit, nothing, Some(file("ONE\ntwo\n"))).await;
        check(IN_PLACE, edit, nothing, Some(file("ONE\n"))).await;
    }
    // While the command has the file open, the two cannot be told apart.
    for line in [HELD, HELD_AND_WRITTEN] {
        check(line, append, nothing, Some(State::Unknown)).await;
        check(line, replace, nothing, Some(State::Unknown)).await;
    }
    // It was removed, whatever is there now.
    check(REMOVED, |root| fs::write(root.join("f"), "new").unwrap(), nothing, Some(State::Absent)).await;
    // A new file of the command that somebody else has changed.
    let made = |root: &Path| fs::write(root.join("f"), "other").unwrap();
    check("rm f; echo x > f; : >> seen; wait_here", made, nothing, Some(file("x\n"))).await;
    // Nobody else: what the command leaves is what is there.
    check(SED, nothing, nothing, Some(file("ONE\ntwo\n"))).await;
    check(HELD_AND_WRITTEN, nothing, nothing, Some(file("one\ntwo\nmore\n"))).await;
    check(HELD, nothing, nothing, None).await;
}

#[tokio::test]
async fn guarantee_35_an_edit_after_the_end_is_not_the_commands() {
    as_ordinary_user("kept::others::guarantee_35_an_edit_after_the_end_is_not_the_commands");
    for edit in [append as Edit, replace] {
        check(SED, nothing, edit, Some(file("ONE\ntwo\n"))).await;
        check("exec 3>f; echo x >&3; wait_here", nothing, edit, Some(file("x\n"))).await;
        // Of one that is large there is no copy.
        let line = "seq 100000 > f; wait_here";
        check(line, nothing, edit, Some(State::Unknown)).await;
    }
    check(REMOVED, nothing, |root| fs::write(root.join("f"), "new").unwrap(), Some(State::Absent)).await;
    // Only its mode: its content is still the command's.
    let chmod = |root: &Path| {
        fs::set_permissions(root.join("f"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    check(SED, nothing, chmod, Some(file("ONE\ntwo\n"))).await;
}

/// Ways of the command to change what it has closed already: all are its own.
#[tokio::test]
async fn what_the_command_does_itself_is_not_somebody_elses() {
    as_ordinary_user("kept::others::what_the_command_does_itself_is_not_somebody_elses");
    for line in [
        "echo x > f; echo y >> f; wait_here; touch -d 2001-01-01 f; touch f",
        "echo x > f; wait_here; chmod 600 f; ln f g; rm f; mv g f; chmod 644 f",
        "exec 3>f 4>>f; echo x >&3; wait_here; exec 3>&-; echo y >&4; exec 4>&-",
        "mkdir d; echo x > d/f; wait_here; mv d e; echo y >> e/f; mv e/f f",
        "echo x > g; exec 3>>g; mv g f; wait_here; echo y >&3",
        "truncate -s 3 f; wait_here; truncate -s 1 f; cp f g; mv f h; mv g f",
        "python3 -c 'import mmap\nf = open(\"f\", \"r+b\")\nm = mmap.mmap(f.fileno(), 0)\nf.close()\nm[0:2] = b\"ZZ\"'; wait_here",
        "tar cf t.tar f; rm f; wait_here; tar xf t.tar; rm t.tar; echo x >> f",
        "exec 3<f; echo x >> /proc/self/fd/3; wait_here; echo y > /proc/self/fd/3",
        "for i in $(seq 40); do echo $i >> f & done; wait; wait_here",
    ] {
        let stage = Stage::new();
        stage.write("f", "one\ntwo\n");
        let changes = changes(&stage, line, nothing, nothing).await;
        let change = changes.into_iter().find(|change| change.path == stage.root.join("f")).expect(line);
        let content = fs::read(stage.root.join("f")).unwrap();
        assert_eq!(change.after, State::File { content, mode: 0o644 }, "{line}");
    }
}
