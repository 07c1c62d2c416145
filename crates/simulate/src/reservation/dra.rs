//! The Dynamic Reservation Algorithm (Reservation, Algorithm 2; docs/theory.md, section 6).
//!
//! After every admission and departure the servers are classified again. The classification goes through the
//! configurations of the greedy placement of the present jobs and a reserve. Only empty servers get another
//! configuration.

use std::collections::{BTreeSet, HashMap};

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_packing::{MaxReward, greedy};
use evenhand_problem::{Integer, Quantities, Rational, Reservation};

use super::policy::{AdmissionError, Admit, Classified, First};
use super::scenario::AdmissionScenario;

/// The configurations, each with a number. Configuration 0 has no slots.
struct Configurations {
    slots: Vec<Vec<u64>>,
    numbers: HashMap<Vec<u64>, usize>,
    /// The servers of each configuration, the oldest first.
    servers: Vec<Vec<usize>>,
}

impl Configurations {
    fn number(&mut self, slots: &[u64]) -> usize {
        if let Some(&number) = self.numbers.get(slots) {
            return number;
        }
        let number = self.slots.len();
        self.slots.push(slots.to_vec());
        self.numbers.insert(slots.to_vec(), number);
        self.servers.push(Vec::new());
        number
    }
}

pub(super) struct Dra<'a> {
    problem: &'a Reservation,
    best: MaxReward<'a>,
    n_servers: usize,
    reserve: u64,
    /// The priority of each type, or an empty list if jobs may not be preempted.
    priorities: Vec<u32>,
    /// The largest fraction of a resource of a server that a job of each type takes.
    sizes: Vec<f64>,
    configurations: Configurations,
    /// The number of the configuration of each server.
    of_server: Vec<usize>,
    /// The number of jobs, indexed by server and then by type.
    jobs: Vec<Vec<u64>>,
    /// The number of jobs of each type on all servers.
    totals: Vec<u64>,
    /// The servers without jobs.
    empty: BTreeSet<usize>,
    /// The configurations of the greedy placement in its order, each with its number of servers.
    wanted: Vec<(usize, usize)>,
    /// The rank of each configuration in the greedy placement, and how many of its oldest servers have this
    /// rank.
    ranked: HashMap<usize, (usize, usize)>,
    /// The servers of the Reject Group.
    rejecting: BTreeSet<usize>,
    /// `true` if servers are classified at regular intervals instead of after every change.
    is_periodic: bool,
    /// The expected number of jobs of each type, from estimates.
    expected: Vec<u64>,
    first: First,
}

impl<'a> Dra<'a> {
    /// Creates empty servers without configurations. [`Admit::begun`] classifies them.
    pub fn new(
        scenario: &'a AdmissionScenario,
        reserve: u64,
        priorities: Vec<u32>,
        estimates: Option<Vec<f64>>,
    ) -> Self {
        let (problem, n_servers) = (&scenario.problem, scenario.servers);
        let types = problem.n_types();
        let mut configurations =
            Configurations { slots: Vec::new(), numbers: HashMap::new(), servers: Vec::new() };
        let nothing = configurations.number(&vec![0; types]);
        configurations.servers[nothing] = (0..n_servers).collect();
        let expected = match estimates {
            Some(loads) => loads.iter().map(|load| (load * n_servers as f64).round() as u64).collect(),
            None => vec![0; types],
        };
        Self {
            problem,
            best: MaxReward::new(problem),
            n_servers,
            reserve,
            priorities,
            sizes: sizes(problem),
            configurations,
            of_server: vec![nothing; n_servers],
            jobs: vec![vec![0; types]; n_servers],
            totals: vec![0; types],
            empty: (0..n_servers).collect(),
            wanted: Vec::new(),
            ranked: HashMap::new(),
            rejecting: BTreeSet::new(),
            is_periodic: scenario.cra_every.is_some(),
            expected,
            first: First::default(),
        }
    }

    /// Classifies the servers after a change, unless servers are classified at regular intervals.
    fn changed(&mut self) -> Result<(), AdmissionError> {
        if self.is_periodic { Ok(()) } else { self.classify() }
    }

