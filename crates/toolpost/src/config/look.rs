//! Looking into a workspace for what it brings along. Every open goes through [`Disk`], so that no link leads out; a
//! link inside is not followed either: its target may lie where writing is not protected.

use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::io::Read;
use toolpost_core::text::LARGEST;
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

/// The most entries of one folder that are looked at.
const MOST_ENTRIES: usize = 200;
/// The most files, and the most folders, that are looked at below one folder.
const MOST_FILES: usize = 1_000;
const MOST_FOLDERS: usize = 200;
/// The most bytes that are read of one workspace.
const MOST_BYTES: u64 = 16 << 20;

/// The bytes of a file with their hash.
#[derive(Debug, Clone)]
pub(crate) struct Hashed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: String,
}

impl Hashed {
    pub(crate) fn new(bytes: Vec<u8>) -> Hashed {
        let hash = toolpost_core::text::hex(&Sha256::digest(&bytes));
        Hashed { bytes, hash }
    }
}

/// A workspace that is looked at before any tool runs.
pub(crate) struct Look<'a> {
    disk: &'a Disk,
    bytes_left: Cell<u64>,
}

/// The names of the files below a folder.
pub(crate) struct Files {
    /// From the root, sorted.
    pub(crate) paths: Vec<String>,
    /// What could not be looked at, and why.
    pub(crate) refused: Vec<(String, String)>,
    folders: usize,
}

/// Runs `action` on the workspace.
pub(crate) fn look<T>(
    disk: &Disk,
    action: impl FnOnce(&Look<'_>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    action(&Look { disk, bytes_left: Cell::new(MOST_BYTES) })
}

impl Look<'_> {
    /// The file's bytes; none if it does not exist. Links, devices and what is too large are refused.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Hashed>, ToolError> {
        if self.disk.is_absent(&WorkspacePath::new(path)) {
            return Ok(None);
        }
        let file = match self.disk.open(&WorkspacePath::new(path)) {
            Ok(file) => file,
            Err(error) if error.code() == Code::FileNotFound => return Ok(None),
            Err(error) => return Err(without_name(path, &error)),
        };
        if file.stat.name != path {
            let message = format!(
                "is a link to `{}`; links are not followed here, put the file itself",
                file.stat.name
            );
            return Err(ToolError::new(Code::ReadError, message));
        }
        let too_large = |bytes: u64| {
            let message = format!("has {bytes} bytes; at most {LARGEST} are read, split or shorten it");
            Err(ToolError::new(Code::TooLarge, message))
        };
        if file.stat.size > LARGEST as u64 {
            return too_large(file.stat.size);
        }
        let Some(left) = self.bytes_left.get().checked_sub(file.stat.size) else {
            let message = format!("was not read: the files of this workspace exceed {MOST_BYTES} bytes");
            return Err(ToolError::new(Code::TooLarge, message));
        };
        self.bytes_left.set(left);
        let mut bytes = Vec::new();
        file.reader
            .take(LARGEST as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ToolError::new(Code::ReadError, format!("cannot be read: {error}")))?;
        if bytes.len() > LARGEST { too_large(bytes.len() as u64) } else { Ok(Some(Hashed::new(bytes))) }
    }

    /// Writes a file, unless something is there. Says whether it did.
    pub(crate) fn write_new(&self, path: &str, content: &str) -> Result<bool, ToolError> {
        let path = WorkspacePath::new(path);
        match self.disk.stat(&path) {
            Ok(_) => Ok(false),
            Err(error) if error.code() == Code::FileNotFound => {
                self.disk.write(&path, content.as_bytes()).map(|_| true)
            }
            Err(error) => Err(error),
        }
    }

    /// Puts `content` in place of a file that still holds `before`, or makes it.
    pub(crate) fn exchange(
        &self,
        path: &str,
        before: Option<&[u8]>,
        content: &[u8],
    ) -> Result<(), ToolError> {
        let now = self.read(path)?.map(|file| file.bytes);
        if now.as_deref() != before {
            let message = "was changed by another program meanwhile; try again";
            return Err(ToolError::new(Code::StaleFile, message));
        }
        self.disk.write(&WorkspacePath::new(path), content).map(|_| ())
    }

    /// Removes a file that still holds `before`.
    pub(crate) fn remove(&self, path: &str, before: &[u8]) -> Result<(), ToolError> {
        if self.read(path)?.is_none_or(|file| file.bytes != before) {
            let message = "was changed by another program meanwhile; try again";
            return Err(ToolError::new(Code::StaleFile, message));
        }
        self.disk.remove(&WorkspacePath::new(path))
    }

    /// The files below a folder, `depth` folders down, up to a limit that is said.
    pub(crate) fn files(&self, folder: &str, depth: usize) -> Files {
        let mut files = Files { paths: Vec::new(), refused: Vec::new(), folders: 0 };
        self.collect(folder, depth, &mut files);
        files.paths.sort_unstable();
        files
    }

    fn collect(&self, folder: &str, depth: usize, files: &mut Files) {
        let mut refuse = |path: &str, why: &str| files.refused.push((path.to_owned(), why.to_owned()));
        let path = WorkspacePath::new(folder);
        if self.disk.is_absent(&path) {
            return;
        }
        match self.disk.stat(&path) {
            Ok(stat) if stat.name != folder => {
                return refuse(folder, &format!("is a link to `{}`; links are not followed here", stat.name));
            }
            Ok(_) => {}
            Err(error) if error.code() == Code::FileNotFound => return,
            Err(error) => return refuse(folder, without_name(folder, &error).message()),
        }
        let entries = match self.disk.entries(&path) {
            Ok(entries) => entries,
            Err(error) => return refuse(folder, without_name(folder, &error).message()),
        };
        let mut entries: Vec<_> = entries.flatten().take(MOST_ENTRIES + 1).collect();
        if entries.len() > MOST_ENTRIES {
            let why = format!("holds more than {MOST_ENTRIES} entries; only {MOST_ENTRIES} were looked at");
            refuse(folder, &why);
            entries.truncate(MOST_ENTRIES);
        }
        entries.sort_unstable();
        for entry in entries {
            let path = format!("{folder}/{}", entry.name);
            if files.paths.len() >= MOST_FILES || files.folders >= MOST_FOLDERS {
                let why = "holds too many files or folders; not all were looked at".to_owned();
                return files.refused.push((folder.to_owned(), why));
            }
            match entry.kind {
                _ if !entry.exact => {
                    files.refused.push((path, "has a name that is not UTF-8; rename it".to_owned()));
                }
                Kind::Folder if depth > 0 => {
                    files.folders += 1;
                    self.collect(&path, depth - 1, files);
                }
                Kind::Folder => {}
                Kind::File | Kind::Link | Kind::Special => files.paths.push(path),
            }
        }
    }
}

/// The error as the end of a sentence that begins with the name of the file.
fn without_name(path: &str, error: &ToolError) -> ToolError {
    let message = match error.code() {
        Code::PathEscape => "is a link that leads out of the workspace; put the file itself there",
        _ => error.message().strip_prefix(&format!("`{path}` ")).unwrap_or(error.message()),
    };
    ToolError::new(error.code(), message)
}
