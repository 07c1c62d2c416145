//! Pricing trees. The integer programme of a server has a bound that a branch tree proves.
//!
//! The programme maximises `sum_j (beta_j / unit) k_j` over the whole numbers `k >= 0` that fit on the
//! server. The unit is the unit of `exact::ratio`, which makes the coefficients whole. The proof visits the
//! tree in the order of `exact`:
//!
//! - capacities, in units of the greatest common divisor of the demands, are rounded down (`rnd`);
//! - a branch of a split assumes `k_j >= at`, or `k_j <= at - 1` (`asm`);
//! - at a leaf, the upper bounds of its box follow from the capacity that the lower bounds leave (`rnd`), and the
//!   multipliers of the leaf with the bounds of the box prove the bound (`rnd`); a box without any `k` proves a
//!   contradiction (`lin`);
//! - two branches are joined (`uns`).

use evenhand_exact::ratio::{Multipliers, TreeNode};
use evenhand_problem::reservation::greatest_common_divisor;
use evenhand_problem::{Integer, Rational, Reservation};

use crate::numbered;
use crate::vipr::{Left, Programme, Reason, Sense, Step, Terms};

/// The statement that a tree proves.
pub(crate) struct Claim<'a> {
    pub problem: &'a Reservation,
    pub pool: usize,
    /// `beta_j`, by type.
    pub profits: &'a [Rational],
    /// The bound on the worth of any configuration.
    pub most: &'a Rational,
    pub multipliers: &'a [Multipliers],
    pub nodes: &'a [TreeNode],
    /// A feasible configuration, by type.
    pub solution: Terms,
}

/// Returns the programme with its proof. `what` describes the programme in words.
///
/// # Errors
/// A description of the fault of the tree. A tree that was checked before has no fault.
pub(crate) fn programme(what: &str, claim: &Claim<'_>) -> Result<Programme, &'static str> {
    let problem = claim.problem;
    let unit = greatest_common_divisor(claim.profits).unwrap_or_else(|| Rational::from(1));
    let whole: Vec<Rational> = claim.profits.iter().map(|beta| Rational::from(beta / &unit)).collect();
    let objective = whole.iter().cloned().enumerate().filter(|(_, beta)| !beta.is_zero()).collect();
    let names = (1..=problem.n_types()).map(|j| format!("k{j}")).collect();
    let mut programme = Programme::new(names, objective);
    programme.integer = true;
    programme.about = about(what, claim, &unit);
    let resources = Resource::all(claim, &mut programme);
    programme.lower = programme.value(&claim.solution);
    programme.solutions.push(("configuration", claim.solution.clone()));
    let most = Rational::from(claim.most / &unit).floor();
    programme.upper = Some(most.clone());
    let mut walk = Walk::new(claim, &unit, &whole, &resources, most, &mut programme);
    walk.tree()?;
    Ok(programme)
}

fn about(what: &str, claim: &Claim<'_>, unit: &Rational) -> Vec<String> {
    let problem = claim.problem;
    let mut lines = vec![
        what.to_owned(),
        format!(
            "kJ: jobs of type J on a server of pool {}; the objective is in units of {unit}",
            problem.pools()[claim.pool].name()
        ),
    ];
    lines.extend(numbered("resource", problem.resources().iter().map(String::as_str)));
    lines.extend(numbered("type", problem.jobs().iter().map(|job| job.name())));
    lines
}

/// A resource that at least one type demands.
struct Resource {
    /// The index of the resource in the problem.
    index: usize,
    /// The greatest common divisor of the demands.
    unit: Rational,
    /// The capacity in units, rounded down.
    capacity: Integer,
    /// The demand in units, indexed by type.
    demand: Vec<Integer>,
    /// The index of the constraint of this resource.
    constraint: usize,
}

impl Resource {
    /// Adds the rows of the resources, and then their rounded forms.
    fn all(claim: &Claim<'_>, programme: &mut Programme) -> Vec<Self> {
        let problem = claim.problem;
        let mut found = Vec::new();
        for r in 0..problem.resources().len() {
            let demands = || problem.jobs().iter().map(move |job| &job.demand()[r]);
            let Some(unit) = greatest_common_divisor(demands()) else { continue };
            let terms = |per: &Rational| -> Terms {
                let demands = demands().enumerate().filter(|(_, d)| !d.is_zero());
                demands.map(|(j, d)| (j, Rational::from(d / per))).collect()
            };
            let capacity = problem.pools()[claim.pool].capacity()[r].clone();
            let stated = terms(&Rational::from(1));
            let row = programme.push_row(format!("r{}", r + 1), Sense::AtMost, capacity.clone(), stated);
            found.push((r, row, terms(&unit), unit, capacity));
        }
        let resource = |(index, row, terms, unit, capacity): (usize, usize, Terms, Rational, Rational)| {
            let capacity = Rational::from(&capacity / &unit).floor();
            let mut demand = vec![Integer::new(); problem.n_types()];
            terms.iter().for_each(|(j, d)| demand[*j].clone_from(d.numer()));
            let constraint = programme.push(Step {
                sense: Sense::AtMost,
                right: capacity.clone(),
                left: Left::Terms(terms),
                reason: Reason::Rounded(vec![(row, unit.clone().recip())]),
            });
            Self { index, unit, capacity: capacity.into_numer_denom().0, demand, constraint }
        };
        found.into_iter().map(resource).collect()
    }
}

/// A bound of a box, with the index of the constraint that states it.
type Bound = (u64, usize);

/// A walk through the tree, with the current box of configurations and the open branches.
struct Walk<'c> {
    claim: &'c Claim<'c>,
    unit: &'c Rational,
    whole: &'c [Rational],
    resources: &'c [Resource],
    most: Rational,
    programme: &'c mut Programme,
    lower: Vec<Bound>,
    upper: Vec<Option<Bound>>,
    /// The capacities that the lower bounds leave free, by position in `resources`.
    left: Vec<Integer>,
    open: Vec<Branch>,
}

