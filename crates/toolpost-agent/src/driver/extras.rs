//! What comes with the text of a result: images and data. Kept so that another process can go on with the run.
//!
//! The log has all of it, so that a run can be told again from the log alone, and handles for what is too long. Of files whose
//! reading asks, nothing is kept.

use super::activation::Running;
use crate::kernel::Extra;
use serde_json::Value;
use std::io::Read;
use toolpost_core::activation::Fact;
use toolpost_core::outcome::{Attachment, AttachmentContent, Metadata};
use toolpost_core::policy::is_protected;
use toolpost_core::{Capability, Context, WorkspacePath};

/// Maximum number of bytes of one result that are written into the log beside its text: more than a provider accepts of one image.
const MOST_INLINE: usize = 8 << 20;
/// Maximum number of bytes that are read from under a handle.
const MOST_READ: u64 = 64 << 20;

impl Running {
    /// Keeps what a call returned beside its text, as far as the model is shown it.
    pub(super) async fn keep_extra(
        &self,
        (seq, index): (u64, usize),
        call: &str,
        attachments: Vec<Attachment>,
        data: &Value,
        metadata: &Metadata,
    ) {
        let profile = self.model.profile();
        let is_sent = |one: &Attachment| profile.images && one.media_type.starts_with("image/");
        let attachments: Vec<Attachment> = attachments.into_iter().filter(is_sent).collect();
        let data = if profile.reads_data { data.clone() } else { Value::Null };
        if attachments.is_empty() && data.is_null() {
            return;
        }
        let extra = Extra { attachments, data, data_handle: None };
        self.extras().insert((seq, index), extra.clone());
        if metadata.files_accessed.iter().any(|name| is_protected(Capability::Read, name)) {
            return;
        }
        let kept = if length(&extra) <= MOST_INLINE { Some(extra) } else { self.kept(call, extra).await };
        if let Some(Extra { attachments, data, data_handle }) = kept {
            self.record(Fact::Returned { seq, index, attachments, data, data_handle });
        }
    }

    /// The same with what is too long under handles; what cannot be kept is left out.
    async fn kept(&self, call: &str, mut extra: Extra) -> Option<Extra> {
        let call = call.to_owned();
        let kept = self.context.blocking_in_pool(move |ctx| {
            let mut left = MOST_INLINE;
            let mut fits = |length: usize| {
                let rest = left.checked_sub(length);
                left = rest.unwrap_or(left);
                rest.is_some()
            };
            extra.attachments = std::mem::take(&mut extra.attachments)
                .into_iter()
                .enumerate()
                .filter_map(|(number, attachment)| {
                    let AttachmentContent::Data(bytes) = &attachment.content else { return Some(attachment) };
                    if fits(bytes.len()) {
                        return Some(attachment);
                    }
                    let handle = ctx.keep_text(&format!("{call}-file-{number}"), bytes)?;
                    Some(Attachment { content: AttachmentContent::Handle(handle), ..attachment })
                })
                .collect();
            let text = extra.data.to_string();
            if !fits(text.len()) {
                extra.data = Value::Null;
                extra.data_handle = ctx.keep_text(&format!("{call}-data"), &text);
            }
            let is_empty =
                extra.attachments.is_empty() && extra.data.is_null() && extra.data_handle.is_none();
            Ok((!is_empty).then_some(extra))
        });
        kept.await.ok().flatten()
    }

    /// Reads what another process has kept of this run. What is not there any more stays a handle, of which the model is told.
    pub(super) async fn load_extras(&self) {
        let missing: Vec<((u64, usize), Extra)> = {
            let known = self.extras();
            let state = self.fold.state();
            let is_missing = |(place, _): &(&(u64, usize), &Extra)| !known.contains_key(*place);
            state.returned().iter().filter(is_missing).map(|(place, extra)| (*place, extra.clone())).collect()
        };
        if missing.is_empty() {
            return;
        }
        let loaded = self.context.blocking_in_pool(move |ctx| {
            Ok(missing.into_iter().map(|(place, extra)| (place, opened(ctx, extra))).collect::<Vec<_>>())
        });
        let loaded = loaded.await.unwrap_or_default();
        self.extras().extend(loaded);
    }
}

/// Bytes that it takes in the log.
fn length(extra: &Extra) -> usize {
    let of = |one: &Attachment| match &one.content {
        AttachmentContent::Data(bytes) => bytes.len(),
        AttachmentContent::Handle(_) => 0,
    };
    extra.data.to_string().len() + extra.attachments.iter().map(of).sum::<usize>()
}

fn opened(ctx: &Context, mut extra: Extra) -> Extra {
    for attachment in &mut extra.attachments {
        if let AttachmentContent::Handle(handle) = &attachment.content
            && let Some(bytes) = text(ctx, handle)
        {
            attachment.content = AttachmentContent::Data(bytes);
        }
    }
    if let Some(text) = extra.data_handle.as_deref().and_then(|handle| text(ctx, handle)) {
        extra.data = serde_json::from_str(&text).unwrap_or_default();
    }
    extra
}

fn text(ctx: &Context, handle: &str) -> Option<String> {
    let mut text = String::new();
    let file = ctx.open(&WorkspacePath::new(handle)).ok()?;
    file.reader.take(MOST_READ).read_to_string(&mut text).ok()?;
    Some(text)
}
