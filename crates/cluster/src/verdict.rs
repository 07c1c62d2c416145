//! The verdict on a cluster: what queues hold beside what they are due, whether a waiting task fits, whether guarantees are
//! met and can be (docs/verdict.md has the definitions).

use std::collections::BTreeSet;

use evenhand_certify::{Examination, Optima, Request, certify_among};
use evenhand_exact::{Axiom, Claim};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, RowKind, Sharing};

use crate::due::{Due, by_rule};
use crate::error::ClusterError;
use crate::fits::{Fit, fits};
use crate::queues::{Kind, Queue, Queues, Vector, gang};
use crate::rooms::Rooms;
use crate::servers::Servers;

/// What is found of a cluster.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The problem that is judged: with the share of the rule.
    pub problem: Problem,
    /// What runs.
    pub allocation: Allocation,
    /// The rule in place of the problem's own share.
    pub rule: Option<Rule>,
    /// The part of what is due by which a queue may be short.
    pub tolerance: Rational,
    /// By queue: the groups, then the users that stand in none.
    pub queues: Vec<Row>,
    /// The axioms of what is held.
    pub held: Examination,
    /// What is due.
    pub due: Due,
    /// Waiting tasks that could start now; absent where tasks have no servers.
    pub fits: Option<Vec<Fit>>,
    /// Users below the guarantees of all groups above them by a gang or more, which are not below them in what is due.
    pub unmet: Vec<Unmet>,
}

/// A queue in the verdict; amounts by resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The queue.
    pub queue: Queue,
    /// What its users hold.
    pub held: Vector,
    /// What they are due.
    pub due: Vector,
    /// How many whole tasks of it wait; absent: any number.
    pub waiting: Option<Rational>,
    /// What it is short of, of resources that its waiting tasks demand.
    pub short: Vector,
    /// What it holds above what it is due.
    pub above: Vector,
    /// A user that waits, one of whose gangs is within what is due: the queue is short by a whole task.
    pub by: Option<usize>,
    /// What it is promised, where it is.
    pub guarantee: Vec<(usize, Rational)>,
    /// What ends its part.
    pub ends: Vec<End>,
    /// Of each resource that it is short of: who beside it holds more than its part, the most first.
    pub holders: Vec<(usize, Vec<(usize, Rational)>)>,
    /// Of each resource that it is short of: who beside it does not use so much of what it is promised, and holds no more than
    /// its part.
    pub lenders: Vec<(usize, Vec<(usize, Rational)>)>,
}

/// What ends the part of a queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// A resource of all servers on which its waiting tasks can run.
    Resource(usize),
    /// The limit of a group on a resource.
    Limit(usize, usize),
}

/// A user that is below what the groups above it are promised, and need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The user.
    pub user: usize,
    /// Tasks that it could run more until a guarantee or a limit is reached.
    pub tasks: Rational,
}

impl Verdict {
    /// Judges what runs, by the problem's own share or by a rule.
    ///
    /// # Errors
    /// [`ClusterError`] where what is due, or an axiom, cannot be computed.
    pub fn new(
        problem: &Problem,
        allocation: &Allocation,
        rule: Option<Rule>,
        tolerance: &Rational,
    ) -> Result<Self, ClusterError> {
        let problem = by_rule(problem, rule)?.unwrap_or_else(|| problem.clone());
        let allocation = Allocation { mechanism: None, rule: None, ..allocation.clone() };
        let queues = Queues::new(&problem);
        let due = Due::new(&queues, rule)?;
        let held = examined(&problem, &allocation)?;
        let totals = allocation.totals();
        let rooms = Rooms::new(&problem, &allocation);
        let waiting = queues.waiting(&totals);
        let fits = allocation.placements.as_ref().map(|placements| {
            let servers = Servers::new(&problem, placements);
            let rooms = Some(&rooms).filter(|_| problem.groups().hold_back());
            fits(&queues, &servers, rooms, &waiting)
        });
        let amounts = queues.held(&totals);
        let judge = Judge { queues: &queues, totals, waiting, held: amounts, due: &due, rooms, tolerance };
        let (rows, unmet) = (judge.rows(), judge.unmet());
        drop(queues);
        Ok(Self {
            queues: rows,
            allocation,
            rule,
            tolerance: tolerance.clone(),
            held,
            due,
            fits,
            unmet,
            problem,
        })
    }

    /// The queues that are short by a whole task, beyond the tolerance.
    pub fn short(&self) -> impl Iterator<Item = &Row> {
        self.queues.iter().filter(|row| row.by.is_some())
    }

    /// Whether no waiting task fits; without servers of tasks, whether the axiom holds.
    #[must_use]
    pub fn is_work_conserving(&self) -> bool {
        match &self.fits {
            Some(fits) => fits.is_empty(),
            None => self.claim(Axiom::WorkConserving).is_none_or(|claim| claim.holds != Some(false)),
        }
    }

