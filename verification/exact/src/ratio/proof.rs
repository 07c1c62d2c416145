//! Proofs of statements about all configurations of a server, in a form that can be checked without a search.
//!
//! # No configuration is worth more than a bound
//! The claim, for one pool, is `sum_j beta_j k_j <= pi` for every feasible `k`, with `beta >= 0` ([`PricingProof`]).
//! Let `unit` be the greatest rational number such that all `beta_j` are multiples of it (1 if all are 0). Every value
//! is a multiple of `unit`. So a bound `B` on the values proves the claim if `floor(B / unit) <= floor(pi / unit)`.
//!
//! The nodes of a tree are listed in preorder. A node is a box `l_j <= k_j <= u_j`; the first node has `l = 0` and no
//! upper bound. [`TreeNode::Split`] is followed by the subtree of `k_job >= at`, and then by the subtree of
//! `k_job <= at - 1`. At a leaf, let `c_r` be the capacity, rounded down to a multiple of the greatest common divisor
//! of the demands `d_jr` of all types `j`. If no type demands the resource, `c_r` is the capacity as it is. Each `u_j`
//! is lowered to the number of jobs that fit together with the lower bounds,
//! `l_j + floor(min_r (c_r - sum_h d_hr l_h) / d_jr)`. Let `m_r >= 0` be the multipliers of the leaf. With
//! `v_j = beta_j - sum_r m_r d_jr`,
//!
//! `sum_j beta_j k_j = sum_j v_j k_j + sum_r m_r sum_j d_jr k_j <= sum_j max(v_j l_j, v_j u_j) + sum_r m_r c_r =: B`
//!
//! for every feasible `k` in the box, and the leaf is verified if `B` proves the claim. A box contains no `k` if its
//! lower bounds do not fit or exceed its upper bounds. Such a box is verified by any leaf.
//!
//! # A configuration is the first
//! The claim ([`FirstProof`]) is that `k` is the first of all feasible configurations of the open types, in the order
//! of Reservation, Definition 2.2: `k` comes before `k'` if `U(k) > U(k')`, or if these rewards are equal and
//! `k_j > k'_j` at the smallest `j` where `k` and `k'` differ. This claim consists of two claims, each with a tree:
//!
//! - *value*: no configuration is worth more than `U(k)`. This is a [`PricingProof`] with `beta_j = u_j` for the open
//!   types and 0 for the others, because a configuration loses nothing by dropping the others.
//! - *order*: no configuration that is greater at the first difference is worth as much. The types that are not open
//!   have `u_j = 0` from the root on. A leaf is verified in two cases. In the first case `B` proves a value below
//!   `U(k)`, that is, `floor(B / unit) <= U(k) / unit - 1`. In the second case the corner `u` of its box, with `u`
//!   lowered as above, is `k` or smaller at the first difference. Every `k'` in the box is at most `u` in every
//!   component, hence not greater than `u` at the first difference, hence not greater than `k`.
//!
//! Together, the two claims say that no configuration comes before `k`. One tree over the profits
//! `u_j M + product of (n_h + 1) over h > j` would say the same, where `n_h` is the most jobs of type `h` that fit, and
//! `M` is the product over all types. But its bounds would have to be tight to one part in `M U(k)`, and the tree would
//! be as large as the number of configurations that are worth `U(k)`.

use rug::Rational;

/// The largest number of cells of a dynamic programme that the checker runs. With 16 bytes for each cell, the table
/// takes at most 160 MB.
pub const MOST_CELLS: usize = 10_000_000;

/// The multipliers `(resource of the problem, multiplier)` that are not 0, ascending by resource.
pub type Multipliers = Vec<(usize, Rational)>;

/// A proof that no configuration is worth more than a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PricingProof {
    /// A branch tree.
    Tree {
        /// The lists of multipliers to which the leaves refer, in profit per unit of the resource.
        multipliers: Vec<Multipliers>,
        /// The nodes in preorder.
        nodes: Vec<TreeNode>,
    },
    /// A dynamic programme with this number of cells (at most [`MOST_CELLS`]), which the checker runs.
    DynamicProgramme {
        /// The product, over the resources, of the capacity plus one, in units of the greatest common divisor of the
        /// demands.
        cells: usize,
    },
    /// The list of stated configurations, each of which the checker examines.
    Listed,
}

impl PricingProof {
    /// Returns the number of nodes of the tree, or 0 without a tree.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        if let Self::Tree { nodes, .. } = self { nodes.len() } else { 0 }
    }
}

impl FirstProof {
    /// Returns the number of nodes of the two trees, or 0 without trees.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        if let Self::Tree { value, order } = self { value.nodes.len() + order.nodes.len() } else { 0 }
    }
}

/// A node of a branch tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeNode {
    /// A split: first `k_job >= at`, then `k_job <= at - 1`.
    Split {
        /// The type.
        job: usize,
        /// The number of jobs, at least 1.
        at: u64,
    },
    /// A box whose value is bounded with multipliers.
    Leaf {
        /// The position of the multipliers in the list of the tree.
        multipliers: usize,
    },
}

/// A branch tree, as in [`PricingProof::Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// The lists of multipliers, in reward per unit of the resource.
    pub multipliers: Vec<Multipliers>,
    /// The nodes in preorder.
    pub nodes: Vec<TreeNode>,
}

/// A proof that a configuration is the first of all configurations of the open types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstProof {
    /// Two branch trees.
    Tree {
        /// The tree that proves that no configuration is worth more.
        value: Tree,
        /// The tree that proves that no configuration that is greater at the first difference is worth as much.
        order: Tree,
    },
    /// A dynamic programme with this number of cells, as in [`PricingProof::DynamicProgramme`].
    DynamicProgramme {
        /// The number of cells, as in [`PricingProof::DynamicProgramme`].
        cells: usize,
    },
    /// The list of stated configurations, each of which the checker examines.
    Listed,
    /// A reference to an earlier step of the certificate with the same configuration, the same open types, and a pool
    /// with the same capacities.
    Known,
}
