//! From the commands of a line to what must be allowed.

mod naming;

use super::effect::Effect;
use super::named::Named;
use super::places::{Places, is_outside, join};
use super::reader::{self, Assignment, Dialect, Direction, Read, Redirection, Script, Simple, Unclear};
use super::told::Told;
use super::variables::{may_be_given, may_be_set};
use super::word::{self, Part, Quoting, Word};
use super::{builtins, git, hosts, options, programs, second, wrappers};
use crate::shell::Confinement;
use std::collections::{BTreeSet, HashSet};
use toolpost_core::policy::{is_protected, may_be_free_in_dependencies};
use toolpost_core::text::other_names_of_program;
use toolpost_core::{Access, Capability};

/// How often a text may hold a text, or a command run a command.
const DEEPEST: usize = 12;

/// The most accesses that one line may make; beyond, it needs the right to any command.
const MOST: usize = 4_000;

/// Programs that do harm with a plain argument, so that an argument that may be an option is one too many.
pub(super) const HARMFUL: [&str; 22] = [
    "rm",
    "rmdir",
    "mv",
    "dd",
    "chmod",
    "chown",
    "chgrp",
    "ln",
    "truncate",
    "shred",
    "mkfs",
    "mount",
    "umount",
    "kill",
    "pkill",
    "killall",
    "reboot",
    "shutdown",
    "systemctl",
    "unlink",
    "fdisk",
    "parted",
];

/// Why a file cannot be named.
const COMPUTED: &str = "the name of a file is computed when the line runs";
const ELSEWHERE: &str = "the folder in which a file is opened is known only when the line runs";

const SYSTEM: [&str; 5] = ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"];

/// Collects what a line needs.
#[derive(Default)]
pub(super) struct Judge {
    pub(super) accesses: Vec<Access>,
    known: HashSet<Access>,
    /// Commands that need no right of their own.
    pub(super) mentions: BTreeSet<String>,
    /// The commands that must be allowed, as words.
    pub(super) commands: Vec<Vec<Word>>,
    /// The first command that needs no right, one that prints if there is any; shown where nothing else is.
    pub(super) harmless: Option<Vec<Word>>,
    prints: bool,
    places: Places,
    confinement: Confinement,
    /// The shell that runs the text at hand.
    dialect: Dialect,
    /// How many bytes were read, those of texts within texts included.
    read: usize,
    /// Where the command at hand runs, as far as the line tells.
    told: Told,
    /// Whether the line has redirections that were not read.
    pub(super) has_unread_redirections: bool,
    /// What git would make or configure of repositories, as far as the line tells.
    pub(super) repositories: Vec<Access>,
    /// What the line names, for explanations.
    pub(super) named: Named,
}

impl Judge {
    /// For a line that runs in this folder, from the workspace root.
    pub(super) fn in_folder(folder: &str, confinement: Confinement) -> Judge {
        let (places, told) = (Places::in_folder(folder), Told::in_folder(Some(join("", folder))));
        Judge { places, told, confinement, ..Judge::default() }
    }

    /// Judges a text, which may be part of another.
    pub(super) fn text(&mut self, text: &str, dialect: Dialect, depth: usize) -> Read<()> {
        if depth > DEEPEST {
            return Err(Unclear("it nests too deep"));
        }
        self.read += text.len();
        if self.read > 2 * super::LONGEST {
            return Err(Unclear("it is too long"));
        }
        let script = self.script(text, dialect, depth).inspect_err(|_| {
            self.has_unread_redirections |= text.contains(['<', '>']);
        })?;
        self.places.visit(&script);
        // What can be told of the others is told, for the rules that deny.
        let outer = std::mem::replace(&mut self.dialect, dialect);
        let around = self.told.clone();
        self.told = Told::in_folder(around.folder().map(str::to_owned));
        self.told.visit(&script);
        let mut result = Ok(());
        let mut tests = script.tests.iter().peekable();
        for (index, command) in script.commands.iter().enumerate() {
            while let Some((_, words)) = tests.next_if(|(before, _)| *before <= index) {
                self.name("[[", words, &[]);
            }
            self.told.at(command);
            result = result.and(self.simple(command, depth));
            self.told.after(command);
        }
        tests.for_each(|(_, words)| self.name("[[", words, &[]));
        self.told = around;
        self.dialect = outer;
        result
    }

