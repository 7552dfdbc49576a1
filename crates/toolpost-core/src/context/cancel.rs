//! How a call is told to end. Most calls are never asked for their token, so that it is made when it is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use tokio_util::sync::CancellationToken;

/// The token of a context: fires with the one above it, or by itself.
#[derive(Clone)]
pub(crate) struct Cancel {
    above: CancellationToken,
    own: OnceLock<CancellationToken>,
}

impl Cancel {
    /// The host's own token.
    pub(crate) fn of(token: CancellationToken) -> Cancel {
        Cancel { above: token.clone(), own: OnceLock::from(token) }
    }

    /// A token within this one, for a call that may outlive it and must then be told.
    pub(crate) fn child(&self) -> Cancel {
        Cancel { above: self.token().clone(), own: OnceLock::new() }
    }

    /// A token that fires when this one does, as far as anybody has this one by now.
    pub(crate) fn beside(&self) -> Cancel {
        Cancel { above: self.own.get().unwrap_or(&self.above).clone(), own: OnceLock::new() }
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        self.own.get_or_init(|| self.above.child_token())
    }

    /// The token of a context that may have ended meanwhile.
    pub(crate) fn token_unless(&self, ended: &AtomicBool) -> &CancellationToken {
        let token = self.token();
        // Either this sees that the context has ended, or `end` sees the token.
        fence(Ordering::SeqCst);
        if ended.load(Ordering::Relaxed) {
            token.cancel();
        }
        token
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.own.get().unwrap_or(&self.above).is_cancelled()
    }

    /// Fires, now or for whoever asks for the token later.
    pub(crate) fn end(&self, ended: &AtomicBool) {
        ended.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        if let Some(token) = self.own.get() {
            token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_asked_for_late_knows_of_the_end() {
        let host = CancellationToken::new();
        let (session, ended) = (Cancel::of(host.clone()), AtomicBool::new(false));
        let call = session.child();
        assert!(!call.is_cancelled() && !call.token_unless(&ended).is_cancelled());
        let running = call.beside();
        running.end(&ended);
        assert!(running.token_unless(&ended).is_cancelled());
        assert!(!host.is_cancelled(), "only the call has ended");
        let (other, ended) = (call.beside(), AtomicBool::new(false));
        call.token().cancel();
        assert!(other.is_cancelled() && other.token_unless(&ended).is_cancelled());
        assert!(!session.is_cancelled());
        host.cancel();
        assert!(session.is_cancelled() && session.child().is_cancelled());
    }

    #[test]
    fn a_call_within_one_that_has_ended_is_told() {
        let running = Cancel::of(CancellationToken::new()).child().beside();
        let inner = running.child();
        running.end(&AtomicBool::new(false));
        assert!(inner.is_cancelled() && inner.token().is_cancelled());
    }
}
