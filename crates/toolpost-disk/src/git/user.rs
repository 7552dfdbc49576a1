//! The user's own configuration of git, which holds in every repository, and paths as git reads them in it.

use super::read;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where homes of other users are looked up, and how much of it is read.
const USERS: &str = "/etc/passwd";
const LARGEST: u64 = 1 << 20;

/// The user's own configuration of git. Nothing of it is ever shown.
#[derive(Debug, Clone, Default)]
pub struct UserGit {
    /// What `~` stands for in git's configuration.
    pub home: Option<PathBuf>,
    /// The files, of the system and of the user. They need not exist.
    pub files: Vec<PathBuf>,
}

impl UserGit {
    /// A path of git's configuration, with `~` replaced; none where it cannot be told what that stands for.
    pub(crate) fn path(&self, value: &[u8]) -> Option<PathBuf> {
        let value = value.strip_prefix(b":(optional)").unwrap_or(value);
        let Some(rest) = value.strip_prefix(b"~") else {
            return (!value.is_empty()).then(|| Path::new(OsStr::from_bytes(value)).to_path_buf());
        };
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let home = match &rest[..end] {
            [] => self.home.clone()?,
            user => home_of(user)?,
        };
        let slashes = rest[end..].iter().take_while(|byte| **byte == b'/').count();
        Some(home.join(OsStr::from_bytes(&rest[end + slashes..])))
    }
}

fn home_of(user: &[u8]) -> Option<PathBuf> {
    let users = read(Path::new(USERS), LARGEST)?;
    users.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        (fields.next()? == user).then(|| fields.nth(4)).flatten().map(|home| OsStr::from_bytes(home).into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_expanded_as_git_does() {
        let user = UserGit { home: Some("/h/u".into()), files: Vec::new() };
        for (value, expected) in [
            ("a/b", Some("a/b")),
            ("/a", Some("/a")),
            ("~/x", Some("/h/u/x")),
            ("~//x", Some("/h/u/x")),
            ("~", Some("/h/u/")),
            (":(optional)~/x", Some("/h/u/x")),
            ("~root/x", Some("/root/x")),
            ("~nobody-of-this-name/x", None),
            ("", None),
        ] {
            assert_eq!(user.path(value.as_bytes()), expected.map(PathBuf::from), "{value}");
        }
        assert_eq!(UserGit::default().path(b"~/x"), None);
    }
}
