//! Work-conserving where groups hold something back (theory, sections 7 and 9): limits, what they do not lend, and the
//! guarantees of groups of weight 0 that get nothing beyond them. Whom that stops is not short.
//!
//! The room of a user is the least of what is free on the servers and what each of these leaves; a limit on server
//! classes counts on each of these as one more row does. The margin is minus the largest `min(T_n - x_n, room) / g_n`. Evidence of yes: for every user with pending tasks rows that are short, as
//! without groups, or the one thing that stops it. Of no: a user with the least margin, and where its task fits.

use rug::Rational;

use super::{Holdings, On, set};
use crate::axioms::Shown;
use crate::axioms::answered::{Rows, Server, free, rows_of_user};
use crate::axioms::place::Place;
use crate::case::Case;
use crate::claim::Claim;
use crate::json::Json;
use crate::problem::at;
use crate::work::{self, Checked, ensure};

/// What may stop a user: a group with its limit, or with its guarantee, or alone (of weight 0, and nothing that the user
/// asks for is promised to it); or what is kept back of a resource.
type Stop = (Option<usize>, [Option<usize>; 3]);

/// What is stated to stop a user: one of these, or class by class rows that are short and limits.
enum Stated {
    One(Stop),
    Classes(Rows, Vec<(usize, Mark)>),
}

/// A group, the classes of one of its limits, and a resource.
type Mark = (usize, Vec<usize>, usize);

struct Judge<'c> {
    case: &'c Case<'c>,
    holdings: Holdings<'c>,
    /// `U_r` of the root.
    root: Vec<Rational>,
    /// On single servers.
    placed: bool,
    servers: Vec<Vec<Server>>,
}

