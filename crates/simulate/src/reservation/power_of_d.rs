//! The policy that admits a job on the least loaded of `d` random servers.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_problem::Reservation;

use super::policy::{AdmissionError, Admit, First};

pub(super) struct PowerOfD {
    d: usize,
    /// Elementary steps to compute the load of a server.
    cost_of_load: u64,
    /// The fraction of a server's capacity that a job takes, indexed by type and then by resource.
    parts: Vec<Vec<f64>>,
    /// The number of jobs, indexed by server and then by type.
    jobs: Vec<Vec<u64>>,
    reservation: Reservation,
    first: First,
}

impl PowerOfD {
    pub fn new(problem: &Reservation, servers: usize, d: usize) -> Self {
        let capacity = problem.pools()[0].capacity();
        let part = |j: usize| {
            let parts = problem.jobs()[j].demand().iter().zip(capacity.iter());
            parts.map(|(d, c)| if *c > 0 { (d.clone() / c).to_f64() } else { 0.0 }).collect()
        };
        Self {
            d,
            cost_of_load: 2 + (problem.n_types() * capacity.len()) as u64,
            parts: (0..problem.n_types()).map(part).collect(),
            jobs: vec![vec![0; problem.n_types()]; servers],
            reservation: problem.clone(),
            first: First::default(),
        }
    }

    /// Returns the used fraction of the most used resource of a server.
    fn load(&self, server: usize) -> f64 {
        let rows = self.parts.first().map_or(0, Vec::len);
        let used = |r: usize| -> f64 {
            self.jobs[server].iter().zip(&self.parts).map(|(jobs, parts)| *jobs as f64 * parts[r]).sum()
        };
        (0..rows).map(used).fold(0.0, f64::max)
    }
}

impl Admit for PowerOfD {
    fn begin(&mut self, j: usize) -> Option<usize> {
        self.first.next(j, &mut self.jobs, |jobs| self.reservation.is_feasible(0, jobs))
    }

    fn admit(&mut self, j: usize, draw: &mut Draw) -> Result<Option<usize>, AdmissionError> {
        charge(self.d as u64 * self.cost_of_load, "the processing of the servers that are asked");
        let asked = (0..self.d).map(|_| draw.position(self.jobs.len()));
        let asked: Vec<usize> = asked.collect();
        let least = asked.into_iter().min_by(|a, b| self.load(*a).total_cmp(&self.load(*b)).then(a.cmp(b)));
        let Some(server) = least else { return Ok(None) };
        self.jobs[server][j] += 1;
        if self.reservation.is_feasible(0, &self.jobs[server]) {
            return Ok(Some(server));
        }
        self.jobs[server][j] -= 1;
        Ok(None)
    }

    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError> {
        self.jobs[server][j] -= 1;
        Ok(None)
    }
}
