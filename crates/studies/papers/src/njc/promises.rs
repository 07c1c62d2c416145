//! NJC, sections 4 and 5. Section 4 claims properties of allocations without justified complaints. Section 5
//! has entitlements of zero.

use evenhand_exact::Axiom;
use evenhand_exact::axiom::envy_free;
use evenhand_exact::{Evidence, Instance};
use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{TrajectorySettings, integrate};
use evenhand_problem::number::{from_f64, to_f64};
use evenhand_problem::{Problem, Rational};
use evenhand_report::text::{number, percent};

use super::definition::greedy;
use super::drf::{allocate, figure_2, middle_resources, satiated};
use super::optimum::{alpha_fair, is_optimum};
use super::setting::{
    answers, granted, holds, is_fair, judge, loads, pool, pool_of, row, show, show_floats, yes,
};
use crate::entry::Entry;
use crate::error::PaperError;

/// The requests of three users. The first user gains by stating the request [`LIE`] instead of its own.
const TRUTH: [&str; 3] = ["1/6 11/12", "1/4 1/12", "11/12 2/3"];
const LIE: &str = "5/12 3/4";

/// Returns the family of answers of section 5.5.
pub fn family() -> Result<Problem, PaperError> {
    pool(&["1 1", "0 1", "1 0"], "1/2 3/10 1/5")
}

/// Returns the example of section 5.5 with users and resources in a circle.
pub fn circle() -> Result<Problem, PaperError> {
    pool(&["1 1 0 1", "1 1 1 0", "0 1 1 1", "1 0 1 1"], "1/4 1/4 1/4 1/4")
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let examples = [
        greedy()?,
        figure_2()?,
        satiated()?,
        middle_resources(2)?,
        family()?,
        circle()?,
        pool(&TRUTH, "1/3 1/3 1/3")?,
    ];
    Ok(vec![
        everywhere(
            &examples,
            Axiom::SharingIncentive,
            "njc.sharing-incentive",
            "NJC, section 4: sharing incentive",
        )?,
        everywhere(
            &examples,
            Axiom::ParetoOptimal,
            "njc.pareto-optimal",
            "NJC, sections 3 and 4: Pareto optimality",
        )?,
        envy()?,
        lie()?,
        zero_entitlement()?,
    ])
}

/// Returns the entry on an axiom. The axiom is tested at every vertex of the sets of all answers to the
/// examples.
fn everywhere(
    examples: &[Problem],
    axiom: Axiom,
    id: &str,
    source: &'static str,
) -> Result<Entry, PaperError> {
    let (mut judged, mut held) = (0, 0);
    for problem in examples {
        for point in answers(problem)?.points {
            judged += 1;
            held += usize::from(holds(problem, &point, axiom)?);
        }
    }
    Ok(Entry {
        id: id.to_owned(),
        source,
        paper: "holds".to_owned(),
        ours: format!("holds at {held} of {judged} vertices of all answers of {} examples", examples.len()),
        agrees: (judged > 0).then_some(held == judged),
        note: "entitlements are positive here".to_owned(),
    })
}

fn envy() -> Result<Entry, PaperError> {
    let problem = satiated()?;
    let mut ours = Vec::new();
    let mut free = true;
    for point in answers(&problem)?.points {
        let holds = holds(&problem, &point, Axiom::EnvyFree)?;
        free &= holds;
        let instance = Instance::new(&problem, &granted(&point))?;
        ours.push(match envy_free::tightest(&instance)? {
            Some(pair) if !holds => format!(
                "at {} user {} would gain {} with the bundle of user {}",
                show(&point),
                pair.user + 1,
                -(pair.margin * instance.scale(pair.user)),
                pair.envied + 1
            ),
            _ => format!("at {} nobody envies", show(&point)),
        });
    }
    Ok(Entry {
        id: "njc.envy-free".to_owned(),
        source: "NJC, section 4: no user prefers the allocation of another",
        paper: "holds".to_owned(),
        ours: ours.join("; "),
        agrees: Some(free),
        note:
            "There is one resource, the requests are 1/10, 1, 1, and the entitlements are equal. Users 2 and \
             3 request the same, and an allocation without justified complaints may give one of them more \
             than the other. The limit of the trajectory is the middle of this segment and is envy-free."
                .to_owned(),
    })
}

/// Returns the fraction of its true request that user 1 can run with the fraction `granted` of its stated
/// request.
fn useful(problem: &Problem, granted: &Rational, truth: &[Rational]) -> Rational {
    let bundle = problem.demand(0, 0).iter().map(|d| Rational::from(d * granted));
    let runs = bundle.zip(truth).filter(|(_, d)| !d.is_zero()).map(|(amount, d)| amount / d);
    runs.min().unwrap_or_default().min(Rational::from(1))
}

/// Returns the fraction that the limit of the trajectory grants to user 1, and the proven gap of this
/// fraction. The gap is 0 if the limit is rational and the exact answer is the limit itself.
fn limit(problem: &Problem) -> Result<(Rational, Rational), PaperError> {
    let exact = allocate(problem, "njc")?;
    if is_fair(problem, &exact)? && is_optimum(problem, &exact)? {
        return Ok((exact[0].clone(), Rational::new()));
    }
    let optimum = alpha_fair(problem, &Rational::from(1))?;
    Ok((optimum.allocation.total(0), optimum.gap))
}

