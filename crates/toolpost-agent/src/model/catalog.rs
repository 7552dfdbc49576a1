//! The table of vendors: where each is, what it speaks, where its key is found, what its models can do and cost.

use super::address;
use super::format::{Format, Quirks, Target};
use super::key::{Key, KeySource};
use super::remote::Remote;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use toolpost_core::model::{ModelError, ModelErrorKind, Price, Profile};
use toolpost_core::text::nearest;
use toolpost_core::text::wildcard::name_matches;
use toolpost_http::{Client, Url};

/// The rows that come with the program.
const BUILT_IN: &str = include_str!("catalog.toml");

/// Who brought a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// It came with the program.
    #[default]
    BuiltIn,
    /// The user's configuration, in this file.
    User(String),
    /// The workspace, in this file. Such a row has no effect before the file is trusted: whoever adds it has checked that.
    Workspace(String),
}

/// A vendor of models, or a server on this machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VendorRow {
    /// Its name, which stands before the model's: `anthropic/claude-sonnet-5-5`.
    pub name: String,
    /// The wire format.
    pub format: Format,
    /// Where it is. Its key goes to this host and to no other.
    pub base_url: String,
    /// A variable that says where a server on this machine is, if not there.
    #[serde(default)]
    pub base_url_variable: Option<String>,
    /// Allows a key to be sent without encryption to another machine.
    #[serde(default)]
    pub plain_http: bool,
    /// Where its key is found.
    #[serde(default)]
    pub key: KeySource,
    /// The header that carries the key, where it is not that of the format: `api-key` for Azure.
    #[serde(default)]
    pub key_header: Option<String>,
    /// The model that is used when none is named.
    #[serde(default)]
    pub model: Option<String>,
    /// Short names of models.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// Patterns with `*` for the names of models that are this vendor's: `claude-*`. A row that replaces another one has the
    /// patterns of that one, unless it names its own.
    #[serde(default)]
    pub families: Option<Vec<String>>,
    /// The dialect in which its models know the tools.
    #[serde(default)]
    pub dialect: Option<String>,
    /// Whether it can search the web for its models.
    #[serde(default)]
    pub search: bool,
    /// Whether its models accept images, unless their rows say otherwise.
    #[serde(default = "yes")]
    pub accepts_images: bool,
    /// How large an image may be.
    #[serde(default)]
    pub images: ImageLimits,
    /// The path at which a server on this machine lists its models.
    #[serde(default)]
    pub probe: Option<String>,
    /// Tokens of a conversation, for models without a row.
    #[serde(default)]
    pub context: Option<u64>,
    /// In what it differs from its format.
    #[serde(default)]
    pub quirks: Quirks,
    /// What is known of its models.
    #[serde(default)]
    pub models: Vec<ModelRow>,
    /// Who brought the row.
    #[serde(skip)]
    pub origin: Origin,
}

/// What is known of a model, and of models whose names continue its name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelRow {
    /// Its name, as the vendor knows it.
    pub name: String,
    /// Maximum number of tokens of request and response.
    #[serde(default)]
    pub context: Option<u64>,
    /// Maximum number of tokens of a response.
    #[serde(default)]
    pub output: Option<u64>,
    /// Whether it accepts images, if its vendor's other models do not, or the other way round.
    #[serde(default)]
    pub accepts_images: Option<bool>,
    /// What it costs.
    #[serde(default)]
    pub price: Option<PriceRow>,
}

/// US dollars for a million tokens, on a day.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PriceRow {
    /// Of the request.
    pub input: f64,
    /// Of what the vendor had in its cache.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Of what the vendor put into its cache.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// Of the response.
    pub output: f64,
    /// The day on which the vendor said so: `2026-11-18`.
    #[serde(default)]
    pub as_of: Option<String>,
    /// The last day on which it holds.
    #[serde(default)]
    pub until: Option<String>,
    /// Other prices for requests of more than `tokens`.
    #[serde(default)]
    pub above: Option<Box<PriceRow>>,
    /// Of `above`: the number of tokens.
    #[serde(default)]
    pub tokens: u64,
}

