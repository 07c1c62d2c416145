//! Reads off a floating-point answer to which polytope of exact NJC answers it belongs: which rows are saturated,
//! and for every user what answers its complaint (docs/theory.md, section 3, fact 4).

use evenhand_lp::njc::{Face, Witness};
use evenhand_problem::{Constraints, Rational};

use crate::fair_sum::{FairPoint, near};

/// The face of `point`: rows are saturated when less than `tolerance` of them is free. A
/// saturated row without a price has a slack of the order of the root of the complementarity
/// that was reached, so that the tolerance must be well above that.
///
/// # Errors
/// The user that has neither all its tasks nor its entitlement of such a row.
pub fn read(
    constraints: &Constraints<'_>,
    point: &FairPoint,
    entitlements: &[Rational],
    tolerance: f64,
) -> Result<Face, usize> {
    let rows = constraints.rows();
    let saturated: Vec<bool> = (0..rows.len())
        .map(|row| point.row_slack[row] < tolerance && !rows[row].capacity.is_zero())
        .collect();
    let mut witnesses = vec![None; point.places.len()];
    for (n, places) in point.places.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        if point.user_slack[n] < tolerance {
            witnesses[n] = Some(Witness::Satisfied);
            continue;
        }
        let mut best = (0.0, None);
        for place in places {
            let usage = constraints.usage(n, place.class).unwrap_or_default();
            let used = constraints.class_rows(place.class).zip(usage.iter());
            for (row, usage) in used.filter(|(row, _)| saturated[*row]) {
                let share = place.tasks * near(usage) / near(&rows[row].capacity);
                if share > best.0 {
                    best = (share, Some(row));
                }
            }
        }
        match best {
            (share, Some(row)) if share >= near(&entitlements[n]) * (1.0 - tolerance.sqrt()) => {
                witnesses[n] = Some(Witness::Row(row));
            }
            _ => return Err(n),
        }
    }
    Ok(Face { bottlenecks: (0..rows.len()).filter(|&row| saturated[row]).collect(), witnesses })
}
