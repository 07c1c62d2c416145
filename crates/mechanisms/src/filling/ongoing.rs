//! A filling that continues while tasks arrive, finish and leave: after every change, all tasks that fit are
//! placed.
//!
//! After a filling, no waiting task fits anywhere. Only two kinds of placements are then possible in the next
//! filling: tasks of users that have arrived since (*open* users), and tasks of any user on a server that was
//! given capacity back (a *freed* server). With one freed server and no open user, the sets of users show
//! which user is served next, and no other server is examined. The index of the servers is updated only when
//! it is needed.

use super::digits::Digits;
use super::draw::Draw;
use super::lines::Lines;
use super::model::{Model, State, TooMany};
use super::proposals;
use super::rule::Order;
use super::run::too_many;
use super::scheduler::Scheduler;
use super::server_first;
use super::server_tree::ServerTree;
use super::user_first::{self, Servers};
use super::users::Users;
use crate::error::MechanismError;

/// The index of the servers that the rule needs.
enum Index<'m, D: Digits> {
    UserFirst(Servers<'m, D>),
    ServerFirst(ServerTree<D>),
    Proposals(Lines<'m, D>),
}

impl<'m, D: Digits> Index<'m, D> {
    fn new(state: &State<'m, D>) -> Self {
        match state.model.rule.order() {
            Order::UserFirst => Self::UserFirst(Servers::new(state)),
            Order::ServerFirst => Self::ServerFirst(ServerTree::new(state)),
            Order::Proposals => Self::Proposals(Lines::new(state)),
        }
    }

    fn update(&mut self, state: &State<'_, D>, j: usize) {
        match self {
            Self::UserFirst(servers) => servers.update(state, j),
            Self::ServerFirst(tree) => tree.update(state, j),
            Self::Proposals(lines) => lines.update(state, j),
        }
    }
}

/// A set of numbers that is listed and cleared in time proportional to its members.
struct Marked {
    is_in: Vec<bool>,
    list: Vec<usize>,
}

impl Marked {
    fn new(len: usize) -> Self {
        Self { is_in: vec![false; len], list: Vec::new() }
    }

    fn insert(&mut self, at: usize) {
        if !std::mem::replace(&mut self.is_in[at], true) {
            self.list.push(at);
        }
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            self.is_in[at] = false;
        }
    }
}

/// The state between fillings.
pub(super) struct Ongoing<'m, D: Digits> {
    state: State<'m, D>,
    draw: Draw,
    users: Users<D>,
    /// The index of the servers, or `None` until it is first needed.
    index: Option<Index<'m, D>>,
    /// The servers whose changes the index does not contain yet.
    stale: Marked,
    /// The servers that were given capacity back since the last filling.
    freed: Marked,
    /// The users that have arrived since the last filling.
    open: Marked,
    /// The position of each user of the problem among the users of the model, or `None` if it is not among
    /// them.
    of_problem: Vec<Option<u32>>,
    /// The pairs `(user, server)` that the last filling placed.
    placed: Vec<(u32, u32)>,
    /// The users whose scores have changed. The set is temporary storage.
    changed: Marked,
}

impl<'m, D: Digits> Ongoing<'m, D> {
    /// Creates the state with empty servers and no tasks. `n_users` is the number of users in the problem.
    pub fn new(model: &'m Model<D>, n_users: usize, draw: Draw) -> Self {
        let mut of_problem = vec![None; n_users];
        for (n, user) in model.users.iter().enumerate() {
            of_problem[user.index] = Some(n as u32);
        }
        let state = State::ongoing(model);
        let (servers, n_model_users) = (model.n_servers(), model.users.len());
        Self {
            users: Users::new(&state),
            state,
            draw,
            index: None,
            stale: Marked::new(servers),
            freed: Marked::new(servers),
            open: Marked::new(n_model_users),
            of_problem,
            placed: Vec::new(),
            changed: Marked::new(n_model_users),
        }
    }

    fn user(&self, user: usize) -> Option<usize> {
        self.of_problem.get(user).copied().flatten().map(|n| n as usize)
    }

