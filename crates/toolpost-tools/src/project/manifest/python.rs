//! Python: pyproject.toml in all its forms, requirements, setup files, test runners.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{keys_at, of_toml, of_yaml, quoted, text_at, texts_at};
use serde_json::Value;

/// Packages that shape a program.
const FRAMEWORKS: [(&str, &str); 24] = [
    ("django", "Django"),
    ("djangorestframework", "Django REST framework"),
    ("flask", "Flask"),
    ("fastapi", "FastAPI"),
    ("starlette", "Starlette"),
    ("tornado", "Tornado"),
    ("aiohttp", "aiohttp"),
    ("sanic", "Sanic"),
    ("streamlit", "Streamlit"),
    ("celery", "Celery"),
    ("sqlalchemy", "SQLAlchemy"),
    ("pydantic", "Pydantic"),
    ("click", "Click"),
    ("typer", "Typer"),
    ("numpy", "NumPy"),
    ("pandas", "pandas"),
    ("torch", "PyTorch"),
    ("tensorflow", "TensorFlow"),
    ("scikit-learn", "scikit-learn"),
    ("transformers", "Transformers"),
    ("scrapy", "Scrapy"),
    ("pytest", "pytest"),
    ("hypothesis", "Hypothesis"),
    ("langchain", "LangChain"),
];

/// Linters and formatters: the package, what it is for, its command.
const CHECKS: [(&str, Purpose, &str); 9] = [
    ("ruff", Purpose::Lint, "ruff check"),
    ("flake8", Purpose::Lint, "flake8"),
    ("pylint", Purpose::Lint, "pylint"),
    ("mypy", Purpose::Lint, "mypy ."),
    ("pyright", Purpose::Lint, "pyright"),
    ("ty", Purpose::Lint, "ty check"),
    ("black", Purpose::Format, "black ."),
    ("isort", Purpose::Format, "isort ."),
    ("yapf", Purpose::Format, "yapf -ir ."),
];

/// Words that name a runner of tests.
const RUNNERS: [&str; 4] = ["pytest", "unittest", "tox", "nox"];

/// Back ends that build packages, by the beginnings of their names.
const BACK_ENDS: [(&str, &str); 10] = [
    ("poetry", "Poetry"),
    ("hatchling", "Hatch"),
    ("setuptools", "setuptools"),
    ("flit", "Flit"),
    ("pdm", "PDM"),
    ("maturin", "maturin"),
    ("scikit_build", "scikit-build"),
    ("mesonpy", "meson-python"),
    ("uv_build", "uv"),
    ("jupyter_packaging", "jupyter-packaging"),
];

