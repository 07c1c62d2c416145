//! Where the real data is, if it is.

use std::path::PathBuf;

/// The folder `name` of the data, or a message that the test is skipped.
pub fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("EVENHAND_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let folder = folder.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: there is no {} (set EVENHAND_DATA)", folder.display());
    None
}
