//! Judges ratio certificates and worst-load certificates. A ratio certificate states the reward of greedy packing and
//! the optimum. A worst-load certificate states the smallest fraction of the optimum that greedy earns under any load.

mod earned;
pub mod packing;
mod problem;
mod stated;
mod table;
mod tree;
mod worst_load;

use rug::Rational;

use self::packing::Packing;
use self::problem::Reservation;
use self::stated::{Amount, Stated};
use crate::canonical::by_name;
use crate::json::{Json, quoted, record};
use crate::names::{Amounts, at};
use crate::number::{STATED, parse};
use crate::work::{Checked, Fault, context, ensure};
use crate::{File, Options, Report, Unusable, Usable};

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    if options.allocation.is_some() || options.max_tolerance.is_some() || options.sharing.is_some() {
        return Err(Unusable::usage(
            "a certificate of a ratio or worst load takes only the options --problem and --require",
        ));
    }
    let is_ratio = raw.get("kind").text() == Ok("ratio-certificate");
    let unusable = |fault: Fault| file.unusable(raw, fault);
    let judged = if is_ratio { ratio(raw) } else { worst_load(raw) }.map_err(unusable)?;
    let problem = &judged.problem;
    let mut unmet = Vec::new();
    if let Some(other) = &options.problem {
        let other = other.read(|raw| Reservation::read(raw)?.meaning(is_ratio))?;
        let is_same = problem.meaning(is_ratio).map_err(unusable)? == other;
        unmet.extend((!is_same).then(|| "the certificate is about another problem".to_owned()));
    }
    for text in &options.require {
        let is_shown = match text.strip_prefix("ratio:").map(|part| parse(part, STATED)) {
            None if text == "exact" => judged.is_exact,
            Some(Ok(part)) => judged.ratio.as_ref().is_some_and(|ratio| *ratio >= part),
            _ => return Err(Unusable::usage(&format!("--require {text}: expected `exact` or `ratio:A`"))),
        };
        unmet.extend(
            (!is_shown).then(|| format!("`{text}` is required, but the certificate does not prove it")),
        );
    }
    let (hash, name, loads) = (problem.hash(), &problem.name, judged.loads.iter());
    let (types, pools) = (problem.jobs.len(), problem.pools.len());
    let listed = loads.clone().map(|(j, load)| format!("{} {load}", problem.types.list[*j]));
    let listed = Some(listed.collect::<Vec<_>>().join(", ")).filter(|listed| !listed.is_empty());
    let (what, listed) = (if is_ratio { "" } else { "stated " }, listed.unwrap_or("none".to_owned()));
    let subject = vec![
        format!("problem sha256 {hash}: `{name}`, job types {types}, pools {pools}"),
        format!("{what}loads per server: {listed}"),
    ];
    let problem_json = [quoted(name), types.to_string(), pools.to_string(), quoted(&hash)];
    let problem_json = record("name types pools sha256", problem_json);
    let in_text = |load: &Rational| Some(quoted(&load.to_string()));
    let loads = by_name(&problem.types, loads.map(|(j, load)| (*j, in_text(load))), false);
    let reason = file.reason(raw, unmet, judged.verdict)?;
    let ratio = judged.ratio.as_ref().filter(|_| reason.is_none()).and_then(in_text);
    let exact = (judged.is_exact && reason.is_none()).to_string();
    let fields = [quoted("0"), problem_json, loads, ratio.unwrap_or("null".to_owned()), exact];
    let fields = ["tolerance", "problem", "loads", "ratio", "exact"].into_iter().zip(fields).collect();
    Ok(Report { reason, claims: judged.claims, subject, fields })
}

/// A certificate that has been judged.
struct Judged {
    problem: Reservation,
    /// The claims, one sentence each.
    claims: Vec<String>,
    /// The loads per server. Loads of 0 are omitted.
    loads: Amounts,
    /// A lower bound on the fraction of the optimum that greedy earns. `None` if no reward is possible.
    ratio: Option<Rational>,
    /// True if greedy earns exactly the fraction `ratio`, and every optimum is known exactly, including the optimum of
    /// whole servers.
    is_exact: bool,
    /// The fault if some statement of the certificate is not true.
    verdict: Checked<()>,
}

impl Stated {
    /// Returns two sentences: one about the reward of greedy, and one about the optimum.
    fn says(&self) -> [String; 2] {
        let Self { greedy, reward, bound, .. } = self;
        let between = if reward == bound { String::new() } else { format!("between {reward} and ") };
        [format!("greedy earns {greedy}"), format!("the optimum is {between}{bound}")]
    }

    /// Checks all statements about these jobs and servers.
    fn verify(&self, of: &Amount, packing: &mut Packing<'_>) -> Checked<()> {
        let greedy = context("greedy", earned::by_greedy(&self.steps, of, packing))?;
        ensure(self.greedy == greedy, "greedy: the stated reward differs from the computed one")?;
        let reward = context("optimum", earned::by_assignment(self, of, packing))?;
        ensure(
            self.reward == reward,
            "optimum: the stated reward of the assignment differs from the computed one",
        )?;
        // Only worst-load certificates state no bound. Every other certificate has a proof for each pool, and has at
        // least one pool.
        if self.pricing.is_empty() {
            return Ok(());
        }
        let bound = context("optimum", earned::bound(self, of, packing))?;
        ensure(self.bound == bound, "optimum: the stated bound differs from the bound that the prices prove")
    }
}

