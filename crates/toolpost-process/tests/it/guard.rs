//! The guard under attack: programs that try to create names that are not allowed, and programs that must not notice it.

use crate::stage::{limits, run, shell};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use toolpost_process::{Command, Dependencies, Exit, FileEffect, FilePattern, FileRule, FileRules, Sandbox};

const ATTACK: &str = include_str!("guard/attack.py");
const WORK: &str = include_str!("guard/work.py");

const RESERVED: &[&str] = &[
    ".mcp.json",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".gitconfig",
    ".npmrc",
    ".claude",
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules/**/config",
    ".git/modules/**/hooks",
    ".gitmodules",
    ".vscode/tasks.json",
    ".toolpost",
    "*.code-workspace",
];

/// A workspace with what is locked and hidden in it.
struct Stage {
    _folder: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
}

fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("work");
    for path in ["app", ".aws", ".git/hooks", ".git/objects", "src"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    for (path, text) in [
        ("c", "content\n"),
        ("app/.env", "CANARY\n"),
        (".aws/credentials", "CANARY\n"),
        (".git/config", "[core]\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("src/gen.txt", "x\n"),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("app/.env", root.join("link")).unwrap();
    Stage { _folder: folder, base, root }
}

impl Stage {
    fn sandbox(&self) -> Sandbox {
        let rule = |effect, pattern| FileRule { effect, pattern };
        let locked = FilePattern::Glob { glob: "src/**/locked*".into(), inside: false };
        let layers = vec![vec![
            rule(FileEffect::Deny, FilePattern::Inside("migrations".into())),
            rule(FileEffect::Ask, locked),
        ]];
        Sandbox {
            writable: vec![self.root.clone()],
            locked: [".git/hooks", ".git/config"].map(|path| self.root.join(path)).into(),
            hidden: ["app/.env", ".aws/credentials", "link"].map(|path| self.root.join(path)).into(),
            reserved: RESERVED.iter().map(|&pattern| pattern.to_owned()).collect(),
            rules: vec![FileRules { layers }],
            ..Sandbox::default()
        }
    }

    fn command(&self, line: &str) -> Command {
        let home = self.base.join("home");
        let command = shell(line, &self.root).variable("HOME", &home).limits(limits(120_000));
        command.sandbox(self.sandbox())
    }

    async fn run(&self, line: &str) -> crate::stage::Run {
        run(self.command(line)).await
    }

    /// The same with its changes recorded.
    async fn run_recorded(&self, line: &str) -> crate::stage::Run {
        run(self.command(line).keep_in(fs::File::create(self.base.join("spool")).unwrap())).await
    }

    /// What exists and must not, or must and does not. Judged by plain comparison of names, as a person would.
    fn breaches(&self) -> Vec<String> {
        let mut found = Vec::new();
        for path in tree(&self.root) {
            let name = path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned();
            let lower = format!("/{}/", name.to_lowercase());
            let was_there = [".git/hooks", ".git/config"].contains(&name.as_str());
            let has = |part: &str| lower.contains(&format!("/{part}/"));
            let in_modules = lower.contains("/.git/modules/") && (has("config") || has("hooks"));
            let is_closed = RESERVED.iter().any(|pattern| has(pattern))
                || in_modules
                || lower.ends_with(".code-workspace/")
                || name.starts_with("migrations/")
                || (name.starts_with("src/") && lower.contains("/locked"));
            if is_closed && !was_there {
                found.push(name);
            }
        }
        for (path, text) in
            [("app/.env", "CANARY\n"), (".aws/credentials", "CANARY\n"), (".git/config", "[core]\n")]
        {
            if fs::read_to_string(self.root.join(path)).ok().as_deref() != Some(text) {
                found.push(format!("{path} has changed"));
            }
        }
        if fs::read_link(self.root.join("link")).ok().as_deref() != Some(Path::new("app/.env")) {
            found.push("link has changed".into());
        }
        if fs::read_dir(self.root.join(".git/hooks")).map_or(1, Iterator::count) != 0 {
            found.push(".git/hooks has changed".into());
        }
        found
    }
}

fn tree(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            found.extend(tree(&path));
        }
        found.insert(path);
    }
    found
}

pub(crate) fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

