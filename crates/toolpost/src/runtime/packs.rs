//! The packs that there are, built in, of servers, of agents and in files, and what a session gets that names one.

use super::offer::lack;
use super::{Runtime, outside_part};
use crate::advice::allow_flags;
use crate::config::{FoundPack, State};
use std::sync::Arc;
use toolpost_core::capability::Capabilities;
use toolpost_core::host::Selection;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::registry::Snapshot;
use toolpost_core::text::nearest;
use toolpost_core::{Code, Pack, Policy, Spec, ToolError};

/// A pack, whatever its origin.
pub(crate) struct KnownPack {
    /// The pack, with the tools that are known.
    pub(crate) pack: Arc<Pack>,
    /// Where it comes from.
    pub(crate) origin: PackOrigin,
    /// The names in its manifest that give it no tool, each with the reason.
    pub(crate) without: Vec<(String, String)>,
}

/// Where a pack comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackOrigin {
    BuiltIn,
    Server,
    /// The file of the agent that defines its tools.
    Agent(String),
    /// A file, and whether it may be used.
    File {
        path: String,
        state: State,
    },
}

impl PackOrigin {
    /// How strong it is among packs of one name: files before built-in ones, then servers, then agents.
    fn rank(&self) -> usize {
        match self {
            PackOrigin::Agent(_) => 0,
            PackOrigin::Server => 1,
            PackOrigin::BuiltIn => 2,
            PackOrigin::File { .. } => 3,
        }
    }
}

impl KnownPack {
    /// Whether it may be used.
    pub(crate) fn is_usable(&self) -> bool {
        !matches!(&self.origin, PackOrigin::File { state, .. } if *state != State::Trusted)
    }

    /// The file that it stands in, for messages.
    pub(crate) fn place(&self) -> Option<&str> {
        match &self.origin {
            PackOrigin::File { path, .. } | PackOrigin::Agent(path) => Some(path),
            PackOrigin::BuiltIn | PackOrigin::Server => None,
        }
    }
}

/// What somebody gets who names a pack.
pub(crate) struct NamedPack {
    /// The canonical names of its tools.
    pub(crate) tools: Vec<String>,
    /// What was left out, and why; none where nothing was.
    pub(crate) note: Option<String>,
}

/// The place of the pack that a name means: of those that may be used the strongest, and of several files the last.
pub(crate) fn meant(packs: &[KnownPack], name: &str) -> Option<usize> {
    let named = packs.iter().enumerate().filter(|(_, pack)| pack.is_usable() && pack.pack.name() == name);
    named.max_by_key(|(_, pack)| pack.origin.rank()).map(|(place, _)| place)
}

impl Runtime {
    /// Every pack that there is, those in files last; see [`meant`].
    pub(crate) fn packs(&self) -> Vec<KnownPack> {
        let known = |pack: Arc<Pack>, origin: PackOrigin| KnownPack { pack, origin, without: Vec::new() };
        let built_in = toolpost_tools::packs(&toolpost_tools::Settings::default());
        let mut packs: Vec<KnownPack> =
            built_in.into_iter().map(|pack| known(Arc::new(pack), PackOrigin::BuiltIn)).collect();
        let servers = self.plugins.iter().flat_map(|plugins| plugins.packs());
        packs.extend(servers.map(|pack| known(pack, PackOrigin::Server)));
        packs.extend(self.packs_of_agents());
        let in_files = self.config.packs_in_files().packs;
        // The strongest is the last.
        packs.extend(in_files.into_iter().rev().map(|found| self.in_file(found)));
        packs
    }

    /// What is wrong with packs in files.
    pub(crate) fn broken_packs(&self) -> Vec<String> {
        self.config.packs_in_files().broken
    }

