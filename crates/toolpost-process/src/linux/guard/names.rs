//! Which names a command may create: the protected list and the user's rules, judged by absolute path.
//!
//! Pure: nothing here looks at a disk. The caller resolves links first.

mod dependencies;
mod rules;

use crate::linux::confine::has_removable;
use crate::linux::wire::View;
use dependencies::Dependencies;
use rules::{Set, Standing};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;

/// What is about to get a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Making {
    /// An empty folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link, which may lead to a folder that has content.
    Link,
    /// A folder with content.
    Filled,
}

/// The names that are closed to one command.
pub(super) struct Names {
    roots: Vec<Root>,
    reserved: Reserved,
    sets: Vec<Set>,
    /// What is locked or hidden, sorted.
    marked: Vec<Vec<u8>>,
    /// Folders to which links give other names, each with these.
    aliases: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    /// What may neither become a link nor be moved, as [`folded_path`] gives it.
    fixed: BTreeSet<Vec<u8>>,
    dependencies: Dependencies,
    /// Hidden files that may be removed, by where they are now, with where they were.
    removable: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What lies in the home folder from the beginning, such as the user's settings of git.
    given: BTreeSet<Vec<u8>>,
}

/// A folder in which names are judged.
struct Root {
    path: Vec<u8>,
    /// The number of parts of the path.
    depth: usize,
    /// What rules write before a name in this folder: nothing in the first, the path in the others.
    prefix: String,
    /// Rules are about the workspace; in the home folder only the protected list holds.
    has_rules: bool,
    /// Whether nothing but caches may be created.
    only_caches: bool,
}

impl Root {
    /// Whether the path lies in this root, and the rules hold there.
    fn holds(&self, path: &[u8]) -> bool {
        self.has_rules && below(&self.path, path).is_some_and(|rest| !rest.is_empty())
    }
}

impl Names {
    pub(super) fn new(view: &View) -> Names {
        let mut roots: Vec<Root> = view
            .writable
            .iter()
            .enumerate()
            .map(|(at, path)| Root {
                path: without_final_slash(path),
                depth: parts(path).count(),
                prefix: match at {
                    0 => String::new(),
                    _ => format!("{}/", String::from_utf8_lossy(&without_final_slash(path))),
                },
                has_rules: true,
                only_caches: false,
            })
            .collect();
        if !view.home.is_empty() {
            let path = without_final_slash(&view.home);
            let depth = parts(&path).count();
            // Where the home folder is the workspace, or lies in it, the rules hold.
            if !roots.iter().any(|root| below(&root.path, &path).is_some()) {
                roots.push(Root {
                    path,
                    depth,
                    prefix: String::new(),
                    has_rules: false,
                    only_caches: view.only_caches,
                });
            }
        }
        let mut marked: Vec<Vec<u8>> = view.locked.iter().chain(&view.hidden).cloned().collect();
        marked.sort();
        let removable = view.dependencies.removable.iter().map(|path| path.as_os_str().as_bytes().to_vec());
        let mut aliases: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for (folder, name) in &view.aliases {
            aliases.entry(without_final_slash(folder)).or_default().push(without_final_slash(name));
        }
        Names {
            aliases,
            fixed: view.fixed.iter().map(|path| folded_path(path)).collect(),
            dependencies: Dependencies::new(&view.dependencies),
            removable: match has_removable(view) {
                true => removable.map(|path| (path.clone(), path)).collect(),
                false => BTreeMap::new(),
            },
            roots,
            reserved: Reserved::new(&view.reserved),
            sets: view.rules.iter().map(Set::new).collect(),
            marked,
            given: view.readable.iter().chain(&view.programs).map(|path| without_final_slash(path)).collect(),
        }
    }

    /// Whether this path was laid into the view before the command began.
    pub(super) fn is_given(&self, path: &[u8]) -> bool {
        self.given.contains(path)
    }

    /// Whether the command may not create this path, under any of its names.
    pub(super) fn is_closed(&self, path: &[u8], making: Making) -> bool {
        if making == Making::Link && self.is_fixed(path) {
            return true;
        }
        let own = self.standing(path, making);
        if own >= Standing::Closed {
            return true;
        }
        // What a rule opens by its real name is open, unless a rule denies it by another.
        let bar = if own == Standing::Opened { Standing::Denied } else { Standing::Closed };
        self.other_names(path).any(|name| self.standing(&name, making) >= bar)
    }

