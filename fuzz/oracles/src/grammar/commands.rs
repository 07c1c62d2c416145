//! Command lines: every command with options of its own and of others, and operands valid, extreme and wrong.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::pick;

/// What stands behind an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    Nothing,
    /// A number, which may be no whole one.
    Number,
    /// A whole number that decides how long the command works: small.
    Few,
    /// The name of a mechanism.
    Mechanism,
    /// The name of an axiom, perhaps with a parameter.
    Axiom,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A file that is read.
    Input,
    /// A file or a folder that is written.
    Output,
    /// The name of a user, a group or a server.
    Name,
}

use Operand::{Axiom, Few, Input, Mechanism, Name, Nothing, Number, OneOf, Output};

/// A command, the files or words behind it, and its options.
#[derive(Debug)]
pub struct CommandLine {
    /// Its name.
    pub name: &'static str,
    /// What stands behind it without an option.
    pub operands: &'static [Operand],
    /// Its options, without the global ones.
    pub options: &'static [(&'static str, Operand)],
}

/// Options of every command.
pub const GLOBAL: &[(&str, Operand)] = &[
    ("--format", OneOf(&["table", "json", "csv", "markdown", "xml"])),
    ("--seed", Number),
    ("--threads", OneOf(&["1", "2", "0", "1025"])),
    ("--work", OneOf(&["1e9", "1e3", "0", "1e99", "x"])),
    ("--memory", OneOf(&["1GiB", "64MiB", "1", "16EiB", "x"])),
    ("--quiet", Nothing),
    ("--help", Nothing),
];

/// Options of mechanisms, which `solve` and `audit` take.
pub const FLAGS: &[(&str, Operand)] = &[
    ("--seconds", OneOf(&["0", "1", "-1", "x"])),
    ("--criterion", Nothing),
    ("--per-weight", Nothing),
    ("--no-entitlement", Name),
    ("--alpha", Number),
    ("--select", OneOf(&["max-utilisation", "max-min-share", "max-tasks"])),
    ("--faces", Nothing),
    ("--reduce", Nothing),
    ("--method", OneOf(&["sweep", "algorithm-1", "market", "trajectory"])),
    ("--c-max", Number),
    ("--barrier", OneOf(&["r0=2", "r0=1,r1=3", "r9=1", "=", "r0=0"])),
    ("--order", Name),
    ("--no-nominal-first", Nothing),
    ("--whole", Nothing),
    ("--score", OneOf(&["drf", "tsf", "ps-dsf", "rps-dsf"])),
    ("--server", OneOf(&["iid", "rrr", "first-fit", "best-fit", "joint"])),
    ("--rule", RULE),
    ("--ties", OneOf(&["low", "high", "random"])),
    ("--unfiltered", Nothing),
    ("--filter", Nothing),
    ("--step", OneOf(&["1", "1/2", "0", "-1", "x"])),
    ("--ideal", Nothing),
    ("--slots", Number),
];

const RULE: Operand =
    OneOf(&["hdrf", "mesos", "kueue", "armada", "yunikorn", "slurm", "kai", "kai-sole-queue", "volcano"]);

