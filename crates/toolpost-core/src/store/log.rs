//! The log: what is asked of it, and what it answers.

use crate::event::Event;
use serde::Serialize;
use std::collections::BTreeMap;

/// An event at its place in the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged {
    /// Its place in the whole log, from 1, without gaps: the order in which events became durable.
    pub position: u64,
    /// The event. Its sequence is its place in its session, from 1, without gaps.
    #[serde(flatten)]
    pub event: Event,
}

/// Which events are wanted. The default is all of them, from the first on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Of this session.
    pub session: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this call.
    pub call: Option<String>,
    /// Of calls of this tool.
    pub tool: Option<String>,
    /// From this time on, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Before this time.
    pub until_ms: Option<u64>,
    /// Ends of calls with this outcome.
    pub outcome: Option<OutcomeFilter>,
    /// With these words, all of them, in whatever order.
    pub words: Option<String>,
    /// After this position.
    pub after: Option<u64>,
    /// At most so many.
    pub limit: Option<usize>,
    /// The last ones that fit, where the limit cuts; otherwise the first.
    pub is_newest: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutcomeFilter {
    /// It worked.
    Success,
    /// It failed.
    Failure,
    /// It failed with this code.
    Code(String),
}

/// A session, told in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub session: String,
    /// When its first event was, in milliseconds since 1970.
    pub first_ms: u64,
    /// When its last event was.
    pub last_ms: u64,
    /// Events so far.
    pub events: u64,
    /// Calls that have ended.
    pub calls: u64,
    /// Of those, the ones that failed.
    pub failures: u64,
}

/// The calls of one tool, counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStats {
    /// The tool.
    pub tool: String,
    /// Calls that have ended.
    pub calls: u64,
    /// How many failed, by code.
    pub failures: BTreeMap<String, u64>,
    /// Half of the calls took at most so many milliseconds.
    pub p50_ms: f64,
    /// Of twenty calls nineteen took at most so many.
    pub p95_ms: f64,
    /// Bytes of text that the calls gave to the model.
    pub bytes: u64,
    /// About how many tokens these are.
    pub tokens: u64,
}
