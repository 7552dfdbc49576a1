//! A matcher that ends when the call does.
//!
//! Ripgrep's matcher takes time linear in what it searches, but for some patterns the factor is thousands of steps a byte,
//! and one search of it cannot be ended. It is therefore given little at a time; what cannot be cut, a long line or a
//! text that matches may span, is searched byte by byte by an automaton that can be ended anywhere.

use super::Args;
use crate::search::watch::Watch;
use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID, regex};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchError};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Bytes that ripgrep's matcher is given at once.
const AT_ONCE: usize = 64 * 1024;
/// Bytes between two looks at the clock.
const BETWEEN_CHECKS: usize = 256;
/// Calls, or kilobytes, between two looks at the clock.
const CALLS: usize = 64;
/// A pattern that repeats more than this, or is longer, may take too many steps a byte for a piece to be searched at once.
const MOST_REPEATED: usize = 300;
const LONGEST_LIGHT: usize = 500;
/// Bytes that the automaton may hold on each thread.
const LARGEST: usize = 8 * 1024 * 1024;

/// Why a search was ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Nobody waits for it any more.
    Unwanted,
    /// The pattern cannot be searched for byte by byte here.
    Unsearchable,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ended::Unwanted => "the search was ended",
            Ended::Unsearchable => "the text is too long for this pattern",
        })
    }
}

/// The matcher of one thread.
pub(super) struct Interruptible<'a> {
    watch: &'a Watch,
    matcher: RegexMatcher,
    pattern: Arc<Pattern>,
    cache: RefCell<Option<regex::Cache>>,
    /// Calls since the clock was looked at.
    calls: Cell<usize>,
}

/// What is searched for, in both forms.
pub(super) struct Pattern {
    matcher: RegexMatcher,
    text: String,
    syntax: syntax::Config,
    /// Made when it is first needed; `None` where it cannot be made.
    stepping: OnceLock<Option<regex::Regex>>,
    /// Whether a piece may be searched at once.
    is_light: bool,
}

impl Pattern {
    pub(super) fn new(args: &Args, matcher: RegexMatcher) -> Pattern {
        let is_light = args.literal
            || (args.pattern.len() <= LONGEST_LIGHT && repetitions(&args.pattern) <= MOST_REPEATED);
        let syntax = syntax::Config::new()
            .utf8(false)
            .multi_line(true)
            .nest_limit(super::matcher::DEEPEST)
            .case_insensitive(args.ignore_case)
            .dot_matches_new_line(args.multiline)
            .crlf(!args.literal && args.pattern.contains('$'));
        let text = match args.literal {
            true => args.pattern.chars().map(|letter| format!("\\x{{{:x}}}", u32::from(letter))).collect(),
            false => args.pattern.clone(),
        };
        Pattern { matcher, text, syntax, stepping: OnceLock::new(), is_light }
    }

    fn stepping(&self) -> Option<&regex::Regex> {
        let make = || {
            let automaton = dfa::Config::new()
                .cache_capacity(LARGEST)
                .skip_cache_capacity_check(true)
                .unicode_word_boundary(true)
                .minimum_cache_clear_count(None);
            let thompson = thompson::Config::new().utf8(false).nfa_size_limit(Some(LARGEST));
            let mut builder = regex::Regex::builder();
            builder.syntax(self.syntax).thompson(thompson).dfa(automaton).build(&self.text).ok()
        };
        self.stepping.get_or_init(make).as_ref()
    }

    pub(super) fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }
}

/// How often the repetitions of a pattern repeat something, all of them within each other.
fn repetitions(pattern: &str) -> usize {
    pattern.split('{').skip(1).fold(1_usize, |product, rest| {
        let numbers = rest.split('}').next().unwrap_or_default().split(',');
        let most = numbers.filter_map(|number| number.trim().parse::<usize>().ok()).max().unwrap_or(1);
        product.saturating_mul(most.max(1))
    })
}

