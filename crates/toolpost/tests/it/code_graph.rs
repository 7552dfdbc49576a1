//! The graph of packages, introductions and the cache, with the real engine.

use crate::Home;
use serde_json::json;

fn home(files: &[(&str, &str)]) -> Home {
    let home = Home::new();
    std::fs::remove_file(home.path("repo/src/main.rs")).unwrap();
    for (name, text) in files {
        home.write(&format!("repo/{name}"), text);
    }
    home
}

#[test]
fn what_packages_need_for_tests_only_makes_no_cycle() {
    let home = home(&[
        (
            "core/Cargo.toml",
            "[package]\nname = \"core-a\"\n[dev-dependencies]\nfull-a = { path = \"../full\" }\n",
        ),
        (
            "core/src/lib.rs",
            "pub fn base() {}\n#[cfg(test)]\nmod tests {\n    use full_a::run;\n    #[test]\n    fn it() { run() }\n}\n",
        ),
        (
            "full/Cargo.toml",
            "[package]\nname = \"full-a\"\n[dependencies]\ncore-a = { path = \"../core\" }\n",
        ),
        ("full/src/lib.rs", "use core_a::base;\npub fn run() { base() }\n"),
    ]);
    let graph = home.json(&["call", "build_dependency_graph", "level=package"]).1;
    assert_eq!(graph["data"]["cycles"], json!([]), "{graph}");
    assert_eq!(
        graph["data"]["edges"],
        json!([
            {"from": "core", "to": "full", "count": 1, "tests": true},
            {"from": "full", "to": "core", "count": 1},
        ]),
        "{graph}"
    );
    home.write(
        "repo/core/Cargo.toml",
        "[package]\nname = \"core-a\"\n[dependencies]\nfull-a = { path = \"../full\" }\n",
    );
    let graph = home.json(&["call", "build_dependency_graph", "level=package"]).1;
    assert_eq!(graph["data"]["cycles"], json!([["core", "full"]]), "{graph}");
}

#[test]
fn a_graph_keeps_to_its_tokens() {
    let home = home(&[]);
    let mut all = String::new();
    for number in 0..60 {
        home.write(&format!("repo/module_{number}.py"), "def run(): pass\n");
        all.push_str(&format!("import module_{number}\nmodule_{number}.run()\n"));
    }
    home.write("repo/all.py", &all);
    let graph = |most: &str| {
        let found = home.json(&["call", "build_dependency_graph", most]).1;
        (found["output"].as_str().unwrap().len(), found["data"]["nodes"].as_array().unwrap().len())
    };
    let (small, large) = (graph("maxTokens=300"), graph("maxTokens=100000"));
    assert!(small.0 < 1_800 && large.0 > 4_000, "{small:?} {large:?}");
    assert_eq!(small.1, large.1, "programs get all of it");
}

#[test]
fn a_readme_may_be_a_link() {
    let home = home(&[
        ("docs/README.md", "# Painter\n\n[![ci][b]][l]\n\nIt draws pictures.\n\n[b]: https://x\n"),
        ("a.py", "x = 1\n"),
    ]);
    let _ = std::fs::remove_file(home.path("repo/README.md"));
    std::os::unix::fs::symlink("docs/README.md", home.path("repo/README.md")).unwrap();
    let found = home.json(&["call", "get_project_overview"]).1;
    let text = found["output"].as_str().unwrap();
    assert!(text.starts_with("# Painter\n") && text.contains("It draws pictures."), "{text}");
}

#[test]
fn a_project_is_described_by_its_own_code() {
    let home = home(&[
        ("src/server.c", "int main(void) { return 0; }\n"),
        ("src/dict.c", "int d;\n"),
        ("src/dict.h", "int d;\n"),
        ("utils/gen.py", "def run(): pass\n"),
        (
            "deps/jemalloc/msvc/jemalloc.sln",
            "Microsoft Visual Studio Solution File\nProject(\"{8BC9}\") = \"a\", \"a.vcxproj\", \"{8D6B}\"\n",
        ),
        ("deps/lua/lua.c", "int l;\n"),
        ("made/out.rb", "x = 1\n"),
        (".gitattributes", "made/** linguist-generated\n"),
    ]);
    let found = home.json(&["call", "get_project_overview"]).1;
    let text = found["output"].as_str().unwrap();
    assert!(text.contains("Languages (4 source files): C 75 %, Python 25 %."), "{text}");
    assert!(!text.contains("dotnet") && !text.contains("Ruby"), "{text}");
}

#[test]
fn the_cache_is_a_few_files() {
    let home = home(&[]);
    for number in 0..300 {
        home.write(&format!("repo/m{number}.py"), format!("def run{number}(): pass\n"));
    }
    let map = home.json(&["map"]).1;
    let files = || {
        let (mut open, mut count) = (vec![home.path(".cache/toolpost/code")], 0);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() { open.push(entry.path()) } else { count += 1 }
            }
        }
        count
    };
    assert!((1..=8).contains(&files()), "{}", files());
    // The same files have the same map, from the cache.
    assert_eq!(home.json(&["map"]).1["output"], map["output"]);
    home.write("repo/n.py", "import m1\nm1.run1()\nm1.run1()\n");
    assert_ne!(home.json(&["map"]).1["output"], map["output"]);
    for number in 0..30 {
        home.write(&format!("repo/m{number}.py"), format!("def other{number}(): pass\n"));
        home.json(&["call", "search_code", "query=run"]);
    }
    assert!(files() <= 24, "{}", files());
}
