//! NJC, section 5.3: two users.

use std::collections::BTreeSet;

use evenhand_exact::Axiom;
use evenhand_problem::{Problem, Rational};

use super::setting::{answers, holds, judge, loads, pool, row, show_all};
use crate::entry::Entry;
use crate::error::PaperError;

const FIGURE_3: [&str; 2] = ["1/4 2/3 1", "1 2/3 0"];
const FIGURE_5: [&str; 2] = ["2/3", "2/3"];
/// The entitlements for which the answers of Figure 3 are enumerated.
const ENTITLEMENTS: [&str; 8] =
    ["1/10 9/10", "1/3 2/3", "2/5 3/5", "1/2 1/2", "3/5 2/5", "2/3 1/3", "4/5 1/5", "9/10 1/10"];

/// Returns the pool of Figure 3 with equal entitlements. The region of feasible allocations does not depend
/// on them.
pub fn pool_of_figure_3() -> Result<Problem, PaperError> {
    pool(&FIGURE_3, "1/2 1/2")
}

/// Returns the pool of Figure 5 with these entitlements.
pub fn pool_of_figure_5(entitlements: &str) -> Result<Problem, PaperError> {
    pool(&FIGURE_5, entitlements)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = figure_3()?;
    entries.extend(figure_5()?);
    Ok(entries)
}

fn figure_3() -> Result<Vec<Entry>, PaperError> {
    let problem = pool_of_figure_3()?;
    let corners_of_d = corners_of_d(&problem)?;
    let x = row("2/3 11/12")?;
    let load = loads(&problem, &x).swap_remove(0);
    let feasible = holds(&problem, &x, Axiom::Feasible)?;
    let margin = judge(&problem, &x, Axiom::Feasible)?.margin.unwrap_or_default();
    let mut table = Vec::new();
    let mut corners = 0;
    let mut unique = true;
    for entitlements in ENTITLEMENTS {
        let problem = pool(&FIGURE_3, entitlements)?;
        let all = answers(&problem)?;
        unique &= all.points.len() == 1;
        corners += usize::from(all.points.len() == 1 && is_corner(&problem, &all.points[0]));
        table.push(format!("({}): {}", entitlements.replace(' ', ", "), all.show()));
    }
    Ok(vec![
        Entry {
            id: "njc.figure-3.bounds".to_owned(),
            source: "NJC, section 5.2 and Figure 3: where each resource cuts the axes",
            paper: String::new(),
            ours: cuts(&problem),
            agrees: None,
            note: "the figure is drawn, its numbers are not in the text".to_owned(),
        },
        Entry {
            id: "njc.figure-3.region".to_owned(),
            source: "NJC, section 5.2: the region D is a simplex",
            paper: "the convex hull of N affinely independent points".to_owned(),
            ours: format!(
                "N = 2, the convex hull of {} points: {}",
                corners_of_d.len(),
                show_all(&corners_of_d)
            ),
            agrees: Some(corners_of_d.len() == problem.n_users() + 1),
            note: "Figure 3 shows a polytope that is not a simplex, because a simplex would have N + 1 \
                   corners. The proof does not need a simplex."
                .to_owned(),
        },
        Entry {
            id: "njc.figure-3.impossible-point".to_owned(),
            source: "NJC, section 5.2 and Figure 3: resource 1 at (2/3, 11/12)",
            paper: "13/12".to_owned(),
            ours: load.to_string(),
            agrees: Some(!feasible && load == Rational::from((13, 12))),
            note: format!("the exact crate finds it infeasible, with the margin {margin}"),
        },
        Entry {
            id: "njc.figure-3.unique".to_owned(),
            source: "NJC, section 5.3, uniqueness, on Figure 3",
            paper: "one answer for every choice of entitlements".to_owned(),
            ours: table.join("; "),
            agrees: Some(unique),
            note: format!(
                "The paper states no entitlements, and all answers were enumerated. {corners} of {} answers \
                 are at corners where two bounds meet.",
                ENTITLEMENTS.len()
            ),
        },
    ])
}

/// Returns the corners of the region of feasible allocations of two users. At a corner two bounds hold with
/// equality, and all other bounds hold.
pub fn corners_of_d(problem: &Problem) -> Result<Vec<Vec<Rational>>, PaperError> {
    let number = |value: i32| Rational::from(value);
    // The coefficients (a, b, c) of the bounds a x1 + b x2 = c.
    let mut bounds: Vec<[Rational; 3]> =
        [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]].map(|bound| bound.map(number)).into();
    for r in 0..problem.n_resources() {
        bounds.push([problem.demand(0, 0)[r].clone(), problem.demand(1, 0)[r].clone(), number(1)]);
    }
    let det = |a: &Rational, b: &Rational, c: &Rational, d: &Rational| {
        Rational::from(a * d) - Rational::from(b * c)
    };
    let mut corners = BTreeSet::new();
    for (k, [a, b, c]) in bounds.iter().enumerate() {
        for [d, e, f] in &bounds[..k] {
            let area = det(a, b, d, e);
            if area.is_zero() {
                continue;
            }
            let corner = vec![det(c, b, f, e) / &area, det(a, c, d, f) / &area];
            if holds(problem, &corner, Axiom::Feasible)? {
                corners.insert(corner);
            }
        }
    }
    Ok(corners.into_iter().collect())
}

/// Returns `true` if two of the bounds hold with equality, including `x_i <= 1`.
fn is_corner(problem: &Problem, x: &[Rational]) -> bool {
    let saturated = loads(problem, x).iter().filter(|load| **load == 1).count();
    saturated + x.iter().filter(|x| **x == 1).count() >= 2
}

/// Describes the bounds of every resource, such as `resource 1: x1 <= 4, x2 <= 1`.
fn cuts(problem: &Problem) -> String {
    let cut = |n: usize, r: usize| {
        let demand = &problem.demand(n, 0)[r];
        (!demand.is_zero()).then(|| format!("x{} = {}", n + 1, Rational::from(demand.recip_ref())))
    };
    let of = |r: usize| {
        let cuts: Vec<String> = (0..problem.n_users()).filter_map(|n| cut(n, r)).collect();
        format!("resource {} at {}", r + 1, cuts.join(" and "))
    };
    (0..problem.n_resources()).map(of).collect::<Vec<_>>().join(", ")
}

fn figure_5() -> Result<Vec<Entry>, PaperError> {
    let source = "NJC, section 5.3 and Figure 5";
    let mut entries = Vec::new();
    for (id, entitlements, paper, printed) in [
        ("njc.figure-5.shared", "2/5 3/5", "(3/5, 9/10)", "3/5 9/10"),
        ("njc.figure-5.ratio-above-2", "1/4 3/4", "user 2 gets all, user 1 the rest", "1/2 1"),
        ("njc.figure-5.ratio-2", "1/3 2/3", "", "1/2 1"),
        ("njc.figure-5.ratio-below-half", "3/4 1/4", "the opposite", "1 1/2"),
    ] {
        let problem = pool_of_figure_5(entitlements)?;
        let all = answers(&problem)?;
        let agrees = all.only() == Some(row(printed)?.as_slice());
        entries.push(Entry {
            id: id.to_owned(),
            source,
            paper: paper.to_owned(),
            ours: all.show(),
            agrees: (!paper.is_empty()).then_some(agrees),
            note: format!(
                "entitlements {}; answers, by enumeration: {}",
                entitlements.replace(' ', ", "),
                all.points.len()
            ),
        });
    }
    Ok(entries)
}
