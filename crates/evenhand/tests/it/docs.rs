//! Tests that the documentation agrees with this repository: link targets and named folders exist, and so do
//! the sections of the theory that the code cites.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the files with this extension, without build products.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "corpus" {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Returns each text between the marks `before` and `after`.
fn texts_between<'t>(text: &'t str, before: &'t str, after: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

/// Returns the anchors of the headings of a page in the form that GitHub uses.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let letter = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    let anchor = |heading: &str| -> String {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        text.chars().filter(|c| letter(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_point_to_existing_files() {
    let mut dead = Vec::new();
    let mut links = 0;
    for path in files(&root(), "md") {
        let text = read(&path);
        for link in texts_between(&text, "](", ")") {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            links += 1;
            let page = path.parent().unwrap().join(target);
            let anchor = link.split('#').nth(1).unwrap_or("");
            if !page.exists() || !(anchor.is_empty() || anchors(&read(&page)).contains(&anchor.to_owned())) {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(links > 20 && dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_architecture_names_every_existing_crate() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let is_path =
        |word: &&str| ["crates/", "solvers/", "verification/"].iter().any(|folder| word.starts_with(folder));
    let named: Vec<&str> = texts_between(&text, "`", "`").filter(is_path).collect();
    assert!(named.len() > 40, "{}", named.len());
    for path in named {
        assert!(root().join(path).exists(), "{path} is named in ARCHITECTURE.md");
    }
    for folder in ["crates", "crates/cluster", "crates/studies", "solvers", "verification"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy());
            assert!(text.contains(&format!("`{name}`")), "{name} is not named in ARCHITECTURE.md");
        }
    }
}

/// Returns the pages of the theory in order. The numbers of sections continue from page to page.
fn theory() -> String {
    let pages = ["theory", "axioms", "groups", "proofs"];
    pages.map(|page| read(&root().join(format!("docs/{page}.md")))).concat()
}

/// Returns the text to which a citation of the theory refers: a heading, or the beginning of a fact or a
/// theorem.
fn cited_place(kind: &str, name: &str) -> Option<String> {
    match kind {
        "section" | "sections" => Some(format!("\n## {name}. ")),
        "fact" | "facts" | "Fact" => Some(format!("**Fact {name}.**")),
        "Theorem" if matches!(name, "A" | "B" | "C") => Some(format!("**Theorem {name}.**")),
        _ => None,
    }
}

/// Every section, fact and theorem of the theory that a comment cites exists.
#[test]
fn citations_of_the_theory_name_existing_sections() {
    let theory = theory();
    let mut cited = 0;
    for folder in ["crates", "solvers", "verification", "fuzz", "benches"] {
        for path in files(&root().join(folder), "rs") {
            // A citation may continue on the next line.
            let text = read(&path).lines().map(str::trim).collect::<Vec<_>>().join(" ").replace(" //! ", " ");
            let text = text.replace(" /// ", " ").replace(" // ", " ");
            for marked in ["THEORY, ", "theory, ", "theory.md, "] {
                for rest in text.split(marked).skip(1) {
                    let words = rest.split([' ', ')', ';', ':', ',', '.', '`', '"']);
                    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(4).collect();
                    for place in words.chunks_exact(2).map_while(|pair| cited_place(pair[0], pair[1])) {
                        cited += 1;
                        assert!(theory.contains(&place), "{}: {marked}{}", path.display(), words.join(" "));
                    }
                }
            }
        }
    }
    assert!(cited > 30, "{cited}");
}

/// The package and the crates are not published, so no file may tell readers to install them from a registry.
#[test]
fn documentation_does_not_install_from_registries() {
    let endings = ["md", "py", "toml", "rs", "ipynb", "html", "sh"];
    let packages =
        ["pip install evenhand", "pip install 'evenhand", "cargo add evenhand", "cargo install evenhand"];
    let this = Path::new(file!()).file_name();
    let mut install_commands = Vec::new();
    for path in endings.iter().flat_map(|ending| files(&root(), ending)) {
        if path.file_name() != this {
            let text = read(&path);
            let found = packages.iter().filter(|words| text.contains(**words));
            install_commands.extend(found.map(|words| format!("{}: {words}", path.display())));
        }
    }
    assert!(install_commands.is_empty(), "{}", install_commands.join("\n"));
}
