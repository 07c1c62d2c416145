//! The distributed procedure of PS-DSF over time (PS-DSF, section III-D and Figure 6).
//!
//! Every server fills itself again and again on its own clock, using the users' totals that it knows. After
//! each action the server reports the tasks of its users to a register, with one message for each user. A
//! message arrives after a delay, or is lost. Before each action a server reads from the register how many
//! tasks each user has on other servers. The server reports after every action, even if nothing changed, so
//! that the next message makes up for a lost message. If messages arrive out of order, the message that was
//! sent last counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use evenhand_budget::{charge, table};
use evenhand_mechanisms::filling::Draw;
use evenhand_mechanisms::ps_dsf::distributed::ServerProcess;
use evenhand_mechanisms::{MechanismError, ps_dsf};
use evenhand_problem::{
    Arithmetic, Constraints, Problem, ProblemError, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};

use crate::cost::{Growing, TO_BEGIN, in_time, is_over, point};
use crate::duration::{Duration, Time};
use crate::error::SimulateError;

/// The clocks of servers, and their messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// The time between two actions of a server, in the time unit of the scenario.
    pub period: f64,
    /// `true` if every server begins at a random time within its period. Otherwise all servers act at the same times,
    /// in their order.
    pub random_phases: bool,
    /// The time from sending a report to its arrival.
    pub delay: Duration,
    /// The fraction of reports that are lost, at least 0 and below 1.
    pub loss: f64,
    /// The size of a server's first step: the fraction (above 0 and at most 1) of the way from its current
    /// tasks to the computed tasks that the server moves. No later step is larger. Servers that know only old
    /// totals overreact less with short steps. If `step` is below 1, a server shortens its step when the
    /// direction of its change reverses, and lengthens it otherwise.
    pub step: f64,
}

impl Default for Network {
    /// Returns the setting of the paper: every server acts once per unit of time, and reports arrive at once.
    fn default() -> Self {
        Self { period: 1.0, random_phases: false, delay: Duration::Constant(0.0), loss: 0.0, step: 1.0 }
    }
}

/// A period in which a user is absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absence {
    /// The index of the user in the problem.
    pub user: usize,
    /// The time at which the absence begins.
    pub from: f64,
    /// The time at which the absence ends.
    pub to: f64,
}

/// The state of all servers at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The time of the state.
    pub time: f64,
    /// The number of tasks of each user on all servers.
    pub totals: Vec<f64>,
    /// The used fraction of each resource of each class, indexed by class and then by resource.
    pub utilisation: Vec<Vec<f64>>,
    /// The largest difference of a user's total from its total in the exact PS-DSF allocation of the present
    /// users. Each difference is a fraction of the tasks that the user would have if it were alone.
    pub distance: f64,
}

/// The factor by which a server's step changes when the direction of its change reverses.
///
/// With this factor and [`GOES_ON`], the runs with delays and losses of docs/scenarios.md converge on the cluster of
/// Figure 5 and on most random clusters (test `random_clusters_converge`).
const TURNED: f64 = 0.7;
/// The factor by which a server's step changes when its tasks keep their direction.
const GOES_ON: f64 = 1.05;

/// Elementary steps of work for one user in an action of a server.
const ACTION: u64 = 50;
/// The largest number of single servers that can be simulated.
const MAX_SERVERS: u128 = 10_000;

