//! Judges the quality of answers in rational arithmetic. Every measure is computed exactly and rounded once.

use std::time::Duration;

use evenhand_budget::{Limits, within};
use evenhand_certify::{Optima, Request, certify_among};
use evenhand_exact::{Axiom, Instance, Outcome, Parameters};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Constraints, Integer, Problem, Rational};
use rug::ops::Pow;

use crate::case::{Case, Input, Kind};
use crate::configurations;
use crate::contenders::{Answer, NoAnswer};
use crate::programmes::{self, ProgrammeMeasures};
use crate::references::{self, Reference};
use crate::utility::{ln, power};

/// The exponents of the tolerances within which an answer is trusted, as negative powers of ten.
pub const TOLERANCES: [u32; 2] = [6, 9];
/// The exponent of the tolerance for the reference, as a negative power of ten. The reference may be a rounded
/// irrational number, so an axiom that it violates by less than this tolerance counts as satisfied.
const TRUTH: u32 = 30;
/// The number of bits of an irrational power, which is far larger than that of a double.
const BITS: u32 = 200;
/// The product of users and classes above which only feasibility and sharing incentive are examined.
const MOST_PAIRS: usize = 3_000;
/// The time limit for the axioms of one answer.
const TIME: Duration = Duration::from_secs(10);

/// The quality of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measures {
    /// The error `max_n |x_n - x*_n| / x*_n`. For a user without tasks in the exact answer, the difference is divided
    /// by its solo tasks. `None` if the answer is not unique.
    pub error: Option<f64>,
    /// The relative distance of the objective from the optimum. For sums of logarithms it is the distance of the
    /// weighted mean logarithm. `None` if there is no objective or if the objective is not defined.
    pub objective_error: Option<f64>,
    /// The largest violation of a capacity, a limit or a sign, relative to the capacity or limit. For a linear
    /// programme it is the largest violation relative to the bound, or to 1 if the bound is smaller.
    pub violation: f64,
    /// The largest violation of a capacity, a limit or a bound, in the unit of the capacity, limit or bound.
    pub excess: f64,
    /// The verdicts by axiom and tolerance. `None` if no axioms were examined.
    pub verdicts: Option<Vec<Verdict>>,
    /// The answer after its repair. `None` if no repair was examined.
    pub repair: Option<Repair>,
    /// The status, and the violations by row and column, of a linear programme of any kind.
    pub programme: Option<ProgrammeMeasures>,
}

/// The verdict on an axiom that a user would get from trusting an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The name of the axiom with its parameter.
    pub axiom: String,
    /// The negative decimal exponent of the tolerance.
    pub tolerance: u32,
    /// The verdict for the answer: true if the axiom holds. `None` if it is not decided because the answer is
    /// infeasible.
    pub says: Option<bool>,
    /// True if the axiom holds for the exact answer.
    pub is: bool,
}

impl Verdict {
    /// Returns `true` if the verdict is wrong.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.says.is_some_and(|says| says != self.is)
    }
}

/// A feasible answer that was made from an infeasible answer (docs/axioms.md).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repair {
    /// The largest change of the tasks of a user, relative to the user's solo tasks.
    pub change: f64,
    /// The relative distance of the objective from the optimum after the repair.
    pub loses: Option<f64>,
    /// The smallest tolerance at which the repaired answer is certified as the answer. `None` if it is above 1e-6.
    pub certified: Option<f64>,
}

impl Measures {
    /// Returns the number of wrong verdicts.
    #[must_use]
    pub fn wrong_verdicts(&self) -> Option<usize> {
        let verdicts = self.verdicts.as_ref()?;
        Some(verdicts.iter().filter(|verdict| verdict.is_wrong()).count())
    }
}

/// A judge of answers to a case, with its reference.
pub struct Judge<'c> {
    case: &'c Case,
    reference: &'c Reference,
    /// The axioms that are examined, their names, and whether each of them holds for the exact answer. `None`
    /// if it is not known whether they hold.
    truths: Option<Vec<(Request, String, bool)>>,
    /// A cache of the exact optima of shares.
    optima: Optima,
}

impl<'c> Judge<'c> {
    /// Creates a judge and examines the exact answer.
    #[must_use]
    pub fn new(case: &'c Case, reference: &'c Reference) -> Self {
        let mut judge = Self { case, reference, truths: None, optima: Optima::default() };
        judge.truths = judge.find_truths();
        judge
    }

    fn find_truths(&self) -> Option<Vec<(Request, String, bool)>> {
        let (Input::Allocation(problem), Some(allocation)) = (&self.case.input, &self.reference.allocation)
        else {
            return None;
        };
        let requests = requests(self.case, problem);
        let tolerance = Rational::from((1, Integer::from(10).pow(TRUTH)));
        let found = self.examined(problem, allocation, &requests, &tolerance)?;
        let truths = requests.into_iter().zip(found).filter_map(|(request, holds)| {
            let name = name(&request, problem);
            Some((request, name, holds?))
        });
        Some(truths.collect())
    }

