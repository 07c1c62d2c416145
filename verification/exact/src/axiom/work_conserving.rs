//! Work-conserving: no user with fewer than its `T_n` tasks could run more tasks in the free capacity, while all other
//! tasks stay where they are.
//!
//! For divisible tasks, the margin is minus the largest
//!
//! $$\frac{1}{g_n} \min\Bigl(T_n - x_n, \sum_i \min_{r: d_{nir} > 0} \frac{\mathrm{slack}_{ir}}{d_{nir}}\Bigr)$$
//!
//! over the active users. Where time is shared, the row of time is used instead of the resources.
//!
//! With placements, the axiom applies to gangs (a user that states no gang has a gang of one task). A user is pending
//! if `T_n - x_n` is at least its gang. Either all tasks of the gang fit on single servers at the same time, or they do
//! not, whatever the tolerance. All tasks of a gang are identical. So a gang fits exactly if the servers together have
//! free capacity for at least as many whole tasks as the gang has. The margin is 0 if no gang of a pending user fits,
//! and -1 otherwise.
//!
//! The evidence that the axiom holds states, for every pending user and every class where it can run, a row that is
//! (nearly) full. Such a row is called *short*. With placements, the evidence states several rows for each class. After
//! the tasks of the gang that fit have been added, every server of the class lacks capacity in at least one of these
//! rows for the next task. The evidence that the axiom is violated is a user and a class, or the first single server
//! where a task fits. For a gang of several tasks, the evidence also states how many of them run on each class. If
//! groups keep capacity back (`held_back`), a user may also be stopped for this reason.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use evenhand_budget::each;
use evenhand_problem::Placement;
use rug::Rational;

use crate::axiom::held_back::{self, HeldBack};
use crate::axiom::rule::{Found, Rule};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
pub use crate::evidence::{Room, Short};
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use evenhand_problem::Problem;

/// The number of bytes of the name of a class and of a resource, with the text between them. The text is stored once
/// for the user, and once in the certificate.
const BYTES_OF_A_PLACE: usize = 16;

/// The result of [`examine`].
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The margin, in units of `g_n`.
    pub margin: Rational,
    /// The user with this margin, and free capacity for its tasks. `None` if no user could run more tasks.
    pub room: Option<Room>,
    /// For each user with pending tasks, its short rows. For divisible tasks only the first user of each shape is
    /// listed.
    pub short: Vec<(usize, Short)>,
}

/// Returns the margin and its evidence, or `None` if no user is active.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn examine(instance: &Instance<'_>) -> Result<Option<Examined>, TooLarge> {
    let users: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    if users.is_empty() {
        return Ok(None);
    }
    match instance.placements() {
        Some(placements) => placed(instance, placements, &users).map(Some),
        None => divisible(instance, &users).map(Some),
    }
}

/// Returns true if user `n` is active and lacks tasks. With placements, the user has to lack at least a gang.
pub(super) fn is_pending(instance: &Instance<'_>, n: usize) -> bool {
    if !instance.is_active(n) {
        return false;
    }
    let left = instance.problem().users()[n].tasks().map(|tasks| tasks - instance.total(n));
    match instance.placements() {
        None => left.is_none_or(|left| left > 0),
        Some(_) => left.is_none_or(|left| left >= gang(instance, n)),
    }
}

/// Returns the number of tasks of user `n` that start together, which is 1 if the problem states no gang.
pub(super) fn gang(instance: &Instance<'_>, n: usize) -> u64 {
    instance.problem().groups().member(n).gang.unwrap_or(1)
}

fn divisible(instance: &Instance<'_>, users: &[usize]) -> Result<Examined, TooLarge> {
    instance.budget().charge(instance.steps().saturating_mul(4 * users.len() as u64))?;
    let of_shapes = rooms(instance, users)?;
    let found: Vec<Option<(Rational, Option<usize>, Short)>> = each(users.len(), 1, |at| {
        let n = users[at];
        let of_shape = of_shapes[instance.scaled.shape(n)].as_ref();
        of_shape.filter(|_| is_pending(instance, n)).map(|room| room.of_user(instance, n))
    });
    let mut examined = Examined { margin: Rational::new(), room: None, short: Vec::new() };
    let mut is_told = vec![false; of_shapes.len()];
    for (&n, found) in users.iter().zip(found) {
        let Some((more, class, short)) = found else { continue };
        if !std::mem::replace(&mut is_told[instance.scaled.shape(n)], true) {
            examined.short.push((n, short));
        }
        let margin = -more;
        if margin < examined.margin {
            examined.margin = margin;
            examined.room = class.map(|server| Room { user: n, server, index: None, by_class: Vec::new() });
        }
    }
    Ok(examined)
}

