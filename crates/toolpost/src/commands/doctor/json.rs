//! The report for a program.

use super::{Report, need};
use crate::config::{KEYS, Origined, ServerReport, ServerState, Shown};
use crate::output::Mark;
use serde_json::{Value, json};
use toolpost_core::policy::protected;

impl Report {
    pub(super) fn to_json(&self) -> Value {
        let values = &self.config.values;
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
            .map(|tool| json!({"name": tool.name, "tokens": tool.tokens, "offered": tool.withheld.is_none(), "withheld": tool.withheld, "listed": tool.is_listed}))
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
        let mut configuration = json!({
            "files": self.config.layers.files,
            "rights": rights,
            "rules": self.rules,
            "inert": values.inert,
            "problems": self.config.layers.problems,
            "warnings": values.warnings,
            "ruleWarnings": self.warnings,
        });
        for key in KEYS.iter().filter(|key| key.shown() == Shown::Row) {
            let values: Vec<Value> = key.values(&values.keys).iter().map(origined).collect();
            configuration[key.name()] = match key.is_list() {
                true => values.into(),
                false => values.into_iter().next().unwrap_or_default(),
            };
        }
        json!({
            "ok": !self.is_broken(),
            "version": env!("CARGO_PKG_VERSION"),
            "kernel": self.kernel,
            "workspace": {
                "roots": roots, "from": self.config.roots_origin, "openat2": self.roots.iter().any(|root| root.error.is_none()),
            },
            "configuration": configuration,
            "trust": self.inventory,
            "servers": self.servers.reports.iter().map(|server| self.server(server)).collect::<Vec<_>>(),
            "tools": {"list": tools, "totalTokens": self.total_tokens()},
            "packs": packs,
            "protected": protected(),
            "sandbox": layers,
            "data": self.data,
            "store": self.store,
            "findings": findings,
        })
    }
}

impl Report {
    /// A server, and what became of its start if it was started.
    fn server(&self, server: &ServerReport) -> Value {
        let mut shown = json!(server);
        if server.state == ServerState::Trusted
            && let Some(start) = self.starts.by_name.get(&server.name)
        {
            shown["start"] = json!(start);
        }
        shown
    }
}

/// A value with its place, which stands both beside it and under `from`.
fn origined(value: &Origined<Value>) -> Value {
    let mut shown = json!(value);
    shown["from"] = json!(value.place);
    shown
}
