//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Settings of HiGHS. Models are scaled to values near 1, so the tolerances are absolute.
    Highs as HIGHS {
        /// The tolerance of rows and of reduced costs.
        tolerance: f64 = 1e-9;
        /// The tolerance that is tried after HiGHS fails with [`Highs::tolerance`].
        wide_tolerance: f64 = 1e-7;
        /// The tolerances that are tried for a mixed-integer programme if HiGHS finds no solution otherwise. They are
        /// tried in this order.
        wider_tolerances: [f64; 2] = [1e-7, 1e-6];
    }

    /// Settings of the simplex method in rationals, from a basis that HiGHS refines.
    Exact as EXACT {
        /// The number of exact pivots after which the search ends with an error.
        max_pivots: usize = 10_000;
        /// The number of degenerate pivots after which pivots are chosen by the least index. This
        /// rule cannot cycle.
        patience: usize = 40;
        /// The number of pivots after which the basis is factored again.
        most_updates: usize = 20;
        /// The basis is factored again when the size of the updates in bits exceeds this multiple of the size of the
        /// basis.
        most_growth: u64 = 8;
        /// The largest number of refinement steps. Each step magnifies differences by up to [`Exact::magnification`].
        /// Two steps are usual.
        refinements: usize = 6;
        /// The factor by which one step may magnify the remaining error of the previous step.
        magnification: f64 = 1e12;
        /// The allowed violation if numbers are known only to about 20 digits.
        unknown: f64 = 1e-18;
    }
}
