//! The pair of users with the least margin: few pairs are looked at, and fewer are computed.
//!
//! Over its weight the bundle of user `m` is worth the same to all users of one shape, `v_m`. So for a *kind*, users of one
//! shape, two bundles decide: the one that is worth most, and for its own user the next one. Let `M` be the least margin so far.
//! A bundle matters where `v_m` is more than the least `(x_n - M g_n) / w_n` of the kind, the *bound*. Of most bundles
//! integers show that it is not: let `b_mir = x_mi d_mir / w_m`, `top_r` the largest of a row, `B_mir = b_mir / top_r` and
//! `V_ir = top_r / (d_ir bound)`: the bundle is worth no more when `sum_i min_r B V <= 1`. Both are rounded up to multiples of
//! `2^-60`, so that the sum is too large rather than too small. A number that does not fit stays at the largest that does, far
//! above `2^120`, which stands for 1. The other bundles are computed in rationals, each of which raises the bound or was close
//! to it.
//!
//! Users of one level hold equal parts, often just `top_r`: neither number is rounded then, and ties are seen at once.
//!
//! A bundle that holds no more of any row than another one is worth no more to anybody, so that everybody looks at a
//! *front* alone, bundles within which all others are. Who does not count its own bundle looks at those within it as
//! well; and envy up to one task at whatever is within a bundle that may be worth too much, since one task less of a
//! bundle may be worth less than one task less of another within it. Bundles of the front that are alike are looked at
//! together first: where the largest `B` of each row among them would be worth no more, none of them is. Those that are on no
//! class where the kind can run are not looked at.
//!
//! All numbers of the allocation are multiplied by its common denominator `L`, so that none has a wide denominator.

use std::collections::BTreeMap;

use evenhand_budget::each;
use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use super::Tightest;
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::sparse::at;

/// Binary places of the rounded numbers.
const PLACES: u32 = 60;
/// A sum of products of two rounded numbers that stands for 1.
const ONE: u128 = 1 << (2 * PLACES);
/// Bundles that are looked at together, and members of the front among which one is sought that a bundle is within.
const TOGETHER: usize = 64;
/// Users at least, but for the last ones, whose kinds are looked at one after the other, each with the least margin of those
/// before: so many make the pairs few that are computed, and keep many processors busy.
const CHUNK: usize = 64;

/// What a user holds of a class.
struct Part {
    class: usize,
    /// `x_mi L`
    tasks: Rational,
    /// `(row, b_mir L)`, ascending by row.
    amounts: Vec<(usize, Rational)>,
}

/// `(row, B_mir 2^PLACES)` of a bundle, or `(row, V_ir 2^PLACES)` of a kind, rounded up; ascending by row.
type Rounded = Vec<(usize, u128)>;

/// What everybody holds.
struct Bundles<'a, 'b> {
    instance: &'a Instance<'b>,
    /// Whether a bundle counts without one task of it that is worth most.
    less: bool,
    /// By user.
    held: Vec<Vec<Part>>,
    /// The same, rounded.
    rounded: Vec<Rounded>,
    /// By row: the largest `b_mir L`.
    top: Vec<Rational>,
    /// The front in parts that are alike, each with the largest amounts of its bundles.
    together: Vec<(Rounded, Vec<Member>)>,
    /// By class: the parts of the front that hold something of it, ascending.
    holding: Vec<Vec<usize>>,
}

/// A user of the front, and the users whose bundles are found to be within its own.
type Member = (usize, Vec<usize>);

/// The tightest pair, of envy up to one task where `less` is set; `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub(in crate::axiom) fn tightest(instance: &Instance<'_>, less: bool) -> Result<Option<Tightest>, TooLarge> {
    let active: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    if active.len() < 2 {
        return Ok(None);
    }
    let bundles = Bundles::new(instance, less, &active)?;
    let kinds = kinds(instance, &active);
    let Some(mut least) = bundles.least(&kinds[..1], None)? else { return Ok(None) };
    let chunks = chunks(&kinds[1..]);
    let of_chunk = |kinds: &&[Vec<usize>]| bundles.least(kinds, Some(&least.0));
    // One chunk is no work to share.
    let found: Result<Vec<Option<Least>>, TooLarge> = match &chunks[..] {
        [] | [_] => chunks.iter().map(of_chunk).collect(),
        _ => chunks.par_iter().map(of_chunk).collect(),
    };
    let found = found?;
    if let Some(found) = found.into_iter().flatten().min_by(|a, b| a.0.cmp(&b.0)) {
        least = found;
    }
    let (least, user) = least;
    // The lowest user towards whom it has this margin: to none of lower worth than the bound.
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

