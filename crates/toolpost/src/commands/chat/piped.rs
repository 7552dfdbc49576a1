//! A conversation without a person: each line of standard input is a message, each answer is printed.

use super::attach::{Attached, Said, named};
use super::conversation::{Answered, Conversation};
use super::slash::Slash;
use super::{Heading, act};
use crate::cli::RunOutput;
use crate::commands::call::interrupted;
use crate::commands::run::{refuse, report, result, status};
use crate::output::{Printer, Tone, unwritable};
use std::io::BufRead;
use tokio::sync::mpsc;
use toolpost_core::ToolError;

/// Maximum number of bytes of a line.
const LONGEST_LINE: usize = 1 << 20;

pub(super) async fn talk(printer: &Printer, output: RunOutput, mut conversation: Conversation) -> u8 {
    let mut lines = lines();
    let mut last = 0;
    let mut attached = Vec::new();
    if conversation.is_interrupted() {
        last = answered(printer, output, &conversation.redactor().clone(), conversation.finish().await);
    }
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = interrupted() => return 130,
        };
        let Some(line) = line else { break };
        let line = match line {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => line,
            Err(error) => return refuse(printer, output, &error),
        };
        if let Some(slash) = Slash::parse(&line) {
            match act(slash, &mut conversation, &mut attached).await {
                Ok(Heading::Quit) => break,
                Ok(Heading::On(text)) => printer.say(Tone::Plain, &text),
                Err(error) => last = refuse(printer, output, &error),
            }
            continue;
        }
        let said = match files(printer, &conversation, &line) {
            Ok(files) => Said::new(&line, attached.drain(..).chain(files).collect()),
            Err(error) => {
                last = refuse(printer, output, &error);
                continue;
            }
        };
        let redactor = conversation.redactor().clone();
        let stop = conversation.stopper();
        let (answer, is_stopped) = {
            let mut answer = Box::pin(conversation.say(said));
            tokio::select! {
                answer = &mut answer => (answer, false),
                () = interrupted() => {
                    stop();
                    (answer.await, true)
                }
            }
        };
        last = answered(printer, output, &redactor, answer);
        if is_stopped {
            return 130;
        }
        if printer.has_lost_reader() || printer.has_lost_data() {
            return 1;
        }
    }
    last
}

fn files(printer: &Printer, conversation: &Conversation, line: &str) -> Result<Vec<Attached>, ToolError> {
    let (files, notes) = named(conversation.context(), line)?;
    notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {note}")));
    super::fitting(conversation, files)
}

/// Prints an answer. Returns the exit status that it stands for.
fn answered(
    printer: &Printer,
    output: RunOutput,
    redactor: &toolpost_core::host::Redactor,
    answer: Result<Answered, ToolError>,
) -> u8 {
    let Answered { ended, facts, shown, .. } = match answer {
        Ok(answer) => answer,
        Err(error) => return refuse(printer, output, &error),
    };
    if let Some(error) = &shown.lost {
        printer.say(Tone::Error, &unwritable(error));
        return 1;
    }
    match output {
        RunOutput::Text => {
            let text = redactor.redact(&ended.text).into_owned();
            if !shown.is_printed && !text.trim().is_empty() {
                printer.data(&text);
            }
            report(printer, &ended, &facts, redactor);
        }
        RunOutput::Json | RunOutput::StreamJson => {
            printer.json(&redactor.redact_json(result(&ended, &facts, output)));
        }
    }
    status(ended.reason, false)
}

/// The lines of standard input, from a thread of its own, which nobody waits for.
fn lines() -> mpsc::Receiver<Result<String, ToolError>> {
    use std::io::Read;
    use toolpost_core::Code;
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = stdin.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line);
            let line = match read {
                Ok(0) => return,
                Ok(_) if line.len() > LONGEST_LINE => {
                    let message = format!("a line of standard input has more than {LONGEST_LINE} bytes");
                    Err(ToolError::new(Code::ValidationError, message))
                }
                Ok(_) => Ok(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()),
                Err(error) => {
                    let message = format!("standard input cannot be read: {error}");
                    Err(ToolError::new(Code::ValidationError, message))
                }
            };
            let is_over = line.is_err();
            if send.blocking_send(line).is_err() || is_over {
                return;
            }
        }
    });
    lines
}
