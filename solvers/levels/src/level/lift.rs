//! The exact vertex and dual of a basis, computed through the structure of the programme.
//!
//! Every group has one row of its own and, at a vertex, runs on one *key* class. Only a few groups
//! are split, and only the saturated rows tie groups together (docs/theory.md, fact 0). With the
//! keys eliminated, a split group `c` gives one equation between the prices of the saturated rows,
//!
//! ```text
//! sum_row p_row (d_c,row - d_key,row) = 0,
//! ```
//!
//! with small integers. There is one equation less than there are saturated rows, so the prices are
//! the null vector. The level follows from strong duality, and the split tasks from the transposed
//! system. Only the level and the numbers that depend on it are ever large: they have the
//! denominators of all users.

use evenhand_budget::{charge, each, each_of, room, words_of_bits};
use evenhand_problem::{Integer, Rational, Sums};
use rug::Assign;

use super::integers::{Integers, scaled};
use super::master::MasterBasis;
use super::part::{GroupOnClass, Part, Target};
use super::rounds::Settings;
use evenhand_lp::linear::Lu;

/// The name under which the work for a level is charged to the budget.
pub const LEVEL: &str = "an exact level";

/// For each group, `(class, tasks)` if the group does not run on its key class alone.
pub type SplitTasks = Vec<Option<Vec<(usize, Rational)>>>;

/// The exact optimum of one round.
pub struct Lifted {
    /// The level `t`.
    pub level: Rational,
    /// For each capacity row, the price per unit of the row, up to a common scale.
    pub prices: Vec<Rational>,
    /// For each group, the price of one more task, on the same scale.
    pub group_prices: Vec<Rational>,
    /// The tasks of the groups that run on several classes.
    pub split: SplitTasks,
    /// For each group, the class on which it runs, or one of its classes if it is split. `None` if the level of the
    /// group has the price 0 and the group has more tasks than it needs.
    pub key: Vec<Option<usize>>,
    /// For each group, the classes that cost exactly as much as its level is worth.
    pub stays: Vec<Vec<usize>>,
}

/// The reason why a basis could not be lifted.
#[derive(Debug)]
pub enum LiftFailure {
    /// The basis does not have the structure on which the elimination relies, or is singular.
    Structure,
    /// The vertex violates a constraint.
    PrimalInfeasible,
    /// Some placements would still raise the level. The list has the best placement of each group.
    Improvable(Vec<GroupOnClass>),
    /// The time is up, or will not suffice.
    OutOfTime,
}

/// A lift of the basis of a round.
pub struct Lift<'a> {
    part: &'a Part<'a>,
    integers: &'a Integers,
    targets: &'a [Target],
    settings: Settings,
}

/// The kernel: the basis after the keys are eliminated.
struct Kernel {
    /// Key class of each group. `None` for a group whose own slack is basic.
    key: Vec<Option<usize>>,
    /// `(group, class)` of the other basic placements.
    extras: Vec<(usize, usize)>,
    /// The capacity rows whose slack is not basic, ascending.
    tight: Vec<usize>,
    /// For each capacity row, its position in `tight`.
    position: Vec<Option<usize>>,
}

impl<'a> Lift<'a> {
    pub fn new(
        part: &'a Part<'a>,
        integers: &'a Integers,
        targets: &'a [Target],
        settings: Settings,
    ) -> Self {
        Self { part, integers, targets, settings }
    }

    /// Lifts a basis to an exact optimum, or returns the reason why it cannot be lifted.
    pub fn lift(&self, basis: &MasterBasis) -> Result<Lifted, LiftFailure> {
        let kernel = self.kernel(basis)?;
        let factors = self.factor(&kernel)?;
        let prices = self.prices(&kernel, &factors)?;
        let group_price = |g: usize| kernel.key[g].map_or_else(Integer::new, |i| self.value(&prices, g, i));
        let group_prices = each(self.part.groups.len(), 1, group_price);
        let stays = self.check_dual(&prices, &group_prices)?;
        let (level, residual) = self.level(&kernel, &prices, &group_prices)?;
        let split = self.split(&kernel, &factors, &level, &residual)?;
        let prices = prices
            .into_iter()
            .zip(&self.part.rows)
            .map(|(p, &at)| Rational::from(p * &self.integers.scale[at]))
            .collect();
        Ok(Lifted {
            level,
            prices,
            group_prices: group_prices.into_iter().map(Rational::from).collect(),
            split,
            key: kernel.key,
            stays,
        })
    }

