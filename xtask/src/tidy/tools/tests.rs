//! What is found when a tool lacks one of its files.

use super::super::check;

const TEXT: &str = "Returns the text of one file with line numbers, up to 2,000 lines.";

/// A pack with one whole tool, in which one piece of text is replaced by another.
fn check_changed(piece: &str, other: &str, expected: &[&str]) {
    let files = format!(
        "//- crates/toolpost-tools/src/files.rs\nmod read;\n\
         //- crates/toolpost-tools/src/files/read.rs\nstruct Read;\n\nimpl Tool for Read {{}}\n\
         //- crates/toolpost-tools/src/files/read.txt\n{TEXT}\n\
         //- crates/toolpost-tools/src/files/lines.rs\nfn shared() {{}}\n\
         //- crates/toolpost-tools/tests/it/read.rs\nfn test() {{}}\n"
    );
    assert!(files.contains(piece), "{piece}");
    check(super::check, &files.replace(piece, other), expected);
}

#[test]
fn a_whole_tool_passes() {
    check_changed("struct Read;", "struct Read;", &[]);
    check_changed("mod read;", "pub(crate) mod read;", &[]);
    check_changed("mod read;", "mod r#read;", &[]);
}

#[test]
fn a_missing_file_is_found() {
    check_changed(
        "tests/it/read.rs",
        "tests/it/write.rs",
        &["crates/toolpost-tools/src/files/read.rs:3: the tool `read` has no test"],
    );
    check_changed(
        "files/read.txt",
        "files/lines.txt",
        &["crates/toolpost-tools/src/files/read.rs:3: no text for the model"],
    );
    check_changed(
        "src/files.rs\n",
        "src/file.rs\n",
        &["crates/toolpost-tools/src/files/read.rs:3: the pack of `read` is missing"],
    );
}

#[test]
fn a_tool_that_its_pack_does_not_name_is_found() {
    let expected = ["crates/toolpost-tools/src/files.rs:1: the tool `read` is not in its pack"];
    check_changed("mod read;", "// mod read;", &expected);
    check_changed("mod read;", "mod reader;", &expected);
}

#[test]
fn a_text_without_a_tool_is_found() {
    check_changed(
        "src/files/lines.rs",
        "src/files/gone.txt",
        &[
            "crates/toolpost-tools/src/files/gone.txt:1: a text without its tool",
            "crates/toolpost-tools/src/files/gone.txt:1: about 4 tokens long",
        ],
    );
}

#[test]
fn a_text_of_the_wrong_length_or_with_an_example_is_found() {
    let path = "crates/toolpost-tools/src/files/read.txt:1:";
    check_changed(TEXT, "Reads.", &[&format!("{path} about 2 tokens long")]);
    check_changed(TEXT, &TEXT.repeat(4), &[&format!("{path} about 66 tokens long")]);
    check_changed(TEXT, &format!("{TEXT} Example: a."), &[&format!("{path} `example` begins an example")]);
}

#[test]
fn a_tool_outside_a_pack_is_found_but_not_in_tests() {
    check_changed(
        "src/files/read.rs",
        "src/read.rs",
        &[
            "crates/toolpost-tools/src/files/read.txt:1: a text without its tool",
            "crates/toolpost-tools/src/read.rs:3: a tool outside a pack's folder",
        ],
    );
    check_changed("fn shared() {}", "#[cfg(test)]\nmod tests { impl Tool for Fake {} }", &[]);
    check_changed("fn shared() {}", "// impl Tool for Fake", &[]);
}
