//! The greedy assignment, replayed (theory, section 6).

use rug::Rational;

use super::packing::Packing;
use super::proof::Greedy;
use crate::problem::at;
use crate::work::{self, Checked, ensure, refuse};

/// Whether greedy does just this with these jobs on pools of these sizes, in whole servers or not.
///
/// Pools are filled in their order, each with the jobs that those before it have left. While a type is open, fits,
/// and servers are left, the first configuration of the open types gets servers until one of its types has no job
/// left (the lowest of those, which is then open no more), or no server is left.
pub fn verify(
    greedy: &Greedy,
    jobs: &[Rational],
    sizes: &[Rational],
    whole: bool,
    packing: &mut Packing<'_>,
) -> Checked<()> {
    let mut left = jobs.to_vec();
    let mut open: Vec<usize> = (0..jobs.len()).collect();
    let mut steps = greedy.steps.iter();
    for (i, size) in sizes.iter().enumerate() {
        let mut size = size.clone();
        // The first type that is open fits, as a rule.
        while size > 0 && open.iter().any(|j| fits(packing, i, *j)) {
            work::spend(4)?;
            work::steps(100 * open.len() as u64)?;
            let Some(step) = steps.next() else {
                return refuse("greedy: it ends while there are servers and jobs");
            };
            ensure(step.pool == i, "greedy: another pool is filled first")?;
            packing
                .is_first(i, &open, &step.configuration, &step.first)
                .map_err(|fault| fault.about("greedy: a configuration is not proven to be the first"))?;
            let until = |(j, k): &(usize, u64)| {
                let servers = Rational::from(&left[*j] / *k);
                (if whole { servers.ceil() } else { servers }, *j)
            };
            let Some((servers, gone)) = step.configuration.iter().map(until).min() else {
                return refuse("greedy: a configuration is empty");
            };
            let exhausted = (servers <= size).then_some(gone);
            let servers = servers.min(size.clone());
            ensure(step.servers == servers, "greedy: a configuration gets another number of servers")?;
            ensure(step.exhausted == exhausted, "greedy: another type is exhausted, or none")?;
            size -= &servers;
            for (j, k) in &step.configuration {
                work::spend(4)?;
                left[*j] = (left[*j].clone() - Rational::from(&servers * *k)).max(Rational::new());
            }
            match exhausted {
                Some(gone) => open.retain(|j| *j != gone),
                None => break,
            }
        }
    }
    ensure(steps.next().is_none(), "greedy: a step comes after the last one")?;
    let served = jobs.iter().zip(&left).zip(&packing.problem.jobs);
    let parts = served.map(|((all, left), job)| Rational::from(all - left) * &job.reward).collect();
    ensure(greedy.reward == work::sum(parts)?, "greedy: the reward is another")
}

/// Whether a job of a type fits on a server of a pool.
fn fits(packing: &Packing<'_>, i: usize, j: usize) -> bool {
    match &packing.problem.configurations {
        Some(list) => list.iter().any(|k| at(k, j).is_some()),
        None => packing.demand[j].iter().all(|(r, d)| at(&packing.capacity[i], *r).is_some_and(|c| d <= c)),
    }
}
