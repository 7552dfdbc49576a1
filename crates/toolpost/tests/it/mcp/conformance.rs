//! The official conformance suite against `toolpost mcp --http`, for both requirement sets.

use super::http::Served;
use crate::Home;
use crate::installed::{Wanted, node, npm};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const SUITE: Wanted =
    Wanted { folder: "conformance", packages: &["@modelcontextprotocol/conformance@0.2.0-alpha.12"] };

/// Checks that are not applicable, by scenario and id; all others must succeed. What a set does not require (extensions
/// that we do not declare, what the suite's own server cannot pass) is named here too, so that a change shows.
const NOT_APPLICABLE: &str = include_str!("not_applicable.txt");

#[test]
fn the_official_suite_finds_nothing_wrong() {
    let folder = npm(&SUITE);
    let home = Home::new();
    let served = Served::with_fixtures(&home, &["--no-token"]);
    let mut found = String::new();
    for set in ["2025-11-25", "2026-07-28"] {
        let results = home.path(set);
        let output = Command::new(node())
            .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--requirements", set, "--url", &format!("http://{}/mcp", served.address), "-o"])
            .arg(&results)
            .current_dir(home.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{set}: {said}{}", String::from_utf8_lossy(&output.stderr));
        let (passed, others) = checks(&results);
        println!(
            "{set}: {passed} checks passed, {} of {} others",
            others.len(),
            said.matches("=== Running").count()
        );
        assert!(passed > 60, "{set}: only {passed} checks ran");
        for (scenario, id, status) in others {
            found.push_str(&format!("{set} {scenario} {id} {status}\n"));
        }
    }
    assert!(found == NOT_APPLICABLE, "what is not passed has changed:\n{found}");
}

/// How many checks passed, and all others with their status, in order.
fn checks(results: &Path) -> (usize, BTreeSet<(String, String, String)>) {
    let (mut passed, mut others) = (0, BTreeSet::new());
    let folders: BTreeMap<String, std::path::PathBuf> = std::fs::read_dir(results)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .collect();
    for (name, folder) in folders {
        // `server-NAME-2026-11-15T14-19-28-264Z`
        let scenario = name.strip_prefix("server-").unwrap();
        let scenario = &scenario[..scenario.len() - "-2026-11-15T14-19-28-264Z".len()];
        let text = std::fs::read_to_string(folder.join("checks.json")).unwrap();
        for check in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let word = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            match word("status").as_str() {
                "SUCCESS" => passed += 1,
                status => {
                    others.insert((scenario.to_owned(), word("id"), status.to_owned()));
                }
            }
        }
    }
    (passed, others)
}
