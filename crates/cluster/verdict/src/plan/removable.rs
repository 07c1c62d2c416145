//! Computes which servers can go. A server can go if other servers have free capacity for its running tasks,
//! no queue lacks more of its fair share afterwards, and no further guarantee is missed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Placement, Problem, Rational};

use super::capacity;
use super::packing::{Lot, Room, pack_exactly, room_under_limits};
use crate::due::{Unproven, by_rule};
use crate::error::ClusterError;
use crate::queues::{Queues, Vector, gang};
use crate::rooms::{Bound, Rooms};
use crate::servers::{Place, Server, Servers, placed};
use crate::starts::{Answer, Standing};
use crate::task_rules::TaskRules;
use crate::verdict::Excess;

/// The largest number of empty servers of a class that are considered.
const MOST_EMPTY: u64 = 10_000;
/// The largest number of servers in the list of servers with free capacity for a task of a user. If all of them are
/// full, all servers are searched.
const MOST_TARGETS: usize = 256;
/// The largest number of steps of all exact searches.
const STEPS: u64 = 1_000_000;
/// The largest number of exact searches.
const MOST_SEARCHES: usize = 3_000;
/// The largest number of times that fair shares are computed on a small cluster. On larger clusters they are
/// computed less often.
const MOST_JUDGED: usize = 400;
/// The work for all computations of fair shares. The work of one computation is users times resources and
/// classes, plus running tasks by server.
const WORK: usize = 400_000;

/// The servers that can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removable {
    /// The servers that can each be removed if all other servers stay, in ascending order.
    pub alone: Vec<Gone>,
    /// Servers that can all go together, in the order in which the search chose them.
    pub together: Vec<Place>,
    /// The tasks that move if these servers go together.
    pub moves: Vec<Relocation>,
    /// The servers that cannot be removed even if all other servers stay, by reason.
    pub stays: BTreeMap<Reason, Vec<Place>>,
    /// The servers for which the search reached its limit.
    pub not_known: Vec<Place>,
    /// True if the search for servers that can go together reached its limit.
    pub is_cut: bool,
    /// A waiting user that could start now. The user may no longer fit after servers have gone.
    pub could_start: Option<usize>,
}

/// A server that can go, with the new servers for its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The server.
    pub place: Place,
    /// The tasks that move.
    pub moves: Vec<Relocation>,
}

/// Tasks that start again on another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// The user.
    pub user: usize,
    /// The server that the tasks leave.
    pub from: Place,
    /// The server on which the tasks start again.
    pub to: Place,
    /// The number of tasks.
    pub tasks: u64,
}

/// The reason why a server cannot go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A task on the server may not be moved, because its user is protected or the task is pinned.
    Kept,
    /// Other servers do not have enough free capacity for the tasks of the server.
    NoRoom,
    /// A queue would lack more of its fair share, a guarantee would be missed, or capacity that is kept back would be missing.
    Lack,
}

impl Removable {
    /// Searches for servers that can go.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`] if the servers of tasks are not known, [`ClusterError::NotWhole`] if a server runs a fraction
    /// of a task, and the errors of fair shares.
    pub fn new(snapshot: &Snapshot, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let light = capacity::light(snapshot);
        let placements = light.allocation.placements.clone().ok_or(ClusterError::NoPlacements)?;
        let all = placements.iter().flat_map(|on| &on.tasks);
        if let Some((n, tasks)) = all.into_iter().find(|(_, tasks)| !tasks.is_integer() || *tasks < 0) {
            let user = light.problem.users()[*n].name().to_owned();
            return Err(ClusterError::NotWhole { user, tasks: tasks.to_string() });
        }
        let problem = by_rule(&light.problem, rule)?.unwrap_or_else(|| light.problem.clone());
        let rules = TaskRules::new(&light);
        let known = light.rounded.iter().filter(|of| !of.by_server.is_empty()).cloned().collect();
        let servers = Servers::unrounded(&problem, &placements, MOST_EMPTY, known);
        let rooms = Rooms::new(&problem, &light.allocation, |n| rules.admitted(n));
        let standing = Standing { problem: &problem, rules: &rules, servers, rooms };
        let size = problem.n_users() * (problem.n_resources() + problem.n_servers()) + placements.len();
        let before = Numbers::new(&light.problem, &rules, rule, &light.allocation, None)?;
        let mut steps = STEPS;
        let could_start = (0..problem.n_users()).find(|n| {
            let waits = before.waiting[*n] && rules.leads(*n) && rules.not_modelled(*n).is_empty();
            waits && matches!(standing.find(*n, &mut steps), Answer::Yes(_))
        });
        let mut search = Search {
            snapshot: &light,
            rule,
            before,
            removed: BTreeSet::new(),
            left_by_user: movable(&problem, &rules, &standing),
            shape_of: problem.shapes().of,
            targets: BTreeMap::new(),
            standing,
            steps: STEPS,
            searches: MOST_SEARCHES,
            judged: (WORK / (size + 1)).clamp(10, MOST_JUDGED),
        };
        Ok(Self { could_start, ..search.run()? })
    }
}