    /// Splits the basic placements into keys and extras. Fails if the basis has another structure.
    fn kernel(&self, basis: &MasterBasis) -> Result<Kernel, LiftFailure> {
        if !basis.level || (0..self.part.groups.len()).any(|g| self.part.tasks_per_level(g).is_none()) {
            return Err(LiftFailure::Structure);
        }
        let mut key = vec![None; self.part.groups.len()];
        let mut extras = Vec::new();
        for (placement, _) in basis.placements.iter().filter(|(_, basic)| *basic) {
            if basis.group_slacks[placement.g] || key[placement.g].is_some() {
                extras.push((placement.g, placement.c));
            } else {
                key[placement.g] = Some(placement.c);
            }
        }
        let keyless = key.iter().zip(&basis.group_slacks).any(|(k, slack)| k.is_none() && !slack);
        let tight: Vec<usize> =
            (0..basis.capacity_slacks.len()).filter(|&row| !basis.capacity_slacks[row]).collect();
        if keyless || extras.len() + 1 != tight.len() {
            return Err(LiftFailure::Structure);
        }
        let mut position = vec![None; basis.capacity_slacks.len()];
        for (at, &row) in tight.iter().enumerate() {
            position[row] = Some(at);
        }
        Ok(Kernel { key, extras, tight, position })
    }

    /// Factors the equations between prices, one row for each extra placement.
    fn factor(&self, kernel: &Kernel) -> Result<Lu, LiftFailure> {
        let row = |&(g, i): &(usize, usize)| {
            let mut row = Vec::new();
            self.for_each_change(kernel, g, i, |at, value| {
                if let Some(at) = kernel.position[at] {
                    row.push((at, Rational::from(value)));
                }
            });
            row
        };
        let rows = kernel.extras.iter().map(row).collect();
        Lu::factor(rows, kernel.tight.len()).map_err(|_| LiftFailure::Structure)
    }

    /// Calls `visit` with the usage of each row by a task of group `g` on class `i`, and with minus the usage of each
    /// row by a task on the key class of the group.
    fn for_each_change(&self, kernel: &Kernel, g: usize, i: usize, mut visit: impl FnMut(usize, Integer)) {
        for (row, value) in self.integers.usage(self.part, g, i) {
            visit(row, value.into_owned());
        }
        if let Some(key) = kernel.key[g] {
            for (row, value) in self.integers.usage(self.part, g, key) {
                visit(row, -value.into_owned());
            }
        }
    }

    /// Computes the prices of the capacity rows, in integers: the null vector of the equations.
    fn prices(&self, kernel: &Kernel, factors: &Lu) -> Result<Vec<Integer>, LiftFailure> {
        // The equations are independent, and there is one equation less than there are prices.
        let [free] = factors.free_columns() else { return Err(LiftFailure::Structure) };
        let mut null = vec![Rational::new(); kernel.tight.len()];
        null[*free] = Rational::from(1);
        factors.solve(vec![Rational::new(); kernel.extras.len()], &mut null);
        let (null, _) = over_one_denominator(&null);
        // The sign is chosen such that the sum of the prices is positive. A zero sum cannot be a dual.
        let is_negative = null.iter().sum::<Integer>() < 0;
        let mut prices = vec![Integer::new(); self.part.rows.len()];
        for (&row, value) in kernel.tight.iter().zip(null) {
            prices[row] = if is_negative { -value } else { value };
        }
        if prices.iter().any(|p| *p < 0) {
            return Err(LiftFailure::Improvable(Vec::new()));
        }
        Ok(prices)
    }

    /// Returns the cost of one task of group `g` on class `i`.
    fn value(&self, prices: &[Integer], g: usize, i: usize) -> Integer {
        let mut sum = Integer::new();
        self.set_value(&mut sum, prices, g, i);
        sum
    }

    /// Sets `sum` to [`Lift::value`], in place.
    fn set_value(&self, sum: &mut Integer, prices: &[Integer], g: usize, i: usize) {
        sum.assign(0);
        for (row, usage) in self.integers.usage(self.part, g, i) {
            *sum += &prices[row] * &*usage;
        }
    }

    /// Checks that no group has a class that is cheaper than the worth of its level. Returns for each group the classes
    /// whose cost equals this worth.
    fn check_dual(
        &self,
        prices: &[Integer],
        group_prices: &[Integer],
    ) -> Result<Vec<Vec<usize>>, LiftFailure> {
        let of_group = |g: usize| {
            let (mut price, mut best) = (Integer::new(), group_prices[g].clone());
            let (mut choice, mut stays) = (None, Vec::new());
            for &c in &self.part.classes[g] {
                self.set_value(&mut price, prices, g, c);
                if price == group_prices[g] {
                    stays.push(c);
                }
                if price < best {
                    std::mem::swap(&mut price, &mut best);
                    choice = Some(GroupOnClass { g, c });
                }
            }
            (choice, stays)
        };
        let n_entries = self.part.n_placements() / self.part.groups.len().max(1);
        let (choices, stays): (Vec<_>, Vec<_>) =
            each(self.part.groups.len(), n_entries, of_group).into_iter().unzip();
        let improving: Vec<GroupOnClass> = choices.into_iter().flatten().collect();
        if improving.is_empty() { Ok(stays) } else { Err(LiftFailure::Improvable(improving)) }
    }

