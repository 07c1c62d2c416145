//! What an importer takes: a few kilobytes of compressed data can unpack to any amount.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// Longest line, in bytes. The longest of the traces has under 1,000.
pub const MAX_LINE_BYTES: u64 = 1 << 20;
/// Most bytes of one file after unpacking. A part of the Google trace has about 10^8.
pub const MAX_UNPACKED_BYTES: u64 = 1 << 30;
/// Most bytes that a compressed byte may stand for, once more than [`FREE_BYTES`] are unpacked: tables
/// compress to a tenth or a fiftieth, repeated bytes to a ten-thousandth.
pub const MAX_EXPANSION: u64 = 1_000;
/// Unpacked bytes up to which any compression is believed.
pub const FREE_BYTES: u64 = 1 << 24;

/// Counts what is read of a file as it is stored.
pub(super) struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    pub fn new(inner: R) -> (Self, Rc<Cell<u64>>) {
        let read = Rc::new(Cell::new(0));
        (Self { inner, read: Rc::clone(&read) }, read)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        evenhand_budget::read(read as u64);
        Ok(read)
    }
}

/// Which limit `unpacked` bytes from `packed` bytes break, in words.
pub(super) fn broken(packed: u64, unpacked: u64) -> Option<String> {
    if unpacked > MAX_UNPACKED_BYTES {
        return Some(format!("more than {MAX_UNPACKED_BYTES} bytes, the most that a file may unpack to"));
    }
    let is_bomb = unpacked > FREE_BYTES && unpacked / MAX_EXPANSION > packed;
    is_bomb.then(|| {
        format!("it unpacks to more than {MAX_EXPANSION} times its {packed} bytes, the most that is accepted")
    })
}
