//! A writer of JSON that controls the order of fields and the line breaks.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use crate::Rational;

/// A function that formats a number.
pub(super) type Number = fn(&Rational) -> String;

/// A writer of an object, field by field. Writing to its output must never fail. Writing to a string meets
/// this condition.
pub(super) struct Fields<'o> {
    out: &'o mut (dyn Write + 'o),
    number: Number,
    /// The separator between two fields.
    between: &'static str,
    is_empty: bool,
}

impl<'o> Fields<'o> {
    /// Begins a whole file, in which each field begins a line.
    pub fn file(out: &'o mut (dyn Write + 'o), number: Number) -> Self {
        put(out, "{\n");
        Self { out, number, between: ",\n", is_empty: true }
    }

    /// Ends the file, with a line break.
    pub fn end(self) {
        put(self.out, "\n}\n");
    }

    /// Ends a file without a line break.
    pub fn close(self) {
        put(self.out, "\n}");
    }

    /// Writes the separator and the name of a field.
    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.is_empty) {
            put(self.out, self.between);
        }
        quote(self.out, name);
        put(self.out, ":");
    }

    pub fn text(&mut self, name: &str, value: impl Display) {
        self.key(name);
        quote(self.out, &value.to_string());
    }

    pub fn number(&mut self, name: &str, value: &Rational) {
        self.key(name);
        // Digits need no escapes.
        put(self.out, "\"");
        put(self.out, &(self.number)(value));
        put(self.out, "\"");
    }

    /// Writes a value that is JSON already.
    pub fn plain(&mut self, name: &str, json: &str) {
        self.key(name);
        put(self.out, json);
    }

    /// Writes a file inside the file.
    pub fn inner(&mut self, name: &str, write: impl FnOnce(&mut dyn Write)) {
        self.key(name);
        write(self.out);
    }

    /// Writes a text, unless it is empty.
    pub fn some_text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.text(name, value);
        }
    }

    /// Writes a list of names, unless it is empty.
    pub fn some_names(&mut self, name: &str, names: &[String]) {
        if !names.is_empty() {
            self.names(name, names.iter().map(String::as_str));
        }
    }

    pub fn truth(&mut self, name: &str) {
        self.key(name);
        put(self.out, "true");
    }

    pub fn names<'n>(&mut self, name: &str, names: impl Iterator<Item = &'n str>) {
        self.key(name);
        put_names(self.out, names);
    }

    /// Writes a list of lists of names.
    pub fn name_lists<'n, L>(&mut self, name: &str, lists: impl IntoIterator<Item = L>)
    where
        L: Iterator<Item = &'n str>,
    {
        self.key(name);
        put(self.out, "[");
        for (position, names) in lists.into_iter().enumerate() {
            put(self.out, if position == 0 { "" } else { "," });
            put_names(self.out, names);
        }
        put(self.out, "]");
    }

    /// Writes a list of objects, one on each line, unless it is empty.
    pub fn some_lines<T>(&mut self, name: &str, of: &[T], each: impl Fn(&mut Fields<'_>, &T)) {
        if !of.is_empty() {
            self.lines(name, of, each);
        }
    }

    /// Writes amounts, each with the name of its resource.
    pub fn amounts(&mut self, name: &str, resources: &[String], amounts: &[(usize, Rational)]) {
        self.object(name, |of| amounts.iter().for_each(|(r, amount)| of.number(&resources[*r], amount)));
    }

    /// Writes amounts that many users share in memory. Their text is cached.
    pub fn shared_amounts(
        &mut self,
        name: &str,
        resources: &[String],
        amounts: &[(usize, Rational)],
        texts: &mut Texts,
    ) {
        let number = self.number;
        self.key(name);
        texts.put(self.out, amounts.as_ptr().addr(), |out| {
            put(out, "{");
            let mut of = Fields { out, number, between: ",", is_empty: true };
            amounts.iter().for_each(|(r, amount)| of.number(&resources[*r], amount));
            put(of.out, "}");
        });
    }

    /// Writes a list of names that many users share in memory. The text of the list is cached under `key`,
    /// the address of the list.
    pub fn shared_names<'n>(
        &mut self,
        name: &str,
        names: impl Iterator<Item = &'n str>,
        key: usize,
        texts: &mut Texts,
    ) {
        self.key(name);
        texts.put(self.out, key, |out| put_names(out, names));
    }

    /// Writes an object on one line.
    pub fn object(&mut self, name: &str, fields: impl FnOnce(&mut Fields<'_>)) {
        self.key(name);
        self.braces(fields);
    }

    /// Writes a list of objects on one line.
    pub fn list<T>(
        &mut self,
        name: &str,
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.elements(name, ["", ",", ""], of, each);
    }

    /// Writes a list of objects, one on each line.
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
        put(self.out, "[");
        for (position, element) in of.into_iter().enumerate() {
            put(self.out, if position == 0 { first } else { between });
            self.braces(|fields| each(fields, element));
        }
        put(self.out, last);
        put(self.out, "]");
    }

    fn braces(&mut self, fields: impl FnOnce(&mut Fields<'_>)) {
        put(self.out, "{");
        fields(&mut Fields { out: self.out, number: self.number, between: ",", is_empty: true });
        put(self.out, "}");
    }
}

/// A cache of the texts of values that many users share, indexed by the address of the value in memory.
#[derive(Default)]
pub(super) struct Texts {
    known: HashMap<usize, Box<str>>,
    bytes: usize,
}

impl Texts {
    /// The maximum number of bytes of the cached texts: enough for a hundred thousand shapes of users.
    const MOST: usize = 1 << 24;

    fn put(&mut self, out: &mut dyn Write, key: usize, write: impl FnOnce(&mut String)) {
        if let Some(text) = self.known.get(&key) {
            return put(out, text);
        }
        let mut text = String::new();
        write(&mut text);
        put(out, &text);
        // The second term counts the entry in the table.
        self.bytes += text.len() + 2 * size_of::<(usize, Box<str>)>();
        if self.bytes <= Self::MOST {
            self.known.insert(key, text.into());
        }
    }
}

fn put_names<'n>(out: &mut dyn Write, names: impl Iterator<Item = &'n str>) {
    put(out, "[");
    for (position, name) in names.enumerate() {
        put(out, if position > 0 { "," } else { "" });
        quote(out, name);
    }
    put(out, "]");
}

fn put(out: &mut dyn Write, text: &str) {
    let _ = out.write_str(text);
}

fn quote(out: &mut dyn Write, name: &str) {
    // Checking first avoids an allocation for most names. Files may have millions of names.
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if name.bytes().all(is_plain) {
        put(out, "\"");
        put(out, name);
        put(out, "\"");
    } else {
        // A string always has a JSON form, so the default is never used.
        put(out, &serde_json::to_string(name).unwrap_or_default());
    }
}
