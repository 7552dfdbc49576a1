//! What a case demands, said before the tool is asked.

/// What the strings of a call and the file determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// The strings determine the true file.
    Decidable,
    /// A careful tool may refuse; if it writes, it writes the truth.
    TruthOrRefusal,
    /// The strings can be read in two ways.
    Undecidable,
    /// The file already has the change: nothing is written, and the answer says so.
    Applied,
    /// The call contradicts the file, or fits two places.
    Refusal,
    /// The new text must not be written, even where the old text is exact.
    Forbidden,
}

/// The kind of call that carries a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Edit,
    Unified,
    Codex,
    /// Blocks of old and new text between marks, as aider has them.
    Blocks,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Edit => "edit",
            Form::Unified => "unified",
            Form::Codex => "codex",
            Form::Blocks => "blocks",
        }
    }
}
