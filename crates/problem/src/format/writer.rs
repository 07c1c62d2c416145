//! Writes JSON field by field, in an order and with line breaks of its own.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use crate::Rational;

/// How a number is written.
pub(super) type Number = fn(&Rational) -> String;

/// Writes an object field by field, to what never fails: a string, or what takes the place of one.
pub(super) struct Fields<'o> {
    out: &'o mut (dyn Write + 'o),
    number: Number,
    /// Stands between two fields.
    between: &'static str,
    is_empty: bool,
}

impl<'o> Fields<'o> {
    /// A whole file: each field begins a line.
    pub fn file(out: &'o mut (dyn Write + 'o), number: Number) -> Self {
        put(out, "{\n");
        Self { out, number, between: ",\n", is_empty: true }
    }

    /// Ends the file.
    pub fn end(self) {
        put(self.out, "\n}\n");
    }

    /// Ends a file without a line break.
    pub fn close(self) {
        put(self.out, "\n}");
    }

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

    /// A value that is JSON already.
    pub fn plain(&mut self, name: &str, json: &str) {
        self.key(name);
        put(self.out, json);
    }

    /// A file inside the file.
    pub fn inner(&mut self, name: &str, write: impl FnOnce(&mut dyn Write)) {
        self.key(name);
        write(self.out);
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
        put(self.out, "true");
    }

    pub fn names<'n>(&mut self, name: &str, names: impl Iterator<Item = &'n str>) {
        self.key(name);
        put_names(self.out, names);
    }

    /// Lists of names.
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

    /// A list of objects, one on each line, where there is one.
    pub fn some_lines<T>(&mut self, name: &str, of: &[T], each: impl Fn(&mut Fields<'_>, &T)) {
        if !of.is_empty() {
            self.lines(name, of, each);
        }
    }

    /// Amounts by resource.
    pub fn amounts(&mut self, name: &str, resources: &[String], amounts: &[(usize, Rational)]) {
        self.object(name, |of| amounts.iter().for_each(|(r, amount)| of.number(&resources[*r], amount)));
    }

    /// The same of amounts that many users share.
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

    /// A list of names that many users share; `key` says where it is held.
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

/// Texts of what many users share, by where it is held in memory.
#[derive(Default)]
pub(super) struct Texts {
    known: HashMap<usize, Box<str>>,
    bytes: usize,
}

impl Texts {
    /// Bytes of the texts that are kept: those of a hundred thousand shapes of users.
    const MOST: usize = 1 << 24;

    fn put(&mut self, out: &mut dyn Write, key: usize, write: impl FnOnce(&mut String)) {
        if let Some(text) = self.known.get(&key) {
            return put(out, text);
        }
        let mut text = String::new();
        write(&mut text);
        put(out, &text);
        // With its place in the table.
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
    // Files may have millions of names.
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if name.bytes().all(is_plain) {
        put(out, "\"");
        put(out, name);
        put(out, "\"");
    } else {
        // A string always has a JSON form.
        put(out, &serde_json::to_string(name).unwrap_or_default());
    }
}
