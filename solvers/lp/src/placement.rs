//! Whether tasks have a place on the classes, and how far totals may move before they have none.

use evenhand_problem::{Constraints, Rational};

use crate::error::LpError;
use crate::exact_lp::{ExactColumn, ExactLp, Sense};
use crate::groups::capacity_entries;
use crate::refine::{self, StartingPoint};

/// Exact pivots after which a basis is given up.
const MAX_PIVOTS: usize = 10_000;

/// Tasks by user: `(class, tasks)`, ascending by class.
pub type Placed = Vec<Vec<(usize, Rational)>>;

/// The capacity of a problem, asked about totals by user.
#[derive(Debug, Clone, Copy)]
pub struct Placements<'a> {
    constraints: &'a Constraints<'a>,
}

/// A programme over the placements of some users, and one column for each of them or for all.
struct Programme {
    lp: ExactLp,
    /// About as large as each column can be.
    units: Vec<f64>,
    /// `(user, class)` by column.
    placements: Vec<(usize, usize)>,
    /// `(user, its row)`
    rows: Vec<(usize, usize)>,
}

impl<'a> Placements<'a> {
    /// Of a problem under one way of sharing.
    #[must_use]
    pub fn new(constraints: &'a Constraints<'a>) -> Self {
        Self { constraints }
    }

    /// The largest `t`, at most `most`, for which totals of `tasks + t rates` have a place, and such a place.
    /// `tasks`, by user, have one.
    ///
    /// # Errors
    /// [`LpError`]: `tasks` have no place, nothing limits `t`, or a programme could not be solved.
    pub fn farthest(
        &self,
        tasks: &[Rational],
        rates: &[Rational],
        most: Option<&Rational>,
    ) -> Result<(Rational, Placed), LpError> {
        let mut programme = self.programme(tasks, |n| !tasks[n].is_zero() || !rates[n].is_zero());
        let moving = programme.rows.iter().filter(|(n, _)| !rates[*n].is_zero());
        let mut entries: Vec<(usize, Rational)> =
            moving.clone().map(|(n, row)| (*row, Rational::from(-&rates[*n]))).collect();
        let problem = self.constraints.problem();
        let alone = |(n, _): &(usize, usize)| problem.total_gamma(*n).to_f64() / rates[*n].to_f64();
        let unit = moving.map(alone).chain(most.map(Rational::to_f64)).fold(f64::INFINITY, f64::min);
        if let Some(most) = most {
            entries.push((programme.lp.rows.len(), Rational::from(1)));
            programme.lp.rows.push((Sense::AtMost, most.clone()));
        }
        programme.lp.columns.push(ExactColumn { cost: Rational::from(1), entries });
        programme.units.push(if unit > 0.0 && unit.is_finite() { unit } else { 1.0 });
        let optimum =
            refine::optimise(&programme.lp, &programme.units, StartingPoint::default(), MAX_PIVOTS)?;
        let step = optimum.x.last().cloned().unwrap_or_default();
        Ok((step, self.read(&programme, &optimum.x)))
    }

    /// Which of some users can have no more than these totals while everybody else keeps its own; and how many
    /// programmes that took. `placed` is a place of the totals.
    ///
    /// # Errors
    /// [`LpError`]: a programme could not be solved.
    pub fn stuck(
        &self,
        tasks: &[Rational],
        users: &[usize],
        placed: &Placed,
    ) -> Result<(Vec<usize>, usize), LpError> {
        let mut asked = users.to_vec();
        let mut programmes = 0;
        // Users that gain together gain alone as well; when none gains any more, each is stuck.
        while !asked.is_empty() {
            let mut programme = self.programme(tasks, |n| !tasks[n].is_zero() || asked.contains(&n));
            let first = programme.lp.columns.len();
            let mut point: Vec<Rational> = programme
                .placements
                .iter()
                .map(|(n, i)| {
                    placed[*n].iter().find(|(of, _)| of == i).map_or_else(Rational::new, |p| p.1.clone())
                })
                .collect();
            for n in &asked {
                let Some((_, row)) = programme.rows.iter().find(|(of, _)| of == n) else { continue };
                let entries = vec![(*row, Rational::from(-1))];
                // A gain is worth what it is a part of, so that no user's tasks hide another's.
                let alone = self.constraints.problem().total_gamma(*n);
                programme.units.push(alone.to_f64());
                programme.lp.columns.push(ExactColumn { cost: alone.recip(), entries });
                point.push(Rational::new());
            }
            let start = StartingPoint { point: Some(&point), basis: &[] };
            let optimum = refine::optimise(&programme.lp, &programme.units, start, MAX_PIVOTS)?;
            programmes += 1;
            let gains: Vec<bool> = optimum.x[first..].iter().map(|gain| *gain > 0).collect();
            if !gains.contains(&true) {
                break;
            }
            let mut gains = gains.into_iter();
            asked.retain(|_| !gains.next().unwrap_or(false));
        }
        Ok((asked, programmes))
    }

    /// The rows of the classes, and of every user that takes part one that its tasks add up to its total.
    fn programme(&self, tasks: &[Rational], takes_part: impl Fn(usize) -> bool) -> Programme {
        let problem = self.constraints.problem();
        let mut lp = ExactLp::default();
        lp.rows.extend(self.constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        let (mut units, mut placements, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for n in (0..problem.n_users()).filter(|n| takes_part(*n)) {
            let row = lp.rows.len();
            lp.rows.push((Sense::Equal, tasks[n].clone()));
            rows.push((n, row));
            for i in problem.classes_of(n) {
                let mut entries = capacity_entries(self.constraints, n, i);
                entries.push((row, Rational::from(1)));
                units.push(problem.gamma(n, i).to_f64());
                placements.push((n, i));
                lp.columns.push(ExactColumn { cost: Rational::new(), entries });
            }
        }
        Programme { lp, units, placements, rows }
    }

    fn read(&self, programme: &Programme, x: &[Rational]) -> Placed {
        let mut placed = vec![Vec::new(); self.constraints.problem().n_users()];
        for ((n, i), x) in programme.placements.iter().zip(x).filter(|(_, x)| !x.is_zero()) {
            placed[*n].push((*i, x.clone()));
        }
        placed
    }
}
