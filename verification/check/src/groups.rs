//! Groups of users (theory, section 9): what a problem says of them, its canonical form, and the axioms about
//! them. Who checks an allocation without groups need not read this file: of such a problem it holds nothing.

mod bounds;
pub mod filling;
pub mod held_back;
pub mod parties;
pub mod within;

use std::ops::Range;

use rug::Rational;

use crate::allocation::Tasks;
use crate::axioms::Shown;
use crate::canonical::{object, quoted};
use crate::case::Case;
use crate::claim::Claim;
use crate::json::{Json, Kind};
use crate::number::hashed;
use crate::problem::{Amounts, MOST, Names, at};
use crate::work::{self, Checked, ensure_small};

/// The axioms that [`apply`] knows.
pub const ABOUT: [&str; 6] =
    ["limits", "guarantees", "work-conserving", "group-sharing-incentive", "group-envy-free", "tree"];
/// Most groups times resources.
const CELLS: usize = 1_000_000;
/// Most groups that stand in each other.
const DEPTH: usize = 100;

/// The groups of a problem, and what is said of each user beside its demand.
pub struct Groups {
    pub names: Names,
    pub list: Vec<Group>,
    /// By user.
    members: Vec<Member>,
    /// What siblings are compared by, in canonical form; empty where it is the default.
    share: Share,
}

/// Amounts by resource of all servers; one that is named with 0 is there.
pub struct Group {
    pub parent: Option<usize>,
    weight: Rational,
    priority: Rational,
    /// Absent where none is stated.
    pub guarantee: Option<Amounts>,
    pub limit: Amounts,
    lend: Amounts,
    /// Limits on server classes, ascending by these.
    on: Vec<(Vec<usize>, Amounts)>,
}

pub struct Member {
    pub group: Option<usize>,
    gang: u64,
    pinned: Rational,
}

struct Share {
    /// `of`, `over` and `zero-weight`, where they are not the default.
    words: [Option<String>; 3],
    multipliers: Amounts,
    families: bool,
}

impl Groups {
    /// The fields `groups` and `share` of a problem.
    pub fn read(groups: &Json<'_>, share: &Json<'_>, resources: &Names, classes: &Names) -> Checked<Self> {
        let rows = groups.given().map_or(Ok(Vec::new()), |groups| {
            groups.rows("name parent? weight? priority? guarantee? limit? lend? on?")
        })?;
        let names = Names::of_rows("group", &rows)?;
        let mut list = Vec::new();
        for [_, parent, weight, priority, guarantee, limit, lend, on] in &rows {
            let named = |raw: &Json<'_>| resources.map(raw, |_, raw| raw.quantity());
            let whole = priority.given().map_or(Ok(Rational::new()), Json::number)?;
            if !whole.is_integer() || whole.numer().to_i64().is_none() {
                return priority.wrong("expected a whole number");
            }
            let group = Group {
                parent: parent.given().map(|parent| names.named(parent)).transpose()?,
                weight: weight.given().map_or(Ok(Rational::from(1)), Json::amount)?,
                priority: whole,
                guarantee: guarantee.given().map(named).transpose()?,
                limit: named(limit)?,
                lend: named(lend)?,
                on: read_on(on, resources, classes)?,
            };
            let is_above = |(r, promised): &(usize, Rational)| {
                group.limit.iter().any(|(of, most)| of == r && most < promised)
            };
            if group.guarantee.iter().flatten().any(is_above) {
                return guarantee.wrong("a guarantee is above the limit");
            }
            list.push(group);
        }
        let above = |v: usize| std::iter::successors(list[v].parent, |v| list[*v].parent);
        if let Some(v) = (0..list.len()).find(|v| above(*v).take(DEPTH).count() == DEPTH) {
            return rows[v][1].wrong(format!("a group stands in itself, or in {DEPTH} others"));
        }
        Ok(Self { names, list, members: Vec::new(), share: Share::read(share, resources)? })
    }

