//! Certificates of allocations as Coq source. The file contains the problem and the allocation as literal
//! data. For each claim it contains a theorem about these data, in the terms of
//! `verification/proof/theories/Spec.v`.
//!
//! Every proof is a computation. The soundness theorem `proven` of `Literal.v` is applied to the evidence,
//! and `vm_compute` runs the checker. Coq therefore checks everything itself, and a file with a wrong number
//! does not compile.

mod evidence;
mod literal;
mod problem;
mod statement;

use std::fmt::{self, Display, Formatter, Write};

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Share, check};
use evenhand_problem::{Placement, Problem};

use crate::{ExportError, valid, without_rates};
use evidence::{named, single_servers};
use literal::number;

/// Returns a certificate as a Coq file, which `coqc -Q theories Evenhand` compiles.
///
/// # Errors
/// [`ExportError`] if the certificate is not valid, exceeds the checker's limits, or contains a claim that
/// the verified checker does not support.
pub fn coq_of_certificate(certificate: &Certificate) -> Result<Theorems<'_>, ExportError> {
    without_rates(&certificate.problem)?;
    let numbers = numbers(certificate);
    if numbers > MOST_NUMBERS {
        return Err(ExportError::TooLong { numbers, limit: MOST_NUMBERS });
    }
    valid(check(certificate))?;
    let instance = Instance::new(&certificate.problem, &certificate.allocation)
        .map_err(|error| ExportError::NotValid(error.to_string()))?;
    let theorems = Theorems { certificate, instance };
    let writer = Writer::new(certificate, &theorems.instance);
    certificate.claims.iter().try_for_each(|claim| match writer.theorem(claim) {
        Ok(_) => Ok(()),
        Err(why) => {
            Err(ExportError::NotProved { what: label(claim, &certificate.problem), why: why.to_owned() })
        }
    })?;
    Ok(theorems)
}

/// The data of a certificate, and a theorem for each claim. `Display` writes the text of a Coq file. Only one
/// theorem at a time is in memory.
#[derive(Debug)]
pub struct Theorems<'c> {
    certificate: &'c Certificate,
    instance: Instance<'c>,
}

impl Display for Theorems<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let writer = Writer::new(self.certificate, &self.instance);
        out.write_str(&writer.head())?;
        let mut theorems = self.certificate.claims.iter().filter_map(|claim| writer.theorem(claim).ok());
        theorems.try_for_each(|theorem| out.write_str(&theorem))
    }
}

/// The largest number of numbers in a file. Tables include zeros, and envy compares all pairs of users. For
/// 2,640 numbers of 200 users, coqc takes more than a minute, so a file with this many numbers takes coqc
/// very long.
const MOST_NUMBERS: usize = 200_000;

/// Returns a lower bound on the number of numbers in the file. It counts the tables of users by classes and
/// resources, the tables of single servers by users, and the prices of every level.
fn numbers(certificate: &Certificate) -> usize {
    let problem = &certificate.problem;
    let (users, classes, resources) = (problem.n_users(), problem.n_servers(), problem.n_resources());
    let levels = certificate.claims.iter().map(|claim| match &claim.evidence {
        Evidence::Levels(levels) => levels.len(),
        Evidence::LevelsByResource(all) => all.iter().map(|(_, levels)| levels.len()).sum(),
        _ => 0,
    });
    let rows = classes.saturating_mul(resources);
    let of_levels = levels.sum::<usize>().saturating_mul(users.saturating_add(rows));
    let of_servers = certificate.allocation.placements.as_ref().map_or(0, Vec::len).saturating_mul(users);
    let of_users = users.saturating_mul(classes.saturating_add(resources));
    of_users.saturating_add(rows).saturating_add(of_servers).saturating_add(of_levels)
}

struct Writer<'a, 'b> {
    certificate: &'a Certificate,
    instance: &'a Instance<'b>,
    problem: &'b Problem,
    /// The servers that run a task, if tasks are placed on single servers.
    servers: Option<Vec<Placement>>,
    /// The Coq name of the allocation that is judged.
    x: &'static str,
    /// The Coq name of the tables.
    tables: &'static str,
    /// True if all claims are about limits. In this case the allocation may be infeasible.
    only_limits: bool,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(certificate: &'a Certificate, instance: &'a Instance<'b>) -> Self {
        let is_limits = |claim: &Claim| matches!(claim.axiom, Axiom::Feasible | Axiom::IntegerFeasible);
        let mut writer = Self {
            certificate,
            instance,
            problem: instance.problem(),
            servers: certificate.allocation.placements.as_deref().map(single_servers),
            x: "the_allocation",
            tables: "the_tables",
            only_limits: certificate.claims.iter().all(is_limits),
        };
        if writer.tasks(&instance.tasks()) != writer.tasks(&certificate.allocation.tasks) {
            writer.x = "the_repaired_allocation";
        }
        writer
    }

