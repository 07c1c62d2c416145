//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Settings of HiGHS. Models are scaled to values near 1, so the tolerances are absolute.
    Highs as HIGHS {
        /// The tolerance of rows and of reduced costs.
        tolerance: f64 = 1e-9;
        /// The tolerance that is tried after HiGHS fails with the first one.
        wide_tolerance: f64 = 1e-7;
        /// The tolerances of a mixed-integer programme for which HiGHS finds no solution otherwise,
        /// in turn.
        wider_tolerances: [f64; 2] = [1e-7, 1e-6];
    }

    /// Settings of the simplex method in rationals, from a basis that HiGHS refines.
    Exact as EXACT {
        /// The number of exact pivots after which a basis is given up.
        max_pivots: usize = 10_000;
        /// The number of degenerate pivots after which pivots are chosen by the least index. This
        /// rule cannot cycle.
        patience: usize = 40;
        /// The number of pivots after which the basis is factored again.
        most_updates: usize = 20;
        /// The size of the updates in bits, as a multiple of that of the basis, at which the basis
        /// is factored again.
        most_growth: u64 = 8;
        /// The number of refinement steps. Each magnifies by up to [`Exact::magnification`], and
        /// two are usual.
        refinements: usize = 6;
        /// The factor by which one step may magnify the remaining error of the previous step.
        magnification: f64 = 1e12;
        /// The allowed violation of numbers that are known only to some 20 digits.
        unknown: f64 = 1e-18;
    }
}
