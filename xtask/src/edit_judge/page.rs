//! The parts of `docs/edits.md` that this judge writes. Each is between two markers and is replaced as a whole.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

const PAGE: &str = "docs/edits.md";

/// Replaces the part between the markers of this name.
pub(super) fn replace(root: &Path, name: &str, text: &str) -> Result<()> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    fs::write(&path, replaced(&page, name, text)?)?;
    Ok(())
}

fn replaced(page: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name}:begin -->"), format!("<!-- {name}:end -->"));
    let from = page.find(&begin).with_context(|| format!("{PAGE} has no `{begin}`"))? + begin.len();
    let to = page.find(&end).with_context(|| format!("{PAGE} has no `{end}`"))?;
    Ok(format!("{}\n\n{}\n\n{}", &page[..from], text.trim_matches('\n'), &page[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_rest_stays() {
        let page = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n";
        let new = replaced(page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x:begin -->\n\nnew\n\n<!-- x:end -->\nb\n");
    }
}
