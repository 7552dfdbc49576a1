//! Which tools there are. Readers get a snapshot that never changes under them; writers swap in the next one.

mod entry;
mod shelves;
mod spelling;

pub use crate::source::{Expected, IsWanted, ListedResource, ResourceCall, ToolSource};
pub(crate) use entry::AbortOnDrop;
pub use entry::{Entry, Prepared};
pub use shelves::Shelves;

use crate::capability::Capability;
use crate::dialect::{Dialect, Dialects};
use crate::error::{Code, ToolError};
use crate::policy::Names;
use crate::tool::{AnyTool, Definition, Setting, Texts};
use arc_swap::ArcSwap;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use toolpost_schema::Alias;
use toolpost_text::nearest;

/// The tools of a runtime, by name and by alias.
///
/// A call takes one [`Snapshot`] and keeps it to its end, so that no change disturbs a call in flight.
#[derive(Default)]
pub struct Registry {
    current: ArcSwap<Snapshot>,
    writing: Mutex<()>,
    changed: watch::Sender<u64>,
    texts: Arc<Texts>,
    sources: ArcSwap<Vec<Arc<dyn ToolSource>>>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// An empty registry that fills these texts into descriptions.
    pub fn with_texts(texts: Texts) -> Registry {
        Registry { texts: Arc::new(texts), ..Registry::default() }
    }

    /// The tools of a snapshot, to which more can be added: for an agent that has some of its own. The tools are shared,
    /// but for those whose definition differs by agent.
    pub fn over(snapshot: &Snapshot) -> Registry {
        let own = |(name, entry): (&String, &Arc<Entry>)| {
            let entry = if entry.spec().is_by_agent { Arc::new(entry.anew()) } else { entry.clone() };
            (name.clone(), entry)
        };
        let current = Snapshot {
            tools: snapshot.tools.iter().map(own).collect(),
            aliases: snapshot.aliases.clone(),
            arranged: snapshot.arranged.clone(),
            dialects: snapshot.dialects.clone(),
            names: OnceLock::new(),
            generation: 0,
        };
        Registry { current: ArcSwap::from_pointee(current), ..Registry::default() }
    }

    /// Adds a tool. A name that is taken or that no provider would accept is an error, and so is a schema that is not valid.
    pub fn register(&self, tool: impl AnyTool + 'static) -> Result<(), ToolError> {
        self.register_shared(Arc::new(tool))
    }

    /// Adds a tool that others hold as well.
    pub fn register_shared(&self, tool: Arc<dyn AnyTool>) -> Result<(), ToolError> {
        self.change(|draft| {
            let name = draft.add(tool)?;
            draft.tools[&name].check_schema()
        })
    }

    /// Takes a tool out, with its aliases. Calls in flight go on; shutting it down is the caller's business.
    pub fn unregister(&self, name: &str) -> Option<Arc<Entry>> {
        self.change(|draft| Ok(draft.unregister(name))).ok().flatten()
    }

    /// Adds another name for a tool. A name that is taken, or a tool that is not there, is an error.
    pub fn add_alias(&self, alias: Alias) -> Result<(), ToolError> {
        self.change(|draft| draft.add_alias(alias))
    }

