//! Tests of the properties that make the kernel trustworthy: its size, as docs/checker.md states it, and its few
//! dependencies.
//!
//! A line of code is a line of `src`, formatted by rustfmt, that is neither blank nor only a comment (`//`, and so
//! `///` and `//!`). A line with code and a comment counts as code. There are no block comments.

use std::path::{Path, PathBuf};

/// The modules about groups. They are not needed to check an allocation without groups.
const BESIDE: [&str; 11] = [
    "groups.rs",
    "groups/alone.rs",
    "groups/bounds.rs",
    "groups/filling.rs",
    "groups/gangs.rs",
    "groups/holdings.rs",
    "groups/lack.rs",
    "groups/parties.rs",
    "groups/stated.rs",
    "groups/tree.rs",
    "groups/within.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every source file below a folder, with the text of the file.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    files.into_iter().map(read).chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The page docs/checker.md states the lines of code of each part of the kernel, to the nearest ten.
#[test]
fn the_kernel_has_the_size_that_the_page_states() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let files = sources(&root().join("src"));
    assert!(
        files.len() > 10 && files.iter().all(|(_, text)| !text.contains("/*")),
        "block comments are not counted"
    );
    let lines = |is_in: &dyn Fn(&Path) -> bool| -> usize {
        let of = files.iter().filter(|(path, _)| is_in(path));
        let lines: usize = of.map(|(_, text)| text.lines().filter(is_code).count()).sum();
        (lines + 5) / 10 * 10
    };
    let is_beside = |path: &Path| BESIDE.iter().any(|file| path.ends_with(file));
    let is_in = |folder: &str, path: &Path| path.starts_with(root().join("src").join(folder));
    let reservations = lines(&|path| is_in("reservation", path));
    let clusters = lines(&|path| is_in("cluster", path));
    let groups = lines(&is_beside);
    let is_linear = |path: &Path| path.ends_with("linear.rs");
    let programmes = lines(&is_linear);
    let is_window = |path: &Path| path.ends_with("window.rs");
    let windows = lines(&is_window);
    let of_others = |path: &Path| {
        is_in("reservation", path) || is_in("cluster", path) || is_linear(path) || is_window(path)
    };
    let own = lines(&|path| !is_beside(path) && !of_others(path));
    let page = std::fs::read_to_string(root().join("../../docs/checker.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let in_thousands = |lines: usize| match lines {
        1_000.. => format!("{},{:03}", lines / 1_000, lines % 1_000),
        _ => lines.to_string(),
    };
    for (lines, what) in [
        (own, "lines judge an allocation without groups"),
        (reservations, "lines judge ratios and worst loads"),
        (groups, "lines are about groups"),
        (clusters, "lines judge verdicts and moves"),
        (programmes, "lines judge linear programmes"),
        (windows, "lines judge windows of time"),
    ] {
        let statement = format!("{} {what}", in_thousands(lines));
        assert!(page.contains(&statement), "docs/checker.md does not say: {statement}");
    }
}

#[test]
fn the_kernel_depends_on_exact_numbers_alone() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let dependencies = |section: &str| {
        let (_, rest) = manifest.split_once(&format!("[{section}]\n")).unwrap_or_default();
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    // The second crate is a dependency of the first crate. It has its own line because of a feature.
    assert_eq!(dependencies("dependencies"), ["rug.workspace = true", "gmp-mpfr-sys.workspace = true"]);
    assert!(dependencies("build-dependencies").is_empty() && !manifest.contains("[target"));
    for root_file in ["lib.rs", "main.rs"] {
        let text = std::fs::read_to_string(root().join("src").join(root_file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{root_file} may hold unsafe code");
    }
}

#[test]
fn the_kernel_only_reads_files() {
    // Every function of the standard library that writes a file, opens a connection or runs a program has one of
    // these names.
    const ACTS: [&str; 9] = [
        "fs::write",
        "File::create",
        "File::options",
        "OpenOptions",
        "fs::rename",
        "fs::remove",
        "create_dir",
        "std::net",
        "Command",
    ];
    let files = sources(&root().join("src"));
    assert!(files.iter().any(|(_, text)| text.contains("File::open")), "no file is read");
    for (path, text) in files {
        let found = ACTS.iter().find(|act| text.contains(*act));
        assert_eq!(found, None, "{}", path.display());
    }
}
