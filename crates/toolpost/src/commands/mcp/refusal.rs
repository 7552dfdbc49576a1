//! The server that cannot start: it answers every request with the reason, because hosts show an answer to their user and
//! hardly ever what a server writes to standard error. It runs nothing.

use crate::output::Printer;
use std::io::{ErrorKind, IsTerminal, Read};
use toolpost_core::ToolError;
use toolpost_mcp::message::{Message, answer};
use toolpost_mcp::{Line, Lines, RpcError};

/// Answers requests on standard input until it is closed. A person who starts the server by hand has read the reason.
pub(super) fn serve(printer: &Printer, error: &ToolError) {
    let mut input = std::io::stdin().lock();
    if input.is_terminal() {
        return;
    }
    let refusal = Err(RpcError::internal(format!("toolpost cannot start: {}", error.message())));
    let mut lines = Lines::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        lines.push(&buffer[..read], |line| {
            let Line::Whole(line) = line else { return };
            for message in Message::parse_lenient(line).unwrap_or_default() {
                if let Message::Request(request) = message {
                    printer.data(&answer(&request.id, &refusal));
                }
            }
        });
    }
}
