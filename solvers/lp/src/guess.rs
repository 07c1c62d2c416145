//! The basis at which HiGHS ends, as the start of the exact simplex method.

use crate::error::LpError;
use crate::exact_lp::{ExactLp, Sense, Variable};
use crate::highs::{BasisStatus, ColumnBlock, FloatLp};

/// `lp` in HiGHS: columns in units of `units` (about as large as each can be), rows divided by
/// their largest entry, costs by the largest.
///
/// # Errors
/// [`LpError`] when HiGHS refuses the model.
pub fn float(lp: &ExactLp, units: &[f64]) -> Result<FloatLp, LpError> {
    let mut largest = vec![0.0_f64; lp.rows.len()];
    let mut most_valuable = 0.0_f64;
    for (column, unit) in lp.columns.iter().zip(units) {
        for (row, value) in &column.entries {
            largest[*row] = largest[*row].max((value.to_f64() * unit).abs());
        }
        most_valuable = most_valuable.max((column.cost.to_f64() * unit).abs());
    }
    let or_one = |value: f64| if value > 0.0 { value } else { 1.0 };
    let bounds: Vec<(f64, f64)> = lp
        .rows
        .iter()
        .zip(&largest)
        .map(|((sense, rhs), largest)| {
            let rhs = rhs.to_f64() / or_one(*largest);
            match sense {
                Sense::AtMost => (f64::NEG_INFINITY, rhs),
                Sense::AtLeast => (rhs, f64::INFINITY),
                Sense::Equal => (rhs, rhs),
            }
        })
        .collect();
    let mut float = FloatLp::new(&bounds)?;
    let mut block = ColumnBlock::default();
    for (column, unit) in lp.columns.iter().zip(units) {
        let entries = column.entries.iter().map(|(row, v)| (*row, v.to_f64() * unit / or_one(largest[*row])));
        block.push(column.cost.to_f64() * unit / or_one(most_valuable), entries)?;
    }
    float.add_columns(&block)?;
    Ok(float)
}

/// The basis at which HiGHS ends, or none where it fails; exact pivots then go all the way.
#[must_use]
pub fn basis(lp: &ExactLp, units: &[f64]) -> Vec<Variable> {
    let solved = float(lp, units).and_then(|mut float| {
        float.solve()?;
        float.basis()
    });
    let Ok(basis) = solved else { return Vec::new() };
    let basic = |list: Vec<BasisStatus>| {
        list.into_iter().enumerate().filter(|(_, s)| *s == BasisStatus::Basic).map(|(k, _)| k)
    };
    basic(basis.columns).map(Variable::Column).chain(basic(basis.rows).map(Variable::Slack)).collect()
}