/// Returns three values: the tasks that user `n` could run in addition, over `g_n`; the first class on which most of
/// them fit, if any fit; and the scarcest row of every class. Returns `None` if the user has no pending tasks.
pub(super) fn divisible_room(instance: &Instance<'_>, n: usize) -> Option<(Rational, Option<usize>, Short)> {
    let room = || ShapeRoom::new(instance, n).map(|room| room.of_user(instance, n));
    if is_pending(instance, n) { room() } else { None }
}

/// The free capacity for users of one shape, regardless of how many tasks they lack.
struct ShapeRoom {
    /// The free capacity in tasks.
    sum: Rational,
    /// The first class on which most tasks fit. `None` if no task fits.
    best: Option<usize>,
    /// The scarcest row of every class.
    short: Short,
}

/// Computes the free capacity for each shape of these users.
fn rooms(instance: &Instance<'_>, users: &[usize]) -> Result<Vec<Option<ShapeRoom>>, TooLarge> {
    let mut asked = vec![None; instance.scaled.first_of_shapes().len()];
    for &n in users {
        asked[instance.scaled.shape(n)].get_or_insert(n);
    }
    charge(instance, &asked.iter().flatten().copied().collect::<Vec<_>>())?;
    Ok(each(asked.len(), instance.problem().n_servers(), |shape| ShapeRoom::new(instance, asked[shape]?)))
}

impl ShapeRoom {
    /// Computes the free capacity for the shape of user `n`.
    fn new(instance: &Instance<'_>, n: usize) -> Option<Self> {
        let mut sum = Rational::new();
        let mut best: Option<(Rational, usize)> = None;
        let mut short = Vec::with_capacity(instance.scaled.n_classes(n));
        for i in instance.scaled.classes(n) {
            let rows = instance.constraints().class_rows(i);
            let usage = instance.constraints().usage(n, i)?;
            // A full row leaves no capacity, so no number has to be divided.
            let used = || usage.entries().map(|(at, d)| (rows.start + at, d));
            if let Some((row, _)) = used().find(|(row, _)| instance.scaled_slack(*row).is_zero()) {
                short.push(row as u32);
                continue;
            }
            let room = used();
            let (more, row) = room.map(|(row, d)| (instance.slack(row) / d, row)).min()?;
            short.push(row as u32);
            if best.as_ref().is_none_or(|(best, _)| more > *best) {
                best = Some((more.clone(), i));
            }
            sum += more;
        }
        Some(Self { sum, best: best.map(|(_, i)| i), short: short.into() })
    }

    /// Returns the tasks that fit, over `g_n`, the class on which most of them fit, and the short rows.
    fn of_user(&self, instance: &Instance<'_>, n: usize) -> (Rational, Option<usize>, Short) {
        let left = instance.problem().users()[n].tasks().map(|tasks| tasks - instance.total(n));
        let room = left.filter(|left| *left < self.sum).unwrap_or_else(|| self.sum.clone());
        (room / instance.scale(n), self.best, Arc::clone(&self.short))
    }
}

/// Returns the number of tasks of user `n` that the free capacity of a row allows.
pub(super) fn row_leaves(instance: &Instance<'_>, n: usize, row: usize) -> Option<Rational> {
    if instance.scaled_slack(row).is_zero() {
        return Some(Rational::new());
    }
    let class = instance.constraints().rows()[row].server;
    let usage = instance.constraints().usage(n, class)?;
    Some(instance.slack(row) / &usage[row - instance.constraints().class_rows(class).start])
}

/// Returns the rows of all classes in one list.
pub(super) fn all_rows(by_class: &ByClass) -> Short {
    by_class.iter().flat_map(|(_, rows)| rows).map(|row| *row as u32).collect()
}

