//! Whether a rule that denies or asks could mean a command.
//!
//! Such a rule must not be bypassed by another spelling, so it is held against more than the text of the command:
//! against the program by its last name, wherever it lies; without the options that stand before a subcommand; and
//! without quotes. What is computed when the line runs may be anything. A rule that allows gets none of this.

/// Whether the pattern could match the command, in the canonical text of the reader of command lines.
pub(super) fn could_match(pattern: &str, command: &str) -> bool {
    let words = words(command);
    let Some((program, arguments)) = words.split_first() else { return false };
    let programs = names(program);
    let starts = starts(arguments);
    let has_quotes = pattern.contains(['\'', '"']);
    let bare = has_quotes.then(|| Pattern::bare(pattern));
    [Some(Pattern::new(pattern)), bare].into_iter().flatten().any(|pattern| {
        [Word::shown as fn(&Word) -> &[Piece], Word::plain]
            .into_iter()
            .any(|form| pattern.meets(&programs, arguments, &starts, form))
    })
}

/// A piece of a command's text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    Letter(char),
    /// Between two words.
    Blank,
    /// Any text, but no end of a word.
    AnyWord,
    /// Any text.
    Anything,
}

/// A word as it is written, and without its quotes.
#[derive(Debug, Clone, Default)]
struct Word {
    shown: Vec<Piece>,
    plain: Vec<Piece>,
}

impl Word {
    fn of(text: &str) -> Word {
        let pieces: Vec<Piece> = text.chars().map(Piece::Letter).collect();
        Word { shown: pieces.clone(), plain: pieces }
    }

    fn push(&mut self, shown: char, plain: Option<char>) {
        // Where the name of a variable ends is not told, so what follows is part of it.
        if self.shown.last() == Some(&Piece::Anything) {
            return;
        }
        self.shown.push(Piece::Letter(shown));
        self.plain.extend(plain.map(Piece::Letter));
    }

    fn push_unknown(&mut self, piece: Piece) {
        self.shown.push(piece);
        self.plain.push(piece);
    }

    fn shown(&self) -> &[Piece] {
        &self.shown
    }

    fn plain(&self) -> &[Piece] {
        &self.plain
    }

    /// The text without quotes, if all of it is known.
    fn text(&self) -> Option<String> {
        let letter = |piece: &Piece| match piece {
            Piece::Letter(letter) => Some(*letter),
            Piece::Blank | Piece::AnyWord | Piece::Anything => None,
        };
        self.plain.iter().map(letter).collect()
    }

    fn may_be_an_option(&self) -> bool {
        matches!(self.plain.first(), Some(Piece::Letter('-' | '+') | Piece::AnyWord | Piece::Anything))
    }
}

/// The words of a canonical text. The rest of a word from its first unknown part on is unknown.
fn words(command: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    let mut letters = command.trim_matches([' ', '\t']).chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => {
                if !word.shown.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            '\\' => {
                word.push('\\', None);
                if let Some(next) = letters.next() {
                    word.push(next, Some(next));
                }
            }
            '\'' => {
                word.push('\'', None);
                while let Some(inside) = letters.next_if(|inside| *inside != '\'') {
                    word.push(inside, Some(inside));
                }
                letters.next();
                word.push('\'', None);
            }
            '$' if letters.peek() == Some(&'\'') => {
                letters.next();
                word.push('$', None);
                word.push('\'', None);
                while let Some(inside) = letters.next_if(|inside| *inside != '\'') {
                    match inside {
                        '\\' => {
                            let code = letters.next();
                            word.push('\\', None);
                            match code {
                                Some('n') => word.push('n', Some('\n')),
                                Some('t') => word.push('t', Some('\t')),
                                Some('u') => {
                                    let digits: String = letters.by_ref().take(4).collect();
                                    let value =
                                        u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                                    word.push('u', value);
                                    digits.chars().for_each(|digit| word.push(digit, None));
                                }
                                Some(other) => word.push(other, Some(other)),
                                None => {}
                            }
                        }
                        inside => word.push(inside, Some(inside)),
                    }
                }
                letters.next();
                word.push('\'', None);
            }
            '"' => {
                let mut inside = String::new();
                while let Some(letter) = letters.next_if(|letter| *letter != '"') {
                    inside.push(letter);
                }
                letters.next();
                match (inside.contains('$'), inside.contains('@')) {
                    (false, _) => {
                        word.push('"', None);
                        inside.chars().for_each(|letter| word.push(letter, Some(letter)));
                        word.push('"', None);
                    }
                    (true, false) => word.push_unknown(Piece::AnyWord),
                    (true, true) => word.push_unknown(Piece::Anything),
                }
            }
            '$' | '*' | '?' | '[' => word.push_unknown(Piece::Anything),
            // Elsewhere, as in `HEAD~1`, it is a letter.
            '~' if matches!(word.shown.last(), None | Some(Piece::Letter('=' | ':'))) => {
                word.push_unknown(Piece::Anything);
            }
            '{' if letters.peek() == Some(&'…') => word.push_unknown(Piece::Anything),
            '<' if letters.peek() == Some(&'(') => word.push_unknown(Piece::AnyWord),
            letter => word.push(letter, Some(letter)),
        }
    }
    if !word.shown.is_empty() {
        words.push(word);
    }
    words
}

