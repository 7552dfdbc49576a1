//! A question to the person as a form that every client can show, and the answer read back.

use crate::client::Client;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolpost_core::host::Scope;
use toolpost_core::text::{hex, visible};
use toolpost_core::{Answer, Question};
use toolpost_mcp::Revision;

/// So much of what would change is shown in a form.
const LONGEST_PREVIEW: usize = 4_000;

/// How the keys of questions begin.
pub(super) const PREFIX: &str = "confirm-";

/// The key of a question of a call: another question has another one, and later ones come after it in order.
pub(super) fn key(number: usize, question: &Question) -> String {
    let asked = (&question.tool, &question.call, &question.text, &question.facts, &question.accesses);
    let text = serde_json::to_string(&asked).unwrap_or_default();
    format!("{PREFIX}{number:03}-{}", hex(&Sha256::digest(text)[..8]))
}

/// The parameters of the elicitation.
pub(super) fn form(question: &Question, client: &Client) -> Value {
    let choices = choices(question);
    let mut message = question.text.clone();
    for fact in &question.facts {
        // A command of several lines stays together.
        let fact = shortened(fact).replace('\n', "\n    ");
        message.push_str(&format!("\n{fact}"));
    }
    if let Some(preview) = &question.preview {
        message.push_str(&format!("\n\n{}", shortened(preview)));
    }
    let answer = match client.revision >= Revision::V2025_11_25 {
        true => {
            let titled: Vec<Value> =
                choices.iter().map(|(word, title, _)| json!({"const": word, "title": title})).collect();
            json!({"type": "string", "title": "Answer", "oneOf": titled})
        }
        false => {
            let (words, titles): (Vec<&str>, Vec<&str>) =
                choices.iter().map(|(word, title, _)| (*word, title.as_str())).unzip();
            json!({"type": "string", "title": "Answer", "enum": words, "enumNames": titles})
        }
    };
    let mut params = json!({
        "message": visible(&message),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": answer,
                "reason": {"type": "string", "title": "Reason", "description": "Passed to the model if you say no."},
            },
            "required": ["answer"],
        },
    });
    if client.revision >= Revision::V2025_11_25 {
        params["mode"] = "form".into();
    }
    params
}

/// A text of the call, no longer than a form can show, and what is left out.
fn shortened(text: &str) -> String {
    let shown = &text[..text.floor_char_boundary(LONGEST_PREVIEW)];
    match text.len() - shown.len() {
        0 => shown.to_owned(),
        more => format!("{shown}\n[… {more} more bytes]"),
    }
}

/// What the person said.
pub(super) fn answer(question: &Question, result: &Value) -> Answer {
    let content = &result["content"];
    let reason = content["reason"].as_str().unwrap_or_default().to_owned();
    match result["action"].as_str() {
        Some("accept") => {}
        Some("decline") => return Answer::No(reason),
        _ => return Answer::No("no answer was given".to_owned()),
    }
    // The answer is required: a form that came back without one is no consent.
    let Some(word) = content["answer"].as_str() else {
        return Answer::No("the form came back without an answer, which counts as no".to_owned());
    };
    match choices(question).into_iter().find(|(choice, _, _)| *choice == word) {
        Some((_, _, Some(scope))) => Answer::Yes(scope),
        Some((_, _, None)) => Answer::No(reason),
        None => Answer::No(format!("`{word}` is none of the answers that were offered")),
    }
}

/// The words, what each does, and the scope that it stands for.
fn choices(question: &Question) -> Vec<(&'static str, String, Option<Scope>)> {
    let mut choices = vec![("once", "Yes, once".to_owned(), Some(Scope::Once))];
    if let Some(remember) = &question.remember {
        let rules = remember
            .rules
            .iter()
            .map(|rule| format!("`{}`", visible(rule)))
            .collect::<Vec<_>>()
            .join(" and ");
        let kept = |file: &Option<String>| {
            file.as_ref().map_or_else(|| "allows".to_owned(), |file| format!("writes to {file}: allow"))
        };
        let session = format!("Yes, for this session; {} {rules}", kept(&remember.session_file));
        choices.push(("session", session, Some(Scope::Session)));
        if remember.project_file.is_some() {
            let project = format!("Yes, always in this workspace; {} {rules}", kept(&remember.project_file));
            choices.push(("project", project, Some(Scope::Project)));
        }
        if remember.user_file.is_some() {
            let user = format!("Yes, always everywhere; {} {rules}", kept(&remember.user_file));
            choices.push(("user", user, Some(Scope::User)));
        }
    }
    choices.push(("no", "No".to_owned(), None));
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expected: Answer) {
        let question = Question {
            tool: "write".to_owned(),
            text: "may it?".to_owned(),
            call: String::new(),
            facts: Vec::new(),
            has_dry_run: false,
            accesses: Vec::new(),
            preview: None,
            protected: false,
            remember: None,
        };
        assert_eq!(answer(&question, &result), expected, "{result}");
    }

    #[test]
    fn only_what_was_offered_is_an_answer() {
        check(json!({"action": "accept", "content": {"answer": "once"}}), Answer::Yes(Scope::Once));
        let missing = || Answer::No("the form came back without an answer, which counts as no".into());
        check(json!({"action": "accept"}), missing());
        check(json!({"action": "accept", "content": {}}), missing());
        check(json!({"action": "accept", "content": {"reason": "yes"}}), missing());
        check(json!({"action": "accept", "content": {"answer": true}}), missing());
        check(
            json!({"action": "accept", "content": {"answer": "no", "reason": "late"}}),
            Answer::No("late".into()),
        );
        check(json!({"action": "decline"}), Answer::No(String::new()));
        check(json!({"action": "cancel"}), Answer::No("no answer was given".into()));
        check(json!({}), Answer::No("no answer was given".into()));
        let user = json!({"action": "accept", "content": {"answer": "user"}});
        check(user, Answer::No("`user` is none of the answers that were offered".into()));
    }
}
