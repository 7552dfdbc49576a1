//! Shell scripts that change a small tree in every way there is. They know nothing of what is recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Numbers that look random, by seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const FILES: &[&str] =
    &["a", "b.txt", "d1/x", "d1/y", "d2/sub/z", "d2/sub/deeper/w", "sp ace/f", "d3/n", "new"];
const FOLDERS: &[&str] = &["d1", "d2", "d2/sub", "d2/sub/deeper", "empty", "sp ace", "d3", "other/far", "nd"];
const LINKS: &[&str] = &["link", "dangling", "d1/up", "folderlink"];

/// A repository with two commits and two branches.
pub(super) fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let line = "git init -q -b main . && git config user.name n && git config user.email e@example.com && \
                echo one > t1 && mkdir td && echo two > td/t2 && git add -A && git commit -qm first && \
                git checkout -qb side && echo three > td/t3 && rm t1 && git add -A && git commit -qm second && \
                git checkout -q main && rm -rf .git/hooks && mkdir .git/hooks";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir(folder.path()).env("HOME", folder.path());
    assert!(command.status().unwrap().success());
    folder
}

/// Lays a tree.
pub(super) fn fill(root: &Path, repository: &Path, random: &mut Random) {
    copy(repository, root);
    for name in FILES.iter().filter(|name| !name.starts_with("new")) {
        if random.below(5) == 0 {
            continue;
        }
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let length = [0, 3, 200, 5_000, 300_000][random.below(5)];
        fs::write(&path, format!("{name} {}\n", random.next()).repeat(length / 10)).unwrap();
        let mode = [0o644, 0o600, 0o755, 0o444][random.below(4)];
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for name in ["empty", "d1", "d2/sub"] {
        fs::create_dir_all(root.join(name)).unwrap();
        let mode = [0o755, 0o700, 0o750][random.below(3)];
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (name, text) in LINKS.iter().zip(["a", "nowhere", "../b.txt", "d2"]) {
        std::os::unix::fs::symlink(text, root.join(name)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A script of several lines. What fails in it fails.
pub(super) fn script(random: &mut Random) -> String {
    let mut lines = vec!["exec 2>/dev/null".to_owned()];
    let count = 3 + random.below(8);
    lines.extend((0..count).map(|_| line(random)));
    lines.push("wait".to_owned());
    lines.push("echo over".to_owned());
    lines.join("\n")
}

fn line(random: &mut Random) -> String {
    let file = |random: &mut Random| format!("'{}'", random.of(FILES));
    let folder = |random: &mut Random| format!("'{}'", random.of(FOLDERS));
    let any = |random: &mut Random| match random.below(7) {
        0..3 => format!("'{}'", random.of(FILES)),
        3..6 => format!("'{}'", random.of(FOLDERS)),
        _ => format!("'{}'", random.of(LINKS)),
    };
    let (f, g, d, p, q) = (file(random), file(random), folder(random), any(random), any(random));
    let number = random.below(3_000);
    match random.below(36) {
        0 => format!("echo {number} > {f}"),
        1 => format!("echo {number} >> {p}"),
        2 => format!(": > {f}"),
        3 => format!("truncate -s {number} {f}"),
        4 => format!("sed -i s/1/one/ {f}"),
        5 | 6 => format!("mv {p} {q}"),
        7 | 8 => format!("mv -T {p} {q}"),
        9 => format!("ln {f} {g}; echo {number} >> {g}"),
        10 => format!("ln -s {p} {q}"),
        11 => format!("ln -sfn {p} {q}"),
        12 => format!("chmod {} {f}", random.of(&["600", "755", "000", "444", "+x", "g-r"])),
        13 => format!("chmod {} {d}", random.of(&["700", "755", "750", "555", "a+rx"])),
        14 => format!("chmod -R {} {d}", random.of(&["u+rwX,go-w", "g+w", "o-rx"])),
        15 => format!("rm -f {p}"),
        16 | 17 => format!("rm -rf {p}"),
        18 => format!("mkdir -p {d}"),
        19 => format!("rmdir {d}"),
        20 => format!("cp -r {p} {q}"),
        21 => format!("cp -a {p} {q}"),
        22 => format!("tar cf /tmp/t {p}; mkdir -p {d}; tar xf /tmp/t -C {d}"),
        23 => "git add -A . && git commit -qm more".to_owned(),
        24 => format!(
            "git {}",
            random.of(&["checkout -q side", "checkout -qf side", "stash -q", "reset -q --hard"])
        ),
        25 => format!("find {d} -type f -delete"),
        26 => format!("(echo {number} >> {f}; mv {f} {g}) & (rm -rf {q}; echo x > {f}; mkdir -p {d}) &"),
        27 => format!("(exec 3<{f}; echo {number} > /proc/self/fd/3)"),
        28 => format!("dd if=/dev/zero of={f} bs=7 count=3 conv=notrunc"),
        29 => format!("install -m 711 {f} {g}; touch {p}"),
        30 => format!("cp --remove-destination {f} {g}; cd {d} && echo {number} > here; cd \"$OLDPWD\""),
        31 => format!("mkfifo pipe{number}; ln -f {f} {q}"),
        32 => python(random, &f),
        33 => python(random, &p),
        34 => exchange(&p, &q),
        _ => format!("umask {}; echo {number} > {g}; mkdir -p {d}", random.of(&["022", "077", "002"])),
    }
}

fn python(random: &mut Random, path: &str) -> String {
    let code = random.of(&[
        "f = open(p, 'r+b'); f.seek(1); f.write(b'PY')",
        "import mmap; f = open(p, 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'M'; m.flush()",
        "f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o640); os.write(f, b'T'); os.link(f'/proc/self/fd/{f}', p, src_dir_fd=f)",
        "f = os.open(p, os.O_RDONLY); os.fchmod(f, 0o700); os.unlink(p)",
        "os.truncate(p, 2); os.replace(p, 'replaced')",
        "os.rename(p, 'r1'); os.mkdir(p); open(p + '/inner', 'w').write('x')",
    ]);
    format!("python3 -ISc \"import os, sys; p = sys.argv[1]; {code}\" {path}")
}

fn exchange(one: &str, other: &str) -> String {
    format!(
        "python3 -ISc \"import ctypes, os, sys; a, b = map(os.fsencode, sys.argv[1:]); \
         print(ctypes.CDLL(None).renameat2(-100, a, -100, b, 2)); open(a + b'/x', 'w').write('1')\" {one} {other}"
    )
}
