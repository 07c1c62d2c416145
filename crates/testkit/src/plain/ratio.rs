//! A second checker of ratio certificates, written from the definitions. It lists all configurations and
//! walks trees by recursion in rationals. It is slow and meant for small instances.

use evenhand_exact::ratio::{
    Assignment, FirstProof, Greedy, Multipliers, Optimum, PricingProof, RatioCertificate, TreeNode,
};
use evenhand_problem::{Rational, Reservation};

/// The largest number of configurations of a pool that are listed.
const MOST: usize = 5_000;

pub type K = Vec<u64>;

/// Returns all configurations of every pool. Returns `None` if there are too many.
pub fn configurations(problem: &Reservation) -> Option<Vec<Vec<K>>> {
    (0..problem.n_pools())
        .map(|i| {
            let mut all = vec![vec![0; problem.n_types()]];
            for j in 0..problem.n_types() {
                for position in 0..all.len() {
                    let mut k = all[position].clone();
                    loop {
                        k[j] += 1;
                        if !problem.is_feasible(i, &k) {
                            break;
                        }
                        all.push(k.clone());
                        if all.len() > MOST {
                            return None;
                        }
                    }
                }
            }
            Some(all)
        })
        .collect()
}

pub fn value(prices: &[Rational], k: &[u64]) -> Rational {
    prices.iter().zip(k).map(|(p, k)| Rational::from(p * *k)).sum()
}

fn uses_only(k: &[u64], open: &[usize]) -> bool {
    k.iter().enumerate().all(|(j, k)| *k == 0 || open.contains(&j))
}

/// Returns the configuration that greedy chooses first if only the types in `open` have jobs.
pub fn first(problem: &Reservation, all: &[K], open: &[usize]) -> K {
    let rewards = problem.rewards();
    let ranked = all.iter().filter(|k| uses_only(k, open)).map(|k| (value(&rewards, k), k));
    ranked.max().unwrap().1.clone()
}

/// A step of greedy: the pool, the types that still have jobs, the configuration, the number of servers, and
/// the type that runs out.
pub type PlainStep = (usize, Vec<usize>, K, Rational, Option<usize>);

/// Returns the steps of greedy, and its reward.
pub fn greedy(
    problem: &Reservation,
    all: &[Vec<K>],
    jobs: &[Rational],
    sizes: &[Rational],
    whole: bool,
) -> (Vec<PlainStep>, Rational) {
    let mut left = jobs.to_vec();
    let mut open: Vec<usize> = (0..jobs.len()).collect();
    let mut steps = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        let mut free = size.clone();
        loop {
            let k = first(problem, &all[i], &open);
            if free == 0 || k.iter().all(|k| *k == 0) {
                break;
            }
            let mut gone = None;
            let mut servers = free.clone();
            // The loop goes backwards, so that the lowest type is chosen among equal types.
            for &j in open.iter().rev().filter(|j| k[**j] > 0) {
                let mut enough = Rational::from(&left[j] / k[j]);
                if whole {
                    enough = enough.ceil();
                }
                if enough <= servers {
                    servers = enough;
                    gone = Some(j);
                }
            }
            for j in 0..jobs.len() {
                left[j] = (&left[j] - Rational::from(&servers * k[j])).max(Rational::new());
            }
            free -= &servers;
            steps.push((i, open.clone(), k, servers, gone));
            open.retain(|j| Some(*j) != gone);
        }
    }
    let served: Vec<Rational> = jobs.iter().zip(&left).map(|(a, b)| Rational::from(a - b)).collect();
    let reward = served.iter().zip(problem.rewards()).map(|(y, u)| Rational::from(y * &u)).sum();
    (steps, reward)
}

/// Returns the greatest rational number of which all values are multiples.
pub fn unit(values: &[Rational]) -> Option<Rational> {
    let mut unit = Rational::new();
    for value in values {
        // Euclid's algorithm.
        let (mut a, mut b) = (value.clone(), unit);
        while b != 0 {
            let rest = &a - Rational::from(&a / &b).floor() * &b;
            (a, b) = (b, rest);
        }
        unit = a;
    }
    (unit != 0).then_some(unit)
}

