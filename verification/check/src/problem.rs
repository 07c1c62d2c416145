//! The allocation problem (theory, section 1): resources, server classes and users, by position.

use std::collections::HashMap;

use rug::Rational;

use crate::json::Json;
use crate::work::Checked;

/// `(position, amount)`, ascending, no amount 0.
pub type Amounts = Vec<(usize, Rational)>;

/// Most identical servers of a class, and most jobs of a type on a server.
pub const MOST: u64 = 1_000_000_000_000;

#[derive(Debug)]
pub struct Problem {
    pub name: String,
    pub resources: Names,
    pub class_names: Names,
    pub classes: Vec<Class>,
    pub user_names: Names,
    pub users: Vec<User>,
}

/// `count` identical servers.
#[derive(Debug)]
pub struct Class {
    pub count: u64,
    /// Of one server, by resource: `c_ir`.
    pub capacity: Amounts,
    /// Whether a user states its `gamma` here, so that the time of the class is shared.
    pub states_time: bool,
}

#[derive(Debug)]
pub struct User {
    pub weight: Rational,
    /// `T_n`; absent: unlimited.
    pub tasks: Option<Rational>,
    pub demand: Amounts,
    /// The classes that the user may use; absent: all.
    pub classes: Option<Vec<usize>>,
    pub demand_on: Vec<(usize, Amounts)>,
    pub gamma: Amounts,
    pub criterion: Amounts,
}

/// Names and their positions.
#[derive(Debug)]
pub struct Names {
    pub what: &'static str,
    pub list: Vec<String>,
    position: HashMap<String, usize>,
}

impl Names {
    pub fn new(what: &'static str) -> Self {
        Self { what, list: Vec::new(), position: HashMap::new() }
    }

    pub fn add(&mut self, name: &Json<'_>) -> Checked<()> {
        let text = name.text()?.to_owned();
        if text.is_empty() || self.position.insert(text.clone(), self.list.len()).is_some() {
            return name.wrong(format!("the {} `{text}` is named twice, or has no name", self.what));
        }
        self.list.push(text);
        Ok(())
    }

    /// The position of a name that stands at `place`.
    pub fn find(&self, name: &str, place: &Json<'_>) -> Checked<usize> {
        match self.position.get(name) {
            Some(position) => Ok(*position),
            None => place.wrong(format!("there is no such {}: `{name:.60}`", self.what)),
        }
    }

    /// The position of the name that a string holds.
    pub fn named(&self, name: &Json<'_>) -> Checked<usize> {
        self.find(name.text()?, name)
    }

    /// The positions in a list of names, none twice, ascending.
    pub fn listed(&self, list: &Json<'_>) -> Checked<Vec<usize>> {
        let mut found: Vec<usize> =
            list.list()?.iter().map(|name| self.named(name)).collect::<Checked<_>>()?;
        found.sort_unstable();
        match found.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => list.wrong(format!("`{}` is named twice", self.list[pair[0]])),
            None => Ok(found),
        }
    }

    /// What an object says by name, by position ascending; nothing where it is absent.
    pub fn map<'j, 't, T>(
        &self,
        object: &'j Json<'t>,
        read: impl Fn(usize, &'j Json<'t>) -> Checked<T>,
    ) -> Checked<Vec<(usize, T)>> {
        let mut found = Vec::new();
        if !object.is_absent() {
            for (name, value) in object.object()? {
                let at = self.find(name, value)?;
                found.push((at, read(at, value)?));
            }
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found)
    }
}

/// The value at a position.
pub fn at<T>(list: &[(usize, T)], position: usize) -> Option<&T> {
    list.binary_search_by_key(&position, |(at, _)| *at).ok().map(|place| &list[place].1)
}

/// Amounts of at least 0 by name, which may have suffixes.
pub fn amounts(names: &Names, object: &Json<'_>) -> Checked<Amounts> {
    let mut amounts = names.map(object, |_, raw| match raw.quantity()? {
        amount if amount < 0 => raw.wrong("a negative quantity: expected a number of at least 0"),
        amount => Ok(amount),
    })?;
    amounts.retain(|(_, amount)| !amount.is_zero());
    Ok(amounts)
}

fn positive(raw: &Json<'_>) -> Checked<Rational> {
    match raw.number()? {
        value if value <= 0 => raw.wrong("expected a number above 0"),
        value => Ok(value),
    }
}

/// Names that are not few: a list of strings.
pub fn names(what: &'static str, list: &Json<'_>) -> Checked<Names> {
    let mut names = Names::new(what);
    list.list()?.iter().try_for_each(|name| names.add(name))?;
    Ok(names)
}

/// That a document is of this kind.
pub fn of_kind(kind: &Json<'_>, expected: &str) -> Checked<()> {
    if kind.text()? == expected { Ok(()) } else { kind.wrong(format!("expected the kind `{expected}`")) }
}

