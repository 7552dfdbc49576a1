//! Every workspace, and the guarantees 1 to 8 about files.

mod contract;
mod huge;
mod kept;
mod left;
mod links;
mod paths;
mod race;
mod reopened;
mod special;
mod turns;
mod walk;
mod whole;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use toolpost_core::workspace::Lock;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};

/// What must never be seen: it stands in every file outside the workspace, and in the names of some.
const CANARY: &str = "CANARY";

/// The small number of tries, or the full one in a soak.
fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

/// Runs a test on several threads, as the runtime does.
fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test)
}

/// A folder for this test alone, in memory where the machine has that: syncing costs nothing there.
fn fast_folder() -> TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm").unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// A workspace folder `ws` with secrets around it.
struct World {
    _folder: TempDir,
    root: PathBuf,
    outside: PathBuf,
}

impl World {
    fn new() -> World {
        let folder = fast_folder();
        let base = folder.path().canonicalize().unwrap();
        for name in ["ws/sub", "ws2", "outside/folder"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        for name in
            ["ws2/secret.txt", "outside/secret.txt", "outside/CANARY.txt", "outside/folder/secret.txt"]
        {
            std::fs::write(base.join(name), CANARY).unwrap();
        }
        std::fs::write(base.join("ws/inside.txt"), "inside").unwrap();
        World { root: base.join("ws"), outside: base.join("outside"), _folder: folder }
    }

    /// Names, contents, modes and inodes of everything outside, to compare before and after.
    fn around(&self) -> BTreeMap<PathBuf, (u64, u32, Vec<u8>)> {
        let mut seen = BTreeMap::new();
        let base = self.root.parent().unwrap();
        let mut folders = vec![base.join("outside"), base.join("ws2")];
        let top = std::fs::read_dir(base).unwrap().map(|entry| entry.unwrap().path());
        for path in top {
            seen.insert(path, (0, 0, Vec::new()));
        }
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = std::fs::symlink_metadata(&path).unwrap();
                let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                seen.insert(path, (meta.ino(), meta.mode(), content));
            }
        }
        seen
    }
}

/// The whole content of a file, through the workspace.
fn read(workspace: &dyn Workspace, path: &str) -> Result<Vec<u8>, ToolError> {
    let mut file = workspace.open(&WorkspacePath::new(path))?;
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut file.reader, &mut content).unwrap();
    Ok(content)
}

/// The turn to change a file, waited for.
async fn lock(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<Lock, ToolError> {
    workspace.lock(path)?.wait().await
}

/// The names in a folder, sorted.
fn names(workspace: &dyn Workspace, path: &str) -> Result<Vec<String>, ToolError> {
    let entries = workspace.entries(&WorkspacePath::new(path))?;
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().name).collect();
    names.sort();
    Ok(names)
}

/// Tries every method of the trait on one path, and gives what each of them let see.
async fn try_everything(workspace: &dyn Workspace, path: &str) -> Vec<(&'static str, Result<String, Code>)> {
    let it = WorkspacePath::new(path);
    let spare = WorkspacePath::new("spare.txt");
    let mut seen: Vec<(&'static str, Result<String, ToolError>)> = vec![
        ("name", workspace.name(&it)),
        ("stat", workspace.stat(&it).map(|stat| format!("{stat:?}"))),
        ("open", read(workspace, path).map(|content| String::from_utf8_lossy(&content).into_owned())),
        ("entries", names(workspace, path).map(|names| names.join("\n"))),
        ("lock", lock(workspace, &it).await.map(|_| String::new())),
        ("write", workspace.write(&it, b"changed").map(|written| written.name)),
        ("create_folder", workspace.create_folder(&it).map(|()| String::new())),
    ];
    workspace.write(&spare, b"spare").unwrap();
    seen.push(("rename to", workspace.rename(&spare, &it).map(|()| String::new())));
    let taken = WorkspacePath::new("taken.txt");
    let from = workspace.rename(&it, &taken);
    let content = read(workspace, "taken.txt").unwrap_or_default();
    seen.push(("rename from", from.map(|()| String::from_utf8_lossy(&content).into_owned())));
    seen.push(("remove", workspace.remove(&it).map(|()| String::new())));
    seen.into_iter().map(|(method, result)| (method, result.map_err(|error| error.code()))).collect()
}

/// This test binary again, running one of its tests alone with a variable set.
fn child(test: &str, variable: &str, value: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(variable, value);
    command
}

/// The most memory this process ever had, in MiB.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

/// Numbers that look random and are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
