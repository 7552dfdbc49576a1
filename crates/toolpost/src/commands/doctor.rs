//! `toolpost doctor`: what holds, where it comes from, what waits, what is broken and how to mend it.
//!
//! It only looks: nothing is written or trusted, and nothing of the workspace's is started. The layers of the sandbox are
//! tried out by a process that ends with it. It goes on where something is broken, so that one look
//! shows everything.

mod page;

use crate::cli::Flags;
use crate::commands::tools::price;
use crate::config::answers::AnswerFiles;
use crate::config::env::Environment;
use crate::config::{
    DataDirectory, DataState, FileState, Inventory, Layers, Lookup, Place, ServerState, Servers, Values, cwd,
    foreign_repository, roots, roots_origin,
};
use crate::output::{Mark, Printer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolpost_core::policy::{Layer, Policy, Rule, Warning, protected};
use toolpost_core::{Disk, Registry, Services, Texts, ToolError, Workspace};
use toolpost_process::Need;
use toolpost_tools::shell::Confinement;

/// Everything that was found out.
struct Report {
    kernel: String,
    roots: Vec<Root>,
    roots_origin: &'static str,
    layers: Layers,
    values: Values,
    saved: Vec<Rule>,
    warnings: Vec<Warning>,
    inventory: Option<Inventory>,
    servers: Servers,
    tools: Vec<Tool>,
    packs: Vec<Pack>,
    data: DataDirectory,
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
    is_offered: bool,
}

/// Something to know or to mend.
struct Finding {
    mark: Mark,
    what: String,
    fix: String,
}

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: &Environment) -> u8 {
    let report = match look(flags, environment) {
        Ok(report) => report,
        Err(error) => return printer.invocation_error(&error),
    };
    match printer.is_json() {
        true => printer.json(&report.to_json()),
        false => printer.page(&page::page(printer, &report)),
    }
    u8::from(report.is_broken())
}

fn look(flags: &Flags, environment: &Environment) -> Result<Report, ToolError> {
    let cwd = cwd(environment)?;
    let folders = roots(flags, environment, &cwd);
    let disk = Disk::open(folders.iter().cloned());
    let layers = Layers::read(flags, environment, &cwd, disk.as_ref().ok());
    let values = layers.values();
    let mut findings = Vec::new();
    let saved = saved(environment, &folders, &values, &mut findings);
    let policy = Layers::policy(&values).with_rules(Layer::Saved, saved.clone());
    let lookup = layers.servers(&values, environment, &folders);
    let mut report = Report {
        kernel: kernel(),
        roots: folders.iter().map(|folder| root(folder)).collect(),
        roots_origin: roots_origin(flags, environment, &cwd),
        warnings: Vec::new(),
        inventory: None,
        servers: lookup.read(),
        tools: Vec::new(),
        packs: packs(&policy),
        data: DataDirectory::inspect(environment.data_directory.as_deref(), &folders),
        sandbox: toolpost_process::layers(),
        layers,
        values,
        saved,
        findings,
    };
    match &disk {
        Ok(disk) => report.look_into(disk, &policy, &cwd, &lookup),
        Err(error) => report.broken(error.message(), ""),
    }
    if let Some(note) = foreign_repository(flags, environment, &cwd) {
        report.note(note, "");
    }
    report.judge();
    Ok(report)
}

impl Report {
    fn look_into(&mut self, disk: &Disk, policy: &Policy, cwd: &Path, lookup: &Lookup) {
        match self.layers.inventory(disk, lookup) {
            Ok(inventory) => self.inventory = Some(inventory),
            Err(error) => self.broken(error.message(), ""),
        }
        match tools(&self.layers, &self.values, disk, policy, cwd) {
            Ok(tools) => self.tools = tools,
            Err(error) => {
                self.broken(error.message(), "mend the file, or name another folder of descriptions")
            }
        }
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        self.warnings = policy.warnings(&names);
    }

