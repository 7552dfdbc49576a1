//! The decision on a call, kept while it runs: what was not decided for it is refused at the file.

use crate::capability::{Capabilities, Capability};
use crate::error::{Code, ToolError};
use crate::workspace::Guard;

/// Holds a running call to the capabilities that were decided for it.
pub(super) struct CallGuard {
    pub(super) tool: String,
    pub(super) granted: Capabilities,
}

impl Guard for CallGuard {
    fn judge(&self, action: Capability, name: &str) -> Result<(), ToolError> {
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
