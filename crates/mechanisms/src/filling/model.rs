//! The numbers of a filling in one arithmetic, and the state of a filling. A *step* is the placement of a
//! fixed number of tasks, usually one task.

use std::ops::Range;

use super::digits::Digits;
use super::prepared::Prepared;
use super::rule::{Rule, Score};

/// The data that does not change while servers fill up.
pub(super) struct Model<D: Digits> {
    /// The rule that chooses users and servers.
    pub rule: Rule,
    /// The position of the first server of each class. The last entry is the number of servers.
    pub first_server: Vec<usize>,
    /// The class of each server.
    pub class: Vec<u32>,
    /// The capacity of one server, indexed by class and then by row.
    pub capacity: Vec<Vec<D::Amount>>,
    /// The users that take part. User indices in this folder refer to this list.
    pub users: Vec<ModelUser<D>>,
    /// The factors that bring the terms of the mismatch to a common denominator.
    pub factors: Vec<D::Amount>,
    /// The number of rows: resources and time.
    pub n_rows: usize,
    /// `true` if servers have only one resource, for best fit.
    pub has_one_resource: bool,
}

/// A user that can run tasks, with the numbers that the filling needs.
pub(super) struct ModelUser<D: Digits> {
    /// The user's index in the problem.
    pub index: usize,
    /// The maximum number of steps.
    limit: u64,
    /// The weight of the user.
    weight: D::Amount,
    /// The inverse of the weight.
    per_weight: f64,
    /// The score of one step: a single score, or a score for each class, depending on the rule.
    units: Vec<D::Ratio>,
    /// The distinct demands of the user. Each demand has one amount for each row.
    pub demands: Vec<Vec<D::Amount>>,
    /// The factor with which a step of each demand counts in the user's score.
    counts: Vec<u64>,
    /// The index of the demand on each class, or `None` if the user may not run on the class.
    pub demand_on: Vec<Option<u32>>,
    /// `true` if the demand is the same on every class.
    pub is_uniform: bool,
}

impl<D: Digits> Model<D> {
    pub fn new(prepared: &Prepared, rule: Rule) -> Self {
        let amounts = |amounts: &[rug::Integer]| amounts.iter().map(D::amount).collect::<Vec<_>>();
        let mut first_server = vec![0];
        let mut class = Vec::new();
        for (i, &count) in prepared.counts.iter().enumerate() {
            class.resize(class.len() + count, i as u32);
            first_server.push(class.len());
        }
        let users = prepared.users.iter().map(|user| ModelUser {
            index: user.index,
            limit: user.limit,
            weight: D::amount(&user.weight),
            per_weight: rug::Rational::from((rug::Integer::from(1), user.weight.clone())).to_f64(),
            units: user.units.iter().map(D::ratio).collect(),
            demands: user.demands.iter().map(|demand| amounts(demand)).collect(),
            counts: user.counts.clone(),
            demand_on: user.demand_on.clone(),
            is_uniform: user.demand_on.iter().all(|demand| *demand == Some(0)),
        });
        Self {
            rule,
            first_server,
            class,
            capacity: prepared.capacity.iter().map(|rows| amounts(rows)).collect(),
            users: users.collect(),
            factors: amounts(&prepared.factors),
            n_rows: prepared.widths.resources,
            has_one_resource: prepared.factors.iter().filter(|factor| !factor.is_zero()).count() == 1,
        }
    }

    pub fn n_servers(&self) -> usize {
        self.class.len()
    }

    pub fn n_classes(&self) -> usize {
        self.capacity.len()
    }

    /// Returns the demand of a step of user `n` on a server of class `i`, or `None` if the user may not run
    /// there.
    pub fn demand(&self, n: usize, i: usize) -> Option<&[D::Amount]> {
        let user = &self.users[n];
        user.demand_on[i].map(|at| user.demands[at as usize].as_slice())
    }

    /// Returns the demand of a step of user `n` on server `j`, and the factor with which the step counts in
    /// the user's score. The user must be allowed to run on the server.
    fn step(&self, n: usize, j: usize) -> (&[D::Amount], u64) {
        let user = &self.users[n];
        let at = user.demand_on[self.class[j] as usize];
        at.map_or((&[], 0), |at| (&user.demands[at as usize], user.counts[at as usize]))
    }

    /// Returns the range of the rows of server `j`.
    pub fn rows_of(&self, j: usize) -> Range<usize> {
        j * self.n_rows..(j + 1) * self.n_rows
    }

    /// Returns whether a step of user `n` fits on an empty server of class `i`.
    pub fn fits_empty(&self, n: usize, i: usize) -> bool {
        self.demand(n, i).is_some_and(|demand| fits::<D>(demand, &self.capacity[i]))
    }