    /// Whether a rule opens this path, by its real name and by those that links give it.
    pub(super) fn is_opened(&self, path: &[u8]) -> bool {
        self.standing(path, Making::File) == Standing::Opened
            && self.other_names(path).all(|name| self.standing(&name, Making::File) < Standing::Closed)
    }

    /// Whether something protected is reached through this name.
    pub(super) fn is_fixed(&self, path: &[u8]) -> bool {
        !self.fixed.is_empty() && self.fixed.contains(&folded_path(path))
    }

    /// The names that links give to a path.
    fn other_names<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let ends = ends.filter(|_| !self.aliases.is_empty()).chain([path.len()]);
        ends.flat_map(move |end| {
            let names = self.aliases.get(&path[..end]).into_iter().flatten();
            names.map(move |name| [name.as_slice(), &path[end..]].concat())
        })
    }

    fn standing(&self, path: &[u8], making: Making) -> Standing {
        let folded: Vec<Cow<'_, [u8]>> = parts(path).map(fold).collect();
        let is_in_workspace =
            self.roots.iter().any(|root| root.has_rules && below(&root.path, path).is_some());
        // A folder may lie in several roots, and each names it differently. What lies in the workspace is not judged as a
        // part of the home folder.
        let of = |root: &Root| {
            let rest = below(&root.path, path).filter(|rest| !rest.is_empty())?;
            let by_list = || {
                let matches = |reserved: &Reserved, end| reserved.matches(&folded, root.depth, end, making);
                let is_closed = matches(&self.reserved, usize::MAX)
                    && match self.dependencies.depth(root, path) {
                        // What a package brings along is no start-up file of a home folder.
                        None if !root.has_rules && is_in_cache(rest) => {
                            matches(&self.dependencies.reserved, usize::MAX)
                        }
                        None => true,
                        // What begins outside of the dependency folder, as `.claude` of `.claude/node_modules/x` does,
                        // holds in it too.
                        Some(depth) => {
                            matches(&self.reserved, depth) || matches(&self.dependencies.reserved, usize::MAX)
                        }
                    };
                if is_closed { Standing::Closed } else { Standing::Free }
            };
            if !root.has_rules && is_in_workspace {
                return None;
            }
            if root.only_caches && !is_cache(rest, making) {
                return Some(Standing::Closed);
            }
            if self.sets.is_empty() || !root.has_rules {
                return Some(by_list());
            }
            let name = format!("{}{}", root.prefix, joined(rest));
            let is_link = making == Making::Link;
            self.sets.iter().map(|set| set.judge(&name, is_link).unwrap_or_else(by_list)).max()
        };
        self.roots.iter().filter_map(of).max().unwrap_or(Standing::Free)
    }

    /// Whether a folder that moves must be looked through, since rules may treat its content differently elsewhere.
    ///
    /// The protected list needs no look: it matches names at any depth, so what it closes was closed before the move,
    /// and a folder on the way to such a name is refused as [`Making::Filled`]. But a folder that comes to lie at the
    /// path to which a link leads gets another name by the move, and a link in it may come to lie on the way of one. What
    /// leaves a dependency folder may carry names that were open in it. And where a link of the user's leads into one, a
    /// link that moves may come to lead through that.
    pub(super) fn must_look_inside(&self, source: &[u8], target: &[u8]) -> bool {
        let after = (Bound::Excluded(target), Bound::Unbounded);
        let holds_alias = || {
            let mut folders = self.aliases.range::<[u8], _>(after).map(|(folder, _)| folder);
            let near = folders.by_ref().take_while(|folder| folder.starts_with(target));
            near.into_iter().any(|folder| below(target, folder).is_some())
        };
        let holds_fixed = || {
            let target = folded_path(target);
            let after = (Bound::Excluded(target.as_slice()), Bound::Unbounded);
            let mut near = self.fixed.range::<[u8], _>(after).take_while(|path| path.starts_with(&target));
            near.any(|path| below(&target, path).is_some())
        };
        !self.sets.is_empty()
            || holds_alias()
            || holds_fixed()
            || self.dependencies.are_off()
            || self.leaves_dependencies(source, target)
    }

    /// Whether what has moved may have been in a dependency folder, or be one, and is not any more. The name says so, since
    /// the folder may be one to another command.
    fn leaves_dependencies(&self, source: &[u8], target: &[u8]) -> bool {
        let is_one = |root: &Root| self.dependencies.are_called(root, source);
        let stays = |root: &Root| {
            self.dependencies.inside(root, target) || self.dependencies.moves_along(source, target)
        };
        let ours = |path| self.roots.iter().filter(move |root| root.holds(path));
        ours(source).any(is_one) && !(ours(target).count() > 0 && ours(target).all(stays))
    }

    /// What keeps a file or folder from being moved: each path of it that is locked or hidden, unless that may move in
    /// dependency folders and stays in one.
    pub(super) fn held_by<'a>(
        &'a self,
        source: &'a [u8],
        target: &'a [u8],
    ) -> impl Iterator<Item = &'a [u8]> + 'a {
        let stays = move |path: &[u8]| {
            if self.dependencies.carry(path, source, target) {
                return true;
            }
            let path = [target, &path[source.len()..]].concat();
            let mut ours = self.roots.iter().filter(|root| root.holds(&path)).peekable();
            ours.peek().is_some() && ours.all(|root| self.dependencies.depth(root, &path).is_some())
        };
        let may_move = move |path: &&[u8]| {
            path.len() > source.len() && self.removable.contains_key(*path) && stays(path)
        };
        self.marked_below(source).filter(move |path| !may_move(path))
    }

    /// Where a hidden file was when the command started, if it may be removed.
    pub(super) fn removable_at(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.removable.get(path).cloned()
    }

    /// Takes note that a hidden file was removed.
    pub(super) fn forget(&mut self, path: &[u8]) {
        self.removable.remove(path);
        self.marked.retain(|known| known != path);
    }

    /// Does something as if a folder had moved, with the dependency folders in it.
    pub(super) fn as_if_moved<T>(
        guard: &mut super::Guard,
        (source, target): (&[u8], &[u8]),
        what: impl FnOnce(&mut super::Guard) -> T,
    ) -> T {
        let folders = guard.names.dependencies.folders();
        guard.names.dependencies.moved(source, target);
        let result = what(guard);
        guard.names.dependencies.restore(folders);
        result
    }

    /// Takes note that a folder has moved, with the dependency folders and the hidden files in it.
    pub(super) fn moved(&mut self, source: &[u8], target: &[u8]) {
        self.dependencies.moved(source, target);
        let moved: Vec<Vec<u8>> = self.marked_below(source).map(<[u8]>::to_vec).collect();
        for path in moved {
            let now = [target, &path[source.len()..]].concat();
            if let Some(known) = self.removable.remove(&path) {
                self.removable.insert(now.clone(), known);
            }
            self.marked.retain(|known| *known != path);
            self.marked.insert(self.marked.partition_point(|known| *known < now), now);
        }
    }

    /// The same for two that have changed places. One that gets another name is a dependency folder no more.
    pub(super) fn exchanged(&mut self, one: &[u8], other: &[u8]) {
        let aside = [one, b"/"].concat();
        self.moved(one, &aside);
        self.moved(other, one);
        self.moved(&aside, other);
    }

    /// Whether it matters where a symbolic link of this path leads: no folder above has the name of one of dependencies, and
    /// no rule opens what is below.
    pub(super) fn is_judged_as_link(&self, link: &[u8]) -> bool {
        let is_outside = |root: &Root| root.holds(link) && !self.dependencies.are_above(root, link);
        let inside = [link, b"/x"].concat();
        !self.dependencies.are_never()
            && self.roots.iter().any(is_outside)
            && !(self.is_opened(link) && self.is_opened(&inside))
    }

    /// Whether a link is called like a dependency folder itself.
    pub(super) fn says_so_itself(&self, link: &[u8]) -> bool {
        self.dependencies.is_called(link)
    }

    /// Whether a path in the workspace leads through the name of a dependency folder.
    pub(super) fn is_called_like_dependencies(&self, path: &[u8]) -> bool {
        self.roots.iter().any(|root| root.has_rules && self.dependencies.are_called(root, path))
    }

    /// Whether a symbolic link of this path with this text leads into a dependency folder, now or after something else
    /// has changed, by a name that does not say so.
    pub(super) fn leads_into_dependencies(&self, link: &[u8], text: &[u8]) -> bool {
        // What a root itself lies in says nothing.
        let inside = self.roots.iter().filter(|root| root.has_rules);
        let inside = inside.filter_map(|root| below(&root.path, text)).min_by_key(|rest| rest.len());
        self.is_judged_as_link(link) && self.dependencies.are_named_by(link, inside.unwrap_or(text))
    }

    /// Whether a file of this name makes the folder one of dependencies, although it holds something protected.
    pub(super) fn is_forged_marker(&self, folder: &[u8], name: &[u8]) -> bool {
        self.dependencies.is_marker(folder, name)
            && self.roots.iter().any(|root| root.has_rules && below(&root.path, folder).is_some())
            && self.holds_marked(folder)
    }

    /// Whether this path, or something inside it, is locked or hidden.
    pub(super) fn holds_marked(&self, path: &[u8]) -> bool {
        self.marked_below(path).next().is_some()
    }

    /// What is locked or hidden.
    pub(super) fn marked(&self) -> impl Iterator<Item = &[u8]> {
        self.marked.iter().map(Vec::as_slice)
    }

    /// What is locked or hidden at this path and inside.
    fn marked_below<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let from = self.marked.partition_point(|known| known.as_slice() < path);
        // `a-b` sorts between `a` and `a/b`.
        let near = self.marked[from..].iter().take_while(move |known| known.starts_with(path));
        near.filter(move |known| below(path, known).is_some()).map(Vec::as_slice)
    }

    /// The outermost path that is locked or hidden and is this one or lies above it.
    pub(super) fn marked_above<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()])
            .map(|end| &path[..end])
            .find(|above| self.marked.binary_search_by(|known| known.as_slice().cmp(above)).is_ok())
    }

    /// Whether a folder lies in the workspace.
    pub(super) fn is_in_workspace(&self, folder: &[u8]) -> bool {
        self.roots.iter().any(|root| root.has_rules && below(&root.path, folder).is_some())
    }

    /// Whether a change of this path is recorded: it lies in the workspace or is a root of it, in no dependency folder and in
    /// nothing that cannot be changed.
    pub(super) fn is_kept(&self, path: &[u8]) -> bool {
        let is_kept = |root: &Root| {
            root.has_rules && below(&root.path, path).is_some() && !self.dependencies.inside(root, path)
        };
        self.roots.iter().any(is_kept) && self.marked_above(path).is_none()
    }

    /// The dependency folder because of which a change of this path is not recorded.
    pub(super) fn left_out(&self, path: &[u8]) -> Option<Vec<u8>> {
        let roots = self.roots.iter().filter(|root| below(&root.path, path).is_some());
        roots.filter_map(|root| self.dependencies.outermost(root, path)).next()
    }

    /// Whether names below this folder are judged at all.
    pub(super) fn concerns(&self, folder: &[u8]) -> bool {
        self.roots.iter().any(|root| below(&root.path, folder).is_some())
    }
}

