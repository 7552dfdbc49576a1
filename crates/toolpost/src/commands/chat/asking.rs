//! Questions of calls, asked where the person writes.

use tokio::sync::{mpsc, oneshot};
use toolpost_core::host::{BoxFuture, Confirm, Scope};
use toolpost_core::{Answer, Question};

/// A question that waits for its answer. Whoever asked may have given up since.
pub(super) struct Pending {
    pub(super) question: Question,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Brings questions to where the person writes.
pub(super) struct Asking {
    says_yes: bool,
    questions: mpsc::UnboundedSender<Pending>,
}

impl Asking {
    /// With `--yes`, only questions about protected files are asked.
    pub(super) fn new(says_yes: bool) -> (Asking, mpsc::UnboundedReceiver<Pending>) {
        let (questions, pending) = mpsc::unbounded_channel();
        (Asking { says_yes, questions }, pending)
    }
}

impl Confirm for Asking {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        if self.says_yes && !question.protected {
            return Box::pin(std::future::ready(Answer::Yes(Scope::Once)));
        }
        let (answer, answered) = oneshot::channel();
        let sent = self.questions.send(Pending { question: question.clone(), answer });
        Box::pin(async move {
            match sent {
                Ok(()) => answered.await.unwrap_or(Answer::Nobody),
                Err(_) => Answer::Nobody,
            }
        })
    }

    fn wants_preview(&self) -> bool {
        true
    }
}
