//! The vision-analysis pack: what a model that sees says of a picture.

mod analyze_image_ui_qa;
mod report;

pub use analyze_image_ui_qa::AnalyzeImageUiQa;

use toolpost_core::Pack;
use toolpost_core::capability::Need;
use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "vision-analysis",
        "What a model that sees says of a picture.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["vision"],
    )
    .with(AnalyzeImageUiQa)
    .only_with(Need::Model)
}
