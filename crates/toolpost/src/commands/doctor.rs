//! `toolpost doctor`: what is broken and how to fix it, then what holds and where it comes from.
//!
//! It looks: nothing is trusted or changed. The MCP servers that a session would start are started, and left at its end;
//! those that wait for trust, or whose tools the policy would all refuse, are not. The layers of the sandbox are tried out
//! by a process that ends with it. It goes on where something is broken, so that one look shows everything.
//!
//! It reads the configuration and the runtime that every other command would run with, and resolves nothing itself.

mod findings;
mod json;
mod page;
mod starts;
mod summary;

use crate::cli::Flags;
use crate::commands::tools::price;
use crate::config::env::Environment;
use crate::config::{Config, DataDirectory, Inventory, Servers};
use crate::output::{Mark, Printer};
use crate::runtime::{Frontend, RuleNames, Runtime, ServerChoice, lack, remedy};
use starts::Starts;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolpost_core::executor::Absence;
use toolpost_core::policy::{Layer, Policy, Rule};
use toolpost_core::{ToolError, Workspace};
use toolpost_process::Need;
use toolpost_rules::Warning;
use toolpost_store::Inspected;
use toolpost_tools::shell::Confinement;

/// Everything that was found out.
struct Report {
    kernel: String,
    /// What holds.
    config: Config,
    roots: Vec<Root>,
    /// The rules of the policy, the strongest layer first.
    rules: Vec<Rule>,
    warnings: Vec<Warning>,
    inventory: Option<Inventory>,
    servers: Servers,
    /// What became of the servers that were started, by name.
    starts: Starts,
    tools: Vec<Tool>,
    packs: Vec<Pack>,
    data: DataDirectory,
    store: Option<Inspected>,
    sandbox: Vec<toolpost_process::Layer>,
    findings: Vec<Finding>,
}

struct Pack {
    name: String,
    profile: String,
    /// What the policy lacks for all of its tools; none if it is allowed.
    missing: Option<String>,
}

struct Root {
    path: String,
    error: Option<String>,
}

struct Tool {
    name: String,
    tokens: usize,
    /// Why it is not offered, where it is not.
    withheld: Option<String>,
    /// Whether it is in lists, so that every session pays for it.
    is_listed: bool,
}

/// Something to know or to mend.
struct Finding {
    mark: Mark,
    what: String,
    fix: String,
}

/// How much is shown to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// One screen.
    Summary,
    /// Everything.
    All,
}

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, detail: Detail) -> u8 {
    let report = match look(flags, environment) {
        Ok(report) => report,
        Err(error) => return printer.invocation_error(&error),
    };
    match (printer.is_json(), detail) {
        (true, _) => printer.json(&report.to_json()),
        (false, Detail::Summary) => printer.page(&summary::page(printer, &report)),
        (false, Detail::All) => printer.page(&page::page(printer, &report)),
    }
    u8::from(report.is_broken())
}

fn look(flags: &Flags, environment: Environment) -> Result<Report, ToolError> {
    let config = Config::look(flags, environment.clone())?;
    let mut findings = Vec::new();
    let inventory =
        config.inventory().map_err(|error| findings.push(Finding::broken(error.message(), ""))).ok();
    if let Some(session) = &config.virtual_session {
        let what =
            format!("file tools act on the virtual files of the session `{session}`, not on these folders");
        findings.push(Finding::note(&what, ""));
    }
    let (roots, data) = (config.roots.clone(), config.data_directory.clone());
    let opened = match config.workspace.is_ok() {
        true => Opened::with_runtime(config),
        // Its error is among the findings.
        false => Ok(Opened::without_runtime(config)),
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => {
            findings.push(Finding::broken(error.message(), "correct the file that is named"));
            Opened::without_runtime(Config::look(flags, environment)?)
        }
    };
    let policy = &opened.policy;
    let servers = opened.servers.reports.iter().map(|server| server.name.as_str());
    let warnings = RuleNames::new(servers).at(roots.first().map(PathBuf::as_path)).warnings(policy);
    // What is said of a rule at every start is among its warnings.
    let is_warning = |note: &str| warnings.iter().any(|warning| warning.to_string() == note);
    let notes = opened.notes.iter().filter(|note| !is_warning(note));
    findings.extend(notes.map(|note| Finding::note(note, "")));
    let mut report = Report {
        kernel: kernel(),
        roots: roots.iter().map(|folder| root(folder)).collect(),
        rules: Layer::ALL
            .into_iter()
            .flat_map(|layer| policy.rules(layer).cloned().collect::<Vec<_>>())
            .collect(),
        warnings,
        inventory,
        packs: packs(&opened.packs, policy),
        data: DataDirectory::inspect(data.as_deref(), &roots),
        store: opened.config.store.as_ref().map(toolpost_store::inspect),
        sandbox: toolpost_process::layers(),
        servers: opened.servers,
        starts: opened.starts,
        tools: opened.tools,
        config: opened.config,
        findings,
    };
    report.judge();
    Ok(report)
}

/// What a runtime shows of itself.
struct Opened {
    config: Config,
    policy: Policy,
    servers: Servers,
    starts: Starts,
    tools: Vec<Tool>,
    packs: Vec<Arc<toolpost_core::Pack>>,
    /// Notes of the runtime that are not among the warnings of the configuration.
    notes: Vec<String>,
}

