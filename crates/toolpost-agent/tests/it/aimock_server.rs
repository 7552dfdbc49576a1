//! `@copilotkit/aimock` from npm, an independent server that speaks every wire format, with conversations to serve.
//!
//! The tests of the command use this file too.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PACKAGE: &str = "@copilotkit/aimock@1.43.0";

/// A server that runs until it is dropped.
pub(crate) struct Mock {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Installs the package below `target/`, once for all tests, and starts it with the conversations of a script.
pub(crate) fn start(name: &str, script: &str) -> Mock {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aimock");
    std::fs::create_dir_all(&folder).unwrap();
    // Tests of other binaries may install it at this moment.
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if !folder.join("node_modules/@copilotkit/aimock/package.json").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .arg(PACKAGE);
        let installed = npm.current_dir(&folder).output().expect("npm runs");
        assert!(installed.status.success(), "npm: {}", String::from_utf8_lossy(&installed.stderr));
    }
    let path = folder.join(format!("{name}.mjs"));
    std::fs::write(&path, script).unwrap();
    drop(lock);
    let mut node = Command::new("node");
    let node = node.arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = node.spawn().expect("node runs");
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("http"), "aimock did not start: `{url}`");
    Mock { child, url: url.trim().to_owned() }
}
