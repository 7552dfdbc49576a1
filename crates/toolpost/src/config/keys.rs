//! The keys of the configuration, one row each. A new key is a new row, and nothing else.
//!
//! From these rows come the reader of files, the variables, the flags, the merging of layers, what waits for trust, the
//! JSON Schema, the example that `init` writes, the reference page and what `doctor` shows.

use super::hosts::Host;
use super::keep::{KEEP, STORE};
use super::key::{
    DIR, Flag, Form, InFile, Key, Kind, Merge, On, Row, Schema, Shown, Slot, Text, URL, Usual, Widens,
};
use super::kinds::*;
use super::language_servers::{LANGUAGE_SERVERS, LanguageServerText};
use super::models::{MODEL_NAME, VENDORS, VendorText, without_password};
use super::origin::{Origined, Problem};
use super::requires::{NAME as REQUIRES, VERSION};
use super::servers::Entry;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::policy::{Effect, Profile, Rule};
use toolpost_core::store::Retention;
use toolpost_core::{Capability, Dialect};
use toolpost_store::StoreUrl;
use toolpost_tools::shell::Confinement;
use toolpost_tools::web::Endpoint;

/// Makes the table and the struct that holds what one layer says from the rows. The row
///
/// ```text
/// timeout: Duration { name: "timeout", … }
/// ```
///
/// becomes the field `timeout: Vec<Origined<Duration>>` of `Settings` and the entry
/// `&Key::<Duration> { name: "timeout", …, slot: (that field) }` of `KEYS`.
macro_rules! keys {
    ($($field:ident: $value:ty { $($row:tt)* })*) => {
        /// What one layer says, or what holds: the values of each key with their places. A key that is no list has one
        /// value at most.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Settings {
            $(pub(crate) $field: Vec<Origined<$value>>,)*
            /// What is odd and narrows nothing.
            pub(crate) warnings: Vec<Problem>,
        }

        /// Every key, in the order of the documentation.
        pub(crate) static KEYS: &[&dyn Row] = &[$(
            &Key::<$value> {
                $($row)*
                slot: Slot { get: |settings| &settings.$field, get_mut: |settings| &mut settings.$field },
            },
        )*];
    };
}

pub(super) const SERVER_EXAMPLE: &str =
    "{ docs = { command = \"docs-mcp\", args = [\"--stdio\"], env = { TOKEN = \"${DOCS_TOKEN}\" } } }";

