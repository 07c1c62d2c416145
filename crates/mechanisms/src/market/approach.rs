//! The computation of a basis of the market: floating-point prices for smaller and smaller `tau`, with fewer
//! and fewer undecided users.
//!
//! # Algorithm
//! The smoothed market of `evenhand_ode::market` is easy to solve for a large `tau`, at which every buyer
//! buys a little of every class. `tau` then falls in stages ([`descend`](Approach::descend)), and Newton's
//! method starts each stage from the prices of the previous stage. For many buyers, the first stages use a
//! sample of the buyers ([`starts_from_sample`](Approach::starts_from_sample)).
//!
//! During the descent, a buyer whose cheapest class is clear is fixed and leaves the market
//! ([`decide`](Approach::decide)). At the end, the purchases are read as a [`Basis`], whose prices are
//! computed exactly. If that basis is refused, the market is stated again relative to the prices reached
//! ([`recentre`](Approach::recentre)). Differences that were lost in rounding at the old centre are then
//! visible, and `tau` can fall further.
//!
//! An *entry* of the market is a pair of a buyer and a class on which it can run.

use std::collections::BTreeMap;

use evenhand_ode::market::{Market, Purchases, minimise};
use evenhand_problem::Rational;
use evenhand_problem::number::near;

use super::basis::Basis;
use super::goods::{Goods, log_near_one};
use crate::fisher::spanning::Spanning;

/// The smallest initial `tau`. The initial `tau` is larger if it must be for every buyer to buy a little of
/// every class.
const FIRST_TAU: f64 = 0.5;
/// The factor of `tau` from stage to stage. If a stage does not converge, the square root of the factor is used.
const SMALLER_TAU: f64 = 0.25;
/// The factor above which a stage is accepted even if it did not converge.
const LARGEST_FACTOR: f64 = 0.9;
/// The maximum number of Newton steps in a stage that starts from the prices of the previous stage.
const STAGE_STEPS: usize = 50;
/// The maximum number of Newton steps in a stage that does not start from the prices of a previous stage.
const FIRST_STEPS: usize = 100;
/// The final `tau` of the first centre, at which the logarithms of rates are accurate to about 1e-15.
const LEAST_TAU: f64 = 1e-9;
/// The factor of the final `tau` from one centre to the next.
const NEXT_CENTRE: f64 = 1e-9;
/// The fraction of a class's price that the barrier always spends on it. It keeps the price positive if no user pays
/// for the class.
const LEAST_PART: f64 = 1e-13;
/// The smallest logarithm of a price that no user pays, in units of all money. It is well within the range of
/// doubles.
const LEAST_LOG_PRICE: f64 = -500.0;
/// The `tau` below which buyers are decided.
const DECIDED_FROM: f64 = 0.05;
/// The difference of log costs, in units of `tau`, above which a choice is clear.
const CLEAR: f64 = 60.0;
/// The additional difference that a clear choice needs, in units of the last change of log prices.
const CLEAR_OF_CHANGE: f64 = 4.0;
/// The fraction of a class that satisfied buyers must leave free for them to be fixed.
const LEAVES: f64 = 1e-3;
/// The difference of log costs above which an entry is dropped when the market is stated relative to a new
/// centre.
const OUT_OF_SIGHT: f64 = 0.1;

/// The minimum size of a sample. The prices of such a sample are wrong by some hundredths, which is less than the
/// `tau` at which buyers are decided.
const LEAST_SAMPLE: usize = 2048;
/// The minimum number of sampled buyers for each class.
const SAMPLED_FOR_A_CLASS: usize = 64;
/// The minimum ratio of all buyers to sampled buyers. If the ratio is smaller, a sample does not save much
/// work.
const ALL_FOR_ONE_SAMPLED: usize = 4;

/// The decision about a buyer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// The buyer is undecided and stays in the market.
    Open,
    /// The buyer buys only this class.
    Buys { class: u32, satisfied: bool },
}

