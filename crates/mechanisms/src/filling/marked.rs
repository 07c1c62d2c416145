//! A set of small numbers that is listed and cleared in the time of its members.

/// Numbers without repetition, and which they are.
pub(super) struct Marked {
    pub is_in: Vec<bool>,
    pub list: Vec<usize>,
}

impl Marked {
    pub fn new(len: usize) -> Self {
        Self { is_in: vec![false; len], list: Vec::new() }
    }

    pub fn insert(&mut self, at: usize) {
        if !std::mem::replace(&mut self.is_in[at], true) {
            self.list.push(at);
        }
    }

    pub fn clear(&mut self) {
        for at in self.list.drain(..) {
            self.is_in[at] = false;
        }
    }
}
