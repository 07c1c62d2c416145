//! Migrations for a waiting gang: every step except the last stops gangs and starts the same gangs again. The last step
//! starts the waiting gang. The steps are replayed like all moves. This module checks the form of the steps. It also
//! checks a lower bound on the number of tasks that have to leave the servers of the gang.

use rug::{Integer, Rational};

use super::starts::{Gang, State};
use crate::json::Json;
use crate::names::MOST;
use crate::problem::Problem;
use crate::work::{self, Checked, ensure};

/// The waiting gang, and the stated lower bound.
pub struct Job {
    /// The user of the gang.
    user: usize,
    /// A lower bound on the number of tasks that have to leave their servers.
    least: u64,
}

impl Job {
    pub fn read(raw: &Json<'_>, problem: &Problem) -> Checked<Self> {
        let [user, least] = raw.fields("user least")?;
        Ok(Self { user: problem.user_names.named(user)?, least: least.count(0, MOST)? })
    }

    /// Checks the form of the steps, and the bound. `state` is the cluster before all steps. Returns a sentence about
    /// the migrations.
    pub fn verify(&self, state: &State<'_, '_>, steps: &[(Vec<Gang>, Vec<Gang>)]) -> Checked<String> {
        let Some(((stopped, started), migrations)) = steps.split_last() else {
            return work::refuse(
                "the certificate states migrations but no start of the gang for which tasks migrate",
            );
        };
        let is_start = stopped.is_empty() && started.iter().any(|gang| gang.user == self.user);
        ensure(is_start, "the last step does not start the gang for which tasks migrate")?;
        let mut tasks = Rational::new();
        for (stop, start) in migrations {
            let amounts = |gangs: &[Gang]| -> Vec<(usize, Rational)> {
                gangs.iter().map(|gang| (gang.user, gang.tasks())).collect()
            };
            let is_migration = !stop.is_empty() && amounts(stop) == amounts(start);
            ensure(is_migration, "a step of migrations does not start the same tasks again that it stops")?;
            tasks += stop.iter().map(Gang::tasks).sum::<Rational>();
        }
        let mut least = 0;
        if self.least > 0 {
            for n in state.users_of_start(self.user) {
                least = least.max(least_for_gang(state, *n)?);
            }
        }
        ensure(
            self.least <= least,
            "the stated lower bound on migrations (`least`) is larger than the proven one",
        )?;
        ensure(tasks >= self.least, "fewer tasks migrate than the stated lower bound (`least`)")?;
        let bound = match self.least {
            0 => "no lower bound is claimed".to_owned(),
            least => format!("at least {least} tasks have to, whichever servers are chosen"),
        };
        let name = &state.queues().case.user(self.user);
        Ok(format!("migrations: {tasks} tasks stop and start again, then a gang of `{name}` starts; {bound}"))
    }
}

/// Returns a lower bound on the number of tasks that have to leave servers before a gang of a user can start.
///
/// `j` tasks of the gang on a server need free capacity for `j` demands of every resource. The largest demands there
/// leave first. So for each resource, the number of leaving tasks is at least the number of largest demands whose sum
/// is the missing capacity. A dynamic programme chooses the number of tasks on each server so that the sum is smallest.
fn least_for_gang(state: &State<'_, '_>, n: usize) -> Checked<u64> {
    let problem = state.queues().case.problem;
    let gang = state.queues().gang[n];
    work::spend_stated(usize::try_from(gang).unwrap_or(usize::MAX))?;
    let gang = gang as usize;
    let (classes, sets) = state.classes_for(n);
    let mut of_servers: Vec<(usize, Vec<u64>)> = Vec::new();
    for class in &classes {
        let mut known = 0;
        for (server, free) in state.servers_of(*class) {
            known += 1;
            of_servers.push((*class, leaving(state, n, server, free, gang)?));
        }
        // Servers without tasks are identical, and a gang needs at most one such server for each of its tasks.
        let empty = problem.classes[*class].count.saturating_sub(known).min(gang as u64);
        if empty > 0 {
            let free = state.capacity_of(*class);
            let each = leaving(state, n, (*class, u64::MAX), &free, gang)?;
            for _ in 0..empty {
                work::spend(each.len() + 1)?;
                of_servers.push((*class, each.clone()));
            }
        }
    }
    let mut least: Option<u64> = None;
    for set in sets {
        let of_set = of_servers.iter().filter(|(class, _)| set.contains(class)).map(|(_, leave)| leave);
        let mut best: Vec<Option<u64>> = vec![None; gang + 1];
        best[0] = Some(0);
        for leave in of_set {
            work::spend(leave.len() * gang + 1)?;
            for tasks in (1..=gang).rev() {
                let with = |(j, count): (usize, &u64)| Some(best[tasks.checked_sub(j + 1)?]? + count);
                let cheapest = leave.iter().enumerate().filter_map(with).chain(best[tasks]).min();
                best[tasks] = cheapest;
            }
        }
        least = least.into_iter().chain(best[gang]).min();
    }
    // If the gang fits on no servers, every bound is true. The replay then rejects the start of the gang.
    Ok(least.unwrap_or(0))
}

/// Returns the smallest numbers of tasks that have to leave a server before 1, 2, ... tasks of a user fit there. The
/// list ends where more tasks cannot fit on the server.
fn leaving(
    state: &State<'_, '_>,
    n: usize,
    server: (usize, u64),
    free: &[Rational],
    gang: usize,
) -> Checked<Vec<u64>> {
    let problem = state.queues().case.problem;
    let demand: Vec<&(usize, Rational)> =
        problem.demand(n, server.0).iter().filter(|(_, d)| *d > 0).collect();
    // For each demanded resource, the demands of the tasks on the server and the numbers of tasks with these demands.
    // The largest demand comes first.
    let mut there: Vec<Vec<(Rational, Integer)>> = Vec::new();
    for (r, _) in &demand {
        let mut of_resource = Vec::new();
        for (m, tasks) in state.servers.get(&server).into_iter().flatten() {
            work::spend(2)?;
            let own = problem.demand(*m, server.0).iter().find(|(of, _)| of == r);
            let own = own.map(|(_, d)| d.clone()).unwrap_or_default();
            if own > 0 && tasks.is_integer() {
                of_resource.push((own, tasks.numer().clone()));
            }
        }
        of_resource.sort_by(|a, b| b.0.cmp(&a.0));
        there.push(of_resource);
    }
    let most = if state.needs_distinct_servers(n) { 1 } else { gang };
    let mut counts = Vec::new();
    for tasks in 1..=most {
        let mut largest = Integer::new();
        for ((r, d), there) in demand.iter().zip(&there) {
            work::spend(there.len() + 2)?;
            let mut lack = Rational::from(d * tasks as u64) - &free[*r];
            let mut count = Integer::new();
            for (own, number) in there {
                if lack <= 0 {
                    break;
                }
                let wanted = Rational::from(&lack / own).ceil().numer().clone();
                let taken = wanted.min(number.clone());
                lack -= Rational::from(own * &taken);
                count += taken;
            }
            if lack > 0 {
                return Ok(counts);
            }
            largest = largest.max(count);
        }
        counts.push(largest.to_u64().unwrap_or(0));
    }
    Ok(counts)
}
