//! Group forms of sharing incentive and of envy-freeness (docs/theory.md, section 7). A party is a group with all users
//! below it, or a user that belongs to no group. Only active users count.
//!
//! The *own part* of a party is a fraction of the own part of the group above it. The fraction is the weight $w_v$ of
//! the party over the sum of the weights of the party and of its siblings. The own part of the root is the cluster. The
//! gain of a party `v` from amounts `R` of every row is the largest `z` for which an allocation of its users within `R`
//! gives each at least
//!
//! $$\min(T_n, x_n + z g_n).$$
//!
//! The gain is at most the largest fraction of tasks that a user still lacks, $\max_n (T_n - x_n) / g_n$. It is
//! negative if the users cannot even have their present tasks within `R`. `group-sharing-incentive`: no party gains
//! from its own part. `group-envy-free`: no party gains from the usage of a sibling, times $w_v / w_h$, where both
//! weights are above 0. The margins are minus the largest gain.
//!
//! The evidence that an axiom holds are weights `l` and prices `p` and `q` for every party (and for every other party
//! that it is compared with). They satisfy $l_n \le \sum_r p_{ir} d_{nir} + q_n$ on every class where `n` can run. If
//! the party gains `z`, then $\sum_n l_n \min(T_n, x_n + z g_n) \le \sum p R + \sum_n q_n T_n$. This bounds `z`,
//! because the left side grows with `z`. The evidence that an axiom is violated is an allocation of the users of a
//! party within `R`.

use evenhand_problem::Rational;

use crate::budget::TooLarge;
use crate::evidence::{Party, PartyPrices};
use crate::instance::{Instance, Tasks};
use crate::prices::PriceVector;
use crate::refusal::Refusal;

pub(crate) mod rule;

/// The largest number of parties, or pairs of parties, that are compared. Each comparison needs its own bound.
const MOST_COMPARED: u64 = 1_000_000;
/// The memory for [`MOST_COMPARED`] comparisons, in bytes.
const MOST_BYTES: u64 = 100_000_000;

/// The parties of a problem, and their usage in an allocation.
pub struct Parties<'i, 'p> {
    instance: &'i Instance<'p>,
    /// The active users below each group.
    of_group: Vec<Vec<usize>>,
    /// For each group, with the root last, the sum of the weights of its active users and of its subgroups with active
    /// users.
    weights: Vec<Rational>,
}

impl<'i, 'p> Parties<'i, 'p> {
    /// Collects the parties of an allocation.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the budget is exceeded.
    pub fn new(instance: &'i Instance<'p>) -> Result<Self, TooLarge> {
        instance.charge_all_users()?;
        let problem = instance.problem();
        let groups = problem.groups();
        let root = groups.list().len();
        let mut of_group = vec![Vec::new(); root];
        let mut weights = vec![Rational::new(); root + 1];
        for n in (0..problem.n_users()).filter(|&n| instance.is_active(n)) {
            let group = groups.member(n).group;
            weights[group.unwrap_or(root)] += problem.users()[n].weight();
            groups.above(group).for_each(|v| of_group[v].push(n));
        }
        for (group, _) in groups.list().iter().zip(&of_group).filter(|(_, users)| !users.is_empty()) {
            weights[group.parent.unwrap_or(root)] += &group.weight;
        }
        Ok(Self { instance, of_group, weights })
    }

    /// Returns all parties: groups, then users that belong to no group.
    #[must_use]
    pub fn all(&self) -> Vec<Party> {
        let groups = (0..self.of_group.len()).filter(|v| !self.of_group[*v].is_empty()).map(Party::Group);
        let member = |n: &usize| self.instance.problem().groups().member(*n);
        let alone = (0..self.instance.problem().n_users())
            .filter(|n| self.instance.is_active(*n) && member(n).group.is_none());
        groups.chain(alone.map(Party::User)).collect()
    }

