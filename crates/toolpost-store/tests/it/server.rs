//! A real PostgreSQL server, started by the tests and ended with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use toolpost_store::StoreUrl;

/// A server of its own, with its data in a folder of its own.
pub(crate) struct Server {
    folder: Folder,
    port: u16,
    options: Vec<String>,
    process: Mutex<Option<Running>>,
}

/// A folder that goes when this process has ended, however it did: the server that all tests share is never dropped.
struct Folder {
    path: PathBuf,
    /// Who removes the folder waits for the end of its input, which ends with this process.
    _remover: std::process::Child,
}

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::Builder::new().prefix("tp").tempdir_in("/tmp").expect("a folder");
        let path = folder.keep();
        let remover = Command::new("sh")
            .args(["-c", "read -r _; sleep 1; rm -rf \"$1\"", "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        Folder { path, _remover: remover }
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The process, and the thread that started it and waits for it: the kernel ends the one when the other is gone.
struct Running {
    id: u32,
    thread: std::thread::JoinHandle<()>,
}

/// The programs of the server: the newest that the system's packages have put somewhere.
fn program(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    folders.sort();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>());
    let found = folders.iter().rev().map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| {
        panic!("there is no `{name}`; install the package `postgresql`, as scripts/test does")
    })
}

/// A command that ends with this process. PostgreSQL refuses to run as root, so root runs it as its own user.
fn command(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if is_root() {
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]);
    }
    command.arg("--").arg(program(name)).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Gives a file to the user that the server runs as.
pub(crate) fn give(path: &Path) {
    if is_root() {
        assert!(Command::new("chown").arg("postgres").arg(path).status().expect("chown runs").success());
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::start_with(5432, |_| Vec::new())
    }

    /// The same, with a port of its own, and with options that come of what was prepared in the folder of its data.
    pub(crate) fn start_with(port: u16, prepare: impl FnOnce(&Path) -> Vec<String>) -> Server {
        let folder = Folder::new();
        if is_root() {
            let given =
                Command::new("chown").arg("postgres").arg(folder.path()).status().expect("chown runs");
            assert!(given.success(), "the user `postgres` of the package `postgresql` is missing");
        }
        let data = folder.path().join("data");
        let made = command("initdb")
            .args([
                "--auth",
                "trust",
                "--username",
                "toolpost",
                "--encoding",
                "UTF8",
                "--no-instructions",
                "-D",
            ])
            .arg(&data)
            .stderr(Stdio::piped())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let options = prepare(&data);
        let server = Server { folder, port, options, process: Mutex::default() };
        server.run();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn socket(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the server, and waits until it answers.
    pub(crate) fn run(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        self.spawn();
        while !self.ask("SELECT 1", "postgres") {
            let said = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "the server does not answer: {said}");
            // What a killed server has left behind may keep the next one from starting for a moment.
            if self.process.lock().unwrap().as_ref().is_some_and(|running| running.thread.is_finished()) {
                self.spawn();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn spawn(&self) {
        let log = std::fs::File::create(self.folder.path().join("log")).expect("a log");
        let mut start = command("postgres");
        start
            .arg("-D")
            .arg(self.data())
            .args(["-c", "listen_addresses=", "-c", "max_connections=200", "-k"])
            .arg(self.socket())
            .args(["-p", &self.port.to_string()])
            .args(&self.options)
            .stderr(log);
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut child = start.spawn().expect("postgres runs");
            tell.send(child.id()).expect("somebody listens");
            let _ = child.wait();
        });
        let id = told.recv().expect("postgres runs");
        *self.process.lock().unwrap() = Some(Running { id, thread });
    }

    /// Ends the server without a word, as a loss of power would.
    pub(crate) fn kill(&self) {
        if let Some(running) = self.process.lock().unwrap().take() {
            let _ = Command::new("kill").args(["-9", &running.id.to_string()]).status();
            let _ = running.thread.join();
        }
        // Its helpers end by themselves when they see it gone.
        let _ = std::fs::remove_file(self.data().join("postmaster.pid"));
        std::thread::sleep(Duration::from_millis(300));
    }

    fn ask(&self, statement: &str, database: &str) -> bool {
        command("psql")
            .args(["-X", "-q", "-U", "toolpost", "-d", database, "-c", statement, "-h"])
            .arg(self.socket())
            .args(["-p", &self.port.to_string()])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// A new, empty database.
    pub(crate) fn database(&self) -> StoreUrl {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("d{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        assert!(self.ask(&format!("CREATE DATABASE {name}"), "postgres"), "a database is made");
        let host = self.socket().to_string_lossy().replace('/', "%2F");
        format!("postgres://toolpost@{host}/{name}").parse().expect("an address")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A new database on the server that all tests share.
pub(crate) fn database() -> StoreUrl {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start).database()
}