/// Where package managers and build tools keep what they can make again, in a home folder. No program takes settings
/// or start-up files from here.
const CACHES: &[&str] = &[
    ".cache",
    ".npm/_cacache",
    ".npm/_logs",
    ".npm/_locks",
    ".npm/_update-notifier-last-checked",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.global-cache",
    "go/pkg",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/notifications",
    ".gradle/.tmp",
    ".m2/repository",
    ".ivy2/cache",
    ".nuget/packages",
    ".local/share/nuget",
    ".local/share/pnpm/store",
    ".local/state",
    ".pnpm-store",
    ".yarn/berry/cache",
    ".bun/install/cache",
    ".hex/packages",
    ".pub-cache/hosted",
    ".stack/pantry",
    ".cabal/packages",
    ".ccache",
];

/// Whether a path from the home folder lies in a cache. Empty folders on the way to one may be created.
fn is_cache(path: &[u8], making: Making) -> bool {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    CACHES.iter().map(|cache| cache.as_bytes()).any(|cache| {
        let is_on_the_way = making == Making::Folder && below(path, cache).is_some();
        // The cache itself may not be a link: it could lead to anything.
        let is_inside = below(cache, path).is_some_and(|rest| !rest.is_empty() || making != Making::Link);
        is_on_the_way || is_inside
    })
}