impl PriceRow {
    /// A price that is not one would make a limit of cost hold for nothing.
    fn check(&self, model: &str) -> Result<(), String> {
        let given = [Some(self.input), self.cached, self.cache_write, Some(self.output)];
        match given.into_iter().flatten().find(|price| !price.is_finite() || *price < 0.0) {
            Some(wrong) => {
                Err(format!("the price {wrong} of the model `{model}` is not a number from 0 up; correct it"))
            }
            None => self.above.as_ref().map_or(Ok(()), |above| above.check(model)),
        }
    }

    fn price(&self) -> Price {
        let above = self.above.as_ref().map(|above| Box::new((above.tokens, above.price())));
        let PriceRow { input, cached, cache_write, output, .. } = *self;
        Price { input, cached, cache_write, output, above }
    }
}

/// How large an image may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ImageLimits {
    /// Maximum length of an edge, in pixels.
    pub edge: u32,
    /// Maximum size of the file, in bytes.
    pub bytes: usize,
}

impl Default for ImageLimits {
    /// What every vendor accepts: 2,000 pixels, 3.75 MB.
    fn default() -> ImageLimits {
        ImageLimits { edge: 2_000, bytes: 3_750_000 }
    }
}

/// Whether what follows a model's name is a date or says that it is the newest, and not another version with another price.
fn is_stamp(rest: &str) -> bool {
    let is_date = || {
        rest.chars().all(|character| character.is_ascii_digit() || "-@:".contains(character))
            && rest.len() >= 7
    };
    rest.is_empty() || rest == "-latest" || rest.starts_with("-preview") || is_date()
}

/// The one variable in which a vendor that a workspace brings finds its key: `TOOLPOST_LAB_API_KEY` for `lab`. Nothing but
/// toolpost reads such a variable, so whoever sets it means this vendor.
pub fn own_variable(vendor: &str) -> String {
    format!("TOOLPOST_{}_API_KEY", vendor.to_ascii_uppercase().replace('-', "_"))
}

fn yes() -> bool {
    true
}

/// Why a table cannot be used: file, line, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for CatalogError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    vendor: Vec<toml::Spanned<VendorRow>>,
}

/// All vendors, in the order in which one is chosen when nobody names one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    vendors: Vec<VendorRow>,
}

impl Catalog {
    /// The rows that come with the program.
    pub fn built_in() -> Result<Catalog, CatalogError> {
        let mut catalog = Catalog::default();
        catalog.add(BUILT_IN, "catalog.toml", &Origin::BuiltIn)?;
        Ok(catalog)
    }

    /// The rows.
    pub fn vendors(&self) -> &[VendorRow] {
        &self.vendors
    }

