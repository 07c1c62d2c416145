//! Branch trees, walked once.

use rug::{Integer, Rational};

use super::proof::{Multipliers, TreeNode};
use super::shape::Scaled;
use super::work::Work;
use crate::refusal::Refusal;

/// What a tree is to prove about the configurations of one pool.
pub(super) struct Goal<'a> {
    pub scaled: &'a Scaled<'a>,
    pub pool: usize,
    /// By type, as multiples of `unit`; at least 0.
    pub profits: &'a [Integer],
    pub unit: &'a Rational,
    /// No configuration is worth more, as a multiple of `unit` rounded down.
    pub most: Integer,
    /// Or it is not greater than this one at the first difference, and uses open types alone.
    pub order: Option<Order<'a>>,
}

/// For the claim about the order.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    /// Jobs, by type.
    pub first: &'a [u64],
    /// Whether a type is open.
    pub open: &'a [bool],
}

/// The bound that some multipliers give, as integers over a common denominator.
struct Bound {
    /// `v_j`, where it is not 0.
    by_type: Vec<(usize, Integer)>,
    /// `(most + 1 - sum_r m_r c_r)`: the rest has to stay below.
    room: Integer,
    words: usize,
}

/// A box of configurations.
struct Walk<'c> {
    claim: &'c Goal<'c>,
    lower: Vec<u64>,
    upper: Vec<Option<u64>>,
    /// What the lower bounds leave of the capacities.
    left: Vec<Integer>,
}

/// A split whose second branch is still to come, or is being walked.
struct Branch {
    job: usize,
    at: u64,
    lower: u64,
    upper: Option<u64>,
    second: bool,
}

/// Whether the tree proves the claim.
pub(super) fn verify(
    claim: &Goal<'_>,
    multipliers: &[Multipliers],
    nodes: &[TreeNode],
    work: &mut Work,
) -> Result<(), Refusal> {
    let n_types = claim.profits.len();
    let upper = |j: usize| claim.order.filter(|order| !order.open[j]).map(|_| 0);
    let mut walk = Walk {
        claim,
        lower: vec![0; n_types],
        upper: (0..n_types).map(upper).collect(),
        left: claim.scaled.capacity(claim.pool),
    };
    let mut bounds: Vec<Option<Bound>> = multipliers.iter().map(|_| None).collect();
    let mut open: Vec<Branch> = Vec::new();
    let mut ended = false;
    for (position, node) in nodes.iter().enumerate() {
        if ended {
            return Err(Refusal::new("the tree goes on after its last branch"));
        }
        match *node {
            TreeNode::Split { job, at } => {
                if job >= n_types || at == 0 {
                    return Err(Refusal::new(format!("node {position} splits nothing")));
                }
                let branch =
                    Branch { job, at, lower: walk.lower[job], upper: walk.upper[job], second: false };
                // Twice: on the way back as well.
                work.steps(claim.scaled.demand[job].len() + 1, 40)?;
                walk.raise(job, at.max(branch.lower));
                open.push(branch);
            }
            TreeNode::Leaf { multipliers: which } => {
                let Some(bound) = bounds.get_mut(which) else {
                    return Err(Refusal::new(format!(
                        "node {position} names multipliers that are not there"
                    )));
                };
                let bound = match bound {
                    Some(bound) => bound,
                    None => bound.insert(claim.bound(&multipliers[which], work)?),
                };
                if !walk.holds(bound, work)? {
                    return Err(Refusal::new(format!("the bound at node {position} of a tree is too weak")));
                }
                ended = !walk.leave(&mut open);
            }
        }
    }
    if ended { Ok(()) } else { Err(Refusal::new("the tree ends before its last branch")) }
}