    /// Returns the data, and the theorems that do not depend on the claims.
    fn head(&self) -> String {
        let mut text = self.comments();
        text.push_str(
            "From Coq Require Import QArith List.\n\
             From Evenhand Require Import Spec Envy Limits Prices MaxMin Alpha Answered Placed Certificate Groups Literal.\n\
             Import ListNotations.\nOpen Scope Q_scope.\n\n",
        );
        text.push_str(&self.literal_problem());
        if self.is_grouped() {
            text.push_str(&self.literal_groups());
        }
        let stated = self.tasks(&self.certificate.allocation.tasks);
        let _ = writeln!(text, "Definition the_allocation : allocation := {}.", bare(&stated));
        if self.x != "the_allocation" {
            let judged = self.tasks(&self.instance.tasks());
            let _ = writeln!(text, "Definition {} : allocation := {}.", self.x, bare(&judged));
        }
        if let Some(servers) = &self.servers {
            let _ =
                writeln!(text, "Definition the_servers : placing := placing_of {}.", self.servers(servers));
        }
        let (x, placing) = (self.x, self.placing());
        let tolerance = number(&self.certificate.tolerance);
        let data = format!("the_problem the_allocation {x} {placing}");
        let case = format!("{data} the_tolerance {}", self.only_limits);
        let _ = write!(
            text,
            "Definition the_tolerance : Q := {tolerance}.\nDefinition the_tables := tables_of {data}.\n\n\
             Theorem checked : case_holds {case} = true.\nProof. vm_compute. reflexivity. Qed.\n\
             Definition by_computation := proven {case} checked.\n\n"
        );
        let theorem = |name: &str, statement: &str, proof: &str| {
            format!("Theorem {name} : {statement}.\nProof. exact ({proof}). Qed.\n")
        };
        let proof = format!("is_well_formed {case} checked");
        text.push_str(&theorem("the_problem_is_well_formed", "well_formed the_problem", &proof));
        if self.is_grouped() {
            let _ = write!(
                text,
                "Theorem the_groups_are_checked : groups_hold {data} the_groups = true.\n\
                 Proof. vm_compute. reflexivity. Qed.\n\
                 Definition by_computation_of_groups := proven_of_groups {case} checked the_groups\n  \
                 the_groups_are_checked.\n",
            );
        }
        let of = if self.servers.is_some() { "kept" } else { "repaired" };
        let repair = format!(
            "forall n i, (n < users the_problem)%nat -> (i < classes the_problem)%nat ->\n  \
             {x} n i == {of} the_problem the_allocation n i"
        );
        let proof = format!("is_the_repair {case} checked");
        text.push_str(&theorem(&format!("{x}_is_the_repair"), &repair, &proof));
        if self.servers.is_some() {
            let (holds, proof) =
                ("placed the_problem the_servers the_allocation", format!("is_placed_so {case} checked"));
            text.push_str(&theorem("the_servers_hold_it", holds, &proof));
        }
        if self.servers.is_none() || !self.only_limits {
            let (feasible, proof) =
                (format!("feasible the_problem {x}"), format!("is_feasible {case} checked eq_refl"));
            text.push_str(&theorem(&format!("{x}_is_feasible"), &feasible, &proof));
        }
        text
    }

    /// Returns the Coq term of the single servers. It is Coq's `None` if tasks are not placed on single
    /// servers.
    fn placing(&self) -> &'static str {
        if self.servers.is_some() { "(Some the_servers)" } else { "None" }
    }

    /// Returns `true` if at least one claim is about groups.
    fn is_grouped(&self) -> bool {
        self.certificate.claims.iter().any(|claim| is_of_groups(claim.axiom))
    }

    /// Returns the theorem of a claim. Returns the reason as an error if the verified checker does not
    /// support the claim.
    fn theorem(&self, claim: &Claim) -> Result<String, &'static str> {
        if matches!(claim.share, Some(Share::BestPart | Share::FinishTime)) {
            return Err("the share is not defined in Coq");
        }
        let evidence = self.evidence(claim)?;
        let statement = self.statement(claim, &evidence)?;
        let name = name(claim);
        if claim.axiom == Axiom::NonWasteful {
            return Ok(
                "\n(* non-wasteful holds by construction: an allocation is made of tasks. *)\n".to_owned()
            );
        }
        let holds = claim.holds == Some(true);
        // If the theorem states a margin, `_` lets Coq take the margin from the theorem. If a wrong margin
        // were written twice, Coq would expand both statements to compare them.
        let margin = if claim.margin.is_some() { "_" } else { "0" };
        let (kind, by) = match is_of_groups(claim.axiom) {
            true => ("group_claim", "by_computation_of_groups"),
            false => ("claim", "by_computation"),
        };
        Ok(format!(
            "\nDefinition evidence_that_{name} : {kind} :=\n  {}.\nTheorem {name} : {statement}.\n\
             Proof. refine ({by} evidence_that_{name} {holds} {margin} _). vm_compute. reflexivity. Qed.\n",
            evidence.replace('\n', "\n  "),
        ))
    }
}

/// Removes the parentheses around `(rows [...])`.
fn bare(term: &str) -> &str {
    term.strip_prefix('(').and_then(|term| term.strip_suffix(')')).unwrap_or(term)
}

/// Returns the name of a claim for messages.
fn label(claim: &Claim, problem: &Problem) -> String {
    let mut label = claim.axiom.name().to_owned();
    if let Some(share) = claim.share {
        label = format!("{label}:{}", evenhand_problem::printable(&share.name(problem)));
    }
    if let Some(alpha) = &claim.alpha {
        label = format!("{label}:{alpha}");
    }
    label
}

/// Returns the name of a theorem, which consists of letters, digits and `_`. Resources are represented by
/// numbers.
fn name(claim: &Claim) -> String {
    let mut name = claim.axiom.name().replace('-', "_");
    if let Some(share) = claim.share {
        name.push('_');
        name.extend(named(share).to_lowercase().chars().filter(char::is_ascii_alphanumeric));
    }
    if let Some(alpha) = claim.alpha.as_ref() {
        let _ = write!(name, "_{}", alpha.numer());
        if !alpha.is_integer() {
            let _ = write!(name, "_over_{}", alpha.denom());
        }
    }
    name.push_str(match claim.holds {
        None => "_does_not_apply",
        Some(true) => "_holds",
        Some(false) => "_is_violated",
    });
    name
}

/// Returns `true` if the axiom is defined in `Groups.v`.
const fn is_of_groups(axiom: Axiom) -> bool {
    matches!(axiom, Axiom::Limits | Axiom::Guarantees)
}