    /// Returns the score of one step of user `n` on class `i`, for scores that do not depend on the free amounts.
    pub fn unit(&self, n: usize, i: usize) -> &D::Ratio {
        let units = &self.users[n].units;
        if self.rule.score.is_of_user() { &units[0] } else { &units[i] }
    }

    /// Returns the score of one step of user `n` on a server with the free amounts `left`, which must be at least
    /// `demand`. The more capacity is free, the smaller the score.
    pub fn room(&self, n: usize, demand: &[D::Amount], left: &[D::Amount]) -> D::Ratio {
        D::residual_score(1, &self.users[n].weight, demand, left)
    }
}

/// The state of a filling.
pub(super) struct State<'m, D: Digits> {
    pub model: &'m Model<D>,
    /// The free amounts of each server, indexed by server and then by row.
    left: Vec<D::Amount>,
    /// The number of placed steps of each user.
    pub steps: Vec<u64>,
    /// The number of steps of each user as they count in its score.
    pub counted: Vec<u64>,
    /// The maximum number of steps of each user.
    limit: Vec<u64>,
    record: Record,
    /// The number of steps of all users.
    pub total: u64,
    /// The number of steps ever placed, including steps that have ended.
    turns: u64,
}

/// The record of the placed steps.
enum Record {
    /// The pairs `(user, steps)` of each server, in ascending order.
    ByServer(Vec<Vec<(u32, u64)>>),
    /// The pairs `(user, server)` in the order of placement, since the record was last drained.
    InOrder(Vec<(u32, u32)>),
}

/// The number of steps that are charged together. The clock is read once for each batch of this size.
const AT_ONCE: u64 = 1024;

/// The error that more steps are needed than this number. The number is [`Digits::MOST_STEPS`], or the number
/// of steps for which there was time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany(pub u64);

impl<'m, D: Digits> State<'m, D> {
    pub fn new(model: &'m Model<D>) -> Self {
        let limit = model.users.iter().map(|user| user.limit).collect();
        Self::with(model, limit, Record::ByServer(vec![Vec::new(); model.n_servers()]))
    }

    /// Creates a state with empty servers, and users without steps to place. [`State::allow`] adds steps to
    /// place, and [`State::remove`] ends placed steps. Placements are recorded in order.
    pub fn ongoing(model: &'m Model<D>) -> Self {
        Self::with(model, vec![0; model.users.len()], Record::InOrder(Vec::new()))
    }

    fn with(model: &'m Model<D>, limit: Vec<u64>, record: Record) -> Self {
        let rows = model.class.iter().flat_map(|&i| &model.capacity[i as usize]);
        Self {
            model,
            left: rows.cloned().collect(),
            steps: vec![0; model.users.len()],
            counted: vec![0; model.users.len()],
            limit,
            record,
            total: 0,
            turns: 0,
        }
    }

    /// Returns the pairs `(user, steps)` of each server in ascending order. The list is empty if placements
    /// are recorded in order.
    pub fn placed(&self) -> &[Vec<(u32, u64)>] {
        match &self.record {
            Record::ByServer(placed) => placed,
            Record::InOrder(_) => &[],
        }
    }

    /// Moves the pairs `(user, server)` that were placed since the last call into `placements`, which is
    /// cleared first.
    pub fn drain(&mut self, placements: &mut Vec<(u32, u32)>) {
        placements.clear();
        if let Record::InOrder(recent) = &mut self.record {
            std::mem::swap(recent, placements);
        }
    }

    /// Returns the free amount of each row of server `j`.
    pub fn left(&self, j: usize) -> &[D::Amount] {
        &self.left[self.model.rows_of(j)]
    }

    /// Returns whether user `n` has a step left to place.
    pub fn has_more(&self, n: usize) -> bool {
        self.steps[n] < self.limit[n]
    }

    /// Returns the number of steps that user `n` has left to place.
    pub fn waiting(&self, n: usize) -> u64 {
        self.limit[n] - self.steps[n]
    }

    /// Allows user `n` to place more steps.
    pub fn allow(&mut self, n: usize, steps: u64) {
        self.limit[n] = self.limit[n].saturating_add(steps);
    }

    /// Removes the steps that user `n` has left to place.
    pub fn forbid(&mut self, n: usize) {
        self.limit[n] = self.steps[n];
    }

    /// Returns whether a step of user `n` fits on server `j` now. The number of steps that the user has left
    /// does not matter.
    pub fn fits(&self, n: usize, j: usize) -> bool {
        let demand = self.model.demand(n, self.model.class[j] as usize);
        demand.is_some_and(|demand| fits::<D>(demand, self.left(j)))
    }

