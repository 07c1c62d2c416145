//! Reads LP files: the format of CPLEX, which most solvers read and write.
//!
//! Numbers are read exactly as the written decimals. A column that is listed as general is an integer of at least 0. A
//! column that is listed as binary is 0 or 1. A negative upper bound does not change the lower bound 0, as documented
//! by CPLEX.

use std::collections::HashMap;

use evenhand_problem::number::MAX_TOTAL_DIGITS;
use rug::Rational;

use crate::model::{Bounds, Column, Direction, Model, Row};
use crate::mps::{FormatError, is_infinite, parse};

/// The words that begin a section, in lower case. If one entry is the beginning of another, the longer entry comes
/// first.
const SECTIONS: [(&str, Section); 29] = [
    ("maximize", Section::Objective(Direction::Maximise)),
    ("maximise", Section::Objective(Direction::Maximise)),
    ("maximum", Section::Objective(Direction::Maximise)),
    ("max", Section::Objective(Direction::Maximise)),
    ("minimize", Section::Objective(Direction::Minimise)),
    ("minimise", Section::Objective(Direction::Minimise)),
    ("minimum", Section::Objective(Direction::Minimise)),
    ("min", Section::Objective(Direction::Minimise)),
    ("subject to", Section::Rows),
    ("such that", Section::Rows),
    ("s.t.", Section::Rows),
    ("st.", Section::Rows),
    ("st", Section::Rows),
    ("bounds", Section::Bounds),
    ("bound", Section::Bounds),
    ("general constraints", Section::Refused),
    ("generals", Section::Integers),
    ("general", Section::Integers),
    ("gen", Section::Integers),
    ("integers", Section::Integers),
    ("integer", Section::Integers),
    ("binaries", Section::Binaries),
    ("binary", Section::Binaries),
    ("bin", Section::Binaries),
    ("end", Section::End),
    ("semi-continuous", Section::Refused),
    ("semis", Section::Refused),
    ("sos", Section::Refused),
    ("lazy constraints", Section::Refused),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Objective(Direction),
    Rows,
    Bounds,
    Integers,
    Binaries,
    End,
    /// A section for restrictions that do not exist in linear programmes. It is refused.
    Refused,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(Rational),
    Name(String),
    Minus,
    Plus,
    Compare(Comparison),
    Colon,
    /// A character that cannot occur in a linear expression, such as the bracket of a quadratic expression.
    Other(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtMost,
    AtLeast,
    Equal,
}

/// The tokens of a section, each with its line.
type Tokens = Vec<(u64, Token)>;

/// A sum of terms and its constant.
#[derive(Default)]
struct Expression {
    terms: Vec<(Rational, String)>,
    constant: Rational,
}

/// Reads an LP file.
///
/// # Errors
/// [`FormatError`] with the line and what was expected in this line.
pub fn read(text: &str) -> Result<Model, FormatError> {
    let mut builder = Builder::default();
    let mut section = Section::Start;
    let mut tokens = Tokens::new();
    let mut digits = 0;
    let mut last_line = 0;
    for (at, line) in text.lines().enumerate() {
        let number = at as u64 + 1;
        last_line = number;
        let mut rest = line.split('\\').next().unwrap_or_default();
        if let Some((next, length)) = header(rest, section) {
            builder.section(section, &std::mem::take(&mut tokens), number)?;
            rest = &rest[length..];
            if next == Section::Refused {
                let name = line.trim();
                return wrong(
                    number,
                    format!("the section `{name:.40}` is not supported in a linear programme"),
                );
            }
            if matches!(next, Section::Objective(_)) && section != Section::Start {
                return wrong(number, "a second objective");
            }
            section = next;
            if section == Section::End {
                return builder.finish(number);
            }
        }
        let before = tokens.len();
        tokenise(rest, number, &mut tokens)?;
        if section == Section::Start && tokens.len() > before {
            return wrong(number, "expected `minimize` or `maximize`");
        }
        digits += rest.bytes().filter(u8::is_ascii_digit).count() as u64;
        if digits > MAX_TOTAL_DIGITS {
            return wrong(number, format!("the numbers have more than {MAX_TOTAL_DIGITS} digits together"));
        }
    }
    if section == Section::Start {
        return wrong(last_line + 1, "the file ends without an objective");
    }
    builder.section(section, &tokens, last_line)?;
    builder.finish(last_line)
}

fn wrong<T>(line: u64, message: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError::Line { line, message: message.into() })
}