    /// Returns for each request whether the axiom holds within the tolerance. Returns `None` for an axiom that does not
    /// apply or is not decided.
    fn examined(
        &self,
        problem: &Problem,
        allocation: &Allocation,
        requests: &[Request],
        tolerance: &Rational,
    ) -> Option<Vec<Option<bool>>> {
        let limits = Limits { time: Some(TIME), ..Limits::default() };
        let found = within(&limits, || certify_among(problem, allocation, requests, tolerance, &self.optima));
        let found = found.ok()?.ok()?;
        let holds = |request: &Request| {
            let claims = &found.certificate.claims;
            let claim = claims.iter().find(|claim| {
                claim.axiom == request.axiom
                    && request.parameters.clone().of(request.axiom).is_ok_and(|p| p == claim.parameters())
            })?;
            match claim.outcome() {
                Outcome::Holds | Outcome::Within => Some(true),
                Outcome::Violated => Some(false),
                Outcome::NotApplicable => None,
            }
        };
        Some(requests.iter().map(holds).collect())
    }

    /// Judges an answer.
    ///
    /// # Errors
    /// [`NoAnswer::Malformed`] if a number is not finite, or if the answer has users that do not exist.
    pub fn judge(&self, answer: &Answer) -> Result<Measures, NoAnswer> {
        match &self.case.input {
            Input::Allocation(problem) => {
                let allocation = allocation(self.case, problem, answer)?;
                Ok(self.of_allocation(problem, &allocation, answer.only_least))
            }
            Input::Programme(model) => programmes::measures(model, self.reference, answer),
            Input::Reservation(problem) => {
                let exact = |values: &[f64]| {
                    values.iter().map(|x| number(*x, "a column")).collect::<Result<Vec<_>, _>>()
                };
                let served = exact(&answer.served)?;
                if served.len() != problem.n_types() {
                    return Err(malformed("expected one number of served jobs for each job type"));
                }
                let servers =
                    answer.servers.iter().map(|(pool, k, x)| Ok((*pool, k.clone(), number(*x, "a column")?)));
                let servers = servers.collect::<Result<Vec<_>, NoAnswer>>()?;
                let (excess, violation) = configurations::violation(problem, &served, &servers);
                let reward: Rational =
                    problem.rewards().iter().zip(&served).map(|(u, y)| Rational::from(u * y)).sum();
                let off = self.reference.objective.as_ref().map(|best| relative_difference(&reward, best));
                let verdict = |(axiom, tolerance, far): (&str, u32, Option<f64>)| {
                    let says = far.map(|far| far <= 10_f64.powi(-(tolerance as i32)));
                    Verdict { axiom: axiom.to_owned(), tolerance, says, is: true }
                };
                let violation = to_f64(&violation);
                let said =
                    TOLERANCES.iter().flat_map(|t| [("feasible", *t, Some(violation)), ("optimal", *t, off)]);
                Ok(Measures {
                    objective_error: off,
                    violation,
                    excess: to_f64(&excess),
                    verdicts: Some(said.map(verdict).collect()),
                    ..Measures::default()
                })
            }
        }
    }

    fn of_allocation(&self, problem: &Problem, allocation: &Allocation, only_least: bool) -> Measures {
        let totals = allocation.totals();
        let (excess, violation) = violation(problem, allocation);
        let levels = self.reference.levels.as_ref().filter(|_| !only_least);
        let error = levels.map(|levels| to_f64(&error(problem, &totals, levels)));
        let mut measures = Measures {
            error,
            objective_error: self.objective_error(problem, &totals),
            violation: to_f64(&violation),
            excess: to_f64(&excess),
            ..Measures::default()
        };
        if let Some(truths) = self.truths.as_ref().filter(|_| !only_least) {
            measures.verdicts = self.verdicts(problem, allocation, truths);
            if let (Kind::Whole, Some(verdicts)) = (self.case.kind, &mut measures.verdicts) {
                verdicts.extend(TOLERANCES.map(|tolerance| is_whole(allocation, tolerance)));
            }
            measures.repair = is_small(problem).then(|| self.repair(problem, allocation)).flatten();
        }
        measures
    }

