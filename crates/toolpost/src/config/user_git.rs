//! Where the user's own configuration of git is, as `git-config(1)` says. The user is the one who runs toolpost.

use super::env::Environment;
use std::path::PathBuf;
use toolpost_disk::UserGit;

/// Where builds of git look for the configuration of the system.
const SYSTEM: [&str; 3] = ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// The files that hold in every repository of this user.
pub(super) fn of(environment: &Environment) -> UserGit {
    let variable = |name: &str| environment.variables.get(name).map(String::as_str);
    let path = |path: &str| PathBuf::from(path);
    let mut files: Vec<PathBuf> = match (variable("GIT_CONFIG_NOSYSTEM"), variable("GIT_CONFIG_SYSTEM")) {
        (Some("1" | "true" | "yes" | "on"), _) => Vec::new(),
        (_, Some(file)) => vec![path(file)],
        (_, None) => SYSTEM.iter().map(|file| path(file)).collect(),
    };
    match variable("GIT_CONFIG_GLOBAL") {
        Some(file) => files.push(path(file)),
        None => {
            let folder = variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(path);
            let folder = folder.or_else(|| Some(environment.home.as_ref()?.join(".config")));
            files.extend(folder.map(|folder| folder.join("git/config")));
            files.extend(environment.home.as_ref().map(|home| home.join(".gitconfig")));
        }
    }
    if let Some(cwd) = &environment.cwd {
        files.iter_mut().for_each(|file| *file = cwd.join(&file));
    }
    files.retain(|file| file.is_absolute());
    UserGit { home: environment.home.clone(), files }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_those_that_git_reads() {
        let files = |variables: &[(&str, &str)]| -> Vec<String> {
            let environment = Environment {
                home: Some("/h".into()),
                cwd: Some("/w".into()),
                variables: variables
                    .iter()
                    .map(|(name, value)| (name.to_string(), value.to_string()))
                    .collect(),
                ..Environment::default()
            };
            of(&environment).files.iter().map(|file| file.display().to_string()).collect()
        };
        let no_system = ("GIT_CONFIG_NOSYSTEM", "1");
        assert_eq!(files(&[no_system]), ["/h/.config/git/config", "/h/.gitconfig"]);
        assert_eq!(files(&[no_system, ("XDG_CONFIG_HOME", "/x")]), ["/x/git/config", "/h/.gitconfig"]);
        assert_eq!(files(&[no_system, ("GIT_CONFIG_GLOBAL", "g")]), ["/w/g"]);
        assert_eq!(files(&[("GIT_CONFIG_SYSTEM", "/s"), ("GIT_CONFIG_GLOBAL", "/g")]), ["/s", "/g"]);
        assert!(files(&[]).contains(&"/etc/gitconfig".to_owned()));
    }
}