    /// Returns the index with the current free amounts of all servers.
    fn up_to_date(&mut self) -> &mut Index<'m, D> {
        // An update costs a path to the root of the tree. A new index costs a pass over all servers.
        if self.stale.list.len() * STALE_PARTS > self.state.model.n_servers() {
            self.index = None;
        }
        if let Some(index) = &mut self.index {
            for &j in &self.stale.list {
                index.update(&self.state, j);
            }
        }
        self.stale.clear();
        self.index.get_or_insert_with(|| Index::new(&self.state))
    }

    /// Fills one server with tasks of all users that fit there.
    fn fill_server(&mut self, j: usize) -> Result<(), TooMany> {
        while server_first::serve(&mut self.state, &mut self.users, j, &mut self.draw)? {}
        self.stale.insert(j);
        self.state.drain(&mut self.placed);
        Ok(())
    }

    /// Returns the users that may fit somewhere, in ascending order: users that have arrived, and users that
    /// fit on a freed server.
    fn candidates(&self) -> Vec<usize> {
        let may = |&n: &usize| {
            self.state.has_more(n)
                && (self.open.is_in[n] || self.freed.list.iter().any(|&j| self.state.fits(n, j)))
        };
        if self.freed.list.is_empty() {
            let mut users: Vec<usize> = self.open.list.iter().copied().filter(may).collect();
            users.sort_unstable();
            return users;
        }
        (0..self.state.model.users.len()).filter(may).collect()
    }

    /// Returns the servers on which at least one of `users` fits, in ascending order.
    fn live(&self, servers: &ServerTree<D>, users: &[usize]) -> Vec<usize> {
        let mut live = Marked::new(self.state.model.n_servers());
        for &n in users {
            for range in servers.fitting(&self.state, n) {
                range.for_each(|j| live.insert(j));
            }
        }
        live.list.sort_unstable();
        live.list
    }

    fn fill_all(&mut self) -> Result<(), TooMany> {
        let users = self.candidates();
        if users.is_empty() {
            self.placed.clear();
            return Ok(());
        }
        self.up_to_date();
        let Some(mut index) = self.index.take() else { return Ok(()) };
        let filled = self.fill_by(&mut index, users);
        self.index = Some(index);
        filled
    }

    fn fill_by(&mut self, index: &mut Index<'m, D>, users: Vec<usize>) -> Result<(), TooMany> {
        match index {
            Index::UserFirst(servers) => {
                user_first::fill_among(&mut self.state, servers, &users, &mut self.draw)?;
            }
            Index::Proposals(lines) => {
                proposals::fill_among(&mut self.state, lines, users, &mut self.draw)?;
            }
            Index::ServerFirst(tree) => {
                let live = self.live(tree, &users);
                server_first::fill_on(&mut self.state, &mut self.users, live, &mut self.draw)?;
                self.state.drain(&mut self.placed);
                for &(_, j) in &self.placed {
                    self.stale.insert(j as usize);
                }
                return Ok(());
            }
        }
        self.state.drain(&mut self.placed);
        for &(n, _) in &self.placed {
            self.changed.insert(n as usize);
        }
        for &n in &self.changed.list {
            self.users.update(&self.state, n);
        }
        self.changed.clear();
        Ok(())
    }
}

/// The inverse of the fraction of changed servers above which a new index is cheaper than updates.
const STALE_PARTS: usize = 4;

impl<D: Digits> Scheduler for Ongoing<'_, D> {
    fn n_servers(&self) -> usize {
        self.state.model.n_servers()
    }

    fn fits_somewhere(&self, user: usize) -> bool {
        self.user(user).is_some()
    }

    fn submit(&mut self, user: usize, tasks: u64) {
        let Some(n) = self.user(user).filter(|_| tasks > 0) else { return };
        let was_waiting = self.state.has_more(n);
        self.state.allow(n, tasks);
        // A user that already had waiting tasks fits nowhere, so more of its tasks do not change anything.
        if !was_waiting {
            self.open.insert(n);
            self.users.update(&self.state, n);
        }
    }

    fn withdraw(&mut self, user: usize) -> u64 {
        let Some(n) = self.user(user) else { return 0 };
        let waiting = self.state.waiting(n);
        self.state.forbid(n);
        self.users.update(&self.state, n);
        waiting
    }

    fn waiting(&self, user: usize) -> u64 {
        self.user(user).map_or(0, |n| self.state.waiting(n))
    }

    fn running(&self, user: usize) -> u64 {
        self.user(user).map_or(0, |n| self.state.steps[n])
    }

    fn release(&mut self, user: usize, server: usize) {
        let Some(n) = self.user(user) else { return };
        self.state.remove(n, server);
        self.users.update(&self.state, n);
        self.freed.insert(server);
        self.stale.insert(server);
    }

    fn occupy(&mut self, user: usize, server: usize) -> Result<bool, MechanismError> {
        let Some(n) = self.user(user).filter(|_| server < self.n_servers()) else { return Ok(false) };
        if !self.state.fits(n, server) {
            return Ok(false);
        }
        self.state.allow(n, 1);
        self.state.place(n, server).map_err(too_many)?;
        self.state.drain(&mut self.placed);
        self.users.update(&self.state, n);
        self.stale.insert(server);
        Ok(true)
    }

    fn close(&mut self, server: usize) {
        self.state.set_there(server, false);
        self.stale.insert(server);
    }

    fn open(&mut self, server: usize) {
        self.state.set_there(server, true);
        self.freed.insert(server);
        self.stale.insert(server);
    }

    fn fill(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError> {
        let filled = match (self.freed.list.as_slice(), self.open.list.as_slice()) {
            ([], []) => {
                self.placed.clear();
                Ok(())
            }
            (&[j], []) => self.fill_server(j),
            _ => self.fill_all(),
        };
        filled.map_err(too_many)?;
        self.freed.clear();
        self.open.clear();
        placed.clear();
        let index = |n: u32| self.state.model.users[n as usize].index as u32;
        placed.extend(self.placed.iter().map(|&(n, j)| (index(n), j)));
        Ok(())
    }

    fn draw(&self) -> &Draw {
        &self.draw
    }

    fn set_draw(&mut self, draw: Draw) {
        self.draw = draw;
    }
}
