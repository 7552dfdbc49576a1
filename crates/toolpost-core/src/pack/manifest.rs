//! What a pack says of itself: a JSON file that is checked before anything in the pack is looked at.

use super::profile::RiskProfile;
use super::read;
use crate::capability::Capabilities;
use serde::Serialize;
use toolpost_text::Errors;

/// The manifest of a pack, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub(super) schema_version: u32,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) tools: Vec<String>,
    pub(super) risk_profile: RiskProfile,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<String>,
}

/// What a manifest's file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// The manifest.
    pub manifest: Manifest,
}

impl Manifest {
    /// The version of the form of manifests.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Reads and checks a manifest. Every error is located, and says what to do; a key that means nothing is one.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<ManifestFile, Errors> {
        read::manifest(file, bytes)
    }

    /// The pack's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the pack is for, in a sentence.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The canonical names of its tools, each once.
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// How much it asks for.
    pub fn risk_profile(&self) -> RiskProfile {
        self.risk_profile
    }

    /// Words to find it by, each once.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// The capabilities it asks for.
    pub fn requirements(&self) -> Capabilities {
        self.risk_profile.capabilities()
    }
}