/// Returns the section that begins in this line, and the length of its header.
fn header(line: &str, section: Section) -> Option<(Section, usize)> {
    let start = line.len() - line.trim_start().len();
    let lower = line[start..].to_ascii_lowercase();
    let (word, found) = SECTIONS.iter().find(|(word, _)| {
        let Some(rest) = lower.strip_prefix(word) else { return false };
        let next = rest.trim_start().chars().next();
        // A row or a column may have the name of a section: `max: x` and `max <= 3` are not headers.
        let is_word = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace());
        let is_name = matches!(next, Some(':' | '<' | '>' | '=' | '+' | '-')) && section != Section::Start;
        is_word && !is_name
    })?;
    Some((*found, start + word.len()))
}

fn tokenise(line: &str, number: u64, tokens: &mut Tokens) -> Result<(), FormatError> {
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '+' => (Token::Plus, 1),
            '-' => (Token::Minus, 1),
            ':' => (Token::Colon, 1),
            '<' | '>' | '=' => comparison(rest),
            '0'..='9' | '.' => {
                let length = length_of_number(rest);
                match parse(&rest[..length]) {
                    Some(value) => (Token::Number(value), length),
                    None => return wrong(number, format!("`{:.40}` is not a number", &rest[..length])),
                }
            }
            first if is_of_name(first) => {
                let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
                (Token::Name(rest[..length].to_owned()), length)
            }
            first => (Token::Other(first), first.len_utf8()),
        };
        tokens.push((number, token));
        rest = rest[length..].trim_start();
    }
    Ok(())
}

/// Returns true if a name may contain this character. A name may not begin with a digit or a point.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "!\"#$%&(),.;?@_'`{}~|/".contains(c)
}

fn comparison(rest: &str) -> (Token, usize) {
    let length = rest.len() - rest.trim_start_matches(['<', '>', '=']).len();
    let token = match &rest[..length] {
        "<" | "<=" | "=<" => Token::Compare(Comparison::AtMost),
        ">" | ">=" | "=>" => Token::Compare(Comparison::AtLeast),
        "=" => Token::Compare(Comparison::Equal),
        _ => Token::Other('='),
    };
    (token, length)
}

/// Returns the length of the number at the start of a text: digits, a point and an exponent. An `e` that no digits
/// follow is not part of the number, but begins a name.
fn length_of_number(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        length += 1 + digits(length + 1);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        length += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    length
}

/// A position in the tokens of a section.
struct Cursor<'t> {
    tokens: &'t [(u64, Token)],
    at: usize,
    end: u64,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn line(&self) -> u64 {
        self.tokens.get(self.at).map_or(self.end, |(line, _)| *line)
    }

    fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, FormatError> {
        let found = match self.peek() {
            Some(Token::Name(name)) => format!("`{name:.40}`"),
            Some(Token::Number(number)) => format!("the number {:.40}", number.to_string()),
            Some(Token::Plus) => "`+`".to_owned(),
            Some(Token::Minus) => "`-`".to_owned(),
            Some(Token::Colon) => "`:`".to_owned(),
            Some(Token::Compare(_)) => "a comparison".to_owned(),
            Some(Token::Other(c)) => format!("`{}`", c.escape_default()),
            None => "the end of the section".to_owned(),
        };
        wrong(self.line(), format!("found {found}: expected {expected}"))
    }

    /// Reads a label, a name with a colon, if there is one.
    fn label(&mut self) -> Option<String> {
        let (Some((_, Token::Name(name))), Some((_, Token::Colon))) =
            (self.tokens.get(self.at), self.tokens.get(self.at + 1))
        else {
            return None;
        };
        self.at += 2;
        Some(name.clone())
    }

    /// Reads signs. Returns true in the first value if their product is negative, and true in the second if there are
    /// any signs.
    fn signs(&mut self) -> (bool, bool) {
        let (mut is_negative, mut any) = (false, false);
        while let Some(Token::Plus | Token::Minus) = self.peek() {
            is_negative ^= self.next() == Some(&Token::Minus);
            any = true;
        }
        (is_negative, any)
    }

    /// Reads a sum of terms, up to the first token that cannot continue it.
    fn expression(&mut self) -> Result<Expression, FormatError> {
        let mut sum = Expression::default();
        let mut is_first = true;
        loop {
            let (is_negative, any) = self.signs();
            if !any && !is_first {
                return Ok(sum);
            }
            let mut value = Rational::from(if is_negative { -1 } else { 1 });
            let line = self.line();
            match self.peek() {
                Some(Token::Number(number)) => {
                    value *= number;
                    self.at += 1;
                    match self.peek() {
                        Some(Token::Name(name)) if self.line() == line && !self.is_label() => {
                            self.at += 1;
                            sum.terms.push((value, name.clone()));
                        }
                        _ => sum.constant += value,
                    }
                }
                Some(Token::Name(name)) if infinity(name) => {
                    self.at += 1;
                    sum.constant += value * infinite();
                }
                Some(Token::Name(name)) => {
                    self.at += 1;
                    sum.terms.push((value, name.clone()));
                }
                Some(Token::Other('[')) => {
                    return self.wrong("a linear expression (quadratic terms are not supported)");
                }
                _ if is_first && !any => return self.wrong("a term such as `3 x`"),
                _ => return self.wrong("a term after the sign"),
            }
            is_first = false;
        }
    }

    fn is_label(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some((_, Token::Colon)))
    }

    fn comparison(&mut self) -> Result<Comparison, FormatError> {
        match self.peek() {
            Some(Token::Compare(comparison)) => {
                self.at += 1;
                Ok(*comparison)
            }
            _ => self.wrong("`<=`, `>=` or `=`"),
        }
    }
}

