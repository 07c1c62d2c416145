//! Work-conserving if groups keep capacity back (docs/theory.md, section 9): a user that groups stop in this way does
//! not count as lacking tasks.
//!
//! User `n` may run further tasks only while, for every group above it, `U_vr` stays at or below the limit, or at or
//! below its present value if this value is above the limit. In addition `U_r` of the root has to stay at or below the
//! capacity, for a resource `r` of which groups keep some back. Usage within an amount that is kept back for a group
//! does not raise the usage of the groups above it. Groups count base demands. So a limit `L` allows
//!
//! $$\frac{\max(0, L_{vr} - U_{vr}) + s_{vr}}{d_{nr}}$$
//!
//! tasks, where $s_{vr}$ are the amounts between `n` and `v` that are kept back and not used. The capacity gives the
//! same bound at the root. For a group of weight 0 that gets no more than its guarantee (`zero-weight: never`), the
//! guarantee is also a limit. If the guarantee names no resource that `n` demands, or states 0 for a demanded resource,
//! no task is allowed. The number of further tasks of `n` is the least of these numbers and of the number that the free
//! capacity of the servers allows. On single servers, one gang may run if each of these numbers is at least a gang. A
//! limit of a group on server classes counts on each of these classes like an additional row. On single servers such a
//! limit counts a gang once, with all its tasks on these classes.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Problem, Rational, ServerClass};

use crate::axiom::groups::Holdings;
use crate::axiom::rule::Found;
use crate::axiom::work_conserving::{
    FreeTo, Servers, all_rows, charge, divisible_room, gang, is_pending, row_leaves, write_short,
};
use crate::evidence::{ClassMark, Evidence, Room, Stop};
use crate::instance::Instance;
use crate::names::write::{Json, Names};
use crate::refusal::{Inapplicable, Refusal};
use crate::sparse::at;

/// Returns an error if groups keep capacity back and a class is time-shared. Groups keep capacity back by resource.
pub(super) fn applies_to(problem: &Problem) -> Result<(), Inapplicable> {
    match problem.groups().hold_back() && problem.servers().iter().any(ServerClass::is_time_shared) {
        true => Err(Inapplicable::new("groups hold resources back, and time is shared".to_owned())),
        false => Ok(()),
    }
}

/// Returns an error if groups keep resources back and the allocation does not divide resources.
pub(super) fn applies(instance: &Instance<'_>) -> Result<(), Inapplicable> {
    let constraints = instance.constraints();
    let is_timed = (0..instance.problem().n_servers()).any(|i| constraints.is_time_shared(i));
    match instance.problem().groups().hold_back() && is_timed {
        true => {
            Err(Inapplicable::new("groups hold resources back, and servers are shared by time".to_owned()))
        }
        false => Ok(()),
    }
}

/// The amounts that groups keep back.
pub(super) struct HeldBack<'p> {
    holdings: Holdings<'p>,
    capacity: Vec<Rational>,
}

impl<'p> HeldBack<'p> {
    /// Returns `None` if groups keep no capacity back.
    pub fn new(instance: &Instance<'p>) -> Result<Option<Self>, Refusal> {
        let problem = instance.problem();
        if !problem.groups().hold_back() {
            return Ok(None);
        }
        let holdings = Holdings::new(instance)?;
        Ok(Some(Self { capacity: problem.total_capacity().to_vec(), holdings }))
    }

    /// Returns all limits and guarantees of groups that could stop a user, each with the number of further tasks that
    /// it allows.
    fn stops(&self, n: usize) -> Vec<(Rational, Stop)> {
        let problem = self.holdings.problem;
        let groups = problem.groups();
        let demand = problem.users()[n].base_demand();
        let asked = || demand.entries().iter().filter(|(r, _)| !self.capacity[*r].is_zero());
        // For each demanded resource, the amount of additional usage that is possible before the usage of group `v`
        // rises.
        let mut spare = vec![Rational::new(); asked().count()];
        let mut stops = Vec::new();
        let never = groups.share().zero_weight == ZeroWeight::Never;
        for v in groups.above(groups.member(n).group) {
            let Holdings { promises, used, .. } = &self.holdings;
            let is_shut = never && groups.list()[v].weight.is_zero();
            let mut is_named = false;
            for ((r, d), spare) in asked().zip(&mut spare) {
                let (resource, used) = (*r, &used[v][*r]);
                let left = |mark: &Rational| (unused(mark, used) + &*spare) / d;
                if let Some(limit) = at(&groups.list()[v].limit, *r) {
                    stops.push((left(limit), Stop::Limit { group: v, resource }));
                }
                if let Some(promised) = promises.promised(v, *r).filter(|_| is_shut) {
                    is_named = true;
                    let left = if promised.is_zero() { Rational::new() } else { left(promised) };
                    stops.push((left, Stop::Guarantee { group: v, resource }));
                }
                *spare += at(&promises.kept[v], *r).map(|kept| unused(kept, used)).unwrap_or_default();
            }
            if is_shut && !is_named {
                stops.push((Rational::new(), Stop::Weight { group: v }));
            }
        }
        let root = asked().zip(spare).filter_map(|((r, d), spare)| {
            let root = Some(&self.holdings.root[*r]).filter(|root| root.is_bounded())?;
            let left = unused(&self.capacity[*r], &root.used) + spare;
            Some((left / d, Stop::KeptBack { resource: *r }))
        });
        stops.extend(root);
        stops
    }

