//! Writers to one file take turns.

use crate::stage::{Stage, any, code, path_schema, said, spec};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::{Call, Capability, Outcome, Workspace, dynamic};
use toolpost_disk::Disk;

/// A tool that writes down when it begins and ends. In between it lets time pass, or waits for another call to begin.
fn slow(
    diary: &Arc<Mutex<Vec<String>>>,
    capability: Capability,
    waits_for_other: bool,
) -> toolpost_core::tool::DynamicTool {
    let diary = diary.clone();
    dynamic(spec("slow").requires(capability).parallel_safe(), path_schema(), move |_, args| {
        let diary = diary.clone();
        async move {
            let name = args["content"].as_str().unwrap().to_owned();
            diary.lock().unwrap().push(format!("{name} begins"));
            tokio::time::sleep(Duration::from_millis(20)).await;
            for _ in 0..2_000 {
                if !waits_for_other || diary.lock().unwrap().len() > 1 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            diary.lock().unwrap().push(format!("{name} ends"));
            said(name)
        }
    })
}

/// Runs one call for each of the arguments at once; they overlap or take turns.
async fn check(workspace: Arc<dyn Workspace>, capability: Capability, calls: [Value; 2], takes_turns: bool) {
    let diary = Arc::new(Mutex::new(Vec::new()));
    let stage = Stage::new().tool(slow(&diary, capability, !takes_turns));
    let ctx = toolpost_core::Context::builder(workspace).build();
    let named = ["x", "y"].into_iter().zip(calls.clone()).map(|(name, mut arguments)| {
        arguments["content"] = name.into();
        Call::new("slow", arguments)
    });
    let outcomes = stage.executor().call_all(&ctx, named.collect()).await;
    assert!(outcomes.iter().all(Outcome::is_success), "{outcomes:?}");
    let mut diary: Vec<String> = diary.lock().unwrap().clone();
    if diary[0] == "y begins" {
        diary = diary.iter().map(|line| line.replace('x', "z").replace('y', "x").replace('z', "y")).collect();
    }
    let turns = diary == ["x begins", "x ends", "y begins", "y ends"];
    assert_eq!(turns, takes_turns, "{calls:?}: {diary:?}");
}

fn memory() -> Arc<dyn Workspace> {
    Stage::with_files("//- a\n//- b\n").memory
}

#[tokio::test]
async fn two_writers_of_one_file_take_turns_by_any_spelling() {
    let one = json!({"path": "a"});
    for other in [json!({"path": "a"}), json!({"path": "./x/../a"}), json!({"path": "/workspace/a"})] {
        check(memory(), Capability::Write, [one.clone(), other], true).await;
    }
    check(memory(), Capability::Write, [json!({"path": "new"}), json!({"paths": ["b", "./new"]})], true)
        .await;
}

#[tokio::test]
async fn writers_of_different_files_and_readers_do_not_wait() {
    check(memory(), Capability::Write, [json!({"path": "a"}), json!({"path": "b"})], false).await;
    check(memory(), Capability::Read, [json!({"path": "a"}), json!({"path": "a"})], false).await;
}

#[tokio::test]
async fn a_link_and_its_target_are_one_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::DirBuilder::new().create(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    let disk: Arc<dyn Workspace> = Arc::new(Disk::open([folder.path()]).unwrap());
    disk.write(&"real/a".into(), b"x").unwrap();
    for name in ["a", "new"] {
        let (real, link) = (format!("real/{name}"), format!("link/{name}"));
        check(disk.clone(), Capability::Write, [json!({"path": real}), json!({"path": link})], true).await;
        // One call that names both does not wait for itself.
        check(disk.clone(), Capability::Write, [json!({"paths": [real, link]}), json!({"path": "b"})], false)
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_name_two_files_in_opposite_order_do_not_wait_for_each_other() {
    let stage = Stage::new().tool(dynamic(
        spec("both").requires(Capability::Write).parallel_safe(),
        path_schema(),
        |_, _| async {
            tokio::task::yield_now().await;
            said("done")
        },
    ));
    let calls = (0..200).map(|n| {
        let paths = if n % 2 == 0 { json!(["a", "b", "c"]) } else { json!(["c", "./b", "/workspace/a"]) };
        Call::new("both", json!({"paths": paths}))
    });
    let (executor, ctx) = (stage.executor(), stage.ctx().build());
    let all = executor.call_all(&ctx, calls.collect());
    let outcomes = tokio::time::timeout(Duration::from_secs(10), all).await.expect("no deadlock");
    assert!(outcomes.iter().all(|outcome| code(outcome) == "done"));
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_the_turn_its_own_parent_has() {
    let diary = Arc::new(Mutex::new(Vec::new()));
    let stage = Stage::new().tool(slow(&diary, Capability::Write, false)).tool(dynamic(
        spec("parent").requires(Capability::Write),
        path_schema(),
        |ctx, _| async move {
            let calls = ["x", "y"].map(|name| Call::new("slow", json!({"path": "./a", "content": name})));
            let outcomes = ctx.call_all(calls.to_vec()).await.unwrap();
            said(outcomes.iter().map(Outcome::to_text).collect::<String>())
        },
    ));
    let outcome = stage.executor().call(&stage.ctx().build(), "parent", json!({"path": "a"})).await;
    assert_eq!(code(&outcome), "xy");
    // Siblings still take turns; who is first is nobody's promise.
    let diary = diary.lock().unwrap();
    let turns = [["x begins", "x ends", "y begins", "y ends"], ["y begins", "y ends", "x begins", "x ends"]];
    assert!(turns.iter().any(|turns| *diary == turns), "{diary:?}");
}

#[tokio::test]
async fn a_turn_is_given_back_by_a_call_that_fails() {
    let stage = Stage::new().tool(dynamic(
        spec("crashing").requires(Capability::Write),
        path_schema(),
        |_, _| async { panic!("while writing") },
    ));
    let stage = stage.tool(any(spec("other"), |_, _| async { said("") }));
    for _ in 0..2 {
        let outcome = stage.executor().call(&stage.ctx().build(), "crashing", json!({"path": "a"})).await;
        assert_eq!(code(&outcome), "PANIC");
    }
}
