//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Settings of the interior point method on clusters. Its tolerance is in
    /// [`crate::cluster::Settings`].
    Interior as INTERIOR {
        /// The residual at which the method goes on to the next exponent.
        rough: f64 = 1e-2;
        /// The largest residual of any user, relative to its own worth, with which a point counts
        /// as solved.
        of_one_user: f64 = 1e-5;
        /// The residual that rounding alone causes.
        least_residual: f64 = 1e-17;
        /// The fraction of the distance to the boundary that a step goes.
        not_quite: f64 = 0.999;
        /// Steps shorter than this are replaced by steps towards the centre of the path.
        short: f64 = 0.3;
        /// The largest product that a step aims at, as a fraction of the current product.
        most_centred: f64 = 0.5;
        /// The largest number of corrections of one step towards the centre. Each costs a solution
        /// with the existing factors.
        corrections: usize = 3;
        /// The range of products of pairs that need no correction, in units of the product that the
        /// step aims at.
        neighbourhood: (f64, f64) = (0.1, 10.0);
        /// The amount by which a correction should increase the step length.
        longer: f64 = 0.3;
        /// The fraction of that amount that a correction must reach to be accepted.
        gain: f64 = 0.1;
        /// The largest change of the logarithm of a marginal utility in one step.
        most_change: f64 = 2.0;
        /// The least fraction of `sum lambda U` to which residuals are relative.
        least_priced: f64 = 1e-6;
        /// The largest worth of a user that is expected to have all its tasks, in units of its
        /// payment. A larger weight would not change the allocation, but would lose digits.
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
        /// The numbers added to the unit diagonal, in turn, when the matrix is not positive
        /// definite after rounding.
        ridges: [f64; 6] = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7];
        /// The number of rows beyond which a problem is rejected, since the dense matrix of a
        /// Newton step would take more than a gigabyte.
        most_rows: usize = 10_000;
    }

    /// Settings of Newton's method on the dual function of a cluster.
    Dual as DUAL {
        /// The smallest `tau`. Prices have a relative error of `1e-16`, and placements one of
        /// `1e-16 / tau`.
        least_tau: f64 = 1e-9;
        /// The smallest fraction of a price that is its `mu`.
        least_part: f64 = 1e-13;
        /// The smallest `mu`, in units of the prices of the start. The price of a worthless row
        /// must not underflow.
        least_barrier: f64 = 1e-150;
        /// The number of stages. In each, the fraction of a price that is its `mu` falls by
        /// [`Dual::smaller`], down to [`Dual::least_part`].
        stages: usize = 36;
        /// The factor from stage to stage. `tau` falls by its square root, down to
        /// [`Dual::least_tau`].
        smaller: f64 = 0.316;
        /// The rounding error of a load for `tau = 1`.
        rounding: f64 = 4e-16;
        /// The largest number of Newton steps in one stage.
        steps: usize = 60;
        /// The number of steps that do not halve the error after which the error counts as
        /// rounding.
        idle: usize = 3;
        /// The error below which it may count as rounding.
        nearly: f64 = 1e-6;
        /// The largest number of steps in one line search.
        halvings: usize = 40;
        /// The largest number of rows and limits with unknown prices: the matrix of a step is
        /// dense.
        most_prices: usize = 400;
        /// The relative error of a fully used row beyond which the result does not count as solved.
        rough: f64 = 1e-6;
        /// The numbers added to the unit diagonal of the matrix of a step, in turn.
        ridges: [f64; 6] = [1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5];
    }

    /// Settings of the central path of one pool; [`crate::path::PathSettings`] says when the method
    /// ends.
    Path as PATH {
        /// The first attempt to finish at the bottlenecks is made below this `mu`.
        first_attempt: f64 = 1e-2;
        /// The factor by which `mu` must fall after a failed attempt before the next one.
        next_attempt: f64 = 1e-2;
        /// An attempt is made only if the smaller of price and slack of every resource is below
        /// this fraction of the larger.
        clear: f64 = 0.1;
        /// An attempt is made only if the error of every slack is below this.
        near: f64 = 0.1;
        /// Below this `mu` the steps of the path come no closer to its limit.
        smallest_mu: f64 = 1e-16;
        /// The number of steps after which the fast method gives way to the safe one. It needs 7 on
        /// average.
        fast_iterations: usize = 40;
        /// The fraction of the distance to the boundary that a step may go.
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
        /// The factor by which it then reduces `mu`.
        safe_reduction: f64 = 0.1;
        /// The numbers added to the unit diagonal of the matrix, in turn. Newton's method repeats,
        /// so this costs no accuracy.
        ridges: [f64; 7] = [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2];
        /// The residual that no step can reduce.
        rounding: f64 = 1e-15;
        /// Below this residual, the next step of a quadratically converging method is the last one.
        last_step: f64 = 1e-8;
        /// The number of steps after which the method is given up.
        most_steps: usize = 12;
        /// Below this number of requests, a second thread costs more time than it saves.
        parallel_from: usize = 32_768;
    }

    /// Settings of the integration of the trajectory. Its tolerances are in
    /// [`crate::trajectory::TrajectorySettings`].
    Trajectory as TRAJECTORY {
        /// The first step, both in `c` and in `ln c`: small compared with 1, the scale of both
        /// variables.
        first_step: f64 = 0.01;
        /// Components below this are not resolved relative to their size.
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
        /// The number of steps that do not halve the change after which the change counts as
        /// rounding.
        idle: usize = 3;
        /// The disadvantage, in units of `tau`, beyond which a buyer spends nothing on a good:
        /// `e^-50` of its money.
        far: f64 = 50.0;
    }
}
