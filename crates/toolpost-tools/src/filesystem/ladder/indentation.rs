//! From the indentation of the old text to that of the file.

/// What is said where the two do not correspond.
const UNEVEN: &str = "the indentation of oldString differs from the file's in another way from line to line";
const UNKNOWN: &str = "newString has an indentation for which oldString shows no counterpart in the file";

/// What an indentation in the old text is in the file.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    /// Each indentation that occurs, shortest first.
    known: Vec<(&'a str, &'a str)>,
    /// By how much the lines of a block are usually deeper in the file.
    step: Option<usize>,
}

impl<'a> Mapping<'a> {
    /// From the lines that say something and from those that are only brackets, old and file.
    ///
    /// Fails where the lines of the two are not nested alike: every line is deeper or shallower by the same blanks, or
    /// every step is made of others. Anything else may be another block of the same words. Brackets have to follow from
    /// the other lines: by themselves they are at any depth. `step` is the file's usual one.
    pub(super) fn new(
        mut telling: Vec<(&'a str, &'a str)>,
        brackets: Vec<(&'a str, &'a str)>,
        step: Option<usize>,
    ) -> Result<Mapping<'a>, &'static str> {
        if let Some((old, file)) = telling.first() {
            let mapping = Mapping::even(telling.clone())?;
            // Where two rules say different things, blocks are moved by whole steps.
            let is_whole = step.is_some_and(|step| old.len().abs_diff(file.len()).is_multiple_of(step));
            let follows = |(old, file): &(&str, &str)| {
                mapping.ways(old).any(|way| way == *file)
                    && (is_whole || mapping.ways(old).all(|way| way == *file))
            };
            if !brackets.iter().all(follows) {
                return Err(UNEVEN);
            }
        }
        telling.extend(brackets);
        Ok(Mapping { step, ..Mapping::even(telling)? })
    }

    pub(super) fn even(mut pairs: Vec<(&'a str, &'a str)>) -> Result<Mapping<'a>, &'static str> {
        pairs.sort_by_key(|(old, _)| old.len());
        pairs.dedup();
        let mapping = Mapping { known: pairs, step: None };
        let is_even = |way: &dyn Fn(&str) -> Option<String>| {
            mapping.known.iter().all(|(old, file)| way(old).as_deref() == Some(file))
        };
        let ways =
            [Mapping::shifted, Mapping::scaled, Mapping::converted, Mapping::expanded, Mapping::tabbed];
        match ways.iter().any(|way| is_even(&|indent| way(&mapping, indent))) {
            true => Ok(mapping),
            false => Err(UNEVEN),
        }
    }

    /// What an indentation may be in the file, by each of the rules that fit.
    fn ways(&self, indent: &str) -> impl Iterator<Item = String> {
        let ways =
            [Mapping::shifted, Mapping::scaled, Mapping::converted, Mapping::expanded, Mapping::tabbed];
        ways.into_iter().filter_map(|way| way(self, indent))
    }

    pub(super) fn step(&self) -> Option<usize> {
        self.step
    }

    pub(super) fn knows_old(&self, indent: &str) -> bool {
        self.known.iter().any(|(old, _)| *old == indent)
    }

    pub(super) fn knows_file(&self, indent: &str) -> bool {
        self.known.iter().any(|(_, file)| *file == indent)
    }

