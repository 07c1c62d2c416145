//! The numbers of a filling in one arithmetic, and its state.

use std::ops::Range;

use super::digits::Digits;
use super::prepared::Prepared;
use super::rule::{Rule, Score};

/// What does not change while servers fill up.
pub(super) struct Model<D: Digits> {
    /// The rule.
    pub rule: Rule,
    /// By class: its first server; at the end the number of servers.
    pub first_server: Vec<usize>,
    /// By server: its class.
    pub class: Vec<u32>,
    /// By class, by row: capacity.
    pub capacity: Vec<Vec<D::Amount>>,
    /// The users that take part; all indices of users below count these.
    pub users: Vec<ModelUser<D>>,
    /// What brings the terms of the mismatch to one denominator.
    pub factors: Vec<D::Amount>,
    /// Resources, and time.
    pub n_rows: usize,
    /// For best fit: whether servers have one resource alone.
    pub has_one_resource: bool,
}

/// A user that takes part.
pub(super) struct ModelUser<D: Digits> {
    /// Its index in the problem.
    pub index: usize,
    limit: u64,
    weight: D::Amount,
    /// One over its weight.
    per_weight: f64,
    units: Vec<D::Ratio>,
    /// Its demands by row.
    pub demands: Vec<Vec<D::Amount>>,
    /// By demand: how often a step counts in its score.
    counts: Vec<u64>,
    /// By class: which of the demands; `None` where it may not run.
    pub demand_on: Vec<Option<u32>>,
    /// Whether its demand is the same on every class.
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

    /// What a step of user `n` takes on a server of class `i`; `None` where it may not run.
    pub fn demand(&self, n: usize, i: usize) -> Option<&[D::Amount]> {
        let user = &self.users[n];
        user.demand_on[i].map(|at| user.demands[at as usize].as_slice())
    }

    /// What a step of user `n` takes of server `j`, where it may run, and how often it counts in the user's score.
    fn step(&self, n: usize, j: usize) -> (&[D::Amount], u64) {
        let user = &self.users[n];
        let at = user.demand_on[self.class[j] as usize];
        at.map_or((&[], 0), |at| (&user.demands[at as usize], user.counts[at as usize]))
    }

    /// Where the rows of server `j` stand.
    pub fn rows_of(&self, j: usize) -> Range<usize> {
        j * self.n_rows..(j + 1) * self.n_rows
    }

    /// Whether a step of user `n` fits on an empty server of class `i`.
    pub fn fits_empty(&self, n: usize, i: usize) -> bool {
        self.demand(n, i).is_some_and(|demand| fits::<D>(demand, &self.capacity[i]))
    }

    /// What a step adds to the score of user `n` on class `i`; for scores that do not depend on what
    /// is left.
    pub fn unit(&self, n: usize, i: usize) -> &D::Ratio {
        let units = &self.users[n].units;
        if self.rule.score.is_of_user() { &units[0] } else { &units[i] }
    }

    /// What a step adds to the score of user `n` where `left` is left, which is at least `demand`: the
    /// less, the more room there is.
    pub fn room(&self, n: usize, demand: &[D::Amount], left: &[D::Amount]) -> D::Ratio {
        D::residual_score(1, &self.users[n].weight, demand, left)
    }
}

/// Servers filled so far.
pub(super) struct State<'m, D: Digits> {
    pub model: &'m Model<D>,
    /// By server and row: what is left.
    left: Vec<D::Amount>,
    /// By user: steps so far.
    pub steps: Vec<u64>,
    /// By user: the same as its score counts them.
    pub counted: Vec<u64>,
    /// By user: the most steps that it may have.
    limit: Vec<u64>,
    record: Record,
    /// Steps of all users.
    pub total: u64,
    /// Steps that were ever placed.
    turns: u64,
}

/// What is remembered of the steps.
enum Record {
    /// By server: `(user, steps)`, ascending.
    ByServer(Vec<Vec<(u32, u64)>>),
    /// `(user, server)` in the order of the placements since they were last taken away.
    InOrder(Vec<(u32, u32)>),
}

/// Steps that are charged together, and between two looks at the clock.
const AT_ONCE: u64 = 1024;

/// There are more steps than this, [`Digits::MOST_STEPS`], or than there was time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany(pub u64);

impl<'m, D: Digits> State<'m, D> {
    pub fn new(model: &'m Model<D>) -> Self {
        let limit = model.users.iter().map(|user| user.limit).collect();
        Self::with(model, limit, Record::ByServer(vec![Vec::new(); model.n_servers()]))
    }