    /// Computes the level. Also computes, for each capacity row, the scaled capacity minus the usage of the targets on
    /// the key classes.
    fn level(
        &self,
        kernel: &Kernel,
        prices: &[Integer],
        group_prices: &[Integer],
    ) -> Result<(Rational, Vec<Rational>), LiftFailure> {
        // The needs of the target levels: tasks per level for this round and for each earlier level, and numbers of
        // tasks for satisfied groups.
        let mut active = LoadSum::new();
        let mut frozen: Vec<LoadSum<'_>> = self.part.levels.iter().map(|_| LoadSum::new()).collect();
        let mut satisfied = LoadSum::new();
        for (g, key) in kernel.key.iter().enumerate() {
            let Some(i) = *key else { continue };
            let (sum, amount) = match self.targets[g] {
                Target::Active => (&mut active, self.part.tasks_per_level(g)),
                Target::Frozen(round) => (&mut frozen[round], self.part.tasks_per_level(g)),
                Target::Tasks => (&mut satisfied, self.part.group(g).tasks.as_ref()),
            };
            let Some(amount) = amount else { return Err(LiftFailure::Structure) };
            if sum.add(amount, g, i) {
                // The level is about as long as this denominator, since little of a sum of such fractions cancels. The
                // numbers of tasks of all users are equally long, and must be computed, stored and written.
                let (long, count) = (words(&active.denominator), active.terms.len() as u64);
                self.settings.room_for(count, long).map_err(|_| LiftFailure::OutOfTime)?;
                room(long.saturating_mul(8 * count), LEVEL);
            }
        }
        let active = active.finish(self.part, self.integers, group_prices);
        let satisfied = satisfied.finish(self.part, self.integers, group_prices);
        if active.value <= 0 {
            return Err(LiftFailure::Structure);
        }
        let mut rest: Vec<Rational> = self
            .part
            .rows
            .iter()
            .zip(&satisfied.rows)
            .map(|(&at, used)| Rational::from(&self.integers.capacity[at] - used))
            .collect();
        let mut worth: Rational = prices
            .iter()
            .zip(&self.part.rows)
            .map(|(p, &at)| Integer::from(p * &self.integers.capacity[at]))
            .sum::<Integer>()
            .into();
        worth -= &satisfied.value;
        for (level, sum) in self.part.levels.iter().zip(frozen) {
            let sum = sum.finish(self.part, self.integers, group_prices);
            for (rest, used) in rest.iter_mut().zip(&sum.rows) {
                if !used.is_zero() {
                    *rest -= Rational::from(used * level);
                }
            }
            worth -= Rational::from(&sum.value * level);
        }
        let level = worth / &active.value;
        if level < 0 {
            return Err(LiftFailure::PrimalInfeasible);
        }
        for (rest, used) in rest.iter_mut().zip(&active.rows) {
            if !used.is_zero() {
                *rest -= Rational::from(used * &level);
            }
        }
        Ok((level, rest))
    }