/// A split. The search has entered its first branch, or both branches.
struct Branch {
    job: usize,
    at: u64,
    lower: Bound,
    upper: Option<Bound>,
    /// The index of the assumption of the first branch.
    first: usize,
    /// The index of the bound that the first branch proves, and the index of the assumption of the second
    /// branch.
    second: Option<(usize, usize)>,
}

impl<'c> Walk<'c> {
    fn new(
        claim: &'c Claim<'c>,
        unit: &'c Rational,
        whole: &'c [Rational],
        resources: &'c [Resource],
        most: Rational,
        programme: &'c mut Programme,
    ) -> Self {
        let n_types = whole.len();
        Self {
            claim,
            unit,
            whole,
            resources,
            most,
            programme,
            lower: (0..n_types).map(|j| (0, Programme::bound(j))).collect(),
            upper: vec![None; n_types],
            left: resources.iter().map(|resource| resource.capacity.clone()).collect(),
            open: Vec::new(),
        }
    }

    fn tree(&mut self) -> Result<(), &'static str> {
        let claim = self.claim;
        for node in claim.nodes {
            match *node {
                TreeNode::Split { job, at } => self.split(job, at),
                TreeNode::Leaf { multipliers } => {
                    let proven = self.leaf(&claim.multipliers[multipliers]);
                    self.leave(proven)?;
                }
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err("a tree ends before its last branch") }
    }

    fn assume(&mut self, job: usize, sense: Sense, right: u64) -> usize {
        let left = Left::Terms(vec![(job, Rational::from(1))]);
        self.programme.push(Step { sense, right: right.into(), left, reason: Reason::Assumed })
    }

    fn split(&mut self, job: usize, at: u64) {
        let first = self.assume(job, Sense::AtLeast, at);
        let (lower, upper) = (self.lower[job], self.upper[job]);
        self.open.push(Branch { job, at, lower, upper, first, second: None });
        if at > lower.0 {
            self.raise(job, (at, first));
        }
    }

    /// Sets a lower bound of the box.
    fn raise(&mut self, job: usize, to: Bound) {
        let from = self.lower[job].0;
        for (left, resource) in self.left.iter_mut().zip(self.resources) {
            let of = |k: u64| Integer::from(&resource.demand[job] * k);
            *left -= of(to.0) - of(from);
        }
        self.lower[job] = to;
    }

