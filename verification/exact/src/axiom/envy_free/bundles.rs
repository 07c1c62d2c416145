//! The pair of users with the least margin: every pair is looked at, and few are computed.
//!
//! Let `M` be the least margin so far. A pair matters when its bundle is worth more than `x_n - M g_n` to the user. Of
//! most pairs integers show that it is not: let `b_mir = x_mi d_mir / w_m`, `top_r` the largest of a row,
//! `B_mir = b_mir / top_r` and `V_nir = top_r w_n / (d_nir (x_n - M g_n))`. The bundle is worth no more when
//! `sum_i min_r B V <= 1`. Both are rounded up to multiples of `2^-40`, so that the sum is too large rather than too
//! small. A number that does not fit stays at the largest that does, far above `2^80`, which stands for 1. The other
//! pairs are computed in rationals, each of which lowers `M` or was close to it.
//!
//! Users of one level hold equal parts, often just `top_r`: neither number is rounded then, and ties are seen at once.
//!
//! All numbers of the allocation are multiplied by its common denominator `L`, so that none has a wide denominator.

use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use super::Tightest;
use crate::budget::TooLarge;
use crate::instance::Instance;

/// Binary places of the rounded numbers.
const PLACES: u32 = 40;
/// A sum of products of two rounded numbers that stands for 1.
const ONE: u128 = 1 << (2 * PLACES);
/// Users that look at all others one after the other, each with the least margin of those before: so many make the pairs
/// few that are computed before a margin is known, and keep many processors busy.
const CHUNK: usize = 64;

/// What a user holds of a row, over its weight.
struct Amount {
    row: usize,
    /// `b_mir L`
    exact: Rational,
    /// `B_mir 2^PLACES`, rounded up.
    rounded: u128,
}

/// What a user holds of a class.
struct Part {
    class: usize,
    /// `x_mi L`
    tasks: Rational,
    /// Ascending by row.
    amounts: Vec<Amount>,
}

impl Part {
    /// The amount of a row, which stands at `guess` where both users take something of the same rows.
    fn of_row(&self, row: usize, guess: usize) -> Option<&Amount> {
        let guessed = self.amounts.get(guess).filter(|amount| amount.row == row);
        guessed.or_else(|| {
            let at = self.amounts.binary_search_by_key(&row, |amount| amount.row).ok()?;
            Some(&self.amounts[at])
        })
    }
}

/// `V_nir 2^PLACES`, rounded up: by class the rows of which a task of the user takes something, ascending.
type Rates = Vec<Vec<(usize, u128)>>;

/// How a user looks at bundles, given the least margin so far.
enum View {
    /// No bundle can give it a smaller margin.
    Content,
    /// Every bundle may.
    Open,
    /// A bundle may that is worth more than these rates stand for.
    Rates(Rates),
}

/// What everybody holds.
struct Bundles<'a, 'b> {
    instance: &'a Instance<'b>,
    /// Whether a bundle counts without one task of it that is worth most.
    less: bool,
    /// By user.
    held: Vec<Vec<Part>>,
    /// By row: the largest `b_mir L`.
    top: Vec<Rational>,
    /// Amounts of all users together.
    size: usize,
}

/// The tightest pair, of envy up to one task where `less` is set; `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub(in crate::axiom) fn tightest(instance: &Instance<'_>, less: bool) -> Result<Option<Tightest>, TooLarge> {
    let active: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    if active.len() < 2 {
        return Ok(None);
    }
    let bundles = Bundles::new(instance, less)?;
    let chunks = active.par_chunks(CHUNK).map(|users| bundles.least(users, &active));
    let found: Vec<Option<Least>> = chunks.collect::<Result<_, TooLarge>>()?;
    let least = found.into_iter().flatten().min_by(|a, b| a.margin.cmp(&b.margin).then(a.user.cmp(&b.user)));
    Ok(least.map(|Least { user, envied, removed, margin }| {
        let margin = margin / &instance.denominator;
        Tightest { user, envied, removed, margin }
    }))
}

/// A pair with the least margin so far.
struct Least {
    user: usize,
    envied: usize,
    removed: Option<usize>,
    /// `M L`
    margin: Rational,
}

