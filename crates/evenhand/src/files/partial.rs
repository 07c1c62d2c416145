//! Files of lines that grow until they are complete. A later run can resume them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::examine::{is_ordinary, shown};
use crate::failure::Failure;

/// The suffix of the file that collects the lines.
const SUFFIX: &str = ".part";

/// The lines of an incomplete file. The first line is a header that identifies the computation that wrote the
/// other lines.
#[derive(Debug)]
pub struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    /// Opens the file with the collected lines of the future file `path`, or creates it. Every existing line
    /// is passed to `expect`, in order. An incomplete last line is removed.
    ///
    /// # Errors
    /// If the system refuses. Also if the lines belong to another computation. In this case `expect` returns
    /// the reason.
    pub fn open(
        path: &Path,
        header: &str,
        mut expect: impl FnMut(&str) -> Result<(), String>,
    ) -> Result<Self, Failure> {
        let path = PathBuf::from(
            [path.as_os_str().to_owned(), OsString::from(SUFFIX)].into_iter().collect::<OsString>(),
        );
        let fail = |error: std::io::Error| Failure::solver(format!("{}: {error}", shown(&path)));
        let refuse = |line: usize, why: &str| {
            let what = format!("{}:{line}: {why}", shown(&path));
            Err(Failure::input(what).tip("remove the file to start from the beginning"))
        };
        if path.is_symlink() || path.exists() && !is_ordinary(&path) {
            return Err(Failure::input(format!(
                "{}: this is not an ordinary file; name another output",
                shown(&path)
            )));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut partial = Self { file: file.map_err(fail)?, path: path.clone() };
        let (mut whole, mut line) = (0, 0);
        let mut reader = BufReader::new(&partial.file);
        loop {
            let mut bytes = Vec::new();
            reader.read_until(b'\n', &mut bytes).map_err(fail)?;
            let is_whole = bytes.last() == Some(&b'\n');
            if !is_whole && (line > 0 || format!("{header}\n").as_bytes().starts_with(&bytes)) {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            line += 1;
            match text.trim_end_matches('\n') {
                text if line == 1 && text != header => {
                    return refuse(line, "the file belongs to another grid, part, seed or version");
                }
                _ if line == 1 => {}
                text => {
                    if let Err(why) = expect(text) {
                        return refuse(line, &why);
                    }
                }
            }
            whole += bytes.len() as u64;
        }
        drop(reader);
        partial.file.set_len(whole).map_err(fail)?;
        partial.file.seek(SeekFrom::End(0)).map_err(fail)?;
        if whole == 0 {
            partial.append(header)?;
        }
        Ok(partial)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// If the line cannot be written, for example because the disk is full.
    pub fn append(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| {
            let tip = "run the same command again to resume, once there is room";
            let failure = Failure::solver(format!("{}: cannot be written: {error}", shown(&self.path)));
            if error.kind() == ErrorKind::StorageFull { failure.tip(tip) } else { failure }
        })
    }

    /// Passes all lines except the header to `take`.
    ///
    /// # Errors
    /// If the file cannot be read, or `take` returns an error.
    pub fn each(&self, mut take: impl FnMut(&str) -> std::io::Result<()>) -> std::io::Result<()> {
        let lines = BufReader::new(File::open(&self.path)?).lines();
        lines.skip(1).try_for_each(|line| take(&line?))
    }

    /// Removes the file after the complete file has been written.
    ///
    /// # Errors
    /// If the system refuses to remove the file.
    pub fn remove(self) -> Result<(), Failure> {
        let removed = std::fs::remove_file(&self.path);
        removed.map_err(|error| Failure::solver(format!("{}: cannot be removed: {error}", shown(&self.path))))
    }
}
