//! The code pack: what the code engine knows, as tools. Each needs the engine, and says so where there is none.

mod asking;
mod build_dependency_graph;
mod excerpt;
mod find_references;
mod get_codebase_map;
mod get_imports_exports;
mod get_symbol_info;
mod graph;
mod page;
mod resolve_symbol;
mod search_code;

pub use build_dependency_graph::BuildDependencyGraph;
pub use find_references::FindReferences;
pub use get_codebase_map::GetCodebaseMap;
pub use get_imports_exports::GetImportsExports;
pub use get_symbol_info::GetSymbolInfo;
pub use resolve_symbol::ResolveSymbol;
pub use search_code::SearchCode;

pub(crate) use get_codebase_map::fitted;

use std::time::Duration;
use toolpost_core::access::ResourceKind;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::{Capability, Pack, Spec};

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "code",
        "Symbols, references and dependencies of the code, resolved by its rules.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["code", "search"],
    )
    .with(SearchCode)
    .with(GetCodebaseMap)
    .with(GetSymbolInfo)
    .with(GetImportsExports)
    .with(BuildDependencyGraph)
    .with(ResolveSymbol)
    .with(FindReferences)
}

/// What all of them have in common. The first call of a workspace may have to index it.
fn spec(name: &str, description: &str) -> Spec {
    Spec::new(name, "1.0.0", description)
        .requires(Capability::Read)
        .needs(Need::Engine)
        .about(ResourceKind::Path)
        .idempotent()
        .parallel_safe()
        .timeout(Duration::from_secs(60), Duration::from_secs(600))
}
