//! The verdict on a cluster: the usage and the fair share of each queue, whether a waiting task could start, and whether
//! guarantees and limits are kept. The definitions are in docs/verdict.md.

use std::collections::BTreeSet;

use evenhand_certify::{Examination, Optima, Request, certify_among};
use evenhand_exact::{Axiom, Claim};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, RowKind, Sharing};

use crate::due::{Due, by_rule};
use crate::error::ClusterError;
use crate::queues::{Kind, Queue, Queues, Vector, gang};
use crate::rooms::{Bound, Rooms};
use crate::servers::Place;
use crate::starts::{Answer, Assignment, STEPS_OF_A_VERDICT, Standing};
use crate::task_rules::TaskRules;

/// The verdict on a running cluster.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The problem, with the share of the rule.
    pub problem: Problem,
    /// The tasks that run.
    pub allocation: Allocation,
    /// The constraints of the snapshot.
    pub rules: TaskRules,
    /// The rule of the fair shares; `None` for the problem's own share.
    pub rule: Option<Rule>,
    /// The fraction of its fair share that a queue may lack.
    pub tolerance: Rational,
    /// The queues: the groups, then the users outside of groups.
    pub queues: Vec<Row>,
    /// The axioms of the tasks that run.
    pub held: Examination,
    /// The fair shares.
    pub due: Due,
    /// The tasks that could start now; `None` if the snapshot does not say on which servers tasks run.
    pub starts: Option<Starts>,
    /// The users whose guarantee is missed by a gang or more, although the fair shares would meet it.
    pub unmet: Vec<Unmet>,
    /// The limits, servers and classes that are exceeded.
    pub excesses: Vec<Excess>,
    /// Whether the capacities of servers are rounded down to the least of their class.
    pub is_rounded: bool,
}

/// The waiting tasks that could start now, and those for which this is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Starts {
    /// The starts that could start now.
    pub could: Vec<Fit>,
    /// The starts that could start by all conditions that the snapshot models, while a condition that it does not model also
    /// decides.
    pub by_model: Vec<Fit>,
    /// The first user of each start for which the search gave no answer.
    pub not_known: Vec<usize>,
    /// The admitted tasks without a server.
    pub admitted: Vec<Admitted>,
}

/// A start that could start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The first of its users.
    pub user: usize,
    /// The servers for its tasks.
    pub assignment: Assignment,
    /// Whether it needs capacity that servers have beyond that of their class, and that the problem therefore lacks.
    pub is_beyond_rounding: bool,
}

/// The admitted tasks of a user that have no server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The user.
    pub user: usize,
    /// The number of tasks.
    pub tasks: u64,
    /// Whether a gang of them could start now. Only servers decide, since limits count admitted tasks already.
    pub answer: Answer,
}

/// A usage that exceeds a capacity or a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    /// Tasks on a single server demand more of a resource than the server has.
    Server {
        /// The server.
        place: Place,
        /// The resource.
        resource: usize,
        /// The demand of its tasks.
        used: Rational,
        /// Its capacity.
        most: Rational,
    },
    /// Tasks on the servers of a class demand more of a resource than these servers have together.
    Class {
        /// The class.
        class: usize,
        /// The resource.
        resource: usize,
        /// The demand of the tasks.
        used: Rational,
        /// The capacity of the servers.
        most: Rational,
    },
    /// Tasks run on a class on which their user may not run.
    NotAllowed {
        /// The user.
        user: usize,
        /// The class.
        class: usize,
    },
    /// A group uses more than a limit, or tasks and capacity that is kept back together exceed the capacity of all servers.
    Bound {
        /// The limit.
        bound: Bound,
        /// The usage, including capacity that is kept back for groups inside.
        used: Rational,
        /// The usage of running and admitted tasks alone.
        by_tasks: Rational,
        /// The amount that may be used.
        most: Rational,
    },
}