    /// The file's indentation for one of the new text that is written as the old text is.
    pub(super) fn apply(&self, indent: &str) -> Result<String, &'static str> {
        if let Some((_, file)) = self.known.iter().find(|(old, _)| *old == indent) {
            return Ok((*file).to_owned());
        }
        let mut ways: Vec<String> = self.ways(indent).collect();
        ways.dedup();
        // Where two rules say different things, a block is deeper by whole steps.
        if ways.len() > 1 {
            let is_whole = |way: &String| {
                way.contains('\t') || self.step.is_some_and(|step| way.len().is_multiple_of(step))
            };
            ways.retain(is_whole);
        }
        match <[String; 1]>::try_from(ways) {
            Ok([way]) => Ok(way),
            Err(_) => Err(UNKNOWN),
        }
    }

    /// As many blanks more, or fewer, on every line.
    fn shifted(&self, indent: &str) -> Option<String> {
        let (old, file) = self.known.first()?;
        if let Some(more) = file.strip_suffix(old)
            && self.known.iter().all(|(old, file)| file.strip_prefix(more) == Some(old))
        {
            return Some(format!("{more}{indent}"));
        }
        let less = old.strip_suffix(file)?;
        let is_even = self.known.iter().all(|(old, file)| old.strip_prefix(less) == Some(file));
        indent.strip_prefix(less).filter(|_| is_even).map(str::to_owned)
    }

    /// Tabs for blanks, or steps of another width.
    fn scaled(&self, indent: &str) -> Option<String> {
        let (old, file) = self.known.iter().find(|(old, file)| !old.is_empty() && !file.is_empty())?;
        let (from, to) = (old.chars().next()?, file.chars().next()?);
        let (wide, narrow) = (old.len(), file.len());
        let fits = |(old, file): &(&str, &str)| {
            old.len() * narrow == file.len() * wide
                && old.chars().all(|character| character == from)
                && file.chars().all(|character| character == to)
        };
        // A single blank is no step of indentation but one that was lost or added, unless deeper lines show the same.
        let shown = self.known.iter().filter(|(old, file)| !old.is_empty() && old != file).count();
        if !self.known.iter().all(fits) || (from == to && wide.min(narrow) < 2 && shown < 2) {
            return None;
        }
        let is_whole =
            (indent.len() * narrow).is_multiple_of(wide) && indent.chars().all(|character| character == from);
        let depth = indent.len() * narrow / wide;
        // What stands at no step of a block is aligned with something, and not wider or narrower with the steps.
        let is_aligned = from == to
            && shown < 2
            && !self.knows_old(indent)
            && self.step.is_some_and(|step| !depth.is_multiple_of(step));
        (is_whole && !is_aligned).then(|| to.to_string().repeat(depth))
    }

    /// Tabs for blanks, below lines that begin elsewhere.
    fn converted(&self, indent: &str) -> Option<String> {
        let ((old, file), (deeper_old, deeper_file)) = (self.known.first()?, self.known.get(1)?);
        let (step, step_file) = (deeper_old.strip_prefix(old)?, deeper_file.strip_prefix(file)?);
        let (from, to) = (step.chars().next()?, step_file.chars().next()?);
        let (wide, narrow) = (step.len(), step_file.len());
        // Of several tabs nobody knows whether each line has lost as many.
        let is_usual = from != to && wide.min(narrow) == 1 && matches!(wide.max(narrow), 2 | 3 | 4 | 8);
        let way = |indent: &str| {
            let more = indent.strip_prefix(old)?;
            let is_whole = (more.len() * narrow).is_multiple_of(wide) && more.chars().all(|one| one == from);
            is_whole.then(|| format!("{file}{}", to.to_string().repeat(more.len() * narrow / wide)))
        };
        let is_even = self.known.iter().all(|(old, file)| way(old).as_deref() == Some(file));
        way(indent).filter(|_| is_usual && is_even)
    }

    /// Tabs that the file has as so many blanks, and blanks behind them.
    fn expanded(&self, indent: &str) -> Option<String> {
        let has_tabs = self.known.iter().any(|(old, _)| old.contains('\t'));
        let fits = |width: &usize| self.known.iter().all(|(old, file)| expanded(old, *width) == *file);
        WIDTHS.into_iter().find(fits).filter(|_| has_tabs).map(|width| expanded(indent, width))
    }

    /// Blanks that the file has as tabs, and the rest behind them.
    fn tabbed(&self, indent: &str) -> Option<String> {
        let has_tabs = self.known.iter().any(|(_, file)| file.contains('\t'));
        let fits = |width: &usize| {
            self.known.iter().all(|(old, file)| tabbed(old, *width) == Some((*file).to_owned()))
        };
        let width = WIDTHS.into_iter().find(fits).filter(|_| has_tabs)?;
        tabbed(indent, width)
    }
}

/// How many blanks a tab usually is.
const WIDTHS: [usize; 3] = [4, 2, 8];

fn expanded(indent: &str, width: usize) -> String {
    indent.replace('\t', &" ".repeat(width))
}

fn tabbed(indent: &str, width: usize) -> Option<String> {
    let is_blank = indent.chars().all(|character| character == ' ');
    is_blank.then(|| "\t".repeat(indent.len() / width) + &" ".repeat(indent.len() % width))
}
