//! Undo against copies of the whole tree. An agent works with shells, git and file tools, a user works beside it, and a copy of
//! everything is taken before and after each step. What an undo or redo must leave follows from the copies alone.

mod agent;
mod oracle;
mod tree;
mod user;

use self::agent::Names;
use self::oracle::{Change, Want, Wants, certain};
use self::tree::{Copy, Name, Thing, git, is_git};
use super::World;
use serde_json::Value;
use std::fmt::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolpost_core::Executor;

pub(super) struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }
}

/// A call of the agent, or of what is left of it.
struct Call {
    id: String,
    session: &'static str,
    /// What it has changed, or what the last undo or redo of it has.
    change: Change,
    is_undone: bool,
    /// How many marks the user had made by then.
    marks: usize,
    /// It changed a dependency folder.
    is_partly_kept: bool,
}

/// What is counted.
#[derive(Default)]
struct Figures {
    sequences: usize,
    calls: usize,
    commands: usize,
    undos: usize,
    redos: usize,
    sessions: usize,
    partials: usize,
    merges: usize,
    conflicts: usize,
    /// Names of which the guide does not say what becomes of them.
    open: usize,
    marks: usize,
    wrong: Vec<String>,
}

struct Run {
    world: World,
    root: PathBuf,
    random: Random,
    calls: Vec<Call>,
    /// Which undo is to be taken back next: the calls of each.
    undos: Vec<Vec<usize>>,
    marks: Vec<String>,
    story: String,
    figures: Figures,
    has_redone: bool,
    /// What was done last is not known call by call, so that no more can be judged.
    is_over: bool,
}

impl Run {
    fn new(seed: u64) -> Run {
        let world = World::new();
        let root = world.home.path("repo");
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.below(2);
        }
        std::fs::create_dir(world.home.path("desk")).unwrap();
        let run = |args: &[&str]| assert!(git(&root, args).0, "{args:?}");
        run(&["init", "-q", "-b", "main", "--template="]);
        for (key, value) in [("user.name", "a"), ("user.email", "a@example.org"), ("gc.auto", "0")] {
            run(&["config", key, value]);
        }
        let text = |name: &str, count: usize, ending: &str| -> String {
            (0..count).map(|line| format!("{name} line {line:02} first{ending}")).collect()
        };
        for name in ["a.txt", "b.txt", "src/c.txt", "src/deep/d.txt", "docs/e.txt", "docs/with space.txt"] {
            world.write(name, text(name, 30, "\n"));
        }
        world.write("src/crlf.txt", text("crlf", 24, "\r\n"));
        world.write("docs/open.txt", text("open", 24, "\n").trim_end());
        world.write("src/bytes", (0..=255u8).collect::<Vec<u8>>());
        world.write("src/latin", b"caf\xe9 line 02 first\nx\ny\nz\nline 07 first\n");
        world.write("empty", "");
        world.write("run.sh", "#!/bin/sh\necho line 02 first\n");
        world.write(".gitignore", "*.log\nnode_modules\n");
        world.write("docs/line\nbreak", "odd line 02 first\n");
        let mode = |name: &str, mode| {
            std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode("run.sh", 0o755);
        mode("docs/e.txt", 0o640);
        symlink("a.txt", root.join("link")).unwrap();
        symlink("../docs", root.join("src/to-docs")).unwrap();
        symlink("nowhere", root.join("docs/dangling")).unwrap();
        run(&["add", "-A"]);
        run(&["commit", "-qm", "one"]);
        run(&["checkout", "-q", "-b", "other"]);
        world.write("b.txt", text("b.txt", 30, "\n").replace("line 12 first", "line 12 other"));
        world.write("src/only-other/o.txt", text("o", 9, "\n"));
        std::fs::remove_file(root.join("docs/e.txt")).unwrap();
        mode("a.txt", 0o755);
        run(&["add", "-A"]);
        run(&["commit", "-qm", "other"]);
        run(&["checkout", "-q", "main"]);
        mode("docs/e.txt", 0o640);
        world.write("b.txt", text("b.txt", 30, "\n").replace("line 25 first", "line 25 main"));
        run(&["commit", "-qam", "two"]);
        world.write("untracked/u.txt", text("u", 30, "\n"));
        world.write("out.log", "log\n");
        std::fs::create_dir_all(root.join("hollow/inner")).unwrap();
        mode("hollow", 0o750);
        if random.below(4) == 0 {
            std::fs::hard_link(root.join("untracked/u.txt"), root.join("untracked/u2.txt")).unwrap();
        }
        Run {
            world,
            root,
            random,
            calls: Vec::new(),
            undos: Vec::new(),
            marks: Vec::new(),
            story: String::new(),
            figures: Figures::default(),
            has_redone: false,
            is_over: false,
        }
    }

