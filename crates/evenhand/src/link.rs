//! How the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=src/link.rs");
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // At a fixed place: otherwise every start writes 24,000 addresses (HiGHS, vtables, tables of texts) into a hundred
        // pages, which is a fifth of the time that a small problem takes.
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
