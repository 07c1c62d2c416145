//! The linear Fisher market, exactly: proportional fairness when servers are shared by time.
//!
//! Every class has one unit of time, and user `n` does `gamma_ni` tasks in it. The optimum of
//! `sum_n w_n log x_n` is the equilibrium of a market in which the users spend their weights on time
//! (THEORY, fact 5): every user buys where a task is cheapest, `x_n` is unique and rational, and so
//! are the prices. A user with finite tasks buys no more than those.
//!
//! Floating point tells who buys where; a forest of purchases is enough, since money can be pushed
//! around a cycle until one of its purchases is gone. Along a tree all prices follow from one, that
//! one from the money spent, and the purchases from the leaves inwards, all in rational numbers. The
//! exact gap of the result is 0, or it is not returned.

mod forest;

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::gap;
use evenhand_exact::{Instance, Prices};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Rational};

use self::forest::{Edge, Forest};
use crate::fair_sum::{FairPoint, Place, near};

/// An exact equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// `x_ni` by user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// Prices of the classes' time and of the users' task limits, with gap 0.
    pub prices: Prices,
}

/// Parts below which a placement, or what is left of a class or of a limit, is nothing but the
/// method's distance from the wall; tried in this order.
const NOTHING: [f64; 5] = [1e-8, 1e-10, 1e-6, 1e-12, 1e-4];

/// The equilibrium near `point`, a floating-point optimum for time-shared `constraints`.
///
/// # Errors
/// That none of the thresholds gave a forest whose exact solution is one, in words.
pub fn lift(constraints: &Constraints<'_>, point: &FairPoint) -> Result<Equilibrium, String> {
    let mut why = String::new();
    for (by_class, nothing) in [false, true].into_iter().flat_map(|by| NOTHING.map(|nothing| (by, nothing))) {
        let market = Market::new(constraints, point, nothing, by_class);
        match market.solve().and_then(|found| verified(constraints, found)) {
            Ok(equilibrium) => return Ok(equilibrium),
            Err(reason) => why = reason,
        }
    }
    Err(format!("no forest of purchases near the optimum solves the market exactly: {why}"))
}

fn verified(constraints: &Constraints<'_>, found: Equilibrium) -> Result<Equilibrium, String> {
    let allocation = Allocation {
        sharing: evenhand_problem::Sharing::Tdm,
        arithmetic: Arithmetic::Exact,
        tasks: found.tasks.clone(),
        ..Allocation::default()
    };
    let instance = Instance::new(constraints.problem(), &allocation).map_err(|error| error.to_string())?;
    if feasible::tightest(&instance).is_some_and(|(_, margin)| margin < 0) {
        return Err("the purchases do not fit".to_owned());
    }
    let gap =
        gap(&instance, &Rational::from(1), None, &found.prices).map_err(|refusal| refusal.to_string())?;
    if gap.is_zero() { Ok(found) } else { Err("the prices leave a gap".to_owned()) }
}

/// Part of all money below which a class costs nothing.
const NO_PRICE: f64 = 1e-13;

/// What floating point says about the market.
struct Market<'a> {
    constraints: &'a Constraints<'a>,
    point: &'a FairPoint,
    nothing: f64,
    /// Whether a purchase that is nothing to its user counts where it is something to the class: next to
    /// a class of millions of servers nobody misses what it does on a single one, which has to be sold.
    by_class: bool,
    /// What all users together may spend.
    money: f64,
}

/// How a user buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buyer {
    /// It can be given nothing.
    Absent,
    /// It spends its weight.
    Spends,
    /// It buys all its tasks, for less than its weight.
    Satisfied,
    /// It gets all its tasks where time costs nothing.
    Free,
}

impl<'a> Market<'a> {
    fn new(constraints: &'a Constraints<'a>, point: &'a FairPoint, nothing: f64, by_class: bool) -> Self {
        let users = constraints.problem().users().iter();
        let money = users.map(|user| near(user.weight())).sum();
        Self { constraints, point, nothing, by_class, money }
    }

    fn gamma(&self, n: usize, i: usize) -> Rational {
        self.constraints.problem().gamma(n, i)
    }

    /// Time that is left over costs nothing, and time that costs nothing may be left over.
    fn is_free(&self, i: usize) -> bool {
        self.point.row_slack[i] > self.nothing || self.point.row_prices[i] < NO_PRICE * self.money
    }

    fn buyer(&self, n: usize) -> Buyer {
        let places = &self.point.places[n];
        if places.is_empty() {
            Buyer::Absent
        } else if self.point.user_slack[n] > self.nothing {
            Buyer::Spends
        } else if places.iter().any(|place| self.is_free(place.server)) {
            Buyer::Free
        } else {
            Buyer::Satisfied
        }
    }

    fn solve(&self) -> Result<Equilibrium, String> {
        let problem = self.constraints.problem();
        let buyers: Vec<Buyer> = (0..problem.n_users()).map(|n| self.buyer(n)).collect();
        let mut tasks = vec![Vec::new(); problem.n_users()];
        let mut edges = Vec::new();
        for (n, buyer) in buyers.iter().enumerate() {
            match buyer {
                Buyer::Absent => {}
                Buyer::Free => tasks[n] = self.free_tasks(n)?,
                Buyer::Spends | Buyer::Satisfied => edges.extend(self.purchases(n)),
            }
        }
        let mut forest = Forest::new(problem.n_users() + problem.n_servers());
        edges.sort_by(|a, b| b.flow.total_cmp(&a.flow).then(a.ends.cmp(&b.ends)));
        edges.into_iter().for_each(|edge| forest.add(edge));
        let mut prices = Prices {
            user_weights: Vec::new(),
            rows: vec![Rational::new(); problem.n_servers()],
            users: vec![Rational::new(); problem.n_users()],
        };
        for tree in forest.trees() {
            self.solve_tree(&forest, &tree, &buyers, &mut tasks, &mut prices)?;
        }
        for (n, buyer) in buyers.iter().enumerate() {
            let user = &problem.users()[n];
            if let (Buyer::Free | Buyer::Satisfied, Some(limit)) = (buyer, user.tasks()) {
                let cheapest = (0..problem.n_servers())
                    .filter(|&i| problem.can_run(n, i))
                    .map(|i| &prices.rows[i] / self.gamma(n, i))
                    .min();
                let worth = Rational::from(user.weight() / limit);
                prices.users[n] = worth - cheapest.unwrap_or_default();
            }
            tasks[n].sort_by_key(|(i, _)| *i);
        }
        Ok(Equilibrium { tasks, prices })
    }

