//! Best fit: servers sorted along lines, by the proportions of their free amounts.
//!
//! The mismatch of a task and a server (DRFH, equation 9) is the distance between their proportions, which are
//! amounts as fractions of the first resource that the task demands. If servers have only one resource, the mismatch
//! is the free amount, as if the task had the coordinate 0. Servers are sorted along a line by the first of these
//! coordinates. A search starts at the coordinate of the task and goes in both directions until servers farther away
//! cannot be better.
//!
//! Servers with the same free amounts form a group. Groups are stored in blocks, each with the maximum free amounts
//! within it. Coordinates are floating-point numbers with an error bound. Exact mismatches decide if the bound does
//! not.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{Model, State, first_demanded, fits};
use super::rule::Ties;

/// The maximum number of groups in a block. A block with more groups is divided.
const BLOCK: usize = 32;
/// The number of blocks in a row of blocks. A whole row is skipped if none of its servers has enough free
/// capacity. Best fit fills the nearest servers first, so many of the servers near a task are nearly full.
const ROW: usize = 16;
/// The maximum coordinate. Larger coordinates are cut to this maximum, and a distance is then only a lower
/// bound.
const FAR: f64 = 1e290;
/// The bound on coordinates and distances below which distances are exact except for rounding.
const NEAR: f64 = 1e280;

/// A demand of a user as a point on a line.
struct Target {
    /// The index of the demand among the user's demands.
    demand: u32,
    /// The first demanded resource.
    first: usize,
    /// The coordinates of the demand.
    at: Vec<f64>,
    /// The sum of the coordinates, to which errors are relative. It is infinite if a coordinate is out of
    /// range.
    size: f64,
}

/// An interval that contains a value.
#[derive(Debug, Clone, Copy)]
struct Interval {
    low: f64,
    high: f64,
}

/// The best server of a user. It is stored until it changes.
pub(super) struct Found<R> {
    /// The position of the server.
    pub server: usize,
    /// `true` if no other server is equally good. The value has a meaning only if ties are decided at random.
    pub is_only: bool,
    /// An interval that contains the mismatch.
    value: Interval,
    /// The exact mismatch, or `None` if it has not been computed yet.
    exact: Option<R>,
    /// A lower bound of the mismatches of all other servers.
    rival: f64,
}

/// The servers of one class with the same free amounts.
struct Group<D: Digits> {
    /// The first coordinate of the servers.
    at: f64,
    /// The free amounts of the first two rows, which suffice for most searches.
    left: [D::Amount; 2],
    /// The position of the class of the servers.
    class: u32,
    /// The server of the group that ties prefer.
    server: u32,
    /// The other servers. The servers that ties prefer come last.
    others: Vec<u32>,
}

/// The servers as seen by users whose first demanded resource is `first`: blocks of neighbouring groups. The
/// data that a search reads first is in separate lists.
struct Line<D: Digits> {
    /// The resource that is the unit of the coordinates.
    first: usize,
    /// The blocks. No block is empty.
    blocks: Vec<Vec<Group<D>>>,
    /// The first coordinate of the first group of each block.
    begins: Vec<f64>,
    /// The maximum free amounts in each block, indexed by block and then by resource.
    most: Vec<D::Amount>,
    /// The maximum free amounts in each row of blocks, indexed by row and then by resource.
    most_of_row: Vec<D::Amount>,
    n_resources: usize,
}

/// The free amounts of servers at the time when they were inserted.
struct Amounts<'m, D: Digits> {
    model: &'m Model<D>,
    /// The free amounts of each server, indexed by server and then by row.
    left: Vec<D::Amount>,
    ties: Ties,
}

/// All servers, sorted along one line for each resource that comes first in some demand.
pub(super) struct Lines<'m, D: Digits> {
    lines: Vec<Line<D>>,
    /// The demands of each user.
    targets: Vec<Vec<Target>>,
    amounts: Amounts<'m, D>,
    /// The smallest demand of each row.
    least: Vec<D::Amount>,
    /// `true` if only servers with enough free capacity for the task are compared.
    is_filtered: bool,
    /// The error of a distance, as a fraction of the coordinates.
    error: f64,
    /// The coordinates of the server that was inserted last, on each line.
    last: Vec<Vec<f64>>,
}