    /// Empty servers, and users that have no step to place yet; steps come by [`State::allow`] and go by
    /// [`State::remove`], and placements are remembered in their order.
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

    /// By server: `(user, steps)`, ascending; nothing where placements are remembered in their order.
    pub fn placed(&self) -> &[Vec<(u32, u64)>] {
        match &self.record {
            Record::ByServer(placed) => placed,
            Record::InOrder(_) => &[],
        }
    }

    /// `(user, server)` of the placements since the last call, into `placements`, which is cleared.
    pub fn drain(&mut self, placements: &mut Vec<(u32, u32)>) {
        placements.clear();
        if let Record::InOrder(recent) = &mut self.record {
            std::mem::swap(recent, placements);
        }
    }

    /// What is left of server `j`, by row.
    pub fn left(&self, j: usize) -> &[D::Amount] {
        &self.left[self.model.rows_of(j)]
    }

    /// Whether user `n` has a step to place.
    pub fn has_more(&self, n: usize) -> bool {
        self.steps[n] < self.limit[n]
    }

    /// Steps that user `n` has yet to place.
    pub fn waiting(&self, n: usize) -> u64 {
        self.limit[n] - self.steps[n]
    }

    /// Lets user `n` place so many steps more.
    pub fn allow(&mut self, n: usize, steps: u64) {
        self.limit[n] = self.limit[n].saturating_add(steps);
    }

    /// Takes away the steps that user `n` has yet to place.
    pub fn forbid(&mut self, n: usize) {
        self.limit[n] = self.steps[n];
    }

    /// Whether a step of user `n` fits on server `j` now; its limit does not matter.
    pub fn fits(&self, n: usize, j: usize) -> bool {
        let demand = self.model.demand(n, self.model.class[j] as usize);
        demand.is_some_and(|demand| fits::<D>(demand, self.left(j)))
    }

    /// The score of user `n` on server `j`, where it fits.
    pub fn score(&self, n: usize, j: usize) -> D::Ratio {
        let class = self.model.class[j] as usize;
        let steps = self.counted[n];
        if self.model.rule.score != Score::ResidualPsDsf {
            return D::times(self.model.unit(n, class), steps);
        }
        let demand = self.model.demand(n, class).unwrap_or_default();
        D::residual_score(steps, &self.model.users[n].weight, demand, self.left(j))
    }

    /// The score of user `n` on server `j`, where it fits, within a part of 1e-14; infinite where it may not run, and not
    /// a number where the score is beyond the range.
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

    /// The score of user `n` where it does not depend on the server.
    pub fn user_score(&self, n: usize) -> D::Ratio {
        D::times(self.model.unit(n, 0), self.counted[n])
    }

    /// The mismatch of user `n` and server `j`; `None` where it may not run, or where nothing is left
    /// of the first resource that it demands. It need not fit.
    pub fn mismatch(&self, n: usize, j: usize) -> Option<D::Ratio> {
        let demand = self.model.demand(n, self.model.class[j] as usize)?;
        let (first, left) = (first_demanded::<D>(demand)?, self.left(j));
        let is_there = left[first] != D::Amount::default();
        is_there.then(|| match self.model.has_one_resource {
            true => D::whole(&left[first]),
            false => D::mismatch(&self.model.factors, first, demand, left),
        })
    }

    /// Places a step of user `n` on server `j`, where it fits.
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

    /// Removes a step of user `n` from server `j`, where it was placed: it is done and does not come back.
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

    /// Server `j`, on which nothing runs, is there with all that it has, or with nothing.
    pub fn set_there(&mut self, j: usize, is_there: bool) {
        let capacity = &self.model.capacity[self.model.class[j] as usize];
        for (left, c) in self.left[self.model.rows_of(j)].iter_mut().zip(capacity) {
            *left = if is_there { c.clone() } else { D::Amount::default() };
        }
    }
}

/// Whether `demand` is within `left`.
pub(super) fn fits<D: Digits>(demand: &[D::Amount], left: &[D::Amount]) -> bool {
    demand.iter().zip(left).all(|(d, left)| d <= left)
}

/// The first resource that is demanded.
pub(super) fn first_demanded<D: Digits>(demand: &[D::Amount]) -> Option<usize> {
    demand.iter().position(|d| *d != D::Amount::default())
}
