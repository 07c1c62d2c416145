//! The queue of running tasks, ordered by the time at which they end.

use evenhand_budget::charge;

use crate::checkpoint::words;

/// A running task. If runs can be stopped, an entry represents all tasks of a run, and the servers are stored
/// with the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Running {
    /// The time at which the task ends. It is infinite if the task never ends.
    pub end: f64,
    pub user: u32,
    pub server: u32,
    pub job: u32,
    /// The number of the task's run, if runs can be stopped.
    pub run: u32,
}

words!(Running { end, user, server, job, run });

/// The number of bits of a digit.
const DIGIT: u32 = 4;
/// The number of values of a digit.
const VALUES: usize = 1 << DIGIT;
/// The number of digits of a time.
const DIGITS: usize = (u64::BITS / DIGIT) as usize;

/// A radix heap of running tasks.
///
/// Time never goes back. A task is in the group of one digit and one value. The digit is the most significant
/// digit in which the bits of the task's end differ from the bits of the current time. The value is the value
/// of this digit in the task's end. The first nonempty group contains the task that ends next. When that time
/// comes, the tasks of the group are distributed by less significant digits, so that each task moves only a
/// few times. Tasks that end at the same time are always in the same group, in the order in which they were
/// added.
#[derive(Debug)]
pub(crate) struct Heap {
    /// The groups, ordered by digit (the least significant first) and then by value.
    groups: Vec<Vec<Running>>,
    /// The values with nonempty groups for each digit, as a set of bits.
    nonempty: [u16; DIGITS],
    /// The bits of the current time.
    last: u64,
    /// The tasks that end at the current time. The first `gone` of them have left.
    current: Vec<Running>,
    gone: usize,
    /// The end of the next task, or `None` if it is not known.
    next: Option<f64>,
    len: usize,
}

impl Default for Heap {
    fn default() -> Self {
        Self {
            groups: vec![Vec::new(); DIGITS * VALUES],
            nonempty: [0; DIGITS],
            last: 0,
            current: Vec::new(),
            gone: 0,
            next: None,
            len: 0,
        }
    }
}

impl Heap {
    /// Adds a task. It must not end before the last task that has left.
    pub fn push(&mut self, task: Running) {
        self.len += 1;
        // A task that ends at the current time comes before all groups.
        if task.end.to_bits() != self.last {
            self.next = self.next.map(|next| next.min(task.end));
        }
        self.put(task);
    }

    fn put(&mut self, task: Running) {
        let bits = task.end.to_bits();
        let differ = bits ^ self.last;
        if differ == 0 {
            if self.gone == self.current.len() {
                // Many tasks that take no time may come and go at one time. The list must not grow with them.
                self.current.clear();
                self.gone = 0;
            }
            self.current.push(task);
            return;
        }
        let digit = (differ.ilog2() / DIGIT) as usize;
        let value = (bits >> (DIGIT * digit as u32)) as usize % VALUES;
        self.nonempty[digit] |= 1 << value;
        self.groups[digit * VALUES + value].push(task);
    }

    /// Returns the digit and value of the first nonempty group, or `None` if all groups are empty.
    fn first_group(&self) -> Option<(usize, usize)> {
        let digit = self.nonempty.iter().position(|values| *values != 0)?;
        Some((digit, self.nonempty[digit].trailing_zeros() as usize))
    }

    /// Returns the end of the next task.
    pub fn next_end(&mut self) -> Option<f64> {
        if self.gone < self.current.len() {
            return Some(f64::from_bits(self.last));
        }
        if self.next.is_none() {
            let (digit, value) = self.first_group()?;
            let ends = self.groups[digit * VALUES + value].iter().map(|task| task.end);
            self.next = ends.reduce(f64::min);
        }
        self.next
    }

