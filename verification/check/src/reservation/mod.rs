//! Ratio certificates (what greedy packing earns, and what the optimum does) and worst-load certificates (the least
//! part of the optimum that greedy earns, whatever the load).

mod greedy;
mod optimum;
mod packing;
mod problem;
mod table;
mod tree;
mod worst_load;

use rug::Rational;

use self::packing::Packing;
use self::problem::Reservation;
use crate::json::Json;
use crate::work::{Checked, ensure, refuse};
use crate::{File, Options, Report, Unusable};

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Result<Report, Unusable> {
    let others = options.allocation.is_some() || !options.require.is_empty();
    if others || options.max_tolerance.is_some() || options.sharing.is_some() {
        return Err(Unusable::usage("only --problem can be asked of this kind of certificate"));
    }
    let is_ratio = raw.get("kind").text() == Ok("ratio-certificate");
    let judged = if is_ratio { ratio(raw) } else { worst_load(raw) };
    let (problem, claims, verdict) = judged.map_err(|fault| file.unusable(raw, fault))?;
    let other = options.problem.as_ref().map(|file| file.read(Reservation::read)).transpose()?;
    let is_about = other.map_or(Ok(true), |other| problem.is_same(&other, is_ratio));
    let is_about = is_about.map_err(|fault| file.unusable(raw, fault))?;
    let unmet = (!is_about).then(|| "the certificate is about another problem".to_owned());
    let reason = file.reason(raw, unmet, verdict)?;
    Ok(Report { reason, claims, about: Vec::new(), more: vec![("tolerance", "\"0\"".to_owned())] })
}

/// The problem, what is claimed, and whether it is true.
type Judged = (Reservation, Vec<String>, Checked<()>);

/// What greedy earns and what the optimum does, as it is stated.
struct Stated<'j> {
    greedy: Rational,
    steps: &'j Json<'j>,
    reward: Rational,
    assignment: &'j Json<'j>,
    served: &'j Json<'j>,
    bound: Rational,
    prices: &'j Json<'j>,
    pricing: &'j Json<'j>,
}

impl<'j> Stated<'j> {
    fn read(greedy: &'j Json<'j>, optimum: &'j Json<'j>) -> Checked<Self> {
        let [greedy, steps] = greedy.fields(["reward", "steps"])?;
        let [reward, assignment, served, bound, prices, pricing] =
            optimum.fields(["reward", "assignment", "served", "bound", "prices", "pricing"])?;
        let (greedy, reward, bound) = (greedy.computed()?, reward.computed()?, bound.computed()?);
        Ok(Self { greedy, steps, reward, assignment, served, bound, prices, pricing })
    }

    fn says(&self) -> [String; 2] {
        let optimum = match self.reward == self.bound {
            true => format!("the optimum is {}", self.bound),
            false => format!("the optimum is between {} and {}", self.reward, self.bound),
        };
        [format!("greedy earns {}", self.greedy), optimum]
    }

    fn verify(
        &self,
        jobs: &[Rational],
        sizes: &[Rational],
        whole: bool,
        packing: &mut Packing<'_>,
    ) -> Checked<()> {
        let greedy = greedy::earned(self.steps, jobs, sizes, whole, packing)?;
        ensure(self.greedy == greedy, "greedy: the reward is another")?;
        let reward = optimum::earned(self.assignment, self.served, jobs, sizes, whole, packing);
        let reward = reward.map_err(|fault| fault.about("optimum"))?;
        ensure(self.reward == reward, "optimum: the reward of the assignment is another")?;
        let bound = optimum::bound(self.prices, self.pricing, jobs, sizes, whole, packing);
        let bound = bound.map_err(|fault| fault.about("optimum"))?;
        ensure(self.bound == bound, "optimum: the bound is another")
    }
}

/// A number, or null.
fn number_or_null(raw: &Json<'_>) -> Checked<Option<Rational>> {
    if raw.is_null() { Ok(None) } else { raw.computed().map(Some) }
}

