//! The server that suits a user best, without asking every server.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::model::State;
use super::rule::Ties;
use super::space::{Interval, NONE, Space};
use super::target::{Aim, Target, targets};

/// Finds the best servers of users.
pub(super) struct Finder<D: Digits> {
    aim: Aim,
    ties: Ties,
    spaces: Vec<Space<D>>,
    /// By user, by demand: what it looks for.
    targets: Vec<Vec<Option<Target>>>,
    /// By resource: the space for those that demand it first.
    space_of: Vec<usize>,
}

/// The best server of a user, as long as it does not change.
pub(super) struct Found<R> {
    pub server: usize,
    /// Whether no other one is as good; told where ties are decided at random.
    pub is_only: bool,
    value: Interval,
    exact: Option<R>,
    /// No other server is worth less than this.
    rival: f64,
}

/// A search for the best server of a user.
struct Search<'a, D: Digits> {
    finder: &'a Finder<D>,
    state: &'a State<'a, D>,
    n: usize,
    best: Option<Found<D::Ratio>>,
    /// For random ties: nodes whose servers are all as good, by space.
    equals: Vec<(usize, usize)>,
    /// A lower bound of all that was turned down.
    rival: f64,
}

/// The user and the demand on whose behalf a space is searched.
struct Looking<'a, D: Digits> {
    space: &'a Space<D>,
    which: usize,
    target: &'a Target,
    demand: &'a [D::Amount],
}

impl<D: Digits> Finder<D> {
    pub fn new(state: &State<'_, D>, aim: Aim, ties: Ties) -> Self {
        let model = state.model;
        let targets: Vec<_> = (0..model.users.len()).map(|n| targets(model, n, aim)).collect();
        let mut space_of = vec![usize::MAX; model.n_rows];
        let mut spaces = Vec::new();
        for target in targets.iter().flatten().flatten() {
            if space_of[target.first] != usize::MAX {
                continue;
            }
            if aim == Aim::MostRoom {
                space_of.fill(0);
            } else {
                space_of[target.first] = spaces.len();
            }
            spaces.push(Space::new(state, aim, target.first));
        }
        Self { aim, ties, spaces, targets, space_of }
    }

    /// Takes over what is left of server `j`.
    pub fn update(&mut self, state: &State<'_, D>, j: usize) {
        self.spaces.iter_mut().for_each(|space| space.update(state, j));
    }

    /// The best server of user `n`.
    pub fn best(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<Found<D::Ratio>> {
        let mut search =
            Search { finder: self, state, n, best: None, equals: Vec::new(), rival: f64::INFINITY };
        for target in self.targets[n].iter().flatten() {
            let which = self.space_of[target.first];
            let demand = &state.model.users[n].demands[target.demand as usize];
            let looking = Looking { space: &self.spaces[which], which, target, demand };
            if let Some(value) = search.bound(&looking, 1) {
                search.search(&looking, 1, value);
            }
        }
        let mut found = search.best?;
        found.rival = search.rival;
        if self.ties == Ties::Random {
            let mut servers = Vec::new();
            for (which, node) in search.equals {
                self.spaces[which].collect(node, &mut servers);
            }
            found.is_only = servers.len() == 1;
            let at = draw.position(servers.len());
            found.server = *servers.select_nth_unstable(at).1 as usize;
        }
        Some(found)
    }

    /// Server `j`, which has changed, for user `n`, and how it compares with another one, if it comes
    /// into question.
    pub fn compare(
        &self,
        state: &State<'_, D>,
        n: usize,
        j: usize,
        found: &mut Found<D::Ratio>,
    ) -> Option<(Ordering, Found<D::Ratio>)> {
        let value = self.value(state, n, j)?;
        let rival = found.rival.min(found.value.least());
        found.rival = found.rival.min(value.least());
        let mut other = Found { server: j, is_only: true, value, exact: None, rival };
        let order = self.order(state, n, &mut other, found)?;
        Some((order, other))
    }

    /// Whether the server found, which has changed, is certainly still the best one of user `n`.
    pub fn stays(&self, state: &State<'_, D>, n: usize, found: &mut Found<D::Ratio>) -> bool {
        let Some(value) = self.value(state, n, found.server).filter(|value| value.high < found.rival) else {
            return false;
        };
        (found.value, found.exact, found.is_only) = (value, None, true);
        true
    }

    /// What server `j` is worth to user `n`, if it counts.
    fn value(&self, state: &State<'_, D>, n: usize, j: usize) -> Option<Interval> {
        let demand = state.model.users[n].demand_on[state.model.class[j] as usize]? as usize;
        let target = self.targets[n][demand].as_ref()?;
        let space = &self.spaces[self.space_of[target.first]];
        let node = space.node_of(j);
        let counts = space.mark(node).lowest != NONE
            && (self.aim == Aim::Closest || space.may_fit(node, &state.model.users[n].demands[demand]));
        counts.then(|| space.value(node, target))
    }

    /// How one found server compares with another.
    fn order(
        &self,
        state: &State<'_, D>,
        n: usize,
        a: &mut Found<D::Ratio>,
        b: &mut Found<D::Ratio>,
    ) -> Option<Ordering> {
        if a.value.high < b.value.low {
            return Some(Ordering::Less);
        }
        if a.value.low > b.value.high {
            return Some(Ordering::Greater);
        }
        self.make_exact(state, n, a);
        self.make_exact(state, n, b);
        Some(a.exact.as_ref()?.cmp(b.exact.as_ref()?))
    }

    /// Whether no server below a node has more room than the one found, exactly. Where many have the same
    /// room, as at the beginning, floating point cannot tell, and every one would be asked.
    fn has_no_more_room(
        &self,
        state: &State<'_, D>,
        n: usize,
        looking: &Looking<'_, D>,
        node: usize,
        found: &mut Found<D::Ratio>,
    ) -> bool {
        if self.aim != Aim::MostRoom {
            return false;
        }
        self.make_exact(state, n, found);
        let least = state.model.room(n, looking.demand, looking.space.most(node));
        found.exact.as_ref().is_some_and(|exact| *exact <= least)
    }

    fn make_exact(&self, state: &State<'_, D>, n: usize, found: &mut Found<D::Ratio>) {
        if found.exact.is_some() {
            return;
        }
        let j = found.server;
        found.exact = match self.aim {
            Aim::MostRoom => {
                let demand = state.model.demand(n, state.model.class[j] as usize);
                demand.map(|demand| state.model.room(n, demand, state.left(j)))
            }
            Aim::Fitting | Aim::Closest => state.mismatch(n, j),
        };
        if found.exact.as_ref().is_some_and(D::is_zero) {
            found.value = Interval { low: 0.0, high: 0.0 };
        }
    }
}

impl<D: Digits> Search<'_, D> {
    /// The value of a node, if some server below may count.
    fn bound(&self, looking: &Looking<'_, D>, node: usize) -> Option<Interval> {
        let mark = looking.space.mark(node);
        let counts = mark.lowest != NONE
            && mark.classes & looking.target.some != 0
            && (self.finder.aim == Aim::Closest || looking.space.may_fit(node, looking.demand));
        counts.then(|| looking.space.value(node, looking.target))
    }