/// The state of the computation: the market of the undecided buyers, and its approximate prices.
pub struct Approach<'a> {
    goods: &'a Goods<'a>,
    /// `true` if buyers are decided during the descent.
    decides: bool,
    /// The decision about each buyer of `goods`.
    choices: Vec<Choice>,
    /// The market of the undecided buyers, relative to the centre.
    market: Market,
    /// The index in `goods` of each buyer of the market.
    buyers: Vec<usize>,
    /// The exact price of each class at the centre. All prices of the first centre are 1.
    centre: Vec<Rational>,
    /// The logarithm of each class's current price relative to the centre.
    shift: Vec<f64>,
    /// The money that is always spent on each class. It acts as a barrier against a price of 0.
    barrier: Vec<f64>,
    /// The money spent on each class by buyers that spend all of their money.
    paid: Vec<f64>,
    /// `true` if the first stages have not been run yet.
    is_fresh: bool,
    /// The current smoothing parameter.
    tau: f64,
    /// The final `tau` for the current centre.
    least_tau: f64,
    /// The fraction of a class's price to which `barrier` falls at the current centre.
    least_part: f64,
    /// The natural logarithm of all money.
    log_total: f64,
    /// The number of Newton steps so far.
    pub steps: usize,
}

impl<'a> Approach<'a> {
    /// Creates the state before the first stage, with initial prices. Returns `None` if the sum of weights is not a
    /// normal double.
    pub fn new(goods: &'a Goods<'a>, decides: bool) -> Option<Self> {
        let n_goods = goods.n_goods();
        let total: f64 = goods.weight.iter().sum();
        total.is_normal().then_some(())?;
        // The prices at which the average buyer finds all classes about equally good.
        let mut sums = vec![(0.0, 0.0); n_goods];
        for b in 0..goods.n_buyers() {
            let best = goods.places(b).map(|(_, rate)| rate).fold(f64::NEG_INFINITY, f64::max);
            for (i, rate) in goods.places(b) {
                sums[i].0 += goods.weight[b] * (rate - best);
                sums[i].1 += goods.weight[b];
            }
        }
        let log_total = libm::log(total);
        let log_each = log_total - libm::log(n_goods as f64);
        let shift = sums.iter().map(|(sum, weight)| match *weight > 0.0 {
            true => (log_each + sum / weight).max(log_total + LEAST_LOG_PRICE),
            false => log_total + LEAST_LOG_PRICE,
        });
        let mut approach = Self {
            goods,
            decides,
            choices: vec![Choice::Open; goods.n_buyers()],
            buyers: Vec::new(),
            market: Market::default(),
            centre: vec![Rational::from(1); n_goods],
            shift: shift.collect(),
            barrier: vec![0.0; n_goods],
            paid: vec![0.0; n_goods],
            is_fresh: true,
            tau: FIRST_TAU,
            least_tau: LEAST_TAU,
            least_part: LEAST_PART,
            log_total,
            steps: 0,
        };
        approach.state();
        Some(approach)
    }

    /// Builds the market of all buyers relative to prices of 1.
    fn state(&mut self) {
        let goods = self.goods;
        let n_goods = goods.n_goods();
        let mut market = Market {
            worth: vec![1.0; n_goods],
            money: vec![0.0; n_goods],
            start: vec![0],
            ..Market::default()
        };
        self.buyers = (0..goods.n_buyers()).collect();
        for b in 0..goods.n_buyers() {
            let best = goods.places(b).map(|(_, rate)| rate).fold(f64::NEG_INFINITY, f64::max);
            let places = goods.start[b]..goods.start[b + 1];
            market.good.extend_from_slice(&goods.good[places.clone()]);
            market.advantage.extend(goods.log_rate[places].iter().map(|rate| rate - best));
            market.start.push(market.good.len());
            market.weight.push(goods.weight[b]);
            market.log_limit.push(goods.log_tasks[b] - best - goods.log_weight[b]);
        }
        market.spare.clone_from(&market.worth);
        self.market = market;
    }

