//! Tests the sources of the book: every page of docs/ is a chapter, formulas and links resolve, and no picture is out of
//! date.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use evenhand_book::{Audits, Chapters, axioms, dead_links, mechanisms, stage};
use evenhand_exact::Axiom;
use evenhand_mechanisms::registry;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn every_page_of_docs_is_a_chapter() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            let is_named =
                [format!("({name})"), format!("<!-- {name}: ")].iter().any(|form| summary.contains(form));
            assert!(is_named, "docs/SUMMARY.md does not name {name}");
        }
    }
}

#[test]
fn mechanisms_and_axioms_have_their_pages() {
    let (root, audits) = (root(), Audits::run().unwrap());
    let chapters = Chapters {
        mechanisms: mechanisms(&root, &audits).unwrap(),
        axioms: axioms(&root, &audits).unwrap(),
        papers: Vec::new(),
    };
    assert_eq!(chapters.mechanisms.len(), registry::ALL.len());
    assert_eq!(chapters.axioms.len(), Axiom::ALL.len());
    for page in &chapters.mechanisms {
        assert!(
            page.text.contains("## Example\n\n```json") && page.text.contains("## Where it fails"),
            "{}",
            page.path
        );
    }
    let without: Vec<&str> = chapters
        .axioms
        .iter()
        .filter(|page| !page.text.contains("VIOLATED"))
        .map(|page| page.title.as_str())
        .collect();
    assert_eq!(without, ["non-wasteful"], "the only axiom that no allocation in tasks violates");

    let folder = tempfile::tempdir().unwrap();
    let pages = stage(&root, folder.path(), &chapters).unwrap();
    assert!(pages > 60, "{pages}");
    let theory = fs::read_to_string(folder.path().join("src/docs/theory.md")).unwrap();
    assert!(theory.matches("<math").count() > 250 && !theory.contains("$$"));
    assert!(folder.path().join("src/examples/queues.json").is_file(), "a file that pages link to is copied");
}

#[test]
fn pictures_of_the_papers_are_up_to_date() {
    let drawn: Vec<_> =
        fs::read_dir(root().join("docs/images")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut compared = 0;
    for exhibit in evenhand_papers::exhibits() {
        let path = root().join(format!("docs/images/{}.svg", exhibit.id));
        if drawn.contains(&path) {
            let picture = exhibit.picture().unwrap().unwrap();
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                picture,
                "{} (evenhand reproduce writes it)",
                exhibit.id
            );
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared}");
}

#[test]
fn links_of_built_pages_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "a.html",
        r##"<h1 id="top"></h1><a href="b.html#here">b</a><a href="#top">up</a><a href="https://e.example">e</a>"##,
    );
    write("b.html", r#"<p id="here"><img src="c.svg"></p>"#);
    write("c.svg", "<svg/>");
    let (links, dead) = dead_links(folder.path()).unwrap();
    assert!(links == 3 && dead.is_empty(), "{links}: {dead:?}");
    write(
        "d.html",
        r##"<a href="b.html#gone">b</a><a href="e.html">e</a><script src="https://e.example/x.js"></script>"##,
    );
    let (_, dead) = dead_links(folder.path()).unwrap();
    assert_eq!(dead.len(), 3, "{dead:?}");
    assert!(dead_links(tempfile::tempdir().unwrap().path()).is_err());
}
