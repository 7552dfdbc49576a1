//! Whether a rule that denies or asks could mean a command.
//!
//! Such a rule must not be bypassed by another spelling, so it is held against more than the text of the command:
//! against the program by its last name, wherever it lies; without the options that stand before a subcommand; and
//! without quotes. What is computed when the line runs may be anything. A program also goes by its other names, as
//! `vim.basic` does by `vim`, and `git-push` is `git push`. No list can name every program that runs another, so the
//! arguments of a program that is not well known may be a command, from any of them on. A rule that allows gets none of
//! this.

use crate::programs::{self, Runs};

/// Whether the pattern could match the command, in the canonical text of the reader of command lines.
pub fn could_match(pattern: &str, command: &str) -> bool {
    let words = words(command);
    let Some((program, arguments)) = words.split_first() else { return false };
    let has_quotes = pattern.contains(['\'', '"']);
    let bare = has_quotes.then(|| Pattern::bare(pattern));
    let patterns: Vec<Pattern> = [Some(Pattern::new(pattern)), bare].into_iter().flatten().collect();
    let is_met = |program: &Word, arguments: &[Word]| {
        let programs = names(program);
        let starts = starts(arguments);
        patterns.iter().any(|pattern| {
            [Word::shown as fn(&Word) -> &[Piece], Word::plain]
                .into_iter()
                .any(|form| pattern.meets(&programs, arguments, &starts, form))
        })
    };
    if is_met(program, arguments) {
        return true;
    }
    let path = program.text().unwrap_or_default();
    // Git installs its subcommands as programs too.
    if let Some(subcommand) = subcommand_of_git(&path) {
        let mut separate = vec![Word::of(subcommand)];
        separate.extend_from_slice(arguments);
        return is_met(&Word::of("git"), &separate);
    }
    let has_argument = |wanted: &str| arguments.iter().any(|word| word.is_text(wanted));
    let with_computed = match programs::runs(&path, has_argument) {
        Runs::Nothing => return false,
        Runs::Known => false,
        Runs::Any => true,
    };
    let inner = Inner::of(arguments);
    patterns.iter().any(|pattern| pattern.meets_inside(&inner, with_computed))
}

/// The subcommand of a program such as `/usr/lib/git-core/git-push`.
fn subcommand_of_git(path: &str) -> Option<&str> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_prefix("git-").filter(|subcommand| !subcommand.is_empty())
}

/// Arguments that may be commands: strings with spaces are split once into words, as a shell would.
struct Inner {
    words: Vec<Word>,
    /// Whether a command may end after the word.
    ends: Vec<bool>,
}

impl Inner {
    fn of(arguments: &[Word]) -> Inner {
        let mut inner = Inner { words: Vec::new(), ends: Vec::new() };
        for argument in arguments {
            let is_string =
                |text: &String| text.contains(|letter: char| letter.is_whitespace() || is_separator(letter));
            let Some(text) = argument.text().filter(is_string) else {
                inner.push(argument.clone(), false);
                if let Some(subcommand) = argument.text().as_deref().and_then(subcommand_of_git) {
                    inner.push(Word::of("git"), false);
                    inner.push(Word::of(subcommand), false);
                }
                continue;
            };
            for part in text.split(is_separator) {
                for word in part.split_whitespace() {
                    let word = word.trim_matches(['\'', '"', ',', '[', ']']);
                    if !word.is_empty() {
                        inner.push(Word::of(word), false);
                    }
                }
                if let Some(last) = inner.ends.last_mut() {
                    *last = true;
                }
            }
        }
        inner
    }

    fn push(&mut self, word: Word, ends: bool) {
        self.words.push(word);
        self.ends.push(ends);
    }
}

/// Whether a command may end or begin at this letter of a string.
fn is_separator(letter: char) -> bool {
    matches!(letter, ';' | '|' | '&' | '(' | ')' | '`' | '\n')
}

