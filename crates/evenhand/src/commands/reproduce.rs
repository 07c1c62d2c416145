//! x
use std::process::ExitCode;
use crate::arguments::{Common, Reproduce};
use crate::failure::Failure;
pub fn run(_call: &Reproduce, _common: &Common) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
