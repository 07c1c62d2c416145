//! Reservation problems for tests, and a second implementation of the checks that prove an optimum.
#![allow(dead_code)]

use evenhand_packing::{Multipliers, OrderClaim, PackingOptimum, PricingProof, TreeNode, WorstLoad};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use evenhand_testkit::plain::ratio as plain;

pub fn rational(value: i64) -> Rational {
    Rational::from(value)
}

/// Builds a problem with pools of the given capacities and types `(demand, reward, load)`.
pub fn problem(pools: &[Vec<Rational>], types: &[(Vec<Rational>, Rational, Rational)]) -> Reservation {
    let resources: Vec<String> = (0..pools[0].len()).map(|r| format!("r{r}")).collect();
    let named = |values: &[Rational]| resources.iter().cloned().zip(values.iter().cloned()).collect();
    let spec = ReservationSpec {
        name: String::new(),
        resources: resources.clone(),
        pools: pools
            .iter()
            .enumerate()
            .map(|(i, c)| PoolSpec { name: format!("p{i}"), count: None, capacity: named(c) })
            .collect(),
        jobs: types
            .iter()
            .enumerate()
            .map(|(j, (d, u, load))| JobSpec {
                name: format!("t{j}"),
                demand: named(d),
                reward: Some(u.clone()),
                load: Some(load.clone()),
            })
            .collect(),
        configurations: None,
    };
    Reservation::new(spec).expect("a good problem")
}

/// The demand, reward and load of a type.
pub type Small<'a> = (&'a [i64], (i64, i64), (i64, i64));

/// Builds a problem with one pool, whole demands, and rewards and loads given as quotients.
pub fn small(capacity: &[i64], types: &[Small<'_>]) -> Reservation {
    let whole = |values: &[i64]| values.iter().map(|v| rational(*v)).collect::<Vec<_>>();
    let types: Vec<_> =
        types.iter().map(|(d, u, load)| (whole(d), Rational::from(*u), Rational::from(*load))).collect();
    problem(&[whole(capacity)], &types)
}

/// Builds the problem of Appendix C with `J` types.
pub fn adversarial(n_types: u32) -> Reservation {
    use rug::ops::Pow;
    let n = n_types - 1;
    let one = || Rational::from(1);
    let step = one() - Rational::from((1, n));
    let power = |exponent: u32| Rational::from((&step).pow(exponent));
    let mut types = Vec::new();
    for j in 0..n {
        let mut demand = vec![Rational::new(); n_types as usize];
        demand[j as usize] = Rational::from((1, n));
        demand[n as usize] = Rational::from((1, n));
        types.push((demand, power(j) / n, one()));
    }
    let mut demand = vec![Rational::from((n - 1, n)); n as usize];
    demand.push(Rational::new());
    types.push((demand, power(n), one()));
    problem(&[vec![one(); n_types as usize]], &types)
}

/// Enumerates all configurations of pool `i`.
pub fn configurations(problem: &Reservation, i: usize) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for j in 0..problem.n_types() {
        let mut longer = Vec::new();
        for k in &all {
            for number in 0..=problem.most(i, j) {
                let mut next: Vec<u64> = k.clone();
                next.push(number);
                let mut padded = next.clone();
                padded.resize(problem.n_types(), 0);
                if !problem.is_feasible(i, &padded) {
                    break;
                }
                longer.push(next);
            }
        }
        all = longer;
    }
    all
}

/// Checks the whole proof of an optimum, from the definitions.
#[track_caller]
pub fn verify(problem: &Reservation, loads: &[Rational], sizes: &[Rational], optimum: &PackingOptimum) {
    let mut used = vec![Rational::new(); sizes.len()];
    let mut slots = vec![Rational::new(); loads.len()];
    for (i, k, servers) in &optimum.servers {
        assert!(*servers > 0 && problem.is_feasible(*i, k));
        used[*i] += servers;
        slots.iter_mut().zip(k).for_each(|(slots, k)| *slots += Rational::from(servers * k));
    }
    assert!(used.iter().zip(sizes).all(|(used, size)| used <= size));
    let mut primal = Rational::new();
    let mut dual = Rational::new();
    for (j, job) in problem.jobs().iter().enumerate() {
        assert!(optimum.served[j] >= 0 && optimum.served[j] <= slots[j] && optimum.served[j] <= loads[j]);
        assert!(optimum.alpha[j] >= 0 && optimum.beta[j] >= 0);
        assert!(Rational::from(&optimum.alpha[j] + &optimum.beta[j]) >= *job.reward());
        primal += Rational::from(&optimum.served[j] * job.reward());
        dual += Rational::from(&optimum.alpha[j] * &loads[j]);
    }
    for (i, size) in sizes.iter().enumerate() {
        dual += Rational::from(&optimum.pi[i] * size);
        prove(problem, i, &optimum.beta, &optimum.pi[i], &optimum.proofs[i]).unwrap();
    }
    assert_eq!(primal, optimum.value);
    assert_eq!(dual, optimum.value);
}

