//! How the end of an agent is told to the one that started it. Pure.

use serde_json::Value;
use toolpost_agent::kernel::Ended;
use toolpost_agent::result::extract;
use toolpost_core::activation::Reason;
use toolpost_core::host::SpawnedAgent;
use toolpost_core::{Code, ToolError};

/// Maximum number of letters of what an agent had said, in the message about its failure.
const MOST_SAID: usize = 4_000;

/// Maximum number of letters of an answer that is not the data that it should be.
const MOST_QUOTED: usize = 500;

/// Maximum number of bytes of a result that an agent is told of another that it has not waited for: as much as of a call.
const MOST_RESULT: usize = 50 * 1024;

/// A result that is not too long for a turn, and how much of it is missing.
pub(super) fn shortened(text: &str, id: &str) -> String {
    let end = text.floor_char_boundary(MOST_RESULT);
    match text.len() - end {
        0 => text.to_owned(),
        more => format!(
            "{}\n[{more} bytes more; the log has all of it, at the end of the run {id}]",
            &text[..end]
        ),
    }
}

/// What came of an agent: its result, or why there is none.
pub(super) fn told(
    name: &str,
    id: String,
    ended: Ended,
    schema: Option<&Value>,
) -> Result<SpawnedAgent, ToolError> {
    if ended.reason != Reason::Done {
        return Err(failure(name, &id, &ended));
    }
    let data = schema.map(|schema| extract(&ended.text, schema)).transpose().map_err(|problems| {
        let message = format!(
            "the result of `{name}` does not fit its schema, twice:\n{problems}\nits last answer was:\n{}",
            quoted(&ended.text)
        );
        ToolError::new(Code::ResultSchemaMismatch, message)
            .with("text", cut(&ended.text))
            .with("agent", id.as_str())
    })?;
    let cost = ended.whole_cost();
    let Ended { text, turns, usage, .. } = ended;
    Ok(SpawnedAgent { id, text, data, turns, usage, cost })
}

fn failure(name: &str, id: &str, ended: &Ended) -> ToolError {
    let (code, why) = match ended.reason {
        // Not reached: it has a result.
        Reason::Done => (Code::ExecutionError, "it is done".to_owned()),
        Reason::Stopped => (Code::Cancelled, "it was stopped".to_owned()),
        Reason::Time => {
            let went = ended.error.as_ref().map(|went| format!(" ({went})"));
            (Code::Timeout, format!("its time is over{}", went.unwrap_or_default()))
        }
        Reason::Turns => (Code::BudgetExceeded, "it has used all its turns".to_owned()),
        Reason::Tokens => (Code::BudgetExceeded, "the tokens that it may use are used up".to_owned()),
        Reason::Cost => (Code::BudgetExceeded, "the cost that it may cause is reached".to_owned()),
        Reason::Loop => (Code::ExecutionError, "it made the same call again and again".to_owned()),
        Reason::Length => (Code::ModelError, "its answer was cut off by its model's limit".to_owned()),
        Reason::Refused => {
            (Code::ModelError, ended.error.clone().unwrap_or_else(|| "its model refused".to_owned()))
        }
        Reason::Script => {
            let why = ended.error.clone().unwrap_or_else(|| "a step of its script failed".to_owned());
            (ended.code.unwrap_or(Code::ExecutionError), why)
        }
        Reason::Model => {
            let why = ended.error.clone().unwrap_or_else(|| "its model gave no answer".to_owned());
            (ended.code.unwrap_or(Code::ModelError), why)
        }
    };
    let said = match ended.text.trim() {
        "" => String::new(),
        text => format!("; what it had said:\n{}", cut(text)),
    };
    let error = ToolError::new(code, format!("the agent `{name}` ended without a result: {why}{said}"));
    error.with("agent", id).with("reason", serde_json::to_value(ended.reason).unwrap_or_default())
}

/// The answer in a message.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MOST_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_SAID) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
