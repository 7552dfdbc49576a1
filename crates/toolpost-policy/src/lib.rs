//! Who may do what: capabilities and rules, decided in one place, explained in one sentence.
//!
//! Reached as `toolpost_core::policy`. Nothing here does I/O, and no tool is known by name. Texts of files come in with
//! their names, decisions go out with the rule, file and line that made them. Whether a workspace's file is trusted is
//! decided by the caller before its rules are handed in.
//!
//! ```
//! use toolpost_policy::{Access, Capability, Effect, Policy, Profile, Request};
//!
//! let policy = Policy::profile(Profile::Standard);
//! let accesses = [Access::path(Capability::Write, ".git/config")];
//! let decision = policy.decide(&Request { tool: "edit", accesses: &accesses });
//! assert_eq!(decision.effect(), Effect::Ask);
//! assert!(decision.is_protected());
//! ```

pub mod access;
mod action;
mod advice;
mod ahead;
pub mod capability;
mod commands;
mod cover;
mod decision;
mod dependency;
mod effect;
mod explain;
mod foreseen;
mod judge;
mod names;
mod pattern;
mod policy;
mod profile;
mod program;
mod protected;
mod rule;

pub use access::Access;
pub use action::Action;
pub use advice::{Advice, OwnAdvice, Remedy};
pub use ahead::Ahead;
pub use capability::Capability;
pub use commands::{Closed, FilePattern, FileRule, FileRules};
pub use decision::Decision;
pub use dependency::{DEPENDENCY_FOLDERS, DependencyFolder, Owner};
pub use effect::{Effect, Layer, Origin};
pub use explain::{Explanation, Judged, LookedAt};
pub use foreseen::{Foreseen, ForeseenCall, NamedPlace, Openness, Outlook, PlaceUse, Standing};
pub use names::{Kinds, KnownTool, Meanings, Names, RuleNames, ShownNames};
pub use pattern::Pattern;
pub use policy::{Policy, Request};
pub use profile::Profile;
pub use protected::{Protected, is_protected, may_be_free_in_dependencies, protected};
pub use rule::{NotARule, Rule};
