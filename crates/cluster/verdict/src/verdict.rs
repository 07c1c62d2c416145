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
    /// The running tasks.
    pub allocation: Allocation,
    /// The constraints of the snapshot.
    pub rules: TaskRules,
    /// The rule of the fair shares. `None` for the problem's own share.
    pub rule: Option<Rule>,
    /// The fraction of its fair share that a queue may lack.
    pub tolerance: Rational,
    /// The queues: the groups, then the users outside of groups.
    pub queues: Vec<Row>,
    /// The examination of the axioms for the running tasks.
    pub held: Examination,
    /// The fair shares.
    pub due: Due,
    /// The tasks that could start now. `None` if the snapshot does not say on which servers tasks run.
    pub starts: Option<Starts>,
    /// The waiting users that lack a gang or more of their guarantee, although the fair shares would meet the
    /// guarantee.
    pub unmet: Vec<Unmet>,
    /// The exceeded limits, servers and classes.
    pub excesses: Vec<Excess>,
    /// True if the capacities of servers are rounded down to the least of their class.
    pub is_rounded: bool,
}

/// The waiting tasks that could start now, and the waiting tasks for which this is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Starts {
    /// The starts that could start now.
    pub could: Vec<Fit>,
    /// The starts that could start by all conditions that the snapshot models. They also depend on a
    /// condition that the snapshot does not model.
    pub by_model: Vec<Fit>,
    /// The first user of each start for which the search gave no answer.
    pub not_known: Vec<usize>,
    /// The admitted tasks without a server.
    pub admitted: Vec<Admitted>,
}

/// A start that could start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The first user of the start.
    pub user: usize,
    /// The servers for the tasks of the start.
    pub assignment: Assignment,
    /// True if the start needs capacity that servers have beyond the capacity of their class. The problem
    /// does not contain this capacity.
    pub is_beyond_rounding: bool,
}

/// The admitted tasks of a user that have no server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The user.
    pub user: usize,
    /// The number of tasks.
    pub tasks: u64,
    /// The answer to the question whether a gang of these tasks could start now. Only servers decide, because
    /// limits already count admitted tasks.
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
        /// The demand of the tasks on the server.
        used: Rational,
        /// The capacity of the server.
        most: Rational,
    },
    /// Tasks on the servers of a class demand more of a resource than these servers have in total.
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
    /// A group uses more than its limit, or tasks and kept-back capacity together exceed the capacity of all servers.
    Bound {
        /// The limit.
        bound: Bound,
        /// The usage, including capacity that is kept back for groups inside the group.
        used: Rational,
        /// The usage of running and admitted tasks, without capacity that is kept back.
        by_tasks: Rational,
        /// The largest amount that the bound allows.
        most: Rational,
    },
}

/// A queue in the verdict. All amounts are indexed by resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The queue.
    pub queue: Queue,
    /// The usage of the queue's users.
    pub usage: Vector,
    /// The fair share of the queue.
    pub fair_share: Vector,
    /// The number of whole waiting tasks of the queue. `None` if the number is unlimited.
    pub waiting: Option<Rational>,
    /// The amounts that the queue lacks of its fair share. They are 0 for resources that its waiting tasks do not
    /// demand.
    pub lacking: Vector,
    /// The amounts that the queue uses over its fair share.
    pub over: Vector,
    /// A waiting user with a start that would still be within the fair share. If there is such a user, the queue is
    /// below its fair share by a whole task.
    pub by: Option<usize>,
    /// The guarantee of the queue. Empty if the queue has no guarantee.
    pub guarantee: Vec<(usize, Rational)>,
    /// The reasons why the fair share of the queue is not larger.
    pub ends: Vec<End>,
    /// The neighbouring queues that are over their fair share of a resource that this queue lacks. The first
    /// number is the resource. Each queue has its excess, and the largest excess comes first.
    pub holders: Vec<(usize, Vec<(usize, Rational)>)>,
    /// The unused guarantees of neighbouring queues that other queues use, for each resource that this queue
    /// lacks.
    pub lenders: Vec<Lent>,
}

/// The unused guarantees of one resource that other queues use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// The resource.
    pub resource: usize,
    /// The queues with an unused guarantee, each with the amount that it may lend. The largest amount comes
    /// first.
    pub by: Vec<(usize, Rational)>,
    /// The amount that other queues use beyond their guarantees. It is at most the sum of the amounts in
    /// `by`.
    pub used: Rational,
}

/// A reason why the fair share of a queue is not larger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// A resource is full on the servers on which waiting tasks of the queue can run.
    Resource(usize),
    /// The limit of a group on a resource is reached. The first index is the group, the second the resource.
    Limit(usize, usize),
}

