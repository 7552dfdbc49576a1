//! Everything for a person: first what is broken and what to do about it, then each part in full.

use super::Report;
use super::starts::Start;
use crate::commands::stored::size;
use crate::commands::trust::standing;
use crate::config::{DataState, FileState, KEYS, ServerState, Shown, State, text_of};
use crate::output::{Mark, Printer, one_line};
use std::collections::BTreeMap;
use toolpost_core::Capability;
use toolpost_core::policy::protected;
use toolpost_core::workspace::Owner;
use toolpost_process::Need;
use toolpost_tools::shell::Confinement;

/// Lines of lists end here.
const WIDTH: usize = 96;

pub(super) fn page(printer: &Printer, report: &Report) -> String {
    let mut page = Page { printer, text: String::new() };
    page.text.push_str(&format!("toolpost {} on {}\n", env!("CARGO_PKG_VERSION"), one_line(&report.kernel)));
    findings(&mut page, report);
    workspace(&mut page, report);
    configuration(&mut page, report);
    trust(&mut page, report);
    servers(&mut page, report);
    tools(&mut page, report);
    packs(&mut page, report);
    sandbox(&mut page, report);
    protected_files(&mut page);
    data(&mut page, report);
    store(&mut page, report);
    page.text
}

struct Page<'a> {
    printer: &'a Printer,
    text: String,
}

impl Page<'_> {
    fn heading(&mut self, text: &str) {
        self.text.push_str(&format!("\n{}\n", self.printer.bold(text)));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&format!("  {}\n", one_line(text)));
    }

    fn row(&mut self, name: &str, value: &str, from: &str) {
        self.line(&format!("{name:13} {value:12}  {from}"));
    }

    fn marked(&mut self, mark: Mark, text: &str) {
        self.text.push_str(&format!("  {} {}\n", self.printer.mark(mark), one_line(text)));
    }

    /// Words with commas between them, indented, over as many lines as it takes.
    fn words<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let mut line = String::new();
        for word in words {
            if !line.is_empty() && line.len() + word.len() + 2 > WIDTH {
                self.text.push_str(&format!("    {line},\n"));
                line.clear();
            }
            if !line.is_empty() {
                line.push_str(", ");
            }
            line.push_str(word);
        }
        self.text.push_str(&format!("    {line}\n"));
    }
}

fn workspace(page: &mut Page<'_>, report: &Report) {
    page.heading("Workspace");
    for root in &report.roots {
        match &root.error {
            None => page.marked(
                Mark::Good,
                &format!("{} ({}); no path leaves it (openat2 works)", root.path, report.config.roots_origin),
            ),
            Some(_) => page.marked(Mark::Broken, &format!("{} ({})", root.path, report.config.roots_origin)),
        }
    }
}

fn configuration(page: &mut Page<'_>, report: &Report) {
    page.heading("Configuration files, the strongest last; environment and flags come after them");
    for file in &report.config.layers.files {
        let text = |what: &str| format!("{:8} {}{what}", file.layer, file.path);
        match file.state {
            FileState::Read => page.marked(Mark::Good, &text("")),
            FileState::Missing => page.line(&format!("–      {}", text(" (not there)"))),
            FileState::Broken => page.marked(Mark::Broken, &text("")),
            FileState::LeftOut => {
                page.line(&format!("–      {}", text(" (left out by --no-project-config)")))
            }
        }
    }
    page.heading("What holds, and where it is set");
    let values = &report.config.values;
    for (capability, right) in values.rights.iter() {
        page.row(capability.as_str(), right.value.as_str(), &right.place.to_string());
    }
    for key in KEYS.iter().filter(|key| key.shown() == Shown::Row) {
        let shown = key.values(&values.keys);
        for value in &shown {
            page.row(key.name(), &text_of(&value.value), &value.place.to_string());
        }
        if shown.is_empty() {
            page.row(key.name(), key.usual().as_str(), "built-in");
        }
    }
    for rule in &report.rules {
        page.line(&format!(
            "rule          {:5} {rule}  ({} at {})",
            rule.effect().as_str(),
            rule.origin().layer,
            rule.origin()
        ));
    }
    if !values.inert.is_empty() {
        page.heading("Wanted by the project, not in force until you run `toolpost trust`");
        for line in &values.inert {
            page.line(line);
        }
    }
}

fn trust(page: &mut Page<'_>, report: &Report) {
    page.heading("Trust: what this workspace brings along");
    let Some(inventory) = &report.inventory else { return page.line("could not be looked at") };
    if inventory.files.is_empty() && inventory.refused.is_empty() {
        page.line("nothing that would start or widen anything");
    }
    for found in &inventory.files {
        let mark = if found.state == State::Trusted { Mark::Good } else { Mark::Note };
        page.marked(mark, &format!("{} ({}) {}", found.path, found.kind, standing(found)));
    }
    for refused in &inventory.refused {
        page.marked(Mark::Note, &format!("{}: {}; never trusted", refused.path, refused.why));
    }
}