    fn wrong(&mut self, what: &str) {
        let text = format!("{what}\n--- after:\n{}", self.story);
        self.figures.wrong.push(text);
    }

    fn note(&mut self, what: &str) {
        if !what.is_empty() {
            writeln!(self.story, "{what}").unwrap();
        }
    }

    /// A call by the agent.
    fn agent(&mut self) {
        let before = Copy::of(&self.root);
        let (names, number) = (Names::of(&before), self.calls.len());
        let (id, session, said) = if self.random.below(3) == 0 {
            let Some((tool, arguments)) = agent::tool(&mut self.random, &names, number) else { return };
            self.note(&format!("agent {number}: {tool} {arguments}"));
            let executor = Executor::new();
            let outcome = self.world.threads.block_on(executor.call(&self.world.session, tool, arguments));
            (outcome.call_id.clone(), "agent", Value::Null)
        } else {
            let line = agent::line(&mut self.random, &names, number);
            let session = ["agent", "other"][self.random.below(2)];
            self.note(&format!("agent {number} ({session}): {line}"));
            let line = format!("command={line}");
            let args = ["call", "bash", &line, "--allow", "exec", "--session", session];
            let (_, said) = self.world.json(&args);
            self.figures.commands += 1;
            (said["callId"].as_str().unwrap_or_default().to_owned(), session, said)
        };
        let after = Copy::of(&self.root);
        self.figures.calls += 1;
        if id.is_empty() {
            return self.wrong(&format!("the call was not made: {said}"));
        }
        let is_same = |name: &Name| {
            let thing = |copy: &Copy| copy.dependencies.get(name).map(|seen| seen.thing.clone());
            thing(&before) == thing(&after)
        };
        let is_in_folder =
            before.dependencies.keys().chain(after.dependencies.keys()).any(|name| !is_same(name));
        if is_in_folder && !said["metadata"]["notUndone"].to_string().contains("node_modules") {
            self.wrong(&format!("a dependency folder was changed, and nothing says so: {said}"));
        }
        self.note(&format!("    = {id}"));
        let change = Change { before, after };
        let is_partly_kept = is_in_folder || !change.not_recorded().is_empty();
        if is_partly_kept && said["metadata"]["notUndone"].is_null() {
            self.wrong(&format!("something is not recorded, and nothing says so: {said}"));
        }
        let marks = self.marks.len();
        self.calls.push(Call { id, session, change, is_undone: false, marks, is_partly_kept });
    }

    fn user(&mut self) {
        let now = Copy::of(&self.root);
        let names = Names::of(&now);
        let near: Vec<Name> = match self.calls.last() {
            Some(call) => call.change.names().into_iter().filter(|name| !is_git(name)).cloned().collect(),
            None => Vec::new(),
        };
        let mark = format!("mark{}x", self.marks.len());
        let did = user::change(&mut self.random, &self.root, &names, &near, &mark);
        self.marks.push(mark);
        self.figures.marks += 1;
        self.note(&did);
    }

