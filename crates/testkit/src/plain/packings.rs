//! Whole tasks over time (theory, section 11), from the definition: all packings are listed, and dense linear
//! programmes raise the levels. The evidence of the axiom `max-min-packings` is judged in dense tables.

use evenhand_exact::ratio::{Multipliers, Tree, TreeNode};
use evenhand_exact::{Claim, Evidence, Packing, PackingLevel, Share};
use evenhand_problem::{Problem, Rational, Sharing};

use super::{Plain, Shown, zero};
use crate::reference::Dense;

/// Returns `true` if the axiom is about this share.
pub fn is_about(share: Option<Share>) -> bool {
    matches!(share, Some(Share::Dominant | Share::TaskShare))
}

/// A packing: its class, and the number of tasks of each user.
type Column = (usize, Vec<u64>);

/// Returns the largest number of whole tasks of a user on one server of a class.
fn most(x: &Plain<'_>, n: usize, i: usize) -> Rational {
    let p = x.p();
    if !x.cluster.active[n] || !x.cluster.runs(n, i) {
        return zero();
    }
    let fits = (x.cluster.gamma[n][i].clone() / p.servers()[i].count()).floor();
    p.users()[n].tasks().map_or(fits.clone(), |tasks| fits.min(tasks.clone().floor()))
}

/// Returns all packings of a class, each as numbers of tasks by user. Returns `None` if there are more than
/// `limit` packings.
pub fn packings(p: &Problem, i: usize, limit: usize) -> Option<Vec<Vec<u64>>> {
    let x = Plain::of_tasks(p, Sharing::Rdm, &vec![Vec::new(); p.n_users()]);
    let mut all: Vec<(Vec<u64>, Vec<Rational>)> =
        vec![(Vec::new(), p.servers()[i].capacity().iter().cloned().collect())];
    for n in 0..p.n_users() {
        let most = most(&x, n, i);
        let mut next = Vec::new();
        for (packing, left) in all {
            let mut left = left;
            let mut k = 0_u64;
            loop {
                next.push(([&packing[..], &[k]].concat(), left.clone()));
                k += 1;
                left = left
                    .iter()
                    .zip(p.demand(n, i).iter())
                    .map(|(left, d)| Rational::from(left - d))
                    .collect();
                if most < k || left.iter().any(|left| *left < 0) {
                    break;
                }
                if next.len() > limit {
                    return None;
                }
            }
        }
        all = next;
    }
    Some(all.into_iter().map(|(packing, _)| packing).collect())
}

