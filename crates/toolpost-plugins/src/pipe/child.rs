//! The child itself: its three pipes, and its end, whoever brings it about.

use super::Pipe;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use toolpost_mcp::{Line, Lines};
use toolpost_process::{Command, Ended, Error, Exit, Output, PipeReceiver, PipeSender, Running, Stdin};

/// How long a server may take to end by itself once its input is closed.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long the last output of a server is waited for, once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How much is read at a time.
const PIECE: usize = 64 * 1024;

const TOO_LONG: &str = "it sent a line of more than 16 MiB";

/// Starts the program, and the tasks that feed it, hear it, and see to its end.
pub(super) fn keep(
    command: Command,
    messages: mpsc::Receiver<String>,
    pipe: Arc<Pipe>,
) -> Result<(), String> {
    let command = command.stdin(Stdin::Open).output(Output::Apart);
    let mut running = command.start().map_err(|error| error.to_string())?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (running.take_stdin(), running.take_stdout(), running.take_stderr())
    else {
        return Err("its pipes could not be made".to_owned());
    };
    let ((is_heard, heard), (has_complained, complained)) = (oneshot::channel(), oneshot::channel());
    tokio::spawn(write(stdin, messages, Arc::clone(&pipe)));
    tokio::spawn(listen(stderr, Arc::clone(&pipe), has_complained));
    tokio::spawn(read(stdout, Arc::clone(&pipe), is_heard));
    tokio::spawn(see_to_its_end(running, pipe, heard, complained));
    Ok(())
}

async fn write(mut stdin: PipeSender, mut messages: mpsc::Receiver<String>, pipe: Arc<Pipe>) {
    loop {
        let message = tokio::select! {
            biased;
            () = pipe.closing.cancelled() => return,
            message = messages.recv() => message,
        };
        let Some(mut message) = message else { return };
        message.push('\n');
        // A server that does not read must not be in the way of its own end.
        let written = tokio::select! {
            () = pipe.closing.cancelled() => return,
            written = stdin.write_all(message.as_bytes()) => written,
        };
        if written.is_err() {
            // Why is known to whoever waits for its end.
            return;
        }
    }
}

async fn read(mut stdout: PipeReceiver, pipe: Arc<Pipe>, _is_heard: oneshot::Sender<()>) {
    let mut lines = Lines::default();
    let mut piece = vec![0; PIECE];
    loop {
        let count = stdout.read(&mut piece).await.unwrap_or(0);
        if count == 0 {
            return;
        }
        let mut taken = Ok(());
        lines.push(&piece[..count], |line| {
            taken = taken.and_then(|()| match line {
                Line::Whole(line) => pipe.take(line),
                Line::TooLong => Err(TOO_LONG),
            });
        });
        if lines.is_too_long() {
            taken = taken.and(Err(TOO_LONG));
        }
        if let Err(why) = taken {
            return pipe.close(why);
        }
        if pipe.closing.is_cancelled() {
            return;
        }
    }
}

async fn listen(mut stderr: PipeReceiver, pipe: Arc<Pipe>, _has_complained: oneshot::Sender<()>) {
    let mut piece = vec![0; PIECE];
    loop {
        match stderr.read(&mut piece).await {
            Ok(count) if count > 0 => pipe.complaint.stderr(&piece[..count]),
            _ => return,
        }
    }
}

/// Both receivers hear that what they wait for is over: nothing more comes on standard output, or on standard error.
async fn see_to_its_end(
    mut running: Running,
    pipe: Arc<Pipe>,
    mut heard: oneshot::Receiver<()>,
    complained: oneshot::Receiver<()>,
) {
    tokio::select! {
        biased;
        () = pipe.closing.cancelled() => {
            // Its input is closed by now: a good server ends by itself.
            if tokio::time::timeout(FAREWELL, running.wait()).await.is_err() {
                running.end();
                let _ = running.wait().await;
            }
        }
        ended = running.wait() => {
            let _ = tokio::time::timeout(LAST_WORDS, async { tokio::join!(heard, complained) }).await;
            pipe.lose(&how(ended));
            pipe.closing.cancel();
        }
        _ = &mut heard => {
            match tokio::time::timeout(FAREWELL, running.wait()).await {
                Ok(ended) => {
                    let _ = tokio::time::timeout(LAST_WORDS, complained).await;
                    pipe.lose(&how(ended));
                }
                Err(_) => pipe.lose("it closed its standard output"),
            }
            pipe.closing.cancel();
            running.end();
            let _ = running.wait().await;
        }
    }
}

fn how(ended: Result<Ended, Error>) -> String {
    match ended.map(|ended| ended.exit) {
        Ok(Exit::Code(code)) => format!("it ended with exit code {code}"),
        Ok(Exit::Signal(signal)) => format!("it was ended by signal {signal}"),
        Err(error) => error.to_string(),
    }
}
