//! What the command line asks for.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

pub(super) struct Options {
    /// How many cases to run at most.
    pub(super) cases: usize,
    /// The only kind of noise to use.
    pub(super) kind: Option<String>,
    pub(super) seed: u64,
    pub(super) is_json: bool,
    /// Run other agents on the same cases too.
    pub(super) has_peers: bool,
    /// Write the tables into the page.
    pub(super) is_written: bool,
    /// Print the kinds of noise and do nothing else.
    pub(super) is_list: bool,
    /// Run the cases that lie in this folder again, and no others.
    pub(super) again: Option<PathBuf>,
    /// The executable to judge, instead of a release build of this tree.
    pub(super) binary: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            cases: 10_000,
            kind: None,
            seed: 1,
            is_json: false,
            has_peers: false,
            is_written: false,
            is_list: false,
            again: None,
            binary: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match *word {
                "--cases" => options.cases = number(word, value()?)?,
                "--seed" => options.seed = number(word, value()?)?,
                "--kind" => options.kind = Some((*value()?).to_owned()),
                "--binary" => options.binary = Some(PathBuf::from(value()?)),
                "--again" => options.again = Some(PathBuf::from(value()?)),
                "--json" => options.is_json = true,
                "--peers" => options.has_peers = true,
                "--write" => options.is_written = true,
                "--list" => options.is_list = true,
                _ => bail!("unknown option `{word}` of `edits`"),
            }
        }
        if options.is_written && (options.kind.is_some() || options.again.is_some()) {
            bail!("`--write` writes the tables of all kinds, so leave out `--kind` and `--again`");
        }
        Ok(options)
    }
}

fn number<N: std::str::FromStr>(word: &str, value: &str) -> Result<N> {
    value.parse().ok().with_context(|| format!("`{word} {value}`: not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_taken() {
        let options = Options::parse(&["--cases", "7", "--kind", "none", "--seed", "3", "--json"]).unwrap();
        assert_eq!((options.cases, options.kind.as_deref(), options.seed), (7, Some("none"), 3));
        assert!(options.is_json && !options.has_peers && !options.is_written);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |words: &[&str]| Options::parse(words).err().unwrap().to_string();
        assert_eq!(refused(&["--cases"]), "`--cases` needs a value");
        assert_eq!(refused(&["--cases", "many"]), "`--cases many`: not a number");
        assert_eq!(refused(&["--case"]), "unknown option `--case` of `edits`");
        assert!(refused(&["--write", "--kind", "none"]).contains("leave out"));
    }
}
