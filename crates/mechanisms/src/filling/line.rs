//! Best fit where there are two rows: servers along a line, by the proportion of what is left of them.
//!
//! The mismatch of a task and a server is how far their proportions lie apart, so the best server is the
//! nearest one that fits, to the left or to the right. Servers of which the same is left form one group. The
//! groups lie in blocks that know the most that is left in them; servers on which nobody fits are left out.
//! Places are in floating point with a bound of their error; exact mismatches decide what those do not.

use std::cmp::Ordering;

use super::best_fit::BestServers;
use super::digits::Digits;
use super::draw::Draw;
use super::model::{Model, State};
use super::rule::Ties;
use super::space::Interval;
use super::target::{Aim, Axis, Target, axes, targets};

/// Groups of a block, at most; one that is full is divided.
const BLOCK: usize = 32;
/// Blocks of a row of blocks, which is passed over at once where nothing in it is large enough: best fit uses up
/// the nearest servers first, so that many of those have too little left.
const ROW: usize = 16;
/// Blocks are filled half when they are made, so that they have room.
const FILLED: usize = BLOCK / 2;
/// Parts of a proportion that its error is within: a quotient, a product and a difference.
const ERROR: f64 = 36.0 * f64::EPSILON;

/// A proportion has this range of weights: so that no place is beyond all numbers, or none.
const WEIGHTS: std::ops::Range<f64> = 1e-200..1e200;

/// Servers of one class of which the same is left.
struct Group<D: Digits> {
    /// Proportion of the two rows.
    at: f64,
    left: [D::Amount; 2],
    class: u32,
    /// The servers, the preferred one last.
    servers: Servers,
}

/// Servers of a group: mostly there is only one.
enum Servers {
    One(u32),
    Several(Vec<u32>),
}

impl<D: Digits> Group<D> {
    fn order(&self, at: f64, left: &[D::Amount], class: u32) -> Ordering {
        self.at.total_cmp(&at).then_with(|| (self.left.as_slice(), self.class).cmp(&(left, class)))
    }

    /// The preferred server.
    fn first(&self) -> usize {
        match &self.servers {
            Servers::One(j) => *j as usize,
            Servers::Several(servers) => servers.last().map_or(0, |j| *j as usize),
        }
    }

    fn fits(&self, demand: &[D::Amount]) -> bool {
        demand[0] <= self.left[0] && demand[1] <= self.left[1]
    }
}

/// Groups that lie side by side.
struct Block<D: Digits> {
    groups: Vec<Group<D>>,
    /// By row: the most that is left.
    most: [D::Amount; 2],
}

impl<D: Digits> Block<D> {
    fn new(groups: Vec<Group<D>>) -> Self {
        let mut block = Self { groups, most: Default::default() };
        block.measure();
        block
    }

    fn measure(&mut self) {
        for row in 0..2 {
            self.most[row] =
                self.groups.iter().map(|group| &group.left[row]).max().cloned().unwrap_or_default();
        }
    }

    fn first(&self) -> f64 {
        self.groups.first().map_or(f64::INFINITY, |group| group.at)
    }
}

/// Servers along one line: as users see them that demand the row `first` first.
struct Line<D: Digits> {
    first: usize,
    axis: Axis<D>,
    blocks: Vec<Block<D>>,
    /// By block: where it begins.
    begins: Vec<f64>,
    /// By row of blocks, by row of the problem: the most that is left.
    most: Vec<[D::Amount; 2]>,
    n_groups: usize,
}

/// All servers.
pub(super) struct Lines<D: Digits> {
    lines: Vec<Line<D>>,
    /// By user, by demand: what it looks for.
    targets: Vec<Vec<Option<Target>>>,
    /// By server, by row: what was left of it when it was put in place.
    left: Vec<D::Amount>,
    /// By row: the least that anybody wants.
    least: [D::Amount; 2],
    ties: Ties,
}

/// The best group so far.
struct Best<R> {
    server: usize,
    value: Interval,
    exact: Option<R>,
}

impl<D: Digits> Lines<D> {
    /// `None` unless there are two rows, with places in the range of floating point.
    pub fn new(state: &State<'_, D>, ties: Ties) -> Option<Self> {
        let model = state.model;
        if model.n_rows != 2 {
            return None;
        }
        let targets: Vec<_> = (0..model.users.len()).map(|n| targets(model, n, Aim::Fitting)).collect();
        let is_first = |row: &usize| targets.iter().flatten().flatten().any(|target| target.first == *row);
        let lines: Option<_> = (0..2).filter(is_first).map(|first| Line::new(model, first)).collect();
        let lines = lines?;
        let left = (0..model.n_servers()).flat_map(|j| state.left(j)).cloned().collect();
        let mut all = Self { lines, targets, left, least: [0, 1].map(|row| least(model, row)), ties };
        for line in 0..all.lines.len() {
            all.arrange(state, line);
        }
        Some(all)
    }

