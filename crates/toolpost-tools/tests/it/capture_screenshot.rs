//! `capture_screenshot` of a real window on a real X server, Xvfb.

use crate::answering::{Answering, saying};
use crate::{fixed, run};
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use toolpost_core::{Code, Context, Policy, Registry};
use toolpost_disk::Disk;
use toolpost_tools::screenshot::Platform;

/// An X server with a window in it; both end with it.
struct Screen {
    server: Child,
    window: Child,
    display: String,
}

impl Screen {
    fn open() -> Screen {
        // The server chooses a free number and prints it.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("install xvfb");
        let mut number = String::new();
        let mut output = std::io::BufReader::new(server.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut number).unwrap();
        let display = format!(":{}", number.trim());
        let window = Command::new("xlogo")
            .args(["-geometry", "120x120+20+20", "-bg", "red", "-fg", "blue"])
            .env("DISPLAY", &display)
            .spawn()
            .expect("install x11-apps");
        Screen { server, window, display }
    }

    fn tools(&self, platform: Option<Platform>, path: &str) -> Arc<Registry> {
        let mut settings = toolpost_tools::Settings::default();
        settings.screenshot.platform = platform;
        settings.screenshot.environment =
            vec![("PATH".to_owned(), path.to_owned()), ("DISPLAY".to_owned(), self.display.clone())];
        let registry = Arc::new(Registry::new());
        toolpost_tools::register_all(&registry, &settings).unwrap();
        registry
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

fn context(folder: &TempDir) -> Context {
    let model = Answering::new(Ok(saying("", Vec::new())));
    let disk = Disk::open([folder.path()]).unwrap();
    Context::builder(Arc::new(disk)).services(model.services()).build()
}

fn allowed() -> Policy {
    Policy::standard().allow_rule("capture_screenshot").unwrap()
}

#[test]
fn the_window_on_the_screen_is_in_the_picture() {
    let screen = Screen::open();
    let folder = tempfile::tempdir().unwrap();
    let tools = fixed::Fixed::new(screen.tools(Some(Platform::X11), "/usr/bin:/bin"), allowed());
    let ctx = context(&folder);
    // The window needs a moment; how long is not known.
    let has_window = |bytes: &[u8]| {
        let mut convert = Command::new("convert")
            .args(["-", "-format", "%[pixel:p{22,22}] %[pixel:p{300,200}]", "info:"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("install imagemagick");
        std::io::Write::write_all(&mut convert.stdin.take().unwrap(), bytes).unwrap();
        let said = String::from_utf8(convert.wait_with_output().unwrap().stdout).unwrap();
        let (window, ground) = said.split_once(' ').unwrap();
        (window.contains("red")
            || window.contains("255,0,0")
            || window.contains("blue")
            || window.contains("0,0,255"))
            && !ground.contains("red")
    };
    loop {
        let outcome = run(tools.call(&ctx, "capture_screenshot", json!({"outputPath": "shots/one.png"})));
        let output = outcome.result.unwrap();
        assert_eq!((&output.data["ok"], &output.data["outputPath"]), (&json!(true), &json!("shots/one.png")));
        let bytes = std::fs::read(folder.path().join("shots/one.png")).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
        if has_window(&bytes) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let outcome = run(tools.call(&ctx, "capture_screenshot", json!({"format": "jpg"})));
    let data = outcome.result.unwrap().data;
    let path = data["outputPath"].as_str().unwrap();
    assert!(path.starts_with("screenshots/") && path.ends_with(".jpg"), "{path}");
    assert!(std::fs::read(folder.path().join(path)).unwrap().starts_with(&[0xff, 0xd8]));
}

#[test]
fn a_person_is_asked_unless_a_rule_allows_it() {
    let screen = Screen::open();
    let folder = tempfile::tempdir().unwrap();
    let tools = fixed::Fixed::new(screen.tools(Some(Platform::X11), "/usr/bin:/bin"), Policy::standard());
    let outcome = run(tools.call(&context(&folder), "capture_screenshot", json!({})));
    let error = outcome.result.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied, "{}", error.message());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let screen = Screen::open();
    let folder = tempfile::tempdir().unwrap();
    for (platform, said) in [
        (Some(Platform::X11), "install the package imagemagick"),
        (Some(Platform::Wayland), "install the package grim"),
        (None, "there is no screen"),
    ] {
        let tools = fixed::Fixed::new(screen.tools(platform, "/nowhere"), allowed());
        let outcome =
            run(tools.call(&context(&folder), "capture_screenshot", json!({"outputPath": "a.png"})));
        let error = outcome.result.unwrap_err();
        assert!(error.message().contains(said), "{}", error.message());
    }
}