/// Returns the number of tasks of each user that may move. No task of a protected user may move. For other
/// users, all tasks except pinned tasks may move.
fn movable(problem: &Problem, rules: &TaskRules, standing: &Standing<'_>) -> Vec<Rational> {
    let totals = standing.rooms.totals();
    let of = |n: usize| {
        if rules.of(n).protected {
            return Rational::new();
        }
        let pinned = problem.groups().member(n).pinned.clone().unwrap_or_default();
        (&totals[n] - pinned).max(Rational::new())
    };
    (0..problem.n_users()).map(of).collect()
}

/// The numbers of a cluster that must not get worse when servers go.
struct Numbers {
    /// True if a user waits today, indexed by user.
    waiting: Vec<bool>,
    /// The amount below the fair share, by queue and resource.
    lacking: Vec<Vector>,
    /// The lack of guarantees, in tasks of each user. It is 0 unless the user waits and the fair shares would
    /// meet the guarantees.
    lack: Vec<Rational>,
    /// True if the fair shares meet all guarantees. `None` if that is not known.
    can_be_met: Option<bool>,
    /// The amount in excess of each exceeded bound.
    exceeded: Vec<(Bound, Rational)>,
}

impl Numbers {
    /// Computes the numbers of a cluster. If the cluster is not that of today, `before` are the numbers of
    /// the cluster of today.
    fn new(
        problem: &Problem,
        rules: &TaskRules,
        rule: Option<Rule>,
        allocation: &Allocation,
        before: Option<&Self>,
    ) -> Result<Self, ClusterError> {
        let problem = &by_rule(problem, rule)?.unwrap_or_else(|| problem.clone());
        let queues = Queues::new(problem, rules);
        let due = Unproven::new(&queues, rule)?;
        let rooms = Rooms::new(problem, allocation, |n| rules.admitted(n));
        let totals = rooms.totals();
        // If the last server of a class goes, users of this class no longer count as waiting. The users that wait today
        // are used instead.
        let waiting = before.map_or_else(|| queues.waiting(totals), |before| before.waiting.clone());
        let held = queues.held(totals);
        let lacking = (0..queues.list.len()).map(|v| {
            let mut is_wanted = vec![false; problem.n_resources()];
            let wants = queues.users[v].iter().filter(|n| waiting[**n]);
            wants.flat_map(|n| &queues.unit[*n]).for_each(|(r, _)| is_wanted[*r] = true);
            let lacks = |r: usize| match is_wanted[r] {
                true => Rational::from(&due.amounts[v][r] - &held[v][r]).max(Rational::new()),
                false => Rational::new(),
            };
            (0..problem.n_resources()).map(lacks).collect()
        });
        let lacking: Vec<Vector> = lacking.collect();
        let has_groups = !problem.groups().list().is_empty();
        let due_rooms = due.tasks.as_ref().filter(|_| has_groups).map(|due| Rooms::new(problem, due, |_| 0));
        let lack = |n: usize| {
            let lack = if waiting[n] { rooms.lack(n) } else { Rational::new() };
            let is_met = || due_rooms.as_ref().is_some_and(|rooms| rooms.lack(n).is_zero());
            if lack >= gang(problem, n) && is_met() { lack } else { Rational::new() }
        };
        let lack =
            (0..problem.n_users()).map(|n| if has_groups { lack(n) } else { Rational::new() }).collect();
        // The comparison needs this number only if all guarantees can be met today.
        let is_needed = before.is_none_or(|before| before.can_be_met == Some(true));
        let meets_all = |rooms: &Rooms<'_>| (0..problem.n_users()).all(|n| rooms.lack(n).is_zero());
        let can_be_met = due_rooms.as_ref().filter(|_| is_needed).map(meets_all);
        let exceeded = rooms.excesses().into_iter().filter_map(|excess| match excess {
            Excess::Bound { bound, used, most, .. } => Some((bound, used - most)),
            _ => None,
        });
        Ok(Self { waiting, lacking, lack, can_be_met, exceeded: exceeded.collect() })
    }