/// The users of each shape, kinds and users in their order.
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

/// The kinds in chunks of enough users.
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

/// A bundle: what it is worth over its weight, and whose it is.
type Worth = (Rational, usize);

impl<'a, 'b> Bundles<'a, 'b> {
    fn new(instance: &'a Instance<'b>, less: bool, active: &[usize]) -> Result<Self, TooLarge> {
        let entries: usize = instance.tasks.iter().map(Vec::len).sum();
        let looks = entries.saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
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
        let holding = vec![Vec::new(); instance.problem().n_servers()];
        let mut bundles = Self { instance, less, held, rounded, top, together: Vec::new(), holding };
        let mut front = bundles.front(active)?;
        while !front.is_empty() {
            let rest = front.split_off(front.len().min(TOGETHER));
            let all = front.iter().flat_map(|(f, _)| bundles.rounded[*f].iter().copied());
            let mut all: Rounded = all.collect();
            all.sort_unstable();
            // Of one row the last one stays.
            let largest = all.into_iter().collect::<BTreeMap<usize, u128>>().into_iter().collect();
            bundles.together.push((largest, std::mem::replace(&mut front, rest)));
        }
        for (at, (largest, _)) in bundles.together.iter().enumerate() {
            for (row, _) in largest {
                let parts = &mut bundles.holding[instance.constraints().rows()[*row].server];
                if parts.last() != Some(&at) {
                    parts.push(at);
                }
            }
        }
        Ok(bundles)
    }

    /// The front, from large bundles to small ones. It may hold more than it has to.
    fn front(&self, active: &[usize]) -> Result<Vec<Member>, TooLarge> {
        let mut alike = active.to_vec();
        alike.sort_by(|a, b| self.rounded[*b].cmp(&self.rounded[*a]));
        let mut front: Vec<Member> = Vec::new();
        for m in alike {
            let first = front.len().saturating_sub(TOGETHER);
            let looks = (front.len() - first + 1).saturating_mul(self.rounded[m].len() + 1);
            self.instance.budget().charge(looks as u64)?;
            // The latest are the most alike.
            match front[first..].iter_mut().rev().find(|(f, _)| self.is_within(m, *f)) {
                Some((_, within)) => within.push(m),
                None => front.push((m, Vec::new())),
            }
        }
        Ok(front)
    }

    /// Whether user `m` holds no more of any row than user `f`, over their weights.
    fn is_within(&self, m: usize, f: usize) -> bool {
        let exact = |n: usize, row: usize| {
            let amounts = self.held[n].iter().map(|part| &part.amounts);
            amounts.into_iter().find_map(|amounts| at(amounts, row))
        };
        // Numbers that are rounded to different ones are in the same order.
        self.rounded[m].iter().all(|(row, b)| {
            at(&self.rounded[f], *row).is_some_and(|of| of > b || of == b && exact(f, *row) >= exact(m, *row))
        })
    }

    /// The least margin of users of these kinds towards all that are active, and the first that has it; `None` where it is not
    /// below the one that is known.
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

