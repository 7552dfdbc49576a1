//! Programs that open what their operands name and nothing else, with the options for which that holds.

use super::Creation;
use crate::shell::line::word::Word;
use toolpost_core::policy::PlaceUse;

/// What a command does with its words.
pub(super) struct Usage {
    /// The words that name files.
    pub(super) operands: Vec<Operand>,
    /// How much of a folder is meant.
    pub(super) scope: Scope,
}

/// A word that names a file.
pub(super) struct Operand {
    pub(super) at: usize,
    pub(super) used: PlaceUse,
    pub(super) creation: Creation,
}

/// How much an operand means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// What it names.
    One,
    /// What it names, with all that is in it.
    Trees,
}

#[derive(Clone, Copy)]
enum Does {
    Nothing,
    Reads,
    Changes,
    Removes,
    /// All operands but the last come to lie where the last is.
    Copies,
    /// The same, and they are gone from where they were.
    Moves,
    MakesFolders,
    /// The last operand becomes a link.
    Links,
}

struct Known {
    names: &'static [&'static str],
    does: Does,
    /// Operands in front that name no file: a pattern, a mode.
    skipped: usize,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options whose value names no file.
    valued: &'static str,
    /// Long options that open nothing, without a value or with one after `=`.
    long: &'static [&'static str],
    /// Letters that make it work on all that is in a folder.
    deep: &'static str,
}

const NONE: Known =
    Known { names: &[], does: Does::Reads, skipped: 0, flags: "", valued: "", long: &[], deep: "" };

const COLOR: &[&str] = &["color", "colour"];

const KNOWN: &[Known] = &[
    Known {
        names: &[
            ":",
            "true",
            "false",
            "pwd",
            "cd",
            "exit",
            "return",
            "break",
            "continue",
            "shift",
            "times",
            "dirs",
            "umask",
            "wait",
            "export",
            "local",
            "readonly",
            "declare",
            "typeset",
            "unset",
            "read",
            "set",
            "let",
            "trap",
            "popd",
            "pushd",
            "type",
            "bg",
            "fg",
            "disown",
            "getopts",
            "mapfile",
            "readarray",
            "alias",
            "jobs",
            "command",
        ],
        does: Does::Nothing,
        ..NONE
    },
    Known { names: &["echo", "printf"], does: Does::Nothing, ..NONE },
    Known {
        names: &[
            "basename", "dirname", "seq", "sleep", "yes", "whoami", "id", "uname", "nproc", "tr", "arch",
            "expr",
        ],
        does: Does::Nothing,
        ..NONE
    },
    Known { names: &["test", "[", "[["], does: Does::Nothing, ..NONE },
    Known { names: &["ls"], does: Does::Nothing, flags: "aAlh1FRrtSidnpsG", long: COLOR, ..NONE },
    Known { names: &["stat"], does: Does::Nothing, flags: "Lft", valued: "c", ..NONE },
    Known { names: &["readlink", "realpath"], does: Does::Nothing, flags: "femnsqz", ..NONE },
    Known { names: &["cat", "tac"], flags: "AbeEnstTuv", ..NONE },
    Known {
        names: &["head", "tail"],
        flags: "qv0123456789",
        valued: "nc",
        long: &["lines", "bytes"],
        ..NONE
    },
    Known { names: &["nl", "rev", "paste", "fold", "expand", "od", "hexdump"], ..NONE },
    Known { names: &["wc"], flags: "clLmw", ..NONE },
    Known {
        names: &[
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "b2sum",
            "cksum",
            "sum",
        ],
        flags: "btz",
        ..NONE
    },
    Known { names: &["base64", "base32"], flags: "di", valued: "w", ..NONE },
    Known { names: &["cmp", "comm"], flags: "bls123", ..NONE },
    Known { names: &["diff"], flags: "uqbBwiEN", long: COLOR, ..NONE },
    Known { names: &["cut"], flags: "szn", valued: "dfcb", ..NONE },
    Known {
        names: &["grep", "egrep", "fgrep"],
        skipped: 1,
        flags: "nivclLqhHowxFEPsaIrR",
        valued: "ABCm",
        long: COLOR,
        deep: "rR",
        ..NONE
    },
    Known { names: &["sort"], flags: "nrufbdhiMRVcCsz", valued: "kt", ..NONE },
    Known { names: &["touch"], does: Does::Changes, flags: "acm", ..NONE },
    Known { names: &["tee"], does: Does::Changes, flags: "ai", ..NONE },
    Known { names: &["rm"], does: Does::Removes, flags: "rRfvdi", deep: "rR", ..NONE },
    Known { names: &["unlink", "rmdir"], does: Does::Removes, flags: "pv", ..NONE },
    Known { names: &["truncate"], does: Does::Changes, flags: "co", valued: "s", long: &["size"], ..NONE },
    Known {
        names: &["mkdir"],
        does: Does::MakesFolders,
        flags: "pv",
        valued: "m",
        long: &["parents"],
        ..NONE
    },
    Known { names: &["cp"], does: Does::Copies, flags: "rRapfvnuiLPd", deep: "rRa", ..NONE },
    Known { names: &["mv"], does: Does::Moves, flags: "fvnui", deep: "fvnui", ..NONE },
    Known { names: &["ln"], does: Does::Links, flags: "sfnvr", ..NONE },
];

