//! Gemini: `generateContent` and its stream.
//!
//! Calls come whole and, in most cases, without an id. A thought signature belongs to the part that it came on, and is
//! sent back there. Whether there are calls shows in the parts; `finishReason` says `STOP` either way.

use super::conversation::{Turn, object, turns};
use super::decoder::Decode;
use super::draft::{Draft, cut, items, text, tokens};
use super::file::{File, file};
use super::format::{Encoded, Format, Reasoning, Target, declarations};
use serde_json::{Map, Value, json};
use toolpost_core::model::{
    Arguments, Finish, ModelError, Part, Request, Response, Role, Thinking, ToolCall, ToolChoice, ToolResult,
};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_declaration::Format as Declared;

const FORMAT: Format = Format::Gemini;

/// What stands for the signature of a call that another model made; newer models refuse a call without one.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn encode(target: &Target, request: &Request) -> Result<Encoded, ModelError> {
    let is_newer = version(&target.model).is_some_and(|version| version >= 3);
    let contents: Vec<Value> =
        turns(&request.messages).iter().map(|turn| content(target, turn, is_newer)).collect();
    let mut body = Map::new();
    body.insert("contents".into(), contents.into());
    if !request.system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    let declared = match target.quirks.plain_schema {
        true => Declared::Gemini,
        false => Declared::GeminiJsonSchema,
    };
    let (mut tools, mut left_out) = declarations(&request.tools, declared);
    let mut config = Map::new();
    if let (false, Some(calling)) = (tools.is_empty(), function_calling(&request.tool_choice)) {
        config.insert("functionCallingConfig".into(), calling);
    }
    if request.search && (tools.is_empty() || is_newer) {
        if !tools.is_empty() {
            config.insert("includeServerSideToolInvocations".into(), true.into());
        }
        tools.push(json!({"googleSearch": {}}));
    } else if request.search {
        let why = format!("{} cannot search beside other tools", target.model);
        left_out.push(("web search".into(), why));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
    }
    if !config.is_empty() {
        body.insert("toolConfig".into(), config.into());
    }
    let generation = generation(target, request);
    if !generation.is_empty() {
        body.insert("generationConfig".into(), generation.into());
    }
    let model = target.model.strip_prefix("models/").unwrap_or(&target.model);
    let path = format!("/models/{model}:streamGenerateContent?alt=sse");
    Ok(Encoded { path, headers: Vec::new(), body: body.into(), left_out })
}

/// The first number in the model's name.
fn version(model: &str) -> Option<u32> {
    let digits: String = model
        .chars()
        .skip_while(|character| !character.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

fn function_calling(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"mode": "NONE"})),
        ToolChoice::Required => Some(json!({"mode": "ANY"})),
        ToolChoice::Tool(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
    }
}

fn generation(target: &Target, request: &Request) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(tokens) = request.max_output_tokens {
        config.insert("maxOutputTokens".into(), tokens.into());
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), temperature.into());
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".into(), json!(request.stop));
    }
    if let Some(schema) = &request.schema {
        config.insert("responseMimeType".into(), "application/json".into());
        config.insert("responseJsonSchema".into(), schema.clone());
    }
    if let Some(thinking) = request.thinking.and_then(|thinking| thinking_config(target, thinking)) {
        config.insert("thinkingConfig".into(), thinking);
    }
    config
}

fn thinking_config(target: &Target, thinking: Thinking) -> Option<Value> {
    let by_name = match version(&target.model) {
        Some(0..=1) => Reasoning::None,
        Some(2) => Reasoning::Tokens,
        _ => Reasoning::Effort,
    };
    match (target.quirks.reasoning.unwrap_or(by_name), thinking) {
        (Reasoning::None, _) => None,
        (Reasoning::Tokens, Thinking::Off) => Some(json!({"thinkingBudget": 0})),
        (Reasoning::Tokens, thinking) => {
            let budget = match thinking {
                Thinking::Off | Thinking::Low => 1_024,
                Thinking::Medium => 8_192,
                Thinking::High => 24_576,
                Thinking::Tokens(tokens) => tokens,
            };
            Some(json!({"includeThoughts": true, "thinkingBudget": budget}))
        }
        (_, Thinking::Off | Thinking::Low) => Some(json!({"includeThoughts": true, "thinkingLevel": "low"})),
        (_, Thinking::Medium) => Some(json!({"includeThoughts": true, "thinkingLevel": "medium"})),
        (_, Thinking::High | Thinking::Tokens(_)) => {
            Some(json!({"includeThoughts": true, "thinkingLevel": "high"}))
        }
    }
}

