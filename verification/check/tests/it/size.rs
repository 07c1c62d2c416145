//! What keeps the kernel readable in one sitting, and trusted: its size, and what it rests on.
//!
//! A line of code is one of `src`, formatted by rustfmt, that is neither blank nor a comment (`//`, and so `///` and
//! `//!`) alone. A comment beside code counts as the code that it stands beside; there are no block comments.

use std::path::{Path, PathBuf};

/// Most lines of code that judge an allocation without groups.
const MOST: usize = 2360;
/// Most lines beside, of `reservation/`, that judge certificates of ratios and of worst loads.
const MOST_OF_RESERVATIONS: usize = 800;
/// Most lines of a module that stands beside: who checks an allocation without groups need not read it.
const MOST_BESIDE: usize = 500;
/// Most lines of these modules together.
const MOST_OF_GROUPS: usize = 1540;
/// Most lines beside, of `cluster/`, that judge certificates of running clusters.
const MOST_OF_CLUSTERS: usize = 460;
/// The modules that stand beside: about groups.
const BESIDE: [&str; 10] = [
    "groups.rs",
    "groups/alone.rs",
    "groups/bounds.rs",
    "groups/filling.rs",
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

/// Every source file below a folder, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    files.into_iter().map(read).chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

#[test]
fn it_can_be_read_in_one_sitting() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let files = sources(&root().join("src"));
    assert!(files.iter().all(|(_, text)| !text.contains("/*")), "block comments are not counted");
    let counts = files.iter().map(|(path, text)| (path, text.lines().filter(is_code).count()));
    let mut counts: Vec<_> = counts.collect();
    counts.sort();
    let is_beside = |path: &Path| BESIDE.iter().any(|file| path.ends_with(file));
    let mut of_groups = 0;
    for (path, count) in counts.iter().filter(|(path, _)| is_beside(path)) {
        assert!(*count <= MOST_BESIDE, "{count} lines of code in {}", path.display());
        of_groups += count;
    }
    assert!((1..=MOST_OF_GROUPS).contains(&of_groups), "{of_groups} lines of code about groups");
    let folder_of = |path: &Path| {
        let folders = ["src/reservation", "src/cluster"];
        folders.into_iter().find(|folder| path.starts_with(root().join(folder)))
    };
    let lines = |folder: Option<&str>| -> usize {
        let files = counts.iter().filter(|(path, _)| !is_beside(path) && folder_of(path) == folder);
        files.map(|(_, count)| count).sum()
    };
    let (own, of_reservations) = (lines(None), lines(Some("src/reservation")));
    let of_clusters = lines(Some("src/cluster"));
    assert!((1..=MOST_OF_CLUSTERS).contains(&of_clusters), "{of_clusters} lines of code about clusters");
    assert!(files.len() > 10 && own <= MOST, "{own} lines of code: {counts:#?}");
    assert!((1..=MOST_OF_RESERVATIONS).contains(&of_reservations), "{of_reservations} of reservations");
}

#[test]
fn it_rests_on_exact_numbers_alone() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let dependencies = |section: &str| {
        let (_, rest) = manifest.split_once(&format!("[{section}]\n")).unwrap_or_default();
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    // The second is below the first, and has its own line for a feature.
    assert_eq!(dependencies("dependencies"), ["rug.workspace = true", "gmp-mpfr-sys.workspace = true"]);
    assert!(dependencies("build-dependencies").is_empty() && !manifest.contains("[target"));
    for root_file in ["lib.rs", "main.rs"] {
        let text = std::fs::read_to_string(root().join("src").join(root_file)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{root_file} may hold unsafe code");
    }
}

#[test]
fn it_reads_files_and_does_nothing_else() {
    // Whatever of the standard library writes a file, opens a connection or runs a program goes by one of these names.
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
