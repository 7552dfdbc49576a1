//! Packs: named groups of tools, each with a manifest that says what it may cause before any tool is built.
//!
//! A pack grants nothing. Whether one may be used is [`assert_allowed`]'s answer, from its manifest and a policy alone.

mod allowed;
mod manifest;
mod profile;
mod read;
mod resolve;

pub use allowed::assert_allowed;
pub use manifest::{Manifest, ManifestFile};
pub use profile::RiskProfile;
pub use resolve::resolve_packs;

use crate::capability::{Capabilities, Need};
use crate::error::ToolError;
use crate::policy::{Policy, Profile};
use crate::registry::Draft;
use crate::tool::{AnyTool, Spec};
use std::fmt;
use std::sync::Arc;
use toolpost_schema::Alias;

/// A named group of tools, none of them built yet.
///
/// ```
/// use toolpost_core::{Output, Pack, Registry, Spec, dynamic};
/// use toolpost_core::pack::Manifest;
/// use serde_json::json;
///
/// let text = r#"{"schemaVersion": 1, "name": "greetings", "description": "Says things.",
///     "tools": ["ping"], "riskProfile": "read-only"}"#;
/// let manifest = Manifest::parse("greetings.json", text.as_bytes())?.manifest;
/// let ping = dynamic(Spec::new("ping", "1.0.0", "Answers."), json!({"type": "object"}), |_, _| async {
///     Ok(Output::new("ping", "pong", json!(null)))
/// });
/// let pack = Pack::new(manifest).with(ping);
/// let registry = Registry::new();
/// registry.change(|draft| pack.register(draft))?;
/// assert!(registry.has("ping"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pack {
    manifest: Manifest,
    tools: Vec<PackTool>,
    aliases: Vec<Alias>,
    needs: Vec<Need>,
    /// Whether the manifest names the tools as they are added.
    is_compiled_in: bool,
}

impl Pack {
    /// A pack that has no tools yet.
    pub fn new(manifest: Manifest) -> Pack {
        Pack { manifest, tools: Vec::new(), aliases: Vec::new(), needs: Vec::new(), is_compiled_in: false }
    }

    /// A pack of tools that are compiled in. It has no file: its manifest names the tools that are added to it.
    pub fn compiled_in(name: &str, description: &str, risk_profile: RiskProfile, tags: &[&str]) -> Pack {
        let manifest = Manifest {
            schema_version: Manifest::SCHEMA_VERSION,
            name: name.to_owned(),
            description: description.to_owned(),
            tools: Vec::new(),
            risk_profile,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        Pack { is_compiled_in: true, ..Pack::new(manifest) }
    }

    /// With a tool that costs nothing to hold.
    #[must_use]
    pub fn with(self, tool: impl AnyTool + 'static) -> Pack {
        let tool: Arc<dyn AnyTool> = Arc::new(tool);
        let spec = tool.spec();
        self.with_made(spec, move || Ok(tool.clone()))
    }

    /// With a tool that is made when the pack is registered, and not before.
    #[must_use]
    pub fn with_made(
        mut self,
        spec: Spec,
        make: impl Fn() -> Result<Arc<dyn AnyTool>, ToolError> + Send + Sync + 'static,
    ) -> Pack {
        if self.is_compiled_in {
            self.manifest.tools.push(spec.name.clone());
        }
        self.tools.push(PackTool { spec, make: Arc::new(make) });
        self
    }

    /// With another name for one of its tools.
    #[must_use]
    pub fn alias(mut self, alias: Alias) -> Pack {
        self.aliases.push(alias);
        self
    }

    /// The pack appears only where this service is there.
    #[must_use]
    pub fn only_with(mut self, need: Need) -> Pack {
        self.needs.push(need);
        self
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.manifest.name()
    }

    /// The capabilities that its manifest asks for.
    pub fn requirements(&self) -> Capabilities {
        self.manifest.requirements()
    }

    /// Its tools.
    pub fn tools(&self) -> &[PackTool] {
        &self.tools
    }

    /// The services without which it does not appear.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Refuses a pack that needs more than the policy grants or asks for; see [`assert_allowed`]. Knows which of its
    /// tools would remain, since each says what it requires.
    pub fn assert_allowed(&self, policy: &Policy) -> Result<(), ToolError> {
        allowed::check(&self.manifest, policy, &self.remaining(policy))
    }

    /// The tools that are offered one by one under a policy, also where the pack as a whole is refused.
    pub fn remaining(&self, policy: &Policy) -> Vec<&str> {
        let offered = self.tools.iter().filter(|tool| policy.offers(tool.name(), tool.spec.required));
        offered.map(PackTool::name).collect()
    }

    /// Adds its tools and their other names. A tool that the manifest does not name, or one that it names and that
    /// is not there, is an error: what was judged must be what is added.
    pub fn register(&self, draft: &mut Draft) -> Result<(), ToolError> {
        self.check()?;
        for tool in &self.tools {
            draft.register(tool.build()?)?;
        }
        self.aliases.iter().cloned().try_for_each(|alias| draft.add_alias(alias))
    }

    /// Whether manifest and tools agree, also in what the tools can cause.
    fn check(&self) -> Result<(), ToolError> {
        let wrong = |what: String| Err(ToolError::execution(format!("the pack `{}` {what}", self.name())));
        for name in self.manifest.tools() {
            if !self.tools.iter().any(|tool| tool.name() == name) {
                return wrong(format!("names the tool `{name}` and does not have it; correct its manifest"));
            }
        }
        // Looking at what others did is no risk that a dynamic pack would have to name.
        let most = match self.manifest.risk_profile() {
            RiskProfile::Fixed(profile) => profile.capabilities(),
            RiskProfile::Dynamic => Profile::ReadOnly.capabilities(),
        };
        for tool in &self.tools {
            let name = tool.name();
            if !self.manifest.tools().iter().any(|known| known == name) {
                return wrong(format!("has the tool `{name}` and does not name it; add it to its manifest"));
            }
            let beyond = tool.spec.required.difference(most);
            if !beyond.is_empty() {
                return wrong(format!(
                    "is {}, but its tool `{name}` requires {beyond}; raise its risk profile",
                    self.manifest.risk_profile()
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pack").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

/// One tool of a pack: what is known of it, and how it is made.
pub struct PackTool {
    spec: Spec,
    make: Arc<dyn Fn() -> Result<Arc<dyn AnyTool>, ToolError> + Send + Sync>,
}

impl PackTool {
    /// Its canonical name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What is known of it.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Makes it. A tool that is not what was announced is an error.
    pub fn build(&self) -> Result<Arc<dyn AnyTool>, ToolError> {
        let tool = (self.make)()?;
        let made = tool.spec();
        let announced = self.spec.required.union(self.spec.optional);
        if made.name != self.spec.name || !made.required.union(made.optional).difference(announced).is_empty()
        {
            return Err(ToolError::execution(format!(
                "the tool `{}` was announced with {announced}; made, it is `{}` with {}",
                self.spec.name,
                made.name,
                made.required.union(made.optional)
            )));
        }
        Ok(tool)
    }
}

impl fmt::Debug for PackTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
