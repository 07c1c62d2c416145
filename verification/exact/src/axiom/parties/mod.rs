//! Group forms of sharing incentive and of envy-free (theory, section 7). A party is a group with everybody below it, or
//! a user who stands in no group; only those who can be given something count.
//!
//! The *own part* of a party is $w_v / \sum w$ over whatever stands beside it, of the own part of the group above it; of
//! the root that is the cluster. The gain of a party `v` from amounts `R` of every row is the largest `z` for which an
//! allocation of its users within `R` gives each at least
//!
//! $$\min(T_n, x_n + z g_n),$$
//!
//! at most what is left to somebody of its tasks, $\max_n (T_n - x_n) / g_n$. It is negative where they could not have
//! what they have. `group-sharing-incentive`: no user gains from its own part. `group-envy-free`: no party gains from
//! what one beside it holds, times $w_v / w_h$, both weights above 0. Margins: minus the largest gain.
//!
//! Evidence of yes: for every party (and every other that it is compared with) weights `l`, prices `p` and `q`, with
//! $l_n \le \sum_r p_{ir} d_{nir} + q_n$ on every class where `n` can run. Whoever gains `z` has
//! $\sum_n l_n \min(T_n, x_n + z g_n) \le \sum p R + \sum_n q_n T_n$, and where the left side grows that bounds `z`.
//! Evidence of no: an allocation of the users of a party within `R`.

use evenhand_problem::Rational;

use crate::budget::TooLarge;
use crate::evidence::{Party, PartyPrices};
use crate::instance::{Instance, Tasks};
use crate::prices::PriceVector;
use crate::refusal::Refusal;

pub(crate) mod rule;

/// Parties, or pairs of them, beyond which they are not judged: each has a bound of its own.
const MOST_COMPARED: u64 = 1_000_000;
/// The memory for that, in bytes.
const MOST_BYTES: u64 = 100_000_000;

/// The parties of a problem, and what they hold.
pub struct Parties<'i, 'p> {
    instance: &'i Instance<'p>,
    /// Active users by group.
    of_group: Vec<Vec<usize>>,
    /// By group, the root last: the weights of what stands in it and can be given something, added up.
    weights: Vec<Rational>,
}

impl<'i, 'p> Parties<'i, 'p> {
    /// Of an allocation.
    ///
    /// # Errors
    /// [`TooLarge`] when the work is not left.
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

    /// All parties: groups, then users without one.
    #[must_use]
    pub fn all(&self) -> Vec<Party> {
        let groups = (0..self.of_group.len()).filter(|v| !self.of_group[*v].is_empty()).map(Party::Group);
        let member = |n: &usize| self.instance.problem().groups().member(*n);
        let alone = (0..self.instance.problem().n_users())
            .filter(|n| self.instance.is_active(*n) && member(n).group.is_none());
        groups.chain(alone.map(Party::User)).collect()
    }

    /// `(party, other)` of what is compared: for sharing incentive each with its own part, for envy each with those that
    /// stand beside it.
    ///
    /// # Errors
    /// [`TooLarge`] when these are too many.
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

    /// The active users of a party, ascending; none where it is no party.
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

    /// The amounts of every row that a party could have: its own part, or what another holds by their weights.
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

    /// What these users hold of every row.
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

    /// The own part of a party, of the whole cluster.
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

    /// `(T_n - x_n) / g_n`; `None` where tasks are unlimited.
    fn left(&self, n: usize) -> Option<Rational> {
        let tasks = self.instance.problem().users()[n].tasks()?;
        Some((tasks - self.instance.total(n)) / self.instance.scale(n))
    }

    /// The largest `(T_n - x_n) / g_n`; `None` where somebody's tasks are unlimited.
    fn most_left(&self, users: &[usize]) -> Option<Rational> {
        let left: Option<Vec<Rational>> = users.iter().map(|n| self.left(*n)).collect();
        left?.into_iter().max()
    }

    /// The least gain that prices leave to a party from amounts of every row.
    ///
    /// # Errors
    /// [`Refusal`] when they prove nothing.
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
            return Err(Refusal::new("the prices are not about the users of the party"));
        }
        let weights = || prices.user_weights.iter().filter(|(_, l)| !l.is_zero());
        let problem = self.instance.problem();
        let rows = prices.rows.iter().map(|(row, p)| Rational::from(p * &amounts[*row]));
        let tasks =
            prices.users.iter().filter_map(|(n, q)| Some(Rational::from(problem.users()[*n].tasks()? * q)));
        let bound: Rational = rows.chain(tasks).sum();
        let most = || {
            let unbounded = || Refusal::new("the prices bound no gain of the party");
            self.most_left(&users).ok_or_else(unbounded)
        };
        // The sum of the floors is concave and grows: from below, its tangents lead to where it is the bound.
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

    /// The gain of a party that an allocation of its users shows.
    fn gain(&self, party: Party, tasks: &Tasks) -> Rational {
        let users = self.users(party);
        let gain = |n: &usize| {
            let all: Rational = tasks.get(*n).into_iter().flatten().map(|(_, y)| y).sum();
            let gain = Rational::from(&all - &self.instance.total(*n)) / self.instance.scale(*n);
            // Who has all its tasks gains no less than anybody.
            self.left(*n).is_none_or(|left| gain < left).then_some(gain)
        };
        users.iter().filter_map(gain).min().or_else(|| self.most_left(&users)).unwrap_or_default()
    }

    /// Charges a look at some users on all classes, and at so many rows.
    fn charge(&self, users: &[usize], rows: usize) -> Result<(), TooLarge> {
        let each = self.instance.problem().n_servers() + 4;
        let all = users.len().saturating_mul(each).saturating_add(rows) as u64;
        self.instance.budget().charge(all.saturating_mul(self.instance.steps()))
    }

    /// The margin that prices show of everything that is compared; `None` where that is nothing.
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
