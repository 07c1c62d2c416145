//! Random command lines. Every command occurs with its own options and with options of other commands.
//! Operands are valid, extreme or wrong.

use evenhand_exact::Axiom as Axioms;
use evenhand_mechanisms::flags::Takes;
use evenhand_mechanisms::registry;
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Allocation;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::pick;

/// The operands of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// No operand.
    Nothing,
    /// A number. It may be a fraction.
    Number,
    /// A small whole number that limits the work of the command.
    Few,
    /// The name of a mechanism.
    Mechanism,
    /// The name of an axiom, with a parameter in some cases.
    Axiom,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these names. Each name is given with its help text.
    Named(&'static [(&'static str, &'static str)]),
    /// The name of a share.
    Share,
    /// A file that is read.
    Input,
    /// A file or a folder to which the command writes.
    Output,
    /// The name of a user, a group or a server.
    Name,
}

use Operand::{Axiom, Few, Input, Mechanism, Name, Named, Nothing, Number, OneOf, Output, Share};

/// A command, its operands, and its options.
#[derive(Debug)]
pub struct CommandLine {
    /// The name of the command.
    pub name: &'static str,
    /// The operands that do not belong to an option.
    pub operands: &'static [Operand],
    /// The options that only this command has.
    options: &'static [(&'static str, Operand)],
}

/// The options of every command.
pub const GLOBAL: &[(&str, Operand)] = &[
    (
        "--format",
        OneOf(&["table", "json", "csv", "markdown", "latex", "html", "prometheus", "script", "xml"]),
    ),
    ("--seed", Number),
    ("--threads", OneOf(&["1", "2", "0", "1025"])),
    ("--work", OneOf(&["1e9", "1e3", "0", "1e99", "x"])),
    ("--memory", OneOf(&["1GiB", "64MiB", "1", "16EiB", "x"])),
    ("--quiet", Nothing),
    ("--decimals", Nothing),
    ("--help", Nothing),
];

/// The operands of options of mechanisms that have a special form.
const FORMS: &[(&str, &[&str])] = &[
    ("seconds", &["0", "1", "-1", "x"]),
    ("barrier", &["r0=2", "r0=1,r1=3", "r9=1", "=", "r0=0"]),
    ("step", &["1", "1/2", "0", "-1", "x"]),
];

/// Returns the options of mechanisms. `solve` and `audit mechanism` accept these options.
fn flags() -> Vec<(String, Operand)> {
    let flags = registry::flags().into_iter();
    let operand = |name: &str, takes: Takes| match (FORMS.iter().find(|(of, _)| *of == name), takes) {
        (Some((_, words)), _) => OneOf(words),
        (None, Takes::Nothing) => Nothing,
        (None, Takes::Name(_, names)) => Named(names),
        (None, Takes::Number(_) | Takes::Count(_)) => Number,
        (None, Takes::Classes(_) | Takes::Users(_) | Takes::Resources(_)) => Name,
    };
    flags.map(|(_, flag)| (format!("--{}", flag.name), operand(flag.name, flag.takes))).collect()
}

/// The options of `compare` and `report`.
const COLUMNS: &[(&str, Operand)] = &[
    ("--mechanism", Mechanism),
    ("--allocation", Input),
    ("--dedicated", Nothing),
    ("--axiom", Axiom),
    ("--alpha", Number),
    ("--float", Nothing),
    ("--tolerance", Number),
    ("--seconds", OneOf(&["1", "0.5", "0", "-1"])),
    ("--users", OneOf(&["all", "u0"])),
    ("--plot", Output),
    ("--output", Output),
];

impl CommandLine {
    /// Returns all options of the command except the options of every command.
    #[must_use]
    pub fn all_options(&self) -> Vec<(String, Operand)> {
        let more = if ["compare", "report"].contains(&self.name) { COLUMNS } else { &[] };
        let own = self.options.iter().chain(more).map(|(name, operand)| ((*name).to_owned(), *operand));
        let flags = if ["solve", "audit mechanism"].contains(&self.name) { flags() } else { Vec::new() };
        own.chain(flags).collect()
    }
}

