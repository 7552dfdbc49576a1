//! The words behind `cargo xtask edit-judge`.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

/// What a run does.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// The folder with the git checkouts.
    pub(super) repos: PathBuf,
    pub(super) cases: usize,
    pub(super) seed: u64,
    /// Only kinds with this in their names.
    pub(super) kind: Option<String>,
    /// The `toolpost` that is judged; otherwise the one of the release build.
    pub(super) binary: Option<PathBuf>,
    /// Where cases worth a look are written.
    pub(super) findings: Option<PathBuf>,
    /// Other agents are asked too.
    pub(super) peers: bool,
    /// The sections of `docs/edits.md` are written.
    pub(super) write: bool,
}

impl Request {
    pub(super) fn parse(words: &[&str]) -> Result<Request> {
        let mut request = Request {
            repos: PathBuf::new(),
            cases: 50_000,
            seed: 1,
            kind: None,
            binary: None,
            findings: None,
            peers: false,
            write: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match *word {
                "--repos" => request.repos = value()?.into(),
                "--cases" => request.cases = value()?.parse().context("`--cases` takes a number")?,
                "--seed" => request.seed = value()?.parse().context("`--seed` takes a number")?,
                "--kind" => request.kind = Some((*value()?).to_owned()),
                "--binary" => request.binary = Some(value()?.into()),
                "--findings" => request.findings = Some(value()?.into()),
                "--peers" => request.peers = true,
                "--write" => request.write = true,
                _ => bail!("unknown argument `{word}` of edit-judge"),
            }
        }
        if request.repos.as_os_str().is_empty() {
            bail!("`--repos DIR` is missing: a folder with git checkouts directly below it");
        }
        Ok(request)
    }
}