/// The commands; `bench` and all of `reproduce` take minutes, so of these only what ends at once is asked for.
pub const COMMANDS: &[CommandLine] = &[
    CommandLine {
        name: "solve",
        operands: &[Input],
        options: &[
            ("--mechanism", Mechanism),
            ("--mechanism", Mechanism),
            ("--float", Nothing),
            ("--exact", Nothing),
            ("--output", Output),
            ("--series", Output),
            ("--plot", Output),
        ],
    },
    CommandLine {
        name: "certify",
        operands: &[Input, Input],
        options: &[
            ("--axiom", Axiom),
            ("--share", OneOf(&["drfh", "cdrf", "tsf", "asset", "generic", "resource:r0", "resource:"])),
            ("--alpha", Number),
            ("--tolerance", Number),
            ("--seconds", OneOf(&["0", "1", "-1", "x"])),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "check",
        operands: &[Input],
        options: &[
            ("--problem", Input),
            ("--allocation", Input),
            ("--require", Axiom),
            ("--max-tolerance", Number),
            ("--sharing", OneOf(&["rdm", "tdm", "both"])),
        ],
    },
    CommandLine {
        name: "export",
        operands: &[Input],
        options: &[("--to", OneOf(&["vipr", "coq", "mps", "lp"])), ("--output", Output)],
    },
    CommandLine {
        name: "explain",
        operands: &[Input, Input],
        options: &[
            ("--user", Name),
            ("--group", Name),
            ("--levels", Nothing),
            ("--rule", RULE),
            ("--no-nominal-first", Nothing),
            ("--whole", Nothing),
        ],
    },
    CommandLine {
        name: "compare",
        operands: &[Input],
        options: &[
            ("--mechanism", Mechanism),
            ("--allocation", Input),
            ("--dedicated", Nothing),
            ("--axiom", Axiom),
            ("--alpha", Number),
            ("--float", Nothing),
            ("--tolerance", Number),
            ("--seconds", OneOf(&["1", "0.5", "0", "-1"])),
            ("--users", OneOf(&["all", "u0"])),
        ],
    },
    CommandLine {
        name: "report",
        operands: &[Input],
        options: &[
            ("--mechanism", Mechanism),
            ("--allocation", Input),
            ("--dedicated", Nothing),
            ("--axiom", Axiom),
            ("--alpha", Number),
            ("--float", Nothing),
            ("--tolerance", Number),
            ("--seconds", OneOf(&["1", "0.5", "0", "-1"])),
            ("--users", OneOf(&["all", "u0"])),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "audit",
        operands: &[],
        options: &[
            ("--mechanism", Mechanism),
            ("--mechanism", Mechanism),
            ("--axiom", Axiom),
            ("--property", OneOf(&["strategy-proof", "population-monotone", "resource-monotone"])),
            ("--instances", Few),
            ("--users", Few),
            ("--servers", Few),
            ("--resources", Few),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "ratio",
        operands: &[Input],
        options: &[
            ("--sweep", OneOf(&["0:2:5", "1:1:1", "2:0:3", "-1:1:2", "0:1e9:4", "0:1:0", "::"])),
            ("--plot", Output),
            ("--worst-load", Nothing),
            ("--monotone", Nothing),
            ("--output", Output),
            ("--trees", Nothing),
        ],
    },
    CommandLine {
        name: "hunt",
        operands: &[],
        options: &[
            ("--types", Few),
            ("--resources", Few),
            ("--capacity", Number),
            ("--rewards", Number),
            ("--exhaustive", Nothing),
            ("--steps", Few),
            ("--seconds", OneOf(&["0", "1"])),
            ("--resume", Input),
            ("--keep", Few),
            ("--at-most", Number),
            ("--output", Output),
            ("--certificate", Output),
        ],
    },
    CommandLine {
        name: "simulate",
        operands: &[Input],
        options: &[
            ("--replications", Few),
            ("--resume", Input),
            ("--checkpoint-every", Few),
            ("--seconds", OneOf(&["0", "1", "-1", "x"])),
            ("--output", Output),
            ("--series", OneOf(&["csv", "parquet", "svg"])),
        ],
    },
    CommandLine {
        name: "reproduce",
        operands: &[OneOf(&["--list", "no-such-entry", "drfh.no-such-figure", "--help"])],
        options: &[("--list", Nothing), ("--output", Output)],
    },
    CommandLine {
        name: "bench",
        operands: &[OneOf(&["--help", "speedy", "--runs"])],
        options: &[("--runs", OneOf(&["0", "1001", "x"])), ("--output", Output)],
    },
    CommandLine {
        name: "import",
        operands: &[OneOf(&["openb", "google", "azure"]), Input, Input],
        options: &[("--time", Number), ("--by-shape", Nothing), ("--output", Output)],
    },
    CommandLine {
        name: "schema",
        operands: &[OneOf(&["problem", "hunt", "course", "schemas", "certificates", "--format"])],
        options: &[],
    },
    CommandLine {
        name: "completions",
        operands: &[OneOf(&["bash", "zsh", "fish", "elvish", "powershell", "sh"])],
        options: &[],
    },
    CommandLine { name: "man", operands: &[], options: &[("--output", Output)] },
];

/// Files that are there when a command line is tried, and some that are not.
const INPUTS: &[&str] = &[
    "problem.json",
    "problem.json",
    "allocation.json",
    "certificate.json",
    "reservation.json",
    "scenario.json",
    "checkpoint.json",
    "hunt.json",
    "nodes.csv",
    "absent.json",
    "-",
    ".",
    "",
    "/dev/null",
];

const OUTPUTS: &[&str] = &[
    "out.json",
    "out.svg",
    "out",
    "problem.json",
    "-",
    ".",
    "absent/out.json",
    "/dev/null",
    "/dev/full",
    "",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "1/2",
    "5/7",
    "0.3",
    "-1",
    "1e-9",
    "1e9",
    "1e400",
    "1/0",
    "18446744073709551615",
    "18446744073709551616",
    "NaN",
    "inf",
    "",
    "x",
    "\u{202e}1",
];

const NAMES: &[&str] = &["u0", "u1", "g0", "g1", "s0", "s0,s1", "nobody", "", "\u{1b}[31m"];

const AXIOMS: &[&str] = &[
    "feasible",
    "integer-feasible",
    "non-wasteful",
    "work-conserving",
    "pareto-optimal",
    "integer-pareto-optimal",
    "envy-free",
    "ef1",
    "sharing-incentive",
    "bottleneck-fair",
    "global-bottleneck-fair",
    "single-resource-fair",
    "max-min:drfh",
    "max-min",
    "njc",
    "ps-dsf",
    "proportional:1",
    "proportional:1/0",
    "limits",
    "guarantees",
    "group-sharing-incentive",
    "group-envy-free",
    "tree",
    "exact",
    "ratio:1/2",
    "fair",
];

/// The mechanisms, and a name of none.
pub const MECHANISMS: &[&str] = &[
    "drf",
    "drfh",
    "cdrf",
    "tsf",
    "asset",
    "per-server-drf",
    "generic",
    "utilitarian",
    "proportional",
    "alpha",
    "njc",
    "ps-dsf",
    "ps-dsf-tdm",
    "fill",
    "slots",
    "tree",
    "fairest",
];

/// The arguments of a command that reads and writes files of the folder that it runs in.
#[must_use]
pub fn random_command(seed: u32) -> Vec<String> {
    let rng = &mut Pcg64::seed_from_u64(seed.into());
    let command = pick(COMMANDS, rng);
    let mut arguments = vec![command.name.to_owned()];
    for operand in command.operands {
        // Now and then one is missing, or there is one too many.
        for _ in 0..*pick(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 2], rng) {
            arguments.push(word(*operand, rng));
        }
    }
    let own =
        [command.options, if ["solve", "audit"].contains(&command.name) { FLAGS } else { &[] }].concat();
    for _ in 0..rng.random_range(0..5) {
        let options = match rng.random_range(0..12) {
            0 => pick(COMMANDS, rng).options,
            1 | 2 => GLOBAL,
            _ => &own,
        };
        if options.is_empty() {
            continue;
        }
        let (name, operand) = *pick(options, rng);
        arguments.push(name.to_owned());
        if operand != Nothing {
            arguments.push(word(operand, rng));
        }
    }
    let needed: &[(&str, &str)] = match command.name {
        "solve" | "audit" => &[("--mechanism", "drfh")],
        "export" => &[("--to", "lp")],
        _ => &[],
    };
    for (name, value) in needed {
        if rng.random_bool(0.9) {
            unless_given(&mut arguments, name, value);
        }
    }
    bounded(&mut arguments);
    arguments
}

/// Adds options without which a command would work for minutes.
pub fn bounded(arguments: &mut Vec<String>) {
    let bounds: &[(&str, &str)] = match arguments.first().map_or("", String::as_str) {
        "audit" => &[("--instances", "4")],
        "hunt" => &[("--steps", "100"), ("--seconds", "2")],
        "compare" | "report" => &[("--seconds", "2")],
        // Without this word it begins to reproduce everything.
        "reproduce" => &[("--list", "")],
        _ => &[],
    };
    for (name, value) in bounds {
        unless_given(arguments, name, value);
    }
}

fn unless_given(arguments: &mut Vec<String>, name: &str, value: &str) {
    if !arguments.iter().any(|given| given == name) {
        let words = [name, value].into_iter().filter(|word| !word.is_empty());
        arguments.extend(words.map(str::to_owned));
    }
}

fn word(operand: Operand, rng: &mut Pcg64) -> String {
    let words = match operand {
        Nothing => return String::new(),
        Number => NUMBERS,
        Few => &["1", "2", "3", "0", "-1", "x", "5"],
        Mechanism => MECHANISMS,
        Axiom => AXIOMS,
        OneOf(words) => words,
        Input => INPUTS,
        Output => OUTPUTS,
        Name => NAMES,
    };
    (*pick(words, rng)).to_owned()
}
