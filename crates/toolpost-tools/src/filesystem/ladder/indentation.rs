//! From the indentation of the old text to that of the file.

/// What is said where the two do not correspond.
const UNEVEN: &str = "the indentation of oldString differs from the file's in another way from line to line";
const UNKNOWN: &str = "newString has an indentation for which oldString shows no counterpart in the file";

/// What an indentation in the old text is in the file.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    /// Each indentation that occurs, shortest first.
    known: Vec<(&'a str, &'a str)>,
    /// Each rule that all of them follow.
    rules: Vec<Rule<'a>>,
    /// By how much the lines of a block are usually deeper in the file.
    step: Option<usize>,
}

/// How an indentation of the file follows from one of the old text.
#[derive(Debug)]
enum Rule<'a> {
    /// So many blanks more.
    Deeper(&'a str),
    /// So many blanks fewer.
    Shallower(&'a str),
    /// Tabs for blanks, or steps of another width.
    Scaled(Scale, Shown),
    /// Tabs for blanks, below lines that begin elsewhere.
    Converted { old: &'a str, file: &'a str, scale: Scale },
    /// Tabs that the file has as so many blanks, and blanks behind them.
    Expanded(usize),
    /// So many blanks that the file has as a tab, and the rest behind them.
    Tabbed(usize),
}

/// So many of one character for so many of another.
#[derive(Debug, Clone, Copy)]
struct Scale {
    from: char,
    to: char,
    wide: usize,
    narrow: usize,
}

/// Whether one depth shows a scale, or several do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Once,
    Often,
}

impl Scale {
    /// So many characters; none where they are others, or not a whole number of them comes out.
    fn apply(self, indent: &str) -> Option<usize> {
        let is_whole = (indent.len() * self.narrow).is_multiple_of(self.wide)
            && indent.chars().all(|character| character == self.from);
        is_whole.then(|| indent.len() * self.narrow / self.wide)
    }

    /// Whether both widths are the same number of steps, as wide as people make them.
    fn is_usual(self) -> bool {
        const STEPS: [usize; 4] = [2, 3, 4, 8];
        let count = |wide: usize, step: usize| wide.is_multiple_of(step).then_some(wide / step);
        let counts = STEPS.map(|step| count(self.wide, step));
        STEPS.iter().any(|step| count(self.narrow, *step).is_some_and(|found| counts.contains(&Some(found))))
    }

    /// Whether a step of the file comes from a whole one. A single blank is none: a comment's stars stand one deeper.
    fn has_steps(self, step: usize) -> bool {
        (step * self.wide).is_multiple_of(self.narrow) && step * self.wide / self.narrow > 1
    }

    fn text(self, count: usize) -> String {
        self.to.to_string().repeat(count)
    }
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

    pub(super) fn even(mut known: Vec<(&'a str, &'a str)>) -> Result<Mapping<'a>, &'static str> {
        known.sort_by_key(|(old, _)| old.len());
        known.dedup();
        let rules = rules(&known);
        match known.is_empty() || !rules.is_empty() {
            true => Ok(Mapping { known, rules, step: None }),
            false => Err(UNEVEN),
        }
    }

    /// What an indentation may be in the file, by each of the rules that fit.
    fn ways(&self, indent: &str) -> impl Iterator<Item = String> {
        self.rules.iter().filter_map(move |rule| self.way(rule, indent))
    }

