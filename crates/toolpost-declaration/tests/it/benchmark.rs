//! The function schemas of the Berkeley function-calling benchmark, thousands of them in several dialects, converted
//! to every format.
//!
//! The wheel is fetched once through pip into `target/bfcl` and is not part of the repository.

use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use toolpost_core::text::tokens;
use toolpost_declaration::{Format, Source, conforms, declare, lint};

#[test]
fn every_benchmark_schema_converts_or_is_refused_with_a_reason() {
    let functions = functions();
    assert!(functions.len() > 3000, "only {} different functions in the wheel", functions.len());
    let mut broken = Vec::new();
    let mut price = 0;
    for format in Format::ALL {
        let (mut accepted, mut changed, mut notes, mut strict) = (0, 0, 0, 0);
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut refused_names = 0;
        for function in &functions {
            // Dots are refused by most providers; the schema is then looked at under another name.
            let name = function["name"].as_str().unwrap();
            let plain = name.replace('.', "_");
            let as_named = declare(&source(function, name), format);
            let declared = match as_named {
                Err(refusal) if name != plain => {
                    assert!(!refusal.reason.is_empty());
                    refused_names += 1;
                    declare(&source(function, &plain), format)
                }
                declared => declared,
            };
            match declared {
                Ok(declaration) => {
                    accepted += 1;
                    changed += usize::from(!declaration.notes.is_empty());
                    notes += declaration.notes.len();
                    strict += usize::from(declaration.value["strict"] == true);
                    if format == Format::Mcp {
                        price += tokens(&declaration.value.to_string());
                    }
                    if let Err(rules) = conforms(format, &declaration.value) {
                        broken.push(format!("{format}: {name}: {rules:?}\n{}", declaration.value));
                    }
                }
                Err(refusal) => {
                    assert!(!refusal.reason.is_empty());
                    *reasons.entry(refusal.reason).or_default() += 1;
                }
            }
        }
        println!(
            "{format:>18}: {accepted} of {} declared ({refused_names} under another name), {changed} changed, \
             {notes} notes, {strict} strict, refused {reasons:?}",
            functions.len()
        );
    }
    println!("mean price of a declaration over MCP: {} tokens", price / functions.len());
    assert!(broken.is_empty(), "{} declarations break rules, first: {}", broken.len(), broken[0]);
}

#[test]
fn linting_every_benchmark_schema_finds_something_to_say() {
    let mut findings: BTreeMap<String, usize> = BTreeMap::new();
    for function in functions() {
        for finding in lint(&source(&function, function["name"].as_str().unwrap())) {
            assert!(!finding.message.is_empty());
            *findings.entry(format!("{:?}", finding.problem)).or_default() += 1;
        }
    }
    println!("findings: {findings:?}");
    assert!(findings["Price"] > 3000);
}

fn source<'a>(function: &'a Value, name: &'a str) -> Source<'a> {
    Source {
        name,
        title: None,
        description: function["description"].as_str().unwrap_or_default(),
        input: &function["parameters"],
        output: function.get("response"),
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: true,
    }
}

/// Every different function of the wheel, in the order of its files.
fn functions() -> Vec<Value> {
    let mut files = Vec::new();
    collect(&unpacked().join("bfcl_eval/data"), &mut files);
    files.sort();
    let mut seen = HashSet::new();
    let mut functions = Vec::new();
    for file in files {
        let text = read(&file);
        // A few files are not one JSON value a line; they hold no functions.
        for entry in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let listed = match entry.get("function") {
                Some(Value::Array(list)) => list.clone(),
                Some(function @ Value::Object(_)) => vec![function.clone()],
                _ => vec![entry],
            };
            functions.extend(listed.into_iter().filter(|function| {
                function["name"].is_string()
                    && function["parameters"].is_object()
                    && seen.insert(function.to_string())
            }));
        }
    }
    functions
}

/// The folder with the wheel's files, fetched if it is not there yet.
fn unpacked() -> PathBuf {
    use std::sync::OnceLock;
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("bfcl");
        let unpacked = folder.join("unpacked");
        if unpacked.join("bfcl_eval/data").is_dir() {
            return unpacked;
        }
        let folder_name = folder.to_str().unwrap();
        run(
            "python3",
            &[
                "-m",
                "pip",
                "download",
                "--quiet",
                "--ignore-requires-python",
                "--no-deps",
                "--disable-pip-version-check",
                "-d",
                folder_name,
                "bfcl-eval==2026.3.23",
            ],
        );
        let mut wheels = Vec::new();
        collect(&folder, &mut wheels);
        let wheel = wheels.iter().find(|file| file.extension().is_some_and(|end| end == "whl"));
        let wheel = wheel.unwrap_or_else(|| panic!("pip left no wheel in {folder_name}"));
        // Unpacked under another name first, so that an interrupted run leaves no half of it.
        let partial = folder.join("partial");
        let _ = std::fs::remove_dir_all(&partial);
        run("python3", &["-m", "zipfile", "-e", wheel.to_str().unwrap(), partial.to_str().unwrap()]);
        rename(&partial, &unpacked);
        unpacked
    })
    .clone()
}

#[expect(clippy::disallowed_methods, reason = "the test fetches its data")]
fn run(program: &str, arguments: &[&str]) {
    let output = std::process::Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("`{program}` is needed to fetch bfcl-eval: {error}"));
    assert!(
        output.status.success(),
        "`{program} {}` did not fetch bfcl-eval, which these tests read: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[expect(clippy::disallowed_methods, reason = "the test reads its data")]
fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test keeps its data")]
fn rename(from: &Path, to: &Path) {
    std::fs::rename(from, to).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the test finds its data")]
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "json" || end == "whl") {
            files.push(path);
        }
    }
}
