//! All vertices of a small polytope, by the double description method (Motzkin et al., 1953;
//! adjacency as in Fukuda and Prodon, 1996), in integers.

use std::cmp::Ordering;

use rug::{Integer, Rational};

use crate::error::LevelsError;

/// A bounded polytope `{y >= 0 : a y <= b or a y = b}`.
#[derive(Debug, Clone)]
pub struct Inequalities {
    /// The number of variables `y`.
    pub n_columns: usize,
    /// All constraints except `y >= 0`.
    pub constraints: Vec<Constraint>,
}

/// A constraint `sum of (coefficient * y) <= rhs`, or `=`.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// `(column, coefficient)`. No column is listed twice.
    pub entries: Vec<(usize, Rational)>,
    /// The right-hand side.
    pub rhs: Rational,
    /// True if the constraint is an equation.
    pub is_equation: bool,
}

/// A ray of the cone over the polytope.
///
/// The last entry is the homogenising coordinate. The entries have no common divisor. `tight` is the set of constraints
/// that the ray satisfies with equality.
struct Ray {
    entries: Vec<Integer>,
    tight: u128,
}

/// The number of bits of [`Ray::tight`].
const MOST_CONSTRAINTS: usize = 128;

impl Inequalities {
    /// Computes the vertices, in ascending order.
    ///
    /// # Errors
    /// [`LevelsError::Budget`] when there are more constraints than fit into 128 bits, or more than `max_rays` rays.
    pub fn vertices(&self, max_rays: usize) -> Result<Vec<Vec<Rational>>, LevelsError> {
        let n = self.n_columns + 1;
        if n + self.constraints.len() >= MOST_CONSTRAINTS {
            return Err(LevelsError::Budget { what: "constraints of one polytope", limit: MOST_CONSTRAINTS });
        }
        let mut rays: Vec<Ray> = (0..n).map(|k| Ray::unit(k, n)).collect();
        // Equations come first, since they leave the fewest rays.
        let mut order: Vec<&Constraint> = self.constraints.iter().collect();
        order.sort_by_key(|constraint| !constraint.is_equation);
        for (k, constraint) in order.into_iter().enumerate() {
            rays = cut(rays, constraint, 1 << (n + k), n);
            if rays.len() > max_rays {
                return Err(LevelsError::Budget { what: "rays of one polytope", limit: max_rays });
            }
        }
        let mut vertices: Vec<Vec<Rational>> = rays.iter().filter_map(Ray::vertex).collect();
        vertices.sort();
        Ok(vertices)
    }
}

/// Returns the rays of the part of the cone on which the constraint is satisfied.
fn cut(rays: Vec<Ray>, constraint: &Constraint, bit: u128, n: usize) -> Vec<Ray> {
    let row = constraint.homogeneous(n);
    let value = |ray: &Ray| row.iter().map(|(k, a)| Integer::from(a * &ray.entries[*k])).sum::<Integer>();
    let values: Vec<Integer> = rays.iter().map(value).collect();
    let of_sign = |sign: Ordering| -> Vec<usize> {
        values.iter().enumerate().filter(|(_, v)| v.cmp0() == sign).map(|(k, _)| k).collect()
    };
    let (above, below) = (of_sign(Ordering::Greater), of_sign(Ordering::Less));
    let mut found = Vec::new();
    for &p in &above {
        for &q in &below {
            let common = rays[p].tight & rays[q].tight;
            let are_adjacent = common.count_ones() as usize + 2 >= n
                && (0..rays.len()).all(|k| k == p || k == q || rays[k].tight & common != common);
            if are_adjacent {
                found.push(rays[p].towards(&values[p], &rays[q], &values[q], common | bit));
            }
        }
    }
    for (mut ray, value) in rays.into_iter().zip(values) {
        if value == 0 {
            ray.tight |= bit;
            found.push(ray);
        } else if value > 0 && !constraint.is_equation {
            found.push(ray);
        }
    }
    found
}

impl Constraint {
    /// Returns `rhs t - a y` in integers.
    fn homogeneous(&self, n: usize) -> Vec<(usize, Integer)> {
        let mut factor = self.rhs.denom().clone();
        for (_, value) in &self.entries {
            factor.lcm_mut(value.denom());
        }
        let scaled = |value: &Rational| Integer::from(factor.div_exact_ref(value.denom())) * value.numer();
        let entries = self.entries.iter().map(|(k, value)| (*k, -scaled(value)));
        entries.chain([(n - 1, scaled(&self.rhs))]).collect()
    }
}

impl Ray {
    fn unit(k: usize, n: usize) -> Self {
        let mut entries = vec![Integer::new(); n];
        entries[k] = Integer::from(1);
        Self { entries, tight: ((1 << n) - 1) & !(1 << k) }
    }

