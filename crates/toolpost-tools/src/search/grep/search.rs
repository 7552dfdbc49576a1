//! The search itself: every candidate opened and run through the searcher, the newest results kept.

use super::file_type::FileType;
use super::interruptible::{Interruptible, Pattern};
use super::lines::{Beyond, Line, Lines};
use super::reading::{EndingReader, search_in};
use super::report::Found;
use super::{Args, Mode};
use crate::search::name_pattern::NamePattern;
use crate::search::newest::Newest;
use crate::search::watch::Watch;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolpost_core::workspace::{Candidate, File, Kind, Stat, Visit, Worker};
use toolpost_core::{Context, ToolError};

/// Bytes that one thread may hold of one file: its longest line, or the whole where matches span lines.
const MOST_HELD: usize = 16 * 1024 * 1024;
/// A file without a NUL in so many bytes is taken for text.
const TEXT: u64 = 64 * 1024;
/// How many files that were not searched are named.
const MOST_NAMED: usize = 20;

/// What is found in one file.
pub(super) struct InFile {
    pub(super) matches: u64,
    /// Whether these are all.
    pub(super) is_counted: bool,
    pub(super) lines: Vec<Line>,
}

pub(super) struct Search {
    pub(super) watch: Watch,
    matcher: Arc<Pattern>,
    include: Option<NamePattern>,
    kind: Option<FileType>,
    /// Lines that match this too are not wanted.
    excluded: Option<RegexMatcher>,
    mode: Mode,
    before: usize,
    after: usize,
    limit: usize,
    multiline: bool,
    newest: Mutex<Newest<InFile>>,
    /// Files older than this cannot be shown any more.
    oldest: AtomicI64,
    unsearched: Mutex<Vec<String>>,
    skipped: AtomicBool,
    binary: AtomicBool,
    interrupted: AtomicBool,
}

impl Search {
    pub(super) fn new(
        ctx: &Context,
        args: &Args,
        matcher: Pattern,
        include: Option<NamePattern>,
        kind: Option<FileType>,
    ) -> Search {
        Search {
            watch: Watch::new(ctx),
            matcher: Arc::new(matcher),
            include,
            kind,
            excluded: None,
            mode: args.mode,
            before: args.before.unwrap_or(args.context),
            after: args.after.unwrap_or(args.context),
            limit: args.limit,
            multiline: args.multiline,
            newest: Mutex::new(Newest::new(args.limit)),
            oldest: AtomicI64::new(i64::MIN),
            unsearched: Mutex::default(),
            skipped: AtomicBool::new(false),
            binary: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
        }
    }

    /// Without the lines that match this too.
    pub(super) fn leaving_out(mut self, excluded: Option<RegexMatcher>) -> Search {
        self.excluded = excluded;
        self
    }

    pub(super) fn must_be_wanted(&self, stopped: bool) -> Result<(), ToolError> {
        self.watch.must_be_wanted(stopped || self.was_interrupted())
    }

    pub(super) fn is_binary(&self) -> bool {
        self.binary.load(Ordering::Relaxed)
    }

    /// Whether time ran out in the middle of a file.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What was found; nothing is left behind.
    pub(super) fn finish(&self) -> Found {
        let newest = std::mem::replace(&mut *self.newest(), Newest::new(0));
        let unsearched = std::mem::take(&mut *self.unsearched.lock().unwrap_or_else(PoisonError::into_inner));
        Found {
            has_older: newest.left_out > 0 || self.skipped.load(Ordering::Relaxed),
            files: newest.into_files().collect(),
            unsearched,
        }
    }

    fn newest(&self) -> MutexGuard<'_, Newest<InFile>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the file is too old to be shown, whatever is in it. Its time is asked for only when that matters.
    fn is_too_old(&self, candidate: &mut dyn Candidate) -> bool {
        let oldest = self.oldest.load(Ordering::Relaxed);
        if oldest == i64::MIN {
            return false;
        }
        let Ok(stat) = candidate.stat() else { return false };
        let too_old = stat.modified_ms < oldest
            || stat.modified_ms == oldest && !self.newest().has_room(stat.modified_ms, candidate.name());
        if too_old {
            self.skipped.store(true, Ordering::Relaxed);
        }
        too_old
    }

    fn add(&self, modified_ms: i64, name: &str, weight: usize, found: InFile) {
        let mut newest = self.newest();
        newest.add(modified_ms, name, weight, found);
        if let Some(oldest) = newest.oldest_of_full() {
            self.oldest.store(oldest, Ordering::Relaxed);
        }
    }

