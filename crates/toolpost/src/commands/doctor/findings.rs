//! What follows from all that `doctor` saw: what is broken, what is worth knowing, and what to do.

use super::starts::Start;
use super::{Finding, Report};
use crate::config::{DataState, FileState, ServerState};
use toolpost_process::Need;
use toolpost_tools::shell::Confinement;

impl Report {
    fn broken(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding::broken(what, fix));
    }

    fn note(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding::note(what, fix));
    }

    /// What follows from all that was seen.
    pub(super) fn judge(&mut self) {
        if let Err(error) = &self.config.workspace {
            let known = error.message().to_owned();
            if !self.findings.iter().any(|finding| finding.what == known) {
                self.broken(known, "");
            }
        }
        let broken = self.config.broken.iter();
        let broken: Vec<Finding> =
            broken.map(|broken| Finding::broken(broken.error.message(), broken.fix)).collect();
        self.findings.extend(broken);
        if let Some(note) = self.config.foreign_repository.clone() {
            self.note(note, "");
        }
        let problems = self.config.layers.problems.iter().chain(&self.config.layers.trust_problem);
        for line in problems.map(ToString::to_string).collect::<Vec<_>>() {
            self.broken(line, "");
        }
        self.judge_data();
        if let Some(error) = self.store.as_ref().and_then(|store| store.error.clone()) {
            self.broken(error, "");
        }
        self.judge_sandbox();
        self.judge_servers();
        for line in self.config.values.warnings.iter().map(ToString::to_string).collect::<Vec<_>>() {
            if self.config.layers.trust_problem.as_ref().is_none_or(|problem| problem.to_string() != line) {
                self.note(line, "");
            }
        }
        for warning in self.warnings.iter().map(ToString::to_string).collect::<Vec<_>>() {
            self.note(warning, "");
        }
        let open_files = self.config.layers.files.iter().filter(|file| file.is_open_to_others);
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
        if self.config.layers.files.iter().all(|file| file.state == FileState::Missing) {
            self.note(
                "there is no configuration; the built-in values are used",
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
            self.broken(line, "its MCP servers are left out until it is fixed");
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
                ServerState::Trusted => self.judge_start(&report.name, &about),
                ServerState::Untrusted | ServerState::Off => {}
            }
        }
        for note in self.starts.notes.clone() {
            self.note(note, "");
        }
    }

    fn judge_start(&mut self, name: &str, about: &str) {
        match self.starts.by_name.get(name).cloned() {
            None | Some(Start::Told { .. }) => {}
            Some(Start::Unwanted { why }) => self.note(why, ""),
            Some(Start::Failed { why }) => self
                .broken(why, "fix its entry or its program; `enabled = false` in the entry switches it off"),
            Some(Start::Lost { why }) => self.broken(
                format!("{about} started, told its tools, and ended: {why}"),
                "start it by hand to see why it ends",
            ),
        }
    }

    /// What is missing for commands as they would be run, named with what can be done.
    fn judge_sandbox(&mut self) {
        let is_wanted = self.confinement() == Confinement::Strict;
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
}
