//! A problem in the form that a filling needs: single servers, steps, and all amounts as integers. A *step*
//! is the placement of a fixed number of tasks, usually one task.

use evenhand_exact::Share;
use evenhand_problem::{Problem, Rational};
use rug::Integer;

use super::digits::Widths;
use super::rule::{Rule, Score, ServerRule};

/// The maximum number of single servers.
pub const MAX_SERVERS: u64 = 4_000_000;
/// The maximum number of bits of all amounts together.
const MAX_BITS: u128 = 1 << 33;
/// The maximum number of bits of the common denominator of a resource.
const MAX_DENOMINATOR: u32 = 1 << 18;

/// The reason why a filling does not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The filling is not defined for the problem.
    NotApplicable(String),
    /// The problem is too large.
    Limit(String),
}

/// A problem in integers.
///
/// Rows are resources. A class that is shared by time (a user states its `gamma` there) uses only the last row: one
/// unit of time on every server, of which a step of user `n` takes the fraction that follows from `k_i / gamma_ni`.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The number of servers of each class.
    pub counts: Vec<usize>,
    /// The capacity of one server, indexed by class and then by row.
    pub capacity: Vec<Vec<Integer>>,
    /// The users that can run a task, in ascending order.
    pub users: Vec<PreparedUser>,
    /// `lcm(totals) / total` of each row, which brings the terms of the mismatch to a common denominator. The
    /// factor is 0 for a resource that no server has. The list is empty if no server is chosen by mismatch.
    pub factors: Vec<Integer>,
    /// The numbers of bits that the numbers of this problem need.
    pub widths: Widths,
}

/// A user that can run a task.
#[derive(Debug)]
pub(super) struct PreparedUser {
    /// The user's index in the problem.
    pub index: usize,
    /// The maximum number of steps, or `u64::MAX` without a limit.
    pub limit: u64,
    /// The weight, multiplied by the factor that makes all weights integers.
    pub weight: Integer,
    /// The score of a step for each class, or a single score for all classes. It is 0 if no step fits. The
    /// list is empty if the score depends on the free amounts.
    pub units: Vec<Rational>,
    /// The distinct demands of a step. Each demand has one amount for each row.
    pub demands: Vec<Vec<Integer>>,
    /// The factor with which a step of each demand counts in the user's score.
    pub counts: Vec<u64>,
    /// The index of the demand on each class, or `None` if the user may not run on the class.
    pub demand_on: Vec<Option<u32>>,
}

impl Prepared {
    /// Converts `problem` to integers, for steps of `step` tasks. Shares are fractions of the capacity of
    /// `whole`, which has the same users and resources.
    pub fn new(problem: &Problem, whole: &Problem, rule: Rule, step: &Rational) -> Result<Self, Refusal> {
        let n_servers = problem.n_single_servers();
        if n_servers > u128::from(MAX_SERVERS) {
            return Err(Refusal::Limit(format!(
                "the problem has {n_servers} servers: single servers are filled one by one, at most \
                 {MAX_SERVERS}"
            )));
        }
        let time_shared = problem.servers().iter().find(|server| server.is_time_shared());
        if let (Some(server), ServerRule::BestFit) = (time_shared, rule.server) {
            let name = server.name();
            return Err(Refusal::NotApplicable(format!(
                "best fit compares resources, and server `{name}` is shared by time (a user states gamma there)"
            )));
        }
        let coefficients = match rule.score {
            Score::Drf => Some(Share::Dominant),
            Score::Tsf => Some(Share::TaskShare),
            Score::PsDsf | Score::ResidualPsDsf => None,
        };
        let coefficients = coefficients.map(|share| share.coefficients(whole)).transpose();
        let coefficients = coefficients.map_err(|error| Refusal::NotApplicable(error.to_string()))?;
        let stated = Stated::new(problem, whole, step)?;
        let (mut prepared, totals) = stated.scaled(problem)?;
        for user in &mut prepared.users {
            let weight = problem.users()[user.index].weight();
            user.units = match (rule.score, &coefficients) {
                (Score::ResidualPsDsf, _) => Vec::new(),
                (Score::PsDsf, _) => {
                    let on = |(i, demand): (usize, &Option<u32>)| {
                        let demand = demand.map(|demand| &user.demands[demand as usize]);
                        demand.map_or_else(Rational::new, |demand| {
                            most_of(demand, &prepared.capacity[i]) / weight
                        })
                    };
                    user.demand_on.iter().enumerate().map(on).collect()
                }
                (_, Some(coefficients)) => coefficients
                    .uniform(user.index)
                    .map(|unit| Rational::from(unit / weight))
                    .into_iter()
                    .collect(),
                (_, None) => Vec::new(),
            };
        }
        if rule.server == ServerRule::BestFit {
            prepared.factors = factors(&totals);
        }
        prepared.widths = prepared.widths();
        Ok(prepared)
    }

