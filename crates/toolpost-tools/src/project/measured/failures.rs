//! How errors are handled: how often each way is taken, tests left out.

use super::Convention;
use std::collections::BTreeMap;

/// Ways to handle errors, by the words that show them.
fn ways(language: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match language {
        "Rust" => &[
            ("passed on with `?`", &["?;", "?.", "?)", "?,", "?\n", "? "]),
            ("`unwrap()`", &[".unwrap()"]),
            ("`expect(…)`", &[".expect("]),
            ("`panic!`", &["panic!("]),
            ("`anyhow`", &["anyhow!", "bail!("]),
        ],
        "Python" => &[
            ("`raise`", &["raise "]),
            ("`except` with a type", &["except "]),
            ("bare `except:`", &["except:"]),
            ("`assert`", &["assert "]),
        ],
        "TypeScript" | "JavaScript" => &[
            ("`throw`", &["throw "]),
            ("`try` and `catch`", &["catch (", "catch {"]),
            ("`.catch(…)`", &[".catch("]),
        ],
        "Go" => &[
            ("`if err != nil`", &["err != nil"]),
            ("`fmt.Errorf`", &["fmt.Errorf("]),
            ("`errors.Is` and `errors.As`", &["errors.Is(", "errors.As("]),
            ("`panic`", &["panic("]),
        ],
        "Java" | "Kotlin" | "C#" | "Scala" => &[
            ("`throw`", &["throw "]),
            ("`try` and `catch`", &["catch ("]),
            ("`throws` in signatures", &[" throws "]),
        ],
        "Ruby" => &[("`raise`", &["raise "]), ("`rescue`", &["rescue"])],
        "PHP" => &[("`throw`", &["throw "]), ("`try` and `catch`", &["catch ("])],
        "C++" => {
            &[("`throw`", &["throw "]), ("`try` and `catch`", &["catch ("]), ("error codes", &["return -1;"])]
        }
        "C" => {
            &[("`return -1`", &["return -1;"]), ("`goto` to clean up", &["goto "]), ("`errno`", &["errno"])]
        }
        "Swift" => &[
            ("`throw`", &["throw "]),
            ("`try`", &["try "]),
            ("`guard`", &["guard "]),
            ("`fatalError`", &["fatalError("]),
        ],
        _ => &[],
    }
}

/// How often each way is taken.
#[derive(Default)]
pub(super) struct Failures {
    counted: BTreeMap<&'static str, usize>,
}

impl Failures {
    pub(super) fn add(&mut self, language: &str, code: &str) {
        // Tests inside of a file of Rust stand at its end.
        let code = match language {
            "Rust" => code.split("#[cfg(test)]").next().unwrap_or(code),
            _ => code,
        };
        for (way, words) in ways(language) {
            let count: usize = words.iter().map(|word| code.matches(word).count()).sum();
            if count > 0 {
                *self.counted.entry(way).or_default() += count;
            }
        }
    }

    pub(super) fn report(&self, language: &str, conventions: &mut Vec<Convention>) {
        let all: usize = self.counted.values().sum();
        if all < 5 {
            return;
        }
        let mut ways: Vec<(&&str, &usize)> = self.counted.iter().collect();
        ways.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (way, count) in ways {
            conventions.push(Convention::new("error handling", language, *way, *count, all, "places"));
        }
    }
}
