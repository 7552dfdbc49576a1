//! A report on a user interface, as a model wrote it: valid JSON, JSON among other words, or prose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a model found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct QaReport {
    /// The picture.
    pub(super) image_path: String,
    /// What is wrong, the worst first.
    pub(super) findings: Vec<Finding>,
    /// What it comes to.
    pub(super) summary: String,
    /// When it was looked at, in milliseconds since 1970.
    pub(super) analyzed_at: u64,
    /// Whether the model wrote no report that can be read, so that the summary is what it wrote.
    pub(super) is_prose: bool,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Finding {
    /// How bad it is.
    pub(super) severity: Severity,
    /// What it is about.
    pub(super) category: Category,
    /// What is wrong.
    pub(super) description: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<String>,
    /// What to do about it.
    #[serde(default)]
    pub(super) suggestion: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    Critical,
    Major,
    Minor,
    Suggestion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Category {
    Layout,
    Accessibility,
    Consistency,
    Ux,
    Content,
}

/// What a model is asked to write.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "findings": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "severity": {"type": "string", "enum": ["critical", "major", "minor", "suggestion"]},
                    "category": {"type": "string", "enum": ["layout", "accessibility", "consistency", "ux", "content"]},
                    "description": {"type": "string"},
                    "location": {"type": "string"},
                    "suggestion": {"type": "string"},
                },
                "required": ["severity", "category", "description", "location", "suggestion"],
                "additionalProperties": false,
            }},
            "summary": {"type": "string"},
        },
        "required": ["findings", "summary"],
        "additionalProperties": false,
    })
}

/// The findings and the summary that a model wrote; none where it wrote none that can be read.
pub(super) fn parsed(answer: &str) -> Option<(Vec<Finding>, String)> {
    let begin = answer.find('{')?;
    let end = answer.rfind('}')?;
    let value: Value = serde_json::from_str(answer.get(begin..=end)?).ok()?;
    let listed = value["findings"].as_array()?;
    // One that cannot be read does not lose the others.
    let mut findings: Vec<Finding> =
        listed.iter().filter_map(|finding| serde_json::from_value(lowercased(finding)).ok()).collect();
    findings.sort_by_key(|finding| finding.severity);
    let left_out = listed.len() - findings.len();
    let summary = value["summary"].as_str().unwrap_or_default().trim();
    let note = if left_out > 0 { format!(" ({left_out} findings could not be read)") } else { String::new() };
    Some((findings, format!("{summary}{note}")))
}

/// Models write `Major` as well as `major`.
fn lowercased(finding: &Value) -> Value {
    let mut finding = finding.clone();
    for key in ["severity", "category"] {
        if let Some(text) = finding[key].as_str().map(str::to_lowercase) {
            finding[key] = text.into();
        }
    }
    finding
}

impl QaReport {
    /// The findings as a table, and the summary.
    pub(super) fn table(&self) -> String {
        let cell = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        let mut lines = Vec::new();
        if !self.findings.is_empty() {
            lines.push("| severity | category | where | what | suggestion |".to_owned());
            lines.push("| --- | --- | --- | --- | --- |".to_owned());
        }
        for finding in &self.findings {
            lines.push(format!(
                "| {} | {} | {} | {} | {} |",
                finding.severity.word(),
                finding.category.word(),
                cell(finding.location.as_deref().unwrap_or_default()),
                cell(&finding.description),
                cell(&finding.suggestion)
            ));
        }
        if !self.summary.is_empty() {
            lines.push(format!("{}{}", if lines.is_empty() { "" } else { "\n" }, self.summary));
        }
        lines.join("\n")
    }
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::Major => "major",
            Severity::Minor => "minor",
            Severity::Suggestion => "suggestion",
        }
    }
}

impl Category {
    fn word(self) -> &'static str {
        match self {
            Category::Layout => "layout",
            Category::Accessibility => "accessibility",
            Category::Consistency => "consistency",
            Category::Ux => "ux",
            Category::Content => "content",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_however_they_are_wrapped() {
        let json = r#"{"findings": [{"severity": "Minor", "category": "ux", "description": "b"},
            {"severity": "critical", "category": "layout", "description": "a", "location": "top", "suggestion": "s"},
            {"severity": "dreadful", "category": "ux", "description": "c"}], "summary": "Two."}"#;
        for answer in
            [json.to_owned(), format!("```json\n{json}\n```"), format!("Here it is:\n{json}\nThat is all.")]
        {
            let (findings, summary) = parsed(&answer).unwrap();
            let names: Vec<&str> = findings.iter().map(|finding| finding.description.as_str()).collect();
            assert_eq!((names, summary.as_str()), (vec!["a", "b"], "Two. (1 findings could not be read)"));
        }
        for answer in ["It looks fine.", "{\"findings\": [", "{}", "[1]"] {
            assert_eq!(parsed(answer), None, "{answer}");
        }
    }
}
