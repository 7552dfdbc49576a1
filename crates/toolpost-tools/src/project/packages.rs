//! Which package a file belongs to: the nearest folder above it with a manifest.

use super::manifest::is_package;
use super::tree::Tree;
use toolpost_core::{Context, ToolError, WorkspacePath};

/// The folders of all packages.
pub(crate) struct Packages {
    /// Folder, and whether every folder below it is a package of its own, as in Go. The deepest first.
    folders: Vec<(String, bool)>,
}

impl Packages {
    /// Looks for manifests in the whole workspace. Blocks like the workspace.
    pub(crate) fn find(ctx: &Context) -> Result<Packages, ToolError> {
        let tree = Tree::survey(ctx, &WorkspacePath::root())?;
        let mut folders: Vec<(String, bool)> = tree
            .files
            .iter()
            .filter(|file| is_package(file))
            .map(|file| (super::facts::folder_of(file).to_owned(), file.ends_with("go.mod")))
            .collect();
        folders.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        Ok(Packages { folders })
    }

    /// The package of a file.
    pub(crate) fn of(&self, file: &str) -> String {
        let folder = super::facts::folder_of(file);
        let is_above = |above: &str| {
            above.is_empty()
                || folder == above
                || folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
        };
        match self.folders.iter().find(|(above, _)| is_above(above)) {
            Some((_, true)) | None => super::facts::shown(folder),
            Some((above, false)) => super::facts::shown(above),
        }
    }
}