    /// Returns the comparisons `(party, other)`. For sharing incentive, each party is compared with its own part
    /// (`None`). For envy, each party is compared with its siblings.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if there are too many comparisons.
    pub fn compared(&self, envy: bool) -> Result<Vec<(Party, Option<Party>)>, TooLarge> {
        let all = self.all();
        if !envy {
            within(all.len() as u64)?;
            return Ok(all.into_iter().map(|party| (party, None)).collect());
        }
        let mut beside = vec![Vec::new(); self.weights.len()];
        for party in all.into_iter().filter(|party| !self.weight(*party).is_zero()) {
            beside[self.parent(party).unwrap_or(self.of_group.len())].push(party);
        }
        let pairs = beside.iter().map(|parties| (parties.len() as u64).saturating_mul(parties.len() as u64));
        within(pairs.fold(0, u64::saturating_add))?;
        let mut compared = Vec::new();
        for parties in &beside {
            for party in parties {
                let others = parties.iter().filter(|other| *other != party);
                compared.extend(others.map(|other| (*party, Some(*other))));
            }
        }
        Ok(compared)
    }

    /// Returns the active users of a party, ascending. The list is empty if `party` is not a party of the problem.
    #[must_use]
    pub fn users(&self, party: Party) -> Vec<usize> {
        match party {
            Party::Group(v) => self.of_group.get(v).cloned().unwrap_or_default(),
            Party::User(n) => {
                let is_there = n < self.instance.problem().n_users() && self.instance.is_active(n);
                let is_alone = is_there && self.instance.problem().groups().member(n).group.is_none();
                if is_alone { vec![n] } else { Vec::new() }
            }
        }
    }

    fn weight(&self, party: Party) -> &Rational {
        match party {
            Party::Group(v) => &self.instance.problem().groups().list()[v].weight,
            Party::User(n) => self.instance.problem().users()[n].weight(),
        }
    }

    fn parent(&self, party: Party) -> Option<usize> {
        match party {
            Party::Group(v) => self.instance.problem().groups().list()[v].parent,
            Party::User(_) => None,
        }
    }

    /// Returns the amounts of every row that a party could have. They are its own part, or the usage of another party
    /// scaled by the weights.
    #[must_use]
    pub fn amounts(&self, party: Party, other: Option<Party>) -> Vec<Rational> {
        let constraints = self.instance.constraints();
        let Some(other) = other else {
            let part = self.part(party);
            return constraints.rows().iter().map(|row| Rational::from(&row.capacity * &part)).collect();
        };
        let mut held = self.loads(&self.users(other), &self.instance.tasks());
        let rate = Rational::from(self.weight(party) / self.weight(other));
        held.iter_mut().for_each(|amount| *amount *= &rate);
        held
    }

    /// Returns the amounts of every row that tasks of these users use.
    fn loads(&self, users: &[usize], tasks: &Tasks) -> Vec<Rational> {
        let constraints = self.instance.constraints();
        let mut loads = vec![Rational::new(); constraints.rows().len()];
        for n in users {
            for (i, x) in tasks.get(*n).into_iter().flatten() {
                let Some(usage) = constraints.usage(*n, *i) else { continue };
                let start = constraints.class_rows(*i).start;
                usage.entries().for_each(|(at, d)| loads[start + at] += Rational::from(d * x));
            }
        }
        loads
    }

    /// Returns the own part of a party, as a fraction of the whole cluster.
    fn part(&self, party: Party) -> Rational {
        let root = self.of_group.len();
        let (mut part, mut at) = (Rational::from(1), Some(party));
        while let Some(party) = at {
            let parent = self.parent(party);
            if self.weight(party).is_zero() {
                return Rational::new();
            }
            part *= Rational::from(self.weight(party) / &self.weights[parent.unwrap_or(root)]);
            at = parent.map(Party::Group);
        }
        part
    }

    /// Returns `(T_n - x_n) / g_n`, or `None` if the tasks of the user are unlimited.
    fn left(&self, n: usize) -> Option<Rational> {
        let tasks = self.instance.problem().users()[n].tasks()?;
        Some((tasks - self.instance.total(n)) / self.instance.scale(n))
    }

    /// Returns the largest `(T_n - x_n) / g_n`, or `None` if the tasks of some user are unlimited.
    fn most_left(&self, users: &[usize]) -> Option<Rational> {
        let left: Option<Vec<Rational>> = users.iter().map(|n| self.left(*n)).collect();
        left?.into_iter().max()
    }

