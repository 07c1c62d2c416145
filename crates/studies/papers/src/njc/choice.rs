//! NJC, section 5.5: there may be several answers, and a rule must choose one of them.

use evenhand_levels::njc::Goal;
use evenhand_mechanisms::{Bound, njc};
use evenhand_ode::path::{BarrierWeights, PathSettings, follow};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Arithmetic, Problem, Rational};

use super::definition::segments;
use super::optimum::is_optimum;
use super::promises::{circle, family};
use super::setting::{answers, complains, continuous, is_fair, loads, pool_of, row, show, show_floats};
use super::trajectory::{at, largest_difference};
use crate::entry::{Entry, list};
use crate::error::PaperError;

/// The weights of the two resources of the family of section 5.5 in the barrier function.
const BARRIERS: [[u32; 2]; 4] = [[1, 1], [4, 1], [1, 5], [9, 2]];

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    Ok(vec![
        family_ends()?,
        barrier_weights()?,
        entitlements_of("njc.family.other-entitlements", &family()?, "7/10 3/10 3/10", "1/2 1/2")?,
        seven_points()?,
        all_answers_on_the_circle()?,
        entitlements_of("njc.circle.other-entitlements", &circle()?, "3/8 3/8 1/4 1/4", "1/2 1/2 0 0")?,
        utilisation()?,
    ])
}

fn family_ends() -> Result<Entry, PaperError> {
    let problem = family()?;
    let all = answers(&problem)?;
    let ends = [row("1/2 1/2 1/2")?, row("7/10 3/10 3/10")?];
    let saturated = all.points.iter().all(|x| loads(&problem, x).iter().all(|load| *load == 1));
    Ok(Entry {
        id: "njc.family.ends".to_owned(),
        source: "NJC, section 5.5, three users and two resources",
        paper: "(z, 1-z, 1-z) for 0.5 <= z <= 0.7, both resources bottlenecks".to_owned(),
        ours: segments(&all.polytopes),
        agrees: Some(all.polytopes.len() == 1 && all.points == ends && saturated),
        note: "all answers, by enumeration; the paper does not say that there are no others".to_owned(),
    })
}

/// Returns the problem with resource `r` repeated `times[r]` times. A resource that is repeated `b` times has
/// weight `b` in the barrier (5). So the equations of the paper also cover integer weights of resources.
fn repeated(problem: &Problem, times: &[u32]) -> Result<Problem, PaperError> {
    let users = 0..problem.n_users();
    let request = |n: usize| {
        let demand = problem.demand(n, 0).iter().zip(times);
        demand.flat_map(|(d, times)| std::iter::repeat_n(d.clone(), *times as usize)).collect()
    };
    let weights: Vec<Rational> = users.clone().map(|n| problem.users()[n].weight().clone()).collect();
    pool_of(&users.map(request).collect::<Vec<_>>(), &weights)
}

fn barrier_weights() -> Result<Entry, PaperError> {
    let problem = family()?;
    let pool = continuous(&problem)?;
    let plain = follow(&pool, &PathSettings::default()).x;
    let mut table = Vec::new();
    let (mut other_way, mut other_end) = (0.0_f64, 0.0_f64);
    let middle = at(&problem, 10.0)?.x;
    for weights in BARRIERS {
        let weighted = repeated(&problem, &weights)?;
        let late = at(&weighted, 1e7)?;
        let barrier = BarrierWeights::new(weights.map(f64::from).to_vec(), 1.0)?;
        let limit = follow(&pool, &PathSettings { barrier, ..PathSettings::default() });
        other_way = other_way.max(largest_difference(&at(&weighted, 10.0)?.x, &middle));
        other_end =
            other_end.max(largest_difference(&late.x, &plain)).max(largest_difference(&limit.x, &plain));
        table.push(format!(
            "weights {}, {}: {} at c = 1e7, limit {}",
            weights[0],
            weights[1],
            show_floats(&late.x, 6),
            show_floats(&limit.x, 6)
        ));
    }
    Ok(Entry {
        id: "njc.family.barrier-weights".to_owned(),
        source: "NJC, section 5.5: weighting factors in the sum (5)",
        paper: "could lead to other trajectories and other solutions".to_owned(),
        ours: table.join("; "),
        agrees: Some(other_way > 1e-3 && other_end > 1e-3),
        note: format!(
            "The trajectories differ by {other_way:.2} at c = 10 and lead to the same solution within \
             {other_end:.0e}. Each trajectory is the central path of max sum e_i log x_i, whose gap at c is \
             the sum of the weights over c. Other entitlements do lead to other solutions, as the next entry \
             shows."
        ),
    })
}

