//! Path following from any point to a PS-DSF allocation: a piecewise linear homotopy.
//!
//! The conditions of Theorem 1 (docs/theory.md, section 4) are perturbed in proportion to a parameter `t`:
//! users get additional tasks, and rows get additional capacity. With suitable perturbations, any point is a
//! solution at `t = 1`. The search needs a solution at `t = 0`. The conditions are continuous and piecewise
//! linear. Their solutions, as points of `t` and the tasks, therefore form paths of straight pieces, each
//! with its own active set.
//!
//! As in Lemke's method, one condition changes at the end of a piece (`pivoting`). The path continues in the
//! only direction in which the complementary quantity can grow. Meanwhile `t` may rise. Random perturbations
//! prevent two conditions from changing at the same point. A path ends at `t = 0`, goes to infinity, or stops
//! where rounding errors hide the next piece. In the last two cases another path is tried.

mod active_set;
mod linear;
mod piece;
mod pivoting;
mod rational;
mod scaled;
mod start;

pub use self::active_set::ActiveSet;
use self::piece::{Affine, Perturbed, Piece};
use self::pivoting::{Pivot, apply, values};
pub use self::rational::solve;
pub use self::scaled::ScaledModel;
pub use self::start::{PathStart, Reading, start};
use super::candidates::Spent;

/// The end of a path at `t = 0`.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The tasks of each pair, in the units of the [`ScaledModel`].
    pub tasks: Vec<f64>,
    /// The level of each row, or `None` for rows that are not full.
    pub levels: Vec<Option<f64>>,
    /// The active set at the end.
    pub set: ActiveSet,
}

impl Ended {
    fn new(now: &Piece, set: ActiveSet) -> Self {
        Self { tasks: values(&now.tasks), levels: levels(now, &set), set }
    }
}

/// Returns the level of each row, or `None` for rows that are not full.
fn levels(now: &Piece, set: &ActiveSet) -> Vec<Option<f64>> {
    now.levels.iter().zip(&set.full).map(|(level, full)| full.then_some(level.value)).collect()
}

/// The point with the lowest `t` on a path that did not end.
#[derive(Debug, Clone)]
pub struct Stalled {
    /// The tasks of each pair.
    pub tasks: Vec<f64>,
    /// The level of each row, or `None` for rows that are not full.
    pub levels: Vec<Option<f64>>,
    /// The parameter `t` at this point.
    pub t: f64,
}

/// The direction in which a path leaves its starting point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The parameter falls at first.
    Down,
    /// The parameter rises at first. This is the other half of the path.
    Up,
}

/// The largest `t` that counts as 0, to allow for rounding errors in sums of about 1.
const ROUNDING: f64 = 1e-13;
/// The largest `t` that counts as 0 if rounding errors hide the next piece. The residual of the point then decides.
const ALMOST_ZERO: f64 = 1e-8;
/// The `t` above which a path is assumed to go to infinity. Its perturbations are then a thousand times those
/// of the start.
const TO_INFINITY: f64 = 1e3;

/// The maximum number of pieces of a path, to which [`PIECES_EACH`] is added for each row and user. The limit cuts
/// off paths that wander.
const PIECES: usize = 1000;
/// The number of pieces that each row and each user adds to the maximum [`PIECES`].
const PIECES_EACH: usize = 5;

/// Follows the path from `start`.
///
/// # Errors
/// Returns the point with the lowest `t` if the path does not end.
pub fn follow(
    scaled: &ScaledModel,
    start: &PathStart,
    direction: Direction,
    spent: &mut Spent,
) -> Result<Ended, Stalled> {
    let PathStart { mut set, perturbation, mut now } = start.clone();
    let perturbed = Perturbed { scaled, perturbation: &perturbation };
    let mut pivot = Pivot::Done;
    let mut lowest = Stalled { tasks: Vec::new(), levels: Vec::new(), t: f64::INFINITY };
    let most = PIECES + PIECES_EACH * (scaled.class_of_row.len() + scaled.of_user.len());
    for _ in 0..most {
        if spent.is_over() {
            break;
        }
        spent.active_sets += 1;
        spent.spend(work(scaled, &set));
        let Some(piece) = perturbed.piece(&set, &now).ok().filter(|piece| perturbed.is_valid(&set, piece))
        else {
            break;
        };
        let mut sign = perturbed.growth(&set, &piece, pivot).signum();
        if pivot == Pivot::Done && direction == Direction::Up {
            sign = -sign;
        }
        let Some((far, ahead)) = perturbed.next_pivot(&set, &piece, sign) else { break };
        now = advanced(&piece, sign * far);
        if ahead == Pivot::Done || now.t.value.abs() <= ROUNDING {
            return Ok(Ended::new(&now, set));
        }
        if now.t.value < lowest.t {
            lowest = Stalled { tasks: values(&now.tasks), levels: levels(&now, &set), t: now.t.value };
        }
        if now.t.value > TO_INFINITY {
            break;
        }
        apply(scaled, &mut set, &values(&now.levels), ahead);
        pivot = ahead;
    }
    if now.t.value <= ALMOST_ZERO { Ok(Ended::new(&now, set)) } else { Err(lowest) }
}

/// Returns the number of steps of one piece: a sparse elimination and a pass over all pairs.
fn work(scaled: &ScaledModel, set: &ActiveSet) -> u64 {
    let rows = set.full.iter().filter(|full| **full).count() as u64;
    10 * rows.pow(2) + 16 * scaled.pairs.len() as u64
}

/// Returns the point of a piece at the distance `far`.
fn advanced(piece: &Piece, far: f64) -> Piece {
    let mut piece = piece.clone();
    let step = |x: &mut Affine| x.value += far * x.slope;
    step(&mut piece.t);
    for list in [&mut piece.levels, &mut piece.tasks, &mut piece.totals, &mut piece.beyond] {
        list.iter_mut().for_each(step);
    }
    piece
}
