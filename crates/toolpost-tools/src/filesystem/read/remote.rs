//! Resources of other servers: read by a call of the tool that each server has for that, so that the policy decides as for
//! any other call.

use base64::Engine as _;
use std::io::Cursor;
use toolpost_core::registry::ResourceCall;
use toolpost_core::workspace::{File, Kind, Stat};
use toolpost_core::{Call, Code, Context, ToolError, WorkspacePath};

/// The content of a resource as a file, if this is an address that another server has named.
pub(super) async fn open(ctx: &Context, path: &WorkspacePath) -> Result<Option<File>, ToolError> {
    let address = path.as_str();
    if !is_address(address) {
        return Ok(None);
    }
    let mut call = None;
    for source in ctx.tools().sources().iter() {
        call = source.resource(address).await?;
        if call.is_some() {
            break;
        }
    }
    let Some(ResourceCall { tool, arguments }) = call else { return Ok(None) };
    let outcome = ctx.call(Call::new(tool, arguments)).await;
    let outcome = outcome.ok_or_else(|| ToolError::execution("there is no executor around this call"))?;
    let output = outcome.result?;
    let mut bytes = Vec::new();
    for content in output.data["contents"].as_array().into_iter().flatten() {
        if !bytes.is_empty() {
            bytes.push(b'\n');
        }
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) => bytes.extend_from_slice(text.as_bytes()),
            (None, Some(blob)) => {
                let decoded = base64::engine::general_purpose::STANDARD.decode(blob);
                bytes.extend(decoded.map_err(|_| {
                    ToolError::new(Code::ReadError, format!("the content of `{address}` is not valid base64"))
                })?);
            }
            (None, None) => {}
        }
    }
    let stat = Stat {
        name: address.to_owned(),
        kind: Kind::File,
        size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        modified_ms: 0,
        mode: 0o444,
        has_other_names: false,
    };
    Ok(Some(File { stat, reader: Box::new(Cursor::new(bytes)) }))
}

/// Whether this is spelled as an address, and not as a path.
fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
        !rest.is_empty()
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(is_fine)
    })
}
