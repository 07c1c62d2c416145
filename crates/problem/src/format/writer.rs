//! Writes JSON field by field, in an order and with line breaks of its own.

use std::fmt::{Display, Write};

use crate::Rational;

/// How a number is written.
pub(super) type Number = fn(&Rational) -> String;

/// Writes an object field by field.
pub(super) struct Fields<'o> {
    out: &'o mut String,
    number: Number,
    /// Stands between two fields.
    between: &'static str,
    is_empty: bool,
}

impl<'o> Fields<'o> {
    /// A whole file: each field begins a line.
    pub fn file(out: &'o mut String, number: Number) -> Self {
        out.push_str("{\n");
        Self { out, number, between: ",\n", is_empty: true }
    }

    /// Ends the file.
    pub fn end(self) {
        self.out.push_str("\n}\n");
    }

    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push_str(self.between);
        }
        quote(self.out, name);
        self.out.push(':');
    }

    pub fn text(&mut self, name: &str, value: impl Display) {
        self.key(name);
        quote(self.out, &value.to_string());
    }

    pub fn number(&mut self, name: &str, value: &Rational) {
        self.key(name);
        // Digits need no escapes.
        let _ = write!(self.out, "\"{}\"", (self.number)(value));
    }

    /// A value that is JSON already.
    pub fn plain(&mut self, name: &str, json: &str) {
        self.key(name);
        self.out.push_str(json);
    }

    /// A file inside the file.
    pub fn inner(&mut self, name: &str, write: impl FnOnce(&mut String)) {
        self.key(name);
        write(self.out);
        self.out.truncate(self.out.trim_end().len());
    }

    /// A text, where there is one.
    pub fn some_text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.text(name, value);
        }
    }

    /// A list of names, where there is one.
    pub fn some_names(&mut self, name: &str, names: &[String]) {
        if !names.is_empty() {
            self.names(name, names.iter().map(String::as_str));
        }
    }

    pub fn truth(&mut self, name: &str) {
        self.key(name);
        self.out.push_str("true");
    }

    pub fn names<'n>(&mut self, name: &str, names: impl Iterator<Item = &'n str>) {
        self.key(name);
        self.out.push('[');
        for (position, name) in names.enumerate() {
            self.out.push_str(if position > 0 { "," } else { "" });
            quote(self.out, name);
        }
        self.out.push(']');
    }

    /// Amounts by resource.
    pub fn amounts(&mut self, name: &str, resources: &[String], amounts: &[(usize, Rational)]) {
        self.object(name, |of| amounts.iter().for_each(|(r, amount)| of.number(&resources[*r], amount)));
    }

    /// An object on one line.
    pub fn object(&mut self, name: &str, fields: impl FnOnce(&mut Fields<'_>)) {
        self.key(name);
        self.braces(fields);
    }

    /// A list of objects on one line.
    pub fn list<T>(
        &mut self,
        name: &str,
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.elements(name, ["", ",", ""], of, each);
    }

    /// A list of objects, one on each line.
    pub fn lines<T>(
        &mut self,
        name: &str,
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.elements(name, ["\n", ",\n", "\n"], of, each);
    }

    fn elements<T>(
        &mut self,
        name: &str,
        [first, between, last]: [&str; 3],
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.key(name);
        self.out.push('[');
        for (position, element) in of.into_iter().enumerate() {
            self.out.push_str(if position == 0 { first } else { between });
            self.braces(|fields| each(fields, element));
        }
        self.out.push_str(last);
        self.out.push(']');
    }

    fn braces(&mut self, fields: impl FnOnce(&mut Fields<'_>)) {
        self.out.push('{');
        fields(&mut Fields { out: self.out, number: self.number, between: ",", is_empty: true });
        self.out.push('}');
    }
}

fn quote(out: &mut String, name: &str) {
    // Files may have millions of names.
    if name.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) {
        out.push('"');
        out.push_str(name);
        out.push('"');
        return;
    }
    // A string always has a JSON form.
    out.push_str(&serde_json::to_string(name).unwrap_or_default());
}
