//! A quick look at a path: whether any rule of the protected list could match it.
//!
//! A walk asks for every name it comes upon, and almost none is protected. Whatever matches a rule has a part that
//! matches the rule's last part, so each part is held against the few last parts that share a letter with it.

use crate::folded;

/// The last parts of some patterns, by a letter that they begin with or, where that is not plain, end in.
pub struct Screen {
    by_first: [Vec<Plain>; 128],
    by_last: [Vec<Plain>; 128],
    /// Those that begin and end in wildcards.
    vague: bool,
    lasts: Vec<&'static str>,
}

/// The plain letters at both ends of a pattern for one part.
struct Plain {
    beginning: &'static str,
    ending: &'static str,
}

impl Screen {
    /// Of patterns of the list.
    pub fn new(patterns: impl Iterator<Item = &'static str>) -> Screen {
        let mut screen = Screen {
            by_first: std::array::from_fn(|_| Vec::new()),
            by_last: std::array::from_fn(|_| Vec::new()),
            vague: false,
            lasts: Vec::new(),
        };
        for pattern in patterns {
            let last = pattern.rsplit('/').next().unwrap_or(pattern);
            let plain = Plain { beginning: folded::beginning(last), ending: folded::ending(last) };
            let list = match (plain.beginning.bytes().next(), plain.ending.bytes().next_back()) {
                (Some(first), _) => screen.by_first.get_mut(usize::from(first.to_ascii_lowercase())),
                (None, Some(end)) => screen.by_last.get_mut(usize::from(end.to_ascii_lowercase())),
                (None, None) => None,
            };
            match list {
                Some(list) => list.push(plain),
                None => screen.vague = true,
            }
            screen.lasts.push(last);
        }
        screen
    }

    /// Whether some pattern could match; no only where none does.
    pub fn suspects(&self, path: &str) -> bool {
        // Names of other letters, or with a stream, have more than one spelling.
        let is_plain = path.is_ascii() && !path.as_bytes().contains(&b':');
        if is_plain {
            let mut parts = path.as_bytes().split(|letter| *letter == b'/');
            return self.vague || parts.any(|part| self.may_match(part));
        }
        self.vague || path.split('/').any(|part| self.matches(part))
    }

    fn may_match(&self, part: &[u8]) -> bool {
        // What Windows would not see at the end of a name is rare enough to be tried in full.
        let ends_unseen = matches!(part, [.., b'.' | b' ']);
        let of = |lists: &[Vec<Plain>; 128], letter: Option<&u8>| {
            let list = letter.and_then(|letter| lists.get(usize::from(letter.to_ascii_lowercase())));
            list.is_some_and(|list| list.iter().any(|plain| plain.may_match(part)))
        };
        ends_unseen || of(&self.by_first, part.first()) || of(&self.by_last, part.last())
    }

    /// The long way, for one part: such names are rare.
    fn matches(&self, part: &str) -> bool {
        self.lasts.iter().any(|last| folded::part_matches(last, part))
    }
}

impl Plain {
    fn may_match(&self, part: &[u8]) -> bool {
        let (beginning, ending) = (self.beginning.as_bytes(), self.ending.as_bytes());
        let end = part.len().checked_sub(ending.len()).map(|start| &part[start..]);
        part.get(..beginning.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(beginning))
            && end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
    }
}