/// Returns the coordinates of amounts, as fractions of the amount of `first`. If servers have only one
/// resource, the coordinate of a server is its free amount.
fn coordinates<'a, D: Digits>(
    model: &'a Model<D>,
    first: usize,
    amounts: &'a [D::Amount],
) -> impl Iterator<Item = f64> + use<'a, D> {
    let unit = [&model.factors[first], &amounts[first]];
    let is_one = model.has_one_resource;
    let rows = (0..model.n_rows).filter(move |row| *row != first && !is_one);
    let only = is_one.then(|| D::to_f64(&D::whole(&amounts[first])).min(FAR));
    let at = rows.map(move |row| D::proportion([&model.factors[row], &amounts[row]], unit).min(FAR));
    at.chain(only)
}

impl Target {
    fn of_user<D: Digits>(model: &Model<D>, n: usize) -> Vec<Self> {
        let of_demand = |(demand, amounts): (usize, &Vec<D::Amount>)| {
            let first = first_demanded::<D>(amounts)?;
            // The task has the coordinate 0, so the server with the least free amount is the nearest.
            let nearest_to_none = model.has_one_resource.then(|| vec![0.0]);
            let at = nearest_to_none.unwrap_or_else(|| coordinates(model, first, amounts).collect());
            let size = if at.iter().all(|at| *at < NEAR) { at.iter().sum() } else { f64::INFINITY };
            Some(Self { demand: demand as u32, first, at, size })
        };
        model.users[n].demands.iter().enumerate().filter_map(of_demand).collect()
    }
}

impl<'m, D: Digits> Lines<'m, D> {
    pub fn new(state: &State<'m, D>) -> Self {
        let model = state.model;
        let targets: Vec<_> = (0..model.users.len()).map(|n| Target::of_user(model, n)).collect();
        let is_first = |row: &usize| targets.iter().flatten().any(|target| target.first == *row);
        let least = |row: usize| {
            let demands = model.users.iter().flat_map(|user| &user.demands).map(|demand| &demand[row]);
            demands.min().cloned().unwrap_or_default()
        };
        let mut lines = Self {
            lines: (0..model.n_rows).filter(is_first).map(|first| Line::new(first, model.n_rows)).collect(),
            targets,
            amounts: Amounts {
                model,
                left: vec![D::Amount::default(); model.n_servers() * model.n_rows],
                ties: model.rule.ties,
            },
            least: (0..model.n_rows).map(least).collect(),
            is_filtered: !model.rule.unfiltered,
            error: (model.n_rows + 8) as f64 * 4.0 * f64::EPSILON,
            last: Vec::new(),
        };
        lines.last = vec![Vec::new(); lines.lines.len()];
        // Among equal servers, the servers that ties prefer are inserted last.
        let n_servers = model.n_servers();
        let in_order = |k: usize| if model.rule.ties == Ties::High { k } else { n_servers - 1 - k };
        (0..n_servers).for_each(|k| lines.update(state, in_order(k)));
        lines
    }

    /// Updates server `j` after its free amounts have changed.
    pub fn update(&mut self, state: &State<'_, D>, j: usize) {
        for line in &mut self.lines {
            if is_of_use::<D>(self.amounts.of(j as u32).0, &self.least, self.is_filtered, line.first) {
                line.remove(&self.amounts, j as u32);
            }
        }
        self.amounts.left[state.model.rows_of(j)].clone_from_slice(state.left(j));
        for (line, last) in self.lines.iter_mut().zip(&mut self.last) {
            last.clear();
            if is_of_use::<D>(state.left(j), &self.least, self.is_filtered, line.first) {
                line.insert(&self.amounts, j as u32);
                last.extend(coordinates(state.model, line.first, state.left(j)));
            }
        }
    }

