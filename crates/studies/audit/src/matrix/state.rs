//! Saves a matrix search to a file, and resumes it.

use evenhand_mechanisms::registry;
use evenhand_problem::format::{FormatError, Source, problem_to_json};
use evenhand_problem::{Problem, number};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

use super::column::Column;
use super::premises::Premises;
use super::search::{Cell, Found, Near, Search};
use super::{Progress, Settings};
use crate::MOST_INSTANCES;
use crate::stated::Stated;

/// The `kind` of the file of a saved search.
const KIND: &str = "audit-state";
/// The version of the format.
const VERSION: u32 = 1;

/// An error in the file of a saved search.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StateError {
    /// The file is not JSON, or lacks a field.
    #[error("this is not a saved matrix: {0}")]
    Json(#[from] serde_json::Error),
    /// A problem in the file is not valid.
    #[error("this is not a saved matrix: {0}")]
    Problem(Box<FormatError>),
    /// The content of the file contradicts itself.
    #[error("this is not a saved matrix: {0}")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    kind: String,
    version: u32,
    settings: Settings,
    searches: Vec<SearchFile>,
    of_claims: Vec<SearchFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchFile {
    mechanism: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    select: Option<String>,
    premises: Premises,
    at: u64,
    problems: u64,
    failed: u64,
    cells: Vec<CellFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellFile {
    axiom: String,
    decided: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<FoundFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    near: Vec<NearFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FoundFile {
    exhaustive: bool,
    problem: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NearFile {
    by: String,
    problem: Box<RawValue>,
}

/// Returns a problem as a document on one line.
fn written(problem: &Problem) -> Option<Box<RawValue>> {
    let value: Value = serde_json::from_str(&problem_to_json(problem)).ok()?;
    to_raw_value(&value).ok()
}

fn read(raw: &RawValue) -> Result<Problem, StateError> {
    let source = Source { name: "a problem in it", text: raw.get() };
    source.problem().map_err(|error| StateError::Problem(Box::new(error)))
}

fn damaged<T>(why: impl Into<String>) -> Result<T, StateError> {
    Err(StateError::Damaged(why.into()))
}

impl Progress {
    /// Returns the search as the text of a file that [`read`](Self::read) can resume.
    #[must_use]
    pub fn to_json(&self) -> String {
        let file = StateFile {
            kind: KIND.to_owned(),
            version: VERSION,
            settings: self.settings,
            searches: self.main.iter().map(SearchFile::of).collect(),
            of_claims: self.of_claims.iter().map(SearchFile::of).collect(),
        };
        // Serialisation cannot fail, because all keys of maps are strings. Every search and every cell starts on a new
        // line.
        let text = serde_json::to_string(&file).unwrap_or_default();
        ["{\"mechanism\":", "{\"axiom\":"]
            .into_iter()
            .fold(text, |text, mark| text.replace(mark, &format!("\n{mark}")))
    }

    /// Resumes a search from its file.
    ///
    /// # Errors
    /// [`StateError`] if the text is not such a file, or contradicts itself.
    pub fn read(text: &str) -> Result<Self, StateError> {
        let file: StateFile = serde_json::from_str(text)?;
        if file.kind != KIND || file.version != VERSION {
            return damaged(format!("expected \"kind\": \"{KIND}\" of version {VERSION}"));
        }
        if !(1..=MOST_INSTANCES).contains(&file.settings.instances) {
            return damaged(format!("instances: expected a number from 1 to {MOST_INSTANCES}"));
        }
        let mut progress = Self::new(file.settings);
        let has_other_premises = |stored: &&SearchFile| stored.premises != file.settings.premises;
        if let Some(stored) = file.searches.iter().find(has_other_premises) {
            return damaged(format!("`{}`: the premises are not those of the settings", stored.mechanism));
        }
        restore(&mut progress.main, &file.searches)?;
        progress.begin_claims();
        restore(&mut progress.of_claims, &file.of_claims)?;
        Ok(progress)
    }
}

impl SearchFile {
    fn of(search: &Search) -> Self {
        let cell = |cell: &Cell| CellFile {
            axiom: cell.column.name().to_owned(),
            decided: cell.decided,
            found: cell.found.as_ref().and_then(|found| {
                Some(FoundFile { exhaustive: found.exhaustive, problem: written(&found.problem)? })
            }),
            near: cell.near.iter().filter_map(NearFile::of).collect(),
        };
        Self {
            mechanism: search.subject.mechanism.info.id.to_owned(),
            select: search.select.map(str::to_owned),
            premises: search.premises,
            at: search.at,
            problems: search.problems,
            failed: search.failed,
            cells: search.cells.iter().map(cell).collect(),
        }
    }

    /// Returns `true` if the file's search has the same name, premises and selection as `search`.
    fn is_of(&self, search: &Search) -> bool {
        registry::find(&self.mechanism).is_some_and(|of| of.info.id == search.subject.mechanism.info.id)
            && self.select.as_deref() == search.select
            && self.premises == search.premises
    }

    /// Restores the stored results of a search. If the search has a column that the file does not have, the
    /// search starts again, because no problem was examined for this column. The results of the other columns
    /// are kept.
    fn restore(&self, search: &mut Search) -> Result<(), StateError> {
        let id = search.subject.mechanism.info.id;
        let mut is_whole = true;
        for cell in &mut search.cells {
            let mut named =
                self.cells.iter().filter(|stored| Column::parse(&stored.axiom) == Some(cell.column));
            let Some(stored) = named.next() else {
                is_whole = false;
                continue;
            };
            if named.next().is_some() {
                return damaged(format!("`{id}`: the column {} is stated twice", cell.column.name()));
            }
            cell.decided = stored.decided;
            cell.found = stored.found.as_ref().map(FoundFile::found).transpose()?;
            cell.near = stored.near.iter().map(NearFile::near).collect::<Result<_, _>>()?;
        }
        if let Some(unknown) = self.cells.iter().find(|stored| Column::parse(&stored.axiom).is_none()) {
            return damaged(format!("`{id}`: there is no axiom or property `{}`", unknown.axiom));
        }
        if is_whole {
            (search.at, search.problems, search.failed) = (self.at, self.problems, self.failed);
        } else {
            // The problems of a column that is already refuted are not examined again, so its count stays.
            search.cells.iter_mut().filter(|cell| cell.found.is_none()).for_each(|cell| {
                cell.decided = 0;
                cell.near.clear();
            });
        }
        Ok(())
    }
}

/// Restores searches by name. A search that the file does not have starts from the beginning. A stored search that this
/// version no longer needs is ignored. For instance, a theorem may have answered its last column.
fn restore(searches: &mut [Search], stored: &[SearchFile]) -> Result<(), StateError> {
    if let Some(unknown) = stored.iter().find(|stored| registry::find(&stored.mechanism).is_none()) {
        return damaged(format!("there is no mechanism `{}`", unknown.mechanism));
    }
    for search in searches {
        let named: Vec<&SearchFile> = stored.iter().filter(|stored| stored.is_of(search)).collect();
        match named.as_slice() {
            [] => {}
            [stored] => stored.restore(search)?,
            _ => return damaged(format!("it has two searches for `{}`", search.subject.mechanism.info.id)),
        }
    }
    Ok(())
}

impl FoundFile {
    fn found(&self) -> Result<Found, StateError> {
        Ok(Found { exhaustive: self.exhaustive, problem: read(&self.problem)? })
    }
}

impl NearFile {
    fn of(near: &Near) -> Option<Self> {
        Some(Self { by: number::format(&near.by), problem: written(&near.stated.problem()?)? })
    }

    fn near(&self) -> Result<Near, StateError> {
        let by = number::parse(&self.by).map_err(|error| StateError::Damaged(error.to_string()))?;
        Ok(Near { by, stated: Stated::from(&read(&self.problem)?) })
    }
}
