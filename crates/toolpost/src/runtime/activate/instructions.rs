//! What an agent is told before everything else: its own instruction, where it works, and what the workspace says.

use super::Runtime;
use std::path::Path;
use toolpost_agent::AgentFile;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_core::policy::{Effect, Request};
use toolpost_core::text::tokens;
use toolpost_core::{Access, Capability, Context, WorkspacePath};

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
        for folder in folders(context) {
            for name in &agent.instruction_files {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                // Of the names of one folder the first that exists counts.
                if let Some(text) = read(context, &path).await {
                    notes.push(format!("instructions from `{path}`, about {} tokens", tokens(&text)));
                    parts.push(format!("# Instructions of this project ({path})\n\n{text}"));
                    break;
                }
            }
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

/// A file of instructions with the files that it takes in by lines `@path`; none where there is none, or it may not be read.
async fn read(context: &Context, path: &str) -> Option<String> {
    let text = allowed_text(context, path).await?;
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
                allowed_text(context, &path).await
            }
            _ => None,
        };
        lines.push(taken.unwrap_or_else(|| line.to_owned()));
    }
    let text = lines.join("\n");
    let end = text.floor_char_boundary(MOST_BYTES);
    (!text.trim().is_empty()).then(|| text[..end].trim().to_owned())
}

/// The text of a file that the agent could read without asking.
async fn allowed_text(context: &Context, path: &str) -> Option<String> {
    let accesses = [Access::path(Capability::Read, path)];
    let decision = context.policy().decide(&Request { tool: "read", accesses: &accesses });
    if decision.effect() != Effect::Allow {
        return None;
    }
    let text = context.read_text(&WorkspacePath::new(path)).await.ok()?;
    Some(context.redactor().redact(&text).into_owned())
}
