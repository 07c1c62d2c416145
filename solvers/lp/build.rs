//! Links the C++ library that HiGHS needs statically into programs, if the compiler has it as an
//! archive.
//!
//! As a shared library, the C++ library costs half of the time that a program spends before `main`:
//! the dynamic linker relocates the library and looks up thousands of symbols. The machine that
//! runs the program would also need a C++ library at least as new as the machine that built it.

use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "libstdc++.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_gnu = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !is_gnu || variable("HOST") != variable("TARGET") {
        return;
    }
    // The linker uses the first folder that has the library in any form. This folder has only the
    // archive.
    let folder = PathBuf::from(variable("OUT_DIR")).join("cxx");
    let Some(archive) = archive(&variable("CXX")) else { return };
    println!("cargo:rerun-if-changed={}", archive.display());
    if copy(&archive, &folder).is_ok() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}

/// Returns the path of the compiler's archive. If there is no archive, the compiler answers with
/// the bare name.
fn archive(compiler: &str) -> Option<PathBuf> {
    let compiler = if compiler.is_empty() { "c++" } else { compiler };
    let output = Command::new(compiler).arg(format!("-print-file-name={ARCHIVE}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}

/// Copies the archive and renames it into place, so that a linker never sees an incomplete file.
fn copy(archive: &Path, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let whole = folder.join("copy");
    std::fs::copy(archive, &whole)?;
    std::fs::rename(whole, folder.join(ARCHIVE))
}
