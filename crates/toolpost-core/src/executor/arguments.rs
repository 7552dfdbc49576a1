//! Steps 3 and 4, and the accesses for step 6: pure functions of a definition and its arguments.

use crate::access::{Access, Resource};
use crate::capability::Capability;
use crate::context::Context;
use crate::dialect::Dialects;
use crate::error::{Code, ToolError};
use crate::registry::{Entry, Prepared};
use crate::spill::HANDLE_PREFIX;
use crate::workspace::WorkspacePath;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toolpost_schema::Alias;
use toolpost_schema::repair;
use toolpost_schema::{MAX_DEPTH, Problem, Repair, Spellings, has_whole_float, is_too_deep};

/// Arguments after the third step.
pub(super) struct Repaired {
    pub(super) arguments: Value,
    pub(super) repairs: Vec<Repair>,
    /// Whether they fit the schema as they came and are unchanged; then there is nothing left to validate.
    fits: bool,
}

/// The arguments as the tool gets them: mended if that may make them fit, and without the empty ones that mean nothing.
pub(super) fn repaired(
    ctx: &Context,
    dialects: &Dialects,
    prepared: &Prepared,
    called: Option<&Alias>,
    arguments: Value,
) -> Result<Repaired, ToolError> {
    if is_too_deep(&arguments) {
        return Err(too_deep());
    }
    // `5.0` is an integer to a schema and none to a type: it is written as 5.
    let mut fits = prepared.schema.accepts(&arguments) && !has_whole_float(&arguments);
    let (mut arguments, mut repairs) = match fits {
        true => (arguments, Vec::new()),
        false => {
            let aliases = aliases(dialects, prepared);
            let offered = ctx.spelling_of(&prepared.definition.name, called);
            repair(prepared.schema.value(), &aliases, Spellings { called, offered }, arguments)
        }
    };
    if !fits && is_too_deep(&arguments) {
        return Err(too_deep());
    }
    let left_out = prepared.schema.leave_out_empty(&mut arguments, called);
    fits = fits && left_out.is_empty();
    repairs.extend(left_out);
    Ok(Repaired { arguments, repairs, fits })
}

/// What the schema says of the arguments, in the words of the caller.
pub(super) fn validated(
    ctx: &Context,
    prepared: &Prepared,
    called: Option<&Alias>,
    repaired: Repaired,
) -> Result<(Value, Vec<Repair>), ToolError> {
    let Repaired { arguments, repairs, fits } = repaired;
    if fits {
        return Ok((arguments, repairs));
    }
    if prepared.schema.accepts(&arguments) {
        return Ok((arguments, repairs));
    }
    let name = &prepared.definition.name;
    let spelling = ctx.spelling_of(name, called);
    let offered = ctx.dialect().input_by(spelling, prepared.schema.value());
    let problems = prepared.schema.problems_in(&arguments, &offered, spelling);
    Err(refusal(ctx.tool_name(name).as_ref().unwrap_or(name), &problems, &repairs))
}

fn too_deep() -> ToolError {
    let message = format!("the arguments are nested deeper than {MAX_DEPTH} levels; send them flat");
    ToolError::new(Code::ValidationError, message)
}

/// Other spellings of the tool's arguments: its own, then those of every dialect that lead to an argument it has.
fn aliases(dialects: &Dialects, prepared: &Prepared) -> Vec<(String, String)> {
    let properties = prepared.schema.value().get("properties");
    let mut all = prepared.definition.argument_aliases.clone();
    let spellings = dialects.argument_spellings(&prepared.definition.name).into_iter();
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
    // The tool's own code, outside of its task: a crash is a failed call here too.
    let mut accesses = catch_unwind(AssertUnwindSafe(|| entry.tool().accesses(arguments, usual)))
        .unwrap_or_else(|payload| {
            Err(super::run::crashed(ctx.known_as(entry.name()), &super::payload_message(&*payload)))
        })?;
    // What a command writes is outside only where it is in no root. What is computed begins with one of these signs.
    accesses.retain(|access| match &access.resource {
        Resource::Path(path) if access.action == Capability::Exec && !path.starts_with(['~', '$', '"']) => {
            ctx.host_workspace().name(&WorkspacePath::new(path.as_str())).is_err()
        }
        _ => true,
    });
    // A program of the workspace has one name too; rules that deny also see it as it was written.
    let mut written = Vec::new();
    for access in &mut accesses {
        if let Resource::Command(command) = &mut access.resource
            && let Some(named) = named_from_root(ctx, command)
        {
            written.push(Access::mention(std::mem::replace(command, named)));
        }
    }
    accesses.append(&mut written);
    for access in &mut accesses {
        if let Resource::Path(path) = &mut access.resource
            && access.action != Capability::Exec
            && !path.starts_with(HANDLE_PREFIX)
        {
            match ctx.host_workspace().name(&WorkspacePath::new(path.as_str())) {
                Ok(name) => *path = name,
                // Too long, or with a character that no path has: no rule need look at it.
                Err(error) if error.code() == Code::ValidationError => return Err(error),
                Err(_) => {}
            }
        }
    }
    Ok(accesses)
}

/// The command with its program named from the workspace root, if that lies there and is given by an absolute path.
fn named_from_root(ctx: &Context, command: &str) -> Option<String> {
    let (program, rest) = command.split_at(command.find(' ').unwrap_or(command.len()));
    if !program.starts_with('/') || program.contains(['\'', '"', '$', '\\']) {
        return None;
    }
    let name = ctx.host_workspace().name(&WorkspacePath::new(program)).ok()?;
    (!name.is_empty() && !name.starts_with('/')).then(|| format!("./{name}{rest}"))
}
