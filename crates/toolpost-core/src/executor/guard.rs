//! The decision on a call, kept while it runs: what was not decided for it is refused at the file.

use crate::capability::{Capabilities, Capability};
use crate::error::{Code, ToolError};
use crate::workspace::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Holds a running call to the capabilities that were decided for it.
pub(super) struct CallGuard {
    pub(super) tool: String,
    pub(super) granted: Capabilities,
    pub(super) ended: Arc<AtomicBool>,
}

impl Guard for CallGuard {
    fn judge(&self, action: Capability, name: &str) -> Result<(), ToolError> {
        // What a tool left running when its caller got the answer must not change files behind everybody's back.
        if self.ended.load(Ordering::Acquire) {
            return Err(ToolError::new(
                Code::Cancelled,
                format!("the call of `{}` has ended; it may not {action} `{name}` any more", self.tool),
            ));
        }
        // Writers look at what they replace.
        let is_covered =
            self.granted.has(action) || (action == Capability::Read && self.granted.has(Capability::Write));
        if is_covered {
            return Ok(());
        }
        Err(ToolError::new(
            Code::PermissionDenied,
            format!(
                "`{}` tried to {action} `{name}`, but this call was decided for {} only; \
                 the tool must declare the capability `{action}`",
                self.tool, self.granted
            ),
        )
        .with("path", name))
    }
}
