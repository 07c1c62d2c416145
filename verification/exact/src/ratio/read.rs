//! Reading ratio certificates.

use std::cell::Cell;
use std::collections::HashMap;

use evenhand_problem::format::{Document, FormatError, Object, Source};
use evenhand_problem::problem::MAX_COUNT;
use evenhand_problem::{Integer, Place, Rational, Reservation};
use serde_json::value::RawValue;

use super::certificate::{KIND, RatioCertificate, VERSION, Whole};
use super::packing::{Assignment, Configuration, Greedy, Optimum, PackingPrices, Step};
use super::proof::{FirstProof, Multipliers, PricingProof, Tree, TreeNode};

/// Prices that a certificate may hold, zeros included, beside one for each byte of the file: what the
/// reader allocates is linear in the file, and a short file may still be about many types.
const FREE_NUMBERS: usize = 1 << 16;

impl RatioCertificate {
    /// Reads a certificate. What it states is not checked here: [`check`](crate::check).
    ///
    /// # Errors
    /// [`FormatError`] for whatever is no ratio certificate: unknown fields, names or methods, a
    /// quantity that is not of the form that it takes.
    pub fn parse(source: &Source<'_>) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, KIND)?;
        let fields = ["kind", "version", "problem", "greedy", "optimum", "ratio", "integer"];
        object.only(&document, &fields)?;
        let version = object.need(&document, "version")?;
        if document.number(version)? != VERSION {
            return Err(document.error(version, format!("expected version {VERSION}")));
        }
        let raw = object.need(&document, "problem")?;
        let problem = source.reservation_in(raw, &Place::root().key("problem"))?;
        let reader = Reader::new(&document, &problem);
        let greedy = reader.greedy(object.need(&document, "greedy")?, &Reader::measure)?;
        let optimum =
            reader.optimum(object.need(&document, "optimum")?, Rational::new(), &Reader::measure)?;
        let ratio = reader.optional(object.need(&document, "ratio")?, Reader::measure)?;
        let integer = object.get("integer").map(|raw| reader.whole(raw)).transpose()?;
        drop(reader);
        Ok(Self { problem, greedy, optimum, ratio, integer })
    }
}

pub(super) struct Reader<'r, 't> {
    pub document: &'r Document<'t>,
    problem: &'r Reservation,
    pub jobs: HashMap<&'r str, usize>,
    pools: HashMap<&'r str, usize>,
    resources: HashMap<&'r str, usize>,
    /// Prices that may still be read.
    numbers_left: Cell<usize>,
}

pub(super) type Read<T> = Result<T, FormatError>;

fn index<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, usize> {
    names.enumerate().map(|(position, name)| (name, position)).collect()
}

impl<'r, 't> Reader<'r, 't> {
    pub(super) fn new(document: &'r Document<'t>, problem: &'r Reservation) -> Self {
        Self {
            document,
            problem,
            jobs: index(problem.jobs().iter().map(|job| job.name())),
            pools: index(problem.pools().iter().map(|pool| pool.name())),
            resources: index(problem.resources().iter().map(String::as_str)),
            numbers_left: Cell::new(FREE_NUMBERS + document.source().text.len()),
        }
    }

    /// Pays for a vector, whose zeros a file need not write.
    pub(super) fn allocate(&self, raw: &'t RawValue, length: usize) -> Read<()> {
        let Some(left) = self.numbers_left.get().checked_sub(length.max(1)) else {
            return Err(self
                .document
                .error(raw, "more prices, zeros included, than a file of this size may hold"));
        };
        self.numbers_left.set(left);
        Ok(())
    }