fn placed(instance: &Instance<'_>, placements: &[Placement], users: &[usize]) -> Result<Examined, TooLarge> {
    let servers = Servers::new(instance, placements)?;
    let mut examined = Examined { margin: Rational::new(), room: None, short: Vec::new() };
    for &n in users.iter().filter(|&&n| is_pending(instance, n)) {
        let free = servers.free_to(instance, n)?;
        let room = free.room(n, gang(instance, n));
        examined.short.push((n, all_rows(&free.short)));
        if let Some(room) = room.filter(|_| examined.room.is_none()) {
            examined.margin = Rational::from(-1);
            examined.room = Some(room);
        }
    }
    Ok(examined)
}

/// Lists of rows by class, in ascending order of classes.
pub(super) type ByClass = Vec<(usize, Vec<usize>)>;

/// Single servers of one class with the same free capacity in every row.
struct Identical {
    /// Free capacity of each row of the class.
    free: Vec<Rational>,
    /// The index of one of these servers.
    index: u64,
    /// The number of these servers.
    servers: u64,
}

/// The free capacity of the single servers of every class.
pub(super) struct Servers {
    of_class: Vec<Vec<Identical>>,
    /// The results of [`Servers::free_to`] by shape and gang. A cluster has many users and few shapes.
    known: RefCell<HashMap<(usize, u64), Rc<FreeTo>>>,
}

/// The tasks of one user that fit on a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fitting {
    pub class: usize,
    /// The number of whole tasks that fit on the servers of the class together, but at most a gang.
    pub tasks: u64,
    /// The first server on which a task fits.
    pub index: Option<u64>,
}

/// The free capacity of single servers for one user.
pub(super) struct FreeTo {
    /// The short rows of each class.
    pub short: ByClass,
    /// The tasks that fit on each class where the user can run.
    pub fitting: Vec<Fitting>,
}

impl FreeTo {
    /// Returns a placement of a gang of user `n`, filling the classes in their order, if the gang fits.
    pub fn room(&self, n: usize, gang: u64) -> Option<Room> {
        let mut left = gang;
        let by_class = self.fitting.iter().map(|of| {
            let tasks = of.tasks.min(left);
            left -= tasks;
            (of.class, tasks)
        });
        let by_class: Vec<(usize, u64)> = by_class.filter(|(_, tasks)| *tasks > 0).collect();
        (left == 0).then(|| self.room_by(n, gang, by_class)).flatten()
    }

    /// Returns the placement of a gang of user `n` with these numbers of tasks: `(class, tasks)`.
    pub fn room_by(&self, n: usize, gang: u64, by_class: Vec<(usize, u64)>) -> Option<Room> {
        let server = by_class.first()?.0;
        let index = self.fitting.iter().find(|of| of.class == server)?.index;
        let by_class = if gang > 1 { by_class } else { Vec::new() };
        Some(Room { user: n, server, index, by_class })
    }
}

impl Servers {
    pub fn new(instance: &Instance<'_>, placements: &[Placement]) -> Result<Self, TooLarge> {
        let mut of_class: Vec<BTreeMap<Vec<Rational>, (u64, u64)>> = Vec::new();
        of_class.resize_with(instance.problem().n_servers(), BTreeMap::new);
        let mut used: Vec<Vec<u64>> = vec![Vec::new(); instance.problem().n_servers()];
        let entries: usize = placements.iter().map(|placement| placement.tasks.len() + 1).sum();
        instance.budget().charge((entries as u64).saturating_mul(2 * instance.steps()))?;
        for placement in placements {
            let free = free(instance, placement.server, &placement.tasks);
            of_class[placement.server].entry(free).or_insert((placement.index, 0)).1 += 1;
            used[placement.server].push(placement.index);
        }
        for (i, used) in used.iter_mut().enumerate() {
            used.sort_unstable();
            let empty = (0..).zip(used.iter()).find(|(index, used)| index != *used);
            let empty = empty.map_or(used.len() as u64, |(index, _)| index);
            let count = instance.problem().servers()[i].count();
            if empty < count {
                of_class[i].entry(free(instance, i, &[])).or_insert((empty, 0)).1 +=
                    count - used.len() as u64;
            }
        }
        let identical = |(free, (index, servers))| Identical { free, index, servers };
        Ok(Self {
            of_class: of_class.into_iter().map(|class| class.into_iter().map(identical).collect()).collect(),
            known: RefCell::default(),
        })
    }

