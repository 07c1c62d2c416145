//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Settings of column generation, and of the knapsack by tables and by branch and bound.
    Packing as PACKING {
        /// The reciprocal of the rounding unit of prices, as a fraction of the largest reward of a server full of one
        /// type.
        precision: f64 = (1u64 << 40) as f64;
        /// The fraction of the same reward by which a column must improve the programme to be added before the exact
        /// phase.
        improvement: f64 = 1e-9;
        /// The largest number of exact pivots after HiGHS.
        most_pivots: usize = 10_000;
        /// The turns that are charged for a round of pricing.
        round_turns: usize = 1_000;
        /// The largest number of rounds of pricing.
        most_rounds: usize = 100_000;
        /// The turns that are charged for visiting an order.
        visit_turns: usize = 1_000;
        /// The number of orders after which the decision on monotonicity ends with an error.
        most_orders: usize = 5_000_000;
        /// The number of servers of each configuration of the linear programme that the integer search may change.
        searched: u32 = 1000;
        /// The largest number of turns spent on a branch tree if a dynamic programme could be the proof instead.
        most_proof_turns: usize = 20_000;
        /// The number of turns after which the search tries the other order of types.
        first_turns: usize = 300;
        /// The largest number of cells times types of a table that replaces a longer search, if doubles can represent
        /// its values. Filling the table takes about 20 ms.
        most_quick_work: usize = 30_000_000;
        /// The largest number of cells of such a table. They take 2 MiB as doubles, which fit into the processor's
        /// cache.
        most_quick_cells: usize = 1 << 18;
        /// The largest number of better configurations that a table returns.
        most_columns: usize = 32;
        /// The largest number of partial configurations close to a bound that are examined one by one.
        most_near: usize = 20_000;
        /// The largest number of cells times types of a table that is preferred to a tree as the proof of a first
        /// configuration.
        most_table_work: usize = 3_000_000;
        /// The largest number of cells times types of a table that is filled without a search before. Filling the table
        /// takes about 20 µs.
        most_first_work: usize = 20_000;
        /// The number of turns after which a search ends without an answer if no table is possible.
        most_turns: usize = 50_000_000;
        /// The largest number of turns spent on a proof by a recorded tree if no table is possible.
        most_tree_turns: usize = 1_000_000;
        /// The largest number of prices that are stored for one set of open types.
        most_prices: usize = 12;
        /// The largest number of tasks of one user on a server. It equals the limit of the checker.
        most_tasks: u64 = 1_000_000_000_000;
        /// The largest number of types, since every type may take a level of recursion.
        most_types: usize = 2_000;
        /// Values with more bits than this need exact prices.
        most_float_bits: u32 = 48;
        /// A bound whose distance from the threshold is at most this fraction of the threshold is decided with exact
        /// prices.
        close: f64 = 1e-9;
        /// Numbers below this number are divided in floating point.
        large: f64 = 1e300;
        /// The number of turns that are charged at once.
        turns_at_once: usize = 256;
        /// The largest number of exact pivots after the pivots in floating point.
        most_price_pivots: usize = 200;
        /// A reduced cost below this value, in units of the largest profit, counts as 0.
        tolerance: f64 = 1e-11;
        /// The number of turns of all searches together. They take about ten seconds.
        all_turns: usize = 100_000_000;
        /// The number of scaled numbers of all knapsacks together. They take about 100 MB.
        all_numbers: usize = 2_000_000;
        /// The number of nodes of all proofs together. They take less than 64 MiB when they are written.
        all_nodes: usize = 4_000_000;
        /// The largest size of the table of a dynamic programme, in bytes (256 MiB).
        most_table_bytes: usize = 1 << 28;
    }
}
