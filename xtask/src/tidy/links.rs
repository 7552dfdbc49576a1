//! Every relative link in a page leads to a file or folder of this repository. Links to the web are not followed.

use super::Finding;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().filter(|file| file.path.ends_with(".md") && !file.is_test());
    pages.flat_map(|page| check_page(tree, page)).collect()
}

fn check_page(tree: &Tree, page: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in page.text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                for target in targets(&without_code(line)) {
                    if !leads_somewhere(tree, &page.path, &target) {
                        let message =
                            format!("the link `{target}` leads nowhere, so correct it or write the page");
                        findings.push(Finding::new(&page.path, index + 1, message));
                    }
                }
            }
            (Some(_), _) => {}
        }
    }
    findings
}

/// A line with what stands between backticks blanked out.
fn without_code(line: &str) -> String {
    let mut parts = line.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(_code), Some(after)) = (parts.next(), parts.next()) {
        text.push(' ');
        text.push_str(after);
    }
    text
}

/// The targets of `[text](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for (start, open) in line.match_indices("](") {
        let rest = &line[start + open.len()..];
        targets.extend(rest.find(')').map(|end| target(&rest[..end])));
    }
    if let Some(rest) = line.trim_start().strip_prefix('[')
        && let Some((name, rest)) = rest.split_once("]:")
        && !name.contains(']')
    {
        targets.push(target(rest));
    }
    targets
}

fn target(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('<').and_then(|text| text.split_once('>')) {
        Some((inner, _)) => inner.to_owned(),
        None => text.split_whitespace().next().unwrap_or_default().to_owned(),
    }
}

fn leads_somewhere(tree: &Tree, page: &str, target: &str) -> bool {
    let has_scheme = target.split(['/', '#']).next().is_some_and(|first| first.contains(':'));
    if has_scheme || target.starts_with('#') || target.starts_with("//") {
        return true;
    }
    let path = target.split(['#', '?']).next().unwrap_or_default().replace("%20", " ");
    let mut parts: Vec<&str> = match path.starts_with('/') {
        true => Vec::new(),
        false => page.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            part => parts.push(part),
        }
    }
    !path.is_empty() && tree.has(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        check(
            super::check,
            "//- README.md\nfine\n[a](docs/b.md) and [b](missing.md#part)\n[c]: gone.md\n[d]()\n\
             //- docs/b.md\n[up](../../outside.md) [a](c.md) [b](/docs/d.md)\n",
            &[
                "README.md:2: the link `missing.md#part` leads nowhere",
                "README.md:3: the link `gone.md` leads nowhere",
                "README.md:4: the link `` leads nowhere",
                "docs/b.md:1: the link `../../outside.md` leads nowhere",
                "docs/b.md:1: the link `/docs/d.md` leads nowhere",
                "docs/b.md:1: the link `c.md` leads nowhere",
            ],
        );
    }

    #[test]
    fn links_that_lead_somewhere_are_not() {
        check(
            super::check,
            "//- README.md\n[a](docs/a%20b.md \"title\") [b](<docs/a b.md>) [c](docs/) [d](./docs) [e](#part)\n\
             [f](https://example.org) [g](mailto:a@example.org) ![h](x.png) `[i](missing.md)`\n\
             ```\n[j](missing.md)\n```\n[k]: docs/sub/c.md\n\
             //- docs/a b.md\n[a](sub/c.md)\n//- docs/sub/c.md\n[a](../../README.md#x) [b](/docs) [c](..)\n//- x.png\n\
             //- crates/a/tests/it/page.md\n[a](missing.md)\n",
            &[],
        );
    }
}
