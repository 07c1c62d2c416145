//! Slurm's fair tree, recomputed from the raw usage and shares that `sshare -a -l` shows.
//!
//! The formulas are those of `_calc_assoc_fs` and `_calc_tree_fs` in
//! src/plugins/priority/multifactor/fair_tree.c, which are the same in Slurm 20.11 to 25.05. `NormShares` S
//! is the account's fraction of all shares on its level. `EffectvUsage` U is the account's fraction of the
//! raw usage of its parent. `LevelFS` is S / U. `FairShare` is the rank of a user over the number of users,
//! where users are ranked depth first by `LevelFS`. `sshare` cuts off the decimals of raw usage and rounds
//! other numbers to six decimals, so each recomputed number is an interval.

use std::collections::BTreeMap;

use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Snapshot, Subject};

use crate::reported::{Compared, Formula};

/// Half a unit of the sixth decimal, as numerator and denominator.
const ROUNDING: (u32, u32) = (1, 2_000_000);

const UNCOUNTED: &str = "not all shares of its level are stated";
const UNUSED: &str = "its raw usage is missing, or that of its parent is missing or 0";
const NOT_YET: &str = "Slurm has not computed it yet: it shows no NormUsage";
const UNRANKED: &str = "not all users are shown";

/// The reported numbers of an account, by their names in `sshare`. The number `None` means infinity.
type Numbers<'s> = BTreeMap<&'s str, &'s Option<Rational>>;

/// An interval with a lower and an upper bound. The upper bound `None` means that there is no upper bound.
type Interval = (Rational, Option<Rational>);

struct FairTree<'s> {
    parents: Vec<Option<usize>>,
    accounts: Vec<Numbers<'s>>,
    cluster: Numbers<'s>,
}

/// Compares every reported number of the fair tree with its formula. Returns an empty list if no `LevelFS` is reported,
/// because Slurm then ranks users by another formula.
pub fn compared(snapshot: &Snapshot) -> Vec<Compared> {
    let list = snapshot.problem.groups().list();
    let mut accounts = vec![Numbers::new(); list.len()];
    let mut cluster = Numbers::new();
    for reported in &snapshot.reported {
        let numbers = match reported.of {
            Subject::Group(v) => &mut accounts[v],
            Subject::Cluster => &mut cluster,
            Subject::User(_) | Subject::Server(_) => continue,
        };
        numbers.insert(&reported.what, &reported.value);
    }
    if !accounts.iter().any(|numbers| numbers.contains_key("LevelFS")) {
        return Vec::new();
    }
    let parents = list.iter().map(|group| group.parent).collect();
    let tree = FairTree { parents, accounts, cluster };
    let levels: Vec<_> = (0..list.len()).map(|v| tree.level(v)).collect();
    let ranks = tree.ranks(&levels);
    let mut compared = Vec::new();
    for (v, numbers) in tree.accounts.iter().enumerate() {
        let formulas = [
            ("NormShares", tree.shares(v).map(|shares| (shares.clone(), Some(shares)))),
            ("EffectvUsage", tree.usage(v).and_then(|usage| tree.is_computed(v).map(|()| usage))),
            ("LevelFS", levels[v].clone()),
            ("FairShare", ranks[v].clone()),
        ];
        for (what, formula) in formulas {
            let Some(reported) = numbers.get(what) else { continue };
            compared.push(Compared {
                group: v,
                what: what.to_owned(),
                reported: (*reported).clone(),
                rounding: Rational::from(ROUNDING),
                formula: match formula {
                    Ok((low, high)) => Formula::Between([Some(low), high]),
                    Err(why) => Formula::Unknown(why),
                },
            });
        }
    }
    compared
}