    /// Returns `true` if some number is worse than before.
    fn is_worse(&self, before: &Self) -> bool {
        let lacks = |(now, was): (&Vector, &Vector)| now.iter().zip(was).any(|(now, was)| now > was);
        let exceeds = |(bound, amount): &(Bound, Rational)| {
            let was = before.exceeded.iter().find(|(of, _)| of == bound);
            was.is_none_or(|(_, was)| amount > was)
        };
        self.lacking.iter().zip(&before.lacking).any(lacks)
            || self.lack.iter().zip(&before.lack).any(|(now, was)| now > was)
            || (before.can_be_met == Some(true) && self.can_be_met != Some(true))
            || self.exceeded.iter().any(exceeds)
    }
}

/// A server, as its class and its position in the list of servers.
type At = (usize, usize);

/// Tasks that have moved, so that the move can be undone: the user, both servers, and the number of tasks.
type Moved = (usize, At, At, u64);

/// The servers that have free capacity for a task of a user today.
struct Targets {
    /// The servers, the fullest first.
    servers: Vec<At>,
    /// True if the list is not cut at [`MOST_TARGETS`] servers.
    is_complete: bool,
}

/// A server whose tasks fit on other servers, and the moves of these tasks.
type Movable = (At, Vec<Relocation>);

/// The search for servers that can go.
struct Search<'s, 'p> {
    snapshot: &'s Snapshot,
    rule: Option<Rule>,
    before: Numbers,
    /// The cluster after the moves so far.
    standing: Standing<'p>,
    /// The servers that have gone, as classes and positions.
    removed: BTreeSet<At>,
    /// The number of tasks that may still move, by user.
    left_by_user: Vec<Rational>,
    /// The shape of each user. Tasks of one shape have the same demand and run on the same classes.
    shape_of: Vec<u32>,
    /// The target servers of the shapes for which they were needed.
    targets: BTreeMap<u32, Rc<Targets>>,
    steps: u64,
    searches: usize,
    /// The number of times that fair shares may still be computed.
    judged: usize,
}