/// A queue in the verdict. All amounts are by resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The queue.
    pub queue: Queue,
    /// The usage of its users.
    pub usage: Vector,
    /// The fair share.
    pub fair_share: Vector,
    /// The number of its whole tasks that wait; `None` if it is unlimited.
    pub waiting: Option<Rational>,
    /// The amounts that it lacks of its fair share, for resources that its waiting tasks demand.
    pub lacking: Vector,
    /// The amounts that it uses over its fair share.
    pub over: Vector,
    /// A waiting user with a start that would still be within the fair share. If there is one, the queue is below its fair share
    /// by a whole task.
    pub by: Option<usize>,
    /// The guarantee of the queue; empty if it has none.
    pub guarantee: Vec<(usize, Rational)>,
    /// The reasons why its fair share is not larger.
    pub ends: Vec<End>,
    /// For each resource that it lacks: the neighbouring queues that are over their fair share, each with the excess, the largest
    /// first.
    pub holders: Vec<(usize, Vec<(usize, Rational)>)>,
    /// For each resource that it lacks: the amount of unused guarantees of neighbouring queues that other queues use.
    pub lenders: Vec<Lent>,
}

/// The unused guarantees of a resource that other queues use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// The resource.
    pub resource: usize,
    /// The queues with an unused guarantee, each with the amount that it may lend, the largest first.
    pub by: Vec<(usize, Rational)>,
    /// The amount that queues use beyond their guarantees, but at most the sum of the amounts in `by`.
    pub used: Rational,
}

/// A reason why the fair share of a queue is not larger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// A resource is full on all servers on which its waiting tasks can run.
    Resource(usize),
    /// The limit of a group, the first index, on a resource, the second index, is reached.
    Limit(usize, usize),
}

/// A user whose guarantee is missed, although the fair shares would meet it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The user.
    pub user: usize,
    /// The number of further tasks until a guarantee or a limit is reached.
    pub tasks: Rational,
}

impl Verdict {
    /// Judges a snapshot by the problem's own share or by a rule.
    ///
    /// # Errors
    /// [`ClusterError`] if the fair shares cannot be computed, or an axiom cannot be judged.
    pub fn new(snapshot: &Snapshot, rule: Option<Rule>, tolerance: &Rational) -> Result<Self, ClusterError> {
        let rules = TaskRules::new(snapshot);
        let problem = by_rule(&snapshot.problem, rule)?.unwrap_or_else(|| snapshot.problem.clone());
        let allocation = Allocation { mechanism: None, rule: None, ..snapshot.allocation.clone() };
        let queues = Queues::new(&problem, &rules);
        let due = Due::new(&queues, rule)?;
        let held = examined(&problem, &allocation)?;
        let standing = Standing::new(&problem, &rules, &allocation);
        let rooms = match &standing {
            Some(standing) => standing.rooms.clone(),
            None => Rooms::new(&problem, &allocation, |n| rules.admitted(n)),
        };
        let totals = rooms.totals().to_vec();
        let waiting = queues.waiting(&totals);
        let starts = standing.as_ref().map(|standing| {
            let unrounded = standing.unrounded(&allocation, &snapshot.rounded);
            starts(standing, unrounded.as_ref(), &waiting)
        });
        let excesses = excesses(&problem, &allocation, standing.as_ref(), &rooms);
        let amounts = queues.held(&totals);
        let judge = Judge { queues: &queues, totals, waiting, held: amounts, due: &due, rooms, tolerance };
        let (rows, unmet) = (judge.rows(), judge.unmet());
        drop(judge);
        drop(queues);
        drop(standing);
        Ok(Self {
            queues: rows,
            allocation,
            rule,
            tolerance: tolerance.clone(),
            held,
            due,
            starts,
            unmet,
            excesses,
            is_rounded: !snapshot.rounded.is_empty(),
            problem,
            rules,
        })
    }

