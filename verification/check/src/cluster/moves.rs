//! Moves of tasks, in steps: in each step some tasks stop, and then gangs start. Each step is replayed with the
//! predicate `may_start`. The cluster after all steps is compared with the cluster before them. No limit, server,
//! guarantee or queue may be worse than before.

use rug::Rational;

use super::migrations::Job;
use super::queues::Vector;
use super::starts::{Gang, State};
use crate::allocation::{Allocation, Placement, sums};
use crate::case::Case;
use crate::certificate::Certificate;
use crate::groups::holdings::Holdings;
use crate::groups::lack::Lacks;
use crate::json::Json;
use crate::names::Amounts;
use crate::problem::Problem;
use crate::work::{Checked, context, ensure};

/// The moves of a certificate.
pub struct Moves<'j> {
    /// The steps. Each step has the gangs that stop, and the gangs that start after them.
    pub steps: Vec<(Vec<Gang>, Vec<Gang>)>,
    /// The waiting gang for whose start the other steps are migrations. `None` if the certificate is not about such a
    /// gang.
    pub job: Option<Job>,
    /// The certificate about the allocation after all steps.
    pub after: Certificate<'j>,
    /// The names of the queues that are below their fair share by a whole task after all steps.
    short: Vec<&'j str>,
    /// A lower bound on the number of starts that bring every queue to its fair share.
    least: Rational,
}

impl<'j> Moves<'j> {
    pub fn read(raw: &'j Json<'j>, problem: &Problem) -> Checked<Self> {
        let [steps, after, short, least, job] = raw.fields("steps after short least for?")?;
        let step =
            |[start, stop]: [&Json<'_>; 2]| Ok((Gang::list(stop, problem)?, Gang::start(start, problem)?));
        Ok(Self {
            steps: steps.rows("start stop", step)?,
            job: job.given().map(|job| Job::read(job, problem)).transpose()?,
            after: Certificate::read(after)?,
            short: short.list()?.iter().map(Json::text).collect::<Checked<_>>()?,
            least: least.number()?,
        })
    }

    /// Returns true if any task stops.
    pub fn stops_tasks(&self) -> bool {
        self.steps.iter().any(|(stop, _)| !stop.is_empty())
    }

    /// Replays the moves. Returns a sentence with the number of moves and the queues that are still below their fair
    /// share after the moves.
    pub fn verify(
        &self,
        mut state: State<'_, '_>,
        due: &[Vector],
        held: &Certificate<'_>,
    ) -> Checked<String> {
        let queues = state.queues();
        let least = queues.least_starts(&state.held, due, &state.totals)?;
        ensure(
            least == self.least,
            "the stated least number of moves (`least`) differs from the computed one",
        )?;
        let before = state.below(due)?;
        for (at, (stop, start)) in self.steps.iter().enumerate() {
            let step = state.stop(stop).and_then(|()| state.start(start));
            context(&format!("step {}", at + 1), step)?;
        }
        let placed = |((class, index), tasks): ((usize, u64), Amounts)| Placement { class, index, tasks };
        let servers = state.servers.iter().map(|(server, tasks)| {
            let there = tasks.iter().filter(|(_, x)| !x.is_zero()).map(|(n, x)| (*n, x.clone()));
            (*server, there.collect::<Amounts>())
        });
        let placements: Vec<Placement> = servers.filter(|(_, tasks)| !tasks.is_empty()).map(placed).collect();
        let tasks = sums(&placements, queues.case.problem);
        let ended = Allocation { by_time: false, tasks, placements: Some(placements) };
        ensure(
            ended == self.after.allocation,
            "the moves lead to another allocation than the stated one (`after`)",
        )?;
        self.is_no_worse(held)?;
        let short = state.below(due)?;
        let is_new = short.iter().any(|v| !before.contains(v));
        ensure(
            !is_new,
            "the moves bring a queue below its fair share by a whole task that was not below it before",
        )?;
        let names: Vec<&str> = short.iter().map(|v| queues.names[*v]).collect();
        ensure(
            names == self.short,
            "the stated list of queues below their fair share after the moves (`short`) is wrong",
        )?;
        let rest: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let rest = if rest.is_empty() { "no queue".to_owned() } else { rest.join(", ") };
        let moves = self.steps.len();
        ensure(
            !short.is_empty() || least <= moves,
            "every queue reaches its fair share with fewer moves than the least number",
        )?;
        let bound = if short.is_empty() {
            format!("at least {least} moves are needed")
        } else {
            format!("at least {least} moves would be needed until no queue is below")
        };
        Ok(format!("moves: {moves}; after the moves, below its fair share by a whole task: {rest}; {bound}"))
    }

    /// Checks that servers, limits and guarantees are no worse than before the moves.
    fn is_no_worse(&self, held: &Certificate<'_>) -> Checked<()> {
        for axiom in ["feasible", "integer-feasible", "limits"] {
            let margin = |of: &Certificate<'_>| {
                let claim = of.claims.iter().find(|claim| claim.axiom == axiom);
                claim.and_then(|claim| claim.margin.clone()).unwrap_or_default().min(Rational::new())
            };
            let is_kept = margin(&self.after) >= margin(held);
            ensure(is_kept, &format!("after the moves `{axiom}` is violated by more than before"))?;
        }
        if held.problem.groups.list.is_empty() {
            return Ok(());
        }
        let before = Case::new(&held.problem, &held.allocation, Rational::new())?;
        let after = Case::new(&self.after.problem, &self.after.allocation, Rational::new())?;
        let (old, new) = (Holdings::new(&before)?, Holdings::new(&after)?);
        let (lacked, lacks) = (Lacks::new(&old)?, Lacks::new(&new)?);
        for n in before.active() {
            let is_kept = lacks.of(n)? <= lacked.of(n)?;
            let what =
                format!("after the moves user `{}` lacks more of its guarantees than before", before.user(n));
            ensure(is_kept, &what)?;
        }
        Ok(())
    }
}