    /// The tools that each agent defines, as a pack of its name.
    fn packs_of_agents(&self) -> Vec<KnownPack> {
        let snapshot = self.context.tools().snapshot();
        let pack = |(agent, names): (Arc<toolpost_agent::AgentFile>, Vec<String>)| {
            let about = format!("The tools that the agent {} defines.", agent.name);
            let name = outside_part(&agent.name);
            let pack = Pack::compiled_in(&name, &about, RiskProfile::Dynamic, &["agent"]);
            let specs = names.iter().filter_map(|name| Some(snapshot.get(name)?.spec().clone()));
            let pack = specs.fold(pack, with_known);
            let origin = PackOrigin::Agent(agent.file.clone());
            KnownPack { pack: Arc::new(pack), origin, without: Vec::new() }
        };
        self.agents_tools().into_iter().map(pack).collect()
    }

    fn in_file(&self, found: FoundPack) -> KnownPack {
        let FoundPack { path, state, manifest } = found;
        let snapshot = self.context.tools().snapshot();
        let most = match manifest.risk_profile() {
            RiskProfile::Fixed(profile) => profile.capabilities(),
            RiskProfile::Dynamic => Profile::ReadOnly.capabilities(),
        };
        let mut without = Vec::new();
        let mut pack = Pack::new(manifest.clone());
        for name in manifest.tools() {
            let Some(spec) = self.spec_of(&snapshot, name) else {
                without.push((name.clone(), self.unknown_in_pack(&snapshot, name)));
                continue;
            };
            let beyond = spec.required.difference(most);
            if !beyond.is_empty() {
                let why = format!(
                    "requires {beyond}, and the pack is {}; raise its risk profile",
                    manifest.risk_profile()
                );
                without.push((name.clone(), why));
            } else if !pack.tools().iter().any(|tool| tool.name() == spec.name) {
                pack = with_known(pack, spec);
            }
        }
        KnownPack { pack: Arc::new(pack), origin: PackOrigin::File { path, state }, without }
    }

    /// What is known of the tool that a name in a manifest means, whether the session has it or not.
    fn spec_of(&self, snapshot: &Snapshot, name: &str) -> Option<Spec> {
        if let Some(entry) = snapshot.meant(name) {
            return Some(entry.spec().clone());
        }
        self.missing_tool(name).map(|missing| missing.spec)
    }

    fn unknown_in_pack(&self, snapshot: &Snapshot, name: &str) -> String {
        let is_of_server = !self.context.tools().sources_of(name).is_empty();
        if is_of_server {
            return "the server has no such tool, or has not started".to_owned();
        }
        match nearest(name, snapshot.all().map(|entry| entry.name()), 1).first() {
            Some(near) => format!("there is no such tool; did you mean `{near}`?"),
            None => "there is no such tool; `toolpost tools` lists them".to_owned(),
        }
    }

    /// The pack that a word means: its name, or the path of its file.
    pub(crate) fn pack_of(&self, word: &str) -> Result<KnownPack, ToolError> {
        match word.contains('/') || word.ends_with(".json") {
            true => self.config.pack_in_file(word).map(|found| self.in_file(found)),
            false => self.pack_by_name(word),
        }
    }

    /// The pack of a name.
    pub(crate) fn pack_by_name(&self, word: &str) -> Result<KnownPack, ToolError> {
        let mut packs = self.packs();
        if let Some(place) = meant(&packs, word) {
            return Ok(packs.swap_remove(place));
        }
        if let Some(path) = packs.iter().rfind(|pack| pack.pack.name() == word).and_then(KnownPack::place) {
            let message = format!(
                "the pack `{word}` comes with this workspace ({path}), and you have not trusted it; look at the file and run `toolpost trust {path}`, or name the file itself"
            );
            return Err(ToolError::new(Code::Untrusted, message).with("path", path));
        }
        let shown: String = word.chars().take(80).collect();
        let hint = match nearest(&shown, packs.iter().map(|pack| pack.pack.name()), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`toolpost packs` lists them".to_owned(),
        };
        Err(ToolError::new(Code::ValidationError, format!("there is no pack `{shown}`; {hint}")))
    }