    /// Puts all servers on a line.
    fn arrange(&mut self, state: &State<'_, D>, which: usize) {
        let line = &self.lines[which];
        let mut groups: Vec<(f64, u32)> = Vec::new();
        for j in 0..state.model.n_servers() {
            let left = &self.left[2 * j..2 * j + 2];
            if is_of_use::<D>(left, &self.least, line.first) {
                groups.push((line.axis.of(left, line.first), j as u32));
            }
        }
        let key = |j: u32| (&self.left[2 * j as usize..2 * j as usize + 2], state.model.class[j as usize]);
        groups.sort_unstable_by(|a, b| {
            a.0.total_cmp(&b.0)
                .then_with(|| key(a.1).cmp(&key(b.1)))
                .then_with(|| preferred(self.ties, a.1, b.1))
        });
        let mut made: Vec<Group<D>> = Vec::new();
        for (at, j) in groups {
            let (left, class) = key(j);
            if let Some(last) = made.last_mut().filter(|last| last.order(at, left, class) == Ordering::Equal)
            {
                last.servers.push(j);
            } else {
                let left = [left[0].clone(), left[1].clone()];
                made.push(Group { at, left, class, servers: Servers::One(j) });
            }
        }
        self.lines[which].divide(made);
    }
}

impl<D: Digits> BestServers<D> for Lines<D> {
    fn take_over(&mut self, state: &State<'_, D>, j: usize) {
        let class = state.model.class[j];
        let now = state.left(j);
        for line in &mut self.lines {
            let was = &self.left[2 * j..2 * j + 2];
            if is_of_use::<D>(was, &self.least, line.first) {
                line.remove(was, class, j as u32, self.ties);
            }
            if is_of_use::<D>(now, &self.least, line.first) {
                line.insert(now, class, j as u32, self.ties);
            }
        }
        self.left[2 * j..2 * j + 2].clone_from_slice(now);
    }

    fn best_server(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<usize> {
        let mut search = Search { state, n, ties: self.ties, best: None, equals: Vec::new() };
        for target in self.targets[n].iter().flatten() {
            let demand = &state.model.users[n].demands[target.demand as usize];
            if let Some(line) = self.lines.iter().find(|line| line.first == target.first) {
                search.along(line, target, demand);
            }
        }
        if self.ties != Ties::Random {
            return Some(search.best?.server);
        }
        let mut servers = Vec::new();
        for group in search.equals {
            match &group.servers {
                Servers::One(j) => servers.push(*j),
                Servers::Several(several) => servers.extend(several),
            }
        }
        if servers.is_empty() {
            return None;
        }
        let at = draw.position(servers.len());
        Some(*servers.select_nth_unstable(at).1 as usize)
    }
}

/// The least demand of a row that anybody has.
fn least<D: Digits>(model: &Model<D>, row: usize) -> D::Amount {
    let demands = model.users.iter().flat_map(|user| &user.demands).map(|demand| &demand[row]);
    demands.min().cloned().unwrap_or_default()
}

/// Whether somebody may fit there who demands `first` first.
fn is_of_use<D: Digits>(left: &[D::Amount], least: &[D::Amount; 2], first: usize) -> bool {
    left[first] != D::Amount::default() && least[0] <= left[0] && least[1] <= left[1]
}

/// Whether of two servers the second one is preferred: then the first one comes first in a group.
fn preferred(ties: Ties, a: u32, b: u32) -> Ordering {
    if ties == Ties::High { a.cmp(&b) } else { b.cmp(&a) }
}

impl Servers {
    /// Another one, which is preferred to all others.
    fn push(&mut self, j: u32) {
        match self {
            Self::One(only) => *self = Self::Several(vec![*only, j]),
            Self::Several(servers) => servers.push(j),
        }
    }

    fn insert(&mut self, j: u32, ties: Ties) {
        if let Self::One(only) = self {
            *self = Self::Several(vec![*only]);
        }
        if let Self::Several(servers) = self {
            let at = servers.partition_point(|k| preferred(ties, *k, j) == Ordering::Less);
            servers.insert(at, j);
        }
    }

    /// Whether nobody is left.
    fn remove(&mut self, j: u32, ties: Ties) -> bool {
        match self {
            Self::One(_) => true,
            Self::Several(servers) => {
                if let Ok(at) = servers.binary_search_by(|k| preferred(ties, *k, j)) {
                    servers.remove(at);
                }
                servers.is_empty()
            }
        }
    }
}

impl<D: Digits> Line<D> {
    fn new(model: &Model<D>, first: usize) -> Option<Self> {
        let axis = axes(model, Aim::Fitting, first).pop()?;
        WEIGHTS.contains(&axis.weight).then(|| Self {
            first,
            axis,
            blocks: Vec::new(),
            begins: Vec::new(),
            most: Vec::new(),
            n_groups: 0,
        })
    }

