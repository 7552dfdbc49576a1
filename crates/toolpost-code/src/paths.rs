//! Paths below the root of a tree, as texts with `/` between their parts.

/// The folder of a path; empty for the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path that a relative path leads to from a folder; none if it leads out of the tree.
pub(crate) fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_stay_in_the_tree() {
        assert_eq!(join("a/b", "../c/./d.ts").as_deref(), Some("a/c/d.ts"));
        assert_eq!(join("", "c").as_deref(), Some("c"));
        assert_eq!(join("a", "../../c"), None);
        assert_eq!((folder_of("a/b/c"), folder_of("c")), ("a/b", ""));
    }
}
