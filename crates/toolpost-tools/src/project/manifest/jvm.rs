//! Maven, Gradle and sbt, by scanning: build files of Gradle are programs, and nothing is run.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{elements, quoted};

/// Words in build files that name a framework.
const FRAMEWORKS: [(&str, &str); 19] = [
    ("spring-boot", "Spring Boot"),
    ("org.springframework.boot", "Spring Boot"),
    ("quarkus", "Quarkus"),
    ("micronaut", "Micronaut"),
    ("ktor", "Ktor"),
    ("io.vertx", "Vert.x"),
    ("com.android.application", "Android"),
    ("com.android.library", "Android"),
    ("org.jetbrains.compose", "Compose"),
    ("jakarta.", "Jakarta EE"),
    ("hibernate", "Hibernate"),
    ("<artifactId>junit</artifactId>", "JUnit 4"),
    ("junit:junit", "JUnit 4"),
    ("junit-jupiter", "JUnit 5"),
    ("useJUnitPlatform", "JUnit 5"),
    ("testng", "TestNG"),
    ("kotest", "Kotest"),
    ("org.jetbrains.kotlin", "Kotlin"),
    ("kotlin(\"", "Kotlin"),
];

fn frameworks(manifest: &Manifest<'_>, facts: &mut Facts) {
    for (word, framework) in FRAMEWORKS {
        if manifest.text.contains(word) {
            facts.framework(framework, manifest.says(word));
        }
    }
}

pub(super) fn maven(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("maven", manifest.path);
    facts.build_tool("maven", manifest.path);
    // The name of the parent stands in an element of its own, before the project's or after it.
    let own = match (manifest.text.find("<parent>"), manifest.text.find("</parent>")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &manifest.text[..start], &manifest.text[end..])
        }
        _ => manifest.text.to_owned(),
    };
    let first = |name: &str| elements(&own, name).first().map(|text| (*text).to_owned());
    let about = first("description");
    facts.package("maven", manifest.path, first("artifactId").as_deref(), about.as_deref());
    let modules: Vec<String> = elements(&own, "modules")
        .iter()
        .flat_map(|modules| elements(modules, "module"))
        .map(|module| manifest.file(module.trim_end_matches('/')))
        .collect();
    if !modules.is_empty() {
        facts.workspace("maven", manifest.folder, modules, manifest.says("<modules>"));
    }
    frameworks(manifest, facts);
    if let Some(class) = first("mainClass") {
        facts.entry_point(&class, manifest.says("<mainClass>"));
    }
    if manifest.is_member(facts, "maven") {
        return;
    }
    let program = if manifest.has("mvnw") { "./mvnw" } else { "mvn" };
    facts.command(Purpose::Build, format!("{program} package"), manifest.folder, manifest.path);
    facts.command(Purpose::Test, format!("{program} test"), manifest.folder, manifest.path);
    if own.contains("spring-boot-maven-plugin") {
        let evidence = manifest.says("spring-boot-maven-plugin");
        facts.command(Purpose::Run, format!("{program} spring-boot:run"), manifest.folder, evidence);
    }
    for (plugin, goal) in
        [("spotless-maven-plugin", "spotless:check"), ("maven-checkstyle-plugin", "checkstyle:check")]
    {
        if own.contains(plugin) {
            facts.command(Purpose::Lint, format!("{program} {goal}"), manifest.folder, manifest.says(plugin));
        }
    }
}

pub(super) fn gradle_settings(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("gradle", manifest.path);
    facts.build_tool("gradle", manifest.path);
    let mut members = Vec::new();
    let mut is_open = false;
    for line in manifest.text.lines().flat_map(|line| line.split(';')).map(str::trim) {
        let is_include =
            line.strip_prefix("include").is_some_and(|rest| rest.starts_with(['(', ' ', '\'', '"']));
        if !is_include && !is_open {
            continue;
        }
        for project in quoted(line) {
            let folder = project.trim_start_matches(':').replace(':', "/");
            members.push(manifest.file(&folder));
        }
        // A list goes on over lines until its bracket, or while lines end in a comma.
        is_open = line.ends_with([',', '(']);
    }
    if !members.is_empty() {
        facts.workspace("gradle", manifest.folder, members, manifest.says("include"));
    }
    if !manifest.is_member(facts, "gradle") {
        gradle_commands(manifest, facts);
    }
}

pub(super) fn gradle(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("gradle", manifest.path);
    facts.build_tool("gradle", manifest.path);
    facts.package("gradle", manifest.path, None, None);
    frameworks(manifest, facts);
    for line in manifest.text.lines().map(str::trim) {
        if line.starts_with("mainClass")
            && let Some(class) = quoted(line).first()
        {
            facts.entry_point(class, manifest.says("mainClass"));
        }
    }
    let above = facts.workspaces.iter().any(|workspace| {
        workspace.kind == "gradle"
            && (workspace.folder == "." || manifest.folder.starts_with(&format!("{}/", workspace.folder)))
            && workspace.folder != manifest.at()
    });
    if above {
        return;
    }
    gradle_commands(manifest, facts);
    let program = program(manifest);
    let run = match manifest.text {
        text if text.contains("org.springframework.boot") => Some("bootRun"),
        text if text.contains("application") && text.contains("mainClass") => Some("run"),
        _ => None,
    };
    if let Some(run) = run {
        facts.command(Purpose::Run, format!("{program} {run}"), manifest.folder, manifest.path);
    }
    for (plugin, task) in [
        ("ktlint", "ktlintCheck"),
        ("spotless", "spotlessCheck"),
        ("detekt", "detekt"),
        ("checkstyle", "checkstyleMain"),
    ] {
        if manifest.text.contains(plugin) {
            facts.command(Purpose::Lint, format!("{program} {task}"), manifest.folder, manifest.says(plugin));
        }
    }
}

fn program(manifest: &Manifest<'_>) -> &'static str {
    if manifest.has("gradlew") { "./gradlew" } else { "gradle" }
}

fn gradle_commands(manifest: &Manifest<'_>, facts: &mut Facts) {
    let program = program(manifest);
    facts.command(Purpose::Build, format!("{program} build"), manifest.folder, manifest.path);
    facts.command(Purpose::Test, format!("{program} test"), manifest.folder, manifest.path);
}

pub(super) fn sbt(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("sbt", manifest.path);
    facts.build_tool("sbt", manifest.path);
    let name = manifest.text.lines().find(|line| line.trim_start().starts_with("name :="));
    facts.package("sbt", manifest.path, name.and_then(|line| quoted(line).first().copied()), None);
    for (word, framework) in
        [("akka", "Akka"), ("play", "Play"), ("http4s", "http4s"), ("zio", "ZIO"), ("scalatest", "ScalaTest")]
    {
        if manifest.text.contains(&format!("\"{word}")) {
            facts.framework(framework, manifest.says(word));
        }
    }
    facts.command(Purpose::Build, "sbt compile", manifest.folder, manifest.path);
    facts.command(Purpose::Test, "sbt test", manifest.folder, manifest.path);
}
