//! Lower bounds on the cost of migrations: the least cost of the tasks that have to leave the servers of a gang.
//!
//! A server holds `j` tasks of a gang only if enough tasks leave it. For each lacking resource, the leaving tasks have
//! to free the lacking amount. Their cost is therefore at least the cost of the continuous knapsack of this resource.
//! The bound is the sum of these costs over servers, for the best division of the gang among the servers. It ignores
//! the servers to which the leaving tasks go.

use super::hosts::{Demand, Host, Hosts};

/// The largest number of steps of the dynamic programme. A weaker bound replaces larger programmes.
const MOST_STEPS: u64 = 50_000_000;
/// The denominator of the weaker bound, whose fractions are rounded to whole multiples of one over this
/// number.
const GRAIN: u64 = 1_000_000;

/// Tasks that may leave a server: identical tasks, or the tasks of a gang. The three numbers are the amount
/// of the lacking resource that one task frees, the cost of one task, and the number of tasks.
type Item = (i128, u64, u64);

impl Hosts<'_> {
    /// Returns the amounts that a server lacks for a number of tasks, by resource. Resources that the server
    /// does not lack are left out.
    pub fn lacks(host: &Host, demand: &Demand, tasks: u64) -> Vec<(usize, i128)> {
        let lack = |(r, d): &(usize, i128)| (*r, d.saturating_mul(i128::from(tasks)) - host.free[*r]);
        demand.iter().map(lack).filter(|(_, lack)| *lack > 0).collect()
    }

    /// Returns a lower bound on the cost of the tasks that have to leave a server until these amounts are free. Returns
    /// `None` if the tasks that may leave do not free enough.
    pub fn least_cost(&mut self, host: usize, lacks: &[(usize, i128)]) -> Option<u64> {
        let class = self.list[host].place.class;
        let singles = self.list[host].singles.clone();
        let groups = self.list[host].groups.clone();
        let mut least = 0;
        for (r, lack) in lacks {
            let mut items: Vec<Item> = Vec::new();
            let gain = |demand: &Demand| demand.iter().find(|(of, _)| of == r).map_or(0, |(_, d)| *d);
            for (m, count) in &singles {
                items.push((gain(&self.demand(*m, class)), self.costs.list[*m], *count));
            }
            for group in &groups {
                let mut of = (0, 0, 1);
                for (m, count) in self.portion(*group, host) {
                    of.0 += gain(&self.demand(m, class)) * i128::from(count);
                    of.1 += self.costs.list[m] * count;
                }
                items.push(of);
            }
            least = least.max(knapsack(items, *lack)?);
        }
        Some(least)
    }

    /// Returns a lower bound on the cost of migrations until servers of these classes can hold a gang.
    /// Returns `None` if the servers can never hold the gang.
    ///
    /// The gang runs on the classes of one of the `class_sets`. If `is_distinct`, each task needs a server of its own.
    pub fn least_for_gang(
        &mut self,
        n: usize,
        gang: u64,
        classes: &[usize],
        class_sets: &[Vec<usize>],
        is_distinct: bool,
        work: &mut u64,
    ) -> Option<u64> {
        let mut costs: Vec<(usize, Vec<u64>)> = Vec::new();
        for class in classes {
            let demand = self.demand(n, *class);
            for at in 0..self.by_class[*class].len() {
                let host = self.by_class[*class][at];
                let most = if is_distinct { 1 } else { gang };
                let mut of_host = Vec::new();
                let mut tasks = 1;
                while tasks <= most {
                    let lacks = Self::lacks(&self.list[host], &demand, tasks);
                    if lacks.is_empty() && demand.is_empty() {
                        of_host = vec![0; most as usize];
                        break;
                    }
                    let things = self.list[host].singles.len() + self.list[host].groups.len();
                    *work = work.saturating_sub(1 + things as u64);
                    let Some(cost) = self.least_cost(host, &lacks) else { break };
                    of_host.push(cost);
                    tasks += 1;
                }
                costs.push((*class, of_host));
            }
        }
        let all = [classes.to_vec()];
        let sets = if class_sets.is_empty() { &all[..] } else { class_sets };
        let of_set = |set: &Vec<usize>| {
            let inside = costs.iter().filter(|(class, _)| set.contains(class)).map(|(_, costs)| &costs[..]);
            cheapest(&inside.collect::<Vec<_>>(), gang)
        };
        sets.iter().filter_map(of_set).min()
    }
}

