//! Runs contenders on cases and judges their answers.

use std::sync::Arc;
use std::time::Duration;

use crate::case::Case;
use crate::contenders::{Answer, Contender, NoAnswer};
use crate::inside;
use crate::judge::{Judge, Measures};
use crate::keeper::Keeper;
use crate::outside::Outside;
use crate::record::{Claims, Cost, Record, Status};
use crate::references::Reference;
use crate::timing::Effort;
use crate::worker::Worker;

/// The settings for runs of cases.
#[derive(Clone)]
pub struct Settings {
    /// The time limit of one run of a contender.
    pub limit: Duration,
    /// The number of runs of each contender. If it is `None`, a contender runs as often as a reliable median
    /// needs, or only once if a run takes long.
    pub effort: Option<Effort>,
    /// The contenders that are compiled into this program. Without a worker they run on threads, which cannot be
    /// killed.
    pub inside: Vec<Arc<dyn Contender>>,
    /// The worker that runs contenders in processes.
    pub worker: Option<Worker>,
    /// The external programs.
    pub outside: Vec<Outside>,
    /// The keeper of external programs. Without a keeper, external programs continue when this process is killed.
    pub keeper: Option<Keeper>,
}

impl Settings {
    /// Returns settings with all contenders that are compiled into this program.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        let inside = crate::contenders::all().into_iter().map(Arc::from).collect();
        Self { limit, effort: None, inside, worker: None, outside: Vec::new(), keeper: None }
    }
}

/// A case with its reference and the records of all contenders.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The case.
    pub case: Arc<Case>,
    /// The exact answer.
    pub reference: Arc<Reference>,
    /// The records by contender. External programs are last.
    pub records: Vec<Record>,
}

/// Runs every contender that can solve this kind of case, and compares its answer with the reference. `progress` is
/// called with the name of a contender before it runs.
///
/// A contender that fails is not an error of this function. The record of the contender has the reason.
pub fn measure(
    case: Case,
    reference: Reference,
    settings: &Settings,
    progress: &mut dyn FnMut(&str),
) -> Measured {
    let case = Arc::new(case);
    let judge = Judge::new(&case, &reference);
    let mut records = Vec::new();
    for contender in settings.inside.iter().filter(|contender| contender.applies(&case)) {
        progress(&contender.name());
        let (answer, cost) =
            inside::run(contender, &case, settings.limit, settings.effort, settings.worker.as_ref());
        let record =
            Record { method: contender.method(), ..record(&judge, &case, &contender.name(), answer, cost) };
        records.push(record);
    }
    for program in settings.outside.iter().filter(|program| program.applies(&case)) {
        progress(&program.name);
        if let Some((answer, cost)) =
            program.run(&case, settings.limit, settings.effort, settings.keeper.as_ref())
        {
            records.push(Record { outside: true, ..record(&judge, &case, &program.name, answer, cost) });
        }
    }
    drop(judge);
    Measured { case, reference: Arc::new(reference), records }
}

fn record(
    judge: &Judge<'_>,
    case: &Case,
    contender: &str,
    answer: Result<Answer, NoAnswer>,
    cost: Cost,
) -> Record {
    let claims = answer.as_ref().map(claims).unwrap_or_default();
    let judged = answer.and_then(|answer| judge.judge(&answer));
    let (status, why, measures) = match judged {
        Ok(measures) => (Status::Solved, None, measures),
        Err(error) => {
            let status = match error {
                NoAnswer::Timeout => Status::Timeout,
                NoAnswer::Malformed(_) => Status::Malformed,
                _ => Status::Failed,
            };
            (status, Some(error.to_string()), Measures::default())
        }
    };
    Record {
        instance: case.name.clone(),
        kind: case.kind,
        contender: contender.to_owned(),
        method: contender.to_owned(),
        outside: false,
        size: case.size(),
        status,
        why,
        measures,
        claims,
        cost,
    }
}

fn claims(answer: &Answer) -> Claims {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    Claims {
        status: Some(answer.status.clone()).filter(|status| !status.is_empty()),
        objective: finite(answer.objective),
        gap: finite(answer.gap),
    }
}
