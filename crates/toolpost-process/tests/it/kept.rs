//! What a command changes is recorded before it changes: the records and what is there afterwards give what was there before.

mod others;
mod scripts;

use crate::guard::{as_ordinary_user, count};
use crate::stage::{Run, limits, run, shell};
use scripts::Random;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use toolpost_process::kept::{self, Before, Kept};
use toolpost_process::{Dependencies, Exit, Sandbox, Scratch};

/// What has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File(u32, Vec<u8>),
    Folder(u32),
    Link(PathBuf),
    Other,
}

type Tree = BTreeMap<PathBuf, Node>;

/// Everything in a folder and the folder itself, by absolute path.
fn tree(path: &Path) -> Tree {
    let mut found = Tree::new();
    look(path, &mut found);
    found
}

fn look(path: &Path, found: &mut Tree) {
    let metadata = path.symlink_metadata().unwrap();
    let mode = metadata.mode() & 0o7777;
    let opened = |bits: u32| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    let kind = metadata.file_type();
    let node = if kind.is_symlink() {
        Node::Link(fs::read_link(path).unwrap())
    } else if kind.is_dir() {
        if mode & 0o500 != 0o500 {
            opened(0o700);
        }
        for entry in fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), found);
        }
        if mode & 0o500 != 0o500 {
            opened(mode);
        }
        Node::Folder(mode)
    } else if kind.is_file() {
        if mode & 0o400 == 0 {
            opened(0o400);
        }
        let content = fs::read(path).unwrap();
        if mode & 0o400 == 0 {
            opened(mode);
        }
        Node::File(mode, content)
    } else {
        Node::Other
    };
    found.insert(path.to_owned(), node);
}

/// A tree with the records put back into it.
fn put_back(mut tree: Tree, kept: &Kept, spool: &mut File) -> Tree {
    for record in &kept.records {
        let before = match &record.before {
            Before::Absent => None,
            Before::File { mode, content } => Some(Node::File(*mode, content.read(spool).unwrap())),
            Before::Mode { mode } => match tree.get(&record.path) {
                Some(Node::File(_, content)) => Some(Node::File(*mode, content.clone())),
                other => panic!("{} has become {other:?} without a record", record.path.display()),
            },
            Before::Folder { mode } => Some(Node::Folder(*mode)),
            Before::Link(text) => Some(Node::Link(text.clone())),
            Before::Other => Some(Node::Other),
            Before::NotKept { bytes, .. } => panic!("{} of {bytes} bytes", record.path.display()),
        };
        match before {
            Some(node) => tree.insert(record.path.clone(), node),
            None => tree.remove(&record.path),
        };
    }
    tree
}

fn differences(one: &Tree, other: &Tree) -> Vec<String> {
    let shown = |node: Option<&Node>| match node {
        Some(Node::File(mode, content)) => {
            let start = String::from_utf8_lossy(&content[..content.len().min(40)]).into_owned();
            format!("file {mode:o} {} {start:?}", content.len())
        }
        node => format!("{node:?}"),
    };
    let paths: std::collections::BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let differing = paths.into_iter().filter(|path| one.get(*path) != other.get(*path));
    differing
        .map(|path| format!("{path:?}: {} -> {}", shown(one.get(path)), shown(other.get(path))))
        .collect()
}

/// A workspace of its own, and where its changes are recorded.
pub(crate) struct Stage {
    _folder: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
    spool: PathBuf,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, spool) = (base.join("work"), base.join("spool"));
        fs::create_dir(&root).unwrap();
        Stage { _folder: folder, base, root, spool }
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox {
            writable: vec![self.root.clone()],
            reserved: vec![".git/hooks".into(), ".git/config".into(), ".envrc".into()],
            dependencies: Dependencies {
                names: vec!["node_modules".into()],
                folders: vec![self.root.join("venv")],
                ..Dependencies::default()
            },
            ..Sandbox::default()
        }
    }

    fn command(&self, line: &str) -> toolpost_process::Command {
        shell(line, &self.root)
            .variable("HOME", self.base.join("home"))
            .limits(limits(120_000))
            .sandbox(self.sandbox())
    }

    fn new_spool(&self) -> File {
        let _ = fs::remove_file(&self.spool);
        File::options().append(true).create_new(true).open(&self.spool).unwrap()
    }

    /// Runs a line with its changes recorded.
    async fn run(&self, line: &str) -> (Run, Kept, File) {
        let done = run(self.command(line).keep_in(self.new_spool())).await;
        let mut spool = File::open(&self.spool).unwrap();
        let kept = kept::read(&mut spool).unwrap();
        (done, kept, spool)
    }

    /// Runs a line and checks that what it changed can be put back.
    async fn check(&self, line: &str) -> Run {
        let before = tree(&self.root);
        let (done, kept, mut spool) = self.run(line).await;
        assert!(kept.is_whole && !kept.is_cut, "{line}\n{}", done.text);
        let after = put_back(tree(&self.root), &kept, &mut spool);
        assert_eq!(differences(&before, &after), Vec::<String>::new(), "{line}\n{}", done.text);
        done
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn before(&self, kept: &Kept, name: &str) -> Option<Before> {
        let path = self.root.join(name);
        kept.records.iter().find(|record| record.path == path).map(|record| record.before.clone())
    }
}

