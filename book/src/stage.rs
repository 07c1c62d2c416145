//! Writes the folder that mdBook reads. Pages keep their paths in the repository, so that links between pages stay valid.
//! Other files that pages link to are copied.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Fault;
use crate::generated::Generated;
use crate::markdown::rewrite;

/// Endings of files that browsers can show. Other files get the ending `.txt`, so that browsers show text.
const SHOWN: [&str; 4] = ["json", "svg", "png", "txt"];
/// The file with the list of chapters.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The pages that are generated from the library.
#[derive(Debug, Default)]
pub struct Chapters {
    /// The pages that replace `<!-- mechanisms -->` in the list of chapters.
    pub mechanisms: Vec<Generated>,
    /// The pages that replace `<!-- axioms -->`.
    pub axioms: Vec<Generated>,
    /// The pages that replace `<!-- papers -->`.
    pub papers: Vec<Generated>,
}

impl Chapters {
    fn all(&self) -> impl Iterator<Item = &Generated> {
        self.mechanisms.iter().chain(&self.axioms).chain(&self.papers)
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all().count()
    }

    /// Returns `true` if there are no pages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes `book.toml` and `src` into a folder, and returns the number of pages.
///
/// # Errors
/// A page of the list is missing, a link leads nowhere, or a formula cannot be read.
pub fn stage(root: &Path, folder: &Path, chapters: &Chapters) -> Result<usize, Fault> {
    let source = folder.join("src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    let (summary, mut pages) = summary(root, chapters)?;
    write(&source.join("SUMMARY.md"), &summary)?;
    for name in ["book.toml", "book.css"] {
        write(&folder.join(name), &read(&root.join("book").join(name))?)?;
    }
    let written: Vec<String> = pages.iter().cloned().collect();
    pages.extend(chapters.all().map(|page| page.path.clone()));
    let book = Book { root, source: &source, pages };
    for path in &written {
        book.page(path, &read(&root.join(path))?)?;
    }
    for page in chapters.all() {
        for picture in &page.pictures {
            write(&source.join(&picture.path), &picture.text)?;
        }
        book.page(&page.path, &page.text)?;
    }
    Ok(book.pages.len())
}

struct Book<'a> {
    root: &'a Path,
    source: &'a Path,
    pages: BTreeSet<String>,
}

impl Book<'_> {
    fn page(&self, path: &str, text: &str) -> Result<(), Fault> {
        let text =
            rewrite(text, |target| self.link(path, target)).map_err(|fault| format!("{path}: {fault}"))?;
        write(&self.source.join(path), &text)
    }

    /// Returns the new target of a link, or `None` if the target stays. Copies the target if it is not a page.
    fn link(&self, page: &str, target: &str) -> Result<Option<String>, Fault> {
        let file = target.split('#').next().unwrap_or_default();
        if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
            return Ok(None);
        }
        let path = beside(page, file).ok_or(format!(
            "the target {target} is outside of the repository; link to a file inside of it"
        ))?;
        if self.pages.contains(&path) || self.source.join(&path).exists() {
            return Ok(None);
        }
        let from = self.root.join(&path);
        if !from.is_file() {
            return Err(format!("the target {target} does not exist; correct the link").into());
        }
        if from.extension().is_some_and(|ending| SHOWN.iter().any(|shown| ending == *shown)) {
            write(&self.source.join(&path), &read(&from)?)?;
            return Ok(None);
        }
        // The copy loses the ending `.md`, because mdBook would treat it as a page. The link loses its anchor, because
        // text has no anchors.
        let copy = |path: &str| format!("{}.txt", path.trim_end_matches(".md"));
        write(&self.source.join(copy(&path)), &read(&from)?)?;
        Ok(Some(copy(file)))
    }
}

/// Returns the path of the target of a link, relative to the root of the repository. Returns `None` if the target is
/// outside of the repository.
fn beside(page: &str, target: &str) -> Option<String> {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => path.pop().then_some(())?,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path.to_str()?.to_owned())
}

/// Returns the list of chapters in the format of mdBook, with paths relative to the root of the repository, and the
/// paths of all pages in the list.
fn summary(root: &Path, chapters: &Chapters) -> Result<(String, BTreeSet<String>), Fault> {
    let mut pages = BTreeSet::new();
    let mut text = String::new();
    for line in read(&root.join(SUMMARY))?.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim() {
            "<!-- mechanisms -->" => list(&mut text, indent, &chapters.mechanisms)?,
            "<!-- axioms -->" => list(&mut text, indent, &chapters.axioms)?,
            "<!-- papers -->" => list(&mut text, indent, &chapters.papers)?,
            comment if comment.starts_with("<!-- ") => {
                // An optional page, which is listed only if its file exists: `<!-- FILE: TITLE -->`.
                let named = comment.trim_start_matches("<!-- ").trim_end_matches(" -->").split_once(": ");
                let (file, title) = named.ok_or(format!("{SUMMARY}: {comment}"))?;
                if root.join("docs").join(file).is_file() {
                    writeln!(text, "{indent}- [{title}](docs/{file})")?;
                    pages.insert(format!("docs/{file}"));
                }
            }
            _ => {
                let mut targets = Vec::new();
                let line = rewrite(line, |target| {
                    let path = beside(SUMMARY, target).ok_or(format!("{SUMMARY}: {target}"))?;
                    targets.push(path.clone());
                    Ok(Some(path))
                })?;
                pages.extend(targets);
                writeln!(text, "{line}")?;
            }
        }
    }
    Ok((text, pages))
}

fn list(text: &mut String, indent: &str, chapters: &[Generated]) -> Result<(), Fault> {
    for page in chapters {
        writeln!(text, "{indent}- [{}]({})", page.title, page.path)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Fault> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn write(path: &Path, text: &str) -> Result<(), Fault> {
    let failed = |error| Fault::from(format!("{}: {error}", path.display()));
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}
