//! What the configuration says of models: which one, which vendors, through which proxy.

use super::key::{File, Form, Kind, Schema, Tables, Text};
use super::kinds::LINE;
use super::model_keys::ModelKeys;
use super::origin::{Layer, Origined, Problem};
use super::{Config, layers};
use serde_json::{Value, json};
use std::time::Duration;
use toml::Spanned;
use toml::de::DeValue;
use toolpost_agent::model::{Catalog, Origin};
use toolpost_core::text::kind_of_toml;
use toolpost_core::{Code, ToolError};

/// One `[[vendor]]` of a file, as the catalogue reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VendorText {
    pub(super) name: String,
    pub(super) base_url: String,
    /// The variables that its key is taken from.
    variables: Vec<String>,
    /// TOML.
    text: String,
}

impl VendorText {
    /// Whether its key is taken from this variable.
    pub(super) fn mentions(&self, variable: &str) -> bool {
        self.variables.iter().any(|name| name == variable)
    }

    /// What a workspace brings with it, for a person who decides whether to trust that.
    pub(super) fn brings(&self) -> Vec<String> {
        let VendorText { name, base_url, variables, .. } = self;
        let host = base_url.split("://").last().and_then(|rest| rest.split(['/', '?']).next());
        let host = host.unwrap_or(base_url);
        let plain = if base_url.starts_with("http://") { ", without encryption" } else { "" };
        let key = match variables.as_slice() {
            [] => format!("sends no key to {host}"),
            variables => {
                let names: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
                format!("sends the value of {} to {host}{plain}", names.join(" or "))
            }
        };
        vec![
            format!(
                "adds the vendor of models `{name}` at {base_url}, to which agents that use it send all they read"
            ),
            key,
        ]
    }
}

/// The name of a model.
pub(super) const MODEL_NAME: Kind<String> = Kind {
    form: Form::Text(Text {
        parse: |text| match text.trim() {
            "" => Err("`model` is empty; write `vendor/model`".to_owned()),
            model => Ok(model.to_owned()),
        },
        longest: LINE,
    }),
    schema: Schema::Is(|| json!({"type": "string", "minLength": 1})),
    show: |model| model.as_str().into(),
};

/// Tables of vendors.
pub(super) const VENDORS: Kind<VendorText> = Kind {
    form: Form::Tables { read: read_vendors, flag: None },
    schema: Schema::Is(|| {
        json!({"type": "array", "items": {
            "type": "object",
            "required": ["name", "format", "base-url"],
            "properties": {
                "name": {"type": "string"},
                "format": {"type": "string"},
                "base-url": {"type": "string"},
                "key": {"type": "object"},
                "key-header": {"type": "string"},
                "model": {"type": "string"},
                "dialect": {"type": "string"},
                "search": {"type": "boolean"},
                "families": {"type": "array", "items": {"type": "string"}},
                "models": {"type": "array", "items": {"type": "object"}},
            },
        }})
    }),
    show: |vendor| vendor.name.as_str().into(),
};

fn read_vendors(file: &File<'_, '_>, value: &Spanned<DeValue<'_>>) -> Tables<VendorText> {
    let mut tables = Tables { values: Vec::new(), warnings: Vec::new(), problems: Vec::new() };
    let mut problem = |at: usize, message: String| {
        tables.problems.push(Problem::from(file.source.located(at, message)));
    };
    let Some(items) = value.get_ref().as_array() else {
        let found = kind_of_toml(value);
        problem(value.span().start, format!("`vendor` is {found}; write each as a table under `[[vendor]]`"));
        return tables;
    };
    let mut values = Vec::new();
    for item in items.iter() {
        let Some(table) = item.get_ref().as_table() else {
            problem(item.span().start, "a vendor is a table under `[[vendor]]`".to_owned());
            continue;
        };
        let text = table
            .iter()
            .map(|(key, value)| format!("{} = {}\n", quoted(key.get_ref()), inline(value.get_ref())));
        let text = format!("[[vendor]]\n{}", text.collect::<String>());
        let word = |name: &str| {
            let value = table.get(name).and_then(|value| value.get_ref().as_str());
            value.unwrap_or_default().to_owned()
        };
        let (name, base_url) = (word("name"), word("base-url"));
        // Alone it must be a row; beside which others it stands is looked at when models are used. A workspace's row is
        // held against the built-in ones at once, so that nobody is asked to trust what is never used.
        let (catalog, origin) = match file.layer {
            Layer::Project => (Catalog::built_in(), Origin::Workspace(layers::PROJECT_FILE.to_owned())),
            _ => (Ok(Catalog::default()), Origin::User(String::new())),
        };
        let added = catalog.and_then(|mut catalog| {
            catalog.add(&text, "vendor", &origin)?;
            Ok(catalog.vendors().last().map(|row| row.key.variables.clone()).unwrap_or_default())
        });
        match added {
            Ok(variables) => {
                let line = file.source.line(item.span().start);
                values.push((VendorText { name, base_url, variables, text }, line));
            }
            Err(error) => problem(item.span().start, error.message),
        }
    }
    tables.values = values;
    tables
}

