//! What a command changed is handed to the journal of its call when it has ended.

use crate::bash::{executor, ground, session, standard_and_exec};
use crate::{data, run, shown};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use toolpost_core::workspace::{CommandBefore, CommandChange, Journal, Pending};
use toolpost_core::{Call, Code, Context, Outcome, ToolError};
use toolpost_disk::Disk;
use toolpost_tools::shell::{self, Confinement};

/// Keeps what commands have changed, each call's in one line for each name.
#[derive(Default)]
struct Recorder {
    folder: Option<PathBuf>,
    spools: Mutex<usize>,
    told: Mutex<Vec<Vec<String>>>,
    refuses: bool,
    /// Whether what a command has put back is kept too.
    tells_put_back: bool,
}

impl Journal for Recorder {
    fn before(&self, _: Pending) -> Result<(), ToolError> {
        Ok(())
    }

    fn spool(&self, session: &str, call: &str) -> Result<Option<File>, ToolError> {
        assert!(session == "s" && !call.is_empty());
        let mut spools = self.spools.lock().unwrap();
        *spools += 1;
        let Some(folder) = &self.folder else {
            return Err(ToolError::new(Code::StoreNotAvailable, "the disk of the store is full"));
        };
        let path = folder.join(format!("spool-{spools}"));
        Ok(Some(File::options().append(true).read(true).create_new(true).open(path).unwrap()))
    }

    fn command_changed(&self, _: &str, _: &str, changes: Vec<CommandChange>) -> Result<(), ToolError> {
        if self.refuses {
            return Err(ToolError::new(Code::StoreNotAvailable, "the store is gone"));
        }
        let line = |change: &CommandChange| {
            format!("{}: {} -> {}", change.name, side(&change.before), side(&change.after))
        };
        let is_told = |change: &&CommandChange| self.tells_put_back || change.before != change.after;
        let mut lines: Vec<String> = changes.iter().filter(is_told).map(line).collect();
        lines.sort();
        self.told.lock().unwrap().push(lines);
        Ok(())
    }
}

fn side(side: &CommandBefore) -> String {
    match side {
        CommandBefore::Absent => "absent".to_owned(),
        CommandBefore::File { content, mode } => format!("{mode:o} {:?}", String::from_utf8_lossy(content)),
        CommandBefore::TooLarge { bytes } => format!("{bytes} bytes"),
        CommandBefore::Folder { mode } => format!("folder {mode:o}"),
        CommandBefore::Link(text) => format!("link {text}"),
        CommandBefore::Unknown => "unknown".to_owned(),
    }
}

struct World {
    ground: tempfile::TempDir,
    _spools: tempfile::TempDir,
    recorder: Arc<Recorder>,
}

impl World {
    fn new() -> World {
        let spools = tempfile::tempdir().unwrap();
        let recorder = Recorder { folder: Some(spools.path().to_owned()), ..Recorder::default() };
        World { ground: ground(), _spools: spools, recorder: Arc::new(recorder) }
    }

    fn root(&self) -> &Path {
        self.ground.path()
    }

    fn context(&self) -> Context {
        session(self.root()).journal(self.recorder.clone()).build()
    }

    fn bash(&self, args: Value) -> Outcome {
        let executor = executor(standard_and_exec(), shell::Settings::default());
        run(async { executor.run(&self.context(), Call::new("bash", args)).await })
    }

    fn told(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.recorder.told.lock().unwrap())
    }
}

#[test]
fn guarantee_35_what_a_command_has_put_back_is_told_too() {
    let mut world = World::new();
    let recorder =
        Recorder { tells_put_back: true, folder: world.recorder.folder.clone(), ..Recorder::default() };
    world.recorder = Arc::new(recorder);
    let line = "mv src/a.txt b; mv b src/a.txt; mkdir d; rmdir d; chmod 600 src/a.txt; chmod 644 src/a.txt";
    world.bash(json!({"command": line}));
    let expected =
        ["b: absent -> absent", "d: absent -> absent", "src/a.txt: 644 \"one\\n\" -> 644 \"one\\n\""];
    assert_eq!(world.told(), [expected]);
}

