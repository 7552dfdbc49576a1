//! Where a relative path of a redirection leads, as `cd` may have come before.

use super::reader::{Script, Simple};
use super::word::Word;

/// The folders in which a line may be, from where it began; none if that cannot be told.
pub(super) struct Places(Option<Vec<String>>);

impl Default for Places {
    fn default() -> Places {
        Places(Some(vec![String::new()]))
    }
}

impl Places {
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

    /// The paths that a target may be.
    pub(super) fn of(&self, target: &str) -> Option<Vec<String>> {
        if target.starts_with('/') {
            return Some(vec![target.to_owned()]);
        }
        let places = self.0.as_ref()?;
        Some(places.iter().map(|place| join(place, target)).collect())
    }
}

enum Moves {
    Nowhere,
    To(String),
    Somewhere,
}

fn folder(command: &Simple) -> Moves {
    let moves = |word: &Word| {
        let text = word.literal();
        matches!(text.as_deref(), Some("cd" | "pushd" | "popd" | "eval" | "source" | "." | "trap"))
    };
    match command.words.as_slice() {
        [cd, target] if cd.literal().as_deref() == Some("cd") && !command.is_repeated => {
            match target.literal() {
                Some(folder) if !folder.starts_with('-') && !folder.is_empty() => Moves::To(folder),
                _ => Moves::Somewhere,
            }
        }
        // `.` is a folder more often than it is the built-in.
        [first, rest @ ..] => {
            let is_dot = |word: &Word| word.literal().as_deref() == Some(".");
            match moves(first) || rest.iter().any(|word| moves(word) && !is_dot(word)) {
                true => Moves::Somewhere,
                false => Moves::Nowhere,
            }
        }
        [] => Moves::Nowhere,
    }
}

fn join(folder: &str, path: &str) -> String {
    match folder.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}
