//! The output of a command: headings, paragraphs and tables. A page can be written in several formats.

use std::fmt;

use evenhand_problem::{Medium, printable};

use crate::html;
use crate::table::markup::folded;
use crate::table::{Form, Table, Terminal};
use crate::text::paragraph;

/// A sequence of blocks from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    blocks: Vec<Block>,
    /// The table for spreadsheets. In CSV, it replaces the tables of the page.
    sheet: Option<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    /// A heading directly above the next block.
    Heading(String),
    /// Lines in the form in which they were added.
    Text(Vec<String>),
    Table(Table),
    /// A table that is complete in an HTML document. Rows that other formats leave out are folded.
    Folded(Table),
    // The blocks below appear only in HTML documents.
    /// The answer in sentences.
    Short(Vec<String>),
    /// A picture in SVG, and its caption.
    Picture(String, String),
    /// The name and the text of a certificate. The document checks the certificate.
    Certificate(String, String),
    /// The names of files in the folder of the document.
    Files(Vec<String>),
}

impl Page {
    /// Returns an empty page.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a heading directly above the next block.
    #[must_use]
    pub fn heading(mut self, heading: impl AsRef<str>) -> Self {
        self.blocks.push(Block::Heading(heading.as_ref().to_owned()));
        self
    }

    /// Adds a line, unless the line is empty. Names may contain line breaks, so a line break inside the line
    /// is escaped like other hidden characters.
    #[must_use]
    pub fn text(self, line: impl AsRef<str>) -> Self {
        self.lines(Some(line).filter(|line| !line.as_ref().is_empty()))
    }

    /// Adds lines. Adds nothing if there are no lines.
    #[must_use]
    pub fn lines(mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let lines: Vec<String> = lines.into_iter().map(|line| line.as_ref().to_owned()).collect();
        if !lines.is_empty() {
            self.blocks.push(Block::Text(lines));
        }
        self
    }

    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    /// Adds a table. An HTML document contains all its rows, and folds the rows that other formats leave out.
    #[must_use]
    pub fn folded(mut self, table: Table) -> Self {
        self.blocks.push(Block::Folded(table));
        self
    }

    /// Adds the answer in sentences, with which an HTML document begins.
    #[must_use]
    pub fn short(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        let at = usize::from(matches!(self.blocks.first(), Some(Block::Heading(_))));
        self.blocks.insert(at, Block::Short(sentences.into_iter().collect()));
        self
    }

    /// Adds a picture in SVG with its caption to an HTML document.
    #[must_use]
    pub fn picture(mut self, svg: String, says: impl AsRef<str>) -> Self {
        self.blocks.push(Block::Picture(svg, says.as_ref().to_owned()));
        self
    }

    /// Adds a certificate with the name `name` to an HTML document. The document then contains the checker.
    #[must_use]
    pub fn certificate(mut self, name: &str, text: String) -> Self {
        self.blocks.push(Block::Certificate(name.to_owned(), text));
        self
    }

    /// Adds links to files in the folder of an HTML document.
    #[must_use]
    pub fn files(mut self, names: Vec<String>) -> Self {
        self.blocks.push(Block::Files(names));
        self
    }

    /// Sets the only table that is written as CSV.
    #[must_use]
    pub fn sheet(self, table: Table) -> Self {
        Self { sheet: Some(table), ..self }
    }

    /// Adds all blocks of another page.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// Returns `true` if the page has a table. A page without a table cannot be written as CSV.
    #[must_use]
    pub fn has_table(&self) -> bool {
        self.sheet.is_some()
            || self.blocks.iter().any(|block| matches!(block, Block::Table(_) | Block::Folded(_)))
    }

    /// Returns the page as a complete HTML document. Its first heading becomes the title.
    #[must_use]
    pub fn document(&self) -> String {
        let (title, rest) = match self.blocks.split_first() {
            Some((Block::Heading(title), rest)) => (title.as_str(), rest),
            _ => ("A result of Evenhand", self.blocks.as_slice()),
        };
        let body = Self { blocks: rest.to_vec(), sheet: None }.render(&Form::Html);
        // Text is escaped, so these tags can only be headings of the page. In a document they are directly
        // below the title.
        let body = body.replace("<h3>", "<h2>").replace("</h3>", "</h2>");
        let checks = rest.iter().any(|block| matches!(block, Block::Certificate(..)));
        html::document(title, &body, checks)
    }

    /// Returns the page in a format. Every line ends with a line feed.
    #[must_use]
    pub fn render(&self, form: &Form) -> String {
        if let (Some(sheet), Form::Csv) = (&self.sheet, form) {
            return sheet.render(form);
        }
        let mut text = String::new();
        let mut after_heading = false;
        for block in &self.blocks {
            let Some(part) = block.render(form) else { continue };
            if !text.is_empty() && !after_heading {
                text.push('\n');
            }
            text.push_str(&part);
            after_heading = matches!((block, form), (Block::Heading(_), Form::Text(_) | Form::Latex));
        }
        text
    }
}

impl Block {
    fn render(&self, form: &Form) -> Option<String> {
        match (self, form) {
            (Self::Folded(table), Form::Html) => Some(folded(table, "Table").into_string()),
            (Self::Table(table) | Self::Folded(table), form) => Some(table.render(form)),
            (Self::Short(lines), Form::Html) => Some(html::short(lines)),
            (Self::Picture(svg, says), Form::Html) => Some(html::picture(svg, says)),
            (Self::Certificate(name, text), Form::Html) => Some(html::link(name, text)),
            (Self::Files(names), Form::Html) => Some(html::files(names)),
            (Self::Short(_) | Self::Picture(..) | Self::Certificate(..) | Self::Files(_), _)
            | (Self::Heading(_), Form::Csv)
            | (Self::Text(_), Form::Csv | Form::Latex) => None,
            (Self::Heading(text), Form::Latex) => Some(format!("% {}\n", printable(text))),
            (Self::Heading(text), Form::Markdown) => Some(format!("### {}\n", Medium::Markdown.show(text))),
            (Self::Text(lines), Form::Markdown) => Some(shown(lines, Medium::Markdown) + "\n"),
            (Self::Heading(text), Form::Html) => Some(format!("<h3>{}</h3>\n", Medium::Html.show(text))),
            // Line breaks are preserved, because some lines are names and values in columns.
            (Self::Text(lines), Form::Html) => Some(lines_in_html(lines)),
            (Self::Heading(text), Form::Text(terminal)) => Some(paragraph(&printable(text), terminal.width)),
            (Self::Text(lines), Form::Text(terminal)) => {
                Some(paragraph(&shown(lines, Medium::Text), terminal.width))
            }
        }
    }
}

/// The least length of a word of hexadecimal digits that counts as a hash. A hash may be broken at any
/// character.
const SHORTEST_HASH: usize = 32;

fn lines_in_html(lines: &[String]) -> String {
    let is_hash = |word: &str| word.len() >= SHORTEST_HASH && word.chars().all(|c| c.is_ascii_hexdigit());
    let words = |line: &String| -> String {
        let word = |word: &str| match (Medium::Html.show(word), is_hash(word)) {
            (word, true) => format!("<code class=\"hash\">{word}</code>"),
            (word, false) => word,
        };
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = lines.iter().map(words).collect();
    format!("<p class=\"lines\">{}</p>\n", lines.join("\n"))
}

fn shown(lines: &[String], medium: Medium) -> String {
    lines.iter().map(|line| medium.show(line)).collect::<Vec<_>>().join("\n")
}

/// Writes the page as text without colours, in lines of any length.
impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Form::Text(Terminal::default())))
    }
}