/// Simulates all servers of `problem` one by one up to the time `horizon`, from empty servers.
///
/// Returns a state every `every` units of time. A state includes the events of its time. Also returns the
/// time at which the simulation ended: the horizon, or the simulated time that was reached at the moment
/// `until`. `seed` decides phases, delays and losses.
///
/// # Errors
/// Returns a [`SimulateError`] if the exact allocation for comparison cannot be computed, or if the settings
/// have no meaning.
pub fn follow(
    problem: &Problem,
    absences: &[Absence],
    network: Network,
    (horizon, every): (f64, f64),
    seed: u64,
    until: Option<Instant>,
) -> Result<(Vec<State>, f64), SimulateError> {
    let impossible =
        |why: &str| Err(MechanismError::NotApplicable { mechanism: "ps-dsf", why: why.to_owned() }.into());
    if !(network.period > 0.0 && every > 0.0 && horizon.is_finite()) {
        return impossible("expected a period and a distance of states above 0, and a finite horizon");
    }
    if !(0.0..1.0).contains(&network.loss) {
        return impossible("expected a fraction of lost reports from 0 to below 1");
    }
    if !(network.step > 0.0 && network.step <= 1.0) {
        return impossible("expected a step of a server above 0 and at most 1");
    }
    if problem.n_single_servers() > MAX_SERVERS {
        return impossible("expected at most 10,000 servers, because they are followed one by one");
    }
    in_time(until, TO_BEGIN, || Course::new(problem, network, seed))??.follow(absences, horizon, every, until)
}

/// A report that has been sent and has not arrived. Reports that arrive at the same time are delivered in the order in
/// which they were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    arrives: Time,
    sent: u64,
    user: usize,
    server: usize,
    /// The bits of the number of tasks. They never decide the order of reports, since `sent` differs for all
    /// reports.
    tasks: u64,
}

struct Course<'p> {
    problem: &'p Problem,
    network: Network,
    draw: Draw,
    /// The class of each single server.
    class: Vec<usize>,
    processes: Vec<ServerProcess>,
    /// The step of each server: the fraction of the way to the computed tasks that it moves when it acts.
    steps: Vec<f64>,
    /// The change of tasks that a server computed in its last action, indexed by user and then by server.
    changes: Vec<Vec<f64>>,
    /// One entry for each user: `true` if the user is present.
    is_there: Vec<bool>,
    /// The index of each user among the present users, or `None` if the user is absent.
    present_index: Vec<Option<usize>>,
    /// The number of tasks, indexed by user and then by server.
    tasks: Vec<Vec<f64>>,
    /// The number of tasks in the last report that arrived and the number of this report, indexed by user and
    /// then by server.
    known: Vec<Vec<(f64, u64)>>,
    /// The sum of the known tasks of each user.
    sums: Vec<f64>,
    on_their_way: BinaryHeap<Reverse<Report>>,
    memory: Growing,
    sent: u64,
    /// The total tasks of each user in the exact allocation.
    exact: Vec<f64>,
}

impl<'p> Course<'p> {
    fn new(problem: &'p Problem, network: Network, seed: u64) -> Result<Self, SimulateError> {
        let classes = problem.servers().iter().enumerate();
        let class: Vec<usize> = classes.flat_map(|(i, server)| (0..server.count()).map(move |_| i)).collect();
        let (users, servers) = (problem.n_users(), class.len());
        // The bytes of a user on a server: tasks, known tasks, a change, and a part of the server's process.
        table(servers, users, 110, "users and servers that follow them");
        let mut course = Self {
            problem,
            network,
            draw: Draw::new(seed, 0),
            class,
            processes: Vec::new(),
            steps: vec![network.step; servers],
            changes: vec![vec![0.0; servers]; users],
            is_there: vec![true; users],
            present_index: Vec::new(),
            tasks: vec![vec![0.0; servers]; users],
            known: vec![vec![(0.0, 0); servers]; users],
            sums: vec![0.0; users],
            on_their_way: BinaryHeap::new(),
            memory: Growing::new("the list of reports under way"),
            sent: 0,
            exact: Vec::new(),
        };
        course.gather()?;
        Ok(course)
    }