    /// Adds what is said of the next user, who has so many tasks.
    pub fn join(&mut self, [group, gang, pinned]: [&Json<'_>; 3], tasks: Option<&Rational>) -> Checked<()> {
        let group = group.given().map(|group| self.names.named(group)).transpose()?;
        let gang = gang.given().map_or(Ok(1), |gang| gang.count(1, MOST))?;
        let kept = pinned.given().map_or(Ok(Rational::new()), Json::amount)?;
        if tasks.is_some_and(|tasks| kept > *tasks) {
            return pinned.wrong("more tasks are pinned than the user has");
        }
        self.members.push(Member { group, gang, pinned: kept });
        Ok(())
    }

    /// The groups in canonical form, by position.
    pub fn line(
        &self,
        v: usize,
        amounts: impl Fn(&Amounts) -> Option<String>,
        classes: impl Fn(Vec<usize>) -> String,
        sorted: bool,
    ) -> String {
        let group = &self.list[v];
        let some = |of: &Amounts| amounts(of).filter(|_| !of.is_empty());
        let number = |value: &Rational| quoted(&hashed(value));
        let one = |(set, limit): &(Vec<usize>, Amounts)| {
            object([("servers", Some(classes(set.clone()))), ("limit", amounts(limit))])
        };
        let mut on: Vec<String> = group.on.iter().map(one).collect();
        if sorted {
            on.sort();
        }
        object([
            ("name", Some(quoted(&self.names.list[v]))),
            ("parent", group.parent.map(|above| quoted(&self.names.list[above]))),
            ("weight", (group.weight != 1).then(|| number(&group.weight))),
            ("priority", (!group.priority.is_zero()).then(|| number(&group.priority))),
            ("guarantee", group.guarantee.as_ref().and_then(&amounts)),
            ("limit", some(&group.limit)),
            ("lend", some(&group.lend)),
            ("on", (!on.is_empty()).then(|| format!("[{}]", on.join(",")))),
        ])
    }

    /// What is said of a user in canonical form.
    pub fn fields_of(&self, n: usize) -> [(&'static str, Option<String>); 3] {
        let Member { group, gang, pinned } = &self.members[n];
        [
            ("group", group.map(|v| quoted(&self.names.list[v]))),
            ("gang", (*gang != 1).then(|| quoted(&gang.to_string()))),
            ("pinned", (!pinned.is_zero()).then(|| quoted(&hashed(pinned)))),
        ]
    }

    /// What siblings are compared by, in canonical form; `None` where it is the default.
    pub fn share(&self, amounts: impl Fn(&Amounts) -> Option<String>) -> Option<String> {
        let Share { words: [of, over, zero_weight], multipliers, families } = &self.share;
        let word = |word: &Option<String>| word.as_deref().map(quoted);
        let fields = [
            ("of", word(of)),
            ("over", word(over)),
            ("zero-weight", word(zero_weight)),
            ("multipliers", amounts(multipliers).filter(|_| !multipliers.is_empty())),
            ("families", families.then(|| "true".to_owned())),
        ];
        fields.iter().any(|(_, value)| value.is_some()).then(|| object(fields))
    }
}

/// Limits on server classes: by the name of a class, or by names that commas part; or as a list.
fn read_on(raw: &Json<'_>, resources: &Names, classes: &Names) -> Checked<Vec<(Vec<usize>, Amounts)>> {
    let named = |key: &str, raw: &Json<'_>| -> Checked<Vec<usize>> {
        if let Ok(class) = classes.find(key, raw) {
            return Ok(vec![class]);
        }
        let set: Checked<Vec<usize>> = key.split(',').map(|name| classes.find(name.trim(), raw)).collect();
        set.map(|mut set| {
            set.sort_unstable();
            set
        })
    };
    let limit = |raw: &Json<'_>| resources.map(raw, |_, raw| raw.quantity());
    let mut all = Vec::new();
    match &raw.kind {
        Kind::Absent => {}
        Kind::Object(fields) => {
            for (key, raw) in fields {
                let [of] = raw.fields("limit?")?;
                all.push((named(key, raw)?, limit(of)?));
            }
        }
        _ => {
            for [servers, of] in raw.rows("servers limit?")? {
                all.push((classes.listed(servers)?, limit(of)?));
            }
        }
    }
    all.sort();
    let ascends = |set: &[usize]| !set.is_empty() && set.is_sorted_by(|a, b| a < b);
    if !all.iter().all(|(set, _)| ascends(set)) || all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return raw.wrong("server classes are named twice, or none is");
    }
    all.retain(|(_, limit)| !limit.is_empty());
    Ok(all)
}

