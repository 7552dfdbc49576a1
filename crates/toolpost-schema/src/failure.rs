//! One failure of a value, and its words.

use crate::program::{ByName, Check, Types};
use serde_json::Value;

/// A part of a value that fails a check.
pub(crate) struct Failure<'p, 'v> {
    /// Where, as a JSON pointer.
    pub(crate) place: String,
    pub(crate) value: &'v Value,
    pub(crate) kind: Kind<'p>,
}

pub(crate) enum Kind<'p> {
    Check(&'p Check),
    /// A property that must be there.
    Missing(&'p str),
    /// A property that must be there because another one is.
    MissingBeside(&'p str, &'p str),
    /// A property that may not be there, and those that may, where they are listed beside it.
    Unknown(String, Option<&'p ByName>),
    /// A property whose name does not fit.
    Name {
        name: String,
        expected: String,
    },
    /// None of the forms has the type of the value; these are theirs.
    NoType(Types),
    /// Each of the forms needs another property, and none of these is there.
    NoNames(Vec<&'p str>),
    /// More than one of the forms fits.
    SeveralForms,
    /// A value that should be a schema.
    NoSchema(String),
    TooDeep,
    TooManyLevels,
    TooManySteps,
}

impl Kind<'_> {
    /// What was expected instead.
    pub(crate) fn expected(&self) -> String {
        match self {
            Kind::Check(check) => expected_by(check),
            Kind::Missing(name) => format!("`{name}`"),
            Kind::MissingBeside(_, given) => format!("a value, because `{given}` is given"),
            Kind::Unknown(..) => "nothing of this name".to_owned(),
            Kind::Name { expected, .. } => format!("a key that is {expected}"),
            Kind::NoType(types) => a_type_of(*types),
            Kind::NoNames(names) => {
                let each: Vec<String> = names.iter().map(|name| format!("with `{name}`")).collect();
                format!("an object {}", each.join(" or "))
            }
            Kind::SeveralForms => "exactly one of the forms in the schema, but more than one fits".to_owned(),
            Kind::NoSchema(message) => format!("a JSON Schema: {message}"),
            Kind::TooDeep => format!("at most {} levels of nesting", crate::MAX_DEPTH),
            Kind::TooManyLevels => {
                "a value that can be checked; the schema leads from reference to reference without end, simplify it"
                    .to_owned()
            }
            Kind::TooManySteps => {
                "a value that can be checked in reasonable time; this schema takes too many steps, simplify it or send \
                 less"
                    .to_owned()
            }
        }
    }
}

fn expected_by(check: &Check) -> String {
    match check {
        Check::Type(types) => a_type_of(*types),
        Check::Enum(choice) => one_of(&choice.options),
        Check::Const(value) => brief(value),
        Check::Minimum(limit) => format!("at least {limit}"),
        Check::Maximum(limit) => format!("at most {limit}"),
        Check::ExclusiveMinimum(limit) => format!("more than {limit}"),
        Check::ExclusiveMaximum(limit) => format!("less than {limit}"),
        Check::MultipleOf(divisor, _) => format!("a multiple of {divisor}"),
        Check::MinLength(limit) => counted("at least", *limit, "character"),
        Check::MaxLength(limit) => counted("at most", *limit, "character"),
        Check::Pattern(pattern) => format!("text that matches `{}`", pattern.source()),
        Check::Format(format) => match format.example() {
            Some(example) => format!("a {} such as {example}", format.name),
            None => format!("a {}", format.name),
        },
        Check::MinItems(limit) => counted("at least", *limit, "item"),
        Check::MaxItems(limit) => counted("at most", *limit, "item"),
        Check::UniqueItems => "items that all differ".to_owned(),
        Check::Contains(contains) => {
            let least = counted("at least", contains.least, "item");
            let most = contains.most.map(|most| format!(" and at most {most}")).unwrap_or_default();
            format!("{least}{most} of the form that `contains` in the schema describes")
        }
        Check::MinProperties(limit) => counted("at least", *limit, "key"),
        Check::MaxProperties(limit) => counted("at most", *limit, "key"),
        Check::Not(_) => "something else than what `not` in the schema describes".to_owned(),
        Check::Any(_) | Check::One(_) => "one of the forms in the schema".to_owned(),
        _ => "nothing here".to_owned(),
    }
}

/// Maximum number of characters of a list of options, or of one of them.
const MOST_SHOWN: usize = 2_000;

/// The options of an `enum`; of very many, the first.
pub(crate) fn one_of(options: &Value) -> String {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed = String::from("one of [");
    for (at, option) in all.iter().enumerate() {
        let option = brief(option);
        if listed.len() + option.len() > MOST_SHOWN {
            return format!("{listed},…] ({} in all)", all.len());
        }
        if at > 0 {
            listed.push(',');
        }
        listed.push_str(&option);
    }
    listed + "]"
}

/// A value as JSON, shortened if it is very long.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST_SHOWN / 2) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The plural everywhere but for one, which limits seldom are.
fn counted(limit: &str, count: u64, what: &str) -> String {
    format!("{limit} {count} {what}s")
}

fn a_type_of(types: Types) -> String {
    types.names().map(a_type).collect::<Vec<_>>().join(" or ")
}

/// The name of a type with its article.
pub(crate) fn a_type(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        name @ ("array" | "integer" | "object") => format!("an {name}"),
        name => format!("a {name}"),
    }
}
