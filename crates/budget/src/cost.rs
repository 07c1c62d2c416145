//! What things cost.

use crate::{charge, room};

/// Charges so many operations on fractions of so many words of 64 bits: common factors are looked for, which grows
/// with the square of the width.
pub fn operations(count: u64, words: u64, what: &str) {
    let each = 20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4);
    charge(count.saturating_mul(each), what);
}

/// Words of 64 bits that hold so many bits.
#[must_use]
pub fn words_of_bits(bits: u64) -> u64 {
    bits / 64 + 1
}

/// Charges a dense table before it is made: its bytes have to be free, and filling it takes a step an entry.
pub fn table(rows: usize, columns: usize, bytes_each: usize, what: &str) {
    let entries = (rows as u64).saturating_mul(columns as u64);
    room(entries.saturating_mul(bytes_each as u64), what);
    charge(entries, what);
}