    fn way(&self, rule: &Rule<'_>, indent: &str) -> Option<String> {
        match rule {
            Rule::Deeper(more) => Some(format!("{more}{indent}")),
            Rule::Shallower(less) => indent.strip_prefix(less).map(str::to_owned),
            Rule::Scaled(scale, shown) => {
                let depth = scale.apply(indent)?;
                // What stands at no step of a block is aligned with something, and not wider or narrower with the steps.
                let is_no_step = |step: usize| !depth.is_multiple_of(step) || !scale.has_steps(step);
                let is_aligned = scale.from == scale.to
                    && *shown == Shown::Once
                    && self.step.is_some_and(is_no_step)
                    && !self.knows_old(indent);
                (!is_aligned).then(|| scale.text(depth))
            }
            Rule::Converted { old, file, scale } => {
                let depth = scale.apply(indent.strip_prefix(old)?)?;
                Some(format!("{file}{}", scale.text(depth)))
            }
            Rule::Expanded(width) => Some(expanded(indent, *width)),
            Rule::Tabbed(width) => tabbed(indent, *width),
        }
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
}

/// Every rule that all known indentations follow, each looked at once for each rule.
fn rules<'a>(known: &[(&'a str, &'a str)]) -> Vec<Rule<'a>> {
    [shifted(known), scaled(known), converted(known), widened(known), narrowed(known)]
        .into_iter()
        .flatten()
        .collect()
}

fn shifted<'a>(known: &[(&'a str, &'a str)]) -> Option<Rule<'a>> {
    let (old, file) = known.first()?;
    if let Some(more) = file.strip_suffix(old)
        && known.iter().all(|(old, file)| file.strip_prefix(more) == Some(old))
    {
        return Some(Rule::Deeper(more));
    }
    let less = old.strip_suffix(file)?;
    known.iter().all(|(old, file)| old.strip_prefix(less) == Some(file)).then_some(Rule::Shallower(less))
}

fn scaled<'a>(known: &[(&'a str, &'a str)]) -> Option<Rule<'a>> {
    let (old, file) = known.iter().find(|(old, file)| !old.is_empty() && !file.is_empty())?;
    let (from, to) = (old.chars().next()?, file.chars().next()?);
    let scale = Scale { from, to, wide: old.len(), narrow: file.len() };
    let fits = |(old, file): &(&str, &str)| {
        old.len() * scale.narrow == file.len() * scale.wide
            && old.chars().all(|character| character == from)
            && file.chars().all(|character| character == to)
    };
    // A single blank is no step of indentation but one that was lost or added, unless deeper lines show the same.
    let shown = known.iter().filter(|(old, file)| !old.is_empty() && old != file).count();
    let shown = if shown < 2 { Shown::Once } else { Shown::Often };
    let is_single = from == to && scale.wide.min(scale.narrow) < 2 && shown == Shown::Once;
    let is_usual = from != to || scale.is_usual();
    (!is_single && is_usual && known.iter().all(fits)).then_some(Rule::Scaled(scale, shown))
}

fn converted<'a>(known: &[(&'a str, &'a str)]) -> Option<Rule<'a>> {
    let ((old, file), (deeper_old, deeper_file)) = (known.first()?, known.get(1)?);
    let (step, step_file) = (deeper_old.strip_prefix(old)?, deeper_file.strip_prefix(file)?);
    let (from, to) = (step.chars().next()?, step_file.chars().next()?);
    let scale = Scale { from, to, wide: step.len(), narrow: step_file.len() };
    // Of several tabs nobody knows whether each line has lost as many.
    let is_usual = from != to
        && scale.wide.min(scale.narrow) == 1
        && matches!(scale.wide.max(scale.narrow), 2 | 3 | 4 | 8);
    let fits = |(one, other): &(&str, &str)| {
        let (Some(one), Some(other)) = (one.strip_prefix(old), other.strip_prefix(file)) else {
            return false;
        };
        scale.apply(one) == Some(other.len()) && other.chars().all(|character| character == to)
    };
    (is_usual && known.iter().all(fits)).then_some(Rule::Converted { old, file, scale })
}

fn widened<'a>(known: &[(&'a str, &'a str)]) -> Option<Rule<'a>> {
    let has_tabs = known.iter().any(|(old, _)| old.contains('\t'));
    let fits = |width: &usize| known.iter().all(|(old, file)| expanded(old, *width) == *file);
    WIDTHS.into_iter().find(fits).filter(|_| has_tabs).map(Rule::Expanded)
}

fn narrowed<'a>(known: &[(&'a str, &'a str)]) -> Option<Rule<'a>> {
    let has_tabs = known.iter().any(|(_, file)| file.contains('\t'));
    let fits = |width: &usize| known.iter().all(|(old, file)| tabbed(old, *width).as_deref() == Some(*file));
    WIDTHS.into_iter().find(fits).filter(|_| has_tabs).map(Rule::Tabbed)
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
