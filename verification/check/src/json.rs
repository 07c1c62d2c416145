//! JSON, read into a tree in which every value stores its position in the text.

use std::borrow::Cow;

use crate::work::{Checked, Fault};

/// The deepest nesting of lists and objects that is read.
const DEPTH: usize = 100;

/// The letters that may follow a backslash, and, in the same order, the characters that they mean.
const LETTERS: &str = "\"\\/bfnrt";
const ESCAPED: &str = "\"\\/\u{8}\u{c}\n\r\t";

/// A value, and the byte offset of its first character in the text.
#[derive(Debug)]
pub struct Json<'t> {
    pub at: usize,
    pub kind: Kind<'t>,
}

/// A field of an object: its name and its value.
pub type Field<'t> = (Cow<'t, str>, Json<'t>);

/// The content of a value.
#[derive(Debug)]
pub enum Kind<'t> {
    /// The value of a field that is missing.
    Absent,
    Null,
    Bool(bool),
    /// A number, as it is written.
    Number(&'t str),
    Text(Cow<'t, str>),
    List(Box<[Json<'t>]>),
    /// The fields of an object, in the order of the text. Names are distinct.
    Object(Box<[Field<'t>]>),
}

/// The value of a missing field.
pub static ABSENT: Json<'static> = Json { at: 0, kind: Kind::Absent };

/// Reads a text that consists of one JSON document.
pub fn read(text: &str) -> Checked<Json<'_>> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() { reader.fault("expected the end of the file") } else { Ok(value) }
}

impl<'t> Json<'t> {
    /// Returns the fault that this value is malformed, with a description.
    pub fn wrong<T>(&self, what: impl Into<String>) -> Checked<T> {
        Err(Fault::Malformed { at: self.at, what: what.into() })
    }

    /// Returns the value itself, or `None` if it is missing.
    pub fn given(&self) -> Option<&Self> {
        (!matches!(self.kind, Kind::Absent)).then_some(self)
    }

    pub fn text(&self) -> Checked<&str> {
        if let Kind::Text(text) = &self.kind { Ok(text) } else { self.wrong("expected a string") }
    }

    pub fn boolean(&self) -> Checked<bool> {
        match self.kind {
            Kind::Bool(value) => Ok(value),
            _ => self.wrong("expected true or false"),
        }
    }

    pub fn list(&self) -> Checked<&[Json<'t>]> {
        if let Kind::List(list) = &self.kind { Ok(list) } else { self.wrong("expected a list") }
    }

    /// Returns the position of the text in a list of words. A missing value means the first word.
    pub fn word(&self, words: &[&str]) -> Checked<usize> {
        let word = self.given().map_or(Ok(words[0]), Json::text)?;
        let found = words.iter().position(|known| *known == word);
        found.map_or_else(|| self.wrong(format!("`{word:.60}` is none of {}", words.join(", "))), Ok)
    }

    /// Returns the fields of the object. Returns a fault if the value is not an object.
    pub fn object(&self) -> Checked<&[Field<'t>]> {
        if let Kind::Object(fields) = &self.kind { Ok(fields) } else { self.wrong("expected an object") }
    }

    /// Returns the field with this name, or [`ABSENT`] if there is none.
    pub fn get(&self, name: &str) -> &Json<'t> {
        let Kind::Object(fields) = &self.kind else { return &ABSENT };
        fields.iter().find(|(key, _)| key == name).map_or(&ABSENT, |(_, value)| value)
    }

    /// Returns the first `N` fields that `names` lists, in the order of `names`. The object may have no fields that
    /// `names` does not list. A name that ends with `?` marks an optional field.
    pub fn fields<const N: usize>(&self, names: &str) -> Checked<[&Json<'t>; N]> {
        let mut known = names.split_whitespace();
        let is_known = |name: &str| known.clone().any(|known| known.trim_end_matches('?') == name);
        if let Some((name, value)) = self.object()?.iter().find(|(name, _)| !is_known(name)) {
            let expected = names.replace('?', "");
            return value.wrong(format!("unknown field `{name:.60}`: expected one of {expected}"));
        }
        let is_missing = |name: &&str| !name.ends_with('?') && self.get(name).given().is_none();
        if let Some(name) = names.split_whitespace().find(is_missing) {
            return self.wrong(format!("the field `{name}` is missing"));
        }
        Ok(std::array::from_fn(|_| self.get(known.next().unwrap_or_default().trim_end_matches('?'))))
    }

    /// Reads every object of a list by its fields, as [`Self::fields`] does. A missing list counts as an empty list.
    pub fn rows<'j, T, const N: usize>(
        &'j self,
        names: &str,
        mut read: impl FnMut([&'j Json<'t>; N]) -> Checked<T>,
    ) -> Checked<Vec<T>> {
        let list = self.given().map_or(Ok(&[][..]), Json::list)?;
        list.iter().map(|row| read(row.fields(names)?)).collect()
    }

    /// Returns the path to the innermost value that begins at a byte offset, such as `.claims[3].margin`.
    pub fn path(&self, at: usize) -> String {
        // Values are in the order of the text. So the path leads through the last value that begins at or before the
        // offset.
        let before = |value: &Self| value.at <= at;
        let inner = match &self.kind {
            Kind::List(list) => list.iter().rposition(before).map(|i| (format!("[{i}]"), &list[i])),
            Kind::Object(fields) => {
                let field = fields.iter().rfind(|(_, value)| before(value));
                field.map(|(name, value)| (format!(".{name}"), value))
            }
            _ => None,
        };
        inner.filter(|_| self.at != at).map_or_else(String::new, |(step, inner)| step + &inner.path(at))
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn fault<T>(&self, what: &str) -> Checked<T> {
        let end = if self.at >= self.text.len() { "the file ends here: " } else { "" };
        Err(Fault::Malformed { at: self.at, what: format!("this is not JSON: {end}{what}") })
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips the next bytes that `of` accepts. Returns their number.
    fn skip(&mut self, of: impl Fn(&u8) -> bool) -> usize {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|byte| of(byte)).count();
        self.at += count;
        count
    }

    fn space(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    }

    /// Returns true if the text continues with this word, and then skips the word.
    fn passes(&mut self, word: &str) -> bool {
        let is_next = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, word: &str) -> Checked<()> {
        if self.passes(word) { Ok(()) } else { self.fault(&format!("expected `{word}`")) }
    }

    fn value(&mut self, depth: usize) -> Checked<Json<'t>> {
        self.space();
        let at = self.at;
        if depth > DEPTH {
            return self.fault(&format!("nested too deeply: expected at most {DEPTH} levels"));
        }
        let kind = if self.passes("{") {
            let fields = self.items("}", |reader| {
                let name = reader.string()?;
                reader.space();
                reader.expect(":")?;
                Ok((name, reader.value(depth + 1)?))
            })?;
            // Sorting by length first is fast, because names that end with a number are mostly in this order already.
            let mut all: Vec<_> =
                fields.iter().map(|(name, value)| (name.len(), &**name, value.at)).collect();
            all.sort_unstable();
            if let Some([_, (_, name, at)]) = all.windows(2).find(|pair| pair[0].1 == pair[1].1) {
                return Err(Fault::Malformed { at: *at, what: format!("the field `{name}` is given twice") });
            }
            Kind::Object(fields)
        } else if self.passes("[") {
            Kind::List(self.items("]", |reader| reader.value(depth + 1))?)
        } else if self.byte() == b'"' {
            Kind::Text(self.string()?)
        } else if let Some(at) = ["null", "false", "true"].iter().position(|word| self.passes(word)) {
            if at == 0 { Kind::Null } else { Kind::Bool(at == 2) }
        } else {
            self.number()?
        };
        Ok(Json { at, kind })
    }

    /// Reads items that are separated by commas, up to the closing bracket.
    fn items<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Checked<T>) -> Checked<Box<[T]>> {
        // Most lists are short, and the first growth of an empty vector would reserve four items.
        let mut items = Vec::with_capacity(1);
        self.space();
        while !self.passes(close) {
            if !items.is_empty() {
                self.expect(",")?;
                self.space();
            }
            items.push(item(self)?);
            self.space();
        }
        Ok(items.into())
    }

    fn digits(&mut self) -> Checked<()> {
        if self.skip(u8::is_ascii_digit) == 0 { self.fault("expected a value") } else { Ok(()) }
    }

    fn number(&mut self) -> Checked<Kind<'t>> {
        let start = self.at;
        self.passes("-");
        if !self.passes("0") {
            self.digits()?;
        }
        if self.passes(".") {
            self.digits()?;
        }
        if self.passes("e") || self.passes("E") {
            let _ = self.passes("+") || self.passes("-");
            self.digits()?;
        }
        Ok(Kind::Number(&self.text[start..self.at]))
    }

    fn string(&mut self) -> Checked<Cow<'t, str>> {
        self.expect("\"")?;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            self.skip(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
            // The text is cut at ASCII bytes, which are never inside another character.
            text += &self.text[start..self.at];
            if self.passes("\"") {
                return Ok(text);
            }
            if !self.passes("\\") {
                return self.fault("expected the rest of a string, without control characters");
            }
            text.to_mut().push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Checked<char> {
        if self.passes("u") {
            let code = self.hexadecimal()?;
            // Two surrogates form one character. A single surrogate is not a character.
            let is_pair = (0xd800..0xdc00).contains(&code) && self.passes("\\u");
            let low = if is_pair { self.hexadecimal()?.checked_sub(0xdc00) } else { None };
            let code =
                low.filter(|low| *low < 0x400).map_or(code, |low| 0x10000 + ((code - 0xd800) << 10) + low);
            return char::from_u32(code).map_or_else(|| self.fault("a surrogate without another"), Ok);
        }
        let found = LETTERS.find(char::from(self.byte()));
        self.at += usize::from(found.is_some());
        found.map_or_else(|| self.fault("there is no such escape"), |at| Ok(ESCAPED.as_bytes()[at].into()))
    }

    fn hexadecimal(&mut self) -> Checked<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        self.at += digits.len();
        match u32::from_str_radix(digits, 16) {
            Ok(code) if digits.len() == 4 && !digits.starts_with('+') => Ok(code),
            _ => self.fault("expected four hexadecimal digits"),
        }
    }
}

/// Returns a string as a JSON string.
pub fn quoted(text: &str) -> String {
    let escaped = |c: char| match ESCAPED.find(c).filter(|_| c != '/') {
        Some(at) => format!("\\{}", &LETTERS[at..=at]),
        None if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        None => c.to_string(),
    };
    // Most strings have no character that needs an escape.
    let is_plain = !text.contains(|c: char| c < ' ' || matches!(c, '"' | '\\'));
    let inner = if is_plain { text.to_owned() } else { text.chars().map(escaped).collect() };
    format!("\"{inner}\"")
}

/// Returns a JSON object of the fields that have a value. Other fields are left out.
pub fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Option<String>)>) -> String {
    let given = fields.into_iter().filter_map(|(name, value)| Some(format!("{}:{}", quoted(name), value?)));
    format!("{{{}}}", given.collect::<Vec<_>>().join(","))
}

/// Returns a JSON object of these names, separated by spaces, and their values, in the same order.
pub fn record<const N: usize>(names: &str, values: [impl Into<Option<String>>; N]) -> String {
    object(names.split_whitespace().zip(values.map(Into::into)))
}
