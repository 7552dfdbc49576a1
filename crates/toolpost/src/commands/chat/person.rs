//! A conversation with a person at a terminal. What they type is seen and kept, whatever the agent does meanwhile.

use super::asking::Pending;
use super::attach::{Attached, Said, named};
use super::conversation::{Answered, Conversation};
use super::slash::Slash;
use super::{Heading, act, fitting};
use crate::confirm::{NOT_AN_ANSWER, answer, spelled};
use crate::output::{Done, Editor, Field, Key, RawMode, Stage, keys_typed, on_terminal, shortened};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use toolpost_core::ToolError;
use toolpost_core::activation::Reason;

/// Lines of a message that stay on the screen.
const SHOWN_LINES: usize = 12;

/// The person's end of the conversation.
struct Desk {
    stage: Arc<Stage>,
    mode: RawMode,
    keys: UnboundedReceiver<Key>,
    /// Whether the terminal is gone, so that no more keys come.
    has_no_keys: bool,
    questions: UnboundedReceiver<Pending>,
    resized: Option<Signal>,
    ends: Option<(Signal, Signal, Signal)>,
    editor: Editor,
    /// What was entered while the agent was at work.
    queue: VecDeque<String>,
    /// What a call asks, the first one first. The answer has an editor of its own.
    asked: VecDeque<Pending>,
    reply: Editor,
    /// What happened before a question was shown, and is no answer to it.
    earlier: VecDeque<Happened>,
}

/// What happened at the desk.
enum Happened {
    /// A line was entered.
    Entered(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D with nothing written.
    Left,
    /// Somebody wants this process to end, or the terminal is gone.
    Ended,
}

/// How the conversation goes on after an answer.
#[derive(PartialEq, Eq)]
enum After {
    On,
    End,
}

pub(super) async fn talk(
    stage: &Arc<Stage>,
    mode: RawMode,
    questions: UnboundedReceiver<Pending>,
    mut conversation: Conversation,
    past: Vec<String>,
) -> u8 {
    let (interrupt, terminate, hangup) =
        (SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup());
    let ends = match (signal(interrupt), signal(terminate), signal(hangup)) {
        (Ok(one), Ok(two), Ok(three)) => Some((one, two, three)),
        _ => None,
    };
    let mut desk = Desk {
        stage: Arc::clone(stage),
        mode,
        keys: keys_typed(),
        has_no_keys: false,
        questions,
        resized: signal(SignalKind::window_change()).ok(),
        ends,
        editor: Editor::new(past),
        queue: VecDeque::new(),
        asked: VecDeque::new(),
        reply: Editor::default(),
        earlier: VecDeque::new(),
    };
    stage.note("/help shows what you can type; Ctrl-D ends the conversation");
    let mut attached = Vec::new();
    let mut after = After::On;
    if conversation.is_interrupted() {
        stage.note("the last answer was not finished; it goes on");
        after = desk.work(&mut conversation, None).await;
    }
    let mut has_warned = false;
    while after == After::On {
        let line = match desk.queue.pop_front() {
            Some(line) => line,
            None => match desk.happens(false).await {
                Happened::Entered(line) => line,
                Happened::Interrupted if !desk.editor.is_empty() => {
                    desk.editor.clear();
                    continue;
                }
                Happened::Interrupted if !has_warned => {
                    has_warned = true;
                    stage.note("press Ctrl-C once more to end the conversation");
                    continue;
                }
                Happened::Interrupted | Happened::Left | Happened::Ended => break,
            },
        };
        has_warned = false;
        after = desk.entered(&mut conversation, &mut attached, line).await;
    }
    stage.end();
    drop(desk);
    if conversation.has_begun() {
        let session = &conversation.session;
        stage.note(&format!("session {session} · `toolpost chat --resume {session}` goes on with it"));
    }
    0
}

impl Desk {
    /// Does what a line asks for.
    async fn entered(
        &mut self,
        conversation: &mut Conversation,
        attached: &mut Vec<Attached>,
        line: String,
    ) -> After {
        if line.trim().is_empty() {
            return After::On;
        }
        self.editor.remember(&line);
        self.show(false);
        self.stage.entered(&shortened(&line, SHOWN_LINES));
        if let Some(slash) = Slash::parse(&line) {
            return self.obey(conversation, attached, slash).await;
        }
        let named = named(conversation.context(), &line);
        match named.and_then(|(files, notes)| Ok((fitting(conversation, files)?, notes))) {
            Ok((files, notes)) => {
                notes.iter().for_each(|note| self.stage.note(&on_terminal(note)));
                let files: Vec<Attached> = attached.drain(..).chain(files).collect();
                let shown: Vec<String> = files.iter().map(Attached::shown).collect();
                if !shown.is_empty() {
                    self.stage.note(&format!("with {}", shown.join(", ")));
                }
                self.work(conversation, Some(Said::new(&line, files))).await
            }
            Err(error) => {
                self.fail(&error);
                // Nothing was sent; the text is there to be changed.
                self.editor.set(line);
                After::On
            }
        }
    }

