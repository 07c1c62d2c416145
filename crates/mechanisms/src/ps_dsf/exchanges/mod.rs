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
use self::sweep::{End, Sweeps, sweeps};
use super::market::{Market, Point};
use super::{market, residual, scalar, theorem, water_filling};

/// Sweeps from the empty cluster.
const FEWEST: usize = 10;
/// Sweeps after which exchanges must be worth more to be accepted, and start again.
const BOLD: usize = 60;
/// Sweeps between the exchanges of the second kind.
const MOST: usize = 2_000;
/// Residual at which a point counts as solved.
const TOLERANCE: f64 = 1e-12;

/// An exact allocation by exchanges, with the sweeps that were needed.
///
/// # Errors
/// What was tried and why it failed, in words.
pub fn find(
    market: &Market<f64>,
    exact: &Market<Rational>,
    order: &[usize],
) -> Result<(Point<Rational>, Vec<Option<usize>>, usize), String> {
    let how = Sweeps { tolerance: TOLERANCE, most: FEWEST, jumps: true, part: 1.0 };
    let first = sweeps(market, order, market.nothing(), &how);
    let (mut point, mut reached, mut spent) = (first.point.clone(), first.residual, first.sweeps);
    for (worth, most) in [(0.5, BOLD), (0.01, MOST)] {
        if first.end == End::Solved || reached <= TOLERANCE {
            break;
        }
        let settled = settle(market, order, first.point.clone(), (TOLERANCE, worth), most);
        spent += settled.sweeps;
        if settled.residual < reached {
            (point, reached) = (settled.point, settled.residual);
        }
    }
    let lifted = lift::lift(market, exact, &point)?;
    Ok((lifted.point, lifted.bottlenecks, spent))
}
