//! A certificate about an allocation: read, judged, and held against what its reader asks for.

use std::collections::HashSet;

use rug::Rational;

use crate::allocation::Allocation;
use crate::axioms::feasible;
use crate::canonical::{hash, quoted, same};
use crate::case::Case;
use crate::claim::{Claim, Required, axiom_named};
use crate::json::Json;
use crate::number::{hashed, parse, short};
use crate::problem::{Problem, of_kind};
use crate::work::{Checked, Fault, ensure, refuse};
use crate::{Options, Report, Unusable, readable};

/// Tolerances above this are refused where nothing else is said: beyond any rounding.
const MOST_TOLERANCE: (u32, u32) = (1, 1_000_000);
/// Claims of proportional fairness: each is about all users, and there are many exponents.
const MOST_PROPORTIONAL: usize = 32;

struct Certificate<'j> {
    problem: Problem,
    allocation: Allocation,
    /// The hash of the problem that the allocation says it is for.
    hash: Option<&'j str>,
    tolerance: Rational,
    claims: Vec<Claim<'j>>,
    not_checked: Vec<&'static str>,
}

impl<'j> Certificate<'j> {
    fn read(raw: &'j Json<'j>) -> Checked<Self> {
        let [kind, version, problem, allocation, tolerance, claims, not_checked] =
            raw.fields(["kind", "version", "problem", "allocation", "tolerance?", "claims", "not_checked"])?;
        of_kind(kind, "certificate")?;
        match version.number()? {
            one if one == 1 => {
                return version
                    .wrong("version 1 of the format, with margins in tasks: `certify` writes it anew");
            }
            two if two == 2 => {}
            _ => return version.wrong("expected version 2"),
        }
        let problem = Problem::read(problem)?;
        let (allocation, hash) = Allocation::read(allocation, false, &problem)?;
        let value = if tolerance.is_absent() { Rational::new() } else { tolerance.number()? };
        if !(0..1).contains(&value) {
            return tolerance.wrong("a tolerance is a number from 0 to below 1");
        }
        let list =
            claims.list()?.iter().map(|raw| Claim::read(raw, &problem)).collect::<Checked<Vec<_>>>()?;
        if list.iter().filter(|claim| claim.axiom == "proportional").count() > MOST_PROPORTIONAL {
            return claims.wrong(format!("more than {MOST_PROPORTIONAL} claims of `proportional`"));
        }
        let names = not_checked.list()?.iter().map(axiom_named).collect::<Checked<Vec<_>>>()?;
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            return not_checked.wrong("an axiom is named twice");
        }
        let hash = if hash.is_absent() { None } else { Some(hash.text()?) };
        Ok(Self { problem, allocation, hash, tolerance: value, claims: list, not_checked: names })
    }

    /// Whether everything that it states is true.
    fn verify(&self, hash: &str) -> Checked<()> {
        let mut first = self.check_form(hash);
        if let Err(Fault::TooLarge(_)) = first {
            return first;
        }
        let case = Case::new(&self.problem, &self.allocation, self.tolerance.clone())?;
        let is_feasible = feasible::holds(&case)?;
        for claim in &self.claims {
            // A claim that cannot be read is the worse fault, wherever it stands.
            let judged =
                claim.verify(&case).map_err(|fault| fault.about(&format!("claim `{}`", claim.axiom)));
            if let Err(Fault::Malformed { .. }) = judged {
                return judged;
            }
            let is_about_limits = matches!(claim.axiom, "feasible" | "integer-feasible");
            let may_be = ensure(
                is_feasible || is_about_limits,
                &format!(
                    "the allocation is infeasible beyond the tolerance, and `{}` is claimed of it",
                    claim.axiom
                ),
            );
            first = first.and(may_be).and(judged);
        }
        first
    }

    /// What can be said without judging anything.
    fn check_form(&self, hash: &str) -> Checked<()> {
        ensure(!self.claims.is_empty(), "nothing is claimed")?;
        ensure(
            self.hash.is_none_or(|stated| stated == hash),
            "the allocation is for another problem (problem_sha256 is not that of the problem inside)",
        )?;
        for (at, claim) in self.claims.iter().enumerate() {
            let name = claim.axiom;
            ensure(
                !self.claims[..at].iter().any(|other| other.key() == claim.key()),
                &format!("`{name}` is claimed twice"),
            )?;
            ensure(
                !self.not_checked.contains(&name),
                &format!("`{name}` is claimed, and said not to be checked"),
            )?;
        }
        Ok(())
    }

    /// Whether it is what its reader asks for.
    fn meets(&self, asked: &Asked) -> Checked<()> {
        ensure(
            asked.problem.as_ref().is_none_or(|problem| same(&self.problem, problem)),
            "the certificate is about another problem",
        )?;
        ensure(
            asked.allocation.as_ref().is_none_or(|allocation| *allocation == self.allocation),
            "the certificate is about another allocation",
        )?;
        let states_times = self.problem.classes.iter().any(|class| class.states_time);
        ensure(
            asked.by_time.map_or(!self.allocation.by_time || states_times, |by_time| {
                by_time == self.allocation.by_time
            }),
            match self.allocation.by_time {
                true => {
                    "the servers are shared by time (sharing `tdm`), which is accepted only where it is asked for"
                }
                false => "the resources of the servers are divided (sharing `rdm`)",
            },
        )?;
        if self.tolerance > asked.tolerance {
            let (stated, most) = (short(&self.tolerance), short(&asked.tolerance));
            return refuse(format!("the tolerance is {stated}, more than the {most} that is allowed"));
        }
        for required in &asked.require {
            let name = required.axiom;
            let claim = self.claims.iter().find(|claim| claim.key() == *required);
            match claim.map(|claim| claim.holds) {
                Some(Some(true)) => {}
                Some(Some(false)) => {
                    return refuse(format!("`{name}` is required, and claimed to be violated"));
                }
                Some(None) => return refuse(format!("`{name}` is required, and claimed not to apply")),
                None => return refuse(format!("`{name}` is required, and not claimed")),
            }
        }
        Ok(())
    }
}

