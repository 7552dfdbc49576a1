//! A layer of changes over another workspace, for dry runs: nothing below is ever changed.
//!
//! The layer knows no links. Those of the workspace below are followed by asking it, name by name.

mod layer;

use self::layer::{Layer, Upper};
use super::memory::{MemoryFile, above, folder_stat, prefix};
use super::turns::Turns;
use super::{Entries, Entry, File, Kind, Lock, Stat, Workspace, WorkspacePath, Written, refusal};
use crate::error::{Code, ToolError};
use crate::future::BoxFuture;
use crate::nearest::nearest;
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A workspace whose changes stay in memory.
pub struct Overlay {
    below: Arc<dyn Workspace>,
    layer: Mutex<Layer>,
    turns: Turns,
}

/// What would have changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Display name.
    pub path: String,
    /// The content before the first change; `None` where there was no file.
    pub before: Option<Vec<u8>>,
    /// The content now; `None` where the file is gone.
    pub after: Option<Vec<u8>>,
}

/// What the two layers hold at a name that has no links on its way.
enum Merged {
    Upper(MemoryFile),
    Below(Stat),
    Folder,
    Missing,
}

impl Overlay {
    /// Lays an empty layer over `below`.
    pub fn over(below: Arc<dyn Workspace>) -> Overlay {
        Overlay { below, layer: Mutex::default(), turns: Turns::default() }
    }

    /// The files that differ from what lies below, sorted by name. Folders are not listed.
    pub fn changes(&self) -> Vec<Change> {
        self.layer().changes()
    }

