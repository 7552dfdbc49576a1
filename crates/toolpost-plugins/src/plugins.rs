//! All servers: which names are theirs, their packs in the registry, and what is held back from lists.

mod names;
mod pack;
mod settings;

pub use settings::Settings;

use crate::listed::{Listed, Listing};
use crate::names as spelled;
use crate::recalled::{self, About, Lists};
use crate::resource;
use crate::server::Server;
use crate::upstream::Upstream;
use names::Named;
use pack::{pack, price};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use toolpost_core::host::BoxFuture;
use toolpost_core::registry::{Expected, IsWanted, ListedResource, ResourceCall, Shelves, ToolSource};
use toolpost_core::{Code, Pack, Registry, ToolError};

/// The name of all servers together, as a source of tools.
const SOURCE: &str = "MCP servers";

/// The servers of a runtime. None is started before it is needed; dropped, all are left.
pub struct Plugins {
    home: Arc<Home>,
}

/// What the servers share.
pub(crate) struct Home {
    upstreams: Vec<Arc<Upstream>>,
    registry: Weak<Registry>,
    published: Mutex<Vec<Option<Published>>>,
    most_tools: usize,
    most_tokens: usize,
    lists: Option<Arc<dyn Lists>>,
    /// What each server wants a model to know.
    instructions: Mutex<BTreeMap<usize, String>>,
}

/// What a server has in the registry.
struct Published {
    pack: Option<Arc<Pack>>,
    tools: Vec<Named>,
    notes: Vec<String>,
}

impl Plugins {
    /// Makes the servers known to a registry, which takes those of one `Plugins` only. No server is started.
    pub fn new(servers: Vec<Server>, registry: &Arc<Registry>, settings: Settings) -> Plugins {
        let home = Arc::new_cyclic(|home: &Weak<Home>| {
            let mut parts = BTreeSet::new();
            let upstreams = servers.into_iter().enumerate().map(|(index, server)| {
                let mut part = spelled::server_part(&server.name);
                if !parts.insert(part.clone()) {
                    part = spelled::apart(&part, &format!("{index}/{}", server.name));
                }
                let (environment, root) = (settings.environment.clone(), settings.root.clone());
                Arc::new(Upstream::new(server, (part, index), environment, root, home.clone()))
            });
            let upstreams: Vec<Arc<Upstream>> = upstreams.collect();
            Home {
                published: Mutex::new(upstreams.iter().map(|_| None).collect()),
                upstreams,
                registry: Arc::downgrade(registry),
                most_tools: settings.most_tools,
                most_tokens: settings.most_tokens,
                lists: settings.lists.clone(),
                instructions: Mutex::default(),
            }
        });
        // Nobody else has this name, and it is used once for a registry.
        let _ = registry.add_source(Arc::clone(&home) as Arc<dyn ToolSource>);
        Plugins { home }
    }

    /// Offers the tools that each server had when it was last started with this very configuration. No server is started:
    /// a call starts the one whose tool it is. What has changed is corrected when a server has told its list.
    pub fn recall(&self) {
        let Some(lists) = &self.home.lists else { return };
        let mut kept = lists.load();
        for (index, upstream) in self.home.upstreams.iter().enumerate() {
            if self.home.lock().get(index).is_some_and(Option::is_some) {
                continue;
            }
            let list = kept.remove(&recalled::key(upstream.server()));
            let list = list.and_then(|list| recalled::recalled(list, upstream.server()));
            if let Some((listing, about)) = list {
                self.home.instructed(index, &about.instructions);
                // A list that does not fit any more is told anew.
                let _ = self.home.publish(upstream, index, listing, &about.version);
            }
        }
    }

    /// What the servers that are known want a model to know of their tools: the first part of the tools' names, and the
    /// text.
    pub fn instructions(&self) -> Vec<(String, String)> {
        self.home.told_instructions()
    }

    /// The same, to be asked at any time.
    pub fn instructed(&self) -> impl Fn() -> Vec<(String, String)> + Send + Sync + use<> {
        let home = Arc::clone(&self.home);
        move || home.told_instructions()
    }

    /// Starts all servers in the background, whatever a policy says of their tools. Must be called inside a tokio
    /// runtime.
    pub fn start(&self) {
        let home = Arc::clone(&self.home);
        tokio::spawn(async move { home.all_ready().await });
    }

