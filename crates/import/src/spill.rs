//! Sorting of rows of numbers within bounded memory. Rows that do not fit into this memory are stored in a
//! temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use evenhand_budget::charge;

use super::ImportError;

/// Steps for a row: about one for each comparison, and some for its bytes in a file.
const ROW: u64 = 50;
/// The size of a chunk of rows that is sorted in memory, in bytes.
const CHUNK_BYTES: usize = 16 << 20;
/// The number of bytes that are read at once from each sorted run.
const BLOCK_BYTES: usize = 32 << 10;
/// The number of bytes of a number.
const WORD: usize = size_of::<u64>();

/// A sorter, which takes rows of `N` numbers in any order.
pub(super) struct Sorter<const N: usize> {
    chunk: Vec<[u64; N]>,
    /// The largest number of rows in a chunk.
    most: usize,
    sorted: Sorted<N>,
}

/// Rows in ascending lexicographic order. Several readers can read them at the same time, and repeatedly.
pub(super) struct Sorted<const N: usize> {
    memory: Vec<[u64; N]>,
    spilled: Option<Spilled>,
    /// The number of rows of each sorted run. The runs follow each other in the file.
    runs: Vec<u64>,
}

/// A temporary file. It has no name if the system supports files without names.
struct Spilled {
    folder: PathBuf,
    file: Mutex<File>,
}

impl<const N: usize> Sorter<N> {
    pub fn new() -> Self {
        Self::with_chunk(CHUNK_BYTES / (N * WORD))
    }

    pub fn with_chunk(most: usize) -> Self {
        let sorted = Sorted { memory: Vec::new(), spilled: None, runs: Vec::new() };
        Self { chunk: Vec::new(), most, sorted }
    }

    pub fn push(&mut self, row: [u64; N]) -> Result<(), ImportError> {
        charge(ROW, "the sorting of the trace");
        if self.chunk.len() == self.most {
            self.spill()?;
        }
        self.chunk.push(row);
        Ok(())
    }

    /// Sorts the chunk and appends it to the file as a run.
    fn spill(&mut self) -> Result<(), ImportError> {
        self.chunk.sort_unstable();
        let spilled = match &mut self.sorted.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled::new(&std::env::temp_dir())?),
        };
        spilled.append(&self.chunk)?;
        self.sorted.runs.push(self.chunk.len() as u64);
        self.chunk.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<Sorted<N>, ImportError> {
        if self.sorted.spilled.is_some() {
            self.spill()?;
        } else {
            self.chunk.sort_unstable();
            self.chunk.shrink_to_fit();
            self.sorted.memory = self.chunk;
        }
        Ok(self.sorted)
    }
}

impl Spilled {
    fn new(folder: &Path) -> Result<Self, ImportError> {
        let file = tempfile::tempfile_in(folder).map_err(|source| error(folder, source))?;
        Ok(Self { folder: folder.to_owned(), file: Mutex::new(file) })
    }

    fn append<const N: usize>(&mut self, rows: &[[u64; N]]) -> Result<(), ImportError> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::with_capacity(BLOCK_BYTES);
        for block in rows.chunks((BLOCK_BYTES / (N * WORD)).max(1)) {
            bytes.clear();
            block.iter().flatten().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            file.write_all(&bytes).map_err(|source| error(&self.folder, source))?;
        }
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), ImportError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
        read.map_err(|source| error(&self.folder, source))
    }
}

fn error(folder: &Path, source: io::Error) -> ImportError {
    ImportError::Temporary { folder: folder.display().to_string(), source }
}

impl<const N: usize> Sorted<N> {
    pub fn len(&self) -> u64 {
        self.memory.len() as u64 + self.runs.iter().sum::<u64>()
    }

    /// Returns a reader of all rows in order.
    pub fn rows(&self) -> Result<Rows<'_, N>, ImportError> {
        let mut begin = 0;
        let mut runs = Vec::with_capacity(self.runs.len());
        for &rows in &self.runs {
            let next = begin + rows * (N * WORD) as u64;
            runs.push(Run { at: begin, end: next, block: Vec::new(), used: 0 });
            begin = next;
        }
        let mut rows = Rows { of: self, at: 0, runs, next: BinaryHeap::new() };
        for run in 0..rows.runs.len() {
            rows.take_from(run)?;
        }
        Ok(rows)
    }
}