    /// An undo, a redo, of something that is named or not.
    fn back(&mut self) {
        let is_changed = |call: &Call| call.change.names().len() > call.change.not_recorded().len();
        let held: Vec<usize> = (0..self.calls.len())
            .filter(|at| !self.calls[*at].is_undone && is_changed(&self.calls[*at]))
            .collect();
        let undone: Vec<usize> = (0..self.calls.len()).filter(|at| self.calls[*at].is_undone).collect();
        let (args, steps): (Vec<String>, Vec<usize>) = match self.random.below(10) {
            // The order of calls that were made again is not defined by the time of their first making.
            0..=3 if !held.is_empty() && !self.has_redone => {
                (vec!["undo".into()], vec![*held.last().unwrap()])
            }
            4 | 5 if !self.undos.is_empty() => (vec!["redo".into()], self.undos.last().unwrap().clone()),
            6 | 7 if !held.is_empty() => {
                let at = held[self.random.below(held.len())];
                (vec!["undo".into(), self.calls[at].id.clone()], vec![at])
            }
            8 if !undone.is_empty() => {
                let at = undone[self.random.below(undone.len())];
                (vec!["redo".into(), self.calls[at].id.clone()], vec![at])
            }
            9 if !held.is_empty() => {
                let session = self.calls[held[self.random.below(held.len())]].session;
                let own = held.iter().rev().filter(|at| self.calls[**at].session == session);
                (vec!["undo".into(), session.to_owned()], own.copied().collect())
            }
            _ => return,
        };
        self.take_back(&args, &steps);
    }

    /// What every name must be, and the tree at each step where it is certain.
    fn wanted(&self, steps: &[usize], now: &Copy) -> (Vec<Wants>, Option<Vec<Copy>>) {
        let desk = self.world.home.path("desk");
        let (mut all, mut copies) = (Vec::new(), vec![now.clone()]);
        for at in steps {
            let here = copies.last().unwrap();
            let wants = self.calls[*at].change.taken_back(here, &desk);
            let next = certain(&wants, here);
            all.push(wants);
            match next {
                Some(next) => copies.push(next),
                None => return (all, None),
            }
        }
        (all, Some(copies))
    }

    /// Another call has made a name as it was before: the guide lets that call go back first.
    fn is_covered(&self, steps: &[usize], now: &Copy, wants: &[Wants]) -> bool {
        let others: Vec<usize> =
            (0..self.calls.len()).filter(|at| !steps.contains(at) && !self.calls[*at].is_undone).collect();
        steps.iter().any(|at| {
            let change = &self.calls[*at].change;
            change.names().into_iter().any(|name| {
                // In a session it may have been so in between.
                let stays = |wants: &Wants| wants.get(name) == Some(&Want::Is(now.get(name).cloned()));
                let is_back = steps.len() > 1 || wants.first().is_some_and(stays);
                is_back && others.iter().any(|other| self.calls[*other].change.names().contains(name))
            })
        })
    }

