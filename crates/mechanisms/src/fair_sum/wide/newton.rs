//! The Newton matrix. The block of a user over its places is `diag(z/y) + (a lambda / U) v v'`. The users are
//! eliminated directly, and the dense matrix over the rows that remains is factored by Cholesky's method.

use super::model::Model;
use super::number::Wide;
use super::start::Objective;
use super::step::Point;

/// The Newton matrix at a point, with users eliminated and the rows' matrix factored.
pub struct Newton {
    /// `y / z` of each place.
    inverse: Vec<Wide>,
    /// `inverse v` of each place.
    direction: Vec<Wide>,
    /// The pivot `U / (a lambda) + v' inverse v` of each user, by which the user is eliminated.
    scale: Vec<Wide>,
    /// The lower Cholesky factor of the rows' matrix, row by row.
    factor: Vec<Vec<Wide>>,
}

impl Newton {
    /// Assembles and factors the matrix. Returns `None` if it is not positive definite.
    pub fn new(objective: &Objective<'_>, at: &Point) -> Option<Self> {
        let model = objective.model;
        let inverse: Vec<Wide> = at.amount.iter().zip(&at.reduced).map(|(y, z)| y / z).collect();
        let direction: Vec<Wide> =
            inverse.iter().zip(&model.places).map(|(inverse, place)| inverse * &place.worth).collect();
        let (p, q) = objective.exponent;
        let over_alpha = &Wide::from_f64(f64::from(q)) / &Wide::from_f64(f64::from(p));
        let utility = model.utilities(&at.amount);
        let spread = model.sum_by_user(|k| &direction[k] * &model.places[k].worth);
        let flat = utility.iter().zip(&at.marginal).map(|(u, lambda)| &(u / lambda) * &over_alpha);
        let scale: Vec<Wide> = flat.zip(&spread).map(|(flat, spread)| &flat + spread).collect();
        let n_rows = model.rows.len();
        let mut matrix: Vec<Vec<Wide>> = (0..n_rows).map(|row| vec![Wide::default(); row + 1]).collect();
        for (row, (p, s)) in at.price.iter().zip(&at.slack).enumerate() {
            matrix[row][row] += &(s / p);
        }
        for (place, inverse) in model.places.iter().zip(&inverse) {
            for (r, a) in &place.usage {
                let scaled = a * inverse;
                for (s, b) in place.usage.iter().filter(|(s, _)| s <= r) {
                    matrix[*r][*s] += &(&scaled * b);
                }
            }
        }
        for (user, scale) in model.users.iter().zip(&scale) {
            let mut column = vec![Wide::default(); user.rows.len()];
            for k in user.places.clone() {
                for (row, a) in &model.places[k].usage {
                    if let Ok(at) = user.rows.binary_search(row) {
                        column[at] += &(a * &direction[k]);
                    }
                }
            }
            for (i, r) in user.rows.iter().enumerate() {
                let scaled = &column[i] / scale;
                for (j, s) in user.rows.iter().enumerate().take(i + 1) {
                    matrix[*r][*s] -= &(&scaled * &column[j]);
                }
            }
        }
        let factor = cholesky_factor(matrix)?;
        Some(Self { inverse, direction, scale, factor })
    }

    /// Returns `H^-1 g` over the places, where `H` consists of the users' blocks.
    pub fn solve_users(&self, model: &Model, right: &[Wide]) -> Vec<Wide> {
        let mut solution: Vec<Wide> =
            right.iter().zip(&self.inverse).map(|(g, inverse)| g * inverse).collect();
        let sums = model.sum_by_user(|k| &model.places[k].worth * &solution[k]);
        for ((user, sum), scale) in model.users.iter().zip(&sums).zip(&self.scale) {
            let factor = sum / scale;
            for k in user.places.clone() {
                solution[k] -= &(&factor * &self.direction[k]);
            }
        }
        solution
    }

    /// Solves the system of the rows.
    pub fn solve_rows(&self, mut right: Vec<Wide>) -> Vec<Wide> {
        let n = right.len();
        for r in 0..n {
            let row = &self.factor[r];
            let mut value = right[r].clone();
            for s in 0..r {
                value -= &(&row[s] * &right[s]);
            }
            right[r] = &value / &row[r];
        }
        for r in (0..n).rev() {
            right[r] = &right[r] / &self.factor[r][r];
            let value = right[r].clone();
            for (right, part) in right.iter_mut().zip(&self.factor[r][..r]) {
                *right -= &(part * &value);
            }
        }
        right
    }
}

/// Returns the Cholesky factor of a symmetric matrix given by its lower triangle, or `None` if it is not positive
/// definite.
fn cholesky_factor(mut matrix: Vec<Vec<Wide>>) -> Option<Vec<Vec<Wide>>> {
    for r in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(r);
        let row = &mut rest[0];
        for s in 0..r {
            let other = &above[s];
            let mut value = row[s].clone();
            for t in 0..s {
                value -= &(&row[t] * &other[t]);
            }
            row[s] = &value / &other[s];
        }
        let mut diagonal = row[r].clone();
        for value in &row[..r] {
            diagonal -= &(value * value);
        }
        if !diagonal.is_positive() {
            return None;
        }
        row[r] = diagonal.root();
    }
    Some(matrix)
}
