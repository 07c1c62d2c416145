//! Tests of randomly changed dumps of all schedulers. An importer either reads such a dump, or refuses it
//! with a message of one line. The importer never panics, never overflows the stack, and never returns a
//! snapshot that the reader of snapshots refuses.
//!
//! The environment variable `EVENHAND_MUTANTS` sets the number of dumps. 400,000 dumps take some minutes.
//! These tests run in a separate process, because an overflow of the stack ends the process.

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

/// The size of a stack that suffices for the deepest accepted document, but not for a recursion over the
/// elements of a list.
const STACK: usize = 1 << 20;
/// The limits for a changed dump of some kilobytes.
const LIMITS: Limits = Limits { work: Some(2_000_000_000), memory: Some(1 << 28), time: None, grows: false };

/// Returns the dumps of the fuzz target `importers`.
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

/// Returns `true` if a dump is read. Panics if the message of a refusal has several lines.
fn is_read(dump: &[u8]) -> bool {
    let Some(system) = system(dump) else { return false };
    let end = dump.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let inputs = split(&dump[end..]).into_iter().map(|file| Input::new("file", Cursor::new(file)));
    let Ok(inputs) = inputs.collect() else { return false };
    match within(&LIMITS, || snapshot(system, inputs, &Options::default())) {
        Err(_) => false,
        Ok(Err(error)) => {
            let message = printable(&error.to_string());
            assert!(!message.is_empty() && !message.contains('\n'), "{message}");
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