    fn verdicts(
        &self,
        problem: &Problem,
        allocation: &Allocation,
        truths: &[(Request, String, bool)],
    ) -> Option<Vec<Verdict>> {
        let requests: Vec<Request> = truths.iter().map(|(request, ..)| request.clone()).collect();
        let mut verdicts = Vec::new();
        for tolerance in TOLERANCES {
            let exact = Rational::from((1, Integer::from(10).pow(tolerance)));
            let found = self.examined(problem, allocation, &requests, &exact)?;
            let said = truths.iter().zip(found);
            verdicts.extend(said.map(|((_, axiom, is), says)| Verdict {
                axiom: axiom.clone(),
                tolerance,
                says,
                is: *is,
            }));
        }
        Some(verdicts)
    }

    fn repair(&self, problem: &Problem, allocation: &Allocation) -> Option<Repair> {
        let instance = Instance::new(problem, allocation).ok()?;
        let repaired = Allocation { tasks: instance.tasks(), placements: None, ..allocation.clone() };
        let loses = self.objective_error(problem, &repaired.totals());
        let own = references::own_axioms(self.case).into_iter();
        let own: Vec<Request> = own.map(|(axiom, parameters)| Request { axiom, parameters }).collect();
        let limits = Limits { time: Some(TIME), ..Limits::default() };
        let tolerance = Rational::from((1, 1_000_000));
        let found = within(&limits, || certify_among(problem, &repaired, &own, &tolerance, &self.optima));
        let found = found.ok()?.ok()?;
        let claims = &found.certificate.claims;
        let certified = !claims.is_empty()
            && found.undecided.is_empty()
            && claims.iter().all(|claim| claim.holds == Some(true));
        let lacks = claims.iter().filter_map(|claim| claim.margin.clone());
        let lacks = lacks.map(|margin| (-margin).max(Rational::new())).max().unwrap_or_default();
        let certified = certified.then(|| to_f64(&lacks));
        Some(Repair { change: to_f64(instance.repair()), loses, certified })
    }

    fn objective_error(&self, problem: &Problem, totals: &[Rational]) -> Option<f64> {
        if let Some(best) = &self.reference.objective {
            let found = references::objective(self.case, problem, totals).ok().flatten()?;
            return Some(relative_difference(&found, best));
        }
        if !self.case.kind.is_sum() {
            return None;
        }
        let levels = self.reference.levels.as_ref()?;
        let active = || (0..problem.n_users()).filter(|&n| problem.is_active(n));
        if active().any(|n| totals[n] <= 0) {
            return None;
        }
        let weight = |n: usize| problem.users()[n].weight();
        let total: Rational = active().map(weight).sum();
        if self.case.alpha == 1 {
            let lost: Rational =
                active().map(|n| ln(&Rational::from(&levels[n] / &totals[n])) * weight(n)).sum();
            return Some(to_f64(&(lost / total).abs()));
        }
        let exponent = Rational::from(1) - &self.case.alpha;
        let sum = |x: &[Rational]| -> Rational {
            active().map(|n| power(&x[n], &exponent, BITS) * weight(n)).sum()
        };
        Some(relative_difference(&sum(totals), &sum(levels)))
    }
}

/// Returns the verdict on whether all tasks are whole numbers up to rounding, for cases that request whole tasks.
fn is_whole(allocation: &Allocation, tolerance: u32) -> Verdict {
    let allowed = Rational::from((1, Integer::from(10).pow(tolerance)));
    let mut tasks = allocation.tasks.iter().flatten();
    let says = tasks.all(|(_, x)| (x - x.clone().round()).abs() <= allowed);
    Verdict { axiom: Axiom::IntegerFeasible.name().to_owned(), tolerance, says: Some(says), is: true }
}

/// Returns the absolute difference divided by the correct value, or the absolute difference if the correct
/// value is 0.
pub(crate) fn relative_difference(found: &Rational, right: &Rational) -> f64 {
    let difference = Rational::from(found - right).abs();
    to_f64(&if right.is_zero() { difference } else { difference / Rational::from(right.abs_ref()) })
}

/// Returns the axioms that are judged. An axiom that depends on the servers on which tasks run is judged only
/// if there is one server. With more servers there are several exact answers, which run the tasks on
/// different servers.
fn requests(case: &Case, problem: &Problem) -> Vec<Request> {
    let mut axioms = vec![Axiom::Feasible];
    if !matches!(case.kind, Kind::Utilitarian | Kind::PsDsf | Kind::Whole) {
        axioms.push(Axiom::SharingIncentive);
    }
    let is_small = is_small(problem);
    if is_small && problem.n_servers() == 1 && case.kind != Kind::Whole {
        axioms.push(Axiom::EnvyFree);
    }
    if is_small && matches!(case.kind, Kind::Pool | Kind::Njc) {
        axioms.push(Axiom::Njc);
    }
    let mut requests: Vec<Request> = axioms.into_iter().map(Request::of).collect();
    if is_small && case.kind != Kind::Whole {
        if !matches!(case.kind, Kind::Utilitarian | Kind::PsDsf) {
            requests.push(Request::of(Axiom::ParetoOptimal));
        }
        let own = references::own_axioms(case).into_iter();
        requests.extend(own.map(|(axiom, parameters)| Request { axiom, parameters }));
    }
    requests
}

