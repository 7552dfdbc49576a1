//! The environment, read in this one place.

#![expect(clippy::disallowed_methods, reason = "this is the place where the environment is read")]

use super::keys::KEYS;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

/// The variable that says which lines of the log are shown. It belongs to no key: a log that a file began would surprise.
pub(crate) const LOG: &str = "TOOLPOST_LOG";

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The folder the process stands in.
    pub cwd: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `AGENT_WORKSPACE_ROOT`.
    pub workspace_root: Option<PathBuf>,
    /// The user's configuration of toolpost.
    pub config_directory: Option<PathBuf>,
    /// The user's data of toolpost.
    pub data_directory: Option<PathBuf>,
    /// What toolpost can find out again.
    pub cache_directory: Option<PathBuf>,
    /// The variables `TOOLPOST_…` that stand for a key of the configuration.
    pub settings: BTreeMap<&'static str, String>,
    /// `TOOLPOST_LOG`: which lines of the log are shown.
    pub log: Option<String>,
    /// Whether colours are unwanted: `NO_COLOR`, or a terminal that has none.
    pub no_color: bool,
    /// Whether the terminal obeys nothing: `TERM=dumb`.
    pub is_dumb: bool,
    /// Names and values of variables that look like secrets.
    pub secrets: Vec<(String, String)>,
    /// All variables, from which those for commands are chosen.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn read() -> Environment {
        let folder =
            |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let absolute = |variable: &str| folder(variable).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let below = |variable: &str, usual: &str| {
            absolute(variable)
                .or_else(|| home.as_ref().map(|home| home.join(usual)))
                .map(|base| base.join("toolpost"))
        };
        Environment {
            cwd: env::current_dir().ok(),
            home: home.clone(),
            workspace_root: folder("AGENT_WORKSPACE_ROOT"),
            config_directory: below("XDG_CONFIG_HOME", ".config"),
            data_directory: below("XDG_DATA_HOME", ".local/share"),
            cache_directory: below("XDG_CACHE_HOME", ".cache"),
            settings: KEYS
                .iter()
                .map(|key| key.variable())
                .filter(|name| !name.is_empty())
                .filter_map(|name| Some((name, folder(name)?.to_string_lossy().into_owned())))
                .collect(),
            log: folder(LOG).map(|text| text.to_string_lossy().into_owned()),
            no_color: folder("NO_COLOR").is_some() || is_dumb(),
            is_dumb: is_dumb(),
            secrets: env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .filter(|(name, value)| is_secret(name) && !is_harmless(value))
                .flat_map(|(name, value)| with_lines(name, value))
                .collect(),
            variables: env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        }
    }
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Names that people give to secrets.
pub(crate) fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    let name = name.to_ascii_uppercase();
    // `KEYBOARD` and `MONKEY` are not keys: the word must be the whole name, stand between underscores, or follow `API` at the end.
    name.split('_').any(|part| WORDS.contains(&part.strip_suffix('S').unwrap_or(part)))
        || WORDS.iter().any(|word| name.strip_suffix(word).is_some_and(|before| before.ends_with("API")))
}

/// A file or a number under such a name tells nobody anything, and would be taken out of every listing.
fn is_harmless(value: &str) -> bool {
    // A random key may begin with a slash too, but then no such file exists.
    (value.starts_with('/') && Path::new(value).exists()) || value.chars().all(|c| c.is_ascii_digit())
}

/// A secret of several lines, such as a private key, is shown with something between them: its lines are secrets too.
fn with_lines(name: String, value: String) -> Vec<(String, String)> {
    // A short line of several words may stand in any text; one that is a single word hardly does.
    let least = |line: &str| if line.contains(char::is_whitespace) { 16 } else { 8 };
    let is_telling = |line: &&str| line.len() >= least(line) && !line.starts_with("-----");
    let lines: Vec<&str> = value.lines().map(str::trim).filter(is_telling).collect();
    let parts = if value.trim().contains('\n') { lines } else { Vec::new() };
    let parts: Vec<_> = parts.into_iter().map(|line| (name.clone(), line.to_owned())).collect();
    std::iter::once((name, value)).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "MY_SECRETS",
            "OPENAI_APIKEY",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "KEYBOARD", "MONKEY", "HOME", "TOKENIZERS_PARALLELISM"] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_harmless("/dev/null") && is_harmless("12345678"));
        assert!(!is_harmless("sk-12345678") && !is_harmless("/b64+random/key=="));
    }
}