pub(super) fn pyproject(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_toml(manifest.text);
    let (manager, evidence) = manager(manifest, &value);
    let names = dependencies(&value);
    let is_package = value.get("project").is_some() || value.pointer("/tool/poetry").is_some();
    if is_package {
        let name = text_at(&value, "/project/name").or_else(|| text_at(&value, "/tool/poetry/name"));
        let about =
            text_at(&value, "/project/description").or_else(|| text_at(&value, "/tool/poetry/description"));
        facts.package("python", manifest.path, name, about);
    }
    // A member of a workspace uses what the workspace uses.
    if (is_package || value.get("build-system").is_some()) && !manifest.is_member(facts, "uv") {
        facts.package_manager(manager, evidence);
    }
    if let Some(back_end) = text_at(&value, "/build-system/build-backend")
        && let Some((_, tool)) = BACK_ENDS.iter().find(|(start, _)| back_end.starts_with(start))
    {
        facts.build_tool(tool, manifest.says("[build-system] build-backend"));
    }
    let patterns = texts_at(&value, "/tool/uv/workspace/members");
    if !patterns.is_empty() {
        let members = manifest.members(&patterns, "pyproject.toml");
        facts.workspace("uv", manifest.folder, members, manifest.says("[tool.uv.workspace] members"));
    }
    for (name, place) in &names {
        for (known, framework) in FRAMEWORKS {
            if *name == known {
                facts.framework(framework, manifest.says(place));
            }
        }
    }
    for (table, section) in
        [("/project/scripts", "[project.scripts]"), ("/tool/poetry/scripts", "[tool.poetry.scripts]")]
    {
        for script in keys_at(&value, table) {
            let target =
                text_at(&value, &format!("{table}/{}", script.replace('~', "~0").replace('/', "~1")));
            facts.entry_point(target.unwrap_or(script), manifest.says(&format!("{section} {script}")));
        }
    }
    if manifest.is_member(facts, "uv") {
        return;
    }
    let (install, run) = usage(manager);
    if is_package {
        facts.command(Purpose::Install, install, manifest.folder, manifest.path);
    }
    if manager == "poetry" || value.get("build-system").is_some() {
        let build = match manager {
            "poetry" | "uv" | "pdm" | "hatch" => format!("{manager} build"),
            _ => "python -m build".to_owned(),
        };
        facts.command(Purpose::Build, build, manifest.folder, manifest.says("[build-system]"));
    }
    let has =
        |name: &str| names.iter().find(|(known, _)| known == name).map(|(_, place)| manifest.says(place));
    let tool = |name: &str| {
        let configured = value.pointer("/tool").and_then(|tools| tools.get(name)).is_some();
        configured.then(|| manifest.says(&format!("[tool.{name}]"))).or_else(|| has(name))
    };
    if let Some(evidence) = tool("pytest") {
        facts.framework("pytest", evidence.clone());
        facts.command(Purpose::Test, format!("{run}pytest"), manifest.folder, evidence);
    }
    for (name, purpose, command) in CHECKS {
        if let Some(evidence) = tool(name) {
            facts.command(purpose, format!("{run}{command}"), manifest.folder, evidence);
        }
    }
    if let Some(evidence) =
        tool("ruff").filter(|_| !facts.has_command(Purpose::Format, manifest.folder, &["black", "yapf"]))
    {
        facts.command(Purpose::Format, format!("{run}ruff format"), manifest.folder, evidence);
    }
    usual_tests(manifest, run, facts);
}

/// Who manages the dependencies: by lock files here and above, by tables, or pip.
fn manager(manifest: &Manifest<'_>, value: &Value) -> (&'static str, String) {
    const LOCKS: [(&str, &str); 4] =
        [("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv")];
    if let Some((lock, path)) = manifest.above(&LOCKS.map(|(lock, _)| lock)) {
        let manager = LOCKS.iter().find(|(known, _)| *known == lock).map_or("pip", |(_, manager)| *manager);
        return (manager, path);
    }
    for manager in ["poetry", "uv", "pdm", "hatch"] {
        if value.pointer(&format!("/tool/{manager}")).is_some() {
            return (manager, manifest.says(&format!("[tool.{manager}]")));
        }
    }
    if text_at(value, "/build-system/build-backend").is_some_and(|back_end| back_end.starts_with("hatchling"))
    {
        return ("pip", manifest.says("[build-system] build-backend"));
    }
    ("pip", manifest.path.to_owned())
}

/// How dependencies are installed, and what stands before a command.
fn usage(manager: &str) -> (&'static str, &'static str) {
    match manager {
        "uv" => ("uv sync", "uv run "),
        "poetry" => ("poetry install", "poetry run "),
        "pdm" => ("pdm install", "pdm run "),
        "pipenv" => ("pipenv install --dev", "pipenv run "),
        "hatch" => ("hatch env create", "hatch run "),
        _ => ("pip install -e .", ""),
    }
}