    /// Runs the stages until `tau` reaches its final value for this centre. Returns `None` if numbers leave the range
    /// of doubles.
    pub fn run(&mut self) -> Option<()> {
        if std::mem::take(&mut self.is_fresh) && !self.starts_from_sample() {
            self.first_stages()?;
        }
        self.descend(self.least_tau)?;
        // With a precision of 0, this stage ends only when rounding errors prevent further progress.
        self.stage(0.0, FIRST_STEPS)?;
        Some(())
    }

    /// Starts from the prices of a sample of the buyers, down to the `tau` at which buyers are decided.
    ///
    /// Returns whether the prices for all buyers could be computed from the prices of the sample. If not, the
    /// initial prices are restored. This happens if there are too few buyers for a sample, or if Newton's
    /// method does not converge from the prices of the sample.
    fn starts_from_sample(&mut self) -> bool {
        let size = LEAST_SAMPLE.max(SAMPLED_FOR_A_CLASS * self.market.n_goods());
        if self.market.n_buyers() < ALL_FOR_ONE_SAMPLED * size {
            return false;
        }
        let (sample, start) = (self.sample(size), self.shift.clone());
        let all = std::mem::replace(&mut self.market, sample);
        let found = self.first_stages().and_then(|()| self.descend(DECIDED_FROM));
        self.market = all;
        let is_near = found.is_some() && self.stage(0.05 * self.tau, STAGE_STEPS) == Some(true);
        if !is_near {
            self.shift = start;
        }
        is_near
    }

    /// Returns a market of about `size` buyers at regular intervals, whose weights are scaled up to the money of all
    /// buyers.
    fn sample(&self, size: usize) -> Market {
        let all = &self.market;
        let chosen = || (0..all.n_buyers()).step_by(all.n_buyers() / size);
        let part = chosen().map(|b| all.weight[b]).sum::<f64>() / all.weight.iter().sum::<f64>();
        let mut sample = Market {
            worth: all.worth.clone(),
            money: all.money.clone(),
            spare: all.spare.clone(),
            start: vec![0],
            ..Market::default()
        };
        for b in chosen() {
            let places = all.start[b]..all.start[b + 1];
            sample.good.extend_from_slice(&all.good[places.clone()]);
            sample.advantage.extend_from_slice(&all.advantage[places]);
            sample.start.push(sample.good.len());
            sample.weight.push(all.weight[b] / part);
            sample.log_limit.push(all.log_limit[b]);
        }
        sample
    }

    /// Reduces `tau` in stages to `least`.
    fn descend(&mut self, least: f64) -> Option<()> {
        let mut factor = SMALLER_TAU;
        while self.tau > least {
            let before = (self.tau, self.shift.clone());
            self.tau = (self.tau * factor).max(least);
            let converged = self.stage(0.05 * self.tau, STAGE_STEPS)?;
            if !converged && factor < LARGEST_FACTOR {
                // The last prices were too far away. The stage is tried again from these prices with a larger
                // factor.
                (self.tau, self.shift) = before;
                factor = factor.sqrt();
                continue;
            }
            // Larger steps are taken again after a success.
            factor = (factor * factor).max(SMALLER_TAU);
            if self.decides && self.tau < DECIDED_FROM && self.tau > least {
                self.decide(&before.1);
            }
        }
        Some(())
    }

    /// Computes the first prices, at a `tau` for which every buyer buys a little of every class.
    ///
    /// The money of the barrier falls in stages at this constant `tau`. The prices of classes for which no user pays
    /// can then fall before the choices become sharp.
    fn first_stages(&mut self) -> Option<()> {
        let market = &self.market;
        // The largest difference of log costs between the classes of one buyer.
        let mut range = 0.0_f64;
        for b in 0..market.n_buyers() {
            let places = market.start[b]..market.start[b + 1];
            let at = |k: usize| market.advantage[k] - self.shift[market.good[k] as usize];
            let (low, high) =
                places.map(at).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            range = range.max(high - low);
        }
        self.tau = (range / 4.0).max(FIRST_TAU);
        // Without task limits, every class that users can use has a positive price, so fewer stages suffice.
        let has_limits = market.log_limit.iter().any(|limit| limit.is_finite());
        let parts: &[f64] =
            if has_limits { &[1e-1, 1e-4, 1e-7, 1e-10, LEAST_PART] } else { &[1e-1, LEAST_PART] };
        let floor = self.log_total + LEAST_LOG_PRICE;
        for part in parts {
            let price = self.shift.iter().zip(&self.market.worth);
            let spent = |(q, worth): (&f64, &f64)| part * worth.max(LEAVES) * libm::exp(q.max(floor));
            self.barrier = price.map(spent).collect();
            self.stage(0.05 * self.tau, FIRST_STEPS)?;
        }
        Some(())
    }

