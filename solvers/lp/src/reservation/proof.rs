//! Proofs that no configuration is worth more than a bound, in a form that needs no search.
//!
//! The claim, for one pool: `sum_j beta_j k_j <= pi` for every feasible `k`, with `beta >= 0`. With
//! `D` the least integer for which all `D beta_j / g` are integers (`g` the greatest common divisor
//! of the `beta_j`; `unit` = the greatest rational of which all `beta_j` are multiples), every value
//! is a multiple of `unit`, so a bound `B` on the values proves the claim as soon as
//! `unit floor(B / unit) <= pi`.
//!
//! # Tree
//! The nodes stand in preorder. A node is a box `l_j <= k_j <= u_j`; the first has `l = 0` and no
//! upper bound. [`TreeNode::Split`] is followed by the subtree of `k_job >= at` and then by that of
//! `k_job <= at - 1`. At a leaf let `c_r` be the capacity, rounded down to a multiple of the greatest
//! common divisor of the demands `d_jr` over all types `j`
//! ([`Reservation::whole_capacity`](evenhand_problem::Reservation::whole_capacity)), lower each `u_j`
//! to what fits beside the lower bounds, `l_j + floor(min_r (c_r - sum_h d_hr l_h) / d_jr)`, and take
//! the multipliers `m_r >= 0` of the leaf. With `v_j = beta_j - sum_r m_r d_jr`,
//!
//! `sum_j beta_j k_j = sum_j v_j k_j + sum_r m_r sum_j d_jr k_j
//!                  <= sum_j max(v_j l_j, v_j u_j) + sum_r m_r c_r =: B`
//!
//! for every feasible `k` in the box, and the leaf holds when `B` proves the claim. A box whose lower
//! bounds do not fit holds no `k` and needs no more than any leaf.

use rug::Rational;

/// Why no configuration is worth more than the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PricingProof {
    /// A branch tree.
    Tree {
        /// The multipliers that the leaves name, each by resource of the problem, in profit per unit
        /// of the resource.
        multipliers: Vec<Vec<Rational>>,
        /// The nodes in preorder.
        nodes: Vec<TreeNode>,
    },
    /// A dynamic programme over so many cells decides it (see
    /// [`MOST_CELLS`](super::MOST_CELLS)); the checker runs it.
    DynamicProgramme {
        /// Product over the resources of capacity plus one, in units of the greatest common divisor
        /// of the demands.
        cells: usize,
    },
    /// The stated configurations decide it; the checker goes through them.
    Listed,
}

/// A node of a branch tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeNode {
    /// First `k_job >= at`, then `k_job <= at - 1`.
    Split {
        /// The type.
        job: usize,
        /// At least 1.
        at: u64,
    },
    /// A box whose value the multipliers bound.
    Leaf {
        /// Which.
        multipliers: usize,
    },
}