    fn take_back(&mut self, args: &[String], steps: &[usize]) {
        let now = Copy::of(&self.root);
        let (wants, copies) = self.wanted(steps, &now);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let all = || wants.iter().flat_map(|wants| wants.iter());
        let has_conflict = all().any(|(_, want)| *want == Want::Conflict);
        let is_open = all().any(|(_, want)| matches!(want, Want::OneOf(_)));
        self.figures.open += usize::from(is_open);
        let dry =
            (self.random.below(4) == 0).then(|| self.world.json(&[&args[..], &["--dry-run"]].concat()).0);
        if dry.is_some() && !now.differs(&Copy::of(&self.root)).is_empty() {
            self.wrong("a dry run has changed something");
        }
        let (status, said) = self.world.json(&args);
        let left = Copy::of(&self.root);
        self.note(&format!("{args:?} of {steps:?}: {status}"));
        if dry.is_some_and(|dry| dry != status) {
            self.wrong(&format!("the dry run ended with {dry:?}, and then {status}: {said}"));
        }
        self.keeps_marks(steps, &now, &left, &said);
        if status != 0 {
            let differs = now.differs(&left);
            if !differs.is_empty() {
                self.wrong(&format!("refused, and something has changed: {differs:#?}\n{said}"));
            }
            let is_nothing =
                copies.as_ref().is_some_and(|copies| copies.last().unwrap().differs(&now).is_empty());
            if !(has_conflict || is_open || is_nothing || self.is_covered(steps, &now, &wants)) {
                self.wrong(&format!("refused without a conflict: {said}"));
            }
            self.figures.conflicts += 1;
            if self.random.below(2) == 0 && steps.len() == 1 && said["error"]["code"] == "STALE_FILE" {
                self.partial(&args, steps[0], &wants[0], &now);
            }
            return;
        }
        let named: Vec<&str> =
            said["calls"].as_array().into_iter().flatten().filter_map(|call| call["call"].as_str()).collect();
        let mut meant: Vec<&str> = steps.iter().map(|at| self.calls[*at].id.as_str()).collect();
        meant.sort_unstable();
        // A session has calls too that have changed nothing that could be seen.
        let is_seen = |id: &&str| {
            let call = self.calls.iter().find(|call| call.id == **id);
            call.is_none_or(|call| meant.contains(id) || !call.change.names().is_empty())
        };
        let mut sorted: Vec<&str> =
            named.iter().copied().filter(|id| steps.len() < 2 || is_seen(id)).collect();
        sorted.sort_unstable();
        if sorted != meant {
            // What follows would be judged by the wrong calls.
            self.is_over = true;
            return self.wrong(&format!("took back {sorted:?} instead of {meant:?}: {said}"));
        }
        let is_silent =
            |at: &&usize| self.calls[**at].is_partly_kept && !said.to_string().contains("notUndone");
        if steps.iter().any(|at| is_silent(&at)) {
            self.wrong(&format!("the dependency folder is not named: {said}"));
        }
        if has_conflict {
            let names: Vec<String> = all()
                .filter(|(_, want)| **want == Want::Conflict)
                .map(|(name, _)| {
                    format!(
                        "{}: now {}, then {}",
                        name.escape_ascii(),
                        Thing::shown(now.get(name)),
                        Thing::shown(left.get(name))
                    )
                })
                .collect();
            self.wrong(&format!("done in spite of a conflict: {names:#?}\n{said}"));
        }
        if steps.len() == 1 {
            self.agrees(&wants[0], &now, &left, &said);
        } else if let Some(copies) = &copies {
            let differs = copies.last().unwrap().differs(&left);
            if !differs.is_empty() {
                self.wrong(&format!("a session: {differs:#?}\n{said}"));
            }
        }
        self.remember(args[0], steps, &now, left, copies);
    }

    /// What was done is what can be taken back next.
    fn remember(
        &mut self,
        command: &str,
        steps: &[usize],
        now: &Copy,
        left: Copy,
        copies: Option<Vec<Copy>>,
    ) {
        let is_redo = command == "redo";
        self.has_redone |= is_redo;
        match is_redo {
            true => self.figures.redos += 1,
            false => self.figures.undos += 1,
        }
        self.figures.sessions += usize::from(steps.len() > 1);
        self.is_over |= steps.len() > 1 && copies.is_none();
        let whole = Change { before: now.clone(), after: left };
        for (number, at) in steps.iter().enumerate() {
            let change = match &copies {
                Some(copies) if steps.len() > 1 => {
                    Change { before: copies[number].clone(), after: copies[number + 1].clone() }
                }
                _ => whole.clone(),
            };
            let call = &mut self.calls[*at];
            call.change = change;
            call.is_undone = !is_redo;
            call.marks = self.marks.len();
        }
        // The rest of an undo that was taken back in part comes next.
        self.undos.iter_mut().for_each(|undo| undo.retain(|at| !steps.contains(at)));
        self.undos.retain(|undo| !undo.is_empty());
        if !is_redo {
            self.undos.push(steps.iter().rev().copied().collect());
        }
    }

