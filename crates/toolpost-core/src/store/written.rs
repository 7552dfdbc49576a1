//! Events that were written down by whoever recorded them. A store that takes them together copies bytes: the events themselves
//! end where they began, in the memory of their own thread.

mod json;

use crate::event::{Event, EventKind};
use std::ops::Range;

/// Events as JSON, with what a log finds them by.
#[derive(Debug, Default)]
pub struct WrittenEvents {
    /// The events, one behind the other. In blocks: one that grows would be copied again and again, and take twice its size.
    json: Vec<Vec<u8>>,
    /// The block that is written to; those behind it are empty.
    block: usize,
    /// Sessions, agents, calls and tools, one behind the other.
    names: String,
    events: Vec<Item>,
}

/// One event: what is not written in it as it is kept, and where the rest is.
#[derive(Debug, Clone)]
struct Item {
    /// The block, and where in it.
    json: (usize, Range<usize>),
    session: Range<usize>,
    agent: Option<Range<usize>>,
    call: Option<Range<usize>>,
    tool: Option<Range<usize>>,
    at_ms: u64,
    columns: Columns,
}

/// Bytes of a block of events, more or less; one longer event has a block of its own.
const BLOCK: usize = 128 << 10;

/// The columns of an event that are no names.
#[derive(Debug, Clone, Copy)]
struct Columns {
    kind: &'static str,
    code: Option<&'static str>,
    micros: Option<u64>,
    bytes: Option<u64>,
}

/// One of several events.
#[derive(Debug, Clone, Copy)]
pub struct WrittenEvent<'a> {
    /// The event as JSON.
    pub json: &'a [u8],
    /// When it was, in milliseconds since 1970.
    pub at_ms: u64,
    /// Its session.
    pub session: &'a str,
    /// The agent that acts, if one does.
    pub agent: Option<&'a str>,
    /// The call that it belongs to.
    pub call: Option<&'a str>,
    /// What kind it is, as its JSON says.
    pub kind: &'static str,
    /// The tool that it names.
    pub tool: Option<&'a str>,
    /// For the end of a call: empty for one that worked, else the code.
    pub code: Option<&'static str>,
    /// How long the call took, in millionths of a second.
    pub micros: Option<u64>,
    /// Bytes of text that it gave.
    pub bytes: Option<u64>,
}

impl WrittenEvents {
    /// Adds an event. One that cannot be written is an error, and nothing is added.
    pub fn add(&mut self, event: &Event) -> Result<(), serde_json::Error> {
        let (number, block) = self.block_for(0);
        let start = block.len();
        if let Err(error) = json::write(block, event) {
            block.truncate(start);
            return Err(error);
        }
        let json = (number, start..block.len());
        let (columns, tool) = columns(&event.kind);
        let item = Item {
            json,
            session: self.session(&event.session),
            agent: event.agent.as_deref().map(|agent| self.name(agent)),
            call: event.call.as_deref().map(|call| self.name(call)),
            tool: tool.map(|tool| self.name(tool)),
            at_ms: event.at_ms,
            columns,
        };
        self.events.push(item);
        Ok(())
    }

    /// Adds all events of another list, which is empty then and keeps its room.
    pub fn append(&mut self, other: &mut WrittenEvents) {
        let names = self.names.len();
        self.names.push_str(&other.names);
        let moved = |range: &Range<usize>| range.start + names..range.end + names;
        let name = |range: &Option<Range<usize>>| range.as_ref().map(moved);
        for item in &other.events {
            let json = other.json_of(item);
            let (number, block) = self.block_for(json.len());
            let start = block.len();
            block.extend_from_slice(json);
            self.events.push(Item {
                json: (number, start..start + json.len()),
                session: moved(&item.session),
                agent: name(&item.agent),
                call: name(&item.call),
                tool: name(&item.tool),
                ..*item
            });
        }
        other.clear();
    }

    /// The block for the next event, which has so many bytes at least, and its number.
    fn block_for(&mut self, bytes: usize) -> (usize, &mut Vec<u8>) {
        let is_full = |block: &Vec<u8>| !block.is_empty() && block.len() + bytes > BLOCK;
        if self.json.get(self.block).is_some_and(is_full) {
            self.block += 1;
        }
        if self.block == self.json.len() {
            // The first one belongs to a list that may stay short.
            self.json.push(if self.block == 0 { Vec::new() } else { Vec::with_capacity(BLOCK) });
        }
        (self.block, &mut self.json[self.block])
    }

    fn json_of(&self, item: &Item) -> &[u8] {
        &self.json[item.json.0][item.json.1.clone()]
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Bytes of the events as JSON.
    pub fn bytes(&self) -> usize {
        self.json.iter().map(Vec::len).sum()
    }

    /// Bytes that are held, used or not.
    pub fn room(&self) -> usize {
        let json: usize = self.json.iter().map(Vec::capacity).sum();
        json + self.names.capacity() + self.events.capacity() * size_of::<Item>()
    }

    /// Takes all events out, and keeps the room for others.
    pub fn clear(&mut self) {
        // An event that was longer than a block leaves no room behind.
        self.json.retain(|block| block.capacity() <= BLOCK * 2);
        self.json.iter_mut().for_each(Vec::clear);
        self.block = 0;
        self.names.clear();
        self.events.clear();
    }

    /// The events, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = WrittenEvent<'_>> {
        let name = |range: &Option<Range<usize>>| range.clone().map(|range| &self.names[range]);
        self.events.iter().map(move |item| WrittenEvent {
            json: self.json_of(item),
            at_ms: item.at_ms,
            session: &self.names[item.session.clone()],
            agent: name(&item.agent),
            call: name(&item.call),
            kind: item.columns.kind,
            tool: name(&item.tool),
            code: item.columns.code,
            micros: item.columns.micros,
            bytes: item.columns.bytes,
        })
    }