    /// Creates a problem from rows and users that are integers already.
    pub fn of_rows(counts: Vec<usize>, capacity: Vec<Vec<Integer>>, users: Vec<PreparedUser>) -> Self {
        let mut prepared = Self { counts, capacity, users, factors: Vec::new(), widths: Widths::default() };
        prepared.widths = prepared.widths();
        prepared
    }

    fn widths(&self) -> Widths {
        let most = |bits: &mut dyn Iterator<Item = u32>| bits.max().unwrap_or(0);
        let amounts = self.capacity.iter().flatten();
        let amounts = amounts.chain(self.users.iter().map(|user| &user.weight));
        let amounts = amounts.chain(self.users.iter().flat_map(|user| user.demands.iter().flatten()));
        let units = || self.users.iter().flat_map(|user| &user.units);
        Widths {
            amount: most(&mut amounts.map(Integer::significant_bits)),
            numerator: most(&mut units().map(|unit| unit.numer().significant_bits())),
            denominator: most(&mut units().map(|unit| unit.denom().significant_bits())),
            factor: most(&mut self.factors.iter().map(Integer::significant_bits)),
            resources: self.capacity.first().map_or(0, Vec::len),
        }
    }
}

/// Returns `max_r d_r / c_r` over the demanded resources, or 0 if this is above 1, since no step fits then.
fn most_of(demand: &[Integer], capacity: &[Integer]) -> Rational {
    if demand.iter().zip(capacity).any(|(d, c)| d > c) {
        return Rational::new();
    }
    let demanded = demand.iter().zip(capacity).filter(|(d, _)| !d.is_zero());
    demanded.map(|(d, c)| Rational::from((d, c))).max().unwrap_or_default()
}

fn factors(totals: &[Integer]) -> Vec<Integer> {
    let there = || totals.iter().filter(|total| !total.is_zero());
    let least = there().fold(Integer::from(1), |lcm, total| lcm.lcm(total));
    totals.iter().map(|t| if t.is_zero() { Integer::new() } else { least.clone() / t }).collect()
}

/// The problem with its amounts as rational numbers.
struct Stated {
    capacity: Vec<Vec<Rational>>,
    /// The total of each resource, to which mismatches are relative.
    totals: Vec<Rational>,
    users: Vec<StatedUser>,
}

/// A user with its amounts as rational numbers.
struct StatedUser {
    index: usize,
    limit: u64,
    demands: Vec<Vec<Rational>>,
    demand_on: Vec<Option<u32>>,
}

