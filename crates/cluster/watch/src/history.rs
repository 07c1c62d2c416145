//! The history: a SQLite file with a row for each round, and the amounts of each queue and resource.
//!
//! The file is in WAL mode. Each round is one transaction, which is on the disk when [`History::add`]
//! returns. If the process is killed, no finished round is therefore lost. Readers such as `report` can read
//! the file while a watch writes to it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evenhand_problem::number::{self, to_f64};
use evenhand_problem::{Rational, printable};
use evenhand_report::over_time::{OverTime, Sample};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use crate::error::{Failure, WatchError};
use crate::round::{Judged, stored};

mod usage;

pub use usage::usage;

/// The number in the header of the file that identifies the program: the letters `Evhn`.
const APPLICATION: i64 = 0x4576_686e;
/// The version of the tables.
const VERSION: i64 = 1;
/// The first bytes of every SQLite file.
const HEADER: &[u8; 16] = b"SQLite format 3\0";
/// The time that a writer waits for a reader, and that a reader waits for a writer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of attempts to lock a history, followed by the time between two attempts.
const LOCK_TRIES: u32 = 20;
const BETWEEN_LOCK_TRIES: Duration = Duration::from_millis(50);

const TABLES: &str = "
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE rounds (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    snapshot_sha256 TEXT,
    fair INTEGER,
    answer TEXT,
    could_start INTEGER,
    not_modelled INTEGER,
    reason TEXT,
    failure TEXT
) STRICT;
CREATE INDEX rounds_by_time ON rounds (time);
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE queues (
    round INTEGER NOT NULL,
    queue INTEGER NOT NULL,
    waiting ANY,
    below INTEGER NOT NULL,
    PRIMARY KEY (round, queue)
) STRICT, WITHOUT ROWID;
CREATE TABLE shares (
    round INTEGER NOT NULL,
    queue INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    usage ANY NOT NULL,
    fair_share ANY NOT NULL,
    lacking ANY NOT NULL,
    guarantee ANY,
    most ANY,
    PRIMARY KEY (round, queue, resource)
) STRICT, WITHOUT ROWID;
";

/// A history that is open for writing.
#[derive(Debug)]
pub struct History {
    file: PathBuf,
    connection: Connection,
    keep: Duration,
    names: HashMap<String, i64>,
    _lock: File,
}

/// The result of a round that is added to the history.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The time at which the round began, in milliseconds since 1970.
    pub time: i64,
    /// The duration of the round.
    pub took: Duration,
    /// The verdict, or the reason why the round gave no verdict.
    pub result: Result<&'a Judged, &'a Failure>,
}

