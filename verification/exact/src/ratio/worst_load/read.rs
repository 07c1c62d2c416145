//! Reads worst-load certificates.

use evenhand_problem::Rational;
use evenhand_problem::format::{FormatError, Source};
use serde_json::value::RawValue;

use super::{Covers, First, KIND, PrefixClaim, VERSION, WorstLoadCertificate};
use crate::ratio::read::{Read, Reader, problem_of_version};

impl WorstLoadCertificate {
    /// Reads a certificate. This function does not check its statements; [`check`](crate::check) does.
    ///
    /// # Errors
    /// Returns [`FormatError`] if the text is not a worst-load certificate. Examples are unknown fields, names or
    /// methods, and quantities that do not have the expected form.
    pub fn parse(source: &Source<'_>) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, KIND)?;
        object.only(
            &document,
            &[
                "kind",
                "version",
                "problem",
                "ratio_lower",
                "ratio_upper",
                "loads",
                "greedy",
                "optimum",
                "firsts",
                "claims",
            ],
        )?;
        let need = |field: &str| object.need(&document, field);
        let problem = problem_of_version(source, &document, need("version")?, need("problem")?, VERSION)?;
        let reader = Reader::new(&document, &problem);
        let ratio_lower = reader.optional(need("ratio_lower")?, Reader::measure)?;
        let ratio_upper = reader.optional(need("ratio_upper")?, Reader::measure)?;
        let loads = reader.by_job(need("loads")?, Rational::new(), Reader::measure)?;
        let greedy = reader.greedy(need("greedy")?, &Reader::measure)?;
        let optimum = reader.fields(need("optimum")?, ["reward", "assignment", "served"])?;
        let optimum = reader.assignment(optimum, Rational::new(), &Reader::measure)?;
        let firsts = reader.list(need("firsts")?, |raw| reader.proven_first(raw))?;
        let claims = reader.list(need("claims")?, |raw| reader.claim(raw))?;
        drop(reader);
        Ok(Self { problem, ratio_lower, ratio_upper, loads, greedy, optimum, firsts, claims })
    }
}

impl<'t> Reader<'_, 't> {
    fn job_list(&self, raw: &'t RawValue) -> Read<Vec<usize>> {
        self.list(raw, |raw| self.job(raw))
    }

    fn proven_first(&self, raw: &'t RawValue) -> Read<First> {
        let [listed, configuration, first] = self.fields(raw, ["open", "configuration", "first"])?;
        let mut open = self.job_list(listed)?;
        open.sort_unstable();
        if open.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.document.error(listed, "a job type is listed twice"));
        }
        let configuration = self.configuration(configuration)?;
        Ok(First { open, configuration, first: self.first(first)? })
    }

    fn claim(&self, raw: &'t RawValue) -> Read<PrefixClaim> {
        let [order, covered, prices, pricing] = self.fields(raw, ["order", "covers", "prices", "pricing"])?;
        let covers = match &*self.document.string(covered)? {
            "all" => Covers::All,
            "end" => Covers::End,
            _ => return Err(self.document.error(covered, "expected all or end")),
        };
        let (order, prices) = (self.job_list(order)?, self.prices(prices)?);
        Ok(PrefixClaim { order, covers, prices, pricing: self.pricing(pricing)? })
    }
}
