//! Certificates of allocations as Coq source: the problem and the allocation as literal data, and a theorem
//! about them for every claim, in the words of `verification/proof/theories/Spec.v`.
//!
//! Every proof is a computation: the theorem of soundness, `proven` of `Literal.v`, is applied to the evidence,
//! and `vm_compute` runs the checker. What the file leaves to Coq is therefore everything; a wrong number makes
//! a file that does not compile.

mod evidence;
mod literal;

use std::fmt::Write;

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, check};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Placement, Problem, Rational, Sharing};

use crate::{ExportError, valid};
use evidence::{bottleneck, named, single_servers};
use literal::{comment, entry, index, list, number, option, row, table};

/// What is written is a certificate as a Coq file, which `coqc -Q theories Evenhand` compiles.
///
/// # Errors
/// [`ExportError`] when the certificate is not valid, is too large to be judged, or claims something that the
/// checker that is proved does not read.
pub fn coq_of_certificate(certificate: &Certificate) -> Result<String, ExportError> {
    let problem = &certificate.problem;
    valid(check(certificate))?;
    if !problem.groups().is_empty() {
        let what = certificate.claims.first().map_or_else(String::new, |claim| label(claim, problem));
        return Err(ExportError::NotProved {
            what,
            why: "Spec.v does not know problems with groups".to_owned(),
        });
    }
    let not_valid = |error: &dyn std::fmt::Display| ExportError::NotValid(error.to_string());
    let instance = Instance::new(problem, &certificate.allocation).map_err(|e| not_valid(&e))?;
    let writer = Writer::new(certificate, &instance);
    let theorems =
        certificate.claims.iter().map(|claim| writer.theorem(claim)).collect::<Result<Vec<_>, _>>()?;
    Ok(writer.head() + &theorems.concat())
}

struct Writer<'a, 'b> {
    certificate: &'a Certificate,
    instance: &'a Instance<'b>,
    problem: &'b Problem,
    /// The servers that hold something, where tasks stand on single servers.
    servers: Option<Vec<Placement>>,
    /// The name of the allocation that is judged.
    x: &'static str,
    /// The name of the tables.
    tables: &'static str,
    /// Whether nothing but limits is claimed, so that the allocation may be infeasible.
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

    /// Data, and what is true of it whatever is claimed.
    fn head(&self) -> String {
        let mut text = self.comments();
        text.push_str(
            "From Coq Require Import QArith List.\n\
             From Evenhand Require Import Spec Envy Limits Prices MaxMin Alpha Answered Placed Certificate Literal.\n\
             Import ListNotations.\nOpen Scope Q_scope.\n\n",
        );
        text.push_str(&self.literal_problem());
        let stated = self.tasks(&self.certificate.allocation.tasks);
        let _ = writeln!(text, "Definition the_allocation : allocation := {}.", bare(&stated));
        if self.x != "the_allocation" {
            let judged = self.tasks(&self.instance.tasks());
            let _ = writeln!(text, "Definition {} : allocation := {}.", self.x, bare(&judged));
        }
        let placing = match &self.servers {
            None => "None",
            Some(servers) => {
                let servers = self.servers(servers);
                let _ = writeln!(text, "Definition the_servers : placing := placing_of {servers}.");
                "(Some the_servers)"
            }
        };
        let tolerance = number(&self.certificate.tolerance);
        let data = format!("the_problem the_allocation {} {placing}", self.x);
        let tables = format!("tables_of the_problem the_allocation {} {placing}", self.x);
        let _ = write!(
            text,
            "Definition the_tolerance : Q := {tolerance}.\nDefinition the_tables := {tables}.\n\n\
             Theorem checked : case_holds {data} the_tolerance {limits} = true.\n\
             Proof. vm_compute. reflexivity. Qed.\n\
             Definition by_computation := proven {data} the_tolerance {limits} checked.\n\n\
             Theorem the_problem_is_well_formed : well_formed the_problem.\n\
             Proof. exact (is_well_formed {data} the_tolerance {limits} checked). Qed.\n",
            limits = self.only_limits,
        );
        let x = self.x;
        let of = if self.servers.is_some() { "kept" } else { "repaired" };
        let _ = write!(
            text,
            "Theorem {x}_is_the_repair : forall n i, (n < users the_problem)%nat -> (i < classes the_problem)%nat ->\n  \
             {x} n i == {of} the_problem the_allocation n i.\n\
             Proof. exact (is_the_repair {data} the_tolerance {limits} checked). Qed.\n",
            limits = self.only_limits,
        );
        if self.servers.is_some() {
            let _ = write!(
                text,
                "Theorem the_servers_hold_it : placed the_problem the_servers the_allocation.\n\
                 Proof. exact (is_placed_so {data} the_tolerance {} checked). Qed.\n",
                self.only_limits,
            );
        }
        if self.servers.is_none() || !self.only_limits {
            let _ = write!(
                text,
                "Theorem {x}_is_feasible : feasible the_problem {x}.\n\
                 Proof. exact (is_feasible {data} the_tolerance {} checked eq_refl). Qed.\n",
                self.only_limits,
            );
        }
        text
    }