impl History {
    /// Opens or creates the history of a system. Rounds are removed when they are older than `keep`.
    ///
    /// # Errors
    /// [`WatchError`] if the file is another SQLite file, if it is the history of another system, if another
    /// program writes to it, or if it cannot be written.
    pub fn open(file: &Path, system: &str, keep: Duration) -> Result<Self, WatchError> {
        let failed = |error: rusqlite::Error| error_of(file, &error);
        let lock = lock(file)?;
        let mut connection = Connection::open(file).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        // If a process was killed while it created the tables, it left an empty file.
        let count = "SELECT count(*) FROM sqlite_schema";
        let tables = connection.query_row(count, [], |row| row.get::<_, i64>(0)).map_err(failed)?;
        if tables == 0 {
            // The tables are created before WAL mode begins, so that the application number is in the file itself and
            // not only in the WAL.
            let transaction = connection.transaction().map_err(failed)?;
            let mark = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
            transaction.execute_batch(&mark).map_err(failed)?;
            transaction.execute_batch(TABLES).map_err(failed)?;
            let fact = "INSERT INTO facts (name, value) VALUES ('system', ?1)";
            transaction.execute(fact, [system]).map_err(failed)?;
            transaction.commit().map_err(failed)?;
        }
        check(file, &connection)?;
        let found = fact(&connection, "system").map_err(failed)?.unwrap_or_default();
        if found != system {
            let named = |of: &str| if of.is_empty() { "snapshots" } else { of }.to_owned();
            return Err(WatchError::OtherSystem {
                file: file.to_owned(),
                found: named(&found),
                asked: named(system),
            });
        }
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        Ok(Self { file: file.to_owned(), connection, keep, names: HashMap::new(), _lock: lock })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Adds a round, and removes rounds that are too old, in one transaction.
    ///
    /// # Errors
    /// [`WatchError::History`] if the file cannot be written, for example on a full disk. The history then stays
    /// unchanged.
    pub fn add(&mut self, entry: &Entry<'_>) -> Result<(), WatchError> {
        let added = self.write(entry);
        if added.is_err() {
            // The ids that an undone transaction assigned to names are not in the file.
            self.names.clear();
            // Moving the WAL into the file frees space for the next round. On a full disk this may fail as
            // well.
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        added.map_err(|error| error_of(&self.file, &error))
    }

    fn write(&mut self, entry: &Entry<'_>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let milliseconds = i64::try_from(entry.took.as_millis()).unwrap_or(i64::MAX);
        match entry.result {
            Err(failure) => {
                transaction
                    .prepare(
                        "INSERT INTO rounds (time, milliseconds, reason, failure) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![entry.time, milliseconds, failure.reason(), failure.to_string()])?;
            }
            Ok(judged) => {
                let could_start = judged.could_start.and_then(|count| i64::try_from(count).ok());
                let not_modelled = i64::try_from(judged.not_modelled).unwrap_or(i64::MAX);
                transaction
                    .prepare(
                        "INSERT INTO rounds (time, milliseconds, snapshot_sha256, fair, answer, could_start, not_modelled) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute(params![
                        entry.time,
                        milliseconds,
                        judged.sha256,
                        judged.is_fair,
                        judged.answer,
                        could_start,
                        not_modelled
                    ])?;
                let round = transaction.last_insert_rowid();
                let mut add_queue = transaction
                    .prepare("INSERT INTO queues (round, queue, waiting, below) VALUES (?1, ?2, ?3, ?4)")?;
                let mut add_share = transaction.prepare(
                    "INSERT INTO shares (round, queue, resource, usage, fair_share, lacking, guarantee, most) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?;
                for row in &judged.queues {
                    let queue = name(&transaction, &mut self.names, &row.queue)?;
                    let waiting = row.waiting.as_ref().map(exact);
                    add_queue.execute(params![round, queue, waiting, row.is_below])?;
                    for share in &row.shares {
                        let resource = name(&transaction, &mut self.names, &share.resource)?;
                        add_share.execute(params![
                            round,
                            queue,
                            resource,
                            exact(&share.usage),
                            exact(&share.fair_share),
                            exact(&share.lacking),
                            share.guarantee.as_ref().map(exact),
                            share.limit.as_ref().map(exact),
                        ])?;
                    }
                }
            }
        }
        forget(&transaction, entry.time, self.keep)?;
        transaction.commit()
    }

    /// Returns the number of rounds.
    ///
    /// # Errors
    /// [`WatchError::History`] if the file cannot be read.
    pub fn rounds(&self) -> Result<u64, WatchError> {
        let count = self.connection.query_row("SELECT count(*) FROM rounds", [], |row| row.get::<_, i64>(0));
        count.map(|count| count.unsigned_abs()).map_err(|error| error_of(&self.file, &error))
    }
}

/// Removes the rounds that are older than `keep`.
fn forget(transaction: &Transaction<'_>, now: i64, keep: Duration) -> rusqlite::Result<()> {
    let oldest = now.saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
    let mut old = transaction.prepare("SELECT id FROM rounds WHERE time < ?1")?;
    let old = old.query_map([oldest], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    for table in ["shares", "queues"] {
        let mut delete = transaction.prepare(&format!("DELETE FROM {table} WHERE round = ?1"))?;
        old.iter().try_for_each(|id| delete.execute([id]).map(drop))?;
    }
    let mut delete = transaction.prepare("DELETE FROM rounds WHERE id = ?1")?;
    old.iter().try_for_each(|id| delete.execute([id]).map(drop))
}

/// Returns the id of a name. A new name is added to the file.
fn name(
    transaction: &Transaction<'_>,
    names: &mut HashMap<String, i64>,
    name: &str,
) -> rusqlite::Result<i64> {
    /// The largest number of names whose ids are stored in memory.
    const MOST: usize = 100_000;
    if let Some(id) = names.get(name) {
        return Ok(*id);
    }
    transaction.prepare("INSERT OR IGNORE INTO names (name) VALUES (?1)")?.execute([name])?;
    let id =
        transaction.prepare("SELECT id FROM names WHERE name = ?1")?.query_row([name], |row| row.get(0))?;
    if names.len() >= MOST {
        names.clear();
    }
    names.insert(name.to_owned(), id);
    Ok(id)
}

/// Returns an exact number in the form in which it is stored: a whole number of 64 bits, or a text such as
/// `5/7`.
fn exact(value: &Rational) -> Value {
    match value.numer().to_i64() {
        Some(whole) if value.is_integer() => Value::Integer(whole),
        _ => Value::Text(stored(value)),
    }
}

/// Returns the double that is nearest to a stored number.
fn nearest(value: ValueRef<'_>) -> f64 {
    match value {
        ValueRef::Integer(whole) => whole as f64,
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).unwrap_or_default();
            number::parse_result(text).map_or(0.0, |value| to_f64(&value))
        }
        _ => 0.0,
    }
}

/// Locks a history by a lock file next to it. The lock ends with the program, but the lock file remains.
fn lock(file: &Path) -> Result<File, WatchError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = file.with_file_name(format!(".{name}.lock"));
    let failed = |error: &dyn std::fmt::Display| WatchError::History {
        file: path.clone(),
        message: format!("cannot be written: {error}"),
    };
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let opened = opened.map_err(|error| failed(&error))?;
    // A child process that has just been started shares the lock of its parent until it runs its own program.
    for _ in 0..LOCK_TRIES {
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOCK_TRIES),
            // On file systems without locks, a second watch is not noticed.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(opened),
        }
    }
    Err(WatchError::Locked(file.to_owned()))
}