    /// Reads a text that a shell would run.
    fn script(&self, text: &str, dialect: Dialect, depth: usize) -> Read<Script> {
        let mut script = reader::read(text, dialect)?;
        // What a text within another runs may have been defined outside.
        if depth == 0 {
            processors_are_a_number(&mut script);
        }
        second::agrees(text, &script)?;
        evaluated_are_numbers(&script)?;
        Ok(script)
    }

    fn simple(&mut self, simple: &Simple, depth: usize) -> Read<()> {
        for redirection in &simple.redirections {
            self.redirection(redirection);
        }
        let is_safe = |assignment: &Assignment| match simple.words.is_empty() {
            true => may_be_set(&assignment.name),
            // How `read` splits its line is its own affair.
            false if assignment.name == "IFS" => {
                simple.words[0].is_bare("read")
                    && assignment.values.iter().all(|value| value.literal().is_some())
            }
            false => may_be_given(&assignment.name, &assignment.values),
        };
        let assigned = match simple.assignments.iter().all(is_safe) {
            true => Ok(()),
            false => Err(Unclear("a variable is set that may change what runs")),
        };
        self.name_assigned(&simple.assignments);
        match simple.words.is_empty() {
            true => assigned,
            false => assigned.and(self.command(&simple.words, depth)),
        }
    }

    fn command(&mut self, words: &[Word], depth: usize) -> Read<()> {
        if depth > DEEPEST || self.accesses.len() + self.mentions.len() > MOST {
            return Err(Unclear("it runs too many commands"));
        }
        let name =
            words.first().and_then(Word::literal).ok_or(Unclear("the name of a command is computed"))?;
        let (has_folder, program) = match name.rsplit_once('/') {
            Some((_, program)) => (true, program),
            None => (false, name.as_str()),
        };
        if program.is_empty() || program.starts_with('-') || matches!(program, "." | "..") && has_folder {
            return Err(Unclear("the name of a command is odd"));
        }
        if !has_folder && let Some(effects) = builtins::effects(program, words) {
            self.name(program, words, &effects);
            let prints = matches!(program, "echo" | "printf");
            if self.harmless.is_none() || (prints && !self.prints) {
                self.harmless = Some(words.to_vec());
                self.prints = prints;
            }
            return self.effects(words, effects, depth);
        }
        let mut named = words.to_vec();
        named[0] = Word { start: words[0].start, ..Word::literal_of(program) };
        let is_own = has_folder && !self.located(words, &name)?;
        let others = other_names_of_program(program);
        let (shown, mut effects) = match wrappers::effects(program, &named) {
            Some(effects) => (named, effects),
            None => {
                let (shown, more) = match program {
                    "git" => git::effects(&named),
                    _ => (named.clone(), beside_subcommand(program, &named)),
                };
                let mut effects = vec![Effect::Own];
                effects.extend(more);
                effects.extend(self.told_repositories(program, &named));
                for name in std::iter::once(program).chain(others.iter().copied()) {
                    effects.extend(options::effects(name, &shown));
                    effects.extend(programs::effects(name, &shown));
                }
                // `vim.basic` runs what `vim` does, but what it is for certain only its own name says.
                if others.iter().any(|name| wrappers::effects(name, &shown).is_some()) {
                    effects.push(wrappers::UNREAD);
                }
                if hides_its_meaning(program, &named[1..]) {
                    effects.push(Effect::Unclear("an argument that decides what is done is computed"));
                }
                (shown, effects)
            }
        };
        if is_own {
            self.named.program(self.paths(&name));
        }
        self.name(if is_own { &name } else { program }, words, &effects);
        // A program elsewhere may bear any name, and is allowed by its path alone.
        if is_own {
            effects.retain(|effect| *effect != Effect::Own);
        }
        self.effects(&shown, effects, depth)
    }

    /// Asks for a program by where it lies. Says whether that is among the system's own.
    fn located(&mut self, words: &[Word], name: &str) -> Read<bool> {
        // `./run` is another program in another folder.
        let paths =
            self.places.of_program(name).ok_or(Unclear("it is not known in which folder a program lies"))?;
        let mut is_of_system = false;
        for path in paths {
            let mut elsewhere = words.to_vec();
            let is_plain = path.starts_with('/') || path.starts_with("../");
            let shown = if is_plain { path.clone() } else { format!("./{path}") };
            elsewhere[0] = Word::literal_of(&shown);
            self.allow(&elsewhere);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            is_of_system |= SYSTEM.contains(&folder);
        }
        Ok(is_of_system)
    }

