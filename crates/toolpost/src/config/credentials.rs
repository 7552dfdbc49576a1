//! Files that hold secrets, or choose what is run, wherever a variable of the environment says that they lie; and
//! toolpost's own files. File tools are kept from them by rules, commands also by the sandbox.

use super::env::Environment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::policy::{self, Effect, Layer, Origin, Rule};
use toolpost_core::{Access, Capability, Workspace};
use toolpost_disk::Disk;

/// Variables that name a file, or several with `:` between them.
const FILES: &[&str] = &[
    "ANSIBLE_CONFIG",
    "ANSIBLE_VAULT_PASSWORD_FILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_FEDERATED_TOKEN_FILE",
    "BASH_ENV",
    "BOTO_CONFIG",
    "BUNDLE_USER_CONFIG",
    "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE",
    "CONDARC",
    "DATABRICKS_CONFIG_FILE",
    "ENV",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_GHA_CREDS_PATH",
    "HELM_REGISTRY_CONFIG",
    "HF_TOKEN_PATH",
    "HELM_REPOSITORY_CONFIG",
    "HISTFILE",
    "INPUTRC",
    "KRB5CCNAME",
    "KRB5_CLIENT_KTNAME",
    "KRB5_KTNAME",
    "KUBECONFIG",
    "MYSQL_TEST_LOGIN_FILE",
    "NETRC",
    "NPM_CONFIG_GLOBALCONFIG",
    "NPM_CONFIG_USERCONFIG",
    "OCI_CLI_CONFIG_FILE",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "PIP_CONFIG_FILE",
    "PYTHONSTARTUP",
    "RCLONE_CONFIG",
    "REGISTRY_AUTH_FILE",
    "SOPS_AGE_KEY_FILE",
    "SSH_AUTH_SOCK",
    "TF_CLI_CONFIG_FILE",
    "UV_CONFIG_FILE",
    "VAULT_CONFIG_PATH",
    "WGETRC",
    "YARN_RC_FILENAME",
    "npm_config_globalconfig",
    "npm_config_userconfig",
];

/// Variables that name a folder that is all secrets.
const FOLDERS: &[&str] = &[
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "GNUPGHOME",
    "HELM_CONFIG_HOME",
    "OP_CONFIG_DIR",
    "PASSWORD_STORE_DIR",
    "POETRY_CONFIG_DIR",
    "UV_CREDENTIALS_DIR",
];