impl FairTree<'_> {
    fn number(numbers: &Numbers<'_>, name: &str) -> Option<Rational> {
        numbers.get(name).and_then(|value| (*value).clone())
    }

    /// Fails if Slurm has not computed the numbers of an account yet.
    fn is_computed(&self, v: usize) -> Result<(), &'static str> {
        if self.accounts[v].contains_key("NormUsage") { Ok(()) } else { Err(NOT_YET) }
    }

    /// Returns S, the account's fraction of all shares on its level.
    fn shares(&self, v: usize) -> Result<Rational, &'static str> {
        let number = |name| Self::number(&self.accounts[v], name);
        let all = number("level_shares").filter(|all| *all > 0);
        number("RawShares").zip(all).map(|(own, all)| own / all).ok_or(UNCOUNTED)
    }

    /// Returns U, the account's fraction of the usage of its parent. The exact usage is larger than the shown number by
    /// less than 1.
    fn usage(&self, v: usize) -> Result<Interval, &'static str> {
        let above = self.parents[v].map_or(&self.cluster, |above| &self.accounts[above]);
        let all = Self::number(above, "RawUsage").filter(|all| *all > 0).ok_or(UNUSED)?;
        let own = Self::number(&self.accounts[v], "RawUsage").ok_or(UNUSED)?;
        let high = Rational::from(&own + 1_u32) / &all;
        Ok((own / (all + 1_u32), Some(high)))
    }

    /// Returns S / U.
    fn level(&self, v: usize) -> Result<Interval, &'static str> {
        self.is_computed(v)?;
        let shares = self.shares(v)?;
        if shares.is_zero() {
            return Ok((Rational::new(), Some(Rational::new())));
        }
        let (least, most) = self.usage(v)?;
        let low = most.filter(|most| *most > 0).map(|most| &shares / most);
        let high = Some(least).filter(|least| *least > 0).map(|least| shares / least);
        Ok((low.unwrap_or_default(), high))
    }

    /// Returns the rank of every account over the number of users. Only accounts with a `FairShare` are
    /// users. Among siblings, the account with the higher level comes first, followed by all users below it.
    /// If levels may be equal, the interval of the rank includes both orders.
    fn ranks(&self, levels: &[Result<Interval, &'static str>]) -> Vec<Result<Interval, &'static str>> {
        let n = levels.len();
        let is_ranked = |v: &usize| self.accounts[*v].contains_key("FairShare");
        let mut users = vec![0_u64; n];
        for v in (0..n).filter(is_ranked) {
            std::iter::successors(Some(v), |v| self.parents[*v]).for_each(|v| users[v] += 1);
        }
        let mut siblings: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        (0..n).for_each(|v| siblings.entry(self.parents[v]).or_default().push(v));
        // For each account: the number of users below its siblings that certainly come before the account, and the
        // number of users that certainly come after it.
        let mut around = vec![(0, 0); n];
        for accounts in siblings.values() {
            let known: Vec<(&Interval, u64)> =
                accounts.iter().filter_map(|v| Some((levels[*v].as_ref().ok()?, users[*v]))).collect();
            let lows = Counted::new(known.iter().map(|((low, _), users)| (low, *users)));
            let highs =
                Counted::new(known.iter().filter_map(|((_, high), users)| Some((high.as_ref()?, *users))));
            for v in accounts {
                let Ok((low, high)) = &levels[*v] else { continue };
                let before = high.as_ref().map_or(0, |high| lows.all - lows.up_to(high));
                around[*v] = (before, highs.below(low));
            }
        }
        let all = Self::number(&self.cluster, "g_user_assoc_count");
        let ranked = (0..n).filter(is_ranked).count();
        let all = all.filter(|all| *all >= ranked);
        let rank = |v: usize| {
            let all = all.as_ref().ok_or(UNRANKED)?;
            levels[v].as_ref().map_err(|why| *why)?;
            let path = std::iter::successors(Some(v), |v| self.parents[*v]);
            let (before, after) =
                path.map(|v| around[v]).fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
            let high = Rational::from(all - before) / all;
            Ok((Rational::from(after + 1) / all, Some(high)))
        };
        (0..n).map(rank).collect()
    }
}

/// The bounds of levels in ascending order, with the number of users up to and including each bound.
struct Counted<'c> {
    list: Vec<(&'c Rational, u64)>,
    all: u64,
}

impl<'c> Counted<'c> {
    fn new(bounds: impl Iterator<Item = (&'c Rational, u64)>) -> Self {
        let mut list: Vec<_> = bounds.collect();
        list.sort();
        let mut all = 0;
        for (_, users) in &mut list {
            all += *users;
            *users = all;
        }
        Self { list, all }
    }

    /// Returns the sum of the numbers of users at the first `count` bounds.
    fn first(&self, count: usize) -> u64 {
        count.checked_sub(1).map_or(0, |last| self.list[last].1)
    }

    fn up_to(&self, bound: &Rational) -> u64 {
        self.first(self.list.partition_point(|(known, _)| *known <= bound))
    }

    fn below(&self, bound: &Rational) -> u64 {
        self.first(self.list.partition_point(|(known, _)| *known < bound))
    }
}
