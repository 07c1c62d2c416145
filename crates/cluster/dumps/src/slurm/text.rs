//! A reader of the text of `scontrol -o`, `sshare -P` and `sacctmgr -P`.
//!
//! `scontrol` quotes nothing, and users choose the name of a job, its comment, its files and its command
//! line. Such a text may look like other fields of the job. The reader therefore recognises the fields of a
//! job by their order, which is the same in Slurm 20.11 to 25.05 (`slurm_sprint_job_info` in
//! src/api/job_info.c). First come the numbers of the job and of its array. Next comes the name, up to the
//! last ` UserId=`. Then come fields that Slurm writes itself. From `Command=` on, there are again texts of
//! users. JSON is not ambiguous.

use super::super::source::Bytes;
use super::super::tree::shown;
use evenhand_import::ImportError;

/// The fields `Name=value` of a node, job, partition or reservation.
pub(super) struct Record<'r> {
    bytes: &'r Bytes,
    pub line: u64,
    fields: Vec<(String, String)>,
    /// True if the name of a job looks like fields of a job.
    pub has_odd_name: bool,
}

impl Record<'_> {
    /// Returns the value of a field. Returns `None` if the field is missing, or if its value stands for an
    /// empty value, such as `(null)`.
    ///
    /// # Errors
    /// If the field is given twice. A name or a comment that contains `Name=value` cannot be distinguished
    /// from a field.
    pub fn get(&self, name: &str) -> Result<Option<&str>, ImportError> {
        let mut found = self.fields.iter().filter(|(known, _)| known == name);
        let first = found.next();
        if found.next().is_some() {
            let message =
                format!("the field {name} is given twice: a name may contain it; use the output of --json");
            return Err(self.error(message));
        }
        let is_stated = |value: &&str| !matches!(*value, "" | "(null)" | "N/A" | "None" | "NONE");
        Ok(first.map(|(_, value)| value.as_str()).filter(is_stated))
    }

    pub fn need(&self, name: &str) -> Result<&str, ImportError> {
        self.get(name)?.ok_or_else(|| self.error(format!("the field {name} is missing")))
    }

    pub fn error(&self, message: impl Into<String>) -> ImportError {
        self.bytes.error(self.line, message)
    }

    /// Returns an error about the value of a field.
    pub fn wrong(&self, field: &str, message: &str) -> ImportError {
        self.error(format!("{field}: {message}"))
    }
}

/// An entry of a text: a record, a row of a table, or a line without entries.
pub(super) enum Piece<'r> {
    Record(Record<'r>),
    Row(Row<'r>),
    /// A line that states that there are no entries, such as `No jobs in the system`.
    NoEntries(&'r str),
}

/// A row of a table with a header.
pub(super) struct Row<'r> {
    bytes: &'r Bytes,
    pub line: u64,
    pub header: &'r [String],
    pub cells: Vec<String>,
}

impl Row<'_> {
    pub fn get(&self, column: &str) -> Option<&str> {
        let at = self.header.iter().position(|name| name == column)?;
        Some(self.cells[at].as_str())
    }

    pub fn error(&self, column: &str, message: impl Into<String>) -> ImportError {
        self.bytes.error(self.line, format!("{column}: {}", message.into()))
    }
}

