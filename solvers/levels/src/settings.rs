//! Tolerances, limits and choices of the methods for levels, with their defaults.

use std::time::Duration;

use evenhand_budget::settings;

settings! {
    /// Settings for vertices of faces of the set of allocations without justified complaints.
    Faces as FACES {
        /// The number of exact pivots after which the search for a vertex of a face is given up.
        max_pivots: usize = 100_000;
    }

    /// Settings of the rounds of lexicographic max-min.
    Levels as LEVELS {
        /// The number of simplex iterations after which the interior point method is likely to be faster.
        simplex_iterations: i32 = 400;
        /// The worth of the level in programmes in which reduced costs below the tolerance of HiGHS matter.
        ///
        /// The prices of a group with a millionth of all tasks are that small. With a larger worth, rounding errors
        /// would reach the tolerance.
        sharper: f64 = 1e5;
        /// The largest number of columns that pricing adds for one class at a time. The columns that would help most
        /// are added.
        columns_per_class: usize = 50;
        /// The largest number of columns that pricing adds for one group at a time.
        columns_per_group: usize = 3;
        /// The fraction of the guessed prices that is added to prices to choose among columns.
        hint: f64 = 1e-3;
        /// Reduced costs below this fraction of a group's price count as 0.
        price_tolerance: f64 = 1e-9;
        /// The same fraction when the worth of the level is [`Levels::sharper`]. Smaller reduced costs are rounding
        /// errors if a group has two classes of equal cost.
        sharper_price_tolerance: f64 = 1e-12;
        /// Duals below this fraction of the largest count as 0.
        dual_tolerance: f64 = 1e-9;
        /// Reduced costs below this fraction of the price count as 0. Counting a positive reduced cost as 0 only keeps
        /// parts together that could be split.
        reduced_cost_tolerance: f64 = 1e-7;
        /// The fractions by which frozen levels are lowered when rounding makes them infeasible. They are tried in this
        /// order.
        rooms: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-5];
        /// The fraction of a capacity by which a solution in doubles may exceed the capacity.
        sound: f64 = 1e-7;
        /// The number of binary digits to which prices from doubles are rounded: about 13 decimal digits.
        price_bits: i32 = 44;
        /// Prices below this fraction of the largest price count as rounding errors. Both prices
        /// are in units of the capacity rows.
        least_price: f64 = 1e-16;
        /// The time (30 s) for which exact rounds of small parts may continue after the deadline. They may need it
        /// because numbers may be long.
        grace: Duration = Duration::from_secs(30);
        /// The number of bits to which bounds are rounded.
        bound_bits: i64 = 80;
        /// The factor by which the multiple of an earlier block's prices exceeds the least sufficient multiple.
        more_of_prices: f64 = 2.0;
        /// The fraction of the guessed level that a programme of many users reaches: 0.968 to 0.970
        /// with 1,000 users on 1,000 classes.
        likely: f64 = 0.97;
        /// The multiple of the level that a group may reach alone and still be blocked by itself or
        /// with one other group. Two groups that share everything reach at least half of the level
        /// of either group alone.
        little_alone: f64 = 2.0;
        /// The least ratio of the number of all groups to the number of groups that may be blocked by themselves. If
        /// there are more such groups, their programme is not small.
        all_to_few: usize = 2;
        /// The fraction of its tasks that a group in doubles may lack or exceed and still count as
        /// having them all.
        all_tasks: f64 = 1e-9;
    }

    /// Settings of the guess of prices and placements from which a round starts.
    Guess as GUESS {
        /// The largest number of iterations.
        max_iterations: usize = 40;
        /// The number of iterations on few rows. There, HiGHS' first steps are cheaper than better prices.
        max_iterations_on_few_rows: usize = 14;
        /// The number of iterations before the dual simplex method with key classes, which computes
        /// prices by itself.
        rough_iterations: usize = 2;
        /// The number of iterations if a single pass takes long.
        min_iterations: usize = 6;
        /// The number of rows below which simplex steps are cheap.
        few_rows: usize = 60;
        /// The number of prices (groups x classes x resources) that all iterations together may
        /// compute. The limit bounds the running time.
        work_limit: usize = 400_000_000;
        /// The sharpness of the split of a group between its classes, at the first and at the last iteration.
        sharpness: (f64, f64) = (5.0, 400.0);
        /// Fractions of a group below this number are left out. Their exponents are above `-ln` of this number.
        nothing: f64 = 1e-3;
        /// Minus the natural logarithm of [`Guess::nothing`].
        most_extra: f64 = 6.91;
        /// The number of groups of each class that get a column there in the first model.
        groups_per_class: usize = 10;
    }

    /// Settings of the dual simplex method with key classes.
    Keys as KEYS {
        /// The number of placements below which HiGHS alone is as fast. With about 10,000 random placements both
        /// methods take 0.05 s. With 20,000, this method takes three quarters of the time of HiGHS.
        least_placements: usize = 20_000;
        /// The number of groups in the first sample.
        sample: usize = 500;
        /// The factor by which the number of groups grows from one sample to the next.
        growth: usize = 8;
        /// The number of groups per thread.
        groups_for_a_thread: usize = 2_000;
        /// The largest extra cost that distinguishes the costs of classes, as a fraction of the sum of costs.
        apart: f64 = 1e-6;
        /// The allowed violation of a column's bounds, as a fraction of a capacity or of a level.
        feasible: f64 = 1e-9;
        /// Changes of prices below this fraction of the largest change are rounding.
        nothing: f64 = 1e-12;
        /// The rate at which a class becomes cheaper is rounding if it is below this fraction of the price and of the
        /// largest change.
        rate: f64 = 1e-7;
        /// Pivots below this number are rounding.
        singular: f64 = 1e-14;
        /// The largest number of steps for each row of the programme. Five are usual.
        steps_per_row: usize = 20;
    }

    /// Settings of the interior point method, which computes the first basis and the first columns of a round.
    Interior as INTERIOR {
        /// The number of placements below which simplex steps alone are faster. Simplex steps alone are also faster on
        /// few rows.
        least_placements: usize = 3_000;
        /// The least and the largest number of columns that each group gets at a time. Within these bounds, a group
        /// gets a third of its classes.
        columns_per_group: (usize, usize) = (3, 10);
        /// The number of classes on which a group may run for each column that it gets at first. With too few columns,
        /// the first solves spend time on prices that differ much from the final prices.
        classes_per_column: usize = 10;
        /// The number of columns of each group, and of each class, among which the last solve searches for a vertex.
        /// They are the columns with the largest values. Distinguishing many columns of equal worth is slow, and few
        /// columns are needed.
        last_columns: usize = 30;
        /// The number of columns for each group and class up to which all columns are used.
        few_columns: usize = 8;
        /// All columns are used if setting up their equations takes this many times less work than factoring them. The
        /// other work of a step also grows with the number of columns, and so does the number of steps.
        little: f64 = 10.0;
        /// The relative gaps at which columns are added, in this order. The last gap is used for all further solves.
        rough: [f64; 3] = [1e-2, 1e-3, 1e-4];
        /// The relative gap of the last solve, when no more columns are added.
        fine: f64 = 1e-11;
        /// If at most one column in this many is new, HiGHS adds the remaining columns.
        few_added: usize = 20;
        /// The largest number of solves after which columns are added.
        rounds: usize = 8;
        /// The relative reduced cost at which a column is added.
        helpful: f64 = 1e-6;
        /// The largest sum of the costs that decide between optimal placements, in units of the
        /// level.
        tie_cost: f64 = 1e-3;
        /// The fraction of a group's need above which the group counts as running on a class.
        support: f64 = 1e-6;
        /// The largest number of iterations. 20 to 40 are usual.
        most_iterations: usize = 100;
        /// The number of corrections towards the centre for each step.
        corrections: usize = 2;
        /// The fraction of a constraint by which it may be violated at the end.
        feasible: f64 = 1e-6;
        /// The gap that is enough if rounding prevents a smaller gap.
        enough: f64 = 1e-7;
        /// The total complementarity, relative to the level, of the point from which a later solve
        /// may start.
        early: f64 = 0.1;
        /// The growth of complementarity, relative to its least value, at which rounding dominates.
        lost: f64 = 1e6;
        /// The sum of the complementarity products at which the iterations end, whatever the gap.
        nothing_left: f64 = 1e-12;
        /// The work for an entry of a sum of outer products, as a multiple of the work for an entry of a factorisation,
        /// which runs in tiles.
        scattered: f64 = 4.0;
        /// The least number of columns for which threads share the work that is done once for each column. For fewer
        /// columns, starting threads takes longer than the work.
        shared_columns: usize = 20_000;
        /// The least number of columns that a thread gets. The work for them takes some tens of microseconds.
        numbers_for_a_thread: usize = 4096;
        /// The number of chunks in which loads are added up on several threads. There are few chunks, since each of
        /// them stores all rows.
        parts_of_loads: usize = 8;
        /// The number of rows from which threads share the work of setting up the equations. Below it, distributing the
        /// work takes longer than doing it.
        shared_rows: usize = 256;
        /// The number of strips into which the matrix of the equations is split for threads. It is large enough for the
        /// threads to end together. More strips cost more, since each strip reads all columns once.
        strips: usize = 16;
        /// The relative number that is added to diagonals. Below it, rounding decides the sign of the diagonals.
        regular: f64 = 1e-13;
        /// The number of further attempts to factor a matrix, with larger numbers added to its diagonal.
        attempts: usize = 6;
        /// The relative number that the first of these attempts adds.
        first_more: f64 = 1e-12;
        /// The factor by which this number grows from one attempt to the next.
        more: f64 = 30.0;
        /// Prices below this fraction of the largest price start at this fraction.
        least_price: f64 = 1e-3;
        /// The least slack of a row at the start.
        least_slack: f64 = 0.1;
        /// The least reduced cost of a new column, as a fraction of the worth of its group's level.
        least_cost: f64 = 0.1;
    }

    /// Settings of the programme in doubles that decides whether totals of tasks can be placed.
    Placing as PLACING {
        /// The fraction of a bound by which totals in doubles must exceed it to count as a violation. Smaller excesses
        /// may be rounding. [`Placements::place`](crate::placement::Placements::place) detects smaller violations.
        excess: f64 = 1e-12;
        /// The fraction of the free capacity that a greedy placement in doubles may use. If it does not suffice, the
        /// exact programme decides.
        most_at_first_sight: f64 = 1.0 - 1e-6;
        /// The least free capacity that counts, as a fraction of the most that a user can have on a class. Less is
        /// rounding.
        least_room: f64 = 1e-12;
        /// A greedy placement may leave one user in this many incomplete. If more users are incomplete, a programme
        /// does not start from that placement.
        users_to_one_that_may_fail: usize = 50;
        /// The number of placements of every user that are in the programme from the start. They are the placements
        /// with the largest capacity.
        first_of_user: usize = 4;
        /// The number of placements of every class that are in the programme from the start.
        first_of_class: usize = 12;
        /// The number of placements of each user that are added at a time if they would improve the programme.
        more_of_user: usize = 2;
        /// If at most this many missing placements would improve the programme, all of them are added at once.
        few: usize = 1000;
        /// A user gets all its placements if its present placements could not hold this many times its total alone.
        /// With too few placements the user might need more of a class than it has, although other users could run
        /// elsewhere.
        room: f64 = 4.0;
        /// The least advantage in cost of a placement that is added: the tolerance of HiGHS.
        cheaper: f64 = 1e-9;
        /// The fraction of a total that [`Placements::in_doubles`](crate::placement::Placements::in_doubles) places.
        /// The fraction differs from 1 by a hundred times HiGHS' tolerance of 1e-9, so rounding violates no limit.
        nearly_all: f64 = 1.0 - 100.0 * 1e-9;
    }
}