/// Programs of which every option is known: what they print is text.
fn opens_nothing(known: &Known) -> bool {
    matches!(known.does, Does::Nothing) && known.flags.is_empty()
}

/// Whether a program is one of those that open their operands.
pub(super) fn is_known(program: &str) -> bool {
    KNOWN.iter().any(|known| known.names.contains(&program) && known.skipped == 0)
}

/// Whether a program looks at the file that this word names, without opening it.
pub(super) fn looks_at(program: &str, words: &[Word], at: usize) -> bool {
    match program {
        "ls" | "stat" | "readlink" | "realpath" | "cd" | "pushd" => true,
        // `-e NAME`.
        "test" | "[" | "[[" => operator_before(words, at)
            .is_some_and(|operator| operator.len() == 2 && operator.starts_with('-')),
        _ => false,
    }
}

fn operator_before(words: &[Word], at: usize) -> Option<String> {
    at.checked_sub(1).and_then(|before| words[before].literal())
}

/// What a test wants to know of a file: whether it may be read or changed, which is decided as if it were.
fn tested(program: &str, words: &[Word], at: usize) -> PlaceUse {
    if !matches!(program, "test" | "[" | "[[") {
        return PlaceUse::Nothing;
    }
    match operator_before(words, at).as_deref() {
        Some("-r" | "-x") => PlaceUse::Read,
        Some("-w") => PlaceUse::Change,
        _ => PlaceUse::Nothing,
    }
}

/// Whether a word at the beginning of a command is none of a program that opens files by itself.
pub(super) fn is_of_shell(word: &str) -> bool {
    const KEYWORDS: [&str; 17] = [
        "if", "then", "else", "elif", "fi", "for", "do", "done", "while", "until", "case", "esac", "in",
        "exec", "function", "select", "time",
    ];
    KEYWORDS.contains(&word)
        || !word.contains(|letter: char| letter.is_alphanumeric())
        || word.starts_with('-')
        || KNOWN.iter().any(|known| known.names.contains(&word))
}

/// Whether a program only prints its operands.
pub(super) fn prints(program: &str) -> bool {
    matches!(program, "echo" | "printf")
}

/// What a command does with its words; none if that is not known, or if it opens more.
pub(super) fn usage(program: &str, words: &[Word]) -> Option<Usage> {
    let known = KNOWN.iter().find(|known| known.names.contains(&program))?;
    if opens_nothing(known) {
        let operand = |at| Operand { at, used: tested(program, words, at), creation: Creation::File };
        return Some(Usage { operands: (1..words.len()).map(operand).collect(), scope: Scope::One });
    }
    let mut operands = Vec::new();
    let mut scope = if matches!(known.does, Does::Moves) { Scope::Trees } else { Scope::One };
    let mut at = 1;
    let mut is_over = false;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.literal() else {
            if word.may_hide_an_option() && !is_over {
                return None;
            }
            operands.push(at - 1);
            continue;
        };
        if is_over || text == "-" || !text.starts_with('-') {
            operands.push(at - 1);
        } else if text == "--" {
            is_over = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            if !known.long.contains(&name) {
                return None;
            }
        } else {
            let letters = &text[1..];
            for (place, letter) in letters.char_indices() {
                if known.deep.contains(letter) {
                    scope = Scope::Trees;
                }
                if known.flags.contains(letter) {
                    continue;
                }
                if !known.valued.contains(letter) {
                    return None;
                }
                if letters[place + letter.len_utf8()..].is_empty() {
                    at += 1;
                }
                break;
            }
        }
    }
    let operands: Vec<usize> = operands.into_iter().skip(known.skipped).collect();
    // Without a file, these work in the folder where they are.
    let last = operands.last().copied();
    let operand = |at: usize| {
        let is_last = Some(at) == last && operands.len() > 1;
        let (used, creation) = match known.does {
            Does::Nothing => (PlaceUse::Nothing, Creation::File),
            Does::Reads => (PlaceUse::Read, Creation::Never),
            Does::Changes => (PlaceUse::Change, Creation::File),
            Does::Removes => (PlaceUse::Change, Creation::Never),
            Does::MakesFolders => (PlaceUse::Change, Creation::Folder),
            Does::Copies | Does::Moves if is_last => (PlaceUse::Change, Creation::Inside),
            Does::Copies => (PlaceUse::Read, Creation::Never),
            Does::Moves => (PlaceUse::Change, Creation::Never),
            Does::Links if is_last => (PlaceUse::Change, Creation::Link),
            Does::Links => (PlaceUse::Unknown, Creation::File),
        };
        Operand { at, used, creation }
    };
    let operands: Vec<Operand> = operands.iter().map(|at| operand(*at)).collect();
    // `-` is the input.
    let operands = operands.into_iter().filter(|operand| words[operand.at].literal().as_deref() != Some("-"));
    Some(Usage { operands: operands.collect(), scope })
}