    /// Returns the free capacity for user `n`.
    pub fn free_to(&self, instance: &Instance<'_>, n: usize) -> Result<Rc<FreeTo>, TooLarge> {
        let gang = gang(instance, n);
        let key = (instance.scaled.shape(n), gang);
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let free_to = Rc::new(self.compute_free_to(instance, n, gang)?);
        self.known.borrow_mut().insert(key, Rc::clone(&free_to));
        Ok(free_to)
    }

    fn compute_free_to(&self, instance: &Instance<'_>, n: usize, gang: u64) -> Result<FreeTo, TooLarge> {
        let mut free_to = FreeTo { short: Vec::new(), fitting: Vec::new() };
        for i in instance.scaled.classes(n) {
            let start = instance.constraints().class_rows(i).start;
            let usage = self.usage(instance, n, i, gang)?;
            let mut rows: Vec<usize> = Vec::new();
            let mut fitting = Fitting { class: i, tasks: 0, index: None };
            for of in &self.of_class[i] {
                let tasks = tasks_within(&of.free, &usage, gang);
                if tasks > 0 {
                    fitting.index = fitting.index.or(Some(of.index));
                    fitting.tasks = gang.min(fitting.tasks.saturating_add(tasks.saturating_mul(of.servers)));
                }
                if tasks == gang {
                    continue;
                }
                let lacks = |at: &usize| match tasks {
                    0 => of.free[*at] < usage[*at],
                    _ => of.free[*at] < Rational::from(&usage[*at] * (tasks + 1)),
                };
                if !rows.iter().any(|row| lacks(&(row - start))) {
                    rows.extend((0..usage.len()).find(lacks).map(|at| start + at));
                }
            }
            rows.sort_unstable();
            free_to.short.push((i, rows));
            free_to.fitting.push(fitting);
        }
        Ok(free_to)
    }

    /// Returns the amounts that a task of user `n` uses of the rows of a single server where it can run. Charges the
    /// work for all distinct servers of the class. Divisions are charged only if a gang has several tasks.
    fn usage(
        &self,
        instance: &Instance<'_>,
        n: usize,
        i: usize,
        gang: u64,
    ) -> Result<Vec<Rational>, TooLarge> {
        let usage = single_usage(instance, n, i);
        let steps = if gang > 1 { 2 * instance.steps() * usage.len() as u64 } else { 0 };
        instance.budget().charge((self.of_class[i].len() as u64).saturating_mul(8 + steps))?;
        Ok(usage)
    }
}

/// Returns the number of whole tasks with demand `usage` that fit in `free`, but at most `most`.
fn tasks_within(free: &[Rational], usage: &[Rational], most: u64) -> u64 {
    if free.iter().zip(usage).any(|(free, d)| free < d) {
        return 0;
    }
    if most == 1 {
        return 1;
    }
    let used = free.iter().zip(usage).filter(|(_, d)| !d.is_zero());
    used.map(|(free, d)| whole_tasks(Rational::from(free / d))).fold(most, u64::min)
}

/// Returns the number of whole tasks in a number of tasks that is at least 0.
pub(super) fn whole_tasks(tasks: Rational) -> u64 {
    tasks.floor().numer().to_u64().unwrap_or(u64::MAX)
}

/// Returns the amounts that a task of user `n` takes of the rows of one server of class `i`, where it can run. As a
/// fraction of the time of one server, a task takes `k_i` times as much as of the time of the class.
fn single_usage(instance: &Instance<'_>, n: usize, i: usize) -> Vec<Rational> {
    let constraints = instance.constraints();
    let factor = if constraints.is_time_shared(i) { instance.problem().servers()[i].count() } else { 1 };
    let usage = constraints.usage(n, i);
    usage.map_or_else(Vec::new, |usage| usage.iter().map(|d| Rational::from(d * factor)).collect())
}