/// Returns the totals of the lexicographic max-min over all schedules of whole tasks. Returns `None` if a class has more
/// than `limit` packings, or if the share is not defined.
pub fn optimum(p: &Problem, share: Share, limit: usize) -> Option<Vec<Rational>> {
    let x = Plain::of_tasks(p, Sharing::Rdm, &vec![Vec::new(); p.n_users()]);
    let u = x.coefficients(share)?;
    let users = x.active();
    let mut columns: Vec<Column> = Vec::new();
    for i in 0..p.n_servers() {
        columns.extend(packings(p, i, limit)?.into_iter().map(|packing| (i, packing)));
    }
    // The variables are the fractions of time of the packings, followed by the level.
    let row = |of: &dyn Fn(&Column) -> Rational, last: i32| -> Vec<Rational> {
        columns.iter().map(of).chain([Rational::from(last)]).collect()
    };
    let tasks = |n: usize, (i, packing): &Column| Rational::from(p.servers()[*i].count()) * packing[n];
    let level = |n: usize, of: &Column| {
        let i = x.cluster.classes(n)[0];
        tasks(n, of) * &u[n][i] / p.users()[n].weight()
    };
    let mut common: Vec<(Vec<Rational>, Rational)> = Vec::new();
    for i in 0..p.n_servers() {
        common.push((row(&|(class, _)| Rational::from(u32::from(*class == i)), 0), Rational::from(1)));
    }
    for &n in &users {
        common.extend(p.users()[n].tasks().map(|most| (row(&|of| tasks(n, of), 0), most.clone())));
    }
    let mut kept: Vec<Option<Rational>> = vec![None; p.n_users()];
    let mut totals = vec![zero(); p.n_users()];
    while users.iter().any(|n| kept[*n].is_none()) {
        let rows = |least: Option<&Rational>| -> Vec<(Vec<Rational>, Rational)> {
            let of_user = |n: &usize| match kept[*n].as_ref().or(least) {
                Some(level_of) => (row(&|of| -level(*n, of), 0), Rational::from(-level_of)),
                None => (row(&|of| -level(*n, of), 1), zero()),
            };
            common.iter().cloned().chain(users.iter().map(of_user)).collect()
        };
        let costs = row(&|_| zero(), 1);
        let (highest, _) = Dense { costs, rows: rows(None) }.solve().optimal();
        let stuck: Vec<usize> = (users.iter().copied().filter(|n| kept[*n].is_none()))
            .filter(|n| {
                let costs = row(&|of| level(*n, of), 0);
                Dense { costs, rows: rows(Some(&highest)) }.solve().optimal().0 == highest
            })
            .collect();
        for n in stuck {
            let i = x.cluster.classes(n)[0];
            totals[n] = Rational::from(&highest * p.users()[n].weight()) / &u[n][i];
            kept[n] = Some(highest.clone());
        }
    }
    Some(totals)
}

/// A type of tasks on a server: the users, their demand, and the largest number of tasks.
struct Type {
    users: Vec<usize>,
    demand: Vec<Rational>,
    most: Rational,
}

/// A server of a class with the types of tasks that fit on it.
struct Server {
    capacity: Vec<Rational>,
    types: Vec<Type>,
}

/// The least and largest numbers of tasks of each type.
type Ranges = Vec<(Rational, Rational)>;

/// Returns the greatest number of which all values are multiples.
fn unit(values: &[Rational]) -> Option<Rational> {
    evenhand_problem::reservation::greatest_common_divisor(values)
}

impl Server {
    fn new(x: &Plain<'_>, i: usize) -> Self {
        let p = x.p();
        let mut types: Vec<Type> = Vec::new();
        for n in x.users() {
            let most = most(x, n, i);
            if most == 0 {
                continue;
            }
            let demand: Vec<Rational> = p.demand(n, i).iter().cloned().collect();
            let fits = (x.cluster.gamma[n][i].clone() / p.servers()[i].count()).floor();
            let same = types.iter_mut().find(|of| most == fits && of.most == fits && of.demand == demand);
            match same {
                Some(of) if is_unlimited(p, &of.users, &fits) => of.users.push(n),
                _ => types.push(Type { users: vec![n], demand, most }),
            }
        }
        let of_resource = |(r, c): (usize, &Rational)| {
            let demands: Vec<Rational> = types.iter().map(|of| of.demand[r].clone()).collect();
            unit(&demands).map_or_else(|| c.clone(), |unit| Rational::from(c / &unit).floor() * unit)
        };
        let capacity = p.servers()[i].capacity().iter().enumerate().map(of_resource).collect();
        Self { capacity, types }
    }

    fn type_of(&self, n: usize) -> Option<usize> {
        self.types.iter().position(|of| of.users.contains(&n))
    }

    /// Returns the capacities that these tasks leave. Returns `None` if the tasks do not fit.
    fn left(&self, tasks: &[Rational]) -> Option<Vec<Rational>> {
        let mut left = self.capacity.clone();
        for (of, k) in self.types.iter().zip(tasks) {
            left.iter_mut().zip(&of.demand).for_each(|(left, d)| *left -= Rational::from(k * d));
        }
        left.iter().all(|left| *left >= 0).then_some(left)
    }

