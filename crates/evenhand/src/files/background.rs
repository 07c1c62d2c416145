//! A writer that passes the content of a large file to another thread while the rest of the content is
//! created.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// The number of bytes that are written at a time.
const PIECE: usize = 1 << 18;

/// The largest size in bytes of a file that is written without another thread. Such a file is written in one
/// or two milliseconds.
const LITTLE: usize = 1 << 22;

/// The largest number of pieces that wait for a slow disk.
const WAITING: usize = 8;

/// A writer to a file that may write on another thread. Only [`finish`](Self::finish) reports whether all
/// bytes were written.
pub struct BackgroundWriter<'f> {
    file: &'f File,
    piece: Vec<u8>,
    /// The number of bytes that were written on the calling thread.
    written: usize,
    thread: Option<Thread>,
}

struct Thread {
    pieces: SyncSender<Vec<u8>>,
    ends: JoinHandle<io::Result<()>>,
}

impl<'f> BackgroundWriter<'f> {
    pub fn new(file: &'f File) -> Self {
        Self { file, piece: Vec::new(), written: 0, thread: None }
    }

    /// Writes the last piece, and waits until all bytes are written.
    pub fn finish(mut self) -> io::Result<()> {
        self.hand_over()?;
        self.wait()
    }

    /// Passes the piece to the thread. If the file needs no thread, or no thread can be started, the piece is
    /// written at once.
    fn hand_over(&mut self) -> io::Result<()> {
        let piece = mem::take(&mut self.piece);
        if self.thread.is_none() && self.written >= LITTLE && rayon::current_num_threads() > 1 {
            self.thread = start(self.file.try_clone()?);
        }
        match &self.thread {
            None => {
                self.file.write_all(&piece)?;
                self.written += piece.len();
                self.piece = piece;
                self.piece.clear();
            }
            Some(Thread { pieces, .. }) if pieces.send(piece).is_ok() => self.piece.reserve_exact(PIECE),
            // The thread ends early only if it cannot write to the file.
            Some(_) => return self.wait().and(Err(io::ErrorKind::WriteZero.into())),
        }
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        let Some(Thread { pieces, ends }) = self.thread.take() else { return Ok(()) };
        drop(pieces);
        ends.join().unwrap_or_else(|_| {
            Err(io::Error::other("internal error: the thread that writes the file has ended"))
        })
    }
}

fn start(mut file: File) -> Option<Thread> {
    let (pieces, received) = sync_channel::<Vec<u8>>(WAITING);
    let write = move || received.into_iter().try_for_each(|piece| file.write_all(&piece));
    Some(Thread { pieces, ends: thread::Builder::new().spawn(write).ok()? })
}

impl Write for BackgroundWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_large = bytes.len() >= PIECE;
        if self.piece.len() == PIECE || is_large && self.thread.is_none() {
            self.hand_over()?;
        }
        // A large text is written without a copy. This is possible only if no thread may still be writing an
        // earlier piece. The call above may just have started a thread.
        if is_large && self.thread.is_none() {
            return self.file.write(bytes);
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Does nothing. Each piece is written when it is full, and the last piece is written by
    /// [`finish`](Self::finish).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn written(threads: usize, lines: usize) -> (String, String) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let expected: String = (0..lines).map(|line| format!("{line} of {lines}\n")).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut out = BackgroundWriter::new(file.as_file());
            (0..lines).for_each(|line| writeln!(out, "{line} of {lines}").unwrap());
            out.write_all(expected.as_bytes()).unwrap();
            out.finish().unwrap();
        });
        (fs::read_to_string(file.path()).unwrap(), expected.repeat(2))
    }

    #[test]
    fn writes_texts_in_order() {
        // The sizes cover an empty file, less than one piece, several pieces, and more pieces than may wait.
        for (threads, lines) in [(1, 0), (2, 0), (2, 9), (1, 300_000), (2, 300_000), (2, 900_000)] {
            let (found, expected) = written(threads, lines);
            assert!(found == expected, "{lines} lines by {threads} threads");
        }
    }

    /// The large text arrives exactly when the thread is started for the text before it, or one piece
    /// earlier, or one piece later.
    #[test]
    fn a_large_text_waits_for_earlier_texts() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for before in [LITTLE - 1, LITTLE, LITTLE + 1, LITTLE + PIECE, LITTLE + PIECE + 1, LITTLE + 2 * PIECE]
        {
            for _ in 0..8 {
                let file = tempfile::NamedTempFile::new().unwrap();
                let large = vec![b'b'; 3 * PIECE];
                pool.install(|| {
                    let mut out = BackgroundWriter::new(file.as_file());
                    (0..before).for_each(|_| out.write_all(b"a").unwrap());
                    out.write_all(&large).unwrap();
                    out.write_all(b"c").unwrap();
                    out.finish().unwrap();
                });
                let expected = [&vec![b'a'; before][..], &large, b"c"].concat();
                assert!(fs::read(file.path()).unwrap() == expected, "{before} bytes before");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        for (threads, lines, length) in [(1, 1, 9), (2, 1, 9), (2, 99, PIECE - 1), (2, 1, PIECE)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let error = pool.install(|| {
                let mut out = BackgroundWriter::new(&full);
                let put = (0..lines).try_for_each(|_| out.write_all(&vec![b' '; length]));
                put.and_then(|()| out.finish()).unwrap_err()
            });
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{lines} of {length} by {threads} threads");
        }
    }

    /// The reader of a pipe closes the pipe after the thread has begun to write.
    #[cfg(unix)]
    #[test]
    fn reports_write_errors_of_the_thread() {
        let (reader, writer) = io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let reads = thread::spawn(move || {
            io::copy(&mut io::Read::take(reader, 2 * LITTLE as u64), &mut io::sink()).unwrap()
        });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let error = pool.install(|| {
            let mut out = BackgroundWriter::new(&file);
            let put = (0..20 * LITTLE / PIECE).try_for_each(|_| out.write_all(&[b' '; PIECE - 1]));
            put.and_then(|()| out.finish()).unwrap_err()
        });
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(reads.join().unwrap(), 2 * LITTLE as u64);
    }
}