fn servers(page: &mut Page<'_>, report: &Report) {
    page.heading("MCP servers, the strongest place first");
    if report.servers.reports.is_empty() {
        page.line("none are described");
    }
    for server in &report.servers.reports {
        let mark = match server.state {
            ServerState::Trusted => Mark::Good,
            ServerState::Off | ServerState::Overruled | ServerState::Untrusted | ServerState::Unusable => {
                Mark::Note
            }
        };
        let start = report.starts.by_name.get(&server.name).filter(|_| server.state == ServerState::Trusted);
        let mark = match start {
            Some(Start::Failed { .. } | Start::Lost { .. }) => Mark::Broken,
            _ => mark,
        };
        let transport = server.transport.unwrap_or("–");
        let why = server.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let state = server.state.as_str();
        let started = start.map(|start| format!(", {}", start.in_short())).unwrap_or_default();
        page.marked(mark, &format!("{} ({transport}, {}) {state}{started}{why}", server.name, server.from));
    }
}

fn tools(page: &mut Page<'_>, report: &Report) {
    page.heading("Tools, and about what each costs in every request to a model");
    let width = report.tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0).max(13);
    for tool in &report.tools {
        let withheld = match (&tool.withheld, tool.is_listed) {
            (Some(why), _) => format!("  (not offered {why})"),
            (None, false) => "  (hidden from lists)".to_owned(),
            (None, true) => String::new(),
        };
        page.line(&format!("{:width$} {:>6} tokens{withheld}", tool.name, tool.tokens));
    }
    page.line(&format!("{:width$} {:>6} tokens", "in all", report.total_tokens()));
}

fn packs(page: &mut Page<'_>, report: &Report) {
    page.heading("Packs; `toolpost packs` shows their tools");
    for pack in &report.packs {
        match &pack.missing {
            None => page.row(&pack.name, &pack.profile, "allowed"),
            Some(why) => page.row(&pack.name, &pack.profile, &format!("not allowed as a whole: {why}")),
        }
    }
}

fn sandbox(page: &mut Page<'_>, report: &Report) {
    page.heading("Commands, and the layers of their sandbox, each tried out");
    let confinement = report.confinement();
    for layer in &report.sandbox {
        match &layer.state {
            Ok(found) => page.marked(Mark::Good, &format!("{}: {} ({found})", layer.name, layer.does)),
            Err(why) => {
                let is_needed = layer.need != Need::DryRun && confinement == Confinement::Strict;
                let mark = if is_needed { Mark::Broken } else { Mark::Note };
                page.marked(mark, &format!("{}: {}; missing: {why}", layer.name, layer.does));
            }
        }
    }
}

fn protected_files(page: &mut Page<'_>) {
    for (action, verb) in [(Capability::Write, "Writing"), (Capability::Read, "Reading")] {
        page.heading(&format!("{verb} these asks first, at any depth; --yes does not answer for them"));
        let mut groups: BTreeMap<usize, (&str, Vec<&str>)> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for row in protected().iter().filter(|row| row.action == action) {
            let index = order.iter().position(|why| *why == row.why).unwrap_or_else(|| {
                order.push(row.why);
                order.len() - 1
            });
            groups.entry(index).or_insert((row.why, Vec::new())).1.push(row.pattern);
        }
        for (why, patterns) in groups.into_values() {
            page.line(&format!("{why}:"));
            page.words(patterns.into_iter());
        }
        let open: Vec<&str> = protected()
            .iter()
            .filter(|row| row.action == action && !row.binds_commands(Owner::User))
            .map(|row| row.pattern)
            .collect();
        if !open.is_empty() {
            page.line(
                "only file tools ask about these; commands, such as git and package managers, write them:",
            );
            page.words(open.into_iter());
        }
    }
}

fn data(page: &mut Page<'_>, report: &Report) {
    page.heading("Data directory: outputs, answers, trust");
    let path = report.data.path.as_ref().map(|path| path.display().to_string());
    let path = path.as_deref().unwrap_or("none");
    let mode = report.data.mode.as_deref().unwrap_or("–");
    match report.data.state {
        DataState::Writable => page.marked(Mark::Good, &format!("{path} (mode {mode}, writable)")),
        DataState::NotYet => page.marked(Mark::Good, &format!("{path} (made when it is first needed)")),
        DataState::OpenToOthers => page.marked(Mark::Broken, &format!("{path} (mode {mode})")),
        DataState::ReadOnly => page.marked(Mark::Broken, &format!("{path} (cannot be written)")),
        DataState::Homeless => page.marked(Mark::Broken, path),
    }
}

fn store(page: &mut Page<'_>, report: &Report) {
    page.heading("Store: the log, virtual files, tasks, todos and what undo needs");
    let Some(store) = &report.store else {
        return page.marked(Mark::Note, "none, because there is no data directory");
    };
    let version = store.version.map(|version| format!(", tables of version {version}")).unwrap_or_default();
    let size = store.path.as_ref().map(|_| format!("{}, ", size(store.bytes))).unwrap_or_default();
    let state = match (&store.error, store.exists) {
        (Some(_), _) => return page.marked(Mark::Broken, &store.url),
        (None, true) => format!("{size}opens{version}"),
        (None, false) if store.path.is_none() && store.version.is_none() => {
            "ends with the process".to_owned()
        }
        (None, false) => "made when it is first needed".to_owned(),
    };
    page.marked(Mark::Good, &format!("{} ({state})", store.url));
}

fn findings(page: &mut Page<'_>, report: &Report) {
    page.heading(report.verdict());
    for finding in report.findings_in_order() {
        page.marked(finding.mark, &finding.what);
        if !finding.fix.is_empty() {
            page.line(&format!("       → {}", finding.fix));
        }
    }
}