/// Returns the entry which shows that a point is the limit of the trajectory for the entitlements `x_i sum_j l_j r_ij`.
/// `l` is positive only on bottlenecks of the point.
fn entitlements_of(id: &str, problem: &Problem, x: &str, prices: &str) -> Result<Entry, PaperError> {
    let (x, prices) = (row(x)?, row(prices)?);
    let users = 0..problem.n_users();
    let paid = |n: usize| {
        let demand = problem.demand(n, 0).iter().zip(&prices);
        demand.map(|(d, p)| Rational::from(d * p)).sum::<Rational>() * &x[n]
    };
    let others: Vec<Rational> = users.clone().map(paid).collect();
    let requests: Vec<Vec<Rational>> = users.map(|n| problem.demand(n, 0).to_vec()).collect();
    let other = pool_of(&requests, &others)?;
    let end = follow(&continuous(&other)?, &PathSettings::default());
    let floats: Vec<f64> = x.iter().map(to_f64).collect();
    let fair = is_fair(problem, &x)?;
    let optimal = is_optimum(&other, &x)? && !is_optimum(problem, &x)?;
    if !fair || !optimal {
        return Err(format!("{id}: {} is not what it should be", show(&x)).into());
    }
    Ok(Entry {
        id: id.to_owned(),
        source: "NJC, section 5.5: other solutions",
        paper: String::new(),
        ours: format!("{} is the limit for the entitlements {}", show(&x), list(&others)),
        agrees: None,
        note: format!(
            "Prices {} of the resources prove this with no gap. The point is not the limit for the given \
             entitlements. In floating point the path ends {:.0e} from it.",
            list(&prices),
            largest_difference(&end.x, &floats),
        ),
    })
}

/// Returns the seven solutions that the paper lists for the example with users and resources in a circle.
fn listed() -> Result<Vec<Vec<Rational>>, PaperError> {
    let mut points = vec![row("1/3 1/3 1/3 1/3")?];
    for i in 0..4 {
        for j in i + 1..4 {
            let of =
                |n: usize| if n == i || n == j { Rational::from((1, 4)) } else { Rational::from((3, 8)) };
            points.push((0..4).map(of).collect());
        }
    }
    Ok(points)
}

fn seven_points() -> Result<Entry, PaperError> {
    let problem = circle()?;
    let mut fair = 0;
    let mut table = Vec::new();
    let mut as_printed = true;
    for x in listed()? {
        let loads = loads(&problem, &x);
        let bottlenecks: Vec<usize> = (0..4).filter(|&r| loads[r] == 1).collect();
        as_printed &= bottlenecks == printed_bottlenecks(&x);
        fair += usize::from(is_fair(&problem, &x)? && !complains(&problem, &x)?.contains(&true));
        let names: Vec<String> = bottlenecks.iter().map(|r| (r + 1).to_string()).collect();
        table.push(format!("{} with bottlenecks {}", show(&x), names.join(", ")));
    }
    Ok(Entry {
        id: "njc.circle.seven-points".to_owned(),
        source: "NJC, section 5.5, four users and four resources in a circle",
        paper: "7 solutions, with the bottlenecks k, l if the larger users k, l are adjacent, else i, j"
            .to_owned(),
        ours: format!("{fair} of these 7 have no justified complaint: {}", table.join("; ")),
        agrees: Some(fair == 7 && as_printed),
        note: String::new(),
    })
}

