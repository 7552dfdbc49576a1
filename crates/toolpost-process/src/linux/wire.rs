//! What this process and the launcher tell each other, as bytes.

use crate::ended::{Ended, Exit, Survivor, Why};
use crate::sandbox::{Dependencies, FileEffect, FilePattern, FileRule, FileRules};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// A command, as the launcher gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) argv: Vec<Vec<u8>>,
    pub(super) environment: Vec<Vec<u8>>,
    pub(super) folder: Vec<u8>,
    pub(super) wall_ms: u64,
    pub(super) grace_ms: u64,
    pub(super) cpu_s: u64,
    pub(super) processes: u64,
    pub(super) memory: u64,
    pub(super) view: Option<View>,
}

/// The sandbox, as the launcher gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) writable: Vec<Vec<u8>>,
    pub(super) readable: Vec<Vec<u8>>,
    pub(super) programs: Vec<Vec<u8>>,
    pub(super) locked: Vec<Vec<u8>>,
    pub(super) hidden: Vec<Vec<u8>>,
    pub(super) reserved: Vec<Vec<u8>>,
    pub(super) rules: Vec<FileRules>,
    /// Folders, each with another name of it.
    pub(super) aliases: Vec<(Vec<u8>, Vec<u8>)>,
    /// What may neither become a link nor be moved.
    pub(super) fixed: Vec<Vec<u8>>,
    pub(super) dependencies: Dependencies,
    pub(super) home: Vec<u8>,
    pub(super) scratch: Vec<u8>,
    pub(super) network: bool,
    /// Whether only caches may be created in the home folder.
    pub(super) only_caches: bool,
    /// Whether what is about to change is recorded. Where that goes comes with the request.
    pub(super) keeps: bool,
}

/// What a keeper says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The program could not be run.
    NotRun { what: String, errno: i32 },
    /// A layer of the sandbox is not to be had.
    NoSandbox { layer: String, why: String },
    /// Everything has ended.
    Ended(Ended),
    /// The first process of the namespace asks for a file to be removed, which it sees covered.
    Remove(Removal),
}

/// A file that is to be removed from outside of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Removal {
    /// The call that waits for it.
    pub(super) id: u64,
    /// Where the file was when the command started.
    pub(super) known: Vec<u8>,
    /// Where it is now.
    pub(super) path: Vec<u8>,
}

/// Writes values one after another.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, list: &[Vec<u8>]) {
        self.number(list.len() as u64);
        list.iter().for_each(|bytes| self.bytes(bytes));
    }

    fn pairs(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) {
        self.number(pairs.len() as u64);
        for (one, other) in pairs {
            self.bytes(one);
            self.bytes(other);
        }
    }

    fn paths(&mut self, list: &[PathBuf]) {
        self.number(list.len() as u64);
        list.iter().for_each(|path| self.bytes(path.as_os_str().as_bytes()));
    }

    fn texts<'a>(&mut self, list: impl ExactSizeIterator<Item = &'a String>) {
        self.number(list.len() as u64);
        list.for_each(|text| self.bytes(text.as_bytes()));
    }

    fn dependencies(&mut self, found: &Dependencies) {
        let Dependencies { names, folders, reserved, removable, markers, called } = found;
        self.texts(names.iter());
        self.paths(folders);
        self.texts(reserved.iter());
        self.paths(removable);
        self.texts(markers.iter().map(|(folder, _)| folder));
        self.texts(markers.iter().map(|(_, name)| name));
        self.texts(called.iter());
    }

    fn rules(&mut self, sets: &[FileRules]) {
        self.number(sets.len() as u64);
        for layers in sets.iter().map(|set| &set.layers) {
            self.number(layers.len() as u64);
            for layer in layers {
                self.number(layer.len() as u64);
                for rule in layer {
                    self.number(match rule.effect {
                        FileEffect::Open => 0,
                        FileEffect::Ask => 1,
                        FileEffect::Deny => 2,
                    });
                    let (kind, text) = match &rule.pattern {
                        FilePattern::Everything => (0, ""),
                        FilePattern::Name(name) => (1, name.as_str()),
                        FilePattern::Exact(path) => (2, path.as_str()),
                        FilePattern::Inside(folder) => (3, folder.as_str()),
                        FilePattern::Glob { glob, inside: false } => (4, glob.as_str()),
                        FilePattern::Glob { glob, inside: true } => (5, glob.as_str()),
                    };
                    self.number(kind);
                    self.bytes(text.as_bytes());
                }
            }
        }
    }
}

/// Reads them back.
struct In<'a>(&'a [u8]);

