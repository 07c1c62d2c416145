//! The search for the pair of users with the least margin. Few pairs are examined, and even fewer are computed exactly.
//!
//! Relative to their weights, the bundle of user `m` is worth the same number `v_m` to all users of one shape. The
//! users of one shape are called a *kind*. For a kind, two bundles decide: the most valuable bundle, and the second
//! most valuable bundle, which counts for the owner of the most valuable bundle. Let `M` be the least margin so far. A
//! bundle matters only if `v_m` exceeds the least `(x_n - M g_n) / w_n` of the kind, the *bound*. For most bundles,
//! integers show that `v_m` is below the bound. Let `b_mir = x_mi d_mir / w_m`, let `top_r` be the largest of a row,
//! `B_mir = b_mir / top_r` and `V_ir = top_r / (d_ir bound)`. Then the bundle is worth no more than the bound if
//! `sum_i min_r B V <= 1`. Both `B` and `V` are rounded up to multiples of `2^-60`, so the computed sum is too large
//! rather than too small. A number that does not fit into the type is replaced by the largest number of the type. This
//! number is far above `2^120`, which represents 1. The remaining bundles are computed in rationals. Each of these
//! bundles raises the bound or is close to it.
//!
//! Users of one level use equal amounts, often exactly `top_r`. Then neither number is rounded, and ties are recognised
//! immediately.
//!
//! A bundle is *within* another bundle if it has no more of any row. Then it is worth no more to any user. So users are
//! compared only with a *front*: a set of bundles such that every other bundle is within one of them. A user is not
//! compared with its own bundle, but with the bundles within its own bundle. Envy up to one task examines all bundles
//! within a bundle that may be worth too much. The reason is that a bundle without one task may be worth less than
//! another bundle within it without one task. Similar bundles of the front are first examined together. Consider a
//! bundle with the largest `B` of each row among them. If it would be worth no more than the bound, none of them is
//! worth more. Bundles without tasks on a class where the kind can run are not examined.
//!
//! All numbers of the allocation are multiplied by its common denominator `L`, so no number has a wide denominator.

use std::collections::BTreeMap;

use evenhand_budget::each;
use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use super::Tightest;
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::sparse::at;

/// The number of binary places of the rounded numbers.
const PLACES: u32 = 60;
/// The sum of products of two rounded numbers that stands for 1.
const ONE: u128 = 1 << (2 * PLACES);
/// The number of bundles that are examined together. Also the number of members of the front that are tested for
/// whether they contain a bundle.
const SECTION: usize = 64;
/// The least number of users in a chunk, except in the last chunk. The kinds of a chunk are examined one after the
/// other, each with the least margin of the kinds before. With chunks of this size, few pairs have to be computed, and
/// many processors have work.
const CHUNK: usize = 64;

/// The tasks of a user on a class, and the amounts that they use.
struct Part {
    class: usize,
    /// The number of tasks, `x_mi L`.
    tasks: Rational,
    /// The amounts `(row, b_mir L)`, ascending by row.
    amounts: Vec<(usize, Rational)>,
}

/// The numbers `(row, B_mir 2^PLACES)` of a bundle, or `(row, V_ir 2^PLACES)` of a kind. They are rounded up, and
/// ascending by row.
type Rounded = Vec<(usize, u128)>;

/// The bundles of all users.
struct Bundles<'a, 'b> {
    instance: &'a Instance<'b>,
    /// True if a bundle counts without its most valuable task.
    one_less: bool,
    /// Bundle of each user.
    held: Vec<Vec<Part>>,
    /// Bundle of each user, rounded.
    rounded: Vec<Rounded>,
    /// The largest `b_mir L` of each row.
    top: Vec<Rational>,
    /// The front in sections of similar bundles. Each section has the largest amounts of its bundles.
    sections: Vec<(Rounded, Vec<Member>)>,
    /// For each class, the sections of the front with tasks on the class, ascending.
    sections_of_class: Vec<Vec<usize>>,
}

/// A user of the front, and the users whose bundles are known to be within its bundle.
type Member = (usize, Vec<usize>);

