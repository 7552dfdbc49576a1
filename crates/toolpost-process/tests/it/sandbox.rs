//! Commands in the sandbox: real attempts by real programs.

use crate::load::stretched;
use crate::stage::{Run, limits, mark, processes, run, shell, try_run};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolpost_process::{Exit, Sandbox, Why};

/// A workspace with a repository's dangerous corners, and a secret outside of it.
struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
}

fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, outside) = (base.join("work"), base.join("outside"));
    for path in [root.join("src"), root.join(".git/hooks"), root.join(".git/objects"), outside.clone()] {
        fs::create_dir_all(path).unwrap();
    }
    for (path, text) in [
        (root.join("src/a.txt"), "one\n"),
        (root.join(".git/config"), "[core]\n"),
        (root.join(".git/HEAD"), "ref: refs/heads/main\n"),
        (root.join(".env"), "CANARY=1\n"),
        (outside.join("key"), "CANARY\n"),
    ] {
        fs::write(path, text).unwrap();
    }
    Ground { _folder: folder, root, outside }
}

impl Ground {
    fn sandbox(&self) -> Sandbox {
        Sandbox {
            writable: vec![self.root.clone()],
            locked: vec![self.root.join(".git/hooks"), self.root.join(".git/config")],
            hidden: vec![self.root.join(".env")],
            reserved: [
                ".git/hooks",
                ".git/config",
                ".mcp.json",
                ".bashrc",
                ".vscode/tasks.json",
                ".toolpost",
            ]
            .map(str::to_owned)
            .into(),
            ..Sandbox::default()
        }
    }

    async fn run(&self, line: &str) -> Run {
        run(shell(line, &self.root).limits(limits(20_000)).sandbox(self.sandbox())).await
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }
}

#[tokio::test]
async fn everyday_work_goes_on_inside() {
    let ground = ground();
    let done = ground
        .run("set -e; echo two >> src/a.txt; mkdir -p new/deep; echo x > new/deep/f; mv new/deep/f g; cat src/a.txt; \
              echo tmp > /tmp/t; cat /tmp/t; python3 -c 'print(6*7)'; echo y > .git/index; git --version >/dev/null; \
              ls /proc/self/ >/dev/null; echo $$; test -w /dev/null; echo h > ~/h 2>/dev/null || echo no-home")
        .await;
    assert_eq!(done.ended.exit, Exit::Code(0), "{}", done.text);
    assert!(done.text.starts_with("one\ntwo\ntmp\n42\n2\n"), "{}", done.text);
    assert_eq!(ground.text("g").as_deref(), Some("x\n"));
    assert_eq!(ground.text("src/a.txt").as_deref(), Some("one\ntwo\n"));
}

#[tokio::test]
async fn guarantee_13_nothing_outside_is_written_or_seen() {
    let ground = ground();
    let outside = ground.outside.display();
    for line in [
        format!("echo x > {outside}/new"),
        format!("cat {outside}/key"),
        format!("ln -s {outside} link; cat link/key"),
        "echo x > /etc/x".into(),
        "echo x > /usr/x".into(),
        "echo x > /x".into(),
        "cat /etc/shadow".into(),
        "cat .env".into(),
        "python3 -c 'print(open(\".env\").read())'".into(),
        "rm .env".into(),
        "mv .env e".into(),
        "ls -d /*/.ssh /*/*/.ssh".into(),
        "cat /proc/1/environ".into(),
        "echo 1 > /proc/sys/kernel/panic".into(),
        "chmod 777 /usr".into(),
    ] {
        let done = ground.run(&line).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
        assert!(!done.text.contains("CANARY"), "{line}: {}", done.text);
    }
    assert_eq!(ground.text(".env").as_deref(), Some("CANARY=1\n"));
    assert_eq!(fs::read_dir(&ground.outside).unwrap().count(), 1);
}

