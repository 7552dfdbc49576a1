//! Node, Deno and Bun: packages, workspaces, scripts, frameworks by their packages.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{keys_at, of_json, of_yaml, text_at, texts_at};
use serde_json::Value;

/// Packages that shape a program.
const FRAMEWORKS: [(&str, &str); 38] = [
    ("next", "Next.js"),
    ("nuxt", "Nuxt"),
    ("react", "React"),
    ("react-native", "React Native"),
    ("expo", "Expo"),
    ("vue", "Vue"),
    ("svelte", "Svelte"),
    ("@sveltejs/kit", "SvelteKit"),
    ("@angular/core", "Angular"),
    ("solid-js", "Solid"),
    ("preact", "Preact"),
    ("astro", "Astro"),
    ("gatsby", "Gatsby"),
    ("@remix-run/react", "Remix"),
    ("express", "Express"),
    ("fastify", "Fastify"),
    ("koa", "Koa"),
    ("hono", "Hono"),
    ("@nestjs/core", "NestJS"),
    ("electron", "Electron"),
    ("@tauri-apps/api", "Tauri"),
    ("prisma", "Prisma"),
    ("drizzle-orm", "Drizzle"),
    ("typeorm", "TypeORM"),
    ("tailwindcss", "Tailwind CSS"),
    ("graphql", "GraphQL"),
    ("@trpc/server", "tRPC"),
    ("three", "three.js"),
    ("jest", "Jest"),
    ("vitest", "Vitest"),
    ("mocha", "Mocha"),
    ("ava", "AVA"),
    ("@playwright/test", "Playwright"),
    ("cypress", "Cypress"),
    ("storybook", "Storybook"),
    ("typescript", "TypeScript"),
    ("zod", "Zod"),
    ("redux", "Redux"),
];

/// Packages that build.
const BUILD_TOOLS: [(&str, &str); 12] = [
    ("vite", "Vite"),
    ("webpack", "webpack"),
    ("rollup", "Rollup"),
    ("esbuild", "esbuild"),
    ("parcel", "Parcel"),
    ("tsup", "tsup"),
    ("turbo", "Turborepo"),
    ("nx", "Nx"),
    ("lerna", "Lerna"),
    ("@swc/core", "SWC"),
    ("gulp", "gulp"),
    ("grunt", "Grunt"),
];

/// Linters and formatters: the package, what it is for, and the command where no script has one.
const CHECKS: [(&str, Purpose, &str); 6] = [
    ("eslint", Purpose::Lint, "eslint ."),
    ("@biomejs/biome", Purpose::Lint, "biome check"),
    ("oxlint", Purpose::Lint, "oxlint"),
    ("xo", Purpose::Lint, "xo"),
    ("standard", Purpose::Lint, "standard"),
    ("prettier", Purpose::Format, "prettier --write ."),
];

/// Words that begin a command of Node.
const MANAGERS: [&str; 4] = ["npm", "npx", "yarn", "bun"];