    fn effects(&mut self, words: &[Word], effects: Vec<Effect>, depth: usize) -> Read<()> {
        let mut result = Ok(());
        if !effects.contains(&Effect::Own) {
            self.mentions.insert(word::line(words));
        }
        for effect in effects {
            let next = match effect {
                Effect::Own => {
                    self.allow(words);
                    Ok(())
                }
                Effect::Run(inner) => self.command(&inner, depth + 1),
                Effect::Elsewhere(inner, folder) => {
                    let folder = self.told.word(&folder).literal().and_then(|folder| self.told.path(&folder));
                    // In the sandbox the file is judged when it is opened; without one, it must be known now.
                    let places = (self.confinement == Confinement::None).then(|| {
                        let there = folder.as_deref().map_or_else(Places::unknown, Places::in_folder);
                        std::mem::replace(&mut self.places, there)
                    });
                    let around = std::mem::replace(&mut self.told, Told::in_folder(folder));
                    let judged = self.command(&inner, depth + 1);
                    self.told = around;
                    self.places = places.unwrap_or_else(|| std::mem::take(&mut self.places));
                    judged
                }
                Effect::NewRepository(folder) => {
                    self.repository(&folder, |_| true);
                    Ok(())
                }
                Effect::Repository(file) => {
                    // In another folder the repository may be another one.
                    self.repository(file, |path| path == file);
                    Ok(())
                }
                Effect::Script(text, dialect) => self.text(&text, dialect.unwrap_or(self.dialect), depth + 1),
                Effect::Write(target) => {
                    self.file(Capability::Write, &target);
                    Ok(())
                }
                Effect::Change => {
                    self.add(Access::any(Capability::Write));
                    Ok(())
                }
                Effect::Unclear(reason) => Err(Unclear(reason)),
            };
            result = result.and(next);
        }
        result
    }

