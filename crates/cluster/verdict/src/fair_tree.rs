//! Slurm's fair tree, recomputed from the raw usage and shares that `sshare -a -l` shows.
//!
//! Follows `_calc_assoc_fs` and `_calc_tree_fs` in src/plugins/priority/multifactor/fair_tree.c, the same in Slurm 20.11 to
//! 25.05: `NormShares` S is the part of the shares of its level, `EffectvUsage` U that of the raw usage above it, `LevelFS` is
//! S / U, and `FairShare` the rank of a user, depth first by `LevelFS`, over the number of users. Raw usage is shown without
//! its fraction, and all else to six digits: what follows from that is an interval.

use std::collections::BTreeMap;

use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Snapshot, Subject};

use crate::reported::{Compared, Formula};

/// Half a unit of the last of six digits.
const ROUNDING: (u32, u32) = (1, 2_000_000);

const UNCOUNTED: &str = "the shares of its level are not all stated";
const UNUSED: &str = "no raw usage above it is shown";
const NOT_YET: &str = "Slurm has not computed it yet: it shows no NormUsage";
const UNRANKED: &str = "not all users are shown";

/// What is said of an account, by word; a number that is absent is infinite.
type Said<'s> = BTreeMap<&'s str, &'s Option<Rational>>;

/// At least and at most so much; absent: without end.
type Interval = (Rational, Option<Rational>);

struct FairTree<'s> {
    parents: Vec<Option<usize>>,
    accounts: Vec<Said<'s>>,
    cluster: Said<'s>,
}

/// Of every number of the fair tree that is reported what its formula gives; nothing where no `LevelFS` is, since Slurm then
/// ranks by another formula.
pub fn compared(snapshot: &Snapshot) -> Vec<Compared> {
    let list = snapshot.problem.groups().list();
    let mut accounts = vec![Said::new(); list.len()];
    let mut cluster = Said::new();
    for reported in &snapshot.reported {
        let of = match reported.of {
            Subject::Group(v) => &mut accounts[v],
            Subject::Cluster => &mut cluster,
            Subject::User(_) | Subject::Server(_) => continue,
        };
        of.insert(&reported.what, &reported.value);
    }
    if !accounts.iter().any(|said| said.contains_key("LevelFS")) {
        return Vec::new();
    }
    let parents = list.iter().map(|group| group.parent).collect();
    let tree = FairTree { parents, accounts, cluster };
    let levels: Vec<_> = (0..list.len()).map(|v| tree.level(v)).collect();
    let ranks = tree.ranks(&levels);
    let mut compared = Vec::new();
    for (v, said) in tree.accounts.iter().enumerate() {
        let formulas = [
            ("NormShares", tree.shares(v).map(|shares| (shares.clone(), Some(shares)))),
            ("EffectvUsage", tree.usage(v).and_then(|usage| tree.is_computed(v).map(|()| usage))),
            ("LevelFS", levels[v].clone()),
            ("FairShare", ranks[v].clone()),
        ];
        for (what, formula) in formulas {
            let Some(reported) = said.get(what) else { continue };
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
    fn number(said: &Said<'_>, what: &str) -> Option<Rational> {
        said.get(what).and_then(|value| (*value).clone())
    }

    fn is_computed(&self, v: usize) -> Result<(), &'static str> {
        if self.accounts[v].contains_key("NormUsage") { Ok(()) } else { Err(NOT_YET) }
    }

    /// S: its part of the shares of its level.
    fn shares(&self, v: usize) -> Result<Rational, &'static str> {
        let number = |what| Self::number(&self.accounts[v], what);
        let all = number("level_shares").filter(|all| *all > 0);
        number("RawShares").zip(all).map(|(own, all)| own / all).ok_or(UNCOUNTED)
    }

    /// U: its part of the usage above it, of which less than a whole is not shown.
    fn usage(&self, v: usize) -> Result<Interval, &'static str> {
        let above = self.parents[v].map_or(&self.cluster, |above| &self.accounts[above]);
        let all = Self::number(above, "RawUsage").filter(|all| *all > 0).ok_or(UNUSED)?;
        let own = Self::number(&self.accounts[v], "RawUsage").ok_or(UNUSED)?;
        let high = Rational::from(&own + 1_u32) / &all;
        Ok((own / (all + 1_u32), Some(high)))
    }

    /// S / U
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

    /// Of every account with the `FairShare` of a user: the rank, over the number of users. Whoever has the higher level comes
    /// first, with all below it; where levels may be equal it is left open who does.
    fn ranks(&self, levels: &[Result<Interval, &'static str>]) -> Vec<Result<Interval, &'static str>> {
        let n = levels.len();
        let is_ranked = |v: &usize| self.accounts[*v].contains_key("FairShare");
        let mut users = vec![0_u64; n];
        for v in (0..n).filter(is_ranked) {
            std::iter::successors(Some(v), |v| self.parents[*v]).for_each(|v| users[v] += 1);
        }
        let mut siblings: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        (0..n).for_each(|v| siblings.entry(self.parents[v]).or_default().push(v));
        // Users that certainly come before an account and after it, of those beside it.
        let mut beside = vec![(0, 0); n];
        for of in siblings.values() {
            let known: Vec<(&Interval, u64)> =
                of.iter().filter_map(|v| Some((levels[*v].as_ref().ok()?, users[*v]))).collect();
            let lows = Counted::new(known.iter().map(|((low, _), users)| (low, *users)));
            let highs =
                Counted::new(known.iter().filter_map(|((_, high), users)| Some((high.as_ref()?, *users))));
            for v in of {
                let Ok((low, high)) = &levels[*v] else { continue };
                let before = high.as_ref().map_or(0, |high| lows.all - lows.up_to(high));
                beside[*v] = (before, highs.below(low));
            }
        }
        let all = Self::number(&self.cluster, "g_user_assoc_count");
        let ranked = (0..n).filter(is_ranked).count();
        let all = all.filter(|all| *all >= ranked);
        let rank = |v: usize| {
            let all = all.as_ref().ok_or(UNRANKED)?;
            levels[v].as_ref().map_err(|why| *why)?;
            let way = std::iter::successors(Some(v), |v| self.parents[*v]);
            let (before, after) = way.map(|v| beside[v]).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
            let high = Rational::from(all - before) / all;
            Ok((Rational::from(after + 1) / all, Some(high)))
        };
        (0..n).map(rank).collect()
    }
}

/// Users by a bound of their level, ascending, each with how many are up to it.
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

    fn first(&self, count: usize) -> u64 {
        count.checked_sub(1).map_or(0, |last| self.list[last].1)
    }

    fn up_to(&self, bound: &Rational) -> u64 {
        self.first(self.list.partition_point(|(of, _)| *of <= bound))
    }

    fn below(&self, bound: &Rational) -> u64 {
        self.first(self.list.partition_point(|(of, _)| *of < bound))
    }
}
