//! Links the C++ library, which HiGHS calls, into programs, where the compiler has it as an archive.
//!
//! Shared, it is half of what a program does before `main`: the dynamic linker relocates it and looks up thousands of its
//! symbols. It would also have to be as new where a program runs as where it was built.

use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "libstdc++.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let is_gnu = of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu";
    if !is_gnu || of("HOST") != of("TARGET") {
        return;
    }
    // The linker takes the library from the first folder that has it in any form; here it is an archive alone.
    let folder = PathBuf::from(of("OUT_DIR")).join("cxx");
    let Some(archive) = archive(&of("CXX")) else { return };
    println!("cargo:rerun-if-changed={}", archive.display());
    if copy(&archive, &folder).is_ok() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}

/// Where the C++ compiler has its archive; it answers with the bare name where there is none.
fn archive(compiler: &str) -> Option<PathBuf> {
    let compiler = if compiler.is_empty() { "c++" } else { compiler };
    let output = Command::new(compiler).arg(format!("-print-file-name={ARCHIVE}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}

/// A copy that takes the place of another at once, so that a linker never finds half of one.
fn copy(archive: &Path, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let whole = folder.join("copy");
    std::fs::copy(archive, &whole)?;
    std::fs::rename(whole, folder.join(ARCHIVE))
}
