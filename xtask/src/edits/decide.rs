//! Whether a noisy string still determines its place. The test is coarser than any tolerant search: all whitespace is
//! dropped and look-alike characters are folded, so a string that fits two places in any tolerant reading counts as lossy.

/// The text without spaces, with look-alike characters folded.
pub(super) fn squeeze(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{200b}' | '\u{feff}' => {}
            '‘' | '’' | '`' | '‚' | '‛' | '"' | '“' | '”' | '„' => squeezed.push('\''),
            '–' | '—' | '‐' | '‑' | '−' => squeezed.push('-'),
            '…' => squeezed.push_str("..."),
            character if character.is_whitespace() => {}
            character => squeezed.push(character),
        }
    }
    squeezed
}

/// How often one text occurs in another, overlaps included; at most two are counted.
pub(super) fn occurrences(text: &str, part: &str) -> usize {
    if part.is_empty() {
        return 2;
    }
    let Some(first) = text.find(part) else { return 0 };
    let next = text[first..].char_indices().nth(1).map_or(text.len(), |(offset, _)| first + offset);
    1 + usize::from(text[next..].contains(part))
}

/// Whether the lines of `old` fit the file best at `start`, and clearly less well at every other place. Lines are compared
/// without spaces. Lines without a letter or digit, such as a lone bracket, say nothing about a place.
pub(super) fn is_nearest(file: &[String], start: usize, old: &str) -> bool {
    let file: Vec<String> = file.iter().map(|line| squeeze(line)).collect();
    let old: Vec<String> = old.split('\n').map(squeeze).collect();
    let telling: Vec<bool> = old.iter().map(|line| line.contains(char::is_alphanumeric)).collect();
    let fit = |place: usize| {
        let window = file.iter().skip(place).zip(&old).zip(&telling);
        window.filter(|((one, other), is_telling)| **is_telling && one == other).count()
    };
    let here = fit(start);
    let elsewhere = (0..file.len()).filter(|place| *place != start).map(fit).max().unwrap_or(0);
    here >= 2 && elsewhere * 2 <= here
}

/// Whether other lines than those at `start` are as `old` has them, depth included, in all but one line.
pub(super) fn has_near(file: &[String], start: usize, old: &str) -> bool {
    let old: Vec<&str> = old.split('\n').map(str::trim_end).collect();
    let near = |(place, window): (usize, &[String])| {
        let equal = window.iter().zip(&old).filter(|(one, other)| one.trim_end() == **other);
        let telling = equal.filter(|(_, line)| line.contains(char::is_alphanumeric)).count();
        let all = old.iter().filter(|line| line.contains(char::is_alphanumeric)).count();
        place != start && all > 1 && telling + 1 >= all
    };
    file.windows(old.len()).enumerate().any(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_owned).collect()
    }

    #[test]
    fn blanks_and_look_alikes_do_not_count() {
        assert_eq!(squeeze("a = \u{201c}b\u{201d}\n\tc\u{a0}– d…"), squeeze("a=\"b\" c - d..."));
        assert_ne!(squeeze("a = 1"), squeeze("a = 2"));
    }

    #[test]
    fn overlapping_occurrences_are_counted() {
        assert_eq!(occurrences("abc", "d"), 0);
        assert_eq!(occurrences("abc", "b"), 1);
        assert_eq!(occurrences("aaa", "aa"), 2);
        assert_eq!(occurrences("éaé", "é"), 2);
        assert_eq!(occurrences("abc", ""), 2, "nothing is everywhere");
    }

    #[test]
    fn the_nearest_place_needs_two_lines_and_no_rival() {
        let file = lines("one\n  two\nthree\nfour\none\nfive");
        assert!(is_nearest(&file, 0, "one\ntwo\nother"));
        assert!(!is_nearest(&file, 0, "one\nother"), "one line says too little");
        let file = lines("one\ntwo\nthree\none\ntwo\nfour");
        assert!(!is_nearest(&file, 0, "one\ntwo\nother"), "the same lines stand twice");
        assert!(!is_nearest(&lines("}\n)\none"), 0, "}\n)\nother"), "brackets say nothing");
    }

    #[test]
    fn lines_at_the_same_depth_come_near() {
        let file = lines("  one\n  two\n  three\n    one\n    two\n    four");
        assert!(has_near(&file, 0, "    one\n    two\n    three"));
        assert!(!has_near(&file, 0, " one\n two\n three"));
    }
}
