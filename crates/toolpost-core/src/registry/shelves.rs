//! Tools of a source that come in such numbers that not all of them can be listed: in groups, each with its price. Pure.

use std::collections::BTreeSet;

/// A tool and what its declaration costs, in tokens.
type Priced = (String, usize);

/// The tools that may be not listed, to save tokens, by group: those of one server, for example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shelves {
    /// The groups, the most important first; of each tool its name and what its declaration costs, in tokens.
    pub groups: Vec<Vec<(String, usize)>>,
    /// So many of them are listed.
    pub most_tools: usize,
    /// Their declarations have so many tokens together.
    pub most_tokens: usize,
}

impl Shelves {
    /// The tools that do not fit, of those that are offered at all. Tools that were listed before stay. Of the others, a
    /// group is listed whole or not at all: what is listed makes sense together, and does not depend on who came first.
    pub fn held_back(
        &self,
        is_offered: impl Fn(&str) -> bool,
        was_listed: impl Fn(&str) -> bool,
    ) -> BTreeSet<&str> {
        let sum = |prices: &[&Priced]| prices.iter().map(|(_, price)| price).sum::<usize>();
        // Of each group, the tools that were listed before and the others.
        let mut groups: Vec<(Vec<&Priced>, Vec<&Priced>)> = Vec::new();
        for group in &self.groups {
            let offered = group.iter().filter(|(name, _)| is_offered(name));
            groups.push(offered.partition(|(name, _)| was_listed(name)));
        }
        let mut count: usize = groups.iter().map(|(kept, _)| kept.len()).sum();
        let mut tokens: usize = groups.iter().map(|(kept, _)| sum(kept)).sum();
        let mut held_back = BTreeSet::new();
        for (_, others) in &groups {
            let price = sum(others);
            if count + others.len() <= self.most_tools && tokens.saturating_add(price) <= self.most_tokens {
                count += others.len();
                tokens += price;
            } else {
                held_back.extend(others.iter().map(|(name, _)| name.as_str()));
            }
        }
        held_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(most_tools: usize, most_tokens: usize, refused: &str, expected: &[&str]) {
        check_after("", most_tools, most_tokens, refused, expected);
    }

    /// `before` has the tools that were listed before, a letter each.
    fn check_after(before: &str, most_tools: usize, most_tokens: usize, refused: &str, expected: &[&str]) {
        let group = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 10)).collect();
        let groups = vec![group(&["a", "b"]), group(&["c", "d", "e"]), group(&["f"])];
        let shelves = Shelves { groups, most_tools, most_tokens };
        let held_back: Vec<&str> =
            shelves.held_back(|name| name != refused, |name| before.contains(name)).into_iter().collect();
        assert_eq!(held_back, expected, "{most_tools} {most_tokens} without {refused:?}");
    }

    #[test]
    fn groups_are_listed_whole_in_their_order() {
        check(6, 60, "", &[]);
        check(5, 60, "", &["f"]);
        check(3, 60, "", &["c", "d", "e"]);
        check(6, 30, "", &["c", "d", "e"]);
        check(5, 50, "d", &[]);
        check(0, 0, "", &["a", "b", "c", "d", "e", "f"]);
    }

    #[test]
    fn what_was_listed_stays_listed() {
        check_after("f", 3, 60, "", &["c", "d", "e"]);
        check_after("cde", 3, 60, "", &["a", "b", "f"]);
        check_after("c", 3, 60, "", &["d", "e", "f"]);
        check_after("cdef", 3, 30, "", &["a", "b"]);
        check_after("f", 6, 60, "f", &[]);
        check_after("abcdef", 0, 0, "", &[]);
    }
}