/// Returns the capacities of pool `i`, rounded down to multiples of the unit of the demands.
pub fn whole_capacity(problem: &Reservation, i: usize) -> Vec<(Rational, Option<Rational>)> {
    let capacity = problem.pools()[i].capacity().iter().enumerate();
    capacity
        .map(|(r, c)| {
            let demands: Vec<Rational> = problem.jobs().iter().map(|job| job.demand()[r].clone()).collect();
            match unit(&demands) {
                None => (c.clone(), None),
                Some(unit) => (Rational::from(c / &unit).floor() * &unit, Some(unit)),
            }
        })
        .collect()
}

fn cells(problem: &Reservation, i: usize) -> Rational {
    let each = whole_capacity(problem, i).into_iter().filter_map(|(c, unit)| Some(c / unit? + 1u32));
    each.fold(Rational::from(1), |product, more| product * more)
}

/// The claim that a branch tree proves.
#[derive(Clone)]
pub struct Claim<'a> {
    pub problem: &'a Reservation,
    pub pool: usize,
    pub beta: Vec<Rational>,
    pub bound: Rational,
    /// The configuration that must be the first choice of greedy, and the types that still have jobs.
    pub order: Option<(K, Vec<usize>)>,
}

#[derive(Clone)]
pub struct Box_ {
    pub lower: Vec<u64>,
    pub upper: Vec<Option<u64>>,
}

impl Claim<'_> {
    pub fn root(&self) -> Box_ {
        let n = self.problem.n_types();
        let closed = |j: usize| self.order.as_ref().is_some_and(|(_, open)| !open.contains(&j));
        Box_ { lower: vec![0; n], upper: (0..n).map(|j| closed(j).then_some(0)).collect() }
    }

    /// Returns the greatest corner of a box. Returns `None` for an empty box.
    pub fn corner(&self, within: &Box_) -> Option<Vec<Rational>> {
        let jobs = self.problem.jobs();
        let capacity = whole_capacity(self.problem, self.pool);
        let mut left = Vec::new();
        for (r, (c, _)) in capacity.iter().enumerate() {
            let used: Rational =
                jobs.iter().zip(&within.lower).map(|(job, l)| Rational::from(&job.demand()[r] * *l)).sum();
            left.push(c - used);
        }
        if left.iter().any(|left| *left < 0) {
            return None;
        }
        let mut corner = Vec::new();
        for (j, job) in jobs.iter().enumerate() {
            let fits = left.iter().zip(job.demand()).filter(|(_, d)| **d > 0);
            let fits = fits.map(|(left, d)| Rational::from(left / d)).min().unwrap().floor();
            let mut most = fits + within.lower[j];
            if let Some(upper) = within.upper[j] {
                most = most.min(Rational::from(upper));
            }
            if most < within.lower[j] {
                return None;
            }
            corner.push(most);
        }
        Some(corner)
    }

    pub fn holds(&self, within: &Box_, stated: &Multipliers) -> bool {
        let Some(corner) = self.corner(within) else { return true };
        let mut multipliers = vec![Rational::new(); self.problem.resources().len()];
        stated.iter().for_each(|(r, m)| multipliers[*r].clone_from(m));
        let multipliers = &multipliers;
        let mut bound = Rational::new();
        for (j, job) in self.problem.jobs().iter().enumerate() {
            let price: Rational =
                multipliers.iter().zip(job.demand()).map(|(m, d)| Rational::from(m * d)).sum();
            let v = &self.beta[j] - price;
            bound += Rational::from(&v * within.lower[j]).max(v * &corner[j]);
        }
        for (m, (c, _)) in multipliers.iter().zip(whole_capacity(self.problem, self.pool)) {
            bound += m * c;
        }
        let unit = unit(&self.beta).unwrap_or_else(|| Rational::from(1));
        if (bound / &unit).floor() <= Rational::from(&self.bound / &unit).floor() {
            return true;
        }
        let Some((k, _)) = &self.order else { return false };
        corner <= k.iter().map(|k| Rational::from(*k)).collect::<Vec<_>>()
    }

    fn walk<'n>(
        &self,
        multipliers: &[Multipliers],
        nodes: &'n [TreeNode],
        within: &Box_,
    ) -> Option<&'n [TreeNode]> {
        let (node, rest) = nodes.split_first()?;
        match *node {
            TreeNode::Leaf { multipliers: which } => {
                let stated = multipliers.get(which).filter(|all| all.iter().all(|(_, m)| *m >= 0))?;
                self.holds(within, stated).then_some(rest)
            }
            TreeNode::Split { job, at } => {
                let (mut high, mut low) = (within.clone(), within.clone());
                high.lower[job] = high.lower[job].max(at);
                low.upper[job] = Some(low.upper[job].unwrap_or(u64::MAX).min(at.checked_sub(1)?));
                let rest = self.walk(multipliers, rest, &high)?;
                self.walk(multipliers, rest, &low)
            }
        }
    }

    pub fn proves(&self, multipliers: &[Multipliers], nodes: &[TreeNode]) -> bool {
        self.walk(multipliers, nodes, &self.root()).is_some_and(<[TreeNode]>::is_empty)
    }
}

