//! The greedy assignment, replayed (theory, section 6).

use rug::Rational;

use super::packing::Packing;
use super::stated::{Amount, Step};
use crate::work::{self, Checked, about, ensure, refuse};

/// What greedy earns if it does just these steps with these jobs on pools of these sizes, in whole servers or
/// not.
///
/// Pools are filled in their order, each with the jobs that those before it have left. While a type is open,
/// fits, and servers are left, the first configuration of the open types gets servers until one of its types
/// has no job left (the lowest of those, which is then open no more), or no server is left.
pub fn earned(steps: &[Step], of: &Amount, packing: &mut Packing<'_>) -> Checked<Rational> {
    let problem = packing.problem;
    let mut left = of.jobs.clone();
    let mut open: Vec<usize> = (0..of.jobs.len()).collect();
    let mut steps = steps.iter();
    for (i, size) in of.servers.iter().enumerate() {
        let mut size = size.clone();
        // The first type that is open fits, as a rule.
        while size > 0 && open.iter().any(|j| problem.most(i, *j) > 0) {
            work::spend(problem.size())?;
            let Some(((pool, k, stated), exhausted, first)) = steps.next() else {
                return refuse("it ends while there are servers and jobs");
            };
            ensure(*pool == i, "another pool is filled first")?;
            let proven = packing.is_first(i, &open, k, first);
            about("a configuration is not proven to be the first", proven)?;
            let until = |(j, k): &(usize, u64)| {
                let servers = Rational::from(&left[*j] / *k);
                (if of.whole { servers.ceil() } else { servers }, *j)
            };
            let Some((servers, gone)) = k.iter().map(until).min() else {
                return refuse("a configuration is empty");
            };
            let gone = (servers <= size).then_some(gone);
            let servers = servers.min(size.clone());
            ensure(*stated == servers, "a configuration gets another number of servers")?;
            ensure(*exhausted == gone, "another type is exhausted, or none")?;
            size -= &servers;
            for (j, k) in k {
                left[*j] = (left[*j].clone() - Rational::from(&servers * *k)).max(Rational::new());
            }
            match gone {
                Some(gone) => open.retain(|j| *j != gone),
                None => break,
            }
        }
    }
    ensure(steps.next().is_none(), "a step comes after the last one")?;
    let served = of.jobs.iter().zip(&left).zip(&problem.jobs);
    work::sum(served.map(|((all, left), job)| Rational::from(all - left) * &job.reward).collect())
}