fn content(target: &Target, turn: &Turn<'_>, is_newer: bool) -> Value {
    let mut parts = Vec::new();
    let mut files = Vec::new();
    for (call, result) in &turn.results {
        parts.push(function_response(target, call, result, is_newer));
        // Older models take files beside the results only.
        if !is_newer {
            files.extend(result.attachments.iter().map(|attachment| inline(target, attachment)));
        }
    }
    parts.extend(files);
    let mut has_calls = false;
    for part in &turn.parts {
        parts.extend(match part.as_ref() {
            Part::Text { text, opaque } => {
                Some(signed(json!({"text": text}), FORMAT.own(opaque.as_ref()), None))
            }
            // Without a signature it is a summary, which the model does not need.
            Part::Thinking { text, opaque } => FORMAT
                .own(opaque.as_ref())
                .map(|own| signed(json!({"text": text, "thought": true}), Some(own), None)),
            Part::File(attachment) => Some(inline(target, attachment)),
            Part::ToolCall(call) => {
                let replacement = (is_newer && !has_calls).then_some(NO_SIGNATURE);
                has_calls = true;
                Some(function_call(call, replacement))
            }
            Part::ToolResult(_) => None,
            Part::Opaque(opaque) => FORMAT.own(Some(opaque)).cloned(),
        });
    }
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "model",
    };
    json!({"role": role, "parts": parts})
}

fn signed(mut part: Value, own: Option<&Value>, replacement: Option<&str>) -> Value {
    let signature = own.and_then(|own| own["thoughtSignature"].as_str()).or(replacement);
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

fn function_call(call: &ToolCall, replacement: Option<&str>) -> Value {
    let own = FORMAT.own(call.opaque.as_ref());
    let mut function = json!({"name": call.name, "args": object(&call.arguments)});
    if let Some(id) = own.and_then(|own| own["id"].as_str()) {
        function["id"] = id.into();
    }
    signed(json!({"functionCall": function}), own, replacement)
}

fn function_response(target: &Target, call: &ToolCall, result: &ToolResult, is_newer: bool) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let mut function = json!({"name": call.name, "response": {key: result.text}});
    if let Some(id) = FORMAT.own(call.opaque.as_ref()).and_then(|own| own["id"].as_str()) {
        function["id"] = id.into();
    }
    if is_newer && !result.attachments.is_empty() {
        function["parts"] = result.attachments.iter().map(|attachment| inline(target, attachment)).collect();
    }
    json!({"functionResponse": function})
}

fn inline(target: &Target, attachment: &Attachment) -> Value {
    match (file(target, attachment, true), &attachment.content) {
        (File::Note(note), _) => json!({"text": note}),
        (_, AttachmentContent::Data(data)) => {
            json!({"inlineData": {"mimeType": attachment.media_type, "data": data}})
        }
        (_, AttachmentContent::Handle(_)) => json!({}),
    }
}

/// What comes back.
pub(super) struct Stream {
    draft: Draft,
    is_blocked: bool,
}

impl Stream {
    pub(super) fn new(draft: Draft) -> Stream {
        Stream { draft, is_blocked: false }
    }