    /// Makes blocks of groups that are in order.
    fn divide(&mut self, groups: Vec<Group<D>>) {
        self.n_groups = groups.len();
        self.blocks.clear();
        let mut groups = groups.into_iter().peekable();
        while groups.peek().is_some() {
            self.blocks.push(Block::new(groups.by_ref().take(FILLED).collect()));
        }
        self.begins = self.blocks.iter().map(Block::first).collect();
        self.measure(0);
    }

    /// Takes over what is left in the blocks of a row of blocks, and of those after it.
    fn measure(&mut self, row: usize) {
        self.most.truncate(row);
        for blocks in self.blocks[(row * ROW).min(self.blocks.len())..].chunks(ROW) {
            self.most.push(most(blocks));
        }
    }

    /// The block and the place in it where such a group is, or belongs.
    fn find(&self, at: f64, left: &[D::Amount], class: u32) -> (usize, Result<usize, usize>) {
        // Of several blocks that begin at this place the right one is the last that begins before the group.
        let mut block = self.begins.partition_point(|begin| begin.total_cmp(&at).is_le()).saturating_sub(1);
        while block > 0
            && self.blocks[block].groups.first().is_some_and(|group| group.order(at, left, class).is_gt())
        {
            block -= 1;
        }
        let groups = self.blocks.get(block).map_or(&[][..], |block| &block.groups);
        (block, groups.binary_search_by(|group| group.order(at, left, class)))
    }

    fn insert(&mut self, left: &[D::Amount], class: u32, j: u32, ties: Ties) {
        let at = self.axis.of(left, self.first);
        let (which, place) = self.find(at, left, class);
        let index = match place {
            Ok(index) => {
                self.blocks[which].groups[index].servers.insert(j, ties);
                return;
            }
            Err(index) => index,
        };
        let left = [left[0].clone(), left[1].clone()];
        let group = Group { at, left: left.clone(), class, servers: Servers::One(j) };
        self.n_groups += 1;
        if self.blocks.is_empty() {
            self.divide(vec![group]);
            return;
        }
        let block = &mut self.blocks[which];
        block.groups.insert(index, group);
        for (row, left) in left.into_iter().enumerate() {
            let of_row = &mut self.most[which / ROW][row];
            *of_row = std::mem::take(of_row).max(left.clone());
            block.most[row] = std::mem::take(&mut block.most[row]).max(left);
        }
        if block.groups.len() > BLOCK {
            let right = Block::new(block.groups.split_off(FILLED));
            block.measure();
            self.begins.insert(which + 1, right.first());
            self.blocks.insert(which + 1, right);
            self.measure(which / ROW);
        }
        self.begins[which] = self.blocks[which].first();
    }

    fn remove(&mut self, left: &[D::Amount], class: u32, j: u32, ties: Ties) {
        let at = self.axis.of(left, self.first);
        let (which, Ok(index)) = self.find(at, left, class) else { return };
        let block = &mut self.blocks[which];
        if !block.groups[index].servers.remove(j, ties) {
            return;
        }
        self.n_groups -= 1;
        let gone = block.groups.remove(index);
        let was_most = gone.left.iter().zip(&block.most).any(|(left, most)| left == most);
        if was_most {
            block.measure();
        }
        if block.groups.is_empty() {
            self.blocks.remove(which);
            self.begins.remove(which);
            self.measure(which / ROW);
        } else {
            self.begins[which] = block.first();
            if was_most {
                let row = which / ROW;
                let end = (row * ROW + ROW).min(self.blocks.len());
                self.most[row] = most(&self.blocks[row * ROW..end]);
            }
        }
        // Blocks that have run empty are put together, so that there are never many more than groups need.
        if self.blocks.len() > BLOCK + self.n_groups / (FILLED / 8) {
            let groups = std::mem::take(&mut self.blocks).into_iter().flat_map(|block| block.groups);
            let groups = groups.collect();
            self.divide(groups);
        }
    }
}

/// By row: the most that is left in any of the blocks.
fn most<D: Digits>(blocks: &[Block<D>]) -> [D::Amount; 2] {
    [0, 1].map(|row| blocks.iter().map(|block| &block.most[row]).max().cloned().unwrap_or_default())
}

fn is_enough<D: Digits>(most: &[D::Amount; 2], demand: &[D::Amount]) -> bool {
    demand[0] <= most[0] && demand[1] <= most[1]
}

/// A search for the best server of a user.
struct Search<'a, D: Digits> {
    state: &'a State<'a, D>,
    n: usize,
    ties: Ties,
    best: Option<Best<D::Ratio>>,
    /// For random ties: the groups that are as good as the best one.
    equals: Vec<&'a Group<D>>,
}

