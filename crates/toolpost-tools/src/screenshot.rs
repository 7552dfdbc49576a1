//! The screenshot pack: what is on the screen, as a file of the workspace.

mod capture_screenshot;
mod command;

pub use capture_screenshot::CaptureScreenshot;
pub use command::Platform;

use toolpost_core::Pack;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;

/// What a host says about the screen.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What shows the screen; none where there is none.
    pub platform: Option<Platform>,
    /// What a program needs to reach it: `DISPLAY`, `XAUTHORITY`, `PATH`.
    pub environment: Vec<(String, String)>,
}

/// The pack.
pub fn pack(settings: &Settings) -> Pack {
    Pack::compiled_in(
        "screenshot",
        "What is on the screen.",
        RiskProfile::Fixed(Profile::Standard),
        &["screen", "vision"],
    )
    .with(CaptureScreenshot::new(settings.clone()))
    .only_with(Need::Model)
}
