//! `toolpost packs`: which packs there are, what each of their tools can cause, and what the policy says to them.

use crate::advice::allow_flags;
use crate::output::{Printer, Tone, on_terminal};
use crate::runtime::Runtime;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::capability::Capabilities;
use toolpost_core::{Pack, Policy, Spec};

pub(crate) fn run(runtime: &Runtime, printer: &Printer) -> u8 {
    let policy = runtime.policy();
    for note in runtime.know_all() {
        printer.say(Tone::Note, &format!("note: {}", on_terminal(&note)));
    }
    let own = toolpost_tools::packs(&toolpost_tools::Settings::default());
    let servers = runtime.plugins.iter().flat_map(|plugins| plugins.packs());
    let packs: Vec<Arc<Pack>> = own.into_iter().map(Arc::new).chain(servers).collect();
    if printer.is_json() {
        let all: Vec<Value> = packs.iter().map(|pack| describe(runtime, &policy, pack)).collect();
        printer.json(&json!({ "packs": all }));
        return 0;
    }
    let width = packs.iter().flat_map(|pack| pack.tools()).map(|tool| tool.name().len()).max().unwrap_or(0);
    let pages: Vec<String> = packs.iter().map(|pack| page(runtime, printer, &policy, pack, width)).collect();
    printer.page(&pages.join("\n"));
    0
}

fn page(runtime: &Runtime, printer: &Printer, policy: &Policy, pack: &Pack, width: usize) -> String {
    let manifest = pack.manifest();
    let needs = match pack.requirements() {
        Capabilities::NONE => "asks for nothing of its own".to_owned(),
        requirements => format!("asks for {requirements}"),
    };
    let mut page = format!(
        "{}  {}: {needs}\n  {}\n",
        printer.bold(pack.name()),
        manifest.risk_profile(),
        on_terminal(manifest.description())
    );
    page.push_str(&match pack.assert_allowed(policy) {
        Ok(()) => match pack.requirements().intersection(policy.askable()) {
            Capabilities::NONE => "  allowed under this policy\n".to_owned(),
            asked => format!("  allowed under this policy, which asks for {asked}\n"),
        },
        Err(_) => {
            let missing = missing(policy, pack.requirements());
            format!("  not allowed as a whole: needs {missing}; allow it with {}\n", allow_flags(missing))
        }
    });
    if is_held_back(runtime, pack) {
        page.push_str("  not listed, to save tokens; `tool_search` finds its tools\n");
    }
    for tool in pack.tools() {
        let state = match why_not_offered(runtime, policy, tool.spec()) {
            None => String::new(),
            Some(why) => format!("  (not offered: {why})"),
        };
        page.push_str(&format!("    {:width$}  {}{state}\n", tool.name(), causes(tool.spec())));
    }
    page
}

fn describe(runtime: &Runtime, policy: &Policy, pack: &Pack) -> Value {
    let tools: Vec<Value> = pack
        .tools()
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            let why = why_not_offered(runtime, policy, spec);
            json!({
                "name": spec.name,
                "required": spec.required,
                "optional": spec.optional,
                "needs": spec.needs,
                "offered": why.is_none(),
                "why": why,
            })
        })
        .collect();
    let is_allowed = pack.assert_allowed(policy).is_ok();
    json!({
        "manifest": pack.manifest(),
        "requirements": pack.requirements(),
        "allowed": is_allowed,
        "heldBack": is_held_back(runtime, pack),
        "flag": (!is_allowed).then(|| allow_flags(missing(policy, pack.requirements()))),
        "tools": tools,
    })
}

/// Whether none of its tools is listed, although they can be called.
fn is_held_back(runtime: &Runtime, pack: &Pack) -> bool {
    let snapshot = runtime.context.tools().snapshot();
    let held_back = snapshot.held_back(|_| true, |_| false);
    pack.tools().iter().all(|tool| held_back.contains(tool.name()))
}

/// What the model can cause through a tool; in brackets what it can cause where that is granted.
fn causes(spec: &Spec) -> String {
    match spec.optional {
        Capabilities::NONE => spec.required.to_string(),
        optional => format!("{} ({optional})", spec.required),
    }
}

fn why_not_offered(runtime: &Runtime, policy: &Policy, spec: &Spec) -> Option<String> {
    if !policy.offers(&spec.name, spec.required) {
        return Some(format!("needs {}", missing(policy, spec.required)));
    }
    if !spec.is_for_role(runtime.context.ids().role.as_deref()) {
        return Some(format!("needs --role {}", spec.roles.join(" or ")));
    }
    let unmet = spec.needs.iter().find(|need| !runtime.context.has(**need))?;
    Some(format!("needs the {} service", unmet.as_str()))
}

fn missing(policy: &Policy, wanted: Capabilities) -> Capabilities {
    wanted.difference(policy.granted().union(policy.askable()))
}
