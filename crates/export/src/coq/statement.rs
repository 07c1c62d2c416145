//! Statements of claims in the terms of `Spec.v` and `Groups.v`.

use evenhand_exact::{Axiom, Claim};

use super::Writer;
use super::evidence::{bottleneck, named};
use super::literal::number;

/// The statement that there is no active user. Axioms about users are then trivially true.
const NOBODY: &str = "forall n, ~ user the_problem n";

impl Writer<'_, '_> {
    /// Returns the proven statement in the terms of Spec.v.
    pub(super) fn statement(&self, claim: &Claim, evidence: &str) -> Result<String, &'static str> {
        let (x, placing) = (self.x, self.placing());
        match (evidence.split(' ').next(), claim.share.map(named), bottleneck(claim.axiom)) {
            (Some("Idle"), ..) | (Some("Nobody"), ..) => return Ok(NOBODY.to_owned()),
            (Some("IdleWhole"), ..) => {
                return Ok(format!("whole_tasks the_problem {placing} {x} /\\ {NOBODY}"));
            }
            (Some("IdleShare"), Some(share), _) => {
                return Ok(format!("defined the_problem {share} /\\ {NOBODY}"));
            }
            (Some("IdleBottleneck"), _, Some(kind)) => {
                return Ok(format!("(exists r, is_bottleneck the_problem {kind} r) /\\ {NOBODY}"));
            }
            _ => {}
        }
        let axiom = self.axiom(claim, evidence)?;
        let single = format!("on_single_servers the_problem the_allocation {placing}");
        let whole = format!("whole_tasks the_problem {placing} {x}");
        let Some(holds) = claim.holds else {
            return Ok(match claim.axiom {
                Axiom::IntegerFeasible => format!("~ {single}"),
                Axiom::Limits => "~ about_groups the_problem the_groups".to_owned(),
                Axiom::Guarantees => "~ about_promises the_problem the_groups".to_owned(),
                Axiom::Ef1 | Axiom::IntegerParetoOptimal => format!("~ {whole}"),
                axiom => match (bottleneck(axiom), claim.share) {
                    (Some(kind), _) => format!("forall r, ~ is_bottleneck the_problem {kind} r"),
                    (None, Some(share)) => format!("~ defined the_problem {}", named(share)),
                    (None, None) => return Err("it has no share"),
                },
            });
        };
        let verdict = match &claim.margin {
            None if !holds => format!("forall eps, ~ {axiom}"),
            None => format!("forall eps, {axiom}"),
            Some(margin) => {
                let of = if holds { "holds" } else { "violated" };
                // On single servers, a task either fits or does not fit, so there is no tolerance.
                let exact =
                    self.servers.is_some() && matches!(claim.axiom, Axiom::Feasible | Axiom::IntegerFeasible);
                let tolerance = if exact { "0" } else { "the_tolerance" };
                format!("{of} (fun eps => {axiom}) {tolerance} {}", number(margin))
            }
        };
        Ok(match claim.axiom {
            Axiom::IntegerFeasible => format!("{single} /\\\n  {verdict}"),
            Axiom::Ef1 | Axiom::IntegerParetoOptimal => format!("{whole} /\\\n  {verdict}"),
            Axiom::Limits | Axiom::Guarantees => {
                let about = if claim.axiom == Axiom::Limits { "about_groups" } else { "about_promises" };
                let groups = "the_problem the_groups";
                format!("a_forest {groups} /\\ {about} {groups} /\\\n  {verdict}")
            }
            Axiom::MaxMin => {
                let share = claim.share.map(named).unwrap_or_default();
                format!("defined the_problem {share} /\\\n  {verdict}")
            }
            axiom => match bottleneck(axiom) {
                Some(kind) => format!("(exists r, is_bottleneck the_problem {kind} r) /\\\n  {verdict}"),
                None => verdict,
            },
        })
    }

    /// Returns an axiom of Spec.v within the tolerance `eps`.
    fn axiom(&self, claim: &Claim, evidence: &str) -> Result<String, &'static str> {
        let (x, is_placed) = (self.x, self.servers.is_some());
        let servers = if is_placed { "the_servers" } else { "(by_class the_problem the_allocation)" };
        Ok(match claim.axiom {
            Axiom::Feasible if is_placed => {
                "placed_within the_problem the_servers eps the_allocation".to_owned()
            }
            Axiom::Feasible => "feasible_within the_problem eps the_allocation".to_owned(),
            Axiom::IntegerFeasible => format!("integer_feasible the_problem {servers} eps the_allocation"),
            Axiom::NonWasteful => "True".to_owned(),
            Axiom::WorkConserving if is_placed => format!("placed_conserving the_problem {servers} eps {x}"),
            Axiom::WorkConserving => format!("work_conserving the_problem eps {x}"),
            Axiom::ParetoOptimal => format!("pareto_optimal the_problem eps {x}"),
            Axiom::IntegerParetoOptimal => format!("integer_pareto_optimal the_problem eps {x}"),
            Axiom::EnvyFree => format!("envy_free the_problem eps {x}"),
            Axiom::Ef1 => format!("ef1 the_problem eps {x}"),
            Axiom::SharingIncentive => format!("sharing_incentive the_problem eps {x}"),
            Axiom::MaxMin => {
                let share = claim.share.map(named).unwrap_or_default();
                format!("max_min the_problem (worth the_problem {share}) eps {x}")
            }
            Axiom::Limits => format!("limits_kept the_problem the_groups eps {x}"),
            Axiom::Guarantees => format!("guarantees_kept the_problem the_groups eps {x}"),
            Axiom::Njc => format!("no_justified_complaints the_problem eps {x}"),
            Axiom::PsDsf => format!("ps_dsf the_problem eps {x}"),
            Axiom::Proportional if evidence.starts_with("Undefined") => String::new(),
            Axiom::Proportional => {
                let alpha = self.whole_exponent(claim)?.1;
                let worth = match claim.share {
                    Some(share) => format!("(worth the_problem {})", named(share)),
                    None => "(fun _ _ => 1)".to_owned(),
                };
                format!("proportional the_problem {worth} {alpha} eps {x}")
            }
            axiom => match bottleneck(axiom) {
                Some(kind) => format!("bottleneck_fair the_problem {kind} eps {x}"),
                None => return Err("Spec.v does not define its axiom"),
            },
        })
    }
}
