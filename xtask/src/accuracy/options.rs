//! What `accuracy` was asked for.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

const USAGE: &str =
    "`accuracy` needs `--repos DIR` with clones in DIR/go, DIR/python, DIR/rust and DIR/typescript";

/// Who is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Tools,
    Engine,
}

pub(super) struct Options {
    pub(super) repos: PathBuf,
    pub(super) oracle: PathBuf,
    /// Whether the oracle is the one in the tree.
    pub(super) is_own_oracle: bool,
    pub(super) language: Option<String>,
    /// Only this way; both where there is none.
    pub(super) way: Option<Way>,
    /// The program to ask; it is built where none is named.
    pub(super) executable: Option<PathBuf>,
    /// How many wrong answers are shown.
    pub(super) misses: usize,
}

impl Options {
    pub(super) fn read(root: &Path, words: &[&str]) -> Result<Options> {
        let mut options = Options {
            repos: PathBuf::new(),
            oracle: root.join("crates/toolpost-code/oracle"),
            is_own_oracle: true,
            language: None,
            way: None,
            executable: None,
            misses: 0,
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { bail!("`{}` needs a value", pair[0]) };
            match *name {
                "--repos" => options.repos = PathBuf::from(value),
                "--oracle" => {
                    options.oracle = PathBuf::from(value);
                    options.is_own_oracle = false;
                }
                "--lang" => options.language = Some((*value).to_owned()),
                "--path" => {
                    options.way = Some(match *value {
                        "tools" => Way::Tools,
                        "engine" => Way::Engine,
                        _ => bail!("`--path` is `tools` or `engine`, not `{value}`"),
                    });
                }
                "--executable" => options.executable = Some(PathBuf::from(value)),
                "--misses" => options.misses = value.parse().context("`--misses` is a number")?,
                _ => bail!("unknown option `{name}`; {USAGE}"),
            }
        }
        if options.repos.as_os_str().is_empty() {
            bail!(USAGE);
        }
        // Programs are started in other folders.
        options.repos = std::path::absolute(&options.repos)?;
        options.oracle = std::path::absolute(&options.oracle)?;
        Ok(options)
    }
}