    /// Converts a number of allowed tasks to a fraction of `g_n`. On single servers, converts it to 1 if a gang is
    /// allowed, and to 0 otherwise.
    fn left(instance: &Instance<'_>, n: usize, tasks: Rational) -> Rational {
        match instance.placements() {
            None => tasks / instance.scale(n),
            Some(_) => Rational::from(u32::from(tasks >= gang(instance, n))),
        }
    }

    /// Returns the least number of tasks that a limit or guarantee allows a user, over `g_n`, and the reason.
    fn least(&self, instance: &Instance<'_>, n: usize) -> Option<(Rational, Stop)> {
        let least = self.stops(n).into_iter().min_by(|a, b| a.0.cmp(&b.0));
        least.map(|(tasks, stop)| (Self::left(instance, n, tasks), stop))
    }

    /// Returns the tasks that fit on the classes within the limits on classes. Returns `None` if no such limit counts
    /// the user's tasks.
    fn class_by_class(&self, instance: &Instance<'_>, n: usize) -> Option<ByClass> {
        let on = &self.holdings.on;
        if !on.counts_tasks_of(n) {
            return None;
        }
        let (mut short, mut limits, mut sum) = (Vec::new(), Vec::new(), Rational::new());
        let mut most: Option<(Rational, usize)> = None;
        let rows = divisible_room(instance, n).map_or_else(|| [].into(), |(.., short)| short);
        for row in rows.iter().copied() {
            let i = instance.constraints().rows()[row as usize].server;
            let free = row_leaves(instance, n, row as usize).unwrap_or_default();
            let room = match on.tasks_allowed(n, i).filter(|(tasks, _)| *tasks < free) {
                Some((tasks, mark)) => {
                    limits.push((i, mark));
                    tasks
                }
                None => {
                    short.push(row);
                    free
                }
            };
            if room > 0 && most.as_ref().is_none_or(|(most, _)| room > *most) {
                most = Some((room.clone(), i));
            }
            sum += room;
        }
        let place = most.map(|(_, server)| Room { user: n, server, index: None, by_class: Vec::new() });
        Some(ByClass { more: self.more(instance, n, sum), short, limits, place })
    }

    /// Computes whether a gang that fits on single servers also fits within the limits on classes. Returns `None` if no
    /// such limit counts the user's tasks.
    fn gang_by_class(
        &self,
        instance: &Instance<'_>,
        n: usize,
        free: &FreeTo,
    ) -> Result<Option<ByClass>, Refusal> {
        let on = &self.holdings.on;
        if !on.counts_tasks_of(n) {
            return Ok(None);
        }
        let gang = gang(instance, n);
        let leaves: Vec<_> = free.fitting.iter().map(|of| on.tasks_allowed(n, of.class)).collect();
        let leaves_gang =
            |at: usize| leaves[at].as_ref().is_none_or(|(tasks, _): &(Rational, ClassMark)| *tasks >= gang);
        let (mut short, mut limits) = (Vec::new(), Vec::new());
        for (at, (i, rows)) in free.short.iter().enumerate() {
            match leaves[at].clone().filter(|_| free.fitting[at].tasks > 0 && !leaves_gang(at)) {
                Some((_, mark)) => limits.push((*i, mark)),
                None => short.extend(rows.iter().map(|row| *row as u32)),
            }
        }
        // Take the first class on which the whole gang fits, or search for a distribution over several classes.
        let whole = (0..free.fitting.len()).find(|&at| free.fitting[at].tasks == gang && leaves_gang(at));
        let by_class = match whole {
            Some(at) => Some(vec![(free.fitting[at].class, gang)]),
            None => on.distribute(instance, n, &free.fitting, gang)?,
        };
        let more = Rational::from(u32::from(by_class.is_some()));
        let place = by_class.and_then(|by_class| free.room_by(n, gang, by_class));
        Ok(Some(ByClass { more, short, limits, place }))
    }

