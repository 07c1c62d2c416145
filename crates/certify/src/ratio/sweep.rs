//! Greedy and the optimum while the load grows (Reservation, section 7.1, Figure 2).

use evenhand_packing::PackingError;
use evenhand_packing::greedy::critical_loads;
use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::{Rational, Reservation};

/// Greedy and the optimum at a multiple of the problem's loads. Rewards are per server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepPoint {
    /// The multiple of the loads.
    pub load: Rational,
    /// The reward of the fluid greedy assignment.
    pub greedy: Rational,
    /// The optimum of the configuration linear programme.
    pub optimum: Rational,
    /// Greedy's reward divided by the optimum. `None` if the optimum is 0.
    pub ratio: Option<Rational>,
}

/// The points of a sweep, with the critical loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// The points at the requested multiples, in their order.
    pub points: Vec<SweepPoint>,
    /// The points at the critical loads that lie strictly between the least and the largest requested multiple.
    pub at_critical_loads: Vec<SweepPoint>,
    /// The largest multiple at which greedy serves all jobs. `None` if there is no load or there are several pools.
    pub all_served: Option<Rational>,
    /// The smallest multiple from which on every server has the first configuration of all types, with a job in every
    /// slot. `None` if one of the types in this configuration has no load, or there are several pools.
    pub all_best: Option<Rational>,
}

/// Returns `steps` equally spaced values from `from` to `to`, including both ends. If `steps` is 1, the only value is
/// `from`.
#[must_use]
pub fn multiples(from: &Rational, to: &Rational, steps: usize) -> Vec<Rational> {
    let gaps = steps.saturating_sub(1).max(1);
    let width = Rational::from(to - from) / gaps;
    (0..steps).map(|step| from + Rational::from(&width * step)).collect()
}

/// Computes greedy's reward and the optimum exactly at these multiples (at least 0) of the problem's loads.
///
/// # Errors
/// [`PackingError`] if a solver fails or reaches a limit.
///
/// # Examples
/// ```
/// use evenhand_certify::ratio::{multiples, sweep};
/// use evenhand_problem::{Rational, format::Source};
/// let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
///     "servers": [{"name": "pool", "capacity": {"cpu": 2}}],
///     "jobs": [{"name": "a", "demand": {"cpu": 2}, "reward": 3, "load": 1},
///              {"name": "b", "demand": {"cpu": 1}, "reward": 1, "load": 1}]}"#;
/// let problem = Source { name: "p.json", text }.reservation().unwrap();
/// let multiples = multiples(&Rational::new(), &Rational::from(1), 3);
/// let sweep = sweep(&problem, &multiples, &mut |_| {}).unwrap();
/// assert_eq!(sweep.points[1].greedy, 2);
/// assert_eq!(sweep.all_served, Some(Rational::from((2, 3))));
/// assert_eq!(sweep.all_best, Some(Rational::from(1)));
/// ```
pub fn sweep(
    problem: &Reservation,
    multiples: &[Rational],
    progress: &mut dyn FnMut(usize),
) -> Result<Sweep, PackingError> {
    let mut best = MaxReward::new(problem);
    let (loads, sizes) = (problem.loads(), problem.fractions());
    let mut points = Vec::with_capacity(multiples.len());
    let point = |best: &mut MaxReward<'_>, load: &Rational| -> Result<SweepPoint, PackingError> {
        // Each point has the full limits of a single ratio.
        best.limits().renew();
        let scaled: Vec<Rational> = loads.iter().map(|rho| Rational::from(rho * load)).collect();
        let greedy = greedy::fluid(best, &scaled, &sizes)?.reward;
        let optimum = configuration_lp::solve(best, &scaled, &sizes)?.value;
        let ratio = (!optimum.is_zero()).then(|| Rational::from(&greedy / &optimum));
        Ok(SweepPoint { load: load.clone(), greedy, optimum, ratio })
    };
    for load in multiples {
        points.push(point(&mut best, load)?);
        progress(points.len());
    }
    let (all_served, all_best) = match critical_loads(&mut best, &loads) {
        Ok(critical) => (critical.all_served, critical.all_best),
        Err(PackingError::SeveralPools) => (None, None),
        Err(error) => return Err(error),
    };
    let (least, most) = (multiples.iter().min(), multiples.iter().max());
    let within = |load: &&Rational| Some(*load) > least && Some(*load) < most && !multiples.contains(load);
    let critical = all_served.iter().chain(&all_best).filter(within);
    let at_critical_loads = critical.map(|load| point(&mut best, load)).collect::<Result<_, _>>()?;
    Ok(Sweep { points, at_critical_loads, all_served, all_best })
}
