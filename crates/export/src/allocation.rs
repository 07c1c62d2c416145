//! Linear programmes for certificates of allocations. There is one programme for each claim that prices prove
//! or that a better allocation refutes.

use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Instance, Level, PriceVector, Prices, Share, ShareCoefficients,
    ShareError, Tasks, check,
};
use evenhand_problem::{Problem, Rational};
use thiserror::Error;

use crate::region::{Region, legend};
use crate::vipr::{Programme, Reason, Sense, Terms};
use crate::{Export, ExportError, Exporter, Write, valid, without_rates};

/// The largest total number of bits of all `U_n^alpha`.
const MOST_BITS: u64 = 1 << 28;

/// The reason why a claim has no linear programme.
#[derive(Debug, Error)]
enum NoProgramme {
    #[error("max-min without a share")]
    Unshared,
    #[error(transparent)]
    Share(#[from] ShareError),
    #[error("the worth of tasks is irrational, because alpha is not a whole number")]
    Irrational,
    #[error("what tasks are worth has too many digits")]
    TooManyDigits,
    #[error("the prices are too low")]
    PricesTooLow,
}

/// Writes a file for every linear programme of the certificate.
///
/// # Errors
/// [`ExportError`] if the certificate is not valid, or would exceed the checker's limits.
pub fn of_certificate(certificate: &Certificate, write: Write<'_>) -> Result<Export, ExportError> {
    without_rates(&certificate.problem)?;
    valid(check(certificate))?;
    let not_valid = |error: &dyn std::fmt::Display| ExportError::NotValid(error.to_string());
    let instance = Instance::new(&certificate.problem, &certificate.allocation).map_err(|e| not_valid(&e))?;
    let writer = Writer::new(&instance);
    let mut export = Exporter::new(write);
    for claim in &certificate.claims {
        writer.claim(claim, &mut export).map_err(|fault| not_valid(&fault))?;
    }
    Ok(export.found)
}

struct Writer<'a, 'b> {
    instance: &'a Instance<'b>,
    problem: &'b Problem,
    region: Region,
    legend: Vec<String>,
    /// The allocation that is judged, indexed by column.
    x: Terms,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(instance: &'a Instance<'b>) -> Self {
        let region = Region::new(instance.constraints());
        let problem = instance.problem();
        let x = point(&region, &instance.tasks());
        Self { instance, problem, region, legend: legend(problem), x }
    }

    fn claim(&self, claim: &Claim, export: &mut Exporter<'_>) -> Result<(), NoProgramme> {
        let label = label(claim, self.problem);
        if self.region.columns.is_empty() {
            export.leave_out(label, "no user can have tasks, so there is no variable");
            return Ok(());
        }
        if claim.axiom.is_about_optima() && self.problem.groups().have_limits() {
            export.leave_out(label, "limits of groups are not among the rows that are written");
            return Ok(());
        }
        let name = file_name(claim, self.problem);
        match (claim.axiom, claim.evidence.bare()) {
            (Axiom::ParetoOptimal, Evidence::Prices(prices)) => {
                let worth = self.over_scales();
                export.add(&name, &self.dominated(&label, &worth, prices)?);
            }
            (Axiom::IntegerParetoOptimal, Evidence::Prices(prices)) => {
                export.add(&name, &self.dominated(&label, &prices.user_weights, prices)?);
            }
            (Axiom::ParetoOptimal, Evidence::Dominating(better)) => {
                let mut programme = self.no_worse(&label, &self.over_scales());
                self.refute(&mut programme, "dominating", better);
                export.add(&name, &programme);
            }
            (Axiom::Proportional, Evidence::Prices(_) | Evidence::Better(_)) => match self.marginal(claim) {
                Err(why) => export.leave_out(label, why.to_string()),
                Ok(worth) => export.add(&name, &self.proportional(&label, claim, &worth)?),
            },
            (Axiom::MaxMin, Evidence::Levels(levels)) => {
                let share = claim.share.ok_or(NoProgramme::Unshared)?;
                self.levels(&label, &name, share, levels, export)?;
            }
            (_, Evidence::LevelsByResource(by_resource)) => {
                for (r, levels) in by_resource {
                    let resource = &self.problem.resources()[*r];
                    let (label, name) =
                        (format!("{label} on {resource}"), format!("{name}-resource-{}", r + 1));
                    self.levels(&label, &name, Share::Resource(*r), levels, export)?;
                }
            }
            _ if claim.holds.is_none() => export.leave_out(label, "the axiom does not apply"),
            _ if matches!(claim.axiom, Axiom::OptimalEnvyFree | Axiom::OptimalEqual) => {
                export.leave_out(label, "the programme of this axiom is not written");
            }
            _ => export.leave_out(label, "the claim is not a linear programme"),
        }
        Ok(())
    }

    /// Returns `1 / g_n`, indexed by user.
    fn over_scales(&self) -> Vec<Rational> {
        let of = |n| self.instance.scale(n).clone();
        (0..self.problem.n_users()).map(of).map(|g| if g.is_zero() { g } else { g.recip() }).collect()
    }