pub fn work_conserving(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let judge = Judge::new(case)?;
    let users: Vec<usize> = case.active().filter(|n| judge.is_pending(*n)).collect();
    let rows_of = |i| (i, case.rows_of(i).collect());
    let mut margins = Vec::new();
    for n in &users {
        let rows: Rows = case.problem.classes_of(*n).map(rows_of).collect();
        let stops = judge.stops(*n)?.into_iter().map(|(_, left)| left);
        let room = stops.fold(judge.room(*n, &rows, true)?, Rational::min);
        margins.push((*n, judge.margin(*n, room)));
    }
    let nothing = case.active().next().map(|_| Rational::new());
    let least = margins.iter().map(|(_, margin)| margin.clone()).min().or(nothing);
    if claim.has_none() {
        ensure(least.is_none(), "there is no evidence")?;
        return Ok((None, Some(true)));
    }
    if claim.evidence.get("short").is_absent() {
        let (place, _) = Place::read(case, claim.evidence, "user server index?", "")?;
        let is_it =
            place.user.and_then(|n| at(&margins, n)).is_some_and(|margin| Some(margin) == least.as_ref());
        ensure(is_it && judge.fits(&place)?, "no task of the user with the least margin fits there")?;
        return Ok((least, Some(false)));
    }
    ensure(least.is_some(), "there is nobody whom the evidence could be about")?;
    let [short, stopped] = claim.evidence.fields("short stopped?")?;
    let short = case.problem.user_names.map(short, |_, raw| rows_of_user(case, "short", raw))?;
    let stopped = case.problem.user_names.map(stopped, |_, raw| judge.stop(raw))?;
    let mut named: Vec<usize> =
        short.iter().map(|(n, _)| *n).chain(stopped.iter().map(|(n, _)| *n)).collect();
    named.sort_unstable();
    ensure(named == users, "the evidence is not about just those who have pending tasks")?;
    let mut shown = vec![Rational::new()];
    for (n, rows) in short {
        let rows = rows.unwrap_or_default();
        ensure(rows.iter().map(|(i, _)| *i).eq(case.problem.classes_of(n)), "rows are not of every class")?;
        let is_one = |(i, rows): &(usize, Vec<usize>)| {
            rows.len() == 1 && case.uses(n, *i).iter().any(|(row, _)| *row == rows[0])
        };
        ensure(judge.placed || rows.iter().all(is_one), "expected one row of a class, which the user uses")?;
        shown.push(judge.margin(n, judge.room(n, &rows, false)?));
    }
    for (n, stop) in stopped {
        let left = match stop {
            Stated::One(stop) => {
                judge.stops(n)?.into_iter().find(|(of, _)| *of == stop).map(|(_, left)| left)
            }
            Stated::Classes(rows, marks) => judge.class_by_class(n, &rows, &marks)?,
        };
        ensure(left.is_some(), "what is stated to stop a user does not stop it")?;
        shown.push(judge.margin(n, left.unwrap_or_default()));
    }
    ensure(shown.into_iter().min() == least, "the evidence shows another margin")?;
    Ok((least, Some(true)))
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
        Ok(Self { case, holdings, root, placed: case.stated.placements.is_some(), servers: free(case)? })
    }

    /// `T_n - x_n`; `None` where tasks are unlimited.
    fn left(&self, n: usize) -> Option<Rational> {
        self.case.problem.users[n].tasks.as_ref().map(|tasks| tasks - self.case.total[n].clone())
    }

    fn is_pending(&self, n: usize) -> bool {
        self.left(n).is_none_or(|left| if self.placed { left >= 1 } else { left > 0 })
    }

    /// What a room, in tasks, makes of the margin of a user; on single servers there is one for a task or none.
    fn margin(&self, n: usize, room: Rational) -> Rational {
        let whole = |room: Rational| Rational::from(u32::from(room >= 1));
        let room = self.left(n).into_iter().fold(room, Rational::min);
        -(if self.placed { whole(room) } else { room } / &self.case.g[n])
    }

    /// The tasks that rows of classes and marks leave to a user; `None` where they are not of every class, or nothing.
    fn class_by_class(&self, n: usize, rows: &Rows, marks: &[(usize, Mark)]) -> Checked<Option<Rational>> {
        let mut classes: Vec<usize> =
            rows.iter().map(|(i, _)| *i).chain(marks.iter().map(|(i, _)| *i)).collect();
        classes.sort_unstable();
        let is_one = |(i, rows): &(usize, Vec<usize>)| {
            rows.len() == 1 && self.case.uses(n, *i).iter().any(|(row, _)| *row == rows[0])
        };
        let is_all = classes.into_iter().eq(self.case.problem.classes_of(n));
        if !is_all || !(self.placed || rows.iter().all(is_one)) {
            return Ok(None);
        }
        let mut left = vec![self.room(n, rows, false)?];
        for (i, (group, on, resource)) in marks {
            let is_it = |of: &&On<'_>| {
                (of.group, of.resource) == (*group, *resource) && of.classes == on && on.contains(i)
            };
            let on = &self.holdings.on;
            let above = Holdings::on_of_user(self.case, on, n)?;
            let limit = above.into_iter().map(|at| &on[at]).find(is_it);
            let Some((limit, d)) = limit.zip(at(&self.case.problem.users[n].demand, *resource)) else {
                return Ok(None);
            };
            left.push(self.whole(Rational::from(&limit.left / d).max(Rational::new())));
        }
        work::sum(left).map(Some)
    }

    /// On single servers there is room for a task or none.
    fn whole(&self, room: Rational) -> Rational {
        if self.placed { Rational::from(u32::from(room >= 1)) } else { room }
    }

    /// The tasks that some rows of classes leave to a user, and limits on them, if `limited`: on a single server one,
    /// where all of them do.
    fn room(&self, n: usize, rows: &Rows, limited: bool) -> Checked<Rational> {
        let mut rooms = Vec::new();
        for (i, rows) in rows {
            let limit = if limited { self.holdings.left_on_class(n, *i)? } else { None };
            let within =
                |room: Rational| limit.map(|left| self.whole(left)).into_iter().fold(room, Rational::min);
            let mut uses = self.case.uses(n, *i);
            uses.retain(|(row, _)| rows.contains(row));
            work::spend(uses.len() + 1)?;
            if self.placed {
                work::steps(100 * self.servers[*i].len() as u64)?;
                let is_free =
                    |(_, free): &Server| uses.iter().all(|(row, d)| at(free, *row).is_none_or(|f| f >= d));
                rooms.push(within(Rational::from(u32::from(self.servers[*i].iter().any(is_free)))));
            } else {
                let left = uses.iter().map(|(row, d)| Rational::from(&self.case.slack[*row] / d));
                rooms.push(within(left.min().unwrap_or_default()));
            }
        }
        if self.placed { Ok(rooms.into_iter().max().unwrap_or_default()) } else { work::sum(rooms) }
    }

    /// How many tasks more everything that may stop a user leaves it. More use fills what is kept back for the groups
    /// between, and not used, before it is more use of a group; it may go on to the limit, or not at all beyond it.
    fn stops(&self, n: usize) -> Checked<Vec<(Stop, Rational)>> {
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
                stops.extend(limit.map(|most| ((Some(v), [Some(*r), None, None]), left(most))));
                let promised = guarantee[v].as_ref().and_then(|promised| promised[*r].as_ref());
                if let Some(promised) = promised.filter(|_| is_shut) {
                    is_promised = true;
                    let left = if promised.is_zero() { Rational::new() } else { left(promised) };
                    stops.push(((Some(v), [None, Some(*r), None]), left));
                }
                *spare += over(&kept[v][*r], &used[v][*r]);
            }
            if is_shut && !is_promised {
                stops.push(((Some(v), [None; 3]), Rational::new()));
            }
        }
        for ((r, d), spare) in asked().zip(spare) {
            let left = over(at(capacity, *r).unwrap_or(&Rational::new()), &self.root[*r]) + spare;
            stops.push(((None, [None, None, Some(*r)]), left / d));
        }
        Ok(stops)
    }

    /// What the evidence says stops a user.
    fn stop(&self, raw: &Json<'_>) -> Checked<Stated> {
        if !raw.get("limits").is_absent() {
            let (problem, [short, limits]) = (self.case.problem, raw.fields("short limits")?);
            let mark = |_, raw: &Json<'_>| -> Checked<Mark> {
                let [group, on, limit] = raw.fields("group on limit")?;
                let on = set(on, &problem.class_names)?;
                Ok((problem.groups.names.named(group)?, on, problem.resources.named(limit)?))
            };
            let rows = rows_of_user(self.case, "short", short)?.unwrap_or_default();
            return Ok(Stated::Classes(rows, problem.class_names.map(limits, mark)?));
        }
        let [group, of @ ..] = raw.fields::<4>("group? limit? guarantee? kept_back?")?;
        let group = group.given().map(|name| self.case.problem.groups.names.named(name)).transpose()?;
        let mut resources = [None; 3];
        for (resource, raw) in resources.iter_mut().zip(of) {
            *resource = raw.given().map(|name| self.case.problem.resources.named(name)).transpose()?;
        }
        Ok(Stated::One((group, resources)))
    }

    /// Whether a place names a class, or a single server, where the user has room.
    fn fits(&self, place: &Place) -> Checked<bool> {
        let (Some(n), Some(i)) = (place.user, place.class) else { return Ok(false) };
        let uses = self.case.uses(n, i);
        let is_free = match place.index {
            None => uses.iter().all(|(row, _)| self.case.slack[*row] > 0),
            Some(index) => {
                let here = self.servers[i].iter().find(|(at, _)| *at == Some(index));
                let here = here.or_else(|| self.servers[i].iter().find(|(at, _)| at.is_none()));
                let has_room =
                    |(_, free): &Server| uses.iter().all(|(row, d)| at(free, *row).is_none_or(|f| f >= d));
                index < self.case.problem.classes[i].count && here.is_some_and(has_room)
            }
        };
        let closed = self.holdings.left_on_class(n, i)?.is_some_and(|left| self.whole(left).is_zero());
        let is_stopped = closed
            || self.stops(n)?.iter().any(|(_, left)| if self.placed { *left < 1 } else { left.is_zero() });
        Ok(is_free && !is_stopped && place.index.is_some() == self.placed && self.case.problem.can_run(n, i))
    }
}
