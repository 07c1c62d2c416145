//! The group forms of sharing incentive and envy-freeness, written from their definition. Bounds are computed
//! from their piecewise linear graph.

use std::collections::BTreeSet;

use evenhand_exact::{Axiom, Claim, Evidence, Party, PriceVector, Tasks};
use evenhand_problem::Rational;

use super::{Plain, Shown, zero};

impl Plain<'_> {
    pub(super) fn stands_in(&self, n: usize, v: usize) -> bool {
        let groups = self.p().groups();
        std::iter::successors(groups.member(n).group, |v| groups.list()[*v].parent).any(|above| above == v)
    }

    fn users_of(&self, party: Party) -> Vec<usize> {
        let is_in = |n: usize| match party {
            Party::Group(v) => self.stands_in(n, v),
            Party::User(m) => n == m && self.p().groups().member(n).group.is_none(),
        };
        self.active().into_iter().filter(|n| is_in(*n)).collect()
    }

    fn weight_of(&self, party: Party) -> Rational {
        match party {
            Party::Group(v) => self.p().groups().list()[v].weight.clone(),
            Party::User(n) => self.p().users()[n].weight().clone(),
        }
    }

    fn parent_of(&self, party: Party) -> Option<usize> {
        match party {
            Party::Group(v) => self.p().groups().list()[v].parent,
            Party::User(n) => self.p().groups().member(n).group,
        }
    }

    /// Returns the children of a group, or of the root, that can be given tasks. A child is a group or a
    /// user.
    fn children(&self, parent: Option<usize>) -> Vec<Party> {
        let groups = (0..self.p().groups().list().len()).map(Party::Group);
        let groups = groups.filter(|group| !self.users_of(*group).is_empty());
        let all = groups.chain(self.active().into_iter().map(Party::User));
        all.filter(|party| self.parent_of(*party) == parent).collect()
    }

    fn own_part(&self, party: Party) -> Rational {
        let parent = self.parent_of(party);
        let above = parent.map_or_else(|| Rational::from(1), |v| self.own_part(Party::Group(v)));
        let own = self.weight_of(party);
        let all: Rational = self.children(parent).into_iter().map(|child| self.weight_of(child)).sum();
        if own.is_zero() { zero() } else { above * own / all }
    }

    fn parties(&self) -> Vec<Party> {
        let groups = (0..self.p().groups().list().len()).map(Party::Group);
        let users = self.users().map(Party::User);
        groups.chain(users).filter(|party| !self.users_of(*party).is_empty()).collect()
    }

    fn to_compare(&self, envy: bool) -> BTreeSet<(Party, Option<Party>)> {
        let mut pairs = BTreeSet::new();
        for party in self.parties() {
            if !envy {
                pairs.insert((party, None));
                continue;
            }
            for other in self.parties() {
                let beside = self.parent_of(party) == self.parent_of(other) && party != other;
                if beside && self.weight_of(party) > 0 && self.weight_of(other) > 0 {
                    pairs.insert((party, Some(other)));
                }
            }
        }
        pairs
    }

    fn offered(&self, party: Party, other: Option<Party>) -> Vec<Rational> {
        let rows = 0..self.cluster.rows.len();
        let Some(other) = other else {
            let part = self.own_part(party);
            return rows.map(|row| Rational::from(&self.cluster.capacity[row] * &part)).collect();
        };
        let rate = self.weight_of(party) / self.weight_of(other);
        let users = self.users_of(other);
        let of_row = |row: usize| -> Rational {
            let i = self.cluster.rows[row].0;
            users.iter().map(|n| self.cluster.uses(*n, row) * &self.x[*n][i] * &rate).sum()
        };
        rows.map(of_row).collect()
    }

    /// Returns the tasks that a user lacks, divided by `g_n`.
    fn left_over(&self, n: usize) -> Option<Rational> {
        Some(self.left(n)? / &self.cluster.g[n])
    }

    fn longest(&self, users: &[usize]) -> Option<Rational> {
        let left: Option<Vec<Rational>> = users.iter().map(|n| self.left_over(*n)).collect();
        left?.into_iter().max()
    }

    /// Returns the largest `z` at which the floors cost no more than the bound.
    fn bounded_gain(&self, party: Party, offered: &[Rational], prices: &PriceVector) -> Option<Rational> {
        let users = self.users_of(party);
        let mut l = vec![zero(); self.p().n_users()];
        let mut q = vec![zero(); self.p().n_users()];
        let mut p = vec![zero(); self.cluster.rows.len()];
        prices.user_weights.iter().for_each(|(n, value)| l[*n].clone_from(value));
        prices.users.iter().for_each(|(n, value)| q[*n].clone_from(value));
        prices.rows.iter().for_each(|(row, value)| p[*row].clone_from(value));
        l.iter().chain(&q).chain(&p).all(|value| *value >= 0).then_some(())?;
        let mut bound: Rational = p.iter().zip(offered).map(|(p, amount)| Rational::from(p * amount)).sum();
        for n in self.users() {
            let is_own = users.contains(&n);
            (is_own || (l[n].is_zero() && q[n].is_zero())).then_some(())?;
            match self.p().users()[n].tasks() {
                Some(tasks) => bound += Rational::from(tasks * &q[n]),
                None => q[n].is_zero().then_some(())?,
            }
            for i in self.cluster.classes(n) {
                let rows = self.cluster.rows_of(i).into_iter();
                let cost: Rational = rows.map(|row| &p[row] * self.cluster.uses(n, row)).sum();
                (cost + &q[n] >= l[n]).then_some(())?;
            }
        }
        let floor = |n: usize, z: &Rational| {
            let more = self.total(n) + Rational::from(z * &self.cluster.g[n]);
            self.p().users()[n].tasks().map_or(more.clone(), |tasks| more.min(tasks.clone()))
        };
        let floors = |z: &Rational| -> Rational { users.iter().map(|n| floor(*n, z) * &l[*n]).sum() };
        // The cost is linear between the points at which some user has all its tasks, and also before the first and
        // after the last.
        let mut marks: Vec<Rational> = users.iter().filter_map(|n| self.left_over(*n)).collect();
        marks.push(zero());
        marks.sort();
        marks.dedup();
        let (first, last) = (marks[0].clone() - 1u32, marks[marks.len() - 1].clone() + 1u32);
        marks.insert(0, first);
        marks.push(last);
        let longest = self.longest(&users);
        let pieces = marks.windows(2).count();
        for (at, pair) in marks.windows(2).enumerate().rev() {
            let (from, to) = (floors(&pair[0]), floors(&pair[1]));
            let slope = Rational::from(&to - &from) / Rational::from(&pair[1] - &pair[0]);
            if at + 1 == pieces && slope.is_zero() && to <= bound {
                return longest;
            }
            if from <= bound || at == 0 {
                let z = if slope.is_zero() { pair[1].clone() } else { &pair[0] + (bound - from) / slope };
                return Some(longest.map_or(z.clone(), |longest| longest.min(z)));
            }
        }
        None
    }

    fn shown_gain(&self, party: Party, offered: &[Rational], tasks: &Tasks) -> Option<Rational> {
        let users = self.users_of(party);
        // If the other party has a small weight, the offered amounts may exceed the cluster. So `y` need not
        // be feasible in the cluster.
        let y = Plain::of_tasks(self.p(), self.sharing(), tasks);
        for n in y.users() {
            let is_one = |i: usize| y.x[n][i].is_zero() || (y.x[n][i] > 0 && self.cluster.runs(n, i));
            (0..self.p().n_servers()).all(is_one).then_some(())?;
            (users.contains(&n) || y.total(n).is_zero()).then_some(())?;
            y.left(n).is_none_or(|left| left >= 0).then_some(())?;
        }
        for (row, amount) in offered.iter().enumerate() {
            (y.cluster.load(&y.x, row) <= *amount).then_some(())?;
        }
        let mut least = self.longest(&users);
        for n in users {
            let gain = (y.total(n) - self.total(n)) / &self.cluster.g[n];
            let is_full = y.left(n).is_some_and(|left| left.is_zero());
            if !is_full && least.as_ref().is_none_or(|least| gain < *least) {
                least = Some(gain);
            }
        }
        least.filter(|gain| *gain > 0)
    }

    /// Returns what the evidence of one of the two axioms shows.
    pub fn of_parties(&self, claim: &Claim) -> Option<Shown> {
        let envy = claim.axiom == Axiom::GroupEnvyFree;
        let mut open = self.to_compare(envy);
        let proofs = match &claim.evidence {
            Evidence::PartyPrices(proofs) => &proofs[..],
            Evidence::None => &[],
            Evidence::PartyGains { party, envied, allocation } => {
                open.contains(&(*party, *envied)).then_some(())?;
                let gain = self.shown_gain(*party, &self.offered(*party, *envied), allocation)?;
                return Some(Shown { margin: Some(-gain), holds: Some(false) });
            }
            _ => return None,
        };
        let mut gains = Vec::new();
        for proof in proofs {
            let others: Vec<Option<Party>> =
                if envy { proof.envied.iter().copied().map(Some).collect() } else { vec![None] };
            for other in others {
                open.remove(&(proof.party, other)).then_some(())?;
                gains.push(self.bounded_gain(
                    proof.party,
                    &self.offered(proof.party, other),
                    &proof.prices,
                )?);
            }
        }
        let margin = gains.into_iter().max().map(|gain| -gain);
        open.is_empty().then_some(Shown { margin, holds: Some(true) })
    }
}