    fn broken(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding { mark: Mark::Broken, what: what.into(), fix: fix.into() });
    }

    fn note(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding { mark: Mark::Note, what: what.into(), fix: fix.into() });
    }

    /// What follows from all that was seen.
    fn judge(&mut self) {
        let problems = self.layers.problems.iter().chain(&self.layers.trust_problem);
        for line in problems.map(ToString::to_string).collect::<Vec<_>>() {
            self.broken(line, "");
        }
        self.judge_data();
        self.judge_sandbox();
        self.judge_servers();
        for line in self.values.warnings.iter().map(ToString::to_string).collect::<Vec<_>>() {
            if self.layers.trust_problem.as_ref().is_none_or(|problem| problem.to_string() != line) {
                self.note(line, "");
            }
        }
        for warning in self.warnings.iter().map(ToString::to_string).collect::<Vec<_>>() {
            self.note(warning, "");
        }
        let open_files = self.layers.files.iter().filter(|file| file.is_open_to_others);
        for path in open_files.map(|file| file.path.clone()).collect::<Vec<_>>() {
            self.note(
                format!("others can change `{path}`, and so what you allow"),
                format!("run `chmod go-w '{path}'`"),
            );
        }
        let waiting = self.inventory.as_ref().map_or(0, |inventory| inventory.waiting().count());
        if waiting > 0 {
            let files = if waiting == 1 { "file waits" } else { "files wait" };
            self.note(format!("{waiting} {files} for your trust"), "look at them with `toolpost trust`");
        }
        if self.layers.files.iter().all(|file| file.state == FileState::Missing) {
            self.note(
                "there is no configuration; what is built in holds",
                "write an example with `toolpost init`",
            );
        }
    }

    fn judge_data(&mut self) {
        let path = self.data.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        match self.data.state {
            DataState::Writable | DataState::NotYet => {}
            DataState::Homeless => self.broken(
                "there is no data directory: outputs, answers and trust cannot be kept",
                "set HOME, or XDG_DATA_HOME, to a folder of yours",
            ),
            DataState::ReadOnly => self.broken(
                format!("the data directory `{path}` cannot be written"),
                "change its owner, or set XDG_DATA_HOME to a folder of yours",
            ),
            DataState::OpenToOthers => self.broken(
                format!("others can write to the data directory `{path}`, and so grant themselves trust"),
                format!("run `chmod 700 '{path}'`"),
            ),
        }
        if let Some(root) = &self.data.inside {
            let root = root.display().to_string();
            self.note(
                format!("the data directory `{path}` lies in the workspace `{root}`"),
                "tools are kept from it by a rule; better is a smaller workspace, or another XDG_DATA_HOME",
            );
        }
    }

    /// What became of MCP servers that somebody wants.
    fn judge_servers(&mut self) {
        for line in self.servers.problems.iter().map(ToString::to_string).collect::<Vec<_>>() {
            self.broken(line, "its MCP servers are left out until it is mended");
        }
        for line in self.servers.warnings.iter().map(ToString::to_string).collect::<Vec<_>>() {
            self.note(line, "");
        }
        for report in self.servers.reports.clone() {
            let why = report.why.unwrap_or_default();
            let about = format!("{}: the MCP server `{}`", report.from, report.name);
            match report.state {
                ServerState::Unusable => self.note(format!("{about} cannot be used: {why}"), ""),
                ServerState::Overruled => self.note(format!("{about} is not used: {why}"), ""),
                ServerState::Trusted | ServerState::Untrusted | ServerState::Off => {}
            }
        }
    }

    /// What is missing for commands as they would be run, named with what can be done.
    fn judge_sandbox(&mut self) {
        let is_wanted = confinement(&self.values).0 == Confinement::Strict;
        let missing = |wanted: Need| -> Option<String> {
            let layers = self.sandbox.iter().filter(|layer| layer.need == wanted && layer.state.is_err());
            let names: Vec<&str> = layers.map(|layer| layer.name).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let [commands, sandbox, dry_run] = [Need::Commands, Need::Sandbox, Need::DryRun].map(missing);
        if let Some(names) = commands {
            self.broken(format!("commands cannot be run; missing: {names}"), "");
        }
        match sandbox {
            Some(names) if is_wanted => self.broken(
                format!("commands cannot be confined, so none is run; missing: {names}"),
                "what each lacks is said above; `--sandbox none` runs commands without a sandbox",
            ),
            Some(names) => self.note(format!("commands could not be confined here; missing: {names}"), ""),
            None => {}
        }
        if let Some(names) = dry_run {
            self.note(format!("commands have no dry run here; missing: {names}"), "");
        }
    }

    fn is_broken(&self) -> bool {
        self.findings.iter().any(|finding| finding.mark == Mark::Broken)
    }

    fn total_tokens(&self) -> usize {
        self.tools.iter().filter(|tool| tool.is_offered).map(|tool| tool.tokens).sum()
    }

    fn to_json(&self) -> Value {
        let values = &self.values;
        let rights: Vec<Value> = values
            .rights
            .iter()
            .map(|(capability, right)| json!({"capability": capability, "right": right.value, "from": right.place}))
            .collect();
        let roots: Vec<Value> =
            self.roots.iter().map(|root| json!({"path": root.path, "error": root.error})).collect();
        let tools: Vec<Value> = self
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "tokens": tool.tokens, "offered": tool.is_offered}))
            .collect();
        let packs: Vec<Value> = self
            .packs
            .iter()
            .map(|pack| json!({"name": pack.name, "riskProfile": pack.profile, "missing": pack.missing}))
            .collect();
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|one| json!({"broken": one.mark == Mark::Broken, "what": one.what, "fix": one.fix}))
            .collect();
        let layers: Vec<Value> = self
            .sandbox
            .iter()
            .map(|layer| {
                let (found, missing) = (layer.state.as_ref().ok(), layer.state.as_ref().err());
                json!({"name": layer.name, "does": layer.does, "neededFor": need(layer.need), "found": found, "missing": missing})
            })
            .collect();
        let (confinement, confinement_place) = confinement(values);
        let timeout = values.timeout.as_ref().map(
            |timeout| json!({"value": format!("{}s", timeout.value.as_secs_f64()), "from": timeout.place}),
        );
        json!({
            "ok": !self.is_broken(),
            "version": env!("CARGO_PKG_VERSION"),
            "kernel": self.kernel,
            "workspace": {
                "roots": roots, "from": self.roots_origin, "openat2": self.roots.iter().any(|root| root.error.is_none()),
            },
            "configuration": {
                "files": self.layers.files,
                "rights": rights,
                "timeout": timeout,
                "dialect": {"value": values.dialect.value.name(), "from": values.dialect.place},
                "descriptions": values.descriptions,
                "session": values.session,
                "listed": values.listed.as_ref().map(|listed| json!({"value": listed.value.to_string(), "from": listed.place})),
                "structured": values.structured,
                "sandbox": {"value": word(confinement), "from": confinement_place},
                "mcpFrom": values.mcp_from,
                "rules": values.rules.iter().chain(&self.saved).collect::<Vec<_>>(),
                "inert": values.inert,
                "problems": self.layers.problems,
                "warnings": values.warnings,
                "ruleWarnings": self.warnings,
            },
            "trust": self.inventory,
            "servers": self.servers.reports,
            "tools": {"list": tools, "totalTokens": self.total_tokens()},
            "packs": packs,
            "protected": protected(),
            "sandbox": layers,
            "data": self.data,
            "findings": findings,
        })
    }
}

