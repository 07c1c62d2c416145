//! Whole tasks scheduled by the tree while tasks arrive and finish (docs/theory.md, section 9).
//!
//! After every change, gangs start as in [`fill_whole`](super::fill_whole): from the root, the child with the
//! least key is chosen, down to a user, which starts a gang on the first servers with enough free capacity.
//! If no more gangs can start, running gangs may be stopped for waiting gangs ([`Preemption`]).

mod memory;
mod preempt;
mod rooms;

use std::collections::BTreeMap;

use evenhand_budget::{charge, table};
use evenhand_problem::{Problem, Rational, names};

use super::allocate::{Settings, TREE, forest_of, without_class_limits};
use super::rule::Rule;
use super::turn::{gang, is_within_limits, pick};
use crate::error::MechanismError;
use crate::filling::draw::Draw;
use crate::filling::prepared::MAX_SERVERS;
use crate::filling::rule::Ties;
use crate::filling::scheduler::{Part, Scheduler};
use evenhand_exact::tree::{Forest, Holdings, key};
use memory::Memory;
use rooms::Rooms;

/// The choice of the tasks that are stopped for waiting tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preemption {
    /// No running task is stopped.
    #[default]
    Never,
    /// Users below the guarantee of a group may stop tasks of other users, if those other users reach their
    /// own guarantees even without these tasks.
    Guarantees,
    /// As with `Guarantees`, and in addition a task may be stopped if the order of the shares in the tree
    /// stays correct.
    Shares,
}

names! { Preemption:
    Never = "never", "running tasks are never stopped";
    Guarantees = "guarantees", "for groups below their guarantee, from those above theirs";
    Shares = "shares", "also from groups that have a larger share afterwards";
}

/// The policy by which the tree schedules tasks that come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TreePolicy {
    /// The scheduler whose share is used instead of the problem's own share.
    pub rule: Option<Rule>,
    /// The choice of the tasks that are stopped for waiting tasks.
    pub preemption: Preemption,
    /// The preference among users with equal keys.
    pub ties: Ties,
}

/// The maximum of servers times resources plus servers times users divided by 64. Each of these units takes
/// about 100 bytes.
const MOST_CELLS: u128 = 10_000_000;

/// The bytes for the free amount of one resource on a server.
const OF_RESOURCE: usize = 64;
/// The budget steps for a user that may be next. Checking it computes fractions: the limits above the user
/// and the keys.
const TURN: u64 = 100;

/// Creates a scheduler that serves users by the tree on the servers of `problem`, and passes it to `body`. Shares are
/// fractions of `whole`.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()), and if there are too many
/// single servers.
pub fn schedule<R>(
    problem: &Problem,
    whole: &Problem,
    policy: TreePolicy,
    seed: u64,
    body: impl FnOnce(&mut dyn Scheduler) -> R,
) -> Result<R, MechanismError> {
    let limit = |why: String| MechanismError::Limit { mechanism: TREE.info.id, why };
    if let Some(rule) = policy.rule.filter(|rule| rule.per_resource().is_some()) {
        let why = format!("`{rule}` gives entitlements and no tasks");
        return Err(MechanismError::BadOption { mechanism: TREE.info.id, option: "rule", why });
    }
    let servers = problem.n_single_servers();
    let cells = servers.saturating_mul((problem.n_resources() + problem.n_users() / 64 + 1) as u128);
    if servers > u128::from(MAX_SERVERS) || cells > MOST_CELLS {
        return Err(limit(format!(
            "{servers} single servers are too many: tasks are placed on them one by one"
        )));
    }
    table(servers as usize, problem.n_resources(), OF_RESOURCE, "the table of free capacity by server");
    table(servers as usize, problem.n_users().div_ceil(8), 1, "the table of users that fit on each server");
    let settings = Settings { rule: policy.rule, ..Settings::default() };
    without_class_limits(problem, TREE.info.id, "the simulation of queues does not support them")?;
    let forest = forest_of(whole, &settings)?;
    Ok(body(&mut Queues::new(&forest, problem, policy, seed)))
}