/// Returns the capacity of a server of pool `i` that configurations can use.
fn whole_capacity(problem: &Reservation, i: usize) -> Vec<Rational> {
    plain::whole_capacity(problem, i).into_iter().map(|(capacity, _)| capacity).collect()
}

/// Checks the proof that `sum_j beta_j k_j <= pi` in pool `i`, as the documentation of the proof
/// defines it.
pub fn prove(
    problem: &Reservation,
    i: usize,
    beta: &[Rational],
    pi: &Rational,
    proof: &PricingProof,
) -> Result<(), String> {
    match proof {
        PricingProof::Tree { multipliers, nodes } => {
            let tree =
                Tree { problem, i, beta, pi, multipliers, nodes, capacity: whole_capacity(problem, i) };
            let n_types = beta.len();
            let end = tree.walk(0, &mut vec![0; n_types], &mut vec![u64::MAX; n_types])?;
            if end == nodes.len() { Ok(()) } else { Err("nodes are left over".to_owned()) }
        }
        PricingProof::DynamicProgramme { cells } => {
            assert!(*cells <= 10_000_000);
            let best = best_value(problem, i, beta);
            if best <= *pi { Ok(()) } else { Err(format!("{best} > {pi}")) }
        }
        PricingProof::Listed => {
            let value =
                |k: &Vec<u64>| beta.iter().zip(k).map(|(b, k)| Rational::from(b * k)).sum::<Rational>();
            let holds = problem.configurations().expect("a list").iter().all(|k| value(k) <= *pi);
            if holds { Ok(()) } else { Err("a configuration is worth more".to_owned()) }
        }
    }
}

struct Tree<'a> {
    problem: &'a Reservation,
    i: usize,
    beta: &'a [Rational],
    pi: &'a Rational,
    multipliers: &'a [Multipliers],
    nodes: &'a [TreeNode],
    capacity: Vec<Rational>,
}

impl Tree<'_> {
    fn walk(&self, at: usize, lower: &mut Vec<u64>, upper: &mut Vec<u64>) -> Result<usize, String> {
        match self.nodes[at] {
            TreeNode::Split { job, at: number } => {
                assert!(number >= 1);
                let (low, high) = (lower[job], upper[job]);
                lower[job] = low.max(number);
                let next = self.walk(at + 1, lower, upper)?;
                lower[job] = low;
                upper[job] = high.min(number - 1);
                let next = self.walk(next, lower, upper)?;
                upper[job] = high;
                Ok(next)
            }
            TreeNode::Leaf { multipliers } => {
                let mut m = vec![Rational::new(); self.capacity.len()];
                self.multipliers[multipliers].iter().for_each(|(r, price)| m[*r].clone_from(price));
                self.leaf(&m, lower, upper)?;
                Ok(at + 1)
            }
        }
    }

    fn leaf(&self, m: &[Rational], lower: &[u64], upper: &[u64]) -> Result<(), String> {
        let jobs = self.problem.jobs();
        assert!(m.iter().all(|m| *m >= 0));
        let mut left = self.capacity.clone();
        for (job, l) in jobs.iter().zip(lower) {
            left.iter_mut().zip(job.demand()).for_each(|(left, d)| *left -= Rational::from(d * l));
        }
        if left.iter().any(|left| *left < 0) {
            return Ok(());
        }
        let mut bound: Rational = m.iter().zip(&self.capacity).map(|(m, c)| Rational::from(m * c)).sum();
        for (j, job) in jobs.iter().enumerate() {
            let demanded = job.demand().iter().zip(&left).filter(|(d, _)| !d.is_zero());
            let fits = demanded.map(|(d, left)| Rational::from(left / d).floor()).min().expect("a demand");
            let most = (fits + lower[j]).min(Rational::from(upper[j]));
            let price: Rational = job.demand().iter().zip(m).map(|(d, m)| Rational::from(d * m)).sum();
            let worth = Rational::from(&self.beta[j] - &price);
            bound += Rational::from(&worth * lower[j]).max(worth * most);
        }
        let unit = evenhand_problem::reservation::greatest_common_divisor(self.beta);
        let bound = match unit {
            None => bound,
            Some(unit) => Rational::from(&bound / &unit).floor() * unit,
        };
        if bound <= *self.pi {
            return Ok(());
        }
        Err(format!("pool {}: {bound} > {} at {lower:?} {upper:?}", self.i, self.pi))
    }
}