keys! {
    policy: Profile {
        name: "policy",
        about: "What may happen: read-only, standard (read and write in the workspace) or privileged (also exec, \
                network). Setting it drops the `allow` and `ask` of weaker layers.",
        file: InFile::Value("\"standard\""),
        variable: "TOOLPOST_POLICY",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "policy",
            value: "PROFILE",
            help: "What may happen: read-only, standard (read and write in the workspace) or privileged (also exec, \
                   network)",
        }),
        usual: Usual::Means("standard"),
        kind: PROFILE,
        merge: Merge::Rights,
        widens: Widens::Rights,
        shown: Shown::Rights,
    }
    allow: Capability {
        name: "allow",
        about: "Capabilities granted in addition to those of the policy: read, trace, write, exec, network.",
        file: InFile::Value("[\"exec\"]"),
        variable: "TOOLPOST_ALLOW",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "allow",
            value: "CAPABILITY",
            help: "Grant one capability more: read, trace, write, exec or network",
        }),
        usual: Usual::Means("[]"),
        kind: CAPABILITIES,
        merge: Merge::Rights,
        widens: Widens::Rights,
        shown: Shown::Rights,
    }
    ask: Capability {
        name: "ask",
        about: "Capabilities that a person is asked for each time, also where the policy grants them.",
        file: InFile::Value("[\"write\"]"),
        variable: "TOOLPOST_ASK",
        flag: None,
        usual: Usual::Means("[]"),
        kind: CAPABILITIES,
        merge: Merge::Rights,
        widens: Widens::Rights,
        shown: Shown::Rights,
    }
    deny: Capability {
        name: "deny",
        about: "Capabilities that are withheld: read, trace, write, exec, network. It holds whatever other files, variables and \
                flags say, as a rule that denies does.",
        file: InFile::Value("[\"network\"]"),
        variable: "TOOLPOST_DENY",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "deny",
            value: "CAPABILITY",
            help: "Withhold one capability, whatever else grants it: read, trace, write, exec or network",
        }),
        usual: Usual::Means("[]"),
        kind: CAPABILITIES,
        merge: Merge::All,
        // To withhold is to narrow.
        widens: Widens::Unless(|_, _| true, |_| Vec::new()),
        shown: Shown::Rights,
    }
    rules: Rule {
        name: "rule",
        about: "Rules: allow, ask or deny what an action may do to a resource. The first rule of a file that matches \
                speaks for it; a deny of any file wins. The examples are checked whenever the file is read. \
                `toolpost policy explain TOOL ARGS` tells which rule decides.",
        file: InFile::Tables(
            "[[rule]]\neffect = \"deny\"\naction = \"write\"\nresource = \"/migrations/**\"\n\
             match = [\"migrations/001.sql\"]\nnot_match = [\"src/main.rs\"]\n",
        ),
        variable: "",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "allow-rule",
            value: "RULE",
            help: "Allow just this: `action: resource`, such as 'bash: cargo test *' or 'read: /.env'",
        }),
        usual: Usual::Means("none"),
        kind: RULES,
        merge: Merge::All,
        widens: Widens::Unless(
            |rule, _| rule.effect() != Effect::Allow,
            |rule| vec![format!("allows `{rule}`")],
        ),
        shown: Shown::Rules,
    }
    sandbox: Confinement {
        name: "sandbox",
        about: "How commands are confined: strict (the kernel holds them to the policy; where it cannot, they are \
                refused) or none (they can do what you can).",
        file: InFile::Value("\"strict\""),
        variable: "TOOLPOST_SANDBOX",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "sandbox",
            value: "HOW",
            help: "How commands are confined: strict (the default; the kernel holds them to the policy) or none",
        }),
        usual: Usual::Is("strict"),
        kind: CONFINEMENT,
        merge: Merge::Strongest,
        // A project may ask for the sandbox at once; it may not take it away.
        widens: Widens::Unless(
            |theirs, _| *theirs == Confinement::Strict,
            |_| vec!["takes the sandbox from commands".to_owned()],
        ),
        shown: Shown::Row,
    }
    timeout: Duration {
        name: "timeout",
        about: "How long a call may run: 500ms, 30s, 2m. A tool's own maximum still holds.",
        file: InFile::Value("\"30s\""),
        variable: "TOOLPOST_TIMEOUT",
        flag: Some(Flag {
            on: On::Call,
            long: "timeout",
            value: "TIME",
            help: "How long the tool may run: 30s, 500ms, 2m; a plain number is seconds",
        }),
        usual: Usual::Means("each tool's own"),
        kind: TIME,
        merge: Merge::Strongest,
        // A shorter time is a narrower right.
        widens: Widens::Unless(
            |theirs, own| own.is_some_and(|own| theirs < own),
            |_| vec!["sets the time-out of calls".to_owned()],
        ),
        shown: Shown::Row,
    }
    dialect: Arc<Dialect> {
        name: "dialect",
        about: "The names and argument spellings that models are shown: toolpost, long, claude, gemini or codex.",
        file: InFile::Value("\"toolpost\""),
        variable: "TOOLPOST_DIALECT",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "dialect",
            value: "NAME",
            help: "Names and arguments in which tools are offered: toolpost (the default), long, claude, gemini or \
                   codex. Those of the others are understood all the same",
        }),
        usual: Usual::Is("toolpost"),
        kind: DIALECT,
        merge: Merge::Strongest,
        widens: Widens::Always(|dialect| vec![format!("names tools in the dialect `{}`", dialect.name())]),
        shown: Shown::Row,
    }
    session: String {
        name: "session",
        about: "The session that calls, outputs, virtual files and todos belong to, and that owns the tasks it claims. One that \
                is named outlives the process. `log`, `sessions` and `stats` show only this session where it is named.",
        file: InFile::Never,
        variable: "TOOLPOST_SESSION",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "session",
            value: "ID",
            help: "Session that calls, virtual files, todos and claimed tasks belong to, and that log, sessions and stats \
                   look at; otherwise the workspace's own",
        }),
        usual: Usual::Means("one of the workspace's own"),
        kind: Kind {
            form: Form::Text(Text { parse: |text| Ok(text.to_owned()), longest: None }),
            schema: Schema::Is(|| json!({"type": "string"})),
            show: |session| session.as_str().into(),
        },
        merge: Merge::Strongest,
        widens: Widens::Never,
        shown: Shown::Row,
    }
    role: String {
        name: "role",
        about: "The role of the session among the shared tasks: a worker claims and submits, an orchestrator creates, \
                completes and rejects. Without a role, no tools for tasks are offered.",
        file: InFile::Never,
        variable: "TOOLPOST_ROLE",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "role",
            value: "ROLE",
            help: "Role among the shared tasks: worker or orchestrator; without one their tools are not offered",
        }),
        usual: Usual::Means("none"),
        kind: ROLE,
        merge: Merge::Strongest,
        widens: Widens::Never,
        shown: Shown::Row,
    }
    store: StoreUrl {
        name: "store",
        about: "Where the log of events, virtual files, tasks, todos and what undo needs are kept: `sqlite:PATH`, \
                `postgres://USER@HOST/DATABASE` for many machines, or `memory`, which ends with the process.",
        file: InFile::Value("\"sqlite:~/toolpost.db\""),
        variable: "TOOLPOST_STORE",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "store",
            value: URL,
            help: "Store for events, virtual files, tasks, todos and what undo needs: sqlite:PATH, \
                   postgres://USER@HOST/DATABASE or memory; otherwise a file of the workspace's own in your data directory",
        }),
        usual: Usual::Means("a file of the workspace's own in the data directory"),
        kind: STORE,
        merge: Merge::Strongest,
        widens: Widens::Always(|store| vec![format!("keeps the log, files and tasks in {store}")]),
        shown: Shown::Row,
    }
    keep: Retention {
        name: "keep",
        about: "How long the log and what belongs to it are kept, and how large the store may grow: `30 days, 1 GiB`. Either of \
                the two, both, or `all`. `toolpost gc` deletes the rest.",
        file: InFile::Value("\"30 days, 1 GiB\""),
        variable: "TOOLPOST_KEEP",
        flag: None,
        usual: Usual::Is("30 days, 1 GiB"),
        kind: KEEP,
        merge: Merge::Strongest,
        widens: Widens::Always(|_| vec!["sets how long the log is kept".to_owned()]),
        shown: Shown::Row,
    }
    descriptions: PathBuf {
        name: "descriptions",
        about: "Folder of NAME.txt files that replace the descriptions of tools; from the folder of this file.",
        file: InFile::Value("\"descriptions\""),
        variable: "TOOLPOST_DESCRIPTIONS",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "descriptions",
            value: DIR,
            help: "Folder of NAME.txt files that replace the descriptions of tools",
        }),
        usual: Usual::Means("the folder `descriptions` next to the user's file"),
        kind: Kind {
            form: Form::Text(Text {
                parse: |text| match text {
                    "" => Err("`descriptions` names no folder; write its path".to_owned()),
                    folder => Ok(PathBuf::from(folder)),
                },
                longest: LINE,
            }),
            schema: Schema::Is(|| json!({"type": "string", "minLength": 1})),
            show: |folder| folder.display().to_string().into(),
        },
        merge: Merge::Strongest,
        widens: Widens::Always(|folder| {
            vec![format!("takes descriptions of tools from `{}`", folder.display())]
        }),
        shown: Shown::Row,
    }
    readable: PathBuf {
        name: "readable",
        about: "Files and folders outside of the workspace that confined commands may read, in addition to the \
                system's own and the toolchains that are found. Absolute, or from the home directory with `~/`.",
        file: InFile::Value("[\"~/sdk\"]"),
        variable: "TOOLPOST_READABLE",
        flag: None,
        usual: Usual::Means("[]"),
        kind: OUTSIDE_PATHS,
        merge: Merge::All,
        widens: Widens::Always(|path| vec![format!("lets commands read `{}`", path.display())]),
        shown: Shown::Row,
    }
    environment: String {
        name: "environment",
        about: "Variables that commands get in addition to the usual ones (PATH, HOME, language, toolchains).",
        file: InFile::Value("[\"DATABASE_URL\"]"),
        variable: "TOOLPOST_ENVIRONMENT",
        flag: None,
        usual: Usual::Means("[]"),
        kind: Kind {
            form: Form::Texts {
                text: Text {
                    parse: |text| match text.is_empty() || text.contains('=') {
                        true => Err(format!("`{text}` is not a valid variable name; write only the name")),
                        false => Ok(text.to_owned()),
                    },
                    longest: WORD,
                },
                most: MANY,
                between: BETWEEN_WORDS,
            },
            schema: Schema::Is(|| json!({"type": "string", "pattern": "^[^=]+$"})),
            show: |name| name.as_str().into(),
        },
        merge: Merge::All,
        widens: Widens::Always(|name| vec![format!("gives commands the variable `{name}`")]),
        shown: Shown::Row,
    }
    formatters: Format {
        name: "formatters",
        about: "Programs that format a file after `write`, `edit` and `apply_patch`, by its extension: they get the text on \
                standard input and print it formatted; `{}` is the file's name. Confined; one that fails changes nothing.",
        file: InFile::Value("[\"rs: rustfmt --edition 2024\", \"js,ts: prettier --stdin-filepath {}\"]"),
        variable: "TOOLPOST_FORMATTERS",
        flag: None,
        usual: Usual::Means("[]"),
        kind: FORMATTERS,
        merge: Merge::All,
        widens: Widens::Always(|format| vec![format!("runs `{}` after changes", format.words[0])]),
        shown: Shown::Row,
    }
    language_servers: LanguageServerText {
        name: "languageServer",
        about: "Language servers that look at a file after `write`, `edit` and `apply_patch`: `command`, `args`, `languages` or \
                `files` (globs), `time` (how long a change waits, 1.5s unless set), `name` and `options`. Their new errors come with the result. \
                Confined: they read the workspace and change nothing.",
        file: InFile::Tables(
            "[[languageServer]]\ncommand = \"pyright-langserver\"\nargs = [\"--stdio\"]\nlanguages = [\"python\"]\n",
        ),
        variable: "",
        flag: None,
        usual: Usual::Means("none"),
        kind: LANGUAGE_SERVERS,
        merge: Merge::All,
        widens: Widens::Always(LanguageServerText::brings),
        shown: Shown::Row,
    }
    refuse_broken: bool {
        name: "refuseBroken",
        about: "Whether `write`, `edit` and `apply_patch` refuse every change after which a file that parsed does not parse any more. Without it, \
                such a change is made where the old text is there exactly, and the result says so.",
        file: InFile::Value("true"),
        variable: "TOOLPOST_REFUSE_BROKEN",
        flag: None,
        usual: Usual::Is("false"),
        kind: SWITCH,
        merge: Merge::Strongest,
        widens: Widens::Unless(|theirs, _| *theirs, |_| vec!["lets an edit leave a file that does not parse".to_owned()]),
        shown: Shown::Row,
    }
    servers: Entry {
        name: "mcpServers",
        about: "MCP servers whose tools are offered in addition to the built-in ones, by name, as in `.mcp.json`: `command`, `args`, `env` and \
                `cwd`, or `url` and `headers`; also `timeout`, `startTimeout`, `includeTools`, `excludeTools`, `enabled`. \
                `${NAME}` and `${NAME:-default}` are put in. The project's `.mcp.json` is read too, once it is trusted.",
        file: InFile::Value(SERVER_EXAMPLE),
        variable: "",
        flag: None,
        usual: Usual::Means("none"),
        kind: SERVERS,
        merge: Merge::All,
        widens: Widens::Always(|server| match server.is_off || server.is_self() {
            true => Vec::new(),
            false => server.brings(),
        }),
        shown: Shown::Servers,
    }
    mcp_from: Host {
        name: "mcpFrom",
        about: "Other programs whose MCP servers are taken over, from your files and from the workspace's: claude, codex, \
                gemini, opencode, vscode, cursor. Their files are read and never written.",
        file: InFile::Value("[\"claude\", \"vscode\"]"),
        variable: "TOOLPOST_MCP_FROM",
        flag: None,
        usual: Usual::Means("[]"),
        kind: Kind {
            form: Form::Texts {
                text: Text { parse: Host::read_from, longest: WORD },
                most: MANY,
                between: BETWEEN_WORDS,
            },
            schema: Schema::Words(|| Host::READ.map(Host::as_str).into()),
            show: |host| host.as_str().into(),
        },
        merge: Merge::Distinct(|one, other| one == other),
        widens: Widens::Always(|host| {
            vec![format!("takes over the MCP servers that you have in {}", host.title())]
        }),
        shown: Shown::Row,
    }
    listed: Listed {
        name: "listed",
        about: "How many tools of other servers are listed, and how many tokens their declarations may have together; the \
                tools of servers that do not fit are not listed, and `tool_search` finds them. Either of the two, both, `all` or `none`.",
        file: InFile::Value("\"40 tools, 10000 tokens\""),
        variable: "TOOLPOST_LISTED",
        flag: None,
        usual: Usual::Is("40 tools, 10000 tokens"),
        kind: LISTED,
        merge: Merge::Strongest,
        widens: Widens::Always(|_| vec!["sets how many tools of servers are listed".to_owned()]),
        shown: Shown::Row,
    }
    packs: Packs {
        name: "packs",
        about: "The built-in packs whose tools are listed, with commas between them; `toolpost packs` shows their names. They \
                replace the usual ones; `+project, +vfs` adds to them. The tools of the others are not listed. \
                `tool_search`, which is in the pack meta, finds them, and they can be called.",
        file: InFile::Value("\"filesystem, search, shell, vfs, meta\""),
        variable: "TOOLPOST_PACKS",
        flag: Some(Flag {
            on: On::Mcp,
            long: "packs",
            value: "PACKS",
            help: "Packs whose tools are listed, with commas between them, in place of the usual ones, which are all but \
                   project and vfs; `+project` adds to these. The tools of the others are not listed, and `tool_search` \
                   finds them",
        }),
        usual: Usual::Means("all but project and vfs"),
        kind: PACKS,
        merge: Merge::Strongest,
        widens: Widens::Always(|packs| {
            let only = if packs.0.iter().all(|name| name.starts_with('+')) { "" } else { " only" };
            vec![format!("lists the packs {}{only}", packs.0.join(", "))]
        }),
        shown: Shown::Row,
    }
    pack: String {
        name: "pack",
        about: "The packs whose tools the session has, and no others: by name, also of packs in files, of MCP servers and of \
                agents, or the path of a file. The policy decides about each tool as always.",
        file: InFile::Never,
        variable: "TOOLPOST_PACK",
        flag: Some(Flag {
            on: On::Everywhere,
            long: "pack",
            value: "PACK",
            help: "Have only the tools of this pack, and of others that are named so; `toolpost packs` shows them. A path \
                   names a file",
        }),
        usual: Usual::Means("all"),
        kind: PACK,
        merge: Merge::Strongest,
        widens: Widens::Never,
        shown: Shown::Row,
    }
    answer_wait: Duration {
        name: "answerWait",
        about: "How long a call of `toolpost mcp` waits for the answer to a question that it asks its client: 10m, 1h. A call \
                that gets none by then is cancelled.",
        file: InFile::Value("\"1h\""),
        variable: "TOOLPOST_ANSWER_WAIT",
        flag: None,
        usual: Usual::Is("1h"),
        kind: TIME,
        merge: Merge::Strongest,
        widens: Widens::Always(|_| vec!["sets how long a call waits for an answer".to_owned()]),
        shown: Shown::Row,
    }
    list_wait: Duration {
        name: "listWait",
        about: "How long the first list of tools that `toolpost mcp` sends waits for other MCP servers that are starting: \
                500ms, 2s. Tools that come later are reported as a change of the list, which some clients ignore.",
        file: InFile::Value("\"2s\""),
        variable: "TOOLPOST_LIST_WAIT",
        flag: None,
        usual: Usual::Is("2s"),
        kind: TIME,
        merge: Merge::Strongest,
        widens: Widens::Always(|_| vec!["sets how long the first list of tools waits".to_owned()]),
        shown: Shown::Row,
    }
    model: String {
        name: "model",
        about: "The model of agents whose file names none: `vendor/model`, a vendor, or a model's name. Without it the first \
                vendor whose key is set, else a server on this machine that answers.",
        file: InFile::Value("\"anthropic/sonnet\""),
        variable: "TOOLPOST_MODEL",
        flag: Some(Flag {
            on: On::Run,
            long: "model",
            value: "MODEL",
            help: "Model to use in place of the agent's: vendor/model, a vendor, or a model's name; its own tools and the \
                   agents below it that name a model keep theirs",
        }),
        usual: Usual::Means("the first vendor whose key is set, else a local server"),
        kind: MODEL_NAME,
        merge: Merge::Strongest,
        widens: Widens::Always(|model| vec![format!("lets agents use the model `{model}`")]),
        shown: Shown::Row,
    }
    model_for_all: String {
        name: "modelForAll",
        about: "The model of a whole run, in place of every model that an agent, an agent below it or a tool of theirs names.",
        file: InFile::Never,
        variable: "",
        flag: Some(Flag {
            on: On::Run,
            long: "model-for-all",
            value: "MODEL",
            help: "Model to use in place of every model: the agent's, its tools' and those of all agents below it",
        }),
        usual: Usual::Means("none"),
        kind: MODEL_NAME,
        merge: Merge::Strongest,
        widens: Widens::Never,
        shown: Shown::Row,
    }
    vendors: VendorText {
        name: "vendor",
        about: "Vendors of models in addition to the built-in ones, or in their place: `name`, `format` (anthropic, gemini, openai-responses, \
                openai-chat or ollama), `base-url`, `key` (`variables`, a `file` or a `command`), `key-header`, `model`, `dialect`, `search` (whether it can search the web for `websearch`), `families` (patterns such as `lab-*` for the names of its models), and `models` with \
                their limits and prices. A project's row has a name of its own, and finds its key in `TOOLPOST_NAME_API_KEY` alone.",
        file: InFile::Tables(
            "[[vendor]]\nname = \"lab\"\nformat = \"openai-chat\"\nbase-url = \"https://models.example/v1\"\n\
             key = { variables = [\"TOOLPOST_LAB_API_KEY\"] }\nmodel = \"lab-large\"\n",
        ),
        variable: "",
        flag: None,
        usual: Usual::Means("none"),
        kind: VENDORS,
        merge: Merge::All,
        widens: Widens::Always(VendorText::brings),
        shown: Shown::Row,
    }
    model_proxy: String {
        name: "modelProxy",
        about: "The HTTP proxy that models are reached through: `http://host:port`. This machine is reached directly.",
        file: InFile::Value("\"http://proxy.example:3128\""),
        variable: "TOOLPOST_MODEL_PROXY",
        flag: None,
        usual: Usual::Means("none"),
        kind: Kind {
            form: Form::Text(Text {
                parse: |text| match text.starts_with("http://") {
                    true => Ok(text.to_owned()),
                    false => Err("`modelProxy` is not a proxy address; write `http://host:port`".to_owned()),
                },
                longest: None,
            }),
            schema: Schema::Is(|| json!({"type": "string", "pattern": "^http://"})),
            show: |address| without_password(address).into(),
        },
        merge: Merge::Strongest,
        widens: Widens::Always(|address| vec![format!("reaches models through the proxy {}", without_password(address))]),
        shown: Shown::Row,
    }
    model_timeout: Duration {
        name: "modelTimeout",
        about: "How long a model may be silent before its answer and within it: 30s, 5m. After that it is asked again.",
        file: InFile::Value("\"5m\""),
        variable: "TOOLPOST_MODEL_TIMEOUT",
        flag: None,
        usual: Usual::Is("300s"),
        kind: TIME,
        merge: Merge::Strongest,
        widens: Widens::Unless(
            |theirs, own| own.is_some_and(|own| theirs < own),
            |time| vec![format!("lets models be silent for {} s", time.as_secs_f64())],
        ),
        shown: Shown::Row,
    }
    search_url: String {
        name: "searchUrl",
        about: "Where `websearch` searches: an address that answers in SearXNG's JSON format. Without it the provider of the \
                model searches, if it can.",
        file: InFile::Value("\"https://searx.example/search\""),
        variable: "TOOLPOST_SEARCH_URL",
        flag: None,
        usual: Usual::Means("the provider of the model"),
        kind: Kind {
            form: Form::Text(Text {
                parse: |text| match Endpoint::new(text) {
                    Ok(_) => Ok(text.to_owned()),
                    Err(why) => Err(format!("`searchUrl`: {why}")),
                },
                longest: None,
            }),
            schema: Schema::Is(|| json!({"type": "string", "pattern": "^https?://"})),
            show: |address| address.as_str().into(),
        },
        merge: Merge::Strongest,
        widens: Widens::Always(|address| vec![format!("sends searches to {address}")]),
        shown: Shown::Row,
    }
    robots: bool {
        name: "robots",
        about: "Whether `webfetch` leaves pages alone that the robots.txt of their site asks robots not to read.",
        file: InFile::Value("true"),
        variable: "TOOLPOST_ROBOTS",
        flag: None,
        usual: Usual::Is("false"),
        kind: SWITCH,
        merge: Merge::Strongest,
        widens: Widens::Unless(|theirs, _| *theirs, |_| vec!["reads pages in spite of their robots.txt".to_owned()]),
        shown: Shown::Row,
    }
    requires: String {
        name: REQUIRES,
        about: "The oldest version of toolpost that understands the file: `0.2`. An older one says that it is too old, and nothing \
                else of the file.",
        file: InFile::Value("\"0.1\""),
        variable: "",
        flag: None,
        usual: Usual::Means("any"),
        kind: VERSION,
        merge: Merge::Strongest,
        widens: Widens::Unless(|_, _| true, |_| Vec::new()),
        shown: Shown::Row,
    }
    structured: bool {
        name: "structured",
        about: "Whether `toolpost mcp` sends the data of each result, with the text as `output`, and output schemas. It is for \
                programs: many agents show their model the data instead of the text.",
        file: InFile::Value("true"),
        variable: "TOOLPOST_STRUCTURED",
        flag: Some(Flag {
            on: On::Mcp,
            long: "structured",
            value: "",
            help: "For programs: send the data of each result, with the text as `output`, and output schemas. Not for \
                   agents, many of which show their model the data instead of the text",
        }),
        usual: Usual::Is("false"),
        kind: SWITCH,
        merge: Merge::Strongest,
        widens: Widens::Always(|_| vec!["sets what results over MCP carry".to_owned()]),
        shown: Shown::Row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::origin::Place;

    #[test]
    fn what_usually_holds_can_be_written() {
        for key in KEYS {
            if let Usual::Is(text) = key.usual() {
                let mut settings = Settings::default();
                let wrong = key.set_variable(&mut settings, text, &Place::built_in());
                assert!(wrong.is_empty(), "{}: {wrong:?}", key.name());
                assert_eq!(key.values(&settings).len(), 1, "{}", key.name());
            }
        }
    }

    #[test]
    fn the_packs_that_are_hidden_are_named() {
        let key = KEYS.iter().find(|key| key.name() == "packs").unwrap();
        let help = key.flag().map(|flag| flag.help).unwrap_or_default();
        let expected = format!("all but {}", toolpost_tools::HELD_BACK.join(" and "));
        assert!(key.usual().as_str() == expected && help.contains(&expected), "{expected}: {help}");
    }

    #[test]
    fn names_variables_and_flags_are_used_once() {
        let mut words: Vec<String> = KEYS.iter().map(|key| key.name().to_owned()).collect();
        words.extend(KEYS.iter().map(|key| key.variable().to_owned()).filter(|one| !one.is_empty()));
        words.extend(KEYS.iter().filter_map(|key| Some(format!("--{}", key.flag()?.long))));
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count, "{words:?}");
    }
}