    /// What the numbers stand for.
    fn comments(&self) -> String {
        let numbered = |what: &str, names: &mut dyn Iterator<Item = &str>| {
            let names: Vec<String> =
                names.enumerate().map(|(at, name)| format!("   {at} {}", comment(name))).collect();
            format!("   {what}:\n{}\n", names.join("\n"))
        };
        let problem = self.problem;
        format!(
            "(* Problem: {}\n   sha256 {}; sharing {}.\n{}{}{}   \
             Each theorem is about these data, in the words of Spec.v, and is proved by computation:\n   \
             coqc -Q verification/proof/theories Evenhand THIS-FILE *)\n",
            comment(problem.name()),
            problem_sha256(problem),
            self.certificate.allocation.sharing.name(),
            numbered("users", &mut problem.users().iter().map(|user| user.name())),
            numbered("classes", &mut problem.servers().iter().map(|server| server.name())),
            numbered("resources", &mut problem.resources().iter().map(String::as_str)),
        )
    }

    fn literal_problem(&self) -> String {
        let problem = self.problem;
        let (users, classes, resources) = (problem.users(), problem.servers(), problem.n_resources());
        let capacity: Vec<_> = classes.iter().map(|class| class.capacity().to_vec()).collect();
        let base: Vec<_> = users.iter().map(|user| user.base_demand().to_vec()).collect();
        let counts: Vec<_> = classes.iter().map(|class| Rational::from(class.count())).collect();
        let own = users.iter().enumerate().flat_map(|(n, user)| {
            let of = move |(i, demand): &(usize, evenhand_problem::Quantities)| {
                format!("({}, {}, {})", index(n), index(*i), row(&demand.to_vec()))
            };
            user.demand_overrides().iter().map(of)
        });
        let pairs = |of: fn(&evenhand_problem::User) -> &[(usize, Rational)]| {
            let entries = users.iter().enumerate().flat_map(move |(n, user)| {
                of(user).iter().map(move |(i, q)| format!("({}, {}, {})", index(n), index(*i), entry(q)))
            });
            function("at_pair", &list(entries), "fun _ _ => None")
        };
        let allowed =
            |user: &evenhand_problem::User| list((0..classes.len()).map(|i| user.may_use(i).to_string()));
        let by_time = self.certificate.allocation.sharing == Sharing::Tdm;
        let timed = list(classes.iter().map(|class| (by_time || class.is_time_shared()).to_string()));
        let limits = list(users.iter().map(|user| option(user.tasks().map(number))));
        let alone = |n| (0..classes.len()).map(|i| problem.unconstrained_gamma(n, i)).collect::<Vec<_>>();
        let alone: Vec<_> = (0..users.len()).map(alone).collect();
        let base = table(&base);
        let fields = [
            ("users", users.len().to_string()),
            ("classes", classes.len().to_string()),
            ("resources", resources.to_string()),
            ("weight", format!("row {}", row(users.iter().map(|user| user.weight())))),
            ("count", format!("row {}", row(&counts))),
            ("capacity", format!("rows {}", table(&capacity))),
            ("base", format!("rows {base}")),
            ("demand", format!("demands {base} {}", list(own))),
            ("limit", format!("options {limits}")),
            ("allowed", format!("grid {}", list(users.iter().map(allowed)))),
            ("stated", pairs(evenhand_problem::User::given_gamma)),
            ("criterion", pairs(evenhand_problem::User::criterion)),
            ("timed", format!("flags {timed}")),
            ("alone", format!("rows {}", table(&alone))),
        ];
        let fields = fields.map(|(name, value)| format!("  {name} := {}", value.replace('\n', "\n    ")));
        format!("Definition the_problem : problem := {{|\n{} |}}.\n", fields.join(";\n"))
    }