    /// Returns the queues that are below their fair share by a whole task and by more than the tolerance.
    pub fn below_fair_share(&self) -> impl Iterator<Item = &Row> {
        self.queues.iter().filter(|row| row.by.is_some())
    }

    /// Returns whether no waiting task could start. Without placements, returns whether the axiom `work-conserving` is not
    /// violated.
    #[must_use]
    pub fn is_work_conserving(&self) -> bool {
        match &self.starts {
            Some(starts) => {
                let could = |of: &Admitted| matches!(of.answer, Answer::Yes(_));
                starts.could.is_empty() && !starts.admitted.iter().any(could)
            }
            None => self.claim(Axiom::WorkConserving).is_none_or(|claim| claim.holds != Some(false)),
        }
    }

    /// Returns whether the searches answered for every waiting task whether it could start.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let is_known = |of: &Admitted| of.answer != Answer::NotKnown;
        self.starts.as_ref().is_none_or(|of| of.not_known.is_empty() && of.admitted.iter().all(is_known))
    }

    /// Returns whether the tasks that run are feasible and within all limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        let is_violated = |axiom| self.claim(axiom).is_some_and(|claim| claim.holds == Some(false));
        self.excesses.is_empty()
            && ![Axiom::Feasible, Axiom::IntegerFeasible, Axiom::Limits].into_iter().any(is_violated)
    }

    /// Returns the claim about an axiom of the tasks that run.
    #[must_use]
    pub fn claim(&self, axiom: Axiom) -> Option<&Claim> {
        self.held.certificate.claims.iter().find(|claim| claim.axiom == axiom)
    }

    /// Returns whether the fair shares meet all guarantees; `None` if that is not known.
    #[must_use]
    pub fn guarantees_can_be_met(&self) -> Option<bool> {
        let claims = &self.due.certificate()?.claims;
        claims.iter().find(|claim| claim.axiom == Axiom::Guarantees)?.holds
    }

    /// Returns whether no queue is below its fair share by a whole task and by more than the tolerance, no waiting task could
    /// start, no guarantee that can be met is missed, and all limits are kept.
    #[must_use]
    pub fn is_fair(&self) -> bool {
        self.below_fair_share().next().is_none()
            && self.is_work_conserving()
            && self.unmet.is_empty()
            && self.is_within_limits()
    }
}

/// Returns the tasks that could start now, on the servers of the problem or, failing that, on their unrounded capacity.
fn starts<'p>(standing: &Standing<'p>, unrounded: Option<&Standing<'p>>, waiting: &[bool]) -> Starts {
    let rules = standing.rules;
    let mut steps = STEPS_OF_A_VERDICT;
    let mut starts = Starts::default();
    for n in (0..waiting.len()).filter(|n| waiting[*n] && rules.leads(*n)) {
        let rounded = standing.find(n, &mut steps);
        let is_beyond_rounding = !matches!(rounded, Answer::Yes(_)) && unrounded.is_some();
        let answer = match unrounded.filter(|_| is_beyond_rounding) {
            Some(unrounded) => unrounded.find(n, &mut steps),
            None => rounded,
        };
        match answer {
            Answer::No => {}
            Answer::NotKnown => starts.not_known.push(n),
            Answer::Yes(assignment) => {
                let is_modelled = rules.not_modelled(n).is_empty();
                let list = if is_modelled { &mut starts.could } else { &mut starts.by_model };
                list.push(Fit { user: n, assignment, is_beyond_rounding });
            }
        }
    }
    let admitted: Vec<usize> = (0..waiting.len()).filter(|n| rules.admitted(*n) > 0).collect();
    if !admitted.is_empty() {
        let free = unrounded.unwrap_or(standing).for_admitted();
        for user in admitted {
            let answer = free.find_servers(rules.start(user), &mut steps);
            // A "yes" becomes "not known" if a condition that is not modelled also decides.
            let is_modelled = rules.not_modelled(user).is_empty();
            let answer = if is_modelled || answer == Answer::No { answer } else { Answer::NotKnown };
            starts.admitted.push(Admitted { user, tasks: rules.admitted(user), answer });
        }
    }
    starts
}

