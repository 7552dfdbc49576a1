//! `bash_output`: background commands, read as they go on.

use crate::bash::{executor, ground, session, standard_and_exec};
use crate::{data, run, shown};
use serde_json::{Value, json};
use toolpost_core::{Call, Code};
use toolpost_tools::shell;

#[test]
fn a_background_command_is_read_written_to_and_ends() {
    let ground = ground();
    let settings =
        shell::Settings { background: shell::Background::at_most(2), ..shell::Settings::default() };
    let executor = executor(standard_and_exec(), settings);
    let (ctx, other) = (session(ground.path()).build(), session(ground.path()).session("other").build());
    run(async {
        let call = |tool: &'static str, args: Value| executor.run(&ctx, Call::new(tool, args));
        let started = call(
            "bash",
            json!({"command": "echo ready; while read x; do echo got $x; done", "background": true}),
        )
        .await;
        assert_eq!(data(&started)["id"], json!("bg_1"));
        let look = call("bash_output", json!({"id": "bg_1", "wait": 5000})).await;
        assert_eq!(
            (shown(&look).as_str(), &data(&look)["running"]),
            ("ready\n[it still runs]", &json!(true))
        );
        let look = call("bash_output", json!({"id": "bg_1"})).await;
        assert_eq!(shown(&look), "[nothing new; it still runs]");
        // By its number alone, as a number too; an empty input is none.
        for id in [json!("1"), json!(1)] {
            let look = call("bash_output", json!({"id": id, "input": ""})).await;
            assert_eq!(
                (shown(&look).as_str(), &data(&look)["id"]),
                ("[nothing new; it still runs]", &json!("bg_1"))
            );
        }
        let look = call("bash_output", json!({"id": "bg_1", "input": "this\n", "wait": 5000})).await;
        assert_eq!(shown(&look), "got this\n[it still runs]");
        for id in [json!("bg_1"), json!(1)] {
            let strange = executor.run(&other, Call::new("bash_output", json!({"id": id}))).await;
            assert_eq!(strange.result.as_ref().unwrap_err().code(), Code::FileNotFound);
        }
        let unknown = call("bash_output", json!({"id": "bg_7"})).await;
        assert!(shown(&unknown).contains("there are bg_1 (`echo ready"), "{}", shown(&unknown));
        let second = call("bash", json!({"command": "exit 5", "background": true})).await;
        assert_eq!(data(&second)["id"], json!("bg_2"));
        let look = call("bash_output", json!({"id": "bg_2", "wait": 5000})).await;
        assert_eq!(
            (shown(&look).as_str(), &data(&look)["exitCode"]),
            ("[it has ended with exit code 5]", &json!(5))
        );
        call("bash", json!({"command": "sleep 100", "background": true})).await;
        let fourth = call("bash", json!({"command": "sleep 100", "background": true})).await;
        assert_eq!(fourth.result.as_ref().unwrap_err().code(), Code::FanoutExceeded, "{}", shown(&fourth));
    });
}
