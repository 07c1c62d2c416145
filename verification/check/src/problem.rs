//! The allocation problem (docs/theory.md, section 1): resources, server classes and users, each by position.

use std::collections::HashMap;

use rug::Rational;

use crate::groups::stated::Groups;
use crate::json::Json;
use crate::names::{Amounts, MOST, Names, at, of_kind};
use crate::work::Checked;

/// An allocation problem.
pub struct Problem {
    pub name: String,
    pub resources: Names,
    pub class_names: Names,
    pub classes: Vec<Class>,
    pub user_names: Names,
    pub users: Vec<User>,
    /// For each user, the first user with the same demands, classes and `gamma`. Weight, tasks and criterion may
    /// differ.
    pub alike: Vec<usize>,
    pub groups: Groups,
}

/// A server class: `count` identical servers.
#[derive(PartialEq)]
pub struct Class {
    pub count: u64,
    /// The capacity of one server, `c_ir`, for each resource.
    pub capacity: Amounts,
    /// True if some user states its `gamma` on this class, so that the time of the class is shared.
    pub states_time: bool,
}

/// A user.
pub struct User {
    pub weight: Rational,
    /// The number of tasks, `T_n`. `None` if unlimited.
    pub tasks: Option<Rational>,
    /// The demand of a task for each resource, on classes without a demand of their own.
    pub demand: Amounts,
    /// The classes that the user may use. `None` if the user may use all classes.
    pub classes: Option<Vec<usize>>,
    /// Demands on single classes that differ from `demand`.
    pub demand_on: Vec<(usize, Amounts)>,
    /// The stated `gamma_ni` of each class.
    pub gamma: Amounts,
    /// The stated coefficient of the share `generic` for each class.
    pub criterion: Amounts,
    /// The rates above 0 on classes that the user may use. `None` if the user states no rates. Rates determine
    /// `classes` and `demand_on`.
    pub rates: Option<Amounts>,
    /// The largest number of accelerators that the user may use at once. It bounds `sum_i x_ni / rate_ni`.
    pub at_most: Option<Rational>,
}

/// Reads the server classes of a problem of either kind, with their names.
pub fn classes(servers: &Json<'_>, resources: &Names) -> Checked<(Names, Vec<Class>)> {
    let rows = servers.rows("name count? capacity?", Ok)?;
    let read = |[_, count, capacity]: &[&Json<'_>; 3]| {
        let count = count.given().map_or(Ok(1), |count| count.count(1, MOST))?;
        Ok(Class { count, capacity: resources.amounts(capacity)?, states_time: false })
    };
    let names = Names::new("server", rows.iter().map(|row| row[0]))?;
    Ok((names, rows.iter().map(read).collect::<Checked<_>>()?))
}

/// Returns the number of tasks, possibly fractional, that fit on one server. The result is 0 for a task that demands
/// nothing.
pub fn most_tasks(demand: &Amounts, capacity: &Amounts) -> Rational {
    let zero = Rational::new();
    let of = |(r, d): &(usize, Rational)| at(capacity, *r).unwrap_or(&zero) / d.clone();
    demand.iter().map(of).min().unwrap_or_default()
}