impl<'a> Interruptible<'a> {
    pub(super) fn new(watch: &'a Watch, pattern: &Arc<Pattern>) -> Interruptible<'a> {
        // A matcher of its own: threads that share one wait for each other.
        let matcher = pattern.matcher.clone();
        Interruptible {
            watch,
            matcher,
            pattern: Arc::clone(pattern),
            cache: RefCell::new(None),
            calls: Cell::new(0),
        }
    }

    fn check(&self) -> Result<(), Ended> {
        match self.watch.should_stop() {
            true => Err(Ended::Unwanted),
            false => Ok(()),
        }
    }

    /// Whether so much may be searched at once. Fails where nobody waits for it.
    fn is_quick(&self, length: usize) -> Result<bool, Ended> {
        // Where every line matches there are many calls, and each of them is short.
        let calls = self.calls.get() + 1 + length / 1024;
        self.calls.set(calls % CALLS);
        if calls >= CALLS {
            self.check()?;
        }
        Ok(self.pattern.is_light && length <= AT_ONCE)
    }

    /// Piece by piece: whole lines as many as are searched at once, and longer ones byte by byte.
    fn find_in_pieces(&self, text: &[u8], at: usize) -> Result<Option<Match>, Ended> {
        let Some(terminator) = self.matcher.line_terminator() else { return self.step(text, at, text.len()) };
        let newline = terminator.as_byte();
        let mut from = at;
        while from <= text.len() {
            self.check()?;
            let most = text.len().min(from + AT_ONCE);
            let lines = memchr::memrchr(newline, &text[from..most]).map(|end| from + end + 1);
            let (found, next) = match lines.filter(|_| self.pattern.is_light) {
                Some(end) => {
                    let found = self.matcher.find_at(&text[..end], from).unwrap_or(None);
                    // Where the piece ends, the text goes on: an empty line that seems to be there is the next piece.
                    (found.filter(|found| found.start() < end || end == text.len()), end)
                }
                None => {
                    let end = memchr::memchr(newline, &text[from..]).map_or(text.len(), |end| from + end);
                    (self.step(text, from, end)?, end + 1)
                }
            };
            if found.is_some() {
                return Ok(found);
            }
            from = next;
        }
        Ok(None)
    }

    /// The first match between two positions, of which the second is the end of a line or of the text.
    fn step(&self, text: &[u8], from: usize, end: usize) -> Result<Option<Match>, Ended> {
        let automaton = self.pattern.stepping().ok_or(Ended::Unsearchable)?;
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| automaton.create_cache());
        // What ends the line is seen, so that it is known for its end, and is no part of a match.
        let text = &text[..text.len().min(end + 1)];
        let input = Input::new(text).range(from..end);
        let Some(end) = self.forward(automaton.forward(), cache.forward_mut(), &input)? else {
            return Ok(None);
        };
        let input = input.range(from..end).anchored(Anchored::Yes);
        let start = self.backward(automaton.reverse(), cache.reverse_mut(), &input)?;
        Ok(Some(Match::new(start.unwrap_or(end), end)))
    }

    /// Where the first match ends.
    fn forward(
        &self,
        automaton: &DFA,
        cache: &mut dfa::Cache,
        input: &Input<'_>,
    ) -> Result<Option<usize>, Ended> {
        let mut state = automaton.start_state_forward(cache, input)?;
        let mut last = None;
        for at in input.start()..input.end() {
            if at % BETWEEN_CHECKS == 0 {
                self.check()?;
            }
            // A match is known one byte after it has ended.
            state = automaton.next_state(cache, state, input.haystack()[at])?;
            match told(state)? {
                Told::Match => last = Some(at),
                Told::End => return Ok(last),
                Told::Nothing => {}
            }
        }
        let state = match input.haystack().get(input.end()) {
            Some(next) => automaton.next_state(cache, state, *next)?,
            None => automaton.next_eoi_state(cache, state)?,
        };
        Ok(if state.is_match() { Some(input.end()) } else { last })
    }

    /// Where the match that ends with the input begins.
    fn backward(
        &self,
        automaton: &DFA,
        cache: &mut dfa::Cache,
        input: &Input<'_>,
    ) -> Result<Option<usize>, Ended> {
        let mut state = automaton.start_state_reverse(cache, input)?;
        let mut last = None;
        for at in input.get_range().rev() {
            if at % BETWEEN_CHECKS == 0 {
                self.check()?;
            }
            state = automaton.next_state(cache, state, input.haystack()[at])?;
            match told(state)? {
                Told::Match => last = Some(at + 1),
                Told::End => return Ok(last),
                Told::Nothing => {}
            }
        }
        let state = match input.start().checked_sub(1) {
            Some(before) => automaton.next_state(cache, state, input.haystack()[before])?,
            None => automaton.next_eoi_state(cache, state)?,
        };
        Ok(if state.is_match() { Some(input.start()) } else { last })
    }
}

enum Told {
    Nothing,
    Match,
    End,
}

fn told(state: LazyStateID) -> Result<Told, Ended> {
    match state {
        state if state.is_match() => Ok(Told::Match),
        state if state.is_dead() => Ok(Told::End),
        // A letter beyond ASCII beside which the automaton cannot tell whether a word ends.
        state if state.is_quit() => Err(Ended::Unsearchable),
        _ => Ok(Told::Nothing),
    }
}

