//! A small exact simplex method, in which all entries are integers over one common denominator.
//!
//! It maximises `p R - q G` over `A x <= b`, `x >= 0` with `b >= 0`. The objectives `R` and `G` are stored separately,
//! so that `a = p / q` may change without a restart (integer pivoting: Edmonds, 1967; the quotient by Dinkelbach,
//! 1967). Numbers have 64 bits, and their products 128 bits. If a number does not fit, the method returns `None`, and
//! the caller must use another method.

/// The number of pivots that choose the largest coefficient. Later pivots choose the smallest index, so that the method
/// cannot cycle.
const MOST_LARGEST: usize = 60;
/// The largest number of pivots, after which the method gives up.
const MOST_PIVOTS: usize = 5_000;

/// A fraction of nonnegative numbers in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallFraction {
    /// The numerator.
    pub p: i64,
    /// The denominator.
    pub q: i64,
}

/// The action of the method if `p R - q G` can be positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableauGoal {
    /// The method stops.
    Decide,
    /// The method sets `p / q` to the `G / R` of the current solution, and continues.
    Minimise,
}

/// A variable: its entries by row, its coefficient in `R`, and its coefficient in `G`.
pub type TableauColumn = (Vec<(usize, i64)>, i64, i64);

/// A condensed tableau. Its rows are those of `A`, then `R`, then `G`. The last column is the right-hand side.
pub struct Tableau {
    rows: usize,
    width: usize,
    entries: Vec<i64>,
    denominator: i64,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
}

impl Tableau {
    /// Creates the tableau in which all slack variables are basic.
    pub fn new(rows: usize, right: &[i64], columns: &[TableauColumn]) -> Option<Self> {
        let width = columns.len() + 1;
        let mut entries = vec![0; (rows + 2) * width];
        for (c, (column, reward, greedy)) in columns.iter().enumerate() {
            for &(row, value) in column {
                entries[row * width + c] = value;
            }
            entries[rows * width + c] = reward.checked_neg()?;
            entries[(rows + 1) * width + c] = greedy.checked_neg()?;
        }
        for (row, value) in right.iter().enumerate() {
            entries[row * width + width - 1] = *value;
        }
        let nonbasic = (0..columns.len()).collect();
        let basic = (columns.len()..columns.len() + rows).collect();
        Some(Self { rows, width, entries, denominator: 1, basic, nonbasic })
    }

    /// Returns the least `a = G / R` of any solution, if it is below `start`. With [`TableauGoal::Decide`] it returns
    /// any such `a`. Returns `Some(start)` if no solution is below `start`. Returns `None` if numbers do not fit or
    /// there are too many pivots.
    pub fn least(&mut self, start: SmallFraction, goal: TableauGoal) -> Option<SmallFraction> {
        let mut a = start;
        for pivots in 0..MOST_PIVOTS {
            let (reward, greedy) = self.values();
            if i128::from(a.p) * i128::from(reward) > i128::from(a.q) * i128::from(greedy) {
                a = fraction(greedy, reward);
                if goal == TableauGoal::Decide {
                    return Some(a);
                }
            }
            let Some(column) = self.entering(a, pivots < MOST_LARGEST) else { return Some(a) };
            let row = self.leaving(column)?;
            self.pivot(row, column)?;
        }
        None
    }

    /// Returns `(R, G)`, multiplied by the denominator.
    fn values(&self) -> (i64, i64) {
        let at = |row: usize| self.entries[row * self.width + self.width - 1];
        (at(self.rows), at(self.rows + 1))
    }

    fn entering(&self, a: SmallFraction, largest: bool) -> Option<usize> {
        let (reward, greedy) = (self.rows * self.width, (self.rows + 1) * self.width);
        let gain = |c: usize| {
            i128::from(a.q) * i128::from(self.entries[greedy + c])
                - i128::from(a.p) * i128::from(self.entries[reward + c])
        };
        let gains = (0..self.width - 1).map(|c| (gain(c), c)).filter(|(gain, _)| *gain > 0);
        if largest {
            let better = |best: (i128, usize), next: (i128, usize)| if next.0 > best.0 { next } else { best };
            gains.reduce(better).map(|(_, c)| c)
        } else {
            gains.map(|(_, c)| c).min_by_key(|&c| self.nonbasic[c])
        }
    }