    /// Returns the best server of user `n`.
    pub fn best(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<Found<D::Ratio>> {
        let mut search =
            Search { lines: self, state, n, best: None, equals: Vec::new(), rival: f64::INFINITY };
        for target in &self.targets[n] {
            if let Some(line) = self.lines.iter().find(|line| line.first == target.first) {
                search.along(line, target);
            }
        }
        let mut found = search.best?;
        found.rival = search.rival;
        if self.amounts.ties == Ties::Random {
            let servers = search.equals.iter().flat_map(|group| group.others.iter().chain([&group.server]));
            let mut servers: Vec<u32> = servers.copied().collect();
            found.is_only = servers.len() == 1;
            let at = draw.position(servers.len());
            found.server = *servers.select_nth_unstable(at).1 as usize;
        }
        Some(found)
    }

    /// Compares server `j`, which has just changed, with the server in `found` for user `n`. Returns `None` if `j` is
    /// not a candidate.
    pub fn compare(
        &self,
        state: &State<'_, D>,
        n: usize,
        j: usize,
        found: &mut Found<D::Ratio>,
    ) -> Option<(Ordering, Found<D::Ratio>)> {
        let value = self.value(state, n, j)?;
        let rival = found.rival.min(found.value.low);
        found.rival = found.rival.min(value.low);
        let mut other = Found { server: j, is_only: true, value, exact: None, rival };
        Some((order(state, n, &mut other, found), other))
    }

    /// Returns whether the server in `found`, which has just changed, is certainly still the best server of user `n`.
    pub fn stays(&self, state: &State<'_, D>, n: usize, found: &mut Found<D::Ratio>) -> bool {
        let Some(value) = self.value(state, n, found.server).filter(|value| value.high < found.rival) else {
            return false;
        };
        (found.value, found.exact, found.is_only) = (value, None, true);
        true
    }

    /// Returns the mismatch of user `n` and server `j`, or `None` if the server is not a candidate. `j` must be the
    /// server that was inserted last.
    fn value(&self, state: &State<'_, D>, n: usize, j: usize) -> Option<Interval> {
        let demand = state.model.users[n].demand_on[state.model.class[j] as usize]?;
        let target = self.targets[n].iter().find(|target| target.demand == demand)?;
        let line = self.lines.iter().position(|line| line.first == target.first)?;
        let at = &self.last[line];
        let counts = !at.is_empty() && (!self.is_filtered || state.fits(n, j));
        counts.then(|| self.distance(target, at.iter().copied()))
    }

    /// Returns the distance between a demand and a server with the coordinates `at`.
    fn distance(&self, target: &Target, at: impl Iterator<Item = f64>) -> Interval {
        let (mut value, mut size) = (0.0, target.size);
        for (t, at) in target.at.iter().zip(at) {
            value += (at - t).abs();
            size += at;
        }
        let error = size * self.error + D::TINY;
        Interval { low: value - error, high: if value < NEAR { value + error } else { f64::INFINITY } }
    }
}

/// Compares the mismatches of user `n` with two servers.
fn order<D: Digits>(
    state: &State<'_, D>,
    n: usize,
    a: &mut Found<D::Ratio>,
    b: &mut Found<D::Ratio>,
) -> Ordering {
    if a.value.high < b.value.low {
        return Ordering::Less;
    }
    if a.value.low > b.value.high {
        return Ordering::Greater;
    }
    for found in [&mut *a, &mut *b] {
        found.exact = found.exact.take().or_else(|| state.mismatch(n, found.server));
    }
    a.exact.cmp(&b.exact)
}

/// Returns whether some user whose first demanded resource is `first` may choose the server.
fn is_of_use<D: Digits>(left: &[D::Amount], least: &[D::Amount], is_filtered: bool, first: usize) -> bool {
    left[first] != D::Amount::default() && (!is_filtered || fits::<D>(least, left))
}

/// Compares two servers so that the preferred one comes last.
fn preferred(ties: Ties, a: u32, b: u32) -> Ordering {
    if ties == Ties::High { a.cmp(&b) } else { b.cmp(&a) }
}

impl<D: Digits> Amounts<'_, D> {
    /// Returns the free amounts that server `j` had when it was inserted, and its class.
    fn of(&self, j: u32) -> (&[D::Amount], u32) {
        (&self.left[self.model.rows_of(j as usize)], self.model.class[j as usize])
    }
}

