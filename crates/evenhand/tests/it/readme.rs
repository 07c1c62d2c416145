//! Tests that the documentation states certain facts.

#[test]
fn the_mechanisms_page_has_a_row_for_every_mechanism() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mechanisms.md"))
        .expect("docs/mechanisms.md");
    for mechanism in evenhand::mechanisms::registry::ALL {
        let row = format!("| `{}`", mechanism.info.id);
        assert!(readme.contains(&row), "no row for {}", mechanism.info.id);
    }
}

/// Returns the text after `key` on the first line that begins with it, without quotation marks and braces.
fn field<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key));
    line.unwrap_or_else(|| panic!("no line begins with {key}")).trim_matches([' ', ',', '"', '{', '}'])
}

#[test]
fn readme_and_citation_file_agree() {
    let read =
        |name| std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (readme, citation) = (read("README.md"), read("CITATION.cff"));
    let bibtex =
        readme.split("```bibtex\n").nth(1).and_then(|rest| rest.split("```").next()).expect("BibTeX");
    assert_eq!(bibtex.matches('{').count(), bibtex.matches('}').count(), "{bibtex}");
    for (of_bibtex, of_citation) in [
        ("title =", "title:"),
        ("author =", "- name:"),
        ("version =", "version:"),
        ("year =", "date-released:"),
    ] {
        let (ours, theirs) = (field(bibtex, of_bibtex), field(&citation, of_citation));
        // The release date begins with the year.
        assert!(
            ours == theirs || of_bibtex == "year =" && ours.len() == 4 && theirs.starts_with(ours),
            "{of_bibtex}"
        );
    }
    assert_eq!(field(bibtex, "version ="), env!("CARGO_PKG_VERSION"));
}
