//! Reads ratio certificates.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use evenhand_problem::format::{Document, FormatError, Source};
use evenhand_problem::problem::MAX_COUNT;
use evenhand_problem::{Integer, Place, Rational, Reservation};
use serde_json::value::RawValue;

use super::certificate::{KIND, RatioCertificate, VERSION, Whole};
use super::proof::{FirstProof, PricingProof, Tree, TreeNode};
use super::{Assignment, Configuration, Greedy, Optimum, PackingPrices, Step};

/// The number of prices that a certificate may have, zeros included, in addition to one for each byte of the file.
/// Because of this limit, the memory that the reader allocates is linear in the length of the file. A short file may
/// still have many types.
const FREE_NUMBERS: usize = 1 << 16;

impl RatioCertificate {
    /// Reads a certificate. This function does not check its statements; [`check`](crate::check) does.
    ///
    /// # Errors
    /// Returns [`FormatError`] if the text is not a ratio certificate. Examples are unknown fields, names or methods,
    /// and quantities that do not have the expected form.
    pub fn parse(source: &Source<'_>) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, KIND)?;
        object.only(&document, &["kind", "version", "problem", "greedy", "optimum", "ratio", "integer"])?;
        let need = |field: &str| object.need(&document, field);
        let problem = problem_of_version(source, &document, need("version")?, need("problem")?, VERSION)?;
        let reader = Reader::new(&document, &problem);
        let greedy = reader.greedy(need("greedy")?, &Reader::measure)?;
        let optimum = reader.optimum(need("optimum")?, Rational::new(), &Reader::measure)?;
        let ratio = reader.optional(need("ratio")?, Reader::measure)?;
        let integer = object.get("integer").map(|raw| reader.whole(raw)).transpose()?;
        drop(reader);
        Ok(Self { problem, greedy, optimum, ratio, integer })
    }
}

/// Reads the problem of a certificate. The version of the certificate's format has to be `expected`.
pub(super) fn problem_of_version<'t>(
    source: &Source<'t>,
    document: &Document<'t>,
    version: &'t RawValue,
    problem: &'t RawValue,
    expected: u32,
) -> Read<Reservation> {
    if document.number(version)? != expected {
        return Err(document.error(version, format!("expected version {expected}")));
    }
    source.reservation_in(problem, &Place::root().key("problem"))
}

pub(super) struct Reader<'r, 't> {
    pub document: &'r Document<'t>,
    problem: &'r Reservation,
    jobs: HashMap<&'r str, usize>,
    pools: HashMap<&'r str, usize>,
    resources: HashMap<&'r str, usize>,
    /// The number of prices that may still be read.
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

    /// Counts the numbers of a vector against the limit, because a file does not have to write its zeros.
    pub(super) fn allocate(&self, raw: &'t RawValue, length: usize) -> Read<()> {
        let Some(left) = self.numbers_left.get().checked_sub(length.max(1)) else {
            return Err(self
                .document
                .error(raw, "more prices, zeros included, than a file of this size may hold"));
        };
        self.numbers_left.set(left);
        Ok(())
    }

    /// Reads the values of an object that must have exactly the fields `names`.
    pub(super) fn fields<const N: usize>(
        &self,
        raw: &'t RawValue,
        names: [&str; N],
    ) -> Read<[&'t RawValue; N]> {
        let object = self.document.object(raw)?;
        object.only(self.document, &names)?;
        let mut values = [raw; N];
        for (value, name) in values.iter_mut().zip(names) {
            *value = object.need(self.document, name)?;
        }
        Ok(values)
    }