/// Lock files, with whose they are.
const LOCKS: [(&str, &str); 7] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("pnpm-workspace.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

pub(super) fn package(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_json(manifest.text);
    if !value.is_object() {
        return;
    }
    // A member of a workspace uses what the workspace uses.
    let of_workspace =
        ["pnpm", "yarn", "bun", "npm"].into_iter().find(|kind| manifest.is_member(facts, kind));
    let manager = match of_workspace {
        Some(manager) => manager,
        None => {
            let (manager, evidence) = manager(manifest, &value);
            facts.package_manager(manager, evidence);
            manager
        }
    };
    facts.package("npm", manifest.path, text_at(&value, "/name"), text_at(&value, "/description"));
    let mut patterns = texts_at(&value, "/workspaces");
    patterns.extend(texts_at(&value, "/workspaces/packages"));
    if !patterns.is_empty() {
        let members = manifest.members(&patterns, "package.json");
        facts.workspace(manager, manifest.folder, members, manifest.says("workspaces"));
    }
    let dependencies: Vec<(&str, &str)> = ["dependencies", "devDependencies", "peerDependencies"]
        .iter()
        .flat_map(|table| keys_at(&value, &format!("/{table}")).into_iter().map(move |key| (key, *table)))
        .collect();
    let table_of = |name: &str| dependencies.iter().find(|(key, _)| *key == name).map(|(_, table)| *table);
    for (name, framework) in FRAMEWORKS {
        if let Some(table) = table_of(name) {
            facts.framework(framework, manifest.says(&format!("{table}.{name}")));
        }
    }
    for (name, tool) in BUILD_TOOLS {
        if let Some(table) = table_of(name) {
            facts.build_tool(tool, manifest.says(&format!("{table}.{name}")));
        }
    }
    entry_points(manifest, &value, facts);
    let is_member =
        ["npm", "pnpm", "yarn", "bun", "lerna"].iter().any(|kind| manifest.is_member(facts, kind));
    if is_member {
        return;
    }
    facts.command(Purpose::Install, format!("{manager} install"), manifest.folder, manifest.path);
    scripts(manifest, &value, manager, facts);
    for (name, purpose, command) in CHECKS {
        if let Some(table) =
            table_of(name).filter(|_| !facts.has_command(purpose, manifest.folder, &MANAGERS))
        {
            let runner = match manager {
                "npm" => "npx",
                "bun" => "bunx",
                other => other,
            };
            let evidence = manifest.says(&format!("{table}.{name}"));
            facts.command(purpose, format!("{runner} {command}"), manifest.folder, evidence);
        }
    }
}

/// Whose package manager it is: by the field, by the lock files here and above, or the usual one.
fn manager(manifest: &Manifest<'_>, value: &Value) -> (&'static str, String) {
    if let Some(named) = text_at(value, "/packageManager") {
        let name = named.split('@').next().unwrap_or(named);
        if let Some((_, manager)) = LOCKS.iter().find(|(_, manager)| *manager == name) {
            return (manager, manifest.says("packageManager"));
        }
    }
    let locks = LOCKS.map(|(lock, _)| lock);
    let found = manifest.above(&locks).and_then(|(lock, path)| {
        LOCKS.iter().find(|(known, _)| *known == lock).map(|(_, manager)| (*manager, path))
    });
    found.unwrap_or_else(|| ("npm", manifest.path.to_owned()))
}

fn scripts(manifest: &Manifest<'_>, value: &Value, manager: &str, facts: &mut Facts) {
    for (script, purpose) in [
        ("build", Purpose::Build),
        ("compile", Purpose::Build),
        ("test", Purpose::Test),
        ("test:unit", Purpose::Test),
        ("test:e2e", Purpose::Test),
        ("lint", Purpose::Lint),
        ("typecheck", Purpose::Lint),
        ("type-check", Purpose::Lint),
        ("check", Purpose::Lint),
        ("format", Purpose::Format),
        ("dev", Purpose::Run),
        ("start", Purpose::Run),
        ("serve", Purpose::Run),
    ] {
        let Some(line) = value.get("scripts").and_then(|scripts| scripts.get(script)).and_then(Value::as_str)
        else {
            continue;
        };
        // What `npm init` writes is no test.
        if line.contains("no test specified") {
            continue;
        }
        let command = match (manager, script) {
            ("npm", "test" | "start") => format!("npm {script}"),
            ("npm" | "bun", _) => format!("{manager} run {script}"),
            (_, _) => format!("{manager} {script}"),
        };
        facts.command(purpose, command, manifest.folder, manifest.says(&format!("scripts.{script}")));
    }
}

fn entry_points(manifest: &Manifest<'_>, value: &Value, facts: &mut Facts) {
    for field in ["main", "module", "source"] {
        if let Some(path) = text_at(value, &format!("/{field}")) {
            facts.entry_point(&manifest.file(path), manifest.says(field));
        }
    }
    match value.get("bin") {
        Some(Value::String(path)) => facts.entry_point(&manifest.file(path), manifest.says("bin")),
        Some(Value::Object(programs)) => {
            for (name, path) in programs.iter().take(20) {
                let path = path.as_str().unwrap_or_default();
                facts.entry_point(&manifest.file(path), manifest.says(&format!("bin.{name}")));
            }
        }
        _ => {}
    }
    let usual = [
        "src/index.ts",
        "src/main.ts",
        "src/index.tsx",
        "src/main.tsx",
        "src/index.js",
        "index.ts",
        "index.js",
        "server.js",
    ];
    if let Some(file) = manifest.first_of(&usual) {
        facts.entry_point(&manifest.file(file), "the usual place");
    }
}

pub(super) fn pnpm_workspace(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("pnpm", manifest.path);
    let patterns = of_yaml(manifest.text, "packages");
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    if !patterns.is_empty() {
        let members = manifest.members(&patterns, "package.json");
        facts.workspace("pnpm", manifest.folder, members, manifest.says("packages"));
    }
}

pub(super) fn lerna(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_json(manifest.text);
    facts.build_tool("Lerna", manifest.path);
    let patterns = texts_at(&value, "/packages");
    if !patterns.is_empty() {
        let members = manifest.members(&patterns, "package.json");
        facts.workspace("lerna", manifest.folder, members, manifest.says("packages"));
    }
}

pub(super) fn deno(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_json(manifest.text);
    facts.package_manager("deno", manifest.path);
    facts.framework("Deno", manifest.path);
    facts.package("deno", manifest.path, text_at(&value, "/name"), None);
    let members = texts_at(&value, "/workspace");
    if !members.is_empty() {
        let members = members.iter().map(|member| manifest.file(member.trim_end_matches('/'))).collect();
        facts.workspace("deno", manifest.folder, members, manifest.says("workspace"));
    }
    for task in keys_at(&value, "/tasks") {
        let purpose = match task {
            "test" => Purpose::Test,
            "build" => Purpose::Build,
            "lint" | "check" => Purpose::Lint,
            "fmt" | "format" => Purpose::Format,
            "dev" | "start" => Purpose::Run,
            _ => continue,
        };
        let evidence = manifest.says(&format!("tasks.{task}"));
        facts.command(purpose, format!("deno task {task}"), manifest.folder, evidence);
    }
    for (purpose, command) in
        [(Purpose::Test, "deno test"), (Purpose::Lint, "deno lint"), (Purpose::Format, "deno fmt")]
    {
        if !facts.has_command(purpose, manifest.folder, &["deno"]) {
            facts.command(purpose, command, manifest.folder, manifest.path);
        }
    }
}