    /// Classifies the servers and gives empty servers new configurations.
    fn classify(&mut self) -> Result<(), AdmissionError> {
        let there = self.totals.iter().zip(&self.expected).map(|(total, expected)| *total.max(expected));
        let reference: Vec<Integer> = there.map(|jobs| Integer::from(jobs + self.reserve)).collect();
        let placed = greedy::whole(&mut self.best, &reference, &[Integer::from(self.n_servers)])?;
        self.wanted.clear();
        for step in placed.steps.iter().filter(|step| step.servers > 0) {
            let number = self.configurations.number(&step.best.configuration);
            self.wanted.push((number, step.servers.to_usize().unwrap_or(self.n_servers)));
        }
        self.ranked.clear();
        let mut unmatched = None;
        // Configurations, in the order of their ranks, take empty servers that no earlier configuration
        // needs.
        for (rank, &(configuration, servers)) in self.wanted.iter().enumerate() {
            let have = &mut self.configurations.servers;
            while have[configuration].len() < servers {
                let ranked = |server: usize| {
                    let of = self.of_server[server];
                    let (_, count) = self.ranked.get(&of).copied().unwrap_or((0, 0));
                    of == configuration || have[of][..count].contains(&server)
                };
                let found = self.empty.iter().copied().enumerate().find(|(_, server)| !ranked(*server));
                // Each visited empty server is searched for among the servers of its configuration.
                let asked = found.map_or(self.empty.len(), |(before, _)| before + 1) as u64;
                charge(asked.saturating_mul(have[configuration].len() as u64), "the classification");
                let Some((_, server)) = found else { break };
                have[self.of_server[server]].retain(|other| *other != server);
                have[configuration].push(server);
                self.of_server[server] = configuration;
            }
            let count = have[configuration].len().min(servers);
            self.ranked.insert(configuration, (rank, count));
            // The rank of the first configuration that lacks servers decides from which rank on servers
            // reject jobs.
            if count < servers && unmatched.is_none() {
                unmatched = Some(rank);
            }
        }
        self.reject(unmatched.unwrap_or(self.wanted.len().saturating_sub(1)));
        Ok(())
    }

    /// Puts the most recent server of every configuration into the Reject Group, unless the rank of the
    /// configuration is at most `last` and all its servers have this rank.
    fn reject(&mut self, last: usize) {
        self.rejecting.clear();
        for (configuration, servers) in self.configurations.servers.iter().enumerate() {
            let Some(&newest) = servers.last() else { continue };
            let is_kept = self
                .ranked
                .get(&configuration)
                .is_some_and(|(rank, count)| *rank <= last && *count == servers.len());
            if !is_kept {
                self.rejecting.insert(newest);
            }
        }
    }

    fn rank(&self, server: usize) -> usize {
        let configuration = self.of_server[server];
        match self.ranked.get(&configuration) {
            Some((rank, count)) if self.configurations.servers[configuration][..*count].contains(&server) => {
                *rank
            }
            _ => self.wanted.len(),
        }
    }

    /// Returns a server of the Accept Group with an empty slot for type `j`, or `None` if there is none.
    /// Among several it is the oldest server of the first configuration in the order of the greedy placement.
    fn open_server(&self, j: usize) -> Option<usize> {
        charge(1 + self.configurations.slots.len() as u64, "the search for a slot");
        let wanted = self.wanted.iter().map(|(configuration, _)| *configuration);
        let others = (0..self.configurations.slots.len()).filter(|other| !self.ranked.contains_key(other));
        wanted.chain(others).filter(|of| self.configurations.slots[*of][j] > 0).find_map(|of| {
            let is_open = |server: &usize| {
                self.jobs[*server][j] < self.configurations.slots[of][j] && !self.rejecting.contains(server)
            };
            let servers = &self.configurations.servers[of];
            let open = servers.iter().position(is_open);
            charge(OF_SERVER * open.unwrap_or(servers.len()) as u64, "the search for a slot");
            open.map(|at| servers[at])
        })
    }

    /// Returns the servers from the highest rank down. Within a rank the most recent server comes first.
    fn last_first(&self) -> impl Iterator<Item = usize> {
        let servers = &self.configurations.servers;
        let ranked = |of: usize| self.ranked.get(&of).map_or(0, |(_, count)| *count);
        let without = servers.iter().enumerate().flat_map(move |(of, all)| all[ranked(of)..].iter().rev());
        let wanted =
            self.wanted.iter().rev().flat_map(move |(of, _)| servers[*of][..ranked(*of)].iter().rev());
        without.chain(wanted).copied()
    }

    /// Returns the server that loses a job of type `j`. As for migrations, this is the server of the highest
    /// rank in the Reject Group. If no server of that group has such a job, it is the last of all servers
    /// that have one.
    fn losing_server(&self, j: usize) -> Option<usize> {
        let has = |server: &usize| self.jobs[*server][j] > 0;
        let rejecting = self.last_first().find(|server| has(server) && self.rejecting.contains(server));
        rejecting.or_else(|| self.last_first().find(has))
    }

    fn change(&mut self, j: usize, server: usize, comes: bool) {
        let jobs = &mut self.jobs[server][j];
        *jobs = if comes { *jobs + 1 } else { *jobs - 1 };
        if self.jobs[server].iter().all(|jobs| *jobs == 0) {
            self.empty.insert(server);
        } else {
            self.empty.remove(&server);
        }
    }
}