/// Computes the largest value of a configuration, by a table of rationals over the used capacities.
pub fn best_value(problem: &Reservation, i: usize, beta: &[Rational]) -> Rational {
    let mut reached = std::collections::BTreeMap::from([(whole_capacity(problem, i), Rational::new())]);
    for (j, job) in problem.jobs().iter().enumerate() {
        // The remaining capacities, from the largest down, so that a type may be taken again.
        let mut queue: Vec<Vec<Rational>> = reached.keys().rev().cloned().collect();
        let mut at = 0;
        while at < queue.len() {
            let left = queue[at].clone();
            at += 1;
            let next: Vec<Rational> =
                left.iter().zip(job.demand()).map(|(l, d)| Rational::from(l - d)).collect();
            if next.iter().any(|l| *l < 0) {
                continue;
            }
            let value = Rational::from(&reached[&left] + &beta[j]);
            if reached.get(&next).is_none_or(|known| *known < value) {
                reached.insert(next.clone(), value);
                queue.push(next);
            }
        }
    }
    reached.into_values().max().unwrap_or_default()
}

/// Checks the whole proof of a worst load, from the definitions, with enumerated configurations.
#[track_caller]
pub fn verify_worst(problem: &Reservation, worst: &WorstLoad) {
    assert_eq!(worst.ratio_lower, worst.ratio_upper);
    assert_eq!(worst.ratio_lower, Rational::from(&worst.greedy / &worst.optimum));
    let mut used = 0;
    check_orders(problem, worst, &mut Vec::new(), &mut Vec::new(), &mut used);
    assert_eq!(used, worst.claims.len(), "claims are left over");
}

fn check_orders(
    problem: &Reservation,
    worst: &WorstLoad,
    order: &mut Vec<usize>,
    steps: &mut Vec<Vec<u64>>,
    used: &mut usize,
) {
    let open: Vec<usize> = (0..problem.n_types()).filter(|j| !order.contains(j)).collect();
    if open.is_empty() {
        return;
    }
    let next = evenhand_packing::MaxReward::new(problem).first(0, &open).unwrap();
    steps.push(next.configuration.clone());
    let claim = &worst.claims[*used];
    *used += 1;
    assert_eq!(claim.order, *order);
    let alone = |j: &usize| Rational::from(problem.jobs()[*j].reward() * problem.most(0, *j));
    let last = if claim.covers_all { open.iter().map(alone).min().unwrap() } else { next.reward.clone() };
    check_claim(problem, worst, claim, steps, &last);
    if !claim.covers_all {
        for j in (0..problem.n_types()).filter(|&j| next.configuration[j] > 0) {
            order.push(j);
            check_orders(problem, worst, order, steps, used);
            order.pop();
        }
    }
    steps.pop();
}

fn check_claim(
    problem: &Reservation,
    worst: &WorstLoad,
    claim: &OrderClaim,
    steps: &[Vec<u64>],
    last: &Rational,
) {
    for (j, job) in problem.jobs().iter().enumerate() {
        assert!(claim.alpha[j] >= 0 && claim.beta[j] >= 0);
        assert!(claim.alpha[j].is_zero() || claim.order.contains(&j));
        let price = Rational::from(&claim.alpha[j] + &claim.beta[j]);
        assert!(price >= Rational::from(&worst.ratio_lower * job.reward()));
    }
    for (l, k) in steps.iter().enumerate() {
        let value = if l + 1 == steps.len() { last.clone() } else { problem.reward(k) };
        let later = claim.order.iter().skip(l).map(|&j| Rational::from(&claim.alpha[j] * k[j]));
        assert!(later.sum::<Rational>() + &claim.pi <= value);
    }
    prove(problem, 0, &claim.beta, &claim.pi, &claim.proof).unwrap();
}
