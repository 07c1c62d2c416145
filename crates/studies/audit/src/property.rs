//! Properties of a mechanism that relate its allocations on different problems.
//!
//! Two problems refute a property if they differ in one respect and the exact answers to them contradict the
//! property. This crate does not prove properties.

use evenhand_mechanisms::registry;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing, number};

use crate::Subject;
use crate::lies::{Kind, lies};
use crate::stated::Stated;

/// A property of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Property {
    /// No user can run more tasks by stating another demand, other classes, or both.
    StrategyProof,
    /// No user can run more tasks by stating another demand.
    ByDemand,
    /// No user can run more tasks by stating other classes.
    ByClasses,
    /// Like [`StrategyProof`](Self::StrategyProof), but the liar runs true tasks in the server time that its
    /// stated tasks would take.
    InTime,
    /// No user takes tasks from another user by a lie that costs the liar no tasks (PS-DSF, Lemma 1).
    NoFreeHarm,
    /// No user changes what another user can run by a lie that leaves its own number of tasks unchanged.
    NonBossy,
    /// No user has fewer tasks when another user leaves.
    PopulationMonotone,
    /// No user has fewer tasks when a server has more of a resource.
    ResourceMonotone,
    /// On a single server every user has the same tasks as under DRF (DRFH, section III-C).
    SingleServerDrf,
}

/// A counterexample to a property.
#[derive(Debug, Clone)]
pub struct Refutation {
    /// The true problem.
    pub problem: Problem,
    /// The changed problem. If the property is about one problem, this is the true problem again.
    pub changed: Problem,
    /// The difference between the problems in words.
    pub change: String,
    /// The user that has more, or fewer, tasks than the property allows.
    pub user: String,
    /// The tasks of the user in the true problem. If the property is about one problem, these are the user's
    /// tasks under DRF.
    pub before: Rational,
    /// The number of tasks with the true demand that the user can run in the changed problem.
    pub after: Rational,
    /// The allocation of the mechanism on the true problem.
    pub given: Allocation,
    /// The allocation of the mechanism on the changed problem.
    pub given_changed: Allocation,
    /// The kind of the difference.
    pub(crate) kind: Kind,
}

/// The result of testing a property on one problem.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// The counterexample, if the problem refutes the property.
    pub refuted: Option<Refutation>,
    /// The distance of the closest change from a refutation, as a fraction of the user's tasks. `None` if no change
    /// comes close.
    pub near: Option<Rational>,
}

/// A changed problem, with its difference from the true problem as a sentence and as a kind.
pub(crate) struct Change {
    pub words: String,
    pub stated: Stated,
    pub kind: Kind,
}

impl Property {
    /// All properties.
    pub const ALL: [Self; 9] = [
        Self::StrategyProof,
        Self::ByDemand,
        Self::ByClasses,
        Self::InTime,
        Self::NoFreeHarm,
        Self::NonBossy,
        Self::PopulationMonotone,
        Self::ResourceMonotone,
        Self::SingleServerDrf,
    ];

    /// Returns the name of the property on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StrategyProof => "strategy-proof",
            Self::ByDemand => "strategy-proof-by-demand",
            Self::ByClasses => "strategy-proof-by-classes",
            Self::InTime => "strategy-proof-in-time",
            Self::NoFreeHarm => "no-free-harm",
            Self::NonBossy => "non-bossy",
            Self::PopulationMonotone => "population-monotone",
            Self::ResourceMonotone => "resource-monotone",
            Self::SingleServerDrf => "single-server-drf",
        }
    }

    /// Returns the property with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }

    /// Returns `true` if changes of this kind can refute the property.
    fn is_about(self, kind: Kind) -> bool {
        match self {
            Self::StrategyProof | Self::InTime | Self::NoFreeHarm | Self::NonBossy => kind.liar().is_some(),
            Self::ByDemand => matches!(kind, Kind::Demand(_)),
            Self::ByClasses => matches!(kind, Kind::Classes(_)),
            Self::PopulationMonotone => matches!(kind, Kind::Leaves(_)),
            Self::ResourceMonotone => kind == Kind::More,
            Self::SingleServerDrf => false,
        }
    }

    /// Returns a counterexample to the property on this problem. Returns `None` if no tried change is a
    /// counterexample, or if the mechanism has no answer.
    pub(crate) fn refuted(self, subject: &Subject, stated: &Stated) -> Option<Refutation> {
        probe(subject, stated, &[self])?.pop()?.refuted
    }
}

