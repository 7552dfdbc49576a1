//! The project pack: what kind of project a folder holds, how its people write, and an introduction to it.
//!
//! Everything is read from the files themselves; nothing is run. Where there is a code engine, it adds what it knows.

mod detect_project_type;
mod extract_conventions;
mod facts;
mod get_project_overview;
mod languages;
mod manifest;
pub(crate) mod packages;
mod report;
mod tree;
mod values;

pub(crate) use measured::is_test;

mod commits;
mod configured;
mod measured;
mod overview;

pub use detect_project_type::DetectProjectType;
pub use extract_conventions::ExtractConventions;
pub use get_project_overview::GetProjectOverview;

use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::{Capability, Pack, Spec};

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "project",
        "What a project is, how it is built, and how its people write.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["project"],
    )
    .with(DetectProjectType)
    .with(ExtractConventions)
    .with(GetProjectOverview)
}

/// What all of them have in common.
fn spec(name: &str, description: &str) -> Spec {
    Spec::new(name, "1.0.0", description)
        .requires(Capability::Read)
        .about(ResourceKind::Path)
        .idempotent()
        .parallel_safe()
        .timeout(Duration::from_secs(60), Duration::from_secs(600))
}
