//! Checks that all targets of the built pages exist: pages, anchors, pictures, scripts, styles and fonts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Fault;

/// Returns the number of links of the pages in a folder, and a list of broken links.
///
/// # Errors
/// A page cannot be read.
pub fn dead_links(folder: &Path) -> Result<(usize, Vec<String>), Fault> {
    let mut pages = BTreeMap::new();
    collect(&folder.canonicalize()?, &mut pages)?;
    if pages.is_empty() {
        return Err(format!("{} holds no pages", folder.display()).into());
    }
    let places: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(path, text)| (path.as_path(), values(text, " id=\"").collect())).collect();
    let (mut links, mut dead) = (0, Vec::new());
    for (path, text) in &pages {
        for link in values(text, " href=\"").chain(values(text, " src=\"")) {
            let link = link.replace("&amp;", "&");
            if link.contains("://")
                || ["data:", "javascript:", "mailto:"].iter().any(|start| link.starts_with(start))
            {
                // A link may lead to another site. Only loading a file from another site is a fault (see below).
                continue;
            }
            links += 1;
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name("").join(file) };
            let target = target.canonicalize().unwrap_or(target);
            let has_place = || places.get(target.as_path()).is_none_or(|places| places.contains(place));
            if !target.is_file() || !(place.is_empty() || has_place()) {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
        for loaded in values(text, " src=\"").filter(|source| source.contains("://")) {
            dead.push(format!("{}: loads {loaded}", path.display()));
        }
    }
    Ok((links, dead))
}

fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), Fault> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = fs::read_to_string(&path)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// Returns the values of an attribute.
fn values<'t>(text: &'t str, attribute: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}
