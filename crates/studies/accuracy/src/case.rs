//! Cases: a problem and the kind of answer that is requested.

use evenhand_exact::{Prices, Share, Tasks};
use evenhand_lp::model::Model;
use evenhand_problem::format::{problem_sha256, reservation_to_json};
use evenhand_problem::number;
use evenhand_problem::{Problem, Rational, Reservation, Sharing};
use sha2::{Digest, Sha256};

/// The kind of answer that a case requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The proportionally fair allocation of one pool.
    Pool,
    /// The proportionally fair allocation of a cluster.
    Proportional,
    /// The alpha-fair allocation of a cluster.
    Alpha,
    /// The max-min allocation by dominant shares, with all its levels.
    MaxMinDrfh,
    /// The max-min allocation by task shares, with all its levels.
    MaxMinTsf,
    /// The largest weighted number of tasks.
    Utilitarian,
    /// The solution of the configuration programme of a reservation problem.
    Configurations,
    /// The allocation of time-shared PS-DSF, a linear Fisher market.
    Market,
    /// The allocation of PS-DSF with divided resources.
    PsDsf,
    /// The limit of the trajectory of No Justified Complaints.
    Njc,
    /// An allocation of whole tasks, which is compared with the divisible allocation.
    Whole,
    /// The optimum of a linear programme that is not derived from an allocation problem.
    LinearProgramme,
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
    Whole = "whole", "whole tasks next to their divisible ideal (drfh)";
    LinearProgramme = "linear-programme", "a linear programme of any kind, from an MPS file";
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
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
        Self::LinearProgramme,
    ];

    /// Returns the mechanism whose answer is requested. Returns `None` for reservation problems and linear programmes.
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
            Self::Configurations | Self::LinearProgramme => return None,
        })
    }

    /// Returns `true` if the answer maximises a weighted sum of utilities of the tasks.
    #[must_use]
    pub fn is_sum(self) -> bool {
        matches!(self, Self::Pool | Self::Proportional | Self::Alpha | Self::Njc | Self::Market)
    }

    /// Returns `true` if the answer solves one or several linear programmes.
    #[must_use]
    pub fn is_linear(self) -> bool {
        self.share().is_some()
            || matches!(self, Self::Utilitarian | Self::Configurations | Self::LinearProgramme)
    }

    /// Returns the share whose levels are requested, if any.
    #[must_use]
    pub fn share(self) -> Option<Share> {
        match self {
            Self::MaxMinDrfh | Self::Whole => Some(Share::Dominant),
            Self::MaxMinTsf => Some(Share::TaskShare),
            _ => None,
        }
    }

    /// Returns how servers are shared.
    #[must_use]
    pub fn sharing(self) -> Sharing {
        if self == Self::Market { Sharing::Tdm } else { Sharing::Rdm }
    }
}

/// A problem and the kind of answer that is requested.
#[derive(Debug, Clone)]
pub struct Case {
    /// A short name, such as `random-5x2`.
    pub name: String,
    /// The kind of answer that is requested.
    pub kind: Kind,
    /// The purpose of the case in one line.
    pub note: &'static str,
    /// The problem.
    pub input: Input,
    /// The exponent of [`Kind::Alpha`]; 1 for other kinds.
    pub alpha: Rational,
    /// The known optimum, if the problem was constructed from an optimum.
    pub planted: Option<Planted>,
}

/// A problem of one of the types.
#[derive(Debug, Clone)]
pub enum Input {
    /// A problem of allocation.
    Allocation(Problem),
    /// A problem of reservation.
    Reservation(Reservation),
    /// A linear programme of any kind.
    Programme(Model),
}

/// The optimum from which a problem was constructed: exact tasks, and the prices at which every user chooses exactly
/// these tasks.
#[derive(Debug, Clone)]
pub struct Planted {
    /// The tasks by user, sparse.
    pub tasks: Tasks,
    /// The prices of rows, and of the users' limits.
    pub prices: Prices,
}

impl Case {
    /// Returns the allocation problem, if the case has one.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match &self.input {
            Input::Allocation(problem) => Some(problem),
            Input::Reservation(_) | Input::Programme(_) => None,
        }
    }

    /// Returns the reservation problem, if the case has one.
    #[must_use]
    pub fn reservation(&self) -> Option<&Reservation> {
        match &self.input {
            Input::Reservation(problem) => Some(problem),
            Input::Allocation(_) | Input::Programme(_) => None,
        }
    }

    /// Returns the linear programme, if the case is a linear programme.
    #[must_use]
    pub fn programme(&self) -> Option<&Model> {
        match &self.input {
            Input::Programme(model) => Some(model),
            Input::Allocation(_) | Input::Reservation(_) => None,
        }
    }

    /// Returns the numbers of users and server classes, of job types and pools, or of rows and columns.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        match &self.input {
            Input::Allocation(problem) => (problem.n_users(), problem.n_servers()),
            Input::Reservation(problem) => (problem.n_types(), problem.n_pools()),
            Input::Programme(model) => (model.rows.len(), model.columns.len()),
        }
    }

    /// Returns a name for files: the kind, the exponent of alpha fairness, and the beginning of the problem's hash.
    #[must_use]
    pub fn file_name(&self) -> String {
        let exponent = match self.kind == Kind::Alpha {
            true => format!("-{}", number::format(&self.alpha).replace('/', "-")),
            false => String::new(),
        };
        format!("{}{exponent}-{}", self.kind, self.sha256().get(..16).unwrap_or_default())
    }

    /// Returns the hash of the problem in its canonical form.
    #[must_use]
    pub fn sha256(&self) -> String {
        match &self.input {
            Input::Allocation(problem) => problem_sha256(problem),
            Input::Reservation(problem) => sha256(&reservation_to_json(problem)),
            Input::Programme(model) => sha256(&evenhand_lp::json::write(model)),
        }
    }
}

/// Returns the hash of a text in hexadecimal digits.
#[must_use]
pub fn sha256(text: &str) -> String {
    let digits = Sha256::digest(text);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}
