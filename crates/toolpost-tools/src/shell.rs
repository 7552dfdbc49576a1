//! The shell pack: commands in a sandbox, judged before they run, ended with all they started.

mod background;
mod bash;
mod bash_kill;
mod bash_output;
mod clean;
mod kept;
pub mod line;
mod live;
mod output;
mod settings;

pub use background::Background;
pub use bash::Bash;
pub use bash_kill::BashKill;
pub use bash_output::BashOutput;
pub use kept::{CommandChanges, read_changes};
pub use settings::{Confinement, Outside, Settings};

pub(crate) use bash::view_of;

use std::sync::Arc;
use toolpost_core::Pack;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;

/// A text without what is meant for a terminal.
pub(crate) fn plain_text(text: &str) -> String {
    String::from_utf8_lossy(&clean::cleaned(text.as_bytes())).into_owned()
}

/// The pack, under these settings.
pub fn pack(settings: Settings) -> Pack {
    let settings = Arc::new(settings);
    let background = Arc::clone(&settings.background);
    Pack::compiled_in(
        "shell",
        "Commands in a sandbox: they cannot hang, leak or escape.",
        RiskProfile::Fixed(Profile::Privileged),
        &["commands"],
    )
    .with(Bash::new(Arc::clone(&settings), Arc::clone(&background)))
    .with(BashOutput::new(Arc::clone(&background)))
    .with(BashKill::new(background))
}