/// The names that an argument may have for a program: as it is written, by its last name, without a version, and the
/// value of `--option=program`, `environment:program` or `package#program`.
fn names_inside(word: &Word) -> Vec<Word> {
    let mut names = vec![word.clone()];
    let Some(text) = word.text() else { return names };
    let last = text.rsplit(['/', ':', '=', '#']).next().unwrap_or(&text);
    let unversioned = last.split('@').next().unwrap_or(last);
    for name in [last, unversioned] {
        if name != text && !name.is_empty() {
            names.push(Word::of(name));
        }
        names.extend(programs::other_names(name).into_iter().map(Word::of));
    }
    names
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

    fn is_text(&self, wanted: &str) -> bool {
        let mut letters = wanted.chars();
        self.plain.iter().all(|piece| letters.next().is_some_and(|letter| *piece == Piece::Letter(letter)))
            && letters.next().is_none()
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
    let Some(path) = program.text() else { return names };
    let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
    names.extend(programs::other_names(name).into_iter().map(Word::of));
    if !path.contains('/') {
        return names;
    }
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
        let after_program = self.after_program(programs, form);
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
        self.is_end(&places)
    }

    /// Whether some of the words, read as a command of its own, match. All of them are followed at once, so the time
    /// is the product of both lengths here too.
    fn meets_inside(&self, inner: &Inner, with_computed: bool) -> bool {
        let count = inner.words.len();
        // What is reached before a word, once options before a subcommand are left out.
        let mut skipped: Vec<Option<Vec<bool>>> = vec![None; count + 1];
        let mut places = vec![false; self.parts.len() + 1];
        for (number, word) in inner.words.iter().enumerate() {
            if let Some(others) = &skipped[number] {
                join(&mut places, others);
            }
            if places.contains(&true) {
                places = self.step(&places, Piece::Blank);
                places = word.plain.iter().fold(places, |places, piece| self.step(&places, *piece));
            }
            if with_computed || !matches!(word.plain.first(), None | Some(Piece::AnyWord | Piece::Anything)) {
                let after = self.after_program(&names_inside(word), Word::plain);
                if after.contains(&true) {
                    join(&mut places, &after);
                    for start in starts(&inner.words[number + 1..]) {
                        match &mut skipped[number + 1 + start] {
                            Some(others) => join(others, &after),
                            none => *none = Some(after.clone()),
                        }
                    }
                }
            }
            if inner.ends[number] && self.is_end(&places) {
                return true;
            }
        }
        if let Some(others) = &skipped[count] {
            join(&mut places, others);
        }
        self.is_end(&places)
    }

    /// The places that are reached after one of the programs.
    fn after_program(&self, programs: &[Word], form: fn(&Word) -> &[Piece]) -> Vec<bool> {
        let mut after_program = vec![false; self.parts.len() + 1];
        for program in programs {
            let mut places = vec![false; self.parts.len() + 1];
            places[0] = true;
            self.pass_stars(&mut places);
            for piece in form(program) {
                places = self.step(&places, *piece);
                if !places.contains(&true) {
                    break;
                }
            }
            join(&mut after_program, &places);
        }
        after_program
    }

    /// Whether the text may end at one of these places.
    fn is_end(&self, places: &[bool]) -> bool {
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
            ("git push *", "/usr/lib/git-core/git-push origin"),
            ("git push *", "git-push"),
            ("vim *", "vim.basic -es"),
            ("python *", "/usr/bin/python3.11 x.py"),
            ("curl *", "mise exec node@20 -- curl x"),
            ("curl *", "hatch run test:curl"),
            ("curl *", "uvx curl@1.2"),
            ("curl *", "cmake -E env A=1 /usr/bin/curl x"),
            ("curl *", "sops exec-env f 'curl x'"),
            ("curl x", "sops exec-env f 'cd y && curl x; ls'"),
            ("curl *", "tool --command=curl x"),
            ("curl *", "docker exec c curl x"),
            ("curl *", "tool f 'sh -c \"curl x\"'"),
            ("git push *", "genv git -C . push"),
            ("curl *", "tool exec $x"),
            ("git push *", "genv /usr/lib/git-core/git-push x"),
            ("git-push *", "genv git-push x"),
            ("python *", "tool exec python3.11 x"),
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
            ("curl *", "grep curl x"),
            ("curl *", "apt-get install curl"),
            ("curl *", "timeout 5 grep curl x"),
            ("rm *", "docker rm x"),
            ("rm *", "git rm x"),
            ("curl *", "tool curling"),
            ("curl *", "tool a/$x"),
            ("curl *", "python3 x.py \"$x\""),
            ("curl x", "tool curl y"),
            ("git push *", "git-log push"),
            ("vim *", "vimrc.sh x"),
        ] {
            assert!(!could_match(pattern, command), "{pattern:?} {command:?}");
        }
    }
}
