//! The event that goes with a change, in the same transaction.

use toolpost_core::Event;
use toolpost_core::event::EventKind;
use toolpost_core::store::By;

pub(crate) fn event(by: &By, kind: EventKind) -> Event {
    Event {
        at_ms: by.at_ms,
        session: by.session.clone(),
        sequence: 0,
        agent: by.agent.clone(),
        activation: by.activation.clone(),
        call: by.call.clone(),
        kind,
    }
}
