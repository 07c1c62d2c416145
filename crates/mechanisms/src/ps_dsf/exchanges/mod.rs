//! For large problems: exchanges of active sets from where a few sweeps end, which need far fewer
//! steps there than paths, and lead to an answer less often.

mod jump;
mod lift;
mod pivot;
mod regime;
mod settle;
mod sparse;
mod supports;
mod sweep;
mod system;
mod violations;

use evenhand_problem::Rational;

use self::settle::settle;
use self::sweep::sweeps;
use super::market::{Market, Point};
use super::sweep::End;
use super::{market, residual, rounding, scalar, theorem};

/// Sweeps from the empty cluster.
const FEWEST: usize = 10;
/// Sweeps between exchanges, about.
const BOLD: usize = 60;
/// Part of the residual that exchanges may leave to be accepted.
const WORTH: f64 = 0.5;
/// Residual up to which a point is worth lifting.
const SOLVED: f64 = 1e-10;
/// Residual at which a point counts as solved.
const TOLERANCE: f64 = 1e-12;

/// What exchanges end with.
pub struct Found {
    /// The allocation.
    pub point: Point<Rational>,
    /// By place: the row that is its bottleneck.
    pub bottlenecks: Vec<Option<usize>>,
    /// Sweeps that were needed.
    pub sweeps: usize,
}

/// An exact allocation by exchanges.
///
/// # Errors
/// What was tried and why it failed, in words.
pub fn find(market: &Market<f64>, exact: &Market<Rational>, order: &[usize]) -> Result<Found, String> {
    let first = sweeps(market, order, market.nothing(), TOLERANCE, FEWEST);
    let (mut point, mut reached, mut spent) = (first.point.clone(), first.residual, first.sweeps);
    if first.end != End::Solved {
        let settled = settle(market, order, first.point, (TOLERANCE, WORTH), BOLD);
        spent += settled.sweeps;
        (point, reached) = (settled.point, settled.residual);
    }
    if reached > SOLVED {
        return Err(format!("exchanges end with a residual of {reached:.1e}"));
    }
    let lifted = lift::lift(market, exact, &point)?;
    Ok(Found { point: lifted.point, bottlenecks: lifted.bottlenecks, sweeps: spent })
}
