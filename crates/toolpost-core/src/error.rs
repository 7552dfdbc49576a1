//! What a failed call says: a stable code, a message a model can act on, details for programs.
//!
//! There is one error type for the whole crate. Whether a failure is worth another attempt is part of it; how often
//! to try is the executor's business.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;
use toolpost_text::{Redactor, map_strings};

/// Why a call failed, for a model, a person and a program at once.
///
/// The message is lower case, names the value that was wrong and says what to try next.
///
/// ```
/// use toolpost_core::{Code, ToolError};
///
/// let error = ToolError::new(Code::FileNotFound, "no file `src/mian.rs`; nearest: `src/main.rs`")
///     .with("path", "src/mian.rs");
/// assert_eq!(error.code().as_str(), "FILE_NOT_FOUND");
/// assert_eq!(error.to_string(), "FILE_NOT_FOUND: no file `src/mian.rs`; nearest: `src/main.rs`");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolError {
    code: Code,
    message: String,
    #[serde(default)]
    details: Map<String, Value>,
    retryable: bool,
}

impl ToolError {
    /// A failure that another attempt would not mend.
    pub fn new(code: Code, message: impl Into<String>) -> ToolError {
        ToolError { code, message: message.into(), details: Map::new(), retryable: false }
    }

    /// The failure of a tool's own work, where no better code fits.
    pub fn execution(message: impl Into<String>) -> ToolError {
        ToolError::new(Code::ExecutionError, message)
    }

    /// Adds one detail that a program may want.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> ToolError {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Says that the same call may work a moment later.
    #[must_use]
    pub fn retryable(mut self) -> ToolError {
        self.retryable = true;
        self
    }

    /// Says that the same call may work after this time, and not before.
    #[must_use]
    pub fn retryable_after(self, pause: Duration) -> ToolError {
        let pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.retryable().with("retryAfterMs", pause)
    }

    /// How long to wait before the same call may work, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.details.get("retryAfterMs").and_then(Value::as_u64).map(Duration::from_millis)
    }

    /// The same error with one more thing to do about it.
    #[must_use]
    pub fn with_advice(mut self, advice: &str) -> ToolError {
        self.message = format!("{}; {advice}", self.message);
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What happened, with which value, and what to do next.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// More for programs: paths, candidates, rules.
    pub fn details(&self) -> &Map<String, Value> {
        &self.details
    }

    /// Whether the same call may work a moment later.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The same error with another message.
    pub(crate) fn with_message(mut self, message: String) -> ToolError {
        self.message = message;
        self
    }

    /// The same error, with known secrets taken out of its message and details.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> ToolError {
        self.map_text(&|text| redactor.redact(text).into_owned())
    }

    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> ToolError {
        self.message = change(&self.message);
        self.details =
            self.details.into_iter().map(|(key, value)| (change(&key), map_strings(value, change))).collect();
        self
    }
}

impl From<toolpost_schema::NoSchema> for ToolError {
    fn from(error: toolpost_schema::NoSchema) -> ToolError {
        ToolError::new(Code::ValidationError, error.to_string())
    }
}