    fn holds(&self, worth: &[Rational], price: &Rational, ranges: &Ranges, stated: &Multipliers) -> bool {
        if ranges.iter().any(|(least, most)| least > most) {
            return true;
        }
        let least: Vec<Rational> = ranges.iter().map(|(least, _)| least.clone()).collect();
        let Some(left) = self.left(&least) else { return true };
        let mut multipliers = vec![zero(); self.capacity.len()];
        stated.iter().for_each(|(r, m)| multipliers[*r].clone_from(m));
        let product = |amounts: &[Rational]| -> Rational {
            multipliers.iter().zip(amounts).map(|(m, a)| Rational::from(m * a)).sum()
        };
        let mut bound = product(&self.capacity);
        for ((of, worth), (least, most)) in self.types.iter().zip(worth).zip(ranges) {
            let v = Rational::from(worth - &product(&of.demand));
            let more = left
                .iter()
                .zip(&of.demand)
                .filter(|(_, d)| **d > 0)
                .map(|(left, d)| Rational::from(left / d));
            let corner = (more.min().unwrap_or_default().floor() + least).min(most.clone());
            bound += Rational::from(&v * least).max(v * corner);
        }
        let unit = unit(worth).unwrap_or_else(|| Rational::from(1));
        (bound / &unit).floor() <= Rational::from(price / &unit).floor()
    }

    fn walk<'n>(
        &self,
        worth: &[Rational],
        price: &Rational,
        tree: &Tree,
        nodes: &'n [TreeNode],
        ranges: &Ranges,
    ) -> Option<&'n [TreeNode]> {
        let (node, rest) = nodes.split_first()?;
        match *node {
            TreeNode::Leaf { multipliers } => {
                let stated = tree.multipliers.get(multipliers)?;
                self.holds(worth, price, ranges, stated).then_some(rest)
            }
            TreeNode::Split { job, at } => {
                let of = self.type_of(job)?;
                let (mut high, mut low) = (ranges.clone(), ranges.clone());
                high[of].0 = high[of].0.clone().max(Rational::from(at));
                low[of].1 = low[of].1.clone().min(Rational::from(at.checked_sub(1)?));
                let rest = self.walk(worth, price, tree, rest, &high)?;
                self.walk(worth, price, tree, rest, &low)
            }
        }
    }

    /// Returns `true` if a tree proves that no packing is worth more than a price.
    fn is_priced(&self, worth: &[Rational], price: &Rational, tree: Option<&Tree>) -> bool {
        let plain = Tree { multipliers: vec![Vec::new()], nodes: vec![TreeNode::Leaf { multipliers: 0 }] };
        let tree = tree.unwrap_or(&plain);
        let is_negative = tree.multipliers.iter().flatten().any(|(_, m)| *m < 0);
        let start: Ranges = self.types.iter().map(|of| (zero(), of.most.clone())).collect();
        !is_negative && self.walk(worth, price, tree, &tree.nodes, &start).is_some_and(<[TreeNode]>::is_empty)
    }
}

/// Returns `true` if the tasks of these users do not limit a packing.
fn is_unlimited(p: &Problem, users: &[usize], fits: &Rational) -> bool {
    users.iter().all(|n| p.users()[*n].tasks().is_none_or(|tasks| tasks.clone().floor() >= *fits))
}

fn value(list: &[(usize, Rational)], of: usize) -> Rational {
    list.iter().find(|(at, _)| *at == of).map_or_else(zero, |(_, value)| value.clone())
}

