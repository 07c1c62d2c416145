//! Tolerances, limits and choices of the methods for levels, with their defaults.

use std::time::Duration;

use evenhand_budget::settings;

settings! {
    /// Vertices of faces of the set of allocations without justified complaints.
    Faces as FACES {
        /// Exact pivots after which a basis on a face is given up.
        max_pivots: usize = 100_000;
    }

    /// The rounds of lexicographic max-min.
    Levels as LEVELS {
        /// Simplex iterations after which the interior point method is likely to be faster.
        simplex_iterations: i32 = 400;
        /// What the level is worth where reduced costs below the tolerance of HiGHS matter: a group whose tasks are a
        /// thousandth of a thousandth of the whole has prices as small. More would bring rounding up to the tolerance.
        sharper: f64 = 1e5;
        /// Columns that pricing adds for one class at a time: those that would help most.
        columns_per_class: usize = 50;
        /// Columns that pricing adds for one group at a time.
        columns_per_group: usize = 3;
        /// Part of the guessed prices that is added to prices to choose among columns.
        hint: f64 = 1e-3;
        /// Reduced costs below this part of a group's price are taken for 0.
        price_tolerance: f64 = 1e-9;
        /// The same where they are to be sharper: less is rounding where a group has two classes that cost the same.
        sharper_price_tolerance: f64 = 1e-12;
        /// Duals below this part of the largest count as 0.
        dual_tolerance: f64 = 1e-9;
        /// Reduced costs below this part of the price count as 0. Taking a positive one for 0 only keeps
        /// parts together that could be split.
        reduced_cost_tolerance: f64 = 1e-7;
        /// Parts of frozen levels that are left out, one after the other, where rounding leaves no room for them.
        rooms: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-5];
        /// Part of a capacity by which a solution may exceed it.
        sound: f64 = 1e-7;
        /// Binary digits that are kept of prices from doubles: 13 decimal ones.
        price_bits: i32 = 44;
        /// Prices below this part of the largest, both in units of the capacity rows, are rounding.
        least_price: f64 = 1e-16;
        /// How long exact rounds of small parts may go on when the time is up: numbers may be long.
        grace: Duration = Duration::from_secs(30);
        /// Bits of a bound.
        bound_bits: i64 = 80;
        /// How much more than needed of the prices of a block before is added.
        more_of_prices: f64 = 2.0;
        /// Part of the guessed level that a programme of many users reaches: of 1,000 users on 1,000 classes .968 to .970.
        likely: f64 = 0.97;
        /// How many times the level a group may have alone and still be blocked by itself or beside another one: two groups
        /// reach at least half of what either has alone.
        little_alone: f64 = 2.0;
        /// How many times as many groups there are, at least, as may be blocked by themselves: a programme of more is no
        /// longer small.
        all_to_few: usize = 2;
        /// Part of its tasks that a group in doubles may lack or exceed and still has them all.
        all_tasks: f64 = 1e-9;
    }

    /// The guess of prices, and of where everybody runs, from which a round starts.
    Guess as GUESS {
        /// Iterations.
        max_iterations: usize = 40;
        /// Iterations on few rows, where HiGHS' first steps are cheaper than better prices.
        max_iterations_on_few_rows: usize = 14;
        /// Iterations before the dual simplex method with key classes, which finds prices by itself.
        rough_iterations: usize = 2;
        /// Iterations where a single pass is long.
        min_iterations: usize = 6;
        /// Rows below which simplex steps are cheap.
        few_rows: usize = 60;
        /// Prices of a task (groups x classes x resources) that all iterations together may compute.
        work_limit: usize = 400_000_000;
        /// Sharpness of the split at the first and at the last iteration.
        sharpness: (f64, f64) = (5.0, 400.0);
        /// Pieces of a group below this are left out, which are those with greater exponents than `-ln` of it.
        nothing: f64 = 1e-3;
        /// Minus the natural logarithm of it.
        most_extra: f64 = 6.91;
        /// Groups of each class that get a column there in the first model.
        groups_per_class: usize = 10;
    }

    /// The dual simplex method with key classes.
    Keys as KEYS {
        /// Placements below which HiGHS takes as long: some 10,000 random ones take it .05 s either way, 20,000 this
        /// method three quarters of its time.
        least_placements: usize = 20_000;
        /// Groups that are enough to begin with.
        sample: usize = 500;
        /// How many times as many groups come next.
        growth: usize = 8;
        /// Groups that are worth another thread.
        groups_for_a_thread: usize = 2_000;
        /// What classes cost beside prices, so that no two cost the same, at most and in parts of what all cost.
        apart: f64 = 1e-6;
        /// What a column may be out of its bounds, in parts of a capacity or of a level.
        feasible: f64 = 1e-9;
        /// Changes of prices that are rounding, in parts of the largest.
        nothing: f64 = 1e-12;
        /// Rates at which a class becomes cheaper that are rounding, in parts of the price and of the largest change.
        rate: f64 = 1e-7;
        /// Pivots that are rounding.
        singular: f64 = 1e-14;
        /// Steps for each row: five are usual.
        steps_per_row: usize = 20;
    }

    /// The interior point method that finds the first basis of a round, and the columns that it sees.
    Interior as INTERIOR {
        /// Placements below which simplex steps alone are faster, as they are on few rows.
        least_placements: usize = 3_000;
        /// Columns of each group that are added at a time: a third of the classes within these bounds.
        columns_per_group: (usize, usize) = (3, 10);
        /// At first one for so many classes on which the group may run where that is more: with too few the first solves
        /// find prices of another programme, slowly.
        classes_per_column: usize = 10;
        /// Columns of each group, and of each class, among which the last solve looks for a vertex, those with the largest
        /// values: where many are worth the same all of them are slow to tell apart, and few of them are needed.
        last_columns: usize = 30;
        /// Columns for each group and class up to which no column is left out.
        few_columns: usize = 8;
        /// None is left out either where writing down the equations of all is so many times less work than factoring
        /// them: what the other work of a step costs grows with the columns too, and so do the steps.
        little: f64 = 10.0;
        /// Relative gaps at which columns are added, time after time, the last one again and again.
        rough: [f64; 3] = [1e-2, 1e-3, 1e-4];
        /// The gap when all are found.
        fine: f64 = 1e-11;
        /// One in so many new columns is few enough: HiGHS adds the rest.
        few_added: usize = 20;
        /// Rounds of adding columns.
        rounds: usize = 8;
        /// Relative reduced cost at which a column is added.
        helpful: f64 = 1e-6;
        /// The largest sum of the costs that decide between optimal placements, in units of the level.
        tie_cost: f64 = 1e-3;
        /// Part of what a group needs that counts as running on a class.
        support: f64 = 1e-6;
        /// Iterations; 20 to 40 are usual.
        most_iterations: usize = 100;
        /// Corrections towards the centre for each step.
        corrections: usize = 2;
        /// Part of a constraint that may be violated at the end.
        feasible: f64 = 1e-6;
        /// The gap that will do where rounding allows no smaller one.
        enough: f64 = 1e-7;
        /// Complementarity, in all and relative to the level, of the point from which one may start again.
        early: f64 = 0.1;
        /// Growth of complementarity, over the least there was, at which rounding has taken over.
        lost: f64 = 1e6;
        /// Complementarity, in all, that ends the iterations whatever the gap.
        nothing_left: f64 = 1e-12;
        /// Work of one entry of a sum of outer products beside one of a factorisation, which runs in tiles.
        scattered: f64 = 4.0;
        /// Columns from which threads share what is done once for each: handing on less takes longer than doing it.
        shared_columns: usize = 20_000;
        /// Of these at least so many at a time, some tens of microseconds.
        numbers_for_a_thread: usize = 4096;
        /// Parts in which loads are added up then: few, since each has all rows.
        parts_of_loads: usize = 8;
        /// Rows of the equations from which threads share writing them down, for the same reason.
        shared_rows: usize = 256;
        /// Parts into which they are cut: enough for the threads to end together, and each looks at all columns once.
        strips: usize = 16;
        /// Added to diagonals, relative: below it rounding decides their sign.
        regular: f64 = 1e-13;
        /// Further attempts with more on the diagonal.
        attempts: usize = 6;
        /// What the first of them adds.
        first_more: f64 = 1e-12;
        /// How many times as much each next one adds.
        more: f64 = 30.0;
        /// Prices below this part of the largest start there.
        least_price: f64 = 1e-3;
        /// Slack of a row at the start, at least.
        least_slack: f64 = 0.1;
        /// Reduced cost of a new column, at least, in parts of what the level of its group is worth.
        least_cost: f64 = 0.1;
    }

    /// Whether totals of tasks have a place, in doubles.
    Placing as PLACING {
        /// Part of a bound by which totals in doubles must break it: less is rounding. What is less shows in
        /// [`Placements::place`](crate::placement::Placements::place).
        excess: f64 = 1e-12;
        /// Part of the room for a total that it may take without a programme, which tells it exactly.
        most_at_first_sight: f64 = 1.0 - 1e-6;
        /// Part of what a user can have on a class that there must be room for: less is rounding.
        least_room: f64 = 1e-12;
        /// Users to each one that may fail to find a place at first sight: a programme starts from that where no more do.
        users_to_one_that_may_fail: usize = 50;
        /// Placements of every user that the programme has from the start: those on which it can have most.
        first_of_user: usize = 4;
        /// The same of every class.
        first_of_class: usize = 12;
        /// Placements of each user that come at a time when prices ask for them.
        more_of_user: usize = 2;
        /// Placements that all come at once.
        few: usize = 1000;
        /// A user has all its placements where those that it has could not hold this many times its total alone: else it would
        /// need more of a class than there is while others could make room.
        room: f64 = 4.0;
        /// How much cheaper than what a user has a placement must be to come: HiGHS' tolerance.
        cheaper: f64 = 1e-9;
        /// Part of a total that [`Placements::in_doubles`](crate::placement::Placements::in_doubles) places: a hundred times as
        /// far from all of it as HiGHS' tolerance of 1e-9 is, so that rounding breaks no limit.
        nearly_all: f64 = 1.0 - 100.0 * 1e-9;
    }
}
