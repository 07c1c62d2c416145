//! The gain from one more unit of a resource of a class. The mechanism is run again with the unit, and with a
//! thousandth of the unit. Both results are compared with the mechanism's answer without the addition.

use evenhand_exact::{Axiom, Instance, Parameters, ShareCoefficients};
use evenhand_levels::level::LevelDual;
use evenhand_mechanisms::{Findings, Flags, Mechanism, MechanismError, Outcome, registry};
use evenhand_problem::groups::ShareOver;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, RowKind, Sharing};
use thiserror::Error;

use super::ROUNDING;
use super::enclose::{Between, optimum};

/// The number of rows for which the mechanism is run, twice for each row. For all other rows, only a bound is computed.
const MOST_ROWS: usize = 32;

/// The number of rows for which the mechanism is run if users times classes exceed [`LARGE`].
const MOST_ROWS_OF_LARGE: usize = 4;

/// The number of users times classes above which one run of a mechanism can take seconds.
const LARGE: usize = 20_000;

/// Mechanisms with several answers, in which a user can have different numbers of tasks.
const SEVERAL_ANSWERS: [&str; 4] = ["utilitarian", "oef", "njc", "ps-dsf"];

/// The fraction of a unit that is used as a small step.
const STEP: (u32, u32) = (1, 1000);

/// The gain from one more unit of each row, compared with the mechanism's own answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OneMoreUnit {
    /// The user's tasks in the mechanism's answer without the unit.
    pub tasks: Between,
    /// True if the explained allocation differs from the mechanism's answer.
    pub differs: bool,
    /// The rows for which the mechanism was run. The row with the largest gain of the user comes first.
    pub rows: Vec<UnitOfRow>,
    /// The number of rows for which the mechanism was not run.
    pub others: usize,
    /// An upper bound on the user's gain from any of these other rows. `None` if there are no such rows.
    pub others_at_most: Option<Rational>,
}

/// The gain from one more unit of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitOfRow {
    /// The class that gets the unit. The unit is divided among all its servers.
    pub server: usize,
    /// The resource.
    pub resource: usize,
    /// The number of tasks that the user gains. Negative if the user loses tasks.
    pub tasks: Between,
    /// The gain from a thousandth of a unit, in tasks, times 1,000.
    pub rate: Between,
    /// Every other user that gains or loses, with its gain.
    pub users: Vec<(usize, Between)>,
    /// True if the unit also changes the totals that define users' shares.
    pub changes_shares: bool,
}

