//! Numbers that a scheduler reports, compared with the results of its formula.

use evenhand_mechanisms::tree::{self, NodeKind, Reported as Share, Rule, Settings};
use evenhand_problem::snapshot::{NotModelled, Reported, SUMMED_FLAVOURS, Snapshot, Subject};
use evenhand_problem::{Problem, Rational};

use crate::error::ClusterError;
use crate::fair_tree;

/// A number that the scheduler reports of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The group.
    pub group: usize,
    /// The scheduler's own word.
    pub what: String,
    /// The reported number; `None`: infinite.
    pub reported: Option<Rational>,
    /// The largest rounding of the reported number.
    pub rounding: Rational,
    /// The number that the formula gives.
    pub formula: Formula,
}

/// The result of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// At least and at most so much, since numbers that it is computed from are rounded; absent: infinite.
    Between([Option<Rational>; 2]),
    /// It cannot be said, and why.
    Unknown(&'static str),
}

impl Formula {
    /// A number; absent: infinite.
    pub(crate) fn exactly(value: Option<Rational>) -> Self {
        Self::Between([value.clone(), value])
    }
}

impl Compared {
    /// Whether what is reported is what the formula gives; `None` where that cannot be said.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let Formula::Between([low, high]) = &self.formula else { return None };
        let Some(reported) = &self.reported else { return Some(high.is_none()) };
        let is_below = |high: &Rational| *reported <= Rational::from(high + &self.rounding);
        let is_above = |low: &Rational| *reported >= Rational::from(low - &self.rounding);
        Some(low.as_ref().is_some_and(is_above) && high.as_ref().is_none_or(is_below))
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

/// Of every share of a group that is reported, where the formula is known: what it gives. Slurm's numbers are about usage over
/// time and computed from each other, all others from what runs.
///
/// # Errors
/// [`ClusterError`] where shares are not defined for the problem.
pub fn compared(
    snapshot: &Snapshot,
    problem: &Problem,
    rule: Option<Rule>,
) -> Result<Vec<Compared>, ClusterError> {
    let Some(rule) = rule else { return Ok(Vec::new()) };
    if rule == Rule::Slurm {
        return Ok(fair_tree::compared(snapshot));
    }
    let stated =
        snapshot.reported.iter().filter(|of| is_share(rule, &of.what)).filter_map(|of| match of.of {
            Subject::Group(v) => Some((v, of)),
            _ => None,
        });
    let stated: Vec<(usize, &Reported)> = stated.collect();
    if stated.is_empty() {
        return Ok(Vec::new());
    }
    let settings = Settings { rule: Some(rule), ..Settings::default() };
    let standings = tree::levels(problem, &snapshot.allocation, &settings)?;
    let list = problem.groups().list();
    let formula = |v: usize| {
        let standing = standings.iter().find(|of| of.kind == NodeKind::Group && of.name == list[v].name)?;
        if rule == Rule::Kueue
            && let Some(why) = unlike_kueue(snapshot, problem, v)
        {
            return Some(Formula::Unknown(why));
        }
        Some(match &standing.reported {
            Some(Share::Infinite) => Formula::exactly(None),
            Some(Share::Share(share)) if rule == Rule::Kueue && *share > 0 => {
                // Releases before 0.13.5 round the share down, and down again over the weight (`dominantResourceShare`).
                let thousandths = Rational::from(&standing.share * 1000_u32).floor();
                Formula::Between([Some((thousandths / &list[v].weight).floor()), Some(share.clone())])
            }
            Some(Share::Share(share)) => Formula::exactly(Some(share.clone())),
            None => Formula::exactly(Some(standing.level.clone())),
        })
    };
    let compare = |(v, of): (usize, &Reported)| {
        let (what, reported) = (of.what.clone(), of.value.clone());
        Some(Compared { group: v, what, reported, rounding: Rational::new(), formula: formula(v)? })
    };
    Ok(stated.into_iter().filter_map(compare).collect())
}

/// Why the problem does not say of a group what Kueue's formula is about.
fn unlike_kueue(snapshot: &Snapshot, problem: &Problem, v: usize) -> Option<&'static str> {
    let groups = problem.groups();
    let name = &groups.list()[v].name;
    let by_flavour = snapshot.not_modelled.iter().find(|of| of.what == SUMMED_FLAVOURS);
    let is_named = |of: &&NotModelled| of.names.contains(name) || of.count > of.names.len() as u64;
    if by_flavour.filter(is_named).is_some() {
        return Some("its quota is of several flavours, which the problem adds up");
    }
    let cohort = groups.above(Some(v)).last().filter(|top| *top != v)?;
    let exceeds = |(r, limit): &(usize, Rational)| *limit > problem.total_capacity()[*r];
    let is_larger = groups.list()[cohort].limit.iter().any(exceeds);
    is_larger.then_some("the quota of its cohort exceeds the servers")
}

/// Returns whether some queue of Volcano states what it deserves, as the plugin `capacity` asks for.
fn deserves(snapshot: &Snapshot) -> bool {
    let is_amount = |of: &Reported| of.value.as_ref().is_some_and(|value| *value > 0);
    snapshot.reported.iter().any(|of| of.what == "deserved" && is_amount(of))
}

/// The rule of the scheduler that a snapshot is of; `None`: the problem's own share.
#[must_use]
pub fn rule_of(snapshot: &Snapshot) -> Option<Rule> {
    use evenhand_problem::snapshot::System;
    match snapshot.system? {
        System::Kueue => Some(Rule::Kueue),
        System::Kai => Some(Rule::Kai),
        System::Volcano if deserves(snapshot) => Some(Rule::VolcanoCapacity),
        System::Volcano => Some(Rule::Volcano),
        System::Yunikorn => Some(Rule::YuniKorn),
        System::Slurm => Some(Rule::Slurm),
        System::Mesos => Some(Rule::Mesos),
        System::Kubernetes | System::Csv => None,
    }
}
