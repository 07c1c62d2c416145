//! Running tasks by the time at which they end.

/// A task that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Running {
    /// When it ends; infinite where it does not.
    pub end: f64,
    /// Order among those that end at the same time: that of the placements.
    pub order: u64,
    pub user: u32,
    pub server: u32,
    pub job: u32,
}

impl Running {
    fn is_before(&self, other: &Self) -> bool {
        self.end < other.end || self.end == other.end && self.order < other.order
    }
}

/// A heap in which a node has four children: half the levels of a binary one, and siblings share lines
/// of the cache.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    tasks: Vec<Running>,
}

const CHILDREN: usize = 4;

impl Heap {
    pub fn push(&mut self, task: Running) {
        let mut at = self.tasks.len();
        self.tasks.push(task);
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !task.is_before(&self.tasks[parent]) {
                break;
            }
            self.tasks[at] = self.tasks[parent];
            at = parent;
        }
        self.tasks[at] = task;
    }

    /// The one that ends first.
    pub fn first(&self) -> Option<&Running> {
        self.tasks.first()
    }

    /// Takes out the one that ends first.
    pub fn pop(&mut self) -> Option<Running> {
        let last = self.tasks.pop()?;
        let Some(&first) = self.tasks.first() else { return Some(last) };
        let mut at = 0;
        loop {
            let children = CHILDREN * at + 1..(CHILDREN * at + 1 + CHILDREN).min(self.tasks.len());
            let Some(least) =
                children.reduce(|a, b| if self.tasks[b].is_before(&self.tasks[a]) { b } else { a })
            else {
                break;
            };
            if !self.tasks[least].is_before(&last) {
                break;
            }
            self.tasks[at] = self.tasks[least];
            at = least;
        }
        self.tasks[at] = last;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use evenhand_mechanisms::filling::Draw;

    use super::{Heap, Running};

    #[test]
    fn tasks_leave_by_time_and_then_by_order() {
        let mut draw = Draw::new(1, 0);
        let (mut heap, mut sorted) = (Heap::default(), Vec::new());
        for order in 0..5_000 {
            let task = Running { end: draw.below(300) as f64, order, user: 0, server: 0, job: 0 };
            heap.push(task);
            sorted.push(task);
            if draw.below(3) == 0 {
                sorted.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.order.cmp(&b.order)));
                assert_eq!(heap.pop(), Some(sorted.remove(0)));
            }
        }
        sorted.sort_by(|a, b| a.end.total_cmp(&b.end).then(a.order.cmp(&b.order)));
        assert!(sorted.into_iter().all(|task| heap.pop() == Some(task)) && heap.pop().is_none());
    }
}
