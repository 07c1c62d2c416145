//! Properties of a mechanism that no single allocation has: what it gives when the problem changes a little.
//!
//! Each is refuted by two problems that differ in one thing, both solved exactly. Nothing proves one here.

use evenhand_problem::{Problem, ProblemSpec, Rational};

use crate::{Settings, TOLERANCE, solved};

/// A property of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// Nobody can run more tasks by stating another demand.
    StrategyProof,
    /// Nobody has fewer tasks when somebody else leaves.
    PopulationMonotone,
    /// Nobody has fewer tasks when a server has more of a resource.
    ResourceMonotone,
}

/// What refutes a property.
#[derive(Debug, Clone)]
pub struct Refutation {
    /// The problem as it is.
    pub problem: Problem,
    /// The problem that differs.
    pub changed: Problem,
    /// Where they differ, in words.
    pub change: String,
    /// Who has more, or fewer, tasks than the property allows.
    pub user: String,
    /// Its tasks in the problem as it is.
    pub before: Rational,
    /// What it can run in the problem that differs, by its true demand.
    pub after: Rational,
}

/// One thing that is different: in words, the problem, and users by their positions before.
struct Change {
    words: String,
    spec: ProblemSpec,
    /// By user of the changed problem: its position in the problem as it is.
    users: Vec<usize>,
    /// Who states something else than the truth.
    liar: Option<usize>,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::StrategyProof, Self::PopulationMonotone, Self::ResourceMonotone];

    /// As the command line takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StrategyProof => "strategy-proof",
            Self::PopulationMonotone => "population-monotone",
            Self::ResourceMonotone => "resource-monotone",
        }
    }

    /// What refutes the property on this problem; `None` where nothing that is tried does, or the mechanism gives no
    /// answer.
    pub(crate) fn refuted(self, settings: &Settings, spec: &ProblemSpec) -> Option<Refutation> {
        let problem = Problem::new(spec.clone()).ok()?;
        let before = solved(settings, &problem)?.totals();
        self.changes(spec).into_iter().find_map(|change| {
            let changed = Problem::new(change.spec.clone()).ok()?;
            let allocation = solved(settings, &changed)?;
            for (now, n) in change.users.iter().enumerate() {
                let after: Rational = match change.liar {
                    Some(liar) if liar == *n => {
                        allocation.tasks[now].iter().map(|(_, x)| x * truly(spec, &change.spec, *n)).sum()
                    }
                    Some(_) => continue,
                    None => allocation.tasks[now].iter().map(|(_, x)| x).sum(),
                };
                let after = spec.users[*n].tasks.clone().into_iter().fold(after, Rational::min);
                let gain = Rational::from(&after - &before[*n]);
                let gain = if change.liar.is_some() { gain } else { -gain };
                if gain > Rational::from(TOLERANCE) * (Rational::from(1) + &before[*n]) {
                    let (user, before) = (spec.users[*n].name.clone(), before[*n].clone());
                    let (problem, change) = (problem.clone(), change.words);
                    return Some(Refutation { problem, changed, change, user, before, after });
                }
            }
            None
        })
    }

    /// The changes that are tried.
    fn changes(self, spec: &ProblemSpec) -> Vec<Change> {
        let mut all = Vec::new();
        let everybody = || (0..spec.users.len()).collect::<Vec<usize>>();
        match self {
            Self::StrategyProof => {
                for (n, user) in spec.users.iter().enumerate() {
                    for (r, (resource, d)) in user.demand.iter().enumerate() {
                        let lies = [d.clone() + 1_u32, Rational::from(d * 2_u32), Rational::from(d / 2_u32)];
                        for lie in lies.into_iter().filter(|lie| lie != d) {
                            let words = format!("{} states a demand of {lie} {resource}, not {d}", user.name);
                            let mut spec = spec.clone();
                            spec.users[n].demand[r].1 = lie;
                            all.push(Change { words, spec, users: everybody(), liar: Some(n) });
                        }
                    }
                }
            }
            Self::PopulationMonotone => {
                for (n, user) in spec.users.iter().enumerate() {
                    let mut spec = spec.clone();
                    spec.users.remove(n);
                    let users = everybody().into_iter().filter(|m| *m != n).collect();
                    all.push(Change { words: format!("{} leaves", user.name), spec, users, liar: None });
                }
            }
            Self::ResourceMonotone => {
                for (i, server) in spec.servers.iter().enumerate() {
                    for (r, (resource, _)) in server.capacity.iter().enumerate() {
                        let words = format!("{} has one more {resource}", server.name);
                        let mut spec = spec.clone();
                        spec.servers[i].capacity[r].1 += 1;
                        all.push(Change { words, spec, users: everybody(), liar: None });
                    }
                }
            }
        }
        all
    }
}

/// Tasks by the true demand that what a task by the stated one takes is enough for.
fn truly(truth: &ProblemSpec, stated: &ProblemSpec, n: usize) -> Rational {
    let pairs = truth.users[n].demand.iter().zip(&stated.users[n].demand);
    let parts = pairs.filter(|((_, d), _)| *d > 0).map(|((_, d), (_, lie))| Rational::from(lie / d));
    parts.min().unwrap_or_default()
}
