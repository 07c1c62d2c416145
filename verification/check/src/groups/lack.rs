//! The lack of users: how far they are below the guarantees of the groups above them (docs/axioms.md, "Guarantees:
//! the lack").
//!
//! The lowest group above a user that states a guarantee has it for all its users, so its whole usage counts. For the
//! groups next to the path from there to the root, only usage that is covered by a guarantee counts.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rug::Rational;

use super::holdings::{Holdings, Step};
use super::stated::Groups;
use crate::names::at;
use crate::work::{self, Checked};

/// The lacks of all users in an allocation.
pub struct Lacks<'h, 'c> {
    holdings: &'h Holdings<'c>,
    /// For each limit on server classes, by group: the amount that users directly in the group take of the limit.
    direct: Vec<BTreeMap<usize, Rational>>,
    /// The amount that counts, by limit and lowest group that states a guarantee. It is the same for all users with
    /// this lowest group.
    counted: RefCell<BTreeMap<(usize, usize), Rational>>,
}

impl<'h, 'c> Lacks<'h, 'c> {
    pub fn new(holdings: &'h Holdings<'c>) -> Checked<Self> {
        let case = holdings.case;
        let mut direct = vec![BTreeMap::new(); holdings.on.len()];
        for (n, tasks) in case.x.iter().enumerate() {
            for limit in Holdings::on_of_user(case, &holdings.on, n)? {
                work::spend(tasks.len() + 1)?;
                let Some(group) = case.problem.groups.members[n].group else { continue };
                let of = &holdings.on[limit];
                let held = |(i, x): &(usize, Rational)| Some(of.takes(case.problem, n, *i)? * x.clone());
                *direct[limit].entry(group).or_insert_with(Rational::new) +=
                    tasks.iter().filter_map(held).sum::<Rational>();
            }
        }
        Ok(Self { holdings, direct, counted: RefCell::default() })
    }

    fn groups(&self) -> &'c Groups {
        &self.holdings.case.problem.groups
    }

    /// Returns the fraction of the usage of a resource by users directly in `group` that counts for users below
    /// `lowest`.
    fn fraction(&self, group: usize, lowest: usize, r: usize) -> Rational {
        let groups = self.groups();
        let mut topmost = None;
        for v in groups.above(Some(group)) {
            if v == lowest {
                return Rational::from(1);
            }
            if groups.above(Some(lowest)).any(|above| above == v) {
                break;
            }
            topmost = groups.list[v].guarantee.as_ref().map(|stated| (v, stated)).or(topmost);
        }
        let promised = topmost.and_then(|(v, stated)| Some((at(stated, r)?, &self.holdings.used[v][r])));
        promised.map_or_else(Rational::new, |(promised, used)| match promised < used {
            true => Rational::from(promised / used),
            false => Rational::from(1),
        })
    }

    /// Returns the amount of a limit that counts for users below `lowest`.
    fn counted_on(&self, limit: usize, lowest: usize) -> Checked<Rational> {
        if let Some(known) = self.counted.borrow().get(&(limit, lowest)) {
            return Ok(known.clone());
        }
        let (resource, depth) = (self.holdings.on[limit].resource, |v| self.groups().above(Some(v)).count());
        let mut counted = Rational::new();
        for (group, held) in &self.direct[limit] {
            work::steps(4 * (depth(*group) * depth(lowest) + 1) as u64)?;
            counted = work::plus(&counted, &work::times(held, &self.fraction(*group, lowest, resource))?)?;
        }
        self.counted.borrow_mut().insert((limit, lowest), counted.clone());
        Ok(counted)
    }

    /// Returns the bounds that limits on classes set on the number of further tasks of a user. A single limit sets a
    /// bound if it counts on all classes where the user can run. All limits together set a bound, summed class by
    /// class, if each such class has a limit.
    fn left_on_classes(&self, n: usize, lowest: usize) -> Checked<Vec<Rational>> {
        let problem = self.holdings.case.problem;
        let mut of_class: Vec<Option<Rational>> = problem.classes_of(n).map(|_| None).collect();
        let mut rooms = Vec::new();
        for limit in Holdings::on_of_user(self.holdings.case, &self.holdings.on, n)? {
            let of = &self.holdings.on[limit];
            let left = Rational::from(of.most - &self.counted_on(limit, lowest)?).max(Rational::new());
            work::spend(of_class.len())?;
            let on_class = |i| Some(Rational::from(&left / of.takes(problem, n, i)?));
            let own: Vec<Option<Rational>> = problem.classes_of(n).map(on_class).collect();
            for (least, own) in of_class.iter_mut().zip(&own) {
                *least = least.take().into_iter().chain(own.clone()).min();
            }
            let everywhere: Option<Vec<Rational>> = own.into_iter().collect();
            rooms.extend(everywhere.and_then(|own| own.into_iter().max()));
        }
        let together: Option<Vec<Rational>> = of_class.into_iter().collect();
        rooms.extend(together.map(work::sum).transpose()?);
        Ok(rooms)
    }

    /// Returns the number of further tasks to which the guarantees above a user entitle it.
    pub fn of(&self, n: usize) -> Checked<Rational> {
        let (groups, holdings) = (self.groups(), self.holdings);
        let case = holdings.case;
        let states = |v: &usize| groups.list[*v].guarantee.is_some();
        let Some(lowest) = groups.above_user(n).find(states) else { return Ok(Rational::new()) };
        let mut rooms: Vec<Rational> = case.tasks_left(n).into_iter().collect();
        rooms.extend(self.left_on_classes(n, lowest)?);
        let demand =
            case.problem.users[n].demand.iter().filter(|(r, _)| at(&holdings.capacity, *r).is_some());
        let mut steps: Vec<Step<'_>> =
            demand.map(|(r, d)| Step { r: *r, d, spare: Rational::new() }).collect();
        // The child on the path to the user, and its counted usage, starting with the lowest group that states a
        // guarantee.
        let mut child: Option<(usize, Vec<Rational>)> = None;
        for v in groups.above_user(n) {
            work::spend(8 * steps.len() + 1)?;
            let counted: Vec<Rational> = match &child {
                None => steps.iter().map(|step| holdings.used[v][step.r].clone()).collect(),
                Some((child, below)) => {
                    let of = |(step, below): (&Step<'_>, &Rational)| {
                        let (kept, part) =
                            (&holdings.kept[*child][step.r], holdings.promised_use(*child, step.r));
                        let others = Rational::from(&holdings.below[v][step.r] - (&part).max(kept));
                        others + below.max(kept)
                    };
                    steps.iter().zip(below).map(of).collect()
                }
            };
            let is_bound = states(&v) || groups.is_shut(v);
            let mut is_named = !is_bound;
            for (Step { r, d, spare }, counted) in steps.iter_mut().zip(&counted) {
                let promised = holdings.promised(v, *r).filter(|_| is_bound);
                is_named |= promised.is_some();
                let bounds = promised.into_iter().chain(at(&groups.list[v].limit, *r));
                rooms.extend(bounds.map(|bound| (Rational::from(bound - counted) + &*spare) / *d));
                *spare += Rational::from(&holdings.kept[v][*r] - counted).max(Rational::new());
            }
            if !is_named {
                return Ok(Rational::new());
            }
            if v == lowest || child.is_some() {
                child = Some((v, counted));
            }
        }
        Ok(rooms.into_iter().min().unwrap_or_default().max(Rational::new()))
    }
}
