//! The optional slots of a context: services by their traits, values by type.

use crate::agents::AgentHost;
use crate::capability::Need;
use crate::code::CodeEngine;
use crate::model::Model;
use crate::store::Store;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// Services that tools may need, each in its slot. What is not there is empty.
#[derive(Clone, Default)]
pub struct Services {
    /// Sessions, virtual files, tasks and todos.
    pub store: Option<Arc<dyn Store>>,
    /// The code engine.
    pub code: Option<Arc<dyn CodeEngine>>,
    /// A language model.
    pub model: Option<Arc<dyn Model>>,
    /// The host that runs other agents.
    pub agents: Option<Arc<dyn AgentHost>>,
}

impl Services {
    /// Whether a service is there.
    pub fn has(&self, need: Need) -> bool {
        match need {
            Need::Engine => self.code.is_some(),
            Need::Store => self.store.is_some(),
            Need::Model => self.model.is_some(),
            Need::Agents => self.agents.is_some(),
            // That is a matter of the session: see `Context::has`.
            Need::Parent => false,
        }
    }
}

/// Values that hosts hand to tools, one per type.
#[derive(Clone, Default)]
pub struct Extra(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Extra {
    /// With a value, in place of the one of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(&self, value: T) -> Extra {
        let mut values = (*self.0).clone();
        values.insert(TypeId::of::<T>(), Arc::new(value));
        Extra(Arc::new(values))
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_what_was_put_there() {
        let services = Services::default();
        assert!(!services.has(Need::Agents) && !services.has(Need::Model));
        let extra = Extra::default().with("a").with(3_u8);
        assert_eq!((extra.get::<&str>().as_deref(), extra.get::<u16>()), (Some(&"a"), None));
    }
}