    /// The same of users of one shape.
    fn least_of_kind(&self, users: &[usize], known: Option<&Rational>) -> Result<Option<Least>, TooLarge> {
        let instance = self.instance;
        instance.budget().charge(instance.steps().saturating_mul(8 * users.len() as u64))?;
        let weight = |n: usize| instance.problem().users()[n].weight();
        // Those whose margin may be lower, and the worth over the weight from which on it is.
        let bound_of = |&n: &usize| {
            let bound = known.map_or_else(|| Rational::from(-1), |known| self.bound(n, known));
            let has_all = self.limit(n).is_some_and(|limit| limit <= bound);
            (!has_all).then(|| (n, bound / weight(n)))
        };
        let bounds: Vec<(usize, Rational)> = users.iter().filter_map(bound_of).collect();
        let Some((first, lowest)) = bounds.iter().min_by(|a, b| a.1.cmp(&b.1)) else { return Ok(None) };
        // One alone does not look at itself.
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

    /// The bundle that is worth most to a user over its weight, and more than the bound; without that of one user.
    fn most(&self, n: usize, bound: &Rational, without: Option<usize>) -> Result<Option<Worth>, TooLarge> {
        let mut most: Option<Worth> = None;
        let weight = self.instance.problem().users()[n].weight();
        let rates_of =
            |bound: &Rational| self.rates(n, &Rational::from(bound.max(&Rational::new()) * weight));
        let mut rates = rates_of(bound)?;
        let mut looks = 0;
        for at in self.parts_for(n) {
            let (largest, users) = &self.together[at];
            looks += largest.len() + 1;
            if self.worth_at_most(&rates, largest) <= ONE {
                continue;
            }
            for (f, within) in users {
                looks += self.rounded[*f].len() + 1;
                // It bounds what is within it, one task less or not.
                if self.worth_at_most(&rates, &self.rounded[*f]) <= ONE {
                    continue;
                }
                let within = within.iter().filter(|_| self.less || Some(*f) == without);
                for &m in [f].into_iter().chain(within).filter(|&&m| Some(m) != without) {
                    looks += self.rounded[m].len() + 1;
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
        self.instance.budget().charge(looks as u64)?;
        Ok(most)
    }

    /// The parts of the front that are on a class where the user can run.
    fn parts_for(&self, n: usize) -> Vec<usize> {
        let on_class = self.instance.scaled.classes(n).flat_map(|i| &self.holding[i]);
        let mut parts: Vec<usize> = on_class.copied().collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// `(x_n - M g_n) L`: where a bundle is worth more to the user, its margin is below `M`, which is given times `L`.
    fn bound(&self, n: usize, margin: &Rational) -> Rational {
        self.total(n) - Rational::from(margin * self.instance.scale(n))
    }

    /// `V` of a user by row, given the bound that is 0 or more, times `L`.
    fn rates(&self, n: usize, bound: &Rational) -> Result<Rounded, TooLarge> {
        let instance = self.instance;
        let looks = instance.scaled.n_classes(n).saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
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

    /// What a bundle is worth at most in parts of the bound of the rates, times [`ONE`].
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

    /// What the bundle of `m` is worth to `n` over its weight, times `L`, and the class of the task that is left out.
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
            if self.less {
                let of_task = Rational::from(&worth / &part.tasks) * &self.instance.denominator;
                if of_task > most {
                    (most, removed) = (of_task, Some(part.class));
                }
            }
            all += worth;
        }
        Ok((all - most, removed))
    }

    /// The margin of a pair times `L`, and the class of the task that is left out.
    fn margin(&self, n: usize, m: usize) -> Result<(Rational, Option<usize>), TooLarge> {
        let (worth, removed) = self.worth(n, m)?;
        Ok((self.margin_of_worth(n, worth), removed))
    }

    /// The margin towards a bundle that is worth so much over the weight.
    fn margin_of_worth(&self, n: usize, worth: Rational) -> Rational {
        let worth = worth * self.instance.problem().users()[n].weight();
        let due = self.limit(n).filter(|limit| *limit < worth).unwrap_or(worth);
        (self.total(n) - due) / self.instance.scale(n)
    }

    /// `x_n L`
    fn total(&self, n: usize) -> Rational {
        Rational::from(&self.instance.totals[n])
    }

    /// `T_n L`
    fn limit(&self, n: usize) -> Option<Rational> {
        let tasks = self.instance.problem().users()[n].tasks()?;
        Some(Rational::from(tasks * &self.instance.denominator))
    }
}

/// What user `m` holds of class `i` with `x / L` tasks.
fn part(instance: &Instance<'_>, m: usize, i: usize, x: &Integer) -> Part {
    let constraints = instance.constraints();
    let start = constraints.class_rows(i).start;
    let over_weight = Rational::from(instance.problem().users()[m].weight().recip_ref()) * x;
    let amount = |(at, d): (usize, &Rational)| (start + at, Rational::from(&over_weight * d));
    // Every task is where its user can run.
    let usage = constraints.usage(m, i).unwrap_or_default();
    Part { class: i, tasks: Rational::from(x), amounts: usage.entries().map(amount).collect() }
}

/// `a / b` times `2^PLACES`, rounded up; `b` may be 0.
fn round_up(a: &Rational, b: &Rational) -> u128 {
    if b.is_zero() {
        return u128::MAX;
    }
    let numerator = Integer::from(a.numer() * b.denom()) << PLACES;
    let denominator = Integer::from(a.denom() * b.numer());
    numerator.div_ceil(denominator).to_u128().unwrap_or(u128::MAX)
}