/// Returns the result of this problem for each property. Returns `None` if the mechanism has no answer.
pub(crate) fn probe(subject: &Subject, stated: &Stated, properties: &[Property]) -> Option<Vec<Probe>> {
    let problem = stated.problem()?;
    let given = subject.solved(&problem)?;
    let mut probes = vec![Probe::default(); properties.len()];
    for (property, probe) in properties.iter().zip(&mut probes) {
        if *property == Property::SingleServerDrf {
            probe.refuted = unlike_drf(&problem, &given, subject.tolerance);
        }
    }
    let tolerance = Rational::from(subject.tolerance);
    let truth = Truth { stated, totals: given.totals(), problem: &problem, given: &given, tolerance };
    for change in changes(stated, properties) {
        let is_open = |(property, probe): &(&Property, &mut Probe)| {
            probe.refuted.is_none() && property.is_about(change.kind)
        };
        let mut open: Vec<_> = properties.iter().zip(&mut probes).filter(is_open).collect();
        if open.is_empty() {
            continue;
        }
        let Some(changed) = change.stated.problem() else { continue };
        let Some(after) = subject.solved(&changed) else { continue };
        for (property, probe) in &mut open {
            truth.judge(**property, &change, &changed, &after, probe);
        }
    }
    Some(probes)
}

/// Returns the changes that can refute at least one of the properties.
fn changes(stated: &Stated, properties: &[Property]) -> Vec<Change> {
    let any = |kind: Kind| properties.iter().any(|property| property.is_about(kind));
    let mut all = Vec::new();
    if any(Kind::Demand(0)) || any(Kind::Classes(0)) {
        all.extend(lies(stated));
    }
    if any(Kind::Leaves(0)) {
        for (n, user) in stated.spec.users.iter().enumerate() {
            let mut without = stated.clone();
            without.remove_user(n);
            all.push(Change {
                words: format!("{} leaves", user.name),
                stated: without,
                kind: Kind::Leaves(n),
            });
        }
    }
    if any(Kind::More) {
        for (i, server) in stated.spec.servers.iter().enumerate() {
            for (r, (resource, _)) in server.capacity.iter().enumerate() {
                let mut more = stated.clone();
                more.spec.servers[i].capacity[r].1 += 1;
                let words = format!("{} has one more {resource}", server.name);
                all.push(Change { words, stated: more, kind: Kind::More });
            }
        }
    }
    all
}

/// The true problem, and the allocation of the mechanism on it.
struct Truth<'a> {
    stated: &'a Stated,
    problem: &'a Problem,
    given: &'a Allocation,
    totals: Vec<Rational>,
    tolerance: Rational,
}

