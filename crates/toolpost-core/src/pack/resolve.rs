//! The tools of several packs, by the packs' names.

use super::{Pack, PackTool};
use crate::error::{Code, ToolError};
use indexmap::IndexMap;
use toolpost_text::nearest;

/// The tools of the packs of these names, one after the other. Where two packs have a tool of the same name, or two
/// packs have the same name, the later one wins.
pub fn resolve_packs<'a>(packs: &'a [Pack], names: &[&str]) -> Result<Vec<&'a PackTool>, ToolError> {
    let mut tools: IndexMap<&str, &PackTool> = IndexMap::new();
    for name in names {
        let pack = packs.iter().rev().find(|pack| pack.name() == *name);
        let pack = pack.ok_or_else(|| unknown(packs, name))?;
        tools.extend(pack.tools().iter().map(|tool| (tool.name(), tool)));
    }
    Ok(tools.into_values().collect())
}

fn unknown(packs: &[Pack], name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let near = nearest(name, packs.iter().map(Pack::name), 3);
    let hint = match near.as_slice() {
        [] => format!("there are {}", packs.iter().map(Pack::name).collect::<Vec<_>>().join(", ")),
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("nearest: {}", near.join(", "))
        }
    };
    ToolError::new(Code::ToolNotFound, format!("no pack `{shown}`; {hint}")).with("nearest", near)
}
