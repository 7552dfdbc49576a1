//! Both layers of an overlay seen as one, and moves within it.

use super::Overlay;
use super::layer::{Image, Upper};
use crate::error::{Code, ToolError};
use crate::workspace::memory::{MemoryFile, above, prefix};
use crate::workspace::{Entries, Entry, Kind, Stat, WorkspacePath, refusal};
use std::collections::BTreeSet;
use std::io::Read;
use toolpost_text::nearest;

/// A file of more bytes is not kept in memory for a dry run, and not moved by one.
const MOST_KEPT: u64 = 64 << 20;

/// What the two layers hold at a name that has no links on its way.
pub(super) enum Merged {
    Upper(MemoryFile),
    Below(Stat),
    Folder,
    Missing,
}

/// Whether the last name of a path is followed where it is a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

impl Overlay {
    /// The display name with the links below followed; with `Last::Keep` not the last one.
    pub(super) fn resolve(&self, path: &WorkspacePath, last: Last) -> Result<String, ToolError> {
        let spelled = self.below.name(path)?;
        let roots = self.below.roots();
        let root = roots.iter().skip(1).find(|root| spelled == **root || spelled.starts_with(&prefix(root)));
        let mut name = root.map_or_else(|| ".".to_owned(), String::clone);
        let rest = root.map_or(spelled.as_str(), |root| spelled[root.len()..].trim_start_matches('/'));
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        for (index, part) in parts.iter().enumerate() {
            let next = format!("{}{part}", prefix(&name));
            let keep = index + 1 == parts.len() && last == Last::Keep;
            let hidden = self.layer().hides(&next);
            name = match keep || hidden {
                true => next,
                false => match self.below.stat(&WorkspacePath::new(next.as_str())) {
                    Ok(stat) => stat.name,
                    Err(error) if error.details().contains_key("link") => return Err(error),
                    Err(error) if error.code() == Code::FileNotFound => next,
                    Err(error) => return Err(error),
                },
            };
        }
        Ok(name)
    }

    pub(super) fn look(&self, name: &str) -> Result<Merged, ToolError> {
        {
            let layer = self.layer();
            match layer.get(name) {
                Some(Upper::File(file)) => return Ok(Merged::Upper(file.clone())),
                Some(Upper::Folder) => return Ok(Merged::Folder),
                Some(Upper::Gone) => return Ok(Merged::Missing),
                None if layer.file_above(name) => return Err(refusal::not_a_folder(name)),
                None if layer.hides(name) => return Ok(Merged::Missing),
                None => {}
            }
        }
        match self.below.stat(&WorkspacePath::new(name)) {
            Ok(stat) => Ok(Merged::Below(stat)),
            Err(error) if error.details().contains_key("link") => Err(error),
            Err(error) if error.code() == Code::FileNotFound => Ok(Merged::Missing),
            Err(error) => Err(error),
        }
    }

    /// Nothing has this name: the refusal, with the nearest names that exist.
    pub(super) fn missing(&self, name: &str) -> ToolError {
        // The first missing name from the left is the one to look for.
        let way: Vec<&str> = above(name).chain(std::iter::once(".")).collect();
        for folder in way {
            let Ok(entries) = self.merged(folder) else { continue };
            let names: Vec<String> = entries.take(2000).filter_map(|entry| Some(entry.ok()?.name)).collect();
            let start = prefix(folder);
            let Some(missing) = name.strip_prefix(start.as_str()) else { break };
            let (wanted, rest) = missing.split_once('/').unwrap_or((missing, ""));
            let mut near = nearest(wanted, names.iter().map(String::as_str), refusal::NEAREST);
            for part in &mut near {
                let whole = format!("{start}{part}/{rest}");
                let exists = !rest.is_empty() && !matches!(self.look(&whole), Err(_) | Ok(Merged::Missing));
                *part = if exists { whole } else { format!("{start}{part}") };
            }
            return refusal::missing(name, &near);
        }
        refusal::missing(name, &[])
    }

    /// The entries of both layers, those of the upper one in place of those they hide.
    pub(super) fn merged(&self, name: &str) -> Result<Entries, ToolError> {
        let lower = match self.look(name)? {
            Merged::Below(stat) if stat.kind == Kind::Folder => true,
            Merged::Folder => false,
            Merged::Missing => return Err(refusal::missing(name, &[])),
            Merged::Upper(_) | Merged::Below(_) => return Err(refusal::not_a_folder(name)),
        };
        let upper = self.layer().children(name);
        let hidden: BTreeSet<String> = upper.iter().map(|(name, _)| name.clone()).collect();
        let upper =
            upper.into_iter().filter_map(|(name, kind)| Some(Ok(Entry { name, kind: kind?, exact: true })));
        if !lower {
            return Ok(Box::new(upper));
        }
        let lower = self.below.entries(&WorkspacePath::new(name))?;
        let kept = move |entry: &Result<Entry, ToolError>| {
            entry.as_ref().map_or(true, |entry| !entry.exact || !hidden.contains(&entry.name))
        };
        Ok(Box::new(lower.filter(kept).chain(upper)))
    }