/// Runs tests of this module once more as a user without rights.
pub(crate) fn as_ordinary_user(test: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--test-threads=1"]).env("TMPDIR", folder.path()).current_dir("/");
    let done = command.uid(65_534).gid(65_534).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn guarantee_36_names_under_generated_attack() {
    as_ordinary_user("guard::guarantee_36_names_under_generated_attack");
    let at_once = 500;
    let tries = count(2_000, 100_000);
    for round in 0..tries.div_ceil(at_once) {
        let stage = stage();
        let program = stage.root.join("attack.py");
        fs::write(&program, ATTACK).unwrap();
        let line = format!("python3 attack.py {round} {at_once}");
        let done = match round % 2 {
            0 => stage.run(&line).await,
            _ => stage.run_recorded(&line).await,
        };
        assert_eq!(done.text, "done\n", "seed {round}");
        assert_eq!(stage.breaches(), Vec::<String>::new(), "seed {round}");
        assert_eq!(done.ended.appeared, Vec::<PathBuf>::new(), "seed {round}");
        assert!(!done.ended.refused.is_empty(), "seed {round}");
        let next = stage.run("grep -r CANARY . ; echo over").await;
        assert!(next.text.ends_with("over\n") && !next.text.contains("CANARY\n"), "{}", next.text);
    }
    println!("measure: guarantee 36: {tries} ways to create closed names or move hidden files, 0 succeeded");
}

#[tokio::test]
async fn guarantee_36_ways_by_which_it_was_broken() {
    as_ordinary_user("guard::guarantee_36_ways_by_which_it_was_broken");
    let openat2 = "python3 -c 'import ctypes, os\n\
                   fd = os.open(\".\", os.O_RDONLY)\n\
                   how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o644, 0x10)\n\
                   r = ctypes.CDLL(None).syscall(437, fd, b\"/.bashrc\", ctypes.byref(how), 24)\n\
                   exit(0 if r >= 0 else 1)'";
    for line in [
        "cp c /proc/self/cwd/.git/commondir",
        "mkdir ev; cp c ev/settings.json; mv -T ev .claude//",
        "exec 7<.; cp c /dev/fd/7/.envrc",
        "ln -s $PWD /tmp/e; ln -s /tmp/e /tmp/d; cp c /tmp/d/.mcp.json",
        openat2,
        "cp c migrations/002.sql",
        "mkdir m; cp c m/002.sql; mv m migrations",
        "mkdir m2; cp c m2/002.sql; ln -s m2 migrations",
        "cp c /proc/self/root$PWD/.envrc",
        "cd src; cp ../c ../.mcp.json",
        "mv app app2",
        "mv app $(printf '\\377a')",
        "mv .aws aws2",
        "mv link link2",
        "rm link",
        "echo touch pwned > ~/.bash_profile",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".envrc\")'",
        "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD",
        "cd src; mkdir objects refs; cp ../c HEAD",
        "cd src; cp ../c HEAD; mkdir objects; mkdir refs",
        "cd src; mkdir o; mkdir refs; cp ../c HEAD; mv o objects",
        "cd src; cp ../c HEAD; cp ../c commondir",
        "cd src; cp ../c HEAD; mkdir refs; ln -s /tmp objects",
        "python3 -c 'import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 20))'",
        "python3 -c 'import os; os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))'",
        "cp c s; chmod u+s s",
        "cp c s; chmod g+s s",
        "install -m 4755 c s2",
    ] {
        let stage = stage();
        let done = stage.run(line).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
        let done = stage.run_recorded(line).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
        assert_eq!(stage.breaches(), Vec::<String>::new(), "{line}");
    }
    let stage = stage();
    let set = "python3 -c 'import os; os.close(os.open(\"u\", os.O_CREAT | os.O_WRONLY, 0o6755)); \
               os.mknod(\"v\", 0o106755); f = os.open(\".\", os.O_TMPFILE | os.O_RDWR, 0o4755); \
               os.link(f\"/proc/self/fd/{f}\", \"w\", src_dir_fd=f)'; stat -c %a u v w";
    assert_eq!(stage.run(set).await.text, "755\n755\n755\n");
}

/// The same work in the sandbox and outside leaves the same files and gives the same answers.
#[tokio::test]
async fn programs_do_not_notice_the_guard() {
    as_ordinary_user("guard::programs_do_not_notice_the_guard");
    for round in 0..count(1_500, 30_000).div_ceil(300) {
        let (inside, outside) = (stage(), stage());
        let line = |stage: &Stage| {
            fs::write(stage.base.join("work.py"), WORK).unwrap();
            fs::copy(stage.base.join("work.py"), stage.root.join("work.py")).unwrap();
            format!("python3 work.py {round} 300")
        };
        // With changes recorded the guard performs more calls.
        let confined = match round % 2 {
            0 => inside.run(&line(&inside)).await,
            _ => inside.run_recorded(&line(&inside)).await,
        };
        // Root outside would have capabilities that nobody has inside.
        let plain = match rustix::process::geteuid().is_root() {
            true => "setpriv --bounding-set -all --inh-caps -all ",
            false => "",
        };
        let line = format!("{plain}{}", line(&outside));
        let free = run(shell(&line, &outside.root).limits(limits(120_000))).await;
        assert!(free.text.ends_with("done\n"), "{}", free.text);
        let differs = confined.text.lines().zip(free.text.lines()).find(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {round}");
        assert_eq!(confined.text.len(), free.text.len(), "seed {round}");
        let names = |stage: &Stage| -> Vec<Vec<u8>> {
            let relative = |path: &PathBuf| path.strip_prefix(&stage.root).unwrap().to_owned();
            tree(&stage.root).iter().map(|path| relative(path).as_os_str().as_bytes().to_vec()).collect()
        };
        assert_eq!(names(&inside), names(&outside), "seed {round}");
    }
}

#[tokio::test]
async fn what_waits_for_its_other_end_does_not_keep_others_waiting() {
    let stage = stage();
    let line = "mkfifo p; (echo through > p) & echo first > other; cat p; wait; cat other; \
                (exec 3> q_missing/x) 2>/dev/null; timeout 1 sh -c 'echo x > p'; echo $?";
    let done = stage.run(line).await;
    assert_eq!(done.text, "through\nfirst\n124\n");
    // Signals do not make a call happen twice.
    let signals = "python3 -c 'import os, signal\n\
                   signal.signal(signal.SIGALRM, lambda *_: None); signal.siginterrupt(signal.SIGALRM, False)\n\
                   signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)\n\
                   for i in range(3000): os.mkdir(f\"d{i}\")\n\
                   print(\"all\")'";
    assert_eq!(stage.run(signals).await.text, "all\n");
}

#[tokio::test]
async fn processes_and_memory_are_limited_together() {
    as_ordinary_user("guard::processes_and_memory_are_limited_together");
    let stage = stage();
    let forks = "python3 -c 'import os, time\n\
                 count = 0\n\
                 try:\n\
                 \x20while count < 2000:\n\
                 \x20 if os.fork() == 0: time.sleep(60); os._exit(0)\n\
                 \x20 count += 1\n\
                 except BlockingIOError: print(count)'";
    let bound = toolpost_process::Limits { processes: Some(300), ..limits(60_000) };
    let done = run(shell(forks, &stage.root).limits(bound).sandbox(stage.sandbox())).await;
    assert!(done.text.trim().parse::<u32>().unwrap() <= 300, "{}", done.text);
    // All temporary folders share one bound.
    let done = stage.run("df -P /tmp /dev/shm ~ | awk 'NR > 1 { print $1, $2 }' | sort -u | wc -l").await;
    assert_eq!(done.text, "1\n");
}

/// A file that somebody outside replaces loses its mount in the command's view; the guard still knows its name.
#[tokio::test]
async fn what_is_replaced_outside_stays_closed_to_writing() {
    let stage = stage();
    let config = stage.root.join(".git/config");
    let line = "while [ ! -e go ]; do sleep 0.02; done; echo evil >> .git/config; \
                python3 -c 'import os; os.truncate(\".git/config\", 0)'; \
                python3 -c 'import os; os.write(os.open(\".git/config\", os.O_RDWR), b\"evil\")'; true";
    let (done, ()) = tokio::join!(stage.run(line), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let new = stage.base.join("new");
        fs::write(&new, "[user]\n").unwrap();
        fs::rename(&new, &config).unwrap();
        fs::write(stage.root.join("go"), "").unwrap();
    });
    assert_eq!(fs::read_to_string(&config).unwrap(), "[user]\n", "{}", done.text);
}

/// Two commands, each with a guard of its own: one moves a folder back and forth, the other creates files in it.
#[tokio::test]
async fn two_commands_at_once_create_no_closed_name() {
    let stage = stage();
    fs::create_dir(stage.root.join("d")).unwrap();
    let moving = "python3 -c 'import os\n\
                  for i in range(4000):\n\
                  \x20 for a, b in ((\"d\", \"migrations\"), (\"migrations\", \"d\")):\n\
                  \x20  try: os.rename(a, b)\n\
                  \x20  except OSError: pass'";
    let making = "python3 -c 'import os\n\
                  f = os.open(\"d\", os.O_RDONLY)\n\
                  for i in range(6000):\n\
                  \x20 try: os.close(os.open(\"002.sql\", os.O_CREAT | os.O_WRONLY, dir_fd=f))\n\
                  \x20 except OSError: pass\n\
                  \x20 try: os.unlink(\"002.sql\", dir_fd=f)\n\
                  \x20 except OSError: pass'";
    tokio::join!(stage.run(moving), stage.run(making));
    assert!(!stage.root.join("migrations/002.sql").exists());
}

/// One command moves a folder out of a dependency folder while another creates protected names and links in it, and takes
/// its place.
#[tokio::test]
async fn two_commands_at_once_carry_nothing_out_of_a_dependency_folder() {
    let stage = stage();
    fs::create_dir_all(stage.root.join("node_modules/d/.vscode")).unwrap();
    let sandbox = || Sandbox {
        rules: Vec::new(),
        dependencies: Dependencies {
            names: vec!["node_modules".into()],
            reserved: vec![".git/config".into()],
            ..Dependencies::default()
        },
        ..stage.sandbox()
    };
    let moving = "python3 -c 'import os\n\
                  for i in range(3000):\n\
                  \x20 for a, b in ((\"node_modules/d\", \"out\"), (\"out\", \"node_modules/d\")):\n\
                  \x20  try: os.rename(a, b)\n\
                  \x20  except OSError: pass'";
    let making = "python3 -c 'import os\n\
                  f = os.open(\"node_modules/d\", os.O_RDONLY)\n\
                  g = os.open(\"node_modules/d/.vscode\", os.O_RDONLY)\n\
                  def do(what, *args, **named):\n\
                  \x20 try: return what(*args, **named)\n\
                  \x20 except OSError: pass\n\
                  def make(name, **named):\n\
                  \x20 fd = do(os.open, name, os.O_CREAT | os.O_WRONLY, **named)\n\
                  \x20 if fd is not None: os.close(fd)\n\
                  for i in range(3000):\n\
                  \x20 make(\"tasks.json\", dir_fd=g); make(\".mcp.json\", dir_fd=f)\n\
                  \x20 do(os.symlink, \"../node_modules/e\", \"l\", dir_fd=f)\n\
                  \x20 do(os.mkdir, \"node_modules/d\"); do(os.rmdir, \"node_modules/d\")\n\
                  \x20 do(os.unlink, \"tasks.json\", dir_fd=g); do(os.unlink, \".mcp.json\", dir_fd=f)\n\
                  \x20 do(os.unlink, \"l\", dir_fd=f)'";
    let run_it = |line: &str| {
        let home = stage.base.join("home");
        let command = shell(line, &stage.root).variable("HOME", &home).limits(limits(120_000));
        run(command.sandbox(sandbox()))
    };
    tokio::join!(run_it(moving), run_it(making));
    for name in ["out/.vscode/tasks.json", "out/.mcp.json", "out/l"] {
        assert!(stage.root.join(name).symlink_metadata().is_err(), "{name}");
    }
}

/// A command that began before a folder was one of dependencies meets what another has put there since.
#[tokio::test]
async fn a_command_that_began_before_gives_a_dependency_folder_no_other_name() {
    let stage = stage();
    let marker = || vec![("venv".to_owned(), "pyvenv.cfg".to_owned())];
    let sandbox = |folders: &[&str]| Sandbox {
        rules: Vec::new(),
        dependencies: Dependencies {
            names: vec!["node_modules".into()],
            folders: folders.iter().map(|name| stage.root.join(name)).collect(),
            reserved: vec![".git/config".into()],
            markers: marker(),
            ..Dependencies::default()
        },
        ..stage.sandbox()
    };
    let run_it = |line: &str, folders: &[&str]| {
        let home = stage.base.join("home");
        let command = shell(line, &stage.root).variable("HOME", &home).limits(limits(120_000));
        run(command.sandbox(sandbox(folders)))
    };
    fs::create_dir_all(stage.root.join("venv/d")).unwrap();
    fs::write(stage.root.join("venv/pyvenv.cfg"), "").unwrap();
    let ended = run_it("echo x > venv/.mcp.json; echo x > venv/d/.mcp.json", &["venv"]).await;
    assert_eq!(ended.ended.exit, Exit::Code(0));
    let done = run_it(
        "ln -s venv app1; ln -s venv/d app2; mv venv app3; mv venv/d app4; ln -s $PWD/venv/d app5; mkdir sub; \
         ln -s ../venv sub/app6; mkdir app7; mv -T venv/d app7; true",
        &[],
    );
    let done = done.await;
    for name in ["app1", "app2", "app3", "app4", "app5", "sub/app6", "app7/.mcp.json"] {
        assert!(stage.root.join(name).symlink_metadata().is_err(), "{name}: {}", done.text);
    }
    assert!(done.ended.refused_links.contains(&stage.root.join("app1")), "{:?}", done.ended);
}

#[tokio::test]
async fn files_of_the_system_that_only_root_may_read_are_not_read() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let stage = stage();
    // The file comes after the launcher's first look at the system.
    assert_eq!(stage.run("true").await.ended.exit, Exit::Code(0));
    let folder = tempfile::Builder::new().prefix("toolpost-test").tempdir_in("/usr/share").unwrap();
    let deep = folder.path().join("a/b/c/d/e");
    fs::create_dir_all(&deep).unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (name, mode) in [("secret", 0o600), ("open", 0o644)] {
        fs::write(deep.join(name), "CANARY\n").unwrap();
        fs::set_permissions(deep.join(name), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    let deep = deep.display();
    assert_ne!(stage.run(&format!("cat {deep}/secret")).await.ended.exit, Exit::Code(0));
    assert_eq!(stage.run(&format!("cat {deep}/open")).await.text, "CANARY\n");
    assert_ne!(stage.run("cat /etc/shadow").await.ended.exit, Exit::Code(0));
}

/// What a judged link leads through stays what it is; and a locked file may be "replaced" by its own content, as git does.
#[tokio::test]
async fn what_links_lead_through_becomes_no_link() {
    let stage = stage();
    fs::create_dir_all(stage.root.join("there/x")).unwrap();
    fs::write(stage.root.join("locked"), "same\n").unwrap();
    let at = |name: &str| stage.root.join(name);
    let sandbox = || toolpost_process::Sandbox {
        fixed: vec![at("there"), at("there/x"), at("gone"), at("gone/x")],
        locked: vec![at("locked")],
        ..stage.sandbox()
    };
    for line in [
        "ln -s src gone",
        "ln -s src l; mv -T l gone",
        "ln -s src l2; ln -P l2 gone",
        "ln -s src l3; python3 -c 'import os; os.link(\"l3\", \"gone\", follow_symlinks=False)'",
        "mv there away",
        "mv there/x away",
        "rm -r there/x; ln -s ../src there/x",
        "mkdir n; ln -s ../src n/x; mv n gone",
        "mkdir -p n2/n3; ln -s ../src n2/n3/x; mv n2/n3 gone",
        "echo other > o; mv -f o locked",
        "echo same > o; chmod 600 o; mv -f o locked",
        "ln -s locked o2; mv -f o2 locked",
    ] {
        let done = run(shell(line, &stage.root).limits(limits(60_000)).sandbox(sandbox())).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
        for name in ["there", "there/x", "gone", "gone/x"] {
            assert!(!at(name).is_symlink(), "{line}: {name}");
        }
        assert_eq!(fs::read_to_string(at("locked")).unwrap(), "same\n", "{line}");
    }
    let fine =
        "mkdir -p gone/x && echo x > gone/x/file && cp -p locked o3 && mv -f o3 locked && test ! -e o3";
    let done = run(shell(fine, &stage.root).limits(limits(60_000)).sandbox(sandbox())).await;
    assert_eq!((done.ended.exit, done.ended.refused.len()), (Exit::Code(0), 0), "{}", done.text);
}