    fn leaving(&self, column: usize) -> Option<usize> {
        let mut best: Option<usize> = None;
        for row in 0..self.rows {
            let entry = self.entries[row * self.width + column];
            if entry <= 0 {
                continue;
            }
            let Some(other) = best else {
                best = Some(row);
                continue;
            };
            let (entry, right) = (i128::from(entry), i128::from(self.entries[(row + 1) * self.width - 1]));
            let other_entry = i128::from(self.entries[other * self.width + column]);
            let other_right = i128::from(self.entries[(other + 1) * self.width - 1]);
            let order = (right * other_entry).cmp(&(other_right * entry));
            if order.then(self.basic[row].cmp(&self.basic[other])).is_lt() {
                best = Some(row);
            }
        }
        best
    }

    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let width = self.width;
        let pivot = self.entries[row * width + column];
        let old = self.denominator;
        let (before, rest) = self.entries.split_at_mut(row * width);
        let (pivot_row, after) = rest.split_at_mut(width);
        for other in before.chunks_exact_mut(width).chain(after.chunks_exact_mut(width)) {
            let factor = other[column];
            if factor == 0 && pivot == old {
                continue;
            }
            for (c, (value, in_row)) in other.iter_mut().zip(pivot_row.iter()).enumerate() {
                if c == column || *value == 0 && (factor == 0 || *in_row == 0) {
                    continue;
                }
                // Each of the two products is below 2^126.
                let product =
                    i128::from(*value) * i128::from(pivot) - i128::from(factor) * i128::from(*in_row);
                *value = match i64::try_from(product) {
                    Ok(product) => product / old,
                    Err(_) => i64::try_from(product / i128::from(old)).ok()?,
                };
            }
            other[column] = factor.checked_neg()?;
        }
        pivot_row[column] = old;
        self.denominator = pivot;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        Some(())
    }
}

/// Returns `p / q` in lowest terms, for `p >= 0` and `q > 0`.
pub fn fraction(p: i64, q: i64) -> SmallFraction {
    let (mut a, mut b) = (p, q);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1);
    SmallFraction { p: p / divisor, q: q / divisor }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `max 3 x + 2 y` over `x + y <= 4`, `x + 3 y <= 6`, with `G = x + 4 y`. The quotient at (4, 0) is 4 / 12.
    #[test]
    fn computes_the_least_quotient() {
        let columns = [(vec![(0, 1), (1, 1)], 3, 1), (vec![(0, 1), (1, 3)], 2, 4)];
        let new = || Tableau::new(2, &[4, 6], &columns).unwrap();
        let one = SmallFraction { p: 1, q: 1 };
        assert_eq!(new().least(one, TableauGoal::Minimise), Some(SmallFraction { p: 1, q: 3 }));
        let third = SmallFraction { p: 1, q: 3 };
        assert_eq!(new().least(third, TableauGoal::Minimise), Some(third));
        assert_eq!(new().least(third, TableauGoal::Decide), Some(third));
    }

    /// Klee and Minty's cube uses every denominator. Its optimum is the last right-hand side.
    #[test]
    fn pivots_reach_a_known_optimum() {
        let columns =
            [(vec![(0, 1), (1, 4), (2, 8)], 4, 0), (vec![(1, 1), (2, 4)], 2, 0), (vec![(2, 1)], 1, 0)];
        let mut tableau = Tableau::new(3, &[5, 25, 125], &columns).unwrap();
        assert_eq!(
            tableau.least(SmallFraction { p: 1, q: 1 }, TableauGoal::Minimise),
            Some(SmallFraction { p: 0, q: 1 })
        );
        let mut tableau = Tableau::new(3, &[5, 25, 125], &columns).unwrap();
        while let Some(column) = tableau.entering(SmallFraction { p: 1, q: 1 }, true) {
            let row = tableau.leaving(column).unwrap();
            tableau.pivot(row, column).unwrap();
        }
        assert_eq!(tableau.values().0 / tableau.denominator, 125);
    }

    #[test]
    fn reports_numbers_that_overflow() {
        let large = i64::MAX / 2;
        let columns = [(vec![(0, large), (1, 3)], 5, 1), (vec![(0, 3), (1, large - 1)], 7, 2)];
        let mut tableau = Tableau::new(2, &[large, large - 5], &columns).unwrap();
        // The determinant has 124 bits.
        assert!(tableau.pivot(0, 0).is_none() || tableau.pivot(1, 1).is_none());
        assert!(Tableau::new(1, &[1], &[(vec![(0, 1)], i64::MIN, 0)]).is_none());
    }
}