    /// Returns the programme that maximises the growth of `worth` among the allocations in which no user
    /// loses. The prices prove its bound.
    fn dominated(&self, label: &str, worth: &[Rational], prices: &Prices) -> Result<Programme, NoProgramme> {
        let mut programme = self.no_worse(label, worth);
        let keeps = self.region.rows.len() + self.region.users.len();
        let mut multipliers = Terms::new();
        for (at, n) in self.active().enumerate() {
            let more = Rational::from(&prices.user_weights[n] - &worth[n]);
            if !more.is_zero() {
                multipliers.push((programme.row(keeps + at), -more));
            }
        }
        let weight = |v: usize| prices.user_weights[self.region.columns[v].0].clone();
        self.prove(&mut programme, weight, &PriceVector::of(prices), multipliers)?;
        Ok(programme)
    }

    /// Returns the programme that maximises `sum worth_n y_n` over the feasible allocations `y` in which no
    /// user loses.
    fn no_worse(&self, label: &str, worth: &[Rational]) -> Programme {
        let objective = self.objective(|v| worth[self.region.columns[v].0].clone());
        let mut programme = self.programme(objective);
        for n in self.active() {
            let terms = self.region.of_user[n].clone().map(|v| (v, Rational::from(1))).collect();
            let kept = self.instance.total(n);
            programme.push_row(format!("k{}", n + 1), Sense::AtLeast, kept, terms);
        }
        self.describe(&mut programme, label, "kN: user N loses nothing");
        programme
    }

    fn proportional(&self, label: &str, claim: &Claim, worth: &[Rational]) -> Result<Programme, NoProgramme> {
        let mut programme = self.programme(self.objective(|v| worth[v].clone()));
        self.describe(&mut programme, label, "the objective: what tasks are worth at the margin");
        match claim.evidence.bare() {
            Evidence::Prices(prices) => {
                let prices = PriceVector::of(prices);
                self.prove(&mut programme, |v| worth[v].clone(), &prices, Terms::new())?;
            }
            Evidence::Better(better) => self.refute(&mut programme, "better", better),
            _ => {}
        }
        Ok(programme)
    }

    fn levels(
        &self,
        label: &str,
        name: &str,
        share: Share,
        levels: &[Level],
        export: &mut Exporter<'_>,
    ) -> Result<(), NoProgramme> {
        let share = share.coefficients(self.problem)?;
        if levels.is_empty() {
            export.leave_out(label, "every user has all that it would have alone: there are no prices");
        }
        for (at, level) in levels.iter().enumerate() {
            let programme = self.level(&format!("{label}, level {}", at + 1), &share, level)?;
            export.add(&format!("{name}-level-{}", at + 1), &programme);
        }
        Ok(())
    }

    /// Returns the programme that maximises the weighted sum of shares. The prices of one level bound this
    /// sum.
    fn level(&self, label: &str, share: &ShareCoefficients, level: &Level) -> Result<Programme, NoProgramme> {
        let mut weights = vec![Rational::new(); self.problem.n_users()];
        level.prices.user_weights.iter().for_each(|(n, weight)| weights[*n].clone_from(weight));
        let worth = |v: usize| {
            let (n, i) = self.region.columns[v];
            Rational::from(&weights[n] * share.of(n, i)) / self.problem.users()[n].weight()
        };
        let mut programme = self.programme(self.objective(worth));
        let covers: Vec<String> = level.covers.iter().map(|n| (n + 1).to_string()).collect();
        let covers = format!("the objective: the weighted shares; covers users {}", covers.join(" "));
        self.describe(&mut programme, label, &covers);
        self.prove(&mut programme, worth, &level.prices, Terms::new())?;
        Ok(programme)
    }

    /// Returns the exact values `a_ni = w_n u_ni / U_n^alpha`, indexed by column.
    fn marginal(&self, claim: &Claim) -> Result<Vec<Rational>, NoProgramme> {
        let one = Rational::from(1);
        let alpha = claim.alpha.as_ref().unwrap_or(&one);
        let whole = alpha.numer().to_u32().filter(|_| alpha.is_integer());
        let alpha = whole.ok_or(NoProgramme::Irrational)?;
        let share = claim.share.map(|share| share.coefficients(self.problem)).transpose()?;
        let u = |v: usize| {
            let (n, i) = self.region.columns[v];
            share.as_ref().map_or_else(|| Rational::from(1), |share| share.of(n, i).clone())
        };
        let mut levels = vec![Rational::new(); self.problem.n_users()];
        for (v, x) in &self.x {
            levels[self.region.columns[*v].0] += u(*v) * x;
        }
        let bits = |level: &Rational| {
            u64::from(level.numer().significant_bits()) + u64::from(level.denom().significant_bits())
        };
        if levels.iter().map(bits).sum::<u64>().saturating_mul(u64::from(alpha)) > MOST_BITS {
            return Err(NoProgramme::TooManyDigits);
        }
        let mut powers = vec![Rational::new(); levels.len()];
        for n in self.active() {
            powers[n] = Rational::from(1);
            (0..alpha).for_each(|_| powers[n] *= &levels[n]);
        }
        let worth = |v: usize| {
            let n = self.region.columns[v].0;
            u(v) * self.problem.users()[n].weight() / &powers[n]
        };
        Ok((0..self.region.columns.len()).map(worth).collect())
    }

