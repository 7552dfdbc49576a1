//! `toolpost policy import`: another system's permission rules as ours, shown before they are taken over.

use crate::cli::{ImportFlags, ImportFrom, SaveScope};
use crate::config::foreign;
use crate::config::import::{Imported, Target, claude, codex, gemini, opencode};
use crate::output::{Printer, Tone};
use crate::runtime::Runtime;
use std::path::Path;
use toolpost_core::host::{Answers, Scope};
use toolpost_core::policy::Layer;
use toolpost_core::text::{Errors, Source};
use toolpost_core::{Code, ToolError};
use toolpost_rules::rules_to_toml;

pub(super) fn run(runtime: &Runtime, printer: &Printer, flags: &ImportFlags) -> Result<(), ToolError> {
    let name = flags.file.display().to_string();
    let bytes = foreign::read(&flags.file)?;
    let source = Source::new(&name, &bytes).map_err(|errors| unreadable(&errors))?;
    let from = flags.from.or_else(|| guess(&flags.file)).ok_or_else(|| {
        ToolError::new(
            Code::ValidationError,
            format!("the name `{name}` does not show whose file it is; give --from claude, opencode, gemini or codex"),
        )
    })?;
    let home = runtime.config.home.as_ref().map(|home| home.to_string_lossy());
    let imported = read(from, &source, home.as_deref()).map_err(|errors| unreadable(&errors))?;
    let toml = rules_to_toml(&imported.rules);
    match printer.is_json() {
        true => printer.json(&serde_json::json!({
            "rules": imported.rules,
            "notTaken": imported.not_taken.iter().map(|(line, why)| serde_json::json!({"line": line, "why": why})).collect::<Vec<_>>(),
        })),
        false => printer.data(&toml),
    }
    for (line, why) in &imported.not_taken {
        printer.say(Tone::Note, &format!("not taken: {name}:{line}: {why}"));
    }
    if let Some(capabilities) = imported.capabilities {
        printer.say(
            Tone::Note,
            &format!(
                "the file also grants {} and asks for {}; say that with --policy and --allow",
                capabilities.granted, capabilities.askable
            ),
        );
    }
    match flags.save {
        Some(scope) => save(runtime, printer, flags, scope, &imported),
        None => {
            let count = imported.rules.len();
            printer.say(
                Tone::Note,
                &format!("{count} rules shown, none taken over; --save project or --save user does"),
            );
            Ok(())
        }
    }
}

fn save(
    runtime: &Runtime,
    printer: &Printer,
    flags: &ImportFlags,
    scope: SaveScope,
    imported: &Imported,
) -> Result<(), ToolError> {
    let scope = match scope {
        SaveScope::Project => Scope::Project,
        SaveScope::User => Scope::User,
    };
    let answers = runtime.config.answers.as_ref().ok_or_else(|| {
        ToolError::new(
            Code::WriteError,
            "there is no data directory to keep the rules in; set HOME or XDG_DATA_HOME",
        )
    })?;
    let place = answers.place(scope).unwrap_or_default();
    let question = format!("take these {} rules over into {place}?", imported.rules.len());
    if !flags.agrees && !printer.agrees(&question) {
        return Err(ToolError::new(
            Code::PermissionDenied,
            format!(
                "nothing was taken over into {place}; look at the rules above, then say --save … --agree"
            ),
        ));
    }
    answers.save(scope, &imported.rules)?;
    printer.say(Tone::Note, &format!("{} rules taken over into {place}", imported.rules.len()));
    Ok(())
}

fn read(from: ImportFrom, source: &Source<'_>, home: Option<&str>) -> Result<Imported, Errors> {
    let target = Target { layer: Layer::Saved, home };
    match from {
        ImportFrom::Claude => claude::import(source, target),
        ImportFrom::Opencode => opencode::import(source, target),
        ImportFrom::Gemini => gemini::import(source, target),
        ImportFrom::Codex if source.file().ends_with(".toml") => codex::import_config(source, target),
        ImportFrom::Codex => Ok(codex::import_rules(source, target)),
    }
}

/// Whose file it is, from where it lies.
fn guess(path: &Path) -> Option<ImportFrom> {
    let text = path.to_string_lossy().replace('\\', "/");
    let name = path.file_name()?.to_string_lossy().into_owned();
    match () {
        () if text.contains(".claude/") || name.starts_with("settings") && text.contains("claude") => {
            Some(ImportFrom::Claude)
        }
        () if name.starts_with("opencode.json") => Some(ImportFrom::Opencode),
        () if text.contains(".gemini/") => Some(ImportFrom::Gemini),
        () if text.contains(".codex/") || name.ends_with(".rules") => Some(ImportFrom::Codex),
        () => None,
    }
}

fn unreadable(errors: &Errors) -> ToolError {
    ToolError::new(Code::ValidationError, errors.to_string())
}
