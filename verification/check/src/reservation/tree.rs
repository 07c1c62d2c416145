//! Branch trees, walked once.
//!
//! A node is a box `l_j <= k_j <= u_j` of configurations. At a leaf each `u_j` is lowered to what fits beside the
//! lower bounds; with the multipliers `m >= 0` of the leaf and `v_j = profit_j - sum_r m_r d_jr` every
//! configuration of the box is worth at most `B = sum_j max(v_j l_j, v_j u_j) + sum_r m_r c_r`.

use rug::ops::DivRounding;
use rug::{Integer, Rational};

use super::packing::{Bound, Packing};
use super::proof::{Node, Tree};
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, cost, ensure, refuse, words};

/// A split whose second branch is still to come, or is being walked.
struct Branch {
    job: usize,
    at: u64,
    lower: u64,
    upper: Option<u64>,
    second: bool,
}

struct Walk<'a, 'p> {
    packing: &'a Packing<'p>,
    bound: &'a Bound<'a>,
    lower: Vec<u64>,
    upper: Vec<Option<u64>>,
    /// What the lower bounds leave of the server.
    left: Vec<Integer>,
}

/// What some multipliers give: `sum_r m_r c_r`, and `v_j` where it is not 0.
struct Lagrange {
    constant: Rational,
    values: Amounts,
    words: u64,
}

pub fn verify(packing: &Packing<'_>, bound: &Bound<'_>, tree: &Tree) -> Checked<()> {
    let types = bound.profits.len();
    let closed = |j: usize| bound.order.is_some_and(|(_, open)| open.binary_search(&j).is_err()).then_some(0);
    work::steps(20 * (types + packing.unit.len()) as u64)?;
    let mut walk = Walk {
        packing,
        bound,
        lower: vec![0; types],
        upper: (0..types).map(closed).collect(),
        left: packing.free(bound.pool),
    };
    let mut sets: Vec<Option<Lagrange>> = tree.multipliers.iter().map(|_| None).collect();
    let mut open: Vec<Branch> = Vec::new();
    let mut ended = false;
    for node in &tree.nodes {
        ensure(!ended, "a tree goes on after its last branch")?;
        match *node {
            Node::Split { job, at } => {
                work::steps(100 * (packing.demand[job].len() as u64 + 1))?;
                let (lower, upper) = (walk.lower[job], walk.upper[job]);
                open.push(Branch { job, at, lower, upper, second: false });
                walk.set_lower(job, at.max(lower));
            }
            Node::Leaf { multipliers } => {
                let which = usize::try_from(multipliers).unwrap_or(usize::MAX);
                let Some(set) = sets.get_mut(which) else {
                    return refuse("a tree names multipliers that are not there");
                };
                let set = match set {
                    Some(set) => set,
                    None => set.insert(walk.lagrange(&tree.multipliers[which])?),
                };
                ensure(walk.holds(set)?, "the bound at a leaf of a tree is too weak")?;
                ended = !walk.leave(&mut open);
            }
        }
    }
    ensure(ended, "a tree ends before its last branch")
}

impl Walk<'_, '_> {
    fn set_lower(&mut self, job: usize, to: u64) {
        let from = std::mem::replace(&mut self.lower[job], to);
        let more = Integer::from(to) - from;
        self.packing.demand[job].iter().for_each(|(r, d)| self.left[*r] -= Integer::from(d * &more));
    }

    /// Goes on to the next box; whether there is one.
    fn leave(&mut self, open: &mut Vec<Branch>) -> bool {
        while let Some(branch) = open.last_mut() {
            let Branch { job, at, lower, upper, second } = *branch;
            if second {
                self.upper[job] = upper;
                open.pop();
                continue;
            }
            branch.second = true;
            self.upper[job] = Some(upper.map_or(at - 1, |upper| upper.min(at - 1)));
            self.set_lower(job, lower);
            return true;
        }
        false
    }

    fn lagrange(&self, multipliers: &Amounts) -> Checked<Lagrange> {
        let packing = self.packing;
        ensure(multipliers.iter().all(|(_, m)| *m >= 0), "a multiplier is negative")?;
        let mut constant = Rational::new();
        let stated = &packing.problem.capacity[self.bound.pool];
        // Multipliers of the units of demand.
        let mut by_unit = Vec::new();
        for (r, m) in multipliers {
            work::steps(cost(words(&constant) + words(m)))?;
            match &packing.unit[*r] {
                Some(unit) => {
                    let m = Rational::from(m * unit);
                    let capacity = at(&packing.capacity[self.bound.pool], *r);
                    constant += capacity.map_or_else(Rational::new, |c| Rational::from(&m * c));
                    by_unit.push((*r, m));
                }
                // Nobody demands it: its capacity is as it is stated.
                None => constant += at(stated, *r).map_or_else(Rational::new, |c| Rational::from(c * m)),
            }
        }
        let mut values = Vec::new();
        let mut widest = words(&constant);
        for (j, profit) in self.bound.profits.iter().enumerate() {
            let mut value = Rational::from(self.bound.unit * profit);
            for (r, d) in &packing.demand[j] {
                if let Some(m) = at(&by_unit, *r) {
                    work::steps(cost(words(&value) + words(m)))?;
                    value -= Rational::from(m * d);
                }
            }
            if !value.is_zero() {
                widest = widest.max(words(&value));
                values.push((j, value));
            }
        }
        Ok(Lagrange { constant, values, words: widest })
    }

    /// The largest number of jobs of a type in this box that fits beside the lower bounds, which fit.
    fn corner(&self, j: usize) -> u64 {
        let more =
            self.packing.demand[j].iter().map(|(r, d)| Integer::from(&self.left[*r]).div_floor(d)).min();
        // A problem in which more than 10^12 fit is none.
        let most = (more.unwrap_or_default() + self.lower[j]).to_u64().unwrap_or(u64::MAX);
        self.upper[j].map_or(most, |upper| upper.min(most))
    }

    /// Whether the multipliers prove the bound for this box.
    fn holds(&self, set: &Lagrange) -> Checked<bool> {
        work::steps(4 * (self.left.len() + self.lower.len()) as u64)?;
        let above = |(lower, upper): (&u64, &Option<u64>)| upper.is_some_and(|upper| upper < *lower);
        if self.left.iter().any(|left| *left < 0) || self.lower.iter().zip(&self.upper).any(above) {
            return Ok(true);
        }
        let mut value = set.constant.clone();
        for (j, v) in &set.values {
            work::steps(cost(2 * set.words) + 20 * self.packing.demand[*j].len() as u64)?;
            let k = if *v < 0 { self.lower[*j] } else { self.corner(*j) };
            value += Rational::from(v * k);
        }
        // Values are multiples of the unit.
        if value < Rational::from(self.bound.unit * Integer::from(&self.bound.most + 1)) {
            return Ok(true);
        }
        let Some((first, _)) = self.bound.order else { return Ok(false) };
        for j in 0..self.lower.len() {
            work::steps(20 * (self.packing.demand[j].len() as u64 + 1))?;
            let (corner, first) = (self.corner(j), at(first, j).copied().unwrap_or(0));
            if corner != first {
                return Ok(corner < first);
            }
        }
        Ok(true)
    }
}
