//! What an agent is told before everything else: its own instruction, where it works, and what the workspace says.

use super::Runtime;
use std::path::Path;
use toolpost_agent::AgentFile;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_core::policy::{Effect, Request};
use toolpost_core::text::tokens;
use toolpost_core::{Access, Capability, Code, Context, WorkspacePath};

/// Maximum number of bytes of one file of instructions.
const MOST_BYTES: usize = 32 * 1024;
/// Maximum number of folders between the root and the current one whose files are read.
const MOST_FOLDERS: usize = 16;
/// Maximum number of files that one file takes in.
const MOST_IMPORTS: usize = 10;

impl Runtime {
    /// The text, with a note for each file that was read.
    pub(super) async fn system(
        &self,
        agent: &AgentFile,
        context: &Context,
        notes: &mut Vec<String>,
    ) -> String {
        let mut parts = vec![agent.instruction.clone(), surroundings(context)];
        let mut is_found = agent.instruction_files.is_empty();
        for folder in folders(context) {
            for name in &agent.instruction_files {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                // Of the names of one folder the first that exists counts.
                match read(context, &path).await {
                    Found::Text(text) => {
                        notes.push(format!("instructions from `{path}`, about {} tokens", tokens(&text)));
                        parts.push(format!("# Instructions of this project ({path})\n\n{text}"));
                        is_found = true;
                        break;
                    }
                    Found::Unread(why) => {
                        notes.push(format!("the instructions in `{path}` are not read: {why}"));
                        is_found = true;
                    }
                    Found::Nothing => {}
                }
            }
        }
        if let (false, Some(at)) = (is_found, agent.instructions_at) {
            let names: Vec<String> = agent.instruction_files.iter().map(|name| format!("`{name}`")).collect();
            notes.push(format!(
                "{}:{}:{}: there is no {} in the workspace, so that the agent runs without those instructions",
                agent.file,
                at.line,
                at.column,
                names.join(" or ")
            ));
        }
        parts.retain(|part| !part.trim().is_empty());
        parts.join("\n\n")
    }
}

/// The folders from the root to the current one, from the root of the workspace.
fn folders(context: &Context) -> Vec<String> {
    let (root, cwd) = (Path::new(context.workspace().root()), Path::new(context.cwd()));
    let below = cwd.strip_prefix(root).unwrap_or(Path::new(""));
    let mut folders = vec![String::new()];
    for part in below.components().take(MOST_FOLDERS) {
        let last = folders.last().cloned().unwrap_or_default();
        let name = part.as_os_str().to_string_lossy();
        folders.push(if last.is_empty() { name.into_owned() } else { format!("{last}/{name}") });
    }
    folders
}

/// Where the agent works, and how its tools show long results.
fn surroundings(context: &Context) -> String {
    let root = context.workspace().root();
    let rest = context.reading(&format!("{HANDLE_PREFIX}…"));
    let rest = rest.map_or_else(String::new, |reading| format!(": {reading} shows the whole by pages"));
    format!(
        "Your tools act in the workspace `{root}`. Paths are absolute or from its root. A refusal says by which rule, and what \
         would allow it. A result that is too long is cut in the middle and names a handle{rest}."
    )
}

/// What became of a file of instructions.
enum Found {
    Text(String),
    /// It is there, and is not read for this reason.
    Unread(String),
    Nothing,
}

/// A file of instructions with the files that it takes in by lines `@path`.
async fn read(context: &Context, path: &str) -> Found {
    let text = match allowed_text(context, path).await {
        Found::Text(text) => text,
        other => return other,
    };
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let (mut lines, mut imports) = (Vec::new(), 0);
    for line in text.lines() {
        let is_path = |import: &&str| !import.contains(char::is_whitespace) && import.contains('.');
        let import = line.trim().strip_prefix('@').filter(is_path);
        let taken = match import {
            Some(import) if imports < MOST_IMPORTS => {
                imports += 1;
                let import = import.trim_start_matches("./");
                let path = folder.map_or_else(|| import.to_owned(), |folder| format!("{folder}/{import}"));
                match allowed_text(context, &path).await {
                    Found::Text(text) => Some(text),
                    Found::Unread(_) | Found::Nothing => None,
                }
            }
            _ => None,
        };
        lines.push(taken.unwrap_or_else(|| line.to_owned()));
    }
    let text = lines.join("\n");
    let end = text.floor_char_boundary(MOST_BYTES);
    match text.trim().is_empty() {
        true => Found::Unread("it is empty".to_owned()),
        false => Found::Text(text[..end].trim().to_owned()),
    }
}

/// The text of a file that the agent could read without asking.
async fn allowed_text(context: &Context, path: &str) -> Found {
    // A link is judged by where it leads, and what is judged is what is read.
    let name = WorkspacePath::new(path);
    let wanted = name.clone();
    let name = match context.blocking(move |context| context.workspace().stat(&wanted)).await {
        Ok(stat) => WorkspacePath::new(&stat.name),
        Err(_) => name,
    };
    let accesses = [Access::path(Capability::Read, path), Access::path(Capability::Read, name.as_str())];
    let decision = context.policy().decide(&Request { tool: "read", accesses: &accesses });
    let is_allowed = decision.effect() == Effect::Allow;
    match context.read_text(&name).await {
        Err(error) if error.code() == Code::FileNotFound => Found::Nothing,
        _ if !is_allowed => Found::Unread(decision.sentence()),
        Ok(text) => Found::Text(context.redactor().redact(&text).into_owned()),
        Err(error) => Found::Unread(error.message().to_owned()),
    }
}
