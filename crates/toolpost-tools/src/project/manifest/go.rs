//! Go: modules, workspaces, programs.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};

/// Modules that shape a program.
const FRAMEWORKS: [(&str, &str); 14] = [
    ("github.com/gin-gonic/gin", "Gin"),
    ("github.com/labstack/echo", "Echo"),
    ("github.com/gofiber/fiber", "Fiber"),
    ("github.com/go-chi/chi", "chi"),
    ("github.com/gorilla/mux", "gorilla/mux"),
    ("google.golang.org/grpc", "gRPC"),
    ("github.com/spf13/cobra", "Cobra"),
    ("github.com/urfave/cli", "urfave/cli"),
    ("gorm.io/gorm", "GORM"),
    ("entgo.io/ent", "ent"),
    ("github.com/stretchr/testify", "Testify"),
    ("github.com/onsi/ginkgo", "Ginkgo"),
    ("k8s.io/client-go", "Kubernetes client"),
    ("github.com/charmbracelet/bubbletea", "Bubble Tea"),
];

pub(super) fn module(manifest: &Manifest<'_>, facts: &mut Facts) {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let name = manifest.text.lines().map(words).find_map(|words| match words.as_slice() {
        [keyword, name, ..] if keyword == "module" => Some(name.clone()),
        _ => None,
    });
    facts.package_manager("go modules", manifest.path);
    facts.build_tool("go", manifest.path);
    facts.package("go", manifest.path, name.as_deref(), None);
    for line in manifest.text.lines().filter(|line| !line.contains("// indirect")) {
        for (path, framework) in FRAMEWORKS {
            let is_meant = line.split_whitespace().any(|word| {
                word.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("/v"))
            });
            if is_meant {
                facts.framework(framework, manifest.says(path));
            }
        }
    }
    let start = if manifest.folder.is_empty() { String::new() } else { format!("{}/", manifest.folder) };
    for file in manifest.tree.below_folder(manifest.at()) {
        let below = &file[start.len()..];
        let is_program = below == "main.go"
            || below.strip_prefix("cmd/").is_some_and(|rest| {
                rest == "main.go" || rest.ends_with("/main.go") && rest.matches('/').count() == 1
            });
        if is_program && !manifest.tree.is_foreign(file) {
            facts.entry_point(file, "the usual place of a program");
        }
    }
    if manifest.is_member(facts, "go") {
        return;
    }
    let folder = manifest.folder;
    facts.command(Purpose::Build, "go build ./...", folder, manifest.path);
    facts.command(Purpose::Test, "go test ./...", folder, manifest.path);
    match manifest.first_of(&[".golangci.yml", ".golangci.yaml", ".golangci.toml"]) {
        Some(config) => facts.command(Purpose::Lint, "golangci-lint run", folder, manifest.file(config)),
        None => facts.command(Purpose::Lint, "go vet ./...", folder, manifest.path),
    }
    facts.command(Purpose::Format, "gofmt -w .", folder, manifest.path);
    if manifest.has("main.go") {
        facts.command(Purpose::Run, "go run .", folder, manifest.file("main.go"));
    }
}

pub(super) fn work(manifest: &Manifest<'_>, facts: &mut Facts) {
    let mut members = Vec::new();
    let mut is_inside = false;
    for line in manifest.text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()) {
        match line {
            "use (" => is_inside = true,
            ")" => is_inside = false,
            line if is_inside && !line.is_empty() => members.push(line),
            line => members.extend(line.strip_prefix("use ").map(str::trim)),
        }
    }
    let members = members
        .iter()
        .map(|member| manifest.file(member.trim_matches('"')).trim_end_matches('/').to_owned())
        .map(|member| if member == "." { String::new() } else { member })
        .collect();
    facts.workspace("go", manifest.folder, members, manifest.says("use"));
    facts.package_manager("go modules", manifest.path);
    facts.build_tool("go", manifest.path);
    facts.command(Purpose::Build, "go build ./...", manifest.folder, manifest.path);
    facts.command(Purpose::Test, "go test ./...", manifest.folder, manifest.path);
}