    fn name(&mut self, name: &str) -> Range<usize> {
        let start = self.names.len();
        self.names.push_str(name);
        start..self.names.len()
    }

    /// Most events are of the session of the one before.
    fn session(&mut self, session: &str) -> Range<usize> {
        let last = self.events.last().map(|item| item.session.clone());
        match last.filter(|last| &self.names[last.clone()] == session) {
            Some(last) => last,
            None => self.name(session),
        }
    }
}

/// What the log knows of an event without reading it, and the tool that it names.
fn columns(kind: &EventKind) -> (Columns, Option<&str>) {
    let plain = |kind| (Columns { kind, code: None, micros: None, bytes: None }, None);
    match kind {
        EventKind::CallRequested { tool, .. } => (plain("callRequested").0, Some(tool)),
        EventKind::ToolInitialized { tool } => (plain("toolInitialized").0, Some(tool)),
        EventKind::ArgumentsRepaired { .. } => plain("argumentsRepaired"),
        EventKind::HookIntervened { .. } => plain("hookIntervened"),
        EventKind::CallDecided { .. } => plain("callDecided"),
        EventKind::Asked { .. } => plain("asked"),
        EventKind::Answered { .. } => plain("answered"),
        EventKind::CallStarted { tool, .. } => (plain("callStarted").0, Some(tool)),
        EventKind::Progress { .. } => plain("progress"),
        EventKind::CallRetried { .. } => plain("callRetried"),
        EventKind::OutputSpilled { .. } => plain("outputSpilled"),
        // It is a call of another session, which has counted it.
        EventKind::CallFinished { tool, metadata, .. } if metadata.forked => {
            (plain("callFinished").0, Some(tool))
        }
        EventKind::CallFinished { tool, output, error, metadata } => {
            let columns = Columns {
                kind: "callFinished",
                code: Some(error.as_ref().map_or("", |error| error.code().as_str())),
                micros: Some((metadata.execution_time_ms.max(0.0) * 1e3) as u64),
                bytes: Some(output.as_ref().map_or(0, |output| (output.text.len() + output.left_out) as u64)),
            };
            (columns, Some(tool))
        }
        EventKind::FileStored { .. } => plain("fileStored"),
        EventKind::TaskChanged { .. } => plain("taskChanged"),
        EventKind::TodosChanged { .. } => plain("todosChanged"),
        EventKind::ChangesUndone { .. } => plain("changesUndone"),
        EventKind::Activation { .. } => plain("activation"),
        EventKind::Warning { .. } => plain("warning"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(session: &str, call: Option<&str>, kind: EventKind) -> Event {
        Event {
            at_ms: 7,
            session: session.to_owned(),
            sequence: 1,
            agent: None,
            activation: None,
            call: call.map(str::to_owned),
            kind,
        }
    }

    #[test]
    fn lists_that_are_joined_say_the_same() {
        let started =
            |tool: &str| EventKind::CallStarted { tool: tool.to_owned(), attempt: 1, dry_run: false };
        let all = [
            event("a", Some("1"), started("read")),
            event("a", Some("2"), EventKind::Warning { message: "ä\n".to_owned() }),
            event("b", None, EventKind::TodosChanged { count: 3 }),
        ];
        let mut whole = WrittenEvents::default();
        let (mut joined, mut part) = (WrittenEvents::default(), WrittenEvents::default());
        for event in &all {
            whole.add(event).unwrap();
            part.add(event).unwrap();
            joined.append(&mut part);
            assert!(part.is_empty());
        }
        assert_eq!((whole.len(), joined.len()), (3, 3));
        for ((one, other), event) in whole.iter().zip(joined.iter()).zip(&all) {
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            assert_eq!(one.json, serde_json::to_vec(event).unwrap());
            assert_eq!((one.session, one.call), (event.session.as_str(), event.call.as_deref()));
            let json: serde_json::Value = serde_json::from_slice(one.json).unwrap();
            assert_eq!(json["event"], one.kind);
        }
        assert_eq!(whole.iter().map(|one| one.tool).collect::<Vec<_>>(), [Some("read"), None, None]);
    }

    #[test]
    fn long_lists_take_little_more_than_they_hold() {
        let (mut list, mut one) = (WrittenEvents::default(), WrittenEvents::default());
        for round in 0..3 {
            let mut expected = Vec::new();
            for number in 0..3_000_usize {
                let length = if number % 1_000 == 0 { BLOCK * 3 } else { number % 700 };
                let event = event("a", None, EventKind::Warning { message: "x".repeat(length) });
                expected.push(serde_json::to_vec(&event).unwrap());
                one.add(&event).unwrap();
                list.append(&mut one);
            }
            assert!(list.iter().map(|one| one.json).eq(&expected), "round {round}");
            let bytes: usize = expected.iter().map(Vec::len).sum();
            assert_eq!(list.bytes(), bytes);
            assert!(list.room() < bytes * 2 + 1_000_000, "{} for {bytes}", list.room());
            list.clear();
            assert!(list.is_empty() && list.room() < bytes * 2, "what was long is given back");
        }
    }
}