#[tokio::test]
async fn guarantee_15_what_runs_later_is_not_written() {
    let ground = ground();
    for line in [
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "rm .git/config",
        "mv .git/config c",
        "mv .git g",
        "mv .git/hooks h",
        "rm -rf .git/hooks",
        "mv src .git/hooks",
        "echo x > n; mv n .git/config",
        "echo x > n; ln -f n .git/config",
        "echo x > .mcp.json",
        "touch .MCP.json",
        "echo x > n; mv n .mcp.json",
        "echo x > n; ln n .mcp.json",
        "ln -s n .mcp.json",
        "ln -s .mcp.json l; echo x > l",
        "ln -s . d; echo x > d/.mcp.json",
        "mkdir .toolpost",
        "mkdir t; echo x > t/config.toml; mv t .toolpost",
        "mkdir v; echo x > v/tasks.json; mv v .vscode",
        "mkdir v2; echo x > v2/tasks.json; ln -s v2 .vscode",
        "mkdir -p a/.vscode; echo x > a/.vscode/tasks.json",
        "mkdir -p sub/.git/hooks",
        "mkdir -p s/.git; mkdir h2; echo x > h2/pre-commit; mv h2 s/.git/hooks",
        "cd /tmp; mkdir q; cp -r q $OLDPWD/.toolpost",
        "python3 -c 'import os; os.open(\".bashrc\", os.O_CREAT|os.O_WRONLY)'",
        "python3 -c 'import os; f=os.open(\".\", os.O_RDONLY); os.open(\".bashrc\", os.O_CREAT|os.O_WRONLY, dir_fd=f)'",
        "perl -e 'open(F, \">\", \"src/../.bashrc\") or die'",
        "python3 -c 'import os; os.mknod(\".bashrc\")'",
        "python3 -c 'import os; os.link(\"src/a.txt\", \".bashrc\")'",
    ] {
        let done = ground.run(line).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
        for path in [
            ".mcp.json",
            ".MCP.json",
            ".toolpost",
            ".bashrc",
            "a/.vscode/tasks.json",
            ".vscode",
            "sub/.git/hooks",
            "s/.git/hooks",
        ] {
            assert!(ground.root.join(path).symlink_metadata().is_err(), "{line} made {path}");
        }
        assert_eq!(ground.text(".git/config").as_deref(), Some("[core]\n"), "{line}");
        assert_eq!(fs::read_dir(ground.root.join(".git/hooks")).unwrap().count(), 0, "{line}");
    }
}

#[tokio::test]
async fn guarantee_13_the_network_is_not_there() {
    let ground = ground();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let udp = datagrams.local_addr().unwrap().port();
    let socket = ground.outside.join("socket");
    let _local = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let inside = ground.root.join("socket");
    let _inside = std::os::unix::net::UnixListener::bind(&inside).unwrap();
    let python = |code: &str| format!("python3 -c 'import socket; {code}'");
    for line in [
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        python(&format!("socket.create_connection((\"127.0.0.1\", {port}), 2)")),
        python("socket.create_connection((\"192.0.2.1\", 80), 2)"),
        python("s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"192.0.2.1\", 53))"),
        python(&format!("s=socket.socket(socket.AF_UNIX); s.connect(\"{}\")", socket.display())),
        python(&format!("s=socket.socket(socket.AF_UNIX); s.connect(\"{}\")", inside.display())),
        python("socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)"),
        python("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    ] {
        let command = shell(&line, &ground.root).limits(limits(20_000));
        let sandbox = Sandbox { hidden: vec![inside.clone()], ..ground.sandbox() };
        let done = run(command.sandbox(sandbox)).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
    }
    let line = python(&format!(
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {udp}))"
    ));
    ground.run(&line).await;
    assert!(datagrams.recv(&mut [0; 8]).is_err(), "a datagram left the sandbox");
    // A loopback of its own works, so that servers under test do.
    let line = python(
        "s=socket.create_server((\"127.0.0.1\", 0)); c=socket.create_connection(s.getsockname()); c.sendall(b\"hi\"); \
         print(s.accept()[0].recv(2))",
    );
    assert_eq!(ground.run(&line).await.text, "b'hi'\n");
    // Granted, it is there.
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo through");
    let sandbox = Sandbox { network: true, ..ground.sandbox() };
    let done = run(shell(&line, &ground.root).limits(limits(20_000)).sandbox(sandbox)).await;
    assert_eq!(done.text, "through\n");
}