    /// Each name is what it must be, and what stays was not touched.
    fn agrees(&mut self, wants: &Wants, now: &Copy, left: &Copy, said: &Value) {
        let mut wrong = Vec::new();
        let extra = left.names.keys().filter(|name| !wants.contains_key(*name));
        for name in extra {
            wrong.push(format!("{}: it was never there", name.escape_ascii()));
        }
        for (name, want) in wants {
            let is = left.get(name);
            let fits = match want {
                Want::Is(thing) => thing.as_ref() == is,
                Want::OneOf(things) => things.iter().any(|thing| thing.as_ref() == is),
                Want::Conflict => true,
            };
            if !fits {
                let shown = Thing::shown;
                wrong.push(format!(
                    "{}: {} instead of {}, from {}",
                    name.escape_ascii(),
                    shown(is),
                    want.shown(),
                    shown(now.get(name))
                ));
            }
            let times = (now.names.get(name), left.names.get(name));
            if let (Some(here), Some(there)) = times
                && here.thing == there.thing
                && here.written != there.written
            {
                wrong.push(format!("{}: written again, though it stays as it is", name.escape_ascii()));
            }
            self.figures.merges += usize::from(
                matches!(want, Want::Is(Some(thing)) if Some(thing) != now.get(name))
                    && now.get(name).is_some(),
            );
        }
        if !wrong.is_empty() {
            self.wrong(&format!("not as it must be: {wrong:#?}\n{said}"));
        }
    }

    /// What the user has marked since is there.
    fn keeps_marks(&mut self, steps: &[usize], now: &Copy, left: &Copy, said: &Value) {
        let since = steps.iter().map(|at| self.calls[*at].marks).max().unwrap_or_default();
        let lost: Vec<String> = self.marks[since..]
            .iter()
            .filter(|mark| now.has(mark.as_bytes()) && !left.has(mark.as_bytes()))
            .cloned()
            .collect();
        if !lost.is_empty() {
            self.wrong(&format!("marks lost: {lost:?}\n{said}"));
        }
    }

    /// Names in conflict stay, the others go back; and all of it comes again.
    fn partial(&mut self, args: &[&str], at: usize, wants: &Wants, now: &Copy) {
        let (status, said) = self.world.json(&[args, &["--partial"]].concat());
        let left = Copy::of(&self.root);
        self.note(&format!("{args:?} --partial: {status}"));
        self.keeps_marks(&[at], now, &left, &said);
        if status != 0 {
            if !now.differs(&left).is_empty() {
                self.wrong(&format!("partial: refused, and something has changed: {said}"));
            }
            return;
        }
        self.figures.partials += 1;
        let named: Vec<&str> = said["files"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|file| file["result"] == "conflict")
            .filter_map(|file| file["name"].as_str())
            .collect();
        let is_git_kept = wants.iter().any(|(name, want)| is_git(name) && !matches!(want, Want::Is(_)))
            || named.iter().any(|name| name.starts_with(".git/"));
        let mut wrong = Vec::new();
        for (name, want) in wants {
            let (here, is) = (now.get(name), left.get(name));
            let is_reported = named.contains(&&*String::from_utf8_lossy(name));
            let fits = match want {
                _ if is_git(name) && is_git_kept => is == here,
                Want::Conflict => is == here,
                // What holds the only copy of something in conflict stays, and so do the folders above what stays.
                Want::Is(thing) => {
                    thing.as_ref() == is || (is == here && (is_reported || thing.is_none() || here.is_none()))
                }
                Want::OneOf(_) => true,
            };
            if !fits {
                wrong.push(format!(
                    "{}: {} instead of {}, from {}",
                    name.escape_ascii(),
                    Thing::shown(is),
                    want.shown(),
                    Thing::shown(here)
                ));
            }
        }
        if !wrong.is_empty() {
            self.wrong(&format!("partial: {wrong:#?}\n{said}"));
        }
        let back = if args[0] == "undo" { "redo" } else { "undo" };
        let Some(id) = said["id"].as_str() else { return };
        let (status, said) = self.world.json(&[back, id]);
        let again = Copy::of(&self.root);
        let differs = again.differs(now);
        if status != 0 || !differs.is_empty() {
            self.wrong(&format!("a partial {} does not come again: {status} {differs:#?}\n{said}", args[0]));
        }
        self.has_redone = true;
    }

