//! JSON, read into a tree in which every value knows where it stands.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::work::{Checked, Fault};

/// Deepest nesting of lists and objects.
const DEPTH: usize = 100;

/// A value, and the byte of the text at which it begins.
#[derive(Debug)]
pub struct Json<'t> {
    pub at: usize,
    pub kind: Kind<'t>,
}

#[derive(Debug)]
pub enum Kind<'t> {
    /// A field that is not there.
    Absent,
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'t str),
    Text(Cow<'t, str>),
    List(Vec<Json<'t>>),
    /// In the order of the text, no name twice.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

static ABSENT: Json<'static> = Json { at: 0, kind: Kind::Absent };

/// Reads one document.
pub fn read(text: &str) -> Checked<Json<'_>> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() { reader.fault("expected the end of the file") } else { Ok(value) }
}

impl<'t> Json<'t> {
    /// That this value is wrong.
    pub fn wrong<T>(&self, what: impl Into<String>) -> Checked<T> {
        Err(Fault::Malformed { at: self.at, what: what.into() })
    }

    pub fn is_absent(&self) -> bool {
        matches!(self.kind, Kind::Absent)
    }

    /// Whether it is not there, or `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Absent | Kind::Null)
    }

    pub fn text(&self) -> Checked<&str> {
        if let Kind::Text(text) = &self.kind { Ok(text) } else { self.wrong("expected a string") }
    }

    pub fn list(&self) -> Checked<&[Json<'t>]> {
        if let Kind::List(list) = &self.kind { Ok(list) } else { self.wrong("expected a list") }
    }

    /// The fields of an object.
    pub fn object(&self) -> Checked<&[(Cow<'t, str>, Json<'t>)]> {
        if let Kind::Object(fields) = &self.kind { Ok(fields) } else { self.wrong("expected an object") }
    }

    /// The field of that name; a value that is absent where there is none.
    pub fn get(&self, name: &str) -> &Json<'t> {
        let Kind::Object(fields) = &self.kind else { return &ABSENT };
        fields.iter().find(|(key, _)| key == name).map_or(&ABSENT, |(_, value)| value)
    }

    /// The values of an object with just these fields, in this order; those whose name ends with `?` may be
    /// absent.
    pub fn fields<const N: usize>(&self, names: [&str; N]) -> Checked<[&Json<'t>; N]> {
        let bare = names.map(|name| name.trim_end_matches('?'));
        if let Some((name, value)) = self.object()?.iter().find(|(name, _)| !bare.contains(&&**name)) {
            return value.wrong(format!("unknown field `{name}`: expected one of {}", bare.join(", ")));
        }
        let values = bare.map(|name| self.get(name));
        match names.iter().zip(&values).find(|(name, value)| value.is_absent() && !name.ends_with('?')) {
            Some((name, _)) => self.wrong(format!("the field `{name}` is missing")),
            None => Ok(values),
        }
    }

    /// The way to the innermost value that begins at a byte: `.claims[3].margin`.
    pub fn path(&self, at: usize) -> String {
        // Values stand in the order of the text: the last that does not begin later is on the way.
        let (step, inner) = match &self.kind {
            Kind::List(list) => match list.iter().rposition(|value| value.at <= at) {
                Some(i) => (format!("[{i}]"), &list[i]),
                None => return String::new(),
            },
            Kind::Object(fields) => match fields.iter().rfind(|(_, value)| value.at <= at) {
                Some((name, value)) => (format!(".{name}"), value),
                None => return String::new(),
            },
            _ => return String::new(),
        };
        if self.at == at { String::new() } else { step + &inner.path(at) }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn fault<T>(&self, what: impl Into<String>) -> Checked<T> {
        let end = if self.at >= self.text.len() { "the file ends here: " } else { "" };
        Err(Fault::Malformed { at: self.at, what: format!("this is not JSON: {end}{}", what.into()) })
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Whether the next byte, which is then passed, is this one.
    fn passes(&mut self, byte: u8) -> bool {
        let is = self.byte() == byte;
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str, kind: Kind<'t>) -> Checked<Kind<'t>> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(kind);
        }
        self.fault("expected a value")
    }

    fn value(&mut self, depth: usize) -> Checked<Json<'t>> {
        self.space();
        let at = self.at;
        if depth > DEPTH {
            return self.fault(format!("nested too deeply: expected at most {DEPTH} levels"));
        }
        let kind = match self.byte() {
            b'{' => self.object(depth)?,
            b'[' => self.list(depth)?,
            b'"' => Kind::Text(self.string()?),
            b't' => self.word("true", Kind::Bool(true))?,
            b'f' => self.word("false", Kind::Bool(false))?,
            b'n' => self.word("null", Kind::Null)?,
            _ => self.number()?,
        };
        Ok(Json { at, kind })
    }

    fn list(&mut self, depth: usize) -> Checked<Kind<'t>> {
        self.at += 1;
        let mut list = Vec::new();
        self.space();
        if self.passes(b']') {
            return Ok(Kind::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            self.space();
            if self.passes(b']') {
                return Ok(Kind::List(list));
            }
            if !self.passes(b',') {
                return self.fault("expected `,` or `]`");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Checked<Kind<'t>> {
        self.at += 1;
        let mut fields: Vec<(Cow<'t, str>, Json<'t>)> = Vec::new();
        let mut names = HashSet::new();
        self.space();
        if self.passes(b'}') {
            return Ok(Kind::Object(fields));
        }
        loop {
            self.space();
            if self.byte() != b'"' {
                return self.fault("expected the name of a field in double quotes");
            }
            let at = self.at;
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(Fault::Malformed { at, what: format!("the field `{name}` is given twice") });
            }
            self.space();
            if !self.passes(b':') {
                return self.fault("expected `:`");
            }
            fields.push((name, self.value(depth + 1)?));
            self.space();
            if self.passes(b'}') {
                return Ok(Kind::Object(fields));
            }
            if !self.passes(b',') {
                return self.fault("expected `,` or `}`");
            }
        }
    }

    fn digits(&mut self) -> Checked<()> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.fault("expected a value") } else { Ok(()) }
    }

    fn number(&mut self) -> Checked<Kind<'t>> {
        let start = self.at;
        self.passes(b'-');
        if !self.passes(b'0') {
            self.digits()?;
        }
        if self.passes(b'.') {
            self.digits()?;
        }
        if self.passes(b'e') || self.passes(b'E') {
            let _ = self.passes(b'+') || self.passes(b'-');
            self.digits()?;
        }
        Ok(Kind::Number(&self.text[start..self.at]))
    }

    fn string(&mut self) -> Checked<Cow<'t, str>> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            while !matches!(self.byte(), b'"' | b'\\' | 0..0x20) {
                self.at += 1;
            }
            // Cut at ASCII bytes, which stand within no other character.
            let part = &self.text[start..self.at];
            if text.is_empty() {
                text = Cow::Borrowed(part);
            } else {
                text.to_mut().push_str(part);
            }
            if self.passes(b'"') {
                return Ok(text);
            }
            if !self.passes(b'\\') {
                return self.fault("expected the rest of a string, without control characters");
            }
            let escaped = self.escape()?;
            text.to_mut().push(escaped);
        }
    }

    fn escape(&mut self) -> Checked<char> {
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hexadecimal()?;
                if (0xd800..0xdc00).contains(&code) && self.passes(b'\\') && self.passes(b'u') {
                    let low = self.hexadecimal()?;
                    // Two surrogates are one character; a lone one is none.
                    code = if (0xdc00..0xe000).contains(&low) {
                        0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                    } else {
                        0xd800
                    };
                }
                match char::from_u32(code) {
                    Some(char) => char,
                    None => return self.fault("this escape stands for no character"),
                }
            }
            _ => return self.fault("there is no such escape"),
        })
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