    /// What somebody gets who names a pack under a policy. A pack that asks for more than the policy has gives the tools that
    /// need less; it is refused where none would remain.
    pub(crate) fn named_pack(&self, known: &KnownPack, policy: &Policy) -> Result<NamedPack, ToolError> {
        let pack = &known.pack;
        let remaining = pack.remaining(policy);
        let judged = pack.assert_allowed(policy);
        if remaining.is_empty() && !pack.tools().is_empty() {
            judged?;
        }
        let context = self.context.with_policy(policy.clone());
        let lacking = pack.tools().iter().filter_map(|tool| {
            let is_here = self.context.tools().has(tool.name());
            let why = match self.executor.absence(&context, tool.spec()) {
                Some(why) => lack(&why),
                None if is_here => return None,
                None => lack(&self.missing_tool(tool.name())?.why),
            };
            Some((tool.name().to_owned(), why))
        });
        let left_out: Vec<(String, String)> = lacking.chain(known.without.iter().cloned()).collect();
        let tools = pack.tools().iter().map(|tool| tool.name().to_owned()).collect();
        if left_out.is_empty() {
            return Ok(NamedPack { tools, note: None });
        }
        let missing = missing(policy, pack.requirements());
        let wide = match missing {
            Capabilities::NONE => String::new(),
            missing => format!(
                " is {} and needs {missing}, which is not granted ({}); it",
                pack.manifest().risk_profile(),
                allow_flags(missing)
            ),
        };
        let each: Vec<String> = left_out.iter().map(|(name, why)| format!("`{name}` ({why})")).collect();
        let note = format!("the pack `{}`{wide} leaves out {}", pack.name(), each.join(", "));
        Ok(NamedPack { tools, note: Some(note) })
    }

    /// The tools to which the packs of the configuration restrict the session; none where none is named. Tools of servers and
    /// agents are meant also before they are there.
    pub(super) fn selection(&self) -> Result<Option<Selection>, ToolError> {
        let selected = &self.config.selected;
        if selected.is_empty() {
            return Ok(None);
        }
        let mut tools = Vec::new();
        for word in selected {
            self.offer_agents_tools();
            let known = self.pack_of(word);
            // A server that has not started has no pack yet.
            let is_weaker = known.as_ref().is_ok_and(|known| known.origin.rank() < PackOrigin::Server.rank());
            let server = self.plugins.as_ref().filter(|_| is_weaker || known.is_err());
            if let Some(part) = server.and_then(|plugins| plugins.pack_of(word)) {
                tools.push(format!("mcp__{part}__*"));
                continue;
            }
            let known = known?;
            tools.extend(known.pack.tools().iter().map(|tool| tool.name().to_owned()));
            // One that is not there yet may be of a server; one beyond the profile is none of it.
            let snapshot = self.context.tools().snapshot();
            let later = known.without.into_iter().map(|(name, _)| name);
            tools.extend(later.filter(|name| self.spec_of(&snapshot, name).is_none()));
        }
        let by = selected.iter().map(|word| format!("--pack {word}")).collect::<Vec<_>>().join(" ");
        Ok(Some(Selection::new(by, tools)))
    }

    /// What is to be said of the packs that the session is restricted to: tools that are left out.
    pub(crate) fn notes_of_packs(&self, policy: &Policy) -> Vec<String> {
        let note = |word: &String| match self.pack_of(word).and_then(|pack| self.named_pack(&pack, policy)) {
            Ok(named) => named.note,
            Err(error) => Some(error.message().to_owned()),
        };
        self.config.selected.iter().filter_map(note).collect()
    }
}

/// A pack with a tool that is registered elsewhere: of the pack only its name counts.
fn with_known(pack: Pack, spec: Spec) -> Pack {
    let name = spec.name.clone();
    pack.with_made(spec, move || {
        Err(ToolError::execution(format!("the tool `{name}` belongs to another pack too, which makes it")))
    })
}

/// What a policy lacks for all that is wanted.
pub(crate) fn missing(policy: &Policy, wanted: Capabilities) -> Capabilities {
    wanted.difference(policy.granted().union(policy.askable()))
}