#[test]
fn guarantee_35_what_a_command_changed_is_told_with_what_was_there() {
    let world = World::new();
    let line = "echo two >> src/a.txt; mkdir new; echo x > new/f; ln -s src/a.txt l; chmod 700 src; rm -r new; \
                mkdir kept; chmod 644 src/a.txt; touch src/a.txt";
    let outcome = world.bash(json!({"command": line}));
    assert_eq!(shown(&outcome), "[no output, exit code 0]");
    assert_eq!(data(&outcome).get("undo"), None);
    let expected = [
        "kept: absent -> folder 755",
        "l: absent -> link src/a.txt",
        "src/a.txt: 644 \"one\\n\" -> 644 \"one\\ntwo\\n\"",
        "src: folder 755 -> folder 700",
    ];
    assert_eq!(world.told(), [expected]);
    // Without a shell, with one that fails, and where nothing has changed in the end.
    world.bash(json!({"command": "rm l"}));
    world.bash(json!({"command": "mv src/a.txt src/b.txt; exit 3"}));
    world.bash(json!({"command": "cp src/b.txt x; cp x src/b.txt; rm x"}));
    let outcome = world.bash(json!({"command": "no-such-program src"}));
    assert_eq!(shown(&outcome), "bash: line 1: no-such-program: command not found\n[exit code 127]");
    world.bash(json!({"command": "true"}));
    let told = world.told();
    assert_eq!(told[0], ["l: link src/a.txt -> absent"]);
    let moved = "644 \"one\\ntwo\\n\"";
    assert_eq!(told[1], [format!("src/a.txt: {moved} -> absent"), format!("src/b.txt: absent -> {moved}")]);
    assert_eq!(told[2..], [const { Vec::<String>::new() }; 3]);
    assert_eq!(*world.recorder.spools.lock().unwrap(), 6);
}

