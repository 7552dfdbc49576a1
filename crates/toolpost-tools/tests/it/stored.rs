//! A store that several sessions share, for the tools on tasks and todos.

use crate::fixed::Fixed as Executor;
use crate::run;
use serde_json::Value;
use std::sync::Arc;
use toolpost_core::host::{Ids, Services};
use toolpost_core::policy::Profile;
use toolpost_core::store::{Store, Task};
use toolpost_core::{Call, Context, Memory, Outcome, Policy, Registry};
use toolpost_store::StoreUrl;

/// One process: its tools, and a store in memory.
pub(crate) struct Shared {
    pub(crate) executor: Executor,
    pub(crate) store: Arc<dyn Store>,
}

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared::on(toolpost_store::open(&StoreUrl::Memory).unwrap())
    }

    /// A process on a store that others use too.
    pub(crate) fn on(store: Arc<dyn Store>) -> Shared {
        let registry = Arc::new(Registry::new());
        let services = Services { store: Some(Arc::clone(&store)), ..Services::default() };
        toolpost_tools::register_default(&registry, &services, &toolpost_tools::Settings::default()).unwrap();
        // Reading is all that these tools need.
        Shared { executor: Executor::new(registry, Policy::profile(Profile::ReadOnly)), store }
    }

    /// A session with a role, in a dialect.
    pub(crate) fn session(&self, session: &str, role: Option<&str>, dialect: &str) -> Context {
        let ids = Ids { session: session.to_owned(), role: role.map(str::to_owned), ..Ids::default() };
        Context::builder(Arc::new(Memory::new()))
            .ids(ids)
            .dialect(toolpost_tools::dialects().named(dialect).unwrap())
            .services(Services { store: Some(Arc::clone(&self.store)), ..Services::default() })
            .build()
    }

    pub(crate) fn call(&self, ctx: &Context, tool: &str, args: Value) -> Outcome {
        run(self.executor.run(ctx, Call::new(tool, args)))
    }

    pub(crate) fn dry_run(&self, ctx: &Context, tool: &str, args: Value) -> Outcome {
        run(self.executor.run(ctx, Call::new(tool, args).dry_run()))
    }

    /// A call of a worker.
    pub(crate) fn worker(&self, session: &str, tool: &str, args: Value) -> Outcome {
        self.call(&self.session(session, Some("worker"), "toolpost"), tool, args)
    }

    /// A call of an orchestrator.
    pub(crate) fn boss(&self, tool: &str, args: Value) -> Outcome {
        self.call(&self.session("boss", Some("orchestrator"), "toolpost"), tool, args)
    }

    pub(crate) fn task(&self, id: &str) -> Task {
        self.store.task(id).unwrap()
    }
}