/// Returns the exceeded capacities of servers (of classes if there are no placements), the classes on which users may not run,
/// and the exceeded limits.
fn excesses(
    problem: &Problem,
    allocation: &Allocation,
    standing: Option<&Standing<'_>>,
    rooms: &Rooms<'_>,
) -> Vec<Excess> {
    let mut excesses = Vec::new();
    match standing {
        Some(standing) => {
            for (class, servers) in standing.servers.classes.iter().enumerate() {
                for server in servers {
                    let beyond = server.free.iter().enumerate().filter(|(_, free)| **free < 0);
                    let most = problem.servers()[class].capacity();
                    excesses.extend(beyond.map(|(resource, free)| Excess::Server {
                        place: Place { class, index: server.index },
                        resource,
                        used: Rational::from(&most[resource] - free),
                        most: most[resource].clone(),
                    }));
                }
            }
        }
        None => {
            let mut used = vec![vec![Rational::new(); problem.n_resources()]; problem.n_servers()];
            for (n, tasks) in allocation.tasks.iter().enumerate() {
                for (i, x) in tasks {
                    for (r, d) in problem.demand(n, *i).entries() {
                        used[*i][*r] += Rational::from(d * x);
                    }
                }
            }
            for (class, used) in used.into_iter().enumerate() {
                let of = &problem.servers()[class];
                for (resource, used) in used.into_iter().enumerate() {
                    let most = Rational::from(&of.capacity()[resource] * of.count());
                    if used > most {
                        excesses.push(Excess::Class { class, resource, used, most });
                    }
                }
            }
        }
    }
    for (user, tasks) in allocation.tasks.iter().enumerate() {
        let barred =
            tasks.iter().filter(|(i, x)| !x.is_zero() && !problem.classes_of(user).any(|class| class == *i));
        excesses.extend(barred.map(|(class, _)| Excess::NotAllowed { user, class: *class }));
    }
    excesses.extend(rooms.excesses());
    excesses
}

/// Judges the axioms of the running tasks that a verdict states.
fn examined(problem: &Problem, allocation: &Allocation) -> Result<Examination, ClusterError> {
    let mut axioms = vec![Axiom::Feasible];
    if allocation.placements.is_some() {
        axioms.push(Axiom::IntegerFeasible);
    }
    if !problem.groups().list().is_empty() {
        axioms.extend([Axiom::Limits, Axiom::Guarantees]);
    }
    axioms.push(Axiom::WorkConserving);
    let requests: Vec<Request> = axioms.into_iter().map(Request::of).collect();
    Ok(certify_among(problem, allocation, &requests, &Rational::new(), &Optima::default())?)
}

/// Returns `a - b`, but at least 0.
fn beyond(a: &Rational, b: &Rational) -> Rational {
    Rational::from(a - b).max(Rational::new())
}

/// Returns the entries with an amount above 0, the largest amount first.
fn most_first(amounts: impl Iterator<Item = (usize, Rational)>) -> Vec<(usize, Rational)> {
    let mut sorted: Vec<(usize, Rational)> = amounts.filter(|(_, amount)| *amount > 0).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    sorted
}

/// The inputs of the rows of a verdict.
struct Judge<'j, 'p> {
    queues: &'j Queues<'p>,
    /// By user: the number of its tasks, including admitted ones.
    totals: Vector,
    /// By user: whether it waits.
    waiting: Vec<bool>,
    /// The usage by queue.
    held: Vec<Vector>,
    due: &'j Due,
    rooms: Rooms<'p>,
    tolerance: &'j Rational,
}

impl Judge<'_, '_> {
    fn rows(&self) -> Vec<Row> {
        let ends = self.due.tasks.as_ref().map(|due| Ends::new(self.queues.problem, due));
        (0..self.queues.list.len()).map(|v| self.row(v, ends.as_ref())).collect()
    }