fn infinity(name: &str) -> bool {
    ["inf", "infinity"].iter().any(|word| name.eq_ignore_ascii_case(word))
}

fn infinite() -> Rational {
    parse("inf").unwrap_or_default()
}

#[derive(Default)]
struct Builder {
    model: Model,
    columns: HashMap<String, usize>,
    rows: HashMap<String, usize>,
}

impl Builder {
    fn column(&mut self, name: &str) -> usize {
        if let Some(at) = self.columns.get(name) {
            return *at;
        }
        let at = self.model.columns.len();
        self.columns.insert(name.to_owned(), at);
        let column = Column { name: name.to_owned(), bounds: Bounds::at_least(0), ..Column::default() };
        self.model.columns.push(column);
        at
    }

    fn section(&mut self, section: Section, tokens: &Tokens, end: u64) -> Result<(), FormatError> {
        let mut cursor = Cursor { tokens, at: 0, end };
        match section {
            Section::Start | Section::End | Section::Refused => {}
            Section::Objective(direction) => {
                self.model.direction = direction;
                cursor.label();
                if cursor.peek().is_some() {
                    let sum = cursor.expression()?;
                    self.model.constant = sum.constant;
                    for (value, name) in sum.terms {
                        let at = self.column(&name);
                        self.model.columns[at].cost += value;
                    }
                }
                if cursor.peek().is_some() {
                    return cursor.wrong("`subject to`");
                }
            }
            Section::Rows => {
                while cursor.peek().is_some() {
                    self.row(&mut cursor)?;
                }
            }
            Section::Bounds => {
                while cursor.peek().is_some() {
                    self.bound(&mut cursor)?;
                }
            }
            Section::Integers | Section::Binaries => {
                while cursor.peek().is_some() {
                    let line = cursor.line();
                    let Some(Token::Name(name)) = cursor.peek() else {
                        return cursor.wrong("the name of a column");
                    };
                    cursor.at += 1;
                    let at = self.known(name, line)?;
                    let column = &mut self.model.columns[at];
                    column.is_integer = true;
                    if section == Section::Binaries {
                        column.bounds = Bounds::between(0, 1);
                    }
                }
            }
        }
        Ok(())
    }

    fn known(&self, name: &str, line: u64) -> Result<usize, FormatError> {
        match self.columns.get(name) {
            Some(at) => Ok(*at),
            None => {
                wrong(line, format!("the column `{name:.60}` appears neither in the objective nor in a row"))
            }
        }
    }

