//! Generated sequences of calls, shell commands, changes by the user, undos and redos, with a model of what every file must hold.
//!
//! The model merges nothing. Each text has slots, lines of their own with fixed lines between them; an agent's call sets
//! some of its slots, the user sets others. A call can be undone if nobody has set its slots since, and then they hold
//! what they held before.

use super::World;
use serde_json::json;
use std::collections::BTreeMap;

const SLOTS: usize = 6;
/// The last slots are the user's.
const OF_AGENT: usize = 4;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Style {
    ending: &'static str,
    has_bom: bool,
    has_last_ending: bool,
}

const STYLES: [Style; 4] = [
    Style { ending: "\n", has_bom: false, has_last_ending: true },
    Style { ending: "\r\n", has_bom: false, has_last_ending: true },
    Style { ending: "\n", has_bom: true, has_last_ending: true },
    Style { ending: "\n", has_bom: false, has_last_ending: false },
];

/// What is there, by the model.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    /// Texts that both change: the slots of each.
    texts: Vec<[u64; SLOTS]>,
    modes: Vec<u32>,
    /// Files that are the agent's alone, each in a folder of its own: the value in it, and whether it is there.
    owned: Vec<Option<u64>>,
    /// Whether the user has put something into the folder of an owned file.
    guests: Vec<bool>,
    /// Which of its names a file of the agent's has. Where moves are taken back out of order, it has several, or none.
    moved: [bool; 3],
    /// What a link of the agent's says.
    link: u64,
    /// A file whose mode commands change, and whose content is the user's.
    tool_mode: u32,
    tool_text: u64,
}

impl Model {
    fn text(&self, number: usize) -> String {
        text(STYLES[number % STYLES.len()], &self.texts[number], number)
    }

    fn tree(&self) -> super::Tree {
        let mut tree = super::Tree::new();
        for number in 0..self.texts.len() {
            let bytes = self.text(number);
            tree.insert(
                format!("t{number}"),
                format!("{:o} {}", self.modes[number], bytes.as_bytes().escape_ascii()),
            );
        }
        for (number, value) in self.owned.iter().enumerate() {
            if value.is_some() || self.guests[number] {
                tree.insert(format!("d{number}"), "folder".to_owned());
            }
            if let Some(value) = value {
                tree.insert(
                    format!("d{number}/own"),
                    format!("644 {}", format!("{value}\n").as_bytes().escape_ascii()),
                );
            }
            if self.guests[number] {
                tree.insert(format!("d{number}/guest"), "644 guest".to_owned());
            }
        }
        for number in (0..3).filter(|number| self.moved[*number]) {
            tree.insert(format!("m{number}"), "644 moved".to_owned());
        }
        tree.insert("l".to_owned(), format!("link v{}", self.link));
        tree.insert("tool".to_owned(), format!("{:o} v{}", self.tool_mode, self.tool_text));
        tree
    }
}

fn text(style: Style, slots: &[u64; SLOTS], number: usize) -> String {
    let mut lines = Vec::new();
    for (index, value) in slots.iter().enumerate() {
        lines.push(format!("fixed {number}.{index} above"));
        lines.push(format!("slot {number}.{index} = v{value}"));
        lines.push(format!("fixed {number}.{index} below"));
    }
    let mut text = lines.join(style.ending);
    if style.has_last_ending {
        text.push_str(style.ending);
    }
    if style.has_bom { format!("\u{feff}{text}") } else { text }
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Slot(usize, usize),
    Owned(usize),
    /// One of the names of the moved file.
    Moved(usize),
    Link,
    Mode,
}

/// What places held before and after.
type Sides = BTreeMap<Place, (Option<u64>, Option<u64>)>;