    /// The names of the servers, in order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.home.upstreams.iter().map(|upstream| upstream.server().name.as_str())
    }

    /// The name of the pack of a server, which is the first part of its tools' names, whether it has started or not.
    pub fn pack_of(&self, server: &str) -> Option<&str> {
        let mut upstreams = self.home.upstreams.iter();
        let upstream = upstreams.find(|one| one.part() == server || one.server().name == server)?;
        Some(upstream.part())
    }

    /// The packs of the servers that have started.
    pub fn packs(&self) -> Vec<Arc<Pack>> {
        self.home.lock().iter().flatten().filter_map(|published| published.pack.clone()).collect()
    }

    /// The servers that have told their tools, with how many each has.
    pub fn told(&self) -> Vec<(String, usize)> {
        let published = self.home.lock();
        let each = self.home.upstreams.iter().zip(published.iter());
        let told = each.filter_map(|(upstream, published)| {
            Some((upstream.server().name.clone(), published.as_ref()?.tools.len()))
        });
        told.collect()
    }

    /// The servers that have started and ended since, each with the reason.
    pub fn lost(&self) -> Vec<(String, String)> {
        let lost = self.home.upstreams.iter();
        lost.filter_map(|upstream| Some((upstream.server().name.clone(), upstream.why_lost()?))).collect()
    }

    /// What is to be said of the servers that have started: tools that were left out, and why.
    pub fn notes(&self) -> Vec<String> {
        let published = self.home.lock();
        let each = self.home.upstreams.iter().zip(published.iter());
        let notes = each.flat_map(|(upstream, published)| {
            let notes = published.iter().flat_map(|published| &published.notes);
            notes.map(|note| format!("the MCP server `{}`: {note}", upstream.server().name))
        });
        notes.collect()
    }

    /// Leaves all servers. Those that have started get a moment for their farewell.
    pub async fn shutdown(&self) {
        let left = self.home.upstreams.iter().filter(|upstream| upstream.leave()).count();
        if left > 0 {
            // What is still there then is ended by its keeper, whether we are still there or not.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Plugins {
    fn drop(&mut self) {
        for upstream in &self.home.upstreams {
            upstream.leave();
        }
    }
}

impl ToolSource for Home {
    fn name(&self) -> &str {
        SOURCE
    }

    fn may_have(&self, name: &str) -> bool {
        self.upstreams.iter().any(|upstream| upstream.may_have(name))
    }

    fn ready<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            // `a_b_c` may be of the servers `a` and `a_b`; one that works is enough to know.
            let mut first = None;
            for upstream in self.upstreams.iter().filter(|upstream| upstream.may_have(name)) {
                match upstream.connected().await {
                    Ok(_) if self.has(name) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => first = first.or(Some(error)),
                }
            }
            first.map_or(Ok(()), Err)
        })
    }

    fn all_ready(&self) -> BoxFuture<'_, Vec<(String, ToolError)>> {
        self.wanted_ready(&|_| true)
    }

    fn wanted_ready<'a>(&'a self, is_wanted: &'a IsWanted<'a>) -> BoxFuture<'a, Vec<(String, ToolError)>> {
        Box::pin(async move {
            let (wanted, others): (Vec<_>, Vec<_>) =
                self.upstreams.iter().partition(|upstream| upstream.is_wanted(is_wanted));
            let starting: Vec<_> = wanted
                .into_iter()
                .map(|upstream| {
                    let upstream = Arc::clone(upstream);
                    tokio::spawn(async move {
                        let error = upstream.connected().await.err()?;
                        Some((upstream.server().name.clone(), error))
                    })
                })
                .collect();
            let mut failed: Vec<(String, ToolError)> =
                others.iter().map(|one| (one.server().name.clone(), one.unwanted())).collect();
            for one in starting {
                failed.extend(one.await.ok().flatten());
            }
            failed
        })
    }

    fn has_lists(&self) -> bool {
        self.lock().iter().all(Option::is_some)
    }

    fn resource<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Option<ResourceCall>, ToolError>> {
        Box::pin(async move {
            if let Some((part, uri)) = resource::parse(address) {
                let owner = self.upstreams.iter().find(|upstream| upstream.part() == part);
                return Ok(owner.map(|owner| owner.resource_call(uri)));
            }
            let mut owners = Vec::new();
            for upstream in &self.upstreams {
                if upstream.has_resource(address).await {
                    owners.push(upstream);
                }
            }
            match owners.as_slice() {
                [] => Ok(None),
                [owner] => Ok(Some(owner.resource_call(address))),
                several => {
                    let each: Vec<String> = several
                        .iter()
                        .map(|one| format!("`{}`", resource::address(one.part(), address)))
                        .collect();
                    let message = format!(
                        "several servers have a resource `{address}`; say which is meant: {}",
                        each.join(", ")
                    );
                    Err(ToolError::new(Code::AmbiguousMatch, message))
                }
            }
        })
    }

    fn resources(&self) -> BoxFuture<'_, Vec<ListedResource>> {
        Box::pin(async move {
            let each = self.upstreams.iter().map(|upstream| upstream.resources());
            let mut all = Vec::new();
            for listed in each {
                all.extend(listed.await);
            }
            all
        })
    }

    fn expected(&self, name: &str) -> Vec<Expected> {
        let all = self.upstreams.iter().filter(|upstream| upstream.may_have(name));
        all.flat_map(|upstream| upstream.expected(name)).collect()
    }
}