/// A sorted run of the file.
struct Run {
    /// The position in the file of the next block.
    at: u64,
    /// The position in the file of the end of the run.
    end: u64,
    block: Vec<u8>,
    /// The number of bytes of the block that have been used.
    used: usize,
}

impl Run {
    /// Returns the next row, or `None` after the last row.
    fn next<const N: usize>(&mut self, file: &Spilled) -> Result<Option<[u64; N]>, ImportError> {
        if self.used == self.block.len() {
            if self.at == self.end {
                self.block = Vec::new();
                self.used = 0;
                return Ok(None);
            }
            let whole_rows = (BLOCK_BYTES / (N * WORD)).max(1) * N * WORD;
            let len = (self.end - self.at).min(whole_rows as u64);
            self.block.resize(len as usize, 0);
            file.read(self.at, &mut self.block)?;
            self.at += len;
            self.used = 0;
        }
        let mut row = [0; N];
        let bytes = &self.block[self.used..self.used + N * WORD];
        for (word, bytes) in row.iter_mut().zip(bytes.chunks_exact(WORD)) {
            let mut array = [0; WORD];
            array.copy_from_slice(bytes);
            *word = u64::from_le_bytes(array);
        }
        self.used += N * WORD;
        Ok(Some(row))
    }
}

/// A reader of sorted rows, which merges the runs.
pub(super) struct Rows<'a, const N: usize> {
    of: &'a Sorted<N>,
    /// The position of the next row among the rows in memory.
    at: usize,
    runs: Vec<Run>,
    /// The next row of each run that has rows left, with the index of the run.
    next: BinaryHeap<Reverse<([u64; N], usize)>>,
}

impl<const N: usize> Rows<'_, N> {
    /// Moves the next row of a run to the heap.
    fn take_from(&mut self, run: usize) -> Result<(), ImportError> {
        let Some(file) = &self.of.spilled else { return Ok(()) };
        if let Some(row) = self.runs[run].next(file)? {
            self.next.push(Reverse((row, run)));
        }
        Ok(())
    }

    pub fn next(&mut self) -> Result<Option<[u64; N]>, ImportError> {
        if let Some(Reverse((row, run))) = self.next.pop() {
            self.take_from(run)?;
            return Ok(Some(row));
        }
        let row = self.of.memory.get(self.at).copied();
        self.at += 1;
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_file_is_an_error() {
        let folder = std::env::temp_dir().join(format!("evenhand-no-folder-{}", std::process::id()));
        let error = Spilled::new(&folder).err();
        assert!(matches!(&error, Some(ImportError::Temporary { .. })), "{error:?}");
        // A file that ends too early, for example after a failure of the disk, is an error as well.
        let mut spilled = Spilled::new(&std::env::temp_dir()).unwrap();
        spilled.append(&[[1, 2, 3]]).unwrap();
        assert!(matches!(spilled.read(8, &mut [0; 24]), Err(ImportError::Temporary { .. })));
        spilled.read(8, &mut [0; 16]).unwrap();
    }

    #[test]
    fn rows_are_sorted_in_memory_and_in_a_file() {
        for (rows, chunk) in [(0, 4), (3, 4), (4, 4), (5, 4), (10_000, 1), (10_000, 777), (10_000, 20_000)] {
            // Multiplication modulo a prime shuffles the rows. The first number occurs at least twice.
            let row = |k: u64| [k / 2 * 7919 % 5003, k % 3, k];
            let mut sorter = Sorter::<3>::with_chunk(chunk);
            for k in 0..rows {
                sorter.push(row(k)).unwrap();
            }
            let sorted = sorter.finish().unwrap();
            let mut expected: Vec<[u64; 3]> = (0..rows).map(row).collect();
            expected.sort_unstable();
            assert_eq!(sorted.len(), rows);
            // Two readers read alternately.
            let (mut one, mut other) = (sorted.rows().unwrap(), sorted.rows().unwrap());
            for row in &expected {
                assert_eq!(one.next().unwrap().as_ref(), Some(row));
                assert_eq!(other.next().unwrap().as_ref(), Some(row));
            }
            assert!(one.next().unwrap().is_none() && other.next().unwrap().is_none());
        }
    }
}