/// Returns the pair with the least margin, or `None` if there is no pair. If `one_less` is true, the margin is that of
/// envy up to one task.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub(in crate::axiom) fn tightest(
    instance: &Instance<'_>,
    one_less: bool,
) -> Result<Option<Tightest>, TooLarge> {
    let active: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    if active.len() < 2 {
        return Ok(None);
    }
    let bundles = Bundles::new(instance, one_less, &active)?;
    let kinds = kinds(instance, &active);
    let Some(mut least) = bundles.least(&kinds[..1], None)? else { return Ok(None) };
    let chunks = chunks(&kinds[1..]);
    let of_chunk = |kinds: &&[Vec<usize>]| bundles.least(kinds, Some(&least.0));
    // A single chunk is too little work to share between threads.
    let found: Result<Vec<Option<Least>>, TooLarge> = match &chunks[..] {
        [] | [_] => chunks.iter().map(of_chunk).collect(),
        _ => chunks.par_iter().map(of_chunk).collect(),
    };
    let found = found?;
    if let Some(found) = found.into_iter().flatten().min_by(|a, b| a.0.cmp(&b.0)) {
        least = found;
    }
    let (least, user) = least;
    // Several users may be envied with this margin. The user with the lowest index is returned. Bundles that are surely
    // worth less than the bound are skipped.
    let bound = bundles.bound(user, &least);
    let rates = bundles.rates(user, &bound)?;
    for &envied in active.iter().filter(|&&m| m != user) {
        if bound > 0 && bundles.worth_at_most(&rates, &bundles.rounded[envied]) < ONE {
            continue;
        }
        let (margin, removed) = bundles.margin(user, envied)?;
        if margin == least {
            return Ok(Some(Tightest { user, envied, removed, margin: margin / &instance.denominator }));
        }
    }
    Ok(None)
}

/// Returns the users of each shape. Kinds, and the users in each kind, are in the order of users.
fn kinds(instance: &Instance<'_>, active: &[usize]) -> Vec<Vec<usize>> {
    let mut of_shape = vec![None; instance.scaled.first_of_shapes().len()];
    let mut kinds: Vec<Vec<usize>> = Vec::new();
    for &n in active {
        let at = *of_shape[instance.scaled.shape(n)].get_or_insert(kinds.len());
        match kinds.get_mut(at) {
            Some(users) => users.push(n),
            None => kinds.push(vec![n]),
        }
    }
    kinds
}

/// Returns the kinds in chunks with at least [`CHUNK`] users. The last chunk may have fewer.
fn chunks(kinds: &[Vec<usize>]) -> Vec<&[Vec<usize>]> {
    let (mut chunks, mut first, mut users) = (Vec::new(), 0, 0);
    for (at, kind) in kinds.iter().enumerate() {
        users += kind.len();
        if users >= CHUNK || at + 1 == kinds.len() {
            chunks.push(&kinds[first..=at]);
            (first, users) = (at + 1, 0);
        }
    }
    chunks
}

/// The least margin so far, times `L`, and the first user that has it.
type Least = (Rational, usize);

/// The worth of a bundle relative to its user's weight, and this user.
type Worth = (Rational, usize);