    /// Returns the task that ends first. After the call, tasks that end before this task can no longer be
    /// added.
    pub fn first(&mut self) -> Option<Running> {
        if self.gone == self.current.len() {
            self.current.clear();
            self.gone = 0;
            let next = self.next_end()?;
            let (digit, value) = self.first_group()?;
            self.nonempty[digit] &= !(1 << value);
            self.last = next.to_bits();
            self.next = None;
            // The group frees its memory, since it may take long until it is as large again.
            for task in std::mem::take(&mut self.groups[digit * VALUES + value]) {
                self.put(task);
            }
        }
        self.current.get(self.gone).copied()
    }

    /// Removes the task that ends first.
    pub fn pop(&mut self) -> Option<Running> {
        let task = self.first()?;
        self.gone += 1;
        self.len -= 1;
        Some(task)
    }

    /// Removes the entries of a run, which end at the time `end`. Returns their number.
    pub fn remove(&mut self, end: f64, run: u32) -> usize {
        let differ = end.to_bits() ^ self.last;
        let before = self.len;
        if differ == 0 {
            let (mut at, gone) = (0, self.gone);
            let there = self.current.len();
            self.current.retain(|task| {
                at += 1;
                at <= gone || task.run != run
            });
            self.len -= there - self.current.len();
        } else {
            let digit = (differ.ilog2() / DIGIT) as usize;
            let value = (end.to_bits() >> (DIGIT * digit as u32)) as usize % VALUES;
            let group = &mut self.groups[digit * VALUES + value];
            let there = group.len();
            charge(there as u64, "the processing of the tasks that stop");
            group.retain(|task| task.run != run);
            self.len -= there - group.len();
            if group.is_empty() {
                self.nonempty[digit] &= !(1 << value);
            }
            self.next = None;
        }
        before - self.len
    }

    /// Returns all tasks. Tasks that end at the same time are in the order of their placements. Other tasks
    /// are unordered.
    pub fn tasks(&self) -> impl Iterator<Item = &Running> {
        self.current[self.gone..].iter().chain(self.groups.iter().flatten())
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use evenhand_mechanisms::filling::Draw;

    use super::{Heap, Running};

    #[test]
    fn tasks_end_by_time_and_then_by_order() {
        for seed in 0..20 {
            let mut draw = Draw::new(seed, 0);
            // With whole numbers many tasks end at the same time, and with fractions few tasks do.
            let scale = if seed % 2 == 0 { 1.0 } else { 1.0 / 64.0 };
            let (mut heap, mut sorted, mut now) = (Heap::default(), Vec::<Running>::new(), 0.0);
            for job in 0..5_000 {
                let lasts = if draw.below(50) == 0 { f64::INFINITY } else { draw.below(300) as f64 * scale };
                let task = Running { end: now + lasts, user: 0, server: 0, job, run: job / 3 };
                heap.push(task);
                sorted.push(task);
                if draw.below(10) == 0 {
                    // Stops a run. Some of its tasks may have left. The run is skipped if its tasks end at
                    // different times.
                    let Running { end, run, .. } = sorted[draw.position(sorted.len())];
                    let is_of = |task: &Running| task.run == run && task.end == end;
                    if sorted.iter().all(|task| task.run != run || task.end == end) {
                        assert_eq!(heap.remove(end, run), sorted.iter().filter(|task| is_of(task)).count());
                        sorted.retain(|task| !is_of(task));
                    }
                }
                if draw.below(3) > 0 {
                    sorted.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.job.cmp(&b.job)));
                    assert_eq!(heap.next_end(), sorted.first().map(|task| task.end));
                }
                if draw.below(3) == 0 && sorted.first().is_some_and(|task| task.end.is_finite()) {
                    sorted.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.job.cmp(&b.job)));
                    let task = sorted.remove(0);
                    now = task.end;
                    assert_eq!(heap.pop(), Some(task));
                }
                assert_eq!(heap.len(), sorted.len());
            }
            sorted.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.job.cmp(&b.job)));
            assert!(sorted.into_iter().all(|task| heap.pop() == Some(task)) && heap.pop().is_none());
        }
    }
}
