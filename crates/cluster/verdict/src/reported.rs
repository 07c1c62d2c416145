//! Numbers that a scheduler reports, compared with the results of its formula.

use evenhand_mechanisms::tree::{self, NodeKind, Reported as Share, Rule, Settings};
use evenhand_problem::snapshot::{NotModelled, Reported, SUMMED_FLAVOURS, Snapshot, Subject};
use evenhand_problem::{Problem, Rational};

use crate::error::ClusterError;
use crate::fair_tree;

/// A reported number of a group, and the result of the scheduler's formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The group.
    pub group: usize,
    /// The scheduler's own name of the number.
    pub what: String,
    /// The reported number. `None` means infinity.
    pub reported: Option<Rational>,
    /// The largest difference between the exact number and its rounded form in the report.
    pub rounding: Rational,
    /// The result of the scheduler's formula.
    pub formula: Formula,
}

/// The result of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// The least and the largest possible value. They differ if the inputs of the formula are rounded. `None` means
    /// infinity.
    Between([Option<Rational>; 2]),
    /// The snapshot does not determine the number, for this reason.
    Unknown(&'static str),
}

impl Formula {
    /// Returns the result for an exact number. `None` means infinity.
    pub(crate) fn exactly(value: Option<Rational>) -> Self {
        Self::Between([value.clone(), value])
    }
}

impl Compared {
    /// Returns `true` if the reported number is a possible result of the formula. Returns `None` if the
    /// result is unknown.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let Formula::Between([low, high]) = &self.formula else { return None };
        let Some(reported) = &self.reported else { return Some(high.is_none()) };
        let is_below = |high: &Rational| *reported <= Rational::from(high + &self.rounding);
        let is_above = |low: &Rational| *reported >= Rational::from(low - &self.rounding);
        Some(low.as_ref().is_some_and(is_above) && high.as_ref().is_none_or(is_below))
    }
}

/// Returns `true` if a reported number is the share by which the rule compares queues.
fn is_share(rule: Rule, what: &str) -> bool {
    let name: String = what.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match rule {
        Rule::Kueue => name == "weightedshare",
        Rule::Hdrf => name == "share",
        Rule::Mesos => name == "dominantshare",
        _ => false,
    }
}

/// Compares the reported shares of groups with the results of the rule's formula, for rules whose formula is known.
/// Slurm's numbers are about usage over time and are computed from each other. The numbers of other schedulers are
/// computed from the running tasks.
///
/// # Errors
/// [`ClusterError`] if shares are not defined for the problem.
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
        snapshot.reported.iter().filter(|number| is_share(rule, &number.what)).filter_map(|number| {
            match number.of {
                Subject::Group(v) => Some((v, number)),
                _ => None,
            }
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
                // Releases before 0.13.5 round the share down, divide it by the weight, and round down again
                // (`dominantResourceShare`).
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

/// Returns the reason why Kueue's formula cannot be computed for a group: the problem lacks some of its
/// numbers.
fn unlike_kueue(snapshot: &Snapshot, problem: &Problem, v: usize) -> Option<&'static str> {
    let groups = problem.groups();
    let name = &groups.list()[v].name;
    let by_flavour = snapshot.not_modelled.iter().find(|of| of.what == SUMMED_FLAVOURS);
    let is_named = |of: &&NotModelled| of.names.contains(name) || of.count > of.names.len() as u64;
    if by_flavour.filter(is_named).is_some() {
        return Some("its quota has several flavours, which the problem adds up");
    }
    let cohort = groups.above(Some(v)).last().filter(|top| *top != v)?;
    let exceeds = |(r, limit): &(usize, Rational)| *limit > problem.total_capacity()[*r];
    let is_larger = groups.list()[cohort].limit.iter().any(exceeds);
    is_larger.then_some("the quota of its cohort exceeds the capacity of the servers")
}

/// Returns `true` if some queue of Volcano states a deserved amount above 0, which only the plugin `capacity`
/// uses.
fn deserves(snapshot: &Snapshot) -> bool {
    let is_amount = |of: &Reported| of.value.as_ref().is_some_and(|value| *value > 0);
    snapshot.reported.iter().any(|of| of.what == "deserved" && is_amount(of))
}

/// Returns the rule of the scheduler from which a snapshot comes. Returns `None` if the problem's own share
/// decides.
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