/// Returns the bottlenecks that the paper prints for a solution. If two adjacent users have more than the
/// other users, the bottlenecks are the resources of these two users. If two opposite users have more, the
/// bottlenecks are the resources of the other two users. If all users have the same, all resources are
/// bottlenecks.
fn printed_bottlenecks(x: &[Rational]) -> Vec<usize> {
    let least = x.iter().min();
    let larger: Vec<usize> = (0..4).filter(|&n| Some(&x[n]) != least).collect();
    match larger.as_slice() {
        [k, l] if l - k != 2 => larger,
        [k, l] => (0..4).filter(|n| n != k && n != l).collect(),
        _ => (0..4).collect(),
    }
}

fn all_answers_on_the_circle() -> Result<Entry, PaperError> {
    let problem = circle()?;
    let all = answers(&problem)?;
    let listed = listed()?;
    // A point of the list that is the midpoint of two vertices of a polytope is not a vertex.
    let is_middle = |x: &Vec<Rational>| {
        all.polytopes.iter().any(|vertices| {
            vertices.iter().any(|a| {
                vertices.iter().any(|b| {
                    a != b
                        && a.iter()
                            .zip(b)
                            .zip(x)
                            .all(|((a, b), x)| Rational::from(a + b) == Rational::from(x * 2))
                })
            })
        })
    };
    let middles = listed.iter().filter(|x| is_middle(x)).count();
    let centre = all.polytopes.iter().all(|vertices| vertices.contains(&listed[0]));
    let triangles = all.polytopes.iter().filter(|vertices| vertices.len() == 3).count();
    Ok(Entry {
        id: "njc.circle.all".to_owned(),
        source: "NJC, section 5.5: the symmetric solution and 6 additional ones",
        paper: "7 solutions".to_owned(),
        ours: format!(
            "infinitely many: the union of {triangles} triangles, whose vertices are the {} points {}",
            all.points.len(),
            all.show()
        ),
        agrees: Some(all.polytopes.len() == 7 && all.points.len() == 7),
        note: format!(
            "enumerated; {} all triangles, and {middles} of the paper's points are middles of a side",
            if centre {
                "the symmetric point is a vertex of"
            } else {
                "the symmetric point is not a vertex of"
            }
        ),
    })
}

fn utilisation() -> Result<Entry, PaperError> {
    let problem = circle()?;
    let settings =
        njc::Settings { select: Some(Goal::MaxUtilisation), ..njc::Settings::new(Arithmetic::Exact) };
    let outcome = njc::allocate(&problem, &settings)?;
    let selected = outcome.findings.selected.ok_or("nothing was selected")?;
    let x = outcome.allocation.totals();
    if !is_fair(&problem, &x)? {
        return Err(format!("{} was selected and leaves a justified complaint", show(&x)).into());
    }
    let used = |x: &Vec<Rational>| loads(&problem, x).into_iter().sum::<Rational>();
    let best = answers(&problem)?.points.iter().map(used).max().unwrap_or_default();
    let symmetric = row("1/3 1/3 1/3 1/3")?;
    Ok(Entry {
        id: "njc.circle.most-utilised".to_owned(),
        source: "NJC, section 5.5: the solution that maximises utilisation",
        paper: format!("the symmetric one, {}", show(&symmetric)),
        ours: format!("{}, utilisation {}", show(&x), selected.value),
        agrees: Some(x == symmetric && selected.value == best),
        note: format!(
            "The point is chosen by a mixed-integer programme among all answers, {}. The best vertex of the \
             enumeration has {best}. The paper leaves open how to characterise all solutions.",
            match selected.bound {
                Bound::Found => "the best that was found".to_owned(),
                Bound::Proven => "and proven the best by an exact search".to_owned(),
                Bound::Claimed(bound) => format!("which bounds them by {bound:.9}"),
            }
        ),
    })
}