/// Returns the capacity that these tasks leave of each row of one server of class `i`.
fn free(instance: &Instance<'_>, i: usize, tasks: &[(usize, Rational)]) -> Vec<Rational> {
    let constraints = instance.constraints();
    let count = instance.problem().servers()[i].count();
    let rows = constraints.class_rows(i).map(|row| &constraints.rows()[row].capacity);
    let mut free: Vec<Rational> = match constraints.is_time_shared(i) {
        true => rows.cloned().collect(),
        false => rows.map(|capacity| Rational::from(capacity / count)).collect(),
    };
    for (n, x) in tasks {
        for (free, usage) in free.iter_mut().zip(single_usage(instance, *n, i)) {
            *free -= usage * x;
        }
    }
    free
}

/// Charges one comparison of every user with every row, and a list of short rows for every user and class.
pub(super) fn charge(instance: &Instance<'_>, users: &[usize]) -> Result<(), TooLarge> {
    let places: usize = users.iter().map(|n| instance.scaled.n_classes(*n)).sum();
    evenhand_budget::table(places, 1, size_of::<u32>(), "the table of the short rows of every user");
    let rows = instance.constraints().rows().len() as u64;
    // Only the free capacity of rows that are not full is divided by a demand.
    let free = (0..instance.constraints().rows().len()).filter(|&row| !instance.scaled_slack(row).is_zero());
    let steps = rows + (free.count() as u64).saturating_mul(instance.steps());
    instance.budget().charge(steps.saturating_mul(users.len() as u64))
}

/// The axiom `work-conserving`.
pub(crate) struct WorkConserving;

impl Rule for WorkConserving {
    fn name(&self) -> &'static str {
        "work-conserving"
    }

    fn is_exact_on_servers(&self) -> bool {
        true
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        held_back::applies_to(problem)
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        held_back::applies(instance)
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        if let Some(held) = HeldBack::new(instance)? {
            return held.examine(instance);
        }
        Ok(examine(instance)?.map(|found| Found {
            margin: found.margin,
            yes: Evidence::Short(found.short),
            no: found.room.map(Evidence::Room),
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Short(short) => Some(fields([("short", write_all(names, short))])),
            Evidence::ShortOrStopped { short, stopped } => Some(fields([
                ("short", write_all(names, short)),
                ("stopped", held_back::write(names, stopped)),
            ])),
            Evidence::Room(Room { user, server, index, by_class }) => {
                let mut room = vec![("user".to_owned(), names.user_name(*user))];
                room.push(("server".to_owned(), names.server_name(*server)));
                room.extend(index.map(|index| ("index".to_owned(), Json::Index(index))));
                let tasks = by_class.iter().map(|(i, tasks)| (names.server(*i), Json::Index(*tasks)));
                room.extend(
                    (!by_class.is_empty()).then(|| ("gang".to_owned(), Json::Object(tasks.collect()))),
                );
                Some(Json::Object(room))
            }
            _ => None,
        }
    }
}

/// Writes the short rows of each user.
fn write_all(names: &Names<'_>, short: &[(usize, Short)]) -> Json {
    let places = short.iter().map(|(_, short)| short.len()).sum();
    evenhand_budget::table(places, 2, BYTES_OF_A_PLACE, "the text of the short rows of every user");
    // Users of one shape share their list, so its text is written only once.
    let mut known: HashMap<*const u32, Arc<String>> = HashMap::new();
    let of_user = |(n, short): &(usize, Short)| {
        let text = known.entry(short.as_ptr()).or_insert_with(|| Arc::new(write_short(names, short).text()));
        (names.user(*n), Json::Written(Arc::clone(text)))
    };
    Json::Object(short.iter().map(of_user).collect())
}

/// Writes `{server: resource}`, or `{server: [resources]}` if a server class does not have exactly one short row.
pub(super) fn write_short(names: &Names<'_>, short: &[u32]) -> Json {
    let name = |row: &u32| Json::Text(names.row(*row as usize).1);
    let classes = short.chunk_by(|a, b| names.class(*a as usize) == names.class(*b as usize)).map(|rows| {
        let of_class = match rows {
            [row] => name(row),
            rows => Json::List(rows.iter().map(name).collect()),
        };
        (names.row(rows[0] as usize).0, of_class)
    });
    Json::Object(classes.collect())
}