impl Share {
    fn read(raw: &Json<'_>, resources: &Names) -> Checked<Self> {
        let fields = "of? over? multipliers? families? zero-weight?";
        let none = Ok([&crate::json::ABSENT; 5]);
        let [of, over, multipliers, families, zero_weight] =
            raw.given().map_or(none, |raw| raw.fields(fields))?;
        let word = |raw: &Json<'_>, words: &[&str]| match raw.given().map_or(Ok(words[0]), Json::text)? {
            word if word == words[0] => Ok(None),
            word if words.contains(&word) => Ok(Some(word.to_owned())),
            _ => raw.wrong(format!("expected one of {}", words.join(", "))),
        };
        let words = [
            word(of, &["usage", "surplus"])?,
            word(over, &["cluster", "lendable", "guarantee"])?,
            word(zero_weight, &["last", "never"])?,
        ];
        let families = match &families.kind {
            Kind::Absent | Kind::Bool(false) => false,
            Kind::Bool(true) => true,
            _ => return families.wrong("expected true or false"),
        };
        let mut multipliers = resources.map(multipliers, |_, raw| raw.positive())?;
        multipliers.retain(|(_, m)| *m != 1);
        Ok(Self { words, multipliers, families })
    }
}

/// What every group is promised, what is kept back for it and what it uses, by group and resource.
struct Holdings<'c> {
    case: &'c Case<'c>,
    /// `C_r`
    capacity: Amounts,
    /// `G_v`: absent where nothing is promised; a resource that is not named is not promised.
    guarantee: Vec<Option<Vec<Option<Rational>>>>,
    /// `K_v`
    kept: Vec<Vec<Rational>>,
    /// `U_v`
    used: Vec<Vec<Rational>>,
    /// What is left of limits on server classes.
    on: Vec<On<'c>>,
}

/// A limit of a group on server classes; without any, on all.
struct On<'c> {
    group: usize,
    resource: usize,
    classes: &'c [usize],
    most: &'c Rational,
    /// Of that in an allocation.
    left: Rational,
}

impl On<'_> {
    /// Whether it is about what runs on a class.
    fn counts(&self, i: usize) -> bool {
        self.classes.is_empty() || self.classes.binary_search(&i).is_ok()
    }
}