/// Passes the records and rows of a text to `take`.
pub(super) fn read(
    bytes: &mut Bytes,
    take: &mut dyn FnMut(Piece<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut record: Option<(u64, String)> = None;
    let mut header: Option<Vec<String>> = None;
    let mut pieces = 0;
    loop {
        let line = bytes.next_line()?;
        let continues = line.as_ref().is_some_and(|(_, text)| {
            record.is_some() && text.starts_with([' ', '\t']) && !text.trim().is_empty()
        });
        if continues {
            if let (Some((_, text)), Some((_, more))) = (&mut record, line) {
                text.push(' ');
                text.push_str(more.trim());
            }
            continue;
        }
        if let Some((at, text)) = record.take() {
            let read = if text.starts_with(JOB) { job_fields(&text) } else { Ok((fields(&text), false)) };
            let (fields, has_odd_name) = read.map_err(|unknown| bytes.error(at, unknown.to_string()))?;
            take(Piece::Record(Record { bytes, line: at, fields, has_odd_name }))?;
            pieces += 1;
        }
        let Some((at, text)) = line else { break };
        if text.trim().is_empty() {
            continue;
        }
        if STARTS.iter().any(|start| text.starts_with(start)) {
            (record, header) = (Some((at, text)), None);
        } else if let Some(header) = &header {
            let cells: Vec<String> = text.split('|').map(str::to_owned).collect();
            if cells.len() != header.len() {
                let message = format!("found {} columns: expected {}", cells.len(), header.len());
                return Err(bytes.error(at, message));
            }
            take(Piece::Row(Row { bytes, line: at, header, cells }))?;
            pieces += 1;
        } else if text.contains('|') {
            header = Some(text.split('|').map(|name| name.trim().to_owned()).collect());
        } else if pieces == 0 && text.starts_with("No ") {
            // For example "No reservations in the system".
            take(Piece::NoEntries(&text))?;
            pieces += 1;
        } else {
            let message = format!(
                "found `{}`: expected the text of scontrol -o, sshare -P or sacctmgr -P, or JSON",
                shown(&text)
            );
            return Err(bytes.error(at, message));
        }
    }
    if pieces == 0 { Err(bytes.error(0, "the file is empty: expected a dump of Slurm")) } else { Ok(()) }
}

/// The beginnings of records.
const STARTS: [&str; 4] = ["NodeName=", JOB, "PartitionName=", "ReservationName="];
const JOB: &str = "JobId=";

/// The fields of a job, other than its name, that may contain texts of users.
const FREE_TEXTS: [&str; 14] = [
    " Command=",
    " WorkDir=",
    " Comment=",
    " AdminComment=",
    " SystemComment=",
    " StdErr=",
    " StdIn=",
    " StdOut=",
    " MailUser=",
    " SubmitLine=",
    " Extra=",
    " Network=",
    " BurstBuffer=",
    " Container=",
];

/// The error for a job if it is not known where its name ends.
#[derive(Debug, thiserror::Error)]
#[error(
    "the job has several fields UserId with{field} between them: a name or a comment contains one; use the output of --json"
)]
struct NotKnown {
    /// The field between two fields `UserId` that contains a text of a user. Its name begins with a blank.
    field: &'static str,
}

/// Returns the fields of a job. Also returns `true` if the name of the job looks like fields.
///
/// # Errors
/// If the job has several ` UserId=`, and a field with a text of a user before the last ` UserId=`. Then
/// either the name or this text contains ` UserId=`, and the fields do not show which of the two does.
fn job_fields(text: &str) -> Result<(Vec<(String, String)>, bool), NotKnown> {
    let split = text.find(" JobName=").and_then(|name| Some((name, name + text[name..].rfind(" UserId=")?)));
    let Some((name, user)) = split else { return Ok((fields(text), false)) };
    let swallowed = &text[name..user];
    if swallowed.contains(" UserId=")
        && let Some(field) = FREE_TEXTS.iter().find(|field| swallowed.contains(**field))
    {
        return Err(NotKnown { field: field.trim_end_matches('=') });
    }
    let rest = &text[user..];
    let end = FREE_TEXTS.iter().filter_map(|field| rest.find(field)).min().unwrap_or(rest.len());
    let mut known = fields(&text[..name]);
    // `WCKey` may contain any text. Slurm writes the fields of an array before `WCKey`, so fields of an array
    // after it are ignored.
    let head = fields(rest[..end].trim_start());
    let key = head.iter().position(|(field, _)| field == "WCKey").unwrap_or(head.len());
    let is_of_array = |field: &str| field.starts_with("Array") || field.starts_with("HetJob");
    let kept = head.into_iter().enumerate().filter(|(at, (field, _))| *at <= key || !is_of_array(field));
    known.extend(kept.map(|(_, field)| field));
    let after = fields(rest[end..].trim_start());
    for request in PER_PART {
        // Slurm writes this field after most texts of users and at most once, so the last occurrence is the
        // field.
        let is_known = known.iter().any(|(field, _)| field == request);
        let last = after.iter().rev().find(|(field, _)| field == request);
        known.extend(last.filter(|_| !is_known).cloned());
    }
    // The components of a heterogeneous job (`HetJobIdSet`) are listed after the name.
    let inside = fields(swallowed.trim_start());
    let has_odd_name = inside.iter().filter(|(field, _)| field != "HetJobIdSet").count() > 1;
    Ok((known, has_odd_name))
}

/// The fields with the requests of a job by node, by job, by socket and by task, in this order.
pub(super) const PER_PART: [&str; 4] = ["TresPerNode", "TresPerJob", "TresPerSocket", "TresPerTask"];

/// Splits a text at blanks into fields. A word of the form `Name=value` begins a field, and any other word
/// belongs to the field before it.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for part in text.split(' ') {
        let named = part.split_once('=').filter(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "/:_&*".contains(c))
        });
        match (named, fields.last_mut()) {
            (Some((name, value)), _) => fields.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) if !part.is_empty() => {
                value.push(' ');
                value.push_str(part);
            }
            _ => {}
        }
    }
    fields
}
