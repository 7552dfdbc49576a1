//! `extract_conventions`: what is measured, and that it agrees with what formatters of real projects are told.

use super::{call, data, disk, folder, memory, shown};
use serde_json::{Value, json};
use std::process::Command;

/// Files of a language in one style, enough of them to be measured.
fn files(count: usize, name: impl Fn(usize) -> String, text: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| format!("//- {}\n{}\n", name(number), text(number))).collect()
}

/// What a convention is: `value, count of all, configured value, whether they agree`.
fn found(fixture: &str, topic: &str, language: &str) -> String {
    let outcome = call(&memory(fixture), "extract_conventions", json!({}));
    let conventions = data(&outcome)["conventions"].as_array().unwrap().clone();
    let one = conventions.iter().find(|one| one["topic"] == topic && one["language"] == language);
    let Some(one) = one else { return format!("nothing in {conventions:#?}") };
    let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
    let agrees = match &one["agrees"] {
        Value::Bool(true) => " agrees",
        Value::Bool(false) => " differs",
        _ => "",
    };
    format!("{} {}/{} {}{agrees}", text("value"), one["count"], one["of"], text("configured"))
}

fn rust(number: usize) -> String {
    format!(
        "//! A file.\n\nuse crate::a;\nuse std::b;\nuse zebra::c;\n\nconst MOST_{number}: u8 = 1;\n\npub struct FileReader{number};\n\n\
         impl FileReader{number} {{\n    pub fn read_all(&self) -> Result<u8, E> {{\n        let it = self.one()?;\n        Ok(it)\n    }}\n}}\n\n\
         #[cfg(test)]\nmod tests {{\n    fn a_test() {{\n        x.unwrap();\n    }}\n}}"
    )
}

#[test]
fn rust_is_measured_and_agrees_with_rustfmt() {
    let sources = files(8, |number| format!("src/file_{number}.rs"), rust);
    let fixture = format!("//- rustfmt.toml\nmax_width = 110\n{sources}");
    for (topic, expected) in [
        ("indentation", "4 spaces 8/8 4 spaces agrees"),
        ("naming of functions", "snake_case 16/16 -"),
        ("naming of types", "PascalCase 8/8 -"),
        ("naming of constants", "SCREAMING_SNAKE_CASE 8/8 -"),
        ("naming of files", "snake_case 8/8 -"),
        ("import order", "sorted inside of groups 8/8 -"),
        ("error handling", "passed on with `?` 8/8 -"),
    ] {
        assert_eq!(found(&fixture, topic, "Rust"), expected, "{topic}");
    }
    assert_eq!(found(&fixture, "test layout", "all"), "inside of the files they test 8/8 -");
}

fn typescript(number: usize) -> String {
    format!(
        "import fs from 'fs'\nimport {{ a }} from 'lodash'\nimport {{ b }} from './b'\n\nexport const maxSize{number} = 'x'\n\n\
         export function readFile{number}(path: string) {{\n  const text = fs.readFileSync(path, 'utf8')\n  if (!text) {{\n    throw new Error('empty')\n  }}\n  return text\n}}"
    )
}

