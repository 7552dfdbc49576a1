//! Tools of a source that come in such numbers that not all of them can be listed: in groups, each with its price. Pure.

use std::collections::BTreeSet;

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
    /// The tools that do not fit, of those that are offered at all. A group is listed whole or not at all: what is
    /// listed makes sense together, and does not depend on who came first.
    pub fn held_back(&self, is_offered: impl Fn(&str) -> bool) -> BTreeSet<&str> {
        let (mut count, mut tokens) = (0_usize, 0_usize);
        let mut held_back = BTreeSet::new();
        for group in &self.groups {
            let offered: Vec<&(String, usize)> = group.iter().filter(|(name, _)| is_offered(name)).collect();
            let price = offered.iter().map(|(_, price)| price).sum::<usize>();
            if count + offered.len() <= self.most_tools && tokens.saturating_add(price) <= self.most_tokens {
                count += offered.len();
                tokens += price;
            } else {
                held_back.extend(offered.iter().map(|(name, _)| name.as_str()));
            }
        }
        held_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(most_tools: usize, most_tokens: usize, refused: &str, expected: &[&str]) {
        let group = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 10)).collect();
        let groups = vec![group(&["a", "b"]), group(&["c", "d", "e"]), group(&["f"])];
        let shelves = Shelves { groups, most_tools, most_tokens };
        let held_back: Vec<&str> = shelves.held_back(|name| name != refused).into_iter().collect();
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
}