    /// Runs Newton's method at the current `tau` and returns whether it converged.
    fn stage(&mut self, precision: f64, most_steps: usize) -> Option<bool> {
        let (market, barrier) = (&self.market, &self.barrier);
        let ended = minimise(market, &mut self.shift, barrier, self.tau, precision, most_steps)?;
        self.steps += ended.steps;
        // If users pay for a class, the barrier may be a smaller fraction of the price.
        for i in 0..self.barrier.len() {
            if ended.paid[i] > 100.0 * self.barrier[i] {
                self.barrier[i] = self.barrier[i].min(self.least_part * ended.paid[i]);
            }
        }
        self.paid = ended.paid;
        Some(ended.converged)
    }

    /// Fixes the buyers whose choice is clear, and drops the entries that are clearly too expensive.
    ///
    /// `before` contains the log prices of the previous stage. A difference of log costs is clear if two
    /// effects cannot reverse it: the smoothing, and a further change of prices as large as the last change.
    fn decide(&mut self, before: &[f64]) {
        let purchases = self.market.purchases(&self.shift, self.tau);
        let n_goods = self.goods.n_goods();
        // The money that satisfied buyers spend on each class. Satisfied buyers use a fixed amount, so fixing
        // too many of them could leave no capacity to sell.
        let mut satisfied = vec![0.0; n_goods];
        for b in (0..self.market.n_buyers()).filter(|b| purchases.limit[*b] < 0.0) {
            for k in self.market.start[b]..self.market.start[b + 1] {
                satisfied[self.market.good[k] as usize] += purchases.spent[k];
            }
        }
        let is_priced = |i: &usize| self.paid[*i] > self.barrier[*i];
        let changes = (0..n_goods).filter(is_priced).map(|i| (self.shift[i] - before[i]).abs());
        let clear = CLEAR * self.tau + CLEAR_OF_CHANGE * changes.fold(0.0, f64::max);
        // One entry for each class: `true` if satisfied buyers leave enough of it to other buyers.
        let leaves: Vec<bool> = (0..n_goods)
            .map(|i| {
                let worth = self.market.worth[i] * libm::exp(self.shift[i]);
                worth - satisfied[i] > LEAVES * worth
            })
            .collect();
        let old = std::mem::take(&mut self.market);
        let mut new = Market {
            worth: old.worth,
            money: old.money,
            spare: old.spare,
            start: vec![0],
            ..Market::default()
        };
        let mut buyers = Vec::new();
        for (b, &buyer) in self.buyers.iter().enumerate() {
            let places = old.start[b]..old.start[b + 1];
            // The entries that are not clearly more expensive than the buyer's cheapest entry.
            let kept = || places.clone().filter(|k| purchases.behind[*k] <= clear);
            let is_satisfied = purchases.limit[b] < 0.0;
            // A buyer with a single such entry is fixed if it is also clear whether the buyer gets all its
            // tasks.
            let mut classes = kept();
            if let (Some(k), None) = (classes.next(), classes.next())
                && purchases.limit[b].abs() > clear
                && (!is_satisfied || leaves[old.good[k] as usize])
            {
                let i = old.good[k] as usize;
                let choice = Choice::Buys { class: old.good[k], satisfied: is_satisfied };
                if is_satisfied {
                    // A satisfied buyer takes a fixed amount of the class, valued here at the prices of the
                    // centre.
                    new.worth[i] -= old.weight[b] * libm::exp(old.log_limit[b] - old.advantage[k]);
                } else {
                    new.money[i] += old.weight[b];
                }
                self.choices[buyer] = choice;
                continue;
            }
            for k in kept() {
                new.good.push(old.good[k]);
                new.advantage.push(old.advantage[k]);
            }
            new.start.push(new.good.len());
            new.weight.push(old.weight[b]);
            new.log_limit.push(old.log_limit[b]);
            buyers.push(buyer);
        }
        // `spare` is the difference of nearly equal numbers, so it is recomputed only if they have changed.
        if buyers.len() < self.buyers.len() {
            new.spare = new.worth.iter().zip(&new.money).map(|(worth, money)| worth - money).collect();
        }
        self.market = new;
        self.buyers = buyers;
    }

