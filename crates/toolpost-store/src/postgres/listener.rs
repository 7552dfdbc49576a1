//! Hears of additions to the log by other processes, as soon as they are there.
//!
//! Where nothing can be heard, whoever waits looks by itself a few times a second: some servers that speak PostgreSQL's
//! language have no `LISTEN`.

use super::tls::Address;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::AsyncMessage;

/// The channel that writers speak on.
pub(crate) const CHANNEL: &str = "toolpost_log";
/// How long one who waits trusts the silence.
const LOOK: Duration = Duration::from_millis(50);

/// Counts what was heard.
#[derive(Default)]
struct Heard {
    count: Mutex<u64>,
    more: Condvar,
}

pub(super) struct Listener {
    address: Address,
    /// Made by the first who waits.
    heard: Mutex<Option<Arc<Heard>>>,
}

impl Listener {
    pub(super) fn new(address: Address) -> Listener {
        Listener { address, heard: Mutex::default() }
    }

    pub(super) fn wait(&self, at_most: Duration) {
        let heard = {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(heard.get_or_insert_with(|| start(self.address.clone())))
        };
        let count = heard.count.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *count;
        drop(heard.more.wait_timeout_while(count, at_most.min(LOOK), |count| *count == before));
    }
}

/// Listens until nobody waits any more.
fn start(address: Address) -> Arc<Heard> {
    let heard = Arc::new(Heard::default());
    let weak = Arc::downgrade(&heard);
    let listen = move || -> Option<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async move {
            let (client, mut connection) = address.config.connect(address.encryption).await.ok()?;
            let (said, mut hearing) = tokio::sync::mpsc::channel(16);
            tokio::spawn(async move {
                while let Some(message) = std::future::poll_fn(|task| connection.poll_message(task)).await {
                    match message {
                        Ok(AsyncMessage::Notification(_)) => drop(said.try_send(())),
                        Ok(_) => {}
                        Err(_) => return,
                    }
                }
            });
            client.batch_execute(&format!("LISTEN {CHANNEL}")).await.ok()?;
            loop {
                let next = tokio::time::timeout(Duration::from_secs(1), hearing.recv()).await;
                let heard = weak.upgrade()?;
                match next {
                    Ok(Some(())) => {
                        *heard.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                        heard.more.notify_all();
                    }
                    Ok(None) => return None,
                    Err(_) => {}
                }
            }
        })
    };
    let _ = std::thread::Builder::new().name("toolpost-listen".to_owned()).spawn(listen);
    heard
}
