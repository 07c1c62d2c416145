//! The least fraction of the optimum that greedy earns with given types, over all loads.

use std::collections::HashSet;

use evenhand_exact::ratio::worst_load::{Covers, First, PrefixClaim, WorstLoadCertificate};
use evenhand_exact::ratio::{Assignment, Greedy, PackingPrices, sparse};
use evenhand_packing::{MaxReward, SearchLimits, WorstLoad, configuration_lp, greedy, worst_load as lp};
use evenhand_problem::{Rational, Reservation};

use super::{Proven, RatioError};
use crate::self_test::Checked;

/// Returns the loads at which greedy earns the least fraction of the optimum, with the proof that no loads are worse.
/// The kernel has accepted the certificate. The two ratios of the certificate are equal if the search was complete.
/// `progress` receives the number of claims so far, and the least ratio so far.
///
/// # Errors
/// [`RatioError`], such as [`PackingError::SeveralPools`](evenhand_packing::PackingError::SeveralPools).
///
/// # Examples
/// Greedy first puts two jobs `a` on a server, while there are any, and then `c` alone. One `a` with one `c` on every
/// server earns more.
/// ```
/// use evenhand_certify::ratio::worst_load;
/// use evenhand_problem::{Rational, format::Source};
/// let text = r#"{"kind": "reservation-problem", "resources": ["cpu", "memory"],
///     "servers": [{"name": "pool", "capacity": {"cpu": 7, "memory": 8}}],
///     "jobs": [{"name": "a", "demand": {"cpu": 2, "memory": 3}, "reward": 6},
///              {"name": "b", "demand": {"cpu": 5, "memory": 3}, "reward": 11},
///              {"name": "c", "demand": {"cpu": 4}, "reward": 3}]}"#;
/// let problem = Source { name: "p.json", text }.reservation().unwrap();
/// let certificate = worst_load(&problem, &mut |_, _| {}).unwrap();
/// assert_eq!(certificate.loads, [1, 0, 1]);
/// assert_eq!(certificate.ratio_lower, Some(Rational::from((5, 6))));
/// assert_eq!(certificate.ratio_upper, certificate.ratio_lower);
/// ```
pub fn worst_load(
    problem: &Reservation,
    progress: &mut dyn FnMut(usize, &Rational),
) -> Result<WorstLoadCertificate, RatioError> {
    worst_load_within(problem, &SearchLimits::default(), progress)?.accepted()
}

/// Computes [`worst_load`] within limits. Unlike `worst_load`, it also returns a certificate that is too large for the
/// kernel.
///
/// # Errors
/// [`RatioError`] if a solver fails or reaches a limit, or if the kernel rejects the results.
pub fn worst_load_within(
    problem: &Reservation,
    limits: &SearchLimits,
    progress: &mut dyn FnMut(usize, &Rational),
) -> Result<Checked<WorstLoadCertificate>, RatioError> {
    let mut best = MaxReward::within(problem, limits);
    Ok(Checked::of(match lp::worst_load(&mut best, progress)? {
        Some(found) => proven(problem, &mut best, found)?,
        None => nothing(problem),
    })?)
}

/// Returns the certificate for types without a reward. It contains no proof.
fn nothing(problem: &Reservation) -> WorstLoadCertificate {
    let zeros = || vec![Rational::new(); problem.n_types()];
    WorstLoadCertificate {
        problem: problem.clone(),
        ratio_lower: None,
        ratio_upper: None,
        loads: zeros(),
        greedy: Greedy { reward: Rational::new(), steps: Vec::new() },
        optimum: Assignment { reward: Rational::new(), servers: Vec::new(), served: zeros() },
        firsts: Vec::new(),
        claims: Vec::new(),
    }
}

fn proven(
    problem: &Reservation,
    best: &mut MaxReward<'_>,
    found: WorstLoad,
) -> Result<WorstLoadCertificate, RatioError> {
    let one = [Rational::from(1)];
    let mut known = Proven { problem, known: HashSet::new() };
    let mut stated: HashSet<Vec<usize>> = HashSet::new();
    let mut firsts = Vec::new();
    for claim in &found.claims {
        let open: Vec<usize> = (0..problem.n_types()).filter(|j| !claim.order.contains(j)).collect();
        if !stated.insert(open.clone()) {
            continue;
        }
        let k = best.first(0, &open)?;
        let first = known.first(best, 0, &open, &k.configuration)?;
        firsts.push(First { open, configuration: sparse(&k.configuration), first });
    }
    let fluid = greedy::fluid(best, &found.loads, &one)?;
    let optimum = configuration_lp::solve(best, &found.loads, &one)?;
    let servers = optimum.servers.iter().map(|(i, k, x)| (*i, sparse(k), x.clone())).collect();
    let claims = found.claims.into_iter().map(|claim| PrefixClaim {
        order: claim.order,
        covers: if claim.covers_all { Covers::All } else { Covers::End },
        prices: PackingPrices { load: claim.alpha, slot: claim.beta, server: vec![claim.pi] },
        pricing: claim.proof,
    });
    Ok(WorstLoadCertificate {
        problem: problem.clone(),
        ratio_lower: Some(found.ratio_lower),
        ratio_upper: Some(found.ratio_upper),
        loads: found.loads,
        greedy: Greedy { reward: fluid.reward, steps: known.steps(best, fluid.steps)? },
        optimum: Assignment { reward: optimum.value, servers, served: optimum.served },
        firsts,
        claims: claims.collect(),
    })
}