    /// Moves the centre to the current prices, and states the market of the undecided buyers relative to the
    /// new centre.
    ///
    /// All differences are computed in rationals and then rounded, so near ties at these prices become
    /// visible to doubles. Returns `None` if a price is outside the range of doubles.
    pub fn recentre(&mut self) -> Option<()> {
        for (price, shift) in self.centre.iter_mut().zip(&self.shift) {
            *price *= match shift.abs() < 0.5 {
                true => Rational::from_f64(libm::expm1(*shift))? + 1u32,
                // A price factor that is 0 in doubles cannot be used.
                false => Rational::from_f64(libm::exp(*shift)).filter(|factor| *factor > 0)?,
            };
        }
        let goods = self.goods;
        let fixed = goods.fixed(|b| match self.choices[b] {
            Choice::Buys { class, satisfied } => Some((class as usize, satisfied)),
            Choice::Open => None,
        });
        let worth: Vec<Rational> =
            self.centre.iter().zip(&fixed.left).map(|(p, left)| Rational::from(p * left)).collect();
        let spare = worth.iter().zip(&fixed.money).map(|(worth, money)| near(&Rational::from(worth - money)));
        let mut market = Market {
            spare: spare.collect(),
            worth: worth.iter().map(near).collect(),
            money: fixed.money.iter().map(near).collect(),
            start: vec![0],
            ..Market::default()
        };
        let log_prices: Vec<f64> = self.centre.iter().map(super::goods::log).collect();
        self.buyers = (0..goods.n_buyers()).filter(|b| self.choices[*b] == Choice::Open).collect();
        for &b in &self.buyers {
            let advantage = |(i, rate): (usize, f64)| (i, rate - log_prices[i]);
            let best = goods.places(b).map(advantage).max_by(|a, b| a.1.total_cmp(&b.1))?;
            let (price, rate) = (&self.centre[best.0], goods.rate(b, best.0));
            for (i, value) in goods.places(b).map(advantage) {
                if value < best.1 - OUT_OF_SIGHT {
                    continue;
                }
                let ratio = price * goods.rate(b, i) / Rational::from(&self.centre[i] * &rate);
                market.good.push(u32::try_from(i).ok()?);
                market.advantage.push(log_near_one(&ratio));
            }
            market.start.push(market.good.len());
            market.weight.push(goods.weight[b]);
            market.log_limit.push(match goods.tasks(b) {
                Some(tasks) => {
                    let cost = Rational::from(price * tasks);
                    log_near_one(&(cost / Rational::from(goods.exact_weight(b) * &rate)))
                }
                None => f64::INFINITY,
            });
        }
        self.market = market;
        self.shift.iter_mut().for_each(|q| *q = 0.0);
        // Numbers relative to the new centre are accurate, so the next stages can go further.
        self.least_tau *= NEXT_CENTRE;
        self.least_part *= NEXT_CENTRE;
        Some(())
    }

