//! What is solved: a problem, and what is asked about it.

use evenhand_exact::{Prices, Share, Tasks};
use evenhand_problem::format::{problem_sha256, reservation_to_json};
use evenhand_problem::number;
use evenhand_problem::{Problem, Rational, Reservation, Sharing};
use sha2::{Digest, Sha256};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The proportionally fair allocation of one pool.
    Pool,
    /// The same of a cluster.
    Proportional,
    /// The alpha-fair allocation of a cluster.
    Alpha,
    /// All levels of max-min by dominant shares.
    MaxMinDrfh,
    /// All levels of max-min by task shares.
    MaxMinTsf,
    /// The most tasks by weight.
    Utilitarian,
    /// The configuration programme of a reservation problem.
    Configurations,
    /// Time-shared PS-DSF, a linear Fisher market.
    Market,
    /// PS-DSF where resources are divided.
    PsDsf,
    /// The limit of the trajectory of No Justified Complaints.
    Njc,
    /// Whole tasks beside their divisible ideal.
    Whole,
}

evenhand_problem::names! { Kind:
    Pool = "pool", "one pool, proportional fairness";
    Proportional = "proportional", "a cluster, proportional fairness";
    Alpha = "alpha", "a cluster, alpha fairness";
    MaxMinDrfh = "max-min-drfh", "all levels of dominant shares, by linear programmes";
    MaxMinTsf = "max-min-tsf", "all levels of task shares, by linear programmes";
    Utilitarian = "utilitarian", "the most tasks by weight, a linear programme";
    Configurations = "configurations", "the configuration programme of a reservation problem";
    Market = "market", "PS-DSF with servers shared by time, a linear Fisher market";
    PsDsf = "ps-dsf", "PS-DSF with resources divided, by sweeps";
    Njc = "njc", "the limit of the trajectory of NJC";
    Whole = "whole", "whole tasks beside their divisible ideal (drfh)";
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Pool,
        Self::Proportional,
        Self::Alpha,
        Self::MaxMinDrfh,
        Self::MaxMinTsf,
        Self::Utilitarian,
        Self::Configurations,
        Self::Market,
        Self::PsDsf,
        Self::Njc,
        Self::Whole,
    ];

    /// The mechanism whose answer is asked for; none of reservation problems.
    #[must_use]
    pub fn mechanism(self) -> Option<&'static str> {
        Some(match self {
            Self::Pool | Self::Proportional | Self::Njc => "proportional",
            Self::Alpha => "alpha",
            Self::MaxMinDrfh | Self::Whole => "drfh",
            Self::MaxMinTsf => "tsf",
            Self::Utilitarian => "utilitarian",
            Self::Market => "ps-dsf-tdm",
            Self::PsDsf => "ps-dsf",
            Self::Configurations => return None,
        })
    }

    /// Whether a weighted sum of utilities of the tasks is greatest.
    #[must_use]
    pub fn is_sum(self) -> bool {
        matches!(self, Self::Pool | Self::Proportional | Self::Alpha | Self::Njc | Self::Market)
    }

    /// Whether the answer is that of one or several linear programmes.
    #[must_use]
    pub fn is_linear(self) -> bool {
        self.share().is_some() || matches!(self, Self::Utilitarian | Self::Configurations)
    }

    /// The share whose levels are asked for.
    #[must_use]
    pub fn share(self) -> Option<Share> {
        match self {
            Self::MaxMinDrfh | Self::Whole => Some(Share::Dominant),
            Self::MaxMinTsf => Some(Share::TaskShare),
            _ => None,
        }
    }

    /// How servers are shared.
    #[must_use]
    pub fn sharing(self) -> Sharing {
        if self == Self::Market { Sharing::Tdm } else { Sharing::Rdm }
    }
}

/// A problem, and what is asked about it.
#[derive(Debug, Clone)]
pub struct Case {
    /// A short name.
    pub name: String,
    /// What is asked.
    pub kind: Kind,
    /// What it is for, in a line.
    pub note: &'static str,
    /// The problem.
    pub input: Input,
    /// The exponent of [`Kind::Alpha`]; 1 elsewhere.
    pub alpha: Rational,
    /// The optimum around which the problem was made.
    pub planted: Option<Planted>,
}

/// A problem of either sort.
#[derive(Debug, Clone)]
pub enum Input {
    /// Of allocation.
    Allocation(Problem),
    /// Of reservation.
    Reservation(Reservation),
}

/// An optimum that is known because the problem was made for it: exact tasks, and the prices at which
/// everybody wants just them.
#[derive(Debug, Clone)]
pub struct Planted {
    /// By user, sparse.
    pub tasks: Tasks,
    /// Of rows, and of the users' limits.
    pub prices: Prices,
}

impl Case {
    /// The allocation problem, if it is one.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match &self.input {
            Input::Allocation(problem) => Some(problem),
            Input::Reservation(_) => None,
        }
    }

    /// The reservation problem, if it is one.
    #[must_use]
    pub fn reservation(&self) -> Option<&Reservation> {
        match &self.input {
            Input::Reservation(problem) => Some(problem),
            Input::Allocation(_) => None,
        }
    }

    /// Users or job types, and server classes or pools.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        match &self.input {
            Input::Allocation(problem) => (problem.n_users(), problem.n_servers()),
            Input::Reservation(problem) => (problem.n_types(), problem.n_pools()),
        }
    }

    /// A name for files: what is asked, with the exponent of alpha fairness, and the beginning of the problem's hash.
    #[must_use]
    pub fn file_name(&self) -> String {
        let exponent = match self.kind == Kind::Alpha {
            true => format!("-{}", number::format(&self.alpha).replace('/', "-")),
            false => String::new(),
        };
        format!("{}{exponent}-{}", self.kind, self.sha256().get(..16).unwrap_or_default())
    }

    /// The hash of the problem in its canonical form.
    #[must_use]
    pub fn sha256(&self) -> String {
        match &self.input {
            Input::Allocation(problem) => problem_sha256(problem),
            Input::Reservation(problem) => sha256(&reservation_to_json(problem)),
        }
    }
}

/// The hash of a text, in hexadecimal digits.
#[must_use]
pub fn sha256(text: &str) -> String {
    let digits = Sha256::digest(text);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}