    /// Reads a row of the form `[name:] sum <= side` or `side <= sum <= side`.
    fn row(&mut self, cursor: &mut Cursor<'_>) -> Result<(), FormatError> {
        let line = cursor.line();
        let name = cursor.label().unwrap_or_else(|| format!("R{}", self.model.rows.len() + 1));
        let first = cursor.expression()?;
        let comparison = cursor.comparison()?;
        let second = cursor.expression()?;
        let mut bounds = Bounds::free();
        let sum = if let Some(Token::Compare(_)) = cursor.peek() {
            // A range: both outer sides are constants.
            let upper = cursor.comparison()?;
            let third = cursor.expression()?;
            if comparison != upper || comparison == Comparison::Equal {
                return wrong(line, "a row with two sides: expected `<=` twice or `>=` twice");
            }
            if !first.terms.is_empty() || !third.terms.is_empty() {
                return wrong(line, "a row with two sides: expected numbers at both ends");
            }
            let (lower, upper) = match comparison {
                Comparison::AtMost => (first.constant, third.constant),
                _ => (third.constant, first.constant),
            };
            apply(&mut bounds, Comparison::AtLeast, &(lower - &second.constant));
            apply(&mut bounds, Comparison::AtMost, &(upper - &second.constant));
            second
        } else {
            apply(&mut bounds, comparison, &Rational::from(&second.constant - &first.constant));
            let negated = second.terms.into_iter().map(|(value, name)| (-value, name));
            Expression { terms: first.terms.into_iter().chain(negated).collect(), ..Expression::default() }
        };
        let at = self.model.rows.len();
        if self.rows.insert(name.clone(), at).is_some() {
            return wrong(line, format!("the row `{name:.60}` is stated twice"));
        }
        self.model.rows.push(Row { name, bounds });
        for (value, name) in sum.terms {
            let column = self.column(&name);
            let entries = &mut self.model.columns[column].entries;
            match entries.last_mut() {
                Some((row, sum)) if *row == at => *sum += value,
                _ => entries.push((at, value)),
            }
        }
        Ok(())
    }

    /// Reads a bound: `x free`, `x <= 3`, `0 <= x` or `0 <= x <= 3`.
    fn bound(&mut self, cursor: &mut Cursor<'_>) -> Result<(), FormatError> {
        let line = cursor.line();
        if let Some(Token::Name(name)) = cursor.peek().filter(|_| !is_infinity(cursor)) {
            cursor.at += 1;
            let at = self.known(name, line)?;
            if let Some(Token::Name(word)) = cursor.peek()
                && word.eq_ignore_ascii_case("free")
            {
                cursor.at += 1;
                self.model.columns[at].bounds = Bounds::free();
                return Ok(());
            }
            let comparison = cursor.comparison()?;
            let value = side(cursor)?;
            apply(&mut self.model.columns[at].bounds, comparison, &value);
            return Ok(());
        }
        let value = side(cursor)?;
        let comparison = cursor.comparison()?;
        let name_line = cursor.line();
        let Some(Token::Name(name)) = cursor.next() else {
            cursor.at -= 1;
            return cursor.wrong("the name of a column");
        };
        let at = self.known(name, name_line)?;
        let turned = match comparison {
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::AtLeast => Comparison::AtMost,
            Comparison::Equal => Comparison::Equal,
        };
        apply(&mut self.model.columns[at].bounds, turned, &value);
        if let Some(Token::Compare(_)) = cursor.peek() {
            let comparison = cursor.comparison()?;
            let value = side(cursor)?;
            apply(&mut self.model.columns[at].bounds, comparison, &value);
        }
        Ok(())
    }

    fn finish(mut self, line: u64) -> Result<Model, FormatError> {
        for column in &mut self.model.columns {
            column.entries.retain(|(_, value)| !value.is_zero());
        }
        if self.model.columns.is_empty() && self.model.rows.is_empty() {
            return wrong(line, "the programme has no columns and no rows");
        }
        Ok(self.model)
    }
}

fn is_infinity(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some(Token::Name(name)) if infinity(name))
}

/// Reads a number with its signs. It may be infinite.
fn side(cursor: &mut Cursor<'_>) -> Result<Rational, FormatError> {
    let (is_negative, _) = cursor.signs();
    let value = match cursor.peek() {
        Some(Token::Number(number)) => number.clone(),
        Some(Token::Name(name)) if infinity(name) => infinite(),
        _ => return cursor.wrong("a number"),
    };
    cursor.at += 1;
    Ok(if is_negative { -value } else { value })
}

/// Sets the bounds that a comparison with a number states. Upper bounds of at least 1e30 and lower bounds of at most
/// -1e30 count as infinite.
fn apply(bounds: &mut Bounds, comparison: Comparison, value: &Rational) {
    let is_none = |is_upper: bool| is_infinite(value) && (*value > 0) == is_upper;
    let (has_lower, has_upper) = (comparison != Comparison::AtMost, comparison != Comparison::AtLeast);
    if has_lower {
        bounds.lower = Some(value.clone()).filter(|_| !is_none(false));
    }
    if has_upper {
        bounds.upper = Some(value.clone()).filter(|_| !is_none(true));
    }
}