/// A value of TOML on one line.
fn inline(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
                format!("{} = {}", quoted(key.get_ref()), inline(value.get_ref()))
            };
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A string of JSON is one of TOML.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// The address of a proxy without what only its owner should see.
pub(super) fn without_password(address: &str) -> String {
    match address.split_once('@') {
        Some((_, rest)) => format!("http://…@{rest}"),
        None => address.to_owned(),
    }
}

/// What holds for models.
pub(crate) struct ModelSettings {
    /// `--model-for-all`.
    pub(crate) for_all: Option<String>,
    /// `--model`.
    pub(crate) flag: Option<String>,
    /// The model of the configuration or of the environment.
    pub(crate) configured: Option<String>,
    /// The vendors.
    pub(crate) catalog: Catalog,
    /// Where keys come from.
    pub(crate) keys: ModelKeys,
    /// The proxy.
    pub(crate) proxy: Option<String>,
    /// How long a model may be silent.
    pub(crate) silence: Option<Duration>,
}

impl Config {
    /// Whether a model is named; the rows of vendors need not be read to know that.
    pub(crate) fn names_model(&self) -> bool {
        !self.values.keys.model.is_empty() || !self.values.keys.model_for_all.is_empty()
    }

    /// What holds for models. A vendor that cannot be added is an error.
    pub(crate) fn models(&self) -> Result<ModelSettings, ToolError> {
        let keys = &self.values.keys;
        let wrong = |message: String| ToolError::new(Code::ValidationError, message);
        let mut catalog = Catalog::built_in().map_err(|error| wrong(error.to_string()))?;
        // The user's first: a row of the workspace must not take the name or the key of one of them.
        let (project, own): (Vec<_>, Vec<_>) =
            keys.vendors.iter().partition(|vendor| vendor.place.layer == Layer::Project);
        let add = |catalog: &mut Catalog, vendor: &Origined<VendorText>, origin: Origin| {
            let file = vendor.place.to_string();
            let added = catalog.add(&vendor.value.text, &file, &origin);
            added.map_err(|error| wrong(format!("{}: {}", vendor.place, error.message)))
        };
        // The strongest last, since a later row replaces an earlier one.
        for vendor in own.into_iter().rev() {
            add(&mut catalog, vendor, Origin::User(vendor.place.to_string()))?;
        }
        for vendor in project {
            add(&mut catalog, vendor, Origin::Workspace(layers::PROJECT_FILE.to_owned()))?;
        }
        let model = keys.model.first();
        let is_flag = model.is_some_and(|model| model.place.layer == Layer::Flags);
        let name = model.map(|model| model.value.clone());
        let (flag, configured) = if is_flag { (name, None) } else { (None, name) };
        let for_all = keys.model_for_all.first().map(|model| model.value.clone());
        if let (Some(all), Some(one)) = (&for_all, &flag) {
            return Err(wrong(format!(
                "`--model-for-all {all}` replaces every model, so that `--model {one}` has no effect; leave one of them out"
            )));
        }
        Ok(ModelSettings {
            for_all,
            flag,
            configured,
            catalog,
            keys: ModelKeys {
                variables: self.lookup.variables.clone(),
                home: self.home.clone(),
                cwd: self.cwd.clone(),
                environment: self.lookup.given.clone(),
            },
            proxy: keys.model_proxy.first().map(|proxy| proxy.value.clone()),
            silence: keys.model_timeout.first().map(|time| time.value),
        })
    }
}