/// Where the limits of a group are in a list that ascends by group.
fn of_group(on: &[On<'_>], v: usize) -> Range<usize> {
    on.partition_point(|of| of.group < v)..on.partition_point(|of| of.group <= v)
}

/// Whether the axioms are about this: there are groups, resources are divided, and every user has one demand (to
/// `limits` and parties that is no matter). What groups do not hold back does not matter to `work-conserving`.
pub fn apply(axiom: &str, case: &Case<'_>) -> bool {
    let problem = case.problem;
    if axiom == "work-conserving" && !problem.groups.hold_back() {
        return true;
    }
    let divides = !case.stated.by_time && problem.classes.iter().all(|class| !class.states_time);
    let is_one = axiom == "limits"
        || axiom.starts_with("group-")
        || problem.users.iter().all(|user| user.demand_on.is_empty());
    // The filling of users who stand in no group is DRFH.
    (axiom == "tree" || !problem.groups.list.is_empty()) && divides && is_one
}

impl<'c> Holdings<'c> {
    fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let (n, m) = (groups.list.len(), problem.resources.list.len());
        ensure_small(n.saturating_mul(m) <= CELLS, "groups times resources")?;
        work::spend(8 * n * m)?;
        let mut used = vec![vec![Rational::new(); m]; n];
        for (user, tasks) in case.x.iter().enumerate() {
            let Some(v) = groups.members[user].group else { continue };
            for (i, x) in tasks {
                problem.demand(user, *i).iter().for_each(|(r, d)| used[v][*r] += Rational::from(d * x));
            }
        }
        let (mut guarantee, mut kept) = (vec![None; n], vec![vec![Rational::new(); m]; n]);
        // Groups from the deepest on: what stands below a group is then known.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_cached_key(|v| std::cmp::Reverse(groups.above(Some(*v)).count()));
        for v in order {
            let group = &groups.list[v];
            if let Some(stated) = &group.guarantee {
                guarantee[v] = Some((0..m).map(|r| at(stated, r).cloned()).collect::<Vec<_>>());
            }
            for (r, lent) in &group.lend {
                let promised = guarantee[v].as_ref().and_then(|promised| promised[*r].clone());
                let own = promised.unwrap_or_default() - lent;
                kept[v][*r] = kept[v][*r].clone().max(own);
            }
            let Some(above) = group.parent else { continue };
            for r in 0..m {
                let (k, u) = (kept[v][r].clone(), used[v][r].clone());
                used[above][r] += (&u).max(&k);
                kept[above][r] += k;
            }
            let Some(promised) = guarantee[v].clone().filter(|_| groups.list[above].guarantee.is_none())
            else {
                continue;
            };
            let sum = guarantee[above].get_or_insert_with(|| vec![None; m]);
            for (sum, promised) in sum.iter_mut().zip(promised) {
                *sum = [sum.take(), promised].into_iter().flatten().reduce(|a, b| a + b);
            }
        }
        let on = Self::on(case, &case.x)?;
        Ok(Self { case, capacity: problem.total_capacity(), guarantee, kept, used, on })
    }

    /// What tasks leave of limits on server classes.
    fn on(case: &'c Case<'_>, tasks: &Tasks) -> Checked<Vec<On<'c>>> {
        Self::limits(case, tasks, false)
    }

    /// The same, and of limits on the whole cluster, of what the users of the groups hold, if these are asked for.
    fn limits(case: &'c Case<'_>, tasks: &Tasks, whole: bool) -> Checked<Vec<On<'c>>> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let mut on = Vec::new();
        for (group, of) in groups.list.iter().enumerate() {
            let of_all = Some((&[][..], &of.limit)).filter(|_| whole);
            let of_some = of.on.iter().map(|(classes, limit)| (&classes[..], limit));
            for (classes, limit) in of_all.into_iter().chain(of_some) {
                let of = |(r, most): &'c (usize, Rational)| On {
                    group,
                    resource: *r,
                    classes,
                    most,
                    left: most.clone(),
                };
                on.extend(limit.iter().map(of));
            }
        }
        for (n, tasks) in tasks.iter().enumerate().take(if on.is_empty() { 0 } else { usize::MAX }) {
            for at in Self::on_of_user(case, &on, n)? {
                let On { resource, left, .. } = &on[at];
                work::spend(tasks.len())?;
                let held = tasks.iter().filter(|(i, _)| on[at].counts(*i)).filter_map(|(i, x)| {
                    Some(Rational::from(self::at(problem.demand(n, *i), *resource)? * x))
                });
                on[at].left = left - held.sum::<Rational>();
            }
        }
        Ok(on)
    }

    /// The limits, in a list that ascends by group, of the groups above a user.
    fn on_of_user(case: &Case<'_>, on: &[On<'_>], n: usize) -> Checked<Vec<usize>> {
        let above = case.problem.groups.above_user(n).filter(|_| !on.is_empty());
        let own: Vec<usize> = above.flat_map(|v| of_group(on, v)).collect();
        work::steps((DEPTH + own.len()) as u64)?;
        Ok(own)
    }

    /// How many tasks they leave to a user on a class; `None` where there is none.
    fn left_on_class(&self, n: usize, i: usize) -> Checked<Option<Rational>> {
        let own = Self::on_of_user(self.case, &self.on, n)?;
        work::spend(own.len())?;
        let demand = &self.case.problem.users[n].demand;
        let here = own.into_iter().map(|at| &self.on[at]).filter(|of| of.counts(i));
        let least = here.filter_map(|of| Some(Rational::from(&of.left / at(demand, of.resource)?))).min();
        Ok(least.map(|least| least.max(Rational::new())))
    }

    /// The same on all classes on which it can run; `None` where there is none on one of them.
    fn left_on_classes(&self, n: usize) -> Checked<Option<Rational>> {
        let mut rooms = Vec::new();
        for i in self.case.problem.classes_of(n).take(if self.on.is_empty() { 0 } else { usize::MAX }) {
            let Some(room) = self.left_on_class(n, i)? else { return Ok(None) };
            rooms.push(room);
        }
        if self.on.is_empty() { Ok(None) } else { work::sum(rooms).map(Some) }
    }

    /// How many tasks more a user could run, if there were room, before it has all its tasks, or a limit or a
    /// guarantee above it is reached; 0 where a guarantee names nothing that it asks for, or there is none.
    fn lack(&self, n: usize) -> Checked<Rational> {
        let (user, groups) = (&self.case.problem.users[n], &self.case.problem.groups);
        let asked = || user.demand.iter().filter(|(r, _)| at(&self.capacity, *r).is_some());
        // By resource that it asks for: what is kept back and not used, which more use fills first.
        let mut spare = vec![Rational::new(); asked().count()];
        let mut rooms: Vec<Rational> =
            user.tasks.iter().map(|tasks| tasks - self.case.total[n].clone()).collect();
        rooms.extend(self.left_on_classes(n)?);
        let mut is_promised = false;
        let never = groups.share.words[2].is_some();
        for v in groups.above(groups.members[n].group) {
            // A group of weight 0 may get nothing beyond its guarantee.
            let is_shut = never && groups.list[v].weight.is_zero();
            let mut is_below = self.guarantee[v].is_none() && !is_shut;
            for ((r, d), spare) in asked().zip(&mut spare) {
                let promised = self.guarantee[v].as_ref().and_then(|promised| promised[*r].as_ref());
                let marks = promised.into_iter().chain(at(&groups.list[v].limit, *r));
                let room = |mark: &Rational| (Rational::from(mark - &self.used[v][*r]) + &*spare) / d;
                rooms.extend(marks.map(room));
                is_below |= promised.is_some();
                is_promised |= promised.is_some();
                let kept = Rational::from(&self.kept[v][*r] - &self.used[v][*r]);
                *spare += kept.max(Rational::new());
            }
            if !is_below {
                return Ok(Rational::new());
            }
        }
        let least = rooms.into_iter().min().filter(|_| is_promised);
        Ok(least.unwrap_or_default().max(Rational::new()))
    }
}

