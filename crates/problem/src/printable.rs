//! Escaping of the names in a file before people see them. A shown name cannot control a terminal, end its line,
//! become markup or a formula, or change the direction of the surrounding text.

/// The medium in which a text is shown to a person.
///
/// Every medium shows control characters, characters that change the direction of writing, and invisible characters
/// as `\u{..}`. Characters with a meaning in the medium are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A line that is shown without further escaping: on a terminal, in a log, in a picture whose writer escapes
    /// markup, or in a comment that ends with its line.
    Text,
    /// A line of Markdown, as GitHub displays it.
    Markdown,
    /// A cell of a table in Markdown, where no heading or list can begin.
    MarkdownCell,
    /// Text or the value of an attribute, in HTML and in SVG.
    Html,
    /// A cell of a table in LaTeX.
    Latex,
    /// A field of comma-separated values (RFC 4180). An apostrophe is put in front of a text that a spreadsheet
    /// would read as a formula. Numbers stay numbers.
    Csv,
    /// Text in a comment of Coq, in which Coq recognises strings and nested comments.
    Coq,
}

impl Medium {
    /// Returns the text as this medium may show it, on one line.
    ///
    /// # Examples
    /// ```
    /// use evenhand_problem::Medium;
    /// let name = "=1+\u{202e}<b>|";
    /// assert_eq!(Medium::Text.show(name), r"=1+\u{202e}<b>|");
    /// assert_eq!(Medium::Markdown.show(name), r"\=1+\\u{202e}\<b\>\|");
    /// assert_eq!(Medium::Html.show(name), r"=1+\u{202e}&lt;b&gt;|");
    /// assert_eq!(Medium::Csv.show(name), r"'=1+\u{202e}<b>|");
    /// assert_eq!(Medium::Csv.show("-1.5"), "-1.5");
    /// ```
    #[must_use]
    pub fn show(self, text: &str) -> String {
        let text = printable(text);
        match self {
            Self::Text => text,
            Self::Markdown => begun(&text),
            Self::MarkdownCell => each(&text, markdown),
            Self::Html => each(&text, html),
            Self::Latex => each(&text, latex),
            Self::Csv => field(text),
            Self::Coq => each(&text, coq),
        }
    }
}

/// Returns a text as a terminal may show it: [`Medium::Text`].
///
/// # Examples
/// ```
/// use evenhand_problem::printable;
/// assert_eq!(printable("a\u{1b}[31m\nb"), r"a\u{1b}[31m\u{a}b");
/// assert_eq!(printable("user\u{202e}1"), r"user\u{202e}1");
/// assert_eq!(printable("größe 漢字"), "größe 漢字");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    each(text, |c| is_hidden(c).then(|| c.escape_unicode().to_string()))
}

/// Returns a text of several lines, with each line escaped as [`printable`] does.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| printable(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a JSON document as a terminal or a log may show it. Hidden characters in its strings are escaped as JSON
/// escapes, so the document keeps its meaning.
///
/// # Examples
/// ```
/// use evenhand_problem::printable_json;
/// assert_eq!(printable_json("{\n  \"user\u{202e}\u{e0041}\": 1\n}"), "{\n  \"user\\u202e\\udb40\\udc41\": 1\n}");
/// ```
#[must_use]
pub fn printable_json(document: &str) -> String {
    each(document, |c| {
        let mut units = [0; 2];
        let escaped =
            || c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        // A line break can only be between strings, since it is already escaped inside a string.
        (c != '\n' && is_hidden(c)).then(escaped)
    })
}

/// Returns the text in which each character for which `replaced` returns a text is replaced by that text.
fn each<S: AsRef<str>>(text: &str, replaced: impl Fn(char) -> Option<S>) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match replaced(c) {
            Some(other) => shown.push_str(other.as_ref()),
            None => shown.push(c),
        }
    }
    shown
}

fn markdown(c: char) -> Option<String> {
    let is_markup = matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '&' | '~' | '$');
    is_markup.then(|| format!("\\{c}"))
}

/// Returns a line of Markdown, escaped so that it begins no heading, list, rule, table or block of code.
fn begun(text: &str) -> String {
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    // "1." and "1)" begin lists.
    let at = if text[digits..].starts_with(['.', ')']) { digits } else { 0 };
    let (number, rest) = text.split_at(at);
    let begins = if at > 0 { &['.', ')'][..] } else { &['#', '+', '-', '=', ':'][..] };
    let mark = if rest.starts_with(begins) { "\\" } else { "" };
    format!("{number}{mark}{}", each(rest, markdown))
}

fn html(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

fn latex(c: char) -> Option<String> {
    Some(match c {
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '<' => "\\textless{}".to_owned(),
        '>' => "\\textgreater{}".to_owned(),
        '|' => "\\textbar{}".to_owned(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        // After the end of a row, LaTeX would read `[` and `*` as arguments of the row.
        '[' | '*' => format!("{{{c}}}"),
        _ => return None,
    })
}

fn coq(c: char) -> Option<String> {
    // A hidden character has already become `\u{..}` and must not be escaped again.
    let is_plain = c.is_ascii_alphanumeric() || " -_.,:/+=\\{}".contains(c);
    (!is_plain).then(|| c.escape_unicode().to_string())
}

/// Returns a text as a field of comma-separated values.
fn field(text: String) -> String {
    // The documentation of Excel names the first four characters. The wide forms have the same effect in
    // Excel's versions for some languages.
    let begins = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let text = if begins && !is_number(&text) { format!("'{text}") } else { text };
    // Some spreadsheets also separate fields at semicolons.
    let is_plain = !text.contains([',', ';', '"']) && text.trim() == text;
    if is_plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Returns whether the text is one number: digits with a point, an exponent, or a quotient.
fn is_number(text: &str) -> bool {
    let is_unsigned =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits.split_once('/') {
        Some((above, below)) => is_unsigned(above) && is_unsigned(below),
        None => is_unsigned(digits),
    }
}

/// Returns whether a terminal would interpret the character as a command or show nothing for it (docs/formats.md,
/// "Names"). These are control characters and the ends of lines and paragraphs, the default ignorable code points of
/// Unicode 15, interlinear annotation (U+FFF9 to U+FFFB), and the empty Braille pattern.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
