//! Files on disk that virtual files are made of, or made into: through the workspace on disk, so that no link leads out.

use std::io::Read;
use std::path::{Path, PathBuf};
use toolpost_core::workspace::Kind;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

/// Files that are taken at once, and their bytes together.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 << 20;

/// A file to write.
pub(super) struct Put {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

/// What there is to take.
pub(super) struct Found {
    pub(super) files: Vec<FoundFile>,
    /// Whether a whole folder was named.
    pub(super) is_folder: bool,
    /// Links, repositories, and what is neither a regular file nor a folder.
    pub(super) left_out: usize,
}

/// One file, by its path from the folder that was named.
pub(super) struct FoundFile {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) mode: u32,
}

/// Writes files below a folder, which is made. Nothing is written if one would be overwritten, or lies behind a link.
/// Returns how many were written; those that are there already are not.
pub(super) fn write(folder: &Path, cwd: &Path, files: &[Put], force: bool) -> Result<usize, ToolError> {
    let disk = made(&cwd.join(folder))?;
    let mut wanted = Vec::new();
    for file in files {
        let path = WorkspacePath::new(file.name.as_str());
        check_no_link(&disk, &file.name)?;
        match disk.open(&path) {
            Ok(mut there) => {
                let is_same = there.stat.size == file.content.len() as u64
                    && content(&mut there.reader, &file.name)? == file.content;
                if is_same {
                    continue;
                }
                if !force {
                    let message = format!(
                        "`{}` is there already, below {}, with another content; nothing was written: use --force to overwrite",
                        file.name,
                        folder.display()
                    );
                    return Err(ToolError::new(Code::WriteError, message).with("path", file.name.as_str()));
                }
                wanted.push((path, file));
            }
            Err(error) if error.code() == Code::FileNotFound => wanted.push((path, file)),
            Err(error) => return Err(error),
        }
    }
    for (path, file) in &wanted {
        check_no_link(&disk, &file.name)?;
        disk.write(path, &file.content)?;
    }
    Ok(wanted.len())
}

/// Reads a file, or all files below a folder.
pub(super) fn read(from: &Path, cwd: &Path) -> Result<Found, ToolError> {
    let path = cwd.join(from);
    if path.is_dir() {
        let disk = Disk::open([path])?;
        return read_folder(&disk, from);
    }
    let (Some(above), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        let message = format!("`{}` names no file; name a file or a folder", from.display());
        return Err(ToolError::new(Code::ValidationError, message));
    };
    let disk = Disk::open([above])?;
    let mut found = Found { files: Vec::new(), is_folder: false, left_out: 0 };
    take(&disk, name.to_owned(), &mut found, &mut 0)?;
    Ok(found)
}

fn read_folder(disk: &Disk, from: &Path) -> Result<Found, ToolError> {
    let mut found = Found { files: Vec::new(), is_folder: true, left_out: 0 };
    let (mut folders, mut bytes) = (vec![WorkspacePath::root()], 0);
    while let Some(folder) = folders.pop() {
        for entry in disk.entries(&folder)? {
            let entry = entry?;
            let path = folder.join(&entry.name);
            match entry.kind {
                _ if !entry.exact || entry.name == ".git" => found.left_out += 1,
                Kind::Folder => folders.push(path),
                Kind::File if found.files.len() == MOST_FILES => {
                    let message = format!(
                        "`{}` has more than {MOST_FILES} files; import a part of it at a time",
                        from.display()
                    );
                    return Err(ToolError::new(Code::TooLarge, message));
                }
                Kind::File => take(disk, path.as_str().to_owned(), &mut found, &mut bytes)?,
                Kind::Link | Kind::Special => found.left_out += 1,
            }
        }
    }
    found.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn take(disk: &Disk, name: String, found: &mut Found, bytes: &mut u64) -> Result<(), ToolError> {
    let mut file = disk.open(&WorkspacePath::new(name.as_str()))?;
    *bytes += file.stat.size;
    if *bytes > MOST_BYTES {
        let message =
            format!("with `{name}` these are more than {MOST_BYTES} bytes; import a part of them at a time");
        return Err(ToolError::new(Code::TooLarge, message));
    }
    let content = content(&mut file.reader, &name)?;
    found.files.push(FoundFile { name, content, mode: file.stat.mode & 0o777 });
    Ok(())
}

fn content(reader: &mut dyn Read, name: &str) -> Result<Vec<u8>, ToolError> {
    let mut content = Vec::new();
    reader
        .take(MOST_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| ToolError::new(Code::ReadError, format!("`{name}` could not be read: {error}")))?;
    Ok(content)
}

/// Refuses a name that is a link, or lies below one.
fn check_no_link(disk: &Disk, name: &str) -> Result<(), ToolError> {
    let ends = name.match_indices('/').map(|(end, _)| end).chain([name.len()]);
    for end in ends {
        if let Some(target) = disk.link(&WorkspacePath::new(&name[..end])) {
            let message = format!(
                "`{}` is a link to `{target}`, and nothing is written through links; remove it, or choose another folder",
                &name[..end]
            );
            return Err(ToolError::new(Code::WriteError, message).with("path", name));
        }
    }
    Ok(())
}

/// A folder, made where it is not there.
fn made(folder: &Path) -> Result<Disk, ToolError> {
    let there = folder.ancestors().find(|above| above.is_dir());
    if let Some(there) = there
        && let Ok(rest) = folder.strip_prefix(there)
        && !rest.as_os_str().is_empty()
    {
        let rest: PathBuf = rest.to_owned();
        let name = rest.to_str().ok_or_else(|| {
            let message = format!("`{}` is not UTF-8; choose another folder", rest.display());
            ToolError::new(Code::ValidationError, message)
        })?;
        Disk::open([there])?.create_folder(&WorkspacePath::new(name))?;
    }
    Disk::open([folder])
}
