//! The optional slots of a context: services by need, values by type.

use crate::capability::Need;
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Services that tools may need, each in its slot.
///
/// A slot holds any type; the crate that implements a service and the tools that use it agree on it through the
/// service's trait.
#[derive(Clone, Default)]
pub struct Services(Arc<BTreeMap<Need, Arc<dyn Any + Send + Sync>>>);

impl Services {
    /// With a service in its slot, in place of what was there.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(&self, need: Need, service: Arc<T>) -> Services {
        let mut slots = (*self.0).clone();
        slots.insert(need, service);
        Services(Arc::new(slots))
    }

    /// Whether a service is there.
    pub fn has(&self, need: Need) -> bool {
        self.0.contains_key(&need)
    }

    /// The service, if it is there and of this type.
    pub fn get<T: Send + Sync + 'static>(&self, need: Need) -> Option<Arc<T>> {
        self.0.get(&need)?.clone().downcast().ok()
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
        let services = Services::default().with(Need::Store, Arc::new(7_u32));
        assert!(services.has(Need::Store) && !services.has(Need::Model));
        assert_eq!(services.get::<u32>(Need::Store).as_deref(), Some(&7));
        assert_eq!(services.get::<u64>(Need::Store), None);
        let extra = Extra::default().with("a").with(3_u8);
        assert_eq!((extra.get::<&str>().as_deref(), extra.get::<u16>()), (Some(&"a"), None));
    }
}