impl<'a, 'b> Bundles<'a, 'b> {
    fn new(instance: &'a Instance<'b>, one_less: bool, active: &[usize]) -> Result<Self, TooLarge> {
        let entries: usize = instance.tasks.iter().map(Vec::len).sum();
        let steps = entries.saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(steps as u64))?;
        let mut top = vec![Rational::new(); instance.constraints().rows().len()];
        let parts = |m: usize| instance.tasks[m].iter().map(|(i, x)| part(instance, m, *i, x)).collect();
        let held: Vec<Vec<Part>> = each(instance.tasks.len(), instance.problem().n_resources(), parts);
        for (row, b) in held.iter().flatten().flat_map(|part| &part.amounts) {
            if *b > top[*row] {
                top[*row].clone_from(b);
            }
        }
        let amounts = |m: usize| {
            let all = held[m].iter().flat_map(|part: &Part| &part.amounts);
            all.map(|(row, b)| (*row, round_up(b, &top[*row]))).collect()
        };
        let rounded: Vec<Rounded> = each(held.len(), instance.problem().n_resources(), amounts);
        let sections_of_class = vec![Vec::new(); instance.problem().n_servers()];
        let mut bundles =
            Self { instance, one_less, held, rounded, top, sections: Vec::new(), sections_of_class };
        let mut front = bundles.front(active)?;
        while !front.is_empty() {
            let rest = front.split_off(front.len().min(SECTION));
            let all = front.iter().flat_map(|(f, _)| bundles.rounded[*f].iter().copied());
            let mut all: Rounded = all.collect();
            all.sort_unstable();
            // Later entries replace earlier entries of the same row, so the largest entry stays.
            let largest = all.into_iter().collect::<BTreeMap<usize, u128>>().into_iter().collect();
            bundles.sections.push((largest, std::mem::replace(&mut front, rest)));
        }
        for (at, (largest, _)) in bundles.sections.iter().enumerate() {
            for (row, _) in largest {
                let parts = &mut bundles.sections_of_class[instance.constraints().rows()[*row].server];
                if parts.last() != Some(&at) {
                    parts.push(at);
                }
            }
        }
        Ok(bundles)
    }

    /// Returns the front, from large bundles to small ones. It may have more members than necessary.
    fn front(&self, active: &[usize]) -> Result<Vec<Member>, TooLarge> {
        let mut alike = active.to_vec();
        alike.sort_by(|a, b| self.rounded[*b].cmp(&self.rounded[*a]));
        let mut front: Vec<Member> = Vec::new();
        for m in alike {
            let first = front.len().saturating_sub(SECTION);
            let steps = (front.len() - first + 1).saturating_mul(self.rounded[m].len() + 1);
            self.instance.budget().charge(steps as u64)?;
            // The latest members are the most similar to `m`.
            match front[first..].iter_mut().rev().find(|(f, _)| self.is_within(m, *f)) {
                Some((_, within)) => within.push(m),
                None => front.push((m, Vec::new())),
            }
        }
        Ok(front)
    }

    /// Returns true if user `m` has no more of any row than user `f`, relative to their weights.
    fn is_within(&self, m: usize, f: usize) -> bool {
        let exact = |n: usize, row: usize| {
            let amounts = self.held[n].iter().map(|part| &part.amounts);
            amounts.into_iter().find_map(|amounts| at(amounts, row))
        };
        // If two exact numbers are rounded to different values, these values are in the same order.
        self.rounded[m].iter().all(|(row, b)| {
            at(&self.rounded[f], *row).is_some_and(|of| of > b || of == b && exact(f, *row) >= exact(m, *row))
        })
    }

    /// Returns the least margin of users of these kinds towards all active users, and the first user that has it.
    /// Returns `None` if it is not below the margin `known`.
    fn least(&self, kinds: &[Vec<usize>], known: Option<&Rational>) -> Result<Option<Least>, TooLarge> {
        let mut least: Option<Least> = None;
        for users in kinds {
            let so_far = least.as_ref().map(|(least, _)| least).or(known);
            if let Some(found) = self.least_of_kind(users, so_far)? {
                least = Some(found);
            }
        }
        Ok(least)
    }

    /// Returns the least margin of users of one shape, as [`Self::least`] does.
    fn least_of_kind(&self, users: &[usize], known: Option<&Rational>) -> Result<Option<Least>, TooLarge> {
        let instance = self.instance;
        instance.budget().charge(instance.steps().saturating_mul(8 * users.len() as u64))?;
        let weight = |n: usize| instance.problem().users()[n].weight();
        // The users whose margin may be below the known margin. For each of these users, the worth of a bundle relative
        // to the user's weight above which the user's margin is lower.
        let bound_of = |&n: &usize| {
            let bound = known.map_or_else(|| Rational::from(-1), |known| self.bound(n, known));
            let has_all = self.limit(n).is_some_and(|limit| limit <= bound);
            (!has_all).then(|| (n, bound / weight(n)))
        };
        let bounds: Vec<(usize, Rational)> = users.iter().filter_map(bound_of).collect();
        let Some((first, lowest)) = bounds.iter().min_by(|a, b| a.1.cmp(&b.1)) else { return Ok(None) };
        // If only one user remains, its own bundle is excluded.
        let alone = (bounds.len() == 1).then_some(*first);
        let nothing = |bound: &Rational| (*bound < 0).then(|| (Rational::new(), *first));
        let Some((most, of)) = self.most(*first, lowest, alone)?.or_else(|| nothing(lowest)) else {
            return Ok(None);
        };
        let mut least: Option<Least> = None;
        for (n, bound) in &bounds {
            let others = if *n == of && alone.is_none() {
                self.most(*n, bound, Some(*n))?.or_else(|| nothing(bound)).map(|(worth, _)| worth)
            } else {
                (most > *bound).then(|| most.clone())
            };
            let Some(worth) = others else { continue };
            let margin = self.margin_of_worth(*n, worth);
            let so_far = least.as_ref().map(|(least, _)| least).or(known);
            if so_far.is_none_or(|least| margin < *least) {
                least = Some((margin, *n));
            }
        }
        Ok(least)
    }

    /// Returns the bundle that is worth most to user `n` relative to its weight, if it is worth more than the bound.
    /// The bundle of the user `without` is excluded.
    fn most(&self, n: usize, bound: &Rational, without: Option<usize>) -> Result<Option<Worth>, TooLarge> {
        let mut most: Option<Worth> = None;
        let weight = self.instance.problem().users()[n].weight();
        let rates_of =
            |bound: &Rational| self.rates(n, &Rational::from(bound.max(&Rational::new()) * weight));
        let mut rates = rates_of(bound)?;
        let mut steps = 0;
        for at in self.sections_for(n) {
            let (largest, users) = &self.sections[at];
            steps += largest.len() + 1;
            if self.worth_at_most(&rates, largest) <= ONE {
                continue;
            }
            for (f, within) in users {
                steps += self.rounded[*f].len() + 1;
                // The worth of this bundle bounds the worth of all bundles within it, also without one of their tasks.
                if self.worth_at_most(&rates, &self.rounded[*f]) <= ONE {
                    continue;
                }
                let within = within.iter().filter(|_| self.one_less || Some(*f) == without);
                for &m in [f].into_iter().chain(within).filter(|&&m| Some(m) != without) {
                    steps += self.rounded[m].len() + 1;
                    if self.worth_at_most(&rates, &self.rounded[m]) <= ONE {
                        continue;
                    }
                    let (worth, _) = self.worth(n, m)?;
                    if worth > *most.as_ref().map_or(bound, |(most, _)| most) {
                        rates = rates_of(&worth)?;
                        most = Some((worth, m));
                    }
                }
            }
        }
        self.instance.budget().charge(steps as u64)?;
        Ok(most)
    }

    /// Returns the sections of the front with tasks on a class where the user can run.
    fn sections_for(&self, n: usize) -> Vec<usize> {
        let on_class = self.instance.scaled.classes(n).flat_map(|i| &self.sections_of_class[i]);
        let mut parts: Vec<usize> = on_class.copied().collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// Returns `(x_n - M g_n) L`. If a bundle is worth more than this number to the user, its margin is below `M`.
    /// `margin` is `M L`.
    fn bound(&self, n: usize, margin: &Rational) -> Rational {
        self.total(n) - Rational::from(margin * self.instance.scale(n))
    }

    /// Returns `V` of user `n` for each row, for a bound of at least 0. `bound` is the bound times `L`.
    fn rates(&self, n: usize, bound: &Rational) -> Result<Rounded, TooLarge> {
        let instance = self.instance;
        let steps = instance.scaled.n_classes(n).saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(steps as u64))?;
        let constraints = instance.constraints();
        let of_weight = Rational::from(bound / instance.problem().users()[n].weight());
        let mut rates = Vec::new();
        for i in instance.scaled.classes(n) {
            let Some(usage) = constraints.usage(n, i) else { continue };
            let start = constraints.class_rows(i).start;
            rates.extend(usage.entries().map(|(at, d)| {
                (start + at, round_up(&self.top[start + at], &Rational::from(d * &of_weight)))
            }));
        }
        Ok(rates)
    }

    fn class(&self, (row, _): &(usize, u128)) -> usize {
        self.instance.constraints().rows()[*row].server
    }

    /// Returns an upper bound on the worth of a bundle, in multiples of the bound of the rates, times [`ONE`].
    fn worth_at_most(&self, rates: &[(usize, u128)], bundle: &[(usize, u128)]) -> u128 {
        let constraints = self.instance.constraints();
        let of_class = |amounts: &[(usize, u128)]| {
            let rows = constraints.class_rows(self.class(&amounts[0]));
            let first = rates.partition_point(|(row, _)| *row < rows.start);
            let own = rates[first..].iter().take_while(|(row, _)| rows.contains(row));
            let product = |(row, v): &(usize, u128)| at(amounts, *row).map_or(0, |b| v.saturating_mul(*b));
            own.map(product).min().unwrap_or(0)
        };
        let of_class = bundle.chunk_by(|a, b| self.class(a) == self.class(b)).map(of_class);
        of_class.fold(0, u128::saturating_add)
    }

    /// Returns the worth of the bundle of `m` to `n` relative to the weight of `m`, times `L`. Also returns the class
    /// of the task that is left out.
    fn worth(&self, n: usize, m: usize) -> Result<(Rational, Option<usize>), TooLarge> {
        let steps = self.instance.steps();
        self.instance.budget().charge(steps.saturating_mul(4 * self.held[m].len() as u64 + 1))?;
        let constraints = self.instance.constraints();
        let (mut all, mut most, mut removed) = (Rational::new(), Rational::new(), None);
        for part in &self.held[m] {
            let Some(usage) = constraints.usage(n, part.class) else { continue };
            let start = constraints.class_rows(part.class).start;
            let tasks = usage.entries().map(|(row, d)| {
                at(&part.amounts, start + row).map_or_else(Rational::new, |b| Rational::from(b / d))
            });
            let worth = tasks.min().unwrap_or_default();
            if self.one_less {
                let of_task = Rational::from(&worth / &part.tasks) * &self.instance.denominator;
                if of_task > most {
                    (most, removed) = (of_task, Some(part.class));
                }
            }
            all += worth;
        }
        Ok((all - most, removed))
    }

    /// Returns the margin of a pair times `L`. Also returns the class of the task that is left out.
    fn margin(&self, n: usize, m: usize) -> Result<(Rational, Option<usize>), TooLarge> {
        let (worth, removed) = self.worth(n, m)?;
        Ok((self.margin_of_worth(n, worth), removed))
    }

    /// Returns the margin of user `n` towards a bundle of this worth, which is relative to the weight of its owner.
    fn margin_of_worth(&self, n: usize, worth: Rational) -> Rational {
        let worth = worth * self.instance.problem().users()[n].weight();
        let due = self.limit(n).filter(|limit| *limit < worth).unwrap_or(worth);
        (self.total(n) - due) / self.instance.scale(n)
    }

    /// Returns `x_n L`.
    fn total(&self, n: usize) -> Rational {
        Rational::from(&self.instance.totals[n])
    }

    /// Returns `T_n L`.
    fn limit(&self, n: usize) -> Option<Rational> {
        let tasks = self.instance.problem().users()[n].tasks()?;
        Some(Rational::from(tasks * &self.instance.denominator))
    }
}

/// Returns the part of the bundle of user `m` on class `i`, where the user has `x / L` tasks.
fn part(instance: &Instance<'_>, m: usize, i: usize, x: &Integer) -> Part {
    let constraints = instance.constraints();
    let start = constraints.class_rows(i).start;
    let over_weight = Rational::from(instance.problem().users()[m].weight().recip_ref()) * x;
    let amount = |(at, d): (usize, &Rational)| (start + at, Rational::from(&over_weight * d));
    // Every task is on a class where its user can run.
    let usage = constraints.usage(m, i).unwrap_or_default();
    Part { class: i, tasks: Rational::from(x), amounts: usage.entries().map(amount).collect() }
}

/// Returns `a / b` times `2^PLACES`, rounded up, or the largest number if `b` is 0.
fn round_up(a: &Rational, b: &Rational) -> u128 {
    if b.is_zero() {
        return u128::MAX;
    }
    let numerator = Integer::from(a.numer() * b.denom()) << PLACES;
    let denominator = Integer::from(a.denom() * b.numer());
    numerator.div_ceil(denominator).to_u128().unwrap_or(u128::MAX)
}