/// Returns `true` if everything in the certificate is true and proven. Returns `None` if there are too many
/// configurations to list.
pub fn is_true(certificate: &RatioCertificate) -> Option<bool> {
    let problem = &certificate.problem;
    let all = configurations(problem)?;
    Some(Plain { problem, all: &all, known: Vec::new() }.certificate(certificate))
}

pub struct Plain<'a> {
    pub problem: &'a Reservation,
    pub all: &'a [Vec<K>],
    pub known: Vec<(Vec<Rational>, Vec<usize>, K)>,
}

impl Plain<'_> {
    fn certificate(&mut self, certificate: &RatioCertificate) -> bool {
        let problem = self.problem;
        let (loads, sizes) = (problem.loads(), problem.fractions());
        let optimum = &certificate.optimum;
        let fluid = self.greedy(&certificate.greedy, &loads, &sizes, false)
            && self.optimum(optimum, &loads, &sizes).as_ref() == Some(&optimum.bound)
            && match &certificate.ratio {
                None => optimum.bound == 0,
                Some(ratio) => {
                    optimum.bound != 0 && Rational::from(ratio * &optimum.bound) == certificate.greedy.reward
                }
            };
        let Some(whole) = certificate.integer.as_ref().filter(|_| fluid) else { return fluid };
        let Some(jobs) = problem.whole_jobs() else { return false };
        let jobs: Vec<Rational> = jobs.into_iter().map(Rational::from).collect();
        let counts = problem.pools().iter().map(|pool| Rational::from(pool.count().unwrap()));
        let counts: Vec<Rational> = counts.collect();
        let greedy = Greedy {
            reward: whole.greedy.reward.clone(),
            steps: whole
                .greedy
                .steps
                .iter()
                .map(|step| evenhand_exact::ratio::Step {
                    pool: step.pool,
                    configuration: step.configuration.clone(),
                    servers: Rational::from(&step.servers),
                    exhausted: step.exhausted,
                    first: step.first.clone(),
                })
                .collect(),
        };
        let Optimum { assignment, prices, pricing, bound } = whole.optimum.clone();
        let assignment = Assignment {
            reward: assignment.reward,
            servers: assignment.servers.into_iter().map(|(i, k, x)| (i, k, Rational::from(x))).collect(),
            served: assignment.served.into_iter().map(Rational::from).collect(),
        };
        let optimum = Optimum { assignment, prices, pricing, bound };
        let unit = unit(&problem.rewards());
        let rounded =
            |bound: Rational| unit.map_or_else(Rational::new, |unit| (bound / &unit).floor() * unit);
        self.greedy(&greedy, &jobs, &counts, true)
            && self.optimum(&optimum, &jobs, &counts).map(rounded) == Some(optimum.bound)
    }

    /// Returns the bound on the optimum, if all other statements about the optimum are correct.
    fn optimum(
        &self,
        optimum: &Optimum<Rational>,
        loads: &[Rational],
        sizes: &[Rational],
    ) -> Option<Rational> {
        let problem = self.problem;
        let (load, slot, server) = (&optimum.prices.load, &optimum.prices.slot, &optimum.prices.server);
        let prices = (0..problem.n_types()).all(|j| {
            load[j] >= 0 && slot[j] >= 0 && Rational::from(&load[j] + &slot[j]) >= *problem.jobs()[j].reward()
        });
        let mut bound = value_of(load, loads);
        bound += value_of(server, sizes);
        let holds = prices
            && self.assignment(&optimum.assignment, loads, sizes)
            && (0..problem.n_pools()).all(|i| self.pricing(i, slot, &server[i], &optimum.pricing[i]));
        holds.then_some(bound)
    }

    pub fn dense(&self, k: &[(usize, u64)]) -> K {
        let mut dense = vec![0; self.problem.n_types()];
        k.iter().for_each(|(j, k)| dense[*j] = *k);
        dense
    }

    pub fn greedy(
        &mut self,
        stated: &Greedy<Rational>,
        jobs: &[Rational],
        sizes: &[Rational],
        whole: bool,
    ) -> bool {
        let (steps, reward) = greedy(self.problem, self.all, jobs, sizes, whole);
        steps.len() == stated.steps.len()
            && reward == stated.reward
            && steps.iter().zip(&stated.steps).all(|((i, open, k, servers, gone), step)| {
                (*i, k, servers, *gone)
                    == (step.pool, &self.dense(&step.configuration), &step.servers, step.exhausted)
                    && self.first(*i, open, k, &step.first)
            })
    }

    pub fn first(&mut self, i: usize, open: &[usize], k: &K, proof: &FirstProof) -> bool {
        let problem = self.problem;
        let listed = problem.configurations().is_some();
        let key = (problem.pools()[i].capacity().to_vec(), open.to_vec(), k.clone());
        let proven = match proof {
            FirstProof::Listed => listed,
            FirstProof::Known => self.known.contains(&key),
            FirstProof::DynamicProgramme { cells: stated } => {
                !listed && cells(problem, i) == *stated && *stated <= 10_000_000
            }
            FirstProof::Tree { value: value_tree, order } => {
                let mut beta = vec![Rational::new(); problem.n_types()];
                open.iter().for_each(|&j| beta[j] = problem.jobs()[j].reward().clone());
                let bound = value(&beta, k);
                let least = unit(&beta).unwrap_or_else(|| Rational::from(1));
                let claim = Claim { problem, pool: i, beta, bound, order: None };
                let mut strict = claim.clone();
                strict.bound -= least;
                strict.order = Some((k.clone(), open.to_vec()));
                !listed
                    && claim.proves(&value_tree.multipliers, &value_tree.nodes)
                    && strict.proves(&order.multipliers, &order.nodes)
            }
        };
        self.known.extend(proven.then_some(key));
        proven
    }

    pub fn pricing(&self, i: usize, beta: &[Rational], bound: &Rational, proof: &PricingProof) -> bool {
        let problem = self.problem;
        let listed = problem.configurations().is_some();
        let so = self.all[i].iter().all(|k| value(beta, k) <= *bound);
        match proof {
            PricingProof::Listed => listed && so,
            PricingProof::DynamicProgramme { cells: stated } => {
                !listed && cells(problem, i) == *stated && *stated <= 10_000_000 && so
            }
            PricingProof::Tree { multipliers, nodes } => {
                let claim =
                    Claim { problem, pool: i, beta: beta.to_vec(), bound: bound.clone(), order: None };
                let proven = !listed && *bound >= 0 && claim.proves(multipliers, nodes);
                assert!(so || !proven, "a tree proves what is false");
                proven
            }
        }
    }

    pub fn assignment(&self, stated: &Assignment<Rational>, jobs: &[Rational], sizes: &[Rational]) -> bool {
        let mut slots = vec![Rational::new(); jobs.len()];
        let mut free = sizes.to_vec();
        for (i, k, x) in &stated.servers {
            let k = self.dense(k);
            if *x < 0 || !self.problem.is_feasible(*i, &k) {
                return false;
            }
            free[*i] -= x;
            slots.iter_mut().zip(&k).for_each(|(slots, k)| *slots += Rational::from(x * *k));
        }
        let served = stated.served.iter().enumerate();
        free.iter().all(|free| *free >= 0)
            && served.into_iter().all(|(j, y)| *y >= 0 && *y <= jobs[j] && *y <= slots[j])
            && value_of(&self.problem.rewards(), &stated.served) == stated.reward
    }
}

pub fn value_of(prices: &[Rational], amounts: &[Rational]) -> Rational {
    prices.iter().zip(amounts).map(|(p, x)| Rational::from(p * x)).sum()
}
