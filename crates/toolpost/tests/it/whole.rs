//! Guarantee 7 through the tools: `toolpost call` killed at any moment, and on a full disk.

use super::{Home, count};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Large enough for a kill to fall within.
fn text(letter: char) -> String {
    format!("{}\n", letter.to_string().repeat(63)).repeat(4_000)
}

/// The calls that turn `old` lines into `new` ones.
fn calls(old: &str, new: &str) -> [(&'static str, Value); 3] {
    let (first_old, first_new) = (old.lines().next().unwrap(), new.lines().next().unwrap());
    let whole =
        |text: &str, mark: &str| -> String { text.lines().map(|line| format!("{mark}{line}\n")).collect() };
    let patch = |name: &str| format!("*** Update File: {name}\n@@\n{}{}", whole(old, "-"), whole(new, "+"));
    [
        ("write", json!({"filePath": "a.txt", "content": new})),
        (
            "edit",
            json!({"filePath": "a.txt", "oldString": first_old, "newString": first_new, "replaceAll": true}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n{}{}*** End Patch\n", patch("a.txt"), patch("b.txt"))}),
        ),
    ]
}

/// The names beside the files, which a later sweep must know.
fn strays(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| !["a.txt", "b.txt", "README.md", "src", ".git"].contains(&name.as_str())).collect()
}

#[test]
fn guarantee_07_a_killed_call_leaves_the_old_or_the_new() {
    let kills = count(24, 1_000);
    let home = Home::new();
    let (old, new) = (text('o'), text('n'));
    let calls = calls(&old, &new);
    // How long each call takes, so that the kills fall all over it.
    let mut times = Vec::new();
    for (tool, args) in &calls {
        home.write("repo/a.txt", &old);
        home.write("repo/b.txt", &old);
        let start = Instant::now();
        let mut call = spawn(&home, tool, args);
        assert!(call.wait().unwrap().success(), "{tool}");
        times.push(start.elapsed());
        assert_eq!(std::fs::read_to_string(home.path("repo/a.txt")).unwrap(), new, "{tool}");
    }
    let mut random = 0x5eed_u64;
    let (mut olds, mut news, mut halves, mut left) = (0, 0, 0, 0);
    for kill in 0..kills {
        let (tool, args) = &calls[kill % calls.len()];
        home.write("repo/a.txt", &old);
        home.write("repo/b.txt", &old);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let whole = u64::try_from(times[kill % calls.len()].as_micros()).unwrap();
        let mut call = spawn(&home, tool, args);
        std::thread::sleep(Duration::from_micros((random >> 33) % (whole + whole / 5)));
        call.kill().unwrap();
        call.wait().unwrap();
        let states: Vec<bool> = ["repo/a.txt", "repo/b.txt"]
            .iter()
            .map(|name| match std::fs::read_to_string(home.path(name)).unwrap() {
                text if text == old => false,
                text if text == new => true,
                text => panic!("{tool}: {name} is neither old nor new, {} bytes", text.len()),
            })
            .collect();
        match (*tool, states.as_slice()) {
            ("apply_patch", [true, false]) => halves += 1,
            ("apply_patch", [false, true]) => panic!("the second file before the first"),
            (_, [true, _]) => news += 1,
            _ => olds += 1,
        }
        for stray in strays(&home.path("repo")) {
            assert!(stray.starts_with(".toolpost-"), "{stray}");
            std::fs::remove_file(home.path("repo").join(stray)).unwrap();
            left += 1;
        }
    }
    println!(
        "measure: guarantee 7: {kills} kills of write, edit and apply_patch as processes: {olds} old, {news} new, \
         0 mixes; {halves} patches between their two files; {left} temporary files, all by their name"
    );
    assert!(olds > 0 && news > 0, "the kills all fell on one side");
}

fn spawn(home: &Home, tool: &str, args: &Value) -> std::process::Child {
    use std::io::Write as _;
    let mut call = home
        .command(["call", tool, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    call.stdin.take().unwrap().write_all(args.to_string().as_bytes()).unwrap();
    call
}

struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn guarantee_07_a_full_disk_leaves_the_old() {
    let home = Home::new();
    let repo = home.path("repo");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&repo).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!(
            "measure: guarantee 7: a full disk through the tools needs the right to mount, which is not here"
        );
        return;
    }
    let _mounted = Mounted(repo.clone());
    let line = |letter: char| format!("{}\n", letter.to_string().repeat(63));
    let (old, new) = (line('o').repeat(4_000), line('n').repeat(6_000));
    std::fs::write(repo.join("a.txt"), &old).unwrap();
    std::fs::write(repo.join("b.txt"), "small\n").unwrap();
    // Two files of 250 KiB fit, and 375 KiB beside them do; twice 375 KiB do not.
    std::fs::write(repo.join("c.txt"), &old).unwrap();
    let before = files(&repo);
    let grow = |name: &str| {
        let marked = |text: &str, mark: &str| -> String {
            text.lines().map(|line| format!("{mark}{line}\n")).collect()
        };
        format!("*** Update File: {name}\n@@\n{}{}", marked(&old, "-"), marked(&new, "+"))
    };
    let patches = [
        format!("*** Update File: b.txt\n@@\n-small\n+changed\n{}{}", grow("a.txt"), grow("c.txt")),
        format!(
            "*** Update File: b.txt\n*** Move to: deep/b.txt\n@@\n-small\n+changed\n*** Add File: new/d.txt\n{}\
             *** Delete File: c.txt\n",
            "+x\n".repeat(400_000)
        ),
    ];
    let first = line('o').trim_end().to_owned();
    let mut calls = vec![
        ("write", json!({"filePath": "a.txt", "content": line('n').repeat(20_000)})),
        ("write", json!({"filePath": "new/a.txt", "content": line('n').repeat(20_000)})),
        (
            "edit",
            json!({"filePath": "a.txt", "oldString": first, "newString": first.repeat(4), "replaceAll": true}),
        ),
    ];
    for patch in patches {
        calls.push(("apply_patch", json!({"patch": format!("*** Begin Patch\n{patch}*** End Patch\n")})));
    }
    for (tool, args) in &calls {
        let mut call = home.command(["call", tool, "-", "--json"]);
        let mut call =
            call.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        use std::io::Write as _;
        call.stdin.take().unwrap().write_all(args.to_string().as_bytes()).unwrap();
        let output = call.wait_with_output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["error"]["code"], "WRITE_ERROR", "{tool}: {value}");
        assert!(value["error"]["message"].as_str().unwrap().contains("full"), "{tool}: {value}");
        assert_eq!(files(&repo), before, "{tool}");
    }
    println!("measure: guarantee 7: {} calls on a full disk of 1 MiB: all old, none half", calls.len());
}

/// Every file below a folder, with its content.
fn files(root: &Path) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => found.push((
                    entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
                    std::fs::read_to_string(entry.path()).unwrap(),
                )),
            }
        }
    }
    found.sort();
    found
}
