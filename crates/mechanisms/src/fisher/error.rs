//! Why an optimum in floating point did not lead to an exact equilibrium of a linear Fisher market.

use evenhand_exact::{InstanceError, Refusal};
use thiserror::Error;

/// No equilibrium was found.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FisherError {
    /// Forests of purchases were solved, and none of them is an exact equilibrium.
    #[error("no forest of purchases near the optimum solves the market exactly")]
    Inexact,
    /// No forest was solved.
    #[error("no forest of purchases near the optimum solves the market exactly: {0}")]
    Unsolved(Unsolved),
}

/// What is wrong with the purchases that were read off an optimum in floating point.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Unsolved {
    /// The optimum places a user on a class on which it may not run.
    #[error("a user is where it cannot run")]
    CannotRun,
    /// The optimality conditions are not linear there.
    #[error("a user pays for several resources of a class")]
    SeveralPrices,
    /// A node of the forest has no edge.
    #[error("somebody buys nothing, or nobody a class")]
    NoPurchase,
    /// A user that could buy more has a class for free.
    #[error("a user that is not satisfied pays nothing")]
    PaysNothing,
    /// A user without a limit has a class for free.
    #[error("a user without a limit is free")]
    FreeWithoutLimit,
    /// A user has all its tasks, and floating point places none of them.
    #[error("a user is satisfied and buys nowhere")]
    BuysNowhere,
    /// All users of a tree have all their tasks and do not fill its rows exactly.
    #[error("the prices of a tree are not told by its money")]
    NoAnchor,
    /// The money that is left for a purchase is less than nothing.
    #[error("a purchase of a tree is negative")]
    NegativePurchase,
    /// What the users of a tree spend is not what its rows cost.
    #[error("the money of a tree does not come out even")]
    Uneven,
    /// The user that tells the prices of a tree has no tasks.
    #[error("a user that buys has nothing")]
    NothingBought,
    /// A root that the exponent asks for is irrational.
    #[error("the tasks of a tree have no rational ratio")]
    Irrational,
    /// Users with all their tasks use up what a tree has to sell.
    #[error("there is nothing left for those that are not satisfied")]
    NothingLeft,
    /// A row or a limit is exceeded.
    #[error("the purchases do not fit")]
    Infeasible,
    /// No prices near those of the forest prove a gap.
    #[error("the prices are not those of an equilibrium")]
    NoPrices,
    /// The allocation cannot be judged.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The gap cannot be proven.
    #[error(transparent)]
    Refusal(#[from] Refusal),
}