    /// Several changes as one: readers see all of them or none. If `change` fails, nothing changes.
    pub fn change<T>(&self, change: impl FnOnce(&mut Draft) -> Result<T, ToolError>) -> Result<T, ToolError> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.current.load_full();
        let mut draft = Draft {
            tools: current.tools.clone(),
            aliases: current.aliases.clone(),
            arranged: current.arranged.clone(),
            is_arranged: true,
            dialects: current.dialects.clone(),
            texts: self.texts.clone(),
        };
        let value = change(&mut draft)?;
        draft.put_in_order();
        let next = Snapshot {
            tools: draft.tools,
            aliases: draft.aliases,
            arranged: draft.arranged,
            dialects: draft.dialects,
            names: OnceLock::new(),
            generation: current.generation + 1,
        };
        let generation = next.generation;
        self.current.store(Arc::new(next));
        self.changed.send_replace(generation);
        Ok(value)
    }

    /// Tells of every change by the generation that it made; who is slow hears of the last one only.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Adds a source of tools; its tools stand behind those of the sources before it. A name that is taken is an error.
    pub fn add_source(&self, source: Arc<dyn ToolSource>) -> Result<(), ToolError> {
        let name = source.name().to_owned();
        if self.sources.load().iter().any(|known| known.name() == name) {
            return Err(ToolError::execution(format!(
                "there is a source of tools named `{name}` already; give this one another name"
            )));
        }
        self.change(|draft| {
            draft.arranged.entry(name).or_default();
            Ok(())
        })?;
        self.sources.rcu(|sources| sources.iter().chain([&source]).cloned().collect::<Vec<_>>());
        Ok(())
    }

    /// The sources of tools, in the order they were added.
    pub fn sources(&self) -> Arc<Vec<Arc<dyn ToolSource>>> {
        self.sources.load_full()
    }

    /// The sources that may have a tool of this name.
    pub fn sources_of(&self, name: &str) -> Vec<Arc<dyn ToolSource>> {
        self.sources.load().iter().filter(|source| source.may_have(name)).cloned().collect()
    }

    /// The tools as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The tool of this canonical name.
    pub fn get(&self, name: &str) -> Option<Arc<Entry>> {
        self.current.load().tools.get(name).cloned()
    }

    /// Whether there is a tool of this canonical name.
    pub fn has(&self, name: &str) -> bool {
        self.current.load().tools.contains_key(name)
    }

    /// All canonical names, in the order of registration.
    pub fn names(&self) -> Vec<String> {
        self.current.load().tools.keys().cloned().collect()
    }

    /// All tools, in the order of registration.
    pub fn all(&self) -> Vec<Arc<Entry>> {
        self.current.load().tools.values().cloned().collect()
    }

    /// The tools through which the model can cause this, required or optional.
    pub fn with_capability(&self, capability: Capability) -> Vec<Arc<Entry>> {
        let mut all = self.all();
        all.retain(|entry| entry.spec().required.union(entry.spec().optional).has(capability));
        all
    }

    /// The tools meant for this provider, or for all.
    pub fn for_provider(&self, provider: &str) -> Vec<Arc<Entry>> {
        let mut all = self.all();
        all.retain(|entry| entry.spec().is_for_provider(Some(provider)));
        all
    }

    /// Makes all tools ready, side by side. Returns those that failed; each is tried again at its next call.
    pub async fn initialize_all(&self, setting: &Setting, limit: Duration) -> Vec<(String, ToolError)> {
        let all = self.all();
        let ready = all.iter().map(|entry| async move {
            let result = entry.ready(setting, limit).await;
            result.err().map(|error| (entry.name().to_owned(), error))
        });
        futures_util::future::join_all(ready).await.into_iter().flatten().collect()
    }

    /// Shuts all tools down that were made ready, the last one first, each within `limit`. Returns the names of
    /// those that did not end in time or crashed.
    pub async fn shutdown_all(&self, limit: Duration) -> Vec<String> {
        let mut late = Vec::new();
        for entry in self.all().into_iter().rev() {
            if !entry.shutdown(limit).await {
                late.push(entry.name().to_owned());
            }
        }
        late
    }
}

/// All tools at one moment.
#[derive(Default)]
pub struct Snapshot {
    tools: IndexMap<String, Arc<Entry>>,
    aliases: BTreeMap<String, Arc<Alias>>,
    arranged: IndexMap<String, Arranged>,
    dialects: Arc<Dialects>,
    names: OnceLock<Names>,
    generation: u64,
}

/// How a source has arranged its tools.
#[derive(Debug, Clone, Default)]
struct Arranged {
    order: Arc<[String]>,
    shelves: Arc<Shelves>,
}