    fn part(&mut self, part: &Value) -> Result<(), ModelError> {
        let signature =
            part["thoughtSignature"].as_str().map(|signature| json!({"thoughtSignature": signature}));
        if let Some(call) = part.get("functionCall") {
            let mut opaque = signature.unwrap_or_else(|| json!({}));
            if let Some(id) = call["id"].as_str().filter(|id| !id.is_empty()) {
                opaque["id"] = id.into();
            }
            let arguments = match &call["args"] {
                Value::Null => json!({}),
                args => args.clone(),
            };
            return self.draft.call(
                text(&call["id"]),
                text(&call["name"]),
                Arguments::Json(arguments),
                Some(opaque),
            );
        }
        match part["text"].as_str() {
            Some(more) if part["thought"] == true => self.draft.thinking(more, signature),
            Some(more) => self.draft.text(more, signature),
            None => self.draft.opaque(part.clone()),
        }
    }

    fn grounding(&mut self, grounding: &Value) {
        let (chunks, queries) = (items(&grounding["groundingChunks"]), items(&grounding["webSearchQueries"]));
        if chunks.is_empty() && queries.is_empty() {
            return;
        }
        // Each event lists all that is known so far.
        self.draft.clear_search();
        queries.iter().for_each(|query| self.draft.query(text(query)));
        for (number, chunk) in chunks.iter().enumerate() {
            let page = if chunk["web"].is_null() { &chunk["retrievedContext"] } else { &chunk["web"] };
            let supports = items(&grounding["groundingSupports"]).iter().filter(|support| {
                items(&support["groundingChunkIndices"])
                    .iter()
                    .any(|index| index.as_u64() == Some(number as u64))
            });
            let snippets: Vec<&str> = supports.map(|support| text(&support["segment"]["text"])).collect();
            self.draft.source(text(&page["uri"]), text(&page["title"]), &snippets.join(" … "));
        }
    }

    fn usage(&mut self, usage: &Value) {
        let thoughts = tokens(&usage["thoughtsTokenCount"]);
        self.draft.usage.input =
            tokens(&usage["promptTokenCount"]) + tokens(&usage["toolUsePromptTokenCount"]);
        self.draft.usage.cached = tokens(&usage["cachedContentTokenCount"]);
        self.draft.usage.output = tokens(&usage["candidatesTokenCount"]) + thoughts;
        self.draft.usage.reasoning = thoughts;
    }
}

impl Decode for Stream {
    fn take(&mut self, value: &Value) -> Result<(), ModelError> {
        // Some gateways wrap each event.
        let value = if value["response"]["candidates"].is_array() { &value["response"] } else { value };
        if let Some(usage) = value.get("usageMetadata") {
            self.usage(usage);
        }
        if let Some(model) = value["modelVersion"].as_str() {
            self.draft.model = Some(model.to_owned());
        }
        let feedback = &value["promptFeedback"];
        if let Some(reason) = feedback["blockReason"].as_str() {
            self.is_blocked = true;
            let said = text(&feedback["blockReasonMessage"]);
            let separator = if said.is_empty() { "" } else { ": " };
            self.draft.note = Some(format!("{reason}{separator}{said}"));
        }
        let candidate = &value["candidates"][0];
        for part in items(&candidate["content"]["parts"]) {
            self.part(part)?;
        }
        self.grounding(&candidate["groundingMetadata"]);
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.draft.finish_raw = Some(reason.to_owned());
        }
        if let Some(said) =
            candidate["finishMessage"].as_str().filter(|said| !said.starts_with("Model generated"))
        {
            self.draft.note = Some(said.to_owned());
        }
        Ok(())
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn finish(self: Box<Self>) -> Result<Response, ModelError> {
        let finish = match self.draft.finish_raw.as_deref() {
            None if self.is_blocked => Finish::Blocked,
            None => return Err(cut("no finish reason came")),
            Some("STOP" | "FUNCTION_CALL") => Finish::Stop,
            Some("MAX_TOKENS") => Finish::Length,
            Some(
                "SAFETY"
                | "RECITATION"
                | "BLOCKLIST"
                | "PROHIBITED_CONTENT"
                | "SPII"
                | "IMAGE_SAFETY"
                | "LANGUAGE"
                | "IMAGE_PROHIBITED_CONTENT",
            ) => Finish::Blocked,
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => {
                Finish::Malformed
            }
            Some(_) => Finish::Other,
        };
        Ok(self.draft.finish(finish))
    }
}
