//! The file that `init` writes: every key as a comment, with what it does.

use super::env::Environment;
use super::key::InFile;
use super::keys::KEYS;
use super::layers::PROJECT_FILE;
use super::look::look;
use super::private;
use super::schema::{SCHEMA_FILE, schema};
use std::path::Path;
use toolpost_core::{Code, ToolError, Workspace};
use toolpost_disk::Disk;

/// A file that was written, or was there before.
pub(crate) struct Example {
    pub(crate) path: String,
    pub(crate) is_new: bool,
}

/// Writes the user's file and its schema, where they do not exist.
pub(crate) fn write_user(environment: &Environment) -> Result<Vec<Example>, ToolError> {
    let Some(folder) = &environment.config_directory else {
        let message = "there is no folder for it; set HOME or XDG_CONFIG_HOME to a folder of yours";
        return Err(ToolError::new(Code::WriteError, message));
    };
    let write = |name: &str, content: &str| {
        let path = folder.join(name);
        let shown = path.display().to_string();
        match private::write_new(&path, content) {
            Ok(is_new) => Ok(Example { path: shown, is_new }),
            Err(error) => {
                Err(ToolError::new(Code::WriteError, format!("`{shown}` cannot be written: {error}")))
            }
        }
    };
    Ok(vec![write("config.toml", &text(Whose::User))?, write(SCHEMA_FILE, &schema_text())?])
}

/// Writes the workspace's file and its schema, where they do not exist. No link leads them out of the workspace.
pub(crate) fn write_project(disk: &Disk) -> Result<Vec<Example>, ToolError> {
    let schema_file = Path::new(PROJECT_FILE).with_file_name(SCHEMA_FILE).to_string_lossy().into_owned();
    let files = [(PROJECT_FILE.to_owned(), text(Whose::Project)), (schema_file, schema_text())];
    look(disk, |look| {
        let mut written = Vec::new();
        for (path, content) in &files {
            let is_new = look.write_new(path, content)?;
            let path = format!("{}/{path}", disk.root().trim_end_matches('/'));
            written.push(Example { path, is_new });
        }
        Ok(written)
    })
}

#[derive(Clone, Copy)]
enum Whose {
    User,
    Project,
}

fn text(whose: Whose) -> String {
    let about = match whose {
        Whose::User => {
            "Your configuration of toolpost, for every workspace. A project's file and the command line come\n\
             # after it. `toolpost doctor` shows what holds and where each value comes from."
        }
        Whose::Project => {
            "This project's configuration of toolpost. What narrows (deny and ask rules, a narrower policy)\n\
             # holds at once for everybody; what widens waits until each user has run `toolpost trust`.\n\
             # `toolpost doctor` shows what holds and where each value comes from."
        }
    };
    let mut text = format!("#:schema ./{SCHEMA_FILE}\n# {about}\n");
    // Tables come last: what follows one in TOML would belong to it.
    for key in KEYS {
        if let InFile::Value(example) = key.file() {
            text.push_str(&commented(key.about()));
            text.push_str(&format!("#{} = {example}\n", key.name()));
        }
    }
    for key in KEYS {
        if let InFile::Tables(example) = key.file() {
            text.push_str(&commented(key.about()));
            example.lines().for_each(|line| text.push_str(&format!("#{line}\n")));
        }
    }
    text
}

fn commented(about: &str) -> String {
    let lines = wrapped(about, 98).into_iter().map(|line| format!("# {line}\n"));
    std::iter::once("\n".to_owned()).chain(lines).collect()
}

fn schema_text() -> String {
    // Our own value with string keys: writing it as JSON cannot fail.
    serde_json::to_string_pretty(&schema()).unwrap_or_default() + "\n"
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::Settings;
    use crate::config::origin::Layer;

    #[test]
    fn the_example_is_inert_and_without_its_comment_signs_valid() {
        for whose in [Whose::User, Whose::Project] {
            let text = text(whose);
            let inert = Settings::read("example", text.as_bytes(), Layer::Project).unwrap();
            assert!(inert.policy.is_empty() && inert.rules.is_empty() && inert.warnings.is_empty());
            // A comment sign right before a word is an example; before a space it is talk.
            let live: String = text
                .lines()
                .map(|line| match line.strip_prefix('#') {
                    Some(rest) if !rest.starts_with([' ', ':']) => format!("{rest}\n"),
                    _ => format!("{line}\n"),
                })
                .collect();
            let live_settings = Settings::read("example", live.as_bytes(), Layer::Project).unwrap();
            assert!(live_settings.warnings.is_empty(), "{:?}", live_settings.warnings);
            assert!(!live_settings.policy.is_empty() && live_settings.rules.len() == 1);
            assert!(!live_settings.timeout.is_empty() && !live_settings.descriptions.is_empty());
        }
    }
}
