//! What a line names, noted while it is judged.

use super::Judge;
use crate::shell::line::effect::Effect;
use crate::shell::line::named::Named;
use crate::shell::line::places::join;
use crate::shell::line::reader::{Assignment, Redirection};
use crate::shell::line::word::Word;

impl Judge {
    /// Takes note of what a command names. What it runs is a command of its own.
    pub(super) fn name(&mut self, program: &str, words: &[Word], effects: &[Effect]) {
        let told: Vec<Word> = words.iter().map(|word| self.told.word(word)).collect();
        let mut own = told.as_slice();
        let mut runs_another = false;
        for effect in effects {
            match effect {
                Effect::Run(inner) | Effect::Elsewhere(inner, _) if words.ends_with(inner) => {
                    own = &told[..words.len() - inner.len()];
                    runs_another = true;
                }
                Effect::Run(_) | Effect::Elsewhere(..) => runs_another = true,
                Effect::Script(text, _) => {
                    runs_another = true;
                    if words.last().and_then(Word::literal).as_ref() == Some(text) {
                        own = &told[..words.len() - 1];
                    }
                }
                _ => {}
            }
        }
        let mut named = self.take_named();
        match runs_another {
            true => own.iter().skip(1).for_each(|word| named.unknown(word, &|name| self.paths(name))),
            false => named.command(program, own, &|name| self.paths(name)),
        }
        self.named = named;
    }

    fn take_named(&mut self) -> Named {
        let folder_is_unknown = self.told.folder().is_none();
        Named { folder_is_unknown, ..std::mem::take(&mut self.named) }
    }

    /// All paths that a file of the command at hand may have.
    pub(super) fn paths(&self, name: &str) -> Vec<String> {
        let mut paths: Vec<String> = self.told.path(name).into_iter().collect();
        for path in self.places.of(name).unwrap_or_default() {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        if paths.is_empty() {
            paths.push(join("", name));
        }
        paths
    }

    /// Takes note of the values of variables: who uses them, the line does not tell.
    pub(super) fn name_assigned(&mut self, assignments: &[Assignment]) {
        let mut named = self.take_named();
        for value in assignments.iter().flat_map(|assignment| &assignment.values) {
            named.unknown(value, &|name| self.paths(name));
        }
        self.named = named;
    }

    /// Takes note of a file that the shell opens.
    pub(super) fn name_redirection(&mut self, redirection: &Redirection) {
        let mut named = self.take_named();
        let told = Redirection { target: self.told.word(&redirection.target), ..redirection.clone() };
        named.redirection(&told, &|name| self.paths(name));
        self.named = named;
    }
}