    /// What user `n` spends where, above what is nothing.
    fn purchases(&self, n: usize) -> impl Iterator<Item = Edge> {
        let n_users = self.constraints.problem().n_users();
        let places = &self.point.places[n];
        let total: f64 = places.iter().map(|place| place.tasks).sum();
        let time = move |place: &Place| place.tasks / near(&self.gamma(n, place.server));
        let bought = move |place: &&Place| {
            let is_some = place.tasks > self.nothing * total || self.by_class && time(place) > self.nothing;
            is_some && !self.is_free(place.server)
        };
        places.iter().filter(bought).map(move |place| {
            let time = time(place);
            Edge { ends: [n, n_users + place.server], flow: time * self.point.row_prices[place.server] }
        })
    }

    /// All tasks of user `n`, where time costs nothing.
    fn free_tasks(&self, n: usize) -> Result<Vec<(usize, Rational)>, String> {
        let limit = self.constraints.problem().users()[n].tasks().ok_or("a user without a limit is free")?;
        let free = self.point.places[n].iter().filter(|place| self.is_free(place.server));
        let used: Vec<&Place> = free.filter(|place| place.tasks > self.nothing * near(limit)).collect();
        let largest = (0..used.len()).max_by(|&a, &b| used[a].tasks.total_cmp(&used[b].tasks));
        let largest = largest.ok_or("a user is satisfied and buys nowhere")?;
        let mut list: Vec<(usize, Rational)> =
            used.iter().map(|place| (place.server, crate::rounding::short(place.tasks))).collect();
        let others: Rational = (0..list.len()).filter(|k| *k != largest).map(|k| &list[k].1).sum();
        list[largest].1 = limit - others;
        Ok(list)
    }

    /// Prices and purchases of one tree of the forest.
    fn solve_tree(
        &self,
        forest: &Forest,
        tree: &[usize],
        buyers: &[Buyer],
        tasks: &mut [Vec<(usize, Rational)>],
        prices: &mut Prices,
    ) -> Result<(), String> {
        let problem = self.constraints.problem();
        let n_users = problem.n_users();
        if let &[alone] = tree {
            let is_outside = if alone < n_users {
                matches!(buyers[alone], Buyer::Absent | Buyer::Free)
            } else {
                self.is_free(alone - n_users)
            };
            return if is_outside {
                Ok(())
            } else {
                Err("somebody buys nothing, or nobody a class".to_owned())
            };
        }
        // Relative prices, of a class for its time and of a user for a task.
        let mut relative = vec![Rational::new(); tree.len()];
        let parents = forest.parents(tree);
        relative[0] = Rational::from(1);
        for k in 1..tree.len() {
            let (user, class, parent) = (tree[k], tree[parents[k]], &relative[parents[k]]);
            relative[k] = match user < n_users {
                true => parent / self.gamma(user, class - n_users),
                false => parent * self.gamma(class, user - n_users),
            };
        }
        let mut spent = Rational::new();
        let mut earned = Rational::new();
        for (node, price) in tree.iter().zip(&relative) {
            if *node >= n_users {
                earned += price;
            } else if let (Buyer::Satisfied, Some(limit)) = (buyers[*node], problem.users()[*node].tasks()) {
                earned -= Rational::from(price * limit);
            } else {
                spent += problem.users()[*node].weight();
            }
        }
        let unit = if spent.is_zero() && earned.is_zero() {
            // Users that have all their tasks fill the classes exactly: a range of prices does, and
            // floating point is inside of it.
            crate::rounding::short(self.point.row_prices[tree[0] - n_users])
        } else if earned > 0 && !spent.is_zero() {
            spent / earned
        } else {
            return Err("the prices of a tree are not told by its money".to_owned());
        };
        // From the leaves inwards: what is left of the node goes to its parent.
        let mut left: Vec<Rational> = relative.iter().map(|price| Rational::from(price * &unit)).collect();
        for (k, node) in tree.iter().enumerate() {
            if *node >= n_users {
                prices.rows[*node - n_users].clone_from(&left[k]);
            } else if let (Buyer::Satisfied, Some(limit)) = (buyers[*node], problem.users()[*node].tasks()) {
                left[k] *= limit;
            } else {
                left[k].clone_from(problem.users()[*node].weight());
            }
        }
        for k in (1..tree.len()).rev() {
            let money = std::mem::take(&mut left[k]);
            if money < 0 {
                return Err("a purchase of a tree is negative".to_owned());
            }
            left[parents[k]] -= &money;
            let ends = [tree[k], tree[parents[k]]];
            let (user, class) = (ends[0].min(ends[1]), ends[0].max(ends[1]) - n_users);
            if !money.is_zero() {
                let time = money / &prices.rows[class];
                tasks[user].push((class, time * self.gamma(user, class)));
            }
        }
        if left[0].is_zero() { Ok(()) } else { Err("the money of a tree does not come out even".to_owned()) }
    }
}