impl Truth<'_> {
    fn judge(
        &self,
        property: Property,
        change: &Change,
        changed: &Problem,
        after: &Allocation,
        probe: &mut Probe,
    ) {
        let found = |n: usize, now: Rational| Refutation {
            problem: self.problem.clone(),
            changed: changed.clone(),
            change: change.words.clone(),
            user: self.stated.spec.users[n].name.clone(),
            before: self.totals[n].clone(),
            after: now,
            given: self.given.clone(),
            given_changed: after.clone(),
            kind: change.kind,
        };
        let tolerance = |n: usize| (Rational::from(1) + &self.totals[n]) * &self.tolerance;
        let others = |liar: Option<usize>| {
            let all = (0..self.totals.len()).filter(move |n| Some(*n) != liar);
            all.filter_map(|n| Some((n, after.total(change.kind.now(n)?))))
        };
        match (property, change.kind.liar()) {
            (Property::InTime, _) if self.given.sharing != Sharing::Tdm => {}
            (Property::NoFreeHarm, Some(liar)) => {
                if true_tasks(self.problem, changed, after, liar, false) < self.totals[liar] {
                    return;
                }
                let lost = |(n, now): &(usize, Rational)| self.totals[*n].clone() - now > tolerance(*n);
                probe.refuted = others(Some(liar)).find(lost).map(|(n, now)| found(n, now));
            }
            (Property::NonBossy, Some(liar)) => {
                if true_tasks(self.problem, changed, after, liar, false) != self.totals[liar] {
                    return;
                }
                let differs = |(n, now): &(usize, Rational)| {
                    Rational::from(&self.totals[*n] - now).abs() > tolerance(*n)
                };
                probe.refuted = others(Some(liar)).find(differs).map(|(n, now)| found(n, now));
            }
            (_, Some(liar)) => {
                let now = true_tasks(self.problem, changed, after, liar, property == Property::InTime);
                let gain = Rational::from(&now - &self.totals[liar]);
                if gain > tolerance(liar) {
                    probe.refuted = Some(found(liar, now));
                } else {
                    record_distance(probe, -gain, &self.totals[liar]);
                }
            }
            (_, None) => {
                for (n, now) in others(None) {
                    let loss = Rational::from(&self.totals[n] - &now);
                    if loss > tolerance(n) {
                        probe.refuted = Some(found(n, now));
                        return;
                    }
                    record_distance(probe, -loss, &self.totals[n]);
                }
            }
        }
    }
}

/// Returns how many tasks with the true demand a liar can run. On every class the liar has the resources of
/// the tasks that it stated, or the server time that these tasks would take.
pub(crate) fn true_tasks(
    truth: &Problem,
    stated: &Problem,
    given: &Allocation,
    n: usize,
    in_time: bool,
) -> Rational {
    let usable = given.tasks[n].iter().filter(|(i, _)| truth.can_run(n, *i));
    let worth = tasks_per_stated_task(truth, stated, n);
    let run = usable.map(|(i, x)| match in_time {
        true => truth.gamma(n, *i) / stated.gamma(n, *i) * x,
        false => Rational::from(x * &worth),
    });
    let run: Rational = run.sum();
    truth.users()[n].tasks().cloned().into_iter().fold(run, Rational::min)
}

/// Stores the distance of a change that nearly refutes the property.
fn record_distance(probe: &mut Probe, by: Rational, of: &Rational) {
    if by > 0 && *of > 0 {
        let near = by / of;
        probe.near = Some(probe.near.take().map_or(near.clone(), |known| known.min(near)));
    }
}

/// Returns the number of tasks with the true demand that the resources of one stated task suffice for.
fn tasks_per_stated_task(truth: &Problem, stated: &Problem, n: usize) -> Rational {
    let demand = |problem: &Problem| problem.users()[n].base_demand().to_vec();
    let pairs = demand(truth).into_iter().zip(demand(stated));
    let parts = pairs.filter(|(d, _)| *d > 0).map(|(d, lie)| lie / d);
    parts.min().unwrap_or_default()
}

/// Returns a counterexample if some user on one single server has a different number of tasks than under DRF.
fn unlike_drf(problem: &Problem, given: &Allocation, tolerance: (u32, u32)) -> Option<Refutation> {
    if problem.n_single_servers() != 1 {
        return None;
    }
    let drf = registry::find("drf")?.allocate(problem, Arithmetic::Exact).ok()?.allocation;
    let tolerance = |x: &Rational| Rational::from(tolerance) * (Rational::from(1) + x);
    let differs = |n: &usize| {
        let (one, other) = (drf.total(*n), given.total(*n));
        Rational::from(&one - &other).abs() > tolerance(&one)
    };
    let n = (0..problem.n_users()).find(differs)?;
    let (before, after) = (drf.total(n), given.total(n));
    Some(Refutation {
        problem: problem.clone(),
        changed: problem.clone(),
        change: format!("DRF gives {} tasks", number::format(&before)),
        user: problem.users()[n].name().to_owned(),
        before,
        after,
        given: given.clone(),
        given_changed: given.clone(),
        kind: Kind::More,
    })
}
