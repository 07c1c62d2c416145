//! Dumps of schedulers that are changed at random in words, numbers, lines and structure. Many of the changed
//! dumps can still be read.
//!
//! A dump has the name of a scheduler on its first line, followed by files that are separated by a line `----`, as
//! in the corpus of the fuzz target `importers`.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::damage::mutated;

/// The largest number of changes of one dump. With more changes hardly any dump can be read.
const MOST_CHANGES: u32 = 4;
/// The largest size of a changed dump in bytes.
const MOST_BYTES: usize = 1 << 17;
/// The separator between two files.
const BETWEEN: &[u8] = b"\n----\n";

/// Words that replace other words: numbers at the limits of readers, short lists that expand to many entries,
/// and syntax of the dump languages.
const WORDS: [&str; 44] = [
    "",
    "0",
    "-1",
    "1",
    "2",
    "1000000",
    "1000000000000",
    "18446744073709551615",
    "18446744073709551616",
    "1e399",
    "1e-399",
    "1e401",
    "0.1",
    "1/3",
    "1n",
    "1Ei",
    "9223372036854775807",
    "null",
    "true",
    "inf",
    "(null)",
    "UNLIMITED",
    "1-1000000000",
    "1-1000000000%2",
    "n[0-99999]",
    "n[000000000000000000000000000000000000000001-2]",
    "n[1-300][1-300]",
    "a|b&c",
    "cpu=1,mem=1M,gres/gpu=1,gres/gpu:h100=1",
    "gres:gpu:h100:1",
    "gpu:a100:2,gpu:h100:1(S:0-1)",
    "x UserId=x(1) Account=x JobState=RUNNING",
    "ArrayJobId=7 ArrayTaskId=1-9",
    "RUNNING",
    "PENDING",
    "root",
    "parent",
    "\u{202e}",
    "\u{1b}[31m",
    "{",
    "]",
    "&a x",
    "*a",
    "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
];

/// Returns the dump with a few changes. The same seed gives the same dump.
#[must_use]
pub fn mutated_dump(bytes: &[u8], seed: u32) -> Vec<u8> {
    let mut random = Pcg64::seed_from_u64(seed.into());
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let (head, rest) = bytes.split_at(end);
    let mut files: Vec<Vec<u8>> = split(rest);
    for _ in 0..random.random_range(1..=MOST_CHANGES) {
        match random.random_range(0..20) {
            0 if files.len() > 1 => drop(files.swap_remove(random.random_range(0..files.len()))),
            1 => files.extend(files.choose(&mut random).cloned()),
            _ => {
                let at = random.random_range(0..files.len().max(1));
                if let Some(file) = files.get_mut(at) {
                    change(file, &mut random);
                }
            }
        }
    }
    let mut dump = head.to_vec();
    dump.extend(files.join(BETWEEN));
    dump.truncate(MOST_BYTES);
    dump
}

/// Returns the files of a dump after its first line.
#[must_use]
pub fn split(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    while let Some(end) = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        files.push(bytes[..end].to_vec());
        bytes = &bytes[end + BETWEEN.len()..];
    }
    files.push(bytes.to_vec());
    files
}

/// Changes a file. A JSON document is changed as a document, and any other file by words, lines or bytes.
fn change(file: &mut Vec<u8>, random: &mut Pcg64) {
    if random.random_bool(0.4)
        && let Some(document) = mutated(file, random.random())
    {
        *file = document;
        return;
    }
    match random.random_range(0..10) {
        0..6 => word(file, random),
        6 | 7 => line(file, random),
        _ => byte(file, random),
    }
}

/// Replaces a word by another word or by a word of the file, removes it, or repeats it.
fn word(file: &mut Vec<u8>, random: &mut Pcg64) {
    let is_mark = |byte: u8| byte.is_ascii_whitespace() || b"\"=,:;|()[]{}%&/".contains(&byte);
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for end in 0..=file.len() {
        if end == file.len() || is_mark(file[end]) {
            if end > start {
                words.push((start, end));
            }
            start = end + 1;
        }
    }
    let (Some(at), Some(from)) = (words.choose(random).copied(), words.choose(random).copied()) else {
        return;
    };
    let text = file[from.0..from.1].to_vec();
    let new = match random.random_range(0..8) {
        0 => Vec::new(),
        1 => text,
        2 => text.repeat(random.random_range(2..600)),
        _ => WORDS.choose(random).map(|word| word.as_bytes().to_vec()).unwrap_or_default(),
    };
    file.splice(at.0..at.1, new);
}

/// Removes a line, repeats it, moves it, joins it with another line, or cuts off the file at the line.
fn line(file: &mut Vec<u8>, random: &mut Pcg64) {
    let mut lines: Vec<Vec<u8>> = file.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (at, to) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
    match random.random_range(0..5) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, to),
        2 => {
            let copies = vec![lines[at].clone(); random.random_range(1..30)];
            lines.splice(at..at, copies);
        }
        3 => lines.truncate(at + 1),
        _ => {
            let other = lines[to].clone();
            lines[at].extend(other);
        }
    }
    *file = lines.join(&b'\n');
}

/// Changes, drops or repeats one or a few bytes.
fn byte(file: &mut Vec<u8>, random: &mut Pcg64) {
    if file.is_empty() {
        return;
    }
    let at = random.random_range(0..file.len());
    match random.random_range(0..5) {
        0 => file[at] = random.random(),
        1 => drop(file.remove(at)),
        2 => file.truncate(at),
        3 => {
            let end = (at + random.random_range(1..40)).min(file.len());
            let part = file[at..end].repeat(random.random_range(1..400));
            file.splice(at..at, part);
        }
        _ => file.insert(at, b"\"'{}[]|=,:&*-#%\n\t\0"[random.random_range(0..18)]),
    }
}