/// Returns the least cost of items that together free an amount, rounded up. Items may be split. Returns `None` if all
/// items together do not free enough.
fn knapsack(mut items: Vec<Item>, lack: i128) -> Option<u64> {
    items.retain(|(gain, _, count)| *gain > 0 && *count > 0);
    // Items with the least cost for each freed unit come first.
    items.sort_by(|a, b| (i128::from(a.1) * b.0).cmp(&(i128::from(b.1) * a.0)).then(b.0.cmp(&a.0)));
    let (mut left, mut sum) = (lack, 0_u64);
    for (gain, cost, count) in items {
        let whole = (left / gain).min(i128::from(count));
        left -= whole * gain;
        sum = sum.saturating_add(cost.saturating_mul(u64::try_from(whole).unwrap_or(u64::MAX)));
        if left == 0 {
            return Some(sum);
        }
        if whole < i128::from(count) {
            let rest = (i128::from(cost) * left + gain - 1) / gain;
            return Some(sum.saturating_add(u64::try_from(rest).unwrap_or(u64::MAX)));
        }
    }
    None
}

/// Returns the least cost at which servers can together hold a number of tasks. `costs` has for each server
/// the costs of holding 1, 2, ... tasks. Returns `None` if the servers cannot hold that many tasks.
pub fn cheapest(costs: &[&[u64]], gang: u64) -> Option<u64> {
    let capacity: u64 = costs.iter().map(|of| of.len() as u64).sum();
    if capacity < gang {
        return None;
    }
    // The cost of tasks is 0 on servers that have free capacity for them.
    let room: u64 = costs.iter().map(|of| of.iter().take_while(|cost| **cost == 0).count() as u64).sum();
    if room >= gang {
        return Some(0);
    }
    let steps = costs.iter().map(|of| of.len() as u64).sum::<u64>().saturating_mul(gang);
    if steps > MOST_STEPS {
        return Some(by_averages(costs, gang));
    }
    let gang = gang as usize;
    let mut least = vec![u64::MAX; gang + 1];
    least[0] = 0;
    for of in costs.iter().filter(|of| !of.is_empty()) {
        for tasks in (1..=gang).rev() {
            let with = |(j, cost): (usize, &u64)| least[tasks.checked_sub(j + 1)?].checked_add(*cost);
            let best = of.iter().enumerate().filter_map(with).min();
            least[tasks] = least[tasks].min(best.unwrap_or(u64::MAX));
        }
    }
    Some(least[gang]).filter(|cost| *cost < u64::MAX)
}

/// Returns a weaker bound for many servers and tasks. Every task on a server costs at least the least average
/// cost of a task on that server.
fn by_averages(costs: &[&[u64]], gang: u64) -> u64 {
    let average = |of: &&[u64]| {
        let each = of.iter().zip(1_u64..).map(|(cost, tasks)| cost.saturating_mul(GRAIN) / tasks);
        each.min().unwrap_or(0)
    };
    let mut averages: Vec<(u64, u64)> = costs.iter().map(|of| (average(of), of.len() as u64)).collect();
    averages.sort_unstable();
    let (mut left, mut sum) = (gang, 0_u64);
    for (each, most) in averages {
        let taken = most.min(left);
        sum = sum.saturating_add(each.saturating_mul(taken));
        left -= taken;
    }
    sum.div_ceil(GRAIN)
}