/// A call, and what it has made of which place.
#[derive(Debug)]
struct Made {
    call: String,
    /// Before and after.
    places: Sides,
    /// What the undo found and left, if it is undone.
    undone: Option<Sides>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn get(model: &Model, place: Place) -> Option<u64> {
    match place {
        Place::Slot(text, slot) => Some(model.texts[text][slot]),
        Place::Owned(number) => model.owned[number],
        Place::Moved(number) => model.moved[number].then_some(1),
        Place::Link => Some(model.link),
        Place::Mode => Some(u64::from(model.tool_mode)),
    }
}

fn set(model: &mut Model, place: Place, value: Option<u64>) {
    match place {
        Place::Slot(text, slot) => model.texts[text][slot] = value.expect("a slot has a value"),
        Place::Owned(number) => model.owned[number] = value,
        Place::Moved(number) => model.moved[number] = value.is_some(),
        Place::Link => model.link = value.expect("a link says something"),
        Place::Mode => model.tool_mode = value.expect("a mode") as u32,
    }
}

struct Run {
    world: World,
    model: Model,
    made: Vec<Made>,
    random: Random,
    next: u64,
    conflicts: usize,
    undone: usize,
    commands: usize,
}

impl Run {
    fn new(seed: u64) -> Run {
        let world = World::new();
        let mut model = Model {
            texts: Vec::new(),
            modes: Vec::new(),
            owned: vec![None; 3],
            guests: vec![false; 3],
            moved: [true, false, false],
            link: 0,
            tool_mode: 0o644,
            tool_text: 0,
        };
        world.write("m0", "moved");
        world.write("tool", "v0");
        std::os::unix::fs::symlink("v0", world.home.path("repo/l")).unwrap();
        for number in 0..4 {
            model.texts.push([0; SLOTS]);
            model.modes.push(0o644);
            world.write(&format!("t{number}"), model.text(number));
        }
        Run {
            world,
            model,
            made: Vec::new(),
            random: Random(seed | 1),
            next: 1,
            conflicts: 0,
            undone: 0,
            commands: 0,
        }
    }

