//! The keys of the configuration, once: the reader, the schema, the reference page and the variables follow this list.

/// A key of the file.
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What may stand there.
    pub(crate) kind: Kind,
    /// The variable that sets it too; none where no text could.
    pub(crate) variable: &'static str,
    /// The flag that sets it too; none where no command takes it.
    pub(crate) flag: &'static str,
    /// What holds where nothing is set.
    pub(crate) usual: &'static str,
    /// An example, in TOML.
    pub(crate) example: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Profile,
    Capabilities,
    Dialect,
    Folder,
    Time,
    Sandbox,
    /// Paths outside of the workspace.
    Paths,
    /// Names of variables.
    Names,
    /// Extensions with a program each.
    Formatters,
    /// MCP servers.
    Servers,
    /// Programs whose servers are taken over.
    Hosts,
    /// How many tools of other servers a list has.
    Listed,
    /// `true` or `false`.
    Switch,
}

impl Kind {
    /// Whether several may stand there.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Kind::Capabilities | Kind::Paths | Kind::Names | Kind::Formatters | Kind::Hosts)
    }
}

/// Every key, in the order of the documentation; `[[rule]]` stands beside them.
pub(crate) const KEYS: [Key; 14] = [
    Key {
        name: "policy",
        kind: Kind::Profile,
        variable: "TOOLPOST_POLICY",
        flag: "--policy",
        usual: "standard",
        example: "\"standard\"",
        about: "What may happen: read-only, standard (read and write in the workspace) or privileged (also exec, \
                network). Setting it drops the `allow` and `ask` of weaker layers.",
    },
    Key {
        name: "allow",
        kind: Kind::Capabilities,
        variable: "TOOLPOST_ALLOW",
        flag: "--allow",
        usual: "[]",
        example: "[\"exec\"]",
        about: "Capabilities granted beside those of the policy: read, trace, write, exec, network.",
    },
    Key {
        name: "ask",
        kind: Kind::Capabilities,
        variable: "TOOLPOST_ASK",
        flag: "",
        usual: "[]",
        example: "[\"network\"]",
        about: "Capabilities that a person is asked for each time, also where the policy grants them.",
    },
    Key {
        name: "timeout",
        kind: Kind::Time,
        variable: "TOOLPOST_TIMEOUT",
        flag: "--timeout",
        usual: "each tool's own",
        example: "\"30s\"",
        about: "How long a call may run: 500ms, 30s, 2m. A tool's own maximum still holds.",
    },
    Key {
        name: "dialect",
        kind: Kind::Dialect,
        variable: "TOOLPOST_DIALECT",
        flag: "--dialect",
        usual: "toolpost",
        example: "\"toolpost\"",
        about: "The names and argument spellings that models are shown: toolpost, long, claude, gemini or codex.",
    },
    Key {
        name: "descriptions",
        kind: Kind::Folder,
        variable: "TOOLPOST_DESCRIPTIONS",
        flag: "--descriptions",
        usual: "the folder `descriptions` beside the user's file",
        example: "\"descriptions\"",
        about: "Folder of NAME.txt files that replace the descriptions of tools; from the folder of this file.",
    },
    Key {
        name: "sandbox",
        kind: Kind::Sandbox,
        variable: "TOOLPOST_SANDBOX",
        flag: "--sandbox",
        usual: "strict",
        example: "\"strict\"",
        about: "How commands are confined: strict (the kernel holds them to the policy; where it cannot, they are \
                refused) or none (they can do what you can).",
    },
    Key {
        name: "readable",
        kind: Kind::Paths,
        variable: "TOOLPOST_READABLE",
        flag: "",
        usual: "[]",
        example: "[\"~/sdk\"]",
        about: "Files and folders outside of the workspace that confined commands may read, beside the system's own \
                and the toolchains that are found. Absolute, or from the home directory with `~/`.",
    },
    Key {
        name: "environment",
        kind: Kind::Names,
        variable: "TOOLPOST_ENVIRONMENT",
        flag: "",
        usual: "[]",
        example: "[\"DATABASE_URL\"]",
        about: "Variables that commands get beside the usual ones (PATH, HOME, language, toolchains).",
    },
    Key {
        name: "formatters",
        kind: Kind::Formatters,
        variable: "TOOLPOST_FORMATTERS",
        flag: "",
        usual: "[]",
        example: "[\"rs: rustfmt --edition 2024\", \"js,ts: prettier --stdin-filepath {}\"]",
        about: "Programs that format a file after `write`, `edit` and `apply_patch`, by its extension: they get the text on \
                standard input and print it formatted; `{}` is the file's name. Confined; one that fails changes nothing.",
    },
    Key {
        name: "mcpServers",
        kind: Kind::Servers,
        variable: "",
        flag: "",
        usual: "none",
        example: "{ docs = { command = \"docs-mcp\", args = [\"--stdio\"], env = { TOKEN = \"${DOCS_TOKEN}\" } } }",
        about: "MCP servers whose tools are offered beside our own, by name, as in `.mcp.json`: `command`, `args`, `env` and \
                `cwd`, or `url` and `headers`; also `timeout`, `startTimeout`, `includeTools`, `excludeTools`, `enabled`. \
                `${NAME}` and `${NAME:-default}` are put in. The project's `.mcp.json` is read too, once it is trusted.",
    },
    Key {
        name: "mcpFrom",
        kind: Kind::Hosts,
        variable: "TOOLPOST_MCP_FROM",
        flag: "",
        usual: "[]",
        example: "[\"claude\", \"vscode\"]",
        about: "Other programs whose MCP servers are taken over, from your files and from the workspace's: claude, codex, \
                gemini, opencode, vscode, cursor. Their files are read and never written.",
    },
    Key {
        name: "listed",
        kind: Kind::Listed,
        variable: "TOOLPOST_LISTED",
        flag: "",
        usual: "40 tools, 10000 tokens",
        example: "\"40 tools, 10000 tokens\"",
        about: "How many tools of other servers are listed, and how many tokens their declarations may have together; the \
                servers that do not fit are held back for `tool_search`. Either of the two, both, `all` or `none`.",
    },
    Key {
        name: "structured",
        kind: Kind::Switch,
        variable: "TOOLPOST_STRUCTURED",
        flag: "--structured",
        usual: "false",
        example: "true",
        about: "Whether `toolpost mcp` sends the data of each result, with the text as `output`, and output schemas. It is for \
                programs: many agents show their model the data instead of the text.",
    },
];

/// The variable of the session, which no file sets.
pub(crate) const SESSION: &str = "TOOLPOST_SESSION";
