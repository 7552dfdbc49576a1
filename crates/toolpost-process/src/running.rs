//! A command that runs: its pipes, its end.

use crate::capture::Capture;
use crate::command::{Command, Stdin};
use crate::ended::Ended;
use crate::error::Error;
use crate::platform::{self, Control, Started};
use std::io::Write;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What a command's input is written to.
pub type PipeSender = platform::Sender;

/// What a command's output is read from.
pub type PipeReceiver = platform::Receiver;

/// How long the last output is waited for when the command and all it started have ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How much of an output is read at a time.
const PIECE: usize = 64 * 1024;

/// What is read at first: most commands write less.
const FIRST_PIECE: usize = 8 * 1024;

/// A command that was started. Dropping this ends it and all that it started.
#[derive(Debug)]
pub struct Running {
    control: Control,
    stdin: Option<PipeSender>,
    to_write: Option<Vec<u8>>,
    stdout: Option<PipeReceiver>,
    stderr: Option<PipeReceiver>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Result<Running, Error> {
        let to_write = match std::mem::take(&mut command.stdin) {
            Stdin::Bytes(bytes) => {
                command.stdin = Stdin::Open;
                Some(bytes)
            }
            other => {
                command.stdin = other;
                None
            }
        };
        let Started { control, stdin, stdout, stderr } = crate::platform::start(command)?;
        Ok(Running { control, stdin, to_write, stdout: Some(stdout), stderr })
    }

    /// What to write to, if the command was started with an open standard input.
    pub fn take_stdin(&mut self) -> Option<PipeSender> {
        match self.to_write {
            Some(_) => None,
            None => self.stdin.take(),
        }
    }

    /// The standard output, or both outputs if they are together.
    pub fn take_stdout(&mut self) -> Option<PipeReceiver> {
        self.stdout.take()
    }

    /// The standard error, if the outputs are apart.
    pub fn take_stderr(&mut self) -> Option<PipeReceiver> {
        self.stderr.take()
    }

    /// Asks for the end of the command and of all it started: politely first, then hard. Wait for it with
    /// [`Running::wait`].
    pub fn end(&self) {
        self.control.end();
    }

    /// Something that can ask for the end while this is being waited for.
    pub fn ender(&self) -> Ender {
        Ender(self.control.ender())
    }

    /// Waits until the command and all it started have ended.
    pub async fn wait(&mut self) -> Result<Ended, Error> {
        self.control.wait().await
    }

    /// Hands the bytes to the command's input, takes its output into the capture, and waits for its end. `seen` gets
    /// each piece as it comes.
    ///
    /// A process that left the command's reach with the output's pipe in its hands is not waited for.
    pub async fn collect<W: Write>(
        &mut self,
        capture: &mut Capture<W>,
        mut seen: impl FnMut(&[u8]),
    ) -> Result<Ended, Error> {
        let bytes = self.to_write.take();
        let stdin = match bytes.is_some() {
            true => self.stdin.take(),
            false => None,
        };
        let mut feeding = std::pin::pin!(feed(stdin, bytes));
        let mut is_fed = false;
        let (mut stdout, mut stderr) = (self.stdout.take(), self.stderr.take());
        let (mut first, mut second) =
            (vec![0; FIRST_PIECE], vec![0; if stderr.is_some() { FIRST_PIECE } else { 0 }]);
        let mut ended = None;
        let mut patience = std::pin::pin!(tokio::time::sleep(Duration::from_secs(3600)));
        loop {
            if stdout.is_none() && stderr.is_none() && ended.is_some() {
                break;
            }
            tokio::select! {
                biased;
                count = next(&mut stdout, &mut first), if stdout.is_some() => match count {
                    0 => stdout = None,
                    count => {
                        capture.push(&first[..count]);
                        seen(&first[..count]);
                        grow(&mut first, count);
                    }
                },
                count = next(&mut stderr, &mut second), if stderr.is_some() => match count {
                    0 => stderr = None,
                    count => {
                        capture.push(&second[..count]);
                        seen(&second[..count]);
                        grow(&mut second, count);
                    }
                },
                end = self.control.wait(), if ended.is_none() => {
                    ended = Some(end?);
                    patience.as_mut().reset(tokio::time::Instant::now() + LAST_WORDS);
                }
                () = &mut feeding, if !is_fed => is_fed = true,
                () = &mut patience, if ended.is_some() => break,
            }
        }
        ended.ok_or_else(|| Error::launcher("the command's end was not reported"))
    }
}

/// Asks for the end of a command; see [`Running::ender`].
#[derive(Debug, Clone)]
pub struct Ender(platform::Ender);

impl Ender {
    /// Asks for the end of the command and of all it started.
    pub fn end(&self) {
        self.0.end();
    }
}

/// A buffer that was filled is made large.
fn grow(buffer: &mut Vec<u8>, filled: usize) {
    if filled == buffer.len() && filled < PIECE {
        buffer.resize(PIECE, 0);
    }
}

/// The next bytes of a pipe; none at its end.
async fn next(from: &mut Option<PipeReceiver>, buffer: &mut [u8]) -> usize {
    match from {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => 0,
    }
}

/// Writes what the command is to read; a command that does not read it all is no error.
async fn feed(stdin: Option<PipeSender>, bytes: Option<Vec<u8>>) {
    if let (Some(mut stdin), Some(bytes)) = (stdin, bytes) {
        let _ = stdin.write_all(&bytes).await;
    }
}