    fn search(&mut self, looking: &Looking<'_, D>, node: usize, value: Interval) {
        let (space, ties) = (looking.space, self.finder.ties);
        let mark = *space.mark(node);
        if let Some(best) = &mut self.best {
            let gains = match ties {
                Ties::Low => (mark.lowest as usize) < best.server,
                Ties::High => mark.highest as usize > best.server,
                Ties::Random => true,
            };
            let finder = self.finder;
            if value.low > best.value.high
                || !gains
                    && (value.low.max(0.0) >= best.value.high
                        || finder.has_no_more_room(self.state, self.n, looking, node, best))
            {
                self.rival = self.rival.min(value.least());
                return;
            }
        }
        let is_leaf = node >= space.leaves;
        if is_leaf {
            let class = self.state.model.class[mark.lowest as usize] as usize;
            if self.state.model.users[self.n].demand_on[class] == Some(looking.target.demand) {
                self.offer(looking, node, value);
            }
            return;
        }
        let all_count = mark.is_alike
            && mark.classes & !looking.target.all == 0
            && (self.finder.aim == Aim::Closest || space.all_fit(node, looking.demand));
        if all_count {
            self.offer(looking, node, value);
            return;
        }
        let children = [2 * node, 2 * node + 1].map(|child| (child, self.bound(looking, child)));
        // The more promising one first: what it holds may rule the other one out.
        let swap = match children.map(|(_, value)| value) {
            [Some(a), Some(b)] if a.low != b.low => b.low < a.low,
            _ if ties == Ties::High => space.mark(2 * node + 1).highest > space.mark(2 * node).highest,
            _ => space.mark(2 * node + 1).lowest < space.mark(2 * node).lowest,
        };
        for (child, value) in if swap { [children[1], children[0]] } else { children } {
            if let Some(value) = value {
                self.search(looking, child, value);
            }
        }
    }

    /// Servers that all count and are all worth `value`.
    fn offer(&mut self, looking: &Looking<'_, D>, node: usize, value: Interval) {
        let (mark, ties) = (looking.space.mark(node), self.finder.ties);
        let server = if ties == Ties::High { mark.highest } else { mark.lowest } as usize;
        let mut new = Found { server, is_only: false, value, exact: None, rival: 0.0 };
        if value.low <= 0.0 {
            self.finder.make_exact(self.state, self.n, &mut new);
        }
        let order = match &mut self.best {
            None => Ordering::Less,
            Some(best) => match self.finder.order(self.state, self.n, &mut new, best) {
                Some(order) => order,
                None => return,
            },
        };
        let is_preferred = |best: &Found<_>| match ties {
            Ties::Low => server < best.server,
            Ties::High => server > best.server,
            Ties::Random => false,
        };
        if order == Ordering::Less {
            self.equals.clear();
        }
        if order != Ordering::Greater && ties == Ties::Random {
            self.equals.push((looking.which, node));
        }
        let replaces = match order {
            Ordering::Less => true,
            Ordering::Equal => self.best.as_ref().is_some_and(is_preferred),
            Ordering::Greater => false,
        };
        if mark.lowest != mark.highest || !replaces {
            self.rival = self.rival.min(value.least());
        }
        if replaces && let Some(old) = self.best.replace(new) {
            self.rival = self.rival.min(old.value.least());
        }
    }
}