    /// Whether what runs is feasible and within all limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        let is_violated = |axiom| self.claim(axiom).is_some_and(|claim| claim.holds == Some(false));
        ![Axiom::Feasible, Axiom::IntegerFeasible, Axiom::Limits].into_iter().any(is_violated)
    }

    /// What is claimed of an axiom of what is held.
    #[must_use]
    pub fn claim(&self, axiom: Axiom) -> Option<&Claim> {
        self.held.certificate.claims.iter().find(|claim| claim.axiom == axiom)
    }

    /// Whether the guarantees can all be met: they are in what is due. `None` where that is not known.
    #[must_use]
    pub fn guarantees_can_be_met(&self) -> Option<bool> {
        let claims = &self.due.certificate()?.claims;
        claims.iter().find(|claim| claim.axiom == Axiom::Guarantees)?.holds
    }

    /// Whether no queue is short by a whole task beyond the tolerance, nothing that waits fits, no guarantee that can be met is
    /// not, and all limits are kept.
    #[must_use]
    pub fn is_fair(&self) -> bool {
        self.short().next().is_none()
            && self.is_work_conserving()
            && self.unmet.is_empty()
            && self.is_within_limits()
    }
}

/// The axioms of what runs that a verdict is about.
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

struct Judge<'j> {
    queues: &'j Queues<'j>,
    totals: Vector,
    waiting: Vec<bool>,
    held: Vec<Vector>,
    due: &'j Due,
    rooms: Rooms<'j>,
    tolerance: &'j Rational,
}

impl Judge<'_> {
    fn rows(&self) -> Vec<Row> {
        let ends = self.due.tasks.as_ref().map(|due| Ends::new(self.queues.problem, due));
        (0..self.queues.list.len()).map(|v| self.row(v, ends.as_ref())).collect()
    }

    fn row(&self, v: usize, ends: Option<&Ends<'_>>) -> Row {
        let problem = self.queues.problem;
        let (held, due) = (self.held[v].clone(), self.due.amounts[v].clone());
        let wants = || self.queues.users[v].iter().copied().filter(|n| self.waiting[*n]);
        let mut is_wanted = vec![false; problem.n_resources()];
        wants().flat_map(|n| &self.queues.unit[n]).for_each(|(r, _)| is_wanted[*r] = true);
        let beyond = |a: &Rational, b: &Rational| Rational::from(a - b).max(Rational::new());
        let short = |r: usize| if is_wanted[r] { beyond(&due[r], &held[r]) } else { Rational::new() };
        let short: Vector = (0..due.len()).map(short).collect();
        let above = held.iter().zip(&due).map(|(held, due)| beyond(held, due)).collect();
        let by = self.queues.short_by(v, &held, &due, &self.waiting, self.tolerance);
        let mut waiting = Some(Rational::new());
        for n in wants() {
            let left =
                problem.users()[n].tasks().map(|tasks| Rational::from(tasks - &self.totals[n]).floor());
            waiting = waiting.zip(left).map(|(sum, left)| sum + left);
        }
        let lacking: Vec<usize> = (0..short.len()).filter(|r| !short[*r].is_zero()).collect();
        let beside = if lacking.is_empty() { Vec::new() } else { self.beside(v) };
        let of = |r: usize, amount: &dyn Fn(usize) -> Rational| {
            let mut found: Vec<(usize, Rational)> = beside.iter().map(|k| (*k, amount(*k))).collect();
            found.retain(|(_, amount)| *amount > 0);
            found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            (r, found)
        };
        let holders = |r: &usize| of(*r, &|k| beyond(&self.held[k][*r], &self.due.amounts[k][*r]));
        let unused = |k: usize, r: usize| {
            let promised = self.guarantee(k).into_iter().find(|(of, _)| *of == r);
            promised.map(|(_, promised)| beyond(&promised, &self.held[k][r])).unwrap_or_default()
        };
        let is_above = |k: usize, r: usize| self.held[k][r] > self.due.amounts[k][r];
        let lenders = |r: &usize| of(*r, &|k| if is_above(k, *r) { Rational::new() } else { unused(k, *r) });
        Row {
            queue: self.queues.list[v].clone(),
            waiting,
            by,
            guarantee: self.guarantee(v),
            ends: ends.filter(|_| !lacking.is_empty()).map_or_else(Vec::new, |ends| ends.of(wants())),
            holders: lacking.iter().map(holders).collect(),
            lenders: lacking.iter().map(lenders).collect(),
            held,
            due,
            short,
            above,
        }
    }

    fn guarantee(&self, v: usize) -> Vec<(usize, Rational)> {
        match self.queues.list[v].kind {
            Kind::Group(v) => self.rooms.promised(v).unwrap_or_default().to_vec(),
            Kind::User(_) => Vec::new(),
        }
    }

    /// The queues beside a queue, and beside those that it stands in.
    fn beside(&self, v: usize) -> Vec<usize> {
        let list = &self.queues.list;
        let way: Vec<usize> = std::iter::successors(Some(v), |v| list[*v].parent).collect();
        let is_beside =
            |k: &usize| !way.contains(k) && way.iter().any(|v| list[*v].parent == list[*k].parent);
        (0..list.len()).filter(is_beside).collect()
    }

    /// Who is below its guarantees by a gang or more, and not in what is due.
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
            let of_due = of_due.get_or_insert_with(|| Rooms::new(problem, due));
            if of_due.lack(n).is_zero() {
                unmet.push(Unmet { user: n, tasks });
            }
        }
        unmet
    }
}

/// What ends the parts of queues in what is due.
struct Ends<'p> {
    problem: &'p Problem,
    rooms: Rooms<'p>,
    /// By class: the resources of which nothing is left.
    full: Vec<BTreeSet<usize>>,
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
            rooms: Rooms::new(problem, due),
            full: left.iter().map(full).collect(),
            has_all: totals.iter().enumerate().map(has_all).collect(),
        }
    }

    /// Of a queue with these users who wait.
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