#[test]
fn typescript_is_measured_and_agrees_with_prettier_biome_and_editors() {
    let sources = files(10, |number| format!("src/readFile{number}.ts"), typescript);
    let prettier = format!("//- .prettierrc\n{{\"singleQuote\": true, \"semi\": false}}\n{sources}");
    for (topic, expected) in [
        ("indentation", "2 spaces 10/10 2 spaces agrees"),
        ("quotes", "single 60/60 single agrees"),
        ("semicolons", "without 60/60 without agrees"),
        ("naming of functions", "camelCase 10/10 -"),
        ("naming of files", "camelCase 10/10 -"),
        ("own imports", "packages before own modules 10/10 -"),
    ] {
        assert_eq!(found(&prettier, topic, "TypeScript"), expected, "{topic}");
    }
    let yaml =
        format!("//- .prettierrc\n# as we like it\nsingleQuote: true\nsemi: false\ntabWidth: 4\n{sources}");
    assert_eq!(found(&yaml, "indentation", "TypeScript"), "2 spaces 10/10 4 spaces differs");
    assert_eq!(found(&yaml, "quotes", "TypeScript"), "single 60/60 single agrees");
    let package = format!("//- package.json\n{{\"prettier\": {{\"semi\": false}}}}\n{sources}");
    assert_eq!(found(&package, "semicolons", "TypeScript"), "without 60/60 without agrees");
    assert_eq!(found(&package, "quotes", "TypeScript"), "single 60/60 double differs");
    let biome = format!(
        "//- biome.json\n{{\"formatter\": {{\"indentStyle\": \"space\"}}, \"javascript\": {{\"formatter\": {{\"quoteStyle\": \"single\", \"semicolons\": \"asNeeded\"}}}}}}\n{sources}"
    );
    for topic in ["indentation", "quotes", "semicolons"] {
        assert!(
            found(&biome, topic, "TypeScript").ends_with(" agrees"),
            "{topic}: {}",
            found(&biome, topic, "TypeScript")
        );
    }
    let editor = format!(
        "//- .editorconfig\nroot = true\n[*]\nindent_style = tab\n[*.{{ts,js}}]\nindent_style = space\nindent_size = 2\n{sources}"
    );
    assert_eq!(found(&editor, "indentation", "TypeScript"), "2 spaces 10/10 2 spaces agrees");
}

fn python(number: usize) -> String {
    format!(
        "\"\"\"A module.\"\"\"\n\nimport os\nimport sys\n\nfrom .base import Base\n\n\nclass FileReader{number}(Base):\n    \"\"\"Reads.\"\"\"\n\n    def read_all(self, path):\n        try:\n            return open(path, \"rb\").read() + \"x\" + \"y\"\n        except OSError as error:\n            raise ValueError(\"no\") from error"
    )
}

#[test]
fn python_is_measured_and_agrees_with_black_and_ruff() {
    let sources = files(6, |number| format!("app/file_{number}.py"), python);
    let tests = files(
        4,
        |number| format!("tests/test_{number}_reading.py"),
        |_| "def test_it():\n    assert read() == \"x\"".to_owned(),
    );
    let black = format!("//- pyproject.toml\n[tool.black]\nline-length = 88\n{sources}{tests}");
    for (topic, expected) in [
        ("indentation", "4 spaces 6/6 4 spaces agrees"),
        ("quotes", "double 28/28 double agrees"),
        ("naming of functions", "snake_case 10/10 -"),
        ("import groups", "in groups with empty lines between 6/6 -"),
    ] {
        assert_eq!(found(&black, topic, "Python"), expected, "{topic}");
    }
    assert_eq!(found(&black, "test layout", "all"), "in folders `tests/` 4/4 -");
    assert_eq!(found(&black, "test names", "all"), "`test_*` 4/4 -");
    let ruff = format!(
        "//- pyproject.toml\n[tool.ruff]\nline-length = 100\n[tool.ruff.format]\nquote-style = \"single\"\n{sources}"
    );
    assert!(
        found(&ruff, "quotes", "Python").ends_with("single differs"),
        "{}",
        found(&ruff, "quotes", "Python")
    );
    assert!(found(&ruff, "indentation", "Python").ends_with("agrees"));
}

#[test]
fn go_has_tabs_and_tests_beside_the_code() {
    let go = |number: usize| {
        format!(
            "package a\n\nfunc ReadAll{number}() error {{\n\tif err := open(); err != nil {{\n\t\treturn err\n\t}}\n\treturn nil\n}}"
        )
    };
    let fixture = format!(
        "//- go.mod\nmodule m\n{}{}",
        files(5, |number| format!("a/read{number}.go"), go),
        files(5, |number| format!("a/read{number}_test.go"), go)
    );
    assert_eq!(found(&fixture, "indentation", "Go"), "tabs 10/10 tabs agrees");
    assert_eq!(found(&fixture, "test layout", "all"), "beside the code 5/5 -");
    assert_eq!(found(&fixture, "error handling", "Go"), "`if err != nil` 5/5 -");
}