    /// Reads the items of a list.
    pub(super) fn list<T>(&self, raw: &'t RawValue, read: impl Fn(&'t RawValue) -> Read<T>) -> Read<Vec<T>> {
        self.document.list(raw)?.into_iter().map(read).collect()
    }

    fn named(&self, names: &HashMap<&str, usize>, name: &str, raw: &'t RawValue, what: &str) -> Read<usize> {
        let found = names.get(name).copied();
        found.ok_or_else(|| self.document.error(raw, format!("there is no such {what}")))
    }

    fn pool(&self, raw: &'t RawValue) -> Read<usize> {
        self.named(&self.pools, &self.document.string(raw)?, raw, "server")
    }

    pub(super) fn job(&self, raw: &'t RawValue) -> Read<usize> {
        self.named(&self.jobs, &self.document.string(raw)?, raw, "job type")
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

    /// Reads a whole number from `least` to 10^12.
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

    /// Reads an object with values by name, and sorts them by position. Zeros are dropped.
    fn sparse<T: PartialEq + Default>(
        &self,
        raw: &'t RawValue,
        (names, what): (&HashMap<&str, usize>, &str),
        read: impl Fn(&'t RawValue) -> Read<T>,
    ) -> Read<Vec<(usize, T)>> {
        let mut values = Vec::new();
        for (name, raw) in self.document.object(raw)?.fields() {
            values.push((self.named(names, name, raw, what)?, read(raw)?));
        }
        values.retain(|(_, value)| *value != T::default());
        values.sort_unstable_by_key(|(at, _)| *at);
        Ok(values)
    }

    pub(super) fn configuration(&self, raw: &'t RawValue) -> Read<Configuration> {
        self.sparse(raw, (&self.jobs, "job type"), |raw| self.small(raw, 0))
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
        let [reward, steps] = self.fields(raw, ["reward", "steps"])?;
        let step = |raw| {
            let fields = ["pool", "configuration", "servers", "exhausted", "first"];
            let [pool, configuration, servers, exhausted, first] = self.fields(raw, fields)?;
            Ok(Step {
                pool: self.pool(pool)?,
                configuration: self.configuration(configuration)?,
                servers: amount(self, servers)?,
                exhausted: self.optional(exhausted, Self::job)?,
                first: self.first(first)?,
            })
        };
        Ok(Greedy { reward: self.measure(reward)?, steps: self.list(steps, step)? })
    }

    /// Reads the fields of an optimum that state an assignment.
    pub(super) fn assignment<T: Clone>(
        &self,
        [reward, assignment, served]: [&'t RawValue; 3],
        zero: T,
        amount: &impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Assignment<T>> {
        let placed = |raw| {
            let [pool, configuration, servers] = self.fields(raw, ["pool", "configuration", "servers"])?;
            let configuration = self.configuration(configuration)?;
            Ok((self.pool(pool)?, configuration, amount(self, servers)?))
        };
        let servers = self.list(assignment, placed)?;
        let served = self.by_job(served, zero, amount)?;
        Ok(Assignment { reward: self.measure(reward)?, servers, served })
    }

    fn optimum<T: Clone>(
        &self,
        raw: &'t RawValue,
        zero: T,
        amount: &impl Fn(&Self, &'t RawValue) -> Read<T>,
    ) -> Read<Optimum<T>> {
        let fields = ["reward", "assignment", "served", "bound", "prices", "pricing"];
        let [reward, assignment, served, bound, prices, proofs] = self.fields(raw, fields)?;
        let assignment = self.assignment([reward, assignment, served], zero, amount)?;
        let (bound, prices) = (self.measure(bound)?, self.prices(prices)?);
        let read = |reader: &Self, raw| reader.pricing(raw).map(Some);
        let by_pool = self.by_name(proofs, (&self.pools, "server"), None, read)?;
        let mut pricing = Vec::new();
        for (proof, pool) in by_pool.into_iter().zip(self.problem.pools()) {
            let missing =
                || self.document.error(proofs, format!("the proof for `{}` is missing", pool.name()));
            pricing.push(proof.ok_or_else(missing)?);
        }
        Ok(Optimum { assignment, bound, prices, pricing })
    }

    pub(super) fn prices(&self, raw: &'t RawValue) -> Read<PackingPrices> {
        let [load, slot, server] = self.fields(raw, ["load", "slot", "server"])?;
        self.allocate(raw, 2 * self.jobs.len() + self.pools.len())?;
        let zero = Rational::new;
        Ok(PackingPrices {
            load: self.by_job(load, zero(), Self::measure)?,
            slot: self.by_job(slot, zero(), Self::measure)?,
            server: self.by_name(server, (&self.pools, "server"), zero(), Self::measure)?,
        })
    }

    fn whole(&self, raw: &'t RawValue) -> Read<Whole> {
        let [greedy, optimum] = self.fields(raw, ["greedy", "optimum"])?;
        let greedy = self.greedy(greedy, &Self::count)?;
        Ok(Whole { greedy, optimum: self.optimum(optimum, Integer::new(), &Self::count)? })
    }

    fn method(&self, raw: &'t RawValue) -> Read<Cow<'t, str>> {
        self.document.string(self.document.object(raw)?.need(self.document, "method")?)
    }

    fn no_method<T>(&self, raw: &'t RawValue) -> Read<T> {
        Err(self.document.error(raw, "there is no such method of proof"))
    }

    fn cells(&self, raw: &'t RawValue) -> Read<usize> {
        let [_, cells] = self.fields(raw, ["method", "cells"])?;
        Ok(usize::try_from(self.small(cells, 1)?).unwrap_or(usize::MAX))
    }

    pub(super) fn pricing(&self, raw: &'t RawValue) -> Read<PricingProof> {
        match &*self.method(raw)? {
            "dynamic-programme" => Ok(PricingProof::DynamicProgramme { cells: self.cells(raw)? }),
            "listed" => self.fields(raw, ["method"]).map(|_| PricingProof::Listed),
            "tree" => {
                let [_, multipliers, nodes] = self.fields(raw, ["method", "multipliers", "nodes"])?;
                let Tree { multipliers, nodes } = self.tree([multipliers, nodes])?;
                Ok(PricingProof::Tree { multipliers, nodes })
            }
            _ => self.no_method(raw),
        }
    }

    pub(super) fn first(&self, raw: &'t RawValue) -> Read<FirstProof> {
        match &*self.method(raw)? {
            "dynamic-programme" => Ok(FirstProof::DynamicProgramme { cells: self.cells(raw)? }),
            "listed" => self.fields(raw, ["method"]).map(|_| FirstProof::Listed),
            "known" => self.fields(raw, ["method"]).map(|_| FirstProof::Known),
            "tree" => {
                let [_, value, order] = self.fields(raw, ["method", "value", "order"])?;
                let tree = |raw| self.tree(self.fields(raw, ["multipliers", "nodes"])?);
                Ok(FirstProof::Tree { value: tree(value)?, order: tree(order)? })
            }
            _ => self.no_method(raw),
        }
    }

    fn tree(&self, [multipliers, nodes]: [&'t RawValue; 2]) -> Read<Tree> {
        let by_resource = |raw| self.sparse(raw, (&self.resources, "resource"), |raw| self.measure(raw));
        let multipliers = self.list(multipliers, by_resource)?;
        Ok(Tree { multipliers, nodes: self.list(nodes, |raw| self.node(raw))? })
    }

    fn node(&self, raw: &'t RawValue) -> Read<TreeNode> {
        if !raw.get().starts_with('[') {
            let which = self.small(raw, 0)?;
            return Ok(TreeNode::Leaf { multipliers: usize::try_from(which).unwrap_or(usize::MAX) });
        }
        let [job, at] = self.document.list(raw)?[..] else {
            return Err(self.document.error(raw, "expected a job type and a number of jobs"));
        };
        Ok(TreeNode::Split { job: self.job(job)?, at: self.small(at, 1)? })
    }
}
