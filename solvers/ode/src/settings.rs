//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// The interior point method on clusters; [`crate::cluster::Settings`] says when it stops.
    Interior as INTERIOR {
        /// Residual at which the next exponent may be tried.
        rough: f64 = 1e-2;
        /// Residual of the user that is worst off, relative to its own worth, with which a point counts as
        /// solved.
        of_one_user: f64 = 1e-5;
        /// Residual of rounding.
        least_residual: f64 = 1e-17;
        /// Part of the way to the wall that a step goes.
        not_quite: f64 = 0.999;
        /// Steps shorter than this are replaced by steps towards the middle of the path.
        short: f64 = 0.3;
        /// The product that a step aims at is at most this part of the present one.
        most_centred: f64 = 0.5;
        /// Corrections of one step towards the centre, at most: each costs a solution with the factors that are there.
        corrections: usize = 3;
        /// Products of pairs that need no correction, in units of the product that is aimed at.
        neighbourhood: (f64, f64) = (0.1, 10.0);
        /// A correction is to lengthen the step by this.
        longer: f64 = 0.3;
        /// Part of that with which the next correction is worth its time.
        gain: f64 = 0.1;
        /// Change of the logarithm of a marginal utility in one step, at most.
        most_change: f64 = 2.0;
        /// Least part of `sum lambda U` that residuals are relative to.
        least_priced: f64 = 1e-6;
        /// A user expected to have all its tasks is worth at most this times what it pays: a larger weight
        /// would change nothing but the digits that are lost.
        most_worth: f64 = 100.0;
        /// Free part of the task limit of a user that has all its tasks.
        satisfied: f64 = 1e-6;
        /// Part of a user's utility that a start spreads evenly over its placements.
        even: f64 = 0.02;
        /// Least cost of a unit of utility, in units of its marginal utility.
        least_cost: f64 = 1e-3;
        /// Users start at least at `exp` of this, relative to the largest.
        least_start: f64 = -80.0;
        /// Added to the unit diagonal where rounding has cost the matrix its positivity.
        ridges: [f64; 6] = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7];
        /// Rows beyond which the dense matrix of a Newton step is refused (a gigabyte).
        most_rows: usize = 10_000;
    }

    /// Newton's method on the dual function of a cluster.
    Dual as DUAL {
        /// Smallest `tau`: prices are known to `1e-16` of themselves, places to `1e-16 / tau`.
        least_tau: f64 = 1e-9;
        /// Smallest part of a price that is its `mu`.
        least_part: f64 = 1e-13;
        /// Smallest `mu`, in units of the prices of the start: what is worth nothing must not underflow.
        least_barrier: f64 = 1e-150;
        /// Stages; in each the part of a price that is its `mu` falls by [`SMALLER`] until [`Dual::least_part`].
        stages: usize = 36;
        /// Factor from stage to stage; `tau` falls by its root until [`Dual::least_tau`].
        smaller: f64 = 0.316;
        /// Rounding of a load for `tau = 1`.
        rounding: f64 = 4e-16;
        /// Newton steps in one stage, at most.
        steps: usize = 60;
        /// Steps that do not halve the error after which only rounding is left of it.
        idle: usize = 3;
        /// The error below which that may be so.
        nearly: f64 = 1e-6;
        /// Steps in one search along a line, at most.
        halvings: usize = 40;
        /// Rows and limits whose prices are unknown, at most: the matrix of a step is dense.
        most_prices: usize = 400;
        /// Relative error of a row that is used up beyond which the result does not count as solved.
        rough: f64 = 1e-6;
        /// Added to the unit diagonal of the matrix of a step.
        ridges: [f64; 6] = [1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5];
    }

    /// The central path of one pool; [`crate::path::PathSettings`] says when it ends.
    Path as PATH {
        /// The first attempt to end the path is made below this `mu`.
        first_attempt: f64 = 1e-2;
        /// A failed attempt puts the next off by this factor.
        next_attempt: f64 = 1e-2;
        /// An attempt is made if price and slack of every resource differ by this factor.
        clear: f64 = 0.1;
        /// An attempt is made if slacks are right to this.
        near: f64 = 0.1;
        /// The path has come as close to its limit as its own steps can.
        smallest_mu: f64 = 1e-16;
        /// Steps after which the fast method gives way to the safe one. It needs 7 on average.
        fast_iterations: usize = 40;
        /// Part of the way to the boundary that a step may go.
        step_fraction: f64 = 0.95;
        /// A step aims at this part of the present `mu` at least.
        least_centering: f64 = 1e-3;
        /// The safe method accepts a step past the minimum along it if the slope there is at most this
        /// part of what it was.
        overshoot: f64 = 0.5;
        /// Steps in one search along a line.
        most_halvings: usize = 30;
        /// The safe method is near its minimum when Newton's step promises at most this part of `mu`.
        centred: f64 = 0.1;
        /// The factor by which it then reduces `mu`.
        safe_reduction: f64 = 0.1;
        /// Added to the unit diagonal of the matrix. Newton's method repeats, so this costs no accuracy.
        ridges: [f64; 7] = [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2];
        /// A residual that no step will improve.
        rounding: f64 = 1e-15;
        /// Below this residual, the next step of a quadratically converging method is the last one.
        last_step: f64 = 1e-8;
        /// Steps after which the method is given up.
        most_steps: usize = 12;
        /// Below this number of requests a second thread costs more than it brings.
        parallel_from: usize = 32_768;
    }

    /// The integration of the trajectory; [`crate::trajectory::TrajectorySettings`] says how exact it is.
    Trajectory as TRAJECTORY {
        /// First step, in `c` and in `ln c` alike: small beside 1, the scale of both.
        first_step: f64 = 0.01;
        /// Components below this are not resolved relative to their size.
        negligible: f64 = 1e-150;
        /// Factors by which a step may shrink and grow.
        step_factors: (f64, f64) = (0.2, 6.0);
        /// Part of the step that the error allows.
        safety: f64 = 0.9;
        /// Hairer's stabilisation of the step size for order 5.
        beta_5: f64 = 0.04;
        /// The same for order 8, as in his code.
        beta_8: f64 = 0.0;
    }

    /// Prices of a linear Fisher market.
    Market as MARKET {
        /// Points on one line, at most.
        points: usize = 30;
        /// Largest change of the logarithm of a price in one step.
        longest: f64 = 30.0;
        /// Largest change of the logarithm of a price that stands alone.
        longest_alone: f64 = 4.0;
        /// Steps that do not halve the change after which only rounding is left of it.
        idle: usize = 3;
        /// Advantage, in units of `tau`, below which a place has no part: `e^-50` of a buyer's money.
        far: f64 = 50.0;
    }
}
