//! What goes to standard output.

use std::io::{ErrorKind, Write};

use serde_json::Value;

use crate::failure::Failure;

/// Writes text; a reader that has gone away (`| head`) is no failure.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON document.
pub fn json(value: &Value) -> Result<(), Failure> {
    text(&format!("{value:#}\n"))
}