/// What a name leads to.
#[derive(Clone)]
pub struct Resolved {
    /// The tool.
    pub entry: Arc<Entry>,
    /// How its arguments are spelled under the name, where they may differ.
    pub alias: Option<Arc<Alias>>,
    /// Whether the name is one of the session: canonical, the one that its dialect offers, or a mere name that was added to
    /// the registry.
    pub is_own: bool,
}

impl Snapshot {
    /// The tool that a name leads to: in the session's dialect, canonically, by an alias, then in any dialect.
    ///
    /// The name of a tool that is there means that tool, so that what a host registers cannot be lost behind a table.
    /// A name that no tool has may still be one in another case, or behind the name of a group (`functions.read`).
    pub fn find(&self, name: &str, dialect: &Dialect) -> Result<Resolved, ToolError> {
        self.exact(name, dialect)
            .or_else(|| self.respelled(name, dialect))
            .ok_or_else(|| self.unknown(name, dialect, |_| true, |entry| entry.spec().roles.is_empty()))
    }

    /// The tool that has this very name.
    fn exact(&self, name: &str, dialect: &Dialect) -> Option<Resolved> {
        let exact = self.tools.get(name);
        if let Some(alias) = dialect.resolve(name)
            && (alias.tool == name || exact.is_none())
            && let Some(entry) = self.tools.get(&alias.tool)
        {
            let is_own = dialect.name_of(&alias.tool).is_none_or(|offered| offered == name);
            return Some(Resolved { entry: entry.clone(), alias: Some(alias.clone()), is_own });
        }
        if let Some(entry) = exact {
            return Some(Resolved { entry: entry.clone(), alias: None, is_own: true });
        }
        // A mere name that was added to this registry is one of the tool's own in every session.
        let added = self.aliases.get(name).cloned().map(|alias| (alias.clone(), alias.changes_nothing()));
        let others = self.dialects.resolving(name).cloned().map(|alias| (alias, false));
        for (alias, is_own) in added.into_iter().chain(others) {
            if let Some(entry) = self.tools.get(&alias.tool) {
                return Some(Resolved { entry: entry.clone(), alias: Some(alias), is_own });
            }
        }
        None
    }

    /// The definition of a tool as a dialect offers it; none if it does not. Where another tool has the name that the
    /// dialect would use, the canonical one is offered.
    pub fn offer(&self, entry: &Entry, dialect: &Dialect) -> Result<Option<Definition>, ToolError> {
        let definition = &entry.prepared()?.definition;
        match dialect.name_of(entry.name()) {
            Some(name) if name != entry.name() && self.tools.contains_key(name) => {
                Ok(Dialect::canonical().offer(definition))
            }
            _ => Ok(dialect.offer(definition)),
        }
    }

    /// The arguments that a tool accepts in a dialect beside those that are offered, with the schema of each: models know them
    /// from elsewhere, and their declarations would cost every session tokens.
    pub fn also_accepted(&self, entry: &Entry, dialect: &Dialect) -> Result<Map<String, Value>, ToolError> {
        let definition = &entry.prepared()?.definition;
        let offered = match self.offer(entry, dialect)? {
            Some(offered) => Some(offered),
            None => Dialect::canonical().offer(definition),
        };
        let is_offered = |name: &str| {
            let properties = offered.as_ref().and_then(|offered| offered.input.get("properties"));
            properties.is_some_and(|properties| properties.get(name).is_some())
        };
        let mut input = dialect.accepted_by(self.spelling(entry.name(), dialect, None), &definition.input);
        let properties = input.get_mut("properties").and_then(Value::as_object_mut).map(std::mem::take);
        let mut accepted = properties.unwrap_or_default();
        accepted.retain(|name, _| !is_offered(name));
        Ok(accepted)
    }

    /// The name under which a dialect offers a tool; none if it does not.
    pub fn shown_name<'a>(&self, tool: &'a str, dialect: &'a Dialect) -> Option<&'a str> {
        match dialect.name_of(tool) {
            Some(name) if name != tool && self.tools.contains_key(name) => Some(tool),
            _ => dialect.shown_name(tool),
        }
    }