/// The reason why the gain was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotMeasured {
    /// The allocation names no mechanism.
    #[error("the allocation names no mechanism that could be run again with the unit")]
    NoMechanism,
    /// The mechanism is not in the registry.
    #[error("the allocation names the mechanism `{0}`, which does not exist here")]
    UnknownMechanism(String),
    /// The mechanism has several answers, so a difference between two answers shows nothing.
    #[error(
        "{0} can have several answers, so a difference may come from the choice of the answer instead of the unit"
    )]
    SeveralAnswers(&'static str),
    /// The mechanism has several answers for this criterion.
    #[error("{0} with a criterion that depends on the class can have several answers")]
    SeveralPlacements(&'static str),
    /// Placements of whole tasks depend on their order.
    #[error("{0} places whole tasks one after another, so the effect of a unit also depends on their order")]
    WholeTasks(&'static str),
    /// The shares of a problem with rates refer to parts of the cluster, which the unit changes.
    #[error("users state rates: one more unit also changes the references of their shares")]
    Rates,
    /// The rule divides resources among groups and gives no tasks.
    #[error("the rule `{0}` computes entitlements of groups and gives no tasks")]
    NoTasks(String),
    /// The irrational answer is not enclosed precisely enough.
    #[error("{0} computed no answer that is close enough to the optimum to measure differences")]
    TooFar(&'static str),
    /// The mechanism returns an error.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// Measures the gain of `user` from one more unit of each row, under the mechanism that the allocation names.
///
/// # Errors
/// [`NotMeasured`] if the gain cannot be measured.
pub fn one_more_unit(
    problem: &Problem,
    allocation: &Allocation,
    user: usize,
) -> Result<OneMoreUnit, NotMeasured> {
    if problem.has_rates() {
        return Err(NotMeasured::Rates);
    }
    let mechanism = NamedMechanism::by(problem, allocation)?;
    let base = mechanism.answer(problem)?;
    let rows = rows(problem);
    let is_large = problem.n_users().saturating_mul(problem.n_servers()) > LARGE;
    let most = if is_large { MOST_ROWS_OF_LARGE } else { MOST_ROWS };
    let (rows, others, others_at_most) = if rows.len() <= most {
        (rows, 0, None)
    } else {
        let mut bounded: Vec<(Bound, (usize, usize))> =
            rows.into_iter().map(|row| (mechanism.bound(problem, &base, user, row), row)).collect();
        // If bounds are equal, the prices still show which row is worth most.
        let order = |bound: &Bound| (bound.gain.clone(), bound.by_prices.clone());
        bounded.sort_by(|a, b| order(&b.0).cmp(&order(&a.0)).then(a.1.cmp(&b.1)));
        let others = bounded.split_off(most);
        let at_most = others.first().map(|(bound, _)| bound.gain.clone());
        (bounded.into_iter().map(|(_, row)| row).collect(), others.len(), at_most)
    };
    let mut measured = rows
        .into_iter()
        .map(|row| mechanism.row(problem, &base, user, row))
        .collect::<Result<Vec<_>, _>>()?;
    let middle = |gain: &Between| Rational::from(&gain.at_least + &gain.at_most);
    measured.sort_by(|a, b| {
        let by_gain = middle(&b.tasks).cmp(&middle(&a.tasks)).then(middle(&b.rate).cmp(&middle(&a.rate)));
        by_gain.then((a.server, a.resource).cmp(&(b.server, b.resource)))
    });
    let differs = differs(problem, allocation, &base.tasks);
    let tasks = base.tasks[user].clone();
    Ok(OneMoreUnit { tasks, differs, rows: measured, others, others_at_most })
}

/// Returns the class and the resource of every row for which a unit can matter. These are the rows of which the class
/// has some capacity, or which some user demands.
fn rows(problem: &Problem) -> Vec<(usize, usize)> {
    let mut is_demanded = vec![false; problem.n_resources()];
    for n in 0..problem.n_users() {
        for i in (0..problem.n_servers()).filter(|i| problem.users()[n].may_use(*i)) {
            problem.demand(n, i).entries().iter().for_each(|(r, _)| is_demanded[*r] = true);
        }
    }
    let of_class = |i: usize| {
        let is_demanded = &is_demanded;
        let counts = move |r: &usize| is_demanded[*r] || problem.servers()[i].capacity()[*r] > 0;
        (0..problem.n_resources()).filter(counts).map(move |r| (i, r))
    };
    (0..problem.n_servers()).flat_map(of_class).collect()
}

/// Returns true if some user's tasks differ from the mechanism's answer by more than rounding.
fn differs(problem: &Problem, allocation: &Allocation, tasks: &[Between]) -> bool {
    (0..problem.n_users()).any(|n| {
        let stated = allocation.total(n);
        let rounding = match allocation.arithmetic {
            Arithmetic::Exact => Rational::new(),
            Arithmetic::Float => problem.total_gamma(n) * Rational::from(ROUNDING),
        };
        Rational::from(&stated + &rounding) < tasks[n].at_least || stated - rounding > tasks[n].at_most
    })
}

/// The mechanism of an allocation, with its settings.
struct NamedMechanism {
    mechanism: &'static Mechanism,
    flags: Flags,
    parameters: Option<(Axiom, Parameters)>,
}

/// Upper bounds on a user's gain from one more unit of a row.
struct Bound {
    /// The upper bound on the gain, in tasks.
    gain: Rational,
    /// The upper bound on the user's tasks with the unit that follows from prices, if there are prices.
    by_prices: Option<Rational>,
}

/// The mechanism's answer without the unit.
struct Answer {
    tasks: Vec<Between>,
    outcome: Outcome,
    /// The totals that define shares.
    references: Vec<Rational>,
}

impl NamedMechanism {
    /// Returns the mechanism that an allocation names, with the settings that it states.
    fn by(problem: &Problem, allocation: &Allocation) -> Result<Self, NotMeasured> {
        let name = allocation.mechanism.as_deref().ok_or(NotMeasured::NoMechanism)?;
        let mechanism = registry::find(name).ok_or_else(|| NotMeasured::UnknownMechanism(name.to_owned()))?;
        let id = mechanism.info.id;
        if mechanism.is_of_whole_tasks() || allocation.placements.is_some() {
            return Err(NotMeasured::WholeTasks(id));
        }
        if SEVERAL_ANSWERS.contains(&id) {
            return Err(NotMeasured::SeveralAnswers(id));
        }
        let parameters = (mechanism.axiom)(allocation);
        let mut flags = Flags::new(Arithmetic::Exact);
        if let Some(alpha) = allocation.alpha.as_ref().filter(|_| mechanism.takes("alpha")) {
            flags = flags.with("alpha", alpha.to_string());
        }
        if allocation.criterion && mechanism.takes("criterion") {
            flags = flags.with("criterion", "");
        }
        for word in allocation.rule.iter().flat_map(|rule| rule.split_whitespace()) {
            match mechanism.flags.iter().find(|flag| flag.name == word) {
                Some(flag) => flags = flags.with(flag.name, ""),
                None if mechanism.takes("share") => flags = flags.with("share", word),
                None => flags = flags.with("rule", word),
            }
        }
        let mechanism = Self { mechanism, flags, parameters };
        if let Some(share) = mechanism.share(problem)
            && (0..problem.n_users()).any(|n| problem.is_active(n) && share.uniform(n).is_none())
        {
            return Err(NotMeasured::SeveralPlacements(id));
        }
        Ok(mechanism)
    }

    /// Returns the share that the mechanism equalises, or the share whose sum it maximises instead of the sum of tasks.
    fn share(&self, problem: &Problem) -> Option<ShareCoefficients> {
        self.parameters.as_ref()?.1.share?.coefficients(problem).ok()
    }

    fn solve(&self, problem: &Problem) -> Result<(Outcome, Vec<Between>), NotMeasured> {
        let id = self.mechanism.info.id;
        let outcome = self.mechanism.allocate_with(problem, &self.flags)?;
        if outcome.findings.entitlements.is_some() {
            return Err(NotMeasured::NoTasks(outcome.allocation.rule.unwrap_or_default()));
        }
        let gap = outcome.findings.gap.clone().unwrap_or_default();
        let tasks = self.enclosed(problem, &outcome, &gap).ok_or(NotMeasured::TooFar(id))?;
        Ok((outcome, tasks))
    }

    /// Returns intervals of all users' tasks in the optimum, if no allocation gains more than `gap` compared with the
    /// allocation of `outcome`.
    fn enclosed(&self, problem: &Problem, outcome: &Outcome, gap: &Rational) -> Option<Vec<Between>> {
        let allocation = &outcome.allocation;
        if gap.is_zero() {
            return Some(allocation.totals().into_iter().map(Between::known).collect());
        }
        let instance = Instance::new(problem, allocation).ok()?;
        let alpha = allocation.alpha.clone().unwrap_or_else(|| Rational::from(1));
        optimum(&instance, &alpha, self.share(problem).as_ref(), gap)
    }

    fn answer(&self, problem: &Problem) -> Result<Answer, NotMeasured> {
        let (outcome, tasks) = self.solve(problem)?;
        Ok(Answer { tasks, outcome, references: self.references(problem) })
    }

    /// Returns the totals that define shares. The list is empty for a fair sum, which uses no shares.
    fn references(&self, problem: &Problem) -> Vec<Rational> {
        let users = 0..problem.n_users();
        match &self.parameters {
            Some((Axiom::Proportional, _)) => Vec::new(),
            Some((Axiom::MaxMin | Axiom::MaxMinPackings, _)) => {
                self.share(problem).map_or_else(Vec::new, |share| {
                    users.map(|n| share.uniform(n).cloned().unwrap_or_default()).collect()
                })
            }
            // Such mechanisms compare users on each class by the tasks that they would have with the whole class.
            _ if self.mechanism.takes("rule") => match problem.groups().share().over {
                ShareOver::Guarantee => Vec::new(),
                ShareOver::Cluster | ShareOver::Lendable => problem.total_capacity().to_vec(),
            },
            _ => users
                .flat_map(|n| problem.classes_of(n).map(move |i| (n, i)))
                .map(|(n, i)| problem.gamma(n, i))
                .collect(),
        }
    }

    /// Measures the gain from one more unit of a row.
    fn row(
        &self,
        problem: &Problem,
        base: &Answer,
        user: usize,
        (server, resource): (usize, usize),
    ) -> Result<UnitOfRow, NotMeasured> {
        let with_unit = problem.with_more(server, resource, &Rational::from(1));
        let tasks = self.solve(&with_unit)?.1;
        let step = problem.with_more(server, resource, &Rational::from(STEP));
        let small = self.solve(&step)?.1;
        let others = (0..problem.n_users()).filter(|n| *n != user);
        let gains = others.map(|n| (n, tasks[n].minus(&base.tasks[n])));
        Ok(UnitOfRow {
            server,
            resource,
            tasks: tasks[user].minus(&base.tasks[user]),
            rate: small[user].minus(&base.tasks[user]).times(STEP.1),
            users: gains.filter(|(_, gain)| !gain.can_be_zero()).collect(),
            changes_shares: self.references(&with_unit) != base.references,
        })
    }

    /// Returns an upper bound on the user's gain from one more unit of a row. One bound is the number of tasks that the
    /// user would have with the whole cluster to itself. Prices give another bound.
    fn bound(
        &self,
        problem: &Problem,
        base: &Answer,
        user: usize,
        (server, resource): (usize, usize),
    ) -> Bound {
        let has_some = problem.servers()[server].capacity()[resource] > 0;
        // If the class lacks the resource, the unit changes the number of tasks that the user would have alone only if
        // the user demands the resource.
        let opens = || problem.users()[user].may_use(server) && problem.demand(user, server)[resource] > 0;
        if !has_some && !opens() {
            let alone = problem.total_gamma(user);
            let alone = problem.users()[user].tasks().map_or(alone.clone(), |tasks| alone.min(tasks.clone()));
            return Bound { gain: alone - &base.tasks[user].at_least, by_prices: None };
        }
        let with_unit = problem.with_more(server, resource, &Rational::from(1));
        let alone = with_unit.total_gamma(user);
        let alone = problem.users()[user].tasks().map_or(alone.clone(), |tasks| alone.min(tasks.clone()));
        let constraints = Constraints::new(problem, Sharing::Rdm);
        // If the class lacks the resource, no task that uses the resource could run on it. So the prices say nothing
        // about such tasks.
        let row = constraints.row_of(server, RowKind::Resource(resource)).filter(|_| has_some);
        let Findings { prices, levels, gap, .. } = &base.outcome.findings;
        let by_prices = match (&self.parameters, row) {
            (Some((Axiom::Proportional, _)), Some(row)) => prices.as_ref().and_then(|prices| {
                // The price of the unit bounds the additional gain of the best allocation with the unit.
                let gap = Rational::from(gap.as_ref()? + prices.rows.get(row)?);
                Some(self.enclosed(problem, &base.outcome, &gap)?.swap_remove(user).at_most)
            }),
            (Some((Axiom::MaxMin, _)), Some(row)) => levels.as_ref().and_then(|levels| {
                let bounds = Levels::new(self, &constraints, &with_unit, &base.tasks)?;
                levels.iter().filter_map(|dual| bounds.most(dual, user, row)).min()
            }),
            _ => None,
        };
        let most = by_prices.iter().fold(alone, |most, tasks| most.min(tasks.clone()));
        Bound { gain: most - &base.tasks[user].at_least, by_prices }
    }
}

/// Data for bounds on the tasks of a max-min answer with one more unit of a row.
struct Levels<'a> {
    constraints: &'a Constraints<'a>,
    share: ShareCoefficients,
    /// The lower bound on each user's tasks.
    least: Vec<Rational>,
}

impl<'a> Levels<'a> {
    /// Prepares the bounds. `tasks` is the answer without the unit, which is also feasible with the unit. So no user
    /// that lacks tasks falls below the least level that such users have in `tasks`.
    fn new(
        mechanism: &NamedMechanism,
        constraints: &'a Constraints<'a>,
        with_unit: &Problem,
        tasks: &[Between],
    ) -> Option<Self> {
        let share = mechanism.share(constraints.problem())?;
        let with_unit_share = mechanism.share(with_unit)?;
        let users = with_unit.users();
        let value = |n: usize| with_unit_share.uniform(n).filter(|u| !u.is_zero() && with_unit.is_active(n));
        let pending = |n: &usize| users[*n].tasks().is_none_or(|limit| tasks[*n].at_least < *limit);
        let levels = (0..users.len())
            .filter(pending)
            .filter_map(|n| Some(Rational::from(value(n)? * &tasks[n].at_least) / users[n].weight()));
        let level = levels.min();
        let least = |n: usize| {
            let at_level = match (value(n), &level) {
                (None, _) => Some(Rational::new()),
                (Some(u), Some(level)) => Some(Rational::from(level * users[n].weight()) / u),
                (Some(_), None) => None,
            };
            at_level.into_iter().chain(users[n].tasks().cloned()).min().unwrap_or_default()
        };
        let least = (0..users.len()).map(least).collect();
        Some(Self { constraints, share, least })
    }

    /// Returns the most tasks of the user that the prices of a level allow. With the unit, the worth of all users'
    /// tasks grows by at most the price of the unit, and every other user has at least `least`.
    fn most(&self, dual: &LevelDual, user: usize, row: usize) -> Option<Rational> {
        let users = self.constraints.problem().users();
        let rows = self.constraints.rows();
        let mut left: Rational = dual
            .prices
            .rows
            .iter()
            .map(|(at, price)| {
                let unit = u32::from(*at == row);
                Rational::from(&rows[*at].capacity + unit) * price
            })
            .sum();
        for (n, price) in &dual.prices.users {
            left += Rational::from(users[*n].tasks()? * price);
        }
        let mut own = None;
        for (n, weight) in &dual.prices.user_weights {
            let worth = Rational::from(weight * self.share.uniform(*n)?) / users[*n].weight();
            if *n == user {
                own = Some(worth).filter(|worth| !worth.is_zero());
            } else {
                left -= worth * &self.least[*n];
            }
        }
        Some(left / own?)
    }
}
