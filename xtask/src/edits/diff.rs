//! The lines that changed between two texts, by the shortest edit script (Myers). Written for this judge alone: it shares
//! no code with the product's own diff.

use std::collections::HashMap;
use std::ops::Range;

/// Texts that differ in more lines than this are not compared.
const MAX_DISTANCE: usize = 600;

/// Lines that were replaced by others; either side can be empty, but not both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Replaced {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// What changed, in order; nothing if the texts are too different.
pub(super) fn diff(before: &[&str], after: &[&str]) -> Vec<Replaced> {
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let rest = before.len().min(after.len()) - start;
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(one, other)| one == other)
        .count();
    let mut ids = HashMap::new();
    let mut id = |line| {
        let next = ids.len();
        *ids.entry(line).or_insert(next)
    };
    let before: Vec<usize> = before[start..before.len() - end].iter().map(|line| id(*line)).collect();
    let after: Vec<usize> = after[start..after.len() - end].iter().map(|line| id(*line)).collect();
    let Some(kept) = common(&before, &after) else { return Vec::new() };

    let mut changes = Vec::new();
    let mut position = (0, 0);
    for (one, other) in kept.into_iter().chain([(before.len(), after.len())]) {
        if (one, other) != position {
            let replaced = Replaced {
                before: start + position.0..start + one,
                after: start + position.1..start + other,
            };
            changes.push(replaced);
        }
        position = (one + 1, other + 1);
    }
    changes
}

/// The pairs of equal context lines; `None` if there are too many changes.
fn common(before: &[usize], after: &[usize]) -> Option<Vec<(usize, usize)>> {
    let limit = (before.len() + after.len()).min(MAX_DISTANCE);
    let offset = limit + 1;
    // `reached[offset + diagonal]` is how far into `before` a path on that diagonal comes.
    let mut reached = vec![0_usize; 2 * offset + 1];
    let mut history: Vec<Vec<usize>> = Vec::new();
    for distance in 0..=limit {
        history.push(reached[offset - distance..=offset + distance].to_vec());
        for diagonal in (offset - distance..=offset + distance).step_by(2) {
            let goes_down = diagonal == offset - distance
                || (diagonal != offset + distance && reached[diagonal - 1] < reached[diagonal + 1]);
            let mut one = if goes_down { reached[diagonal + 1] } else { reached[diagonal - 1] + 1 };
            let Some(mut other) = (one + offset).checked_sub(diagonal) else { continue };
            while one < before.len() && other < after.len() && before[one] == after[other] {
                one += 1;
                other += 1;
            }
            reached[diagonal] = one;
            if one >= before.len() && other >= after.len() {
                return Some(walk_back(before.len(), after.len(), &history));
            }
        }
    }
    None
}

/// Follows the path of the shortest script from its end to its beginning.
fn walk_back(mut one: usize, mut other: usize, history: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    for (distance, reached) in history.iter().enumerate().rev() {
        // Within `reached`, the diagonal zero has the index `distance`.
        let diagonal = one + distance - other;
        if distance == 0 {
            while one > 0 && other > 0 {
                one -= 1;
                other -= 1;
                kept.push((one, other));
            }
            break;
        }
        let at = |index: usize| reached.get(index).copied().unwrap_or(0);
        let goes_down = diagonal == 0 || (diagonal != 2 * distance && at(diagonal - 1) < at(diagonal + 1));
        let previous_diagonal = if goes_down { diagonal + 1 } else { diagonal - 1 };
        let previous_one = at(previous_diagonal);
        let previous_other = previous_one + distance - previous_diagonal;
        let (begin_one, begin_other) =
            if goes_down { (previous_one, previous_other + 1) } else { (previous_one + 1, previous_other) };
        while one > begin_one && other > begin_other {
            one -= 1;
            other -= 1;
            kept.push((one, other));
        }
        (one, other) = (previous_one, previous_other);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, distance: usize) {
        let (before, after): (Vec<&str>, Vec<&str>) =
            (before.split(' ').collect(), after.split(' ').collect());
        let changes = diff(&before, &after);
        let mut rebuilt = Vec::new();
        let mut position = 0;
        for change in &changes {
            rebuilt.extend_from_slice(&before[position..change.before.start]);
            rebuilt.extend_from_slice(&after[change.after.clone()]);
            position = change.before.end;
        }
        rebuilt.extend_from_slice(&before[position..]);
        assert_eq!(rebuilt, after);
        let size: usize = changes.iter().map(|change| change.before.len() + change.after.len()).sum();
        assert_eq!(size, distance, "{changes:?}");
    }

    #[test]
    fn the_changes_turn_one_text_into_the_other_and_are_few() {
        check("a b c", "a b c", 0);
        check("a b c", "a x c", 2);
        check("a b c", "b c d", 2);
        check("a b c a b b a", "c b a b a c", 5);
        check("x a b", "a b y z", 3);
        check("a", "b c d e", 5);
        check("1 2 3 4 5 6 7 8", "0 2 3 9 5 6 8 8", 6);
    }
}
