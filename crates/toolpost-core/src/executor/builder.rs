//! How a host makes an executor: hooks, sinks and limits.

use super::decide::Remembered;
use super::hook::Before;
use super::record::Records;
use super::{Executor, Hook, Inner, ResultSink, Verdict};
use crate::confirm::Answers;
use crate::context::Context;
use crate::outcome::Outcome;
use arc_swap::ArcSwap;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Executor {
    /// Starts an executor.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder {
            answers: None,
            hooks: Vec::new(),
            sinks: Vec::new(),
            init_limit: Duration::from_secs(30),
            records: Records::default(),
        }
    }
}

/// Makes an [`Executor`].
pub struct ExecutorBuilder {
    answers: Option<Arc<dyn Answers>>,
    hooks: Vec<Arc<dyn Hook>>,
    sinks: Vec<Box<ResultSink>>,
    init_limit: Duration,
    records: Records,
}

impl ExecutorBuilder {
    /// Where answers that outlive the session are kept; without it, none are.
    #[must_use]
    pub fn answers(mut self, answers: Arc<dyn Answers>) -> ExecutorBuilder {
        self.answers = Some(answers);
        self
    }

    /// A hook before and after each call; the first one added is asked first.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> ExecutorBuilder {
        self.hooks.push(hook);
        self
    }

    /// A closure that looks at each call before the policy decides, with the tool's name and the arguments. `name` is
    /// for messages.
    ///
    /// ```
    /// use toolpost_core::Executor;
    /// use toolpost_core::executor::Verdict;
    ///
    /// let executor = Executor::builder()
    ///     .before("office hours", |_, tool, _| match tool {
    ///         "deploy" => Verdict::Block("nobody is here to watch it".to_owned()),
    ///         _ => Verdict::Continue,
    ///     })
    ///     .build();
    /// # let _ = executor;
    /// ```
    #[must_use]
    pub fn before(
        self,
        name: impl Into<String>,
        look: impl Fn(&Context, &str, &Value) -> Verdict + Send + Sync + 'static,
    ) -> ExecutorBuilder {
        self.hook(Arc::new(Before { name: name.into(), look }))
    }

    /// Is handed every outcome.
    #[must_use]
    pub fn on_result(mut self, sink: impl Fn(&Outcome) + Send + Sync + 'static) -> ExecutorBuilder {
        self.sinks.push(Box::new(sink));
        self
    }

    /// How long a tool's `init` may take; 30 s unless set.
    #[must_use]
    pub fn init_limit(mut self, limit: Duration) -> ExecutorBuilder {
        self.init_limit = limit;
        self
    }

    /// Keeps no outcomes for [`Executor::last_results`], which is then empty: for a host that has a log to read them from.
    #[must_use]
    pub fn without_last_results(mut self) -> ExecutorBuilder {
        self.records = Records::without_results();
        self
    }

    /// The executor.
    pub fn build(self) -> Executor {
        Executor {
            inner: Arc::new(Inner {
                answers: self.answers,
                remembered: Remembered::default(),
                hooks: ArcSwap::from_pointee(self.hooks),
                sinks: self.sinks,
                init_limit: self.init_limit,
                records: self.records,
            }),
        }
    }
}
