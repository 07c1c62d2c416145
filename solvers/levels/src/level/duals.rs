//! The duals of parts, extended to duals of the whole problem.
//!
//! The dual `(p, l)` of a part says nothing about classes that its groups had to leave to earlier blocks. The
//! placements on these classes had a positive reduced cost in the dual of the earlier block. So `M` times the earlier
//! dual is added, with `M` large enough that the sum is a dual of the whole problem. The value of the sum is still the
//! value of the levels of its users: every user of the earlier block has a lower level, which is at most the level that
//! the sum allows (weak duality). Only blocks whose classes the users of a dual might use are added.

use std::collections::BTreeMap;

use evenhand_exact::PriceVector;
use evenhand_problem::{Integer, Rational};

use super::data::LevelData;
use super::float::BlockPrices;
use super::part::Part;
use super::rounds::LevelDual;
use super::search::Round;
use crate::groups::capacity_entries;
use crate::settings::LEVELS;

/// The dual of a round. Entries that are zero are left out.
#[derive(Default)]
pub struct BlockDual {
    /// Maps a group to the price of one unit of its level and the price of one task of its limit.
    pub groups: BTreeMap<usize, (Rational, Rational)>,
    /// Maps a row of the constraints to its price.
    pub rows: BTreeMap<usize, Rational>,
}

/// The duals of the rounds, in the order in which they were solved.
#[derive(Default)]
pub struct Duals {
    rounds: Vec<SolvedRound>,
    /// For each group, `(class, index of the round in which the group left the class)`.
    left: Vec<Vec<(usize, usize)>>,
}

struct SolvedRound {
    level: Rational,
    /// True if the level blocked any user.
    blocks: bool,
    dual: BlockDual,
}

impl BlockDual {
    pub fn new(part: &Part<'_>, round: &Round) -> Self {
        let prices = round.level_prices.iter().cloned().zip(round.task_prices.iter().cloned());
        let groups = part.groups.iter().copied().zip(prices);
        let rows = part.rows.iter().copied().zip(round.prices.iter().cloned());
        Self {
            groups: groups.filter(|(_, (level, task))| !level.is_zero() || !task.is_zero()).collect(),
            rows: rows.filter(|(_, price)| !price.is_zero()).collect(),
        }
    }

    /// Builds a dual from prices in doubles.
    ///
    /// The groups get the largest weights that these prices allow on the classes that the groups have not left.
    fn of_block(data: &LevelData<'_>, block: &BlockPrices, left: &[Vec<(usize, usize)>]) -> Self {
        let rows =
            block.rows.iter().map(|(row, price)| (*row, Rational::from_f64(*price).unwrap_or_default()));
        let mut dual = Self { groups: BTreeMap::new(), rows: rows.collect() };
        for &group in &block.perhaps_priced {
            let stays = |i: &&usize| left[group].iter().all(|(class, _)| class != *i);
            let classes = data.groups[group].classes.iter().filter(stays);
            let least = classes.map(|i| dual.reduced_cost(data, group, *i)).min();
            if let Some(least) = least.filter(|least| *least > 0) {
                dual.groups.insert(group, (below(&least), Rational::new()));
            }
        }
        dual
    }

    /// Returns the cost of one unit of level of a group on class `i`, minus the worth of this unit.
    fn reduced_cost(&self, data: &LevelData<'_>, group: usize, i: usize) -> Rational {
        let (worth, task) = self.groups.get(&group).map_or((None, None), |(l, q)| (Some(l), Some(q)));
        let mut price = task.cloned().unwrap_or_default();
        for (row, usage) in capacity_entries(data.constraints, data.groups[group].representative(), i) {
            if let Some(p) = self.rows.get(&row) {
                price += usage * p;
            }
        }
        if !price.is_zero() {
            price *= data.tasks_per_level_on(group, i);
        }
        worth.map_or_else(|| price.clone(), |worth| Rational::from(&price - worth))
    }

    /// Adds `2^shift` times the dual `other`.
    fn add(&mut self, other: &Self, shift: i32) {
        for (&group, (level, task)) in &other.groups {
            let sum = self.groups.entry(group).or_default();
            sum.0 += shifted(level, shift);
            sum.1 += shifted(task, shift);
        }
        for (&row, price) in &other.rows {
            *self.rows.entry(row).or_default() += shifted(price, shift);
        }
    }
}

impl Duals {
    pub fn new(data: &LevelData<'_>) -> Self {
        Self { rounds: Vec::new(), left: vec![Vec::new(); data.groups.len()] }
    }

    /// Builds the duals of rounds in doubles, given in the order in which they were solved.
    pub fn of_blocks(data: &LevelData<'_>, blocks: Vec<BlockPrices>) -> Self {
        let mut all = Self::new(data);
        for block in blocks {
            let level = Rational::from_f64(block.level).unwrap_or_default();
            let dual = BlockDual::of_block(data, &block, &all.left);
            all.push(level, true, dual, block.left);
        }
        all
    }