    /// Returns the ray in which the plane through a ray above the hyperplane and a ray below it meets the hyperplane.
    fn towards(&self, above: &Integer, other: &Self, below: &Integer, tight: u128) -> Self {
        let combine = |(p, q): (&Integer, &Integer)| Integer::from(q * above) - Integer::from(p * below);
        let mut entries: Vec<Integer> = self.entries.iter().zip(&other.entries).map(combine).collect();
        let mut divisor = Integer::new();
        for entry in &entries {
            divisor.gcd_mut(entry);
        }
        if divisor > 1 {
            entries.iter_mut().for_each(|entry| entry.div_exact_mut(&divisor));
        }
        Self { entries, tight }
    }

    fn vertex(&self) -> Option<Vec<Rational>> {
        let (scale, entries) = self.entries.split_last()?;
        (*scale != 0).then(|| entries.iter().map(|y| Rational::from((y.clone(), scale.clone()))).collect())
    }
}

/// Computes the dimension of the affine hull of points. It is 0 for one point and for no points.
pub fn dimension(points: &[Vec<Rational>]) -> usize {
    let Some((origin, others)) = points.split_first() else { return 0 };
    let mut rows: Vec<Vec<Rational>> = others
        .iter()
        .map(|point| point.iter().zip(origin).map(|(a, b)| Rational::from(a - b)).collect())
        .collect();
    let mut rank = 0;
    for column in 0..origin.len() {
        let Some(pivot) = (rank..rows.len()).find(|&k| !rows[k][column].is_zero()) else { continue };
        rows.swap(rank, pivot);
        let (done, rest) = rows.split_at_mut(rank + 1);
        let pivot = &done[rank];
        for row in rest.iter_mut().filter(|row| !row[column].is_zero()) {
            let factor = Rational::from(&row[column] / &pivot[column]);
            for (entry, p) in row.iter_mut().zip(pivot) {
                *entry -= Rational::from(&factor * p);
            }
        }
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(n: usize, rows: &[(&[i32], i32, bool)]) -> Inequalities {
        let constraint = |(a, b, is_equation): &(&[i32], i32, bool)| Constraint {
            entries: a.iter().enumerate().map(|(k, v)| (k, Rational::from(*v))).collect(),
            rhs: Rational::from(*b),
            is_equation: *is_equation,
        };
        Inequalities { n_columns: n, constraints: rows.iter().map(constraint).collect() }
    }

    fn vertices(n: usize, rows: &[(&[i32], i32, bool)]) -> Vec<Vec<Rational>> {
        system(n, rows).vertices(1000).expect("within the budget")
    }

    #[test]
    fn enumerates_vertices_of_a_cube_and_its_cuts() {
        let cube: [(&[i32], i32, bool); 3] =
            [(&[1, 0, 0], 1, false), (&[0, 1, 0], 1, false), (&[0, 0, 1], 1, false)];
        assert_eq!(vertices(3, &cube).len(), 8);
        let with = |more: (&'static [i32], i32, bool)| {
            let rows: Vec<_> = cube.iter().copied().chain([more]).collect();
            vertices(3, &rows)
        };
        // In this order: a cut-off corner, a hexagon, the diagonal, a redundant constraint, a constraint that touches
        // one vertex, and two empty polytopes.
        assert_eq!(with((&[1, 1, 1], 2, false)).len(), 7);
        assert_eq!(vertices(3, &[cube[0], cube[1], cube[2], (&[2, 2, 2], 3, true)]).len(), 6);
        assert_eq!(with((&[1, -1, 0], 0, true)).len(), 4);
        assert_eq!(with((&[1, 1, 1], 3, false)).len(), 8);
        assert_eq!(with((&[1, 1, 1], 3, true)).len(), 1);
        assert!(with((&[1, 1, 1], 4, true)).is_empty());
        assert!(with((&[1, 0, 0], -1, false)).is_empty());
    }

    #[test]
    fn computes_dimensions_of_faces() {
        assert_eq!(dimension(&[]), 0);
        let square = vertices(2, &[(&[1, 0], 1, false), (&[0, 1], 1, false)]);
        assert_eq!(dimension(&square), 2);
        assert_eq!(dimension(&square[..2]), 1);
        assert_eq!(dimension(&square[..1]), 0);
    }

    #[test]
    fn the_budget_is_honoured() {
        let rows: [(&[i32], i32, bool); 2] = [(&[1, 0], 1, false), (&[0, 1], 1, false)];
        assert_eq!(
            system(2, &rows).vertices(3),
            Err(LevelsError::Budget { what: "rays of one polytope", limit: 3 })
        );
    }
}
