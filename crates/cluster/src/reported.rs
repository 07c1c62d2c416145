//! What a scheduler reports of itself, beside what its formula gives for what runs.

use evenhand_mechanisms::tree::{self, NodeKind, Reported as Formula, Rule, Settings};
use evenhand_problem::snapshot::{Snapshot, Subject};
use evenhand_problem::{Problem, Rational};

use crate::error::ClusterError;

/// A number that the scheduler reports of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The group.
    pub group: usize,
    /// The scheduler's own word.
    pub what: String,
    /// What it reports; absent: infinite.
    pub reported: Option<Rational>,
    /// What the formula gives; absent: infinite.
    pub formula: Option<Rational>,
}

impl Compared {
    /// Whether the two are the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.reported == self.formula
    }
}

/// The words by which schedulers report what their rule compares queues by here.
fn is_share(rule: Rule, what: &str) -> bool {
    let word: String = what.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match rule {
        Rule::Kueue => word == "weightedshare",
        Rule::Hdrf => word == "share",
        Rule::Mesos => word == "dominantshare",
        _ => false,
    }
}

/// Of every share of a group that is reported, where the formula is known: what it gives.
///
/// # Errors
/// [`ClusterError`] where shares are not defined for the problem.
pub fn compared(
    snapshot: &Snapshot,
    problem: &Problem,
    rule: Option<Rule>,
) -> Result<Vec<Compared>, ClusterError> {
    let Some(rule) = rule else { return Ok(Vec::new()) };
    let stated =
        snapshot.reported.iter().filter(|of| is_share(rule, &of.what)).filter_map(|of| match of.of {
            Subject::Group(v) => Some((v, of)),
            _ => None,
        });
    let stated: Vec<_> = stated.collect();
    if stated.is_empty() {
        return Ok(Vec::new());
    }
    let settings = Settings { rule: Some(rule), ..Settings::default() };
    let standings = tree::levels(problem, &snapshot.allocation, &settings)?;
    let formula = |v: usize| {
        let name = &problem.groups().list()[v].name;
        let standing = standings.iter().find(|of| of.kind == NodeKind::Group && of.name == *name)?;
        Some(match &standing.reported {
            Some(Formula::Share(share)) => Some(share.clone()),
            Some(Formula::Infinite) => None,
            None => Some(standing.level.clone()),
        })
    };
    let compare = |(v, of): (usize, &evenhand_problem::snapshot::Reported)| {
        let formula = formula(v)?;
        Some(Compared { group: v, what: of.what.clone(), reported: of.value.clone(), formula })
    };
    Ok(stated.into_iter().filter_map(compare).collect())
}

/// The rule of the scheduler that a snapshot is of; `None`: the problem's own share.
#[must_use]
pub fn rule_of(snapshot: &Snapshot) -> Option<Rule> {
    use evenhand_problem::snapshot::System;
    match snapshot.system? {
        System::Kueue => Some(Rule::Kueue),
        System::Kai => Some(Rule::Kai),
        System::Volcano => Some(Rule::Volcano),
        System::Yunikorn => Some(Rule::YuniKorn),
        System::Slurm => Some(Rule::Slurm),
        System::Mesos => Some(Rule::Mesos),
        System::Kubernetes | System::Csv => None,
    }
}
