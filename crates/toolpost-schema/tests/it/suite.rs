//! The official test suite of JSON Schema, as the Python package `jsonschema` carries it in its sources.

use crate::installed::{self, Wanted};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use toolpost_schema::Schema;

const SUITE: Wanted = Wanted { folder: "json-schema-suite", packages: &["jsonschema==4.26.0"] };

/// The folder `tests` of the suite, unpacked beside its archive: what is unpacked by many processes stays nowhere else.
fn tests() -> PathBuf {
    let folder = installed::pip_sources(&SUITE);
    let unpacked = folder.join("jsonschema-4.26.0");
    if !unpacked.exists() {
        let own = tempfile::tempdir_in(&folder).unwrap();
        let archive = folder.join("jsonschema-4.26.0.tar.gz");
        let status = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(own.path()).status().unwrap();
        assert!(status.success());
        // Another process may have been quicker.
        let _ = std::fs::rename(own.path().join("jsonschema-4.26.0"), &unpacked);
    }
    unpacked.join("json/tests")
}

struct Case {
    name: String,
    schema: Value,
    tests: Vec<Value>,
}

/// All cases of one file; the schema of each says its draft.
fn cases(file: &Path, draft: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let case = |mut group: Value| {
        let mut schema = group["schema"].take();
        if let Value::Object(map) = &mut schema
            && !map.contains_key("$schema")
        {
            map.insert("$schema".to_owned(), json!(draft));
        }
        let name = format!("{stem}: {}", group["description"].as_str().unwrap());
        Case { name, schema, tests: group["tests"].as_array().unwrap().clone() }
    };
    groups.into_iter().map(case).collect()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(tests().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// Runs the tests in a folder. What begins with a name in `refused` must not compile. Of what begins with a name in
/// `unchecked`, only what fits must be as the suite says: it may never be refused. The rest must be as the suite says.
fn check(folder: &str, draft: &str, refused: &[&str], unchecked: &[&str], least: usize) {
    let (mut count, mut wrong, mut not_refused) = (0, Vec::new(), refused.to_vec());
    for Case { name, schema, tests } in files(folder).iter().flat_map(|file| cases(file, draft)) {
        let is_one_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
        let compiled = match Schema::compile(schema) {
            Ok(compiled) => compiled,
            Err(_) if is_one_of(refused) => {
                not_refused.retain(|refused| !name.starts_with(refused));
                continue;
            }
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        for test in &tests {
            let (data, valid) = (&test["data"], test["valid"].as_bool().unwrap());
            // The suite sees every format as a note; some are checked here, see docs/decisions/own-schema-validator.md.
            let is_note =
                name.starts_with("format: ") && test["description"].as_str().unwrap().contains("annotation");
            if is_note || !valid && is_one_of(unchecked) {
                continue;
            }
            count += 1;
            let has_problems = !compiled.problems(data).is_empty();
            if compiled.accepts(data) != valid || has_problems == valid {
                wrong.push(format!("{name}: {} should be {valid}: {data}", test["description"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(not_refused.is_empty(), "these can be checked now: {not_refused:?}");
    assert!(count >= least, "only {count} tests in {folder}");
}

/// What refers to documents or meta-schemas that the suite expects on a server; nothing is fetched here.
const REMOTE: [&str; 1] = ["refRemote: "];
const REMOTE_2019: [&str; 2] = ["refRemote: ", "vocabulary: "];
const REMOTE_2020: [&str; 7] = [
    "refRemote: ",
    "vocabulary: ",
    "dynamicRef: strict-tree schema, guards against misspelled properties",
    "dynamicRef: tests for implementation dynamic anchor and reference link",
    "dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first",
    "dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first",
    "dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor",
];

const URI_2020: &str = "https://json-schema.org/draft/2020-12/schema";
const URI_7: &str = "http://json-schema.org/draft-07/schema#";

#[test]
fn draft_2020_12() {
    check("draft2020-12", URI_2020, &REMOTE_2020, &[], 1189);
}

#[test]
fn draft_2019_09() {
    check("draft2019-09", "https://json-schema.org/draft/2019-09/schema", &REMOTE_2019, &[], 1191);
}

#[test]
fn draft_7() {
    check("draft7", URI_7, &REMOTE, &[], 890);
}

#[test]
fn draft_6() {
    check("draft6", "http://json-schema.org/draft-06/schema#", &REMOTE, &[], 806);
}

#[test]
fn draft_4() {
    check("draft4", "http://json-schema.org/draft-04/schema#", &REMOTE, &[], 593);
}

#[test]
fn optional_tests() {
    // These want documents from a server, or a meta-schema of their own.
    let remote = ["cross-draft: refs to historic drafts", "format-assertion: "];
    // `dependencies` is not a keyword of this draft any more.
    check("draft2020-12/optional", URI_2020, &remote, &["dependencies-compatibility: "], 130);
    // What a text contains is not looked at.
    check("draft7/optional", URI_7, &["cross-draft: refs to future drafts"], &["content: "], 110);
}

/// No value that has its format is refused, and of the formats that are checked no wrong value is taken.
#[test]
fn formats() {
    let unchecked = [
        "duration: ",
        "ecmascript-regex: ",
        "idn-email: ",
        "idn-hostname: ",
        "iri",
        "json-pointer: ",
        "regex: ",
        "relative-json-pointer: ",
        "uri-reference: ",
        "uri-template: ",
    ];
    check("draft2020-12/optional/format", URI_2020, &[], &unchecked, 400);
    check("draft7/optional/format", URI_7, &[], &unchecked, 350);
}
