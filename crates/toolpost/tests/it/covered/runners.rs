//! Runners of projects and modules, and the files that they find by themselves.

use super::{line, put, state};
use crate::Home;
use serde_json::{Value, json};

/// Runners of projects and modules: the words, and a file that they find by themselves.
const RUNNERS: &[(&[&str], &[&str])] = &[
    (
        &["node", "-r", "mod", "s.js"],
        &["node_modules/mod/index.js", "node_modules/mod.js", "node_modules/mod/package.json"],
    ),
    (&["node", "--require=mod/sub", "s.js"], &["node_modules/mod/sub.js", "node_modules/mod/sub/index.js"]),
    (&["node", "-r@a/mod/sub", "s.js"], &["node_modules/@a/mod/sub.mjs", "node_modules/@a/mod/package.json"]),
    (&["node", "--import", "mod", "s.js"], &["node_modules/mod/index.mjs"]),
    (&["pnpm", "exec", "tool"], &["node_modules/.bin/tool"]),
    (&["npx", "run"], &["node_modules/.bin/run"]),
    (&["gradle", "run"], &["build.gradle", "build.gradle.kts", "settings.gradle", "gradle.properties"]),
    (&["./gradlew", "run"], &["gradlew", "build.gradle.kts", "gradle/wrapper/gradle-wrapper.jar"]),
    (&["mvn", "exec:java"], &["pom.xml", ".mvn/jvm.config"]),
    (&["mvn", "-f", "sub/pom.xml", "exec:java"], &["sub/pom.xml"]),
    (&["./mvnw", "exec:java"], &["pom.xml", ".mvn/wrapper/maven-wrapper.properties"]),
    (&["dotnet", "run"], &["x.csproj", "Program.cs", "Directory.Build.props", "all.sln"]),
    (&["dotnet", "run", "--project", "sub"], &["sub/x.fsproj"]),
    (&["mix", "run"], &["mix.exs", "config/config.exs"]),
    (&["mise", "run", "x"], &["mise.toml", ".mise.toml", "mise-tasks/x", ".mise/tasks/x"]),
    (&["nix", "run", "."], &["flake.nix", "flake.lock"]),
    (&["nix-shell", "--run", "x"], &["shell.nix", "default.nix"]),
    (&["uv", "run", "srv"], &["pyproject.toml", "uv.lock", ".venv/bin/srv"]),
    (&["poetry", "run", "srv"], &["pyproject.toml", "poetry.lock"]),
    (&["hatch", "run", "x"], &["pyproject.toml", "hatch.toml"]),
    (&["tox", "-e", "x"], &["tox.ini"]),
    (&["pytest", "x"], &["conftest.py", "pytest.ini"]),
    (&["uvicorn", "m:app"], &["m.py", "m/__init__.py"]),
    (&["uvicorn", "pkg.web:app"], &["pkg/web.py", "pkg/__init__.py", "src/pkg/web.py"]),
    (&["gunicorn", "m:app"], &["m.py", "gunicorn.conf.py"]),
    (&["flask", "--app", "web", "run"], &["web.py", ".flaskenv"]),
    (&["direnv", "exec", ".", "srv"], &[".envrc"]),
    (&["Rscript", "s.R"], &["s.R", ".Rprofile"]),
    (
        &["cargo", "run", "--manifest-path", "sub/Cargo.toml"],
        &["sub/Cargo.toml", "sub/build.rs", "sub/src/main.rs"],
    ),
    (&["docker", "build", "."], &["Dockerfile"]),
];

/// Each of these files is covered: it is shown before the trust, and a change of it is noticed.
fn check_covers(files: &[(&str, &str)], entry: &Value, covered: &[&str]) {
    let home = Home::new();
    files.iter().for_each(|(path, content)| put(&home, path, content));
    home.write("repo/.mcp.json", format!("{{\"mcpServers\":{{\"s\":{entry}}}}}"));
    let page = home.run(&["trust"]).stdout;
    for file in covered {
        assert!(page.contains(&format!(" {file} (sha256")), "{entry}: `{file}` is not covered: {page}");
    }
    let ran = home.run(&["trust", "--yes"]);
    assert_eq!(ran.status, 0, "{entry}: {}", ran.stderr);
    let changed = covered.last().unwrap();
    put(&home, changed, "changed");
    let (now, why) = state(&home);
    assert_eq!(now, "untrusted", "{entry}: a change of `{changed}` was not noticed");
    assert!(why.contains(&format!("`{changed}`")), "{entry}: {why}");
}

#[test]
fn guarantee_41_what_runners_find_by_themselves_is_covered() {
    for (words, covered) in RUNNERS {
        let files: Vec<(&str, &str)> = covered.iter().map(|file| (*file, "{}")).collect();
        check_covers(&files, &line(words), covered);
    }
    for (name, value, file) in [
        ("NODE_OPTIONS", "-r mod", "node_modules/mod/index.js"),
        ("NODE_OPTIONS", "--import=mod", "node_modules/mod/package.json"),
    ] {
        let entry = json!({"command": "node", "args": ["s.js"], "env": {name: value}});
        check_covers(&[(file, "{}")], &entry, &[file]);
    }
    let entry = json!({"command": "srv", "env": {"PATH": "bin:/usr/bin:/bin"}});
    check_covers(&[("bin/srv", "1")], &entry, &["bin/srv"]);
    let entry = json!({"command": "node", "args": ["-r", "mod", "s.js"], "env": {"NODE_PATH": "lib"}});
    check_covers(&[("lib/mod.js", "1")], &entry, &["lib/mod.js"]);
    for project in [
        "[project.scripts]\nsrv = 'm.web:main'\n",
        "[tool.poetry.scripts]\nsrv = { reference = 'm.web:main', type = 'console' }\n",
    ] {
        for words in [["uv", "run", "srv"], ["poetry", "run", "srv"]] {
            let files = [("pyproject.toml", project), ("m/web.py", "1"), ("src/m/web.py", "1")];
            check_covers(&files, &line(&words), &["pyproject.toml", "m/web.py", "src/m/web.py"]);
        }
    }
}
