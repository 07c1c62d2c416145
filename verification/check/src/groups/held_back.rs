//! Work-conserving where groups hold something back (theory, sections 7 and 9): limits, what they do not lend, and the
//! guarantees of groups of weight 0 that get nothing beyond them. Whom that stops is not short.
//!
//! The room of a user is the least of what is free on the servers and what each of these leaves; a limit on server
//! classes counts on each of these as one more row does. The margin is minus the largest `min(T_n - x_n, room) / g_n`;
//! on single servers it is -1 where some user has room for a whole task.

use rug::Rational;

use super::holdings::Holdings;
use crate::case::{Case, Shown, fits_on};
use crate::names::{Amounts, at};
use crate::work::{self, Checked};

struct Judge<'c> {
    case: &'c Case<'c>,
    holdings: Holdings<'c>,
    /// `U_r` of the root.
    root: Vec<Rational>,
    /// On single servers.
    placed: bool,
    servers: Vec<Vec<Amounts>>,
}

pub fn work_conserving(case: &Case<'_>) -> Checked<Shown> {
    let judge = Judge::new(case)?;
    // Where somebody is there, and nobody has room, the margin is 0.
    let mut least = case.active().next().map(|_| Rational::new());
    for n in case.active().filter(|n| case.is_pending(*n)) {
        let room = judge.stops(n)?.into_iter().fold(judge.room(n)?, Rational::min);
        let room = case.tasks_left(n).into_iter().fold(room, Rational::min);
        let margin = if judge.placed { -whole(&room) } else { -room / &case.g[n] };
        least = least.map(|least| least.min(margin));
    }
    Ok((least, None))
}

/// On a single server there is room for a whole task or for none.
fn whole(room: &Rational) -> Rational {
    Rational::from(u32::from(*room >= 1))
}

impl<'c> Judge<'c> {
    fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (groups, holdings) = (&case.problem.groups, Holdings::new(case)?);
        let mut root = vec![Rational::new(); case.problem.resources.list.len()];
        for v in (0..groups.list.len()).filter(|v| groups.list[*v].parent.is_none()) {
            for (r, sum) in root.iter_mut().enumerate() {
                *sum += (&holdings.used[v][r]).max(&holdings.kept[v][r]);
            }
        }
        for (n, tasks) in case.x.iter().enumerate().filter(|(n, _)| groups.members[*n].group.is_none()) {
            for (i, x) in tasks {
                case.problem.demand(n, *i).iter().for_each(|(r, d)| root[*r] += Rational::from(d * x));
            }
        }
        Ok(Self { case, holdings, root, placed: case.stated.placements.is_some(), servers: case.free()? })
    }

    /// The tasks for which servers, and limits on them, leave room to a user: on single servers one, where it fits.
    fn room(&self, n: usize) -> Checked<Rational> {
        let mut rooms = Vec::new();
        for i in self.case.problem.classes_of(n) {
            let limit = self.holdings.left_on_class(n, i)?;
            let uses = self.case.uses(n, i);
            work::spend(uses.len() + 1)?;
            let room = if self.placed {
                Rational::from(u32::from(fits_on(&uses, &self.servers[i])?))
            } else {
                let left = uses.iter().map(|(row, d)| Rational::from(&self.case.slack[*row] / d));
                left.min().unwrap_or_default()
            };
            let limit = limit.map(|left| if self.placed { whole(&left) } else { left });
            rooms.push(limit.into_iter().fold(room, Rational::min));
        }
        if self.placed { Ok(rooms.into_iter().max().unwrap_or_default()) } else { work::sum(rooms) }
    }

    /// How many tasks more everything that may stop a user leaves it. More use fills what is kept back for the groups
    /// between, and not used, before it is more use of a group; it may go on to the limit, or not at all beyond it.
    fn stops(&self, n: usize) -> Checked<Vec<Rational>> {
        let (problem, Holdings { capacity, guarantee, kept, used, .. }) = (self.case.problem, &self.holdings);
        let (groups, never) = (&problem.groups, problem.groups.share.words[2].is_some());
        let asked = || problem.users[n].demand.iter().filter(|(r, _)| at(capacity, *r).is_some());
        let over = |a: &Rational, b: &Rational| Rational::from(a - b).max(Rational::new());
        let mut spare = vec![Rational::new(); asked().count()];
        let mut stops = Vec::new();
        for v in groups.above(groups.members[n].group) {
            work::spend(4 * spare.len() + 1)?;
            let is_shut = never && groups.list[v].weight.is_zero();
            let mut is_promised = false;
            for ((r, d), spare) in asked().zip(&mut spare) {
                let left = |mark: &Rational| (over(mark, &used[v][*r]) + &*spare) / d;
                let limit = at(&groups.list[v].limit, *r);
                stops.extend(limit.map(left));
                let promised = guarantee[v].as_ref().and_then(|promised| promised[*r].as_ref());
                if let Some(promised) = promised.filter(|_| is_shut) {
                    is_promised = true;
                    let left = if promised.is_zero() { Rational::new() } else { left(promised) };
                    stops.push(left);
                }
                *spare += over(&kept[v][*r], &used[v][*r]);
            }
            if is_shut && !is_promised {
                stops.push(Rational::new());
            }
        }
        for ((r, d), spare) in asked().zip(spare) {
            let left = over(at(capacity, *r).unwrap_or(&Rational::new()), &self.root[*r]) + spare;
            stops.push(left / d);
        }
        Ok(stops)
    }
}