/// The names of all packages that a pyproject.toml asks for, with the table that does.
fn dependencies(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut texts = |pointer: &str, place: &str| {
        for text in texts_at(value, pointer) {
            found.push((package_name(text), format!("{place} {}", package_name(text))));
        }
    };
    texts("/project/dependencies", "[project] dependencies");
    texts("/tool/uv/dev-dependencies", "[tool.uv] dev-dependencies");
    for (table, place) in [
        ("/project/optional-dependencies", "[project.optional-dependencies]"),
        ("/dependency-groups", "[dependency-groups]"),
    ] {
        for group in keys_at(value, table) {
            texts(&format!("{table}/{}", group.replace('/', "~1")), place);
        }
    }
    for table in ["dependencies", "dev-dependencies"] {
        for key in keys_at(value, &format!("/tool/poetry/{table}")) {
            found.push((package_name(key), format!("[tool.poetry.{table}] {key}")));
        }
    }
    for group in keys_at(value, "/tool/poetry/group") {
        for key in keys_at(value, &format!("/tool/poetry/group/{group}/dependencies")) {
            found.push((package_name(key), format!("[tool.poetry.group.{group}.dependencies] {key}")));
        }
    }
    found
}

/// The name of a requirement such as `Django[argon2] >= 4`.
fn package_name(requirement: &str) -> String {
    let end = requirement.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
    requirement[..end.unwrap_or(requirement.len())].to_ascii_lowercase().replace('_', "-")
}

/// Tests where no manifest names a runner.
fn usual_tests(manifest: &Manifest<'_>, run: &str, facts: &mut Facts) {
    if facts.has_command(Purpose::Test, manifest.folder, &RUNNERS) {
        return;
    }
    if let Some(config) =
        manifest.first_of(&["pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"])
    {
        facts.framework("pytest", manifest.file(config));
        facts.command(Purpose::Test, format!("{run}pytest"), manifest.folder, manifest.file(config));
        return;
    }
    let is_test = |file: &&str| {
        file.rsplit('/').next().is_some_and(|name| name.starts_with("test_") && name.ends_with(".py"))
    };
    if let Some(file) = manifest.tree.below_folder(manifest.at()).find(is_test) {
        facts.command(Purpose::Test, format!("{run}python -m unittest"), manifest.folder, file);
    }
}

pub(super) fn requirements(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("pip", manifest.path);
    facts.command(Purpose::Install, "pip install -r requirements.txt", manifest.folder, manifest.path);
    let mut names: Vec<String> = manifest.text.lines().map(|line| package_name(line.trim())).collect();
    for other in ["requirements-dev.txt", "requirements/dev.txt", "dev-requirements.txt"] {
        if manifest.has(other) {
            let text = manifest.tree.text(&manifest.file(other)).unwrap_or_default();
            names.extend(text.lines().map(|line| package_name(line.trim())));
        }
    }
    for (known, framework) in FRAMEWORKS {
        if names.iter().any(|name| name == known) {
            facts.framework(framework, manifest.says(known));
        }
    }
    if names.iter().any(|name| name == "pytest") {
        facts.command(Purpose::Test, "pytest", manifest.folder, manifest.says("pytest"));
    }
    for (name, purpose, command) in CHECKS {
        if names.iter().any(|known| known == name) {
            facts.command(purpose, command, manifest.folder, manifest.says(name));
        }
    }
    for file in ["app.py", "main.py", "wsgi.py", "asgi.py"] {
        if manifest.has(file) {
            facts.entry_point(&manifest.file(file), "the usual place");
        }
    }
    usual_tests(manifest, "", facts);
}

/// The programs that a setup file names: `name = module:function` below `console_scripts`.
fn console_scripts(text: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = text.split_once("console_scripts") else { return Vec::new() };
    let pair = |entry: &str| {
        let (name, target) = entry.split_once('=')?;
        let (name, target) = (name.trim(), target.trim());
        let is_one = !name.is_empty() && target.contains(':') && !target.contains(char::is_whitespace);
        is_one.then(|| (name.to_owned(), target.to_owned()))
    };
    let list = rest.trim_start_matches(['"', '\'', ' ', ':', '=']).trim_start();
    match list.starts_with('[') {
        // A list in a program.
        true => quoted(list.split(']').next().unwrap_or(list)).into_iter().filter_map(pair).collect(),
        // Indented lines of a configuration.
        false => {
            let lines = rest.lines().skip(1).take_while(|line| line.starts_with([' ', '\t']));
            lines.filter_map(pair).collect()
        }
    }
}