impl Home {
    fn has(&self, name: &str) -> bool {
        self.registry.upgrade().is_some_and(|registry| {
            registry.snapshot().find(name, &toolpost_core::Dialect::canonical()).is_ok()
        })
    }

    /// Puts a server's tools in the place of those it had. Nothing is told where nothing has changed.
    pub(crate) fn publish(
        &self,
        upstream: &Arc<Upstream>,
        index: usize,
        listing: Listing,
        version: &str,
    ) -> Result<(), ToolError> {
        let Some(registry) = self.registry.upgrade() else { return Ok(()) };
        let mut published = self.lock();
        let before = published.get(index).and_then(Option::as_ref);
        if before.is_some_and(|before| before.tools.iter().map(|tool| &*tool.listed).eq(listing.tools.iter()))
        {
            return Ok(());
        }
        let next = self.prepare(upstream, &published, index, listing, version)?;
        let old = match published.get_mut(index) {
            Some(place) => place.replace(next),
            None => return Ok(()),
        };
        let changed = registry.change(|draft| {
            names::forget(draft, published.iter().flatten().chain(old.as_ref()).flat_map(|one| &one.tools));
            for tool in old.iter().flat_map(|old| &old.tools) {
                draft.unregister(&tool.name);
            }
            let pack = published.get(index).and_then(Option::as_ref).and_then(|one| one.pack.as_ref());
            pack.map_or(Ok(()), |pack| pack.register(draft))?;
            names::spell(draft, published.iter().flatten().flat_map(|one| &one.tools));
            let order = published.iter().flatten().flat_map(|one| &one.tools).map(|tool| tool.name.clone());
            draft.arrange(SOURCE, order.collect(), self.shelves(&published));
            Ok(())
        });
        if changed.is_err()
            && let Some(place) = published.get_mut(index)
        {
            *place = old;
        }
        changed
    }

    fn prepare(
        &self,
        upstream: &Arc<Upstream>,
        published: &[Option<Published>],
        index: usize,
        listing: Listing,
        version: &str,
    ) -> Result<Published, ToolError> {
        let others = published.iter().enumerate().filter(|(place, _)| *place != index);
        let mut taken: BTreeSet<String> = others
            .flat_map(|(_, other)| other.iter().flat_map(|other| &other.tools))
            .map(|tool| tool.name.clone())
            .collect();
        let mut tools = Vec::new();
        for listed in listing.tools {
            let named = Named::new(upstream, listed, &mut taken);
            tools.push(named);
        }
        let pack = pack(upstream, &tools, version)?.map(Arc::new);
        Ok(Published { pack, tools, notes: listing.notes })
    }

    /// The tools of the servers, of which those are listed that fit: the servers in the order of the configuration.
    fn shelves(&self, published: &[Option<Published>]) -> Shelves {
        let price = |tool: &Named| (tool.name.clone(), price(&tool.name, &tool.listed));
        let groups = published.iter().flatten().map(|one| one.tools.iter().map(price).collect());
        Shelves { groups: groups.collect(), most_tools: self.most_tools, most_tokens: self.most_tokens }
    }

    /// Keeps the list that a server has told.
    pub(crate) fn keep(&self, server: &Server, index: usize, tools: &[Listed], about: &About) {
        self.instructed(index, &about.instructions);
        let Some(lists) = self.lists.clone() else { return };
        let (key, list) = (recalled::key(server), recalled::kept(tools, about));
        // On its own: nobody waits for it.
        tokio::task::spawn_blocking(move || lists.save(&key, list));
    }

    fn told_instructions(&self) -> Vec<(String, String)> {
        let all = self.instructions.lock().unwrap_or_else(PoisonError::into_inner);
        let part = |index: &usize| self.upstreams.get(*index).map(|upstream| upstream.part().to_owned());
        all.iter().filter_map(|(index, text)| Some((part(index)?, text.clone()))).collect()
    }

    fn instructed(&self, index: usize, text: &str) {
        let mut all = self.instructions.lock().unwrap_or_else(PoisonError::into_inner);
        match text.is_empty() {
            true => all.remove(&index),
            false => all.insert(index, text.to_owned()),
        };
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Published>>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