#[tokio::test]
async fn guarantee_13_no_rights_can_be_had_inside() {
    let ground = ground();
    let done =
        ground.run("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status").await;
    let expected = "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n\
                    CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
    assert_eq!(done.text, expected);
    let call = |code: &str| {
        format!(
            "python3 -c 'import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); sys.exit(0 if {code}>=0 else 1)'"
        )
    };
    for line in [
        "mount -t tmpfs x /tmp".to_owned(),
        "unshare -U true".into(),
        "unshare -r true".into(),
        "unshare -m true".into(),
        "chroot / true".into(),
        "strace -p 1".into(),
        call("l.ptrace(16,1,0,0)"),
        call("l.unshare(0x10000000)"),
        call("l.mount(b\"x\",b\"/tmp\",b\"tmpfs\",0,0)"),
        call("l.setns(0,0)"),
        call("l.syscall(425,8,0)"),
        call("l.syscall(321,0,0,0)"),
        "kill -9 1; test ! -e /proc/1".into(),
        "sudo -n true".into(),
        "su -c true".into(),
        "mknod n c 1 3".into(),
        "chown 12345 src/a.txt".into(),
    ] {
        let done = ground.run(&line).await;
        assert_ne!(done.ended.exit, Exit::Code(0), "{line}: {}", done.text);
    }
    // Nobody but its own processes is there.
    let done = ground.run("ls /proc | grep -c '^[0-9]'").await;
    assert!(done.text.trim().parse::<u32>().unwrap() <= 5, "{}", done.text);
}

#[tokio::test]
async fn guarantee_09_nothing_outlives_a_sandboxed_command() {
    let ground = ground();
    for line in [
        "sleep MARK",
        "trap '' TERM; sleep MARK; sleep MARK",
        "(setsid sh -c 'sleep MARK & exec sleep MARK' &) ; sleep MARK",
        "for i in $(seq 400); do sleep MARK & done; wait",
        "f() { (trap '' TERM; sleep MARK & f) & }; f; sleep MARK",
        "yes MARK",
    ] {
        let mark = mark();
        let command = shell(&line.replace("MARK", &mark), &ground.root).limits(limits(700));
        let done = run(command.sandbox(ground.sandbox())).await;
        assert_eq!(done.ended.why, Why::TimedOut, "{line}");
        assert!(done.took < stretched(Duration::from_millis(3_700)), "{line}: {:?}", done.took);
        assert_eq!(processes(&mark), Vec::<u32>::new(), "{line}");
    }
    let mark = mark();
    let done = ground.run(&format!("setsid sleep {mark} & sleep 0.1; echo done")).await;
    assert_eq!((done.text.as_str(), done.ended.survivor_count), ("done\n", 1), "{:?}", done.ended);
    assert!(done.ended.survivors[0].name.contains(&mark));
    assert_eq!(processes(&mark), Vec::<u32>::new());
    assert_eq!(ground.run("kill -9 $$").await.ended.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let ground = ground();
    let scratch = tempfile::tempdir().unwrap();
    let sandbox = Sandbox { scratch: Some(scratch.path().canonicalize().unwrap()), ..ground.sandbox() };
    let line = "echo two >> src/a.txt; rm .git/HEAD; mkdir n; echo x > n/f; echo x > .mcp.json; cat src/a.txt; ls -A";
    let done = run(shell(line, &ground.root).limits(limits(20_000)).sandbox(sandbox)).await;
    assert!(done.text.contains("one\ntwo\n") && done.text.contains("\nn\n"), "{}", done.text);
    assert!(done.text.contains(".mcp.json: Permission denied"), "as for real: {}", done.text);
    assert_eq!(ground.text("src/a.txt").as_deref(), Some("one\n"));
    assert!(
        ground.text(".git/HEAD").is_some()
            && ground.text("n/f").is_none()
            && ground.text(".mcp.json").is_none()
    );
    let upper = scratch.path().join("0/upper");
    assert_eq!(fs::read_to_string(upper.join("src/a.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(fs::read_to_string(upper.join("n/f")).unwrap(), "x\n");
}

#[tokio::test]
async fn a_missing_program_is_said_from_inside_too() {
    let ground = ground();
    let command = toolpost_process::Command::new("no-such-program", &ground.root).sandbox(ground.sandbox());
    let error = try_run(command).await.unwrap_err();
    assert!(error.to_string().starts_with("`no-such-program` cannot be run"), "{error}");
    let command = shell("true", Path::new("/nowhere")).sandbox(ground.sandbox());
    assert!(try_run(command).await.unwrap_err().to_string().contains("cannot be entered"));
}