#[tokio::test]
async fn guarantee_35_the_records_of_generated_scripts_give_what_was_there() {
    as_ordinary_user("kept::guarantee_35_the_records_of_generated_scripts_give_what_was_there");
    let repository = scripts::repository();
    let scripts = count(150, 5_000);
    let first: u64 = std::env::var("TOOLPOST_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut changed = 0;
    for seed in first..first + scripts as u64 {
        let stage = Stage::new();
        let mut random = Random(seed);
        scripts::fill(&stage.root, repository.path(), &mut random);
        let before = tree(&stage.root);
        let script = scripts::script(&mut random);
        let done = stage.check(&script).await;
        assert!(done.text.ends_with("over\n"), "seed {seed}: {script}\n{}", done.text);
        changed += usize::from(tree(&stage.root) != before);
    }
    assert!(changed > scripts * 9 / 10, "only {changed} of {scripts} scripts changed anything");
    println!(
        "measure: guarantee 35: {scripts} generated scripts, {changed} changed something, all could be put back"
    );
}

#[tokio::test]
async fn guarantee_35_every_way_to_change_a_file_is_recorded() {
    as_ordinary_user("kept::guarantee_35_every_way_to_change_a_file_is_recorded");
    let python = |code: &str| format!("python3 -c '{code}'");
    let lines = [
        "exec 3<a; echo x > /proc/self/fd/3".to_owned(),
        "exec 3<a; echo x >> /dev/fd/3".to_owned(),
        "echo longer than before < a > /dev/stdin".to_owned(),
        "ln a n; echo x >> n".to_owned(),
        "ln a n; mv n d/n; chmod 600 d/n; echo x >> d/n".to_owned(),
        "ln a n; rm a; echo x >> n".to_owned(),
        "chmod 0 a; rm -f a".to_owned(),
        "chmod 700 a; echo x >> a; chmod 640 a".to_owned(),
        "chmod 700 a; mv a b; echo x > b".to_owned(),
        "chmod 700 d; rm -rf d; mkdir d".to_owned(),
        "mv d e; echo x > e/deep/f; mkdir -p d/deep; echo y > d/deep/f".to_owned(),
        "mv -T d empty; echo x > empty/deep/f".to_owned(),
        "mv -T d full; mv -T full d; echo x > new; true".to_owned(),
        "rm -rf d; ln -s full d; echo x > d/f".to_owned(),
        "ln -sfn full l; rm l; echo x > l".to_owned(),
        "mkdir x; cd x; rmdir ../x; echo x > y; mkdir z; echo x > ../new".to_owned(),
        "truncate -s 1 a; truncate -s 1000000 full/f; fallocate -l 70000 d/deep/f".to_owned(),
        "cp --reflink=auto full/f a; dd if=/dev/zero of=d/deep/f bs=1 count=1 conv=notrunc".to_owned(),
        "umask 077; echo x > n; mkdir -p m/k; mkfifo p".to_owned(),
        "rmdir empty; touch empty; rm pipe; mkdir pipe".to_owned(),
        "chmod 711 .; chmod 755 empty; chmod 600 full/f".to_owned(),
        python("import mmap\nf = open(\"a\", \"r+b\")\nm = mmap.mmap(f.fileno(), 0)\nm[0:2] = b\"ZZ\""),
        python(
            "import os\nf = os.open(\".\", os.O_TMPFILE | os.O_RDWR, 0o644)\nos.write(f, b\"x\")\n\
             os.link(f\"/proc/self/fd/{f}\", \"t\", src_dir_fd=f)",
        ),
        python(
            "import ctypes\nlibc = ctypes.CDLL(None)\n\
             libc.renameat2(-100, b\"d\", -100, b\"full\", 2)\nlibc.renameat2(-100, b\"a\", -100, b\"empty\", 2)\n\
             open(\"full/deep/f\", \"w\").write(\"x\")\nopen(\"d/f\", \"a\").write(\"x\")",
        ),
        python(
            "import os\nf = os.open(\"a\", os.O_RDONLY | os.O_TRUNC)\n\
             g = os.open(\"full/f\", os.O_RDONLY)\nos.fchmod(g, 0o640)\n\
             d = os.open(\"d\", os.O_RDONLY)\nos.unlink(\"deep/f\", dir_fd=d)\nos.rmdir(\"deep\", dir_fd=d)",
        ),
        python("import socket\nsocket.socket(socket.AF_UNIX).bind(\"s\")"),
        python(
            "import os, threading\ndef work(n):\n for i in range(50):\n  open(f\"a\", \"a\").write(\"x\")\n\
             \x20 try: os.rename(\"a\", f\"a{n}\")\n  except OSError: pass\n\
             t = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n\
             [x.start() for x in t]\n[x.join() for x in t]",
        ),
        "for i in 1 2 3 4; do (for j in $(seq 20); do mv d d$i; echo $i >> d$i/deep/f; mv d$i d; done) & done; wait"
            .to_owned(),
    ];
    for line in lines {
        let stage = Stage::new();
        for (name, text) in [
            ("a", "one\n"),
            ("d/deep/f", "two\n"),
            ("full/f", "three\n"),
            // A folder without a name is reported by such a path.
            ("x (deleted)/y", "four\n"),
        ] {
            stage.write(name, text);
        }
        fs::create_dir(stage.root.join("empty")).unwrap();
        std::os::unix::fs::symlink("a", stage.root.join("l")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            stage.root.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        let before = tree(&stage.root);
        let done = stage.check(&format!("{line} 2>&1")).await;
        assert_ne!(tree(&stage.root), before, "nothing was changed: {line}\n{}", done.text);
    }
}

#[tokio::test]
async fn a_command_that_changes_nothing_leaves_no_records() {
    let stage = Stage::new();
    stage.write("a", "one\n");
    let (done, kept, _) = stage.run("cat a; ls; true > /dev/null; echo x > /tmp/x; rm /tmp/x").await;
    assert_eq!(done.ended.exit, Exit::Code(0), "{}", done.text);
    assert_eq!(kept, Kept { is_whole: true, ..Kept::default() });
}

#[tokio::test]
async fn dependency_folders_are_not_recorded() {
    let stage = Stage::new();
    for name in ["node_modules/p/i.js", "venv/lib/x.py", "app/node_modules/q/i.js", "app/x", "venv2/y"] {
        stage.write(name, "content\n");
    }
    let line =
        "echo x >> node_modules/p/i.js; rm -rf venv; mkdir node_modules/n; mv app moved; echo x > venv2/y";
    let (done, kept, _) = stage.run(line).await;
    assert_eq!(done.ended.exit, Exit::Code(0), "{}", done.text);
    let names: Vec<String> = kept
        .records
        .iter()
        .map(|record| record.path.strip_prefix(&stage.root).unwrap().display().to_string())
        .collect();
    assert_eq!(names, ["app", "app/x", "moved", "moved/x", "venv2/y"]);
    assert!(kept.is_whole);
}

#[tokio::test]
async fn what_is_beyond_the_bounds_is_said() {
    let stage = Stage::new();
    File::create(stage.root.join("large")).unwrap().set_len(kept::LARGEST_FILE + 1).unwrap();
    for number in 0..5 {
        File::create(stage.root.join(format!("f{number}"))).unwrap().set_len(kept::LARGEST_FILE).unwrap();
    }
    let (done, kept, _) = stage.run("echo x >> large; for i in 0 1 2 3 4; do echo x >> f$i; done").await;
    assert_eq!(done.ended.exit, Exit::Code(0), "{}", done.text);
    assert!(kept.is_whole && !kept.is_cut);
    for (name, bytes) in [("large", kept::LARGEST_FILE + 1), ("f4", kept::LARGEST_FILE)] {
        let before = stage.before(&kept, name);
        assert!(matches!(before, Some(Before::NotKept { bytes: b, .. }) if b == bytes), "{name}: {before:?}");
    }
    for number in 0..4 {
        let before = stage.before(&kept, &format!("f{number}"));
        assert!(
            matches!(before, Some(Before::File { content, .. }) if content.bytes() == kept::LARGEST_FILE)
        );
    }
    assert!(kept.records.len() == 6);
}

#[tokio::test]
async fn more_paths_than_are_recorded_do_not_stop_a_command() {
    let stage = Stage::new();
    stage.write("last", "one\n");
    let more = kept::MOST_PATHS + 10;
    let line = format!(
        "python3 -c 'import os\nfor i in range({more}): os.mkdir(f\"d{{i}}\")'; echo x > last; ls | wc -l"
    );
    let (done, kept, _) = stage.run(&line).await;
    assert_eq!(done.text, format!("{}\n", more + 1));
    assert!(kept.is_cut && kept.is_whole);
    assert_eq!(kept.records.len(), kept::MOST_PATHS);
    assert_eq!(stage.before(&kept, "last"), None);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_kept() {
    as_ordinary_user("kept::a_file_that_cannot_be_read_is_not_kept");
    let stage = Stage::new();
    stage.write("a", "secret\n");
    stage.write("d/inner/f", "x\n");
    fs::set_permissions(stage.root.join("a"), fs::Permissions::from_mode(0o200)).unwrap();
    fs::set_permissions(stage.root.join("d/inner"), fs::Permissions::from_mode(0o300)).unwrap();
    let (done, kept, _) = stage.run("echo x >> a; mv d e").await;
    assert_eq!(done.ended.exit, Exit::Code(0), "{}", done.text);
    let before = stage.before(&kept, "a");
    assert!(matches!(before, Some(Before::NotKept { bytes: 7, mode: 0o200, .. })), "{before:?}");
    // What is in a folder that cannot be listed is not known.
    assert!(!kept.is_whole);
}

#[tokio::test]
async fn a_torn_record_and_what_follows_it_is_left_out() {
    let stage = Stage::new();
    stage.write("a", "one\n");
    stage.write("b", vec![b'b'; 400_000]);
    stage.write("c", "three\n");
    let (_, whole, _) = stage.run("echo x > a; echo x > b; echo x > c").await;
    assert!(whole.is_whole);
    assert_eq!(whole.records.len(), 3);
    let bytes = fs::read(&stage.spool).unwrap();
    let torn = stage.base.join("torn");
    let lengths =
        (0..2_000).chain((0..40).map(|part| bytes.len() * part / 40)).chain(bytes.len() - 600..bytes.len());
    for length in lengths {
        fs::write(&torn, &bytes[..length]).unwrap();
        let kept = kept::read(&mut File::open(&torn).unwrap()).unwrap();
        assert_eq!(kept.records[..], whole.records[..kept.records.len()], "{length}");
        assert_eq!(kept.is_whole, length == 0, "{length}");
    }
    // What was allocated and never written.
    fs::write(&torn, [&bytes[..300], &[0; 5_000]].concat()).unwrap();
    let kept = kept::read(&mut File::open(&torn).unwrap()).unwrap();
    assert!(!kept.is_whole && kept.records.len() < 3);
}

#[tokio::test]
async fn a_killed_command_leaves_what_it_had_changed() {
    let stage = Stage::new();
    stage.write("a", "one\n");
    let before = tree(&stage.root);
    let line = "echo x > a; mkdir d; echo y > d/f; echo ready; sleep 60";
    let mut running = stage.command(line).keep_in(stage.new_spool()).start().unwrap();
    let mut stdout = running.take_stdout().unwrap();
    let mut said = [0; 6];
    tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut said).await.unwrap();
    drop(running);
    let mut spool = File::open(&stage.spool).unwrap();
    let kept = kept::read(&mut spool).unwrap();
    assert_eq!(differences(&before, &put_back(tree(&stage.root), &kept, &mut spool)), Vec::<String>::new());
}

/// The records are what the user's hand puts back later. No program of the command may write them.
#[tokio::test]
async fn guarantee_13_no_command_reaches_its_records() {
    as_ordinary_user("kept::guarantee_13_no_command_reaches_its_records");
    let stage = Stage::new();
    stage.write("a", "one\n");
    stage.write("forge.py", include_str!("kept/forge.py"));
    let (done, kept, _) = stage.run("python3 forge.py").await;
    assert_eq!(done.text, "tried\n");
    assert_eq!(kept.records, []);
    assert!(kept.is_whole);
    let bytes = fs::read(&stage.spool).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"FORGED"));
}

