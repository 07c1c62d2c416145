//! `check`: verify a certificate with rational arithmetic alone.

use std::process::ExitCode;

use crate::arguments::{Check, Common, Format};
use crate::failure::Failure;
use crate::{files, output};
use evenhand::Certificate;
use evenhand::exact::ratio::{self, worst_load};
use evenhand::exact::{self, Verdict};
use evenhand::report::text::printable;

pub fn run(call: &Check, common: &Common) -> Result<ExitCode, Failure> {
    if let Some(problem) = &call.problem {
        files::distinct(&[&call.certificate, problem])?;
    }
    let (verdict, says) = files::read(&call.certificate, |source| {
        if ratio::is_ratio_certificate(source) {
            return ratio::Certificate::parse(source).map(|read| Read::Ratio(Box::new(read)));
        }
        if worst_load::is_worst_load_certificate(source) {
            return worst_load::Certificate::parse(source).map(|read| Read::WorstLoad(Box::new(read)));
        }
        Certificate::parse(source).map(|read| Read::Fairness(Box::new(read)))
    })?
    .check(call)?;
    match common.format {
        Format::Json => output::text(&format!("{}\n", verdict.to_json()))?,
        Format::Table if verdict.valid => {
            output::text(&format!("valid: each of {} claims is proven\n\n{says}", verdict.claims))?;
        }
        Format::Table => {
            let reason = verdict.reason.as_deref().unwrap_or_default();
            output::text(&format!("NOT VALID: {}\n", printable(reason)))?;
        }
    }
    Ok(if verdict.valid { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A certificate of any kind.
enum Read {
    Fairness(Box<Certificate>),
    Ratio(Box<ratio::Certificate>),
    WorstLoad(Box<worst_load::Certificate>),
}

impl Read {
    /// The verdict, and what the certificate claims in words.
    fn check(&self, call: &Check) -> Result<(Verdict, String), Failure> {
        Ok(match (self, &call.problem) {
            (Self::Fairness(certificate), problem) => {
                let verdict = match problem {
                    None => exact::check(certificate),
                    Some(path) => {
                        exact::check_against(certificate, &files::read(path, |source| source.problem())?)
                    }
                };
                (verdict, evenhand::report::claims(certificate, &[]))
            }
            (Self::Ratio(certificate), problem) => {
                let verdict = match problem {
                    None => ratio::check(certificate),
                    Some(path) => {
                        ratio::check_against(certificate, &files::read(path, |source| source.reservation())?)
                    }
                };
                (verdict, certificate.claims().join("\n") + "\n")
            }
            (Self::WorstLoad(certificate), problem) => {
                let verdict = match problem {
                    None => worst_load::check(certificate),
                    Some(path) => {
                        let problem = files::read(path, |source| source.reservation())?;
                        worst_load::check_against(certificate, &problem)
                    }
                };
                (verdict, certificate.claims().join("\n") + "\n")
            }
        })
    }
}