impl Problem {
    pub fn read(raw: &Json<'_>) -> Checked<Self> {
        let [kind, name, resources, servers, users, _, _] =
            raw.fields(["kind", "name?", "resources", "servers", "users?", "$schema?", "description?"])?;
        of_kind(kind, "allocation-problem")?;
        let mut problem = Self {
            name: if name.is_absent() { String::new() } else { name.text()?.to_owned() },
            resources: names("resource", resources)?,
            class_names: Names::new("server"),
            classes: Vec::new(),
            user_names: Names::new("user"),
            users: Vec::new(),
        };
        let mut without_capacity = Vec::new();
        for raw in servers.list()? {
            let [name, count, capacity] = raw.fields(["name", "count?", "capacity?"])?;
            if capacity.is_absent() {
                without_capacity.push((problem.classes.len(), raw));
            }
            problem.class_names.add(name)?;
            let count = if count.is_absent() { 1 } else { count.count(1, MOST)? };
            let capacity = amounts(&problem.resources, capacity)?;
            problem.classes.push(Class { count, capacity, states_time: false });
        }
        if problem.resources.list.is_empty() || problem.classes.is_empty() {
            return raw.wrong("expected at least one resource and one server class");
        }
        if !users.is_absent() {
            for raw in users.list()? {
                let user = problem.user(raw)?;
                user.gamma.iter().for_each(|(i, _)| problem.classes[*i].states_time = true);
                problem.users.push(user);
            }
        }
        match without_capacity.iter().find(|(i, _)| !problem.classes[*i].states_time) {
            Some((_, raw)) => raw.wrong("the field `capacity` is missing"),
            None => Ok(problem),
        }
    }

    fn user(&mut self, raw: &Json<'_>) -> Checked<User> {
        let [name, weight, tasks, demand, servers, demand_on, gamma, criterion] = raw.fields([
            "name",
            "weight?",
            "tasks?",
            "demand?",
            "servers?",
            "demand_on?",
            "gamma?",
            "criterion?",
        ])?;
        self.user_names.add(name)?;
        let tasks = if tasks.is_absent() { None } else { Some((tasks.number()?, tasks)) };
        if let Some((_, raw)) = tasks.as_ref().filter(|(tasks, _)| *tasks < 0) {
            return raw.wrong("a negative number of tasks");
        }
        let classes = if servers.is_absent() { None } else { Some(self.class_names.listed(servers)?) };
        if classes.as_ref().is_some_and(Vec::is_empty) {
            return servers.wrong("expected at least one server class, or no `servers` at all");
        }
        let asks = |_, raw| match amounts(&self.resources, raw)? {
            demand if demand.is_empty() => raw.wrong("a demand that asks for nothing"),
            demand => Ok(demand),
        };
        let user = User {
            weight: if weight.is_absent() { Rational::from(1) } else { positive(weight)? },
            tasks: tasks.map(|(tasks, _)| tasks),
            demand: amounts(&self.resources, demand)?,
            classes: classes.filter(|list| list.len() < self.classes.len()),
            demand_on: self.class_names.map(demand_on, asks)?,
            gamma: self.class_names.map(gamma, |_, raw| positive(raw))?,
            criterion: self.class_names.map(criterion, |_, raw| positive(raw))?,
        };
        let says = |i: &usize| at(&user.gamma, *i).is_some() || at(&user.demand_on, *i).is_some();
        if user.demand.is_empty() && !user.usable(self.classes.len()).all(|i| says(&i)) {
            return raw.wrong("a user that demands nothing");
        }
        Ok(user)
    }

    /// `d_nir`, by resource.
    pub fn demand(&self, n: usize, i: usize) -> &Amounts {
        at(&self.users[n].demand_on, i).unwrap_or(&self.users[n].demand)
    }

    /// Whether `gamma_ni > 0` if user `n` may use class `i`.
    fn fits(&self, n: usize, i: usize) -> bool {
        let has = |(r, _): &(usize, Rational)| at(&self.classes[i].capacity, *r).is_some();
        at(&self.users[n].gamma, i).is_some() || self.demand(n, i).iter().all(has)
    }

    /// Whether user `n` can run on class `i`: `gamma_ni > 0`.
    pub fn can_run(&self, n: usize, i: usize) -> bool {
        let listed = self.users[n].classes.as_ref().is_none_or(|list| list.binary_search(&i).is_ok());
        listed && self.fits(n, i)
    }

    /// The classes on which user `n` can run, ascending.
    pub fn classes_of(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        self.users[n].usable(self.classes.len()).filter(move |i| self.fits(n, *i))
    }

    /// `gamma_ni`, as if user `n` might use every class.
    pub fn gamma(&self, n: usize, i: usize) -> Rational {
        if let Some(gamma) = at(&self.users[n].gamma, i) {
            return gamma.clone();
        }
        let of = |(r, d): &(usize, Rational)| {
            at(&self.classes[i].capacity, *r).map_or_else(Rational::new, |c| Rational::from(c / d))
        };
        self.demand(n, i).iter().map(of).min().unwrap_or_default() * self.classes[i].count
    }

    /// Capacity of all servers together, by resource.
    pub fn total_capacity(&self) -> Vec<Rational> {
        let mut total = vec![Rational::new(); self.resources.list.len()];
        for class in &self.classes {
            class.capacity.iter().for_each(|(r, c)| total[*r] += Rational::from(c * class.count));
        }
        total
    }

    /// The number of capacities, demands and classes to look at, for the budget.
    pub fn size(&self) -> usize {
        let looks = |user: &User| {
            let classes = user.classes.as_ref().map_or(self.classes.len(), Vec::len);
            let listed: usize = user.demand_on.iter().map(|(_, demand)| demand.len()).sum();
            classes.saturating_mul(user.demand.len() + 1).saturating_add(listed)
        };
        self.users.iter().map(looks).fold(self.classes.len(), usize::saturating_add)
    }
}

impl User {
    /// The classes that the user may use, of so many.
    fn usable(&self, classes: usize) -> impl Iterator<Item = usize> + '_ {
        let all = if self.classes.is_none() { 0..classes } else { 0..0 };
        self.classes.iter().flatten().copied().chain(all)
    }
}