    /// The theorem of a claim.
    fn theorem(&self, claim: &Claim) -> Result<String, ExportError> {
        let refused =
            |why: &str| ExportError::NotProved { what: label(claim, self.problem), why: why.to_owned() };
        let evidence = self.evidence(claim).map_err(refused)?;
        let statement = self.statement(claim, &evidence).map_err(refused)?;
        let name = name(claim);
        if matches!(claim.evidence, Evidence::None) && claim.axiom == Axiom::NonWasteful {
            return Ok(
                "\n(* non-wasteful holds by construction: an allocation is made of tasks. *)\n".to_owned()
            );
        }
        let holds = claim.holds == Some(true);
        // Where the theorem states a margin, that is the one: were it written twice, a wrong one would let Coq
        // unfold both sentences to compare them.
        let margin = if claim.margin.is_some() { "_" } else { "0" };
        Ok(format!(
            "\nDefinition evidence_that_{name} : claim :=\n  {}.\nTheorem {name} : {statement}.\n\
             Proof. refine (by_computation evidence_that_{name} {holds} {margin} _). vm_compute. reflexivity. Qed.\n",
            evidence.replace('\n', "\n  "),
        ))
    }

    /// What is proven, in the words of Spec.v.
    fn statement(&self, claim: &Claim, evidence: &str) -> Result<String, &'static str> {
        let x = self.x;
        let axiom = self.axiom(claim, evidence)?;
        let placing = if self.servers.is_some() { "(Some the_servers)" } else { "None" };
        let single = format!("on_single_servers the_problem the_allocation {placing}");
        let whole = format!("whole_tasks the_problem {placing} {x}");
        let Some(holds) = claim.holds else {
            return Ok(match claim.axiom {
                Axiom::IntegerFeasible => format!("~ {single}"),
                Axiom::Ef1 | Axiom::IntegerParetoOptimal => format!("~ {whole}"),
                axiom => match (bottleneck(axiom), claim.share) {
                    (Some(kind), _) => format!("forall r, ~ is_bottleneck the_problem {kind} r"),
                    (None, Some(share)) => format!("~ defined the_problem {}", named(share)),
                    (None, None) => return Err("it has no share"),
                },
            });
        };
        let verdict = match &claim.margin {
            None if evidence == "Idle" => return Ok("forall n, ~ user the_problem n".to_owned()),
            None if !holds => format!("forall eps, ~ {axiom}"),
            None => format!("forall eps, {axiom}"),
            Some(margin) => {
                let of = if holds { "holds" } else { "violated" };
                // What stands on single servers fits or not.
                let exact = self.servers.is_some()
                    && matches!(
                        claim.axiom,
                        Axiom::Feasible | Axiom::IntegerFeasible | Axiom::WorkConserving
                    );
                let tolerance = if exact { "0" } else { "the_tolerance" };
                format!("{of} (fun eps => {axiom}) {tolerance} {}", number(margin))
            }
        };
        Ok(match claim.axiom {
            Axiom::IntegerFeasible => format!("{single} /\\\n  {verdict}"),
            Axiom::Ef1 | Axiom::IntegerParetoOptimal => format!("{whole} /\\\n  {verdict}"),
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

    /// An axiom of Spec.v, within `eps`.
    fn axiom(&self, claim: &Claim, evidence: &str) -> Result<String, &'static str> {
        let (x, is_placed) = (self.x, self.servers.is_some());
        let servers = if is_placed { "the_servers" } else { "(by_class the_problem the_allocation)" };
        Ok(match claim.axiom {
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

/// `(rows [...])` without its parentheses.
fn bare(term: &str) -> &str {
    term.strip_prefix('(').and_then(|term| term.strip_suffix(')')).unwrap_or(term)
}

/// A function of a list, or a shorter one where the list is empty.
fn function(name: &str, entries: &str, empty: &str) -> String {
    if entries == "[]" { empty.to_owned() } else { format!("{name} {entries}") }
}

/// A claim as a message names it.
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

/// A theorem's name, of letters, digits and `_`; resources by number.
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
