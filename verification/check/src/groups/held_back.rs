//! Work-conserving where groups hold something back (theory, sections 7 and 9): limits, what they do not lend, and the
//! guarantees of groups of weight 0 that get nothing beyond them. Whom that stops is not short.
//!
//! The room of a user is the least of what is free on the servers and what each of these leaves; a limit on server
//! classes counts on each of these as one more row does. The margin is minus the largest `min(T_n - x_n, room) / g_n`;
//! on single servers it is -1 where some user has room for a whole task.

use rug::Rational;

use super::holdings::{Holdings, Step};
use crate::case::{Case, Shown, fits_on};
use crate::names::{Amounts, at};
use crate::work::{self, Checked};

pub fn work_conserving(case: &Case<'_>) -> Checked<Shown> {
    let (holdings, servers) = (Holdings::new(case)?, case.free()?);
    let placed = case.stated.placements.is_some();
    // Where somebody is there, and nobody has room, the margin is 0.
    let mut least = case.active().next().map(|_| Rational::new());
    for n in case.active().filter(|n| case.is_pending(*n)) {
        let room = stops(&holdings, n)?.into_iter().fold(room(&holdings, n, &servers)?, Rational::min);
        let room = case.tasks_left(n).into_iter().fold(room, Rational::min);
        let margin = if placed { -whole(&room) } else { -room / &case.g[n] };
        least = least.map(|least| least.min(margin));
    }
    Ok((least, None))
}

/// On a single server there is room for a whole task or for none.
fn whole(room: &Rational) -> Rational {
    Rational::from(u32::from(*room >= 1))
}

/// The tasks for which servers, and limits on them, leave room to a user: on single servers one, where it fits.
fn room(holdings: &Holdings<'_>, n: usize, servers: &[Vec<Amounts>]) -> Checked<Rational> {
    let (case, mut rooms) = (holdings.case, Vec::new());
    let placed = case.stated.placements.is_some();
    for i in case.problem.classes_of(n) {
        let limit = holdings.left_on_class(n, i)?;
        let uses = case.uses(n, i);
        work::spend(uses.len() + 1)?;
        let room = if placed {
            Rational::from(u32::from(fits_on(&uses, &servers[i])?))
        } else {
            let left = uses.iter().map(|(row, d)| Rational::from(&case.slack[*row] / d));
            left.min().unwrap_or_default()
        };
        let limit = limit.map(|left| if placed { whole(&left) } else { left });
        rooms.push(limit.into_iter().fold(room, Rational::min));
    }
    if placed { Ok(rooms.into_iter().max().unwrap_or_default()) } else { work::sum(rooms) }
}

/// How many tasks more everything that may stop a user leaves it. More use fills what is kept back for the groups
/// between, and not used, before it is more use of a group; it may go on to the limit, or not at all beyond it. The
/// capacity is a limit of the root where something is kept back; what runs ends at the classes.
fn stops(holdings: &Holdings<'_>, n: usize) -> Checked<Vec<Rational>> {
    let (groups, Holdings { capacity, kept, used, .. }) = (&holdings.case.problem.groups, holdings);
    let mut stops = Vec::new();
    for (v, steps) in holdings.way(n)? {
        let group = groups.list.get(v);
        let is_shut = group.is_some() && groups.is_shut(v);
        let mut is_promised = false;
        for Step { r, d, spare } in steps {
            let left =
                |mark: &Rational| (Rational::from(mark - &used[v][r]).max(Rational::new()) + &spare) / d;
            let whole = at(capacity, r).filter(|_| !kept[v][r].is_zero());
            stops.extend(group.map_or(whole, |group| at(&group.limit, r)).map(left));
            if let Some(promised) = group.filter(|_| is_shut).and_then(|_| holdings.promised(v, r)) {
                is_promised = true;
                stops.push(if promised.is_zero() { Rational::new() } else { left(promised) });
            }
        }
        if is_shut && !is_promised {
            stops.push(Rational::new());
        }
    }
    Ok(stops)
}