    fn value(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// One call of a tool.
    fn call(&mut self) {
        let mut after = self.model.clone();
        let mut places = Vec::new();
        let (tool, arguments) = match self.random.below(6) {
            0 | 1 => {
                let (text, slot, new) = (self.random.below(4), self.random.below(OF_AGENT), self.value());
                let old = self.model.texts[text][slot];
                places.push(Place::Slot(text, slot));
                after.texts[text][slot] = new;
                let line = |value| format!("slot {text}.{slot} = v{value}");
                // The whole line: a value may be the beginning of another.
                let ending = STYLES[text % STYLES.len()].ending;
                let below = format!("{ending}fixed {text}.{slot} below");
                (
                    "edit",
                    json!({"filePath": format!("t{text}"), "oldString": format!("{}{below}", line(old)),
                    "newString": format!("{}{below}", line(new))}),
                )
            }
            2 => {
                // The whole text; one with a mark at its beginning is left to `edit`.
                let (text, slot, new) =
                    ([0, 1, 3][self.random.below(3)], self.random.below(OF_AGENT), self.value());
                places.push(Place::Slot(text, slot));
                after.texts[text][slot] = new;
                ("write", json!({"filePath": format!("t{text}"), "content": after.text(text)}))
            }
            3 => {
                let mut patch = String::from("*** Begin Patch\n");
                for text in [0, 3] {
                    let (slot, new) = (self.random.below(OF_AGENT), self.value());
                    let old = self.model.texts[text][slot];
                    places.push(Place::Slot(text, slot));
                    after.texts[text][slot] = new;
                    patch.push_str(&format!(
                        "*** Update File: t{text}\n@@\n fixed {text}.{slot} above\n-slot {text}.{slot} = v{old}\n+slot {text}.{slot} = v{new}\n"
                    ));
                }
                patch.push_str("*** End Patch\n");
                ("apply_patch", json!({"patch": patch}))
            }
            4 => {
                let (number, new) = (self.random.below(3), self.value());
                places.push(Place::Owned(number));
                after.owned[number] = Some(new);
                ("write", json!({"filePath": format!("d{number}/own"), "content": format!("{new}\n")}))
            }
            _ => {
                let number = self.random.below(3);
                if self.model.owned[number].is_none() || !self.model.guests[number] {
                    return;
                }
                places.push(Place::Owned(number));
                after.owned[number] = None;
                ("delete", json!({"filePath": format!("d{number}/own")}))
            }
        };
        let call = self.world.call(tool, arguments);
        let places =
            places.into_iter().map(|place| (place, (get(&self.model, place), get(&after, place)))).collect();
        self.model = after;
        self.made.push(Made { call, places, undone: None });
    }

    /// One shell command, of one to three steps.
    fn command(&mut self) {
        let mut next = self.model.clone();
        let (mut places, mut lines) = (Vec::new(), Vec::new());
        for _ in 0..=self.random.below(3) {
            let mut after = next.clone();
            let (changed, line) = self.step(&mut after);
            // A place once in a command: what it held before the command is what an undo puts back.
            if !changed.iter().any(|place| places.contains(place)) {
                places.extend(changed);
                lines.push(line);
                next = after;
            }
        }
        let line = format!("command=set -e; {}", lines.join("; "));
        let told = self.world.works(&["call", "bash", &line, "--allow", "exec"]);
        let call = told["callId"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
        let sides = |place| (place, (get(&self.model, place), get(&next, place)));
        // What is as it was before is no change.
        let places = places.into_iter().map(sides).filter(|(_, (before, after))| before != after).collect();
        self.model = next;
        self.commands += 1;
        let places: Sides = places;
        if places.is_empty() {
            return;
        }
        self.made.push(Made { call, places, undone: None });
    }

    /// One step of a command, and what it does by the model.
    fn step(&mut self, after: &mut Model) -> (Vec<Place>, String) {
        let new = self.value();
        match self.random.below(6) {
            0 | 1 => {
                let (text, slot) = (self.random.below(4), self.random.below(OF_AGENT));
                after.texts[text][slot] = new;
                let script = format!("s/^slot {text}.{slot} = v[0-9]*/slot {text}.{slot} = v{new}/");
                // By a new file in its place, or in the file itself.
                let line = match self.random.below(2) {
                    0 => format!("sed -i '{script}' t{text}"),
                    _ => format!("sed '{script}' t{text} > /tmp/t; cat /tmp/t > t{text}"),
                };
                (vec![Place::Slot(text, slot)], line)
            }
            2 => {
                let number = self.random.below(3);
                // Its folder goes with it, unless something of the user's is in it.
                if after.owned[number].is_some() && self.random.below(2) == 0 {
                    after.owned[number] = None;
                    let line = format!("rm d{number}/own; rmdir --ignore-fail-on-non-empty d{number}");
                    return (vec![Place::Owned(number)], line);
                }
                after.owned[number] = Some(new);
                (vec![Place::Owned(number)], format!("mkdir -p d{number}; echo {new} > d{number}/own"))
            }
            3 => {
                let from = self.random.below(3);
                let to = (from + 1 + self.random.below(2)) % 3;
                if !after.moved[from] {
                    after.moved[from] = true;
                    return (vec![Place::Moved(from)], format!("printf moved > m{from}"));
                }
                (after.moved[from], after.moved[to]) = (false, true);
                (vec![Place::Moved(from), Place::Moved(to)], format!("mv m{from} m{to}"))
            }
            4 => {
                after.link = new;
                (vec![Place::Link], format!("ln -sfn v{new} l"))
            }
            _ => {
                let modes = [0o600, 0o644, 0o755].into_iter().filter(|mode| *mode != after.tool_mode);
                after.tool_mode = modes.collect::<Vec<u32>>()[self.random.below(2)];
                (vec![Place::Mode], format!("chmod {:o} tool", after.tool_mode))
            }
        }
    }

    /// One change by the user: a slot of theirs, a mode, a file beside those of the agent.
    fn user(&mut self) {
        match self.random.below(5) {
            4 => {
                self.model.tool_text = self.value();
                self.world.write("tool", format!("v{}", self.model.tool_text));
            }
            0 => {
                let (text, mode) = (self.random.below(4), [0o644, 0o755, 0o600][self.random.below(3)]);
                self.model.modes[text] = mode;
                let path = self.world.home.path(&format!("repo/t{text}"));
                std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            }
            1 => {
                let number = self.random.below(3);
                self.model.guests[number] = true;
                self.world.write(&format!("d{number}/guest"), "guest");
            }
            _ => {
                let (text, slot) = (self.random.below(4), OF_AGENT + self.random.below(SLOTS - OF_AGENT));
                self.model.texts[text][slot] = self.value();
                self.world.write(&format!("t{text}"), self.model.text(text));
            }
        }
    }

    /// Takes a call back, or makes it again: whichever it is not. In any order.
    fn back(&mut self) {
        if self.made.is_empty() {
            return;
        }
        let index = self.random.below(self.made.len());
        let call = self.made[index].call.clone();
        let is_redo = self.made[index].undone.is_some();
        let mut steps = self.made[index].undone.clone().unwrap_or_else(|| self.made[index].places.clone());
        // What each place is to hold, if nobody has set it since.
        let is_free = |(place, (before, after)): (&Place, &(Option<u64>, Option<u64>))| {
            let now = get(&self.model, *place);
            now == *after || now == *before
        };
        let is_possible = steps.iter().all(is_free);
        // Where the undo found everything as it should be, the redo has nothing to do, and may look at it or not.
        let is_left = |(place, step): (&Place, &(Option<u64>, Option<u64>))| {
            is_free((place, step)) || (is_redo && step.0 == step.1)
        };
        let may_be_possible = steps.iter().all(is_left);
        // Another call has made a place as it was before this one: that call goes back first.
        let is_covered = |(place, (before, after)): (&Place, &(Option<u64>, Option<u64>))| {
            let others = self.made.iter().enumerate().filter(|(at, _)| *at != index);
            let mut holding = others.map(|(_, other)| other).filter(|other| other.undone.is_none());
            let now = get(&self.model, *place);
            now == *before && now != *after && holding.any(|other| other.places.contains_key(place))
        };
        let is_covered = steps.iter().any(is_covered);
        let command = if is_redo { "redo" } else { "undo" };
        let (status, told) = self.world.json(&[command, &call]);
        if status == 1 && is_covered && told.to_string().contains("as it was before the call already") {
            self.conflicts += 1;
            return;
        }
        if !is_possible && may_be_possible && status == 0 {
            steps.retain(|_, (before, after)| before != after);
        } else if !is_possible {
            assert_eq!(status, 1, "{command} of {call} must be refused: {told}\n{:?}", self.made);
            self.conflicts += 1;
            return;
        }
        assert_eq!(status, 0, "{command} of {call}: {told}\n{:?}", self.made);
        self.undone += 1;
        let mut left = BTreeMap::new();
        for (place, (before, _)) in &steps {
            let found = get(&self.model, *place);
            set(&mut self.model, *place, *before);
            left.insert(*place, (found, *before));
        }
        self.made[index].undone = if is_redo { None } else { Some(left) };
    }

    fn check(&self) {
        assert_eq!(self.world.tree(), self.model.tree(), "{:?}", self.made);
    }
}

#[test]
fn guarantee_35_undo_restores_the_agents_part_and_keeps_the_users() {
    let (sequences, only) = (crate::count(60, 500), std::env::var("TOOLPOST_SEED").ok());
    let (mut conflicts, mut undone, mut commands) = (0, 0, 0);
    for number in 0..sequences as u64 {
        if only.as_ref().is_some_and(|only| *only != number.to_string()) {
            continue;
        }
        let mut run = Run::new((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            match run.random.below(5) {
                0 | 1 => run.user(),
                2 => run.command(),
                _ => run.call(),
            }
            run.check();
        }
        for _ in 0..4 {
            run.back();
            run.check();
            if run.random.below(3) == 0 {
                run.user();
                run.check();
            }
        }
        conflicts += run.conflicts;
        undone += run.undone;
        commands += run.commands;
    }
    assert!(
        only.is_some() || (conflicts > sequences / 20 && undone > sequences && commands > sequences),
        "{conflicts} {undone} {commands}"
    );
    println!(
        "measure: guarantee 35: {sequences} generated sequences with {commands} shell commands, {undone} undos and redos exact, {conflicts} conflicts refused, 0 bytes of the user's lost"
    );
}