    /// Moves to the next box after a leaf has proved the bound. Joins the branches that end at the leaf.
    fn leave(&mut self, leaf: usize) -> Result<(), &'static str> {
        let mut proven = leaf;
        while let Some(branch) = self.open.last_mut() {
            let job = branch.job;
            if let Some((of_first, second)) = branch.second {
                let parts = [(of_first, branch.first), (proven, second)];
                self.upper[job] = branch.upper;
                self.open.pop();
                proven = self.programme.push_bound(self.most.clone(), Reason::Unsplit(parts));
                continue;
            }
            let (below, lower) = (branch.at - 1, branch.lower);
            self.raise(job, lower);
            let second = self.assume(job, Sense::AtMost, below);
            if self.upper[job].is_none_or(|(upper, _)| below < upper) {
                self.upper[job] = Some((below, second));
            }
            let branch = self.open.last_mut().ok_or("no branch is open")?;
            branch.second = Some((proven, second));
            return Ok(());
        }
        Ok(())
    }

    /// Proves the bound in the current box. Returns the index of its constraint.
    fn leaf(&mut self, multipliers: &Multipliers) -> usize {
        if let Some(terms) = self.absurdity() {
            return self.programme.push_bound(self.most.clone(), Reason::Linear(terms));
        }
        let mut values = self.whole.to_vec();
        let mut terms = Terms::new();
        for (r, m) in multipliers {
            // A resource that no type demands has no row and no effect.
            let Some(resource) = self.resources.iter().find(|resource| resource.index == *r) else {
                continue;
            };
            let price = Rational::from(m * &resource.unit) / self.unit;
            for (value, demand) in values.iter_mut().zip(&resource.demand) {
                *value -= Rational::from(&price * demand);
            }
            terms.push((resource.constraint, price));
        }
        for (j, value) in values.into_iter().enumerate().filter(|(_, value)| !value.is_zero()) {
            let constraint = if value < 0 { self.lower[j].1 } else { self.corner(j) };
            terms.push((constraint, value));
        }
        terms.retain(|(_, value)| !value.is_zero());
        terms.sort_by_key(|(at, _)| *at);
        // If no type has a value, the proven bound is `0 <= 0`.
        let reason = if terms.is_empty() { Reason::Linear(terms) } else { Reason::Rounded(terms) };
        self.programme.push_bound(self.most.clone(), reason)
    }

    /// Returns a contradiction between the bounds of the box. Returns `None` if the box contains a
    /// configuration.
    fn absurdity(&self) -> Option<Terms> {
        if let Some(at) = self.left.iter().position(|left| *left < 0) {
            return Some(self.remaining_row(&self.resources[at], None, &Rational::from(1)));
        }
        let crossed = |(lower, upper): (&Bound, &Option<Bound>)| {
            let (upper, above) = upper.filter(|(upper, _)| *upper < lower.0)?;
            debug_assert!(upper < lower.0);
            let mut terms = vec![(above, Rational::from(1)), (lower.1, Rational::from(-1))];
            terms.sort_by_key(|(at, _)| *at);
            Some(terms)
        };
        self.lower.iter().zip(&self.upper).find_map(crossed)
    }

    /// Returns the constraint on the number of jobs of type `j`. The number is at most the number that fits
    /// on the server next to the lower bounds of the other types, and at most the upper bound of the box.
    fn corner(&mut self, j: usize) -> usize {
        let room = self.resources.iter().zip(&self.left).filter(|(resource, _)| resource.demand[j] > 0);
        let room = room.map(|(resource, left)| (Integer::from(left / &resource.demand[j]), resource));
        // Every type demands at least one resource, so there is a tightest resource.
        let tightest = room.min_by(|a, b| a.0.cmp(&b.0));
        let corner = tightest.map(|(more, resource)| (more + self.lower[j].0, resource));
        match (self.upper[j], corner) {
            (Some((upper, constraint)), Some((corner, _))) if corner >= upper => constraint,
            (Some((_, constraint)), None) => constraint,
            (_, None) => self.lower[j].1,
            (_, Some((corner, resource))) => {
                let per = Rational::from(&resource.demand[j]).recip();
                let terms = self.remaining_row(resource, Some(j), &per);
                self.programme.push(Step {
                    sense: Sense::AtMost,
                    right: corner.into(),
                    left: Left::Terms(vec![(j, Rational::from(1))]),
                    reason: Reason::Rounded(terms),
                })
            }
        }
    }

    /// Returns the row of a resource minus the lower bounds of all types except the type `but`, multiplied by
    /// `factor`.
    fn remaining_row(&self, resource: &Resource, but: Option<usize>, factor: &Rational) -> Terms {
        let mut terms = vec![(resource.constraint, factor.clone())];
        for (h, demand) in resource.demand.iter().enumerate() {
            if Some(h) != but && *demand > 0 {
                terms.push((self.lower[h].1, -Rational::from(factor * demand)));
            }
        }
        terms.sort_by_key(|(at, _)| *at);
        terms
    }
}
