//! From nothing known to a basis: floating point, with fewer and fewer users that are not decided yet.

use std::collections::BTreeMap;

use evenhand_ode::market::{Market, Purchases, minimise};
use evenhand_problem::Rational;
use evenhand_problem::number::near;

use super::basis::Basis;
use super::goods::{Goods, log_near_one};
use crate::fisher::spanning::Spanning;

/// `tau` at the start, at least, and its factor from stage to stage; where that is too far, its root, up to the last one.
const FIRST_TAU: f64 = 0.5;
const SMALLER_TAU: f64 = 0.25;
const LARGEST_FACTOR: f64 = 0.9;
/// Newton steps in a stage, and where nothing near is known.
const STAGE_STEPS: usize = 50;
const FIRST_STEPS: usize = 100;
/// `tau` at the end of the first centre, where logarithms of rates are known to 1e-15, and its factor from centre to centre.
const LEAST_TAU: f64 = 1e-9;
const NEXT_CENTRE: f64 = 1e-9;
/// Fraction of a class's price that is spent at any price, so that the price does not vanish where no user pays.
const LEAST_PART: f64 = 1e-13;
/// Least logarithm of a price that no user pays, in units of all money: far from what doubles cannot hold.
const LEAST_LOG_PRICE: f64 = -500.0;
/// `tau` from which users are decided.
const DECIDED_FROM: f64 = 0.05;
/// Differences of logarithms that decide, in units of `tau` and of the last change of prices.
const CLEAR: f64 = 60.0;
const CLEAR_OF_CHANGE: f64 = 4.0;
/// Part of a class that users with all their tasks must leave for them to be counted once and for all.
const LEAVES: f64 = 1e-3;
/// Difference of logarithms beyond which a class need not be looked at again.
const OUT_OF_SIGHT: f64 = 0.1;

/// Buyers of a sample, at least, in all and for each class: their prices are some hundredths off, which is less than `tau` is where
/// users are decided. Buyers for one of them, at least: with fewer a sample does not spare much.
const LEAST_SAMPLE: usize = 2048;
const SAMPLED_FOR_A_CLASS: usize = 64;
const ALL_FOR_ONE_SAMPLED: usize = 4;

/// What is known of a buyer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// It is one of the market.
    Open,
    /// It buys this class alone.
    Buys { class: u32, satisfied: bool },
}

pub struct Approach<'a> {
    goods: &'a Goods<'a>,
    /// Whether users are decided on the way.
    decides: bool,
    choices: Vec<Choice>,
    /// The open buyers, relative to the centre.
    market: Market,
    /// By buyer of the market.
    buyers: Vec<usize>,
    /// Prices of the centre; of the first, 1.
    centre: Vec<Rational>,
    /// Logarithms of the prices relative to the centre.
    shift: Vec<f64>,
    /// Money that is spent on each class whatever it costs.
    barrier: Vec<f64>,
    /// By class: money of those that spend all of theirs.
    paid: Vec<f64>,
    /// Whether nothing has been solved yet.
    is_fresh: bool,
    tau: f64,
    least_tau: f64,
    least_part: f64,
    /// `ln` of all money.
    log_total: f64,
    /// Newton steps.
    pub steps: usize,
}