impl In<'_> {
    fn number(&mut self) -> io::Result<u64> {
        let (first, rest) = self.0.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*first))
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let (first, rest) = self.0.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.0 = rest;
        Ok(first.to_vec())
    }

    fn list(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let count = self.number()?;
        (0..count).map(|_| self.bytes()).collect()
    }

    fn pairs(&mut self) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let count = self.number()?;
        (0..count).map(|_| Ok((self.bytes()?, self.bytes()?))).collect()
    }

    fn paths(&mut self) -> io::Result<Vec<PathBuf>> {
        Ok(self.list()?.into_iter().map(|bytes| PathBuf::from(OsString::from_vec(bytes))).collect())
    }

    fn rules(&mut self) -> io::Result<Vec<FileRules>> {
        let sets = self.number()?;
        (0..sets).map(|_| Ok(FileRules { layers: self.layers()? })).collect()
    }

    fn layers(&mut self) -> io::Result<Vec<Vec<FileRule>>> {
        let count = self.number()?;
        let mut layers = Vec::new();
        for _ in 0..count {
            let rules = self.number()?;
            layers.push((0..rules).map(|_| self.rule()).collect::<io::Result<_>>()?);
        }
        Ok(layers)
    }

    fn rule(&mut self) -> io::Result<FileRule> {
        let effect = match self.number()? {
            0 => FileEffect::Open,
            1 => FileEffect::Ask,
            _ => FileEffect::Deny,
        };
        let kind = self.number()?;
        let text = self.text()?;
        let pattern = match kind {
            0 => FilePattern::Everything,
            1 => FilePattern::Name(text),
            2 => FilePattern::Exact(text),
            3 => FilePattern::Inside(text),
            4 => FilePattern::Glob { glob: text, inside: false },
            5 => FilePattern::Glob { glob: text, inside: true },
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(FileRule { effect, pattern })
    }

    fn dependencies(&mut self) -> io::Result<Dependencies> {
        let (names, folders, reserved) = (self.texts()?, self.paths()?, self.texts()?);
        let removable = self.paths()?;
        let markers = self.texts()?.into_iter().zip(self.texts()?).collect();
        let called = self.texts()?;
        Ok(Dependencies { names, folders, reserved, removable, markers, called })
    }

    fn texts(&mut self) -> io::Result<Vec<String>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn text(&mut self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }
}

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.list(&self.argv);
        out.list(&self.environment);
        out.bytes(&self.folder);
        for number in [self.wall_ms, self.grace_ms, self.cpu_s, self.processes, self.memory] {
            out.number(number);
        }
        out.number(u64::from(self.view.is_some()));
        if let Some(view) = &self.view {
            for list in
                [&view.writable, &view.readable, &view.programs, &view.locked, &view.hidden, &view.reserved]
            {
                out.list(list);
            }
            out.rules(&view.rules);
            out.pairs(&view.aliases);
            out.list(&view.fixed);
            out.dependencies(&view.dependencies);
            out.bytes(&view.home);
            out.bytes(&view.scratch);
            out.number(u64::from(view.network));
            out.number(u64::from(view.only_caches));
            out.number(u64::from(view.keeps));
        }
        out.0
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Request> {
        let mut from = In(bytes);
        let mut request = Request {
            argv: from.list()?,
            environment: from.list()?,
            folder: from.bytes()?,
            wall_ms: from.number()?,
            grace_ms: from.number()?,
            cpu_s: from.number()?,
            processes: from.number()?,
            memory: from.number()?,
            view: None,
        };
        if from.number()? == 1 {
            request.view = Some(View {
                writable: from.list()?,
                readable: from.list()?,
                programs: from.list()?,
                locked: from.list()?,
                hidden: from.list()?,
                reserved: from.list()?,
                rules: from.rules()?,
                aliases: from.pairs()?,
                fixed: from.list()?,
                dependencies: from.dependencies()?,
                home: from.bytes()?,
                scratch: from.bytes()?,
                network: from.number()? == 1,
                only_caches: from.number()? == 1,
                keeps: from.number()? == 1,
            });
        }
        Ok(request)
    }
}