    /// Reads the purchases as a basis. Amounts below the fraction `negligible` are left out, and cycles are removed.
    pub fn basis(&self, negligible: f64) -> Basis {
        let goods = self.goods;
        let n_goods = goods.n_goods();
        let purchases = self.market.purchases(&self.shift, self.tau);
        // Buyers without any purchase that counts are assigned to the class with their highest rate.
        let most = |b: usize| goods.places(b).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i as u32);
        let mut basis = Basis {
            class: (0..goods.n_buyers()).map(most).collect(),
            satisfied: vec![false; goods.n_buyers()],
            split: BTreeMap::new(),
            free: BTreeMap::new(),
            near: self.near_prices(),
        };
        for (b, choice) in self.choices.iter().enumerate() {
            if let Choice::Buys { class, satisfied } = choice {
                (basis.class[b], basis.satisfied[b]) = (*class, *satisfied);
            }
        }
        let lists = self.purchases(&purchases, negligible);
        let is_free = self.free_classes(&lists);
        let mut spanning = Spanning::new(n_goods);
        for (b, list) in lists.into_iter().enumerate() {
            let buyer = self.buyers[b];
            basis.satisfied[buyer] = purchases.limit[b] < 0.0;
            let Some((first, _)) = list.first() else { continue };
            basis.class[buyer] = *first as u32;
            // On free classes, any split of a buyer's tasks is possible, so its purchases need not be part of the
            // forest.
            if is_free[*first] && list.len() > 1 {
                let all: f64 = list.iter().map(|(_, money)| money).sum();
                basis.free.insert(buyer, list.iter().map(|(i, money)| (*i, money / all)).collect());
            } else {
                spanning.add(buyer, &list);
            }
        }
        for (buyer, class) in spanning.single {
            basis.class[buyer] = class as u32;
        }
        for (buyer, list) in spanning.split {
            let classes: Vec<usize> = list.into_keys().collect();
            basis.class[buyer] = classes[0] as u32;
            basis.split.insert(buyer, classes);
        }
        basis
    }

    /// Returns the classes on which each buyer of the market spends money, with the amounts in descending order.
    ///
    /// A purchase counts if it is more than the fraction `negligible` of the buyer's spending or of the class's
    /// price.
    fn purchases(&self, purchases: &Purchases, negligible: f64) -> Vec<Vec<(usize, f64)>> {
        let cost: Vec<f64> =
            self.market.worth.iter().zip(&self.shift).map(|(worth, q)| worth * libm::exp(*q)).collect();
        let list = |b: usize| {
            let places = self.market.start[b]..self.market.start[b + 1];
            let all: f64 = purchases.spent[places.clone()].iter().sum();
            let of = |k: usize| (self.market.good[k] as usize, purchases.spent[k]);
            let is_something = |(i, money): &(usize, f64)| {
                *money > negligible * all || *money > negligible * cost[*i].max(f64::MIN_POSITIVE)
            };
            let mut list: Vec<(usize, f64)> = places.map(of).filter(is_something).collect();
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            list
        };
        (0..self.market.n_buyers()).map(list).collect()
    }

    /// Returns for each class whether no user pays for it.
    ///
    /// Classes with a common buyer have linked prices, so the test is made for connected groups of classes.
    /// No user pays for a group of classes if only the barrier spends money on it.
    fn free_classes(&self, lists: &[Vec<(usize, f64)>]) -> Vec<bool> {
        let n_goods = self.goods.n_goods();
        let mut group: Vec<usize> = (0..n_goods).collect();
        // Union-find over the classes.
        fn root(group: &mut [usize], mut i: usize) -> usize {
            while group[i] != i {
                group[i] = group[group[i]];
                i = group[i];
            }
            i
        }
        for list in lists {
            for (i, _) in list {
                let (a, c) = (root(&mut group, list[0].0), root(&mut group, *i));
                group[a] = c;
            }
        }
        let mut sums = vec![(0.0, 0.0); n_goods];
        for i in 0..n_goods {
            let g = root(&mut group, i);
            sums[g].0 += self.paid[i];
            sums[g].1 += self.barrier[i];
        }
        (0..n_goods).map(|i| sums[root(&mut group, i)]).map(|(paid, barrier)| paid <= barrier).collect()
    }

    /// Returns the current prices as short rational numbers.
    fn near_prices(&self) -> Vec<Rational> {
        let price = |(price, shift): (&Rational, &f64)| {
            let factor = Rational::from_f64(libm::exp(*shift)).unwrap_or_default();
            crate::rounding::short(near(&(price * factor)))
        };
        self.centre.iter().zip(&self.shift).map(price).collect()
    }
}
