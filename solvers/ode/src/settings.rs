//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Settings of the interior point method on clusters. Its tolerance is in
    /// [`crate::cluster::Settings`].
    Interior as INTERIOR {
        /// The residual at which the method continues with the next exponent.
        rough: f64 = 1e-2;
        /// The largest residual of any user, relative to the worth of this user, with which a point counts as solved.
        of_one_user: f64 = 1e-5;
        /// The residual that rounding alone causes.
        least_residual: f64 = 1e-17;
        /// A step goes this fraction of the distance to the boundary.
        not_quite: f64 = 0.999;
        /// Steps shorter than this length are replaced by steps towards the centre of the path.
        short: f64 = 0.3;
        /// The largest product that a step aims at, as a fraction of the current product.
        most_centred: f64 = 0.5;
        /// The largest number of corrections of one step towards the centre. Each correction costs a solution with the
        /// existing factors.
        corrections: usize = 3;
        /// The range of products of pairs that need no correction, in units of the product that the
        /// step aims at.
        neighbourhood: (f64, f64) = (0.1, 10.0);
        /// The amount by which a correction should increase the step length.
        longer: f64 = 0.3;
        /// The fraction of [`Interior::longer`] that a correction must reach to be accepted.
        gain: f64 = 0.1;
        /// The largest change of the logarithm of a marginal utility in one step.
        most_change: f64 = 2.0;
        /// Residuals are relative to the payments for rows, but at least to this fraction of `sum lambda U`.
        least_priced: f64 = 1e-6;
        /// The largest worth of a user that is expected to have all its tasks, as a multiple of its payment. A larger
        /// weight would not change the allocation, but would lose digits.
        most_worth: f64 = 100.0;
        /// The free fraction of the task limit below which a user has all its tasks.
        satisfied: f64 = 1e-6;
        /// The fraction of a user's utility that the starting point spreads evenly over the user's
        /// placements.
        even: f64 = 0.02;
        /// The least price of a row in the starting point, as a fraction of the largest price.
        least_cost: f64 = 1e-3;
        /// The logarithm of the least utility with which a user starts, relative to the largest.
        least_start: f64 = -80.0;
        /// The numbers that are added to the unit diagonal when the matrix is not positive definite after rounding.
        /// They are tried in this order.
        ridges: [f64; 6] = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7];
        /// The largest number of rows. A problem with more rows is rejected, since the dense matrix of a Newton step
        /// would take more than a gigabyte.
        most_rows: usize = 10_000;
    }

    /// Settings of Newton's method on the dual function of a cluster.
    Dual as DUAL {
        /// The smallest `tau`. Prices have a relative error of `1e-16`, and placements have a relative error of
        /// `1e-16 / tau`.
        least_tau: f64 = 1e-9;
        /// The smallest `mu` of a row, as a fraction of the row's price.
        least_part: f64 = 1e-13;
        /// The smallest `mu`, in units of the prices of the start. The price of a worthless row
        /// must not underflow.
        least_barrier: f64 = 1e-150;
        /// The number of stages. In each, the fraction of a price that is its `mu` falls by
        /// [`Dual::smaller`], down to [`Dual::least_part`].
        stages: usize = 36;
        /// The factor by which this fraction falls from one stage to the next. `tau` falls by the square root of this
        /// factor, down to [`Dual::least_tau`].
        smaller: f64 = 0.316;
        /// The rounding error of a load for `tau = 1`.
        rounding: f64 = 4e-16;
        /// The largest number of Newton steps in one stage.
        steps: usize = 60;
        /// The number of steps that may fail to halve the error. After that, the error counts as rounding.
        idle: usize = 3;
        /// An error below this number may count as rounding.
        nearly: f64 = 1e-6;
        /// The largest number of steps in one line search.
        halvings: usize = 40;
        /// The largest number of unknown prices (of rows and limits). It is limited because the matrix of a step is
        /// dense.
        most_prices: usize = 400;
        /// The relative error of a fully used row beyond which the result does not count as solved.
        rough: f64 = 1e-6;
        /// The numbers that are added to the unit diagonal of the matrix of a step. They are tried in this order.
        ridges: [f64; 6] = [1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5];
    }

    /// Settings of the central path of one pool. The limits at which the method ends are in
    /// [`crate::path::PathSettings`].
    Path as PATH {
        /// The first attempt to finish at the bottlenecks is made below this `mu`.
        first_attempt: f64 = 1e-2;
        /// The factor by which `mu` must fall after a failed attempt before the next attempt.
        next_attempt: f64 = 1e-2;
        /// An attempt is made only if the smaller of price and slack of every resource is below
        /// this fraction of the larger.
        clear: f64 = 0.1;
        /// An attempt is made only if the error of every slack is below this number.
        near: f64 = 0.1;
        /// Below this `mu` the steps of the path come no closer to its limit.
        smallest_mu: f64 = 1e-16;
        /// The number of steps after which the safe method replaces the fast method. The fast method needs 7 steps on
        /// average.
        fast_iterations: usize = 40;
        /// The largest fraction of the distance to the boundary that a step may go.
        step_fraction: f64 = 0.95;
        /// A step aims at this fraction of the current `mu` at least.
        least_centering: f64 = 1e-3;
        /// The safe method accepts a step past the minimum if the slope at its end is at most this
        /// fraction of the slope at its start.
        overshoot: f64 = 0.5;
        /// The largest number of steps in one line search.
        most_halvings: usize = 30;
        /// The safe method is near its minimum when Newton's step promises at most this fraction of
        /// `mu`.
        centred: f64 = 0.1;
        /// The factor by which the safe method then reduces `mu`.
        safe_reduction: f64 = 0.1;
        /// The numbers that are added to the unit diagonal of the matrix. They are tried in this order. Newton's method
        /// repeats, so these numbers cost no accuracy.
        ridges: [f64; 7] = [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2];
        /// The residual that no step can reduce.
        rounding: f64 = 1e-15;
        /// Below this residual, the next step of a quadratically converging method is the last one.
        last_step: f64 = 1e-8;
        /// The number of steps after which Newton's method on the bottlenecks ends without a result.
        most_steps: usize = 12;
        /// The number of requests below which a second thread costs more time than it saves.
        parallel_from: usize = 32_768;
    }

    /// Settings of the integration of the trajectory. The tolerances are in [`crate::trajectory::TrajectorySettings`].
    Trajectory as TRAJECTORY {
        /// The first step, both in `c` and in `ln c`: small compared with 1, the scale of both
        /// variables.
        first_step: f64 = 0.01;
        /// For components below this number, the error is not relative to their size.
        negligible: f64 = 1e-150;
        /// The factors by which a step may shrink and grow.
        step_factors: (f64, f64) = (0.2, 6.0);
        /// The fraction of the step that the error estimate would allow.
        safety: f64 = 0.9;
        /// Hairer's stabilisation of the step size for order 5.
        beta_5: f64 = 0.04;
        /// The same stabilisation for order 8, as in Hairer's code.
        beta_8: f64 = 0.0;
    }

    /// Settings of the prices of a linear Fisher market.
    Market as MARKET {
        /// The largest number of points on one line.
        points: usize = 30;
        /// The largest change of the logarithm of a price in one step.
        longest: f64 = 30.0;
        /// The largest change of the logarithm of a price that no other price influences.
        longest_alone: f64 = 4.0;
        /// The number of steps that may fail to halve the change. After that, the change counts as rounding.
        idle: usize = 3;
        /// The disadvantage of a good, in units of `tau`, above which a buyer spends nothing on it. At this
        /// disadvantage the buyer would spend `e^-50` of its money.
        far: f64 = 50.0;
    }
}