impl Problem {
    pub fn read(raw: &Json<'_>) -> Checked<Self> {
        of_kind(raw, "allocation-problem")?;
        let [_, name, resources, servers, users, groups, share] =
            raw.fields("kind name? resources servers users? groups? share? $schema? description?")?;
        let name = name.given().map_or(Ok(""), Json::text)?.to_owned();
        let resources = Names::new("resource", resources.list()?)?;
        let (class_names, mut classes) = classes(servers, &resources)?;
        if resources.list.is_empty() || classes.is_empty() {
            return raw.wrong("expected at least one resource and one server class");
        }
        let names = "name weight? tasks? demand? servers? demand_on? gamma? criterion? rates? at_most? group? gang? pinned?";
        let rows = users.rows(names, Ok)?;
        let mut groups = Groups::read(groups, share, &resources, &class_names)?;
        let user_names = Names::new("user", rows.iter().map(|row| row[0]))?;
        let mut users = Vec::new();
        for row in rows {
            let [
                name,
                weight,
                tasks,
                demand,
                servers,
                demand_on,
                gamma,
                criterion,
                rates,
                at_most,
                group,
                gang,
                pinned,
            ] = row;
            let asks = |_, raw| match resources.amounts(raw)? {
                demand if demand.is_empty() => {
                    raw.wrong("the demand is empty: expected at least one resource with an amount above 0")
                }
                demand => Ok(demand),
            };
            let listed = servers.given().map(|servers| class_names.listed(servers)).transpose()?;
            if listed.as_ref().is_some_and(Vec::is_empty) {
                return servers.wrong("expected at least one server class, or no `servers` at all");
            }
            let demand = resources.amounts(demand)?;
            let mut listed = listed.filter(|list| list.len() < classes.len());
            let stated = [demand_on, gamma].iter().any(|raw| raw.given().is_some());
            let rates = match rates.given() {
                Some(raw) if stated || !groups.names.list.is_empty() => {
                    return raw.wrong("`rates` cannot be used with `demand_on`, `gamma` or groups");
                }
                Some(raw) => {
                    let may_use =
                        |i: &usize| listed.as_ref().is_none_or(|list| list.binary_search(i).is_ok());
                    let mut rates = class_names.map(raw, |_, raw| raw.amount())?;
                    rates.retain(|(i, rate)| !rate.is_zero() && may_use(i));
                    if rates.is_empty() {
                        return raw.wrong("no server class that the user may use has a rate above 0");
                    }
                    Some(rates)
                }
                None if at_most.given().is_some() => return at_most.wrong("`at_most` needs `rates`"),
                None => None,
            };
            if let Some(rates) = &rates {
                let allowed: Vec<usize> = rates.iter().map(|(i, _)| *i).collect();
                listed = (allowed.len() < classes.len()).then_some(allowed);
            }
            let mut demand_on = class_names.map(demand_on, asks)?;
            // A demand on a class has no effect if it equals the base demand.
            if let Some(rates) = rates.as_ref().filter(|_| !demand.is_empty()) {
                // A task takes the demand of one accelerator, divided by the rate.
                let of =
                    |rate: &Rational| demand.iter().map(|(r, d)| (*r, Rational::from(d / rate))).collect();
                demand_on = rates.iter().map(|(i, rate)| (*i, of(rate))).collect();
            }
            demand_on.retain(|(_, on_class)| *on_class != demand);
            let user = User {
                weight: weight.given().map_or(Ok(Rational::from(1)), Json::positive)?,
                tasks: tasks.given().map(Json::amount).transpose()?,
                demand,
                classes: listed,
                demand_on,
                gamma: class_names.map(gamma, |_, raw| raw.positive())?,
                criterion: class_names.map(criterion, |_, raw| raw.positive())?,
                rates,
                at_most: at_most.given().map(Json::positive).transpose()?,
            };
            let says = |i| at(&user.gamma, i).is_some() || at(&user.demand_on, i).is_some();
            if user.demand.is_empty() && !user.usable(classes.len()).all(says) {
                return name.wrong(
                    "the user demands nothing: expected at least one resource with an amount above 0",
                );
            }
            user.gamma.iter().for_each(|(i, _)| classes[*i].states_time = true);
            groups.join([group, gang, pinned], user.tasks.as_ref())?;
            users.push(user);
        }
        let mut first = HashMap::new();
        let kinds = users.iter().map(|user| (&user.demand, &user.classes, &user.demand_on, &user.gamma));
        let alike = kinds.enumerate().map(|(n, kind)| *first.entry(kind).or_insert(n)).collect();
        let states =
            |(raw, of): &(&Json<'_>, &Class)| of.states_time || raw.get("capacity").given().is_some();
        match servers.list()?.iter().zip(&classes).find(|class| !states(class)) {
            Some((raw, _)) => raw.wrong("the field `capacity` is missing"),
            None => Ok(Self { name, resources, class_names, classes, user_names, users, alike, groups }),
        }
    }

    /// Returns the demand of a task of user `n` on class `i`, `d_nir`, by resource.
    pub fn demand(&self, n: usize, i: usize) -> &Amounts {
        at(&self.users[n].demand_on, i).unwrap_or(&self.users[n].demand)
    }

    /// Returns true if `gamma_ni > 0`, provided that user `n` may use class `i`.
    fn fits(&self, n: usize, i: usize) -> bool {
        let has = |(r, _): &(usize, Rational)| at(&self.classes[i].capacity, *r).is_some();
        at(&self.users[n].gamma, i).is_some() || self.demand(n, i).iter().all(has)
    }

    /// Returns true if user `n` can run on class `i`, that is, if the user may use the class and `gamma_ni > 0`.
    pub fn can_run(&self, n: usize, i: usize) -> bool {
        let listed = self.users[n].classes.as_ref().is_none_or(|list| list.binary_search(&i).is_ok());
        listed && self.fits(n, i)
    }

    /// Returns the classes on which user `n` can run, in ascending order.
    pub fn classes_of(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        self.users[n].usable(self.classes.len()).filter(move |i| self.fits(n, *i))
    }

    /// Returns `gamma_ni`, computed as if user `n` were allowed to use every class.
    pub fn gamma(&self, n: usize, i: usize) -> Rational {
        let by_demand = || most_tasks(self.demand(n, i), &self.classes[i].capacity) * self.classes[i].count;
        let has_no_rate = self.users[n].rates.as_ref().is_some_and(|rates| at(rates, i).is_none());
        if has_no_rate {
            return Rational::new();
        }
        at(&self.users[n].gamma, i).cloned().unwrap_or_else(by_demand)
    }

    /// Returns true if some user states rates.
    pub fn has_rates(&self) -> bool {
        self.users.iter().any(|user| user.rates.is_some())
    }

    /// Returns true if some user limits the accelerators that it uses at once.
    pub fn has_at_most(&self) -> bool {
        self.users.iter().any(|user| user.at_most.is_some())
    }

    /// Returns the largest number of tasks of user `n` on the fraction `part` of every class. `T_n` does not limit this
    /// number. The user fills the classes with the highest rates first, until it uses `at_most` accelerators.
    pub fn best_use(&self, n: usize, part: &Rational) -> Rational {
        let mut classes: Amounts = self.classes_of(n).map(|i| (i, self.gamma(n, i) * part)).collect();
        let user = &self.users[n];
        let Some(mut left) = user.at_most.clone() else { return classes.iter().map(|(_, x)| x).sum() };
        let zero = Rational::new();
        let rate = |i: usize| user.rates.as_ref().and_then(|rates| at(rates, i)).unwrap_or(&zero);
        classes.sort_by(|(a, _), (b, _)| rate(*b).cmp(rate(*a)));
        let mut sum = Rational::new();
        for (i, most) in classes {
            // A class on which the user can run has a rate above 0.
            let accelerators = (most / rate(i)).min(left.clone());
            sum += Rational::from(&accelerators * rate(i));
            left -= accelerators;
        }
        sum
    }

    /// Returns the capacity of all servers together, by resource.
    pub fn total_capacity(&self) -> Amounts {
        let mut total = vec![Rational::new(); self.resources.list.len()];
        for class in &self.classes {
            class.capacity.iter().for_each(|(r, c)| total[*r] += Rational::from(c * class.count));
        }
        total.into_iter().enumerate().filter(|(_, c)| !c.is_zero()).collect()
    }

    /// Returns the number of capacities, demands and classes to process, for the budget. If `of_each` is true, classes
    /// count for each user. Otherwise they count only once for a set of identical users.
    pub fn size(&self, of_each: bool) -> usize {
        let looks = |(n, user): (usize, &User)| {
            let all = user.classes.as_ref().map_or(self.classes.len(), Vec::len);
            let classes = if of_each || self.alike[n] == n { all } else { 1 };
            let listed: usize = user.demand_on.iter().map(|(_, demand)| demand.len()).sum();
            classes.saturating_mul(user.demand.len() + 1).saturating_add(listed)
        };
        self.users.iter().enumerate().map(looks).fold(self.classes.len(), usize::saturating_add)
    }
}

impl User {
    /// Returns `min(T_n, value)`.
    pub fn at_most_tasks(&self, value: Rational) -> Rational {
        self.tasks.clone().filter(|tasks| *tasks < value).unwrap_or(value)
    }

    /// Returns the number of accelerators that these tasks use at once, `sum_i x_ni / rate_ni`. Tasks on classes
    /// without a rate are not counted.
    pub fn accelerators(&self, tasks: &Amounts) -> Rational {
        let on = |(i, x): &(usize, Rational)| Some(Rational::from(x / at(self.rates.as_ref()?, *i)?));
        tasks.iter().filter_map(on).sum()
    }

    /// Returns the classes that the user may use. `classes` is the number of all classes of the problem.
    fn usable(&self, classes: usize) -> impl Iterator<Item = usize> + '_ {
        let all = if self.classes.is_none() { 0..classes } else { 0..0 };
        self.classes.iter().flatten().copied().chain(all)
    }
}