    /// Adds a round. `left` lists the placements `(group, class)` that it rules out.
    pub fn push(&mut self, level: Rational, blocks: bool, dual: BlockDual, left: Vec<(usize, usize)>) {
        for (group, class) in left {
            self.left[group].push((class, self.rounds.len()));
        }
        self.rounds.push(SolvedRound { level, blocks, dual });
    }

    /// Returns the rounds in doubles, in the order in which they were solved.
    pub fn in_doubles(&self) -> Vec<BlockPrices> {
        let priced = |dual: &BlockDual| -> Vec<usize> {
            dual.groups.iter().filter(|(_, (level, _))| !level.is_zero()).map(|(g, _)| *g).collect()
        };
        let block = |(k, found): (usize, &SolvedRound)| {
            let priced = priced(&found.dual);
            BlockPrices {
                level: found.level.to_f64(),
                rows: found.dual.rows.iter().map(|(row, price)| (*row, price.to_f64())).collect(),
                perhaps_priced: priced.clone(),
                priced,
                left: self.left_in(k),
            }
        };
        self.rounds.iter().enumerate().map(block).collect()
    }

    /// Returns the pairs `(group, class)` that a round ruled out.
    fn left_in(&self, round: usize) -> Vec<(usize, usize)> {
        let of_group = |(g, list): (usize, &Vec<(usize, usize)>)| {
            let here = list.iter().filter(|(_, left_in)| *left_in == round);
            here.map(|(class, _)| (g, *class)).collect::<Vec<_>>()
        };
        self.left.iter().enumerate().flat_map(of_group).collect()
    }

    /// Returns the duals of the whole problem, one for each level.
    pub fn of_problem(mut self, data: &LevelData<'_>) -> Vec<LevelDual> {
        for k in 0..self.rounds.len() {
            let mut dual = std::mem::take(&mut self.rounds[k].dual);
            self.complete(data, k, &mut dual);
            self.rounds[k].dual = dual;
        }
        let mut found: Vec<SolvedRound> = self.rounds.into_iter().filter(|found| found.blocks).collect();
        found.sort_by(|a, b| a.level.cmp(&b.level));
        found.into_iter().map(|found| by_row_and_user(data, found)).collect()
    }

    /// Adds earlier duals until no class that a user left costs less than the user's level is worth
    /// there.
    fn complete(&self, data: &LevelData<'_>, k: usize, dual: &mut BlockDual) {
        // Rounds in descending order, because the dual of a round already includes the duals of earlier rounds.
        let mut left: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for &group in dual.groups.keys() {
            for &(class, round) in self.left[group].iter().filter(|(_, round)| *round < k) {
                left.entry(round).or_default().push((group, class));
            }
        }
        for (round, placements) in left.into_iter().rev() {
            let earlier = &self.rounds[round].dual;
            let needed = placements.into_iter().filter_map(|(group, class)| {
                let lacking = -dual.reduced_cost(data, group, class);
                let offered = earlier.reduced_cost(data, group, class);
                (lacking > 0 && offered > 0).then(|| lacking / offered)
            });
            if let Some(factor) = needed.max() {
                dual.add(earlier, exponent(&factor));
            }
        }
    }
}

/// Returns the least `k` with `2^k >= value > 0`, or this `k` plus one.
fn exponent(value: &Rational) -> i32 {
    let bits = |n: &Integer| i64::from(n.significant_bits());
    i32::try_from(bits(value.numer()) - bits(value.denom()) + 1).unwrap_or(i32::MAX)
}

fn shifted(value: &Rational, shift: i32) -> Rational {
    Rational::from(value << shift)
}

fn by_row_and_user(data: &LevelData<'_>, found: SolvedRound) -> LevelDual {
    let (mut user_weights, mut users) = (Vec::new(), Vec::new());
    for (group, (level, task)) in found.dual.groups {
        let members = &data.groups[group].members;
        if !level.is_zero() {
            let each = Rational::from(&level / members.len() as u64);
            user_weights.extend(members.iter().map(|n| (*n, each.clone())));
        }
        if !task.is_zero() {
            users.extend(members.iter().map(|n| (*n, task.clone())));
        }
    }
    user_weights.sort_unstable_by_key(|(n, _)| *n);
    users.sort_unstable_by_key(|(n, _)| *n);
    let rows = found.dual.rows.into_iter().filter(|(_, price)| !price.is_zero()).collect();
    LevelDual { level: found.level, prices: PriceVector { user_weights, rows, users } }
}

/// Rounds a value down to a number of [`Levels::bound_bits`](crate::settings::Levels::bound_bits)
/// bits.
pub fn below(value: &Rational) -> Rational {
    if value.is_zero() {
        return Rational::new();
    }
    let bits = |n: &Integer| i64::from(n.significant_bits());
    let shift = i32::try_from(LEVELS.bound_bits - bits(value.numer()) + bits(value.denom())).unwrap_or(0);
    Rational::from(value << shift).floor() >> shift
}

impl LevelDual {
    /// Returns the same dual with weights rounded down to short numbers. The rounded weights prove the same level, up
    /// to rounding.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.prices.user_weights.iter_mut().for_each(|(_, weight)| *weight = below(weight));
        self
    }
}