impl Goal<'_> {
    fn bound(&self, multipliers: &Multipliers, work: &mut Work) -> Result<Bound, Refusal> {
        if multipliers.iter().any(|(_, m)| *m < 0) {
            return Err(Refusal::new("a multiplier is negative"));
        }
        let scaled = self.scaled;
        let n_entries: usize = scaled.demand.iter().map(Vec::len).sum();
        work.steps(n_entries + scaled.units.len() + self.profits.len() + multipliers.len(), 100)?;
        let mut priced = Vec::new();
        let mut room = Rational::from(&self.most + 1u32);
        for (r, m) in multipliers {
            work.rationals(1, &room)?;
            match scaled.position.get(*r).copied().flatten() {
                Some(q) => {
                    let price = Rational::from(m * &scaled.units[q].1) / self.unit;
                    room -= Rational::from(&price * &scaled.capacity_of(self.pool, q));
                    priced.push((q, price));
                }
                // Nobody demands it: its capacity is as stated.
                None => room -= Rational::from(m * &scaled.stated[self.pool][*r]) / self.unit,
            }
        }
        // Over one denominator.
        let mut denominator = room.denom().clone();
        for (_, price) in &priced {
            denominator.lcm_mut(price.denom());
            work.numbers(1, &denominator)?;
        }
        let whole = |value: Rational| (value * &denominator).into_numer_denom().0;
        let room = whole(room);
        let mut prices = vec![Integer::new(); scaled.units.len()];
        priced.into_iter().for_each(|(q, price)| prices[q] = whole(price));
        let mut by_type = Vec::new();
        let mut words = 1;
        for (j, profit) in self.profits.iter().enumerate() {
            let mut value = Integer::from(profit * &denominator);
            work.steps(scaled.demand[j].len() + 1, value.significant_bits() as usize / 64 + 1)?;
            for (q, demand) in scaled.demand[j].iter().filter(|(q, _)| !prices[*q].is_zero()) {
                value -= Integer::from(&prices[*q] * demand);
            }
            if !value.is_zero() {
                work.numbers(1, &value)?;
                words = words.max(value.significant_bits() as usize / 64 + 1);
                by_type.push((j, value));
            }
        }
        Ok(Bound { by_type, room, words })
    }
}

impl Walk<'_> {
    fn raise(&mut self, job: usize, to: u64) {
        let more = to - self.lower[job];
        if more > 0 {
            for (q, demand) in &self.claim.scaled.demand[job] {
                self.left[*q] -= Integer::from(demand * more);
            }
            self.lower[job] = to;
        }
    }

    fn lower(&mut self, job: usize, to: u64) {
        let less = self.lower[job] - to;
        if less > 0 {
            for (q, demand) in &self.claim.scaled.demand[job] {
                self.left[*q] += Integer::from(demand * less);
            }
            self.lower[job] = to;
        }
    }

    /// Goes on to the next box; whether there is one.
    fn leave(&mut self, open: &mut Vec<Branch>) -> bool {
        while let Some(branch) = open.last_mut() {
            let job = branch.job;
            if branch.second {
                self.upper[job] = branch.upper;
                open.pop();
                continue;
            }
            branch.second = true;
            let (lower, below) = (branch.lower, branch.at - 1);
            self.upper[job] = Some(branch.upper.map_or(below, |upper| upper.min(below)));
            self.lower(job, lower);
            return true;
        }
        false
    }

    /// The largest number of jobs of a type in this box that fits beside the lower bounds, which fit.
    fn corner(&self, j: usize) -> u64 {
        let demand = &self.claim.scaled.demand[j];
        let each = demand.iter().map(|(q, demand)| Integer::from(&self.left[*q] / demand));
        let more = each.min().unwrap_or_default();
        let most = more + self.lower[j];
        match self.upper[j] {
            Some(upper) if most > upper => upper,
            // The reader has seen to it that no more than 10^12 fit.
            _ => most.to_u64().unwrap_or(u64::MAX),
        }
    }

    fn holds(&self, bound: &Bound, work: &mut Work) -> Result<bool, Refusal> {
        work.steps(self.left.len() + self.lower.len(), 2)?;
        let nothing = self.left.iter().any(|left| *left < 0)
            || self.lower.iter().zip(&self.upper).any(|(lower, upper)| upper.is_some_and(|u| u < *lower));
        if nothing {
            return Ok(true);
        }
        let mut room = bound.room.clone();
        for (j, value) in &bound.by_type {
            let at = if *value < 0 {
                self.lower[*j]
            } else {
                work.steps(self.claim.scaled.demand[*j].len() + 1, 20)?;
                self.corner(*j)
            };
            if at > 0 {
                work.steps(bound.words, 20)?;
                room -= Integer::from(value * at);
            }
        }
        if room > 0 {
            return Ok(true);
        }
        let Some(order) = self.claim.order else { return Ok(false) };
        for (j, first) in order.first.iter().enumerate() {
            work.steps(self.claim.scaled.demand[j].len() + 1, 20)?;
            let corner = self.corner(j);
            if corner != *first {
                return Ok(corner < *first);
            }
        }
        Ok(true)
    }
}
