//! A file is named after the thing it defines, and a module never hides in `mod.rs`.

use std::collections::BTreeSet;

use super::Finding;
use super::code;
use super::tree::Tree;

const NAMELESS: [&str; 6] = ["utils", "common", "helpers", "misc", "manager", "types"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = BTreeSet::new();
    for file in tree.sources() {
        if file.name() == "mod.rs" {
            let message =
                "a module in `mod.rs`, so name the file after its folder: `folder.rs` beside `folder/`";
            findings.insert(Finding::new(&file.path, 1, message));
        }
        for part in file.path.split('/') {
            let name = part.strip_suffix(".rs").unwrap_or(part);
            findings.extend(advice(name).map(|message| Finding::new(&file.path, 1, message)));
        }
        let code = code::code_only(&file.text);
        for (name, position) in modules_with_a_body(&code) {
            let line = code::line_at(&code, position);
            findings.extend(advice(name).map(|message| Finding::new(&file.path, line, message)));
        }
    }
    findings.into_iter().collect()
}

fn advice(name: &str) -> Option<String> {
    if NAMELESS.contains(&name) {
        return Some(format!("the name `{name}` says nothing, so name it after the thing it defines"));
    }
    let (_, number) = name.rsplit_once("_v")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(format!("`{name}` is a second edition, so replace the first one and delete it"))
}

/// Modules written in place; those in files of their own are known by their files.
fn modules_with_a_body(code: &str) -> Vec<(&str, usize)> {
    let named = |position: usize| {
        let rest = code[position + "mod".len()..].trim_start();
        let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_')?;
        rest[end..].trim_start().starts_with('{').then_some((&rest[..end], position))
    };
    code::positions_of_word(code, "mod").into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn names_without_meaning_are_found() {
        check(
            super::check,
            "//- crates/a/src/read/mod.rs\n//- crates/a/src/utils.rs\n//- crates/a/src/common/x.rs\n\
             //- crates/a/src/edit_v2.rs\n//- crates/a/src/b.rs\n\nmod helpers { fn a() {} }\n",
            &[
                "crates/a/src/b.rs:2: the name `helpers` says nothing",
                "crates/a/src/common/x.rs:1: the name `common` says nothing",
                "crates/a/src/edit_v2.rs:1: `edit_v2` is a second edition",
                "crates/a/src/read/mod.rs:1: a module in `mod.rs`",
                "crates/a/src/utils.rs:1: the name `utils` says nothing",
            ],
        );
    }

    #[test]
    fn names_that_only_look_alike_are_not() {
        check(
            super::check,
            "//- crates/a/src/types_of_tool.rs\n// mod utils {\nmod read;\n//- crates/a/src/_v.rs\n",
            &[],
        );
    }
}