fn raise<A: Ord + Clone>(most: &mut [A], amounts: &[A]) {
    for (most, amount) in most.iter_mut().zip(amounts) {
        if *most < *amount {
            most.clone_from(amount);
        }
    }
}

impl<D: Digits> Group<D> {
    fn order(&self, amounts: &Amounts<'_, D>, at: f64, j: u32) -> Ordering {
        self.at.total_cmp(&at).then_with(|| amounts.of(self.server).cmp(&amounts.of(j)))
    }

    fn fits(&self, demand: &[D::Amount]) -> bool {
        self.left.iter().zip(demand).all(|(left, d)| d <= left)
    }

    fn insert(&mut self, mut j: u32, ties: Ties) {
        if preferred(ties, self.server, j).is_lt() {
            std::mem::swap(&mut self.server, &mut j);
        }
        let at = self.others.partition_point(|other| preferred(ties, *other, j).is_lt());
        self.others.insert(at, j);
    }

    /// Removes a server from the group. Returns whether it was the only server of the group.
    fn remove(&mut self, j: u32, ties: Ties) -> bool {
        if self.server != j {
            if let Ok(at) = self.others.binary_search_by(|other| preferred(ties, *other, j)) {
                self.others.remove(at);
            }
            return false;
        }
        self.others.pop().map(|next| self.server = next).is_none()
    }
}

impl<D: Digits> Line<D> {
    fn new(first: usize, n_resources: usize) -> Self {
        let (begins, most, most_of_row) = (Vec::new(), Vec::new(), Vec::new());
        Self { first, blocks: Vec::new(), begins, most, most_of_row, n_resources }
    }

    /// Returns the first coordinate of server `j`, the block of its group, and the position of the group in
    /// the block. The position is `Err` with the place where the group belongs if the block does not contain
    /// the group.
    fn locate(&self, amounts: &Amounts<'_, D>, j: u32) -> (f64, usize, Result<usize, usize>) {
        let at = coordinates(amounts.model, self.first, amounts.of(j).0).next().unwrap_or_default();
        // Several blocks may begin at this coordinate. The right one is the last whose first group does not come
        // after the server.
        let mut which = self.begins.partition_point(|begin| begin.total_cmp(&at).is_le()).saturating_sub(1);
        while which > 0 && self.blocks[which][0].order(amounts, at, j).is_gt() {
            which -= 1;
        }
        let groups = self.blocks.get(which).map_or(&[][..], Vec::as_slice);
        (at, which, groups.binary_search_by(|group| group.order(amounts, at, j)))
    }

    /// Returns the maximum free amount of each resource in a block.
    fn most(&self, block: usize) -> &[D::Amount] {
        &self.most[block * self.n_resources..(block + 1) * self.n_resources]
    }

    /// Returns the maximum free amount of each resource in a row of blocks.
    fn most_of_row(&self, row: usize) -> &[D::Amount] {
        &self.most_of_row[row * self.n_resources..(row + 1) * self.n_resources]
    }

    /// Updates the maximum free amounts of a block, and the coordinate at which it begins.
    fn measure(&mut self, amounts: &Amounts<'_, D>, block: usize) {
        self.begins[block] = self.blocks[block][0].at;
        let most = &mut self.most[block * self.n_resources..(block + 1) * self.n_resources];
        most.fill(D::Amount::default());
        self.blocks[block].iter().for_each(|group| raise(most, amounts.of(group.server).0));
    }

    /// Updates the maximum free amounts of a row of blocks.
    fn measure_row(&mut self, row: usize) {
        let n = self.n_resources;
        let most = &mut self.most_of_row[row * n..(row + 1) * n];
        most.fill(D::Amount::default());
        let end = (row * ROW + ROW).min(self.blocks.len());
        self.most[row * ROW * n..end * n].chunks(n).for_each(|block| raise(most, block));
    }

    /// Updates the maximum free amounts of all rows from `from` on, after blocks have moved.
    fn measure_rows(&mut self, from: usize) {
        let rows = self.blocks.len().div_ceil(ROW);
        self.most_of_row.resize(rows * self.n_resources, D::Amount::default());
        (from..rows).for_each(|row| self.measure_row(row));
    }

