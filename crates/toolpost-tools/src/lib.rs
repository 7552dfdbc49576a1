//! The built-in tools: one module a pack, one file a tool, its text in a `.txt` beside it. A new tool is these two files
//! and its line in the pack; whatever else must know of it asks its `Spec`.
//!
//! A tool here knows nothing of permission, retries or records; those are the executor's.

pub mod code;
mod dialects;
pub mod filesystem;
pub mod language_server;
pub mod meta;
pub mod project;
pub mod screenshot;
pub mod search;
pub mod shell;
pub mod spawn;
mod stored;
pub mod tasklist;
pub mod todo;
pub mod vfs;
pub mod vision;
pub mod web;

pub use dialects::dialects;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use toolpost_core::host::Services;
use toolpost_core::pack::PackTool;
use toolpost_core::policy::Names;
use toolpost_core::registry::Shelves;
use toolpost_core::{Pack, Registry, ToolError};

/// What a host says about its tools.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// About files.
    pub filesystem: filesystem::Settings,
    /// About commands.
    pub shell: shell::Settings,
    /// About the web.
    pub web: web::Settings,
    /// About the screen.
    pub screenshot: screenshot::Settings,
    /// The packs whose tools are listed; none for all but those that are held back usually. `+name` adds a pack to these.
    /// The others can be found and called all the same.
    pub listed: Option<Vec<String>>,
}

/// The packs that are held back from lists where nobody says which are listed: few sessions need them, and every
/// session would pay for their declarations.
pub const HELD_BACK: [&str; 2] = ["project", "vfs"];

/// The packs whose tools show pictures to a model.
const FOR_EYES: [&str; 2] = ["screenshot", "vision-analysis"];

/// The name under which packs are arranged, which no source of tools has.
const ARRANGED: &str = "the built-in packs";

/// Every built-in pack, in the order in which its tools are listed.
pub fn packs(settings: &Settings) -> Vec<Pack> {
    vec![
        filesystem::pack(&settings.filesystem),
        search::pack(),
        code::pack(),
        project::pack(),
        shell::pack(settings.shell.clone()),
        web::pack(&settings.web, settings.filesystem.pdf.clone()),
        todo::pack(),
        spawn::pack(),
        tasklist::pack(),
        vfs::pack(),
        screenshot::pack(&settings.screenshot),
        vision::pack(),
        meta::pack(),
    ]
}

/// What the names of the built-in tools mean in rules, in every dialect; for rules that are read before there is a registry.
pub fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| {
        let packs = packs(&Settings::default());
        let tools = packs.iter().flat_map(|pack| pack.tools()).map(PackTool::spec);
        Names::new(dialects().clone(), tools)
    });
    &NAMES
}

/// Adds the tools of every built-in pack, whatever services there are.
pub fn register_all(registry: &Registry, settings: &Settings) -> Result<(), ToolError> {
    registry.change(|draft| {
        draft.set_dialects(Arc::clone(dialects()));
        packs(settings).iter().try_for_each(|pack| pack.register(draft))
    })
}

/// Adds the tools of the packs whose services are there. A tool with needs of its own is registered all the same: it is
/// not offered while they are unmet, and called anyway it says what is missing.
pub fn register_default(
    registry: &Registry,
    services: &Services,
    settings: &Settings,
) -> Result<(), ToolError> {
    registry.change(|draft| {
        draft.set_dialects(Arc::clone(dialects()));
        let packs = packs(settings);
        let there: Vec<&Pack> = packs
            .iter()
            .filter(|pack| pack.needs().iter().all(|need| services.has(*need)) && is_of_use(pack, services))
            .collect();
        there.iter().try_for_each(|pack| pack.register(draft))?;
        draft.arrange(ARRANGED, Vec::new(), held_back(&there, settings.listed.as_deref()));
        Ok(())
    })
}

/// Packs that need a model need one that sees. A pack with other tools is there without a model too.
fn is_of_use(pack: &Pack, services: &Services) -> bool {
    let sees = || services.model.as_ref().is_some_and(|model| model.profile().images);
    !FOR_EYES.contains(&pack.name()) || sees()
}

/// The packs that are not listed, each as one group for which there is no room.
fn held_back(packs: &[&Pack], listed: Option<&[String]>) -> Shelves {
    let is_listed = |pack: &Pack| match listed {
        Some(listed) => {
            let is_added = listed.iter().any(|name| name.strip_prefix('+') == Some(pack.name()));
            let is_named = listed.iter().any(|name| name == pack.name());
            // Where packs are only added, the usual ones stay.
            let is_only_added = listed.iter().all(|name| name.starts_with('+'));
            is_added || is_named || is_only_added && !HELD_BACK.contains(&pack.name())
        }
        None => !HELD_BACK.contains(&pack.name()),
    };
    let group = |pack: &&Pack| pack.tools().iter().map(|tool| (tool.name().to_owned(), 0)).collect();
    let groups = packs.iter().filter(|pack| !is_listed(pack)).map(group).collect();
    Shelves { groups, ..Shelves::default() }
}

/// Refuses a name that no built-in pack has; the nearest are offered.
pub fn check_pack(name: &str) -> Result<(), ToolError> {
    toolpost_core::pack::resolve_packs(&packs(&Settings::default()), &[name]).map(drop)
}

/// A name with a newline or an escape in it must not look like two, or like something else.
fn one_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => Cow::Owned(name.escape_debug().to_string()),
        false => Cow::Borrowed(name),
    }
}

/// One way or another: `a`, `a or b`, `a, b or c`.
fn alternatives(ways: &[String]) -> String {
    match ways {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        few => few.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_is_sound_and_has_its_own_name() {
        let registry = Registry::new();
        register_all(&registry, &Settings::default()).unwrap();
        let packs = packs(&Settings::default());
        let mut names: Vec<&str> = packs.iter().map(Pack::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), packs.len());
        let tools: usize = packs.iter().map(|pack| pack.tools().len()).sum();
        assert_eq!(registry.names().len(), tools);
    }

    #[test]
    fn the_default_registry_has_what_needs_no_service() {
        let registry = Registry::new();
        register_default(&registry, &Services::default(), &Settings::default()).unwrap();
        let packs = packs(&Settings::default());
        let names: Vec<&str> = packs
            .iter()
            .filter(|pack| pack.needs().is_empty())
            .flat_map(|pack| pack.manifest().tools())
            .map(String::as_str)
            .collect();
        assert_eq!(registry.names(), names);
    }
}
