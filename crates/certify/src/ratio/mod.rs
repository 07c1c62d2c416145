//! Greedy packing compared with the optimum: the reward that greedy loses on a reservation problem, with a certificate.
//!
//! | question | answer |
//! |---|---|
//! | how much does greedy lose with the problem's loads? | [`certificate`] |
//! | how much does greedy earn at least, according to its own steps? | [`lower_bound`] |
//! | how much can greedy lose, whatever the load? | [`worst_load`] |
//! | how much does greedy lose while the load grows? | [`sweep`] |
//! | can greedy earn less from more load? | [`monotone`] |

mod monotone;
mod sweep;
mod worst_load;

use std::collections::HashSet;

use evenhand_exact::Document;
use evenhand_exact::ratio::{
    Assignment, Configuration, FirstProof, Greedy, Optimum, PackingPrices, PricingProof, RatioCertificate,
    Step, Whole, sparse,
};
use evenhand_lp::mip::MipSettings;
use evenhand_packing::PackingError;
use evenhand_packing::{MaxReward, SearchLimits, configuration_lp, greedy, integer};
use evenhand_problem::{Integer, Rational, Reservation};
use thiserror::Error;

use crate::self_test::{Checked, Refused};
pub use evenhand_packing::monotone::Order;
pub use monotone::{Monotone, Refutation, monotone};
pub use sweep::{Sweep, SweepPoint, multiples, sweep};
pub use worst_load::{worst_load, worst_load_within};

/// The reason why there is no certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RatioError {
    /// A solver failed or reached a limit.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// Checking the solvers' results would exceed the limits of the kernel.
    #[error("{0}")]
    TooLarge(String),
    /// The kernel rejects the solvers' results, which is a bug in the solvers.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The loads that the search returned do not show that greedy earns less if loads grow. This is a bug in the
    /// search.
    #[error(
        "internal error: the search claims that greedy earns less with more load, but its loads do not show it"
    )]
    NoRefutation,
}

impl<C: Document> Checked<C> {
    /// Returns the certificate, if the kernel has accepted it.
    ///
    /// # Errors
    /// [`RatioError::TooLarge`] if the kernel gave no verdict.
    pub fn accepted(self) -> Result<C, RatioError> {
        self.unchecked.map_or(Ok(self.certificate), |why| Err(RatioError::TooLarge(why)))
    }
}

/// Returns greedy's assignment, the optimum and their ratio, exact and proven. If numbers of servers are stated, the
/// certificate includes the rewards with whole servers and jobs. The kernel has accepted the certificate.
///
/// # Errors
/// [`RatioError`] if a solver fails, or if the kernel gives no verdict or rejects the results.
///
/// # Examples
/// There are two types. Greedy takes the better one first, as long as it lasts.
/// ```
/// use evenhand_certify::ratio;
/// use evenhand_problem::{Rational, format::Source};
/// let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
///     "servers": [{"name": "pool", "capacity": {"cpu": 3}}],
///     "jobs": [{"name": "a", "demand": {"cpu": 2}, "reward": 5, "load": 1},
///              {"name": "b", "demand": {"cpu": 1}, "reward": 2, "load": 0}]}"#;
/// let problem = Source { name: "p.json", text }.reservation().unwrap();
/// let certificate = ratio::certificate(&problem).unwrap();
/// assert_eq!(certificate.greedy.reward, 5);
/// assert_eq!(certificate.ratio, Some(Rational::from(1)));
/// ```
pub fn certificate(problem: &Reservation) -> Result<RatioCertificate, RatioError> {
    certificate_within(problem, &SearchLimits::default())?.accepted()
}

/// Computes [`certificate`] within limits. Unlike `certificate`, it also returns a certificate that is too large for
/// the kernel.
///
/// # Errors
/// [`RatioError`] if a solver fails or reaches a limit, or if the kernel rejects the results.
pub fn certificate_within(
    problem: &Reservation,
    limits: &SearchLimits,
) -> Result<Checked<RatioCertificate>, RatioError> {
    let mut best = MaxReward::within(problem, limits);
    let (loads, sizes) = (problem.loads(), problem.fractions());
    let mut proven = Proven { problem, known: HashSet::new() };
    let fluid = greedy::fluid(&mut best, &loads, &sizes)?;
    let steps = proven.steps(&best, fluid.steps)?;
    let greedy = Greedy { reward: fluid.reward, steps };
    let found = configuration_lp::solve(&best, &loads, &sizes)?;
    best.limits().nodes(found.proofs.iter().map(PricingProof::n_nodes).sum())?;
    let servers = found.servers.iter().map(|(i, k, x)| (*i, sparse(k), x.clone())).collect();
    let assignment = Assignment { reward: found.value.clone(), servers, served: found.served.clone() };
    let optimum = proven_optimum(assignment, found.value.clone(), found);
    let ratio = (!optimum.bound.is_zero()).then(|| Rational::from(&greedy.reward / &optimum.bound));
    let integer = whole(problem, &mut best, &mut proven)?;
    Ok(Checked::of(RatioCertificate { problem: problem.clone(), greedy, optimum, ratio, integer })?)
}