    fn insert_block(&mut self, amounts: &Amounts<'_, D>, at: usize, groups: Vec<Group<D>>) {
        self.blocks.insert(at, groups);
        self.begins.insert(at, 0.0);
        let place = at * self.n_resources;
        self.most.splice(place..place, (0..self.n_resources).map(|_| D::Amount::default()));
        self.measure(amounts, at);
    }

    fn remove_block(&mut self, at: usize) -> Vec<Group<D>> {
        self.begins.remove(at);
        self.most.drain(at * self.n_resources..(at + 1) * self.n_resources);
        self.blocks.remove(at)
    }

    fn insert(&mut self, amounts: &Amounts<'_, D>, j: u32) {
        let (at, which, place) = self.locate(amounts, j);
        let (left, class) = amounts.of(j);
        let of_first = [0, 1].map(|row| left.get(row).cloned().unwrap_or_default());
        let group = Group { at, left: of_first, class, server: j, others: Vec::new() };
        if self.blocks.is_empty() {
            self.insert_block(amounts, 0, vec![group]);
            return self.measure_rows(0);
        }
        let block = &mut self.blocks[which];
        match place {
            Ok(at) => return block[at].insert(j, amounts.ties),
            Err(at) => block.insert(at, group),
        }
        if block.len() > BLOCK {
            let right = block.split_off(BLOCK / 2);
            self.insert_block(amounts, which + 1, right);
            self.measure(amounts, which);
            return self.measure_rows(which / ROW);
        }
        self.begins[which] = block[0].at;
        let (n, row) = (self.n_resources, which / ROW);
        raise(&mut self.most[which * n..(which + 1) * n], left);
        raise(&mut self.most_of_row[row * n..(row + 1) * n], left);
    }

    fn remove(&mut self, amounts: &Amounts<'_, D>, j: u32) {
        let (_, which, Ok(at)) = self.locate(amounts, j) else { return };
        let block = &mut self.blocks[which];
        if !block[at].remove(j, amounts.ties) {
            return;
        }
        block.remove(at);
        let len = block.len();
        let was_most = amounts.of(j).0.iter().zip(self.most(which)).any(|(left, most)| left == most);
        if self.blocks.get(which + 1).is_some_and(|next| len + next.len() <= BLOCK / 2) {
            let next = self.remove_block(which + 1);
            self.blocks[which].extend(next);
            self.measure(amounts, which);
            self.measure_rows(which / ROW);
        } else if len == 0 {
            self.remove_block(which);
            self.measure_rows(which / ROW);
        } else if was_most {
            self.measure(amounts, which);
            self.measure_row(which / ROW);
        } else {
            self.begins[which] = self.blocks[which][0].at;
        }
    }

    /// Returns the next block on the right. Skips rows of blocks in which no server has enough free capacity.
    fn right_of(&self, block: usize, is_enough: impl Fn(&[D::Amount]) -> bool) -> Option<usize> {
        let mut next = block + 1;
        while next < self.blocks.len() && next.is_multiple_of(ROW) && !is_enough(self.most_of_row(next / ROW))
        {
            next += ROW;
        }
        (next < self.blocks.len()).then_some(next)
    }

    /// Returns the next block on the left. Skips rows of blocks in which no server has enough free capacity.
    fn left_of(&self, block: usize, is_enough: impl Fn(&[D::Amount]) -> bool) -> Option<usize> {
        let mut next = block.checked_sub(1)?;
        while next % ROW == ROW - 1 && !is_enough(self.most_of_row(next / ROW)) {
            next = next.checked_sub(ROW)?;
        }
        Some(next)
    }
}

/// The indices of the two directions of a search.
const RIGHT: usize = 0;
const LEFT: usize = 1;

/// A search for the best server of one user.
struct Search<'a, D: Digits> {
    lines: &'a Lines<'a, D>,
    state: &'a State<'a, D>,
    n: usize,
    best: Option<Found<D::Ratio>>,
    /// The groups of servers that are as good as the best server so far, for random ties.
    equals: Vec<&'a Group<D>>,
    /// A lower bound of the mismatches of all rejected servers.
    rival: f64,
}