    /// Computes the tasks of the split groups, and checks that the vertex is feasible.
    fn split(
        &self,
        kernel: &Kernel,
        factors: &Lu,
        level: &Rational,
        rest: &[Rational],
    ) -> Result<SplitTasks, LiftFailure> {
        let (mut rest, scale) = over_one_denominator(rest);
        // The extra placements use exactly the capacity of the tight rows that the keys leave free.
        let right = kernel.tight.iter().map(|&row| Rational::from(&rest[row])).collect();
        let (tasks, denominator) = over_one_denominator(&factors.solve_transposed(right));
        if tasks.iter().any(|x| *x < 0) {
            return Err(LiftFailure::PrimalInfeasible);
        }
        for rest in &mut rest {
            *rest *= &denominator;
        }
        let denominator = denominator * scale;
        let mut split: Vec<Option<Vec<(usize, Integer)>>> = vec![None; self.part.groups.len()];
        for (&(g, i), tasks) in kernel.extras.iter().zip(tasks) {
            self.for_each_change(kernel, g, i, |row, value| rest[row] -= value * &tasks);
            split[g].get_or_insert_default().push((i, tasks));
        }
        let tight = |row: usize| kernel.position[row].is_some();
        if rest.iter().enumerate().any(|(row, rest)| if tight(row) { *rest != 0 } else { *rest < 0 }) {
            return Err(LiftFailure::PrimalInfeasible);
        }
        let of_group = |(g, list): (usize, Option<Vec<(usize, Integer)>>)| {
            let Some(list) = list else {
                return if kernel.key[g].is_some() { Ok(None) } else { Err(LiftFailure::PrimalInfeasible) };
            };
            let mut surplus = Sums::of(&[self.target(g, level)]);
            let place = |(i, tasks): (usize, Integer)| {
                surplus.add_over(&Integer::from(-1), &tasks, &denominator);
                (i, Rational::from((tasks, denominator.clone())))
            };
            let mut list: Vec<(usize, Rational)> = list.into_iter().map(place).collect();
            let surplus = surplus.first();
            match kernel.key[g] {
                Some(key) if surplus >= 0 => list.push((key, surplus)),
                None if surplus <= 0 => trim(&mut list, -surplus),
                _ => return Err(LiftFailure::PrimalInfeasible),
            }
            list.sort_by_key(|(i, _)| *i);
            list.retain(|(_, x)| !x.is_zero());
            Ok(Some(list))
        };
        let n_entries = words(&denominator) as usize;
        each_of(split.into_iter().enumerate().collect(), n_entries, of_group).into_iter().collect()
    }

    /// Returns the tasks that group `g` must reach.
    fn target(&self, g: usize, level: &Rational) -> Rational {
        self.part.target_tasks(g, self.targets[g], level)
    }
}

/// Removes `surplus` tasks, starting from the last class.
pub fn trim(list: &mut [(usize, Rational)], mut surplus: Rational) {
    list.sort_by_key(|(i, _)| *i);
    for (_, tasks) in list.iter_mut().rev() {
        if surplus <= 0 {
            break;
        }
        let cut = if *tasks < surplus { tasks.clone() } else { surplus.clone() };
        *tasks -= &cut;
        surplus -= cut;
    }
}

/// Converts rationals to integers over their least common denominator.
fn over_one_denominator(values: &[Rational]) -> (Vec<Integer>, Integer) {
    let mut common = Integer::from(1);
    for value in values {
        if !common.is_divisible(value.denom()) {
            common.lcm_mut(value.denom());
        }
    }
    let scaled = |value: &Rational| {
        if value.is_zero() {
            return Integer::new();
        }
        Integer::from(common.div_exact_ref(value.denom())) * value.numer()
    };
    (values.iter().map(scaled).collect(), common)
}

fn words(n: &Integer) -> u64 {
    words_of_bits(u64::from(n.significant_bits()))
}

/// A sum over groups of `amount * usage`, over a common denominator that grows as needed.
struct LoadSum<'a> {
    /// `(amount, group, class)` of each group.
    terms: Vec<(&'a Rational, usize, usize)>,
    denominator: Integer,
}

/// The result of a sum of loads.
struct Loads {
    /// Load of each capacity row.
    rows: Vec<Rational>,
    /// The sum of the amounts, each times the price of a task of its group.
    value: Rational,
}

impl<'a> LoadSum<'a> {
    fn new() -> Self {
        Self { terms: Vec::new(), denominator: Integer::from(1) }
    }

    /// Adds a term. Returns true if the denominator has grown, which costs a product of the two denominators.
    ///
    /// If many denominators have no common factors, the common denominator has the digits of all of them.
    fn add(&mut self, amount: &'a Rational, g: usize, i: usize) -> bool {
        self.terms.push((amount, g, i));
        let grows = !self.denominator.is_divisible(amount.denom());
        if grows {
            charge(words(&self.denominator).saturating_mul(words(amount.denom())), LEVEL);
            self.denominator.lcm_mut(amount.denom());
        }
        grows
    }

    /// Computes the loads and their value.
    fn finish(self, part: &Part<'_>, integers: &Integers, group_prices: &[Integer]) -> Loads {
        let mut rows = vec![Integer::new(); part.rows.len()];
        let mut value = Integer::new();
        for (amount, g, i) in self.terms {
            let amount = scaled(amount, &self.denominator);
            for (row, usage) in integers.usage(part, g, i) {
                rows[row] += &amount * &*usage;
            }
            value += amount * &group_prices[g];
        }
        let over = |n: Integer| Rational::from((n, self.denominator.clone()));
        let rows = rows.into_iter().map(|n| if n == 0 { Rational::new() } else { over(n) }).collect();
        Loads { value: over(value), rows }
    }
}