    fn layer(&self) -> MutexGuard<'_, Layer> {
        self.layer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The display name with the links below followed; with `Last::Keep` not the last one.
    async fn resolve(&self, path: &WorkspacePath, last: Last) -> Result<String, ToolError> {
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
                false => match self.below.stat(&WorkspacePath::new(next.as_str())).await {
                    Ok(stat) => stat.name,
                    Err(error) if error.details().contains_key("link") => return Err(error),
                    Err(error) if error.code() == Code::FileNotFound => next,
                    Err(error) => return Err(error),
                },
            };
        }
        Ok(name)
    }

    async fn look(&self, name: &str) -> Result<Merged, ToolError> {
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
        match self.below.stat(&WorkspacePath::new(name)).await {
            Ok(stat) => Ok(Merged::Below(stat)),
            Err(error) if error.details().contains_key("link") => Err(error),
            Err(error) if error.code() == Code::FileNotFound => Ok(Merged::Missing),
            Err(error) => Err(error),
        }
    }

    async fn missing(&self, name: &str) -> ToolError {
        let folder = above(name).next().unwrap_or(".");
        let Ok(entries) = self.merged(folder).await else { return refusal::missing(name, &[]) };
        let looked = tokio::task::spawn_blocking(move || {
            entries.take(2000).filter_map(|entry| Some(entry.ok()?.name)).collect::<Vec<_>>()
        });
        let names = looked.await.unwrap_or_default();
        let wanted = name.rsplit('/').next().unwrap_or(name);
        let near = nearest(wanted, names.iter().map(String::as_str), refusal::NEAREST);
        let near: Vec<String> = near.into_iter().map(|part| format!("{}{part}", prefix(folder))).collect();
        refusal::missing(name, &near)
    }

    /// The entries of both layers, those of the upper one in place of those they hide.
    async fn merged(&self, name: &str) -> Result<Entries, ToolError> {
        let lower = match self.look(name).await? {
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
        let lower = self.below.entries(&WorkspacePath::new(name)).await?;
        let kept = move |entry: &Result<Entry, ToolError>| {
            entry.as_ref().map_or(true, |entry| !entry.exact || !hidden.contains(&entry.name))
        };
        Ok(Box::new(lower.filter(kept).chain(upper)))
    }

    /// The content and mode of what is at a name now; `None` for anything but a regular file.
    async fn content(&self, name: &str) -> Result<Option<(Vec<u8>, u32)>, ToolError> {
        match self.look(name).await? {
            Merged::Upper(file) => Ok(Some((file.content.to_vec(), file.mode))),
            Merged::Below(stat) if stat.kind == Kind::File => {
                let mut file = self.below.open(&WorkspacePath::new(name)).await?;
                let read = tokio::task::spawn_blocking(move || {
                    let mut content = Vec::new();
                    file.reader.read_to_end(&mut content).map(|_| content)
                });
                let content = read.await.map_err(|error| ToolError::execution(error.to_string()))?;
                let content =
                    content.map_err(|error| ToolError::new(Code::ReadError, format!("`{name}`: {error}")))?;
                Ok(Some((content, stat.mode)))
            }
            _ => Ok(None),
        }
    }

    /// Everything under a folder that is to be moved, deepest last.
    async fn tree(&self, name: &str) -> Result<Vec<(String, Kind)>, ToolError> {
        let mut tree = vec![(name.to_owned(), Kind::Folder)];
        let mut next = 0;
        while next < tree.len() {
            let (folder, kind) = tree[next].clone();
            next += 1;
            if kind != Kind::Folder {
                continue;
            }
            for entry in self.merged(&folder).await?.collect::<Result<Vec<_>, _>>()? {
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
    async fn make(&self, folder: &str) -> Result<(), ToolError> {
        let roots = self.below.roots();
        let way: Vec<&str> = std::iter::once(folder).chain(above(folder)).collect();
        for name in way {
            if name == "." || roots.iter().any(|root| root == name) {
                return Ok(());
            }
            match self.look(name).await? {
                Merged::Folder => return Ok(()),
                Merged::Below(stat) if stat.kind == Kind::Folder => return Ok(()),
                Merged::Below(_) | Merged::Upper(_) => return Err(refusal::not_a_folder(name)),
                Merged::Missing => self.layer().set(name, Upper::Folder),
            }
        }
        Ok(())
    }

    fn is_root(&self, name: &str) -> bool {
        name == "." || self.below.roots().iter().any(|root| root == name)
    }

    async fn move_to(&self, from: &str, to: &str) -> Result<(), ToolError> {
        if self.is_root(from) || self.is_root(to) {
            return Err(refusal::is_root(if self.is_root(from) { from } else { to }));
        }
        let is_folder = match self.look(from).await? {
            Merged::Missing => return Err(self.missing(from).await),
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
        match self.look(to).await? {
            Merged::Folder => return Err(refusal::onto_folder(to)),
            Merged::Below(stat) if stat.kind == Kind::Folder => return Err(refusal::onto_folder(to)),
            Merged::Below(_) | Merged::Upper(_) if is_folder => return Err(refusal::no_move(from, to)),
            _ => {}
        }
        if to.starts_with(&prefix(from)) {
            return Err(refusal::no_move(from, to));
        }
        let tree = if is_folder { self.tree(from).await? } else { vec![(from.to_owned(), Kind::File)] };
        self.make(above(to).next().unwrap_or(".")).await?;
        for (name, kind) in &tree {
            let target = format!("{to}{}", &name[from.len()..]);
            match (kind, self.content(name).await?) {
                (Kind::Folder, _) => self.layer().set(&target, Upper::Folder),
                (_, Some((content, mode))) => {
                    let old = self.content(&target).await?;
                    let mut layer = self.layer();
                    layer.remember(&target, old.map(|(content, _)| content));
                    layer.remember(name, Some(content.clone()));
                    layer.set(&target, Upper::File(MemoryFile::new(&content, mode)));
                }
                (_, None) => return Err(refusal::not_a_file(name, "a special file")),
            }
        }
        self.layer().set(from, Upper::Gone);
        Ok(())
    }
}

impl Workspace for Overlay {
    fn root(&self) -> &str {
        self.below.root()
    }

    fn roots(&self) -> Vec<String> {
        self.below.roots()
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.below.name(path)
    }

    fn stat<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Stat, ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            match self.look(&name).await? {
                Merged::Upper(file) => Ok(file.stat(&name)),
                Merged::Below(stat) => Ok(stat),
                Merged::Folder => Ok(folder_stat(&name)),
                Merged::Missing => Err(self.missing(&name).await),
            }
        })
    }

    fn open<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<File, ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            match self.look(&name).await? {
                Merged::Upper(file) => Ok(file.open(&name)),
                Merged::Below(_) => self.below.open(&WorkspacePath::new(name)).await,
                Merged::Folder => Err(refusal::not_a_file(&name, "a folder")),
                Merged::Missing => Err(self.missing(&name).await),
            }
        })
    }

    fn entries<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Entries, ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            match self.look(&name).await? {
                Merged::Missing => Err(self.missing(&name).await),
                _ => self.merged(&name).await,
            }
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a WorkspacePath,
        content: &'a [u8],
    ) -> BoxFuture<'a, Result<Written, ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            match self.look(&name).await? {
                Merged::Folder => return Err(refusal::not_a_file(&name, "a folder")),
                Merged::Below(stat) if stat.kind == Kind::Folder => {
                    return Err(refusal::not_a_file(&name, "a folder"));
                }
                Merged::Below(stat) if stat.kind != Kind::File => {
                    return Err(refusal::not_a_file(&name, "a special file"));
                }
                _ => {}
            }
            let old = self.content(&name).await?;
            self.make(above(&name).next().unwrap_or(".")).await?;
            let (old, mode) = old.map_or((None, 0o644), |(content, mode)| (Some(content), mode));
            let created = old.is_none();
            let mut layer = self.layer();
            layer.remember(&name, old);
            layer.set(&name, Upper::File(MemoryFile::new(content, mode)));
            Ok(Written { name, created, bytes: content.len() as u64 })
        })
    }

    fn remove<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Keep).await?;
            if self.is_root(&name) {
                return Err(refusal::is_root(&name));
            }
            let old = match self.look(&name).await {
                // A link below, to nothing, out of the workspace or to another name: it goes, its target stays.
                Err(error) if error.details().contains_key("link") || error.code() == Code::PathEscape => {
                    None
                }
                Err(error) => return Err(error),
                Ok(Merged::Missing) => return Err(self.missing(&name).await),
                Ok(Merged::Below(stat)) if stat.name != name => None,
                Ok(Merged::Below(stat)) if stat.kind == Kind::Folder => {
                    self.must_be_empty(&name).await?;
                    None
                }
                Ok(Merged::Folder) => {
                    self.must_be_empty(&name).await?;
                    None
                }
                Ok(Merged::Below(_) | Merged::Upper(_)) => self.content(&name).await?,
            };
            let mut layer = self.layer();
            if let Some((content, _)) = old {
                layer.remember(&name, Some(content));
            }
            layer.set(&name, Upper::Gone);
            Ok(())
        })
    }

    fn rename<'a>(
        &'a self,
        from: &'a WorkspacePath,
        to: &'a WorkspacePath,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let from = self.resolve(from, Last::Keep).await?;
            let to = self.resolve(to, Last::Keep).await?;
            self.move_to(&from, &to).await
        })
    }

    fn create_folder<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            self.make(&name).await
        })
    }

    fn lock<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Lock, ToolError>> {
        Box::pin(async move {
            let name = self.resolve(path, Last::Follow).await?;
            Ok(Lock::new(self.turns.take(&name).await))
        })
    }
}

impl Overlay {
    async fn must_be_empty(&self, name: &str) -> Result<(), ToolError> {
        let mut entries = self.merged(name).await?;
        let first = tokio::task::spawn_blocking(move || entries.next().is_some()).await;
        match first {
            Ok(false) => Ok(()),
            _ => Err(refusal::not_empty(name)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Follow,
    Keep,
}
