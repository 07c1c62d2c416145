//! Examining an allocation: solvers look for evidence, `evenhand-exact` decides what it shows.
//!
//! Max-min is decided by the exact lexicographic optimum `x*` of the share. Its level duals prove
//! any allocation with the same shares. Otherwise `x*` itself is the witness: of the users that
//! have less in `x` than in `x*`, the one with the least share in `x` rises, and nobody with a
//! share as low is hurt (if a user with a lower or equal share lost, somebody lower still would
//! have to gain, against the choice of the first).
//!
//! Pareto optimality is decided by the greatest sum of tasks that leaves nobody worse off: its dual
//! proves yes, its optimum dominates.

use std::collections::{BTreeMap, HashMap};

use evenhand_exact::axiom::{bottleneck, max_min};
use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Instance, InstanceError, Level, Parameters, Prices, Share,
    ShareCoefficients, Tasks,
};
use evenhand_lp::LpError;
use evenhand_lp::level::{LevelDual, LexicographicOptimum, Settings, lexicographic};
use evenhand_lp::weighted_sum::{SumGoal, maximise_sum};
use evenhand_problem::{Allocation, Problem, Rational};
use thiserror::Error;

use crate::{fair_sum, integer_pareto, proportional, registry};

/// An axiom to examine; max-min is about a share, proportional about an exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The axiom.
    pub axiom: Axiom,
    /// What it is about; what is absent is taken from the allocation's mechanism.
    pub parameters: Parameters,
}

impl Request {
    /// The axiom, about whatever the allocation's mechanism is about.
    #[must_use]
    pub fn of(axiom: Axiom) -> Self {
        Self { axiom, parameters: Parameters::default() }
    }
}

/// What came of an examination.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The claims with their evidence, ready to be written and checked by anybody.
    pub certificate: Certificate,
    /// By axiom that was not decided: why.
    pub undecided: Vec<(Axiom, String)>,
}

/// Why an allocation cannot be examined at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A parameter belongs to another axiom, or is out of bounds.
    #[error("{0}")]
    Parameters(String),
    /// Max-min was asked for without a share, and the allocation's mechanism implies none.
    #[error("max-min needs a share: name it (drfh, cdrf, tsf, asset, generic, resource:NAME)")]
    NoShare,
}

/// The axioms that are examined when none is named: the usual ones, and the one that the mechanism
/// of the allocation is made to satisfy.
#[must_use]
pub fn default_requests(allocation: &Allocation) -> Vec<Request> {
    let usual =
        [Axiom::Feasible, Axiom::NonWasteful, Axiom::ParetoOptimal, Axiom::EnvyFree, Axiom::SharingIncentive];
    let mut requests: Vec<Request> = usual.map(Request::of).into();
    if let Some((axiom, parameters)) = registry::axiom_of(allocation) {
        requests.push(Request { axiom, parameters });
    }
    requests
}

/// Examines `requests` and writes a certificate; axioms that do not hold are in it as well, with
/// evidence. A margin beyond `-tolerance` violates.
///
/// # Errors
/// [`CertifyError`] when the allocation does not fit the problem or an axiom cannot be asked for.
/// A solver that fails makes an axiom undecided, never passed.
pub fn certify(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
) -> Result<Examination, CertifyError> {
    let instance = Instance::new(problem, allocation)?;
    let mut prover = Prover {
        instance: &instance,
        allocation,
        tolerance,
        own: registry::axiom_of(allocation),
        optima: HashMap::new(),
    };
    let mut claims: Vec<Claim> = Vec::new();
    let mut undecided = Vec::new();
    for request in requests {
        let parameters = prover.parameters(request)?;
        if claims.iter().any(|c| c.axiom == request.axiom && c.parameters() == parameters) {
            continue;
        }
        match prover.claim(request.axiom, parameters) {
            Ok(claim) => claims.push(claim),
            Err(why) => undecided.push((request.axiom, why)),
        }
    }
    let examined = |axiom: Axiom| claims.iter().any(|c| c.axiom == axiom);
    let not_checked = Axiom::ALL.iter().filter(|a| !examined(**a)).map(|a| a.name().to_owned()).collect();
    Ok(Examination {
        certificate: Certificate {
            problem: problem.clone(),
            allocation: allocation.clone(),
            tolerance: tolerance.clone(),
            claims,
            not_checked,
        },
        undecided,
    })
}