impl<'a, D: Digits> Search<'a, D> {
    /// Searches from the coordinate of the target in both directions, always on the nearer side first.
    fn along(&mut self, line: &'a Line<D>, target: &Target) {
        let demand = &self.state.model.users[self.n].demands[target.demand as usize];
        let is_enough = |most: &[D::Amount]| !self.lines.is_filtered || fits::<D>(demand, most);
        let t = target.at[0];
        let start = line.begins.partition_point(|begin| *begin <= t).saturating_sub(1);
        let Some(block) = line.blocks.get(start) else { return };
        let middle = block.partition_point(|group| group.at < t);
        // The groups that have not been visited, on the right and on the left.
        let mut sides = [Some((start, middle..block.len())), Some((start, 0..middle))];
        loop {
            let far = |side: usize| {
                let Some((which, groups)) = &sides[side] else { return f64::INFINITY };
                let nearest = if side == RIGHT { groups.clone().next() } else { groups.clone().next_back() };
                nearest.map_or(0.0, |group| (line.blocks[*which][group].at - t).abs())
            };
            let (right, left) = (far(RIGHT), far(LEFT));
            let (side, distance) = if left < right { (LEFT, left) } else { (RIGHT, right) };
            let Some((which, groups)) = sides[side].take() else { return };
            // All remaining groups on this side are at least this far away, and the groups on the other side
            // are even farther.
            if self.is_too_far(distance, target) {
                return;
            }
            let block = &line.blocks[which];
            let is_enough_there = is_enough(line.most(which));
            if is_enough_there && side == RIGHT {
                self.among(block[groups].iter(), target, demand);
            } else if is_enough_there {
                self.among(block[groups].iter().rev(), target, demand);
            }
            let next =
                if side == RIGHT { line.right_of(which, is_enough) } else { line.left_of(which, is_enough) };
            sides[side] = next.map(|which| (which, 0..line.blocks[which].len()));
        }
    }

    /// Returns whether no group at this distance from the target, or farther away, can be better than the
    /// best group so far.
    fn is_too_far(&mut self, distance: f64, target: &Target) -> bool {
        let low = distance - (2.0 * target.size + distance) * self.lines.error - D::TINY;
        let is_too_far = self.best.as_ref().is_some_and(|best| low > best.value.high);
        if is_too_far {
            self.rival = self.rival.min(low);
        }
        is_too_far
    }

    /// Compares groups with the best group so far, in the order of their distance from the target along the
    /// line.
    fn among(&mut self, groups: impl Iterator<Item = &'a Group<D>>, target: &Target, demand: &[D::Amount]) {
        let model = self.state.model;
        let (n_rows, demand_on) = (model.n_rows, &model.users[self.n].demand_on);
        for group in groups {
            if self.is_too_far((group.at - target.at[0]).abs(), target) {
                return;
            }
            if self.lines.is_filtered && !group.fits(demand) {
                continue;
            }
            if demand_on[group.class as usize] != Some(target.demand) {
                continue;
            }
            if n_rows <= 2 {
                self.offer(group, self.lines.distance(target, std::iter::once(group.at)));
                continue;
            }
            let left = self.lines.amounts.of(group.server).0;
            if !self.lines.is_filtered || fits::<D>(demand, left) {
                self.offer(group, self.lines.distance(target, coordinates(model, target.first, left)));
            }
        }
    }

    fn offer(&mut self, group: &'a Group<D>, value: Interval) {
        let (server, ties) = (group.server as usize, self.lines.amounts.ties);
        let mut new = Found { server, is_only: false, value, exact: None, rival: f64::INFINITY };
        let order =
            self.best.as_mut().map_or(Ordering::Less, |best| order(self.state, self.n, &mut new, best));
        if order.is_lt() {
            self.equals.clear();
        }
        if order.is_le() && ties == Ties::Random {
            self.equals.push(group);
        }
        let is_better = match &self.best {
            Some(best) if order.is_eq() => preferred(ties, best.server as u32, group.server).is_lt(),
            _ => order.is_lt(),
        };
        if !is_better || !group.others.is_empty() {
            self.rival = self.rival.min(value.low);
        }
        if is_better && let Some(old) = self.best.replace(new) {
            self.rival = self.rival.min(old.value.low);
        }
    }
}