impl Stated {
    fn new(problem: &Problem, whole: &Problem, step: &Rational) -> Result<Self, Refusal> {
        let classes = problem.servers();
        let has_time = classes.iter().any(|server| server.is_time_shared());
        let n_rows = problem.n_resources() + usize::from(has_time);
        let mut capacity = Vec::with_capacity(classes.len());
        for class in classes {
            let mut rows = vec![Rational::new(); n_rows];
            if class.is_time_shared() {
                rows[n_rows - 1] = Rational::from(1);
            } else {
                for (r, capacity) in class.capacity().entries() {
                    rows[*r].clone_from(capacity);
                }
            }
            capacity.push(rows);
        }
        let mut users = Vec::new();
        for index in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
            let limit = match problem.users()[index].tasks() {
                None => u64::MAX,
                Some(tasks) => {
                    let steps = Rational::from(tasks / step).floor().numer().to_u64();
                    steps.unwrap_or(u64::MAX)
                }
            };
            let mut user = StatedUser {
                index,
                limit,
                demands: Vec::new(),
                demand_on: Vec::with_capacity(classes.len()),
            };
            let mut fits = false;
            for (i, rows) in capacity.iter().enumerate() {
                let demand = demand(problem, index, i, step, n_rows);
                fits |= demand.as_ref().is_some_and(|demand| demand.iter().zip(rows).all(|(d, c)| d <= c));
                let at = demand.map(|demand| user.row(demand));
                user.demand_on.push(at);
            }
            if user.limit > 0 && fits {
                users.push(user);
            }
        }
        if users.len() as u128 * classes.len() as u128 > MAX_BITS / 64 {
            return Err(Refusal::Limit(format!(
                "{} users on {} classes are too many",
                users.len(),
                classes.len()
            )));
        }
        Ok(Self { capacity, totals: whole.total_capacity().to_vec(), users })
    }

    /// Clears the denominators of every row and of the totals.
    fn scaled(self, problem: &Problem) -> Result<(Prepared, Vec<Integer>), Refusal> {
        let n_rows = self.capacity.first().map_or(0, Vec::len);
        let mut units = Vec::with_capacity(n_rows);
        for r in 0..n_rows {
            let amounts = self.users.iter().flat_map(|user| &user.demands).chain(&self.capacity);
            units.push(unit(amounts.map(|amounts| &amounts[r]).chain(self.totals.get(r)))?);
        }
        let weights = self.users.iter().map(|user| problem.users()[user.index].weight());
        let weight_unit = unit(weights)?;
        let bits: u128 = units.iter().map(|unit| 64 + u128::from(unit.numer().significant_bits())).sum();
        let rows = problem.n_single_servers() * 5
            + self.users.iter().map(|user| user.demands.len() as u128).sum::<u128>();
        if rows * bits > MAX_BITS {
            return Err(Refusal::Limit("the common denominators of the amounts are too long".to_owned()));
        }
        let scale = |amounts: &[Rational]| -> Vec<Integer> {
            let scaled = amounts.iter().zip(&units).map(|(a, unit)| Rational::from(a * unit));
            scaled.map(|amount| amount.into_numer_denom().0).collect()
        };
        let users = self.users.iter().map(|user| PreparedUser {
            index: user.index,
            limit: user.limit,
            weight: Rational::from(problem.users()[user.index].weight() * &weight_unit).into_numer_denom().0,
            units: Vec::new(),
            demands: user.demands.iter().map(|demand| scale(demand)).collect(),
            counts: vec![1; user.demands.len()],
            demand_on: user.demand_on.clone(),
        });
        let totals = scale(&self.totals);
        let prepared = Prepared {
            counts: problem.servers().iter().map(|server| server.count() as usize).collect(),
            capacity: self.capacity.iter().map(|rows| scale(rows)).collect(),
            users: users.collect(),
            factors: Vec::new(),
            widths: Widths::default(),
        };
        Ok((prepared, totals))
    }
}

impl StatedUser {
    /// Returns the index of a demand. Adds the demand if it is new.
    fn row(&mut self, demand: Vec<Rational>) -> u32 {
        let at = self.demands.iter().position(|known| *known == demand).unwrap_or_else(|| {
            self.demands.push(demand);
            self.demands.len() - 1
        });
        at as u32
    }
}

/// Returns the demand of a step of user `n` on a server of class `i`, with one amount for each row. Returns
/// `None` if the user may not run there.
fn demand(problem: &Problem, n: usize, i: usize, step: &Rational, n_rows: usize) -> Option<Vec<Rational>> {
    let class = &problem.servers()[i];
    if !problem.users()[n].may_use(i) || class.is_time_shared() && !problem.can_run(n, i) {
        return None;
    }
    let mut rows = vec![Rational::new(); n_rows];
    if class.is_time_shared() {
        rows[n_rows - 1] = Rational::from(step * class.count()) / problem.gamma(n, i);
    } else {
        for (r, d) in problem.demand(n, i).entries() {
            rows[*r] = Rational::from(d * step);
        }
    }
    Some(rows)
}

/// Returns the factor that turns `amounts` into integers without a common divisor, or 1 if all are 0.
fn unit<'a>(amounts: impl Iterator<Item = &'a Rational>) -> Result<Rational, Refusal> {
    let (mut lcm, mut gcd) = (Integer::from(1), Integer::new());
    for amount in amounts.filter(|amount| !amount.is_zero()) {
        // gcd(a/b, c/d) = gcd(a, c) / lcm(b, d) in lowest terms.
        lcm.lcm_mut(amount.denom());
        gcd.gcd_mut(amount.numer());
        if lcm.significant_bits() > MAX_DENOMINATOR {
            return Err(Refusal::Limit("the common denominator of the amounts is too long".to_owned()));
        }
    }
    Ok(if gcd.is_zero() { Rational::from(1) } else { Rational::from((lcm, gcd)) })
}
