//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// What HiGHS is asked for. Models are scaled to values near 1, so that tolerances are absolute.
    Highs as HIGHS {
        /// Feasibility of rows and of reduced costs.
        tolerance: f64 = 1e-9;
        /// The same where HiGHS fails otherwise.
        wide_tolerance: f64 = 1e-7;
        /// Tolerances of a mixed-integer programme for which HiGHS finds no solution otherwise, in turn.
        wider_tolerances: [f64; 2] = [1e-7, 1e-6];
    }

    /// The simplex method in rationals, from a basis that HiGHS refines.
    Exact as EXACT {
        /// Exact pivots after which a basis is given up.
        max_pivots: usize = 10_000;
        /// Degenerate pivots after which the least index decides, which cannot cycle.
        patience: usize = 40;
        /// Pivots after which the basis is factored anew.
        most_updates: usize = 20;
        /// Bits of the updates, as a multiple of the bits of the basis, that call for new factors.
        most_growth: u64 = 8;
        /// Steps of refinement, each of which magnifies by up to [`Exact::magnification`]; two are usual.
        refinements: usize = 6;
        /// Factor by which one step may magnify what the last one left.
        magnification: f64 = 1e12;
        /// By how much a basis may violate what is only known to some 20 digits.
        unknown: f64 = 1e-18;
    }
}
