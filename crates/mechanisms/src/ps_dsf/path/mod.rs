//! From any point to a PS-DSF allocation along a path.
//!
//! With shifts in proportion to a parameter `t` in all conditions of Theorem 1 (users are taken to have
//! more tasks than they have, rows more capacity) any point solves the problem at `t = 1`; what is
//! asked for is a solution at `t = 0`. The conditions are continuous and piecewise linear, so that the
//! solutions in `t` and the tasks form paths of straight pieces, each with an active set of its own, as
//! in Lemke's method: at the end of a piece one thing changes, and the path goes on in the only way in
//! which what has changed can grow. `t` may rise on the way. Random shifts keep two things from
//! changing at once. A path ends at `t = 0`, or where it came from infinity, or in rounding; then
//! another one is tried.

mod active;
mod equations;
mod events;
mod exact;
mod model;
mod sparse;
mod start;

pub use self::active::ActiveSet;
use self::equations::{Line, line};
use self::events::{Event, apply, at, growth, is_valid, next};
pub use self::exact::solve;
pub use self::model::Model;
pub use self::start::{Reading, Start, start};
use super::attempts::Spent;

/// Where a path ended at `t = 0`.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Tasks by place, in the units of the [`Model`].
    pub tasks: Vec<f64>,
    /// By row: its level, if it is full.
    pub levels: Vec<Option<f64>>,
    /// The active set there.
    pub set: ActiveSet,
}

impl Ended {
    fn at(now: &Line, set: ActiveSet) -> Self {
        Self { tasks: at(&now.tasks), levels: levels(now, &set), set }
    }
}

/// By row: its level, if it is full.
fn levels(now: &Line, set: &ActiveSet) -> Vec<Option<f64>> {
    now.levels.iter().zip(&set.full).map(|(level, full)| full.then_some(level.at)).collect()
}

/// The lowest point of a path that did not end.
#[derive(Debug, Clone)]
pub struct Lost {
    /// Tasks by place.
    pub tasks: Vec<f64>,
    /// By row: its level, if it is full.
    pub levels: Vec<Option<f64>>,
    /// The parameter.
    pub t: f64,
}

/// Which way a path is followed from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The parameter falls at first.
    Down,
    /// It rises at first: the other half of the path.
    Up,
}

/// A `t` up to this is 0.
const NOTHING: f64 = 1e-13;
/// A `t` up to this is 0 where rounding hides what comes next.
const ALMOST: f64 = 1e-8;
/// Largest `t` of a path that may still come back.
const FAR: f64 = 1e3;

/// Pieces of a path beside those for each row and user.
const SOME_PIECES: usize = 1000;
/// Pieces for each row and user.
const PIECES: usize = 5;

/// Follows the path from `start`.
///
/// # Errors
/// Its lowest point, where it does not end.
pub fn follow(model: &Model, start: &Start, way: Way, spent: &mut Spent) -> Result<Ended, Lost> {
    let Start { mut set, shift, mut now } = start.clone();
    let mut event = Event::Done;
    let mut lowest = Lost { tasks: Vec::new(), levels: Vec::new(), t: f64::INFINITY };
    let most = SOME_PIECES + PIECES * (model.class_of_row.len() + model.of_user.len());
    for _ in 0..most {
        if spent.is_over() {
            break;
        }
        spent.pieces += 1;
        spent.work += work(model, &set);
        let Ok(piece) = line(model, &set, &shift, &now) else { break };
        if !is_valid(model, &set, &shift, &piece) {
            break;
        }
        let mut sign = growth(model, &set, &shift, &piece, event).signum();
        if event == Event::Done && way == Way::Up {
            sign = -sign;
        }
        let Some((far, ahead)) = next(model, &set, &shift, &piece, sign) else { break };
        now = advanced(&piece, sign * far);
        if ahead == Event::Done || now.t.at.abs() <= NOTHING {
            return Ok(Ended::at(&now, set));
        }
        if now.t.at < lowest.t {
            lowest = Lost { tasks: at(&now.tasks), levels: levels(&now, &set), t: now.t.at };
        }
        if now.t.at > FAR {
            break;
        }
        apply(model, &mut set, &at(&now.levels), ahead);
        event = ahead;
    }
    if now.t.at <= ALMOST { Ok(Ended::at(&now, set)) } else { Err(lowest) }
}

/// Steps of one piece: the elimination, which is sparse, and a look at all places.
fn work(model: &Model, set: &ActiveSet) -> u64 {
    let rows = set.full.iter().filter(|full| **full).count() as u64;
    10 * rows.pow(2) + 16 * model.places.len() as u64
}

fn advanced(line: &Line, far: f64) -> Line {
    let mut line = line.clone();
    let step = |x: &mut equations::Moving| x.at += far * x.by;
    step(&mut line.t);
    for list in [&mut line.levels, &mut line.tasks, &mut line.totals, &mut line.beyond] {
        list.iter_mut().for_each(step);
    }
    line
}
