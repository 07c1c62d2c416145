//! The pair of users with the least margin: few pairs are looked at, and fewer are computed.
//!
//! Let `M` be the least margin so far. A pair matters when its bundle is worth more than `x_n - M g_n` to the user. Of
//! most pairs integers show that it is not: let `b_mir = x_mi d_mir / w_m`, `top_r` the largest of a row,
//! `B_mir = b_mir / top_r` and `V_nir = top_r w_n / (d_nir (x_n - M g_n))`. The bundle is worth no more when
//! `sum_i min_r B V <= 1`. Both are rounded up to multiples of `2^-60`, so that the sum is too large rather than too
//! small. A number that does not fit stays at the largest that does, far above `2^120`, which stands for 1. The other
//! pairs are computed in rationals, each of which lowers `M` or was close to it.
//!
//! Users of one level hold equal parts, often just `top_r`: neither number is rounded then, and ties are seen at once.
//!
//! A bundle that holds no more of any row than another one is worth no more to anybody, so that everybody looks at a
//! *front* alone, bundles within which all others are. The user whose own bundle another one is within looks at that one as
//! well; and envy up to one task at whatever is within a bundle that may be worth too much, since one task less of a
//! bundle may be worth less than one task less of another within it. Bundles of the front that are alike are looked at
//! together first: where the largest `B` of each row among them would be worth no more, none of them is.
//!
//! What nothing is worth more to a user with some `V` is worth more to one whose `V` are no larger: users of one demand look
//! one after the other, and most of them at no more than their own `V`. Where they are many, the pairs are not.
//!
//! All numbers of the allocation are multiplied by its common denominator `L`, so that none has a wide denominator.

use std::collections::{BTreeMap, HashMap};

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
/// Users at least, but for the last ones, that look at all others one after the other, each with the least margin of those
/// before: so many make the pairs few that are computed before a margin is known, and keep many processors busy.
const CHUNK: usize = 64;

/// What a user holds of a class.
struct Part {
    class: usize,
    /// `x_mi L`
    tasks: Rational,
    /// `(row, b_mir L)`, ascending by row.
    amounts: Vec<(usize, Rational)>,
}

/// `(row, B_mir 2^PLACES)` of a bundle, or `(row, V_nir 2^PLACES)` of a user, rounded up; ascending by row.
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
    let chunks = chunks(instance, &active);
    let found = chunks.par_iter().map(|users| bundles.least(users));
    let found: Vec<Option<Least>> = found.collect::<Result<_, TooLarge>>()?;
    let first = found.into_iter().flatten().min_by(|a, b| a.0.cmp(&b.0));
    let Some((least, user)) = first else { return Ok(None) };
    // The lowest user towards whom it has this margin.
    for &envied in active.iter().filter(|&&m| m != user) {
        let (margin, removed) = bundles.margin(user, envied)?;
        if margin == least {
            return Ok(Some(Tightest { user, envied, removed, margin: margin / &instance.denominator }));
        }
    }
    Ok(None)
}

/// The users in chunks, those of one demand side by side and all in one chunk; in their order where no two have one.
fn chunks(instance: &Instance<'_>, active: &[usize]) -> Vec<Vec<usize>> {
    let mut of_demand: HashMap<_, usize> = HashMap::with_capacity(active.len());
    let mut alike: Vec<Vec<usize>> = Vec::new();
    for &n in active {
        let user = &instance.problem().users()[n];
        let demand = (user.base_demand(), user.demand_overrides(), user.servers());
        let at = *of_demand.entry(demand).or_insert(alike.len());
        match alike.get_mut(at) {
            Some(users) => users.push(n),
            None => alike.push(vec![n]),
        }
    }
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    for users in alike {
        match chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.extend(users),
            None => chunks.push(users),
        }
    }
    chunks
}

/// The least margin so far, times `L`, and the first user that has it.
type Least = (Rational, usize);

