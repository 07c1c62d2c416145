//! Servers that come, go and change.

use std::collections::HashSet;

use evenhand_problem::{Rational, ServerSpec};

/// How the servers of a scenario change over time.
///
/// The single servers of its classes are *places*: every machine has one for each of its capacities, and stands in one
/// of them, or is away. Places follow each other so that the machines that are there always stand in the same order,
/// whatever their capacities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machines {
    /// By server class: the machines that have its capacity first. Shares are parts of these together.
    pub first: Vec<u64>,
    /// Places where no machine stands at the beginning, ascending.
    pub empty: Vec<u32>,
    /// In the order of their times.
    pub changes: Vec<Change>,
}

/// What happens to the machine of a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Time.
    pub at: f64,
    /// The place, by class in the order of the scenario.
    pub place: u32,
    /// What happens there.
    pub what: What,
}

/// What happens to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It comes.
    Comes,
    /// It goes; its tasks stop, and wait again.
    Goes,
    /// It has the capacity of this other place from now on. Its tasks go on there, the oldest first, as far as they
    /// fit; the others stop, and wait again.
    Becomes(u32),
}

/// A place: its class, and its number there.
type Place = (usize, u32);

/// A machine.
struct Machine {
    /// Where it stands.
    stands: Option<Place>,
    /// By class: the place that it has had there, the last one last.
    places: Vec<Place>,
    /// Its first place.
    first: Option<Place>,
    /// The classes that it has had, or none while it is away, each from when on.
    history: Vec<(f64, Option<usize>)>,
}

/// Places for machines, made one by one.
#[derive(Default)]
pub(crate) struct Places {
    /// By class: its places.
    counts: Vec<u32>,
    machines: Vec<Machine>,
    from_the_beginning: Vec<Place>,
    changes: Vec<(f64, Place, Option<Option<Place>>)>,
}

impl Places {
    /// Another class, without machines.
    pub fn add_class(&mut self) -> usize {
        self.counts.push(0);
        self.counts.len() - 1
    }

    /// Another machine, which is away.
    pub fn add_machine(&mut self) -> usize {
        self.machines.push(Machine { stands: None, places: Vec::new(), first: None, history: Vec::new() });
        self.machines.len() - 1
    }

    /// Places so far.
    pub fn len(&self) -> u64 {
        self.counts.iter().copied().map(u64::from).sum()
    }

    /// Changes so far.
    pub fn n_changes(&self) -> usize {
        self.changes.len()
    }

    /// The class of a machine that is there.
    pub fn class(&self, machine: usize) -> Option<usize> {
        self.machines[machine].stands.map(|(class, _)| class)
    }

    /// The class that a machine had last.
    pub fn last_class(&self, machine: usize) -> Option<usize> {
        self.machines[machine].places.last().map(|(class, _)| *class)
    }

    /// Where a machine stands from now on.
    fn place(&mut self, at: f64, machine: usize, class: usize) -> Place {
        let Machine { places, first, history, stands } = &mut self.machines[machine];
        let place = match places.iter().position(|(of, _)| *of == class) {
            Some(known) => places.remove(known),
            None => {
                self.counts[class] += 1;
                (class, self.counts[class] - 1)
            }
        };
        places.push(place);
        first.get_or_insert(place);
        history.push((at, Some(class)));
        *stands = Some(place);
        place
    }

    /// A machine that was away comes; one that has never been there at time 0 is there from the beginning.
    pub fn comes(&mut self, at: f64, machine: usize, class: usize) {
        let is_new = self.machines[machine].places.is_empty();
        let place = self.place(at, machine, class);
        if is_new && at <= 0.0 {
            self.from_the_beginning.push(place);
        } else {
            self.changes.push((at, place, None));
        }
    }

    /// A machine that is there goes.
    pub fn goes(&mut self, at: f64, machine: usize) {
        if let Some(place) = self.machines[machine].stands.take() {
            self.machines[machine].history.push((at, None));
            self.changes.push((at, place, Some(None)));
        }
    }

    /// A machine that is there is of another class from now on.
    pub fn becomes(&mut self, at: f64, machine: usize, class: usize) {
        let Some(before) = self.machines[machine].stands else { return };
        if before.0 != class {
            let place = self.place(at, machine, class);
            self.changes.push((at, before, Some(Some(place))));
        }
    }