/// Generated, minified and foreign files say nothing.
#[test]
fn only_what_people_write_is_measured() {
    let own = files(
        5,
        |number| format!("a{number}.js"),
        |_| "function a() {\n  one()\n  if (b) {\n    two()\n  }\n}".to_owned(),
    );
    let made = files(
        9,
        |number| format!("made{number}.js"),
        |_| "// @generated\nfunction a() {\n\tone()\n\ttwo()\n\tthree()\n}".to_owned(),
    );
    let vendor = files(
        9,
        |number| format!("vendor/v{number}.js"),
        |_| "function a() {\n\tone()\n\ttwo()\n\tthree()\n}".to_owned(),
    );
    let kept = files(
        9,
        |number| format!(".yarn/y{number}.js"),
        |_| "function a() {\n\tone()\n\ttwo()\n\tthree()\n}".to_owned(),
    );
    let packed = format!("//- packed.js\n{}\n", "a();".repeat(50_000));
    assert_eq!(
        found(&format!("{own}{made}{vendor}{kept}{packed}"), "indentation", "JavaScript"),
        "2 spaces 5/5 -"
    );
    let empty = call(&memory("//- a.txt\nx\n"), "extract_conventions", json!({}));
    assert_eq!(shown(&empty), "no source files to measure\n");
}

/// Commits are read from git's own files: loose ones, and packed ones with differences.
#[test]
fn commits_are_read_without_git() {
    let folder = folder();
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    for number in 0..40 {
        let message = format!(
            "feat(part): add number {number}\n\nA longer text that all commits share, so that they are packed as differences."
        );
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", &message]);
    }
    let style = |what: &str| {
        let outcome = call(&disk(folder.path()), "extract_conventions", json!({}));
        assert_eq!(data(&outcome)["commits"]["conventional"], 40, "{what}: {}", shown(&outcome));
        assert!(
            shown(&outcome).contains("conventional commits, `type(scope): subject` (40 of 40)"),
            "{what}"
        );
    };
    style("loose");
    git(&["gc", "-q", "--aggressive"]);
    style("packed");
    git(&["checkout", "-q", "--detach"]);
    style("detached");
    // Damage is no reason to fail.
    for entry in std::fs::read_dir(folder.path().join(".git/objects/pack")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[half..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        let mut mode = std::fs::metadata(&path).unwrap().permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "a folder of this test alone")]
        mode.set_readonly(false);
        std::fs::set_permissions(&path, mode).unwrap();
        std::fs::write(&path, bytes).unwrap();
    }
    let outcome = call(&disk(folder.path()), "extract_conventions", json!({}));
    assert!(outcome.result.is_ok(), "{}", shown(&outcome));
}

/// Where a configuration says something: a key that it does not have is not named.
#[test]
fn what_a_configuration_does_not_say_is_a_default() {
    let sources = files(4, |number| format!("src/file_{number}.rs"), rust);
    let scripts = files(10, |number| format!("src/readFile{number}.ts"), typescript);
    for (config, topic, language, expected) in [
        ("//- rustfmt.toml\nmax_width = 110\n", "indentation", "Rust", "rustfmt.toml: default of rustfmt"),
        ("//- rustfmt.toml\nmax_width = 110\n", "line length", "Rust", "rustfmt.toml: max_width"),
        ("//- rustfmt.toml\ntab_spaces = 4\n", "indentation", "Rust", "rustfmt.toml: tab_spaces"),
        ("//- .prettierrc\n{\"semi\": false}\n", "semicolons", "TypeScript", ".prettierrc: semi"),
        ("//- .prettierrc\n{\"semi\": false}\n", "quotes", "TypeScript", ".prettierrc: default of Prettier"),
    ] {
        let outcome = call(&memory(&format!("{config}{sources}{scripts}")), "extract_conventions", json!({}));
        let conventions = data(&outcome)["conventions"].as_array().unwrap().clone();
        let one = conventions.iter().find(|one| one["topic"] == topic && one["language"] == language);
        assert_eq!(one.unwrap()["evidence"], expected, "{topic}");
    }
}

/// Lines are held against the length that is configured, not against the next one that people choose.
#[test]
fn a_length_of_lines_between_the_usual_ones_is_no_conflict() {
    let line = format!("// {}\n", "x".repeat(91));
    let sources = files(4, |number| format!("src/file_{number}.rs"), |_| line.repeat(60));
    let fixture = format!("//- rustfmt.toml\nmax_width = 95\n{sources}");
    assert_eq!(found(&fixture, "line length", "Rust"), "at most 95 240/240 at most 95 agrees");
}