impl<'a, 'b> Bundles<'a, 'b> {
    fn new(instance: &'a Instance<'b>, less: bool) -> Result<Self, TooLarge> {
        let entries: usize = instance.tasks.iter().map(Vec::len).sum();
        let looks = entries.saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
        let mut top = vec![Rational::new(); instance.constraints().rows().len()];
        let mut held: Vec<Vec<Part>> = Vec::with_capacity(instance.tasks.len());
        for (m, tasks) in instance.tasks.iter().enumerate() {
            held.push(tasks.iter().map(|(i, x)| part(instance, m, *i, x)).collect());
        }
        for amount in held.iter().flatten().flat_map(|part| &part.amounts) {
            if amount.exact > top[amount.row] {
                top[amount.row].clone_from(&amount.exact);
            }
        }
        let all = held.iter_mut().flatten().flat_map(|part| &mut part.amounts);
        all.for_each(|amount| amount.rounded = round_up(&amount.exact, &top[amount.row]));
        let size = held.iter().flatten().map(|part| part.amounts.len() + 1).sum();
        Ok(Self { instance, less, held, top, size })
    }

    /// The least margin of these users towards all that are active.
    fn least(&self, users: &[usize], active: &[usize]) -> Result<Option<Least>, TooLarge> {
        let (budget, steps) = (self.instance.budget(), self.instance.steps());
        let mut least: Option<Least> = None;
        for &n in users {
            budget.charge(self.size as u64)?;
            let mut view = self.view(n, least.as_ref())?;
            for &m in active.iter().filter(|&&m| m != n) {
                match &view {
                    View::Content => break,
                    View::Rates(rates) if self.is_below(rates, m) => continue,
                    View::Open | View::Rates(_) => {}
                }
                budget.charge(steps.saturating_mul(4 * self.held[m].len() as u64 + 1))?;
                let (margin, removed) = self.margin(n, m);
                if least.as_ref().is_some_and(|least| least.margin <= margin) {
                    continue;
                }
                least = Some(Least { user: n, envied: m, removed, margin });
                view = self.view(n, least.as_ref())?;
            }
        }
        Ok(least)
    }

    fn view(&self, n: usize, least: Option<&Least>) -> Result<View, TooLarge> {
        let instance = self.instance;
        let Some(least) = least else { return Ok(View::Open) };
        let bound = self.total(n) - Rational::from(&least.margin * instance.scale(n));
        if self.limit(n).is_some_and(|limit| limit <= bound) {
            return Ok(View::Content);
        }
        if bound < 0 {
            return Ok(View::Open);
        }
        let looks = instance.scaled.n_classes(n).saturating_mul(instance.problem().n_resources() + 1);
        instance.budget().charge(instance.steps().saturating_mul(looks as u64))?;
        let constraints = instance.constraints();
        let mut rates: Rates = vec![Vec::new(); instance.problem().n_servers()];
        for i in instance.scaled.classes(n) {
            let Some(usage) = constraints.usage(n, i) else { continue };
            let start = constraints.class_rows(i).start;
            let rate = |(at, d): (usize, &Rational)| {
                let most = Rational::from(d * &bound) / instance.problem().users()[n].weight();
                (start + at, round_up(&self.top[start + at], &most))
            };
            rates[i] = usage.entries().map(rate).collect();
        }
        Ok(View::Rates(rates))
    }

    /// Whether it is seen at once that a bundle is worth no more than the bound of the rates.
    fn is_below(&self, rates: &Rates, m: usize) -> bool {
        let of_part = |part: &Part| {
            let product = |(at, (row, rate)): (usize, &(usize, u128))| {
                part.of_row(*row, at).map_or(0, |amount| rate.saturating_mul(amount.rounded))
            };
            rates[part.class].iter().enumerate().map(product).min().unwrap_or(0)
        };
        self.held[m].iter().map(of_part).fold(0, u128::saturating_add) <= ONE
    }

    /// The margin of a pair times `L`, and the class of the task that is left out.
    fn margin(&self, n: usize, m: usize) -> (Rational, Option<usize>) {
        let constraints = self.instance.constraints();
        let (mut all, mut most, mut removed) = (Rational::new(), Rational::new(), None);
        for part in &self.held[m] {
            let Some(usage) = constraints.usage(n, part.class) else { continue };
            let start = constraints.class_rows(part.class).start;
            let tasks = usage.entries().enumerate().map(|(guess, (at, d))| {
                part.of_row(start + at, guess)
                    .map_or_else(Rational::new, |amount| Rational::from(&amount.exact / d))
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
        ((self.total(n) - due) / self.instance.scale(n), removed)
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

/// What user `m` holds of class `i` with `x / L` tasks; nothing is rounded yet.
fn part(instance: &Instance<'_>, m: usize, i: usize, x: &Integer) -> Part {
    let constraints = instance.constraints();
    let start = constraints.class_rows(i).start;
    let over_weight = Rational::from(instance.problem().users()[m].weight().recip_ref()) * x;
    let amount = |(at, d): (usize, &Rational)| Amount {
        row: start + at,
        exact: Rational::from(&over_weight * d),
        rounded: 0,
    };
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
