//! Reservation: greedy against optimal packing of job types into identical servers.

mod appendix_c;
mod catalogue;
mod guarantees;
mod introduction;
pub(super) mod section_7;

use crate::PaperError;
use evenhand_certify::ratio;
use evenhand_exact::ratio::RatioCertificate;
use evenhand_packing::{MaxReward, WorstLoad, worst_load};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec, number};

use super::Entry;

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = introduction::entries()?;
    entries.extend(appendix_c::entries()?);
    entries.extend(section_7::entries()?);
    entries.extend(guarantees::entries()?);
    entries.extend(catalogue::entries()?);
    Ok(entries)
}

/// A type: what one job demands, its reward and its load per server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) demand: Vec<Rational>,
    pub(super) reward: Rational,
    pub(super) load: Rational,
}

/// The problem of one pool of servers with this capacity.
pub(super) fn problem(capacity: &[Rational], types: &[Type]) -> Result<Reservation, PaperError> {
    let resources: Vec<String> = (1..=capacity.len()).map(|r| format!("r{r}")).collect();
    let named = |values: &[Rational]| resources.iter().cloned().zip(values.iter().cloned()).collect();
    let jobs = types.iter().map(|each| JobSpec {
        name: each.name.clone(),
        demand: named(&each.demand),
        reward: Some(each.reward.clone()),
        load: Some(each.load.clone()),
    });
    let jobs = jobs.collect();
    let pools = vec![PoolSpec { name: "pool".to_owned(), count: None, capacity: named(capacity) }];
    Reservation::new(ReservationSpec { resources, pools, jobs, ..ReservationSpec::default() })
        .map_err(PaperError::from)
}

/// Numbers between blanks.
fn row(text: &str) -> Result<Vec<Rational>, PaperError> {
    text.split_whitespace().map(|word| Ok(number::parse(word)?)).collect()
}

/// The same loads for other types, or other loads for the same.
fn with_loads(types: &[Type], loads: &[Rational]) -> Vec<Type> {
    types.iter().zip(loads).map(|(each, load)| Type { load: load.clone(), ..each.clone() }).collect()
}

/// Greedy, optimum and ratio, proven; the optimum is exact or it is an error.
pub(super) fn certified(problem: &Reservation) -> Result<RatioCertificate, PaperError> {
    let certificate = ratio::certificate(problem)?;
    if certificate.optimum.bound != certificate.optimum.assignment.reward {
        return Err("the optimum was not reached".into());
    }
    Ok(certificate)
}

/// The worst loads of the types; proven from both sides or an error.
pub(super) fn worst(problem: &Reservation) -> Result<WorstLoad, PaperError> {
    let mut best = MaxReward::new(problem);
    let found = worst_load::worst_load(&mut best, &mut |_, _| {})?;
    let found = found.ok_or("no type has a reward")?;
    if found.ratio_lower != found.ratio_upper {
        return Err("the search was not complete".into());
    }
    Ok(found)
}
