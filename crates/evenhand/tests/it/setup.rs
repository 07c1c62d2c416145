//! Tests of `scripts/setup.sh` on machines without apt: the packages that it installs by the package manager
//! of the machine, and its messages.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A simulated machine: a PATH with only the plain tools, a clone with the script, and a libclang.
struct Machine {
    folder: TempDir,
}

/// The tools that the script may use on every machine.
const PLAIN: [&str; 19] = [
    "bash", "cat", "chmod", "dirname", "find", "grep", "head", "ln", "mkdir", "mv", "paste", "rm", "sed",
    "sh", "sort", "tail", "tr", "uname", "touch",
];

impl Machine {
    fn new(rustc: &str) -> Self {
        let machine = Self { folder: TempDir::new().unwrap() };
        for folder in ["bin", "root/scripts", "clang"] {
            std::fs::create_dir_all(machine.at(folder)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        for name in PLAIN {
            let found =
                std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists());
            symlink(found.expect(name), machine.at("bin").join(name)).unwrap();
        }
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in ["Cargo.toml", "scripts/setup.sh"] {
            std::fs::copy(ours.join(file), machine.at("root").join(file)).unwrap();
        }
        std::fs::write(machine.at("clang/libclang.so"), "").unwrap();
        machine.program("cargo", "");
        machine.program("rustc", &format!("echo 'rustc {rustc} (of a test)'"));
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn program(&self, name: &str, does: &str) {
        let path = self.at("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Installs a package manager that logs its arguments and installs every tool.
    fn manager(&self, name: &str) {
        let bin = self.at("bin");
        let brings = "for tool in cc c++ make m4 cmake; do\n  printf '#!/bin/sh\\necho cmake version 3.30\\n' >$bin/$tool\n  chmod +x $bin/$tool\ndone";
        self.program(name, &format!("bin='{}'\necho \"{name} $*\" >>$bin/../asked\n{brings}", bin.display()));
    }

    fn asked(&self) -> String {
        std::fs::read_to_string(self.at("asked")).unwrap_or_default()
    }

    fn set_up(&self, arguments: &[&str]) -> Output {
        Command::new(self.at("root/scripts/setup.sh"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.at("bin"))
            .env("HOME", self.folder.path())
            .env("LIBCLANG_PATH", self.at("clang"))
            .output()
            .unwrap()
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_available_package_manager_installs_missing_tools() {
    for (manager, command) in [
        ("dnf", "dnf install -y gcc gcc-c++ make cmake m4"),
        ("apk", "apk add gcc musl-dev g++ make cmake m4"),
    ] {
        let machine = Machine::new("1.89.0");
        machine.manager(manager);
        let why = refused(&machine.set_up(&["--check"]));
        assert!(why.contains("missing: cc c++ make cmake m4"), "{why}");
        assert!(why.contains(&format!("as root '{command}'")), "{why}");
        assert_eq!(machine.asked(), "", "{manager} is only named");
        let output = machine.set_up(&[]);
        if is_root() {
            assert!(output.status.success(), "{output:?}");
            assert_eq!(machine.asked(), format!("{command}\n"));
            assert!(machine.set_up(&["--check"]).status.success());
        } else {
            let command = command.replace(" cmake m4", "");
            assert!(refused(&output).contains(&format!("as root '{command}'")), "{output:?}");
        }
    }
}

/// The script runs Homebrew without root, and does not ask it for the tools that Apple provides.
#[test]
fn brew_installs_missing_tools_on_macos() {
    let machine = Machine::new("1.95.0-nightly");
    machine.manager("brew");
    std::fs::remove_file(machine.at("bin/uname")).unwrap();
    machine.program("uname", "echo Darwin");
    for tool in ["cc", "c++", "make"] {
        machine.program(tool, "");
    }
    let output = machine.set_up(&[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.asked(), "brew install cmake m4\n");
}

#[test]
fn packages_are_named_for_other_systems() {
    let machine = Machine::new("1.89.0");
    for (manager, packages) in [
        ("apt-get", "gcc libc6-dev g++ make cmake libclang1-14 m4\n"),
        ("dnf", "gcc gcc-c++ make cmake clang-libs m4\n"),
        ("apk", "gcc musl-dev g++ make cmake clang-libclang m4\n"),
        ("brew", "cmake llvm m4\n"),
    ] {
        assert_eq!(String::from_utf8(machine.set_up(&["--needs", manager]).stdout).unwrap(), packages);
    }
    assert!(refused(&machine.set_up(&["--needs", "yum"])).contains("not 'yum'"));
}

#[test]
fn reports_missing_or_old_rust_with_the_needed_version() {
    let why = refused(&Machine::new("1.88.0").set_up(&[]));
    assert!(why.contains("Rust 1.89 or later is needed, and rustc 1.88.0"), "{why}");
    for tool in ["cargo", "rustc"] {
        let machine = Machine::new("1.89.0");
        std::fs::remove_file(machine.at("bin").join(tool)).unwrap();
        let why = refused(&machine.set_up(&[]));
        assert!(why.contains(&format!("{tool} is missing: install Rust 1.89 or later")), "{why}");
    }
}