/// Returns `true` if the problem is small enough for the axioms that compare users or need a solver.
fn is_small(problem: &Problem) -> bool {
    problem.n_users() * problem.n_servers() <= MOST_PAIRS
}

fn name(request: &Request, problem: &Problem) -> String {
    let Parameters { share, alpha } = &request.parameters;
    match (share, alpha) {
        (Some(share), _) => format!("{}:{}", request.axiom.name(), share.name(problem)),
        (None, Some(alpha)) if *alpha != 1 => format!("{}:{alpha}", request.axiom.name()),
        _ => request.axiom.name().to_owned(),
    }
}

fn malformed(what: &str) -> NoAnswer {
    NoAnswer::Malformed(what.to_owned())
}

pub(crate) fn number(value: f64, of: &str) -> Result<Rational, NoAnswer> {
    Rational::from_f64(value)
        .ok_or_else(|| NoAnswer::Malformed(format!("{of} is {value}, which is not a finite number")))
}

/// Converts an answer to an allocation. Every double keeps its exact value.
fn allocation(case: &Case, problem: &Problem, answer: &Answer) -> Result<Allocation, NoAnswer> {
    if let Some(allocation) = &answer.allocation {
        return match allocation.tasks.len() == problem.n_users() {
            true => Ok(Allocation { sharing: case.kind.sharing(), ..allocation.clone() }),
            false => Err(malformed("the users of the tasks differ from the users of the problem")),
        };
    }
    if answer.tasks.len() != problem.n_users() {
        return Err(malformed("the users of the tasks differ from the users of the problem"));
    }
    let mut allocation = Allocation::empty(problem.n_users(), case.kind.sharing());
    for (n, (exact, tasks)) in allocation.tasks.iter_mut().zip(&answer.tasks).enumerate() {
        for (class, x) in tasks {
            if *class >= problem.n_servers() {
                return Err(malformed("there are tasks on a class that the problem does not have"));
            }
            let x = number(*x, problem.users()[n].name())?;
            if !x.is_zero() {
                exact.push((*class, x));
            }
        }
        exact.sort_by_key(|(class, _)| *class);
        exact.dedup_by(|again, first| {
            let same = again.0 == first.0;
            if same {
                first.1 += &again.1;
            }
            same
        });
    }
    Ok(allocation)
}

/// Returns `max_n |x_n - x*_n| / x*_n`.
fn error(problem: &Problem, totals: &[Rational], levels: &[Rational]) -> Rational {
    let of_user = |n: usize| {
        let difference = Rational::from(&totals[n] - &levels[n]).abs();
        if levels[n] > 0 {
            return difference / &levels[n];
        }
        let alone = problem.total_gamma(n);
        if alone > 0 { difference / alone } else { difference }
    };
    (0..problem.n_users()).map(of_user).max().unwrap_or_default()
}

/// Returns the largest violation of a row, a limit or a sign: first the amount, then the amount relative to
/// the row or to the user's solo tasks.
fn violation(problem: &Problem, allocation: &Allocation) -> (Rational, Rational) {
    let constraints = Constraints::new(problem, allocation.sharing);
    let (mut absolute, mut relative) = (Rational::new(), Rational::new());
    let mut worse = |excess: Rational, of: &Rational| {
        if excess > 0 {
            let part = if of.is_zero() { excess.clone() } else { Rational::from(&excess / of) };
            relative = std::mem::take(&mut relative).max(part);
            absolute = std::mem::take(&mut absolute).max(excess);
        }
    };
    let mut used = vec![Rational::new(); constraints.rows().len()];
    for (n, tasks) in allocation.tasks.iter().enumerate() {
        let alone = problem.total_gamma(n);
        let mut total = Rational::new();
        for (class, x) in tasks {
            total += x;
            match constraints.usage(n, *class) {
                Some(usage) if *x > 0 => {
                    let start = constraints.class_rows(*class).start;
                    usage.entries().for_each(|(at, amount)| used[start + at] += Rational::from(amount * x));
                }
                Some(_) => worse(Rational::from(-x), &alone),
                None => worse(Rational::from(x.abs_ref()), &alone),
            }
        }
        if let Some(limit) = problem.users()[n].tasks() {
            worse(total - limit, limit);
        }
    }
    for (row, used) in constraints.rows().iter().zip(used) {
        worse(used - &row.capacity, &row.capacity);
    }
    (absolute, relative)
}