/// The names that a rule may have for a program: as it is written, by each end of its path, with `./` and without.
fn names(program: &Word) -> Vec<Word> {
    const MOST_FOLDERS: usize = 30;
    let mut names = vec![program.clone()];
    let Some(path) = program.text().filter(|path| path.contains('/')) else { return names };
    // The last folders tell programs apart.
    let cut = path.rmatch_indices('/').nth(MOST_FOLDERS).map_or(0, |(at, _)| at);
    let mut rest = path[cut..].trim_start_matches("./").trim_start_matches('/');
    loop {
        names.extend([Word::of(rest), Word::of(&format!("./{rest}"))]);
        match rest.split_once('/') {
            Some((_, after)) => rest = after.trim_start_matches('/'),
            None => return names,
        }
    }
}

/// Where the arguments may begin, once options before a subcommand are left out. An option may have a value.
fn starts(arguments: &[Word]) -> Vec<usize> {
    /// More options than this stand before no subcommand.
    const MOST: usize = 16;
    let mut starts = vec![0];
    let mut at = 0;
    while let Some(start) = starts.get(at).copied() {
        at += 1;
        if start < MOST && arguments.get(start).is_some_and(Word::may_be_an_option) {
            for next in [start + 1, start + 2] {
                if next <= arguments.len() && !starts.contains(&next) {
                    starts.push(next);
                }
            }
        }
    }
    starts
}

/// A part of a rule's pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Letter(char),
    Blank,
    One,
    Many,
}

