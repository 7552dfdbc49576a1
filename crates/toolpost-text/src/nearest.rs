//! The known name that an unknown one was probably meant to be.

/// The names nearest to `wanted`, best first: few edits apart, or one within the other.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>, at_most: usize) -> Vec<String> {
    let folded: Vec<char> = wanted.chars().flat_map(char::to_lowercase).take(64).collect();
    let tolerance = (folded.len() / 3).clamp(1, 4);
    let mut scored: Vec<(usize, usize, &str)> = known
        .filter_map(|name| {
            let other: Vec<char> = name.chars().flat_map(char::to_lowercase).take(64).collect();
            let apart = distance(&folded, &other);
            let is_within = folded.len() >= 3
                && other.len() >= 3
                && (contains(&other, &folded) || contains(&folded, &other));
            let score = match (apart <= tolerance, is_within) {
                (true, _) => apart,
                (false, true) => tolerance + apart,
                (false, false) => return None,
            };
            // Two letters are swapped more often than one is too many.
            Some((score, folded.len().abs_diff(other.len()), name))
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(at_most).map(|(_, _, name)| name.to_owned()).collect()
}

/// The word that this one is hardly anything but a misspelling of: the same but for case, `_`, `-` and spaces, or with one
/// letter in four wrong. A word that is known itself is never a misspelling; the caller looks there first.
pub fn misspelling_of<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = bare(wanted);
    let scored = known.into_iter().filter_map(|word| {
        let other = bare(word);
        let tolerance = (other.len() / 4).clamp(usize::from(other.len() > 2), 3);
        let apart = distance(&wanted, &other);
        (apart <= tolerance).then_some((apart, word))
    });
    scored.min().map(|(_, word)| word)
}

/// The letters in which spellings of one word agree.
fn bare(word: &str) -> Vec<char> {
    let letters = word.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).take(64).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Edits between two words, a swap of neighbours counting once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, known: &[&str], expected: &[&str]) {
        assert_eq!(nearest(wanted, known.iter().copied(), 3), expected, "{wanted}");
    }

    #[test]
    fn typing_errors_find_their_word() {
        check("raed", &["read", "list", "batch"], &["read"]);
        check("modle", &["mode", "model"], &["model", "mode"]);
        check("filepath", &["filePath", "limit"], &["filePath"]);
        check("mian.rs", &["main.rs", "lib.rs"], &["main.rs"]);
        check("read_files", &["read", "read_file", "write"], &["read_file", "read"]);
    }

    #[test]
    fn strangers_are_not_suggested() {
        check("zzz", &["read", "list"], &[]);
        check("x", &["read"], &[]);
        check("", &["read"], &[]);
    }
}
