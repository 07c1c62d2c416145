//! The lack of users: the further tasks to which the guarantees of the groups above a user entitle it (docs/axioms.md,
//! "Guarantees: the lack").
//!
//! Take the lowest group above a user that states a guarantee. This guarantee is for all users of the group, so the
//! whole usage of the group counts. For the groups next to the path from there to the root, only usage that is covered
//! by a guarantee counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rug::Rational;

use super::holdings::Holdings;
use super::stated::Groups;
use crate::names::at;
use crate::work::{self, Checked};

/// The lacks of all users in an allocation.
pub struct Lacks<'h, 'c> {
    holdings: &'h Holdings<'c>,
    /// For each limit on server classes, by group: the amount of the limit that users directly in the group use.
    direct: Vec<BTreeMap<usize, Rational>>,
    /// The counted amount, by limit and by lowest group that states a guarantee. The amount is the same for all users
    /// with this lowest group.
    counted: RefCell<BTreeMap<(usize, usize), Rational>>,
    /// The bounds for the users directly in each group, by group.
    paths: RefCell<BTreeMap<usize, Rc<Path>>>,
}

/// The bounds that the groups above set for the users of one group. The bounds are the same for all these users.
struct Path {
    /// The lowest group that states a guarantee.
    lowest: Option<usize>,
    /// For each resource, the smallest amount that is still free under any of the groups.
    left: Vec<Option<Rational>>,
    /// For each group that restricts its users to guarantees: for each resource, whether the group has a guarantee of
    /// it.
    named: Vec<Vec<bool>>,
}

impl<'h, 'c> Lacks<'h, 'c> {
    pub fn new(holdings: &'h Holdings<'c>) -> Checked<Self> {
        let case = holdings.case;
        let mut direct = vec![BTreeMap::new(); holdings.on.len()];
        for (n, tasks) in case.x.iter().enumerate() {
            for limit in Holdings::on_of_user(case, &holdings.on, n)? {
                let Some(group) = case.problem.groups.members[n].group else { continue };
                let of = &holdings.on[limit];
                let used = direct[limit].entry(group).or_insert_with(Rational::new);
                for (i, x) in tasks {
                    let Some(takes) = of.takes(case.problem, n, *i) else { continue };
                    *used = work::plus(used, &work::times(takes, x)?)?;
                }
            }
        }
        Ok(Self { holdings, direct, counted: RefCell::default(), paths: RefCell::default() })
    }

    fn groups(&self) -> &'c Groups {
        &self.holdings.case.problem.groups
    }

    /// Returns the fraction of the usage by users directly in `group` that counts for users below `lowest`. The usage
    /// is of resource `r`.
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
    /// bound if it counts on all classes where the user can run. All limits together also set a bound if each such
    /// class has a limit. This bound is summed class by class.
    fn left_on_classes(&self, n: usize, lowest: usize) -> Checked<Vec<Rational>> {
        let problem = self.holdings.case.problem;
        let mut of_class: Vec<Option<Rational>> = problem.classes_of(n).map(|_| None).collect();
        let mut rooms = Vec::new();
        for limit in Holdings::on_of_user(self.holdings.case, &self.holdings.on, n)? {
            let of = &self.holdings.on[limit];
            let left = Rational::from(of.most - &self.counted_on(limit, lowest)?).max(Rational::new());
            work::steps(work::cost(work::words(&left)).saturating_mul(of_class.len() as u64))?;
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
        let case = self.holdings.case;
        let Some(group) = case.problem.groups.members[n].group else { return Ok(Rational::new()) };
        let path = self.path(group)?;
        let Some(lowest) = path.lowest else { return Ok(Rational::new()) };
        let mut rooms: Vec<Rational> = case.tasks_left(n).into_iter().collect();
        rooms.extend(self.left_on_classes(n, lowest)?);
        let demand = &case.problem.users[n].demand;
        let demanded = || demand.iter().filter(|(r, _)| at(&self.holdings.capacity, *r).is_some());
        work::steps((path.named.len() * demand.len()) as u64)?;
        if !path.named.iter().all(|named| demanded().any(|(r, _)| named[*r])) {
            return Ok(Rational::new());
        }
        for (r, d) in demanded() {
            if let Some(left) = &path.left[*r] {
                rooms.push(work::over(left, d)?);
            }
        }
        Ok(rooms.into_iter().min().unwrap_or_default().max(Rational::new()))
    }

    /// Returns the bounds that the groups above the users of a group set for these users.
    fn path(&self, group: usize) -> Checked<Rc<Path>> {
        if let Some(known) = self.paths.borrow().get(&group) {
            return Ok(known.clone());
        }
        let (groups, holdings) = (self.groups(), self.holdings);
        let m = holdings.case.problem.resources.list.len();
        let states = |v: &usize| groups.list[*v].guarantee.is_some();
        let lowest = groups.above(Some(group)).find(states);
        let mut path = Path { lowest, left: vec![None; m], named: Vec::new() };
        let mut spare = vec![Rational::new(); m];
        // The child on the path to the group, with its counted usage. The first child is the lowest group that states a
        // guarantee.
        let mut child: Option<(usize, Vec<Rational>)> = None;
        for v in groups.above(Some(group)).take(if lowest.is_some() { usize::MAX } else { 0 }) {
            let mut counted = holdings.used[v].clone();
            if let Some((child, below)) = &child {
                for (r, below) in below.iter().enumerate() {
                    let (kept, part) = (&holdings.kept[*child][r], holdings.promised_use(*child, r));
                    let others = work::plus(&holdings.below[v][r], &-part.max(kept.clone()))?;
                    counted[r] = work::plus(&others, below.max(kept))?;
                }
            }
            let is_bound = states(&v) || groups.is_shut(v);
            let mut named = vec![false; m];
            for (r, counted) in counted.iter().enumerate() {
                let promised = holdings.promised(v, r).filter(|_| is_bound);
                named[r] = promised.is_some();
                for bound in promised.into_iter().chain(at(&groups.list[v].limit, r)) {
                    let left = work::plus(&work::plus(bound, &-counted.clone())?, &spare[r])?;
                    work::steps(work::comparison(work::words(&left)))?;
                    path.left[r] = path.left[r].take().into_iter().chain([left]).min();
                }
                let kept = &holdings.kept[v][r];
                // Usage is never negative, so nothing is spare where nothing is kept back.
                if !kept.is_zero() {
                    let unused = work::plus(kept, &-counted.clone())?;
                    spare[r] = work::plus(&spare[r], &unused.max(Rational::new()))?;
                }
            }
            path.named.extend(is_bound.then_some(named));
            if Some(v) == lowest || child.is_some() {
                child = Some((v, counted));
            }
        }
        let path = Rc::new(path);
        self.paths.borrow_mut().insert(group, path.clone());
        Ok(path)
    }
}
