//! A person at a terminal is asked before something is taken back.

use super::World;
use crate::terminal::talking_on_a_terminal;
use serde_json::json;

impl World {
    /// Runs `undo` on a terminal, and answers each question with the next of these; `meanwhile` happens before the first.
    fn asked(&self, answers: &[&str], meanwhile: impl FnOnce()) -> (i32, String) {
        let (mut answers, mut meanwhile) = (answers.iter(), Some(meanwhile));
        let mut command = self.home.command(["undo", "--store", &self.store]);
        command.env("NO_COLOR", "1");
        let mut answered = 0;
        talking_on_a_terminal(command, |screen| {
            let questions = screen.matches("y or n: ").count();
            (questions > answered).then(|| {
                answered = questions;
                if let Some(meanwhile) = meanwhile.take() {
                    meanwhile();
                }
                answers.next().map_or_else(|| "\u{4}".to_owned(), |answer| format!("{answer}\n"))
            })
        })
    }
}

fn world() -> World {
    let world = World::new();
    world.write("a", "1\n");
    world.call("write", json!({"filePath": "a", "content": "2\n"}));
    world.call("write", json!({"filePath": "b", "content": "b\n"}));
    world
}

#[test]
fn yes_is_yes_in_any_case_and_nonsense_is_asked_again() {
    for (answers, is_done) in [
        (&["y"][..], true),
        (&["Y"], true),
        (&["Yes"], true),
        (&["YES"], true),
        (&["maybe", "what?", "yes"], true),
        (&["n"], false),
        (&["No"], false),
        (&["nonsense", "n"], false),
        (&[""], false),
        (&[], false),
    ] {
        let world = world();
        let (status, screen) = world.asked(answers, || ());
        assert_eq!(status, 0, "{answers:?}: {screen}");
        assert_eq!(!world.home.path("repo/b").exists(), is_done, "{answers:?}: {screen}");
        assert_eq!(screen.matches("y or n: ").count(), answers.len().max(1), "{answers:?}: {screen}");
        assert!(screen.contains("to undo: ") && screen.contains("  remove       b  +0 -1"), "{screen}");
        let last =
            if is_done { "undone: 1 name; `toolpost redo` takes this back" } else { "nothing was changed" };
        assert!(screen.trim_end().ends_with(last), "{answers:?}: {screen}");
    }
}

/// Nobody waits for a person who thinks, and what has happened meanwhile counts.
#[test]
fn nobody_waits_while_a_person_thinks() {
    let world = world();
    let other = || {
        let undone = world.works(&["undo"]);
        assert_eq!(undone["files"][0]["name"], "b", "{undone}");
    };
    let (status, screen) = world.asked(&["y"], other);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("calls were undone or made since this was shown"), "{screen}");
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "2\n");
    let (status, screen) = world.asked(&["y"], || world.write("a", "2\n3\n"));
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("files were changed since this was shown"), "{screen}");
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "2\n3\n");
}