    /// What git makes or configures of repositories, or `rm` removes, where only the values of variables tell it.
    fn told_repositories(&self, program: &str, words: &[Word]) -> Vec<Effect> {
        let told: Vec<Word> = words.iter().map(|word| self.told.word(word)).collect();
        match program {
            "git" if told.as_slice() != words => {
                let (_, effects) = git::effects(&told);
                let is_one =
                    |effect: &Effect| matches!(effect, Effect::NewRepository(_) | Effect::Repository(_));
                effects.into_iter().filter(is_one).collect()
            }
            "rm" => {
                let is_folder = |word: &Word| {
                    let text = word.literal().unwrap_or_default();
                    text.strip_prefix('-').is_some_and(|letters| letters.contains(['r', 'R']))
                };
                let removed = told.iter().skip(1).filter_map(Word::literal);
                let removed = removed.map(|name| name.trim_end_matches('/').to_owned());
                let is_repository = |name: &String| name == ".git" || name.ends_with("/.git");
                match told.iter().any(is_folder) {
                    true => removed.filter(is_repository).map(Effect::NewRepository).collect(),
                    false => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn allow(&mut self, words: &[Word]) {
        let access = Access::command(word::line(words));
        if !self.known.contains(&access) {
            self.commands.push(words.to_vec());
        }
        self.add(access);
    }

    fn add(&mut self, access: Access) {
        if self.known.insert(access.clone()) {
            self.accesses.push(access);
        } else if access.needs_consent() || access.is_unjudged() {
            // Equal accesses count once, and the one that asks for more is kept.
            let is_less =
                |known: &Access| known.needs_consent() <= access.needs_consent() && *known == access;
            self.accesses.iter_mut().filter(|known| is_less(known)).for_each(|known| *known = access.clone());
        }
    }

    fn redirection(&mut self, redirection: &Redirection) {
        self.name_redirection(redirection);
        let actions: &[Capability] = match redirection.direction {
            Direction::Read => &[Capability::Read],
            Direction::Write => &[Capability::Write],
            Direction::Both => &[Capability::Read, Capability::Write],
        };
        match redirection.target.literal() {
            None => self.computed(&redirection.target),
            Some(target) => {
                let host = target.strip_prefix("/dev/tcp/").or_else(|| target.strip_prefix("/dev/udp/"));
                if let Some(host) = host {
                    let host = host.split('/').next().unwrap_or(host);
                    self.add(Access::host(host));
                    // Rules that deny mean the address, however it is written.
                    for address in hosts::addresses(host) {
                        self.add(match self.confinement {
                            Confinement::Strict => Access::host(address).where_granted(),
                            Confinement::None => Access::host(address),
                        });
                    }
                    return;
                }
                if matches!(target.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
                    return;
                }
            }
        }
        for action in actions {
            self.file(*action, &redirection.target);
        }
    }

    /// A redirection to a file whose name is computed when the line runs: bash connects to `/dev/tcp/HOST/PORT`, also where
    /// that is computed. Without the right to the network, a command in the sandbox has none.
    fn computed(&mut self, target: &Word) {
        let beginning = target.beginning();
        let may_be_host = "/dev/tcp/".starts_with(&beginning) || beginning.starts_with("/dev/");
        match self.confinement {
            _ if !may_be_host => {}
            Confinement::Strict => {
                self.add(Access::any(Capability::Network).where_granted());
                // No rule about single commands covers what could be anything.
                self.add(Access::outside(shown_computed(target)));
            }
            Confinement::None => {
                self.add(Access::any_because(Capability::Network, COMPUTED).unjudged());
            }
        }
    }

    /// A file that git protects is written, where the line tells which one it is. Where it does not, the sandbox judges.
    fn repository(&mut self, path: &str, is_meant: impl Fn(&str) -> bool) {
        if let Some(path) = self.told.path(path)
            && !path.starts_with('/')
            && !is_outside(&path)
            && is_meant(&path)
        {
            let access = Access::path(Capability::Write, path);
            if !self.repositories.contains(&access) {
                self.repositories.push(access);
            }
        }
    }

    /// Whether a path lies in the workspace wherever the line may be by now.
    fn is_inside(&self, path: &str) -> bool {
        self.places.of(path).is_some_and(|paths| !paths.iter().any(|path| is_outside(path)))
    }

    /// A file of this path is read or written.
    fn named_file(&mut self, action: Capability, path: String) {
        // Whether the folder is one of dependencies, the sandbox knows when the line runs; and whether the workspace lies in
        // /tmp, where all else is the command's own.
        let is_judged_later = self.confinement == Confinement::Strict
            && match path.starts_with('/') {
                true => path.starts_with("/tmp/") && is_protected(action, &path),
                false => may_be_free_in_dependencies(action, &path),
            };
        self.add(match is_judged_later {
            true => Access::any(action),
            false => Access::path(action, path),
        });
    }

    /// A file is read or written. What may lie outside the workspace is written by a right of its own.
    fn file(&mut self, action: Capability, target: &Word) {
        let is_confined = self.confinement == Confinement::Strict;
        // `~+` and `~-` are folders in which the shell is or was.
        let is_home = matches!(target.parts.first(), Some(Part::Home(text)) if !matches!(text.get(1..2), Some("+" | "-")));
        let known = match target.literal() {
            // Links of the kernel lead to folders and files that are open.
            Some(text) if !is_confined && has_magic_links(&text) => None,
            Some(text) => self.places.of(&text),
            None if is_home => None,
            // Names of files in a known folder, whichever they are.
            None if is_confined && is_pattern_inside(target) && self.is_inside(&target.beginning()) => {
                self.add(Access::any(action));
                return;
            }
            None => None,
        };
        // The sandbox judges the file that it really is; the line is held to what it says.
        let told = target.literal().and_then(|text| self.told.path(&text)).filter(|_| is_confined);
        if let Some(paths) = known {
            for path in paths.iter().filter(|path| action == Capability::Write && is_outside(path)) {
                self.add(Access::outside(path.clone()));
            }
            for path in told.map_or(paths, |told| vec![told]) {
                self.named_file(action, path);
            }
            return;
        }
        if let Some(told) = told {
            self.named_file(action, told);
        }
        let shown = target.shown();
        // In the sandbox, the home folder is a temporary one, in which no rule opens what is closed.
        let is_own_home =
            is_confined && is_home && action == Capability::Write && is_protected(action, &shown);
        self.add(match is_home && !is_own_home {
            true => Access::path(action, shown.clone()),
            false if is_confined => Access::any(action),
            // Without a sandbox nothing judges the file when it is opened, so that a person must agree.
            false => {
                let why = if target.literal().is_some() { ELSEWHERE } else { COMPUTED };
                Access::any_because(action, why).unjudged().with_consent()
            }
        });
        if action == Capability::Write {
            // Only a path that is known begins with `/` or `..`: whether that is outside can be decided.
            self.add(Access::outside(match target.literal() {
                Some(_) => format!("$PWD/{shown}"),
                None => shown_computed(target),
            }));
        }
    }
}

/// Whether a path leads through a folder whose links the kernel makes: `/proc/self/cwd` is the workspace.
fn has_magic_links(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let is_process =
        |part: &str| part.ends_with("self") || part.starts_with(|first: char| first.is_ascii_digit());
    path.starts_with('/')
        && match (parts.next(), parts.next()) {
            (Some("proc"), Some(next)) if is_process(next) => true,
            (Some("dev"), Some("fd")) => true,
            _ => path.split('/').any(|part| part == ".."),
        }
}

/// A word that is not known, such that it is not taken for a path.
fn shown_computed(target: &Word) -> String {
    let shown = target.shown();
    match shown.starts_with(['~', '$', '"']) {
        true => shown,
        false => format!("\"{shown}\""),
    }
}

/// Whether a word is a pattern for names of files below the folder that the command runs in.
fn is_pattern_inside(word: &Word) -> bool {
    let is_relative = !word.beginning().starts_with(['/', '~']);
    let is_plain = |part: &Part| match part {
        Part::Text(text, _) => !text.contains("..") && !text.contains('~'),
        Part::Pattern(letter) => *letter != '{',
        Part::Home(_) => false,
        Part::Value { is_number, quoting, .. } => *is_number && *quoting == Quoting::Quoted,
    };
    // `.*` is also `..`.
    let has_hidden = word.shown().split('/').any(|part| part.starts_with(".*") || part.starts_with(".?"));
    is_relative && !has_hidden && word.parts.iter().all(is_plain)
}

/// What git does beside its subcommand, for a program such as `git-push`, which is that subcommand.
fn beside_subcommand(program: &str, words: &[Word]) -> Vec<Effect> {
    let Some(subcommand) = program.strip_prefix("git-").filter(|name| !name.is_empty()) else {
        return Vec::new();
    };
    let mut separate = vec![Word::literal_of("git"), Word::literal_of(subcommand)];
    separate.extend_from_slice(&words[1..]);
    let (_, effects) = git::effects(&separate);
    effects
}

/// Whether an argument is computed that a rule would have to know: the subcommand, or what may be an option of a
/// program that does harm.
fn hides_its_meaning(program: &str, arguments: &[Word]) -> bool {
    let hides = |word: &Word| word.may_hide_an_option();
    let is_harmful = HARMFUL.contains(&program)
        || other_names_of_program(program).iter().any(|name| HARMFUL.contains(name));
    match is_harmful {
        true => {
            let is_end = |word: &&Word| word.literal().as_deref() != Some("--");
            arguments.iter().take_while(is_end).any(hides)
        }
        false => {
            let is_unknown = |word: &Word| word.with_any_number().is_none() && hides(word);
            !super::proposal::READING.contains(&program) && arguments.first().is_some_and(is_unknown)
        }
    }
}

/// `$(nproc)` is a number, unless the line may give that name another meaning.
fn processors_are_a_number(script: &mut Script) {
    const DEFINING: [&str; 9] =
        ["eval", "source", ".", "alias", "hash", "enable", "builtin", "command", "trap"];
    let defines = |simple: &Simple| {
        let name = simple.words.first().map(Word::literal);
        name.is_some_and(|name| name.is_none_or(|name| DEFINING.contains(&name.as_str())))
    };
    if script.has_functions || script.commands.iter().any(defines) {
        return;
    }
    let words = script.commands.iter_mut().flat_map(|simple| &mut simple.words);
    for part in words.flat_map(|word| &mut word.parts) {
        if let Part::Value { shown, is_number, .. } = part {
            *is_number |= shown == reader::NPROC;
        }
    }
}

/// The value of a variable in arithmetic may hold a command, so each must be a number wherever it is set.
fn evaluated_are_numbers(script: &Script) -> Read<()> {
    const SETTING: [&str; 14] = [
        "read",
        "export",
        "local",
        "declare",
        "typeset",
        "readonly",
        "mapfile",
        "readarray",
        "getopts",
        "eval",
        "source",
        ".",
        "trap",
        "command",
    ];
    if script.evaluated.is_empty() {
        return Ok(());
    }
    let unclear = Err(Unclear("arithmetic evaluates a variable"));
    let sets = |simple: &Simple| {
        let first = simple.words.first().and_then(Word::literal);
        first.is_some_and(|name| SETTING.contains(&name.as_str()) || name == "builtin")
    };
    if script.commands.iter().any(sets) {
        return unclear;
    }
    let assignments = || script.commands.iter().flat_map(|simple| &simple.assignments);
    for name in &script.evaluated {
        let mut values = assignments().filter(|assignment| assignment.name == *name).peekable();
        if values.peek().is_none() || !values.all(|assignment| assignment.values.iter().all(Word::is_number))
        {
            return unclear;
        }
    }
    Ok(())
}