    /// Converts a number of tasks like [`Self::left`], but counts at most the tasks that the user still lacks.
    fn more(&self, instance: &Instance<'_>, n: usize, tasks: Rational) -> Rational {
        let left = instance.problem().users()[n].tasks().map(|tasks| tasks - instance.total(n));
        Self::left(instance, n, left.into_iter().fold(tasks, Rational::min))
    }

    /// Returns the margin and its evidence.
    pub fn examine(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        let users: Vec<usize> =
            (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
        if users.is_empty() {
            return Ok(None);
        }
        let servers =
            instance.placements().map(|placements| Servers::new(instance, placements)).transpose()?;
        if servers.is_none() {
            charge(instance, &users)?;
        }
        let (mut short, mut stopped) = (Vec::new(), Vec::new());
        let (mut worst, mut room) = (Rational::new(), None);
        for n in users.into_iter().filter(|&n| is_pending(instance, n)) {
            let (free, place, lacking, by_class) = match &servers {
                None => {
                    let Some((free, class, lacking)) = divisible_room(instance, n) else { continue };
                    let room = |server| Room { user: n, server, index: None, by_class: Vec::new() };
                    (free, class.map(room), lacking, self.class_by_class(instance, n))
                }
                Some(servers) => {
                    let free = servers.free_to(instance, n)?;
                    let place = free.room(n, gang(instance, n));
                    let by_class = match &place {
                        Some(_) => self.gang_by_class(instance, n, &free)?,
                        None => None,
                    };
                    (Rational::from(u32::from(place.is_some())), place, all_rows(&free.short), by_class)
                }
            };
            let place = by_class.as_ref().map_or(place, |of| of.place.clone());
            let by_class = by_class
                .filter(|of| !of.limits.is_empty())
                .map(|of| (of.more, Stop::Classes { short: of.short.into(), limits: of.limits }));
            let least = self.least(instance, n).into_iter().chain(by_class);
            let least = least.min_by(|a, b| a.0.cmp(&b.0)).filter(|(left, _)| *left < free);
            let more = match least {
                Some((left, stop)) => {
                    stopped.push((n, stop));
                    left
                }
                None => {
                    short.push((n, lacking));
                    free
                }
            };
            if more > worst {
                worst = more;
                room = place;
            }
        }
        let yes = match stopped.is_empty() {
            true => Evidence::Short(short),
            false => Evidence::ShortOrStopped { short, stopped },
        };
        Ok(Some(Found { margin: -worst, yes, no: room.map(Evidence::Room) }))
    }
}

/// The tasks that fit on the classes where a user can run, within the limits on them.
struct ByClass {
    /// The number of tasks, over `g_n`.
    more: Rational,
    /// The scarcest rows, on the classes where no limit allows fewer tasks.
    short: Vec<u32>,
    /// The classes where a limit allows fewer tasks, and these limits.
    limits: Vec<(usize, ClassMark)>,
    /// The class on which most tasks fit. `None` if no task fits.
    place: Option<Room>,
}

/// Returns the unused part of the amount `of`, at least 0.
fn unused(of: &Rational, used: &Rational) -> Rational {
    Rational::from(of - used).max(Rational::new())
}

/// Writes the reason that stops each user.
pub(super) fn write(names: &Names<'_>, stopped: &[(usize, Stop)]) -> Json {
    let mark = |mark: &ClassMark| {
        let on = mark.on.iter().map(|i| names.server_name(*i)).collect();
        let limit = names.resource_name(mark.resource);
        Json::object([("group", names.group_name(mark.group)), ("on", Json::List(on)), ("limit", limit)])
    };
    let stop = |stop: &Stop| {
        let (group, resource) = match stop {
            Stop::Classes { short, limits } => {
                let limits = limits.iter().map(|(i, of)| (names.server(*i), mark(of)));
                let limits = Json::Object(limits.collect());
                return Json::object([("short", write_short(names, short)), ("limits", limits)]);
            }
            Stop::Limit { group, resource } => (Some(*group), Some(("limit", *resource))),
            Stop::Guarantee { group, resource } => (Some(*group), Some(("guarantee", *resource))),
            Stop::Weight { group } => (Some(*group), None),
            Stop::KeptBack { resource } => (None, Some(("kept_back", *resource))),
        };
        let group = group.map(|group| ("group", names.group_name(group)));
        let resource = resource.map(|(field, r)| (field, names.resource_name(r)));
        Json::object(group.into_iter().chain(resource))
    };
    Json::Object(stopped.iter().map(|(n, of)| (names.user(*n), stop(of))).collect())
}
