//! Pages that were fetched in this session: the server is asked whether they have changed, and need not send them again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_web::Fetched;

/// Maximum number of pages that are kept.
const MOST: usize = 32;
/// Maximum number of bytes that are kept.
const MOST_BYTES: usize = 24 << 20;

/// Pages by session and address, the newest last.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(String, String, Arc<Fetched>)>>);

impl Cache {
    /// The page that a session fetched from an address.
    pub(super) fn get(&self, session: &str, url: &str) -> Option<Arc<Fetched>> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().find(|(of, from, _)| of == session && from == url);
        found.map(|(_, _, page)| Arc::clone(page))
    }

    /// Keeps a page, if its server says by what to tell whether it has changed.
    pub(super) fn keep(&self, session: &str, url: &str, page: &Arc<Fetched>) {
        if page.validators.is_none() || page.status != 200 {
            return;
        }
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(of, from, _)| of != session || from != url);
        pages.push_back((session.to_owned(), url.to_owned(), Arc::clone(page)));
        let size = |pages: &VecDeque<(String, String, Arc<Fetched>)>| -> usize {
            pages.iter().map(|(_, _, page)| page.body.len()).sum()
        };
        while pages.len() > MOST || size(&pages) > MOST_BYTES {
            pages.pop_front();
        }
    }
}
