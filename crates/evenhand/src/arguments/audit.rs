//! The options of `audit`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{examples, flags, names};

#[derive(Debug, Args)]
pub struct Audit {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Search for small problems on which one mechanism violates an axiom
    #[command(after_help = examples::AUDIT_MECHANISM)]
    Mechanism(AuditMechanism),
    /// Examine every mechanism by every axiom and property
    #[command(after_help = examples::AUDIT_MATRIX)]
    Matrix(AuditMatrix),
    /// Search for small cases in which Kueue's preemption by fair shares never ends
    #[command(after_help = examples::AUDIT_PREEMPTION)]
    Preemption(AuditPreemption),
}

#[derive(Debug, Args)]
pub struct AuditMechanism {
    /// Mechanism
    #[arg(value_name = "MECHANISM", value_parser = names::mechanism())]
    pub mechanism: String,
    /// Axiom to examine; may be repeated (default: the usual axioms and the mechanism's own)
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// Property of the mechanism to examine in addition; may be repeated
    #[arg(long = "property", value_name = "PROPERTY", value_parser = names::property())]
    pub properties: Vec<String>,
    /// Number of random problems to try
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub instances: u64,
    /// Largest number of users of a problem, 1 to 6
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub users: usize,
    /// Largest number of server classes of a problem, 1 to 6
    #[arg(long, value_name = "I", default_value_t = 3)]
    pub servers: usize,
    /// Largest number of resources of a problem, 1 to 6
    #[arg(long, value_name = "M", default_value_t = 3)]
    pub resources: usize,
    #[command(flatten)]
    pub premises: Premises,
    /// Write a page, and the smallest problem that violates each axiom, into this folder
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub flags: flags::MechanismFlags,
}

#[derive(Debug, Args)]
pub struct AuditMatrix {
    /// Number of random problems for each mechanism, after all small problems
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub instances: u64,
    #[command(flatten)]
    pub premises: Premises,
    /// Resume from this file if it exists, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Write a page, the matrix (JSON) and the certificates into this folder
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct AuditPreemption {
    /// Largest number of queues, 2 to 4
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub queues: u64,
    /// Largest number of workloads, 2 to 8
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub workloads: u64,
    /// Largest number of resources, 1 to 4
    #[arg(long, value_name = "M", default_value_t = 1)]
    pub resources: u64,
    /// Most units of a resource that a workload requests, 1 to 16
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub amount: u64,
    /// Most units of a resource that the cohort lends, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub lendable: u64,
    /// Largest weight of a queue, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub weight: u64,
    /// Number of cases to try; all cases are tried if there are no more
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub instances: u64,
    /// Write a page and the cases (JSON) into this folder
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

// The premises that papers make.
#[derive(Debug, Clone, Copy, Args)]
pub struct Premises {
    /// Only problems in which every user demands some of every resource
    #[arg(long)]
    pub positive: bool,
    /// Only problems in which every user has unlimited tasks
    #[arg(long)]
    pub unlimited: bool,
    /// Only problems in which every user may run on every server class
    #[arg(long)]
    pub everywhere: bool,
}

impl Audit {
    /// Returns the folder that is written.
    pub fn output(&self) -> Option<&Path> {
        let output = match &self.command {
            AuditCommand::Mechanism(call) => &call.output,
            AuditCommand::Matrix(call) => &call.output,
            AuditCommand::Preemption(call) => &call.output,
        };
        output.as_deref()
    }

    /// Returns the file that is read and written.
    pub fn resume(&self) -> Option<&Path> {
        match &self.command {
            AuditCommand::Matrix(call) => call.resume.as_deref(),
            AuditCommand::Mechanism(_) | AuditCommand::Preemption(_) => None,
        }
    }
}

/// The global options that have a value in the next argument.
const WITH_VALUE: [&str; 5] = ["--format", "--seed", "--threads", "--work", "--memory"];

/// Returns the arguments of the program, with the subcommand of `audit` inserted if they have the form that `audit` had
/// before it had subcommands: `audit --mechanism NAME`, `audit --matrix` and `audit --rule kueue --preemption`.
///
/// Help and documents do not mention this form. Scripts that were written for it keep working.
pub fn with_subcommand(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let Some(audit) = command(&arguments).filter(|at| arguments[*at] == "audit") else { return arguments };
    let mut options = arguments.split_off(audit + 1);
    if options.first().is_none_or(|first| !first.to_string_lossy().starts_with('-')) {
        arguments.extend(options);
        return arguments;
    }
    let subcommand = if options.iter().any(|option| option == "--matrix") {
        options.retain(|option| option != "--matrix");
        Some("matrix")
    } else if options.iter().any(|option| option == "--preemption") {
        options.retain(|option| option != "--preemption" && option != "--rule=kueue");
        if let Some(rule) = options.windows(2).position(|pair| pair[0] == "--rule" && pair[1] == "kueue") {
            options.drain(rule..rule + 2);
        }
        Some("preemption")
    } else {
        name_mechanism_by_position(&mut options).then_some("mechanism")
    };
    arguments.extend(subcommand.map(OsString::from));
    arguments.extend(options);
    arguments
}

/// Returns the position of the command.
fn command(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while arguments.get(at)?.to_string_lossy().starts_with('-') {
        at += if WITH_VALUE.iter().any(|option| arguments[at] == *option) { 2 } else { 1 };
    }
    Some(at)
}

/// Replaces the option `--mechanism NAME` by the operand `NAME`. Returns whether there was such an option.
fn name_mechanism_by_position(options: &mut Vec<OsString>) -> bool {
    for at in 0..options.len() {
        let option = options[at].to_string_lossy();
        if option == "--mechanism" || option == "-m" {
            options.remove(at);
            return true;
        }
        let name = option.strip_prefix("--mechanism=").or_else(|| option.strip_prefix("-m"));
        if let Some(name) = name.map(OsString::from) {
            options[at] = name;
            return true;
        }
    }
    false
}