/// The state of servers that are shared by the tree. A *run* is a gang that has started. Runs are numbered in
/// the order of their starts.
struct Queues<'f> {
    forest: &'f Forest<'f>,
    policy: TreePolicy,
    draw: Draw,
    rooms: Rooms<'f>,
    holdings: Holdings,
    /// The number of waiting tasks of each user.
    waiting: Vec<u64>,
    /// The runs of each user, with the servers of each run and the tasks on each server.
    runs: Vec<BTreeMap<u32, Vec<(u32, u64)>>>,
    /// The number of the next run.
    next: u32,
    /// The number of the first run that started in the current call of `fill`.
    fresh: u32,
    /// One entry for each user: `true` if a gang of the user fits on empty servers.
    is_able: Vec<bool>,
    /// The users below each node.
    below: Vec<Vec<usize>>,
    memory: Memory,
    /// The run and the tasks of each entry placed by the last call of `fill`.
    started: Vec<Part>,
    /// The runs that the last call of `fill` stopped.
    stopped: Vec<u32>,
}

impl<'f> Queues<'f> {
    fn new(forest: &'f Forest<'f>, problem: &'f Problem, policy: TreePolicy, seed: u64) -> Self {
        let users = problem.n_users();
        let rooms = Rooms::new(problem);
        let mut holdings = Holdings::new(forest, vec![Rational::new(); users]);
        for (there, r) in holdings.capacity.iter_mut().zip(&forest.resources) {
            there.clone_from(&problem.total_capacity()[*r]);
        }
        let mut below = vec![Vec::new(); forest.nodes.len()];
        for n in 0..users {
            let leaf = forest.leaf(n);
            std::iter::once(leaf).chain(forest.above(leaf)).for_each(|v| below[v].push(n));
        }
        Self {
            policy,
            draw: Draw::new(seed, 0),
            holdings,
            waiting: vec![0; users],
            runs: vec![BTreeMap::new(); users],
            next: 0,
            fresh: 0,
            is_able: (0..users).map(|n| rooms.have_room(n, gang(forest, n))).collect(),
            below,
            memory: Memory::new(forest),
            started: Vec::new(),
            stopped: Vec::new(),
            rooms,
            forest,
        }
    }

    /// Returns whether at least one gang of a user waits.
    fn waits(&self, n: usize) -> bool {
        self.is_able[n] && self.waiting[n] >= gang(self.forest, n)
    }

    /// Returns whether a gang of a user can start now.
    fn can_start(&self, n: usize) -> bool {
        let leaf = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref();
        self.rooms.have_room(n, gang(self.forest, n))
            && leaf.is_some_and(|leaf| is_within_limits(self.forest, &self.holdings, leaf))
    }

    /// Returns the user that is next among `users`.
    fn turn(&mut self, users: &[usize]) -> usize {
        users.iter().for_each(|n| self.update_way(*n));
        let forest = self.forest;
        let Self { policy, draw, holdings, memory, .. } = self;
        let ways = std::mem::take(&mut memory.ways);
        let key_of = |v: usize, below: &[usize]| match below {
            [] => memory.beyond(forest, holdings, v).clone(),
            below => key(forest, holdings, v, below).0,
        };
        let n = pick(forest, &ways, users, policy.ties, draw, key_of);
        memory.ways = ways;
        n
    }

    /// Adds running tasks to a user, or removes them if the number is negative.
    fn hold(&mut self, n: usize, tasks: &Rational) {
        self.holdings.add(self.forest, n, tasks);
        // This allocation has only whole tasks.
        self.memory.set_tasks(n, self.holdings.tasks[n].numer().to_u64().unwrap_or_default());
    }