    pub(super) fn object(&self, raw: &'t RawValue, fields: &[&str]) -> Read<Object<'t>> {
        let object = self.document.object(raw)?;
        object.only(self.document, fields)?;
        Ok(object)
    }

    pub(super) fn named(
        &self,
        names: &HashMap<&str, usize>,
        name: &str,
        raw: &'t RawValue,
        what: &str,
    ) -> Read<usize> {
        let found = names.get(name).copied();
        found.ok_or_else(|| self.document.error(raw, format!("there is no such {what}")))
    }

    fn pool(&self, object: &Object<'t>) -> Read<usize> {
        let raw = object.need(self.document, "pool")?;
        self.named(&self.pools, &self.document.string(raw)?, raw, "server")
    }

    pub(super) fn measure(&self, raw: &'t RawValue) -> Read<Rational> {
        self.document.result_number(raw)
    }

    fn count(&self, raw: &'t RawValue) -> Read<Integer> {
        let value = self.document.result_number(raw)?;
        if !value.is_integer() {
            return Err(self.document.error(raw, "expected a whole number"));
        }
        Ok(value.into_numer_denom().0)
    }

    /// A whole number from `least` to 10^12.
    fn small(&self, raw: &'t RawValue, least: u64) -> Read<u64> {
        let value = self.document.number(raw)?;
        let value = if value.is_integer() { value.numer().to_u64() } else { None };
        value.filter(|value| (least..=MAX_COUNT).contains(value)).ok_or_else(|| {
            self.document.error(raw, format!("expected a whole number from {least} to {MAX_COUNT}"))
        })
    }

    pub(super) fn optional<T>(
        &self,
        raw: &'t RawValue,
        read: impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Option<T>> {
        if raw.get() == "null" { Ok(None) } else { read(self, raw).map(Some) }
    }

    pub(super) fn configuration(&self, raw: &'t RawValue) -> Read<Configuration> {
        let mut k = Vec::new();
        for (name, raw) in self.document.object(raw)?.fields() {
            let j = self.named(&self.jobs, name, raw, "job type")?;
            let jobs = self.small(raw, 0)?;
            if jobs > 0 {
                k.push((j, jobs));
            }
        }
        k.sort_unstable();
        Ok(k)
    }

    fn by_name<T: Clone>(
        &self,
        raw: &'t RawValue,
        (names, what): (&HashMap<&str, usize>, &str),
        zero: T,
        read: impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut values = vec![zero; names.len()];
        for (name, raw) in self.document.object(raw)?.fields() {
            values[self.named(names, name, raw, what)?] = read(self, raw)?;
        }
        Ok(values)
    }

    pub(super) fn by_job<T: Clone>(
        &self,
        raw: &'t RawValue,
        zero: T,
        read: impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.by_name(raw, (&self.jobs, "job type"), zero, read)
    }

    pub(super) fn greedy<T>(
        &self,
        raw: &'t RawValue,
        amount: &impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Greedy<T>> {
        let object = self.object(raw, &["reward", "steps"])?;
        let reward = self.measure(object.need(self.document, "reward")?)?;
        let steps = self.document.list(object.need(self.document, "steps")?)?;
        let steps = steps.into_iter().map(|raw| self.step(raw, amount)).collect::<Read<_>>()?;
        Ok(Greedy { reward, steps })
    }

    fn step<T>(&self, raw: &'t RawValue, amount: &impl Fn(&Self, &'t RawValue) -> Read<T>) -> Read<Step<T>> {
        let object = self.object(raw, &["pool", "configuration", "servers", "exhausted", "first"])?;
        let need = |field: &str| object.need(self.document, field);
        let exhausted = |reader: &Self, raw: &'t RawValue| {
            reader.named(&reader.jobs, &reader.document.string(raw)?, raw, "job type")
        };
        Ok(Step {
            pool: self.pool(&object)?,
            configuration: self.configuration(need("configuration")?)?,
            servers: amount(self, need("servers")?)?,
            exhausted: self.optional(need("exhausted")?, exhausted)?,
            first: self.first(need("first")?)?,
        })
    }

    /// The fields of an optimum that state an assignment.
    pub(super) fn assignment<T: Clone>(
        &self,
        object: &Object<'t>,
        zero: T,
        amount: &impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Assignment<T>> {
        let need = |field: &str| object.need(self.document, field);
        let mut servers = Vec::new();
        for raw in self.document.list(need("assignment")?)? {
            let object = self.object(raw, &["pool", "configuration", "servers"])?;
            let configuration = self.configuration(object.need(self.document, "configuration")?)?;
            let x = amount(self, object.need(self.document, "servers")?)?;
            servers.push((self.pool(&object)?, configuration, x));
        }
        let served = self.by_job(need("served")?, zero, amount)?;
        Ok(Assignment { reward: self.measure(need("reward")?)?, servers, served })
    }

    fn optimum<T: Clone>(
        &self,
        raw: &'t RawValue,
        zero: T,
        amount: &impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Optimum<T>> {
        let fields = ["reward", "assignment", "served", "bound", "prices", "pricing"];
        let object = self.object(raw, &fields)?;
        let assignment = self.assignment(&object, zero, amount)?;
        let bound = self.measure(object.need(self.document, "bound")?)?;
        let prices = self.prices(object.need(self.document, "prices")?)?;
        let raw = object.need(self.document, "pricing")?;
        let read = |reader: &Self, raw| reader.pricing(raw).map(Some);
        let proofs = self.by_name(raw, (&self.pools, "server"), None, read)?;
        let mut pricing = Vec::new();
        for (proof, pool) in proofs.into_iter().zip(self.problem.pools()) {
            let missing = || self.document.error(raw, format!("the proof for `{}` is missing", pool.name()));
            pricing.push(proof.ok_or_else(missing)?);
        }
        Ok(Optimum { assignment, bound, prices, pricing })
    }

    pub(super) fn prices(&self, raw: &'t RawValue) -> Read<PackingPrices> {
        let prices = self.object(raw, &["load", "slot", "server"])?;
        self.allocate(raw, 2 * self.jobs.len() + self.pools.len())?;
        let of = |field: &str| prices.need(self.document, field);
        let zero = Rational::new;
        Ok(PackingPrices {
            load: self.by_job(of("load")?, zero(), Self::measure)?,
            slot: self.by_job(of("slot")?, zero(), Self::measure)?,
            server: self.by_name(of("server")?, (&self.pools, "server"), zero(), Self::measure)?,
        })
    }

    fn whole(&self, raw: &'t RawValue) -> Read<Whole> {
        let object = self.object(raw, &["greedy", "optimum"])?;
        let greedy = self.greedy(object.need(self.document, "greedy")?, &Self::count)?;
        let optimum = object.need(self.document, "optimum")?;
        Ok(Whole { greedy, optimum: self.optimum(optimum, Integer::new(), &Self::count)? })
    }

    fn method(&self, raw: &'t RawValue) -> Read<(Object<'t>, String)> {
        let object = self.document.object(raw)?;
        let method = self.document.string(object.need(self.document, "method")?)?.into_owned();
        Ok((object, method))
    }

    fn cells(&self, object: &Object<'t>) -> Read<usize> {
        object.only(self.document, &["method", "cells"])?;
        let cells = self.small(object.need(self.document, "cells")?, 1)?;
        Ok(usize::try_from(cells).unwrap_or(usize::MAX))
    }

    pub(super) fn pricing(&self, raw: &'t RawValue) -> Read<PricingProof> {
        let (object, method) = self.method(raw)?;
        Ok(match &*method {
            "dynamic-programme" => PricingProof::DynamicProgramme { cells: self.cells(&object)? },
            "listed" => {
                object.only(self.document, &["method"])?;
                PricingProof::Listed
            }
            "tree" => {
                object.only(self.document, &["method", "multipliers", "nodes"])?;
                let Tree { multipliers, nodes } = self.tree(&object)?;
                PricingProof::Tree { multipliers, nodes }
            }
            _ => return Err(self.document.error(raw, "there is no such method of proof")),
        })
    }

    pub(super) fn first(&self, raw: &'t RawValue) -> Read<FirstProof> {
        let (object, method) = self.method(raw)?;
        Ok(match &*method {
            "dynamic-programme" => FirstProof::DynamicProgramme { cells: self.cells(&object)? },
            "listed" | "known" => {
                object.only(self.document, &["method"])?;
                if method == "known" { FirstProof::Known } else { FirstProof::Listed }
            }
            "tree" => {
                object.only(self.document, &["method", "value", "order"])?;
                let tree = |field: &str| {
                    let raw = object.need(self.document, field)?;
                    self.tree(&self.object(raw, &["multipliers", "nodes"])?)
                };
                FirstProof::Tree { value: tree("value")?, order: tree("order")? }
            }
            _ => return Err(self.document.error(raw, "there is no such method of proof")),
        })
    }

    fn tree(&self, object: &Object<'t>) -> Read<Tree> {
        let mut tree = Tree::default();
        for raw in self.document.list(object.need(self.document, "multipliers")?)? {
            tree.multipliers.push(self.multipliers(raw)?);
        }
        for raw in self.document.list(object.need(self.document, "nodes")?)? {
            tree.nodes.push(self.node(raw)?);
        }
        Ok(tree)
    }

    fn multipliers(&self, raw: &'t RawValue) -> Read<Multipliers> {
        let mut stated = Vec::new();
        for (name, raw) in self.document.object(raw)?.fields() {
            let r = self.named(&self.resources, name, raw, "resource")?;
            let m = self.measure(raw)?;
            if !m.is_zero() {
                stated.push((r, m));
            }
        }
        stated.sort_unstable_by_key(|(r, _)| *r);
        Ok(stated)
    }

    fn node(&self, raw: &'t RawValue) -> Read<TreeNode> {
        if !raw.get().starts_with('[') {
            let which = self.small(raw, 0)?;
            return Ok(TreeNode::Leaf { multipliers: usize::try_from(which).unwrap_or(usize::MAX) });
        }
        let [job, at] = self.document.list(raw)?[..] else {
            return Err(self.document.error(raw, "expected a job type and a number of jobs"));
        };
        let named = self.named(&self.jobs, &self.document.string(job)?, job, "job type")?;
        Ok(TreeNode::Split { job: named, at: self.small(at, 1)? })
    }
}
