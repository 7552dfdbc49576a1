//! The two ends of the pipe: reading without a thread where the system allows it, writing many answers at once.

use crate::session::{Outlet, Session};
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::future::poll_fn;
use std::os::unix::net::UnixStream as StdSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::task::coop::unconstrained;

/// Past so many bytes that the client has not read, no more requests are taken.
const MOST_UNREAD: usize = 32 << 20;

/// Makes an end block again, once it is not used any more: others may hold it too.
pub(super) struct Blocking {
    end: BorrowedFd<'static>,
    flags: OFlags,
}

impl Drop for Blocking {
    fn drop(&mut self) {
        let _ = rustix::fs::fcntl_setfl(self.end, self.flags);
    }
}

/// What an end is, if it can be waited for without a thread: pipes and sockets can, files and terminals cannot.
fn kind_of(end: BorrowedFd<'static>) -> Option<(FileType, Blocking)> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(end).ok()?.st_mode);
    let flags = rustix::fs::fcntl_getfl(end).ok()?;
    matches!(kind, FileType::Fifo | FileType::Socket).then_some((kind, Blocking { end, flags }))
}

fn socket(end: BorrowedFd<'static>) -> std::io::Result<UnixStream> {
    let socket = StdSocket::from(end.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

/// Standard input.
pub(super) enum Input {
    Polled(Box<dyn AsyncRead + Send + Unpin>, #[expect(dead_code, reason = "held for its drop")] Blocking),
    /// Read by a thread that nobody waits for.
    Threaded(mpsc::Receiver<Vec<u8>>),
}

impl Input {
    pub(super) fn open() -> Input {
        let end = rustix::stdio::stdin();
        if let Some((kind, blocking)) = kind_of(end) {
            let polled: std::io::Result<Box<dyn AsyncRead + Send + Unpin>> = match kind {
                FileType::Socket => socket(end).map(|socket| Box::new(socket) as _),
                _ => end
                    .try_clone_to_owned()
                    .and_then(pipe::Receiver::from_owned_fd)
                    .map(|pipe| Box::new(pipe) as _),
            };
            if let Ok(polled) = polled {
                return Input::Polled(polled, blocking);
            }
        }
        let (sender, receiver) = mpsc::channel(16);
        std::thread::spawn(move || {
            let mut chunk = vec![0; super::CHUNK];
            loop {
                match rustix::io::read(end, &mut chunk) {
                    Err(Errno::INTR) => {}
                    Ok(count) if count > 0 => {
                        if sender.blocking_send(chunk[..count].to_vec()).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        Input::Threaded(receiver)
    }

    /// Reads some bytes; none at the end.
    pub(super) async fn read(&mut self, chunk: &mut [u8]) -> usize {
        match self {
            Input::Polled(polled, _) => polled.read(chunk).await.unwrap_or(0),
            Input::Threaded(receiver) => match receiver.recv().await {
                Some(bytes) => {
                    chunk[..bytes.len()].copy_from_slice(&bytes);
                    bytes.len()
                }
                None => 0,
            },
        }
    }
}

/// Standard output: lines wait here until one task writes them, as many at once as there are.
pub(super) struct LineOut {
    session: Arc<Session>,
    unread: Mutex<Vec<u8>>,
    has_news: Notify,
    is_drained: Notify,
    is_closed: AtomicBool,
    is_broken: AtomicBool,
}

impl LineOut {
    /// Starts writing. When the client does not take its answers any more, the session is cancelled.
    pub(super) fn start(session: Arc<Session>) -> (Arc<LineOut>, JoinHandle<()>) {
        let out = Arc::new(LineOut {
            session,
            unread: Mutex::default(),
            has_news: Notify::new(),
            is_drained: Notify::new(),
            is_closed: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        });
        let writing = Arc::clone(&out);
        let task = tokio::spawn(unconstrained(async move {
            if !writing.write_all().await {
                writing.is_broken.store(true, Ordering::Release);
                writing.session.cancel.cancel();
            }
            writing.is_drained.notify_waiters();
        }));
        (out, task)
    }

    /// Ends the writing, once all is written.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.has_news.notify_one();
    }

    /// Waits until the client has read enough.
    pub(super) async fn has_room(&self) {
        loop {
            let drained = self.is_drained.notified();
            tokio::pin!(drained);
            drained.as_mut().enable();
            if self.unread().len() < MOST_UNREAD || self.is_broken.load(Ordering::Acquire) {
                return;
            }
            drained.await;
        }
    }

    fn unread(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all was written.
    async fn write_all(&self) -> bool {
        let end = rustix::stdio::stdout();
        let mut polled = polled_output(end);
        let mut batch = Vec::new();
        loop {
            std::mem::swap(&mut batch, &mut *self.unread());
            if batch.is_empty() {
                if self.is_closed.load(Ordering::Acquire) {
                    return true;
                }
                self.has_news.notified().await;
                // Others that are about to answer go with it.
                if !self.session.is_idle() {
                    after_others().await;
                }
                continue;
            }
            let is_written = match &mut polled {
                Some((polled, _)) => polled.write_all(&batch).await.is_ok(),
                None => write_blocking(end, std::mem::take(&mut batch)).await,
            };
            if !is_written {
                return false;
            }
            batch.clear();
            batch.shrink_to(1 << 20);
            self.is_drained.notify_waiters();
        }
    }
}

impl Outlet for LineOut {
    fn send(&self, message: String) {
        if self.is_broken.load(Ordering::Acquire) {
            return;
        }
        let mut unread = self.unread();
        unread.extend_from_slice(message.as_bytes());
        unread.push(b'\n');
        drop(unread);
        self.has_news.notify_one();
    }
}

/// Lets the tasks that wait run first. This one waits where every thread of the runtime finds it: by
/// `tokio::task::yield_now`, or with its share of a turn used up, it would wait for this thread alone, which may go on with
/// work that blocks. The tasks at both ends of the pipe are therefore `unconstrained` and use this.
pub(super) async fn after_others() {
    let mut is_first = true;
    poll_fn(|task| match std::mem::take(&mut is_first) {
        true => {
            task.waker().wake_by_ref();
            Poll::Pending
        }
        false => Poll::Ready(()),
    })
    .await;
}

fn polled_output(end: BorrowedFd<'static>) -> Option<(Box<dyn AsyncWrite + Send + Unpin>, Blocking)> {
    let (kind, blocking) = kind_of(end)?;
    let polled: Box<dyn AsyncWrite + Send + Unpin> = match kind {
        FileType::Socket => Box::new(socket(end).ok()?),
        _ => Box::new(pipe::Sender::from_owned_fd(end.try_clone_to_owned().ok()?).ok()?),
    };
    Some((polled, blocking))
}

async fn write_blocking(end: BorrowedFd<'static>, bytes: Vec<u8>) -> bool {
    let writing = tokio::task::spawn_blocking(move || {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(end, rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    });
    writing.await.unwrap_or(false)
}
