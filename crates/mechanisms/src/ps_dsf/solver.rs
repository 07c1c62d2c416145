//! Dense linear equations in doubles.

/// A square matrix.
#[derive(Debug, Clone)]
pub struct Dense {
    n: usize,
    entries: Vec<f64>,
}

impl Dense {
    /// All entries 0.
    pub fn zero(n: usize) -> Self {
        Self { n, entries: vec![0.0; n * n] }
    }

    /// Adds to an entry.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.n + column] += value;
    }

    /// `x` with `A x = b`, by elimination with row pivoting after scaling the rows; `None` for a
    /// matrix without an inverse, or with one that floating point cannot find.
    pub fn solve(mut self, mut b: Vec<f64>) -> Option<Vec<f64>> {
        let n = self.n;
        for (row, b) in self.entries.chunks_exact_mut(n.max(1)).zip(&mut b) {
            let size = row.iter().fold(0.0_f64, |size, v| size.max(v.abs()));
            if !(size > 0.0 && size.is_finite()) {
                return None;
            }
            row.iter_mut().for_each(|v| *v /= size);
            *b /= size;
        }
        for k in 0..n {
            let pivot = (k..n)
                .max_by(|a, b| self.entries[a * n + k].abs().total_cmp(&self.entries[b * n + k].abs()))?;
            if self.entries[pivot * n + k].abs() < 1e-13 {
                return None;
            }
            if pivot != k {
                let (above, below) = self.entries.split_at_mut(pivot * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
                b.swap(k, pivot);
            }
            let (above, below) = self.entries.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n..];
            for (j, row) in below.chunks_exact_mut(n).enumerate() {
                if row[k] == 0.0 {
                    continue;
                }
                let factor = row[k] / pivot_row[k];
                row[k..].iter_mut().zip(&pivot_row[k..]).for_each(|(v, p)| *v -= factor * p);
                b[k + 1 + j] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            let row = &self.entries[k * n..(k + 1) * n];
            let known: f64 = row[k + 1..].iter().zip(&b[k + 1..]).map(|(a, x)| a * x).sum();
            b[k] = (b[k] - known) / row[k];
        }
        b.iter().all(|x| x.is_finite()).then_some(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_refuses() {
        let mut matrix = Dense::zero(2);
        matrix.add(0, 1, 2.0);
        matrix.add(1, 0, 4.0);
        matrix.add(1, 1, 4.0);
        assert_eq!(matrix.clone().solve(vec![2.0, 8.0]), Some(vec![1.0, 1.0]));
        matrix.add(1, 0, -4.0);
        assert_eq!(matrix.solve(vec![2.0, 8.0]), None);
        assert_eq!(Dense::zero(0).solve(Vec::new()), Some(Vec::new()));
    }
}
