//! Whose agent file it is, and in which that differs: the folder, what it must say, what it assumes.

use serde::Serialize;

/// Whose agent file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// toolpost's own.
    Toolpost,
    /// Claude Code's.
    Claude,
    /// OpenCode's.
    Opencode,
    /// Gemini CLI's.
    Gemini,
    /// Codex's.
    Codex,
    /// GitHub Copilot's.
    Copilot,
}

/// The folders of a workspace that agent files lie in, with how many folders further down, the strongest first.
const FOLDERS: [(Format, &str, usize); 7] = [
    (Format::Toolpost, ".toolpost/agents", 0),
    (Format::Claude, ".claude/agents", 4),
    (Format::Opencode, ".opencode/agents", 4),
    (Format::Opencode, ".opencode/agent", 4),
    (Format::Gemini, ".gemini/agents", 0),
    (Format::Codex, ".codex/agents", 0),
    (Format::Copilot, ".github/agents", 0),
];

impl Format {
    /// The folders of a workspace that agent files lie in, each with how many folders deep, the strongest first.
    pub fn folders() -> impl Iterator<Item = (Format, &'static str, usize)> {
        FOLDERS.into_iter()
    }

    /// By the folder that a file lies in, or else its ending.
    pub fn of(file: &str) -> Format {
        let path = file.replace('\\', "/");
        let found = FOLDERS.iter().find(|(_, folder, _)| {
            path.starts_with(&format!("{folder}/")) || path.contains(&format!("/{folder}/"))
        });
        match found {
            Some((format, ..)) => *format,
            None if path.contains("/opencode/agent") => Format::Opencode,
            None if path.ends_with(".toml") => Format::Codex,
            None if path.ends_with(".agent.md") => Format::Copilot,
            None => Format::Toolpost,
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Format::Toolpost => "toolpost",
            Format::Claude => "Claude Code",
            Format::Opencode => "OpenCode",
            Format::Gemini => "Gemini CLI",
            Format::Codex => "Codex",
            Format::Copilot => "GitHub Copilot",
        }
    }

    /// Whether a file of this name can be an agent file.
    pub fn takes(self, file: &str) -> bool {
        match self {
            Format::Codex => file.ends_with(".toml"),
            _ => file.ends_with(".md"),
        }
    }

    /// The files of instructions that its host gives to every agent.
    pub(super) fn instruction_files(self) -> &'static [&'static str] {
        match self {
            Format::Toolpost => &[],
            Format::Claude => &["CLAUDE.md"],
            Format::Gemini => &["GEMINI.md"],
            Format::Opencode | Format::Codex | Format::Copilot => &["AGENTS.md"],
        }
    }
}