    /// Adds the rows of a file; all of them, or none. A row of the user replaces a built-in one of the same name. A row
    /// of a workspace has a name of its own and the key variable that follows from it ([`own_variable`]), so that no
    /// secret that is there for others can reach it.
    pub fn add(&mut self, text: &str, file: &str, origin: &Origin) -> Result<(), CatalogError> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let wrong =
            |at: usize, message: String| CatalogError { file: file.to_owned(), line: line(at), message };
        let table: Table = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            wrong(error.span().map_or(0, |span| span.start), message)
        })?;
        let mut added = self.clone();
        for row in table.vendor {
            let at = row.span().start;
            let mut row = row.into_inner();
            row.origin = origin.clone();
            added.check(&row).map_err(|message| wrong(at, format!("vendor `{}`: {message}", row.name)))?;
            match added.vendors.iter_mut().find(|known| known.name == row.name) {
                Some(known) => {
                    row.families = row.families.or_else(|| known.families.take());
                    *known = row;
                }
                None => added.vendors.push(row),
            }
        }
        *self = added;
        Ok(())
    }

    fn check(&self, row: &VendorRow) -> Result<(), String> {
        let is_word = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
        };
        if row.name.is_empty() || row.name == "script" || !row.name.chars().all(is_word) {
            return Err("a name is made of a-z, 0-9 and `-`, and is not `script`".to_owned());
        }
        row.url("").map_err(|error| error.message)?;
        if let Some(wrong) = address::wrong(&row.base_url) {
            return Err(wrong.to_owned());
        }
        if let Some(header) = &row.key_header {
            check_header(header)?;
        }
        for model in &row.models {
            model.price.as_ref().map_or(Ok(()), |price| price.check(&model.name))?;
        }
        let has_key = !row.key.is_empty();
        if has_key && !row.is_private() && !row.plain_http {
            return Err(
                "a key would be sent without encryption; use https, or set `plain-http = true`".to_owned()
            );
        }
        let known = self.vendors.iter().find(|known| known.name == row.name);
        match &row.origin {
            Origin::Workspace(_) => {
                if known.is_some() {
                    return Err(
                        "another row has this name; a workspace brings vendors of its own only".to_owned()
                    );
                }
                if row.key.file.is_some() || !row.key.command.is_empty() || row.base_url_variable.is_some() {
                    return Err("a row of a workspace finds its key in a variable only".to_owned());
                }
                let own = own_variable(&row.name);
                match row.key.variables.iter().find(|name| **name != own) {
                    Some(name) => Err(format!(
                        "a vendor that a workspace brings finds its key in `{own}` alone, so that no other secret can reach it; \
                         write `key = {{ variables = [\"{own}\"] }}` in place of `{}`",
                        name.chars().take(100).collect::<String>()
                    )),
                    None => Ok(()),
                }
            }
            origin if known.is_some_and(|known| known.origin == *origin) => {
                Err("there are two rows of this name; keep one of them".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The vendor and the model that a name means: `vendor/model`, a vendor, or a name that is one vendor's alone.
    pub fn find(&self, wanted: &str) -> Result<(&VendorRow, String), ModelError> {
        if let Some((vendor, model)) = wanted.split_once('/')
            && let Some(row) = self.vendors.iter().find(|row| row.name == vendor)
        {
            // A server on this machine says itself which models it has.
            if model.is_empty() && row.probe.is_none() {
                let message = format!(
                    "`{wanted}` names no model; write `{vendor}/MODEL`, or `{vendor}` for its usual one"
                );
                return Err(ModelError::new(ModelErrorKind::Invalid, message));
            }
            let model = row.aliases.get(model).map_or(model, String::as_str);
            return Ok((row, model.to_owned()));
        }
        if let Some(row) = self.vendors.iter().find(|row| row.name == wanted) {
            return match &row.model {
                Some(model) => Ok((row, model.clone())),
                None => Ok((row, String::new())),
            };
        }
        let possible = self.possible(wanted);
        match possible.as_slice() {
            [row] => Ok((row, row.aliases.get(wanted).map_or(wanted, String::as_str).to_owned())),
            [] => Err(ModelError::new(ModelErrorKind::Invalid, self.unknown(wanted))),
            [..] => {
                let forms: Vec<String> =
                    possible.iter().map(|row| format!("`{}/{wanted}`", row.name)).collect();
                let message =
                    format!("`{wanted}` may be a model of several vendors; write {}", forms.join(" or "));
                Err(ModelError::new(ModelErrorKind::Invalid, message))
            }
        }
    }

    /// The vendors of which a model of this name may be: those whose rows have exactly this name, else those with a row that
    /// the name continues, else those of its family.
    fn possible(&self, wanted: &str) -> Vec<&VendorRow> {
        let of =
            |is: &dyn Fn(&VendorRow) -> bool| self.vendors.iter().filter(|row| is(row)).collect::<Vec<_>>();
        let listed = match of(&|row| row.names(wanted)) {
            exact if exact.is_empty() => of(&|row| row.row_of(wanted).is_some()),
            exact => exact,
        };
        // The list of a workspace does not take a name away from the vendor whose family it is of.
        let is_brought = |row: &&VendorRow| matches!(row.origin, Origin::Workspace(_));
        if !listed.iter().all(is_brought) {
            return listed;
        }
        of(&|row| row.has_family_of(wanted) || listed.iter().any(|listed| listed.name == row.name))
    }

    /// What is said of a name that no vendor has.
    fn unknown(&self, wanted: &str) -> String {
        let vendors = || self.vendors.iter().map(|row| row.name.as_str());
        let all = vendors().collect::<Vec<_>>().join(", ");
        if let Some((vendor, model)) = wanted.split_once('/') {
            return match nearest(vendor, vendors(), 1).first() {
                Some(near) => {
                    format!(
                        "there is no vendor `{vendor}`; did you mean `{near}`? then write `{near}/{model}`"
                    )
                }
                None => format!(
                    "there is no vendor `{vendor}`; there are {all}: write one of them as in `openrouter/{wanted}`"
                ),
            };
        }
        let models = self.vendors.iter().flat_map(|row| &row.models).map(|row| row.name.as_str());
        let near = match nearest(wanted, vendors().chain(models), 1).first() {
            Some(near) => format!("did you mean `{near}`? otherwise "),
            None => String::new(),
        };
        format!(
            "no vendor has a model `{wanted}`; {near}write it as `vendor/model`, such as `openai/{wanted}`, with one of the vendors {all}"
        )
    }
}

impl VendorRow {
    /// The row of a model: the one with the longest name that the model's name continues.
    pub fn row_of(&self, model: &str) -> Option<&ModelRow> {
        let continues = |row: &&ModelRow| {
            let rest = model.strip_prefix(&row.name);
            rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_alphanumeric()))
        };
        self.models.iter().filter(continues).max_by_key(|row| row.name.len())
    }

    /// Whether the row has a model of exactly this name, as a short name, or as the one that is used when none is named.
    fn names(&self, model: &str) -> bool {
        self.models.iter().any(|row| row.name == model)
            || self.aliases.contains_key(model)
            || self.model.as_deref() == Some(model)
    }

    /// Whether the model's name is of one of the families.
    fn has_family_of(&self, model: &str) -> bool {
        self.families.iter().flatten().any(|family| name_matches(family, model))
    }

    /// What is known of a model, on a day such as `2026-11-18`.
    pub fn profile(&self, model: &str, today: &str) -> Profile {
        let row = self.row_of(model);
        let price = row.and_then(|row| row.price.as_ref());
        let is_exact = row.is_some_and(|row| is_stamp(model.strip_prefix(&row.name).unwrap_or_default()));
        let holds = |price: &&PriceRow| price.until.as_deref().is_none_or(|until| today <= until);
        Profile {
            vendor: self.name.clone(),
            model: model.to_owned(),
            provider: self.format.provider().to_owned(),
            dialect: self.dialect.clone(),
            context_tokens: row.and_then(|row| row.context).or(self.context),
            output_tokens: row.and_then(|row| row.output),
            price: price.filter(|_| is_exact).filter(holds).map(PriceRow::price),
            images: row.and_then(|row| row.accepts_images).unwrap_or(self.accepts_images),
            search: self.search,
            reads_data: false,
        }
    }

    /// A model of this vendor.
    pub fn open(&self, model: &str, key: Option<Key>, client: Client, today: &str) -> Remote {
        let profile = self.profile(model, today);
        let target = Target {
            format: self.format,
            model: model.to_owned(),
            output_tokens: profile.output_tokens,
            context_tokens: profile.context_tokens,
            images: profile.images,
            quirks: self.quirks.clone(),
        };
        Remote::new(profile, target, &self.base_url, key, client)
            .with_image_limits(self.images)
            .with_key_header(self.key_header())
    }

    /// The header that carries the key, and what stands before the key in it.
    pub(super) fn key_header(&self) -> (String, &'static str) {
        match &self.key_header {
            None => {
                let (name, begin) = self.format.key_header();
                (name.to_owned(), begin)
            }
            Some(name) if name == "authorization" => (name.clone(), "Bearer "),
            Some(name) => (name.clone(), ""),
        }
    }

    /// The base URL for messages and lists.
    pub fn shown_url(&self) -> std::borrow::Cow<'_, str> {
        address::shown(&self.base_url)
    }

    /// A URL below the base URL.
    pub(super) fn url(&self, path: &str) -> Result<Url, ModelError> {
        Url::parse(&address::below(&self.base_url, path))
            .map_err(|error| ModelError::new(ModelErrorKind::Invalid, error.to_string()))
    }

    /// Whether what is sent stays on this machine or is encrypted.
    fn is_private(&self) -> bool {
        self.url("").is_ok_and(|url| url.target().is_encrypted || is_on_this_machine(&url))
    }
}

