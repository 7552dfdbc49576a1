//! Where a relative path leads, as `cd` may have come before.

use super::reader::{Script, Simple};
use super::word::Word;
use toolpost_core::text::paths::normal_path;

/// The folders in which a line may be, from the workspace root; none if that cannot be told.
pub(super) struct Places(Option<Vec<String>>);

impl Default for Places {
    fn default() -> Places {
        Places::in_folder("")
    }
}

impl Places {
    pub(super) fn in_folder(folder: &str) -> Places {
        Places(Some(vec![normal_path(folder).into_owned()]))
    }

    /// For a line of which nobody knows where it runs.
    pub(super) fn unknown() -> Places {
        Places(None)
    }

    /// Looks at the commands of a text that change the folder. Whether each really runs is not known, so the old place
    /// stays possible.
    pub(super) fn visit(&mut self, script: &Script) {
        for command in &script.commands {
            self.0 = match (self.0.take(), folder(command)) {
                (places, Moves::Nowhere) => places,
                (Some(mut places), Moves::To(folder)) if places.len() == 1 => {
                    places.push(join(&places[0], &folder));
                    Some(places)
                }
                _ => None,
            };
        }
    }

    /// The paths that a program may be. A folder before `..` may be a link, so such a path is also named as it is.
    pub(super) fn of_program(&self, name: &str) -> Option<Vec<String>> {
        let mut paths = self.of(name)?;
        let places: &[String] = self.0.as_deref().unwrap_or_default();
        let places = if name.starts_with('/') { &[] } else { places };
        let written = places.iter().map(|place| match place.is_empty() {
            true => name.to_owned(),
            false => format!("{place}/{name}"),
        });
        let written = written.chain(name.starts_with('/').then(|| name.to_owned()));
        let crosses = |path: &String| {
            let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
            parts.by_ref().find(|part| *part != "..").is_some() && parts.any(|part| part == "..")
        };
        paths.extend(written.filter(crosses).map(|path| path.trim_start_matches("./").to_owned()));
        Some(paths)
    }

    /// The paths that a target may be, without `.` and `..` where that is possible.
    pub(super) fn of(&self, target: &str) -> Option<Vec<String>> {
        if target.starts_with('/') {
            return Some(vec![normal_path(target).into_owned()]);
        }
        let places = self.0.as_ref()?;
        let mut paths: Vec<String> = places.iter().map(|place| join(place, target)).collect();
        paths.dedup();
        Some(paths)
    }
}

/// Whether a path from the workspace root leads out of it, as far as its text tells. The private folder for temporary
/// files counts as inside, apart from hidden names: a home folder may lie there.
pub(super) fn is_outside(path: &str) -> bool {
    let is_temporary = path.starts_with("/tmp/") && !path.split('/').any(|part| part.starts_with('.'));
    path == ".." || path.starts_with("../") || (path.starts_with('/') && !is_temporary)
}

pub(super) enum Moves {
    Nowhere,
    To(String),
    Somewhere,
}

/// Where a command leads the shell that runs it.
pub(super) fn folder(command: &Simple) -> Moves {
    let moves = |word: &Word| {
        let text = word.literal();
        matches!(text.as_deref(), Some("cd" | "pushd" | "popd" | "eval" | "source" | "." | "trap"))
    };
    // `cd` looks for a folder without regard to its options, but for `-` and those that bash does not have.
    let is_option = |word: &Word| matches!(word.literal().as_deref(), Some("--" | "-L" | "-P" | "-e" | "-@"));
    let mut words: Vec<&Word> = command.words.iter().collect();
    if words.first().is_some_and(|word| word.literal().as_deref() == Some("cd")) {
        let options = words[1..].iter().take_while(|word| is_option(word)).count();
        words.drain(1..=options);
    }
    match words.as_slice() {
        [cd, target] if cd.literal().as_deref() == Some("cd") && !command.is_repeated => {
            match target.literal() {
                Some(folder) if !folder.starts_with('-') && !folder.is_empty() => Moves::To(folder),
                _ => Moves::Somewhere,
            }
        }
        // `.` is a folder more often than it is the built-in.
        [first, rest @ ..] => {
            let is_dot = |word: &&Word| word.literal().as_deref() == Some(".");
            match moves(first) || rest.iter().any(|word| moves(word) && !is_dot(word)) {
                true => Moves::Somewhere,
                false => Moves::Nowhere,
            }
        }
        [] => Moves::Nowhere,
    }
}

/// The path from this folder.
pub(super) fn join(folder: &str, path: &str) -> String {
    match folder.is_empty() || path.starts_with('/') {
        true => normal_path(path).into_owned(),
        false => normal_path(&format!("{folder}/{path}")).into_owned(),
    }
}
