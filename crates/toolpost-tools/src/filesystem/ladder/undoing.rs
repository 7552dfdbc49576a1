//! A text that was changed in one way from beginning to end: the change is undone, and what comes out has to be there to
//! the letter, as whole lines.
//!
//! Nothing is overlooked here beyond the one change that the old text shows, so these are tried before anything is.

mod copied;
mod escaped;
mod in_context;
mod rewrapped;
mod throughout;
mod wrapping;

pub(super) use copied::as_numbered;
pub(crate) use copied::without_colours;
pub(crate) use escaped::without_code_points;

use super::fold::Level;
use super::lines::{Lines, is_filled};
use super::places::Place;
use super::rivals::closer;
use super::{Effort, Found, Step, Stop, one};

/// Both texts without the change.
pub(super) struct Undone {
    old: String,
    new: String,
    /// Why it is unclear what the new text is to be, if it is.
    doubt: Option<&'static str>,
}

impl Undone {
    fn plain(old: String, new: String) -> Undone {
        Undone { old, new, doubt: None }
    }
}

/// One way of changing a text.
struct Undoing {
    /// The step that it is reported as.
    step: Step,
    /// Both texts without the change; `None` where the old one does not show it. The first argument is the file.
    undo: fn(&Lines<'_>, &str, &str) -> Option<Undone>,
}

const ALL: [Undoing; 29] = [
    Undoing { step: Step::LineEndings, undo: throughout::carriage_returns },
    Undoing { step: Step::LookAlikes, undo: throughout::zero_width },
    Undoing { step: Step::LookAlikes, undo: throughout::no_break_indentation },
    Undoing { step: Step::LookAlikes, undo: throughout::long_dash },
    Undoing { step: Step::LookAlikes, undo: throughout::typographic },
    Undoing { step: Step::LookAlikes, undo: throughout::ellipsis },
    Undoing { step: Step::Indentation, undo: throughout::rest_dedented },
    Undoing { step: Step::CodeFences, undo: wrapping::fence_end },
    Undoing { step: Step::Wrapping, undo: wrapping::quotes },
    Undoing { step: Step::Wrapping, undo: wrapping::tags },
    Undoing { step: Step::Wrapping, undo: wrapping::diff_marks },
    Undoing { step: Step::Wrapping, undo: wrapping::quote_marks },
    Undoing { step: Step::LookAlikes, undo: in_context::full_width },
    Undoing { step: Step::LookAlikes, undo: in_context::swapped_quotes },
    Undoing { step: Step::Blanks, undo: in_context::spaced_brackets },
    Undoing { step: Step::Escapes, undo: in_context::slashes },
    Undoing { step: Step::Escapes, undo: in_context::backticks },
    Undoing { step: Step::Escapes, undo: in_context::code_points },
    Undoing { step: Step::Wrapping, undo: copied::header },
    Undoing { step: Step::Wrapping, undo: copied::colours },
    Undoing { step: Step::Wrapping, undo: copied::cat_all },
    Undoing { step: Step::Escapes, undo: escaped::json_once },
    Undoing { step: Step::Escapes, undo: escaped::json_twice },
    Undoing { step: Step::Escapes, undo: escaped::json_thrice },
    Undoing { step: Step::Escapes, undo: escaped::twice },
    Undoing { step: Step::Escapes, undo: escaped::thrice },
    Undoing { step: Step::Escapes, undo: escaped::code_points },
    Undoing { step: Step::Escapes, undo: escaped::signs },
    Undoing { step: Step::Blanks, undo: rewrapped::lines },
];

/// The place of the old text without one of the changes.
pub(super) fn without(
    effort: &Effort,
    lines: &Lines<'_>,
    old: &str,
    new: &str,
) -> Result<Vec<Found>, (Step, Stop)> {
    let spent = effort.spend(lines.text.len());
    spent.map_err(|error| (Step::LineEndings, error.into()))?;
    for undoing in ALL {
        let failed = |stop: Stop| (undoing.step, stop);
        effort.spend(old.len() + new.len()).map_err(|error| failed(error.into()))?;
        let Some(undone) = (undoing.undo)(lines, old, new) else { continue };
        let found = match one(effort, lines, &undone.old, &undone.new, Level::Exact, undoing.step) {
            Ok(found) => found,
            Err(stop @ Stop::Effort(_)) => return Err(failed(stop)),
            // There several times, or in doubt: what else it may be is for the steps below.
            Err(_) => continue,
        };
        match (found.first(), undone.doubt) {
            (None, _) => {}
            (Some(first), Some(why)) => {
                return Err(failed(Stop::Doubt { line: lines.at(first.range.start) + 1, why }));
            }
            (Some(first), None) => {
                let (old, line) = (Lines::of(old), lines.at(first.range.start));
                let place = Place {
                    first: line,
                    start: first.range.start,
                    end: first.range.end,
                    has_last_ending: true,
                };
                // One line as it was given is like many; several are to the letter where they are meant.
                let is_several = old.all.iter().filter(|line| is_filled(line.text)).nth(1).is_some()
                    && old.all.len() == Lines::of(&undone.old).all.len();
                let closer = if is_several { closer(effort, lines, &old, &place) } else { Ok(None) };
                return match closer.map_err(|error| failed(error.into()))? {
                    Some(changed) => Err(failed(Stop::Elsewhere { line: line + 1, changed })),
                    None => Ok(found),
                };
            }
        }
    }
    Ok(Vec::new())
}
