//! A second opinion: tree-sitter's grammar of bash must see the same commands at the same places.
//!
//! Two readers that were written apart seldom make the same mistake. Where they differ, the line needs the right to any
//! command. The grammar is not the first reader, as it mends what it does not understand.

use super::reader::{Read, Script, Unclear};
use super::word::Word;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser};

/// How often the parser may report before it is stopped; it does so every few hundred steps.
const MOST_REPORTS: usize = 20_000;

/// Commands that the grammar has under other names.
const OTHERWISE: [&str; 8] = ["[", "export", "declare", "typeset", "readonly", "local", "unset", "unsetenv"];

/// Whether both readers see the same commands.
pub(super) fn agrees(text: &str, script: &Script) -> Read<()> {
    const DIFFERS: Unclear = Unclear("two readers understand it differently");
    // Of words without any syntax there is nothing to understand differently.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:@%+,- ".contains(&byte)) {
        return Ok(());
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| DIFFERS)?;
    let mut reports = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MOST_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    // The grammar's scanner reads beyond a table on some letters outside ASCII (tree-sitter-bash issue 337), and none of
    // them means anything to a shell.
    let bytes: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    let mut chunk = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut chunk, None, Some(options)).ok_or(DIFFERS)?;
    if tree.root_node().has_error() {
        return Err(DIFFERS);
    }
    let mut theirs = BTreeSet::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_missing() {
            return Err(DIFFERS);
        }
        if node.kind() == "command_name" && !OTHERWISE.contains(&&text[node.byte_range()]) {
            theirs.insert(node.start_byte());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return compare(&theirs, script).then_some(()).ok_or(DIFFERS);
            }
        }
    }
}

fn compare(theirs: &BTreeSet<usize>, script: &Script) -> bool {
    let first_words = script.commands.iter().filter_map(|command| command.words.first());
    let is_same = |word: &&Word| !word.literal().is_some_and(|name| OTHERWISE.contains(&name.as_str()));
    let mut ours: BTreeSet<usize> = first_words.filter(is_same).map(|word| word.start).collect();
    // To the grammar, `time` is a command and what it measures are its arguments.
    for time in script.timed.iter().filter(|time| theirs.contains(time)) {
        let timed = ours.range(time..).next().copied();
        if timed.is_some_and(|timed| !theirs.contains(&timed)) {
            ours.remove(&timed.unwrap_or_default());
        }
        ours.insert(*time);
    }
    ours == *theirs
}
