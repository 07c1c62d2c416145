//! Theorem A: where resources are divided there always is a PS-DSF allocation.

use evenhand_certify::{Request, certify};
use evenhand_exact::Axiom;
use evenhand_mechanisms::registry;
use evenhand_problem::{Arithmetic, Rational};

use crate::ps_dsf::Law;
use crate::{Entry, PaperError};

/// Random problems.
const PROBLEMS: usize = 500;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mechanism = registry::find("ps-dsf").ok_or("no such mechanism")?;
    let (mut found, mut unanswered, mut worst) = (0, 0, None);
    for problem in (Law { seed: 41, one_bottleneck: false }).problems(PROBLEMS)? {
        let Ok(outcome) = mechanism.allocate(&problem, Arithmetic::Exact) else {
            unanswered += 1;
            continue;
        };
        let request = [Request::of(Axiom::PsDsf)];
        let examination = certify(&problem, &outcome.allocation, &request, &Rational::new())?;
        let claim = examination.certificate.claims.first();
        if claim.and_then(|claim| claim.holds) == Some(true) {
            found += 1;
        } else {
            worst = claim.and_then(|claim| claim.margin.clone());
        }
    }
    let refuted = worst.map_or(String::new(), |margin| format!("; one misses it by {margin}"));
    Ok(vec![Entry {
        id: "theorems.a.existence".to_owned(),
        source: "Theory, Theorem A: a PS-DSF allocation always exists",
        paper: "exists".to_owned(),
        ours: format!("an exact one for {found} of {PROBLEMS} random problems, {unanswered} without an answer{refuted}"),
        agrees: Some(found == PROBLEMS),
        note: "2 to 4 users on 1 to 3 classes with up to 3 resources and placement constraints; each answer is \
               judged exactly by the theorem of the paper (Theorem 1). It is not unique: `solve --mechanism ps-dsf \
               --all` lists all of a small problem"
            .to_owned(),
    }])
}