    fn unsearched(&self, name: &str) {
        let mut unsearched = self.unsearched.lock().unwrap_or_else(PoisonError::into_inner);
        if unsearched.len() < MOST_NAMED {
            unsearched.push(name.to_owned());
        }
    }
}

impl Visit for Search {
    fn should_stop(&self) -> bool {
        self.watch.should_stop()
    }

    fn wants(&self, name: &str) -> bool {
        self.include.as_ref().is_none_or(|include| include.wants(name))
            && self.kind.as_ref().is_none_or(|kind| kind.has(name))
    }

    fn held_back(&self, refusal: &ToolError) {
        self.watch.held_back(refusal);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let mut builder = SearcherBuilder::new();
        if let Some(terminator) = self.matcher.line_terminator() {
            // The two must agree, or nothing is searched.
            builder.line_terminator(terminator);
        }
        let searcher = builder
            .line_number(self.mode == Mode::Content)
            .multi_line(self.multiline)
            .before_context(if self.mode == Mode::Content { self.before } else { 0 })
            .after_context(if self.mode == Mode::Content { self.after } else { 0 })
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MOST_HELD))
            .build();
        let matcher = Interruptible::new(&self.watch, &self.matcher);
        Box::new(SearchWorker { search: self, searcher, matcher, buffer: Vec::new() })
    }
}

struct SearchWorker<'a> {
    search: &'a Search,
    searcher: Searcher,
    matcher: Interruptible<'a>,
    buffer: Vec<u8>,
}

impl Worker for SearchWorker<'_> {
    /// Links are not followed: what they lead to inside is searched under its own name.
    fn visit(&mut self, candidate: &mut dyn Candidate) {
        let search = self.search;
        if candidate.kind() == Kind::Link || search.is_too_old(candidate) {
            return;
        }
        let File { stat, reader } = match candidate.open() {
            Ok(file) => file,
            Err(error) => return search.watch.failed(&error),
        };
        let (keep, beyond) = match search.mode {
            Mode::Content => (search.limit, Beyond::CountSome),
            Mode::Files => (0, Beyond::Stop),
            Mode::Count => (0, Beyond::Count),
        };
        let mut lines = Lines {
            ctx: &search.watch.ctx,
            matcher: &self.matcher,
            excluded: search.excluded.as_ref(),
            keep,
            beyond,
            kept: Vec::new(),
            seen: 0,
            kept_matches: 0,
            kept_to: 0,
            is_counted: true,
            binary_at: None,
        };
        let reader = EndingReader { reader, watch: &search.watch };
        if let Err(error) = search_in(&mut self.searcher, &mut self.buffer, stat.size, reader, &mut lines) {
            match error.kind() {
                // The matcher ends a search without a kind of its own.
                _ if search.watch.should_stop() => search.interrupted.store(true, Ordering::Relaxed),
                io::ErrorKind::TimedOut => search.interrupted.store(true, Ordering::Relaxed),
                _ => search.unsearched(candidate.name()),
            }
        }
        if let Some(at) = lines.binary_at {
            search.binary.store(lines.seen == 0, Ordering::Relaxed);
            // What begins as text and was searched as such is not searched to its end.
            if lines.seen > 0 || at >= TEXT {
                search.unsearched(candidate.name());
            }
        }
        if lines.seen == 0 {
            return;
        }
        candidate.show();
        let weight = lines.kept_matches.max(1);
        let found = InFile { matches: lines.seen, is_counted: lines.is_counted, lines: lines.kept };
        search.add(stat.modified_ms, candidate.name(), weight, found);
    }
}

/// A file that was opened by its name.
pub(super) struct Opened {
    stat: Stat,
    file: Option<File>,
}

impl Opened {
    pub(super) fn new(file: File) -> Opened {
        Opened { stat: file.stat.clone(), file: Some(file) }
    }
}

impl Candidate for Opened {
    fn name(&self) -> &str {
        &self.stat.name
    }

    fn kind(&self) -> Kind {
        Kind::File
    }

    fn stat(&mut self) -> Result<Stat, ToolError> {
        Ok(self.stat.clone())
    }

    fn open(&mut self) -> Result<File, ToolError> {
        self.file.take().ok_or_else(|| ToolError::execution("the file was opened before"))
    }
}
