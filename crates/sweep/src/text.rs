//! JSON on a single line, with a space after every comma and colon, as Python writes it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// Returns the JSON text of a value.
///
/// # Errors
/// If the value cannot be serialised as JSON, for example because a key is not a string.
pub fn spaced(value: &(impl Serialize + ?Sized)) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the JSON text with a space after every comma and colon, and without other white space. The
/// spelling of numbers is preserved.
pub(crate) fn on_one_line(json: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::with_capacity(json.len()), false, false);
    for c in json.chars() {
        match c {
            _ if in_string => {
                in_string = escaped || c != '"';
                escaped = c == '\\' && !escaped;
            }
            '"' => in_string = true,
            _ if c.is_ascii_whitespace() => continue,
            _ => {}
        }
        out.push(c);
        if !in_string && matches!(c, ',' | ':') {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{on_one_line, spaced};

    #[test]
    fn blanks_follow_only_commas_and_colons() {
        let text = "{ \"a\\\",b\":\n[1.50 ,\r\n\ttrue ], \"c\\\\\":{}}";
        assert_eq!(on_one_line(text), "{\"a\\\",b\": [1.50, true], \"c\\\\\": {}}");
        assert_eq!(spaced(&(1, "a,b", [true])).unwrap(), r#"[1, "a,b", [true]]"#);
    }
}
