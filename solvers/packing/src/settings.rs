//! Tolerances, limits and choices of the solvers, with their defaults.

use evenhand_budget::settings;

settings! {
    /// Column generation, and the knapsack by tables and by branch and bound.
    Packing as PACKING {
        /// Prices are rounded to this part of the largest reward of a server full of one type.
        precision: f64 = (1u64 << 40) as f64;
        /// A column has to improve by this part of that reward to enter before the exact phase.
        improvement: f64 = 1e-9;
        /// Exact pivots after HiGHS.
        most_pivots: usize = 10_000;
        /// Turns that a round of pricing counts for.
        round_turns: usize = 1_000;
        /// Rounds of pricing.
        most_rounds: usize = 100_000;
        /// Turns of a search that the visit of an order counts for.
        visit_turns: usize = 1_000;
        /// Orders after which the question is given up.
        most_orders: usize = 5_000_000;
        /// Servers of each configuration of the linear programme that are left to the search.
        searched: u32 = 1000;
        /// Turns of the search for a branch tree that is preferred to a dynamic programme as a proof.
        most_proof_turns: usize = 20_000;
        /// Turns after which another order is tried.
        first_turns: usize = 300;
        /// Cells times types of a table that is filled rather than a search made longer, where doubles hold its values: some
        /// 20 ms.
        most_quick_work: usize = 30_000_000;
        /// Cells of such a table: 2 MiB of doubles, which stay close to the processor.
        most_quick_cells: usize = 1 << 18;
        /// Columns that a question for better configurations returns from a table.
        most_columns: usize = 32;
        /// Partial configurations close to a bound that are looked at, one by one, for those above it.
        most_near: usize = 20_000;
        /// Cells times types of a table that is preferred to trees as the proof of a first configuration.
        most_table_work: usize = 3_000_000;
        /// Cells times types of a table that answers before any search: some 20 µs.
        most_first_work: usize = 20_000;
        /// Turns after which a search without a table to fall back on is given up.
        most_turns: usize = 50_000_000;
        /// Turns of the search for a proof without a table to fall back on: its tree is written down.
        most_tree_turns: usize = 1_000_000;
        /// Most prices that are kept for one set of open types.
        most_prices: usize = 12;
        /// Most types, since every one may take a level of recursion.
        most_types: usize = 2_000;
        /// Values with more bits need exact prices.
        most_float_bits: u32 = 48;
        /// Bounds that differ from the threshold by no more than this part of it are not left to floating
        /// point.
        close: f64 = 1e-9;
        /// Numbers up to this one are divided in floating point.
        large: f64 = 1e300;
        /// Turns that are paid for at once.
        turns_at_once: usize = 256;
        /// Exact pivots after those in floating point.
        most_price_pivots: usize = 200;
        /// Below this, in units of the largest profit, a reduced cost counts as 0.
        tolerance: f64 = 1e-11;
        /// Turns of all searches together, about ten seconds' worth.
        all_turns: usize = 100_000_000;
        /// Scaled numbers of all knapsacks together, about 100 MB.
        all_numbers: usize = 2_000_000;
        /// Nodes of all proofs together: less than 64 MiB when they are written.
        all_nodes: usize = 4_000_000;
        /// Bytes of one table of a dynamic programme.
        most_table_bytes: usize = 1 << 28;
    }
}
