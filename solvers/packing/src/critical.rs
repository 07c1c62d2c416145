//! The two critical multiples of a load (Reservation, section 7.1, Figure 2), exactly.

use crate::limits::PackingError;
use rug::Rational;

use super::greedy;
use super::max_reward::MaxReward;

/// Multiples `t` of the loads `rho` at which the picture changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalLoads {
    /// Up to here greedy serves all jobs of `t rho`; `None` where there are none.
    pub all_served: Option<Rational>,
    /// From here on all servers have the best configuration of all types, and every slot of it holds
    /// a job; `None` where one of its types has no load.
    pub all_best: Option<Rational>,
}

/// The critical multiples of these loads, on servers of one pool.
///
/// # Errors
/// [`PackingError::SeveralPools`], or as [`MaxReward::first`].
pub fn critical_loads(best: &mut MaxReward<'_>, loads: &[Rational]) -> Result<CriticalLoads, PackingError> {
    if best.problem().n_pools() != 1 {
        return Err(PackingError::SeveralPools);
    }
    // Greedy on unlimited servers uses as many times more servers as there is load.
    let servers: Rational = greedy::unlimited(best, 0, loads)?.steps.iter().map(|step| &step.servers).sum();
    let all_served = (!servers.is_zero()).then(|| servers.recip());
    let types: Vec<usize> = (0..loads.len()).collect();
    let first = best.first(0, &types)?;
    let held = first.configuration.iter().zip(loads).filter(|(k, _)| **k > 0);
    let multiples = held.map(|(k, load)| (!load.is_zero()).then(|| Rational::from(*k) / load));
    let all_best = multiples.collect::<Option<Vec<Rational>>>().and_then(|all| all.into_iter().max());
    Ok(CriticalLoads { all_served, all_best })
}
