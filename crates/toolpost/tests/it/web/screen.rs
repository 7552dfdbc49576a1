//! A real window on a real X server: `capture_screenshot` takes its picture, and that very picture goes to a model over
//! HTTP by `analyze_image_ui_qa`.

use super::server::{Server, send};
use crate::Home;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An X server with a window that says something; both end with it.
struct Screen {
    server: Child,
    window: Child,
    display: String,
}

impl Screen {
    fn open() -> Screen {
        // The server chooses a free number and prints it.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x400x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("install xvfb");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let window = Command::new("xmessage")
            .args(["-geometry", "420x120+60+40", "-bg", "gold", "-buttons", "Save:0,Cancel:1"])
            .arg("Your file could not be saved. Try again?")
            .env("DISPLAY", &display)
            .spawn()
            .expect("install x11-utils");
        Screen { server, window, display }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for child in [&mut self.window, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What the model answers, by what it is asked to look for.
fn answer(body: &str) -> &'static str {
    match body {
        body if body.contains("look for valid") => {
            r#"{"findings":[{"severity":"major","category":"ux","description":"The question does not say which file",
                "location":"top of the window","suggestion":"Name the file"},
                {"severity":"minor","category":"layout","description":"Buttons touch","location":"bottom left","suggestion":"Add space"}],
                "summary":"A dialog with two buttons."}"#
        }
        body if body.contains("look for fenced") => {
            "Here it is:\n```json\n{\"findings\":[],\"summary\":\"Nothing is wrong.\"}\n```"
        }
        body if body.contains("look for broken") => r#"{"findings":[{"severity":"major","category":"#,
        _ => "The dialog is clear enough, but the buttons are small.",
    }
}

#[test]
fn the_picture_of_a_window_is_examined_by_a_model() {
    let (server, port) = Server::on_loopback(|asked, stream| {
        let text = answer(&asked.body);
        let event = json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}]});
        send(stream, "200 OK\r\nContent-Type: text/event-stream", format!("data: {event}\n\n").as_bytes());
    });
    let screen = Screen::open();
    let home = Home::new();
    home.write(
        "config.toml",
        format!(
            "model = \"lab/m-1\"\n[[vendor]]\nname = \"lab\"\nformat = \"gemini\"\nbase-url = \"http://127.0.0.1:{port}/v1\"\n\
             key = {{ variables = [\"LAB_API_KEY\"] }}\nmodel = \"m-1\"\naccepts-images = true\n"
        ),
    );
    let config = home.path("config.toml");
    let call = |tool: &str, args: &[&str]| -> (i32, Value) {
        let words = [&["call", tool], args, &["--config", config.to_str().unwrap(), "--json"]].concat();
        let mut command = home.command(words);
        command.env("DISPLAY", &screen.display).env("LAB_API_KEY", "lab-canary-0123456789");
        crate::Ran::of(command.output().unwrap()).json()
    };
    // Nobody has allowed it, and no person can be asked.
    let (status, outcome) = call("capture_screenshot", &["outputPath=shot.png"]);
    assert_eq!((status, &outcome["error"]["code"]), (3, &"PERMISSION_DENIED".into()), "{outcome}");

    // The window needs a moment; how long is not known.
    let allowed = ["outputPath=shot.png", "--policy", "standard", "--allow-rule", "capture_screenshot"];
    let picture = loop {
        let (status, outcome) = call("capture_screenshot", &allowed);
        assert_eq!((status, &outcome["data"]["ok"]), (0, &true.into()), "{outcome}");
        let picture = std::fs::read(home.path("repo/shot.png")).unwrap();
        if colours(&picture).contains("#FFD700") {
            break picture;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if let Some(keep) = std::env::var_os("TOOLPOST_KEEP_SCREENSHOT") {
        std::fs::write(keep, &picture).unwrap();
    }
    assert!(server.asked().is_empty(), "taking a picture asks no model");

    let examine = |wanted: &str| {
        let context = format!("context=look for {wanted}");
        let (status, outcome) = call("analyze_image_ui_qa", &["imagePath=shot.png", &context]);
        assert_eq!(status, 0, "{outcome}");
        outcome
    };
    let valid = examine("valid");
    assert_eq!(valid["data"]["imagePath"], "shot.png");
    assert_eq!(valid["data"]["findings"][0]["severity"], "major");
    assert_eq!(valid["data"]["findings"][1]["location"], "bottom left");
    assert_eq!(valid["data"]["summary"], "A dialog with two buttons.");
    let table = valid["output"].as_str().unwrap();
    assert!(
        table.contains(
            "| major | ux | top of the window | The question does not say which file | Name the file |"
        ),
        "{table}"
    );
    let fenced = examine("fenced");
    assert_eq!(
        (&fenced["data"]["summary"], &fenced["data"]["isProse"]),
        (&"Nothing is wrong.".into(), &false.into())
    );
    for wanted in ["broken", "prose"] {
        let outcome = examine(wanted);
        let data = &outcome["data"];
        assert_eq!((&data["findings"], &data["isProse"]), (&json!([]), &true.into()), "{outcome}");
        assert_eq!(data["summary"], answer(&format!("look for {wanted}")).trim());
    }
    // The model was sent the very picture, with its type, and the key only in its header.
    let asked = server.asked();
    assert_eq!(asked.len(), 4);
    for asked in asked {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let parts = body["contents"][0]["parts"].as_array().unwrap();
        let file = parts.iter().find_map(|part| part.get("inlineData").or(part.get("inline_data"))).unwrap();
        let kind = file.get("mimeType").or(file.get("mime_type")).unwrap();
        assert_eq!(kind, "image/png");
        assert!(
            STANDARD.decode(file["data"].as_str().unwrap()).unwrap() == picture,
            "another picture was sent"
        );
        assert!(asked.head.contains("lab-canary") && !asked.body.contains("lab-canary"));
    }
}

/// The colours of a picture, as ImageMagick lists them.
fn colours(picture: &[u8]) -> String {
    let mut convert = Command::new("convert")
        .args(["-", "-depth", "8", "-format", "%c", "histogram:info:"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("install imagemagick");
    std::io::Write::write_all(&mut convert.stdin.take().unwrap(), picture).unwrap();
    String::from_utf8_lossy(&convert.wait_with_output().unwrap().stdout).into_owned()
}