impl From<toolpost_policy::NotARule> for ToolError {
    fn from(error: toolpost_policy::NotARule) -> ToolError {
        ToolError::new(Code::ValidationError, error.to_string())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ToolError {}

/// One row a code: the variant, its stable string, the exit status of the command line, and what it means.
///
/// `codes! { TimeOut "TIMEOUT" 4 "…" }` expands to the enum with those doc comments, `ALL`, `as_str`, `exit_status`
/// and `meaning`.
macro_rules! codes {
    ($($variant:ident $text:literal $exit:literal $meaning:literal)*) => {
        /// The stable code of a failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $text)] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The code as it is written everywhere.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text),* }
            }

            /// The exit status of `toolpost call` for this code.
            pub fn exit_status(self) -> u8 {
                match self { $(Code::$variant => $exit),* }
            }

            /// What the code means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    ToolNotFound "TOOL_NOT_FOUND" 2 "No tool has this name; the message names the nearest ones."
    ValidationError "VALIDATION_ERROR" 2 "The arguments do not fit the tool's schema; `details.errors` has each path and what was expected."
    InitFailed "INIT_FAILED" 1 "The tool could not be made ready; the next call tries again."
    PermissionDenied "PERMISSION_DENIED" 3 "The policy does not allow this call; the message says what would."
    Untrusted "UNTRUSTED" 3 "The file comes from the workspace and is not trusted yet."
    ProtectedFile "PROTECTED_FILE" 3 "The file is run by something else later, or holds secrets, and needs a rule of its own."
    Timeout "TIMEOUT" 4 "The call took longer than it may."
    Cancelled "CANCELLED" 4 "The caller gave up the call."
    Interrupted "INTERRUPTED" 130 "The user pressed Ctrl-C."
    ExecutionError "EXECUTION_ERROR" 1 "The tool itself failed."
    Panic "PANIC" 1 "The tool crashed; the runtime goes on."
    FileNotFound "FILE_NOT_FOUND" 1 "There is no such file; the message names the nearest ones."
    NotAFile "NOT_A_FILE" 1 "The path is not a regular file (or not a folder, where one is needed)."
    IsBinary "IS_BINARY" 1 "The file is not text."
    PathEscape "PATH_ESCAPE" 1 "The path leads out of the workspace."
    ReadError "READ_ERROR" 1 "The file could not be read."
    WriteError "WRITE_ERROR" 1 "The file could not be written; the old content is whole."
    SearchError "SEARCH_ERROR" 1 "The search could not be made."
    NoMatch "NO_MATCH" 1 "The text to replace is not in the file; the details show the nearest places."
    AmbiguousMatch "AMBIGUOUS_MATCH" 1 "The text to replace is in the file more than once; the details list the places."
    NoChange "NO_CHANGE" 1 "The call would change nothing."
    Omission "OMISSION" 1 "The new text leaves out code behind a placeholder."
    StaleFile "STALE_FILE" 1 "The file has changed since it was last seen."
    TooLarge "TOO_LARGE" 1 "The input is larger than the tool takes."
    EngineNotAvailable "ENGINE_NOT_AVAILABLE" 1 "The tool needs the code engine, which is not there."
    StoreNotAvailable "STORE_NOT_AVAILABLE" 1 "The tool needs a store, which is not there."
    LlmAssistRequired "LLM_ASSIST_REQUIRED" 1 "The tool needs a model or agents, which are not there."
    SandboxUnavailable "SANDBOX_UNAVAILABLE" 1 "The sandbox that the policy asks for cannot be had on this machine."
    DepthExceeded "DEPTH_EXCEEDED" 1 "Agents or calls are nested deeper than the limit."
    FanoutExceeded "FANOUT_EXCEEDED" 1 "One agent or call started more children than the limit."
    BudgetExceeded "BUDGET_EXCEEDED" 1 "The budget shared by the whole run is used up."
    NetworkBlocked "NETWORK_BLOCKED" 3 "The address may not be reached."
    FetchError "FETCH_ERROR" 1 "The address could not be fetched."
    ModelError "MODEL_ERROR" 1 "The model's provider failed."
    ResultSchemaMismatch "RESULT_SCHEMA_MISMATCH" 1 "The answer does not fit the schema it was asked for."
    RoleForbidden "ROLE_FORBIDDEN" 3 "The role of the caller does not have this tool."
    TaskConflict "TASK_CONFLICT" 1 "Somebody else holds or has finished the task."
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_its_string_everywhere() {
        for code in Code::ALL {
            let json = serde_json::to_value(code).unwrap();
            assert_eq!(json, code.as_str());
            assert_eq!(serde_json::from_value::<Code>(json).unwrap(), *code);
            assert!(code.meaning().ends_with('.'));
        }
    }

    #[test]
    fn exit_statuses_are_those_of_the_contract() {
        for (code, status) in [
            (Code::ToolNotFound, 2),
            (Code::ValidationError, 2),
            (Code::PermissionDenied, 3),
            (Code::Untrusted, 3),
            (Code::ProtectedFile, 3),
            (Code::RoleForbidden, 3),
            (Code::NetworkBlocked, 3),
            (Code::Timeout, 4),
            (Code::Cancelled, 4),
            (Code::Interrupted, 130),
            (Code::FileNotFound, 1),
        ] {
            assert_eq!(code.exit_status(), status, "{code}");
        }
    }
}
