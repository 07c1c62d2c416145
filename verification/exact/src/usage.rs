//! What a task takes of a row, in integers.

use std::borrow::Cow;

use evenhand_problem::RowKind;
use rug::Integer;

use crate::instance::Instance;
use crate::sparse::at;

/// What a task of one user uses of one row, `d_nir = per_task / (scale factor)` with the scale of
/// [`Instance::row_scale`].
pub(crate) struct Usage<'s> {
    pub per_task: Cow<'s, Integer>,
    /// The numerator of `gamma_ni` for a row of time; absent where it is 1.
    factor: Option<Integer>,
}

impl<'s> Usage<'s> {
    /// `None` when the user does not use the row.
    pub fn of(instance: &'s Instance<'_>, n: usize, row: usize) -> Option<Self> {
        let of = instance.constraints().rows().get(row)?;
        if !instance.scaled.can_run(n, of.server) {
            return None;
        }
        Some(match of.kind {
            RowKind::Resource(r) => {
                let demand = at(instance.scaled.demand(n, of.server), r)?;
                Self { per_task: Cow::Borrowed(demand), factor: None }
            }
            RowKind::Time => {
                let (gamma, over) = instance.problem().unconstrained_gamma(n, of.server).into_numer_denom();
                Self { per_task: Cow::Owned(over * instance.row_scale(row)), factor: Some(gamma) }
            }
        })
    }

    /// Times the factor.
    pub fn put(&self, mut value: Integer) -> Integer {
        if let Some(factor) = &self.factor {
            value *= factor;
        }
        value
    }
}