    /// Prepares for the users that are present now: creates new processes and computes the exact allocation.
    fn gather(&mut self) -> Result<(), SimulateError> {
        let there: Vec<usize> = (0..self.is_there.len()).filter(|&n| self.is_there[n]).collect();
        self.present_index = vec![None; self.is_there.len()];
        there.iter().enumerate().for_each(|(place, &n)| self.present_index[n] = Some(place));
        let classes = self.problem_of(&there, false)?;
        let singles = self.problem_of(&there, true)?;
        let constraints = Constraints::new(&singles, Sharing::Rdm);
        self.processes = (0..self.class.len()).map(|j| ServerProcess::new(&constraints, j)).collect();
        // The last changes were computed for other users.
        self.steps.fill(self.network.step);
        self.changes.iter_mut().for_each(|changes| changes.fill(0.0));
        let settings = ps_dsf::Settings::new(Arithmetic::Exact);
        let totals = ps_dsf::allocate(&classes, &settings)?.allocation.totals();
        self.exact = vec![0.0; self.is_there.len()];
        there.iter().zip(totals).for_each(|(&n, total)| self.exact[n] = total.to_f64());
        for n in (0..self.is_there.len()).filter(|&n| !self.is_there[n]) {
            self.tasks[n].fill(0.0);
            self.known[n].fill((0.0, self.sent));
            self.sums[n] = 0.0;
        }
        Ok(())
    }

    /// Returns the problem of some users. If `single` is true, every server is a class of its own.
    fn problem_of(&self, users: &[usize], single: bool) -> Result<Problem, ProblemError> {
        let stated = ProblemSpec::from(self.problem);
        let user = |n: &usize| {
            let UserSpec { name, weight, demand, servers, .. } = stated.users[*n].clone();
            UserSpec { name, weight, demand, servers, ..UserSpec::default() }
        };
        let mut spec = ProblemSpec {
            users: users.iter().map(user).collect(),
            resources: stated.resources,
            servers: stated.servers,
            ..ProblemSpec::default()
        };
        if single {
            let name = |j: usize| format!("server {}", j + 1);
            let of = |(j, &i): (usize, &usize)| ServerSpec {
                name: name(j),
                count: None,
                ..spec.servers[i].clone()
            };
            let servers = self.class.iter().enumerate().map(of).collect();
            for (user, n) in spec.users.iter_mut().zip(users) {
                let may =
                    self.class.iter().enumerate().filter(|(_, i)| self.problem.users()[*n].may_use(**i));
                user.servers = Some(may.map(|(j, _)| name(j)).collect());
            }
            spec.servers = servers;
        }
        Problem::new(spec)
    }

    fn follow(
        mut self,
        absences: &[Absence],
        horizon: f64,
        every: f64,
        until: Option<Instant>,
    ) -> Result<(Vec<State>, f64), SimulateError> {
        let period = self.network.period;
        let mut actions: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
        for j in 0..self.class.len() {
            let phase = if self.network.random_phases {
                Duration::Uniform(0.0, period)
            } else {
                Duration::Constant(0.0)
            };
            actions.push(Reverse((Time::of(phase.draw(&mut self.draw)), j)));
        }
        let mut changes: Vec<(f64, usize, bool)> = absences
            .iter()
            .filter(|absence| absence.user < self.is_there.len())
            .flat_map(|a| [(a.from, a.user, false), (a.to, a.user, true)])
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut changes = changes.into_iter().peekable();
        let mut states: Vec<State> = Vec::new();
        while let Some(Reverse((now, j))) = actions.pop() {
            let now = now.value();
            // A state is taken before the first action after its time, so it includes all events of its time.
            while let Some(time) =
                Some(point(states.len(), every)).filter(|time| *time < now && *time <= horizon)
            {
                states.push(self.state(time));
            }
            if now > horizon {
                break;
            }
            if !states.is_empty() && is_over(until) {
                return Ok((states, now));
            }
            while let Some((_, user, there)) = changes.next_if(|(at, ..)| *at <= now) {
                self.is_there[user] = there;
                match in_time(until, std::time::Duration::ZERO, || self.gather()) {
                    // If the time is up during the preparation, the states so far are the result.
                    Err(_) if !states.is_empty() => return Ok((states, now)),
                    gathered => gathered??,
                }
            }
            self.deliver(now);
            self.act(j, now);
            actions.push(Reverse((Time::of(now + period), j)));
        }
        Ok((states, horizon))
    }

