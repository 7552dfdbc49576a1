//! What models do to patches.

use super::{Class, Kind, Make, NoisyPatch, PatchPlace, indentation, is_blank};
use crate::edits::patch::{Block, Line, PATH, Patch, envelope, header, unified, unified_with};
use crate::edits::random::Random;

type Maker = fn(&Patch<'_>, &mut Random) -> Option<NoisyPatch>;

const fn decidable(name: &'static str, reason: &'static str, make: Maker) -> Kind {
    Kind { name, class: Class::Decidable, reason, make: Make::Patch(make) }
}

const fn contradictory(name: &'static str, reason: &'static str, make: Maker) -> Kind {
    Kind { name, class: Class::Contradictory, reason, make: Make::Patch(make) }
}

const fn lossy(name: &'static str, reason: &'static str, make: Maker) -> Kind {
    Kind { name, class: Class::Lossy, reason, make: Make::Patch(make) }
}

pub(super) const KINDS: &[Kind] = &[
    decidable("patch-none", "a unified diff as it should be", |patch, _| by_header(unified(&patch.blocks))),
    decidable("patch-envelope", "`*** Begin Patch` as it should be, without line numbers", |patch, _| {
        by_text(envelope(&patch.blocks, |_| "@@".to_owned()))
    }),
    decidable("patch-git", "the header lines of git stand above", |patch, _| {
        let top = format!("diff --git a/{PATH} b/{PATH}\nindex 1234567..89abcde 100644\n");
        by_header(top + &unified(&patch.blocks))
    }),
    decidable("patch-plain-names", "the names have no `a/` and `b/`", |patch, _| {
        let text = unified(&patch.blocks);
        by_header(text.replacen("--- a/", "--- ", 1).replacen("+++ b/", "+++ ", 1))
    }),
    decidable(
        "patch-offset",
        "all line numbers are off by the same: the text is still unique",
        |patch, random| {
            let shift = 1 + random.below(40);
            by_text(unified_with(&patch.blocks, |_, block| {
                let [old_start, old, new_start, new] = block.numbers();
                header([old_start + shift, old, new_start + shift, new])
            }))
        },
    ),
    decidable("patch-numbers-one", "every header says line 1: the text is still unique", |patch, _| {
        by_text(unified_with(&patch.blocks, |_, block| {
            let [_, old, _, new] = block.numbers();
            header([1, old, 1, new])
        }))
    }),
    decidable(
        "patch-no-numbers",
        "the headers have no numbers: the text is still unique",
        |patch, random| {
            let bare = ["@@", "@@ ... @@", "@@ @@"][random.below(3)];
            by_text(unified_with(&patch.blocks, |_, _| bare.to_owned()))
        },
    ),
    decidable("patch-counts", "the line counts of every header are wrong", |patch, random| {
        let (more, less) = (1 + random.below(4), random.below(3));
        by_header(unified_with(&patch.blocks, |_, block| {
            let [old_start, old, new_start, new] = block.numbers();
            header([old_start, old + more, new_start, new.saturating_sub(less)])
        }))
    }),
    decidable("patch-counts-last", "the line counts of the last header are wrong", |patch, random| {
        let (more, less) = (random.below(4), 1 + random.below(3));
        let last = patch.blocks.len() - 1;
        by_header(unified_with(&patch.blocks, |index, block| {
            let [old_start, old, new_start, new] = block.numbers();
            let (more, less) = if index == last { (more, less) } else { (0, 0) };
            header([old_start, old.saturating_sub(less).max(1), new_start, new + more])
        }))
    }),
    decidable("patch-order", "the hunks stand in another order: each still names its lines", |patch, _| {
        let mut blocks = patch.blocks.clone();
        blocks.reverse();
        if blocks.len() < 2 { None } else { by_header(unified(&blocks)) }
    }),
    decidable("patch-blank-lines", "blank context lines have lost their leading space", |patch, _| {
        let text = unified(&patch.blocks);
        let stripped = text.replace("\n \n", "\n\n").replace("\n \n", "\n\n");
        if stripped == text { None } else { by_header(stripped) }
    }),
    decidable("patch-trailing", "spaces after the context lines", |patch, _| {
        by_header(unified(&staying(patch, |line| format!("{line}  "))))
    }),
    decidable("patch-crlf-file", "the file has CRLF, the patch LF: new lines get CRLF too", |patch, _| {
        let mut noisy = by_header(unified(&patch.blocks))?;
        noisy.ending = "\r\n";
        // One line alone does not show how lines end.
        (patch.before.len() > 1).then_some(noisy)
    }),
    decidable("patch-crlf", "the patch has CRLF, the file LF", |patch, _| {
        by_header(unified(&patch.blocks).replace('\n', "\r\n"))
    }),
    decidable("patch-crlf-envelope", "a `*** Begin Patch` with CRLF, the file LF", |patch, _| {
        by_text(envelope(&patch.blocks, |_| "@@".to_owned()).replace('\n', "\r\n"))
    }),
    decidable("patch-fence", "a code fence around the patch", |patch, _| {
        by_header(format!("```diff\n{}```\n", unified(&patch.blocks)))
    }),
    decidable("patch-prose", "a sentence above the patch", |patch, _| {
        by_header(format!("Here is the change:\n\n{}", unified(&patch.blocks)))
    }),
    decidable("patch-unended", "`*** End Patch` is missing", |patch, _| {
        by_text(envelope(&patch.blocks, |_| "@@".to_owned()).replace("*** End Patch\n", ""))
    }),
    decidable("patch-section", "each `@@` names a line above the hunk", |patch, _| {
        let above = |block: &Block| {
            let lines = &patch.before[..block.old_start];
            let line = lines
                .iter()
                .rev()
                .find(|line| line.contains("fn ") || line.contains("def ") || line.contains("function"));
            line.map_or("@@".to_owned(), |line| format!("@@ {}", line.trim()))
        };
        by_text(envelope(&patch.blocks, above))
    }),
    decidable(
        "patch-envelope-numbers",
        "`*** Begin Patch` with the headers of a unified diff",
        |patch, _| by_header(envelope(&patch.blocks, |block| header(block.numbers()))),
    ),
    decidable("patch-no-context", "no lines of context at all, with right headers", |patch, _| {
        by_header(unified(&without_context(patch)))
    }),
    decidable("patch-only-plus", "a hunk of plus lines alone: its header tells where", |patch, _| {
        let blocks = without_context(patch);
        let has_insertion = blocks.iter().any(|block| block.lines.iter().all(|line| line.mark == '+'));
        if has_insertion { by_header(unified(&blocks)) } else { None }
    }),
    lossy(
        "patch-only-plus-bare",
        "a hunk of plus lines alone, and no numbers: its place is lost",
        |patch, _| {
            let blocks = without_context(patch);
            let has_insertion = blocks.iter().any(|block| block.lines.iter().all(|line| line.mark == '+'));
            if has_insertion { by_text(envelope(&blocks, |_| "@@".to_owned())) } else { None }
        },
    ),
    contradictory(
        "patch-only-plus-before",
        "a hunk of plus lines alone and without numbers, above another hunk: so it is not for the end of the file",
        |patch, _| {
            let mut blocks = patch.blocks.clone();
            let last = blocks.len() - 1;
            let is_insertion = |block: &&mut Block| block.lines.iter().all(|line| line.mark != '-');
            let block = blocks[..last].iter_mut().find(is_insertion)?;
            block.lines.retain(|line| line.mark == '+');
            by_header(envelope(&blocks, |_| "@@".to_owned()))
        },
    ),
    decidable("patch-plus-first", "the added lines stand above the removed lines", |patch, _| {
        let mut blocks = patch.blocks.clone();
        for block in &mut blocks {
            for group in block.lines.chunk_by_mut(|one, other| (one.mark == ' ') == (other.mark == ' ')) {
                group.sort_by_key(|line| line.mark != '+');
            }
        }
        let is_changed = blocks.iter().zip(&patch.blocks).any(|(one, other)| one.lines != other.lines);
        if is_changed { by_header(unified(&blocks)) } else { None }
    }),
    contradictory(
        "patch-drift",
        "a word of a context line differs: the header and the rest tell the place",
        |patch, random| {
            let mut blocks = patch.blocks.clone();
            let block = &mut blocks[0];
            let staying: Vec<usize> =
                (0..block.lines.len()).filter(|index| block.lines[*index].mark == ' ').collect();
            let index = *random.pick(&staying)?;
            block.lines[index].text = super::drift::other_word(&block.lines[index].text, random)?;
            let mut noisy = by_header(unified(&blocks))?;
            noisy.place = PatchPlace::MostLines;
            Some(noisy)
        },
    ),
    decidable(
        "patch-twin",
        "the lines are in the file twice: the header tells which are meant",
        |patch, _| with_twin(patch, 60, unified(&patch.blocks), None),
    ),
    decidable(
        "patch-twin-near",
        "a twin is far away, the header is off by three lines at most",
        |patch, random| {
            let shift = 1 + random.below(3);
            let text = unified_with(&patch.blocks, |_, block| {
                let [old_start, old, new_start, new] = block.numbers();
                header([old_start + shift, old, new_start + shift, new])
            });
            with_twin(patch, 60, text, None)
        },
    ),
    contradictory(
        "patch-twin-stale",
        "the named lines have changed in one word, a twin far away fits: refuse or keep",
        |patch, random| {
            let staying = |line: &&Line| line.mark == ' ' && line.text.contains(char::is_alphabetic);
            let block = &patch.blocks[0];
            let line = block.lines.iter().find(staying)?;
            let index = block.old_lines().iter().position(|text| *text == line.text)?;
            let changed = super::drift::other_word(&line.text, random)?;
            with_twin(patch, 60, unified(&patch.blocks), Some((block.old_start + index, changed)))
        },
    ),
    decidable("patch-dedent", "the lines of each hunk have lost their common indentation", |patch, _| {
        let mut blocks = patch.blocks.clone();
        for block in &mut blocks {
            let texts = block.lines.iter().map(|line| &line.text).filter(|text| !is_blank(text));
            let common = texts.map(|text| indentation(text)).reduce(|one, other| {
                let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
                &one[..same]
            });
            let cut = common.unwrap_or_default().to_owned();
            for line in &mut block.lines {
                line.text = line.text.strip_prefix(&cut).unwrap_or_default().to_owned();
            }
        }
        let is_changed = blocks.iter().zip(&patch.blocks).any(|(one, other)| one.lines != other.lines);
        let shows = patch
            .blocks
            .iter()
            .all(|block| block.old_lines().iter().filter(|line| !is_blank(line)).count() > 1);
        if is_changed { Some(by_text(unified(&blocks))?.unless(!shows)) } else { None }
    }),
    decidable("patch-mark-space", "a space follows each mark", |patch, _| {
        let mut blocks = patch.blocks.clone();
        for line in blocks.iter_mut().flat_map(|block| &mut block.lines) {
            line.text.insert(0, ' ');
        }
        by_text(unified(&blocks))
    }),
    decidable("patch-tabs", "the file has tabs, the patch four spaces for each", |patch, _| {
        let mut blocks = patch.blocks.clone();
        let lines =
            || patch.blocks.iter().flat_map(|block| &block.lines).filter(|line| !is_blank(&line.text));
        let is_tabbed = |line: &Line| indentation(&line.text).bytes().all(|byte| byte == b'\t');
        if !lines().all(is_tabbed) || !lines().any(|line| line.text.starts_with('\t')) {
            return None;
        }
        for line in blocks.iter_mut().flat_map(|block| &mut block.lines) {
            line.text = line.text.replacen('\t', "    ", indentation(&line.text).len());
        }
        // A hunk whose old lines show no tab is exact, and its new lines say spaces.
        let is_shown =
            blocks.iter().zip(&patch.blocks).all(|(one, other)| one.old_lines() != other.old_lines());
        Some(by_text(unified(&blocks))?.unless(!is_shown))
    }),
    decidable("patch-quotes", "typographic quotes in the context lines", |patch, _| {
        by_header(unified(&staying(patch, |line| line.replace('"', "“").replace('\'', "’"))))
    }),
    decidable(
        "patch-entities",
        "entities of HTML in the whole patch, whose lines have none of their own",
        |patch, _| {
            let mut blocks = patch.blocks.clone();
            let has_own = blocks
                .iter()
                .flat_map(|block| &block.lines)
                .any(|line| line.text.contains("&lt") || line.text.contains("&amp"));
            for line in blocks.iter_mut().flat_map(|block| &mut block.lines) {
                line.text = line.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            }
            let is_shown =
                blocks.iter().zip(&patch.blocks).all(|(one, other)| one.old_lines() != other.old_lines());
            if is_shown { Some(by_header(unified(&blocks))?.unless(has_own)) } else { None }
        },
    ),
    decidable("patch-line-numbers", "each line of the file has its number before it", |patch, _| {
        let mut blocks = patch.blocks.clone();
        for block in &mut blocks {
            let mut number = block.old_start;
            for line in block.lines.iter_mut().filter(|line| line.mark != '+') {
                number += 1;
                line.text = format!("{number}: {}", line.text);
            }
        }
        by_header(unified(&blocks))
    }),
    decidable("patch-blank-lost", "a blank context line is missing", |patch, random| {
        let mut blocks = patch.blocks.clone();
        let index = random.below(blocks.len());
        let lines = &mut blocks[index].lines;
        // Next to a change, it would be unclear on which side of it the blank line was.
        let stays = |line: &Line| line.mark == ' ' && !is_blank(&line.text);
        let inner = (1..lines.len().saturating_sub(1)).find(|index| {
            let line = &lines[*index];
            line.mark == ' ' && is_blank(&line.text) && stays(&lines[index - 1]) && stays(&lines[index + 1])
        })?;
        lines.remove(inner);
        by_header(unified(&blocks))
    }),
    decidable("patch-escaped", "`\\n` for the line endings of a patch without backslashes", |patch, _| {
        let text = unified(&patch.blocks);
        if text.contains('\\') { None } else { by_header(text.replace('\n', "\\n")) }
    }),
];

/// The place is told by the numbers of the headers, and by the text.
#[expect(clippy::unnecessary_wraps, reason = "it ends the functions of the table")]
fn by_header(text: String) -> Option<NoisyPatch> {
    Some(NoisyPatch { text, file: None, ending: "\n", place: PatchPlace::Header, is_decidable: true })
}

/// The place is told by the text alone.
#[expect(clippy::unnecessary_wraps, reason = "it ends the functions of the table")]
fn by_text(text: String) -> Option<NoisyPatch> {
    Some(NoisyPatch { text, file: None, ending: "\n", place: PatchPlace::Text, is_decidable: true })
}

/// The hunks with a change in the context lines.
fn staying(patch: &Patch<'_>, change: impl Fn(&str) -> String) -> Vec<Block> {
    let mut blocks = patch.blocks.clone();
    for line in blocks.iter_mut().flat_map(|block| &mut block.lines).filter(|line| line.mark == ' ') {
        line.text = change(&line.text);
    }
    blocks
}

/// The hunks without context lines: each run of changed lines is a hunk of its own.
fn without_context(patch: &Patch<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for block in &patch.blocks {
        let (mut old, mut new) = (block.old_start, block.new_start);
        for group in block.lines.chunk_by(|one, other| (one.mark == ' ') == (other.mark == ' ')) {
            if group[0].mark != ' ' {
                blocks.push(Block { old_start: old, new_start: new, lines: group.to_vec() });
            }
            old += group.iter().filter(|line| line.mark != '+').count();
            new += group.iter().filter(|line| line.mark != '-').count();
        }
    }
    blocks
}

/// The file has a twin of the first hunk's lines at its end, `distance` lines away at least, and perhaps another line at
/// the true place.
fn with_twin(
    patch: &Patch<'_>,
    distance: usize,
    text: String,
    changed: Option<(usize, String)>,
) -> Option<NoisyPatch> {
    let old = patch.blocks[0].old_lines();
    let last = patch.blocks.last()?;
    let filler = |index: usize| format!("// filler {index}");
    let away = patch.before.len() - (last.old_start + last.old_lines().len()).min(patch.before.len());
    let twin: Vec<String> = (0..distance.saturating_sub(away)).map(filler).chain(old).collect();
    let (mut before, mut truth) = (patch.before.to_vec(), patch.truth.clone());
    if let Some((index, line)) = changed {
        // Blocks begin with the first hunk of the patch, so what lies above the change is where it was.
        let position =
            truth.iter().skip(patch.blocks[0].new_start).position(|other| *other == before[index])?;
        truth[patch.blocks[0].new_start + position].clone_from(&line);
        before[index] = line;
    }
    before.extend_from_slice(&twin);
    truth.extend_from_slice(&twin);
    let mut noisy = by_header(text)?;
    noisy.file = Some((before, truth));
    Some(noisy)
}
