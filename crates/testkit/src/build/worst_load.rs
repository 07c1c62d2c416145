//! Builds worst-load certificates of small instances. Every order is examined over all configurations, by a
//! dense simplex method.

use evenhand_exact::ratio::worst_load::{Covers, First, PrefixClaim, WorstLoadCertificate};
use evenhand_exact::ratio::{Assignment, Greedy, PackingPrices, sparse};
use evenhand_problem::format::reservation_to_json;
use evenhand_problem::{Rational, Reservation};
use serde_json::Value;

use crate::build::ratio::{self as build, Builder, Method};
use crate::plain::ratio::{self as plain, K};
use crate::random::reservations;

/// Returns the problem with the same types and other loads.
pub fn with_loads(problem: &Reservation, loads: &[Rational]) -> Reservation {
    let mut document: Value = serde_json::from_str(&reservation_to_json(problem)).unwrap();
    for (job, load) in document["jobs"].as_array_mut().unwrap().iter_mut().zip(loads) {
        job["load"] = Value::String(load.to_string());
    }
    reservations::read(&document.to_string())
}

/// Returns a worst-load certificate. With `prune`, a claim may cover all orders with a common beginning.
pub fn certificate(problem: &Reservation, method: Method, prune: bool) -> WorstLoadCertificate {
    let all = plain::configurations(problem).expect("a small instance");
    let rewards = problem.rewards();
    let zeros = vec![Rational::new(); problem.n_types()];
    let mut certificate = WorstLoadCertificate {
        problem: problem.clone(),
        ratio_lower: None,
        ratio_upper: None,
        loads: zeros.clone(),
        greedy: Greedy { reward: Rational::new(), steps: Vec::new() },
        optimum: Assignment { reward: Rational::new(), servers: Vec::new(), served: zeros.clone() },
        firsts: Vec::new(),
        claims: Vec::new(),
    };
    let Some(rewarded) = rewards.iter().position(|reward| *reward != 0) else { return certificate };
    // The loads fill the server with jobs of one type, which greedy serves completely.
    let mut loads = zeros;
    loads[rewarded] = problem.most(0, rewarded).into();
    let builder = Builder { problem, method };
    let mut search = Search {
        problem,
        all: &all[0],
        builder,
        rewards,
        prune,
        ratio: Rational::from(1),
        loads,
        found: &mut certificate,
    };
    search.visit(&mut Vec::new(), &mut Vec::new());
    let Search { ratio, loads, .. } = search;
    let there = build::certificate(&with_loads(problem, &loads), method);
    certificate.ratio_lower = Some(ratio);
    certificate.ratio_upper = there.ratio;
    certificate.loads = loads;
    certificate.greedy = there.greedy;
    certificate.optimum = there.optimum.assignment;
    certificate
}

struct Search<'a> {
    problem: &'a Reservation,
    all: &'a [K],
    builder: Builder<'a>,
    rewards: Vec<Rational>,
    prune: bool,
    ratio: Rational,
    loads: Vec<Rational>,
    found: &'a mut WorstLoadCertificate,
}

impl Search<'_> {
    fn visit(&mut self, order: &mut Vec<usize>, steps: &mut Vec<K>) {
        let n = self.problem.n_types();
        let open: Vec<usize> = (0..n).filter(|j| !order.contains(j)).collect();
        if open.is_empty() {
            return;
        }
        let k = plain::first(self.problem, self.all, &open);
        let first =
            First { first: self.builder.first(0, &open, &k), configuration: sparse(&k), open: open.clone() };
        if !self.found.firsts.contains(&first) {
            self.found.firsts.push(first);
        }
        steps.push(k.clone());
        let values: Vec<Rational> = steps.iter().map(|k| plain::value(&self.rewards, k)).collect();
        let alone = open.iter().map(|&j| Rational::from(&self.rewards[j] * self.problem.most(0, j)));
        let mut least = values.clone();
        *least.last_mut().unwrap() = alone.min().unwrap();
        let settled = self.prune && self.ask(order, steps, &least, Covers::All);
        while !settled && !self.ask(order, steps, &values, Covers::End) {}
        for j in (0..n).filter(|&j| !settled && k[j] > 0) {
            order.push(j);
            self.visit(order, steps);
            order.pop();
        }
        steps.pop();
    }

    /// Tests whether greedy reaches the current ratio if step `l` earns `values[l]`. If it does, a claim is
    /// added. Otherwise the current ratio falls, if the steps really earn these values.
    fn ask(&mut self, order: &[usize], steps: &[K], values: &[Rational], covers: Covers) -> bool {
        let (n, t) = (self.problem.n_types(), steps.len());
        // The columns are the jobs served by type, the servers by step, and the servers by configuration. The
        // rows are the slots by type, the loads by position in the order, the number of servers, and one row
        // for a total of one server.
        let mut rows = vec![vec![Rational::new(); n + t + self.all.len()]; n + order.len() + 2];
        let [servers, whole] = [rows.len() - 2, rows.len() - 1];
        rows.iter_mut().take(n).enumerate().for_each(|(j, row)| row[j] = Rational::from(1));
        for (i, &j) in order.iter().enumerate() {
            rows[n + i][j] = Rational::from(1);
            for l in 0..=i {
                rows[n + i][n + l] = -Rational::from(steps[l][j]);
            }
        }
        for l in 0..t {
            rows[servers][n + l] = Rational::from(-1);
            rows[whole][n + l] = Rational::from(1);
        }
        for (at, k) in self.all.iter().enumerate() {
            rows[servers][n + t + at] = Rational::from(1);
            for j in 0..n {
                rows[j][n + t + at] = -Rational::from(k[j]);
            }
        }
        let mut right = vec![Rational::new(); rows.len()];
        right[whole] = Rational::from(1);
        let mut gain: Vec<Rational> =
            self.rewards.iter().map(|reward| Rational::from(reward * &self.ratio)).collect();
        gain.extend(values.iter().map(|value| Rational::from(-value)));
        gain.extend(vec![Rational::new(); self.all.len()]);
        let (x, prices) = build::simplex(rows, right, gain);
        if prices[whole] == 0 {
            let mut load = vec![Rational::new(); n];
            order.iter().zip(&prices[n..]).for_each(|(&j, price)| load[j] = price.clone());
            let (slot, server) = (prices[..n].to_vec(), prices[servers].clone());
            let pricing = self.builder.pricing(0, &slot, &server);
            let prices = PackingPrices { load, slot, server: vec![server] };
            self.found.claims.push(PrefixClaim { order: order.to_vec(), covers, prices, pricing });
            return true;
        }
        if covers == Covers::End {
            let (y, z) = (&x[..n], &x[n..n + t]);
            self.ratio = plain::value_of(values, z) / plain::value_of(&self.rewards, y);
            for j in 0..n {
                let used = steps.iter().zip(z).map(|(k, z)| Rational::from(z * k[j])).sum::<Rational>();
                self.loads[j] = if order.contains(&j) { used } else { used.max(y[j].clone()) };
            }
        }
        false
    }
}
