//! Tokens where a provider does not count them: an estimate, so that limits of tokens and cost hold all the same.

use crate::kernel::part_tokens;
use std::sync::Arc;
use toolpost_core::model::{Message, Profile, Request, Response, Usage};
use toolpost_core::text::tokens;
use toolpost_core::tool::Definition;

/// A request, as far as its tokens can be estimated later; none of a script, which has no tokens.
pub(super) struct Asked(Option<Counted>);

struct Counted {
    texts: u64,
    tools: Arc<[Definition]>,
}

impl Counted {
    /// Tokens of the request, at least 1.
    fn tokens(&self) -> u64 {
        let of_tool = |tool: &Definition| {
            tokens(&tool.spec.name) + tokens(&tool.spec.description) + tokens(&tool.input.to_string())
        };
        let tools: usize = self.tools.iter().map(of_tool).sum();
        self.texts.saturating_add(tools as u64).max(1)
    }
}

impl Asked {
    /// Estimates the tokens of an answer that broke off after this text; none where nothing had come.
    pub(super) fn of_unfinished(&self, text: &str) -> Usage {
        match &self.0 {
            Some(counted) if !text.is_empty() => Usage {
                input: counted.tokens(),
                output: tokens(text) as u64,
                estimated: true,
                ..Usage::default()
            },
            _ => Usage::default(),
        }
    }

    pub(super) fn of(request: &Request, profile: &Profile) -> Asked {
        if profile.provider == "script" {
            return Asked(None);
        }
        let of_message = |message: &Message| message.parts.iter().map(part_tokens).sum::<u64>();
        let messages: u64 = request.messages.iter().map(of_message).sum();
        let texts = messages.saturating_add(tokens(&request.system) as u64);
        Asked(Some(Counted { texts, tools: Arc::clone(&request.tools) }))
    }

    /// About how many tokens the request has; none of a script.
    pub(super) fn input(&self) -> Option<u64> {
        self.0.as_ref().map(Counted::tokens)
    }

    /// Estimates what the provider did not count.
    pub(super) fn count(&self, response: &mut Response) {
        let Some(counted) = &self.0 else { return };
        if response.usage.input == 0 {
            response.usage.input = counted.tokens();
            response.usage.estimated = true;
        }
        let said: u64 = response.parts.iter().map(part_tokens).sum();
        if response.usage.output == 0 && said > 0 {
            response.usage.output = said;
            response.usage.estimated = true;
        }
    }
}
