//! A visitor whose files are judged before it sees them, and counted.

use super::{Counting, Guard, Usage};
use crate::capability::Capability;
use crate::error::ToolError;
use crate::workspace::{Candidate, File, Kind, Stat, Visit, Worker};
use std::sync::Arc;

/// Stands between a scan and the visitor of a call.
pub(super) struct Judged<'a> {
    visit: &'a dyn Visit,
    guard: &'a dyn Guard,
    usage: &'a Arc<Usage>,
}

impl<'a> Judged<'a> {
    pub(super) fn new(visit: &'a dyn Visit, guard: &'a dyn Guard, usage: &'a Arc<Usage>) -> Judged<'a> {
        Judged { visit, guard, usage }
    }
}

impl Visit for Judged<'_> {
    fn should_stop(&self) -> bool {
        self.visit.should_stop()
    }

    fn wants(&self, name: &str) -> bool {
        self.visit.wants(name)
    }

    fn admits(&self, name: &str) -> bool {
        match self.guard.judge(Capability::Read, name) {
            Ok(()) => self.visit.admits(name),
            Err(refusal) => {
                self.visit.held_back(&refusal);
                false
            }
        }
    }

    fn held_back(&self, refusal: &ToolError) {
        self.visit.held_back(refusal);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(JudgedWorker { worker: self.visit.worker(), judged: self })
    }
}

struct JudgedWorker<'a> {
    worker: Box<dyn Worker + 'a>,
    judged: &'a Judged<'a>,
}

impl Worker for JudgedWorker<'_> {
    fn visit(&mut self, candidate: &mut dyn Candidate) {
        self.worker.visit(&mut JudgedCandidate { candidate, judged: self.judged });
    }
}

struct JudgedCandidate<'a> {
    candidate: &'a mut dyn Candidate,
    judged: &'a Judged<'a>,
}

impl JudgedCandidate<'_> {
    /// The name was judged before; where a link led is judged here.
    fn judge(&self, stat: &Stat) -> Result<(), ToolError> {
        match stat.name == self.candidate.name() {
            true => Ok(()),
            false => self.judged.guard.judge(Capability::Read, &stat.name),
        }
    }
}

impl Candidate for JudgedCandidate<'_> {
    fn name(&self) -> &str {
        self.candidate.name()
    }

    fn kind(&self) -> Kind {
        self.candidate.kind()
    }

    fn stat(&mut self) -> Result<Stat, ToolError> {
        let stat = self.candidate.stat()?;
        self.judge(&stat)?;
        Ok(stat)
    }

    fn open(&mut self) -> Result<File, ToolError> {
        let File { stat, reader } = self.candidate.open()?;
        self.judge(&stat)?;
        let reader = Counting { inner: reader, usage: Arc::clone(self.judged.usage) };
        Ok(File { stat, reader: Box::new(reader) })
    }

    fn show(&mut self) {
        self.judged.usage.touch(self.candidate.name());
        self.candidate.show();
    }
}
