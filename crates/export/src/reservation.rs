//! The export of ratio and worst-load certificates: the configuration programme, and a file for each pricing
//! tree.

use evenhand_exact::check;
use evenhand_exact::ratio::{
    Configuration, FirstProof, Greedy, Multipliers, Optimum, PricingProof, RatioCertificate, TreeNode,
    worst_load,
};
use evenhand_problem::{Rational, Reservation};

use crate::pricing::{Claim, programme};
use crate::{Export, ExportError, Exporter, Write, configurations, valid};

/// The empty configuration, which fits on every server.
static NOTHING: Configuration = Vec::new();

const TABLE: &str = "a dynamic programme proves it, which has no such form";
const LISTED: &str = "the stated configurations prove it, one by one";
const ORDER: &str = "ties are decided by the corners of boxes, which is no bound on an objective";

/// Writes a file for the configuration programme, and a file for each pricing tree.
///
/// # Errors
/// [`ExportError`] if the certificate is not valid, or exceeds the checker's limits.
pub fn of_ratio(certificate: &RatioCertificate, write: Write<'_>) -> Result<Export, ExportError> {
    valid(check(certificate))?;
    let problem = &certificate.problem;
    let mut export = Exporter::new(write);
    let (loads, sizes) = (problem.loads(), problem.fractions());
    let mut writer = Writer { problem, prefix: "", export: &mut export };
    writer.optimum(&certificate.optimum, &loads, &sizes, false)?;
    writer.greedy(&certificate.greedy)?;
    if let (Some(whole), Some(jobs)) = (&certificate.integer, problem.whole_jobs()) {
        let jobs: Vec<Rational> = jobs.into_iter().map(Rational::from).collect();
        let counts: Vec<Rational> =
            problem.pools().iter().map(|pool| Rational::from(pool.count().unwrap_or_default())).collect();
        let mut writer = Writer { prefix: "whole-", ..writer };
        writer.optimum(&whole.optimum, &jobs, &counts, true)?;
        writer.greedy(&whole.greedy)?;
    }
    Ok(export.found)
}

/// Writes a file for each pricing tree of the claims, and for each value of a first configuration.
///
/// # Errors
/// [`ExportError`] if the certificate is not valid, or exceeds the checker's limits.
pub fn of_worst_load(
    certificate: &worst_load::WorstLoadCertificate,
    write: Write<'_>,
) -> Result<Export, ExportError> {
    valid(check(certificate))?;
    let mut export = Exporter::new(write);
    let mut writer = Writer { problem: &certificate.problem, prefix: "", export: &mut export };
    for (at, claim) in certificate.claims.iter().enumerate() {
        let about = About::new(format!("claim-{}-pricing", at + 1), 0, &NOTHING);
        writer.pricing(&about, &claim.prices.slot, &claim.prices.server[0], &claim.pricing)?;
    }
    let mut ordered = false;
    for (at, first) in certificate.firsts.iter().enumerate() {
        let about = About::new(format!("first-{}-value", at + 1), 0, &first.configuration);
        ordered |= writer.value(&about, &first.open, &first.first)?;
    }
    if ordered {
        export.leave_out("that no configuration as good comes before a first one", ORDER);
    }
    if !certificate.claims.is_empty() {
        let why = "the programme of an order has all configurations; the pricing is what its prices rest on";
        export.leave_out("the bounds of the claims over all loads", why);
    }
    Ok(export.found)
}

/// The statement that a file proves about the configurations of a pool.
struct About<'a> {
    /// The name of the file.
    name: String,
    pool: usize,
    /// A feasible configuration.
    configuration: &'a Configuration,
}

impl<'a> About<'a> {
    fn new(name: String, pool: usize, configuration: &'a Configuration) -> Self {
        Self { name, pool, configuration }
    }
}

struct Writer<'a, 'e, 'w> {
    problem: &'a Reservation,
    /// The prefix of file names.
    prefix: &'static str,
    export: &'e mut Exporter<'w>,
}