/// Variables that name a folder with some such files in it.
const INSIDE: &[(&str, &[&str])] = &[
    ("CARGO_HOME", &["credentials", "credentials.toml", "config", "config.toml"]),
    ("BUNDLE_APP_CONFIG", &["config"]),
    ("CF_HOME", &[".cf/config.json"]),
    ("CLAUDE_CONFIG_DIR", &[".credentials.json", "settings.json"]),
    ("CODEX_HOME", &["auth.json", "config.toml"]),
    ("COMPOSER_HOME", &["auth.json"]),
    ("CURL_HOME", &[".curlrc", ".netrc"]),
    ("GEM_HOME", &["credentials"]),
    ("GRADLE_USER_HOME", &["gradle.properties", "init.gradle", "init.gradle.kts", "init.d"]),
    ("HF_HOME", &["token", "stored_tokens"]),
    ("KAGGLE_CONFIG_DIR", &["kaggle.json"]),
    ("MYSQL_HOME", &["my.cnf"]),
    ("MAVEN_USER_HOME", &["settings.xml", "settings-security.xml"]),
    ("NPM_CONFIG_PREFIX", &["etc/npmrc"]),
    (
        "XDG_CONFIG_HOME",
        &[
            "containers/auth.json",
            "doctl",
            "git/credentials",
            "glab-cli",
            "hub",
            "npm/npmrc",
            "op",
            "pip/pip.conf",
            "pypoetry",
            "rclone",
            "sops",
        ],
    ),
    ("XDG_DATA_HOME", &["keyrings", "pypoetry", "uv/credentials"]),
    ("ZDOTDIR", &[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"]),
];

/// Where the protected list speaks of a folder of the home directory that a variable may put elsewhere.
const MOVED: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo/"),
    ("DOCKER_CONFIG", ".docker/"),
    ("XDG_CONFIG_HOME", ".config/"),
    ("XDG_DATA_HOME", ".local/share/"),
];

/// Files of tools that commands need to read, and may not change.
const READABLE: &[&str] = &["CARGO_HOME/config", "CARGO_HOME/config.toml"];

/// A file or folder that a variable leads to.
struct Led {
    path: PathBuf,
    variable: &'static str,
    /// Whether it is only protected from being changed.
    is_readable: bool,
}

/// Everything that the variables lead to, whether it exists or not.
fn led(environment: &Environment) -> Vec<Led> {
    let value = |variable: &str| environment.variables.get(variable).filter(|value| !value.is_empty());
    let absolute = |text: &str| {
        let text = text.strip_prefix("FILE:").or_else(|| text.strip_prefix("file:")).unwrap_or(text);
        match (text.strip_prefix("~/"), &environment.home, &environment.cwd) {
            (Some(below), Some(home), _) => Some(home.join(below)),
            (_, _, Some(cwd)) => Some(cwd.join(text)),
            _ => Some(PathBuf::from(text)).filter(|path| path.is_absolute()),
        }
    };
    let mut all = Vec::new();
    for variable in FILES {
        // A name with a `:` in it is meant whole, a list in its parts: which of the two is not known here.
        let Some(value) = value(variable) else { continue };
        let parts = value.split(':').filter(|part| part.contains('/') || !value.contains(':'));
        let whole = value.contains(':').then_some(value.as_str());
        let paths = parts.chain(whole).filter_map(absolute);
        all.extend(paths.map(|path| Led { path, variable, is_readable: false }));
    }
    for variable in FOLDERS {
        let path = value(variable).and_then(|value| absolute(value));
        all.extend(path.map(|path| Led { path, variable, is_readable: false }));
    }
    for (variable, names) in INSIDE {
        let Some(folder) = value(variable).and_then(|value| absolute(value)) else { continue };
        all.extend(names.iter().map(|name| {
            let is_readable = READABLE.contains(&format!("{variable}/{name}").as_str());
            Led { path: folder.join(name), variable, is_readable }
        }));
    }
    for (variable, prefix) in MOVED {
        let Some(folder) = value(variable).and_then(|value| absolute(value)) else { continue };
        let rows =
            policy::protected().iter().filter_map(|row| Some((row, row.pattern.strip_prefix(prefix)?)));
        all.extend(rows.map(|(row, name)| {
            let is_readable = row.action != Capability::Read;
            Led { path: folder.join(name), variable, is_readable }
        }));
    }
    // `/dev/null` is how a file is switched off.
    all.retain(|led| !led.path.starts_with("/dev") && !led.path.starts_with("/proc"));
    all
}

/// What commands must not see: what the variables lead to, and toolpost's own files, as far as it exists; and the files
/// of the store, which may be made after this.
pub(super) fn hidden(environment: &Environment, store: &[PathBuf]) -> Vec<PathBuf> {
    let secrets = led(environment).into_iter().filter(|led| !led.is_readable).map(|led| led.path);
    let own = [&environment.data_directory, &environment.config_directory, &environment.cache_directory];
    let own = own.into_iter().flatten().cloned();
    let mut folders = Folders::default();
    let mut all: Vec<PathBuf> = secrets
        .chain(own)
        // Hardly any is there, and to follow a path part by part costs more than a look.
        .filter(|path| path.exists())
        // Both the link and its target are hidden.
        .flat_map(|path| [path.canonicalize().ok(), Some(path)])
        .flatten()
        .chain(store.iter().flat_map(|path| folders.names(path)))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Rules that keep tools from these files where they lie inside of the workspace. Nothing opens toolpost's own data:
/// whoever reads its token or writes its trust has every right, and whoever writes the store can change what has happened.
pub(super) fn rules(environment: &Environment, store: &[PathBuf], disk: &Disk) -> Vec<Rule> {
    const OWN: &str = "toolpost's own files";
    let mut rules = Vec::new();
    let mut folders = Folders::default();
    let own = [
        (&environment.data_directory, Effect::Deny),
        (&environment.config_directory, Effect::Ask),
        (&environment.cache_directory, Effect::Deny),
    ];
    let own = own.into_iter().filter_map(|(folder, reading)| Some((folder.as_deref()?, reading, OWN)));
    let store = store.iter().map(|path| (path.as_path(), Effect::Deny, "the store in use"));
    for (path, reading, why) in own.chain(store) {
        let origin = || Origin::new(Layer::BuiltIn, why, 0);
        for shown in shown(path, disk, &mut folders) {
            for (effect, action) in [(Effect::Deny, Capability::Write), (reading, Capability::Read)] {
                if effect == Effect::Ask {
                    rules.push(Rule::protected(action, &shown, origin()));
                    continue;
                }
                let access = Access::path(action, shown.as_str());
                let Some(exact) = Rule::exact(effect, action.as_str(), None, &access, origin()) else {
                    continue;
                };
                let below = format!("{}/**", exact.resource().as_str());
                rules.extend(Rule::new(effect, action.as_str(), &below, origin()));
                rules.push(exact);
            }
        }
    }
    for Led { path, variable, is_readable } in led(environment) {
        for shown in shown(&path, disk, &mut folders) {
            let origin = || Origin::new(Layer::BuiltIn, format!("what ${variable} leads to"), 0);
            rules.push(Rule::protected(Capability::Write, &shown, origin()));
            if !is_readable {
                rules.push(Rule::protected(Capability::Read, &shown, origin()));
            }
        }
    }
    rules.extend(disk.roots().first().into_iter().flat_map(|root| across(Path::new(root))));
    rules
}

/// Rules for what the protected list names by folders of which the root is one: in the workspace `.github`, the
/// folder `workflows`. Whoever opens a protected folder itself as the workspace means what is in it.
fn across(root: &Path) -> Vec<Rule> {
    let parts: Vec<String> =
        root.iter().map(|part| part.to_string_lossy().to_lowercase()).filter(|part| part != "/").collect();
    let rest = |pattern: &str| -> Option<String> {
        let names: Vec<&str> = pattern.split('/').collect();
        let count = (1..names.len()).find(|count| {
            parts.len() >= *count
                && parts[parts.len() - count..].iter().zip(&names).all(|(part, name)| part == name)
        })?;
        Some(names[count..].join("/"))
    };
    policy::protected()
        .iter()
        .filter_map(|row| {
            let origin = Origin::new(Layer::BuiltIn, format!("protected files, `{}`", row.pattern), 0);
            Some(Rule::protected_pattern(row.action, &rest(row.pattern)?, origin))
        })
        .collect()
}

/// A path as tools name it, once for its own name and once for where its links lead; nothing if it lies outside of the
/// workspace. Paths are judged as they are shown: from the first root, absolute in the others.
fn shown(path: &Path, disk: &Disk, folders: &mut Folders) -> Vec<String> {
    let mut all = Vec::new();
    for path in folders.names(path) {
        for (index, root) in disk.roots().iter().enumerate() {
            // The workspace itself is no file that could be protected.
            let Some(inside) = path.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty())
            else {
                continue;
            };
            let text = if index == 0 { inside } else { path.as_path() }.to_string_lossy().into_owned();
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}

/// Where folders really lie. Most of these files share one, and to follow it part by part for each would be a tenth of a start.
#[derive(Default)]
struct Folders(BTreeMap<PathBuf, PathBuf>);

impl Folders {
    /// A path under its own name in the real folder, and, for a link, where that leads.
    fn names(&mut self, path: &Path) -> Vec<PathBuf> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return vec![super::real(path)];
        };
        let folder = self.0.entry(folder.to_path_buf()).or_insert_with(|| super::real(folder));
        let named = folder.join(name);
        match named.is_symlink() {
            true => vec![super::real(&named), named],
            false => vec![named],
        }
    }
}
