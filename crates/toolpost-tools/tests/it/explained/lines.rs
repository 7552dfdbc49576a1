//! Generated command lines, with what each of them names literally and starts.

use super::{ABSENT, FILES, LINKS};
use crate::mutations::Random;
use std::path::Path;

/// A line, and what its writer knows of it.
#[derive(Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Files that it names, from the workspace root.
    pub(super) files: Vec<String>,
    pub(super) hosts: Vec<String>,
    /// Programs that open files by themselves.
    pub(super) started: Vec<&'static str>,
    /// Whether each of its commands runs.
    pub(super) is_plain: bool,
}

/// A name as somebody may write it.
fn spelled(random: &mut Random, root: &Path, file: &str) -> String {
    match random.below(9) {
        0 => format!("./{file}"),
        1 => format!("'{file}'"),
        2 => format!("\"{file}\""),
        3 => file.replace('.', "\\."),
        4 => format!("src/../{file}"),
        5 => root.join(file).display().to_string(),
        6 => format!("{}\"{}\"", &file[..1], &file[1..]),
        _ => file.to_owned(),
    }
}

pub(super) fn line(random: &mut Random, root: &Path, port: u16) -> Line {
    let mut line = Line { is_plain: true, ..Line::default() };
    let commands = 1 + random.below(2) + random.below(2);
    for at in 0..commands {
        if at > 0 {
            let joint = random.pick(&["; ", "; ", "\n", " && ", " || ", " & wait; "]);
            line.is_plain &= matches!(joint, "; " | "\n");
            line.text += joint;
        }
        command(random, root, port, &mut line);
    }
    line
}

fn command(random: &mut Random, root: &Path, port: u16, line: &mut Line) {
    let all: Vec<&str> =
        FILES.iter().chain(ABSENT).copied().chain(LINKS.iter().map(|(link, _)| *link)).collect();
    let file = random.pick(&all);
    let name = spelled(random, root, file);
    let with = |line: &mut Line, text: String| {
        line.text += &text;
        line.files.push(file.to_owned());
    };
    match random.below(40) {
        0..=2 => with(line, format!("cat {name}")),
        3 => with(line, format!("head -n 1 {name}")),
        4 => with(line, format!("grep -c x {name}")),
        5 => with(line, format!("wc -c {name} a.txt")),
        6 => with(line, format!("cat < {name}")),
        7 => with(line, format!("touch {name}")),
        8 => with(line, format!("rm -f {name}")),
        9 => with(line, format!("cp a.txt {name}")),
        10 => with(line, format!("mv b.txt {name}")),
        11 => with(line, format!("echo x > {name}")),
        12 => with(line, format!("echo x >> {name}")),
        13 => with(line, format!("tee {name} </dev/null")),
        14 => with(line, format!("truncate -s 0 {name}")),
        15 => with(line, format!("cp {name} copy.txt")),
        16 => with(line, format!("sed -n 1p {name}")),
        17 => with(line, format!("dd if={name} of=/dev/null status=none")),
        18 => with(line, format!("env cat {name}")),
        19 => with(line, format!("nohup cat {name}")),
        20 => with(line, format!("timeout 5 cat {name}")),
        21 => with(line, format!("xargs cat {name} </dev/null")),
        22 => with(line, format!("(cat {name})")),
        23 => with(line, format!("echo \"$(cat {name})\"")),
        24 => {
            line.is_plain = false;
            with(line, format!("if cat {name}; then echo yes; fi"));
        }
        25 => with(line, format!("for f in {name}; do cat \"$f\"; done")),
        26 => with(line, format!("f={file}; cat $f")),
        27 => {
            line.is_plain = false;
            with(line, format!("cat a.txt | cat - {name}"));
        }
        28 => with(line, format!("sh -c 'cat {file}'")),
        29 if !file.starts_with('/') => {
            line.is_plain = false;
            with(line, format!("(cd notes && cat ../{file})"));
        }
        30 => with(line, format!("cat <<EOF\n$(cat {name})\nEOF\n:")),
        31 => with(line, format!("grep -c x --file={file} a.txt")),
        32 => {
            line.text +=
                random.pick(&["cat *.txt", "cat .e*", "cat src/*", "cat {a,b}.txt", "ls -a", "cat ~/x"])
        }
        33 => {
            let (text, program) = random.pick(&[
                ("make -s", "make"),
                ("sh script.sh", "sh"),
                ("bash script.sh", "bash"),
                ("./script.sh", "./script.sh"),
                ("python3 s.py", "python3"),
                ("perl -e 1", "perl"),
            ]);
            line.text += text;
            line.started.push(program);
        }
        34 => {
            line.text += &format!("curl -s -m 2 http://127.0.0.1:{port}/");
            line.hosts.push("127.0.0.1".to_owned());
        }
        35 => {
            line.is_plain = false;
            line.text += &format!("(exec 3<>/dev/tcp/127.0.0.1/{port})");
            line.hosts.push("127.0.0.1".to_owned());
        }
        36 => {
            let (text, host) = random.pick(&[
                ("curl -s -m 1 nowhere.invalid", "nowhere.invalid"),
                ("scp -q a.txt me@host.invalid:/x", "host.invalid"),
                ("git ls-remote https://git.invalid/a/b.git", "git.invalid"),
                ("git ls-remote git@git.invalid:a/b.git", "git.invalid"),
                ("ssh me@ssh.invalid true", "ssh.invalid"),
                ("wget -q -O - --tries=1 -T 1 http://web.invalid/x", "web.invalid"),
            ]);
            line.is_plain = false;
            line.text += text;
            line.hosts.push(host.to_owned());
        }
        37 => with(line, format!("echo {name}")),
        38 => with(line, format!("test -e {name}")),
        _ => {
            let (text, file) = random.pick(&[
                ("mkdir -p new/deep", "new/deep"),
                ("mkdir .vscode2", ".vscode2"),
                ("rm -r src", "src"),
                ("mv src other", "src"),
                ("cp -r src other", "src"),
                ("rm -rf .git", ".git"),
                ("ls -R src", "src"),
                ("grep -r x src", "src"),
                ("cat /etc/hostname", "/etc/hostname"),
                ("touch ../outside.txt", "../outside.txt"),
                ("touch /etc/made-by-test", "/etc/made-by-test"),
                ("ln -s a.txt .envrc", ".envrc"),
                ("cp a.txt .vscode", ".vscode"),
                ("cat < /dev/null", "a.txt"),
            ]);
            line.text += text;
            if text != "cat < /dev/null" && text != "touch /etc/made-by-test" {
                line.files.push(file.to_owned());
            }
            if text.starts_with("touch /etc") {
                // Never really: the line is compared without a sandbox.
                line.text.truncate(line.text.len() - text.len());
                line.text += "touch /dev/null";
            }
        }
    }
}