/// What the reader asks for.
struct Asked {
    problem: Option<Problem>,
    allocation: Option<Allocation>,
    require: Vec<Required>,
    tolerance: Rational,
    by_time: Option<bool>,
}

impl Asked {
    fn read(options: &Options, certificate: &Certificate<'_>) -> Result<Self, Unusable> {
        let problem = options.problem.as_ref();
        let problem = problem.map(|file| readable(file, Problem::read)).transpose()?;
        let of = |raw: &Json<'_>| Allocation::read(raw, true, &certificate.problem).map(|(read, _)| read);
        let allocation = options.allocation.as_ref().map(|file| readable(file, of)).transpose()?;
        let require = options.require.iter().map(|text| {
            let required = Required::read(text, &certificate.problem);
            required.map_err(|what| Unusable::usage(format!("--require {text}: {what}")))
        });
        let tolerance = match &options.max_tolerance {
            None => Rational::from(MOST_TOLERANCE),
            Some(text) => match parse(text, 400) {
                Ok(most) if (0..1).contains(&most) => most,
                _ => {
                    let what = "--max-tolerance: expected a number from 0 to below 1".to_owned();
                    return Err(Unusable::usage(what));
                }
            },
        };
        Ok(Self {
            problem,
            allocation: allocation.map(Allocation::simplified),
            require: require.collect::<Result<_, _>>()?,
            tolerance,
            by_time: options.sharing.as_ref().map(|sharing| sharing == "tdm"),
        })
    }
}

/// Judges a certificate about an allocation.
pub fn check(file: &crate::File, raw: &Json<'_>, options: &Options) -> Result<Report, Unusable> {
    let mut certificate = Certificate::read(raw).map_err(|fault| file.unusable(raw, fault))?;
    let asked = Asked::read(options, &certificate)?;
    let hash = hash(&certificate.problem);
    let verified = certificate.verify(&hash);
    certificate.allocation = certificate.allocation.simplified();
    let met = certificate.meets(&asked);
    let verdict = match verified {
        Err(fault @ Fault::Malformed { .. }) => Err(fault),
        verified => met.and(verified),
    };
    let reason = file.reason(raw, verdict)?;
    Ok(report(&certificate, &hash, reason))
}

fn report(certificate: &Certificate<'_>, hash: &str, reason: Option<String>) -> Report {
    let problem = &certificate.problem;
    let mut claims = Vec::new();
    let mut verdicts = Vec::new();
    for claim in &certificate.claims {
        let says = match (claim.holds, &claim.margin) {
            (None, _) => "does not apply",
            (Some(false), _) => "is violated",
            (Some(true), Some(margin)) if *margin < 0 => "holds within the tolerance",
            (Some(true), _) => "holds",
        };
        let margin =
            claim.margin.as_ref().map_or_else(String::new, |margin| format!(", margin {}", short(margin)));
        claims.push(format!("{} {says}{margin}", claim.name(problem)));
        let mut fields = format!("{{\"axiom\":{}", quoted(claim.axiom));
        if let Some(share) = claim.share {
            fields += &format!(",\"share\":{}", quoted(&share.name(problem)));
        }
        if claim.axiom == "proportional" {
            fields += &format!(",\"alpha\":\"{}\"", claim.alpha);
        }
        let holds = claim.holds.map_or("null".to_owned(), |holds| holds.to_string());
        let margin = claim.margin.as_ref().map_or("null".to_owned(), |margin| format!("\"{margin}\""));
        verdicts.push(format!("{fields},\"holds\":{holds},\"margin\":{margin}}}"));
    }
    let sharing = if certificate.allocation.by_time { "tdm" } else { "rdm" };
    let (users, classes) = (problem.users.len(), problem.classes.len());
    let about = vec![
        format!("problem `{}`, {users} users, {classes} server classes, sha256 {hash}", problem.name),
        format!("sharing {sharing}, tolerance {}", hashed(&certificate.tolerance)),
    ];
    let more = format!(
        ",\"tolerance\":\"{}\",\"sharing\":\"{sharing}\",\"problem\":{{\"name\":{},\"users\":{users},\
         \"classes\":{classes},\"sha256\":\"{hash}\"}},\"verdicts\":[{}]",
        hashed(&certificate.tolerance),
        quoted(&problem.name),
        verdicts.join(","),
    );
    Report { reason, claims, about, more }
}