impl Admit for Dra<'_> {
    fn begin(&mut self, j: usize) -> Option<usize> {
        let server = self.first.next(j, &mut self.jobs, |jobs| self.problem.is_feasible(0, jobs))?;
        self.empty.remove(&server);
        self.totals[j] += 1;
        Some(server)
    }

    /// Ends the initialization: the jobs of each server that has jobs become its configuration (Reservation,
    /// section 4, "Initialization").
    fn begun(&mut self) -> Result<(), AdmissionError> {
        for server in (0..self.n_servers).filter(|server| !self.empty.contains(server)) {
            let of = self.configurations.number(&self.jobs[server]);
            self.configurations.servers[of].push(server);
            self.of_server[server] = of;
        }
        // Configuration 0 has no slots, so its servers are the empty servers.
        self.configurations.servers[0].retain(|server| self.empty.contains(server));
        self.classify()
    }

    fn admit(&mut self, j: usize, _: &mut Draw) -> Result<Option<usize>, AdmissionError> {
        let Some(server) = self.open_server(j) else { return Ok(None) };
        self.change(j, server, true);
        self.totals[j] += 1;
        self.changed()?;
        Ok(Some(server))
    }

    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError> {
        self.change(j, server, false);
        self.totals[j] -= 1;
        let mut source = None;
        if !self.rejecting.contains(&server) {
            let with_jobs = self.rejecting.iter().copied().filter(|other| self.jobs[*other][j] > 0);
            // Among equal ranks the first server is taken.
            source = with_jobs.max_by_key(|other| (self.rank(*other), std::cmp::Reverse(*other)));
        }
        if let Some(source) = source {
            self.change(j, source, false);
            self.change(j, server, true);
        }
        self.changed()?;
        Ok(source)
    }

    fn make_room(&mut self, j: usize) -> Result<Vec<(usize, usize)>, AdmissionError> {
        if self.priorities.get(j).is_none_or(|priority| *priority == 0) {
            return Ok(Vec::new());
        }
        let mut victims: Vec<usize> = (0..self.sizes.len()).filter(|k| self.priorities[*k] == 0).collect();
        victims.sort_by(|a, b| self.sizes[*a].total_cmp(&self.sizes[*b]).then(a.cmp(b)));
        let enough = self.reserve as f64 * self.sizes[j];
        let (mut freed, mut preempted) = (0.0, Vec::new());
        for k in victims {
            while freed < enough && self.totals[k] > 0 {
                let Some(server) = self.losing_server(k) else { break };
                self.change(k, server, false);
                self.totals[k] -= 1;
                freed += self.sizes[k];
                preempted.push((k, server));
                // When a server has no jobs left, the order in which servers lose jobs changes.
                if self.empty.contains(&server) {
                    self.classify()?;
                }
            }
        }
        if !preempted.is_empty() {
            self.classify()?;
        }
        Ok(preempted)
    }

    fn tick(&mut self) -> Result<(), AdmissionError> {
        self.classify()
    }

    fn slots(&self) -> Vec<u64> {
        let mut slots = vec![0; self.totals.len()];
        for (of_one, servers) in self.configurations.slots.iter().zip(&self.configurations.servers) {
            slots.iter_mut().zip(of_one).for_each(|(sum, slots)| *sum += slots * servers.len() as u64);
        }
        slots
    }

    fn effective(&self) -> Vec<(Vec<u64>, usize)> {
        let effective = |(of, _): &(usize, usize)| {
            let count = self.ranked.get(of).map_or(0, |(_, count)| *count);
            (self.configurations.slots[*of].clone(), count)
        };
        self.wanted.iter().map(effective).collect()
    }

    fn classified(&self) -> Vec<Classified> {
        let wanted = self.wanted.iter().copied();
        let is_wanted = |of: usize| self.wanted.iter().any(|(wanted, _)| *wanted == of);
        // Configuration 0 has no slots.
        let others = (1..self.configurations.slots.len()).filter(|of| !is_wanted(*of)).map(|of| (of, 0));
        let classified = wanted.chain(others).map(|(of, wanted)| {
            let servers = &self.configurations.servers[of];
            let rejecting = servers.iter().filter(|server| self.rejecting.contains(server)).count();
            let configuration = self.configurations.slots[of].clone();
            Classified { configuration, wanted, accepting: servers.len() - rejecting, rejecting }
        });
        classified.filter(|of| of.wanted + of.accepting + of.rejecting > 0).collect()
    }
}

/// Elementary steps for a server in the search for an empty slot.
const OF_SERVER: u64 = 3;

/// Returns for each type the largest fraction of a resource of a server that a job takes.
fn sizes(problem: &Reservation) -> Vec<f64> {
    let capacity = problem.pools()[0].capacity();
    let size = |demand: &Quantities| {
        let parts = demand.iter().zip(capacity.iter()).filter(|(_, c)| **c > 0);
        parts.map(|(d, c)| Rational::from(d / c).to_f64()).fold(0.0, f64::max)
    };
    problem.jobs().iter().map(|job| size(job.demand())).collect()
}
