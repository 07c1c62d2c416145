//! Proofs about all configurations of a server, in a form that needs no search.
//!
//! # No configuration is worth more than a bound
//! The claim, for one pool: `sum_j beta_j k_j <= pi` for every feasible `k`, with `beta >= 0`
//! ([`PricingProof`]). Let `unit` be the greatest rational of which all `beta_j` are multiples (1 where
//! all are 0). Every value is a multiple of it, so that a bound `B` on the values proves the claim as
//! soon as `floor(B / unit) <= floor(pi / unit)`.
//!
//! The nodes of a tree stand in preorder. A node is a box `l_j <= k_j <= u_j`; the first has `l = 0` and
//! no upper bound. [`TreeNode::Split`] is followed by the subtree of `k_job >= at` and then by that of
//! `k_job <= at - 1`. At a leaf let `c_r` be the capacity, rounded down to a multiple of the greatest
//! common divisor of the demands `d_jr` of all types `j` (where no type demands the resource: the
//! capacity as it is), lower each `u_j` to what fits beside the lower bounds,
//! `l_j + floor(min_r (c_r - sum_h d_hr l_h) / d_jr)`, and take the multipliers `m_r >= 0` of the leaf.
//! With `v_j = beta_j - sum_r m_r d_jr`,
//!
//! `sum_j beta_j k_j = sum_j v_j k_j + sum_r m_r sum_j d_jr k_j
//!                  <= sum_j max(v_j l_j, v_j u_j) + sum_r m_r c_r =: B`
//!
//! for every feasible `k` in the box, and the leaf holds when `B` proves the claim. A box that holds no
//! `k`, since its lower bounds do not fit or exceed its upper bounds, needs no more than any leaf.
//!
//! # A configuration is the first
//! The claim ([`FirstProof`]): of all feasible configurations of the open types `k` is the first in the
//! order of Reservation, Definition 2.2: `k` before `k'` if `U(k) > U(k')`, or if they are equal and
//! `k_j > k'_j` at the smallest `j` where they differ. It is two claims, each with a tree:
//!
//! - *value*: no configuration is worth more than `U(k)`. A [`PricingProof`] with `beta_j = u_j` for the
//!   open types and 0 for the others, since a configuration loses nothing by dropping those.
//! - *order*: of the configurations that are greater at the first difference, none is worth as much.
//!   The types that are not open have `u_j = 0` from the root on. A leaf holds when `B` proves a value
//!   below `U(k)`: `floor(B / unit) <= U(k) / unit - 1`; or when the corner `u` of its box, with `u`
//!   lowered as above, is `k` or smaller at the first difference. Every `k'` in the box is at most `u` in
//!   every component, hence not greater than `u` at the first difference, hence not greater than `k`.
//!
//! The two claims together say that nothing stands before `k`. One tree over the profits
//! `u_j M + product of (n_h + 1) over h > j`, with `n_h` the most jobs of type `h` that fit and `M` the
//! product over all types, would say the same, but its bounds would have to be tight to one part in
//! `M U(k)`, which makes it as large as the number of configurations that are worth `U(k)`.

use rug::Rational;

/// Most cells of a dynamic programme that the checker runs: at most 160 MB, 16 bytes for each.
pub const MOST_CELLS: usize = 10_000_000;

/// `(resource of the problem, multiplier)` of those that are not 0, ascending by resource.
pub type Multipliers = Vec<(usize, Rational)>;

/// Why no configuration is worth more than the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PricingProof {
    /// A branch tree.
    Tree {
        /// The multipliers that the leaves name, in profit per unit of the resource.
        multipliers: Vec<Multipliers>,
        /// The nodes in preorder.
        nodes: Vec<TreeNode>,
    },
    /// A dynamic programme over so many cells decides it (at most [`MOST_CELLS`]); the checker runs it.
    DynamicProgramme {
        /// Product over the resources of capacity plus one, in units of the greatest common divisor
        /// of the demands.
        cells: usize,
    },
    /// The stated configurations decide it; the checker goes through them.
    Listed,
}

impl PricingProof {
    /// Nodes of its tree, if it has one.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        if let Self::Tree { nodes, .. } = self { nodes.len() } else { 0 }
    }
}

impl FirstProof {
    /// Nodes of its trees, if it has any.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        if let Self::Tree { value, order } = self { value.nodes.len() + order.nodes.len() } else { 0 }
    }
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

/// A branch tree, as in [`PricingProof::Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// By number: reward per unit of the resource.
    pub multipliers: Vec<Multipliers>,
    /// The nodes in preorder.
    pub nodes: Vec<TreeNode>,
}

/// Why a configuration is the first of those of the open types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstProof {
    /// Two branch trees.
    Tree {
        /// Nothing is worth more.
        value: Tree,
        /// Nothing that is greater at the first difference is worth as much.
        order: Tree,
    },
    /// A dynamic programme over so many cells decides it, as in [`PricingProof::DynamicProgramme`].
    DynamicProgramme {
        /// As there.
        cells: usize,
    },
    /// The stated configurations decide it; the checker goes through them.
    Listed,
    /// An earlier step of the certificate has the same configuration, the same open types, and a pool
    /// of the same capacities.
    Known,
}