    /// What is at a name now and its mode; `None` for anything but a regular file.
    pub(super) fn image(&self, name: &str) -> Result<Option<(Image, u32)>, ToolError> {
        match self.look(name)? {
            Merged::Upper(file) => {
                let image = Image { size: file.content.len() as u64, content: Some(file.content) };
                Ok(Some((image, file.mode)))
            }
            Merged::Below(stat) if stat.kind == Kind::File && stat.size > MOST_KEPT => {
                Ok(Some((Image { size: stat.size, content: None }, stat.mode)))
            }
            Merged::Below(stat) if stat.kind == Kind::File => {
                let file = self.below.open(&WorkspacePath::new(name))?;
                let mut content = Vec::new();
                (file.reader.take(MOST_KEPT + 1).read_to_end(&mut content))
                    .map_err(|error| ToolError::new(Code::ReadError, format!("`{name}`: {error}")))?;
                let size = content.len() as u64;
                // It may have grown since it was looked at.
                let content = (size <= MOST_KEPT).then(|| content.into());
                Ok(Some((Image { size: size.max(stat.size), content }, stat.mode)))
            }
            _ => Ok(None),
        }
    }

    /// Everything under a folder that is to be moved, deepest last.
    pub(super) fn tree(&self, name: &str) -> Result<Vec<(String, Kind)>, ToolError> {
        let mut tree = vec![(name.to_owned(), Kind::Folder)];
        let mut next = 0;
        while next < tree.len() {
            let (folder, kind) = tree[next].clone();
            next += 1;
            if kind != Kind::Folder {
                continue;
            }
            for entry in self.merged(&folder)?.collect::<Result<Vec<_>, _>>()? {
                if !entry.exact || !matches!(entry.kind, Kind::File | Kind::Folder) {
                    let message = format!(
                        "a dry run cannot move the folder `{name}`: `{}` in it is a link, a special file or not UTF-8; move its files one by one",
                        entry.name
                    );
                    return Err(ToolError::new(Code::WriteError, message));
                }
                tree.push((format!("{}{}", prefix(&folder), entry.name), entry.kind));
            }
        }
        Ok(tree)
    }

    /// Makes the folders above a name in the upper layer where neither layer has them.
    pub(super) fn make(&self, folder: &str) -> Result<(), ToolError> {
        let roots = self.below.roots();
        let way: Vec<&str> = std::iter::once(folder).chain(above(folder)).collect();
        for name in way {
            if name == "." || roots.iter().any(|root| root == name) {
                return Ok(());
            }
            match self.look(name)? {
                Merged::Folder => return Ok(()),
                Merged::Below(stat) if stat.kind == Kind::Folder => return Ok(()),
                Merged::Below(_) | Merged::Upper(_) => return Err(refusal::not_a_folder(name)),
                Merged::Missing => self.layer().set(name, Upper::Folder),
            }
        }
        Ok(())
    }

    pub(super) fn is_root(&self, name: &str) -> bool {
        name == "." || self.below.roots().iter().any(|root| root == name)
    }

    pub(super) fn move_to(&self, from: &str, to: &str) -> Result<(), ToolError> {
        if self.is_root(from) || self.is_root(to) {
            return Err(refusal::is_root(if self.is_root(from) { from } else { to }));
        }
        let is_folder = match self.look(from)? {
            Merged::Missing => return Err(self.missing(from)),
            Merged::Folder => true,
            Merged::Below(stat) if stat.name != from => {
                let message = format!("a dry run cannot move the link `{from}`; name the file it leads to");
                return Err(ToolError::new(Code::WriteError, message));
            }
            Merged::Below(stat) => stat.kind == Kind::Folder,
            Merged::Upper(_) => false,
        };
        if from == to {
            return Ok(());
        }
        match self.look(to)? {
            Merged::Folder => return Err(refusal::onto_folder(to)),
            Merged::Below(stat) if stat.kind == Kind::Folder => return Err(refusal::onto_folder(to)),
            Merged::Below(_) | Merged::Upper(_) if is_folder => return Err(refusal::no_move(from, to)),
            _ => {}
        }
        if to.starts_with(&prefix(from)) {
            return Err(refusal::no_move(from, to));
        }
        let tree = if is_folder { self.tree(from)? } else { vec![(from.to_owned(), Kind::File)] };
        self.make(above(to).next().unwrap_or("."))?;
        for (name, kind) in &tree {
            let target = format!("{to}{}", &name[from.len()..]);
            match (kind, self.image(name)?) {
                (Kind::Folder, _) => self.layer().set(&target, Upper::Folder),
                (_, Some((image, mode))) => {
                    let Some(content) = image.content.clone() else {
                        return Err(ToolError::new(
                            Code::TooLarge,
                            format!(
                                "`{name}` has {} bytes; a dry run moves files of at most {MOST_KEPT} bytes",
                                image.size
                            ),
                        )
                        .with("size", image.size));
                    };
                    let old = self.image(&target)?;
                    let mut layer = self.layer();
                    layer.remember(&target, old.map(|(image, _)| image));
                    layer.remember(name, Some(image));
                    layer.set(&target, Upper::File(MemoryFile::new(&content, mode)));
                }
                (_, None) => return Err(refusal::not_a_file(name, "a special file")),
            }
        }
        self.layer().set(from, Upper::Gone);
        Ok(())
    }

    pub(super) fn must_be_empty(&self, name: &str) -> Result<(), ToolError> {
        match self.merged(name)?.next() {
            None => Ok(()),
            Some(_) => Err(refusal::not_empty(name)),
        }
    }
}
