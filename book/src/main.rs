//! `evenhand-book stage ROOT FOLDER` writes the sources of the book for mdBook into a folder. `evenhand-book links FOLDER`
//! lists the broken links of the built pages.

use std::path::Path;
use std::process::ExitCode;

use evenhand_book::{Audits, Chapters, Fault, axioms, dead_links, mechanisms, papers, stage};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["stage", root, folder] => write(Path::new(root), Path::new(folder)),
        ["links", folder] => check(Path::new(folder)),
        _ => Err("usage: evenhand-book stage ROOT FOLDER, or evenhand-book links FOLDER".into()),
    };
    match done {
        Ok(said) => {
            println!("book: {said}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("book: error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn write(root: &Path, folder: &Path) -> Result<String, Fault> {
    let audits = Audits::run()?;
    let chapters = Chapters {
        mechanisms: mechanisms(root, &audits)?,
        axioms: axioms(root, &audits)?,
        papers: papers()?,
    };
    let pages = stage(root, folder, &chapters)?;
    Ok(format!("{pages} pages, {} of them generated from the library", chapters.len()))
}

fn check(folder: &Path) -> Result<String, Fault> {
    let (links, dead) = dead_links(folder)?;
    if dead.is_empty() {
        return Ok(format!("all {links} links of the pages have targets"));
    }
    Err(format!("{} broken links; correct the pages that contain them:\n{}", dead.len(), dead.join("\n"))
        .into())
}
