//! The ten largest sources, so that nobody grows an attic unseen. Size alone is never an error.

use std::cmp::Reverse;

use super::tree::Tree;

pub(super) fn largest(tree: &Tree) -> Vec<(usize, &str)> {
    let mut sizes: Vec<_> =
        tree.sources().map(|file| (file.text.lines().count(), file.path.as_str())).collect();
    sizes.sort_by_key(|(lines, path)| (Reverse(*lines), *path));
    sizes.truncate(10);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first() {
        let files: String =
            (0..12).map(|number| format!("//- {number}.rs\n{}", "\n".repeat(number))).collect();
        let tree = Tree::of(&files);
        let sizes = largest(&tree);
        assert_eq!(sizes.len(), 10);
        assert_eq!(sizes[0], (11, "11.rs"));
        assert_eq!(sizes[9], (2, "2.rs"));
    }
}
