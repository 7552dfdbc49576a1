//! `toolpost vfs`: the virtual files of a session, for people.

mod folder;

use super::stored::{Reads, Stored, count, size, with_store};
use crate::calendar::{moment, now_ms};
use crate::cli::{Flags, Vfs};
use crate::config::env::Environment;
use crate::output::{Printer, Tone, one_line};
use folder::{Found, Put};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;
use toolpost_core::policy::is_protected;
use toolpost_core::store::{By, FileChange, FileVersion};
use toolpost_core::text::{hex, nearest};
use toolpost_core::{Capability, Code, ToolError};

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, command: &Vfs) -> u8 {
    let reads = match command {
        Vfs::List { .. } | Vfs::Show { .. } | Vfs::History { .. } | Vfs::Export { .. } => Reads::Only,
        Vfs::Import { .. } => Reads::NotOnly,
    };
    with_store(printer, flags, environment, reads, |stored| {
        match command {
            Vfs::List { prefix } => list(printer, stored, prefix.as_deref().unwrap_or_default()),
            Vfs::Show { path, version } => show(printer, stored, path, *version),
            Vfs::History { path } => history(printer, stored, path),
            Vfs::Export { folder, force, protected } => export(printer, stored, folder, *force, *protected),
            Vfs::Import { from, path } => import(printer, stored, from, path.as_deref()),
        }?;
        Ok(0)
    })
}

/// The session whose files are meant: that of `--workspace vfs:SESSION`, else the one of all commands.
fn session_of(stored: &Stored) -> &str {
    stored.config.virtual_session.as_deref().unwrap_or(&stored.config.session)
}

fn list(printer: &Printer, stored: &Stored, prefix: &str) -> Result<(), ToolError> {
    let session = session_of(stored);
    let files = stored.store.files(session, prefix)?;
    if printer.is_json() {
        printer.json(&json!({"session": session, "files": files}));
        return Ok(());
    }
    if files.is_empty() {
        let which = if prefix.is_empty() { String::new() } else { format!(" that begins with `{prefix}`") };
        let message = format!("the session `{session}` has no virtual file{which}; --session names another");
        printer.say(Tone::Note, &message);
        return Ok(());
    }
    let width = files.iter().map(|file| one_line(&file.path).chars().count()).max().unwrap_or(0).max(4);
    let head = format!("{:width$}  {:>7}  {:>10}  changed (UTC)", "path", "version", "size");
    let mut page = format!("{}\n", printer.bold(&head));
    for file in &files {
        let (path, size, at) = (one_line(&file.path), size(file.size), moment(file.at_ms));
        page.push_str(&format!("{path:width$}  {:>7}  {size:>10}  {at}\n", file.version));
    }
    printer.page(&page);
    Ok(())
}

fn show(printer: &Printer, stored: &Stored, path: &str, version: Option<u64>) -> Result<(), ToolError> {
    let session = session_of(stored);
    let file = stored.store.file(session, path, version)?;
    let file = file.ok_or_else(|| missing(stored, path, version))?;
    let text = String::from_utf8(file.content).map_err(|_| {
        let message = format!("`{path}` is not text; `toolpost vfs export DIR` writes it to a file");
        ToolError::new(Code::IsBinary, message)
    });
    match printer.is_json() {
        true => {
            let mut shown = serde_json::to_value(&file.about).unwrap_or_default();
            shown["content"] = text.map_or(serde_json::Value::Null, Into::into);
            printer.json(&shown);
        }
        false => printer.content(&text?),
    }
    Ok(())
}

fn history(printer: &Printer, stored: &Stored, path: &str) -> Result<(), ToolError> {
    let versions = stored.store.file_versions(session_of(stored), path)?;
    if versions.is_empty() {
        return Err(missing(stored, path, None));
    }
    if printer.is_json() {
        printer.json(&json!({"path": versions[0].path, "versions": versions}));
        return Ok(());
    }
    let head = format!("{:>7}  {:19}  {:>10}  by", "version", "made (UTC)", "size");
    let mut page = format!("{}\n", printer.bold(&head));
    for version in &versions {
        let size = if version.hash.is_some() { size(version.size) } else { "deleted".to_owned() };
        let who = [version.agent.as_deref(), version.call.as_deref()];
        let who: Vec<String> = who.into_iter().flatten().map(one_line).collect();
        let (number, at) = (version.version, moment(version.at_ms));
        page.push_str(format!("{number:>7}  {at}  {size:>10}  {}", who.join(" ")).trim_end());
        page.push('\n');
    }
    printer.page(&page);
    Ok(())
}