    fn row(&self, v: usize, ends: Option<&Ends<'_>>) -> Row {
        let problem = self.queues.problem;
        let (usage, fair_share) = (self.held[v].clone(), self.due.amounts[v].clone());
        let wants = || self.queues.users[v].iter().copied().filter(|n| self.waiting[*n]);
        let mut is_wanted = vec![false; problem.n_resources()];
        wants().flat_map(|n| &self.queues.unit[n]).for_each(|(r, _)| is_wanted[*r] = true);
        let lacks = |r: usize| if is_wanted[r] { beyond(&fair_share[r], &usage[r]) } else { Rational::new() };
        let lacking: Vector = (0..fair_share.len()).map(lacks).collect();
        let over = usage.iter().zip(&fair_share).map(|(usage, share)| beyond(usage, share)).collect();
        let by = self.queues.short_by(v, &usage, &fair_share, &self.waiting, self.tolerance);
        let mut waiting = Some(Rational::new());
        for n in wants() {
            let left =
                problem.users()[n].tasks().map(|tasks| Rational::from(tasks - &self.totals[n]).floor());
            waiting = waiting.zip(left).map(|(sum, left)| sum + left);
        }
        let lacked: Vec<usize> = (0..lacking.len()).filter(|r| !lacking[*r].is_zero()).collect();
        let neighbours = if lacked.is_empty() { Vec::new() } else { self.neighbours(v) };
        let holders = |r: &usize| {
            let over = |k: usize| beyond(&self.held[k][*r], &self.due.amounts[k][*r]);
            (*r, most_first(neighbours.iter().map(|k| (*k, over(*k)))))
        };
        Row {
            queue: self.queues.list[v].clone(),
            waiting,
            by,
            guarantee: self.guarantee(v),
            ends: ends.filter(|_| !lacked.is_empty()).map_or_else(Vec::new, |ends| ends.of(wants())),
            holders: lacked.iter().map(holders).collect(),
            lenders: lacked.iter().filter_map(|r| self.lent(*r, &neighbours)).collect(),
            usage,
            fair_share,
            lacking,
            over,
        }
    }

    /// Returns the unused guarantees of a resource among neighbouring queues, and how much of them other queues use.
    fn lent(&self, r: usize, neighbours: &[usize]) -> Option<Lent> {
        let promised = |k: usize| {
            let promised = self.guarantee(k).into_iter().find(|(of, _)| *of == r);
            promised.map(|(_, promised)| promised)
        };
        let unused = |k: usize| {
            let Some(promised) = promised(k) else { return Rational::new() };
            // A queue that is over its fair share, or lacks some of it, lends nothing.
            if self.held[k][r] > self.due.amounts[k][r] || self.lacks(k, r) {
                return Rational::new();
            }
            let kept = match self.queues.list[k].kind {
                Kind::Group(v) => beyond(&self.rooms.kept_back(v, r), &self.held[k][r]),
                Kind::User(_) => Rational::new(),
            };
            beyond(&beyond(&promised, &self.held[k][r]), &kept)
        };
        let by = most_first(neighbours.iter().map(|k| (*k, unused(*k))));
        let borrowed: Rational =
            neighbours.iter().map(|k| beyond(&self.held[*k][r], &promised(*k).unwrap_or_default())).sum();
        let all: Rational = by.iter().map(|(_, amount)| amount).sum();
        let used = borrowed.min(all);
        (used > 0).then_some(Lent { resource: r, by, used })
    }

    /// Returns whether a queue lacks some of its fair share of a resource that a waiting user demands.
    fn lacks(&self, k: usize, r: usize) -> bool {
        let waits = |n: &&usize| self.waiting[**n] && self.queues.unit[**n].iter().any(|(of, _)| *of == r);
        self.held[k][r] < self.due.amounts[k][r] && self.queues.users[k].iter().any(|n| waits(&n))
    }

