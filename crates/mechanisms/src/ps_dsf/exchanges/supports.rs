//! An exact PS-DSF allocation on the supports of a regime, by a linear programme.
//!
//! With users that have all their tasks a regime's equations leave placements free, and not every
//! choice of them fits. On given supports and bottlenecks Theorem 1 is linear in the tasks and in one
//! level `l_r` for each bottleneck: bottlenecks are full and no row is overfilled, satisfied users have
//! `T_n`, whoever runs where `r` blocks it has the level `l_r`, and nobody that holds `r` has more. Of the
//! inequalities between levels only those that the limit nearly attains are asked for; Theorem 1 is
//! decided afterwards.

use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Feasibility, Sense, Variable};
use evenhand_problem::Rational;

use super::market::{Market, Point};
use super::regime::Regime;

/// Levels that differ by less than this part may be equal.
const NEARLY: f64 = 1e-5;
/// Exact pivots.
const MOST_PIVOTS: usize = 2_000;
/// Rows of the programme.
const MOST_ROWS: usize = 3_000;

/// The programme under construction: columns are the supported places, then the levels.
struct Programme<'a> {
    exact: &'a Market<Rational>,
    regime: &'a Regime,
    lp: ExactLp,
    of_place: Vec<Option<usize>>,
    of_level: Vec<Option<usize>>,
}

/// A feasible vertex on the supports and bottlenecks of `regime`, which was read off `limit`.
///
/// # Errors
/// Why there is none, in words.
pub fn solve(
    market: &Market<f64>,
    exact: &Market<Rational>,
    limit: &Point<f64>,
    regime: &Regime,
) -> Result<Point<Rational>, String> {
    let mut programme = Programme {
        exact,
        regime,
        lp: ExactLp::default(),
        of_place: vec![None; exact.places.len()],
        of_level: vec![None; exact.capacity.len()],
    };
    programme.capacities();
    programme.users(market, limit);
    programme.levels(market, limit);
    if programme.lp.rows.len() > MOST_ROWS {
        return Err("there are too many users for an exact programme over the supports".to_owned());
    }
    let basis: Vec<Variable> = (0..programme.lp.columns.len()).map(Variable::Column).collect();
    match programme.lp.solve(&basis, MOST_PIVOTS) {
        Ok(Feasibility::Feasible(found)) => {
            let value = |column: &Option<usize>| column.map_or_else(Rational::new, |k| found.x[k].clone());
            Ok(exact.point(programme.of_place.iter().map(value).collect()))
        }
        Ok(Feasibility::Infeasible(_)) => Err("no allocation has these supports and bottlenecks".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl Programme<'_> {
    fn row(&mut self, sense: Sense, rhs: Rational, entries: &[(usize, Rational)]) {
        let row = self.lp.rows.len();
        self.lp.rows.push((sense, rhs));
        for (column, value) in entries {
            self.lp.columns[*column].entries.push((row, value.clone()));
        }
    }

    fn column(&mut self) -> usize {
        self.lp.columns.push(ExactColumn::default());
        self.lp.columns.len() - 1
    }

    fn level(&mut self, row: usize) -> usize {
        match self.of_level[row] {
            Some(column) => column,
            None => {
                let column = self.column();
                self.of_level[row] = Some(column);
                column
            }
        }
    }

    /// No row is overfilled, and those of the regime are full.
    fn capacities(&mut self) {
        let supported: Vec<usize> = self.regime.support.iter().flatten().copied().collect();
        let mut uses: Vec<Vec<(usize, Rational)>> = vec![Vec::new(); self.exact.capacity.len()];
        for p in supported {
            let column = self.column();
            self.of_place[p] = Some(column);
            for (row, d) in &self.exact.places[p].usage {
                uses[*row].push((column, d.clone()));
            }
        }
        for (row, entries) in uses.iter().enumerate() {
            let is_full = self.regime.rows.binary_search(&row).is_ok();
            if is_full || !entries.is_empty() {
                let sense = if is_full { Sense::Equal } else { Sense::AtMost };
                self.row(sense, self.exact.capacity[row].clone(), entries);
            }
        }
    }

    /// `x_n` as entries of a row.
    fn total(&self, user: usize) -> Vec<(usize, Rational)> {
        let columns = self.regime.support[user].iter().filter_map(|p| self.of_place[*p]);
        columns.map(|column| (column, Rational::from(1))).collect()
    }

    /// Satisfied users have all their tasks; of the others only those near their limit are held to it.
    fn users(&mut self, market: &Market<f64>, limit: &Point<f64>) {
        for user in 0..self.exact.n_users() {
            let Some(tasks) = self.exact.limits[user].clone() else { continue };
            let near = market.limits[user].is_some_and(|all| limit.totals[user] >= all * (1.0 - NEARLY));
            let sense = if self.regime.satisfied[user] { Sense::Equal } else { Sense::AtMost };
            if sense == Sense::Equal || near {
                let entries = self.total(user);
                self.row(sense, tasks, &entries);
            }
        }
    }

    /// The levels at bottlenecks.
    fn levels(&mut self, market: &Market<f64>, limit: &Point<f64>) {
        let highest = self.highest(market, limit);
        for p in 0..self.exact.places.len() {
            let place = &market.places[p];
            let level = market.level(limit, p);
            let rows: Vec<usize> = place.usage.iter().map(|(row, _)| *row).collect();
            let is_full = |row: &&usize| self.regime.rows.binary_search(row).is_ok();
            let full: Vec<usize> = rows.iter().filter(is_full).copied().collect();
            let lacks = !self.regime.satisfied[place.user];
            let own = self.regime.bottleneck[p];
            if let Some(row) = own {
                self.compare(p, row, Sense::Equal);
            } else if lacks {
                // It needs a bottleneck here as well; one that is far below needs no row.
                let lowest = full.iter().min_by(|a, b| highest[**a].total_cmp(&highest[**b])).copied();
                if let Some(row) = lowest.filter(|row| level <= highest[*row] * (1.0 + NEARLY)) {
                    self.compare(p, row, Sense::AtLeast);
                }
            }
            if self.of_place[p].is_some() {
                for row in full {
                    let near = level >= highest[row] * (1.0 - NEARLY);
                    if own != Some(row) && near && self.of_level[row].is_some() {
                        self.compare(p, row, Sense::AtMost);
                    }
                }
            }
        }
    }

    /// `x_n - w_n gamma_ni l_r` in that direction from 0.
    fn compare(&mut self, p: usize, row: usize, sense: Sense) {
        let mut entries = self.total(self.exact.places[p].user);
        entries.push((self.level(row), Rational::from(-&self.exact.places[p].pace)));
        self.row(sense, Rational::new(), &entries);
    }

    /// The highest level among those that hold a row, at the limit.
    fn highest(&self, market: &Market<f64>, limit: &Point<f64>) -> Vec<f64> {
        let mut highest = vec![0.0_f64; market.capacity.len()];
        for p in self.regime.support.iter().flatten() {
            for (row, _) in &market.places[*p].usage {
                highest[*row] = highest[*row].max(market.level(limit, *p));
            }
        }
        highest
    }
}