impl Groups {
    /// Whether there is a limit, something to lend, or a group of weight 0 that gets nothing beyond its guarantee.
    pub fn hold_back(&self) -> bool {
        let is_shut = |group: &Group| self.share.words[2].is_some() && group.weight.is_zero();
        self.have_limits() || self.list.iter().any(|group| !group.lend.is_empty() || is_shut(group))
    }

    /// Whether a group has a limit.
    pub fn have_limits(&self) -> bool {
        self.list.iter().any(|group| !group.limit.is_empty() || !group.on.is_empty())
    }

    /// The groups above a user.
    fn above_user(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        self.above(self.members[n].group)
    }

    /// A group and those above it.
    fn above(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |v| self.list[*v].parent)
    }
}

/// Server classes that evidence names together, some of them, by position.
fn set(raw: &Json<'_>, classes: &Names) -> Checked<Vec<usize>> {
    match classes.listed(raw)? {
        none if none.is_empty() => raw.wrong("expected names of server classes, none twice"),
        set => Ok(set),
    }
}

/// No group uses more than its limit; margins are parts of the capacity.
pub fn limits(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = Holdings::new(case)?;
    let mut margins = Vec::new();
    let mut add = |r: usize, left: &Rational| {
        margins.extend(at(&holdings.capacity, r).map(|capacity| Rational::from(left / capacity)));
    };
    for (v, group) in case.problem.groups.list.iter().enumerate() {
        group.limit.iter().for_each(|(r, most)| add(*r, &Rational::from(most - &holdings.used[v][*r])));
    }
    holdings.on.iter().for_each(|on| add(on.resource, &on.left));
    Ok((margins.into_iter().min(), None))
}

/// Nobody who could use it lacks what all groups above it are promised.
pub fn guarantees(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = Holdings::new(case)?;
    let margin = |n: usize| -> Checked<Rational> {
        work::spend(case.problem.users[n].demand.len() * DEPTH)?;
        Ok(-holdings.lack(n)? / &case.g[n])
    };
    Ok((case.active().map(margin).collect::<Checked<Vec<_>>>()?.into_iter().min(), None))
}
