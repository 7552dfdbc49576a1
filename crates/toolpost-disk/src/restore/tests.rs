//! Saves by somebody else in the middle of an exchange.

#![expect(clippy::disallowed_methods, reason = "tests look at the disk beside the workspace")]

use super::{Exact, Moment};
use crate::Disk;
use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::workspace::WorkspacePath;

type Save = Box<dyn FnMut(Moment)>;

thread_local! {
    static SAVE: RefCell<Option<Save>> = const { RefCell::new(None) };
}

pub(super) fn moment(moment: Moment) {
    // What is called may come here itself.
    let save = SAVE.with(|save| save.borrow_mut().take());
    if let Some(mut save) = save {
        save(moment);
        SAVE.with(|place| *place.borrow_mut() = Some(save));
    }
}

fn file(content: &str) -> Exact {
    Exact::File { content: Arc::from(content.as_bytes()), mode: Some(0o644) }
}

/// Exchanges `old` for `new` while `save` is called at each moment, with how many of its kind there were before. Returns
/// whether it was done, and what all files of the folder hold.
fn check(new: &Exact, mut save: impl FnMut(&Path, Moment, usize) + 'static) -> (bool, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "old").unwrap();
    let disk = Disk::open([folder.path().to_owned()]).unwrap();
    let mut counts = [0, 0];
    SAVE.with(|place| {
        *place.borrow_mut() = Some(Box::new(move |moment| {
            let count = &mut counts[usize::from(moment == Moment::Back)];
            save(&path, moment, *count);
            *count += 1;
        }));
    });
    let done = disk.exchange(&WorkspacePath::new("a"), &file("old"), new);
    SAVE.with(|place| place.borrow_mut().take());
    let mut all: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    all.sort();
    (done.is_ok(), all)
}

/// As an editor does: written beside, then renamed.
fn replace(path: &Path, content: &str) {
    let beside = path.with_extension("swp");
    std::fs::write(&beside, content).unwrap();
    std::fs::rename(beside, path).unwrap();
}

/// What was swapped out: the file beside it.
fn swapped_out(path: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|other| other != path).unwrap()
}

fn append(path: &Path, text: &str) {
    std::fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn nothing_happens_beside_it() {
    assert_eq!(check(&file("new"), |_, _, _| {}), (true, vec!["new".to_owned()]));
    assert_eq!(check(&Exact::Absent, |_, _, _| {}), (true, vec![]));
}

/// Through a descriptor that was opened before: the bytes go to what was swapped out.
#[test]
fn guarantee_35_an_append_to_what_was_swapped_out_is_put_back() {
    for new in [file("new"), Exact::Absent] {
        for at in 0..2 {
            let saved = check(&new, move |path, moment, count| {
                if moment == Moment::Swapped && count == at {
                    append(&swapped_out(path), " mine");
                }
            });
            assert_eq!(saved, (false, vec!["old mine".to_owned()]), "{new:?} {at}");
        }
    }
}

#[test]
fn guarantee_35_a_save_while_it_is_put_back_stays() {
    // The last save has the name; what it has replaced may be gone.
    for saves in 1..4 {
        let (is_done, all) = check(&file("new"), move |path, moment, count| match moment {
            Moment::Swapped => append(&swapped_out(path), " mine"),
            Moment::Back if count < saves => replace(path, &format!("save {count}")),
            Moment::Back => {}
        });
        assert!(!is_done);
        assert_eq!(all, [format!("save {}", saves - 1)]);
    }
    // Where there was nothing to swap with, both are kept.
    let (is_done, all) = check(&Exact::Absent, |path, moment, _| match moment {
        Moment::Swapped => append(&swapped_out(path), " mine"),
        Moment::Back => replace(path, "saved"),
    });
    assert_eq!((is_done, all), (false, vec!["old mine".to_owned(), "saved".to_owned()]));
}