    /// Derives the bound as a linear combination (`lin`). It has three kinds of multipliers: the prices, the
    /// multipliers of further rows, and the negated reduced costs of `worth`. The solution is the stated
    /// allocation.
    fn prove(
        &self,
        programme: &mut Programme,
        worth: impl Fn(usize) -> Rational,
        prices: &PriceVector,
        further: Terms,
    ) -> Result<(), NoProgramme> {
        let mut costs: Vec<Rational> = (0..self.region.columns.len()).map(|v| -worth(v)).collect();
        let mut multipliers = Terms::new();
        let priced_rows = prices.rows.iter().map(|(row, price)| (*row, &self.region.rows[*row], price));
        let priced_users = prices.users.iter().map(|(n, price)| {
            // Only users with finite tasks have a price.
            let at = self.region.users.partition_point(|(user, _)| user < n);
            (self.region.rows.len() + at, &self.region.users[at].1, price)
        });
        for (at, limit, price) in priced_rows.chain(priced_users) {
            multipliers.push((programme.row(at), price.clone()));
            limit.terms.iter().for_each(|(v, amount)| costs[*v] += Rational::from(amount * price));
        }
        multipliers.extend(further);
        if costs.iter().any(|cost| *cost < 0) {
            return Err(NoProgramme::PricesTooLow);
        }
        let bounds = costs.into_iter().enumerate().filter(|(_, cost)| !cost.is_zero());
        let mut all: Terms = bounds.map(|(v, cost)| (Programme::bound(v), -cost)).collect();
        let right = |(at, m): &(usize, Rational)| {
            Rational::from(&programme.rows[at - programme.variables.len()].right * m)
        };
        let upper: Rational = multipliers.iter().map(right).sum();
        all.extend(multipliers);
        programme.push_bound(upper.clone(), Reason::Linear(all));
        programme.upper = Some(upper);
        programme.lower = programme.value(&self.x);
        programme.solutions.push(("stated", self.x.clone()));
        Ok(())
    }

    /// Records another allocation whose objective is larger than that of the stated allocation.
    fn refute(&self, programme: &mut Programme, name: &'static str, better: &Tasks) {
        let y = point(&self.region, better);
        programme.lower = programme.value(&y);
        let stated = programme.value(&self.x);
        programme
            .about
            .push(format!("the stated allocation reaches {stated}, the other one {}", programme.lower));
        programme.solutions.push(("stated", self.x.clone()));
        programme.solutions.push((name, y));
    }

    fn objective(&self, worth: impl Fn(usize) -> Rational) -> Terms {
        let all = (0..self.region.columns.len()).map(|v| (v, worth(v)));
        all.filter(|(_, worth)| !worth.is_zero()).collect()
    }

    /// Returns the programme whose feasible points are the feasible allocations.
    fn programme(&self, objective: Terms) -> Programme {
        let mut programme = Programme::new(self.region.names(), objective);
        for limit in self.region.rows.iter().chain(self.region.users.iter().map(|(_, limit)| limit)) {
            programme.push_row(limit.name.clone(), Sense::AtMost, limit.most.clone(), limit.terms.clone());
        }
        programme
    }

    fn describe(&self, programme: &mut Programme, label: &str, also: &str) {
        programme.about.push(label.to_owned());
        programme.about.extend(self.legend.iter().cloned());
        programme.about.push(also.to_owned());
    }

    fn active(&self) -> impl Iterator<Item = usize> {
        (0..self.problem.n_users()).filter(|&n| self.instance.is_active(n))
    }
}

/// Returns the tasks indexed by column.
fn point(region: &Region, tasks: &Tasks) -> Terms {
    let of = |n: usize, i: usize| {
        let at = tasks[n].binary_search_by_key(&i, |(class, _)| *class).ok()?;
        Some(tasks[n][at].1.clone()).filter(|x| !x.is_zero())
    };
    let columns = region.columns.iter().enumerate();
    columns.filter_map(|(v, (n, i))| Some((v, of(*n, *i)?))).collect()
}

/// Returns a claim in words.
fn label(claim: &Claim, problem: &Problem) -> String {
    let mut label = claim.axiom.name().to_owned();
    if let Some(share) = claim.share {
        label = format!("{label} ({})", share.name(problem));
    }
    if let Some(alpha) = claim.alpha.as_ref() {
        label = format!("{label} (alpha {alpha})");
    }
    label
}

/// Returns the file name of a claim. Resources are represented by numbers, because their names may contain
/// any character.
fn file_name(claim: &Claim, problem: &Problem) -> String {
    let mut name = claim.axiom.name().to_owned();
    match claim.share {
        None => {}
        Some(Share::Resource(r)) => name = format!("{name}-resource-{}", r + 1),
        Some(share) => name = format!("{name}-{}", share.name(problem)),
    }
    match claim.alpha.as_ref().filter(|alpha| alpha.is_integer()) {
        Some(alpha) => format!("{name}-{alpha}"),
        None => name,
    }
}
