//! Filling the tree, segment by segment, until nobody can grow.

use evenhand_lp::LpError;
use evenhand_lp::placement::Placements;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use super::forest::Forest;
use super::growth::Direction;
use super::holdings::Holdings;
use super::step::first_event;

/// Most work, in sizes of the forest: a few nanoseconds each while numbers are short.
const WORK: usize = 10_000_000_000;

/// A filled tree.
pub struct Filled {
    /// By user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    pub segments: usize,
    pub programmes: usize,
}

/// Where the tasks are placed.
enum Place<'c> {
    /// All servers are alike: what fits by its sum fits.
    Pool,
    Classes {
        placements: Placements<'c>,
        tasks: Vec<Vec<(usize, Rational)>>,
        programmes: usize,
    },
}

/// The exact hierarchical filling; `None` where it would take more work than is allowed.
pub fn fill(problem: &Problem, forest: &Forest<'_>) -> Result<Option<Filled>, LpError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut place = match problem.n_servers() {
        1 => Place::Pool,
        _ => Place::Classes {
            placements: Placements::new(&constraints),
            tasks: vec![Vec::new(); problem.n_users()],
            programmes: 0,
        },
    };
    let mut holdings = Holdings::new(forest, vec![Rational::new(); problem.n_users()]);
    // Who is stopped stays so: what is used only grows.
    let mut is_stopped = vec![false; problem.n_users()];
    for segments in 0..WORK / forest.size().max(1) {
        let way = |n: usize| {
            let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref().filter(|_| !is_stopped[n]);
            let way = leaf.and_then(|leaf| holdings.way(forest, leaf));
            way.filter(|way| !way.is_stopped).map(|way| way.nodes)
        };
        let ways: Vec<_> = (0..problem.n_users()).map(way).collect();
        is_stopped = ways.iter().map(Option::is_none).collect();
        let growing: Vec<usize> = (0..problem.n_users()).filter(|n| ways[*n].is_some()).collect();
        if growing.is_empty() {
            let (tasks, programmes) = place.into_tasks(&holdings.tasks);
            return Ok(Some(Filled { tasks, segments, programmes }));
        }
        let mut direction = Direction { forest, holdings: &holdings, ways, races: Vec::new() };
        let growth = direction.of(0, &growing);
        let mut rates = vec![Rational::new(); problem.n_users()];
        growth.rates.into_iter().for_each(|(n, rate)| rates[n] = rate);
        let node_growth = holdings.growth(forest, &rates);
        let event = first_event(forest, &holdings, &rates, &node_growth, &direction.races);
        match &mut place {
            Place::Pool => match event {
                Some(step) => holdings.advance(&rates, node_growth, &step),
                None => return Err(LpError::ExactlyUnbounded),
            },
            Place::Classes { placements, tasks, programmes } => {
                let (step, placed) = placements.farthest(&holdings.tasks, &rates, event.as_ref())?;
                *programmes += 1;
                *tasks = placed;
                holdings.advance(&rates, node_growth, &step);
                if event.is_none_or(|event| step < event) {
                    let users: Vec<usize> = (0..rates.len()).filter(|n| rates[*n] > 0).collect();
                    let (stuck, solved) = placements.stuck(&holdings.tasks, &users, tasks)?;
                    *programmes += solved;
                    stuck.into_iter().for_each(|n| is_stopped[n] = true);
                }
            }
        }
    }
    Ok(None)
}

impl Place<'_> {
    fn into_tasks(self, totals: &[Rational]) -> (Vec<Vec<(usize, Rational)>>, usize) {
        match self {
            Self::Pool => {
                let of_user = |x: &Rational| if x.is_zero() { Vec::new() } else { vec![(0, x.clone())] };
                (totals.iter().map(of_user).collect(), 0)
            }
            Self::Classes { tasks, programmes, .. } => (tasks, programmes),
        }
    }
}
