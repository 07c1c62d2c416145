//! The mutations of libFuzzer for JSON documents. Most of them change the document, and some change its
//! bytes.

/// The inverse of the fraction of mutations that change bytes.
const BYTES: u32 = 5;

/// Mutates the input in place, and returns its new size.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let document = if seed % BYTES == 0 { None } else { evenhand_oracles::mutated(&data[..size], seed) };
    match document {
        Some(document) => put(&document, data, max_size),
        None => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// Replaces the input by a document, and returns the new size. A document that is too long is cut.
pub fn put(document: &[u8], data: &mut [u8], max_size: usize) -> usize {
    let size = document.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&document[..size]);
    size
}

/// Inserts a part of the second document into the first document.
pub fn cross(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    match evenhand_oracles::crossed(first, second, seed) {
        Some(document) => put(&document, out, out.len()),
        None => put(first, out, out.len()),
    }
}