impl<'a> Approach<'a> {
    /// Before the first stage; users are decided on the way if `decides`.
    pub fn new(goods: &'a Goods<'a>, decides: bool) -> Option<Self> {
        let n_goods = goods.n_goods();
        let total: f64 = goods.weight.iter().sum();
        total.is_normal().then_some(())?;
        // Prices at which classes are about equally good on average.
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

    /// States the market of all buyers.
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

    /// From stage to stage until `tau` is as small as this centre allows.
    pub fn run(&mut self) -> Option<()> {
        if std::mem::take(&mut self.is_fresh) && !self.starts_from_sample() {
            self.first_stages()?;
        }
        self.descend(self.least_tau)?;
        self.stage(0.0, FIRST_STEPS)?;
        Some(())
    }

    /// Finds the prices of a sample of the buyers first, while these buy a little of everything, and goes on from there. Whether
    /// that is where those of all are; there may be too few buyers for one, and it may mislead.
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

    /// A market of about so many of the buyers, who have the money of all.
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

    /// From stage to stage until `tau` is no larger than this.
    fn descend(&mut self, least: f64) -> Option<()> {
        let mut factor = SMALLER_TAU;
        while self.tau > least {
            let before = (self.tau, self.shift.clone());
            self.tau = (self.tau * factor).max(least);
            let converged = self.stage(0.05 * self.tau, STAGE_STEPS)?;
            if !converged && factor < LARGEST_FACTOR {
                // Too far from the last one.
                (self.tau, self.shift) = before;
                factor = factor.sqrt();
                continue;
            }
            factor = (factor * factor).max(SMALLER_TAU);
            if self.decides && self.tau < DECIDED_FROM && self.tau > least {
                self.decide(&before.1);
            }
        }
        Some(())
    }

    /// A `tau` for which everybody buys a little of everything. There the money that is spent whatever a class costs
    /// becomes small in stages, so that prices that no user pays have fallen before choices become sharp.
    fn first_stages(&mut self) -> Option<()> {
        let market = &self.market;
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
        // Without limits every class with users has a price.
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

    /// Newton's method at this `tau`; whether it has converged.
    fn stage(&mut self, precision: f64, most_steps: usize) -> Option<bool> {
        let (market, barrier) = (&self.market, &self.barrier);
        let ended = minimise(market, &mut self.shift, barrier, self.tau, precision, most_steps)?;
        self.steps += ended.steps;
        // Where somebody pays the rest may be a small part of the price.
        for i in 0..self.barrier.len() {
            if ended.paid[i] > 100.0 * self.barrier[i] {
                self.barrier[i] = self.barrier[i].min(self.least_part * ended.paid[i]);
            }
        }
        self.paid = ended.paid;
        Some(ended.converged)
    }

    /// Counts the buyers once and for all whose choice is clear, and forgets the places that are clearly too dear.
    fn decide(&mut self, before: &[f64]) {
        let purchases = self.market.purchases(&self.shift, self.tau);
        let n_goods = self.goods.n_goods();
        let mut satisfied = vec![0.0; n_goods];
        for b in (0..self.market.n_buyers()).filter(|b| purchases.limit[*b] < 0.0) {
            for k in self.market.start[b]..self.market.start[b + 1] {
                satisfied[self.market.good[k] as usize] += purchases.spent[k];
            }
        }
        let is_priced = |i: &usize| self.paid[*i] > self.barrier[*i];
        let changes = (0..n_goods).filter(is_priced).map(|i| (self.shift[i] - before[i]).abs());
        let clear = CLEAR * self.tau + CLEAR_OF_CHANGE * changes.fold(0.0, f64::max);
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
            let kept = || places.clone().filter(|k| purchases.behind[*k] <= clear);
            let is_satisfied = purchases.limit[b] < 0.0;
            let mut classes = kept();
            if let (Some(k), None) = (classes.next(), classes.next())
                && purchases.limit[b].abs() > clear
                && (!is_satisfied || leaves[old.good[k] as usize])
            {
                let i = old.good[k] as usize;
                let choice = Choice::Buys { class: old.good[k], satisfied: is_satisfied };
                if is_satisfied {
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
        if buyers.len() < self.buyers.len() {
            new.spare = new.worth.iter().zip(&new.money).map(|(worth, money)| worth - money).collect();
        }
        self.market = new;
        self.buyers = buyers;
    }

    /// States everything relative to the prices that have been found.
    pub fn recentre(&mut self) -> Option<()> {
        for (price, shift) in self.centre.iter_mut().zip(&self.shift) {
            *price *= match shift.abs() < 0.5 {
                true => Rational::from_f64(libm::expm1(*shift))? + 1u32,
                // A price below the least double is no price.
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
        self.least_tau *= NEXT_CENTRE;
        self.least_part *= NEXT_CENTRE;
        Some(())
    }

    /// Who buys where, with what is negligible left out and without cycles.
    pub fn basis(&self, negligible: f64) -> Basis {
        let goods = self.goods;
        let n_goods = goods.n_goods();
        let purchases = self.market.purchases(&self.shift, self.tau);
        // Who buys less than what is negligible stays where it runs the most.
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

    /// By buyer of the market: what it spends where, the most first.
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

    /// Classes that no user pays for: among those that users tie together nothing is spent but the barrier.
    fn free_classes(&self, lists: &[Vec<(usize, f64)>]) -> Vec<bool> {
        let n_goods = self.goods.n_goods();
        let mut group: Vec<usize> = (0..n_goods).collect();
        fn find(group: &mut [usize], mut i: usize) -> usize {
            while group[i] != i {
                group[i] = group[group[i]];
                i = group[i];
            }
            i
        }
        for list in lists {
            for (i, _) in list {
                let (a, c) = (find(&mut group, list[0].0), find(&mut group, *i));
                group[a] = c;
            }
        }
        let mut sums = vec![(0.0, 0.0); n_goods];
        for i in 0..n_goods {
            let g = find(&mut group, i);
            sums[g].0 += self.paid[i];
            sums[g].1 += self.barrier[i];
        }
        (0..n_goods).map(|i| sums[find(&mut group, i)]).map(|(paid, barrier)| paid <= barrier).collect()
    }

    fn near_prices(&self) -> Vec<Rational> {
        let price = |(price, shift): (&Rational, &f64)| {
            let factor = Rational::from_f64(libm::exp(*shift)).unwrap_or_default();
            crate::rounding::short(near(&(price * factor)))
        };
        self.centre.iter().zip(&self.shift).map(price).collect()
    }
}
