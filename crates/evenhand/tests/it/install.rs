//! Tests of `scripts/install.sh`: the files that `make install` installs, and its messages.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Returns a folder with both programs. The kernel may not be built yet while these tests run, so a copy of
/// `evenhand` replaces it.
fn programs() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["evenhand", "evenhand-check"] {
        std::fs::copy(env!("CARGO_BIN_EXE_evenhand"), folder.path().join(name)).unwrap();
    }
    folder
}

fn install(programs: &Path, prefix: &Path, path: &str) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install.sh");
    Command::new(script)
        .arg(prefix)
        .env("PATH", path)
        .env("PROGRAMS", programs)
        .env_remove("DESTDIR")
        .output()
        .unwrap()
}

const PLAIN: &str = "/usr/bin:/bin";

#[test]
fn installed_programs_run_from_the_path() {
    let (programs, prefix) = (programs(), TempDir::new().unwrap());
    let first = install(programs.path(), prefix.path(), PLAIN);
    let printed = String::from_utf8(first.stdout).unwrap();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let bin = prefix.path().join("bin");
    assert!(printed.contains(&format!("{} is not on the PATH", bin.display())), "{printed}");
    for file in [
        "share/man/man1/evenhand.1",
        "share/man/man1/evenhand-solve.1",
        "share/bash-completion/completions/evenhand",
        "share/zsh/site-functions/_evenhand",
        "share/fish/vendor_completions.d/evenhand.fish",
    ] {
        let text = std::fs::read_to_string(prefix.path().join(file)).unwrap();
        assert!(text.contains("evenhand"), "{file}");
    }
    let path = format!("{}:{PLAIN}", bin.display());
    let run = Command::new("sh").args(["-c", "evenhand --version"]).env("PATH", &path).output().unwrap();
    assert!(run.stdout.starts_with(b"evenhand "), "{run:?}");
    // The second installation replaces files that may be in use.
    let again = install(programs.path(), prefix.path(), &path);
    assert!(again.status.success());
    assert!(!String::from_utf8(again.stdout).unwrap().contains("not on the PATH"));
    let left = std::fs::read_dir(&bin).unwrap().count();
    assert_eq!(left, 2, "nothing but the programs stays");
}

#[test]
fn refuses_to_install_without_programs_or_a_folder() {
    let (nothing, prefix) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let refused = install(nothing.path(), prefix.path(), PLAIN);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("run 'make build' first"));
    assert_eq!(std::fs::read_dir(prefix.path()).unwrap().count(), 0);
    let file = prefix.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = install(programs().path(), &file, PLAIN);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("cannot be written to"));
}
