//! What commands in the sandbox may not see, create or change, as root and as an ordinary user: guarantees 36, 38 and 39.

mod dependencies;
mod files;
mod git;
mod hidden;
mod home;
mod led;
mod links;
mod planted;
mod spelled;
mod unread;

use crate::{Home, Ran};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Nobody has this number, and nobody needs to: the machine need not know its users by name.
const ORDINARY: u32 = 54_321;

/// What must never be shown.
const CANARY: &str = "CANARY-7f3a";

/// Somebody's home with a repository in it.
pub(crate) struct User {
    pub(crate) home: Home,
    /// None: whoever runs the tests.
    pub(crate) id: Option<u32>,
}

/// What a command in the sandbox did.
struct Done {
    code: Option<i64>,
    text: String,
}

impl User {
    /// Whoever runs the tests and, where that is root, an ordinary user too.
    fn all() -> Vec<User> {
        User::ids().iter().map(|&id| User { home: Home::new(), id }).collect()
    }

    pub(crate) fn ids() -> &'static [Option<u32>] {
        if rustix::process::geteuid().is_root() { &[None, Some(ORDINARY)] } else { &[None] }
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.id.is_some() || !rustix::process::geteuid().is_root() { "an ordinary user" } else { "root" }
    }

    fn write(&self, name: &str, text: &str) {
        self.home.write(&format!("repo/{name}"), text);
    }

    fn has(&self, name: &str) -> bool {
        self.home.path(&format!("repo/{name}")).symlink_metadata().is_ok()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path(&format!("repo/{name}"))).unwrap()
    }

    /// Everything belongs to the user, and only to them.
    pub(crate) fn settle(&self) {
        let Some(id) = self.id else { return };
        fn give(path: &Path, id: u32) {
            std::os::unix::fs::lchown(path, Some(id), Some(id)).unwrap();
            if path.symlink_metadata().unwrap().is_dir() {
                for entry in std::fs::read_dir(path).unwrap() {
                    give(&entry.unwrap().path(), id);
                }
            }
        }
        let top = self.home.path("");
        give(&top, id);
        chown(&top, Some(id), Some(id)).unwrap();
        std::fs::set_permissions(top, PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(crate) fn as_user(&self, mut command: Command) -> Command {
        if let Some(id) = self.id {
            command.uid(id).gid(id);
        }
        command
    }

    /// A rule of the user's own that denies; none with an empty resource.
    fn deny(&self, action: &str, resource: &str) {
        let rule = match resource {
            "" => String::new(),
            resource => format!("[[rule]]\neffect = 'deny'\naction = '{action}'\nresource = '{resource}'\n"),
        };
        self.home.write(".config/toolpost/config.toml", rule);
    }

    /// Runs a line in the sandbox.
    fn bash_bytes(&self, line: &[u8]) -> Done {
        let line = [b"command=".as_slice(), line].concat();
        let mut args: Vec<OsString> = ["call", "bash", "--json", "--allow", "exec", "--workspace", "."]
            .iter()
            .map(OsString::from)
            .collect();
        args.push(OsString::from_vec(line));
        let ran = Ran::of(self.as_user(self.home.command(args)).output().unwrap());
        let stderr = ran.stderr.clone();
        let (_, value) = ran.json();
        if let Some(error) = value.get("error") {
            let text = error["message"].as_str().unwrap_or_default().to_owned();
            return Done { code: None, text: format!("{text}\n{stderr}") };
        }
        let text = value["output"].as_str().unwrap_or_default().to_owned();
        Done { code: value["data"]["exitCode"].as_i64(), text }
    }

    fn bash(&self, line: &str) -> Done {
        self.bash_bytes(line.as_bytes())
    }

    /// Runs git outside of the sandbox, as the user would.
    fn git(&self, folder: &str, args: &[&str]) -> std::process::Output {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=U", "-c", "user.email=u@example.com", "-c", "protocol.file.allow=always"])
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path(""))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.home.path(folder));
        self.as_user(command).output().unwrap()
    }
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}