/// Whether a key may be sent in this header: not in one that says something else to a server.
fn check_header(name: &str) -> Result<(), String> {
    let is_word = !name.is_empty()
        && name.len() <= 60
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let is_for_keys = name == "authorization" || name.contains("key") || name.contains("token");
    match is_word && is_for_keys {
        true => Ok(()),
        false => Err(format!(
            "`key-header` is `{}`; write the name of a header for keys in lower case, such as `api-key`",
            name.chars().take(60).collect::<String>()
        )),
    }
}

pub(super) fn is_on_this_machine(url: &Url) -> bool {
    let host = &url.target().host;
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rows_are_sound() {
        let catalog = Catalog::built_in().unwrap();
        for row in catalog.vendors() {
            let day = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() == 10);
            for model in &row.models {
                let price = model.price.as_ref();
                assert!(
                    price.is_none_or(|price| price.as_of.is_some() && day(&price.as_of) && day(&price.until))
                );
                assert!(price.is_none_or(|price| price.above.as_ref().is_none_or(|above| above.tokens > 0)));
            }
            let default = row.model.as_deref();
            assert!(default.is_some() != row.probe.is_some(), "{}", row.name);
            assert!(row.probe.is_some() || !row.key.is_empty(), "{}", row.name);
        }
    }

    /// A name, and the vendor and model that it means, with the price of a million tokens each way.
    fn check(wanted: &str, vendor: &str, model: &str, price: Option<f64>) {
        let catalog = Catalog::built_in().unwrap();
        let (row, found) = catalog.find(wanted).unwrap();
        assert_eq!((row.name.as_str(), found.as_str()), (vendor, model), "{wanted}");
        let profile = row.profile(&found, "2026-11-18");
        let usage = toolpost_core::model::Usage { input: 90_000, output: 1_000_000, ..Default::default() };
        assert_eq!(profile.price.map(|price| price.of(&usage)), price, "{wanted}");
    }

    #[test]
    fn names_mean_a_vendor_and_a_model() {
        check("anthropic/claude-haiku-4-5-20251001", "anthropic", "claude-haiku-4-5-20251001", Some(5.09));
        check("claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6", Some(15.27));
        check("sonnet", "anthropic", "claude-sonnet-5-5", Some(10.18));
        check("gemini", "gemini", "gemini-3.8-flash", Some(3.8175));
        check("openrouter/openai/gpt-5.5", "openrouter", "openai/gpt-5.5", None);
        check("ollama", "ollama", "", None);
        check("ollama/", "ollama", "", None);
        check("ollama/qwen3:4b", "ollama", "qwen3:4b", None);
        // Nobody has said what these cost.
        check("claude-opus-4-9", "anthropic", "claude-opus-4-9", None);
        check("gpt-5.6-luna", "openai", "gpt-5.6-luna", None);
        check("openai/gpt-5.6-sol", "openai", "gpt-5.6-sol", Some(20.36));
        // No row has these; their families are known.
        check("gemini-2.0-flash-lite", "gemini", "gemini-2.0-flash-lite", None);
        check("claude-3-7-sonnet-latest", "anthropic", "claude-3-7-sonnet-latest", None);
        check("gpt-4.1-mini", "openai", "gpt-4.1-mini", None);
        check("o3", "openai", "o3", None);
        check("o4-mini", "openai", "o4-mini", None);
        check("mistral-large-latest", "mistral", "mistral-large-latest", None);
        check("codestral-2508", "mistral", "codestral-2508", None);
        check("deepseek-chat", "deepseek", "deepseek-chat", None);
        check("grok-4-fast", "xai", "grok-4-fast", None);
        check("llama-3.1-8b-instant", "groq", "llama-3.1-8b-instant", None);
        // The vendor that has it as its own default.
        check(
            "meta-llama/Llama-3.3-70B-Instruct-Turbo",
            "together",
            "meta-llama/Llama-3.3-70B-Instruct-Turbo",
            None,
        );
        let error = Catalog::built_in().unwrap().find("openai/").unwrap_err();
        assert!(error.message.contains("`openai/MODEL`"), "{error:?}");
        let error = Catalog::built_in().unwrap().find("gpt5").unwrap_err();
        assert!(error.message.contains("vendor/model") && error.message.contains("anthropic"), "{error:?}");
    }

    /// A name that a catalog with this row more does not take, and what is said of it.
    fn doubtful(row: &str, origin: &Origin, wanted: &str, parts: &[&str]) {
        let mut catalog = Catalog::built_in().unwrap();
        let base = "format = \"openai-chat\"\nbase-url = \"https://own.test\"";
        catalog.add(&format!("[[vendor]]\nname = \"own\"\n{base}\n{row}"), "x.toml", origin).unwrap();
        let error = catalog.find(wanted).unwrap_err();
        for part in parts {
            assert!(error.message.contains(part), "{wanted}: {error:?}");
        }
        // The forms that it names are taken.
        for form in error.message.split('`').filter(|form| form.ends_with(&format!("/{wanted}"))) {
            assert_eq!(catalog.find(form).unwrap().1, wanted, "{form}");
        }
    }

    #[test]
    fn a_name_that_may_be_of_two_vendors_is_an_error_with_both_forms() {
        let user = &Origin::User("x.toml".into());
        let workspace = &Origin::Workspace("x.toml".into());
        let listed = "[[vendor.models]]\nname = \"claude-sonnet-5-5\"";
        let family = "families = [\"gemini-*\"]";
        let flash = "[[vendor.models]]\nname = \"gemini-2.0-flash-lite\"";
        let none = "key = {}";
        doubtful(
            listed,
            user,
            "claude-sonnet-5-5",
            &["`anthropic/claude-sonnet-5-5`", "`own/claude-sonnet-5-5`"],
        );
        doubtful(family, user, "gemini-1.5-pro", &["`gemini/gemini-1.5-pro`", "`own/gemini-1.5-pro`"]);
        doubtful(
            none,
            user,
            "meta-llama/llama-4",
            &["`groq/meta-llama/llama-4`", "`openrouter/meta-llama/llama-4`"],
        );
        // What a workspace lists takes no name away from the vendor that it is known of.
        doubtful(flash, workspace, "gemini-2.0-flash-lite", &["`gemini/gemini-2.0-flash-lite`", "`own/"]);
        doubtful(none, user, "sonet", &["`vendor/model`", "`openai/sonet`", "own"]);
        let mut catalog = Catalog::built_in().unwrap();
        let row = "[[vendor]]\nname = \"gemini\"\nformat = \"gemini\"\nbase-url = \"https://own.test\"";
        catalog.add(row, "x.toml", user).unwrap();
        assert_eq!(catalog.find("gemini-2.0-flash-lite").unwrap().0.base_url, "https://own.test");
        // What a user lists goes before a family.
        let row = "[[vendor]]\nname = \"own\"\nformat = \"openai-chat\"\nbase-url = \"https://own.test\"\n[[vendor.models]]\nname = \"gpt-own\"";
        catalog.add(row, "x.toml", user).unwrap();
        assert_eq!(catalog.find("gpt-own").unwrap().0.name, "own");
        assert_eq!(catalog.find("gpt-owned").unwrap().0.name, "openai");
    }

    #[test]
    fn a_price_ends_with_its_day() {
        let catalog = Catalog::built_in().unwrap();
        let (row, model) = catalog.find("gpt-5.6-sol").unwrap();
        assert!(row.profile(&model, "2026-11-21").price.is_some());
        assert!(row.profile(&model, "2026-11-22").price.is_none());
        let usage = toolpost_core::model::Usage { input: 300_000, ..Default::default() };
        assert_eq!(row.profile(&model, "2026-11-21").price.unwrap().of(&usage), 2.4);
    }

    /// Rows of a file, and a part of what is wrong with them.
    fn refused(text: &str, origin: Origin, part: &str) {
        let mut catalog = Catalog::built_in().unwrap();
        let error = catalog.add(text, "x.toml", &origin).unwrap_err();
        assert!(error.to_string().starts_with("x.toml:2: ") && error.message.contains(part), "{error}");
        assert_eq!(catalog, Catalog::built_in().unwrap());
    }

    #[test]
    fn a_price_below_zero_is_refused() {
        for price in [
            "{ input = -5.0, output = 30.0 }",
            "{ input = 5.0, output = nan }",
            "{ input = 5.0, output = 3.0, cached = -0.1 }",
            "{ input = 5.0, output = 3.0, above = { input = inf, output = 3.0, tokens = 9 } }",
        ] {
            let text = format!(
                "# a row\n[[vendor]]\nname = \"own\"\nformat = \"openai-chat\"\nbase-url = \"https://own.test\"\n[[vendor.models]]\nname = \"m\"\nprice = {price}"
            );
            refused(&text, Origin::User("x.toml".into()), "of the model `m` is not a number from 0 up");
        }
    }

    #[test]
    fn rows_that_could_leak_a_key_are_refused() {
        let row = |more: &str| {
            format!(
                "# a row\n[[vendor]]\nname = \"own\"\nformat = \"openai-chat\"\nbase-url = \"https://own.test\"\n{more}"
            )
        };
        let workspace = || Origin::Workspace("x.toml".into());
        let user = || Origin::User("x.toml".into());
        for name in
            ["OPENAI_API_KEY", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "OWN_API_KEY", "TOOLPOST_API_KEY", ""]
        {
            let row = row(&format!("key = {{ variables = [\"TOOLPOST_OWN_API_KEY\", \"{name}\"] }}"));
            refused(&row, workspace(), "finds its key in `TOOLPOST_OWN_API_KEY` alone");
        }
        refused(&row("key = { file = \"/etc/shadow\" }"), workspace(), "in a variable only");
        refused(&row("key = { command = [\"sh\"] }"), workspace(), "in a variable only");
        refused(&row("base-url-variable = \"X\""), workspace(), "in a variable only");
        refused(&row("").replace("own\"", "openai\""), workspace(), "another row has this name");
        let plain = row("key = { variables = [\"OWN\"] }").replace("https", "http");
        refused(&plain, user(), "without encryption");
        refused(&row("").replace("https://", "https://u:p@"), user(), "no user");
        refused(&row("key-header = \"host\""), user(), "`key-header` is `host`");
        refused(&row("key-header = \"Api-Key\""), user(), "in lower case");
        refused(&row("").replace("own\"", "a/b\""), user(), "a-z");
        let mut catalog = Catalog::built_in().unwrap();
        catalog
            .add(&row("key = { variables = [\"TOOLPOST_OWN_API_KEY\"] }"), "x.toml", &workspace())
            .unwrap();
        assert_eq!(catalog.find("own/m").unwrap().0.origin, workspace());
        let other = row("key = { variables = [\"OPENAI_API_KEY\"] }").replace("\"own\"", "\"openai\"");
        catalog.add(&other, "x.toml", &user()).unwrap();
        assert_eq!(catalog.find("openai/m").unwrap().0.base_url, "https://own.test");
    }

    #[test]
    fn mistakes_are_located() {
        let mut catalog = Catalog::default();
        let mistakes = [
            ("\n[[vendor]]\nname = 1", 3, "string"),
            ("[[vendor]]\nname = \"a\"\n", 1, "missing field"),
            ("\n\n[[vendors]]", 3, "unknown field"),
            ("a = ", 1, ""),
            ("[[vendor]]\nname=\"a\"\nformat=\"x\"\nbase-url=\"\"", 3, "unknown variant"),
        ];
        for (text, line, part) in mistakes {
            let error = catalog.add(text, "x.toml", &Origin::BuiltIn).unwrap_err();
            assert!(error.line == line && error.message.contains(part), "{text:?}: {error}");
        }
    }
}
