//! The official reference servers of npm as servers of toolpost: listed, called, refused.

use super::{call, end, program, run, runtime, text};
use crate::Home;
use crate::installed::{Wanted, node, npm};
use serde_json::json;
use toolpost_core::Code;
use toolpost_core::outcome::AttachmentContent;
use toolpost_plugins::{Hints, Server};

const SERVERS: Wanted = Wanted {
    folder: "servers",
    packages: &[
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-everything@2026.8.31",
    ],
};

/// A reference server with these arguments. Its command line has the home's path, so that it is seen when one is left.
fn reference(home: &Home, name: &str, args: &[&str]) -> Server {
    let folder = npm(&SERVERS);
    let node = node().to_string_lossy().into_owned();
    let script =
        format!("{}/node_modules/@modelcontextprotocol/server-{name}/dist/index.js", folder.display());
    let title = format!("--title={}", home.path("").display());
    program(name, &[&[node.as_str(), &title, &script][..], args].concat())
}

#[test]
fn the_file_server_of_npm_is_listed_called_and_refused() {
    let home = Home::new();
    let root = home.path("repo").to_string_lossy().into_owned();
    let files = || reference(&home, "filesystem", &[&root]);
    run(async {
        let free = runtime(&home, &["--policy", "privileged"], true, vec![files()]);
        free.context.tools().sources()[0].all_ready().await;
        assert_eq!(free.plugins.as_ref().unwrap().notes(), Vec::<String>::new());
        let names = free.context.tools().names();
        let theirs: Vec<&String> =
            names.iter().filter(|name| name.starts_with("mcp__filesystem__")).collect();
        println!("filesystem: {} tools", theirs.len());
        assert!(theirs.len() >= 10, "{names:?}");
        let path = format!("{root}/README.md");
        let read = text(&free, "filesystem/read_text_file", json!({"path": path})).await;
        assert!(read.starts_with("# fixture"), "{read}");
        let written =
            text(&free, "filesystem/write_file", json!({"path": format!("{root}/new.txt"), "content": "x"}))
                .await;
        assert!(home.path("repo/new.txt").exists(), "{written}");
        let outside = text(&free, "filesystem/read_text_file", json!({"path": "/etc/hostname"})).await;
        assert!(outside.starts_with("Error: ") && outside.contains("Access denied"), "{outside}");
        end(free, &home).await;

        let standard = runtime(&home, &[], true, vec![files()]);
        let denied =
            call(&standard, "filesystem/read_text_file", json!({"path": path})).await.result.unwrap_err();
        assert_eq!(denied.code(), Code::PermissionDenied, "{denied}");
        end(standard, &home).await;

        let believed = Server { hints: Hints::Believed, ..files() };
        let believing = runtime(&home, &["--policy", "read-only"], true, vec![believed]);
        let read = text(&believing, "filesystem/read_text_file", json!({"path": path})).await;
        assert!(read.starts_with("# fixture"), "{read}");
        let write = json!({"path": format!("{root}/other.txt"), "content": "x"});
        let denied = call(&believing, "filesystem/write_file", write).await.result.unwrap_err();
        assert_eq!(denied.code(), Code::PermissionDenied, "{denied}");
        assert!(!home.path("repo/other.txt").exists());
        end(believing, &home).await;
    });
}

#[test]
fn the_server_of_everything_is_listed_and_called() {
    let home = Home::new();
    run(async {
        let runtime = runtime(
            &home,
            &["--policy", "privileged"],
            true,
            vec![reference(&home, "everything", &["stdio"])],
        );
        runtime.context.tools().sources()[0].all_ready().await;
        assert_eq!(runtime.plugins.as_ref().unwrap().notes(), Vec::<String>::new());
        let names = runtime.context.tools().names();
        println!("everything: {names:?}");
        assert_eq!(text(&runtime, "everything/echo", json!({"message": "hello"})).await, "Echo: hello");
        let sum = text(&runtime, "everything/get-sum", json!({"a": 2, "b": "3"})).await;
        assert!(sum.contains('5'), "{sum}");
        let image = call(&runtime, "everything/get-tiny-image", json!({})).await.result.unwrap();
        assert_eq!(image.attachments[0].media_type, "image/png");
        assert!(matches!(&image.attachments[0].content, AttachmentContent::Data(data) if data.len() > 100));
        let weather = json!({"location": "New York"});
        let structured = call(&runtime, "everything/get-structured-content", weather).await.result.unwrap();
        assert!(structured.data["temperature"].is_number(), "{}", structured.data);
        let long = json!({"duration": 0.5, "steps": 2});
        let long = text(&runtime, "everything/trigger-long-running-operation", long).await;
        assert!(long.contains("completed"), "{long}");
        // Its form wants a name, which cannot be asked for here.
        let asked = text(&runtime, "everything/trigger-elicitation-request", json!({})).await;
        assert!(asked.contains("declined") && asked.contains("it wants `name`"), "{asked}");
        end(runtime, &home).await;
    });
}