    /// How a session spells the arguments of a tool: as its dialect offers them, whatever name a call has used. As the call
    /// spells them where the dialect does not offer the tool.
    pub(crate) fn spelling<'a>(
        &self,
        tool: &'a str,
        dialect: &'a Dialect,
        called: Option<&'a Alias>,
    ) -> Option<&'a Alias> {
        match self.shown_name(tool, dialect) {
            Some(name) => dialect.resolve(name).map(Arc::as_ref).filter(|alias| alias.tool == tool),
            None => called,
        }
    }

    /// The other names of a tool that lead to it in every session, in order.
    pub fn other_names(&self, tool: &str) -> Vec<String> {
        let own = self.aliases.values().filter(|alias| alias.tool == tool).map(|alias| alias.name.as_str());
        let names: BTreeSet<&str> = self.dialects.tool_names(tool).into_iter().chain(own).collect();
        names.into_iter().filter(|name| !self.tools.contains_key(*name)).map(str::to_owned).collect()
    }

    /// The tool that a name means canonically, by an alias or in any dialect; none where it means none.
    pub fn meant(&self, name: &str) -> Option<&Arc<Entry>> {
        let canonical = Dialect::canonical();
        let found = self.exact(name, &canonical).or_else(|| self.respelled(name, &canonical))?;
        self.tools.get(found.entry.name())
    }

    /// All tools, in the order of registration.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.values()
    }

    /// The tool of this canonical name.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name)
    }

    /// The tools that are held back from lists, of those that are offered at all and were not listed before: each source
    /// has a limit of its own.
    pub fn held_back(
        &self,
        is_offered: impl Fn(&str) -> bool,
        was_listed: impl Fn(&str) -> bool,
    ) -> BTreeSet<&str> {
        let each = self.arranged.values();
        each.flat_map(|arranged| arranged.shelves.held_back(&is_offered, &was_listed)).collect()
    }

    /// The aliases that were added to this registry, by name.
    pub fn aliases(&self) -> impl Iterator<Item = &Arc<Alias>> {
        self.aliases.values()
    }

    /// The dialects in which its tools have other names.
    pub fn dialects(&self) -> &Arc<Dialects> {
        &self.dialects
    }

    /// What the names of tools in rules mean: those of these tools, in any dialect.
    pub fn names(&self) -> &Names {
        let specs = || self.tools.values().map(|entry| entry.spec());
        self.names.get_or_init(|| Names::new(self.dialects.clone(), specs()))
    }

    /// How many changes came before this state.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The error for a name that no tool has. It suggests those names that are near of the tools that are possible, and
    /// otherwise lists the tools that are offered.
    pub(crate) fn unknown(
        &self,
        name: &str,
        dialect: &Dialect,
        is_possible: impl Fn(&Entry) -> bool,
        is_offered: impl Fn(&Entry) -> bool,
    ) -> ToolError {
        let is_there = |tool: &str| self.tools.get(tool).is_some_and(|entry| is_possible(entry));
        let others =
            self.dialects.all().iter().flat_map(|dialect| dialect.names()).chain(self.aliases.values());
        let own = self.tools.keys().map(|name| (name.as_str(), name.as_str()));
        let tools: BTreeMap<&str, &str> = others
            .map(|alias| (alias.name.as_str(), alias.tool.as_str()))
            .chain(own)
            .filter(|(_, tool)| is_there(tool))
            .collect();
        let mut near: Vec<String> = Vec::new();
        for candidate in nearest(name, tools.keys().copied(), 6) {
            // Another name is only a way to its tool: say what the session calls it.
            let tool = tools.get(candidate.as_str()).copied().unwrap_or(&candidate);
            let Some(shown) = self.shown_name(tool, dialect) else { continue };
            if near.iter().all(|known| known != shown) {
                near.push(shown.to_owned());
            }
        }
        near.truncate(3);
        let shown: String = name.chars().take(80).collect();
        let hint = match near.as_slice() {
            [] => {
                let offered = self.tools.iter().filter(|(_, entry)| is_offered(entry));
                let names: Vec<&str> =
                    offered.filter_map(|(tool, _)| self.shown_name(tool, dialect)).collect();
                match names.len() {
                    0 => "there are no tools".to_owned(),
                    1..=40 => format!("there are {}", names.join(", ")),
                    many => format!("none of the {many} names is near"),
                }
            }
            near => format!(
                "nearest: {}",
                near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        ToolError::new(Code::ToolNotFound, format!("no tool `{shown}`; {hint}")).with("nearest", near)
    }
}

/// The next state of a registry, while it is made. See [`Registry::change`].
pub struct Draft {
    tools: IndexMap<String, Arc<Entry>>,
    aliases: BTreeMap<String, Arc<Alias>>,
    arranged: IndexMap<String, Arranged>,
    is_arranged: bool,
    dialects: Arc<Dialects>,
    texts: Arc<Texts>,
}

impl Draft {
    /// Like [`Registry::register`], but the schema is made and checked when it is first needed: a process that adds many
    /// tools and calls one would wait for all of them.
    pub fn register(&mut self, tool: Arc<dyn AnyTool>) -> Result<(), ToolError> {
        self.add(tool).map(drop)
    }

    /// Adds a tool, and returns its name.
    fn add(&mut self, tool: Arc<dyn AnyTool>) -> Result<String, ToolError> {
        let entry = Entry::new(tool, self.texts.clone())?;
        let name = entry.name().to_owned();
        self.check_free(&name)?;
        self.tools.insert(name.clone(), Arc::new(entry));
        Ok(name)
    }

    /// See [`Registry::unregister`].
    pub fn unregister(&mut self, name: &str) -> Option<Arc<Entry>> {
        let entry = self.tools.shift_remove(name)?;
        self.aliases.retain(|_, alias| alias.tool != name);
        Some(entry)
    }

    /// See [`Registry::add_alias`].
    pub fn add_alias(&mut self, alias: Alias) -> Result<(), ToolError> {
        self.check_free(&alias.name)?;
        if !self.tools.contains_key(&alias.tool) {
            return Err(ToolError::new(
                Code::ToolNotFound,
                format!("alias `{}` leads to `{}`, which is not registered", alias.name, alias.tool),
            ));
        }
        self.aliases.insert(alias.name.clone(), Arc::new(alias));
        Ok(())
    }

    /// Sets the dialects in which tools have other names, in place of those there were.
    pub fn set_dialects(&mut self, dialects: Arc<Dialects>) {
        self.dialects = dialects;
    }

    /// Takes another name of a tool away.
    pub fn remove_alias(&mut self, name: &str) -> Option<Arc<Alias>> {
        self.aliases.remove(name)
    }

    /// Whether a name means nothing yet: no tool, no alias, no dialect has it.
    pub fn is_free(&self, name: &str) -> bool {
        self.check_free(name).is_ok() && self.dialects.meaning(name).is_none()
    }

    /// Says of a source in which order its tools stand, and which of them may be held back from lists; in place of what
    /// was said before. Tools of no source stand before all others.
    pub fn arrange(&mut self, source: &str, order: Vec<String>, shelves: Shelves) {
        let arranged = Arranged { order: order.into(), shelves: Arc::new(shelves) };
        self.arranged.insert(source.to_owned(), arranged);
        self.is_arranged = false;
    }

    fn put_in_order(&mut self) {
        if std::mem::replace(&mut self.is_arranged, true) {
            return;
        }
        let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (source, arranged) in self.arranged.values().enumerate() {
            for (index, name) in arranged.order.iter().enumerate() {
                places.entry(name).or_insert((source, index));
            }
        }
        let place = |name: &str| places.get(name).copied();
        self.tools.sort_by(|one, _, other, _| place(one).cmp(&place(other)));
    }

    fn check_free(&self, name: &str) -> Result<(), ToolError> {
        if self.tools.contains_key(name) || self.aliases.contains_key(name) {
            return Err(ToolError::execution(format!(
                "a tool or alias named `{name}` is already registered; unregister it first"
            )));
        }
        Ok(())
    }
}