impl<'p> Search<'_, 'p> {
    fn run(&mut self) -> Result<Removable, ClusterError> {
        let mut movable: BTreeMap<usize, Vec<Movable>> = BTreeMap::new();
        let mut stays: BTreeMap<Reason, Vec<Place>> = BTreeMap::new();
        let mut not_known = Vec::new();
        for class in 0..self.standing.servers.classes.len() {
            for at in 0..self.standing.servers.classes[class].len() {
                let place = self.place((class, at));
                match self.empty((class, at), true) {
                    Ok(moved) => {
                        let moves = self.relocations(&moved);
                        movable.entry(class).or_default().push(((class, at), moves));
                    }
                    Err(Some(reason)) => stays.entry(reason).or_default().push(place),
                    Err(None) => not_known.push(place),
                }
            }
        }
        // The numbers that must not get worse are the same for all servers of a class, so they are computed once. With
        // limits on classes they also depend on the tasks that move to other classes.
        let mut order: Vec<usize> = movable.keys().copied().collect();
        order.sort_by_key(|class| (Reverse(movable[class].len()), *class));
        let mut alone = Vec::new();
        let depends_on_moves = self.standing.problem.groups().limit_classes();
        let keep = self.judged / 2;
        for class in order {
            let servers = movable.remove(&class).unwrap_or_default();
            let mut known: Option<bool> = None;
            for ((class, at), moves) in servers {
                let place = self.place((class, at));
                let stays_in_class = moves.iter().all(|of| of.to.class == of.from.class);
                let is_same = known.is_some() && (!depends_on_moves || stays_in_class);
                let is_worse = match known.filter(|_| is_same) {
                    Some(is_worse) => is_worse,
                    None if self.judged <= keep => {
                        not_known.push(place);
                        continue;
                    }
                    None => {
                        let is_worse = self.is_worse_without((class, at), &moves)?;
                        if !depends_on_moves || stays_in_class {
                            known = Some(is_worse);
                        }
                        is_worse
                    }
                };
                if is_worse {
                    stays.entry(Reason::Lack).or_default().push(place);
                } else {
                    alone.push(((class, at), Gone { place, moves }));
                }
            }
        }
        alone.sort_by_key(|(_, gone)| gone.place);
        let (together, is_cut) = self.together(alone.iter().map(|(at, _)| *at).collect())?;
        let moves = self.net_moves();
        stays.values_mut().for_each(|places| places.sort_unstable());
        not_known.sort_unstable();
        let alone = alone.into_iter().map(|(_, gone)| gone).collect();
        let together = together.into_iter().map(|at| self.place(at)).collect();
        Ok(Removable { alone, together, moves, stays, not_known, is_cut, could_start: None })
    }

    fn place(&self, (class, at): At) -> Place {
        Place { class, index: self.standing.servers.classes[class][at].index }
    }

    /// Returns `true` if some number gets worse if one server goes and its tasks move.
    fn is_worse_without(&mut self, (class, at): At, moves: &[Relocation]) -> Result<bool, ClusterError> {
        let place = self.place((class, at));
        let mut placements: BTreeMap<Place, BTreeMap<usize, Rational>> = BTreeMap::new();
        for on in self.snapshot.allocation.placements.iter().flatten() {
            let at = Place { class: on.server, index: on.index };
            if at != place {
                placements.entry(at).or_default().extend(on.tasks.iter().cloned());
            }
        }
        for moved in moves {
            *placements.entry(moved.to).or_default().entry(moved.user).or_default() += moved.tasks;
        }
        let placements = placements.into_iter().map(|(place, tasks)| Placement {
            server: place.class,
            index: place.index,
            tasks: tasks.into_iter().collect(),
        });
        self.is_worse(placements.collect(), &[place])
    }

    fn is_worse(&mut self, placements: Vec<Placement>, gone: &[Place]) -> Result<bool, ClusterError> {
        self.judged = self.judged.saturating_sub(1);
        let mut by_class = vec![Vec::new(); self.snapshot.problem.n_servers()];
        gone.iter().for_each(|place| by_class[place.class].push(place.index));
        by_class.iter_mut().for_each(|list| list.sort_unstable());
        let after = capacity::without(self.snapshot, &by_class, placements)?;
        let now = Numbers::new(
            &after.problem,
            self.standing.rules,
            self.rule,
            &after.allocation,
            Some(&self.before),
        )?;
        Ok(now.is_worse(&self.before))
    }

    /// Returns `true` if one task of a user may run on a server instead of a server of the class `from`.
    fn may_move(&self, n: usize, from: usize, (class, at): At) -> bool {
        let rule = self.standing.rules.of(n);
        let server = &self.standing.servers.classes[class][at];
        let is_gang = gang(self.standing.problem, n) > 1;
        let shares_server = is_gang && rule.distinct_servers && server.tasks.contains_key(&n);
        !shares_server && class_is_allowed(&rule.class_sets, is_gang, from, class)
    }

    /// Returns the number of tasks of a user that fit on a server. The number is at most `most`.
    fn room(&self, n: usize, from: usize, (class, at): At, most: u64) -> u64 {
        if self.removed.contains(&(class, at)) || !self.may_move(n, from, (class, at)) {
            return 0;
        }
        let is_gang = gang(self.standing.problem, n) > 1;
        let most = if is_gang && self.standing.rules.of(n).distinct_servers { most.min(1) } else { most };
        self.standing.servers.classes[class][at].room(self.standing.problem, class, n, most)
    }

    /// Returns the servers with free capacity for a task of a user, the fullest first. Moves never free
    /// capacity on other servers, so the list stays complete.
    fn targets_of(&mut self, n: usize) -> Rc<Targets> {
        if let Some(known) = self.targets.get(&self.shape_of[n]) {
            return Rc::clone(known);
        }
        let mut list: Vec<(Reverse<usize>, At)> = Vec::new();
        for class in self.standing.rules.classes_of(self.standing.problem, n) {
            let servers = &self.standing.servers.classes[class];
            evenhand_budget::charge(20 * servers.len() as u64, "the search for servers");
            for (at, server) in servers.iter().enumerate() {
                if server.fits(self.standing.problem, class, n) {
                    list.push((Reverse(server.tasks.len()), (class, at)));
                }
            }
        }
        list.sort_unstable();
        let is_complete = list.len() <= MOST_TARGETS;
        list.truncate(MOST_TARGETS);
        let servers = list.into_iter().map(|(_, at)| at).collect();
        let targets = Rc::new(Targets { servers, is_complete });
        self.targets.insert(self.shape_of[n], Rc::clone(&targets));
        targets
    }

    /// Returns the complete list of servers with free capacity for a task of a user, or `None` if there are too many such
    /// servers.
    fn all_targets(&mut self, n: usize) -> Option<Rc<Targets>> {
        Some(self.targets_of(n)).filter(|targets| targets.is_complete)
    }

    /// Returns the other servers with free capacity for one of these tasks. Returns `None` if there are too many such
    /// servers.
    fn servers_with_room(&mut self, from: At, tasks: &[(usize, u64)]) -> Option<BTreeSet<At>> {
        let mut servers = BTreeSet::new();
        for (n, _) in tasks {
            let targets = self.all_targets(*n)?;
            servers.extend(targets.servers.iter().filter(|at| **at != from && !self.removed.contains(*at)));
        }
        Some(servers)
    }

    /// Returns the tasks for which only few servers have free capacity.
    fn tasks_with_few_servers(&mut self, tasks: &[(usize, u64)]) -> Vec<(usize, u64)> {
        tasks.iter().filter(|(n, _)| self.all_targets(*n).is_some()).copied().collect()
    }

    /// Returns `false` if the free capacity of all servers together is too small for the tasks of a server. The tasks with
    /// many servers are left out, and for the others only servers with free capacity for one of them count.
    fn can_have_room(&mut self, from: At, tasks: &[(usize, u64)]) -> bool {
        let tasks = self.tasks_with_few_servers(tasks);
        let Some(servers) = self.servers_with_room(from, &tasks) else { return true };
        let problem = self.standing.problem;
        let mut left = vec![Rational::new(); problem.n_resources()];
        for (n, x) in &tasks {
            let lot = self.lot(*n, *x, from.0);
            for (r, left) in left.iter_mut().enumerate() {
                *left -= lot.least_demand(problem, r) * *x;
            }
        }
        for (class, at) in servers {
            let free = &self.standing.servers.classes[class][at].free;
            let positive = left.iter_mut().zip(free).filter(|(_, free)| **free > 0);
            positive.for_each(|(left, free)| *left += free);
        }
        left.iter().all(|left| *left >= 0)
    }

    /// Moves tasks of a user to the first servers with free capacity. Adds the moves to `moved`, and returns the number of
    /// tasks that are left.
    fn move_to_first(&mut self, n: usize, tasks: u64, from: At, moved: &mut Vec<Moved>) -> u64 {
        let lot = self.lot(n, tasks, from.0);
        let targets = self.targets_of(n);
        let mut left = self.move_onto(&lot, tasks, from, targets.servers.iter().copied(), moved);
        if left > 0 && !targets.is_complete {
            let all = self.all_servers(n);
            left = self.move_onto(&lot, left, from, all.into_iter(), moved);
        }
        left
    }

    fn move_onto(
        &mut self,
        lot: &Lot,
        mut left: u64,
        from: At,
        servers: impl Iterator<Item = At>,
        moved: &mut Vec<Moved>,
    ) -> u64 {
        for to in servers {
            if left == 0 {
                break;
            }
            let under = room_under_limits(&self.standing, lot, to.0);
            let tasks = self.room(lot.user, from.0, to, left.min(under));
            if tasks > 0 {
                self.add(lot.user, to, tasks as i64);
                moved.push((lot.user, from, to, tasks));
                left -= tasks;
            }
        }
        left
    }

    /// Takes moves back.
    fn undo(&mut self, moved: &[Moved]) {
        moved.iter().for_each(|(n, _, to, tasks)| self.add(*n, *to, -(*tasks as i64)));
    }

    /// Moves all tasks of a server to other servers. If `is_trial`, the moves are undone at once.
    ///
    /// # Errors
    /// The reason why the tasks cannot move, or `None` if the reason is not known.
    fn empty(&mut self, from: At, is_trial: bool) -> Result<Vec<Moved>, Option<Reason>> {
        let (class, at) = from;
        let tasks: Vec<(usize, u64)> = self.standing.servers.classes[class][at]
            .tasks
            .iter()
            .map(|(n, x)| (*n, x.numer().to_u64().unwrap_or(u64::MAX)))
            .collect();
        let problem = self.standing.problem;
        if tasks.iter().any(|(n, x)| self.left_by_user[*n] < *x) {
            return Err(Some(Reason::Kept));
        }
        let mut order = tasks.clone();
        let capacity = problem.total_capacity();
        order.sort_by_cached_key(|(n, _)| {
            let demand = problem.users()[*n].base_demand().entries().iter();
            let demand = demand.filter(|(r, _)| !capacity[*r].is_zero());
            let size = demand.map(|(r, d)| Rational::from(d / &capacity[*r])).max().unwrap_or_default();
            (Reverse(size), *n)
        });
        if !self.can_have_room(from, &tasks) {
            return Err(Some(Reason::NoRoom));
        }
        self.removed.insert(from);
        // All tasks leave first, so that limits on classes no longer count them.
        for (n, x) in &order {
            self.add(*n, from, -(*x as i64));
        }
        let mut moved: Vec<Moved> = Vec::new();
        let mut left_over = false;
        for (n, x) in &order {
            left_over |= self.move_to_first(*n, *x, from, &mut moved) > 0;
        }
        if left_over {
            self.undo(&moved);
            let found = self.empty_exactly(from, &tasks);
            match found {
                Ok(exact) => {
                    exact.iter().for_each(|(n, _, to, tasks)| self.add(*n, *to, *tasks as i64));
                    moved = exact;
                }
                Err(reason) => {
                    tasks.iter().for_each(|(n, x)| self.add(*n, from, *x as i64));
                    self.removed.remove(&from);
                    return Err(reason);
                }
            }
        }
        if is_trial {
            self.undo(&moved);
            tasks.iter().for_each(|(n, x)| self.add(*n, from, *x as i64));
            self.removed.remove(&from);
        } else {
            tasks.iter().for_each(|(n, x)| self.left_by_user[*n] -= *x);
        }
        Ok(moved)
    }

    /// Returns tasks of a user that leave a class, as a lot.
    fn lot(&self, n: usize, tasks: u64, from: usize) -> Lot {
        let rules = self.standing.rules;
        let is_gang = gang(self.standing.problem, n) > 1;
        let allowed = |i: &usize| class_is_allowed(&rules.of(n).class_sets, is_gang, from, *i);
        let classes = rules.classes_of(self.standing.problem, n).filter(allowed).collect();
        Lot { user: n, tasks, most: tasks, classes, choices: Vec::new(), is_admitted: false }
    }

    fn all_servers(&self, n: usize) -> Vec<At> {
        let classes = self.standing.rules.classes_of(self.standing.problem, n);
        classes
            .flat_map(|class| (0..self.standing.servers.classes[class].len()).map(move |at| (class, at)))
            .collect()
    }

    /// Searches exactly for other servers for the tasks of a server. The tasks have already left the server.
    fn empty_exactly(&mut self, from: At, tasks: &[(usize, u64)]) -> Result<Vec<Moved>, Option<Reason>> {
        // If the tasks of a single user do not fit, no search is needed.
        for (n, x) in tasks {
            let mut left = *x;
            let servers = match self.all_targets(*n) {
                Some(targets) => targets.servers.clone(),
                None => self.all_servers(*n),
            };
            for to in servers {
                left -= self.room(*n, from.0, to, left);
                if left == 0 {
                    break;
                }
            }
            if left > 0 {
                return Err(Some(Reason::NoRoom));
            }
        }
        // The tasks with few servers decide most cases: they do not fit, or the other tasks fit after them.
        let few = self.tasks_with_few_servers(tasks);
        if !few.is_empty() && few.len() < tasks.len() {
            let mut moved = self.search_exactly(from, &few)?;
            moved.iter().for_each(|(n, _, to, tasks)| self.add(*n, *to, *tasks as i64));
            let others = tasks.iter().filter(|of| !few.contains(of));
            let left: u64 = others.map(|(n, x)| self.move_to_first(*n, *x, from, &mut moved)).sum();
            self.undo(&moved);
            if left == 0 {
                return Ok(moved);
            }
        }
        self.search_exactly(from, tasks)
    }

    /// Searches for servers for these tasks together. Bounds of groups are not considered.
    fn search_exactly(&mut self, from: At, tasks: &[(usize, u64)]) -> Result<Vec<Moved>, Option<Reason>> {
        let problem = self.standing.problem;
        let rules = self.standing.rules;
        let needs_distinct = |n: usize| gang(problem, n) > 1 && rules.of(n).distinct_servers;
        if self.searches == 0 || tasks.iter().any(|(n, _)| needs_distinct(*n)) {
            return Err(None);
        }
        self.searches -= 1;
        let lots: Vec<Lot> = tasks.iter().map(|(n, x)| self.lot(*n, *x, from.0)).collect();
        // The search sees only servers with free capacity for one of the tasks.
        let with_room = self.servers_with_room(from, tasks);
        let servers = |class: usize, list: &mut dyn Iterator<Item = usize>| -> Vec<Server> {
            list.map(|at| self.standing.servers.classes[class][at].clone()).collect()
        };
        let of_class = |class: usize| match &with_room {
            Some(some) => {
                let own = some.range((class, 0)..=(class, usize::MAX)).map(|(_, at)| *at);
                servers(class, &mut own.into_iter())
            }
            None => {
                let all = 0..self.standing.servers.classes[class].len();
                servers(class, &mut all.filter(|at| !self.removed.contains(&(class, *at))))
            }
        };
        let seen = (0..problem.n_servers()).map(of_class).collect();
        let all = std::mem::replace(&mut self.standing.servers.classes, seen);
        let found = pack_exactly(&self.standing, &lots, &mut self.steps);
        self.standing.servers.classes = all;
        match found {
            Room::No => Err(Some(Reason::NoRoom)),
            Room::NotKnown => Err(None),
            Room::Yes(placed) => {
                let moved = placed.into_iter().map(|of| {
                    let class = of.place.class;
                    let servers = &self.standing.servers.classes[class];
                    let at = servers.partition_point(|server| server.index < of.place.index);
                    (lots[of.lot].user, from, (class, at), of.tasks)
                });
                Ok(moved.collect())
            }
        }
    }

    /// Adds tasks of a user to a server. A negative number removes tasks.
    fn add(&mut self, n: usize, (class, at): At, tasks: i64) {
        let server = &mut self.standing.servers.classes[class][at];
        for (r, d) in self.standing.problem.demand(n, class).entries() {
            server.free[*r] -= Rational::from(d * tasks);
        }
        let total = server.tasks.entry(n).or_default();
        *total += tasks;
        if total.is_zero() {
            server.tasks.remove(&n);
        }
        self.standing.rooms.add_on_class(n, class, &Rational::from(tasks));
    }

    fn relocations(&self, moved: &[Moved]) -> Vec<Relocation> {
        let one = |(user, from, to, tasks): &Moved| Relocation {
            user: *user,
            from: self.place(*from),
            to: self.place(*to),
            tasks: *tasks,
        };
        moved.iter().map(one).collect()
    }

    /// Removes as many servers as possible together, several at a time. Servers with the fewest tasks come
    /// first. The numbers that must not get worse are computed again after each step. Returns the servers,
    /// and whether the search reached its limit.
    fn together(&mut self, mut all: Vec<At>) -> Result<(Vec<At>, bool), ClusterError> {
        let tasks = |at: &At| -> Rational { self.standing.servers.classes[at.0][at.1].tasks.values().sum() };
        all.sort_by_cached_key(|at| (tasks(at), *at));
        let size = all.len().div_ceil((self.judged / 2).max(1)).max(1);
        let mut todo: Vec<Vec<At>> = all.chunks(size).rev().map(<[_]>::to_vec).collect();
        let mut gone: Vec<At> = Vec::new();
        let mut is_cut = false;
        while let Some(chunk) = todo.pop() {
            if self.judged == 0 {
                is_cut = true;
                break;
            }
            let saved = (self.standing.clone(), self.removed.clone(), self.left_by_user.clone());
            let mut taken = Vec::new();
            for at in &chunk {
                match self.empty(*at, false) {
                    Ok(_) => taken.push(*at),
                    Err(reason) => is_cut |= reason.is_none(),
                }
            }
            if taken.is_empty() {
                continue;
            }
            let places: Vec<Place> = gone.iter().chain(&taken).map(|at| self.place(*at)).collect();
            let placements = self.standing.servers.placements();
            if self.is_worse(placements, &places)? {
                (self.standing, self.removed, self.left_by_user) = saved;
                if taken.len() > 1 {
                    let half = taken.len() / 2;
                    todo.push(taken[half..].to_vec());
                    todo.push(taken[..half].to_vec());
                }
            } else {
                gone.extend(taken);
            }
        }
        Ok((gone, is_cut))
    }

    /// Returns the moves between the cluster of today and the cluster without the removed servers.
    fn net_moves(&self) -> Vec<Relocation> {
        let mut change: BTreeMap<usize, BTreeMap<Place, i64>> = BTreeMap::new();
        for on in self.snapshot.allocation.placements.iter().flatten() {
            let place = Place { class: on.server, index: on.index };
            for (n, x) in &on.tasks {
                *change.entry(*n).or_default().entry(place).or_default() -= x.numer().to_i64().unwrap_or(0);
            }
        }
        for on in
            placed(&self.snapshot.allocation, self.standing.servers.placements()).placements.iter().flatten()
        {
            let place = Place { class: on.server, index: on.index };
            for (n, x) in &on.tasks {
                *change.entry(*n).or_default().entry(place).or_default() += x.numer().to_i64().unwrap_or(0);
            }
        }
        let mut moves = Vec::new();
        for (user, places) in change {
            let mut from: Vec<(Place, i64)> =
                places.iter().filter(|(_, x)| **x < 0).map(|(at, x)| (*at, -x)).collect();
            from.reverse();
            for (to, mut x) in places.into_iter().filter(|(_, x)| *x > 0) {
                while x > 0 {
                    let Some((place, left)) = from.last_mut() else { break };
                    let tasks = x.min(*left);
                    moves.push(Relocation { user, from: *place, to, tasks: tasks as u64 });
                    x -= tasks;
                    *left -= tasks;
                    if *left == 0 {
                        from.pop();
                    }
                }
            }
        }
        moves.sort_by_key(|of| (of.from, of.user, of.to));
        moves
    }
}

/// Returns `true` if a task may move between two classes. A task of a gang must stay inside every class set
/// that contains its old class, because its gang may run on any of these sets.
fn class_is_allowed(sets: &[Vec<usize>], is_gang: bool, from: usize, to: usize) -> bool {
    if sets.is_empty() {
        return true;
    }
    let has = |set: &&Vec<usize>, i: usize| set.binary_search(&i).is_ok();
    let of_gang: Vec<&Vec<usize>> = sets.iter().filter(|set| is_gang && has(set, from)).collect();
    if of_gang.is_empty() {
        sets.iter().any(|set| has(&set, to))
    } else {
        of_gang.iter().all(|set| has(set, to))
    }
}
