//! Asking on the terminal: what would happen, and exactly what each answer would grant.
//!
//! Where no person is at a terminal, every question is answered at once with nobody.

use crate::output::{Printer, Tone, on_terminal};
use std::io::{BufRead, IsTerminal};
use std::sync::Arc;
use toolpost_core::host::{BoxFuture, Confirm, Scope};
use toolpost_core::{Answer, Question};

/// Asks on the terminal; with `--yes`, only about protected files.
pub(crate) struct Terminal {
    says_yes: bool,
    has_person: bool,
    has_color: bool,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Terminal {
    pub(crate) fn new(says_yes: bool, printer: &Printer) -> Terminal {
        Terminal {
            says_yes,
            has_person: std::io::stdin().is_terminal() && printer.is_on_terminal(),
            has_color: printer.has_color(),
            turn: Arc::default(),
        }
    }
}

impl Terminal {
    /// Whether somebody can be asked.
    pub(crate) fn has_person(&self) -> bool {
        self.has_person
    }
}

impl Confirm for Terminal {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        if self.says_yes && !question.protected {
            return Box::pin(std::future::ready(Answer::Yes(Scope::Once)));
        }
        if !self.has_person {
            return Box::pin(std::future::ready(Answer::Nobody));
        }
        let (question, turn) = (question.clone(), Arc::clone(&self.turn));
        let printer = Printer::for_talk(self.has_color);
        Box::pin(async move {
            // Calls may run side by side; questions come one after the other.
            let _turn = turn.lock().await;
            // Reading a line cannot be given up; the process does not wait for this thread when it ends.
            tokio::task::spawn_blocking(move || ask(&printer, &question)).await.unwrap_or(Answer::Nobody)
        })
    }

    fn wants_preview(&self) -> bool {
        self.has_person
    }
}

fn ask(printer: &Printer, question: &Question) -> Answer {
    // The mark takes two columns. What would run is not broken into lines: it could be taken for several commands.
    printer.say_fitted(Tone::Question, &question.text, 2);
    for fact in &question.facts {
        // A command of several lines stays together.
        printer.say(Tone::Plain, &format!("  {}", fact.replace('\n', "\n      ")));
    }
    if let Some(preview) = &question.preview {
        printer.say(Tone::Note, &preview.lines().map(|line| format!("  | {line}\n")).collect::<String>());
    }
    let choices = choices(question);
    for (key, meaning, _) in &choices {
        printer.say_fitted(Tone::Plain, &format!("  {key}  {meaning}"), 5);
    }
    // What was typed before the question was shown is no answer to it.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    loop {
        printer.prompt("your answer: ");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Answer::No("no answer was given".to_owned()),
            Ok(_) => {}
        }
        match answer(question, &line) {
            Some(answer) => return answer,
            None => printer.say(Tone::Plain, NOT_AN_ANSWER),
        }
    }
}

/// What is said where something else was typed.
pub(crate) const NOT_AN_ANSWER: &str = "one of these letters, please; nothing has happened yet";

/// The answer that a line stands for; none where it stands for none.
pub(crate) fn answer(question: &Question, line: &str) -> Option<Answer> {
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    match word.to_lowercase().as_str() {
        "n" | "no" => Some(Answer::No(on_terminal(rest.trim()).into_owned())),
        // More words belong to another sentence than an answer: `u should look first`.
        _ if !rest.trim().is_empty() => None,
        "yes" => Some(Answer::Yes(Scope::Once)),
        word => {
            choices(question).into_iter().find(|(key, _, _)| *key == word).and_then(|(_, _, answer)| answer)
        }
    }
}

/// A question with everything that belongs to it, as one text.
pub(crate) fn spelled(question: &Question) -> String {
    let mut lines = vec![format!("? {}", question.text)];
    lines.extend(question.facts.iter().map(|fact| format!("  {}", fact.replace('\n', "\n      "))));
    let preview = question.preview.iter().flat_map(|preview| preview.lines());
    lines.extend(preview.map(|line| format!("  | {line}")));
    lines.extend(choices(question).iter().map(|(key, meaning, _)| format!("  {key}  {meaning}")));
    lines.join("\n")
}

/// The keys, what each does, and the answer it stands for.
fn choices(question: &Question) -> Vec<(&'static str, String, Option<Answer>)> {
    let mut choices = vec![("y", "yes, once".to_owned(), Some(Answer::Yes(Scope::Once)))];
    if question.has_dry_run {
        choices.push((
            "d",
            "dry run first: runs it where nothing lasts, without network, and asks again".to_owned(),
            Some(Answer::DryRun),
        ));
    }
    if let Some(remember) = &question.remember {
        let rules = remember.rules.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(" and ");
        if let Some(file) = &remember.session_file {
            choices.push((
                "s",
                format!("yes, for this session: writes allow {rules} to {file}"),
                Some(Answer::Yes(Scope::Session)),
            ));
        }
        if let Some(file) = &remember.project_file {
            choices.push((
                "p",
                format!("yes, always in this workspace: writes allow {rules} to {file}"),
                Some(Answer::Yes(Scope::Project)),
            ));
        }
        if let Some(file) = &remember.user_file {
            choices.push((
                "u",
                format!("yes, always everywhere: writes allow {rules} to {file}"),
                Some(Answer::Yes(Scope::User)),
            ));
        }
    }
    choices.push(("n", "no; a reason may follow, and the model gets it".to_owned(), None));
    choices
}