struct Pattern {
    parts: Vec<Part>,
    /// Whether a blank of it is also one in quotes.
    is_bare: bool,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            parts.push(match letter {
                '*' => Part::Many,
                '?' => Part::One,
                ' ' | '\t' if parts.last() == Some(&Part::Blank) => continue,
                ' ' | '\t' => Part::Blank,
                '\\' => Part::Letter(letters.next().unwrap_or('\\')),
                letter => Part::Letter(letter),
            });
        }
        Pattern { parts, is_bare: false }
    }

    /// The pattern without quotes.
    fn bare(text: &str) -> Pattern {
        Pattern { is_bare: true, ..Pattern::new(&text.replace(['\'', '"'], "")) }
    }

    /// Whether some value of what is unknown makes one of the programs, with the arguments from one of the starts on,
    /// match. The places of the pattern that can be reached are kept: the time is the product of both lengths.
    fn meets(
        &self,
        programs: &[Word],
        arguments: &[Word],
        starts: &[usize],
        form: fn(&Word) -> &[Piece],
    ) -> bool {
        let mut after_program = vec![false; self.parts.len() + 1];
        for program in programs {
            let mut places = vec![false; self.parts.len() + 1];
            places[0] = true;
            self.pass_stars(&mut places);
            let places = form(program).iter().fold(places, |places, piece| self.step(&places, *piece));
            join(&mut after_program, &places);
        }
        let mut places = after_program.clone();
        for (number, argument) in arguments.iter().enumerate() {
            if starts.contains(&number) {
                join(&mut places, &after_program);
            }
            places = self.step(&places, Piece::Blank);
            places = form(argument).iter().fold(places, |places, piece| self.step(&places, *piece));
        }
        if starts.contains(&arguments.len()) {
            join(&mut places, &after_program);
        }
        // `cargo test *` also means the command without arguments.
        let end = self.parts.len();
        let is_bare = matches!(self.parts.as_slice(), [.., Part::Blank, Part::Many]) && places[end - 2];
        places[end] || is_bare
    }

    /// The places that are reached from these by one piece of the text.
    fn step(&self, places: &[bool], piece: Piece) -> Vec<bool> {
        let end = self.parts.len();
        let mut next = vec![false; end + 1];
        for place in (0..=end).filter(|place| places[*place]) {
            match piece {
                Piece::Anything => {
                    next[place..].fill(true);
                    break;
                }
                Piece::AnyWord => {
                    let is_end = |part: &Part| *part == Part::Blank;
                    let rest = &self.parts[place..];
                    let stop = rest.iter().position(is_end).map_or(end, |at| place + at);
                    next[place..=stop].fill(true);
                }
                Piece::Letter(_) | Piece::Blank => match self.parts.get(place) {
                    Some(Part::Many) => next[place] = true,
                    Some(part) if self.is(*part, piece) => next[place + 1] = true,
                    _ => {}
                },
            }
        }
        self.pass_stars(&mut next);
        next
    }

    fn is(&self, part: Part, piece: Piece) -> bool {
        match part {
            Part::Letter(letter) => piece == Piece::Letter(letter),
            Part::Blank => piece == Piece::Blank || (self.is_bare && piece == Piece::Letter(' ')),
            Part::One => true,
            Part::Many => false,
        }
    }

    fn pass_stars(&self, places: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            if places[place] && *part == Part::Many {
                places[place + 1] = true;
            }
        }
    }
}

fn join(places: &mut [bool], others: &[bool]) {
    places.iter_mut().zip(others).for_each(|(place, other)| *place |= other);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_denied_command_are_met() {
        for (pattern, command) in [
            ("touch *", "touch pwned"),
            ("touch *", "touch"),
            ("touch *", "/bin/touch pwned"),
            ("touch *", "./touch pwned"),
            ("touch *", "/home/u/work/touch pwned"),
            ("touch pwned", "touch 'pwned'"),
            ("cat secret*", "cat 'secret file'"),
            ("cat 'secret file'", "cat secret\\ file"),
            ("./evil/run *", "/work/evil/run x"),
            ("evil/run *", "./evil/run x"),
            ("./evil/run *", "evil/run x"),
            ("git push *", "git push origin"),
            ("git push *", "git -C . push origin"),
            ("git push *", "git -C . --no-pager push"),
            ("npm publish*", "npm --prefix=x publish"),
            ("cargo publish *", "cargo +nightly publish"),
            ("curl *evil*", "curl \"$x\""),
            ("curl *evil*", "curl $x.com"),
            ("curl * evil", "curl $x"),
            ("git push *", "git $x"),
            ("rm x y", "rm \"${@}\""),
            ("cat *.env", "cat *"),
            ("cat /home/*", "cat ~/x"),
            ("echo a\\*b", "echo 'a*b'"),
            ("echo it*", r"echo 'it'\''s'"),
            ("echo a?b", r"echo $'a\nb'"),
        ] {
            assert!(could_match(pattern, command), "{pattern:?} {command:?}");
        }
    }

    #[test]
    fn other_commands_are_not_met() {
        for (pattern, command) in [
            ("touch *", "touched x"),
            ("touch *", "ls touch"),
            ("touch *", "echo touch pwned"),
            ("git push *", "git log push"),
            ("git push *", "git commit -m push"),
            ("git push *", "git stash push"),
            ("rm -rf *", "rm x"),
            ("curl * evil", "curl \"$x\""),
            ("touch x", "touch \"$x\" y"),
            ("cat *.env", "cat src/main.rs"),
            ("./run *", "./run.sh x"),
            ("a b", "a 'x b'"),
            ("git reset *--hard*", "git reset HEAD~1"),
        ] {
            assert!(!could_match(pattern, command), "{pattern:?} {command:?}");
        }
    }
}