#[test]
fn what_a_command_changed_before_it_was_ended_is_told() {
    let world = World::new();
    let mut timeout = 500;
    loop {
        let outcome = world.bash(json!({"command": "echo x > src/a.txt; sleep 100", "timeout": timeout}));
        assert_eq!(outcome.result.as_ref().unwrap_err().code(), Code::Timeout);
        if fs::read(world.root().join("src/a.txt")).unwrap() == b"x\n" {
            break;
        }
        // It had not come so far.
        assert_eq!(world.told().concat(), const { Vec::<String>::new() });
        timeout *= 2;
    }
    assert_eq!(world.told(), [["src/a.txt: 644 \"one\\n\" -> 644 \"x\\n\""]]);
    let cancel = CancellationToken::new();
    let ctx = session(world.root()).journal(world.recorder.clone()).cancel(cancel.clone()).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let marker = world.root().join("marker");
    run(async {
        let line = "echo y > src/a.txt; echo > marker; sleep 100";
        let call = executor.run(&ctx, Call::new("bash", json!({ "command": line })));
        let stop = async {
            while !marker.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(call, stop);
        assert_eq!(outcome.result.as_ref().unwrap_err().code(), Code::Cancelled);
    });
    let expected = ["marker: absent -> 644 \"\\n\"", "src/a.txt: 644 \"x\\n\" -> 644 \"y\\n\""];
    assert_eq!(world.told(), [expected]);
}

#[test]
fn what_a_background_command_changed_is_told_when_it_has_ended() {
    let world = World::new();
    let settings =
        shell::Settings { background: shell::Background::at_most(2), ..shell::Settings::default() };
    let executor = executor(standard_and_exec(), settings);
    let ctx = world.context();
    run(async {
        let call = |tool: &'static str, args: Value| executor.run(&ctx, Call::new(tool, args));
        let line = "echo x > src/a.txt; read y; rm src/a.txt";
        call("bash", json!({"command": line, "background": true})).await;
        assert_eq!(world.told(), const { Vec::<Vec<String>>::new() });
        let look = call("bash_output", json!({"id": "bg_1", "input": "go\n", "wait": 60_000})).await;
        assert_eq!(shown(&look), "[it has ended with exit code 0]");
        // Whoever is told of the end can undo it.
        assert_eq!(world.told(), [["src/a.txt: 644 \"one\\n\" -> absent"]]);
        call("bash", json!({"command": "echo x > b; sleep 100", "background": true})).await;
        while !world.root().join("b").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        call("bash_kill", json!({"id": "bg_2"})).await;
        assert_eq!(world.told().concat().len(), 1);
        let waited = call("bash", json!({"command": "echo x > c", "yieldAfter": 60_000})).await;
        assert_eq!(shown(&waited), "[no output, exit code 0]");
        assert_eq!(world.told(), [["c: absent -> 644 \"x\\n\""]]);
    });
}

#[test]
fn what_cannot_be_undone_is_said() {
    let world = World::new();
    let large = toolpost_process::kept::LARGEST_FILE + 1;
    File::create(world.root().join("large")).unwrap().set_len(large).unwrap();
    File::create(world.root().join("opened")).unwrap().set_len(large).unwrap();
    // A file that is opened for writing and stays as it is.
    let outcome = world.bash(json!({"command": "echo x >> large; : >> opened; mkfifo pipe"}));
    let note = format!(
        "[no output, exit code 0]\n[undo will not restore all that it changed: `{}` ({large} bytes) could not be kept (too \
         large, unreadable or no file); `{}` became too large, unreadable or no file: move it away before an undo]",
        world.root().join("large").display(),
        world.root().join("pipe").display(),
    );
    assert_eq!(shown(&outcome), note);
    assert_eq!(data(&outcome)["undo"], json!(false));
    let told = [format!("large: {large} bytes -> {} bytes", large + 2), "pipe: absent -> unknown".to_owned()];
    assert_eq!(world.told(), [told]);
}

#[test]
fn a_journal_that_fails_does_not_stop_a_command() {
    let folder = tempfile::tempdir().unwrap();
    for (recorder, note) in [
        (Recorder::default(), "what it changed cannot be undone: "),
        (
            Recorder { folder: Some(folder.path().to_owned()), refuses: true, ..Recorder::default() },
            "undo will not restore all that it changed: ",
        ),
    ] {
        let ground = ground();
        let executor = executor(standard_and_exec(), shell::Settings::default());
        let recorder = Arc::new(recorder);
        let ctx = session(ground.path()).journal(recorder.clone()).build();
        let call = Call::new("bash", json!({"command": "rm src/a.txt; echo gone"}));
        let outcome = run(async { executor.run(&ctx, call).await });
        let text = shown(&outcome);
        assert!(text.starts_with("gone\n[") && text.contains(note), "{text}");
        assert!(text.contains("store"), "{text}");
        assert_eq!(data(&outcome)["undo"], json!(false));
        assert!(!ground.path().join("src/a.txt").exists());
        recorder.folder.iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
    }
}

#[test]
fn without_a_sandbox_nothing_is_recorded_and_the_result_says_so() {
    let world = World::new();
    let settings = shell::Settings { confinement: Confinement::None, ..shell::Settings::default() };
    let policy = toolpost_core::Policy::profile(toolpost_core::policy::Profile::Privileged);
    let executor = executor(policy, settings);
    let call = Call::new("bash", json!({"command": "rm src/a.txt"}));
    let outcome = run(async { executor.run(&world.context(), call).await });
    assert_eq!(data(&outcome)["undo"], json!(false));
    assert_eq!(shown(&outcome), "[no output, exit code 0]");
    assert_eq!((*world.recorder.spools.lock().unwrap(), world.told().len()), (0, 0));
}

#[test]
fn other_roots_and_the_root_itself_have_their_names() {
    let world = World::new();
    let second = tempfile::tempdir().unwrap();
    let path = second.path().canonicalize().unwrap();
    fs::write(path.join("f"), "one\n").unwrap();
    let disk = Disk::open([world.root(), &path]).unwrap();
    let ctx = Context::builder(Arc::new(disk)).session("s").journal(world.recorder.clone()).build();
    let executor = executor(standard_and_exec(), shell::Settings::default());
    let line = format!("echo x > {}/f; chmod 711 .", path.display());
    let outcome = run(async { executor.run(&ctx, Call::new("bash", json!({ "command": line }))).await });
    let note = shown(&outcome);
    assert!(
        note.contains("undo will not restore all that it changed")
            && note.contains("is the workspace itself"),
        "{note}"
    );
    let told = world.told().concat();
    assert_eq!(told, [format!("{}/f: 644 \"one\\n\" -> 644 \"x\\n\"", path.display())]);
}
