//! `check`: verify a certificate with rational arithmetic alone.

mod conditions;

use std::process::ExitCode;

use evenhand::exact::ratio::{self, worst_load};
use evenhand::exact::{Verdict, check_on};
use evenhand::report::Page;
use evenhand::{Certificate, report};

use conditions::{conditions, reservation};

use crate::arguments::{Check, Common, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let read = files::read(&call.certificate, |source| {
        if ratio::is_ratio_certificate(source) {
            return ratio::RatioCertificate::parse(source).map(|read| Read::Ratio(Box::new(read)));
        }
        if worst_load::is_worst_load_certificate(source) {
            return worst_load::WorstLoadCertificate::parse(source)
                .map(|read| Read::WorstLoad(Box::new(read)));
        }
        Certificate::parse(source).map(|read| Read::Fairness(Box::new(read)))
    })?;
    let verdict = read.check(call)?;
    if verdict.too_large {
        return Err(Failure::solver(verdict.reason.unwrap_or_else(|| "too large".to_owned())));
    }
    match common.format {
        Format::Json => output::document(&format!("{}\n", read.json(&verdict)))?,
        Format::Table => output::page(&read.page(&verdict), common)?,
    }
    Ok(if verdict.valid { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A certificate of any kind.
enum Read {
    Fairness(Box<Certificate>),
    Ratio(Box<ratio::RatioCertificate>),
    WorstLoad(Box<worst_load::WorstLoadCertificate>),
}

impl Read {
    fn check(&self, call: &Check) -> Result<Verdict, Failure> {
        let certificate = match self {
            Self::Fairness(certificate) => certificate,
            Self::Ratio(certificate) => {
                return Ok(match reservation(call)? {
                    None => ratio::check(&**certificate),
                    Some(problem) => ratio::check_against(&**certificate, &problem),
                });
            }
            Self::WorstLoad(certificate) => {
                return Ok(match reservation(call)? {
                    None => worst_load::check(&**certificate),
                    Some(problem) => worst_load::check_against(&**certificate, &problem),
                });
            }
        };
        let problem = call.problem.as_ref().map(|path| files::read(path, |source| source.problem()));
        let problem = problem.transpose()?;
        // By meaning, as in the kernel: a hash depends on the order in a file, which has no meaning here.
        let read = |path| files::read(path, |source| source.allocation(&certificate.problem));
        let allocation = call.allocation.as_deref().map(read).transpose()?.map(|file| file.allocation);
        let conditions = conditions(call, certificate, problem.as_ref(), allocation.as_ref())?;
        Ok(check_on(certificate, &conditions))
    }

    fn json(&self, verdict: &Verdict) -> String {
        match self {
            Self::Fairness(certificate) => verdict.to_json_of(certificate),
            Self::Ratio(_) | Self::WorstLoad(_) => verdict.to_json(),
        }
    }

    fn page(&self, verdict: &Verdict) -> Page {
        let page = match (&verdict.reason, verdict.claims) {
            (Some(reason), _) => Page::new().text(format!("NOT VALID: {reason}")),
            (None, 1) => Page::new().text("valid: the claim is proven"),
            (None, claims) => Page::new().text(format!("valid: each of {claims} claims is proven")),
        };
        if !verdict.valid {
            return page;
        }
        match self {
            Self::Fairness(certificate) => page.append(report::claims(certificate)),
            Self::Ratio(certificate) => page.lines(certificate.claims()),
            Self::WorstLoad(certificate) => page.lines(certificate.claims()),
        }
    }
}