    /// Starts a gang of a user for which [`Self::can_start`] holds.
    fn start(&mut self, n: usize, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError> {
        let run = self.next;
        self.next = run.checked_add(1).ok_or_else(|| MechanismError::Limit {
            mechanism: TREE.info.id,
            why: "more runs than are numbered".to_owned(),
        })?;
        let tasks = gang(self.forest, n);
        let servers = self.rooms.place(n, tasks);
        placed.extend(servers.iter().map(|(j, _)| (n as u32, *j)));
        self.started.extend(servers.iter().map(|(_, tasks)| Part { run, tasks: *tasks }));
        self.runs[n].insert(run, servers);
        self.waiting[n] -= tasks;
        self.hold(n, &Rational::from(tasks));
        Ok(())
    }

    /// Starts gangs until no further gang can start.
    fn serve(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError> {
        let mut users: Vec<usize> = (0..self.waiting.len()).filter(|n| self.waits(*n)).collect();
        loop {
            charge(TURN * (1 + users.len() as u64), "the choice of the user that is served next");
            // A user that cannot start a gang now cannot start one later in this loop, because usage only grows here.
            users.retain(|n| self.waits(*n) && self.can_start(*n));
            if users.is_empty() {
                return Ok(());
            }
            let n = self.turn(&users);
            self.start(n, placed)?;
        }
    }
}

/// Returns the number of tasks of a run.
fn count(servers: &[(u32, u64)]) -> u64 {
    servers.iter().map(|(_, tasks)| tasks).sum()
}

impl Scheduler for Queues<'_> {
    fn n_servers(&self) -> usize {
        self.rooms.n_servers()
    }

    fn gang(&self, user: usize) -> u64 {
        gang(self.forest, user)
    }

    fn fits_somewhere(&self, user: usize) -> bool {
        self.is_able[user]
    }

    fn submit(&mut self, user: usize, tasks: u64) {
        if self.is_able[user] {
            self.waiting[user] += tasks;
        }
    }

    fn withdraw(&mut self, user: usize) -> u64 {
        std::mem::take(&mut self.waiting[user])
    }

    fn waiting(&self, user: usize) -> u64 {
        self.waiting[user]
    }

    fn running(&self, user: usize) -> u64 {
        self.runs[user].values().map(|servers| count(servers)).sum()
    }

    fn release(&mut self, user: usize, server: usize) {
        let is_there = |servers: &[(u32, u64)]| servers.iter().any(|(j, _)| *j as usize == server);
        let run = self.runs[user].iter().find(|(_, servers)| is_there(servers)).map(|(run, _)| *run);
        run.into_iter().for_each(|run| self.finish(user, server, Part { run, tasks: 1 }));
    }

    fn finish(&mut self, user: usize, server: usize, Part { run, tasks }: Part) {
        let Some(servers) = self.runs[user].get_mut(&run) else { return };
        // Runs usually release their servers from the last one on.
        let Some(at) = servers.iter().rposition(|(j, _)| *j as usize == server) else { return };
        let done = tasks.min(servers[at].1);
        servers[at].1 -= done;
        if servers[at].1 == 0 {
            servers.remove(at);
        }
        if servers.is_empty() {
            self.runs[user].remove(&run);
        }
        self.rooms.give_back(user, server, done);
        self.hold(user, &-Rational::from(done));
    }

    fn occupy(&mut self, user: usize, server: usize) -> Result<bool, MechanismError> {
        self.go_on(user, server, Part { run: self.next, tasks: 1 })
    }

    fn go_on(&mut self, user: usize, server: usize, part: Part) -> Result<bool, MechanismError> {
        let Part { run, tasks } = part;
        if server >= self.n_servers() || self.rooms.room_on(user, server) < tasks {
            return Ok(false);
        }
        self.rooms.take(user, server, tasks);
        self.runs[user].entry(run).or_default().push((server as u32, tasks));
        self.next = self.next.max(run.saturating_add(1));
        self.hold(user, &Rational::from(tasks));
        Ok(true)
    }

    fn close(&mut self, server: usize) {
        self.rooms.set_there(server, false);
        for (there, r) in self.holdings.capacity.iter_mut().zip(&self.forest.resources) {
            *there -= &self.rooms.capacity(server)[*r];
        }
    }

    fn open(&mut self, server: usize) {
        self.rooms.set_there(server, true);
        for (there, r) in self.holdings.capacity.iter_mut().zip(&self.forest.resources) {
            *there += &self.rooms.capacity(server)[*r];
        }
    }

    fn fill(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError> {
        placed.clear();
        self.started.clear();
        self.stopped.clear();
        self.fresh = self.next;
        loop {
            self.serve(placed)?;
            if !self.preempt(placed)? {
                return Ok(());
            }
        }
    }

    fn is_at_rest(&mut self) -> Result<bool, MechanismError> {
        // A gang that started in this call cannot be stopped for other gangs in the same call, but could be
        // stopped in a later call. This case is not considered.
        Ok(!(0..self.waiting.len()).any(|n| self.waits(n) && self.can_start(n)))
    }

    fn runs(&self) -> &[Part] {
        &self.started
    }

    fn stopped(&self) -> &[u32] {
        &self.stopped
    }

    fn draw(&self) -> &Draw {
        &self.draw
    }

    fn set_draw(&mut self, draw: Draw) {
        self.draw = draw;
    }
}