#[tokio::test]
async fn what_a_file_holds_is_not_taken_for_a_record() {
    let stage = Stage::new();
    stage.write("victim", "the user's\n");
    stage.write("a", "one\n");
    let (_, first, _) = stage.run("rm victim; echo x > victim").await;
    assert_eq!(first.records.len(), 1);
    // Its content is a record, and it is recorded when it is removed.
    let forged = fs::read(&stage.spool).unwrap();
    let many: Vec<u8> = forged.iter().copied().cycle().take(forged.len() * 3_000).collect();
    stage.write("small", &forged);
    stage.write("large", &many);
    let (_, kept, _) = stage.run("rm small large; echo x > a").await;
    let names: Vec<_> =
        kept.records.iter().map(|record| record.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["small", "large", "a"]);
    assert!(kept.is_whole);
}

/// A spool that can take no more does not stop the command; what is missing is said, and nothing false is read.
#[tokio::test]
async fn a_full_disk_does_not_stop_a_command() {
    let stage = Stage::new();
    stage.write("victim", "the user's\n");
    let (_, _, _) = stage.run("rm victim").await;
    let forged = fs::read(&stage.spool).unwrap();
    stage.write("large", forged.iter().copied().cycle().take(3 << 20).collect::<Vec<u8>>());
    stage.write("small", "one\n");
    // A file that may only be read: every write fails.
    let (done, kept) = {
        let spool = File::open(&stage.spool).unwrap();
        let done = run(stage.command("rm large; echo x > small; echo done").keep_in(spool)).await;
        (done, kept::read(&mut File::open(&stage.spool).unwrap()).unwrap())
    };
    assert_eq!(done.text, "done\n");
    assert_eq!(kept.records.len(), 1, "only what was there: {kept:?}");
    let Some(disk) = SmallDisk::new(&stage.base, 1 << 20) else { return };
    stage.write("large", forged.iter().copied().cycle().take(3 << 20).collect::<Vec<u8>>());
    let path = disk.path.join("spool");
    let spool = File::options().append(true).create_new(true).open(&path).unwrap();
    let line = "rm large; echo x > small; mkdir d; echo done";
    let done = run(stage.command(line).keep_in(spool)).await;
    assert_eq!(done.text, "done\n");
    let kept = kept::read(&mut File::open(&path).unwrap()).unwrap();
    assert!(!kept.is_whole);
    let names: Vec<_> =
        kept.records.iter().map(|record| record.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["large", "small", "d"]);
    assert!(matches!(kept.records[0].before, Before::NotKept { bytes, .. } if bytes == 3 << 20));
    assert!(matches!(kept.records[1].before, Before::File { .. }));
}