    fn guarantee(&self, v: usize) -> Vec<(usize, Rational)> {
        match self.queues.list[v].kind {
            Kind::Group(v) => self.rooms.promised(v).unwrap_or_default().to_vec(),
            Kind::User(_) => Vec::new(),
        }
    }

    /// Returns the siblings of a queue and of the queues above it.
    fn neighbours(&self, v: usize) -> Vec<usize> {
        let list = &self.queues.list;
        let path: Vec<usize> = std::iter::successors(Some(v), |v| list[*v].parent).collect();
        let is_neighbour =
            |k: &usize| !path.contains(k) && path.iter().any(|v| list[*v].parent == list[*k].parent);
        (0..list.len()).filter(is_neighbour).collect()
    }

    /// Returns the users that miss their guarantees by a gang or more, and would not miss them with the tasks of the fair shares.
    fn unmet(&self) -> Vec<Unmet> {
        let problem = self.queues.problem;
        let Some(due) = self.due.tasks.as_ref().filter(|_| !problem.groups().list().is_empty()) else {
            return Vec::new();
        };
        let mut of_due = None;
        let mut unmet = Vec::new();
        for n in (0..problem.n_users()).filter(|n| self.waiting[*n]) {
            let tasks = self.rooms.lack(n);
            if tasks < gang(problem, n) {
                continue;
            }
            let of_due = of_due.get_or_insert_with(|| Rooms::new(problem, due, |_| 0));
            if of_due.lack(n).is_zero() {
                unmet.push(Unmet { user: n, tasks });
            }
        }
        unmet
    }
}

/// The cluster with the tasks of the fair shares, which says why no fair share is larger.
struct Ends<'p> {
    problem: &'p Problem,
    rooms: Rooms<'p>,
    /// By class: the resources of which nothing is left.
    full: Vec<BTreeSet<usize>>,
    /// By user: whether the fair share includes all of its tasks.
    has_all: Vec<bool>,
}

impl<'p> Ends<'p> {
    fn new(problem: &'p Problem, due: &Allocation) -> Self {
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let mut left = vec![vec![Rational::new(); problem.n_resources()]; problem.n_servers()];
        for row in constraints.rows() {
            if let RowKind::Resource(r) = row.kind {
                left[row.server][r].clone_from(&row.capacity);
            }
        }
        for (n, tasks) in due.tasks.iter().enumerate() {
            for (i, x) in tasks {
                for (r, d) in problem.demand(n, *i).entries() {
                    left[*i][*r] -= Rational::from(d * x);
                }
            }
        }
        let full = |left: &Vector| (0..left.len()).filter(|r| left[*r] <= 0).collect();
        let totals = due.totals();
        let has_all =
            |(n, total): (usize, &Rational)| problem.users()[n].tasks().is_some_and(|tasks| total >= tasks);
        Self {
            problem,
            rooms: Rooms::new(problem, due, |_| 0),
            full: left.iter().map(full).collect(),
            has_all: totals.iter().enumerate().map(has_all).collect(),
        }
    }

    /// Returns the reasons why the fair share of a queue with these waiting users is not larger.
    fn of(&self, users: impl Iterator<Item = usize>) -> Vec<End> {
        let mut ends = BTreeSet::new();
        for n in users.filter(|n| !self.has_all[*n]) {
            let reached = self.rooms.limits_reached(n);
            if reached.is_empty() {
                let demand = self.problem.users()[n].base_demand();
                let used_up = self.problem.classes_of(n).flat_map(|i| &self.full[i]);
                ends.extend(used_up.filter(|r| !demand[**r].is_zero()).map(|r| End::Resource(*r)));
            }
            ends.extend(reached.into_iter().map(|(v, r)| End::Limit(v, r)));
        }
        ends.into_iter().collect()
    }
}