    /// The machines in their order, those next to each other together that always changed alike: by class, and as
    /// they came.
    fn blocks(&self) -> Vec<Vec<&Machine>> {
        let mut machines: Vec<&Machine> = self.machines.iter().filter(|of| of.first.is_some()).collect();
        machines.sort_by_key(|machine| machine.first);
        let mut blocks: Vec<Vec<&Machine>> = Vec::new();
        for machine in machines {
            match blocks.last_mut().filter(|block| block[0].history == machine.history) {
                Some(block) => block.push(machine),
                None => blocks.push(vec![machine]),
            }
        }
        blocks
    }

    /// The classes with all their places, and what happens. A class is divided where machines of others stand in
    /// between; the numbers of the parts of each are returned too.
    pub fn finish(self, classes: &[ServerSpec]) -> (Vec<ServerSpec>, Machines, Vec<Vec<usize>>) {
        let mut begins = Vec::with_capacity(self.counts.len());
        let mut next = 0;
        for places in &self.counts {
            begins.push(next as usize);
            next += places;
        }
        let at = |(class, k): Place| begins[class] + k as usize;
        // By place as they were made: its number.
        let mut number = vec![0_u32; next as usize];
        let mut parts = Parts::new(classes);
        for block in self.blocks() {
            let mut classes: Vec<usize> = block[0].places.iter().map(|(class, _)| *class).collect();
            classes.sort_unstable();
            for class in classes {
                let of = |machine: &&Machine| machine.places.iter().copied().find(|(of, _)| *of == class);
                for (machine, place) in block.iter().filter_map(|machine| Some((machine, of(machine)?))) {
                    number[at(place)] = parts.add(class, machine.first == Some(place));
                }
            }
        }
        let number = |place: Place| number[at(place)];
        let mut is_there = vec![false; next as usize];
        self.from_the_beginning.iter().for_each(|place| is_there[number(*place) as usize] = true);
        let change = |(at, place, what): (f64, Place, Option<Option<Place>>)| {
            let what = match what {
                None => What::Comes,
                Some(None) => What::Goes,
                Some(Some(to)) => What::Becomes(number(to)),
            };
            Change { at, place: number(place), what }
        };
        let machines = Machines {
            first: parts.first,
            empty: (0..next).filter(|place| !is_there[*place as usize]).collect(),
            changes: self.changes.into_iter().map(change).collect(),
        };
        (parts.specs, machines, parts.of_class)
    }
}

/// Classes in the order of their places.
struct Parts<'a> {
    classes: &'a [ServerSpec],
    names: HashSet<String>,
    specs: Vec<ServerSpec>,
    /// By part: its places, and those that machines have first.
    counts: Vec<u32>,
    first: Vec<u64>,
    /// By class: its parts.
    of_class: Vec<Vec<usize>>,
    last: Option<usize>,
    places: u32,
}

impl<'a> Parts<'a> {
    fn new(classes: &'a [ServerSpec]) -> Self {
        Self {
            classes,
            names: classes.iter().map(|class| class.name.clone()).collect(),
            specs: Vec::new(),
            counts: Vec::new(),
            first: Vec::new(),
            of_class: vec![Vec::new(); classes.len()],
            last: None,
            places: 0,
        }
    }

    /// Another place of a class, and its number.
    fn add(&mut self, class: usize, is_first: bool) -> u32 {
        if self.last != Some(class) {
            let stated = &self.classes[class];
            let numbered = (self.of_class[class].len() + 1..).map(|n| format!("{} {n}", stated.name));
            let name = match self.of_class[class].is_empty() {
                true => stated.name.clone(),
                false => numbered.into_iter().find(|name| !self.names.contains(name)).unwrap_or_default(),
            };
            self.names.insert(name.clone());
            self.of_class[class].push(self.specs.len());
            self.specs.push(ServerSpec { name, count: None, capacity: stated.capacity.clone() });
            self.counts.push(0);
            self.first.push(0);
            self.last = Some(class);
        }
        if let (Some(count), Some(first), Some(spec)) =
            (self.counts.last_mut(), self.first.last_mut(), self.specs.last_mut())
        {
            *count += 1;
            *first += u64::from(is_first);
            spec.count = Some(Rational::from(*count));
        }
        self.places += 1;
        self.places - 1
    }
}