impl Reply {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Out::default();
        match self {
            Reply::NotRun { what, errno } => {
                out.number(0);
                out.bytes(what.as_bytes());
                out.number(u64::from(errno.unsigned_abs()));
            }
            Reply::NoSandbox { layer, why } => {
                out.number(1);
                out.bytes(layer.as_bytes());
                out.bytes(why.as_bytes());
            }
            Reply::Ended(ended) => {
                out.number(2);
                let (kind, value) = match ended.exit {
                    Exit::Code(code) => (0, code),
                    Exit::Signal(signal) => (1, signal),
                };
                let why = match ended.why {
                    Why::Exited => 0,
                    Why::TimedOut => 1,
                    Why::Asked => 2,
                };
                let numbers = [
                    kind,
                    u64::from(value.unsigned_abs()),
                    why,
                    micros(ended.wall),
                    micros(ended.cpu),
                    ended.peak_memory,
                    ended.memory_exceeded.unwrap_or(0),
                    ended.survivor_count,
                    ended.survivors.len() as u64,
                ];
                numbers.into_iter().for_each(|number| out.number(number));
                for survivor in &ended.survivors {
                    out.number(u64::from(survivor.pid));
                    out.bytes(survivor.name.as_bytes());
                    out.number(u64::from(survivor.remains));
                }
                out.paths(&ended.refused);
                out.paths(&ended.refused_links);
                out.paths(&ended.written);
                out.paths(&ended.appeared);
            }
            Reply::Remove(Removal { id, known, path }) => {
                out.number(3);
                out.number(*id);
                out.bytes(known);
                out.bytes(path);
            }
        }
        out.0
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Reply> {
        let mut from = In(bytes);
        Ok(match from.number()? {
            0 => Reply::NotRun { what: from.text()?, errno: small(from.number()?) },
            1 => Reply::NoSandbox { layer: from.text()?, why: from.text()? },
            3 => Reply::Remove(Removal { id: from.number()?, known: from.bytes()?, path: from.bytes()? }),
            _ => {
                let exit = match (from.number()?, small(from.number()?)) {
                    (0, code) => Exit::Code(code),
                    (_, signal) => Exit::Signal(signal),
                };
                let why = match from.number()? {
                    0 => Why::Exited,
                    1 => Why::TimedOut,
                    _ => Why::Asked,
                };
                let wall = Duration::from_micros(from.number()?);
                let cpu = Duration::from_micros(from.number()?);
                let peak_memory = from.number()?;
                let memory_exceeded = Some(from.number()?).filter(|limit| *limit > 0);
                let survivor_count = from.number()?;
                let survivors = (0..from.number()?)
                    .map(|_| {
                        let pid = u32::try_from(from.number()?).unwrap_or(0);
                        Ok(Survivor { pid, name: from.text()?, remains: from.number()? == 1 })
                    })
                    .collect::<io::Result<_>>()?;
                let refused = from.paths()?;
                let refused_links = from.paths()?;
                let written = from.paths()?;
                let appeared = from.paths()?;
                Reply::Ended(Ended {
                    exit,
                    why,
                    survivors,
                    survivor_count,
                    wall,
                    cpu,
                    peak_memory,
                    memory_exceeded,
                    refused,
                    refused_links,
                    written,
                    appeared,
                })
            }
        })
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn small(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let list = vec![b"a".to_vec(), b"\xff/b".to_vec()];
        let mut request = Request {
            argv: list.clone(),
            wall_ms: 7,
            memory: 9,
            folder: b"/".to_vec(),
            ..Request::default()
        };
        assert_eq!(Request::decode(&request.encode()).unwrap(), request);
        let patterns = [
            FilePattern::Everything,
            FilePattern::Name("a".into()),
            FilePattern::Exact("a/b".into()),
            FilePattern::Inside("a".into()),
            FilePattern::Glob { glob: "*.sql".into(), inside: false },
            FilePattern::Glob { glob: "x/*/y".into(), inside: true },
        ];
        let effects = [FileEffect::Open, FileEffect::Ask, FileEffect::Deny].into_iter().cycle();
        let layer: Vec<FileRule> =
            patterns.into_iter().zip(effects).map(|(pattern, effect)| FileRule { effect, pattern }).collect();
        let rules = vec![FileRules { layers: vec![layer, Vec::new()] }, FileRules::default()];
        request.view = Some(View {
            hidden: list,
            rules,
            aliases: vec![(b"/a".to_vec(), b"/b".to_vec())],
            fixed: vec![b"/a/b".to_vec()],
            dependencies: Dependencies {
                names: vec!["n".into()],
                folders: vec!["/a/.v".into()],
                reserved: vec![".git/config".into()],
                removable: vec!["/a/.v/.env".into()],
                markers: vec![(".v".into(), "m".into())],
                called: vec!["o".into()],
            },
            home: b"/h".to_vec(),
            network: true,
            keeps: true,
            ..View::default()
        });
        let bytes = request.encode();
        assert_eq!(Request::decode(&bytes).unwrap(), request);
        assert!((0..bytes.len()).all(|cut| Request::decode(&bytes[..cut]).is_err()));
        let survivors = vec![Survivor { pid: 3, name: "sleep 9".into(), remains: true }];
        let ended = Ended {
            exit: Exit::Signal(9),
            why: Why::TimedOut,
            survivors,
            survivor_count: 1,
            wall: Duration::from_millis(5),
            cpu: Duration::from_micros(9),
            peak_memory: 4096,
            memory_exceeded: Some(5),
            refused: vec!["/a".into()],
            refused_links: vec!["/c".into()],
            written: vec!["/b".into()],
            appeared: vec![],
        };
        for reply in [
            Reply::Ended(ended),
            Reply::NotRun { what: "x".into(), errno: 2 },
            Reply::NoSandbox { layer: "l".into(), why: "w".into() },
            Reply::Remove(Removal { id: 4, known: b"/a".to_vec(), path: b"/b".to_vec() }),
        ] {
            assert_eq!(Reply::decode(&reply.encode()).unwrap(), reply);
        }
    }
}
