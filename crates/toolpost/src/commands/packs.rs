//! `toolpost packs`: which packs there are, what each of their tools can cause, and what the policy says to them.

use crate::advice::allow_flags;
use crate::config::State;
use crate::output::{Printer, Tone, on_terminal, one_line};
use crate::runtime::{KnownPack, Offer, PackOrigin, Runtime, lack, meant, missing};
use serde_json::{Value, json};
use toolpost_core::capability::Capabilities;
use toolpost_core::{Pack, Policy, Spec};

pub(crate) fn run(runtime: &Runtime, printer: &Printer) -> u8 {
    let policy = runtime.policy();
    let notes = runtime.know_all();
    for note in notes.into_iter().chain(runtime.broken_packs()) {
        printer.say(Tone::Note, &format!("note: {}", on_terminal(&note)));
    }
    let packs = runtime.packs();
    let offer = runtime.offer();
    if printer.is_json() {
        let all: Vec<Value> = packs.iter().map(|pack| describe(&offer, &policy, &packs, pack)).collect();
        printer.json(&json!({ "packs": all }));
        return 0;
    }
    let tools = packs.iter().flat_map(|known| known.pack.tools());
    let width = tools.map(|tool| tool.name().len()).max().unwrap_or(0);
    let pages: Vec<String> =
        packs.iter().map(|pack| page(&offer, printer, &policy, (&packs, pack), width)).collect();
    printer.page(&pages.join("\n"));
    0
}

fn page(
    offer: &Offer,
    printer: &Printer,
    policy: &Policy,
    (packs, known): (&[KnownPack], &KnownPack),
    width: usize,
) -> String {
    let pack = &*known.pack;
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
    if let Some(place) = known.place() {
        page.push_str(&format!("  of {}{}\n", one_line(place), standing(packs, known)));
    } else if !standing(packs, known).is_empty() {
        page.push_str(&format!("  {}\n", standing(packs, known).trim_start_matches(['(', ',', ' '])));
    }
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
    if is_held_back(offer, pack) {
        page.push_str("  not listed, to save tokens; `tool_search` finds its tools\n");
    }
    for tool in pack.tools() {
        let state = match why_not_offered(offer, tool.name()) {
            None => String::new(),
            Some(why) => format!("  (not offered: {why})"),
        };
        page.push_str(&format!("    {:width$}  {}{state}\n", tool.name(), causes(tool.spec())));
    }
    for (name, why) in &known.without {
        page.push_str(&format!("    {:width$}  (left out: {})\n", one_line(name), on_terminal(why)));
    }
    page
}

fn describe(offer: &Offer, policy: &Policy, packs: &[KnownPack], known: &KnownPack) -> Value {
    let pack = &*known.pack;
    let tools: Vec<Value> = pack
        .tools()
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            let why = why_not_offered(offer, tool.name());
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
    let without: Vec<Value> =
        known.without.iter().map(|(name, why)| json!({"name": name, "why": why})).collect();
    let (origin, trust) = match &known.origin {
        PackOrigin::BuiltIn => ("built-in", None),
        PackOrigin::Server => ("server", None),
        PackOrigin::Agent(_) => ("agent", None),
        PackOrigin::File { state, .. } => ("file", Some(state)),
    };
    json!({
        "manifest": pack.manifest(),
        "origin": origin,
        "file": known.place(),
        "trust": trust,
        "meant": is_meant(packs, known),
        "requirements": pack.requirements(),
        "allowed": is_allowed,
        "heldBack": is_held_back(offer, pack),
        "flag": (!is_allowed).then(|| allow_flags(missing(policy, pack.requirements()))),
        "tools": tools,
        "leftOut": without,
    })
}

/// Whether the name of a pack means this one, of several of that name.
fn is_meant(packs: &[KnownPack], known: &KnownPack) -> bool {
    let place = meant(packs, known.pack.name());
    place.and_then(|place| packs.get(place)).is_some_and(|meant| std::ptr::eq(meant, known))
}

/// Whether a pack may be used, and is meant by its name.
fn standing(packs: &[KnownPack], known: &KnownPack) -> &'static str {
    match &known.origin {
        PackOrigin::File { state: State::Waiting, .. } => ", waits for `toolpost trust`",
        PackOrigin::File { state: State::Changed, .. } => {
            ", has changed since you trusted it: run `toolpost trust`"
        }
        _ if is_meant(packs, known) => "",
        _ => ", not meant by its name: another pack has it too",
    }
}

/// Whether none of its tools is listed, although those that are offered can be called.
fn is_held_back(offer: &Offer, pack: &Pack) -> bool {
    let is_held_back = |name: &str| offer.listing.held_back.iter().any(|entry| entry.name() == name);
    let mut offered = pack.tools().iter().filter(|tool| offer.why(tool.name()).is_none()).peekable();
    offered.peek().is_some() && offered.all(|tool| is_held_back(tool.name()))
}

/// What the model can cause through a tool; in brackets what it can cause where that is granted.
fn causes(spec: &Spec) -> String {
    match spec.optional {
        Capabilities::NONE => spec.required.to_string(),
        optional => format!("{} ({optional})", spec.required),
    }
}

fn why_not_offered(offer: &Offer, tool: &str) -> Option<String> {
    offer.why(tool).map(lack)
}
