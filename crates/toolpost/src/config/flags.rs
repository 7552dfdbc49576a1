//! The flags that stand for keys of the configuration, made from the rows of [`super::keys`].

use super::key::{On, Row, URL};
use super::keys::{KEYS, Settings};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsStr;
use std::marker::PhantomData;
use toolpost_store::StoreUrl;

/// What the flags of one command say about keys of the configuration. `Scope` says which flags these are.
#[derive(Debug, Clone)]
pub struct KeyFlags<Scope> {
    pub(crate) settings: Settings,
    scope: PhantomData<Scope>,
}

/// The flags of every command.
#[derive(Debug, Clone)]
pub struct Everywhere;

/// The flags of `toolpost call`.
#[derive(Debug, Clone)]
pub struct OfCall;

/// The flags of `toolpost mcp`.
#[derive(Debug, Clone)]
pub struct OfMcp;

/// The flags of `toolpost run`.
#[derive(Debug, Clone)]
pub struct OfRun;

/// Which flags a command has. Implemented by the four types above only.
trait Scope {
    const ON: On;
}

impl Scope for Everywhere {
    const ON: On = On::Everywhere;
}

impl Scope for OfCall {
    const ON: On = On::Call;
}

impl Scope for OfMcp {
    const ON: On = On::Mcp;
}

impl Scope for OfRun {
    const ON: On = On::Run;
}

impl<S> Default for KeyFlags<S> {
    fn default() -> Self {
        KeyFlags { settings: Settings::default(), scope: PhantomData }
    }
}

impl<S: Scope> Args for KeyFlags<S> {
    fn augment_args(command: Command) -> Command {
        keys(S::ON).fold(command, |command, key| command.args(argument(key)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        KeyFlags::<S>::augment_args(command)
    }
}

impl<S: Scope> FromArgMatches for KeyFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = KeyFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for key in keys(S::ON) {
            let texts: Vec<String> = match key.is_switch() {
                true if matches.get_flag(key.name()) => vec!["true".to_owned()],
                true => Vec::new(),
                false => matches.get_many::<String>(key.name()).into_iter().flatten().cloned().collect(),
            };
            for text in texts {
                let set = key.set_flag(&mut self.settings, &text);
                set.map_err(|message| Error::raw(ErrorKind::ValueValidation, format!("{message}\n")))?;
            }
        }
        Ok(())
    }
}

fn keys(on: On) -> impl Iterator<Item = &'static &'static dyn Row> {
    KEYS.iter().filter(move |key| key.flag().is_some_and(|flag| flag.on == on))
}

/// The flag of a key, if it has one.
fn argument(key: &'static &'static dyn Row) -> Option<Arg> {
    let flag = key.flag()?;
    let argument = Arg::new(key.name()).long(flag.long).help(flag.help);
    let argument = match flag.on {
        On::Everywhere => argument.global(true),
        On::Call | On::Mcp | On::Run => argument,
    };
    if key.is_switch() {
        return Some(argument.action(ArgAction::SetTrue));
    }
    let action = if key.is_list() { ArgAction::Append } else { ArgAction::Set };
    let argument = argument.action(action).value_name(flag.value).hide_possible_values(true);
    Some(argument.value_parser(Checked(*key)))
}

/// Takes a text if the key does.
#[derive(Clone)]
struct Checked(&'static dyn Row);

impl TypedValueParser for Checked {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let key = self.0;
        let check = move |text: &str| -> Result<String, String> {
            key.set_flag(&mut Settings::default(), text).map(|()| text.to_owned())
        };
        check.parse_ref(command, argument, value).map_err(|mut error| {
            // The error quotes the value.
            if key.flag().is_some_and(|flag| flag.value == URL) {
                let shown = StoreUrl::harmless(&value.to_string_lossy());
                error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
            }
            error
        })
    }

    /// The words for completions, where there is a closed list.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.words()?.into_iter().map(PossibleValue::new)))
    }
}
