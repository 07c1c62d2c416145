//! Servers that come, go and change their capacity.

use std::collections::HashSet;

use evenhand_problem::{Rational, ServerSpec};

/// The changes of a scenario's servers over time.
///
/// The single servers of the scenario's classes are *places*. Every machine has one place for each of its
/// capacities. A machine is in one of its places, or away. Places are ordered so that the present machines
/// are always in the same order, whatever their capacities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machines {
    /// The number of machines whose first capacity is the capacity of each class. Shares are fractions of the
    /// first capacities of all machines together.
    pub first: Vec<u64>,
    /// The places without a machine at the beginning, in ascending order.
    pub empty: Vec<u32>,
    /// The changes, in the order of their times.
    pub changes: Vec<Change>,
}

/// A change of the machine in a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The time of the change, in the time unit of the scenario.
    pub at: f64,
    /// The number of the place. Places are numbered by class, in the order of the scenario.
    pub place: u32,
    /// The kind of change.
    pub what: What,
}

/// The kinds of changes of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The machine comes.
    Comes,
    /// The machine goes. Its tasks stop and wait again.
    Goes,
    /// The machine moves to another place, whose number is stated, and takes the capacity of this place. Its
    /// tasks continue there if they fit, the oldest first. All other tasks stop and wait again.
    Becomes(u32),
}

/// A place: the index of its class, and its number in the class.
type Place = (usize, u32);

/// A machine.
struct Machine {
    /// The place in which the machine is, or `None` while it is away.
    stands: Option<Place>,
    /// The places that the machine has had, one for each class. The latest place is last.
    places: Vec<Place>,
    /// The first place of the machine.
    first: Option<Place>,
    /// The times of the machine's changes, each with its class from then on, or `None` while it is away.
    history: Vec<(f64, Option<usize>)>,
}

/// A builder of the places of machines.
#[derive(Default)]
pub(crate) struct Places {
    /// The number of places of each class.
    counts: Vec<u32>,
    machines: Vec<Machine>,
    from_the_beginning: Vec<Place>,
    /// The time and the place of each change. The last entry is `None` if the machine comes, `Some(None)` if
    /// it goes, and `Some(Some(place))` if it moves to `place`.
    changes: Vec<(f64, Place, Option<Option<Place>>)>,
}

impl Places {
    /// Adds a class without machines. Returns its index.
    pub fn add_class(&mut self) -> usize {
        self.counts.push(0);
        self.counts.len() - 1
    }

    /// Adds a machine that is away. Returns its index.
    pub fn add_machine(&mut self) -> usize {
        self.machines.push(Machine { stands: None, places: Vec::new(), first: None, history: Vec::new() });
        self.machines.len() - 1
    }

    /// Returns the number of places so far.
    pub fn len(&self) -> u64 {
        self.counts.iter().copied().map(u64::from).sum()
    }

    /// Returns the number of changes so far.
    pub fn n_changes(&self) -> usize {
        self.changes.len()
    }

    /// Returns the class of a machine, or `None` while it is away.
    pub fn class(&self, machine: usize) -> Option<usize> {
        self.machines[machine].stands.map(|(class, _)| class)
    }

    /// Returns the latest class of a machine, which may be away.
    pub fn last_class(&self, machine: usize) -> Option<usize> {
        self.machines[machine].places.last().map(|(class, _)| *class)
    }

    /// Puts a machine in its place of class `class`. Creates the place if it does not exist.
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

    /// Records that a machine comes. A new machine that comes at time 0 is present from the beginning.
    pub fn comes(&mut self, at: f64, machine: usize, class: usize) {
        let is_new = self.machines[machine].places.is_empty();
        let place = self.place(at, machine, class);
        if is_new && at <= 0.0 {
            self.from_the_beginning.push(place);
        } else {
            self.changes.push((at, place, None));
        }
    }

    /// Records that a machine goes, if it is present.
    pub fn goes(&mut self, at: f64, machine: usize) {
        if let Some(place) = self.machines[machine].stands.take() {
            self.machines[machine].history.push((at, None));
            self.changes.push((at, place, Some(None)));
        }
    }

    /// Records that a machine gets another class, if it is present.
    pub fn becomes(&mut self, at: f64, machine: usize, class: usize) {
        let Some(before) = self.machines[machine].stands else { return };
        if before.0 != class {
            let place = self.place(at, machine, class);
            self.changes.push((at, before, Some(Some(place))));
        }
    }

    /// Returns the machines of each class in the order of their first places. Neighbouring machines that
    /// always changed together form one block.
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

    /// Returns the classes with all their places, the changes, and the indices of the parts of each class. A
    /// class is split into parts if machines of other classes are between its machines.
    pub fn finish(self, classes: &[ServerSpec]) -> (Vec<ServerSpec>, Machines, Vec<Vec<usize>>) {
        let mut begins = Vec::with_capacity(self.counts.len());
        let mut next = 0;
        for places in &self.counts {
            begins.push(next as usize);
            next += places;
        }
        let at = |(class, k): Place| begins[class] + k as usize;
        // The final number of each original place.
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

/// The classes in the order of their places. A class may be split into several parts.
struct Parts<'a> {
    classes: &'a [ServerSpec],
    names: HashSet<String>,
    specs: Vec<ServerSpec>,
    /// The number of places of each part.
    counts: Vec<u32>,
    /// The number of places of each part that are the first place of a machine.
    first: Vec<u64>,
    /// The indices of the parts of each class.
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

    /// Adds a place of a class. Returns its number.
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