impl Opened {
    fn with_runtime(config: Config) -> Result<Opened, ToolError> {
        let mut servers = config.servers();
        let usable = starts::bounded(std::mem::take(&mut servers.usable));
        let frontend = Frontend { servers: ServerChoice::These(usable), ..crate::this_program() };
        let runtime = Runtime::open(config, frontend)?;
        let known = runtime.config.notes.len();
        let starts = Starts::of(&runtime)?;
        let policy = runtime.policy();
        let mut notes: Vec<String> = runtime.notes.iter().skip(known).cloned().collect();
        notes.extend(runtime.offer_agents_tools());
        notes.extend(runtime.broken_packs());
        notes.extend(runtime.notes_of_packs(&policy));
        Ok(Opened {
            starts,
            tools: tools(&runtime)?,
            packs: runtime.packs().into_iter().map(|known| known.pack).collect(),
            policy,
            notes,
            servers,
            config: runtime.config,
        })
    }

    /// The configuration alone: no tool can be had.
    fn without_runtime(config: Config) -> Opened {
        let (policy, servers) = (config.policy.clone(), config.servers());
        let (starts, packs) = (Starts::default(), built_in_packs());
        Opened { config, policy, servers, starts, tools: Vec::new(), packs, notes: Vec::new() }
    }
}

impl Finding {
    fn broken(what: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { mark: Mark::Broken, what: what.into(), fix: fix.into() }
    }

    fn note(what: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { mark: Mark::Note, what: what.into(), fix: fix.into() }
    }
}

impl Report {
    fn is_broken(&self) -> bool {
        self.findings.iter().any(|finding| finding.mark == Mark::Broken)
    }

    /// What all of it comes to.
    fn verdict(&self) -> &'static str {
        match (self.is_broken(), self.findings.is_empty()) {
            (true, _) => "To fix",
            (false, false) => "All is well; worth knowing",
            (false, true) => "All is well",
        }
    }

    /// What is broken comes first.
    fn findings_in_order(&self) -> impl Iterator<Item = &Finding> {
        let is_broken = |finding: &&Finding| finding.mark == Mark::Broken;
        let notes = self.findings.iter().filter(move |finding| !is_broken(finding));
        self.findings.iter().filter(is_broken).chain(notes)
    }

    fn total_tokens(&self) -> usize {
        self.tools.iter().filter(|tool| tool.is_listed).map(|tool| tool.tokens).sum()
    }

    fn confinement(&self) -> Confinement {
        self.config.shell.confinement
    }
}

fn need(need: Need) -> &'static str {
    match need {
        Need::Commands => "commands",
        Need::Sandbox => "sandbox",
        Need::DryRun => "dry run",
    }
}

fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

fn root(folder: &Path) -> Root {
    match crate::config::open_disk([folder.to_path_buf()]) {
        Ok(disk) => Root { path: disk.root().to_owned(), error: None },
        Err(error) => Root { path: folder.display().to_string(), error: Some(error.message().to_owned()) },
    }
}

/// Every pack, and whether the policy allows all of it.
fn packs(known: &[Arc<toolpost_core::Pack>], policy: &Policy) -> Vec<Pack> {
    let describe = |pack: &Arc<toolpost_core::Pack>| Pack {
        name: pack.name().to_owned(),
        profile: pack.manifest().risk_profile().to_string(),
        missing: pack.assert_allowed(policy).err().map(|error| error.message().to_owned()),
    };
    known.iter().map(describe).collect()
}

fn built_in_packs() -> Vec<Arc<toolpost_core::Pack>> {
    toolpost_tools::packs(&toolpost_tools::Settings::default()).into_iter().map(Arc::new).collect()
}

/// Why a tool is not offered, as the end of a sentence.
fn withheld(runtime: &Runtime, why: &Absence) -> String {
    match (why, runtime.context.ids().role.as_deref()) {
        (Absence::Role(_), Some(role)) => format!("to the role {role}"),
        (Absence::Role(_), None) => "without a role (--role)".to_owned(),
        (Absence::Dialect(name, _), _) => format!("in the dialect {name}"),
        (Absence::Policy(_), _) => "under this policy".to_owned(),
        (Absence::Selection(by), _) => format!("with {by}"),
        _ => {
            format!("here: {}; {}", lack(why), remedy(why))
        }
    }
}

/// Every tool with the price of its declaration in the dialect that holds: those that are here, then built-in ones that are not.
fn tools(runtime: &Runtime) -> Result<Vec<Tool>, ToolError> {
    let offer = runtime.offer();
    let listing = &offer.listing;
    let mut tools = Vec::new();
    for entry in listing.snapshot.all() {
        let definition = listing.definition(entry)?;
        let why = offer.why(entry.name());
        // What finds tools is of use only where there are some to be found.
        if why == Some(&Absence::NothingToFind) {
            continue;
        }
        tools.push(Tool {
            name: entry.name().to_owned(),
            tokens: definition
                .as_ref()
                .map_or(0, |definition| price(&toolpost_declaration::Source::of(definition))),
            withheld: why.map(|why| withheld(runtime, why)),
            is_listed: listing.listed.iter().any(|one| one.name() == entry.name()),
        });
    }
    tools.extend(offer.missing.iter().map(|missing| Tool {
        name: missing.spec.name.clone(),
        tokens: 0,
        withheld: Some(withheld(runtime, &missing.why)),
        is_listed: false,
    }));
    Ok(tools)
}
