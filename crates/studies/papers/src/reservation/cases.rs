//! Types of jobs on one pool, and certified results for them.

use evenhand_certify::ratio;
use evenhand_exact::ratio::RatioCertificate;
use evenhand_packing::{MaxReward, WorstLoad, worst_load};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec, number};

use crate::error::PaperError;

/// A type: the demand of one job, its reward, and the load per server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) demand: Vec<Rational>,
    pub(crate) reward: Rational,
    pub(crate) load: Rational,
}

/// Returns the problem with one pool of servers of this capacity.
pub(crate) fn problem(capacity: &[Rational], types: &[Type]) -> Result<Reservation, PaperError> {
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

/// Parses numbers separated by blanks.
pub(crate) fn row(text: &str) -> Result<Vec<Rational>, PaperError> {
    text.split_whitespace().map(|word| Ok(number::parse(word)?)).collect()
}

/// Returns the types with these loads.
pub(crate) fn with_loads(types: &[Type], loads: &[Rational]) -> Vec<Type> {
    types.iter().zip(loads).map(|(each, load)| Type { load: load.clone(), ..each.clone() }).collect()
}

/// Returns the proven values of greedy, of the optimum, and of their ratio. Returns an error if the optimum is not
/// exact.
pub(crate) fn certified(problem: &Reservation) -> Result<RatioCertificate, PaperError> {
    let certificate = ratio::certificate(problem)?;
    if certificate.optimum.bound != certificate.optimum.assignment.reward {
        return Err("the optimum was not reached".into());
    }
    Ok(certificate)
}

/// Returns the worst loads of the types. Returns an error if their ratio is not proven to be the smallest.
pub(crate) fn worst(problem: &Reservation) -> Result<WorstLoad, PaperError> {
    let mut best = MaxReward::new(problem);
    let found = worst_load::worst_load(&mut best, &mut |_, _| {})?;
    let found = found.ok_or("no type has a reward")?;
    if found.ratio_lower != found.ratio_upper {
        return Err("the search was not complete".into());
    }
    Ok(found)
}