pub(super) fn setup(manifest: &Manifest<'_>, facts: &mut Facts) {
    // With a [project] table beside it, the file only helps.
    if manifest.has("pyproject.toml")
        && facts.packages.iter().any(|one| one.kind == "python" && one.folder == manifest.at())
    {
        facts.build_tool("setuptools", manifest.path);
        return;
    }
    if manifest.path.ends_with("setup.cfg") && !manifest.text.contains("[metadata]") {
        return;
    }
    facts.package_manager("pip", manifest.path);
    facts.build_tool("setuptools", manifest.path);
    let name = manifest.text.lines().find_map(|line| {
        let (key, value) = line.trim().split_once('=')?;
        (key.trim() == "name").then(|| crate::project::values::unquoted(value.trim().trim_end_matches(',')))
    });
    facts.package("python", manifest.path, name.as_deref(), None);
    for (script, target) in console_scripts(manifest.text) {
        facts.entry_point(&target, manifest.says(&format!("console_scripts {script}")));
    }
    facts.command(Purpose::Install, "pip install -e .", manifest.folder, manifest.path);
    usual_tests(manifest, "", facts);
}

pub(super) fn pipfile(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_toml(manifest.text);
    facts.package_manager("pipenv", manifest.path);
    facts.command(Purpose::Install, "pipenv install --dev", manifest.folder, manifest.path);
    for table in ["packages", "dev-packages"] {
        for key in keys_at(&value, &format!("/{table}")) {
            let name = package_name(key);
            for (known, framework) in FRAMEWORKS {
                if known == name {
                    facts.framework(framework, manifest.says(&format!("[{table}] {key}")));
                }
            }
            if name == "pytest" {
                let evidence = manifest.says(&format!("[{table}] {key}"));
                facts.command(Purpose::Test, "pipenv run pytest", manifest.folder, evidence);
            }
            for (check, purpose, command) in CHECKS {
                if check == name {
                    let evidence = manifest.says(&format!("[{table}] {key}"));
                    facts.command(purpose, format!("pipenv run {command}"), manifest.folder, evidence);
                }
            }
        }
    }
}

pub(super) fn conda(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("conda", manifest.path);
    facts.command(Purpose::Install, "conda env create -f environment.yml", manifest.folder, manifest.path);
    for dependency in of_yaml(manifest.text, "dependencies") {
        let name = package_name(&dependency);
        for (known, framework) in FRAMEWORKS {
            if known == name {
                facts.framework(framework, manifest.says(known));
            }
        }
    }
}

pub(super) fn tox(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.command(Purpose::Test, "tox", manifest.folder, manifest.path);
}

pub(super) fn nox(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.command(Purpose::Test, "nox", manifest.folder, manifest.path);
}

pub(super) fn django(manifest: &Manifest<'_>, facts: &mut Facts) {
    if !manifest.text.contains("django") {
        return;
    }
    facts.framework("Django", manifest.path);
    facts.entry_point(manifest.path, "the program of Django");
    facts.command(Purpose::Run, "python manage.py runserver", manifest.folder, manifest.path);
    if !facts.has_command(Purpose::Test, manifest.folder, &RUNNERS) {
        facts.command(Purpose::Test, "python manage.py test", manifest.folder, manifest.path);
    }
}

#[cfg(test)]
mod tests {
    use super::console_scripts;

    #[test]
    fn programs_of_setup_files_are_found() {
        for (text, expected) in [
            ("setup(entry_points={\"console_scripts\":[\"s=s:m\", 't = u.v:w']})", vec!["s s:m", "t u.v:w"]),
            (
                "[options.entry_points]\nconsole_scripts =\n  a = b:c\n  d = e:f\n\n[x]\ng = h:i\n",
                vec!["a b:c", "d e:f"],
            ),
            ("setup(name='x')", vec![]),
        ] {
            let found = console_scripts(text);
            let shown: Vec<String> = found.iter().map(|(name, target)| format!("{name} {target}")).collect();
            assert_eq!(shown, expected, "{text}");
        }
    }
}