/// A user whose guarantee is missed, although the fair shares would meet it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The user.
    pub user: usize,
    /// The number of further tasks to which the guarantee entitles the user.
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

    /// Returns `true` if no waiting task could start. If the snapshot has no placements, returns `true` if
    /// the axiom `work-conserving` is not violated.
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

    /// Returns `true` if the verdict knows of every waiting task whether it could start.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let is_known = |of: &Admitted| of.answer != Answer::NotKnown;
        self.starts.as_ref().is_none_or(|of| of.not_known.is_empty() && of.admitted.iter().all(is_known))
    }

    /// Returns `true` if the running tasks are feasible and within all limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        let is_violated = |axiom| self.claim(axiom).is_some_and(|claim| claim.holds == Some(false));
        self.excesses.is_empty()
            && ![Axiom::Feasible, Axiom::IntegerFeasible, Axiom::Limits].into_iter().any(is_violated)
    }

    /// Returns the claim about an axiom of the running tasks.
    #[must_use]
    pub fn claim(&self, axiom: Axiom) -> Option<&Claim> {
        self.held.certificate.claims.iter().find(|claim| claim.axiom == axiom)
    }

    /// Returns `true` if the fair shares meet all guarantees. Returns `None` if that is not known.
    #[must_use]
    pub fn guarantees_can_be_met(&self) -> Option<bool> {
        let claims = &self.due.certificate()?.claims;
        claims.iter().find(|claim| claim.axiom == Axiom::Guarantees)?.holds
    }

    /// Returns `true` if the cluster is fair. A cluster is fair if no queue is below its fair share by a
    /// whole task and by more than the tolerance, no waiting task could start, no guarantee that can be met
    /// is missed, and no limit is exceeded.
    #[must_use]
    pub fn is_fair(&self) -> bool {
        self.below_fair_share().next().is_none()
            && self.is_work_conserving()
            && self.unmet.is_empty()
            && self.is_within_limits()
    }
}

/// Returns the tasks that could start now. If tasks do not fit on the rounded servers of the problem, the
/// unrounded capacity decides.
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
            // An answer "yes" becomes "not known" if the start also depends on a condition that is not modelled.
            let is_modelled = rules.not_modelled(user).is_empty();
            let answer = if is_modelled || answer == Answer::No { answer } else { Answer::NotKnown };
            starts.admitted.push(Admitted { user, tasks: rules.admitted(user), answer });
        }
    }
    starts
}

/// Returns the exceeded capacities of servers, or of classes if there are no placements. Also returns tasks on classes
/// on which their user may not run, and exceeded limits.
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

/// Judges the axioms that the verdict states about the running tasks.
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

/// Returns `a - b`, or 0 if that is negative.
fn beyond(a: &Rational, b: &Rational) -> Rational {
    Rational::from(a - b).max(Rational::new())
}

/// Returns the entries with an amount above 0, in descending order of their amounts.
fn most_first(amounts: impl Iterator<Item = (usize, Rational)>) -> Vec<(usize, Rational)> {
    let mut sorted: Vec<(usize, Rational)> = amounts.filter(|(_, amount)| *amount > 0).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    sorted
}

/// The inputs from which the rows of a verdict are computed.
struct Judge<'j, 'p> {
    queues: &'j Queues<'p>,
    /// The number of tasks of each user, including admitted tasks.
    totals: Vector,
    /// True if a user waits, indexed by user.
    waiting: Vec<bool>,
    /// The usage of each queue, by resource.
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

    /// Returns the unused guarantees of a resource among neighbouring queues, and the amount of these guarantees that
    /// other queues use.
    fn lent(&self, r: usize, neighbours: &[usize]) -> Option<Lent> {
        let promised = |k: usize| {
            let promised = self.guarantee(k).into_iter().find(|(of, _)| *of == r);
            promised.map(|(_, promised)| promised)
        };
        let unused = |k: usize| {
            let Some(promised) = promised(k) else { return Rational::new() };
            // A queue that is over its fair share lends nothing, and neither does a queue that lacks part of
            // its fair share.
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

    /// Returns `true` if a queue lacks part of its fair share of a resource that one of its waiting users
    /// demands.
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

    /// Returns the users that lack a gang or more of their guarantees, although the tasks of the fair shares
    /// would meet the guarantees.
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

/// The cluster with the tasks of the fair shares, from which the reasons follow why no fair share is larger.
struct Ends<'p> {
    problem: &'p Problem,
    rooms: Rooms<'p>,
    /// The resources that are used up on each class.
    full: Vec<BTreeSet<usize>>,
    /// True if the fair share includes all tasks of a user, indexed by user.
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

    /// Returns the reasons why the fair share of a queue is not larger. `users` are the waiting users of the queue.
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
