//! What a running tool says of itself, as progress notifications.

use crate::session::Outlet;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use toolpost_core::Event;
use toolpost_core::event::{EventKind, EventSink};
use toolpost_mcp::message;

/// The longest message that is told.
const LONGEST: usize = 300;

/// Tells one client of one call.
pub(crate) struct Progress {
    has_messages: bool,
    cancel: CancellationToken,
    heard_by: Mutex<Option<Hearer>>,
}

/// The request that is told.
struct Hearer {
    token: Value,
    outlet: Arc<dyn Outlet>,
    last: f64,
}

impl Progress {
    /// Nothing is told once `cancel` has fired.
    pub(crate) fn new(
        token: Value,
        has_messages: bool,
        outlet: Arc<dyn Outlet>,
        cancel: CancellationToken,
    ) -> Progress {
        let heard_by = Mutex::new(Some(Hearer { token, outlet, last: -1.0 }));
        Progress { has_messages, cancel, heard_by }
    }

    /// The call has ended, or its request was answered: what comes later would follow the answer.
    pub(crate) fn end(&self) {
        *self.heard_by() = None;
    }

    /// From now on another request is told, by a token of its own.
    pub(crate) fn attach(&self, token: Value, outlet: Arc<dyn Outlet>) {
        *self.heard_by() = Some(Hearer { token, outlet, last: -1.0 });
    }

    /// This request has been answered.
    pub(crate) fn detach(&self, outlet: &Arc<dyn Outlet>) {
        self.heard_by().take_if(|hearer| Arc::ptr_eq(&hearer.outlet, outlet));
    }

    fn heard_by(&self) -> MutexGuard<'_, Option<Hearer>> {
        self.heard_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, title: &str, metadata: &Value) {
        let number = |key: &str| metadata.get(key).and_then(Value::as_f64);
        let mut heard_by = self.heard_by();
        let Some(hearer) = heard_by.as_mut().filter(|_| !self.cancel.is_cancelled()) else { return };
        // It must grow, whatever a tool says of itself.
        let last = hearer.last;
        let progress = number("progress").filter(|one| *one > last).unwrap_or(last.floor() + 1.0);
        hearer.last = progress;
        let mut params = Map::new();
        params.insert("progressToken".to_owned(), hearer.token.clone());
        params.insert("progress".to_owned(), plain(progress));
        if let Some(total) = number("total") {
            params.insert("total".to_owned(), plain(total));
        }
        if self.has_messages {
            params.insert("message".to_owned(), message(title, metadata).into());
        }
        // Under the lock, so that a smaller number never follows a larger one.
        hearer.outlet.send(message::notification("notifications/progress", &Value::Object(params)));
    }
}

impl EventSink for Progress {
    fn record(&self, event: &Arc<Event>) {
        match &event.kind {
            EventKind::Progress { title, metadata } => self.tell(title, metadata),
            EventKind::CallRetried { error, delay_ms, .. } => {
                self.tell(&format!("{}; next attempt in {delay_ms} ms", error.message()), &Value::Null);
            }
            EventKind::CallRequested { .. }
            | EventKind::ToolInitialized { .. }
            | EventKind::ArgumentsRepaired { .. }
            | EventKind::HookIntervened { .. }
            | EventKind::CallDecided { .. }
            | EventKind::Asked { .. }
            | EventKind::Answered { .. }
            | EventKind::CallStarted { .. }
            | EventKind::OutputSpilled { .. }
            | EventKind::CallFinished { .. }
            | EventKind::FileStored { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TodosChanged { .. }
            | EventKind::ChangesUndone { .. }
            | EventKind::Activation { .. }
            | EventKind::Warning { .. } => {}
        }
    }
}

/// A whole number as one.
fn plain(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => Value::from(number as i64),
        false => Value::from(number),
    }
}

/// What is shown: the title and, where there is output, the end of it.
fn message(title: &str, metadata: &Value) -> String {
    let output = metadata.get("output").and_then(Value::as_str).unwrap_or_default();
    let message = match output.trim_end().rsplit('\n').next() {
        Some(last) if !last.trim().is_empty() => format!("{title}: {}", last.trim()),
        _ => title.to_owned(),
    };
    message.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl Outlet for Kept {
        fn send(&self, message: String) {
            self.0.lock().unwrap().push(message);
        }
    }

    #[test]
    fn progress_grows_and_says_what_is_new() {
        let kept = Arc::new(Kept::default());
        let progress = Progress::new(json!("t"), true, kept.clone(), CancellationToken::new());
        progress.tell("build", &json!({"output": "one\ntwo\n"}));
        progress.tell("half", &json!({"progress": 50, "total": 100}));
        progress.tell("back", &json!({"progress": 10, "total": 100}));
        progress.end();
        progress.tell("late", &json!({}));
        let told: Vec<Value> = kept
            .0
            .lock()
            .unwrap()
            .iter()
            .map(|text| serde_json::from_str::<Value>(text).unwrap()["params"].take())
            .collect();
        let expected = [
            json!({"progressToken": "t", "progress": 0, "message": "build: two"}),
            json!({"progressToken": "t", "progress": 50, "total": 100, "message": "half"}),
            json!({"progressToken": "t", "progress": 51, "total": 100, "message": "back"}),
        ];
        assert_eq!(told, expected);
    }
}
