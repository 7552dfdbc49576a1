//! .NET: solutions and projects, by scanning.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{attributes, elements, quoted};

/// Packages that shape a program, by the beginnings of their names.
const FRAMEWORKS: [(&str, &str); 12] = [
    ("Microsoft.EntityFrameworkCore", "Entity Framework Core"),
    ("Microsoft.AspNetCore.Components", "Blazor"),
    ("xunit", "xUnit"),
    ("NUnit", "NUnit"),
    ("MSTest", "MSTest"),
    ("Avalonia", "Avalonia"),
    ("Microsoft.Maui", ".NET MAUI"),
    ("Dapper", "Dapper"),
    ("MediatR", "MediatR"),
    ("Grpc.AspNetCore", "gRPC"),
    ("Akka", "Akka.NET"),
    ("Orleans", "Orleans"),
];

pub(super) fn solution(manifest: &Manifest<'_>, facts: &mut Facts) {
    let mut members: Vec<String> = Vec::new();
    let projects: Vec<&str> = match manifest.path.ends_with(".slnx") {
        true => attributes(manifest.text, "Project", "Path"),
        false => {
            let lines = manifest.text.lines().filter(|line| line.starts_with("Project("));
            lines.filter_map(|line| quoted(line).get(2).copied()).collect()
        }
    };
    for project in projects.iter().filter(|path| path.ends_with("proj")) {
        let path = manifest.file(&project.replace('\\', "/"));
        members.extend(path.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
    }
    facts.workspace("dotnet", manifest.folder, members, manifest.path);
    facts.build_tool("dotnet", manifest.path);
    facts.package_manager("nuget", manifest.path);
    commands(manifest, facts);
}

pub(super) fn project(manifest: &Manifest<'_>, facts: &mut Facts) {
    let name = manifest.path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(name, _)| name);
    facts.build_tool("dotnet", manifest.path);
    facts.package_manager("nuget", manifest.path);
    facts.package("dotnet", manifest.path, name, elements(manifest.text, "Description").first().copied());
    let sdk = attributes(manifest.text, "Project", "Sdk").first().copied().unwrap_or_default();
    match sdk {
        "Microsoft.NET.Sdk.Web" => facts.framework("ASP.NET Core", manifest.says("Sdk")),
        "Microsoft.NET.Sdk.BlazorWebAssembly" => facts.framework("Blazor", manifest.says("Sdk")),
        "Microsoft.NET.Sdk.Worker" => facts.framework("Worker Service", manifest.says("Sdk")),
        _ => {}
    }
    for package in attributes(manifest.text, "PackageReference", "Include") {
        for (start, framework) in FRAMEWORKS {
            if package.starts_with(start) {
                facts.framework(framework, manifest.says(package));
            }
        }
    }
    for (element, framework) in
        [("UseWPF", "WPF"), ("UseWindowsForms", "Windows Forms"), ("UseMaui", ".NET MAUI")]
    {
        if elements(manifest.text, element).iter().any(|value| value.eq_ignore_ascii_case("true")) {
            facts.framework(framework, manifest.says(element));
        }
    }
    let is_test = manifest.text.contains("Microsoft.NET.Test.Sdk");
    let kind = elements(manifest.text, "OutputType").first().copied().unwrap_or_default();
    let is_program =
        !is_test && (matches!(kind, "Exe" | "WinExe") || sdk.ends_with(".Web") || sdk.ends_with(".Worker"));
    if is_program {
        if manifest.has("Program.cs") {
            facts.entry_point(&manifest.file("Program.cs"), manifest.path);
        }
        facts.command(Purpose::Run, format!("dotnet run --project {}", manifest.path), "", manifest.path);
    }
    let in_solution = facts.workspaces.iter().any(|workspace| workspace.kind == "dotnet");
    if !in_solution {
        commands(manifest, facts);
    }
}

fn commands(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.command(Purpose::Build, "dotnet build", manifest.folder, manifest.path);
    facts.command(Purpose::Test, "dotnet test", manifest.folder, manifest.path);
    facts.command(Purpose::Format, "dotnet format", manifest.folder, manifest.path);
}
