//! The words that are for the chat itself, and not for the agent. Pure.

use toolpost_core::text::nearest;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Tools,
    Policy,
    Undo,
    /// Another model; none to show which it is.
    Model(Option<String>),
    Cost,
    Attach(String),
    Quit,
    /// None of them: what is said of it.
    Unknown(String),
}

/// Each with what it takes and does.
const ALL: [(&str, &str, &str); 8] = [
    ("help", "", "these words"),
    ("tools", "", "the tools that the agent has"),
    ("policy", "", "what it may do"),
    ("undo", "", "take back the last change that it made in this conversation"),
    ("model", "[NAME]", "the model, or another one from the next message on"),
    ("cost", "", "tokens and cost so far"),
    ("attach", "PATH", "a file that goes with the next message; `@PATH` in a message does the same"),
    ("quit", "", "end; the conversation can go on later"),
];

impl Slash {
    /// What a line means; none where it is a message. A path such as `/etc/hosts` is one.
    pub(super) fn parse(line: &str) -> Option<Slash> {
        let line = line.trim();
        let (word, rest) =
            line.strip_prefix('/')?.split_once(char::is_whitespace).unwrap_or((&line[1..], ""));
        if word.contains('/') || line.contains('\n') {
            return None;
        }
        let rest = rest.trim();
        let argument = (!rest.is_empty()).then(|| rest.to_owned());
        Some(match (word, argument) {
            ("help" | "?", _) => Slash::Help,
            ("tools", _) => Slash::Tools,
            ("policy", _) => Slash::Policy,
            ("undo", _) => Slash::Undo,
            ("model", name) => Slash::Model(name),
            ("cost", _) => Slash::Cost,
            ("attach", Some(path)) => Slash::Attach(path.trim_matches('"').to_owned()),
            ("attach", None) => Slash::Unknown("which file? Write `/attach PATH`".to_owned()),
            ("quit" | "exit", _) => Slash::Quit,
            (word, _) => {
                let names = ALL.iter().map(|(name, ..)| *name);
                let near = nearest(word, names.clone(), 1);
                let hint = near.first().map(|near| format!("did you mean `/{near}`? ")).unwrap_or_default();
                let names: Vec<String> = names.map(|name| format!("/{name}")).collect();
                Slash::Unknown(format!("there is no `/{word}`; {hint}There are {}", names.join(" ")))
            }
        })
    }

    /// All of them, for `/help`.
    pub(super) fn help() -> String {
        let rows = ALL
            .iter()
            .map(|(name, takes, does)| format!("  {:14} {does}", format!("/{name} {takes}").trim_end()));
        let keys = [
            "  alt-enter      a new line; so does a backslash at the end of one",
            "  up, down       what you have written before",
            "  Ctrl-C         stop the answer; what was done stays",
            "  Ctrl-D         end",
        ];
        rows.chain(keys.map(str::to_owned)).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let check = |line: &str, expected: Option<Slash>| assert_eq!(Slash::parse(line), expected, "{line}");
        check("hello", None);
        check("/help", Some(Slash::Help));
        check(" /model lab/large ", Some(Slash::Model(Some("lab/large".to_owned()))));
        check("/model", Some(Slash::Model(None)));
        check("/attach \"a b.png\"", Some(Slash::Attach("a b.png".to_owned())));
        check("/etc/hosts is what?", None);
        check("/quit\nnow", None);
        let Some(Slash::Unknown(said)) = Slash::parse("/tool") else { panic!("it is known") };
        assert!(
            said.contains("did you mean `/tools`?") && said.contains("/help /tools /policy /undo"),
            "{said}"
        );
        assert!(matches!(Slash::parse("/attach"), Some(Slash::Unknown(_))));
    }
}