/// How commands are confined, and where that is set.
fn confinement(values: &Values) -> (Confinement, Place) {
    match &values.sandbox {
        Some(sandbox) => (sandbox.value, sandbox.place.clone()),
        None => (Confinement::default(), Place::built_in()),
    }
}

fn word(confinement: Confinement) -> &'static str {
    match confinement {
        Confinement::Strict => "strict",
        Confinement::None => "none",
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
    match Disk::open([folder.to_path_buf()]) {
        Ok(disk) => Root { path: disk.root().to_owned(), error: None },
        Err(error) => Root { path: folder.display().to_string(), error: Some(error.message().to_owned()) },
    }
}

/// The answers that were saved for this workspace and user, and for the session if it was named.
fn saved(
    environment: &Environment,
    roots: &[PathBuf],
    values: &Values,
    findings: &mut Vec<Finding>,
) -> Vec<Rule> {
    let Some(data) = &environment.data_directory else { return Vec::new() };
    let session = values.session.as_ref().map(|session| session.value.as_str());
    match AnswerFiles::new(data, roots, session).load() {
        Ok((session, saved)) => session.into_iter().chain(saved).collect(),
        Err(error) => {
            let (what, fix) = (error.message().to_owned(), String::new());
            findings.push(Finding { mark: Mark::Broken, what, fix });
            Vec::new()
        }
    }
}

/// Every pack, and whether the policy allows all of it.
fn packs(policy: &Policy) -> Vec<Pack> {
    let describe = |pack: &toolpost_core::Pack| Pack {
        name: pack.name().to_owned(),
        profile: pack.manifest().risk_profile().to_string(),
        missing: pack.assert_allowed(policy).err().map(|error| error.message().to_owned()),
    };
    toolpost_tools::packs(&toolpost_tools::Settings::default()).iter().map(describe).collect()
}

/// Every tool with the price of its declaration in the dialect that holds.
fn tools(
    layers: &Layers,
    values: &Values,
    disk: &Disk,
    policy: &Policy,
    cwd: &Path,
) -> Result<Vec<Tool>, ToolError> {
    let texts = layers
        .descriptions(values, disk)?
        .into_iter()
        .fold(Texts::new(disk, &cwd.to_string_lossy()), |texts, (tool, text)| {
            texts.with_override(tool, text)
        });
    let registry = Registry::with_texts(texts);
    toolpost_tools::register_default(&registry, &Services::default(), &toolpost_tools::Settings::default())?;
    let snapshot = registry.snapshot();
    let mut tools = Vec::new();
    for entry in snapshot.all().filter(|entry| !entry.spec().finds_unlisted) {
        let definition = snapshot.offer(entry, &values.dialect.value)?;
        let spec = entry.spec();
        tools.push(Tool {
            name: entry.name().to_owned(),
            tokens: definition
                .as_ref()
                .map_or(0, |definition| price(&toolpost_declaration::Source::of(definition))),
            is_offered: definition.is_some() && policy.offers(&spec.name, spec.required),
        });
    }
    Ok(tools)
}