fn lie() -> Result<Entry, PaperError> {
    let entitlements = "1/3 1/3 1/3";
    let truth = row(TRUTH[0])?;
    let honest = pool(&TRUTH, entitlements)?;
    let lying = pool(&[LIE, TRUTH[1], TRUTH[2]], entitlements)?;
    let [before, after] = [run(&honest, &truth)?, run(&lying, &truth)?];
    let gain = Rational::from(&after.limit - &before.limit);
    let whatever = match after.least > before.most {
        true => "so that no way of choosing among them is strategy-proof",
        false => "so that it depends on the choice among them",
    };
    let shown = |request: &str| format!("({})", request.replace(' ', ", "));
    Ok(Entry {
        id: "njc.strategy-proof".to_owned(),
        source: "NJC, section 4: users do not benefit from lying",
        paper: "holds".to_owned(),
        ours: format!(
            "user 1 can run {} of its request if it tells the truth and {} if it lies, which is {} of the \
             request more",
            number(&before.limit),
            number(&after.limit),
            percent(&gain),
        ),
        agrees: Some(gain <= 0 && after.most <= before.least),
        note: format!(
            "The requests are {}, and the entitlements are equal. User 1 states {} instead. Both values are \
             limits of the trajectory, proven {} and {}. Over all allocations without complaints, user 1 can \
             run {} to {} with the truth and {} to {} with the lie, {whatever}",
            TRUTH.map(shown).join(", "),
            shown(LIE),
            proven(&before.gap),
            proven(&after.gap),
            number(&before.least),
            number(&before.most),
            number(&after.least),
            number(&after.most),
        ),
    })
}

/// The fraction of its true request that user 1 can run, over all answers.
struct Run {
    /// The fraction at the limit of the trajectory, proven within `gap`.
    limit: Rational,
    gap: Rational,
    /// The smallest fraction over all allocations without complaints. The fraction grows with the fraction
    /// that user 1 gets, so its extremes are at vertices.
    least: Rational,
    most: Rational,
}

fn run(problem: &Problem, truth: &[Rational]) -> Result<Run, PaperError> {
    let (granted, gap) = limit(problem)?;
    let all = answers(problem)?.points;
    let runs = || all.iter().map(|x| useful(problem, &x[0], truth));
    Ok(Run {
        limit: useful(problem, &granted, truth),
        gap,
        least: runs().min().unwrap_or_default(),
        most: runs().max().unwrap_or_default(),
    })
}

fn proven(gap: &Rational) -> String {
    if gap.is_zero() { "without a gap".to_owned() } else { format!("within {:.0e}", to_f64(gap)) }
}

fn zero_entitlement() -> Result<Entry, PaperError> {
    let requests = [row("1 0")?, row("0 1")?];
    let in_floats = requests.iter().flatten().map(to_f64).collect();
    let pool = Pool::with_zero_entitlements(2, in_floats, vec![1.0, 0.0], vec![1.0; 2]);
    let pool = pool?;
    let end = integrate(&pool, &TrajectorySettings::default());
    let limit = follow(&pool, &PathSettings::default()).x;
    let x: Vec<Rational> = limit.iter().filter_map(|x| from_f64(*x)).collect();
    // Pareto optimality does not depend on entitlements, so all entitlements are set to 1.
    let one = Rational::from(1);
    let problem = pool_of(&requests, &[one.clone(), one.clone()])?;
    let claim = judge(&problem, &x, Axiom::ParetoOptimal)?;
    let better = match &claim.evidence {
        Evidence::Dominating(tasks) => {
            let total = |tasks: &Vec<(usize, Rational)>| tasks.iter().map(|(_, x)| x).sum();
            tasks.iter().map(total).collect::<Vec<Rational>>()
        }
        _ => Vec::new(),
    };
    let satisfies = loads(&problem, &x)[0] == one && x[0] == one;
    Ok(Entry {
        id: "njc.zero-entitlement".to_owned(),
        source: "NJC, Theorem 1 with e_i = 0, and section 3: Pareto optimality",
        paper: "every allocation that satisfies (1) and (2) is Pareto optimal".to_owned(),
        ours: format!(
            "{}: satisfies (2): {}; Pareto optimal: {}",
            show(&x),
            yes(satisfies),
            yes(claim.holds == Some(true))
        ),
        agrees: satisfies.then_some(claim.holds == Some(true)),
        note: format!(
            "The requests are (1, 0) and (0, 1), and the entitlements are 1 and 0. User 2 has its \
             entitlement of the bottleneck resource 1, since 0 >= 0, although {} is better. The trajectory \
             tends to the better allocation: {} at c = {:.0e}. Weights in problem files must be positive; \
             `njc --no-entitlement` names users with an entitlement of 0.",
            show(&better),
            show_floats(&end.x, 7),
            end.c,
        ),
    })
}