impl From<CacheError> for Ended {
    fn from(_: CacheError) -> Ended {
        Ended::Unsearchable
    }
}

impl From<MatchError> for Ended {
    fn from(_: MatchError) -> Ended {
        Ended::Unsearchable
    }
}

impl Matcher for Interruptible<'_> {
    type Captures = NoCaptures;
    type Error = Ended;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Ended> {
        match self.is_quick(text.len() - at)? {
            // The inner matcher cannot fail.
            true => Ok(self.matcher.find_at(text, at).unwrap_or(None)),
            false => self.find_in_pieces(text, at),
        }
    }

    fn new_captures(&self) -> Result<NoCaptures, Ended> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, Ended> {
        match self.is_quick(text.len() - at)? {
            true => Ok(self.matcher.shortest_match_at(text, at).unwrap_or(None)),
            false => Ok(self.find_in_pieces(text, at)?.map(|found| found.end())),
        }
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, Ended> {
        match self.is_quick(text.len())? {
            true => Ok(self.matcher.find_candidate_line(text).unwrap_or(None)),
            false => Ok(self.find_in_pieces(text, 0)?.map(|found| LineMatchKind::Confirmed(found.start()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolpost_core::Context;

    /// Every match of a pattern in a text, one after another.
    fn matches(matcher: &Interruptible<'_>, text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        matcher
            .find_iter(text, |one| {
                found.push((one.start(), one.end()));
                true
            })
            .unwrap();
        found
    }

    #[test]
    fn byte_by_byte_the_same_is_found() {
        let ctx = Context::in_memory();
        let watch = Watch::new(&ctx);
        let lines = "a quick fox\nfoo(bar) = 12;\r\nÄpfel und Öl\n\n  indented  \nfoofoo\nlast foo";
        let long = format!("{lines}\n{}foo{}\nfoo bar\n", "ab ".repeat(23_000), " ba".repeat(100));
        let patterns = [
            "foo",
            "fo+",
            "^f",
            "foo$",
            "o$",
            "[a-z]+",
            r"\w+\s*=",
            "(?i)FOO",
            "a|ab|b",
            "(ab )+",
            "ab ba",
            "x*",
            r"\d{2}",
            "a.*b",
            "^$",
            r"\s+$",
            "Ö",
            r"(ab ){3,5}foo",
            "[^a]b",
            "f.o.?",
            "b{0}",
            "(foo){2}",
        ];
        for pattern in patterns {
            for (ignore_case, literal, multiline) in
                [(false, false, false), (true, false, false), (false, true, false), (false, false, true)]
            {
                let args: Args = serde_json::from_value(json!({
                    "pattern": pattern, "ignoreCase": ignore_case, "literal": literal, "multiline": multiline,
                }))
                .unwrap();
                let matcher = super::super::matcher::matcher(&ctx, &args).unwrap();
                let light = Arc::new(Pattern { is_light: true, ..Pattern::new(&args, matcher.clone()) });
                let heavy = Arc::new(Pattern { is_light: false, ..Pattern::new(&args, matcher.clone()) });
                // What matches everywhere would be found a hundred thousand times in a long line.
                let is_rare = !["x*", "b{0}", "[a-z]+", "a|ab|b", "[^a]b"].contains(&pattern);
                let texts = [lines.as_bytes(), if is_rare { long.as_bytes() } else { lines.as_bytes() }];
                for text in texts {
                    let mut plain = Vec::new();
                    let add = |one: Match| {
                        plain.push((one.start(), one.end()));
                        true
                    };
                    matcher.find_iter(text, add).unwrap();
                    // What a match at a line's end is called differs, which line it is on does not.
                    let on = |found: Vec<(usize, usize)>| -> Vec<usize> {
                        let mut on: Vec<usize> = found
                            .iter()
                            .map(|(start, _)| memchr::memchr_iter(b'\n', &text[..*start]).count())
                            .collect();
                        on.dedup();
                        on
                    };
                    let expected = on(plain);
                    for pattern in [&light, &heavy] {
                        let found = on(matches(&Interruptible::new(&watch, pattern), text));
                        assert_eq!(found, expected, "{} in {} bytes", args.pattern, text.len());
                    }
                }
            }
        }
    }

    #[test]
    fn repetitions_are_multiplied() {
        for (pattern, expected) in
            [("abc", 1), ("a{3}", 3), ("(a{3,7}b{2,}){10}", 140), (r"\x{41}{5}", 205), ("a{,9}", 9), ("{", 1)]
        {
            assert_eq!(repetitions(pattern), expected, "{pattern}");
        }
    }
}