/// Reads and judges a ratio certificate.
fn ratio(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, greedy, optimum, ratio, integer] =
        raw.fields("kind version problem greedy optimum ratio integer?")?;
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let (fluid, ratio) = (Stated::read([greedy, optimum], &problem, true)?, ratio.computed_or_null()?);
    let whole = |raw: &Json<'_>| Stated::read(raw.fields("greedy optimum")?, &problem, true);
    let whole = integer.given().map(whole).transpose()?;
    if whole.as_ref().is_some_and(|whole| !whole.is_whole()) {
        return integer.wrong("expected whole numbers of servers and jobs");
    }
    let is_fluid_exact = fluid.reward == fluid.bound;
    let is_exact = is_fluid_exact && whole.as_ref().is_none_or(|whole| whole.reward == whole.bound);
    let earns =
        |part| format!("greedy earns {}{part} of the optimum", if is_fluid_exact { "" } else { "at least " });
    let mut claims = fluid.says().to_vec();
    claims.push(ratio.as_ref().map_or("there is nothing to earn".to_owned(), earns));
    claims.extend(whole.as_ref().map(|whole| format!("whole servers: {}", whole.says().join(", "))));
    let jobs: Vec<Rational> = problem.jobs.iter().map(|job| job.load.clone()).collect();
    let verify = || {
        let mut packing = Packing::new(&problem)?;
        let counts: Vec<Rational> = problem.pools.iter().map(|pool| Rational::from(pool.count)).collect();
        let all: Rational = counts.iter().sum();
        let whole_jobs = jobs.iter().map(|load| Rational::from(load * &all).floor()).collect();
        let servers = counts.iter().map(|count| Rational::from(count / &all)).collect();
        fluid.verify(&Amount { jobs: jobs.clone(), servers, whole: false }, &mut packing)?;
        let found = (!fluid.bound.is_zero()).then(|| Rational::from(&fluid.greedy / &fluid.bound));
        ensure(ratio == found, "ratio: expected the reward of greedy over the bound")?;
        let Some(whole) = &whole else { return Ok(()) };
        ensure(problem.states_counts, "integer: the pools of the problem state no `count`")?;
        let of = Amount { jobs: whole_jobs, servers: counts, whole: true };
        context("integer", whole.verify(&of, &mut packing))
    };
    let verdict = verify();
    let loads = jobs.into_iter().enumerate().filter(|(_, load)| !load.is_zero()).collect();
    Ok(Judged { problem, claims, loads, ratio, is_exact, verdict })
}

/// Reads and judges a worst-load certificate.
fn worst_load(raw: &Json<'_>) -> Checked<Judged> {
    let [_, version, problem, lower, upper, loads, greedy, optimum, firsts, claims] =
        raw.fields("kind version problem ratio_lower ratio_upper loads greedy optimum firsts claims")?;
    version.count(1, 1)?;
    let problem = Reservation::read(problem)?;
    let (lower, upper) = (lower.computed_or_null()?, upper.computed_or_null()?);
    let loads = problem.types.numbers(loads)?;
    let stated = Stated::read([greedy, optimum], &problem, false)?;
    let (firsts, claims) = (problem.firsts(firsts)?, problem.claims(claims)?);
    let mut says = vec!["there is nothing to earn, whatever the load".to_owned()];
    if let (Some(lower), Some(upper)) = (&lower, &upper) {
        let most =
            if lower == upper { "no more than that" } else { &format!("at most {upper} of the optimum") };
        let least = format!("greedy earns at least {lower} of the optimum, whatever the load");
        says = vec![least, format!("with the stated loads it earns {most}")];
    }
    let verify = || {
        ensure(problem.pools.len() == 1, "problem: found several pools: expected one")?;
        let mut packing = Packing::new(&problem)?;
        ensure(loads.iter().all(|(_, load)| *load >= 0), "loads: a load is negative")?;
        let jobs = (0..problem.jobs.len()).map(|j| at(&loads, j).cloned().unwrap_or_default()).collect();
        let of = Amount { jobs, servers: vec![Rational::from(1)], whole: false };
        let (Some(lower), Some(upper)) = (&lower, &upper) else {
            let is_missing = problem.jobs.iter().any(|job| !job.reward.is_zero());
            ensure(!is_missing, "a ratio is missing, although some job type has a reward")?;
            let Stated { greedy, steps, reward, assignment, served, .. } = &stated;
            let sizes =
                [steps.len(), assignment.len(), served.len(), firsts.len(), claims.len(), loads.len()];
            let is_zero = lower.is_none() && upper.is_none() && greedy.is_zero() && reward.is_zero();
            return ensure(
                is_zero && sizes == [0; 6],
                "no job type has a reward, so expected no ratios, loads or claims",
            );
        };
        ensure(*lower >= 0, "ratio_lower: expected at least 0")?;
        ensure(*lower <= 1, "ratio_lower: expected at most 1")?;
        worst_load::verify(lower, &firsts, &claims, &mut packing)?;
        stated.verify(&of, &mut packing)?;
        ensure(!stated.reward.is_zero(), "optimum: its reward is 0, so the ratio is not defined")?;
        let reached = Rational::from(&stated.greedy / &stated.reward);
        ensure(*upper == reached, "ratio_upper: expected the reward of greedy over the reward of the optimum")
    };
    let (verdict, is_exact) = (verify(), lower == upper);
    Ok(Judged { problem, claims: says, loads, ratio: lower, is_exact, verdict })
}
