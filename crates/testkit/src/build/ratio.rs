//! Builds certificates of small instances. Greedy and the optimum are computed from their definitions, over
//! all configurations. The proofs are trees that split until every leaf is proven.

use evenhand_exact::ratio::{
    Assignment, FirstProof, Greedy, Optimum, PackingPrices, PricingProof, RatioCertificate, Step, Tree,
    TreeNode, Whole, sparse,
};
use evenhand_problem::{Integer, Rational, Reservation};

use crate::plain::ratio::{self as plain, Box_, Claim, K};

/// The kind of proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Trees,
    Tables,
}

pub fn certificate(problem: &Reservation, method: Method) -> RatioCertificate {
    let all = plain::configurations(problem).expect("a small instance");
    let (loads, sizes) = (problem.loads(), problem.fractions());
    let builder = Builder { problem, method };
    let (steps, reward) = plain::greedy(problem, &all, &loads, &sizes, false);
    let mut known: Vec<(Vec<Rational>, Vec<usize>, K)> = Vec::new();
    let greedy = Greedy {
        reward,
        steps: steps.iter().map(|step| builder.step(step, step.3.clone(), &mut known)).collect(),
    };
    let optimum = builder.optimum(&all, &loads, &sizes);
    let ratio = (optimum.bound != 0).then(|| Rational::from(&greedy.reward / &optimum.bound));
    let integer = problem.whole_jobs().map(|jobs| {
        let jobs: Vec<Rational> = jobs.into_iter().map(Rational::from).collect();
        let counts: Vec<Rational> = problem.pools().iter().map(|p| p.count().unwrap().into()).collect();
        let (steps, reward) = plain::greedy(problem, &all, &jobs, &counts, true);
        let whole = |x: &Rational| Integer::from(x.numer());
        // The assignment is that of greedy. The bound is that of the linear programme.
        let placed = steps.iter().map(|step| (step.0, sparse(&step.2), whole(&step.3))).collect();
        let mut slots = vec![Rational::new(); jobs.len()];
        for (_, _, k, x, _) in &steps {
            slots.iter_mut().zip(k).for_each(|(s, k)| *s += Rational::from(x * *k));
        }
        let served = slots.into_iter().zip(&jobs).map(|(s, jobs)| whole(&s.min(jobs.clone()))).collect();
        let Optimum { bound, prices, pricing, .. } = builder.optimum(&all, &jobs, &counts);
        let unit = plain::unit(&problem.rewards());
        Whole {
            optimum: Optimum {
                assignment: Assignment { reward: reward.clone(), servers: placed, served },
                bound: unit.map_or_else(Rational::new, |unit| (bound / &unit).floor() * unit),
                prices,
                pricing,
            },
            greedy: Greedy {
                reward,
                steps: steps.iter().map(|step| builder.step(step, whole(&step.3), &mut known)).collect(),
            },
        }
    });
    RatioCertificate { problem: problem.clone(), greedy, optimum, ratio, integer }
}

pub struct Builder<'a> {
    pub problem: &'a Reservation,
    pub method: Method,
}

