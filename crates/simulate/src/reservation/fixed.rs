//! Static reservation: fixed slots from the optimum of the configuration programme for the stated loads.

use evenhand_mechanisms::filling::Draw;
use evenhand_packing::{MaxReward, configuration_lp};
use evenhand_problem::{Integer, Rational, Reservation};

use super::policy::{AdmissionError, Admit};

pub(super) struct Fixed {
    /// The servers of the empty slots of each type, one entry for each slot. The last entry is taken first.
    empty: Vec<Vec<usize>>,
    /// The number of slots of each type.
    slots: Vec<u64>,
}

impl Fixed {
    /// Creates the slots from the optimum of the configuration programme.
    ///
    /// The number of servers of every configuration is rounded down. The remaining servers go to the
    /// configurations with the largest remainders, one server each. Among equal remainders the first
    /// configuration in the order of the optimum has priority. `estimates`, if given, replace the loads of
    /// the problem.
    pub fn new(
        problem: &Reservation,
        servers: usize,
        estimates: Option<&[f64]>,
    ) -> Result<Self, AdmissionError> {
        let best = MaxReward::new(problem);
        let all = Rational::from(servers);
        let estimated = |load: &f64| Rational::from_f64(*load).unwrap_or_default();
        let loads = estimates.map_or_else(|| problem.loads(), |of| of.iter().map(estimated).collect());
        let loads: Vec<Rational> = loads.iter().map(|load| load * all.clone()).collect();
        let optimum = configuration_lp::solve(&best, &loads, &[all])?;
        // The optimum gives fractions of servers. They are rounded by largest remainders.
        let mut counts: Vec<(usize, Rational)> = Vec::new();
        for (_, _, share) in &optimum.servers {
            let whole = Integer::from(share.floor_ref());
            counts.push((whole.to_usize().unwrap_or(0), share.clone() - whole));
        }
        let mut rest = servers.saturating_sub(counts.iter().map(|(whole, _)| whole).sum());
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by(|a, b| counts[*b].1.cmp(&counts[*a].1).then(a.cmp(b)));
        for at in order {
            if rest > 0 && counts[at].1 > 0 {
                counts[at].0 += 1;
                rest -= 1;
            }
        }
        let mut empty = vec![Vec::new(); problem.n_types()];
        let mut server = 0;
        for ((_, configuration, _), (count, _)) in optimum.servers.iter().zip(counts) {
            for _ in 0..count {
                for (slots, k) in empty.iter_mut().zip(configuration) {
                    slots.extend((0..*k).map(|_| server));
                }
                server += 1;
            }
        }
        // Slots are taken from the end of the lists, so the slots of the first servers must come last.
        empty.iter_mut().for_each(|slots: &mut Vec<usize>| slots.reverse());
        let slots = empty.iter().map(|empty| empty.len() as u64).collect();
        Ok(Self { empty, slots })
    }
}

impl Admit for Fixed {
    fn begin(&mut self, j: usize) -> Option<usize> {
        self.empty[j].pop()
    }

    fn admit(&mut self, j: usize, _: &mut Draw) -> Result<Option<usize>, AdmissionError> {
        Ok(self.empty[j].pop())
    }

    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError> {
        self.empty[j].push(server);
        Ok(None)
    }

    fn slots(&self) -> Vec<u64> {
        self.slots.clone()
    }
}
