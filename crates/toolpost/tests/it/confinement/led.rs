//! Guarantees 15, 36 and 38: a protected link leads where it led. No command swaps a name on its way for a link.

use super::{CANARY, Dice, User};
use crate::count;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cases that are tried in one command.
const BATCH: usize = 30;

/// Protected folders with a file in each that may not be written. The last is protected by a rule.
const PROTECTED: [(&str, &str); 4] = [
    (".vscode", "tasks.json"),
    (".github", "workflows"),
    (".claude", "settings.json"),
    ("migrations", "002.sql"),
];

/// Ways to take away what is at `P`; `B` is the folder of the case.
const CLEAR: [&str; 5] = ["true", "mv P P.old", "rm -rf P", "rmdir P", "mv -T P B/away"];

/// Ways to put a link to the folder `q` at `P`, or the folder itself.
const PLACE: [&str; 8] = [
    "ln -s B/q P",
    "ln -s B/q B/t; mv -T B/t P",
    "ln -s B/q B/t; ln -P B/t P",
    "ln -s B/q B/t; EXCHANGE B/t P",
    "mv -T B/q P",
    "ln -sfn B/q P",
    "U=$(dirname P); mkdir -p B/n; ln -s B/q B/n/$(basename P); rmdir $U; mv -T B/n $U",
    "U=$(dirname P); mkdir -p B/n; ln -s B/q B/n/$(basename P); EXCHANGE B/n $U",
];

const EXCHANGE: &str = "exchange() { python3 -c 'import ctypes, sys\n\
     ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' \"$1\" \"$2\"; }\n";

/// A protected link with what it leads through.
struct Case {
    /// The file that must not be written.
    file: PathBuf,
    attack: String,
}

/// Makes a chain of links below `base`, and the lines that try to lead it elsewhere.
fn case(base: &Path, dice: &mut Dice) -> Case {
    let (name, last) = *dice.pick(&PROTECTED);
    let mut link = base.join(name);
    std::fs::create_dir_all(base).unwrap();
    // Each name on the way, with what has to be behind it.
    let mut way: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let hops = 1 + dice.roll(3);
    for hop in 0..hops {
        let is_last = hop + 1 == hops;
        let parts: Vec<String> = (0..1 + dice.roll(3)).map(|part| format!("h{hop}p{part}")).collect();
        let end = base.join(parts.join("/"));
        let existing = if is_last { dice.roll(parts.len() + 1) } else { parts.len() - 1 };
        std::fs::create_dir_all(base.join(parts[..existing].join("/"))).unwrap();
        for at in 0..parts.len() {
            way.push((base.join(parts[..=at].join("/")), parts[at + 1..].to_vec()));
        }
        let up = link.parent().unwrap().strip_prefix(base).unwrap().components().count();
        let mut target = match dice.roll(3) {
            0 => format!("{}/", base.display()),
            _ => "../".repeat(up),
        };
        if dice.roll(3) == 0 {
            let detour = format!("det{hop}");
            if !is_last || dice.roll(2) == 0 {
                std::fs::create_dir_all(base.join(&detour)).unwrap();
            }
            target.push_str(&format!("{detour}/../"));
            way.push((base.join(detour), std::iter::once("..".to_owned()).chain(parts.clone()).collect()));
        }
        target.push_str(&parts.join(*dice.pick(&["/", "//", "/./"])));
        target.push_str(*dice.pick(&["", "", "/", "/."]));
        symlink(target, &link).unwrap();
        link = end;
    }
    let mut attack = String::new();
    let base = base.display().to_string();
    for _ in 0..3 {
        let (path, rest) = dice.pick(&way).clone();
        // A link in the place of a folder before `..` leads one folder deeper.
        let (folder, rest) = match rest.first().map(String::as_str) {
            Some("..") => ("q/in", rest[1..].join("/")),
            _ => ("q", rest.join("/")),
        };
        let evil = format!("{base}/q/{rest}");
        let place = dice.pick(&PLACE).replace("B/q", &format!("B/{folder}"));
        let lines = format!(
            "rm -rf B/q B/t B/n; mkdir -p B/q/in {evil}; echo EVIL > {evil}/{last}; {}; {place}\n",
            dice.pick(&CLEAR)
        );
        let lines = lines.replace("EXCHANGE", "exchange");
        let lines =
            lines.replace("B/", &format!("{base}/")).replace("P.old", &format!("{}.old", path.display()));
        let spaced = lines
            .replace(" P\n", &format!(" {}\n", path.display()))
            .replace(" P ", &format!(" {} ", path.display()));
        let lines = spaced
            .replace(" P;", &format!(" {};", path.display()))
            .replace(" P)", &format!(" {})", path.display()));
        attack.push_str(&lines);
    }
    Case { file: Path::new(&base).join(name).join(last), attack }
}