    fn deliver(&mut self, now: f64) {
        while let Some(Reverse(report)) = self.on_their_way.peek().copied() {
            if report.arrives.value() > now {
                break;
            }
            self.on_their_way.pop();
            let known = &mut self.known[report.user][report.server];
            if known.1 <= report.sent && self.is_there[report.user] {
                let tasks = f64::from_bits(report.tasks);
                self.sums[report.user] += tasks - known.0;
                *known = (tasks, report.sent);
            }
        }
    }

    fn act(&mut self, j: usize, now: f64) {
        charge(ACTION * self.present_index.len() as u64, "the processing of the actions of servers");
        // A growing heap may reserve twice the memory of its entries.
        let reports = self.on_their_way.len() + self.present_index.len();
        self.memory.need(2 * (reports * size_of::<Report>()) as u64);
        let process = &mut self.processes[j];
        for n in (0..self.present_index.len()).filter(|&n| self.is_there[n]) {
            let Some(place) = self.present_index[n] else { continue };
            // Because of rounding, sums of differences may be slightly negative.
            process.hear(place, (self.sums[n] - self.known[n][j].0).max(0.0));
        }
        process.act();
        let step = self.step(j);
        for n in (0..self.present_index.len()).filter(|&n| self.is_there[n]) {
            let Some(place) = self.present_index[n] else { continue };
            let goal = self.processes[j].tasks(place);
            let tasks = &mut self.tasks[n][j];
            *tasks = if step < 1.0 { *tasks + step * (goal - *tasks) } else { goal };
            let tasks = *tasks;
            self.sent += 1;
            let is_lost = self.network.loss > 0.0
                && Duration::Uniform(0.0, 1.0).draw(&mut self.draw) < self.network.loss;
            let arrives = Time::of(now + self.network.delay.draw(&mut self.draw));
            if !is_lost {
                self.on_their_way.push(Reverse(Report {
                    arrives,
                    sent: self.sent,
                    user: n,
                    server: j,
                    tasks: tasks.to_bits(),
                }));
            }
        }
    }

    /// Returns the step of server `j`, which has just computed its new tasks. Stores the direction of its
    /// change.
    fn step(&mut self, j: usize) -> f64 {
        if self.network.step >= 1.0 {
            return self.network.step;
        }
        let mut along = 0.0;
        for (n, changes) in self.changes.iter_mut().enumerate() {
            let goal = self.present_index[n].map_or(0.0, |place| self.processes[j].tasks(place));
            let change = if self.is_there[n] { goal - self.tasks[n][j] } else { 0.0 };
            along += change * changes[j];
            changes[j] = change;
        }
        let factor = if along < 0.0 { TURNED } else { GOES_ON };
        self.steps[j] = (self.steps[j] * factor).min(self.network.step);
        self.steps[j]
    }

    fn state(&self, time: f64) -> State {
        let totals: Vec<f64> = self.tasks.iter().map(|tasks| tasks.iter().sum()).collect();
        let classes = self.problem.servers();
        let mut utilisation = vec![vec![0.0; self.problem.n_resources()]; classes.len()];
        for (n, tasks) in self.tasks.iter().enumerate() {
            for (&tasks, &i) in tasks.iter().zip(&self.class) {
                for (r, demand) in self.problem.demand(n, i).entries() {
                    let capacity = Rational::from(&classes[i].capacity()[*r] * classes[i].count());
                    if capacity > 0 {
                        utilisation[i][*r] += tasks * demand.to_f64() / capacity.to_f64();
                    }
                }
            }
        }
        let of_user = |(n, total): (usize, &f64)| {
            let alone: f64 = (0..classes.len()).map(|i| self.problem.gamma(n, i).to_f64()).sum();
            if alone > 0.0 { (total - self.exact[n]).abs() / alone } else { 0.0 }
        };
        let distance = totals.iter().enumerate().map(of_user).fold(0.0, f64::max);
        State { time, totals, utilisation, distance }
    }
}