    /// Returns the score of user `n` on server `j`, where a step must fit.
    pub fn score(&self, n: usize, j: usize) -> D::Ratio {
        let class = self.model.class[j] as usize;
        let steps = self.counted[n];
        if self.model.rule.score != Score::ResidualPsDsf {
            return D::times(self.model.unit(n, class), steps);
        }
        let demand = self.model.demand(n, class).unwrap_or_default();
        D::residual_score(steps, &self.model.users[n].weight, demand, self.left(j))
    }

    /// Returns the score of user `n` on server `j`, where a step must fit, with a relative error of at most
    /// 1e-14. The result is infinite if the user may not run on the server, and NaN if the score is out of
    /// range.
    pub fn estimate(&self, n: usize, j: usize) -> f64 {
        let model = self.model;
        let class = model.class[j] as usize;
        let steps = self.counted[n] as f64;
        let unit = match model.rule.score {
            score if score.is_of_user() => D::to_f64(model.unit(n, 0)),
            score => {
                let Some(demand) = model.demand(n, class) else { return f64::INFINITY };
                if score == Score::PsDsf {
                    D::to_f64(model.unit(n, class))
                } else {
                    let parts = demand.iter().zip(self.left(j)).map(|(d, left)| D::quotient(d, left));
                    parts.fold(0.0, f64::max) * model.users[n].per_weight
                }
            }
        };
        let score = unit * steps;
        if score == 0.0 && steps == 0.0 || (1e-250..1e250).contains(&score) { score } else { f64::NAN }
    }

    /// Returns the score of user `n` if it does not depend on the server.
    pub fn user_score(&self, n: usize) -> D::Ratio {
        D::times(self.model.unit(n, 0), self.counted[n])
    }

    /// Returns the mismatch of user `n` and server `j`, whether or not a step fits. Returns `None` if the
    /// user may not run on the server, or if nothing is left of the first resource that the user demands.
    pub fn mismatch(&self, n: usize, j: usize) -> Option<D::Ratio> {
        let demand = self.model.demand(n, self.model.class[j] as usize)?;
        let (first, left) = (first_demanded::<D>(demand)?, self.left(j));
        let is_there = left[first] != D::Amount::default();
        is_there.then(|| match self.model.has_one_resource {
            true => D::whole(&left[first]),
            false => D::mismatch(&self.model.factors, first, demand, left),
        })
    }

    /// Places a step of user `n` on server `j`, where it must fit.
    pub fn place(&mut self, n: usize, j: usize) -> Result<(), TooMany> {
        if self.total == D::MOST_STEPS {
            return Err(TooMany(D::MOST_STEPS));
        }
        if self.turns.is_multiple_of(AT_ONCE) {
            if evenhand_budget::is_late() {
                return Err(TooMany(self.total));
            }
            let each = 20 + 5 * self.model.n_rows as u64;
            evenhand_budget::charge(AT_ONCE * each, "progressive filling");
        }
        let (demand, count) = self.model.step(n, j);
        for (left, amount) in self.left[self.model.rows_of(j)].iter_mut().zip(demand) {
            D::take(left, amount);
        }
        self.counted[n] += count;
        self.total += 1;
        self.turns += 1;
        self.steps[n] += 1;
        match &mut self.record {
            Record::InOrder(recent) => recent.push((n as u32, j as u32)),
            Record::ByServer(placed) => {
                let placed = &mut placed[j];
                match placed.binary_search_by_key(&(n as u32), |(user, _)| *user) {
                    Ok(at) => placed[at].1 += 1,
                    Err(at) => placed.insert(at, (n as u32, 1)),
                }
            }
        }
        Ok(())
    }

    /// Ends a step of user `n` on server `j`, where the step was placed. The step does not wait again.
    pub fn remove(&mut self, n: usize, j: usize) {
        let (demand, count) = self.model.step(n, j);
        for (left, amount) in self.left[self.model.rows_of(j)].iter_mut().zip(demand) {
            D::give(left, amount);
        }
        self.counted[n] -= count;
        self.total -= 1;
        self.steps[n] -= 1;
        self.limit[n] -= 1;
    }

    /// Opens or closes server `j`. No task may run on the server at that time. A closed server has no free
    /// amounts.
    pub fn set_there(&mut self, j: usize, is_there: bool) {
        let capacity = &self.model.capacity[self.model.class[j] as usize];
        for (left, c) in self.left[self.model.rows_of(j)].iter_mut().zip(capacity) {
            *left = if is_there { c.clone() } else { D::Amount::default() };
        }
    }
}

/// Returns whether `demand` fits into `left`.
pub(super) fn fits<D: Digits>(demand: &[D::Amount], left: &[D::Amount]) -> bool {
    demand.iter().zip(left).all(|(d, left)| d <= left)
}

/// Returns the first demanded resource, or `None` if the demand is empty.
pub(super) fn first_demanded<D: Digits>(demand: &[D::Amount]) -> Option<usize> {
    demand.iter().position(|d| *d != D::Amount::default())
}
