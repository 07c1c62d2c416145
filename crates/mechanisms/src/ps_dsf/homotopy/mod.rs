//! From any point to a PS-DSF allocation by path following: a piecewise linear homotopy.
//!
//! The conditions of Theorem 1 (docs/theory.md, section 4) are perturbed in proportion to a parameter `t`: users
//! are taken to have more tasks than they have, rows to have more capacity. With suitable perturbations any
//! point solves the problem at `t = 1`; a solution at `t = 0` is asked for. The conditions are continuous and
//! piecewise linear, so that the solutions in `t` and the tasks form paths of straight pieces, each with an
//! active set of its own. As in Lemke's method one thing changes at the end of a piece (`pivoting`), and the
//! path goes on in the only direction in which what has changed can grow; `t` may rise meanwhile. Random
//! parts of the perturbations keep two things from changing at once. A path ends at `t = 0`, or where it came
//! from infinity, or where rounding hides what comes next; then another one is tried.

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

/// Where a path ended at `t = 0`.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Tasks by pair, in the units of the [`ScaledModel`].
    pub tasks: Vec<f64>,
    /// By row: its level, if it is full.
    pub levels: Vec<Option<f64>>,
    /// The active set there.
    pub set: ActiveSet,
}

impl Ended {
    fn new(now: &Piece, set: ActiveSet) -> Self {
        Self { tasks: values(&now.tasks), levels: levels(now, &set), set }
    }
}

/// By row: its level, if it is full.
fn levels(now: &Piece, set: &ActiveSet) -> Vec<Option<f64>> {
    now.levels.iter().zip(&set.full).map(|(level, full)| full.then_some(level.value)).collect()
}

/// The lowest point of a path that did not end.
#[derive(Debug, Clone)]
pub struct Stalled {
    /// Tasks by pair.
    pub tasks: Vec<f64>,
    /// By row: its level, if it is full.
    pub levels: Vec<Option<f64>>,
    /// The parameter.
    pub t: f64,
}

/// The direction in which a path leaves its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The parameter falls at first.
    Down,
    /// It rises at first: the other half of the path.
    Up,
}

/// A `t` up to this is 0: rounding of a sum that is about 1.
const ROUNDING: f64 = 1e-13;
/// A `t` up to this is 0 where rounding hides what comes next; the residual of the point decides.
const ALMOST_ZERO: f64 = 1e-8;
/// A `t` above this is a path on its way to infinity: perturbations a thousand times those of the start.
const TO_INFINITY: f64 = 1e3;

/// Most pieces of a path: this many, and [`PIECES_EACH`] for each row and user. The limit cuts
/// off paths that wander.
const PIECES: usize = 1000;
/// See [`PIECES`].
const PIECES_EACH: usize = 5;

/// Follows the path from `start`.
///
/// # Errors
/// Its lowest point, where it does not end.
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

/// Steps of one piece: the elimination, which is sparse, and a look at all pairs.
fn work(scaled: &ScaledModel, set: &ActiveSet) -> u64 {
    let rows = set.full.iter().filter(|full| **full).count() as u64;
    10 * rows.pow(2) + 16 * scaled.pairs.len() as u64
}

/// The point of a piece that is so far away.
fn advanced(piece: &Piece, far: f64) -> Piece {
    let mut piece = piece.clone();
    let step = |x: &mut Affine| x.value += far * x.slope;
    step(&mut piece.t);
    for list in [&mut piece.levels, &mut piece.tasks, &mut piece.totals, &mut piece.beyond] {
        list.iter_mut().for_each(step);
    }
    piece
}