    /// Does what a word for the chat itself asks for, while the person may type: a program that knows a key may ask for a
    /// password, and an undo waits for whoever changes the same file.
    async fn obey(
        &mut self,
        conversation: &mut Conversation,
        attached: &mut Vec<Attached>,
        slash: Slash,
    ) -> After {
        let is_undo = slash == Slash::Undo;
        let mut is_warned = false;
        let mut after = After::On;
        let redactor = Arc::clone(conversation.redactor());
        let acted = {
            let mut acted = Box::pin(act(slash, conversation, attached));
            loop {
                let happened = tokio::select! {
                    biased;
                    acted = &mut acted => break Some(acted),
                    happened = self.happens(false) => happened,
                };
                match happened {
                    Happened::Entered(line) => self.queue.push_back(line),
                    // The agent has to hear what was taken back.
                    Happened::Interrupted if is_undo && !is_warned => {
                        is_warned = true;
                        self.stage.note("an undo is not stopped; press Ctrl-C once more to end at once");
                    }
                    Happened::Interrupted if is_undo => self.leave_at_once(),
                    Happened::Interrupted => break None,
                    Happened::Left => {
                        after = After::End;
                        self.stage.note("the conversation ends after this");
                    }
                    Happened::Ended => {
                        after = After::End;
                        break None;
                    }
                }
            }
        };
        match acted {
            Some(Ok(Heading::Quit)) => return After::End,
            Some(Ok(Heading::On(text))) => self.stage.tell(&redactor.redact(&text)),
            Some(Err(error)) => self.fail(&error),
            None => self.stage.note("stopped"),
        }
        after
    }

    fn fail(&self, error: &ToolError) {
        self.stage.fail(&format!("error[{}]: {}", error.code(), error.message()));
    }

    /// Waits for an answer, while the person may type.
    async fn work(&mut self, conversation: &mut Conversation, said: Option<Said>) -> After {
        let stop = conversation.stopper();
        let mut is_stopped = false;
        let mut after = After::On;
        let answered = {
            let mut answer = Box::pin(async {
                match said {
                    Some(said) => conversation.say(said).await,
                    None => conversation.finish().await,
                }
            });
            loop {
                let happened = tokio::select! {
                    answered = &mut answer => break answered,
                    happened = self.happens(true) => happened,
                };
                match happened {
                    Happened::Entered(line) => self.queue.push_back(line),
                    Happened::Interrupted if !is_stopped => {
                        is_stopped = true;
                        self.stage.note("stopping; press Ctrl-C once more to end at once");
                        stop();
                        self.take_back();
                    }
                    Happened::Interrupted => {
                        self.leave_at_once();
                    }
                    Happened::Left => {
                        // With nothing written, Ctrl-D ends after this answer.
                        after = After::End;
                        self.stage.note("the conversation ends after this answer; Ctrl-C stops it");
                    }
                    Happened::Ended => {
                        after = After::End;
                        stop();
                    }
                }
            }
        };
        self.asked.clear();
        self.show(false);
        self.report(answered, conversation);
        after
    }

    /// What was entered and not sent yet is there to be changed.
    fn take_back(&mut self) {
        if !self.queue.is_empty() {
            let mut lines: Vec<String> = self.queue.drain(..).collect();
            lines.push(self.editor.text().to_owned());
            lines.retain(|line| !line.is_empty());
            self.editor.set(lines.join("\n"));
        }
    }

    /// Ends this process, and with it whatever runs.
    fn leave_at_once(&mut self) -> ! {
        self.stage.end();
        self.mode.give_back();
        std::process::exit(130);
    }

