//! Computes a lower bound on the start of a job that is valid for every order of starts.
//!
//! In this computation running tasks end, and no other job starts. Other starts only use capacity and fill
//! limits. So a job that could not start here at some time could not start at that time in any run.

use evenhand_problem::Rational;

use super::jobs::{Jobs, Record};
use super::run::Blocked;
use super::{Earliest, Row};
use crate::queues::gang;
use crate::servers::Place;
use crate::starts::{Answer, Standing};

/// A job that ends at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    /// The running job at this position.
    Running(usize),
    /// The admitted jobs of the line at this position, which end as if they started now.
    Admitted(usize),
}

/// Sets the lower bounds of all rows.
pub(super) fn bound(standing: &Standing<'_>, jobs: &Jobs, rows: &mut [Row]) {
    let mut standing = standing.clone();
    let (problem, rules) = (standing.problem, standing.rules);
    let running = jobs.running.iter().enumerate();
    let running = running.filter_map(|(at, job)| Some((job.lengths.fixed()?, Ending::Running(at))));
    let admitted = jobs.lines.iter().enumerate().filter(|(_, line)| line.admitted > 0);
    let admitted = admitted.filter_map(|(at, line)| Some((line.others.fixed()?, Ending::Admitted(at))));
    let mut ends: Vec<(u64, Ending)> = running.chain(admitted).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    // The rows without a lower bound yet, each with the reason why its job could not start when it was last
    // tried.
    let mut open: Vec<(usize, Blocked)> = (0..rows.len()).map(|at| (at, Blocked::Unknown)).collect();
    let mut now = 0;
    loop {
        let mut released: Vec<(usize, Place)> = Vec::new();
        while let Some((_, ending)) = ends.next_if(|(time, _)| *time <= now) {
            match ending {
                Ending::Admitted(at) => {
                    let line = &jobs.lines[at];
                    for m in rules.start(line.user) {
                        let tasks = line.admitted * gang(problem, *m);
                        standing.rooms.admit(*m, &-Rational::from(tasks));
                        // Admitted jobs have no servers. When they end, only the usage of their groups falls.
                        released.push((*m, Place { class: 0, index: 0 }));
                    }
                }
                Ending::Running(at) => {
                    for (m, place, tasks) in &jobs.running[at].tasks {
                        standing.change(*m, *place, &-Rational::from(*tasks));
                        released.push((*m, *place));
                    }
                }
            }
        }
        open.retain_mut(|(at, blocked)| {
            let user = jobs.lines[jobs.records[*at].0.line()].user;
            if blocked.is_certain(&standing, user, &released) {
                return true;
            }
            rows[*at].earliest = match standing.find(user, &mut u64::MAX.clone()) {
                Answer::No => {
                    *blocked = Blocked::new(&standing, user);
                    return true;
                }
                Answer::Yes(_) => Some(Earliest::At(now)),
                Answer::NotKnown => Some(Earliest::NotKnown),
            };
            false
        });
        let Some((time, _)) = ends.peek().filter(|_| !open.is_empty()) else { break };
        now = *time;
    }
    open.into_iter().for_each(|(at, _)| rows[at].earliest = Some(Earliest::Never));
}

impl Record {
    /// Returns the position of the line.
    pub fn line(&self) -> usize {
        match self {
            Self::First(at) | Self::Last(at) | Self::Job(at, _) => *at,
        }
    }
}