/// The commands. `bench`, `reproduce` and `watch` would take minutes or never end. They therefore only get
/// arguments with which they end at once.
pub const COMMANDS: &[CommandLine] = &[
    CommandLine {
        name: "solve",
        operands: &[Input],
        options: &[
            ("--mechanism", Mechanism),
            ("--mechanism", Mechanism),
            ("--float", Nothing),
            ("--exact", Nothing),
            ("--summary", Nothing),
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
            ("--share", Share),
            ("--alpha", Number),
            ("--tolerance", Number),
            ("--seconds", OneOf(&["0", "1", "-1", "x"])),
            ("--polish", Mechanism),
            ("--polish-output", Output),
            ("--plot", Output),
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
            ("--page", Nothing),
            ("--output", Output),
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
            ("--task", Name),
            ("--stopped", Name),
            ("--promises", Nothing),
            ("--settings", Nothing),
            ("--levels", Nothing),
            ("--rule", Named(Rule::NAMES)),
            ("--no-nominal-first", Nothing),
            ("--whole", Nothing),
        ],
    },
    CommandLine {
        name: "verdict",
        operands: &[Input],
        options: &[
            ("--value", OneOf(&["gpu=8", "gpu=1/2", "gpu=0", "x=1", "="])),
            ("--rule", Named(Rule::NAMES)),
            ("--tolerance", Number),
            ("--output", Output),
            ("--window", OneOf(&["7d", "60", "0", "x"])),
            ("--at", OneOf(&["180", "2026-01-31T12:00:00Z", "-1", "x"])),
            ("--half-life", OneOf(&["7d", "60s", "none", "0", "x"])),
            ("--queue", Name),
            ("--wanted", Name),
            ("--weight", OneOf(&["a=2", "b=1/2", "a=-1", "a=0", "="])),
            ("--resource-weight", OneOf(&["gpu=1", "cpu=1/4", "gpu=-1", "x"])),
            ("--coverage", Number),
            ("--reach", OneOf(&["60", "5m", "0", "x"])),
            ("--every", OneOf(&["60", "5m", "0", "x"])),
            ("--capacity", OneOf(&["gpu=16", "gpu=0", "gpu", "x=1"])),
            ("--k", OneOf(&["1", "1/2", "0", "-1", "x"])),
        ],
    },
    CommandLine {
        name: "what-if",
        operands: &[Input],
        options: &[
            ("--value", OneOf(&["gpu=8", "gpu=1/2", "gpu=0", "x=1", "="])),
            (
                "--set",
                OneOf(&[
                    "g0.weight=2",
                    "g0.limit.r0=none",
                    "u0.tasks=5/7",
                    "share.of=surplus",
                    "x",
                    "=",
                    ".",
                ]),
            ),
            ("--add", OneOf(&["s0=4", "s0=0", "s9=1", "s0"])),
            ("--remove", Name),
            ("--submit", Input),
            ("--from", Input),
            ("--rule", Named(Rule::NAMES)),
            ("--tolerance", Number),
            ("--verdict", Nothing),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "usage",
        operands: &[Input],
        options: &[
            ("--law", OneOf(&["slurm", "slurm-ticks", "kueue", "kai", "volcano", "karma", "x"])),
            ("--half-life", OneOf(&["7d", "60s", "1h30m", "none", "0", "-1", "x"])),
            ("--at", OneOf(&["180", "2026-01-31T12:00:00Z", "-1", "x"])),
            ("--since", OneOf(&["0", "60", "x"])),
            ("--every", OneOf(&["60", "5m", "0", "1e9", "x"])),
            ("--weight", OneOf(&["a=2", "b=1/2", "a=-1", "a=0", "="])),
            ("--resource-weight", OneOf(&["gpu=1", "cpu=1/4", "gpu=-1", "x"])),
            ("--entry-penalty", Nothing),
            ("--capacity", OneOf(&["gpu=16", "gpu=0", "gpu", "x=1"])),
            ("--reported", Input),
            ("--window", OneOf(&["7d", "60", "0", "x"])),
            ("--window-start", OneOf(&["0", "100", "x"])),
            ("--k", OneOf(&["1", "1/2", "0", "-1", "x"])),
            ("--alpha", OneOf(&["1", "1/2", "0", "2", "x"])),
            ("--credits", OneOf(&["6", "0", "1/2", "-1", "x"])),
        ],
    },
    CommandLine {
        name: "moves",
        operands: &[Input],
        options: &[
            ("--most", Few),
            ("--pinned", Name),
            ("--priority", Named(&[("strict", ""), ("policy", "")])),
            ("--for", OneOf(&["u0", "u1", "nobody"])),
            ("--pack", Nothing),
            ("--cost", OneOf(&["priority", "age", "none.json"])),
            ("--rule", Named(Rule::NAMES)),
            ("--after", Output),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "plan",
        operands: &[Input],
        options: &[
            ("--value", OneOf(&["gpu=8", "gpu=1/2", "gpu=0", "x=1", "="])),
            ("--offer", OneOf(&["s0", "s0=2", "s1=1/3", "s0=0", "s9", "=", "s0=x"])),
            ("--until", OneOf(&["fair", "guarantees", "starts=all", "starts=u0", "starts=", "x"])),
            ("--removable", Nothing),
            ("--rule", Named(Rule::NAMES)),
        ],
    },
    CommandLine {
        name: "watch",
        operands: &[OneOf(&["--help", "borg", "--keep"])],
        options: &[
            ("--command", OneOf(&[" ", "'"])),
            ("--every", OneOf(&["60s", "0s", "5 fortnights"])),
            ("--timeout", OneOf(&["60s", "-1s", "x"])),
            ("--once", Nothing),
            ("--history", Output),
            ("--keep", OneOf(&["30d", "0d"])),
            ("--listen", OneOf(&["127.0.0.1:0", "localhost", "0.0.0.0:0", "x"])),
            ("--insecure", Nothing),
            ("--rule", Named(Rule::NAMES)),
            ("--tolerance", Number),
            ("--merge", OneOf(&["1%", "0", "2", "x"])),
        ],
    },
    CommandLine { name: "compare", operands: &[Input], options: &[] },
    CommandLine { name: "report", operands: &[Input], options: &[] },
    CommandLine {
        name: "sweep",
        operands: &[Input],
        options: &[
            ("--part", OneOf(&["1/1", "2/3", "3/3", "0/1", "1/0", "4/3", "1", "x/y"])),
            ("--most-bytes", OneOf(&["0", "1kB", "64GiB", "much"])),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "audit mechanism",
        operands: &[Mechanism],
        options: &[
            ("--axiom", Axiom),
            ("--property", OneOf(&["strategy-proof", "population-monotone", "non-bossy"])),
            ("--positive", Nothing),
            ("--unlimited", Nothing),
            ("--everywhere", Nothing),
            ("--instances", Few),
            ("--users", Few),
            ("--servers", Few),
            ("--resources", Few),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "audit matrix",
        operands: &[],
        options: &[
            ("--positive", Nothing),
            ("--unlimited", Nothing),
            ("--everywhere", Nothing),
            ("--resume", Input),
            ("--instances", Few),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "audit preemption",
        operands: &[],
        options: &[
            ("--queues", Few),
            ("--workloads", Few),
            ("--resources", Few),
            ("--amount", Few),
            ("--lendable", Few),
            ("--weight", Few),
            ("--instances", Few),
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
            ("--history", Nothing),
            ("--half-life", OneOf(&["1", "1h,7d", "none", "0", "-1", "x", ""])),
            (
                "--durations",
                OneOf(&["limits", "fixed:1h", "exponential:2h", "30m", "fixed:x", "missing", ""]),
            ),
            ("--job", Input),
            ("--runs", Few),
            ("--horizon", OneOf(&["1h", "0", "x"])),
            ("--rule", OneOf(&["tree", "kai", "x"])),
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
        options: &[
            ("--runs", OneOf(&["0", "1001", "x"])),
            ("--suite", OneOf(&["tiny", ""])),
            ("--data", OneOf(&["missing", ""])),
            ("--problem", Input),
            ("--kind", OneOf(&["pool", "whole", "x"])),
            ("--seconds", OneOf(&["0", "-1", "x"])),
            ("--exact-seconds", OneOf(&["0", "-1", "x"])),
            ("--solver", OneOf(&["mine", "mine=", "mine=x {problem}", "=x {answer}"])),
            ("--output", Output),
        ],
    },
    CommandLine {
        name: "import",
        operands: &[
            OneOf(&[
                "openb",
                "google",
                "azure",
                "slurm",
                "mesos",
                "kubernetes",
                "kueue",
                "kai",
                "volcano",
                "yunikorn",
                "gavel",
                "csv",
            ]),
            Input,
            Input,
        ],
        options: &[
            ("--time", Number),
            ("--by-shape", Nothing),
            ("--merge", OneOf(&["0", "1.5%", "100%", "-1", "x"])),
            ("--accelerators", OneOf(&["v100=1", "v100=1,k80=3", "=", "x"])),
            ("--jobs", OneOf(&["1", "0", "-1", "x"])),
            ("--scenario", Nothing),
            ("--output", Output),
        ],
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

/// The names of input files. Some of these files do not exist.
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

/// Returns the names of all mechanisms, and an unknown name.
fn mechanisms() -> impl Iterator<Item = String> {
    registry::names().into_iter().chain(["fairest"]).map(str::to_owned)
}

/// Returns the names of all axioms, some names with parameters, and unknown names.
fn axioms() -> impl Iterator<Item = String> {
    let more = ["max-min:drfh", "proportional:1", "proportional:1/0", "exact", "ratio:1/2", "fair"];
    Axioms::ALL.into_iter().map(Axioms::name).chain(more).map(str::to_owned)
}

/// Returns the shares that mechanisms equalise, the share of one resource, and an unknown share.
fn shares() -> impl Iterator<Item = String> {
    let of_mechanisms = registry::ALL
        .iter()
        .filter(|of| matches!((of.axiom)(&Allocation::default()), Some((Axioms::MaxMin, _))));
    let more = ["resource:r0", "resource:"].map(str::to_owned);
    of_mechanisms.map(|of| of.info.id.to_owned()).chain(more)
}

/// Returns the arguments of a command that reads and writes files in its folder.
#[must_use]
pub fn random_command(seed: u32) -> Vec<String> {
    let rng = &mut Pcg64::seed_from_u64(seed.into());
    let command = pick(COMMANDS, rng);
    let mut arguments: Vec<String> = command.name.split(' ').map(str::to_owned).collect();
    for operand in command.operands {
        // In some cases an operand is missing or given twice.
        for _ in 0..*pick(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 2], rng) {
            arguments.push(word(*operand, rng));
        }
    }
    for _ in 0..rng.random_range(0..5) {
        let options = match rng.random_range(0..12) {
            0 => pick(COMMANDS, rng).all_options(),
            1 | 2 => GLOBAL.iter().map(|(name, operand)| ((*name).to_owned(), *operand)).collect(),
            _ => command.all_options(),
        };
        let Some((name, operand)) = options.choose(rng).cloned() else { continue };
        arguments.push(name);
        if operand != Nothing {
            arguments.push(word(operand, rng));
        }
    }
    let needed: &[(&str, &str)] = match command.name {
        "solve" => &[("--mechanism", "drfh")],
        "export" => &[("--to", "lp")],
        "usage" => &[("--law", "slurm"), ("--half-life", "7d")],
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

/// Adds options to a command that would otherwise run for minutes.
pub fn bounded(arguments: &mut Vec<String>) {
    let is_matrix = arguments.iter().any(|given| given == "matrix" || given == "--matrix");
    let bounds: &[(&str, &str)] = match arguments.first().map_or("", String::as_str) {
        // A matrix takes minutes. With an option that it does not have, the command is refused.
        "audit" if is_matrix => &[("--mechanism", "drfh")],
        "audit" => &[("--instances", "4")],
        "hunt" => &[("--steps", "100"), ("--seconds", "2")],
        "compare" | "report" => &[("--seconds", "2")],
        // Without this word, the command would reproduce all results.
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
    let any = |names: &mut dyn Iterator<Item = String>, rng: &mut Pcg64| {
        pick(&names.collect::<Vec<_>>(), rng).clone()
    };
    let words = match operand {
        Nothing => return String::new(),
        Mechanism => return any(&mut mechanisms(), rng),
        Axiom => return any(&mut axioms(), rng),
        Share => return any(&mut shares(), rng),
        Named(names) => return any(&mut names.iter().map(|(name, _)| (*name).to_owned()), rng),
        Number => NUMBERS,
        Few => &["1", "2", "3", "0", "-1", "x", "5"],
        OneOf(words) => words,
        Input => INPUTS,
        Output => OUTPUTS,
        Name => NAMES,
    };
    (*pick(words, rng)).to_owned()
}