impl Builder<'_> {
    fn step<T>(
        &self,
        (pool, open, k, _, exhausted): &plain::PlainStep,
        servers: T,
        known: &mut Vec<(Vec<Rational>, Vec<usize>, K)>,
    ) -> Step<T> {
        let key = (self.problem.pools()[*pool].capacity().to_vec(), open.clone(), k.clone());
        let first = if known.contains(&key) { FirstProof::Known } else { self.first(*pool, open, k) };
        known.push(key);
        Step { pool: *pool, configuration: sparse(k), servers, exhausted: *exhausted, first }
    }

    fn cells(&self, i: usize) -> usize {
        let each = plain::whole_capacity(self.problem, i).into_iter();
        let each = each.filter_map(|(c, unit)| Some((c / unit? + 1u32).numer().to_usize().unwrap()));
        each.product()
    }

    pub fn first(&self, i: usize, open: &[usize], k: &K) -> FirstProof {
        if self.problem.configurations().is_some() {
            return FirstProof::Listed;
        }
        if self.method == Method::Tables {
            return FirstProof::DynamicProgramme { cells: self.cells(i) };
        }
        let mut beta = vec![Rational::new(); self.problem.n_types()];
        open.iter().for_each(|&j| beta[j] = self.problem.jobs()[j].reward().clone());
        let bound = plain::value(&beta, k);
        let unit = plain::unit(&beta).unwrap_or_else(|| Rational::from(1));
        let claim = Claim { problem: self.problem, pool: i, beta, bound, order: None };
        let mut order = claim.clone();
        order.bound -= unit;
        order.order = Some((k.clone(), open.to_vec()));
        FirstProof::Tree { value: tree(&claim), order: tree(&order) }
    }

    pub fn pricing(&self, i: usize, beta: &[Rational], bound: &Rational) -> PricingProof {
        if self.problem.configurations().is_some() {
            return PricingProof::Listed;
        }
        if self.method == Method::Tables {
            return PricingProof::DynamicProgramme { cells: self.cells(i) };
        }
        let claim =
            Claim { problem: self.problem, pool: i, beta: beta.to_vec(), bound: bound.clone(), order: None };
        let Tree { multipliers, nodes } = tree(&claim);
        PricingProof::Tree { multipliers, nodes }
    }

    fn optimum(&self, all: &[Vec<K>], loads: &[Rational], sizes: &[Rational]) -> Optimum<Rational> {
        let problem = self.problem;
        let (n, pools) = (loads.len(), sizes.len());
        // The columns are `y_j`, followed by `x` for every pool and configuration. The rows are loads, slots
        // and servers.
        let mut rows = vec![Vec::new(); 2 * n + pools];
        let mut right: Vec<Rational> = loads.to_vec();
        right.extend(vec![Rational::new(); n]);
        right.extend(sizes.iter().cloned());
        let columns: Vec<(usize, &K)> =
            all.iter().enumerate().flat_map(|(i, all)| all.iter().map(move |k| (i, k))).collect();
        let unit = |yes: bool| Rational::from(u32::from(yes));
        for (at, row) in rows.iter_mut().enumerate() {
            row.extend((0..n).map(|j| unit(at == j || at == n + j)));
            row.extend(columns.iter().map(|(i, k)| match at {
                _ if at < n => Rational::new(),
                _ if at < 2 * n => -Rational::from(k[at - n]),
                _ => unit(at == 2 * n + i),
            }));
        }
        let mut gain = problem.rewards();
        gain.extend(vec![Rational::new(); columns.len()]);
        let (x, prices) = simplex(rows, right, gain);
        let used = columns.iter().zip(&x[n..]).filter(|(_, x)| **x != 0);
        let served = x[..n].to_vec();
        let assignment = Assignment {
            reward: plain::value_of(&problem.rewards(), &served),
            servers: used.map(|((i, k), x)| (*i, sparse(k), x.clone())).collect(),
            served,
        };
        let prices = PackingPrices {
            load: prices[..n].to_vec(),
            slot: prices[n..2 * n].to_vec(),
            server: prices[2 * n..].to_vec(),
        };
        let pricing = (0..pools).map(|i| self.pricing(i, &prices.slot, &prices.server[i])).collect();
        let mut bound = plain::value_of(&prices.load, loads);
        bound += plain::value_of(&prices.server, sizes);
        assert_eq!(assignment.reward, bound);
        Optimum { assignment, bound, prices, pricing }
    }
}