struct Prover<'a> {
    instance: &'a Instance<'a>,
    allocation: &'a Allocation,
    tolerance: &'a Rational,
    /// What the allocation's mechanism is made to satisfy.
    own: Option<(Axiom, Parameters)>,
    /// Exact optima found so far, by share.
    optima: HashMap<Share, Result<LexicographicOptimum<Rational>, LpError>>,
}

impl Prover<'_> {
    /// The parameters of a request, those of the allocation's mechanism where none are stated.
    fn parameters(&self, request: &Request) -> Result<Parameters, CertifyError> {
        let mut parameters = request.parameters.clone();
        if let Some((_, own)) = self.own.as_ref().filter(|(axiom, _)| *axiom == request.axiom) {
            parameters.share = parameters.share.or(own.share);
            parameters.alpha = parameters.alpha.or_else(|| own.alpha.clone());
        }
        if request.axiom == Axiom::MaxMin && parameters.share.is_none() {
            return Err(CertifyError::NoShare);
        }
        parameters.of(request.axiom).map_err(|refusal| CertifyError::Parameters(refusal.to_string()))
    }

    fn claim(&mut self, axiom: Axiom, parameters: Parameters) -> Result<Claim, String> {
        if let Err(why) = Claim::applies(axiom, parameters.clone(), self.instance.problem()) {
            return Ok(Claim::not_applicable(axiom, parameters, why));
        }
        match axiom {
            Axiom::ParetoOptimal => self.pareto_optimal(),
            Axiom::IntegerParetoOptimal => integer_pareto::claim(self.instance, self.tolerance),
            Axiom::MaxMin => self.max_min(axiom, parameters.share.ok_or("no share is named")?, None),
            Axiom::Proportional => proportional::claim(self.instance, &parameters, self.tolerance),
            Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair => {
                self.bottleneck(axiom)
            }
            _ => Claim::derive(axiom, self.instance, self.tolerance).map_err(|refusal| refusal.to_string()),
        }
    }

    fn bottleneck(&mut self, axiom: Axiom) -> Result<Claim, String> {
        let resource = bottleneck::of(axiom, self.instance.problem())?;
        self.max_min(axiom, Share::Resource(resource), Some(resource))
    }

    fn max_min(&mut self, axiom: Axiom, share: Share, resource: Option<usize>) -> Result<Claim, String> {
        let coefficients = share.coefficients(self.instance.problem()).map_err(|e| e.to_string())?;
        let named = resource.is_none().then_some(share);
        let optimum = self.optimum(share, &coefficients)?;
        let levels = self.levels(&optimum, &coefficients)?;
        let (instance, tolerance) = (self.instance, self.tolerance);
        let evidence = Evidence::Levels { resource, levels };
        let refusal = match Claim::with_evidence(axiom, named, evidence, instance, tolerance) {
            Ok(claim) => return Ok(claim),
            Err(refusal) => refusal,
        };
        let Some(user) = self.rising_user(&coefficients, &optimum)? else {
            return Err(format!("the shares are those of the optimum, but {refusal}"));
        };
        let allocation = match tolerance.is_zero() {
            true => optimum.tasks,
            false => self.short_step(&coefficients, user, &optimum)?,
        };
        let evidence = Evidence::Rise { resource, user, allocation };
        Claim::with_evidence(axiom, named, evidence, instance, tolerance)
            .map_err(|rise| format!("neither proven ({refusal}) nor refuted ({rise})"))
    }

    /// A step towards the optimum, short enough that nobody who loses falls below `user`.
    fn short_step(
        &self,
        coefficients: &ShareCoefficients,
        user: usize,
        optimum: &LexicographicOptimum<Rational>,
    ) -> Result<Tasks, String> {
        let better = self.instance.with_tasks(&optimum.tasks).map_err(|e| e.to_string())?;
        let present = max_min::shares(self.instance, coefficients).map_err(|e| e.to_string())?;
        let possible = max_min::shares(&better, coefficients).map_err(|e| e.to_string())?;
        let rise = Rational::from(&possible[user] - &present[user]);
        let mut step = Rational::from(1);
        for n in (0..present.len()).filter(|&n| possible[n] < present[n] && present[n] > present[user]) {
            let approach = Rational::from(&present[n] - &possible[n]) + &rise;
            let most = Rational::from(&present[n] - &present[user]) / approach;
            if most < step {
                step = most;
            }
        }
        let rest = Rational::from(1) - &step;
        Ok((0..present.len())
            .map(|n| {
                let mut list: BTreeMap<usize, Rational> = BTreeMap::new();
                for (tasks, part) in [(&self.allocation.tasks[n], &rest), (&optimum.tasks[n], &step)] {
                    for (i, x) in tasks {
                        *list.entry(*i).or_default() += Rational::from(x * part);
                    }
                }
                list.into_iter().filter(|(_, x)| !x.is_zero()).collect()
            })
            .collect())
    }

    /// The level duals as evidence about this allocation, whose shares may be off by rounding.
    fn levels(
        &self,
        optimum: &LexicographicOptimum<Rational>,
        coefficients: &ShareCoefficients,
    ) -> Result<Vec<Level>, String> {
        let mut levels = Vec::with_capacity(optimum.duals.len());
        for LevelDual { user_weights, prices, user_prices, .. } in &optimum.duals {
            let prices = Prices {
                user_weights: user_weights.clone(),
                rows: prices.clone(),
                users: user_prices.clone(),
            };
            let level = max_min::level_of(self.instance, coefficients, &prices).map_err(|e| e.to_string())?;
            levels.extend(level.map(|level| Level { level, prices }));
        }
        Ok(levels)
    }

    fn optimum(
        &mut self,
        share: Share,
        coefficients: &ShareCoefficients,
    ) -> Result<LexicographicOptimum<Rational>, String> {
        let constraints = self.instance.constraints();
        let solve = || lexicographic(constraints, coefficients, &Settings::default());
        self.optima.entry(share).or_insert_with(solve).clone().map_err(|error| error.to_string())
    }

    /// Of the users that have less than in the optimum, beyond the tolerance, the one with the least
    /// share.
    fn rising_user(
        &self,
        coefficients: &ShareCoefficients,
        optimum: &LexicographicOptimum<Rational>,
    ) -> Result<Option<usize>, String> {
        let better = self.instance.with_tasks(&optimum.tasks).map_err(|e| e.to_string())?;
        let present = max_min::shares(self.instance, coefficients).map_err(|e| e.to_string())?;
        let possible = max_min::shares(&better, coefficients).map_err(|e| e.to_string())?;
        let users = self.instance.problem().users();
        let is_behind = |n: usize| {
            let lack = Rational::from(&possible[n] - &present[n]);
            match coefficients.uniform(n) {
                Some(u) if !u.is_zero() => lack * users[n].weight() / u > *self.tolerance,
                _ => lack > 0,
            }
        };
        let behind = (0..present.len()).filter(|&n| self.instance.is_active(n) && is_behind(n));
        Ok(behind.min_by(|&a, &b| present[a].cmp(&present[b])))
    }

    fn pareto_optimal(&mut self) -> Result<Claim, String> {
        let (instance, tolerance) = (self.instance, self.tolerance);
        let judge =
            |evidence| Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, instance, tolerance);
        let of_mechanism = self.prices_of_levels().or_else(|| self.prices_of_sum());
        if let Some(Ok(claim)) = of_mechanism.map(|prices| judge(Evidence::Prices(prices))) {
            return Ok(claim);
        }
        let problem = instance.problem();
        let worth: Vec<Rational> = (0..problem.n_users())
            .map(|n| {
                let gamma = problem.total_gamma(n);
                if gamma.is_zero() { Rational::from(1) } else { simple_reciprocal(&gamma) }
            })
            .collect();
        let greatest_sum = |floors: Vec<Rational>| {
            maximise_sum(instance.constraints(), SumGoal { worth: &worth, floors: Some(&floors) })
        };
        let optimum = match greatest_sum(self.present()) {
            // Rounding may have made the present tasks infeasible.
            Err(LpError::ExactlyInfeasible) => greatest_sum(self.scaled_down()),
            other => other,
        };
        let optimum = optimum.map_err(|error| error.to_string())?;
        let prices = Prices {
            user_weights: (0..problem.n_users())
                .map(|n| match instance.is_active(n) {
                    true => Rational::from(&worth[n] + &optimum.floor_prices[n]),
                    false => Rational::new(),
                })
                .collect(),
            rows: optimum.prices,
            users: optimum.user_prices,
        };
        let refusal = match judge(Evidence::Prices(prices)) {
            Ok(claim) => return Ok(claim),
            Err(refusal) => refusal,
        };
        judge(Evidence::Dominating(optimum.tasks))
            .map_err(|dominating| format!("neither proven ({refusal}) nor refuted ({dominating})"))
    }

    /// Prices from the level duals of the mechanism that made the allocation, added up.
    fn prices_of_levels(&mut self) -> Option<Prices> {
        let share = self.own.as_ref().filter(|(axiom, _)| *axiom == Axiom::MaxMin)?.1.share?;
        let problem = self.instance.problem();
        let coefficients = share.coefficients(problem).ok()?;
        let optimum = self.optimum(share, &coefficients).ok()?;
        let mut prices = Prices::zero(self.instance);
        for dual in &optimum.duals {
            for (sum, p) in prices.rows.iter_mut().zip(&dual.prices) {
                *sum += p;
            }
            for (sum, q) in prices.users.iter_mut().zip(&dual.user_prices) {
                *sum += q;
            }
        }
        for n in (0..problem.n_users()).filter(|&n| self.instance.is_active(n)) {
            let per_task = Rational::from(coefficients.uniform(n)? / problem.users()[n].weight());
            let weight: Rational = optimum.duals.iter().map(|d| &d.user_weights[n]).sum();
            prices.user_weights[n] = weight * per_task;
            if prices.user_weights[n].is_zero() {
                // Blocked at no level: it has all its tasks, and its limit has a price.
                prices.users[n] += 1;
                prices.user_weights[n] = Rational::from(1);
            }
        }
        Some(prices)
    }

    /// Prices of the sum of utilities that the mechanism which made the allocation maximises; a user's
    /// weight is what a task costs it where it is cheapest.
    fn prices_of_sum(&self) -> Option<Prices> {
        let (_, parameters) = self.own.as_ref().filter(|(axiom, _)| *axiom == Axiom::Proportional)?;
        let (instance, problem) = (self.instance, self.instance.problem());
        let constraints = instance.constraints();
        let alpha = parameters.alpha.clone().unwrap_or_else(|| Rational::from(1));
        if parameters.share.is_some() {
            return None;
        }
        let point = fair_sum::maximise(constraints, fair_sum::near(&alpha), None).ok()?;
        let mut prices = proportional::prices_of(instance, &alpha, None, &point)?;
        let cost = |n: usize, i: usize| {
            let usage = constraints.usage(n, i)?;
            let rows = constraints.class_rows(i).zip(usage.iter());
            let paid: Rational = rows.map(|(row, usage)| Rational::from(&prices.rows[row] * usage)).sum();
            Some(paid + &prices.users[n])
        };
        let cheapest = |n: usize| (0..problem.n_servers()).filter_map(|i| cost(n, i)).min();
        let weights = (0..problem.n_users()).map(|n| match instance.is_active(n) {
            true => cheapest(n).unwrap_or_default(),
            false => Rational::new(),
        });
        prices.user_weights = weights.collect();
        Some(prices)
    }

    /// The present tasks by user, those that count.
    fn present(&self) -> Vec<Rational> {
        self.floors(|_| Rational::from(1))
    }

    /// The present tasks, less on every class that rounding has overfilled.
    fn scaled_down(&self) -> Vec<Rational> {
        let constraints = self.instance.constraints();
        let rows = constraints.rows();
        let fill = |row: usize| match rows[row].capacity.is_zero() {
            true => Rational::new(),
            false => (&rows[row].capacity - self.instance.slack(row)) / &rows[row].capacity,
        };
        let fills: Vec<Rational> = (0..self.instance.problem().n_servers())
            .map(|i| constraints.class_rows(i).map(fill).max().unwrap_or_default())
            .map(|fill| if fill > 1 { fill } else { Rational::from(1) })
            .collect();
        self.floors(|i| fills[i].clone())
    }

    /// By user: its tasks on each class over `fill` of the class, no more than it has.
    fn floors(&self, fill: impl Fn(usize) -> Rational) -> Vec<Rational> {
        let problem = self.instance.problem();
        (0..problem.n_users())
            .map(|n| {
                let able = self.allocation.tasks[n].iter().filter(|(i, x)| *x > 0 && problem.can_run(n, *i));
                let floor: Rational = able.map(|(i, x)| x / fill(*i)).sum();
                match problem.users()[n].tasks() {
                    Some(limit) if *limit < floor => limit.clone(),
                    _ => floor,
                }
            })
            .collect()
    }
}

/// About `1 / value`, a power of two: a scale, where the exact number does not matter.
fn simple_reciprocal(value: &Rational) -> Rational {
    let bits = |integer: &evenhand_problem::Integer| i64::from(integer.significant_bits());
    let shift = bits(value.numer()) - bits(value.denom());
    let power = evenhand_problem::Integer::from(1) << u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX);
    if shift >= 0 { Rational::from((1, power)) } else { Rational::from(power) }
}