    fn report(&self, answered: Result<Answered, ToolError>, conversation: &Conversation) {
        match answered {
            Ok(answered) => {
                let redactor = conversation.redactor();
                if !answered.shown.is_printed && !answered.ended.text.trim().is_empty() {
                    self.stage.tell(&redactor.redact(&answered.ended.text));
                }
                let is_stopped = answered.ended.reason == Reason::Stopped;
                if let Some((code, message)) = answered.facts.why.as_ref().filter(|_| !is_stopped) {
                    self.stage.fail(&format!("error[{code}]: {}", redactor.redact(message)));
                }
                let stopped = if is_stopped { "stopped · " } else { "" };
                self.stage.note(&format!("{stopped}{}", answered.summary()));
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Waits until something happens that is more than a change of what is being written.
    async fn happens(&mut self, is_working: bool) -> Happened {
        if let Some(happened) = self.earlier.pop_front() {
            return happened;
        }
        loop {
            // Whoever asked may have been stopped.
            self.asked.retain(|pending| !pending.answer.is_closed());
            self.show(is_working);
            tokio::select! {
                key = self.keys.recv(), if !self.has_no_keys => {
                    let Some(key) = key else {
                        self.has_no_keys = true;
                        return Happened::Ended;
                    };
                    if let Some(happened) = self.key(key) {
                        return happened;
                    }
                }
                Some(pending) = self.questions.recv() => {
                    if self.asked.is_empty() {
                        while let Ok(key) = self.keys.try_recv() {
                            let happened = self.key(key);
                            self.earlier.extend(happened);
                        }
                        self.stage.tell(&spelled(&pending.question));
                    }
                    self.asked.push_back(pending);
                    if let Some(happened) = self.earlier.pop_front() {
                        return happened;
                    }
                }
                () = closed(self.asked.front_mut()) => {}
                () = heard(self.resized.as_mut()) => self.stage.resized(),
                () = ended(self.ends.as_mut()) => return Happened::Ended,
                () = self.stage.unwritable() => return Happened::Ended,
            }
        }
    }

    fn key(&mut self, key: Key) -> Option<Happened> {
        let is_reply = !self.asked.is_empty();
        let editor = if is_reply { &mut self.reply } else { &mut self.editor };
        match editor.key(key) {
            Done::Edited => None,
            Done::Entered(line) if is_reply => {
                self.reply(&line);
                None
            }
            Done::Entered(line) => Some(Happened::Entered(line)),
            Done::Other(Key::Interrupt) => {
                self.reply.clear();
                Some(Happened::Interrupted)
            }
            Done::Other(Key::EndOfInput) => Some(Happened::Left),
            Done::Other(Key::Suspend) => {
                self.stage.pause();
                self.mode.suspend();
                None
            }
            Done::Other(_) => {
                self.stage.redraw();
                None
            }
        }
    }

    /// Answers the first question.
    fn reply(&mut self, line: &str) {
        let Some(pending) = self.asked.front() else { return };
        match answer(&pending.question, line) {
            Some(answer) => {
                self.stage.entered(line.trim());
                if let Some(pending) = self.asked.pop_front() {
                    let _ = pending.answer.send(answer);
                }
                if let Some(next) = self.asked.front() {
                    self.stage.tell(&spelled(&next.question));
                    // What was typed before it was shown is no answer to it.
                    while self.keys.try_recv().is_ok() {}
                }
            }
            None => self.stage.tell(NOT_AN_ANSWER),
        }
    }

    fn show(&self, is_working: bool) {
        let (label, editor) = match self.asked.is_empty() {
            true => ("› ", &self.editor),
            false => ("your answer: ", &self.reply),
        };
        let field = Field {
            label: label.to_owned(),
            text: editor.text().to_owned(),
            cursor: editor.cursor(),
            waiting: self.queue.iter().cloned().collect(),
        };
        self.stage.write_into(field, is_working);
    }
}

/// Waits until nobody waits for the answer any more.
async fn closed(pending: Option<&mut Pending>) {
    match pending {
        Some(pending) => pending.answer.closed().await,
        None => std::future::pending().await,
    }
}

async fn heard(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

async fn ended(signals: Option<&mut (Signal, Signal, Signal)>) {
    match signals {
        Some((one, two, three)) => {
            tokio::select! {
                _ = one.recv() => {}
                _ = two.recv() => {}
                _ = three.recv() => {}
            }
        }
        None => std::future::pending().await,
    }
}