    /// Git finds all that it needs, and is not deceived about what has changed.
    fn is_sound(&mut self) {
        let (is_fine, _) = git(&self.root, &["fsck", "--full"]);
        if !is_fine {
            self.wrong("git fsck finds something");
        }
        let seen = git(&self.root, &["diff-files", "--name-only"]).1;
        let (_, noted) = git(&self.root, &["status", "--porcelain"]);
        for name in String::from_utf8_lossy(&noted).lines().filter(|line| line.starts_with(" M")) {
            if !String::from_utf8_lossy(&seen).contains(name[3..].trim_matches('"')) {
                self.wrong("git status and git diff-files disagree");
            }
        }
    }
}

fn sequence(seed: u64) -> Figures {
    let mut run = Run::new(seed);
    let steps = 3 + run.random.below(4);
    for _ in 0..steps {
        run.agent();
        for _ in 0..run.random.below(3) {
            run.user();
        }
    }
    for _ in 0..4 + run.random.below(3) {
        run.back();
        if run.is_over || !run.figures.wrong.is_empty() {
            break;
        }
        if run.random.below(3) == 0 {
            run.user();
        }
    }
    run.is_sound();
    run.figures.sequences = 1;
    run.figures
}

#[test]
fn guarantee_35_undo_gives_back_copies_of_the_whole_tree() {
    // One seed, or the first and the last of several.
    let only = std::env::var("TOOLPOST_SEED").ok();
    let (first, sequences) = match only.as_ref().map(|only| only.split_once('-').unwrap_or((only, only))) {
        Some((first, last)) => {
            let (first, last): (u64, usize) = (first.parse().unwrap(), last.parse().unwrap());
            (first, last + 1 - first as usize)
        }
        None => (1, crate::count(12, 2000)),
    };
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Figures::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= sequences {
                        break;
                    }
                    let seed = first + number as u64;
                    let done = std::panic::catch_unwind(|| sequence(seed));
                    let done = done.unwrap_or_else(|_| Figures {
                        wrong: vec!["a panic".to_owned()],
                        ..Figures::default()
                    });
                    let mut all = all.lock().unwrap();
                    for text in &done.wrong {
                        eprintln!("=== seed {seed}: {text}");
                    }
                    all.add(done);
                    if all.sequences % 50 == 0 {
                        eprintln!("{}", all.shown());
                    }
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    println!("measure: guarantee 35: {}", all.shown());
    assert!(all.wrong.is_empty(), "{} wrong", all.wrong.len());
    let is_enough = all.undos > sequences && all.redos > sequences / 4 && all.conflicts > sequences / 4;
    assert!(only.is_some() || is_enough, "{}", all.shown());
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.sequences += other.sequences;
        self.calls += other.calls;
        self.commands += other.commands;
        self.undos += other.undos;
        self.redos += other.redos;
        self.sessions += other.sessions;
        self.partials += other.partials;
        self.merges += other.merges;
        self.conflicts += other.conflicts;
        self.open += other.open;
        self.marks += other.marks;
        self.wrong.extend(other.wrong);
    }

    fn shown(&self) -> String {
        format!(
            "{} sequences against copies of the whole tree: {} calls ({} commands), {} undos and {} redos ({} of sessions, {} partial), {} names that had changed since, {} refused, {} open, {} changes of the user's, {} wrong",
            self.sequences,
            self.calls,
            self.commands,
            self.undos,
            self.redos,
            self.sessions,
            self.partials,
            self.merges,
            self.conflicts,
            self.open,
            self.marks,
            self.wrong.len()
        )
    }
}