fn ratio(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, greedy, optimum, ratio, integer] =
        raw.fields(["kind", "version", "problem", "greedy", "optimum", "ratio", "integer?"])?;
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let stated = Stated::read(greedy, optimum)?;
    let ratio = number_or_null(ratio)?;
    let whole = integer.given().map(|integer| integer.fields(["greedy", "optimum"])).transpose()?;
    let whole = whole.map(|[greedy, optimum]| Stated::read(greedy, optimum)).transpose()?;
    let at_least = if stated.reward == stated.bound { "" } else { "at least " };
    let mut claims = stated.says().to_vec();
    claims.push(match &ratio {
        Some(ratio) => format!("greedy earns {at_least}{ratio} of the optimum"),
        None => "there is nothing to earn".to_owned(),
    });
    claims.extend(whole.as_ref().map(|whole| format!("whole servers: {}", whole.says().join(", "))));
    let verify = || {
        let mut packing = Packing::new(&problem)?;
        let loads: Vec<Rational> = problem.jobs.iter().map(|job| job.load.clone()).collect();
        let counts: Vec<Rational> = problem.pools.iter().map(|pool| Rational::from(pool.count)).collect();
        let all: Rational = counts.iter().sum();
        let sizes: Vec<Rational> = counts.iter().map(|count| Rational::from(count / &all)).collect();
        stated.verify(&loads, &sizes, false, &mut packing)?;
        let found = (!stated.bound.is_zero()).then(|| Rational::from(&stated.greedy / &stated.bound));
        ensure(ratio == found, "ratio: it is not greedy's reward over the bound")?;
        let Some(whole) = &whole else { return Ok(()) };
        ensure(problem.states_counts, "integer: the problem states no numbers of servers")?;
        let jobs: Vec<Rational> = loads.into_iter().map(|load| (load * &all).floor()).collect();
        whole.verify(&jobs, &counts, true, &mut packing).map_err(|fault| fault.about("integer"))
    };
    let verdict = verify();
    Ok((problem, claims, verdict))
}

fn worst_load(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, lower, upper, rest @ ..] = raw.fields([
        "kind",
        "version",
        "problem",
        "ratio_lower",
        "ratio_upper",
        "loads",
        "greedy",
        "optimum",
        "firsts",
        "claims",
    ])?;
    let [loads, greedy, optimum, firsts, claims] = rest;
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let (lower, upper) = (number_or_null(lower)?, number_or_null(upper)?);
    let stated = problem.types.numbers(loads)?;
    let [greedy, steps] = greedy.fields(["reward", "steps"])?;
    let [reward, assignment, served] = optimum.fields(["reward", "assignment", "served"])?;
    let (greedy, reward) = (greedy.computed()?, reward.computed()?);
    let says = match (&lower, &upper) {
        (Some(lower), Some(upper)) => vec![
            format!("greedy earns at least {lower} of the optimum, whatever the load"),
            match lower == upper {
                true => "with the stated loads it earns no more than that".to_owned(),
                false => format!("with the stated loads it earns at most {upper} of the optimum"),
            },
        ],
        _ => vec!["there is nothing to earn, whatever the load".to_owned()],
    };
    let verify = || {
        ensure(problem.pools.len() == 1, "problem: it has several pools")?;
        if problem.jobs.iter().all(|job| job.reward.is_zero()) {
            let mut lists = [steps, assignment, firsts, claims].into_iter().map(Json::list);
            let is_empty = lists.all(|list| list.is_ok_and(<[_]>::is_empty)) && stated.is_empty();
            let is_empty = is_empty && problem.types.numbers(served)?.is_empty();
            let nothing = lower.is_none() && upper.is_none() && greedy.is_zero() && reward.is_zero();
            return ensure(nothing && is_empty, "no type has a reward, and yet something is stated");
        }
        let (Some(lower), Some(upper)) = (&lower, &upper) else {
            return refuse("a ratio is missing, though types have a reward");
        };
        ensure(*lower <= 1, "ratio_lower: loads that greedy serves have the ratio 1")?;
        let mut packing = Packing::new(&problem)?;
        worst_load::verify(lower, firsts, claims, &mut packing)?;
        ensure(stated.iter().all(|(_, load)| *load >= 0), "loads: one is negative")?;
        let mut loads = vec![Rational::new(); problem.jobs.len()];
        stated.iter().for_each(|(j, load)| loads[*j].clone_from(load));
        let one = [Rational::from(1)];
        let earned = greedy::earned(steps, &loads, &one, false, &mut packing)?;
        ensure(greedy == earned, "greedy: the reward is another")?;
        let earned = optimum::earned(assignment, served, &loads, &one, false, &packing);
        let earned = earned.map_err(|fault| fault.about("optimum"))?;
        ensure(reward == earned, "optimum: the reward of the assignment is another")?;
        ensure(!reward.is_zero(), "optimum: it earns nothing, which has no ratio")?;
        let reached = Rational::from(&greedy / &reward);
        ensure(*upper == reached, "ratio_upper: it is not greedy's reward over the optimum's")
    };
    let verdict = verify();
    Ok((problem, says, verdict))
}
