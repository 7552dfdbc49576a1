//! What a file of configuration starts, held to the files that were trusted with it: when it is decided whether it may
//! be used, and again at the moment of each start.

use super::cover::{CommandLine, Files, Unreadable, cover};
use super::trust::{State, Trust};
use std::path::PathBuf;
use toolpost_process::StartCheck;

/// Something that a file starts.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    pub(crate) trust: Trust,
    /// The canonical roots of the workspace.
    pub(crate) roots: Vec<PathBuf>,
    /// The file that says so, as it is recorded.
    pub(crate) file: String,
    /// The hash of what was read of it; none for a file of the user's own.
    pub(crate) hash: Option<String>,
    /// The name of what is started.
    pub(crate) started: String,
    pub(crate) line: CommandLine,
}

/// Why something may not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It waits for `toolpost trust`, for this reason.
    Untrusted(String),
    /// Its files cannot be covered, so that no trust helps.
    Impossible(String),
}

impl Guard {
    /// The files that it is started with now.
    pub(crate) fn files(&self) -> Result<Files, String> {
        let unreadable = if self.hash.is_some() { Unreadable::Refused } else { Unreadable::Accepted };
        cover(&self.line, &self.roots, unreadable)
    }

    /// Whether it may be started, by what is on disk now.
    pub(crate) fn check(&self, trust: &Trust) -> Result<(), Refusal> {
        let root = self.roots.first().map(|root| root.to_string_lossy()).unwrap_or_default();
        if let Some(hash) = &self.hash {
            match trust.state(&root, &self.file, hash) {
                State::Trusted => {}
                State::Waiting | State::Changed => {
                    let why = format!("`{}` is not trusted any more; run `toolpost trust`", self.file);
                    return Err(Refusal::Untrusted(why));
                }
            }
        }
        let files = self.files().map_err(Refusal::Impossible)?;
        match trust.difference(&root, &self.file, &self.started, &files) {
            Some(difference) => Err(Refusal::Untrusted(difference.sentence())),
            None => Ok(()),
        }
    }

    /// The check of every start, by the record and the files as they are then.
    pub(crate) fn at_start(self) -> StartCheck {
        StartCheck::new(move || {
            let trust = self.trust.again()?;
            self.check(&trust).map_err(|refusal| match refusal {
                Refusal::Untrusted(why) | Refusal::Impossible(why) => why,
            })
        })
    }
}
