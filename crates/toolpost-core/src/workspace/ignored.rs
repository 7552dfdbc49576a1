//! What ignore files say, as far as a workspace hands it over: the rules themselves are those of whoever walks.

use toolpost_text::Tracked;

/// What the ignore files of one folder say.
#[derive(Default)]
pub struct IgnoreFiles {
    /// For tools alone; see [`IgnoreFiles::for_tools`].
    pub ignore: Option<Vec<u8>>,
    /// Git's own.
    pub gitignore: Option<Vec<u8>>,
    /// Where a repository begins in this folder.
    pub repository: Option<Repository>,
}

impl IgnoreFiles {
    /// Larger ignore files are not read.
    pub const LARGEST: u64 = 1024 * 1024;

    /// What `.ignore` and `.rgignore` say together: the rules of the second come last, so they win.
    pub fn for_tools(ignore: Option<Vec<u8>>, rgignore: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match (ignore, rgignore) {
            (Some(ignore), Some(rgignore)) => Some([ignore, rgignore].join(&b'\n')),
            (ignore, rgignore) => ignore.or(rgignore),
        }
    }
}

/// What a repository adds to the rules.
pub struct Repository {
    /// Its `info/exclude`.
    pub exclude: Option<Vec<u8>>,
    /// The files that it tracks.
    pub tracked: Option<Tracked>,
}

/// What lies outside of a workspace and holds in it all the same.
#[derive(Default)]
pub struct OuterRules {
    /// The folders above the root in the same repository, the outermost first, by absolute path.
    pub above: Vec<(String, IgnoreFiles)>,
    /// The repository that begins at the root, where its folder lies elsewhere.
    pub at_root: Option<Repository>,
    /// The user's own excludes.
    pub excludes: Option<Vec<u8>>,
}