fn is_led_elsewhere(case: &Case) -> bool {
    std::fs::read_to_string(&case.file).is_ok_and(|text| text.contains("EVIL"))
}

#[test]
fn guarantee_36_generated_links_lead_where_they_led() {
    let users = User::all();
    let cases = count(60, 6_000) / users.len();
    let (mut tried, mut without) = (0, 0);
    for user in users {
        user.deny("write", "**/migrations/**");
        for round in 0..cases.div_ceil(BATCH) {
            // The same dice for both: once as it is, to know that the ways work, and once in the sandbox.
            let make = |top: PathBuf| -> Vec<Case> {
                let mut dice = Dice(36_000 + round as u64);
                (0..BATCH).map(|index| case(&top.join(format!("c{round}-{index}")), &mut dice)).collect()
            };
            let script = |cases: &[Case]| -> String {
                let lines = cases.iter().map(|case| case.attack.as_str());
                std::iter::once(EXCHANGE).chain(lines).chain(["true\n"]).collect()
            };
            let control = make(user.home.path("control"));
            let ran = Command::new("bash").args(["-c", &script(&control)]).output().unwrap();
            assert!(ran.status.success());
            without += control.iter().filter(|case| is_led_elsewhere(case)).count();
            let real = make(user.home.path("repo"));
            user.write("try.sh", &script(&real));
            user.settle();
            // What the first command leaves must not help the second.
            for _ in 0..2 {
                let done = user.bash("bash try.sh > /dev/null 2>&1; true");
                assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
                for case in &real {
                    let file = case.file.display();
                    assert!(!is_led_elsewhere(case), "{}: {file}:\n{}", user.name(), case.attack);
                }
            }
            tried += real.len();
        }
    }
    assert!(without * 4 > tried, "only {without} of {tried} ways work at all");
    println!(
        "measure: guarantee 36: {tried} links under attack, 0 led elsewhere ({without} without a sandbox)"
    );
}

#[test]
fn guarantee_36_a_link_leads_where_it_led() {
    for user in User::all() {
        let link =
            |name: &str, target: &str| symlink(target, user.home.path(&format!("repo/{name}"))).unwrap();
        user.write("keep/x", "");
        user.write("conf/prod", CANARY);
        std::fs::create_dir_all(user.home.path("repo/empty")).unwrap();
        std::fs::create_dir_all(user.home.path("repo/away")).unwrap();
        std::fs::create_dir_all(user.home.path("repo/moved/x")).unwrap();
        link(".vscode", "d1/x");
        link(".zed", "moved/x");
        link(".claude", "missing/../keep/cl");
        link(".env.prod", "empty/../conf/prod");
        link("migrations", "d2/x");
        user.deny("write", "/migrations/**");
        user.settle();
        let evil = |file: &str| format!("mkdir -p q/x q/y; echo EVIL > q/x/{file}; echo EVIL > q/{file}");
        for line in [
            format!("{}; ln -s q d1", evil("tasks.json")),
            format!("{}; mv moved m2; ln -s q moved", evil("tasks.json")),
            format!(
                "{}; mkdir -p q/keep/cl; cp q/settings.json q/keep/cl; ln -s q/y missing",
                evil("settings.json")
            ),
            format!("{}; ln -s q d2", evil("002.sql")),
            "rmdir empty".to_owned(),
            "mkdir -p s; ln -s $PWD/away empty; mv -T empty e2".to_owned(),
        ] {
            user.write("try.sh", &line);
            user.settle();
            let done = user.bash("bash try.sh; cat .env.prod conf/prod; true");
            assert!(!done.text.contains(CANARY), "{}: {line}: {}", user.name(), done.text);
            for name in
                [".vscode/tasks.json", ".zed/tasks.json", ".claude/settings.json", "migrations/002.sql"]
            {
                let text =
                    std::fs::read_to_string(user.home.path(&format!("repo/{name}"))).unwrap_or_default();
                assert!(!text.contains("EVIL"), "{}: `{line}` wrote {name}", user.name());
            }
        }
        // Plain folders on the way may be made, and what is not protected may be written behind them.
        user.write(
            "try.sh",
            "mkdir -p d1/x && echo ok > .vscode/extensions.json && ln -s keep other && mv other o2",
        );
        user.settle();
        let done = user.bash("bash try.sh");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        user.write("try.sh", "echo x > .vscode/tasks.json; echo x > d1/x/tasks.json");
        user.settle();
        let done = user.bash("bash try.sh");
        assert!(!user.has("d1/x/tasks.json"), "{}: {}", user.name(), done.text);
        assert!(done.text.contains("was refused"), "{}", done.text);
    }
}
