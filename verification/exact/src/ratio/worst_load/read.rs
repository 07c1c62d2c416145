//! Reading worst-load certificates.

use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Place, Rational};
use serde_json::value::RawValue;

use super::certificate::{Covers, First, KIND, PrefixClaim, VERSION, WorstLoadCertificate};
use crate::ratio::read::{Read, Reader};

impl WorstLoadCertificate {
    /// Reads a certificate. What it states is not checked here: [`check`](crate::check).
    ///
    /// # Errors
    /// [`FormatError`] for whatever is no worst-load certificate: unknown fields, names or methods, a
    /// quantity that is not of the form that it takes.
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
        if document.number(need("version")?)? != VERSION {
            return Err(document.error(need("version")?, format!("expected version {VERSION}")));
        }
        let problem = source.reservation_in(need("problem")?, &Place::root().key("problem"))?;
        let reader = Reader::new(&document, &problem);
        let ratio_lower = reader.optional(need("ratio_lower")?, Reader::measure)?;
        let ratio_upper = reader.optional(need("ratio_upper")?, Reader::measure)?;
        let loads = reader.by_job(need("loads")?, Rational::new(), Reader::measure)?;
        let greedy = reader.greedy(need("greedy")?, &Reader::measure)?;
        let optimum = reader.object(need("optimum")?, &["reward", "assignment", "served"])?;
        let optimum = reader.assignment(&optimum, Rational::new(), &Reader::measure)?;
        let firsts = document.list(need("firsts")?)?;
        let firsts = firsts.into_iter().map(|raw| reader.proven_first(raw)).collect::<Read<_>>()?;
        let claims = document.list(need("claims")?)?;
        let claims = claims.into_iter().map(|raw| reader.claim(raw)).collect::<Read<_>>()?;
        drop(reader);
        Ok(Self { problem, ratio_lower, ratio_upper, loads, greedy, optimum, firsts, claims })
    }
}

impl<'t> Reader<'_, 't> {
    fn job_list(&self, raw: &'t RawValue) -> Read<Vec<usize>> {
        let names = self.document.list(raw)?.into_iter();
        names.map(|raw| self.named(&self.jobs, &self.document.string(raw)?, raw, "job type")).collect()
    }

    fn proven_first(&self, raw: &'t RawValue) -> Read<First> {
        let object = self.object(raw, &["open", "configuration", "first"])?;
        let raw = object.need(self.document, "open")?;
        let mut open = self.job_list(raw)?;
        open.sort_unstable();
        if open.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.document.error(raw, "a job type stands twice"));
        }
        let configuration = self.configuration(object.need(self.document, "configuration")?)?;
        Ok(First { open, configuration, first: self.first(object.need(self.document, "first")?)? })
    }

    fn claim(&self, raw: &'t RawValue) -> Read<PrefixClaim> {
        let object = self.object(raw, &["order", "covers", "prices", "pricing"])?;
        let need = |field: &str| object.need(self.document, field);
        let covers = match &*self.document.string(need("covers")?)? {
            "all" => Covers::All,
            "end" => Covers::End,
            _ => return Err(self.document.error(need("covers")?, "expected all or end")),
        };
        Ok(PrefixClaim {
            order: self.job_list(need("order")?)?,
            covers,
            prices: self.prices(need("prices")?)?,
            pricing: self.pricing(need("pricing")?)?,
        })
    }
}
