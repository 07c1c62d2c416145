//! Proofs about all configurations of a server, which `evenhand-exact` defines and checks.

pub use evenhand_exact::ratio::{FirstProof, Multipliers, PricingProof, Tree, TreeNode};