impl<'a, 'b> Bundles<'a, 'b> {
    fn new(instance: &'a Instance<'b>, less: bool, active: &[usize]) -> Result<Self, TooLarge> {
        let entries: usize = instance.tasks.iter().map(Vec::len).sum();
        let looks = entries.saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
        let mut top = vec![Rational::new(); instance.constraints().rows().len()];
        let mut held: Vec<Vec<Part>> = Vec::with_capacity(instance.tasks.len());
        for (m, tasks) in instance.tasks.iter().enumerate() {
            held.push(tasks.iter().map(|(i, x)| part(instance, m, *i, x)).collect());
        }
        for (row, b) in held.iter().flatten().flat_map(|part| &part.amounts) {
            if *b > top[*row] {
                top[*row].clone_from(b);
            }
        }
        let amounts = |parts: &Vec<Part>| {
            let all = parts.iter().flat_map(|part| &part.amounts);
            all.map(|(row, b)| (*row, round_up(b, &top[*row]))).collect()
        };
        let rounded: Vec<Rounded> = held.iter().map(amounts).collect();
        let mut bundles = Self { instance, less, held, rounded, top, together: Vec::new() };
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

    /// The least margin of these users towards all that are active.
    fn least(&self, users: &[usize]) -> Result<Option<Least>, TooLarge> {
        let mut least: Option<Least> = None;
        // The last user to whom no other bundle can be worth more, with its rates.
        let mut passed: Option<(usize, Rounded)> = None;
        for &n in users {
            let mut rates = self.rates(n, least.as_ref())?;
            let mut looks = rates.as_ref().map_or(0, Vec::len);
            if let (Some(own), Some((before, theirs))) = (&rates, &passed)
                && is_below(own, theirs)
                && self.worth_at_most(&rates, &self.rounded[*before]) <= ONE
            {
                looks += self.rounded[*before].len() + 1;
                self.instance.budget().charge(looks as u64)?;
                continue;
            }
            let mut is_passed = true;
            for (largest, users) in &self.together {
                looks += largest.len() + 1;
                if self.worth_at_most(&rates, largest) <= ONE {
                    continue;
                }
                for (f, within) in users {
                    looks += self.rounded[*f].len() + 1;
                    // It bounds what is within it, one task less or not.
                    if *f != n && self.worth_at_most(&rates, &self.rounded[*f]) <= ONE {
                        continue;
                    }
                    let within = within.iter().filter(|_| self.less || *f == n);
                    for &m in [f].into_iter().chain(within).filter(|&&m| m != n) {
                        looks += self.rounded[m].len() + 1;
                        if self.worth_at_most(&rates, &self.rounded[m]) <= ONE {
                            continue;
                        }
                        is_passed = false;
                        let (margin, _) = self.margin(n, m)?;
                        if least.as_ref().is_none_or(|(least, _)| margin < *least) {
                            least = Some((margin, n));
                            rates = self.rates(n, least.as_ref())?;
                        }
                    }
                }
            }
            self.instance.budget().charge(looks as u64)?;
            if let Some(rates) = rates.filter(|_| is_passed) {
                passed = Some((n, rates));
            }
        }
        Ok(least)
    }

    /// `V` of a user by row, given the least margin so far: `None` where every bundle may lower it, nothing where none
    /// can.
    fn rates(&self, n: usize, least: Option<&Least>) -> Result<Option<Rounded>, TooLarge> {
        let instance = self.instance;
        let Some((margin, _)) = least else { return Ok(None) };
        let bound = self.total(n) - Rational::from(margin * instance.scale(n));
        if self.limit(n).is_some_and(|limit| limit <= bound) {
            return Ok(Some(Vec::new()));
        }
        if bound < 0 {
            return Ok(None);
        }
        let looks = instance.scaled.n_classes(n).saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
        let constraints = instance.constraints();
        let mut rates = Vec::new();
        for i in instance.scaled.classes(n) {
            let Some(usage) = constraints.usage(n, i) else { continue };
            let start = constraints.class_rows(i).start;
            rates.extend(usage.entries().map(|(at, d)| {
                let most = Rational::from(d * &bound) / instance.problem().users()[n].weight();
                (start + at, round_up(&self.top[start + at], &most))
            }));
        }
        Ok(Some(rates))
    }

    /// What a bundle is worth at most in parts of the bound of the rates, times [`ONE`].
    fn worth_at_most(&self, rates: &Option<Rounded>, bundle: &[(usize, u128)]) -> u128 {
        let Some(rates) = rates else { return u128::MAX };
        let constraints = self.instance.constraints();
        let class = |(row, _): &(usize, u128)| constraints.rows()[*row].server;
        let of_class = |amounts: &[(usize, u128)]| {
            let rows = constraints.class_rows(class(&amounts[0]));
            let first = rates.partition_point(|(row, _)| *row < rows.start);
            let own = rates[first..].iter().take_while(|(row, _)| rows.contains(row));
            let product = |(row, v): &(usize, u128)| at(amounts, *row).map_or(0, |b| v.saturating_mul(*b));
            own.map(product).min().unwrap_or(0)
        };
        bundle.chunk_by(|a, b| class(a) == class(b)).map(of_class).fold(0, u128::saturating_add)
    }

    /// The margin of a pair times `L`, and the class of the task that is left out.
    fn margin(&self, n: usize, m: usize) -> Result<(Rational, Option<usize>), TooLarge> {
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
        let worth = (all - most) * self.instance.problem().users()[n].weight();
        let due = self.limit(n).filter(|limit| *limit < worth).unwrap_or(worth);
        Ok(((self.total(n) - due) / self.instance.scale(n), removed))
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

/// Whether rates are of the same rows, and none is larger.
fn is_below(rates: &Rounded, other: &Rounded) -> bool {
    rates.len() == other.len()
        && rates.iter().zip(other).all(|(own, other)| own.0 == other.0 && own.1 <= other.1)
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
