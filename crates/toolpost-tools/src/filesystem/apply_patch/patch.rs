//! A patch as it was written: which files, what is to become of each, hunk by hunk. Nothing here looks at a file.

/// Every file of a patch, in the order of the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) files: Vec<FilePatch>,
}

/// What is to become of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The line of the patch that names the file, from 1.
    pub(super) line: usize,
    /// As it is spelled in the patch, without the prefix and quotes of git.
    pub(super) path: String,
    pub(super) change: Change,
    /// A file mode that the patch asks for and that is not set here.
    pub(super) mode: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// A file of this content.
    Add { content: String, onto: Existing },
    /// No file any more. Where there are hunks, they are its whole content.
    Delete { hunks: Vec<Hunk> },
    /// The same file with some lines changed, under another name where there is one.
    Update { to: Option<Target>, hunks: Vec<Hunk> },
}

/// Where a file goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) onto: Existing,
    pub(super) source: Source,
}

/// What becomes of the file that is copied or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Moves,
    Stays,
}

/// What becomes of a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// It is replaced: what `*** Add File` and `*** Move to` mean.
    Replaced,
    /// It is a contradiction: the diff was made where there was none.
    Refused,
}

/// Lines that belong together, at one place of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line of the patch that it begins on, from 1.
    pub(super) line: usize,
    /// Lines of the file that stand somewhere above it, outermost first.
    pub(super) headers: Vec<Header>,
    /// Where it begins in the old file, from 1, as far as the patch says so.
    pub(super) old_start: Option<usize>,
    pub(super) lines: Vec<HunkLine>,
    /// Whether it reaches to the end of the file.
    pub(super) at_end: bool,
    /// Whether the last old line has no newline, and the last new one.
    pub(super) old_unended: bool,
    pub(super) new_unended: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) line: usize,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkLine {
    /// The line of the patch, from 1.
    pub(super) line: usize,
    pub(super) role: Role,
    /// Without the mark in front and the newline; a carriage return at its end is part of it.
    pub(super) text: String,
    /// Written without the space that marks context: an empty line, or just space between two hunks.
    pub(super) is_bare: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Context,
    Removed,
    Added,
}

impl HunkLine {
    pub(super) fn is_old(&self) -> bool {
        self.role != Role::Added
    }

    pub(super) fn is_new(&self) -> bool {
        self.role != Role::Removed
    }
}

impl Hunk {
    pub(super) fn old(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.is_old())
    }

    pub(super) fn new_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.is_new())
    }

    /// Notes the mark `\ No newline at end of file`, which is about the line before it.
    pub(super) fn unend(&mut self) {
        let Some(last) = self.lines.last() else { return };
        self.old_unended |= last.is_old();
        self.new_unended |= last.is_new();
        self.at_end |= last.is_old();
    }

    /// Adds one line of a hunk's body; `None` where the line is none.
    pub(super) fn push(&mut self, number: usize, text: &str) -> Option<()> {
        let (role, text, is_bare) = match text.as_bytes().first() {
            None => (Role::Context, "", true),
            Some(b' ') => (Role::Context, &text[1..], false),
            Some(b'-') => (Role::Removed, &text[1..], false),
            Some(b'+') => (Role::Added, &text[1..], false),
            Some(b'\r') if text.len() == 1 => (Role::Context, text, true),
            Some(_) => return None,
        };
        self.lines.push(HunkLine { line: number, role, text: text.to_owned(), is_bare });
        Some(())
    }

    /// Without the bare empty lines at its end; `None` where there are none.
    pub(super) fn without_bare_end(&self) -> Option<Hunk> {
        let bare = self.lines.iter().rev().take_while(|line| line.is_bare).count();
        let mut hunk = self.clone();
        hunk.lines.truncate(self.lines.len() - bare);
        (bare > 0 && !hunk.lines.is_empty()).then_some(hunk)
    }
}

impl Patch {
    /// Every path of the patch, with the line that names it.
    pub(super) fn paths(&self) -> impl Iterator<Item = (usize, &str)> {
        self.files.iter().flat_map(|file| {
            let to = match &file.change {
                Change::Update { to: Some(to), .. } => Some((file.line, to.path.as_str())),
                _ => None,
            };
            std::iter::once((file.line, file.path.as_str())).chain(to)
        })
    }
}
