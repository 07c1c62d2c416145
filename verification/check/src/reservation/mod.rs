//! Ratio certificates (what greedy packing earns, and what the optimum does) and worst-load certificates (the least
//! part of the optimum that greedy earns, whatever the load).

mod greedy;
mod optimum;
mod packing;
mod problem;
mod proof;
mod table;
mod tree;
mod worst_load;

use rug::{Integer, Rational};

use self::packing::Packing;
use self::problem::Reservation;
use self::proof::{Greedy, Optimum, Reader};
use crate::json::Json;
use crate::number::floor;
use crate::work::{Checked, ensure, refuse};
use crate::{File, Options, Report, Unusable, readable};

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Result<Report, Unusable> {
    let others = options.allocation.is_some() || !options.require.is_empty();
    if others || options.max_tolerance.is_some() || options.sharing.is_some() {
        let what = "only --problem can be asked of this kind of certificate".to_owned();
        return Err(Unusable::usage(what));
    }
    let is_ratio = raw.get("kind").text() == Ok("ratio-certificate");
    let judge = || if is_ratio { ratio(raw) } else { worst_load(raw) };
    let judged = judge().map_err(|fault| file.unusable(raw, fault))?;
    let (problem, claims, verdict) = judged;
    let other = options.problem.as_ref().map(|file| readable(file, Reservation::read));
    let is_about = other.transpose()?.is_none_or(|other| problem.is_same(&other, is_ratio));
    let is_about = ensure(is_about, "the certificate is about another problem");
    let reason = file.reason(raw, is_about.and(verdict))?;
    Ok(Report { reason, claims, about: Vec::new(), more: ",\"tolerance\":\"0\"".to_owned() })
}

/// The problem, what is claimed, and whether it is true.
type Judged = (Reservation, Vec<String>, Checked<()>);

fn ratio(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, greedy, optimum, ratio, integer] =
        raw.fields(["kind", "version", "problem", "greedy", "optimum", "ratio", "integer?"])?;
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let reader = Reader { problem: &problem, whole: false };
    let (greedy, optimum) = (reader.greedy(greedy)?, reader.optimum(optimum)?);
    let ratio = reader.ratio(ratio)?;
    let mut whole = None;
    if !integer.is_absent() {
        let [greedy, optimum] = integer.fields(["greedy", "optimum"])?;
        let reader = Reader { whole: true, ..reader };
        whole = Some((reader.greedy(greedy)?, reader.optimum(optimum)?));
    }
    let between = |optimum: &Optimum| match (&optimum.assignment.reward, &optimum.bound) {
        (lower, upper) if lower == upper => format!("is {lower}"),
        (lower, upper) => format!("is between {lower} and {upper}"),
    };
    let is_exact = optimum.assignment.reward == optimum.bound;
    let at_least = if is_exact { "" } else { "at least " };
    let mut claims = vec![
        format!("greedy earns {}", greedy.reward),
        format!("the optimum {}", between(&optimum)),
        ratio.as_ref().map_or("there is nothing to earn".to_owned(), |ratio| {
            format!("greedy earns {at_least}{ratio} of the optimum")
        }),
    ];
    if let Some((greedy, optimum)) = &whole {
        claims.push(format!(
            "whole servers: greedy earns {}, the optimum {}",
            greedy.reward,
            between(optimum)
        ));
    }
    let verdict = verify_ratio(&problem, (&greedy, &optimum), ratio.as_ref(), whole.as_ref());
    Ok((problem, claims, verdict))
}

fn verify_ratio(
    problem: &Reservation,
    (greedy, optimum): (&Greedy, &Optimum),
    ratio: Option<&Rational>,
    whole: Option<&(Greedy, Optimum)>,
) -> Checked<()> {
    let mut packing = Packing::new(problem)?;
    let loads: Vec<Rational> = problem.jobs.iter().map(|job| job.load.clone()).collect();
    let sizes = problem.fractions();
    greedy::verify(greedy, &loads, &sizes, false, &mut packing)?;
    optimum::verify(optimum, &loads, &sizes, false, &packing)?;
    let found = (!optimum.bound.is_zero()).then(|| Rational::from(&greedy.reward / &optimum.bound));
    ensure(ratio == found.as_ref(), "ratio: it is not greedy's reward over the bound")?;
    let Some((greedy, optimum)) = whole else { return Ok(()) };
    let Some(counts) = &problem.count else {
        return refuse("integer: the problem states no numbers of servers");
    };
    let all: Integer = counts.iter().map(|count| Integer::from(*count)).sum();
    let jobs: Vec<Rational> =
        loads.iter().map(|load| Rational::from(floor(Rational::from(load * &all)))).collect();
    let sizes: Vec<Rational> = counts.iter().map(|count| Rational::from(*count)).collect();
    greedy::verify(greedy, &jobs, &sizes, true, &mut packing)
        .and_then(|()| optimum::verify(optimum, &jobs, &sizes, true, &packing))
        .map_err(|fault| fault.about("integer"))
}

fn worst_load(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, lower, upper, loads, greedy, optimum, firsts, claims] = raw.fields([
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
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let reader = Reader { problem: &problem, whole: false };
    let (lower, upper) = (reader.ratio(lower)?, reader.ratio(upper)?);
    let stated = reader.by_type(loads)?;
    let greedy = reader.greedy(greedy)?;
    let [reward, assignment, served] = optimum.fields(["reward", "assignment", "served"])?;
    let optimum = reader.assignment(reward, assignment, served)?;
    let (firsts, orders) = (worst_load::firsts(&reader, firsts)?, worst_load::claims(&reader, claims)?);
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
        ensure(problem.capacity.len() == 1, "problem: it has several pools")?;
        if problem.jobs.iter().all(|job| job.reward.is_zero()) {
            let nothing =
                lower.is_none() && upper.is_none() && greedy.reward.is_zero() && optimum.reward.is_zero();
            let empty = greedy.steps.is_empty()
                && optimum.servers.is_empty()
                && firsts.is_empty()
                && orders.is_empty();
            let zero = stated.is_empty() && optimum.served.iter().all(|(_, served)| served.is_zero());
            return ensure(nothing && empty && zero, "no type has a reward, and yet something is stated");
        }
        let (Some(lower), Some(upper)) = (&lower, &upper) else {
            return refuse("a ratio is missing, though types have a reward");
        };
        ensure(*lower <= 1, "ratio_lower: loads that greedy serves have the ratio 1")?;
        let mut packing = Packing::new(&problem)?;
        worst_load::verify(lower, &firsts, &orders, &mut packing)?;
        ensure(stated.iter().all(|(_, load)| *load >= 0), "loads: one is negative")?;
        let mut loads = vec![Rational::new(); problem.jobs.len()];
        stated.iter().for_each(|(j, load)| loads[*j].clone_from(load));
        let one = [Rational::from(1)];
        greedy::verify(&greedy, &loads, &one, false, &mut packing)?;
        optimum::assigned(&optimum, &loads, &one, &packing)?;
        ensure(!optimum.reward.is_zero(), "optimum: it earns nothing, which has no ratio")?;
        let reached = Rational::from(&greedy.reward / &optimum.reward);
        ensure(*upper == reached, "ratio_upper: it is not greedy's reward over the optimum's")
    };
    let verdict = verify();
    Ok((problem, says, verdict))
}
