//! Rules in files: read with the line of each, printed so that they read back, and warned of where they do nothing.

mod file;
mod print;
mod resource;
mod warn;

pub use file::{MOST_RULES, RuleFile, policy_from_toml, read_rules, read_rules_in};
pub use print::{policy_to_toml, rules_to_toml};
pub use warn::{Misspelt, RuleSubjects, Warning, misspelt, useless_resource, warnings};