fn error_of(file: &Path, error: &rusqlite::Error) -> WatchError {
    let message = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => format!("the disk is full ({error})"),
        Some(rusqlite::ErrorCode::NotADatabase) => "this is not an SQLite file".to_owned(),
        _ => error.to_string(),
    };
    WatchError::History { file: file.to_owned(), message: printable(&message) }
}

fn fact(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT value FROM facts WHERE name = ?1", [name], |row| row.get(0)).optional()
}

/// Refuses a file that is not a history, or that a later version of this program wrote.
fn check(file: &Path, connection: &Connection) -> Result<(), WatchError> {
    let number = |pragma: &str| -> Result<i64, WatchError> {
        let found = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0));
        found.map_err(|error| error_of(file, &error))
    };
    if number("application_id")? != APPLICATION {
        return Err(WatchError::NoHistory(file.to_owned()));
    }
    let found = number("user_version")?;
    if found > VERSION {
        return Err(WatchError::Later { file: file.to_owned(), found, known: VERSION });
    }
    Ok(())
}

/// Returns `true` if a file begins with the header of SQLite. Returns `false` if the file cannot be read.
#[must_use]
pub fn is_sqlite(file: &Path) -> bool {
    let mut bytes = [0; HEADER.len()];
    let read = || std::io::Read::read_exact(&mut File::open(file)?, &mut bytes);
    std::fs::metadata(file).is_ok_and(|of| of.is_file()) && { read }().is_ok() && bytes == *HEADER
}

/// Reads the rounds of a history since the time `since`, in milliseconds since 1970. A watch may write to the
/// history at the same time.
///
/// # Errors
/// [`WatchError`] if the file is not a history or cannot be read.
pub fn over_time(file: &Path, since: Option<i64>) -> Result<OverTime, WatchError> {
    let failed = |error: rusqlite::Error| error_of(file, &error);
    let connection = reader(file).map_err(failed)?;
    check(file, &connection)?;
    read(&connection, since.unwrap_or(i64::MIN)).map_err(failed)
}

/// Opens a history to read it. If SQLite cannot create its files in the folder, the history is read without its WAL.
fn reader(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(file, flags)?;
    opened.busy_timeout(PATIENCE)?;
    let works = opened.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    match works {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) => {
            let path = file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
        }
        _ => Ok(opened),
    }
}

fn read(connection: &Connection, since: i64) -> rusqlite::Result<OverTime> {
    // All queries belong to one transaction, so they see the same rounds even if a watch adds a round at the
    // same time.
    let transaction = connection.unchecked_transaction()?;
    let system = fact(&transaction, "system")?.unwrap_or_default();
    let title =
        if system.is_empty() { "A cluster over time".to_owned() } else { format!("{system} over time") };
    let mut names = HashMap::new();
    let mut all = transaction.prepare("SELECT id, name FROM names")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        names.insert(row.get::<_, i64>(0)?, row.get::<_, String>(1)?);
    }
    let mut all = transaction.prepare("SELECT time FROM rounds WHERE time >= ?1 ORDER BY time, id")?;
    let times = all.query_map([since], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut history = OverTime::new(title, &times);
    let mut all = transaction
        .prepare("SELECT id, time, reason IS NULL FROM rounds WHERE time >= ?1 ORDER BY time, id")?;
    let mut shares = transaction.prepare(
        "SELECT queue, resource, usage, fair_share, lacking, below FROM shares JOIN queues USING (round, queue) \
         WHERE round = ?1",
    )?;
    let mut rounds = all.query([since])?;
    let mut at = 0;
    let unknown = String::new();
    while let Some(round) = rounds.next()? {
        let (id, time, has_verdict): (i64, i64, bool) = (round.get(0)?, round.get(1)?, round.get(2)?);
        at += 1;
        let until = times.get(at).copied();
        let mut samples = Vec::new();
        if has_verdict {
            let mut rows = shares.query([id])?;
            while let Some(row) = rows.next()? {
                let name = |at: usize| -> rusqlite::Result<&str> {
                    Ok(names.get(&row.get::<_, i64>(at)?).unwrap_or(&unknown))
                };
                samples.push(Sample {
                    queue: name(0)?,
                    resource: name(1)?,
                    usage: nearest(row.get_ref(2)?),
                    fair_share: nearest(row.get_ref(3)?),
                    lacking: nearest(row.get_ref(4)?),
                    is_below: row.get(5)?,
                });
            }
        }
        history.add(time, until, has_verdict.then_some(samples));
    }
    Ok(history)
}
