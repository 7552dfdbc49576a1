//! Steps 3 and 4, and the accesses for step 6: pure functions of a definition and its arguments.

use crate::access::{Access, Resource};
use crate::capability::Capability;
use crate::context::Context;
use crate::dialect;
use crate::error::{Code, ToolError};
use crate::registry::{Entry, Prepared};
use crate::schema::repair::repair;
use crate::schema::{MAX_DEPTH, Problem, Repair, is_too_deep};
use crate::workspace::WorkspacePath;
use serde_json::Value;

/// The arguments as the tool gets them: unchanged if they fit, mended if that makes them fit.
pub(super) fn check(prepared: &Prepared, arguments: Value) -> Result<(Value, Vec<Repair>), ToolError> {
    if is_too_deep(&arguments) {
        return Err(ToolError::new(
            Code::ValidationError,
            format!("the arguments are nested deeper than {MAX_DEPTH} levels; send them flat"),
        ));
    }
    if prepared.schema.accepts(&arguments) {
        return Ok((arguments, Vec::new()));
    }
    let aliases = aliases(prepared);
    let (mended, repairs) = repair(prepared.schema.value(), &aliases, arguments);
    match prepared.schema.problems(&mended) {
        problems if problems.is_empty() => Ok((mended, repairs)),
        problems => Err(refusal(&prepared.definition.name, &problems, &repairs)),
    }
}

/// Other spellings of the tool's arguments: its own, then those of every dialect that lead to an argument it has.
fn aliases(prepared: &Prepared) -> Vec<(String, String)> {
    let properties = prepared.schema.value().get("properties");
    let mut all = prepared.definition.argument_aliases.clone();
    let spellings = dialect::argument_spellings(&prepared.definition.name).into_iter();
    all.extend(spellings.filter(|(_, name)| properties.is_some_and(|all| all.get(name).is_some())));
    all
}

fn refusal(tool: &str, problems: &[Problem], repairs: &[Repair]) -> ToolError {
    let listed: Vec<String> = problems.iter().take(5).map(ToString::to_string).collect();
    let more = match problems.len().saturating_sub(5) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let error = ToolError::new(
        Code::ValidationError,
        format!("the arguments of `{tool}` do not fit: {}{more}", listed.join("; ")),
    )
    .with("errors", serde_json::to_value(problems).unwrap_or_default());
    match repairs {
        [] => error,
        repairs => error.with("repairs", serde_json::to_value(repairs).unwrap_or_default()),
    }
}

/// What the call would touch: the tool's own account, starting from its capabilities and path arguments.
///
/// Paths come out as display names, so that rules see one spelling; one that leads out of the workspace stays as it
/// is, and is refused when it is opened.
pub(super) fn accesses(
    ctx: &Context,
    entry: &Entry,
    prepared: &Prepared,
    arguments: &Value,
) -> Result<Vec<Access>, ToolError> {
    let paths = prepared.schema.paths(arguments);
    let mut usual = Vec::new();
    for action in entry.spec().required.iter() {
        match action {
            Capability::Read | Capability::Write if !paths.is_empty() => {
                usual.extend(paths.iter().map(|path| Access::path(action, *path)));
            }
            action => usual.push(Access::any(action)),
        }
    }
    let mut accesses = entry.tool().accesses(arguments, usual)?;
    for access in &mut accesses {
        if let Resource::Path(path) = &mut access.resource
            && let Ok(name) = ctx.host_workspace().name(&WorkspacePath::new(path.as_str()))
        {
            *path = name;
        }
    }
    Ok(accesses)
}
