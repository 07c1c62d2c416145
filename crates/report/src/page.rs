//! What a command prints: headings, paragraphs and tables, written in one of several forms.

use std::fmt;

use evenhand_problem::{Medium, printable};

use crate::html;
use crate::table::markup::folded;
use crate::table::{Form, Table, Terminal};
use crate::text::paragraph;

/// Blocks from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    blocks: Vec<Block>,
    /// What spreadsheets are given in place of the tables.
    sheet: Option<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    /// Stands directly above what follows.
    Heading(String),
    /// Line by line, as it was given.
    Text(Vec<String>),
    Table(Table),
    /// A table of which a document of HTML has all rows, those that people are not shown elsewhere folded.
    Folded(Table),
    // What follows stands in a document of HTML alone.
    /// The answer in sentences.
    Short(Vec<String>),
    /// A picture (SVG), and what it shows.
    Picture(String, String),
    /// Name and text of a certificate, which the document then checks.
    Certificate(String, String),
    /// Names of files that stand beside it.
    Files(Vec<String>),
}

impl Page {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line that stands directly above what follows.
    #[must_use]
    pub fn heading(mut self, heading: impl AsRef<str>) -> Self {
        self.blocks.push(Block::Heading(heading.as_ref().to_owned()));
        self
    }

    /// Adds a line; nothing where it is empty. A line break in it is shown as any hidden character is: names
    /// may hold them.
    #[must_use]
    pub fn text(self, line: impl AsRef<str>) -> Self {
        self.lines(Some(line).filter(|line| !line.as_ref().is_empty()))
    }

    /// Adds lines below one another; nothing where there are none.
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

    /// Adds a table of which a document of HTML has all rows, folded after those that people are shown elsewhere.
    #[must_use]
    pub fn folded(mut self, table: Table) -> Self {
        self.blocks.push(Block::Folded(table));
        self
    }

    /// Adds the answer in sentences, which a document of HTML opens with.
    #[must_use]
    pub fn short(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        let at = usize::from(matches!(self.blocks.first(), Some(Block::Heading(_))));
        self.blocks.insert(at, Block::Short(sentences.into_iter().collect()));
        self
    }

    /// Adds a picture (SVG) and what it shows, to a document of HTML.
    #[must_use]
    pub fn picture(mut self, svg: String, says: impl AsRef<str>) -> Self {
        self.blocks.push(Block::Picture(svg, says.as_ref().to_owned()));
        self
    }

    /// Adds a certificate of that name to a document of HTML, which then carries the checker.
    #[must_use]
    pub fn certificate(mut self, name: &str, text: String) -> Self {
        self.blocks.push(Block::Certificate(name.to_owned(), text));
        self
    }

    /// Adds links to files that stand beside a document of HTML.
    #[must_use]
    pub fn files(mut self, names: Vec<String>) -> Self {
        self.blocks.push(Block::Files(names));
        self
    }

    /// Spreadsheets are given this one table in place of those of the page.
    #[must_use]
    pub fn sheet(self, table: Table) -> Self {
        Self { sheet: Some(table), ..self }
    }

    /// Adds all of another page.
    #[must_use]
    pub fn append(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// Whether there is a table: a page without one has nothing to say as CSV.
    #[must_use]
    pub fn has_table(&self) -> bool {
        self.sheet.is_some()
            || self.blocks.iter().any(|block| matches!(block, Block::Table(_) | Block::Folded(_)))
    }

    /// The page as a whole document of HTML, under its first heading.
    #[must_use]
    pub fn document(&self) -> String {
        let (title, rest) = match self.blocks.split_first() {
            Some((Block::Heading(title), rest)) => (title.as_str(), rest),
            _ => ("A result of Evenhand", self.blocks.as_slice()),
        };
        let body = Self { blocks: rest.to_vec(), sheet: None }.render(&Form::Html);
        // Text is escaped, so that these are headings of ours: in a document they stand directly below the title.
        let body = body.replace("<h3>", "<h2>").replace("</h3>", "</h2>");
        let checks = rest.iter().any(|block| matches!(block, Block::Certificate(..)));
        html::document(title, &body, checks)
    }

    /// The page in that form; every line ends with a line feed.
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
            // Lines stay lines: some are names and values below one another.
            (Self::Text(lines), Form::Html) => Some(lines_in_html(lines)),
            (Self::Heading(text), Form::Text(terminal)) => Some(paragraph(&printable(text), terminal.width)),
            (Self::Text(lines), Form::Text(terminal)) => {
                Some(paragraph(&shown(lines, Medium::Text), terminal.width))
            }
        }
    }
}

/// Letters from which a word of hexadecimal digits is a hash, which may be broken anywhere.
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

/// Lines of text of any length, without colours.
impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Form::Text(Terminal::default())))
    }
}