impl Plain<'_> {
    /// Returns what the evidence of `max-min-packings` shows.
    pub fn of_packings(&self, claim: &Claim) -> Option<Shown> {
        let Evidence::Packings { schedule, levels } = &claim.evidence else { return None };
        let u = self.coefficients(claim.share?)?;
        let p = self.p();
        let servers: Vec<Server> = (0..p.n_servers()).map(|i| Server::new(self, i)).collect();
        let totals = self.scheduled(&servers, schedule)?;
        let share = |n: usize| -> Rational {
            let of = self.cluster.classes(n).first().map_or_else(zero, |i| u[n][*i].clone());
            of * &totals[n] / p.users()[n].weight()
        };
        let mut covered = vec![0; p.n_users()];
        for level in levels {
            self.is_level(level, &servers, &totals, &share).then_some(())?;
            level.covers.iter().for_each(|n| covered[*n] += 1);
        }
        for n in self.users() {
            let wants = self.cluster.active[n] && p.users()[n].tasks().is_none_or(|tasks| totals[n] < *tasks);
            (covered[n] == i32::from(wants)).then_some(())?;
        }
        let differs = |n: usize| (self.total(n) - &totals[n]).abs() / &self.cluster.g[n];
        Some(Shown { margin: self.active().into_iter().map(differs).max().map(|most| -most), holds: None })
    }

    /// Returns the tasks of a schedule. Returns `None` if a packing does not fit, or the packings of a class
    /// take more than all of the time.
    fn scheduled(&self, servers: &[Server], schedule: &[Packing]) -> Option<Vec<Rational>> {
        let p = self.p();
        let mut totals = vec![zero(); p.n_users()];
        for (i, server) in servers.iter().enumerate() {
            let mut parts = zero();
            for Packing { part, tasks, .. } in schedule.iter().filter(|packing| packing.server == i) {
                let mut by_type = vec![zero(); server.types.len()];
                for (n, k) in tasks.iter().filter(|(_, k)| *k > 0) {
                    by_type[server.type_of(*n)?] += Rational::from(*k);
                    p.users()[*n].tasks().is_none_or(|tasks| *tasks >= *k).then_some(())?;
                    totals[*n] += Rational::from(*k) * part * Rational::from(p.servers()[i].count());
                }
                server.left(&by_type)?;
                (*part >= 0).then_some(())?;
                parts += part;
            }
            (parts <= 1).then_some(())?;
        }
        let has_all = |n: usize| p.users()[n].tasks().is_none_or(|tasks| totals[n] <= *tasks);
        self.users().all(has_all).then_some(totals)
    }

    /// Returns `true` if the prices of a level satisfy Fact 8 for the users that it covers.
    fn is_level(
        &self,
        level: &PackingLevel,
        servers: &[Server],
        totals: &[Rational],
        share: &dyn Fn(usize) -> Rational,
    ) -> bool {
        let p = self.p();
        let PackingLevel { covers, user_weights, class_prices, user_prices, pricing } = level;
        let mut all = user_weights.iter().chain(class_prices).chain(user_prices);
        if all.any(|(_, price)| *price < 0) {
            return false;
        }
        let mut most: Rational =
            class_prices.iter().map(|(i, price)| price * Rational::from(p.servers()[*i].count())).sum();
        for (n, price) in user_prices.iter().filter(|(_, price)| !price.is_zero()) {
            let Some(tasks) = p.users()[*n].tasks() else { return false };
            most += Rational::from(price * tasks);
        }
        let worth: Rational = user_weights.iter().map(|(n, l)| Rational::from(l * &totals[*n])).sum();
        let positive: Vec<usize> = user_weights.iter().filter(|(_, l)| *l > 0).map(|(n, _)| *n).collect();
        let is_covered = |n: &usize| positive.contains(n) && positive.iter().all(|m| share(*m) <= share(*n));
        let is_priced = |i: usize| {
            let server = &servers[i];
            let of_user = |n: &usize| (value(user_weights, *n) - value(user_prices, *n)).max(zero());
            let of_type = |of: &Type| of.users.iter().map(of_user).max().unwrap_or_default();
            let worth: Vec<Rational> = server.types.iter().map(of_type).collect();
            let tree = pricing.iter().find(|(of, _)| *of == i).map(|(_, tree)| tree);
            server.is_priced(&worth, &value(class_prices, i), tree)
        };
        worth >= most && covers.iter().all(is_covered) && (0..servers.len()).all(is_priced)
    }
}