impl Writer<'_, '_, '_> {
    fn optimum<T: Clone + Into<Rational>>(
        &mut self,
        optimum: &Optimum<T>,
        jobs: &[Rational],
        sizes: &[Rational],
        whole: bool,
    ) -> Result<(), ExportError> {
        let name = format!("{}optimum", self.prefix);
        let of_all = configurations::programme(&name, self.problem, optimum, jobs, sizes, whole);
        self.export.add(&name, &of_all);
        let prices = &optimum.prices;
        for (i, proof) in optimum.pricing.iter().enumerate() {
            let used = optimum.assignment.servers.iter().filter(|(pool, _, _)| *pool == i);
            let best = used.map(|(_, k, _)| k).max_by_key(|k| worth(&prices.slot, k)).unwrap_or(&NOTHING);
            let about = About::new(format!("pricing-{}", i + 1), i, best);
            self.pricing(&about, &prices.slot, &prices.server[i], proof)?;
        }
        Ok(())
    }

    fn greedy<T>(&mut self, greedy: &Greedy<T>) -> Result<(), ExportError> {
        let mut open: Vec<usize> = (0..self.problem.n_types()).collect();
        let mut ordered = false;
        for (at, step) in greedy.steps.iter().enumerate() {
            let about = About::new(format!("greedy-{}-value", at + 1), step.pool, &step.configuration);
            ordered |= self.value(&about, &open, &step.first)?;
            open.retain(|j| Some(*j) != step.exhausted);
        }
        if ordered {
            let what = format!("{}greedy: that no configuration as good comes before its own", self.prefix);
            self.export.leave_out(what, ORDER);
        }
        Ok(())
    }

    /// Writes the proof that no configuration of the open types is worth more than the configuration of
    /// `about`. Returns `true` if the proof is a tree.
    fn value(&mut self, about: &About<'_>, open: &[usize], proof: &FirstProof) -> Result<bool, ExportError> {
        let mut rewards = vec![Rational::new(); self.problem.n_types()];
        open.iter().for_each(|&j| rewards[j].clone_from(self.problem.jobs()[j].reward()));
        let most = worth(&rewards, about.configuration);
        match proof {
            FirstProof::Tree { value, .. } => {
                self.tree(about, &rewards, &most, &value.multipliers, &value.nodes)?;
                return Ok(true);
            }
            FirstProof::DynamicProgramme { .. } => self.leave_out(about, TABLE),
            FirstProof::Listed => self.leave_out(about, LISTED),
            // An earlier step has already written this file.
            FirstProof::Known => {}
        }
        Ok(false)
    }

    fn pricing(
        &mut self,
        about: &About<'_>,
        profits: &[Rational],
        most: &Rational,
        proof: &PricingProof,
    ) -> Result<(), ExportError> {
        match proof {
            PricingProof::Tree { multipliers, nodes } => {
                self.tree(about, profits, most, multipliers, nodes)?;
            }
            PricingProof::DynamicProgramme { .. } => self.leave_out(about, TABLE),
            PricingProof::Listed => self.leave_out(about, LISTED),
        }
        Ok(())
    }

    fn tree(
        &mut self,
        about: &About<'_>,
        profits: &[Rational],
        most: &Rational,
        multipliers: &[Multipliers],
        nodes: &[TreeNode],
    ) -> Result<(), ExportError> {
        let solution = about.configuration.iter().map(|(j, k)| (*j, Rational::from(*k))).collect();
        let (problem, pool) = (self.problem, about.pool);
        let claim = Claim { problem, pool, profits, most, multipliers, nodes, solution };
        let name = format!("{}{}", self.prefix, about.name);
        let proven = programme(&name, &claim).map_err(|fault| ExportError::NotValid(fault.to_owned()))?;
        self.export.add(&name, &proven);
        Ok(())
    }

    fn leave_out(&mut self, about: &About<'_>, why: &str) {
        self.export.leave_out(format!("{}{}", self.prefix, about.name), why);
    }
}

fn worth(profits: &[Rational], k: &Configuration) -> Rational {
    k.iter().map(|(j, k)| Rational::from(&profits[*j] * *k)).sum()
}