fn whole(
    problem: &Reservation,
    best: &mut MaxReward<'_>,
    proven: &mut Proven<'_>,
) -> Result<Option<Whole>, RatioError> {
    let counts: Option<Vec<Integer>> =
        problem.pools().iter().map(|pool| pool.count().map(Integer::from)).collect();
    let (Some(jobs), Some(counts)) = (problem.whole_jobs(), counts) else { return Ok(None) };
    let placed = greedy::whole(best, &jobs, &counts)?;
    let found = integer::bracket(best, &jobs, &counts, &MipSettings::default())?;
    best.limits().nodes(found.relaxation.proofs.iter().map(PricingProof::n_nodes).sum())?;
    let mut served = vec![Integer::new(); jobs.len()];
    for (_, k, x) in &found.servers {
        served.iter_mut().zip(k).for_each(|(served, k)| *served += Integer::from(x * *k));
    }
    served
        .iter_mut()
        .zip(jobs.iter())
        .for_each(|(served, jobs)| served.clone_from(jobs.min(&served.clone())));
    let assignment = Assignment {
        reward: found.lower,
        servers: found.servers.iter().map(|(i, k, x)| (*i, sparse(k), x.clone())).collect(),
        served,
    };
    let greedy = Greedy { reward: placed.reward, steps: proven.steps(best, placed.steps)? };
    Ok(Some(Whole { greedy, optimum: proven_optimum(assignment, found.upper, found.relaxation) }))
}

fn proven_optimum<T>(
    assignment: Assignment<T>,
    bound: Rational,
    found: configuration_lp::PackingOptimum,
) -> Optimum<T> {
    let prices = PackingPrices { load: found.alpha, slot: found.beta, server: found.pi };
    Optimum { assignment, bound, prices, pricing: found.proofs }
}

/// The configurations that are already proven to be the first.
struct Proven<'p> {
    problem: &'p Reservation,
    /// `(capacity, open types, configuration)` of each proven configuration.
    known: HashSet<(Vec<Rational>, Vec<usize>, Configuration)>,
}

impl Proven<'_> {
    /// Returns the proof that `k` is the first configuration of the open types on pool `i`. If the same statement was
    /// proven before, the result refers to the earlier proof.
    fn first(
        &mut self,
        best: &MaxReward<'_>,
        i: usize,
        open: &[usize],
        k: &[u64],
    ) -> Result<FirstProof, PackingError> {
        let capacity = self.problem.pools()[i].capacity().to_vec();
        let is_new = self.known.insert((capacity, open.to_vec(), sparse(k)));
        if !is_new {
            return Ok(FirstProof::Known);
        }
        let proof = best.prove_first(i, open, k)?;
        best.limits().nodes(proof.n_nodes())?;
        Ok(proof)
    }

    fn steps<T>(
        &mut self,
        best: &MaxReward<'_>,
        steps: Vec<greedy::GreedyStep<T>>,
    ) -> Result<Vec<Step<T>>, PackingError> {
        let mut open: Vec<usize> = (0..self.problem.n_types()).collect();
        let mut proven = Vec::with_capacity(steps.len());
        for step in steps {
            let k = &step.best.configuration;
            let first = self.first(best, step.pool, &open, k)?;
            open.retain(|&j| Some(j) != step.exhausted);
            proven.push(Step {
                pool: step.pool,
                configuration: sparse(k),
                servers: step.servers,
                exhausted: step.exhausted,
                first,
            });
        }
        Ok(proven)
    }
}

/// Returns a fraction of the optimum that greedy earns at least, computed without a linear programme.
///
/// With one pool, a piece is a sequence of steps with one configuration. During a piece, the difference from the
/// optimum shrinks by the factor `1 - tau`, where `tau` is the piece's fraction of the servers. The bound is 1 minus
/// the product of these factors. If servers are left over, greedy has served all jobs that fit, and the bound is 1.
/// With several pools the bound is 1/2.
#[must_use]
pub fn lower_bound(certificate: &RatioCertificate) -> Rational {
    if certificate.problem.pools().len() > 1 {
        return Rational::from((1, 2));
    }
    let mut pieces: Vec<(&_, Rational)> = Vec::new();
    for step in &certificate.greedy.steps {
        match pieces.last_mut() {
            Some((configuration, servers)) if *configuration == &step.configuration => {
                *servers += &step.servers;
            }
            _ => pieces.push((&step.configuration, step.servers.clone())),
        }
    }
    // The fluid problem has one server in total.
    let used: Rational = pieces.iter().map(|(_, servers)| servers).sum();
    if used < 1 {
        return Rational::from(1);
    }
    1 - pieces.iter().fold(Rational::from(1), |missing, (_, servers)| missing * (1 - servers.clone()))
}
