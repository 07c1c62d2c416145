//! Dumps of all schedulers, changed at random: an importer takes them or refuses them in one line. It never panics, overflows
//! the stack, or writes what the reader of snapshots refuses.
//!
//! `EVENHAND_MUTANTS` says how many; 400,000 take some minutes. A process of its own: an overflow of the stack ends it.

use std::io::Cursor;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use evenhand_budget::{Limits, within};
use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::printable;
use evenhand_problem::snapshot::System;
use evenhand_testkit::dumps::{mutated_dump, split};

/// Enough for the deepest document that is accepted, and too little for a recursion once for each element of a list.
const STACK: usize = 1 << 20;
/// What a mutant of some kilobytes may take.
const LIMITS: Limits = Limits { work: Some(2_000_000_000), memory: Some(1 << 28), time: None, grows: false };

/// The dumps of the fuzz target `importers`.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/importers");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let dumps = paths.iter().map(|path| std::fs::read(path).unwrap());
    dumps.filter(|bytes| system(bytes).is_some()).collect()
}

fn system(bytes: &[u8]) -> Option<System> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()
}

/// Whether a dump is read; what is wrong otherwise is said in one line.
fn is_read(dump: &[u8]) -> bool {
    let Some(system) = system(dump) else { return false };
    let end = dump.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let inputs = split(&dump[end..]).into_iter().map(|file| Input::new("file", Cursor::new(file)));
    let Ok(inputs) = inputs.collect() else { return false };
    match within(&LIMITS, || snapshot(system, inputs, &Options::default())) {
        Err(_) => false,
        Ok(Err(error)) => {
            let said = printable(&error.to_string());
            assert!(!said.is_empty() && !said.contains('\n'), "{said}");
            false
        }
        Ok(Ok(made)) => {
            let text = snapshot_to_json(&made);
            let read = Source { name: "snapshot", text: &text }.snapshot();
            assert!(read.as_ref().is_ok_and(|read| *read == made), "{:?} of\n{text}", read.err());
            true
        }
    }
}

#[test]
fn mutants_are_read_or_refused() {
    let many: u32 =
        std::env::var("EVENHAND_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(6_000);
    let seeds = seeds();
    assert!(seeds.len() >= 10, "{}", seeds.len());
    for seed in &seeds {
        assert!(is_read(seed), "{}", String::from_utf8_lossy(seed));
    }
    let (next, read) = (AtomicU32::new(0), AtomicU32::new(0));
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= many {
                break;
            }
            let dump = mutated_dump(&seeds[k as usize % seeds.len()], k);
            let path = std::env::temp_dir().join(format!("evenhand-mutant-{k}"));
            match catch_unwind(|| is_read(&dump)) {
                Ok(is_read) => drop(read.fetch_add(is_read.into(), Ordering::Relaxed)),
                Err(_) => {
                    std::fs::write(&path, &dump).unwrap();
                    panic!("mutant {k}: see {}", path.display());
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        }
    });
    let read = read.into_inner();
    println!("{many} mutants: {read} are read, the others are refused");
    assert!(read > many / 10, "{read} of {many}");
}