impl<'a, D: Digits> Search<'a, D> {
    /// From the place of the target to both sides, the nearer one first.
    fn along(&mut self, line: &'a Line<D>, target: &Target, demand: &[D::Amount]) {
        let Some(&t) = target.at.first() else { return };
        let start = line.begins.partition_point(|begin| *begin <= t).saturating_sub(1);
        let Some(block) = line.blocks.get(start) else { return };
        let middle = block.groups.partition_point(|group| group.at < t);
        // Blocks, and where what has not been looked at begins or ends there.
        let (mut right, mut left) = (Some((start, middle)), Some((start, middle)));
        loop {
            let to_right = right.map(|(at, from)| &line.blocks[at].groups[from..]);
            let to_left = left.map(|(at, end)| &line.blocks[at].groups[..end]);
            let far = |group: Option<&Group<D>>| group.map_or(0.0, |group| (group.at - t).abs());
            let distance_right = to_right.map_or(f64::INFINITY, |groups| far(groups.first()));
            let distance_left = to_left.map_or(f64::INFINITY, |groups| far(groups.last()));
            let goes_right = to_left.is_none() || to_right.is_some() && distance_right <= distance_left;
            let (Some((at, _)), Some(groups)) =
                (if goes_right { (right, to_right) } else { (left, to_left) })
            else {
                return;
            };
            // What lies beyond is at least as far, and the other side is farther still.
            if self.is_too_far(if goes_right { distance_right } else { distance_left }, t, target) {
                return;
            }
            let (row, is_entered) = (at / ROW, at % ROW == if goes_right { 0 } else { ROW - 1 });
            if is_entered && !is_enough::<D>(&line.most[row], demand) {
                if goes_right {
                    let next = (row + 1) * ROW;
                    right = (next < line.blocks.len()).then_some((next, 0));
                } else {
                    left = (row * ROW).checked_sub(1).map(|at| (at, line.blocks[at].groups.len()));
                }
                continue;
            }
            if is_enough::<D>(&line.blocks[at].most, demand) {
                if goes_right {
                    self.among(groups.iter(), t, target, demand);
                } else {
                    self.among(groups.iter().rev(), t, target, demand);
                }
            }
            if goes_right {
                right = (at + 1 < line.blocks.len()).then_some((at + 1, 0));
            } else {
                left = at.checked_sub(1).map(|at| (at, line.blocks[at].groups.len()));
            }
        }
    }

    /// Whether nothing at this distance from the target, or farther, comes into question.
    fn is_too_far(&self, distance: f64, t: f64, target: &Target) -> bool {
        let error = (target.size + t + distance) * ERROR + D::TINY;
        self.best.as_ref().is_some_and(|best| distance - error > best.value.high)
    }

    /// Groups by their distance from the target.
    fn among(
        &mut self,
        groups: impl Iterator<Item = &'a Group<D>>,
        t: f64,
        target: &Target,
        demand: &[D::Amount],
    ) {
        for group in groups {
            if self.is_too_far((group.at - t).abs(), t, target) {
                return;
            }
            if group.fits(demand) {
                self.offer(group, t, target);
            }
        }
    }

    fn offer(&mut self, group: &'a Group<D>, t: f64, target: &Target) {
        let distance = (group.at - t).abs();
        let error = (target.size + group.at) * ERROR + D::TINY;
        let value = Interval { low: distance - error, high: distance + error };
        let worse = self.best.as_ref().is_some_and(|best| value.low > best.value.high);
        let on_class = self.state.model.users[self.n].demand_on[group.class as usize];
        if worse || on_class != Some(target.demand) {
            return;
        }
        let mut new = Best { server: group.first(), value, exact: None };
        let order = match &mut self.best {
            None => Ordering::Less,
            Some(best) if new.value.high < best.value.low => Ordering::Less,
            Some(best) => {
                let (state, n) = (self.state, self.n);
                let exact = best.exact.take().or_else(|| state.mismatch(n, best.server));
                new.exact = state.mismatch(n, new.server);
                let order = new.exact.cmp(&exact);
                best.exact = exact;
                order
            }
        };
        if order.is_lt() {
            self.equals.clear();
        }
        if order.is_le() && self.ties == Ties::Random {
            self.equals.push(group);
        }
        let replaces = match (&self.best, order) {
            (None, _) | (_, Ordering::Less) => true,
            (Some(best), Ordering::Equal) => {
                preferred(self.ties, best.server as u32, new.server as u32).is_lt()
            }
            _ => false,
        };
        if replaces {
            self.best = Some(new);
        }
    }
}