/// A small file system in memory; none where mounting is not possible.
struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    fn new(base: &Path, bytes: u64) -> Option<SmallDisk> {
        let path = base.join("disk");
        fs::create_dir(&path).unwrap();
        let options = std::ffi::CString::new(format!("size={bytes}")).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("disk", &path, "tmpfs", flags, options.as_c_str()).ok()?;
        Some(SmallDisk { path })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.path, rustix::mount::UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn a_dry_run_and_a_command_without_a_sandbox_record_nothing() {
    let stage = Stage::new();
    stage.write("a", "one\n");
    let scratch = Scratch::new(std::slice::from_ref(&stage.base), std::slice::from_ref(&stage.root)).unwrap();
    let sandbox = Sandbox { scratch: Some(scratch.path().to_owned()), ..stage.sandbox() };
    run(stage.command("echo x > a").sandbox(sandbox).keep_in(stage.new_spool())).await;
    assert_eq!(fs::read(&stage.spool).unwrap(), b"");
    run(shell("echo x > a", &stage.root).keep_in(stage.new_spool())).await;
    assert_eq!(fs::read(&stage.spool).unwrap(), b"");
}

#[tokio::test]
async fn two_commands_of_one_call_write_one_after_the_other() {
    let stage = Stage::new();
    stage.write("a", "one\n");
    let before = tree(&stage.root);
    let spool = stage.new_spool();
    for line in ["echo x > a", "echo y > a; echo z > b"] {
        run(stage.command(line).keep_in(spool.try_clone().unwrap())).await;
    }
    let mut spool = File::open(&stage.spool).unwrap();
    let kept = kept::read(&mut spool).unwrap();
    assert!(kept.is_whole);
    assert_eq!(differences(&before, &put_back(tree(&stage.root), &kept, &mut spool)), Vec::<String>::new());
}