    /// Returns the largest gain of a party from amounts of every row that the prices allow.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the prices prove nothing.
    pub fn bound(
        &self,
        party: Party,
        amounts: &[Rational],
        prices: &PriceVector,
    ) -> Result<Rational, Refusal> {
        let users = self.users(party);
        self.charge(&users, amounts.len())?;
        let mut named = prices.user_weights.iter().chain(&prices.users);
        let n_users = self.instance.problem().n_users();
        if named.any(|(n, value)| *n >= n_users || !value.is_zero() && users.binary_search(n).is_err())
            || prices.rows.iter().any(|(row, _)| *row >= amounts.len())
        {
            return Err(Refusal::new("a price or a weight is for a user that is not in the party"));
        }
        let weights = || prices.user_weights.iter().filter(|(_, l)| !l.is_zero());
        let problem = self.instance.problem();
        let rows = prices.rows.iter().map(|(row, p)| Rational::from(p * &amounts[*row]));
        let tasks =
            prices.users.iter().filter_map(|(n, q)| Some(Rational::from(problem.users()[*n].tasks()? * q)));
        let bound: Rational = rows.chain(tasks).sum();
        let most = || {
            let unbounded = || Refusal::new("the prices do not bound the gain of the party");
            self.most_left(&users).ok_or_else(unbounded)
        };
        // The sum of the floors is concave and increasing. Starting from below, its tangents lead to the point where
        // the sum equals the bound.
        let slope = |z: Option<&Rational>| -> Rational {
            let open = weights().filter(|(n, _)| match (self.left(*n), z) {
                (Some(left), Some(z)) => *z < left,
                _ => true,
            });
            open.map(|(n, l)| Rational::from(l * self.instance.scale(*n))).sum()
        };
        let floors = |z: &Rational| -> Rational {
            let floor = |n: usize| {
                let more = self.left(n).filter(|left| left < z).unwrap_or_else(|| z.clone());
                self.instance.total(n) + more * self.instance.scale(n)
            };
            weights().map(|(n, l)| l * floor(*n)).sum()
        };
        let held: Rational = weights().map(|(n, l)| l * self.instance.total(*n)).sum();
        let steepest = slope(None);
        if steepest.is_zero() {
            return most();
        }
        let mut z = Rational::from(&bound - &held) / steepest;
        loop {
            self.charge(&users, 0)?;
            let slope = slope(Some(&z));
            if slope.is_zero() {
                return most();
            }
            let missing = Rational::from(&bound - &floors(&z));
            if missing.is_zero() {
                break;
            }
            z += missing / slope;
        }
        Ok(self.most_left(&users).map_or(z.clone(), |most| most.min(z)))
    }

    /// Returns the gain of a party that an allocation of its users shows.
    fn gain(&self, party: Party, tasks: &Tasks) -> Rational {
        let users = self.users(party);
        let gain = |n: &usize| {
            let all: Rational = tasks.get(*n).into_iter().flatten().map(|(_, y)| y).sum();
            let gain = Rational::from(&all - &self.instance.total(*n)) / self.instance.scale(*n);
            // A user that has all its tasks does not limit the gain.
            self.left(*n).is_none_or(|left| gain < left).then_some(gain)
        };
        users.iter().filter_map(gain).min().or_else(|| self.most_left(&users)).unwrap_or_default()
    }

    /// Charges one examination of `users` on all classes, and of `rows` rows.
    fn charge(&self, users: &[usize], rows: usize) -> Result<(), TooLarge> {
        let each = self.instance.problem().n_servers() + 4;
        let all = users.len().saturating_mul(each).saturating_add(rows) as u64;
        self.instance.budget().charge(all.saturating_mul(self.instance.steps()))
    }

    /// Returns the margin that prices prove for all comparisons. Returns `None` if there is no comparison.
    fn margin_of_prices(&self, proofs: &[PartyPrices]) -> Result<Option<Rational>, Refusal> {
        let mut most: Option<Rational> = None;
        for PartyPrices { party, envied, prices } in proofs {
            let own_part = envied.is_empty().then_some(None);
            for other in envied.iter().copied().map(Some).chain(own_part) {
                let gain = self.bound(*party, &self.amounts(*party, other), prices)?;
                if most.as_ref().is_none_or(|most| gain > *most) {
                    most = Some(gain);
                }
            }
        }
        Ok(most.map(|gain| -gain))
    }
}

fn within(compared: u64) -> Result<(), TooLarge> {
    if compared > MOST_COMPARED { Err(TooLarge::memory(MOST_BYTES)) } else { Ok(()) }
}
