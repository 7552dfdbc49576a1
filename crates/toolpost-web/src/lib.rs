//! The web as toolpost reads it; nothing of tools.
//!
//! Pure, and tested with data: [`PageUrl`] (one form for every spelling of an address), [`not_public`] (which addresses
//! are public), [`decode`] (bytes to text), [`read`] (a page as markdown), [`read_feed`], [`robots`]. The [`Fetcher`] on
//! top of them is the only part that reaches the network, and asks a [`Gate`] before each step.

mod address;
mod charset;
mod coding;
mod feed;
mod fetch;
mod html;
mod page;
pub mod robots;
mod stop;
mod url;

pub use address::{NotPublic, not_public};
pub use charset::{Decoded, decode};
pub use feed::{is_feed, read_feed};
pub use fetch::{Fetch, FetchError, FetchErrorKind, Fetched, Fetcher, Gate, Hop, Validators};
pub use page::{Form, Page, read};
pub use stop::{Stop, Stopped};
pub use toolpost_http::Roots;
pub use url::{InvalidUrl, PageUrl};