/// Maximises `gain x` over `rows x <= right`, `x >= 0`, where `right >= 0`. Returns `x` and the prices of the
/// rows.
pub fn simplex(
    mut rows: Vec<Vec<Rational>>,
    right: Vec<Rational>,
    mut gain: Vec<Rational>,
) -> (Vec<Rational>, Vec<Rational>) {
    let (m, n) = (rows.len(), gain.len());
    for (at, (row, right)) in rows.iter_mut().zip(right).enumerate() {
        row.extend((0..m).map(|r| Rational::from(u32::from(r == at))));
        row.push(right);
    }
    gain.extend(vec![Rational::new(); m + 1]);
    let mut basis: Vec<usize> = (n..n + m).collect();
    // A rule that chooses the largest gain needs few pivots, but may cycle. Bland's rule chooses the first
    // positive gain and always ends.
    let mut hasty = 4 * (n + m);
    let entering = |gain: &[Rational], hasty: usize| {
        let mut able = (0..n + m).filter(|&at| gain[at] > 0);
        if hasty > 0 { able.max_by(|&a, &b| gain[a].cmp(&gain[b])) } else { able.next() }
    };
    while let Some(entering) = entering(&gain, hasty) {
        hasty = hasty.saturating_sub(1);
        let able = (0..m).filter(|&r| rows[r][entering] > 0);
        let ratio = |r: usize| Rational::from(&rows[r][n + m] / &rows[r][entering]);
        let leaving = able.min_by_key(|&r| (ratio(r), basis[r])).expect("a bounded programme");
        let pivot = rows[leaving][entering].clone();
        rows[leaving].iter_mut().for_each(|entry| *entry /= &pivot);
        // Zero entries are skipped. Most entries are 0, and multiplying rationals allocates memory even then.
        let pivot_row: Vec<(usize, Rational)> =
            rows[leaving].iter().cloned().enumerate().filter(|(_, entry)| *entry != 0).collect();
        for row in
            rows.iter_mut().enumerate().filter(|(r, _)| *r != leaving).map(|(_, row)| row).chain([&mut gain])
        {
            let factor = row[entering].clone();
            if factor != 0 {
                for (at, pivot) in &pivot_row {
                    row[*at] -= Rational::from(&factor * pivot);
                }
            }
        }
        basis[leaving] = entering;
    }
    let mut x = vec![Rational::new(); n + m];
    basis.iter().zip(&rows).for_each(|(&column, row)| x[column].clone_from(&row[n + m]));
    x.truncate(n);
    (x, gain[n..n + m].iter().map(|gain| Rational::from(-gain)).collect())
}

/// Returns a tree that proves the claim. The claim must be true.
pub fn tree(claim: &Claim<'_>) -> Tree {
    let jobs = claim.problem.jobs();
    let n_resources = claim.problem.resources().len();
    let mut multipliers = vec![Vec::new()];
    for r in 0..n_resources {
        // The price of each resource alone pays for every type that demands the resource.
        let worth = jobs.iter().zip(&claim.beta).filter(|(job, _)| job.demand()[r] > 0);
        let price = worth.map(|(job, beta)| Rational::from(beta / &job.demand()[r])).max();
        multipliers
            .push(price.filter(|price| !price.is_zero()).map(|price| (r, price)).into_iter().collect());
    }
    let mut tree = Tree { multipliers, nodes: Vec::new() };
    grow(claim, &claim.root(), &mut tree);
    assert!(claim.proves(&tree.multipliers, &tree.nodes));
    tree
}

fn grow(claim: &Claim<'_>, within: &Box_, tree: &mut Tree) {
    if let Some(which) = tree.multipliers.iter().position(|m| claim.holds(within, m)) {
        return tree.nodes.push(TreeNode::Leaf { multipliers: which });
    }
    let corner = claim.corner(within).expect("empty boxes hold");
    let job = (0..corner.len()).find(|&j| corner[j] > within.lower[j]).expect("the claim is true");
    let at = corner[job].numer().to_u64().unwrap();
    tree.nodes.push(TreeNode::Split { job, at });
    let (mut high, mut low) = (within.clone(), within.clone());
    high.lower[job] = at;
    low.upper[job] = Some(at - 1);
    grow(claim, &high, tree);
    grow(claim, &low, tree);
}