fn export(
    printer: &Printer,
    stored: &Stored,
    to: &Path,
    force: bool,
    with_protected: bool,
) -> Result<(), ToolError> {
    let session = session_of(stored);
    let files = stored.store.files(session, "")?;
    let mut all = Vec::with_capacity(files.len());
    for file in files {
        // One that was deleted between the two looks is not there any more.
        if let Some(file) = stored.store.file(session, &file.path, Some(file.version))? {
            all.push(Put { name: file.about.path, content: file.content });
        }
    }
    if !with_protected {
        refuse_protected(&stored.config.cwd.join(to), &all)?;
    }
    let written = folder::write(to, &stored.config.cwd, &all, force)?;
    match printer.is_json() {
        true => printer.json(&json!({"folder": to, "files": all.len(), "written": written})),
        false => {
            let same = all.len() - written;
            let note = if same > 0 { format!("; {} already", were_there(same)) } else { String::new() };
            let written = count(written as u64, "file");
            printer.data(&format!("{written} written below {}{note}", to.display()));
        }
    }
    Ok(())
}

/// Refuses files that something would run by itself: an agent may have written them, and nobody was asked then.
fn refuse_protected(to: &Path, files: &[Put]) -> Result<(), ToolError> {
    let is_protected = |file: &&Put| {
        let path = to.join(&file.name);
        is_protected(Capability::Write, path.to_string_lossy().trim_start_matches('/'))
    };
    let names: Vec<&str> = files.iter().filter(is_protected).map(|file| file.name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    let message = format!(
        "nothing was written: below {}, {} would be protected, because other programs run such files or take rights from \
         them: {}{more}; look at them with `toolpost vfs show PATH`, then use --protected to write them too",
        to.display(),
        count(names.len() as u64, "file"),
        shown.join(", ")
    );
    Err(ToolError::new(Code::ProtectedFile, message).with("paths", names))
}

fn import(printer: &Printer, stored: &Stored, from: &Path, path: Option<&str>) -> Result<(), ToolError> {
    let session = session_of(stored);
    let Found { files, is_folder, left_out } = folder::read(from, &stored.config.cwd)?;
    let total = files.len();
    let mut changes = Vec::new();
    for file in files {
        // What ends with `/` is a folder to come into.
        let path = match path.map(|path| (path.trim_end_matches('/'), is_folder || path.ends_with('/'))) {
            Some((folder, true)) if !folder.is_empty() => format!("{folder}/{}", file.name),
            Some((path, false)) => path.to_owned(),
            Some((_, true)) | None => file.name,
        };
        let newest = newest(stored, &path)?;
        let hash = hex(&Sha256::digest(&file.content));
        if newest
            .as_ref()
            .is_some_and(|newest| newest.hash.as_deref() == Some(&hash) && newest.mode == file.mode)
        {
            continue;
        }
        let expected = Some(newest.map_or(0, |newest| newest.version));
        changes.push(FileChange { path, content: Some(file.content), expected, mode: Some(file.mode) });
    }
    let written = changes.len();
    if !changes.is_empty() {
        let by = By { at_ms: now_ms(), session: session.to_owned(), ..By::default() };
        stored.store.change_files(&by, changes)?;
    }
    match printer.is_json() {
        true => printer.json(&json!({
            "session": session, "files": total, "written": written, "leftOut": left_out,
        })),
        false => {
            let same = total - written;
            let mut line = format!("{} written to the session {session}", count(written as u64, "file"));
            if same > 0 {
                line.push_str(&format!("; {} already", were_there(same)));
            }
            printer.data(&line);
            if left_out > 0 {
                printer.say(
                    Tone::Note,
                    &format!("{left_out} left out: links, .git and everything that is not a regular file"),
                );
            }
        }
    }
    Ok(())
}

fn were_there(files: usize) -> String {
    match files {
        1 => "1 was there".to_owned(),
        files => format!("{files} were there"),
    }
}

fn newest(stored: &Stored, path: &str) -> Result<Option<FileVersion>, ToolError> {
    let versions = stored.store.file_versions(session_of(stored), path)?;
    Ok(versions.into_iter().next_back().filter(|newest| newest.hash.is_some()))
}

fn missing(stored: &Stored, path: &str, version: Option<u64>) -> ToolError {
    let session = session_of(stored);
    let known = stored.store.files(session, "").unwrap_or_default();
    let near = nearest(path, known.iter().map(|file| file.path.as_str()), 3);
    let hint = match (near.as_slice(), version) {
        (_, Some(_)) => format!("`toolpost vfs history {path}` shows which versions there are"),
        ([], None) => {
            "`toolpost vfs list` shows which there are, and --session names another session".to_owned()
        }
        (near, None) => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("nearest: {}", near.join(", "))
        }
    };
    let version = version.map_or_else(String::new, |version| format!(" in version {version}"));
    let message = format!("the session `{session}` has no virtual file `{path}`{version}; {hint}");
    ToolError::new(Code::FileNotFound, message).with("path", path)
}