/// Whether a path from the home folder lies inside of a cache.
fn is_in_cache(path: &[u8]) -> bool {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    CACHES.iter().any(|cache| below(cache.as_bytes(), path).is_some_and(|rest| !rest.is_empty()))
}

/// What follows the folder in the path; empty for the folder itself.
fn below<'a>(folder: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(folder)?;
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}

fn without_final_slash(path: &[u8]) -> Vec<u8> {
    let length = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    path[..length].to_vec()
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
}

fn joined(path: &[u8]) -> String {
    let parts: Vec<Cow<'_, str>> = parts(path).map(String::from_utf8_lossy).collect();
    parts.join("/")
}

/// A name as a file system that ignores case sees it, and as Windows and HFS+ do: `.GIT`, `.git.`, `.git:x`, and `.git`
/// with a character of no width in it all open `.git`.
fn fold(part: &[u8]) -> Cow<'_, [u8]> {
    let cut = part.iter().position(|byte| *byte == b':').map_or(part, |at| &part[..at]);
    let end = cut.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
    let part = &cut[..end];
    if part.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(part);
    }
    if part.is_ascii() {
        return Cow::Owned(part.to_ascii_lowercase());
    }
    let folded: String = String::from_utf8_lossy(part)
        .chars()
        .filter(|letter| !is_without_width(*letter))
        .map(|letter| match letter {
            '\u{17f}' => 's',
            '\u{212a}' => 'k',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    Cow::Owned(folded.into_bytes())
}

/// A whole path in the same way, without empty parts.
fn folded_path(path: &[u8]) -> Vec<u8> {
    parts(path).flat_map(|part| [b"/".as_slice(), &fold(part)].concat()).collect()
}

fn is_without_width(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// The protected list, sorted by first part: every creating call is held against it.
struct Reserved {
    by_first: HashMap<Vec<u8>, Vec<Vec<Vec<u8>>>>,
    /// Patterns whose first part has a `*`.
    others: Vec<Vec<Vec<u8>>>,
}

impl Reserved {
    fn new(patterns: &[Vec<u8>]) -> Reserved {
        let mut reserved = Reserved { by_first: HashMap::new(), others: Vec::new() };
        for pattern in patterns {
            let pattern: Vec<Vec<u8>> = parts(&pattern.to_ascii_lowercase()).map(<[u8]>::to_vec).collect();
            match pattern.first() {
                None => (),
                Some(first) if first.contains(&b'*') => reserved.others.push(pattern),
                Some(first) => reserved.by_first.entry(first.clone()).or_default().push(pattern),
            }
        }
        reserved
    }

    /// Whether a pattern matches the path below a root of this depth. It may begin in the root's own path, so that
    /// `workflows` in the root `.github` is known; one that ends there says nothing about what lies in the root. Only
    /// patterns that begin before `end` count.
    fn matches(&self, path: &[Cow<'_, [u8]>], root: usize, end: usize, making: Making) -> bool {
        (0..path.len().min(end)).any(|at| {
            let known = self.by_first.get(path[at].as_ref()).into_iter().flatten();
            let all = known.chain(&self.others).filter(|pattern| at + pattern.len() > root);
            all.into_iter().any(|pattern| match Reserved::reaches(pattern, &path[at..]) {
                Reached::All => true,
                // An empty folder on the way may be created. A file or link there, or a folder with content, may not.
                Reached::OnTheWay => making != Making::Folder,
                // Anything may be on the way to a name at any depth. Only what has or gets content counts.
                Reached::Somewhere => matches!(making, Making::Link | Making::Filled),
                Reached::No => false,
            })
        })
    }

    fn reaches(pattern: &[Vec<u8>], path: &[Cow<'_, [u8]>]) -> Reached {
        match (pattern.split_first(), path.split_first()) {
            (None, _) => Reached::All,
            (Some((any, _)), None) if any == b"**" => Reached::Somewhere,
            (Some(_), None) => Reached::OnTheWay,
            (Some((any, rest)), Some((_, after))) if any == b"**" => {
                Reserved::reaches(rest, path).max(Reserved::reaches(pattern, after))
            }
            (Some((wanted, rest)), Some((part, after))) => match has_form(wanted, part) {
                true => Reserved::reaches(rest, after),
                false => Reached::No,
            },
        }
    }
}

/// How far a path goes into a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    No,
    /// To where any number of parts may follow.
    Somewhere,
    OnTheWay,
    All,
}

/// Whether a part of a pattern, in which `*` is any text, matches a name. Only the last `*` is tried again.
fn has_form(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                last_star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == name[from] => {
                at += 1;
                from += 1;
            }
            _ => match &mut last_star {
                Some((star, matched)) => {
                    *matched += 1;
                    (at, from) = (*star + 1, *matched);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests;
