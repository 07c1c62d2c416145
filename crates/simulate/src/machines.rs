//! Servers that come, go and change.

use evenhand_problem::{Rational, ServerSpec};

/// How the servers of a scenario change over time.
///
/// The single servers of its classes are *places*: every machine has one for each of its capacities, and stands in one
/// of them, or is away.
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
    /// By class: the place that it has had there.
    places: Vec<Place>,
}

/// Places for machines, made one by one.
#[derive(Default)]
pub(crate) struct Places {
    /// By class: its places, and the machines that have its capacity first.
    counts: Vec<(u32, u64)>,
    machines: Vec<Machine>,
    from_the_beginning: Vec<Place>,
    changes: Vec<(f64, Place, Option<Option<Place>>)>,
}

impl Places {
    /// Another class, without machines.
    pub fn add_class(&mut self) -> usize {
        self.counts.push((0, 0));
        self.counts.len() - 1
    }

    /// Another machine, which is away.
    pub fn add_machine(&mut self) -> usize {
        self.machines.push(Machine { stands: None, places: Vec::new() });
        self.machines.len() - 1
    }

    /// Places so far.
    pub fn len(&self) -> u64 {
        self.counts.iter().map(|(places, _)| u64::from(*places)).sum()
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

    fn place(&mut self, machine: usize, class: usize) -> Place {
        let places = &mut self.machines[machine].places;
        let place = match places.iter().position(|(of, _)| *of == class) {
            Some(at) => places.remove(at),
            None => {
                let (count, first) = &mut self.counts[class];
                *first += u64::from(places.is_empty());
                *count += 1;
                (class, *count - 1)
            }
        };
        places.push(place);
        place
    }

    /// A machine that was away comes; one that has never been there at time 0 is there from the beginning.
    pub fn comes(&mut self, at: f64, machine: usize, class: usize) {
        let is_new = self.machines[machine].places.is_empty();
        let place = self.place(machine, class);
        self.machines[machine].stands = Some(place);
        if is_new && at <= 0.0 {
            self.from_the_beginning.push(place);
        } else {
            self.changes.push((at, place, None));
        }
    }

    /// A machine that is there goes.
    pub fn goes(&mut self, at: f64, machine: usize) {
        if let Some(place) = self.machines[machine].stands.take() {
            self.changes.push((at, place, Some(None)));
        }
    }

    /// A machine that is there is of another class from now on.
    pub fn becomes(&mut self, at: f64, machine: usize, class: usize) {
        let Some(before) = self.machines[machine].stands else { return };
        let place = self.place(machine, class);
        if place != before {
            self.machines[machine].stands = Some(place);
            self.changes.push((at, before, Some(Some(place))));
        }
    }

    /// The classes with all their places, and what happens.
    pub fn finish(self, classes: Vec<ServerSpec>) -> (Vec<ServerSpec>, Machines) {
        let mut begins = Vec::with_capacity(self.counts.len());
        let mut next = 0;
        for (places, _) in &self.counts {
            begins.push(next);
            next += places;
        }
        let number = |(class, k): Place| begins[class] + k;
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
            first: self.counts.iter().map(|(_, first)| *first).collect(),
            empty: (0..next).filter(|place| !is_there[*place as usize]).collect(),
            changes: self.changes.into_iter().map(change).collect(),
        };
        let counted = classes.into_iter().zip(&self.counts);
        let classes = counted.map(|(class, (places, _))| {
            let count = Some(Rational::from(*places));
            ServerSpec { count, ..class }
        });
        (classes.collect(), machines)
    }
}
